//! How long a proof takes: Jellyfish of many switches, rules of many entries, one path tree a switch.
//!
//! ```text
//! cargo run --release -p tidegate-verify --example verify_scale -- SWITCHES PORTS DEGREE
//! ```
//!
//! The rules are made here, by switch number: a frame that went down and turns up again gets the next of three tags,
//! which is safe on any graph. Each ingress port has rules of its own, as a generator writes them before they are
//! compressed. The paths are those of one breadth-first tree to every switch.

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use fabric::generate::jellyfish;
use fabric::{Fabric, LinkSpec, NodeId, NodeKind, PortIndex};
use std::fmt::Write;
use std::time::{Duration, Instant};
use units::{Rate, Time};
use verify::{RuleFile, Verifier, fabric_hash};

const TAGS: u16 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u32> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [switches, ports, degree] = numbers[..] else { return Err("usage: scale SWITCHES PORTS DEGREE".into()) };
    let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
    let fabric = jellyfish(switches, degree, ports - degree, 1, link, link)?;
    let text = rules(&fabric);
    println!("{} switches, {} ports each, {degree} to others", switches, ports);

    let mut clock = Clock::new();
    let file = RuleFile::parse(text.as_bytes())?;
    let count: usize = file.switches.iter().map(|switch| switch.rules.len()).sum();
    clock.report(&format!("reading {count} rules, {} MB", text.len() / 1_000_000));
    drop(text);
    let mut verifier = Verifier::new(&fabric, &file)?;
    clock.report("holding them against the fabric");
    drop(file);
    let spent = expect_trees(&fabric, &mut verifier)?;
    println!("{:9.3} s  following the paths of a tree to every switch", spent.as_secs_f64());
    clock.lap();
    let verdict = verifier.finish();
    clock.report("looking for circles");
    println!("{:?}", verdict.counts);
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    peak.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    if verdict.pass() { Ok(()) } else { Err("refuted".into()) }
}

/// CPU time since the last call, where the system tells it: a busy machine does not change that. Else wall time.
struct Clock(Duration, Instant);

impl Clock {
    fn new() -> Clock {
        Clock(Self::now().unwrap_or_default(), Instant::now())
    }
    fn now() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
    fn lap(&mut self) -> Duration {
        let before = std::mem::replace(self, Clock::new());
        Self::now().map_or(before.1.elapsed(), |now| now - before.0)
    }
    fn report(&mut self, what: &str) {
        println!("{:9.3} s  {what}", self.lap().as_secs_f64());
        self.lap();
    }
}

/// Whether the port leads to a switch of a higher number.
fn upward(fabric: &Fabric, node: NodeId, port: usize) -> bool {
    let peer = fabric.ports(node)[port].peer;
    fabric.node(peer).kind == NodeKind::Switch && peer > node
}

fn rules(fabric: &Fabric) -> String {
    let mut text = format!(
        "{{\"format\":\"tidegate-tagger-rules\",\"version\":1,\"fabric\":{{\"hash\":\"{}\"}},\"lossless_tags\":[1,2,3],\
         \"lossy_tag\":0,\"classes\":[{{\"name\":\"default\",\"first_tag\":1}}],\"switches\":[",
        fabric_hash(fabric)
    );
    for (index, node) in fabric.switches().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n{{\"name\":\"{}\",\"rules\":[", fabric.name(node));
        let count = fabric.ports(node).len();
        let mut first = true;
        for tag in 1..=TAGS {
            for ingress in 0..count {
                for up in [false, true] {
                    let new_tag = tag + u16::from(up && upward(fabric, node, ingress));
                    let out: Vec<String> = (0..count)
                        .filter(|&port| port != ingress && upward(fabric, node, port) == up)
                        .map(|port| port.to_string())
                        .collect();
                    if out.is_empty() || new_tag > TAGS {
                        continue;
                    }
                    let comma = if std::mem::replace(&mut first, false) { "" } else { "," };
                    let _ = write!(
                        text,
                        "{comma}\n{{\"tag\":{tag},\"in\":[{ingress}],\"out\":[{}],\"new_tag\":{new_tag}}}",
                        out.join(",")
                    );
                }
            }
        }
        text += "]}";
    }
    text + "]}"
}

/// One breadth-first tree to every switch. The time that the verifier took, without that of making the trees.
fn expect_trees(fabric: &Fabric, verifier: &mut Verifier<'_>) -> Result<Duration, verify::PathFault> {
    let mut spent = Duration::ZERO;
    let mut towards: Vec<Option<PortIndex>> = vec![None; fabric.nodes().len()];
    for target in fabric.switches() {
        towards.fill(None);
        let mut queue = vec![target];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            for peer in fabric.ports(node) {
                let new = peer.peer != target && towards[peer.peer.index()].is_none();
                if new && fabric.node(peer.peer).kind == NodeKind::Switch {
                    towards[peer.peer.index()] = Some(peer.peer_port);
                    queue.push(peer.peer);
                }
            }
        }
        let mut clock = Clock::new();
        verifier.expect_tree(target, &towards)?;
        spent += clock.lap();
    }
    Ok(spent)
}
