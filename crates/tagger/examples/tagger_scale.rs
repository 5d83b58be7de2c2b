//! Generates rules for large fabrics and prints their counts and the run time on this machine.
//!
//! ```text
//! tagger_scale jellyfish SWITCHES [DEGREE] [HOSTS] [switches|servers|K] [SEED] [RANDOM]
//!     a tree towards each switch or server (or up to K shortest paths per pair), the choices among shortest
//!     paths by SEED or "-" for the lowest ports, and RANDOM random paths of up to 7 switches
//! tagger_scale bcube N K PATHS       the shortest PATHS paths of each pair
//! tagger_scale clos K BOUNCES        the Clos rule for a fat-tree of K-port switches
//! tagger_scale f10 K BOUNCES         the Clos rule for an F10
//!
//! With --fewest at any position, as few tags as the search finds, in place of Algorithm 2.
//! ```

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use fabric::generate::{TierLinks, bcube, f10, fat_tree, jellyfish};
use fabric::{Fabric, LinkSpec};
use std::time::Instant;
use tagger::paths::{ExpectedPaths, PathSource, TreeRoots};
use tagger::rules::RuleTable;
use tagger::{Algorithm, Request, clos_rule, generate};
use units::{Rate, Time};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.len();
    arguments.retain(|argument| argument != "--fewest");
    let algorithm = if arguments.len() < count { Algorithm::Fewest } else { Algorithm::Merge };
    let word = |index: usize| arguments.get(index).map_or("", String::as_str);
    let number = |index: usize, default: u32| match word(index) {
        "" => Ok(default),
        text => text.parse(),
    };
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    match word(0) {
        "jellyfish" => {
            let fabric = jellyfish(number(1, 2000)?, number(2, 32)?, number(3, 32)?, 1, link, link)?;
            let seed = match word(5) {
                "" | "-" => None,
                text => Some(text.parse()?),
            };
            let trees = |roots| PathSource::Trees { roots, seed };
            let mut sources = vec![match word(4) {
                "" | "switches" => trees(TreeRoots::Switches),
                "servers" => trees(TreeRoots::Servers),
                paths => PathSource::AllShortest { limit: Some(paths.parse()?) },
            }];
            match number(6, 0)? {
                0 => {}
                count => sources.push(PathSource::Random { count, max_switches: 7, seed: 1 }),
            }
            by_paths(&fabric, ExpectedPaths { sources }, algorithm)
        }
        "bcube" => {
            let paths = PathSource::NShortest { paths: number(3, 4)? };
            by_paths(&bcube(number(1, 4)?, number(2, 3)?, link)?, paths.into(), algorithm)
        }
        kind @ ("clos" | "f10") => {
            let (k, links) = (number(1, 64)?, TierLinks::uniform(link));
            let fabric = if kind == "clos" { fat_tree(k, links)? } else { f10(k, links)? };
            let bounces = number(2, 1)?.try_into()?;
            let start = Instant::now();
            let table = clos_rule(&fabric, bounces, &["default".to_owned()])?;
            let seconds = start.elapsed().as_secs_f64();
            show(&fabric, &table);
            println!("{} lossless tags in {seconds:.3} s", table.lossless_tags.len());
            Ok(())
        }
        _ => Err("expected jellyfish, bcube, clos or f10: see the head of examples/tagger_scale.rs".into()),
    }
}

fn by_paths(fabric: &Fabric, paths: ExpectedPaths, algorithm: Algorithm) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    let generated = generate(fabric, &Request { algorithm, threads, ..Request::new(paths) })?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{:#?}", generated.report);
    show(fabric, &generated.table);
    let switches = fabric.switches().count();
    println!("{switches} switches: {} lossless tags in {seconds:.2} s", generated.report.tags);
    Ok(())
}

fn show(fabric: &Fabric, table: &RuleTable) {
    let counts = table.counts(fabric);
    let most = |count: fn(&tagger::RuleCount) -> u32| counts.iter().map(count).max().unwrap_or(0);
    println!("most rules of a switch, one for each (tag, in, out): {}", most(|count| count.single));
    println!("  with ingress ports merged: {}", most(|count| count.in_ports_merged));
    println!("  of those between switches, as Table 5 counts: {}", most(|count| count.between_switches));
    println!("  with egress ports merged too: {}", most(|count| count.joint));
}
