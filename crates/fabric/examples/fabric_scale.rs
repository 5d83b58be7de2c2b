//! Measures the run time and memory to build a k-ary fat-tree and compute its routes.
//!
//! ```text
//! cargo run --release -p tidegate-fabric --example fabric_scale [k]
//! ```

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use fabric::generate::{TierLinks, fat_tree};
use fabric::routing::{Forwarding, Mode};
use fabric::{LinkSpec, NodeKind};
use std::error::Error;
use std::time::Instant;
use units::{Rate, Time};

/// Returns the value of a line of `/proc/self/status`, in MB; `None` if the file does not exist.
fn status_mb(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|text| text.strip_prefix(line))?;
    let kilobytes: u64 = value.trim_matches([':', ' ', '\t', 'k', 'B']).parse().ok()?;
    Some(kilobytes / 1000)
}

fn report(what: &str, since: Instant) {
    let shown = |line| status_mb(line).map_or("?".to_owned(), |mb| mb.to_string());
    let seconds = since.elapsed().as_secs_f64();
    println!("{what:<28} {seconds:6.2} s   now {:>4} MB   peak {:>4} MB", shown("VmRSS"), shown("VmHWM"));
}

fn main() -> Result<(), Box<dyn Error>> {
    let k: u32 = std::env::args().nth(1).as_deref().unwrap_or("64").parse()?;
    let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
    let start = Instant::now();
    let fabric = fat_tree(k, TierLinks::uniform(link))?;
    report("built", start);
    let start = Instant::now();
    fabric.check()?;
    report("checked", start);
    let switches = fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch).count();
    println!("k = {k}: {} hosts, {switches} switches, {} links", fabric.hosts().len(), fabric.links().len());
    let start = Instant::now();
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath)?;
    report("shortest paths", start);
    println!("tables {} MB, {} rows", forwarding.memory_bytes() / 1_000_000, forwarding.row_count());
    let last = fabric.hosts().len() as u32 - 1;
    println!("host 0 to host {last}: {} links", forwarding.path(&fabric, 0, last, 1)?.len());
    Ok(())
}
