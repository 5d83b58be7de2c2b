//! Table 6: loss rate of packets that leave their expected paths and therefore use the lossy queue.
//!
//! ```text
//!   draw: senders, receiver, failed links  ->  flows that arrive, each with its own path around the failures
//!                                                |
//!       one set of flows:   no PFC   |   1 lossless queue   |   2 lossless queues   ->  lost / sent
//! ```

use super::walk::Walker;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, TAGGER_TABLE6};
use crate::trial::{Trial, finish, simulation};
use fabric::routing::PathTable;
use fabric::{Fabric, LinkId, NodeId};
use model::Watcher;
use model::parameters::Setup;
use text::{Layout, table};
use traffic::{Flow, Load, Start};
use units::Time;
use units::random::{Stream, purpose};

/// Parameters of table 6 that the publication does not specify, with alternative values.
pub const TABLE6_CHOICES: &[Choice] = &[
    Choice {
        source: &TAGGER_TABLE6,
        key: "host.transport",
        alternatives: &[
            "{ kind = \"roce\" }",
            "{ kind = \"datagram\", frame = \"1062B\", header = \"62B\" }",
            "{ kind = \"dctcp\", mss = \"1000B\" }",
            "{ kind = \"tcp\", mss = \"1000B\" }",
        ],
    },
    Choice { source: &TAGGER_TABLE6, key: "switch.flow_control.xoff", alternatives: &["\"20600B\"", "\"1/8\""] },
    Choice {
        source: &TAGGER_TABLE6,
        key: "switch.egress_threshold",
        alternatives: &["\"1/8\"", "\"412KB\"", "\"103KB\""],
    },
];

/// Offered load on the wire, relative to the receiver's link rate.
const LOAD: f64 = 0.99;
/// Ratio of the payload of a full frame to its size on the wire.
const PAYLOAD_SHARE: f64 = 1000.0 / 1082.0;

/// Maximum number of random walks for a flow until one of them reaches the destination.
const TRIES: u32 = 100;

/// Row of the table: its name, and the scenario overrides.
struct Row {
    name: &'static str,
    changes: &'static [(&'static str, &'static str)],
}

const ROWS: [Row; 3] = [
    Row { name: "no PFC", changes: &[("switch.tags", "\"none\""), ("switch.flow_control", "\"none\"")] },
    Row { name: "1 lossless queue", changes: &[("switch.tags.bounces", "0")] },
    Row { name: "2 lossless queues", changes: &[("switch.tags.bounces", "1")] },
];

/// Randomly drawn senders, receiver and failed links.
struct Draw {
    senders: Vec<u32>,
    receiver: u32,
    failed: Vec<LinkId>,
}

impl Draw {
    /// Draws one sender in each of `fan_in` racks (ToRs) and a receiver in a further rack. Each link between switches
    /// fails with probability `rate`. The failures are redrawn until the ToRs of all these racks have a live uplink.
    fn new(fabric: &Fabric, fan_in: usize, rate: f64, stream: &mut Stream) -> Draw {
        let mut tors: Vec<NodeId> = fabric.switches().filter(|&node| fabric.node(node).tier == 1).collect();
        stream.shuffle(&mut tors);
        tors.truncate(fan_in + 1);
        let below = |&tor: &NodeId| {
            let hosts: Vec<u32> = fabric.ports(tor).iter().filter_map(|peer| fabric.host_index(peer.peer)).collect();
            hosts[stream.below(hosts.len() as u64) as usize]
        };
        let hosts: Vec<u32> = tors.iter().map(below).collect();
        loop {
            let failed: Vec<LinkId> = Walker::between_switches(fabric).filter(|_| stream.unit() < rate).collect();
            let alive = |tor: NodeId| {
                fabric.ports(tor).iter().any(|peer| fabric.node(peer.peer).forwards() && !failed.contains(&peer.link))
            };
            if tors.iter().all(|&tor| alive(tor)) {
                return Draw { senders: hosts[1..].to_vec(), receiver: hosts[0], failed };
            }
        }
    }

    /// Assigns a path to each arriving flow. Each hop uses a random port on a shortest path, or a random detour if
    /// these ports have failed, as in figure 14. Returns the numbers of flows with no, one, and two or more bounces.
    fn route(&self, setup: &mut Setup, stream: &mut Stream) -> Result<[u64; 3], Failure> {
        let mut walker = Walker::new(&setup.fabric, &setup.forwarding);
        self.failed.iter().for_each(|&link| walker.set(link, true));
        let mut paths = PathTable::new();
        let mut flows = Vec::new();
        let mut bounced = [0; 3];
        for mut arrivals in setup.traffic.arrivals.drain(..) {
            while let Some(arrival) = arrivals.next().filter(|arrival| arrival.at < setup.duration) {
                let from = setup.fabric.host_node(arrivals.src);
                // A random walk may exceed the hop limit. If no walk of a flow reaches the destination, the flow is not
                // sent.
                let Some(bounces) = (0..TRIES).find_map(|_| walker.walk(from, arrival.dst, stream)) else { continue };
                bounced[bounces.min(2) as usize] += 1;
                let path = paths.push(&setup.fabric, &walker.nodes).map_err(wrong)?;
                flows.push(Flow {
                    src: arrivals.src,
                    dst: arrival.dst,
                    size_bytes: arrival.size_bytes,
                    start: Start::At(arrival.at),
                    class: arrivals.class,
                    traffic: arrivals.traffic,
                    dst_port: arrivals.dst_port,
                    path: Some(path.0),
                    load: Load::Transport,
                });
            }
        }
        setup.paths = paths;
        setup.traffic.flows = flows;
        Ok(bounced)
    }
}

fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::input(error.to_string(), "the flows of this experiment fit its fabric".to_owned())
}

/// Numbers of frames sent and lost.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    sent: f64,
    lost: u64,
    lossless: u64,
    deadlocks: u64,
}

impl Loss {
    fn add(&mut self, other: Loss) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.lossless += other.lossless;
        self.deadlocks += other.deadlocks;
    }

    fn rate(&self) -> f64 {
        self.lost as f64 / self.sent
    }
}

/// Watcher that counts the bytes sent by the senders. They send only data frames.
struct Sent<'a> {
    senders: &'a [NodeId],
    bytes: u64,
}

impl Watcher for Sent<'_> {
    fn link(&mut self, _at: Time, node: NodeId, _port: u16, bytes: u64, _share: f64) {
        if self.senders.contains(&node) {
            self.bytes += bytes;
        }
    }
}

fn run(setup: Setup, draw: &Draw) -> Result<Loss, Failure> {
    let frame_bytes = f64::from(setup.host.mtu_bytes);
    let senders: Vec<NodeId> = draw.senders.iter().map(|&host| setup.fabric.host_node(host)).collect();
    let mut sent = Sent { senders: &senders, bytes: 0 };
    let mut simulation = simulation(setup, &TAGGER_TABLE6)?;
    simulation.run(&mut sent);
    let summary = finish(&mut simulation, &mut sent);
    let lossless = summary.packets.dropped.get("lossless queue full").copied().unwrap_or(0);
    let lost = summary.packets.dropped.get("queue full").copied().unwrap_or(0);
    Ok(Loss { sent: sent.bytes as f64 / frame_bytes, lost, lossless, deadlocks: u64::from(summary.deadlock.is_some()) })
}

/// Congestion control of the senders.
struct Control {
    name: &'static str,
    /// Override of `host.transport`; `None` for the scenario's value.
    transport: Option<&'static str>,
}

/// Congestion control in the simulator that the group of the authors has released.
const DCQCN: Control = Control { name: "DCQCN", transport: None };
/// Congestion control with which the rows of the table have the same order as in the paper.
const TCP: Control = Control { name: "TCP", transport: Some("{ kind = \"tcp\", mss = \"1000B\" }") };

/// A combination of congestion control, flow sizes, share of failed links, and number of random draws.
#[derive(Clone, Copy)]
struct Case {
    control: &'static Control,
    sizes: &'static str,
    rate: f64,
    draws: u64,
}

impl Case {
    /// Returns the losses with `fan_in` senders, and the numbers of flows with no, one, and two or more bounces.
    fn losses(&self, trial: &Trial, fabric: &Fabric, row: &Row, fan_in: usize) -> Result<(Loss, [u64; 3]), Failure> {
        let (mut sum, mut bounced) = (Loss::default(), [0; 3]);
        for number in 0..self.draws {
            // The seed does not depend on the row, so that all rows use the same random draws.
            let mut stream = Stream::new(number, fan_in as u64, purpose("table 6"));
            let draw = Draw::new(fabric, fan_in, self.rate, &mut stream);
            let own = row.changes.iter().map(|&(key, value)| (key, value.to_owned()));
            let common = [
                ("seed", (number + 1).to_string()),
                ("traffic.0.hosts", format!("{:?}", draw.senders)),
                ("traffic.0.destinations", format!("[{}]", draw.receiver)),
                ("traffic.0.sizes", format!("{:?}", self.sizes)),
                ("traffic.0.load", (LOAD * PAYLOAD_SHARE / fan_in as f64).to_string()),
            ];
            let transport = self.control.transport.map(|transport| ("host.transport", transport.to_owned()));
            let changes: Vec<(&str, String)> = own.chain(common).chain(transport).collect();
            let mut setup = trial.setup(&TAGGER_TABLE6, &changes)?;
            let flows = draw.route(&mut setup, &mut stream)?;
            bounced.iter_mut().zip(flows).for_each(|(sum, flows)| *sum += flows);
            sum.add(run(setup, &draw)?);
        }
        Ok((sum, bounced))
    }
}

/// Numbers of senders in the table's columns.
const FAN_INS: [usize; 3] = [8, 16, 24];
/// The paper's loss rates by row and column, for web search flow sizes and 20 % failed links.
const PAPER: [[f64; 3]; 3] = [[1.25e-2, 6.6e-2, 1.27e-1], [0.0, 6.87e-7, 1.61e-6], [0.0; 3]];
/// Tolerance of a loss rate, relative to the paper's loss rate (OPEN). The rows of the paper differ by factors of a
/// hundred thousand, its columns by factors of two.
const RATE_SHARE: f64 = 0.5;
/// Reason for not judging a comparison with a row that has no loss.
const NOTHING_LOST: &str = "nothing is lost above: 0 against 0 proves nothing";

/// Runs the experiment `tagger/table6`.
pub fn table6(trial: &mut Trial) -> Result<(), Failure> {
    let draws = trial.shorten("draws of failed links and of servers for each number", 10, 1);
    let kinds = trial.shorten("pairs of control and sizes", 3, 2) as usize;
    let fabric = trial.setup(&TAGGER_TABLE6, &[])?.fabric;
    let (mut rows, mut total) = (Vec::new(), Loss::default());
    for (control, sizes) in
        [(&DCQCN, "web-search"), (&TCP, "web-search"), (&DCQCN, "data-mining")].into_iter().take(kinds)
    {
        for rate in [0.2, 0.1] {
            let case = Case { control, sizes, rate, draws };
            let mut rates = [[0.0; 3]; 3];
            for ((row, rates), paper) in ROWS.iter().zip(&mut rates).zip(PAPER) {
                let failed = format!("{:.0} %", rate * 100.0);
                let mut cells = vec![control.name.to_owned(), sizes.to_owned(), failed, row.name.to_owned()];
                let mut shares = [0; 3];
                for ((&fan_in, rate), paper) in FAN_INS.iter().zip(rates).zip(paper) {
                    let (loss, bounced) = case.losses(trial, &fabric, row, fan_in)?;
                    shares.iter_mut().zip(bounced).for_each(|(sum, flows)| *sum += flows);
                    *rate = loss.rate();
                    total.add(loss);
                    cells.extend([format!("{:.2e}", loss.rate()), format!("{paper:.2e}")]);
                }
                let flows = shares.iter().sum::<u64>() as f64;
                cells.extend(shares[1..].iter().map(|&share| format!("{:.1} %", 100.0 * share as f64 / flows)));
                rows.push(cells);
            }
            order(trial, case, rates);
        }
    }
    trial.show(
        "  frames lost in the lossy queue of all that were sent, by number of senders; flows that bounce once and \
         more\n",
    );
    let header = ["control", "sizes", "failed", "switches", "8", "paper", "16", "paper", "24", "paper", "once", "more"];
    trial.show(&table(&header, &rows, 4, Layout::Fixed, 2));
    let count = |name: &str, unit, ours: u64| Check::exact(name, unit, ours as f64, Relation::Equal, 0.0);
    trial.check(count("lossless frames lost", "frames", total.lossless).consistency());
    trial.check(count("deadlocks", "deadlocks", total.deadlocks).consistency());
    let healthy = Case { control: &DCQCN, sizes: "web-search", rate: 0.0, draws };
    let (loss, bounced) = healthy.losses(trial, &fabric, &ROWS[1], FAN_INS[2])?;
    trial.check(
        count("negative control: without failed links, flows that bounce", "flows", bounced[1] + bounced[2])
            .consistency(),
    );
    trial.check(
        count("negative control: without failed links, frames that one lossless queue loses", "frames", loss.lost)
            .consistency(),
    );
    Ok(())
}

/// Checks the order of the rows: each row has less loss than the previous row, and the last row has none. If the
/// previous row has no loss, the comparison is not judged.
fn order(trial: &mut Trial, case: Case, rates: [[f64; 3]; 3]) {
    let (control, sizes, failed) = (case.control.name, case.sizes, case.rate * 100.0);
    let label = |fan_in: usize| format!("{control}, {sizes}, {failed:.0} % failed, {fan_in} to 1");
    let unless = |nothing: bool, check: Check| if nothing { check.unjudged(NOTHING_LOST) } else { check };
    for (at, &fan_in) in FAN_INS.iter().enumerate() {
        let [none, one, two] = rates.map(|row| row[at]);
        let label = label(fan_in);
        let name = format!("{label}: loss without PFC, above that with one lossless queue");
        trial.check_in_full(Check::new(name, "share", none, Relation::Above, one, 0.0));
        let name = format!("{label}: loss with two lossless queues, at most that with one");
        trial.check_in_full(unless(
            one == 0.0 && two == 0.0,
            Check::new(name, "share", two, Relation::AtMost, one, 0.0),
        ));
        let name = format!("{label}: loss with two lossless queues");
        let nothing = none == 0.0 && one == 0.0 && two == 0.0;
        trial.check_in_full(unless(nothing, Check::new(name, "share", two, Relation::Equal, 0.0, 0.0)));
        if is_compared(case) {
            for (row, (ours, paper)) in ROWS.iter().zip([none, one].into_iter().zip([PAPER[0][at], PAPER[1][at]])) {
                let name = format!("{label}: loss with {}, the paper's at 20 %", row.name);
                let check = Check::new(name, "share", ours, Relation::Equal, paper, RATE_SHARE * paper);
                trial.check_in_full(
                    check.note("half of the paper's rate is allowed, our reading; it has one simulation"),
                );
            }
        }
    }
    for (at, fan_ins) in FAN_INS.windows(2).enumerate() {
        let name = format!("{}: loss without PFC, above that with {} senders", label(fan_ins[1]), fan_ins[0]);
        trial.check_in_full(Check::new(name, "share", rates[0][at + 1], Relation::Above, rates[0][at], 0.0));
    }
}

/// Returns `true` for the cases whose loss rates are compared with the paper's: DCQCN, which the simulator of the
/// authors' group uses, at the stated failure rate; and TCP, with which the rows have the paper's order, at the failure
/// rate with which the shares of bounced flows equal the paper's.
fn is_compared(case: Case) -> bool {
    case.sizes == "web-search" && (case.control.name, case.rate) == (DCQCN.name, 0.2)
        || (case.control.name, case.rate) == (TCP.name, 0.1)
}
