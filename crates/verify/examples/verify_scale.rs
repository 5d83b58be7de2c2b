//! Measures the time of a proof: Jellyfish with many switches, rules with many entries, one path tree per switch.
//!
//! ```text
//! cargo run --release -p tidegate-verify --example verify_scale -- SWITCHES PORTS DEGREE [given]
//! ```
//!
//! Each line has the CPU seconds of all threads and the elapsed seconds.
//!
//! Rules are generated from switch numbers; "up" means towards higher numbers. A frame that bounces (arrives from a
//! higher-numbered switch and leaves to one) gets the next of three tags, which is safe on any graph. Each ingress port
//! has separate rules, like the uncompressed output of a generator. The paths are those of one breadth-first tree to
//! every switch. The verifier builds these trees itself, like `tidegate tagger verify --paths trees`, or with `given`
//! receives them one by one.

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use fabric::generate::jellyfish;
use fabric::{Fabric, LinkSpec, NodeId, NodeKind, PortIndex};
use std::fmt::Write;
use std::time::{Duration, Instant};
use units::{Rate, Time};
use verify::{RuleFile, TreeRoots, Verifier, fabric_hash};

const TAGS: u16 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let given = words.pop_if(|word| word == "given").is_some();
    let numbers: Vec<u32> = words.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [switches, ports, degree] = numbers[..] else { return Err("usage: SWITCHES PORTS DEGREE [given]".into()) };
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
    if given {
        let spent = expect_given(&fabric, &mut verifier)?;
        show(spent, "following the paths of a tree to every switch, one after another");
        clock.lap();
    } else {
        verifier.expect_trees(TreeRoots::Switches, |_, _| ())?;
        clock.report("making a tree to every switch and following its paths");
    }
    let verdict = verifier.finish();
    clock.report("looking for circles");
    println!("{:?}", verdict.counts);
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    peak.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    if verdict.pass() { Ok(()) } else { Err("refuted".into()) }
}

/// CPU time of all threads (zero if the system does not report it) and elapsed time.
#[derive(Clone, Copy, Default)]
struct Spent(Duration, Duration);

fn show(Spent(cpu, wall): Spent, what: &str) {
    println!("{:9.3} s CPU {:9.3} s  {what}", cpu.as_secs_f64(), wall.as_secs_f64());
}

/// CPU time and real time at the start of a measurement.
struct Clock(Duration, Instant);

impl Clock {
    fn new() -> Clock {
        Clock(Self::cpu().unwrap_or_default(), Instant::now())
    }
    /// User plus kernel time from `/proc/self/stat`: fields 14 and 15, in ticks of 10 ms. Fields are counted after the
    /// closing bracket, because field 2, in brackets, may contain blanks.
    fn cpu() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let words = text.rsplit(')').next()?.split_whitespace().skip(11);
        let ticks: Vec<u64> = words.take(2).map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Duration::from_millis(ticks.iter().sum::<u64>() * 10))
    }
    fn lap(&mut self) -> Spent {
        let before = std::mem::replace(self, Clock::new());
        Spent(self.0 - before.0, self.1 - before.1)
    }
    fn report(&mut self, what: &str) {
        show(self.lap(), what);
        self.lap();
    }
}

/// Whether the port leads to a switch with a higher number.
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

/// Passes one breadth-first tree per switch to the verifier. Returns the time spent in the verifier, without the time
/// to build the trees.
fn expect_given(fabric: &Fabric, verifier: &mut Verifier<'_>) -> Result<Spent, verify::PathFault> {
    let mut spent = Spent::default();
    let mut clock = Clock::new();
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
        clock.lap();
        verifier.expect_tree(target, &towards)?;
        let Spent(cpu, wall) = clock.lap();
        spent = Spent(spent.0 + cpu, spent.1 + wall);
    }
    Ok(spent)
}
