//! Export of gate lists in the formats of Linux, IEEE 802.1Qcw and tsnkit.

use crate::gates::GateList;
use crate::problem::{Link, Problem, Schedule};
use crate::protocol::WireCost;
use fabric::{Fabric, NodeId};
use serde_json::{Value, json};
use units::{Rate, Time};

fn nanoseconds(time: Time) -> u64 {
    time.as_ps() / 1000
}

/// Returns the `tc` command that installs these gates at a Linux interface. `offload`: the network card runs them.
///
/// Traffic of priority i goes to class i; each class has its own queue.
pub fn taprio(list: &GateList, interface: &str, base_time_ns: u64, offload: bool) -> String {
    let mut text = format!(
        "tc qdisc replace dev {interface} parent root handle 100 taprio \\\n  \
         num_tc 8 map 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 \\\n  \
         queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 \\\n  base-time {base_time_ns} \\\n"
    );
    for entry in &list.entries {
        text.push_str(&format!("  sched-entry S {:02x} {} \\\n", entry.gates, nanoseconds(entry.interval)));
    }
    text.push_str(if offload { "  flags 0x2\n" } else { "  clockid CLOCK_TAI\n" });
    text
}

/// Returns the reason if Linux would reject these gates at a port of this rate (`sch_taprio.c`): a state shorter than a
/// frame of 60 bytes (without FCS) or longer than 32 bits of nanoseconds, or a cycle longer than 31 bits.
pub fn taprio_refuses(list: &GateList, rate: Rate) -> Option<String> {
    let shortest = rate.serialise(60);
    let short = list.entries.iter().find(|entry| entry.interval < shortest);
    if let Some(entry) = short {
        return Some(format!("a state lasts {}, less than a frame of 60 bytes takes: {shortest}", entry.interval));
    }
    let long = list.entries.iter().find(|entry| nanoseconds(entry.interval) > u32::MAX.into());
    if let Some(entry) = long {
        return Some(format!("a state lasts {}, and 32 bits of nanoseconds are 4.29 s", entry.interval));
    }
    let most = i32::MAX as u64;
    (nanoseconds(list.cycle) > most)
        .then(|| format!("the cycle is {}, and 31 bits of nanoseconds are 2.15 s", list.cycle))
}

/// Returns the gate configuration of a bridge port by IEEE 802.1Qcw (YANG, as JSON by RFC 7951). `type` is required
/// because the model defines a bridge port only on an interface of such a type; `config-change` because a bridge
/// activates the admin list only if it is set (802.1Q, 8.6.9.3.1).
pub fn qcw(list: &GateList, interface: &str, base_time_ns: u64) -> Value {
    let entry = |(index, entry): (usize, &crate::gates::GateEntry)| {
        json!({
            "index": index,
            "operation-name": "ieee802-dot1q-sched:set-gate-states",
            "time-interval-value": nanoseconds(entry.interval),
            "gate-states-value": entry.gates,
        })
    };
    let entries: Vec<Value> = list.entries.iter().enumerate().map(entry).collect();
    json!({
        "name": interface,
        "type": "iana-if-type:ethernetCsmacd",
        "ieee802-dot1q-bridge:bridge-port": {
            "ieee802-dot1q-sched-bridge:gate-parameter-table": {
                "gate-enabled": true,
                "admin-gate-states": 255,
                "admin-cycle-time": { "numerator": nanoseconds(list.cycle), "denominator": 1_000_000_000 },
                "admin-base-time": {
                    "seconds": (base_time_ns / 1_000_000_000).to_string(),
                    "nanoseconds": base_time_ns % 1_000_000_000,
                },
                "admin-control-list": { "gate-control-entry": entries },
                "config-change": true,
            }
        }
    })
}

/// Error: tsnkit's tables cannot represent the schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TsnkitError {
    /// Time that is not in whole nanoseconds.
    #[error("stream `{stream}` starts at {time} on a link, and tsnkit's tables are in whole nanoseconds")]
    Fraction {
        /// Stream.
        stream: String,
        /// Start time.
        time: Time,
    },
    /// Node name that is not a number.
    #[error("node `{node}` has a name, and tsnkit's nodes are numbers")]
    Name {
        /// Node.
        node: String,
    },
}

/// Returns the tables of tsnkit (0.3): file name and text. All streams with slots are numbered in order and share one
/// queue, 7. `peers` has the node at the other end of each link.
///
/// # Errors
/// If the tables cannot represent the schedule.
pub fn tsnkit(
    problem: &Problem,
    schedule: &Schedule,
    peers: &[String],
) -> Result<Vec<(&'static str, String)>, TsnkitError> {
    let number = |node: &str| match node.parse::<u32>() {
        Ok(number) => Ok(number),
        Err(_) => Err(TsnkitError::Name { node: node.to_owned() }),
    };
    let (mut gcl, mut offset) = ("link,queue,start,end,cycle\n".to_owned(), "stream,frame,offset\n".to_owned());
    let (mut route, mut queue) = ("stream,link\n".to_owned(), "stream,frame,link,queue\n".to_owned());
    let mut windows: Vec<Vec<(u64, u64, u64)>> = vec![Vec::new(); problem.links.len()];
    for (stream, (spec, starts)) in problem.streams.iter().zip(&schedule.starts).enumerate() {
        let Some(starts) = starts else { continue };
        for (hop, (&link, &start)) in spec.path.iter().zip(starts).enumerate() {
            let at = problem.links[link].node.as_str();
            let name = format!("\"({}, {})\"", number(at)?, number(&peers[link])?);
            let whole = |time: Time| match time.as_ps().is_multiple_of(1000) {
                true => Ok(nanoseconds(time)),
                false => Err(TsnkitError::Fraction { stream: spec.name.clone(), time }),
            };
            let (from, length) = (whole(start % spec.period)?, whole(problem.length(spec, link))?);
            windows[link].push((from, length, nanoseconds(spec.period)));
            if hop == 0 {
                offset.push_str(&format!("{stream},0,{from}\n"));
            }
            route.push_str(&format!("{stream},{name}\n"));
            queue.push_str(&format!("{stream},0,{name},7\n"));
        }
    }
    for (link, windows) in windows.iter().enumerate().filter(|(_, windows)| !windows.is_empty()) {
        let name = format!("\"({}, {})\"", problem.links[link].node, peers[link]);
        let cycle = windows.iter().fold(1, |cycle, &(.., period)| cycle / crate::slot::gcd(cycle, period) * period);
        let mut all: Vec<(u64, u64)> = Vec::new();
        for &(from, length, period) in windows {
            all.extend((0..cycle / period).map(|i| (from + i * period, from + i * period + length)));
        }
        all.sort_unstable();
        for (from, to) in all {
            gcl.push_str(&format!("{name},7,{from},{to},{cycle}\n"));
        }
    }
    Ok(vec![
        ("tidegate-GCL.csv", gcl),
        ("tidegate-OFFSET.csv", offset),
        ("tidegate-ROUTE.csv", route),
        ("tidegate-QUEUE.csv", queue),
    ])
}

/// Returns the node at the far end of each link, by name.
pub fn peers(fabric: &Fabric, problem: &Problem) -> Vec<String> {
    let peer = |link: &Link| {
        let node = fabric.find(&link.node).unwrap_or(NodeId(0));
        fabric.name(fabric.ports(node)[usize::from(link.port)].peer).to_owned()
    };
    problem.links.iter().map(peer).collect()
}

/// Output format of gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateFormat {
    /// [`taprio`]: one command per port.
    Taprio {
        /// The network card runs the gates.
        offload: bool,
    },
    /// [`qcw`]: one JSON object.
    Qcw,
}

/// Returns the name and the gate control lists, as text, of each node that has any. `named` returns the port name of a
/// link.
pub fn by_node(
    problem: &Problem,
    lists: &[GateList],
    words: GateFormat,
    base_time_ns: u64,
    named: impl Fn(usize) -> String,
) -> Vec<(String, String)> {
    let same = |a: &GateList, b: &GateList| problem.links[a.link].node == problem.links[b.link].node;
    let one = |lists: &[GateList]| {
        let text = match words {
            GateFormat::Qcw => {
                let all: Vec<Value> = lists.iter().map(|list| qcw(list, &named(list.link), base_time_ns)).collect();
                format!("{:#}\n", json!({ "ietf-interfaces:interfaces": { "interface": all } }))
            }
            GateFormat::Taprio { offload } => {
                let all = lists.iter().map(|list| taprio(list, &named(list.link), base_time_ns, offload));
                all.collect::<Vec<_>>().join("\n")
            }
        };
        (problem.links[lists[0].link].node.clone(), text)
    };
    lists.chunk_by(same).map(one).collect()
}

/// Returns notes for the installation of gates for streams of `class`; `guarded` if gates close before each slot.
pub fn notes(problem: &Problem, class: u8, guarded: bool) -> Vec<String> {
    let mut notes = vec![
        format!("the streams are of class {class}; a port opens its gate alone in their slots"),
        "all nodes and sources begin their cycles at the same instant: their clocks must agree (IEEE 802.1AS)".into(),
        "ports that the fabric's file does not name are called eth0, eth1 ... by their numbers".into(),
    ];
    if !guarded {
        notes.push(
            "no frame may start that does not end before its gate closes (802.1Q clause 8.6.8.4); for ports that do \
             not see to that use --guard-frame"
                .to_owned(),
        );
    }
    if problem.wire == WireCost::FrameOnly {
        notes.push("slots are as long as frames alone: a real wire needs 20 bytes more for each".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::GateEntry;

    #[test]
    fn what_linux_refuses_is_known_before_it_is_written() {
        let list = |ns: &[u64]| GateList {
            link: 0,
            cycle: ns.iter().map(|&ns| Time::from_ns(ns)).sum(),
            entries: ns.iter().map(|&ns| GateEntry { gates: 1, interval: Time::from_ns(ns) }).collect(),
        };
        let refused = |ns: &[u64], gbps| taprio_refuses(&list(ns), Rate::from_gbps(gbps)).unwrap_or_default();
        assert_eq!((refused(&[480, 9_520], 1), refused(&[5, 95], 100)), (String::new(), String::new()));
        assert_eq!(refused(&[479, 9_521], 1), "a state lasts 479ns, less than a frame of 60 bytes takes: 480ns");
        assert!(refused(&[4_294_967_296, 1_000], 1).starts_with("a state lasts 4.29"));
        assert!(refused(&[2_000_000_000, 147_483_648], 1).starts_with("the cycle is 2.14"));
    }

    /// Case 11 of the operators' reports.
    #[test]
    fn an_interface_has_a_type_and_its_list_is_adopted() {
        let entries = vec![GateEntry { gates: 0x80, interval: Time::from_us(1) }];
        let list = GateList { link: 0, cycle: Time::from_us(1), entries };
        let written = qcw(&list, "eth0", 1_000_000_005);
        assert_eq!(written["type"], "iana-if-type:ethernetCsmacd");
        let table = &written["ieee802-dot1q-bridge:bridge-port"]["ieee802-dot1q-sched-bridge:gate-parameter-table"];
        assert_eq!((&table["config-change"], &table["gate-enabled"]), (&true.into(), &true.into()));
        assert_eq!(table["admin-base-time"], json!({ "seconds": "1", "nanoseconds": 5 }));
    }
}
