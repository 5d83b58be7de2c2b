//! Gate control lists without time slots, as other tools write them.

use super::file::{GateFileError, MOST_PS, Port, State, Wire, nanoseconds, other_sum};
use fabric::Fabric;
use std::collections::BTreeMap;

/// Difference of base times above which a warning states it, in nanoseconds.
const LATE_NS: u64 = 1_000_000_000;

/// Gates of one port, identified by the name of its interface on the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortGates {
    /// The interface.
    pub interface: String,
    /// First line in the file, from 1; 0 if not available.
    pub line: usize,
    /// Start of the first cycle, in nanoseconds of `clock`.
    pub(super) base_ns: u64,
    pub(super) states: Vec<State>,
    /// The device refuses states that are shorter than the transmission time of a frame of this size in bytes; 0 if it
    /// accepts any state.
    pub(super) shortest_frame_bytes: u64,
    /// Longest frame that the device does not drop, in bytes, by class; `u64::MAX` without a limit.
    pub(super) longest_frame_bytes: [u64; 8],
    /// Whether some states hold or release preemptable frames (802.1Q Table 8-7). These operations are not judged.
    pub(super) holds: bool,
    /// Whether some classes are preemptable (802.1Q clause 6.7.2). Preemption is not judged.
    pub(super) preempts: bool,
    /// Warnings about elements that the file lacks.
    pub(super) warnings: Vec<String>,
    /// Clock of `base_ns`: TAI, REALTIME, MONOTONIC or BOOTTIME.
    pub(super) clock: &'static str,
}

impl PortGates {
    /// Fits the states to the cycle: a cycle shorter than the sum of intervals truncates the list, and in a longer
    /// cycle the last state lasts until the end of the cycle (802.1Q clause 8.6.9.1).
    pub(super) fn new(
        interface: String,
        line: usize,
        base_ns: u64,
        mut states: Vec<State>,
        cycle_ps: Option<u64>,
    ) -> Result<PortGates, String> {
        let sum = states.iter().try_fold(0u64, |sum, state| sum.checked_add(state.interval_ps));
        let Some(sum) = sum.filter(|&sum| sum > 0 && sum <= MOST_PS) else {
            return Err(format!("the intervals of `{interface}` add up to nothing, or to more than 11 days"));
        };
        let cycle = cycle_ps.unwrap_or(sum);
        if cycle == 0 || cycle > MOST_PS {
            return Err(format!("the cycle of `{interface}` is above zero and at most 11 days"));
        }
        let mut warnings = Vec::new();
        if cycle != sum {
            let then = if sum > cycle { "the end of the list never comes" } else { "its last state lasts longer" };
            warnings.push(format!("{}: {then}", other_sum(sum, cycle)));
        }
        let mut left = cycle;
        for state in &mut states {
            state.interval_ps = state.interval_ps.min(left);
            left -= state.interval_ps;
        }
        if let Some(last) = states.last_mut() {
            last.interval_ps += left;
        }
        Ok(PortGates {
            interface,
            line,
            base_ns,
            states,
            shortest_frame_bytes: 0,
            longest_frame_bytes: [u64::MAX; 8],
            holds: false,
            preempts: false,
            warnings,
            clock: "TAI",
        })
    }
}

/// Returns ` (and 3 more lists)` for four lists, of which the text names the first.
fn more_lists(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => " (and 1 more list)".to_owned(),
        many => format!(" (and {} more lists)", many - 1),
    }
}

impl PortGates {
    fn cycle_ps(&self) -> u64 {
        self.states.iter().map(|state| state.interval_ps).sum()
    }
}

/// A stream to simulate: release times of its source, and its path.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name of the stream.
    pub name: String,
    /// Period in picoseconds, above zero. The source releases one frame per period.
    pub period_ps: u64,
    /// Frame size in bytes, from destination address to FCS.
    pub frame_bytes: u64,
    /// Maximum latency in picoseconds.
    pub deadline_ps: Option<u64>,
    /// Offsets of the frames of successive periods in picoseconds, relative to the start of the first cycle; used
    /// cyclically.
    pub offsets_ps: Vec<u64>,
    /// Egress ports of the path, with the class at each.
    pub hops: Vec<FlowHop>,
}

/// Egress port on the path of a stream, and the class of the stream's frames at this port.
#[derive(Clone, Debug)]
pub struct FlowHop {
    /// The node.
    pub node: String,
    /// Port of the node.
    pub port: u16,
    /// Class of the queue in which frames wait, 0 to 7.
    pub class: u8,
}

/// Maximum number of port names in an error message.
const MOST_NAMES: usize = 16;

/// Streams, and gate control lists of ports.
#[derive(Clone, Debug)]
pub struct Lists {
    pub(super) wire: Wire,
    pub(super) processing_ps: u64,
    pub(super) flows: Vec<Flow>,
    pub(super) ports: Vec<Port>,
    /// Longest accepted frame in bytes per class, for each port with a limit.
    pub(super) longest: BTreeMap<(String, u16), [u64; 8]>,
    /// Warnings about statements that are not judged.
    pub(super) warnings: Vec<String>,
}

impl Lists {
    /// Creates an empty set. If `frame_only` is true, a frame occupies the link without preamble and inter-packet gap.
    pub fn new(processing_ps: u64, frame_only: bool) -> Lists {
        let wire = if frame_only { Wire::FrameOnly } else { Wire::Ethernet };
        Lists {
            wire,
            processing_ps: processing_ps.min(MOST_PS),
            flows: Vec::new(),
            ports: Vec::new(),
            longest: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds a warning to the judgement unless it has the same warning already.
    pub fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds a stream.
    ///
    /// # Errors
    /// A value out of range.
    pub fn add_flow(&mut self, flow: Flow) -> Result<(), GateFileError> {
        let fine = (1..=MOST_PS).contains(&flow.period_ps)
            && (1..=1_000_000_000).contains(&flow.frame_bytes)
            && !flow.hops.is_empty()
            && flow.hops.iter().all(|hop| hop.class < 8)
            && !flow.offsets_ps.is_empty()
            && flow.offsets_ps.iter().all(|&offset| offset < flow.period_ps);
        if !fine {
            let what = "it needs a period of at most 11 days, starts within it, a frame, hops, and classes 0 to 7";
            return Err(GateFileError::Value { element: format!("stream `{}`", flow.name), what: what.to_owned() });
        }
        self.flows.push(flow);
        Ok(())
    }

    /// Adds the gate control lists of ports. A port is named as in the fabric, or by `eth` followed by its number. Time
    /// zero is the earliest start of a first cycle among all lists.
    ///
    /// # Errors
    /// The name of the node, with the fault: an unknown node or port, a second list for a port, lists with different
    /// clocks.
    pub fn add_gates(
        &mut self,
        fabric: &Fabric,
        nodes: Vec<(String, Vec<PortGates>)>,
    ) -> Result<(), (String, GateFileError)> {
        let bases = nodes.iter().flat_map(|(_, lists)| lists).map(|list| list.base_ns);
        let zero = bases.min().unwrap_or(0);
        self.warn_of_late_starts(&nodes, zero);
        self.warn_of_cycles(&nodes);
        self.warn_of_elements(&nodes);
        self.check_clocks(&nodes)?;
        for (node, lists) in nodes {
            self.add_node(fabric, &node, lists, zero).map_err(|error| (node, error))?;
        }
        Ok(())
    }

    /// Adds the warnings of the lists, with the first port and the number of further ports of each.
    fn warn_of_elements(&mut self, nodes: &[(String, Vec<PortGates>)]) {
        let mut ports: BTreeMap<&str, (String, usize)> = BTreeMap::new();
        for (node, list) in nodes.iter().flat_map(|(node, lists)| lists.iter().map(move |list| (node, list))) {
            for warning in &list.warnings {
                let port = || (format!("`{}` of `{node}`", list.interface), 0);
                ports.entry(warning).and_modify(|(_, more)| *more += 1).or_insert_with(port);
            }
        }
        for (warning, (port, more)) in ports {
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            self.warn(format!("{port}{more}: {warning}"));
        }
    }

    /// Warns of the list whose cycle differs from that of most lists, and is neither a part nor a multiple of it.
    fn warn_of_cycles(&mut self, nodes: &[(String, Vec<PortGates>)]) {
        let all = || nodes.iter().flat_map(|(node, lists)| lists.iter().map(move |list| (node, list, list.cycle_ps())));
        let mut lists: BTreeMap<u64, usize> = BTreeMap::new();
        all().for_each(|(.., cycle)| *lists.entry(cycle).or_default() += 1);
        let count: usize = lists.values().sum();
        let Some((&usual, alike)) = lists.iter().find(|(_, alike)| 2 * **alike > count) else { return };
        let others: Vec<_> = all().filter(|(.., cycle)| usual % cycle != 0 && cycle % usual != 0).collect();
        let Some((node, list, cycle)) = others.first() else { return };
        let more = more_lists(others.len());
        self.warn(format!(
            "the cycle of `{}` of `{node}` is {}, {} {} than the {} of {alike} of {count} lists: one of its intervals \
             may be wrong{more}",
            list.interface,
            nanoseconds(*cycle),
            nanoseconds(cycle.abs_diff(usual)),
            if *cycle > usual { "more" } else { "less" },
            nanoseconds(usual)
        ));
    }

    /// Warns of lists with a first cycle long after that of others: until then their ports have no gates.
    fn warn_of_late_starts(&mut self, nodes: &[(String, Vec<PortGates>)], zero_ns: u64) {
        let all =
            nodes.iter().flat_map(|(node, lists)| lists.iter().map(move |list| (list.base_ns - zero_ns, node, list)));
        let late: Vec<_> = all.filter(|(delay_ns, ..)| *delay_ns > LATE_NS).collect();
        if let Some((delay_ns, node, list)) = late.iter().max_by_key(|(delay_ns, ..)| *delay_ns) {
            let more = if late.len() > 1 { format!(", and {} more are late", late.len() - 1) } else { String::new() };
            self.warn(format!(
                "the base time of `{}` of `{node}` is {} s after the earliest: it has no gates until then{more}",
                list.interface,
                delay_ns / 1_000_000_000
            ));
        }
    }

    /// Checks that all lists use one clock: start times of cycles on different clocks cannot be compared.
    fn check_clocks(&mut self, nodes: &[(String, Vec<PortGates>)]) -> Result<(), (String, GateFileError)> {
        let mut all = nodes.iter().flat_map(|(node, lists)| lists.iter().map(move |list| (node, list)));
        let Some((first, of_first)) = all.next() else { return Ok(()) };
        let boots = |list: &PortGates| ["MONOTONIC", "BOOTTIME"].contains(&list.clock);
        for (node, list) in all {
            let wrong = |message| Err((node.clone(), GateFileError::Line { line: list.line, message }));
            let (clock, other) = (list.clock, of_first.clock);
            if clock != other {
                return wrong(format!(
                    "`clockid CLOCK_{clock}` here, CLOCK_{other} at `{}` of `{first}`: their cycles begin apart",
                    of_first.interface
                ));
            }
            if boots(list) && node != first {
                return wrong(format!(
                    "`clockid CLOCK_{clock}` counts from the boot of each node: cycles of `{node}` and `{first}` \
                     begin apart"
                ));
            }
        }
        if of_first.clock == "REALTIME" {
            let count = nodes.iter().map(|(_, lists)| lists.len()).sum::<usize>();
            let more = more_lists(count);
            self.warn(format!(
                "`clockid CLOCK_REALTIME` at `{}` of `{first}`{more}: it jumps with leap seconds and when NTP sets it, \
                 and the time of IEEE 802.1AS is TAI: write CLOCK_TAI",
                of_first.interface
            ));
        }
        if boots(of_first) {
            self.warn(format!(
                "CLOCK_{} counts from the boot of `{first}`: sources must start by its clock, too",
                of_first.clock
            ));
        }
        Ok(())
    }

    fn add_node(
        &mut self,
        fabric: &Fabric,
        node: &str,
        gates: Vec<PortGates>,
        zero_ns: u64,
    ) -> Result<(), GateFileError> {
        let Some(id) = fabric.find(node) else {
            let element = format!("node `{node}`");
            return Err(GateFileError::Value { element, what: "the fabric has none of this name".to_owned() });
        };
        for list in gates {
            let numbered = |name: &str| name.strip_prefix("eth")?.parse::<u16>().ok();
            let port = fabric.port_named(id, &list.interface).or_else(|| numbered(&list.interface));
            let port = port.filter(|&port| usize::from(port) < fabric.ports(id).len());
            let wrong = |message: String| Err(GateFileError::Line { line: list.line, message });
            let Some(port) = port else {
                let names = (0..fabric.ports(id).len() as u16).map(|port| match fabric.port_name(id, port) {
                    Some(name) => fabric::visible(name),
                    None => format!("eth{port}"),
                });
                let names: Vec<String> = names.take(MOST_NAMES).collect();
                let names = names.join(", ");
                return wrong(format!("`{node}` has no port `{}`: it has {names}", list.interface));
            };
            if self.ports.iter().any(|other| other.port == port && other.node == node) {
                return wrong(format!("port `{}` of `{node}` has gates already", list.interface));
            }
            let link = fabric.link(fabric.ports(id)[usize::from(port)].link);
            let shortest = link.rate.serialise(list.shortest_frame_bytes).as_ps();
            if let Some(state) = list.states.iter().find(|state| state.interval_ps < shortest) {
                return wrong(format!(
                    "a state of `{}` lasts {} ns, less than a frame of {} bytes takes at {}: the kernel refuses it",
                    list.interface,
                    state.interval_ps / 1000,
                    list.shortest_frame_bytes,
                    link.rate
                ));
            }
            if list.holds {
                self.warn("states that hold or release preemptable frames are read as gates: preemption is not judged");
            }
            if list.preempts {
                self.warn(format!("`fp` of `{node}` makes classes preemptable: preemption is not judged"));
            }
            if list.longest_frame_bytes.iter().any(|&most| most < u64::MAX) {
                self.longest.insert((node.to_owned(), port), list.longest_frame_bytes);
            }
            let cycle_ps: u64 = list.states.iter().map(|state| state.interval_ps).sum();
            // Times of today in picoseconds exceed 64 bits.
            let offset_ps = u128::from(list.base_ns - zero_ns) * 1000 % u128::from(cycle_ps);
            // Rotate the list so that it starts at time zero.
            let entries = rotated(list.states, offset_ps as u64);
            self.ports.push(Port { node: node.to_owned(), port, cycle_ps, entries });
        }
        Ok(())
    }

    /// Number of streams.
    pub fn streams(&self) -> usize {
        self.flows.len()
    }
    /// Number of ports with gates.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }
}

/// Rotates a list whose cycle starts at time `by`, which is less than a cycle, so that the rotated list starts at time
/// zero.
fn rotated(states: Vec<State>, by: u64) -> Vec<State> {
    let mut tail = Vec::new();
    let mut head = states;
    let mut left = by;
    while left > 0 {
        let Some(mut last) = head.pop() else { break };
        if last.interval_ps > left {
            head.push(State { interval_ps: last.interval_ps - left, ..last });
            last.interval_ps = left;
        }
        left -= last.interval_ps;
        tail.push(last);
    }
    tail.reverse();
    tail.extend(head);
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    fn states(all: &[(u8, u64)]) -> Vec<State> {
        all.iter().map(|&(gates, interval_ps)| State { gates, interval_ps }).collect()
    }

    fn plain(states: &[State]) -> Vec<(u8, u64)> {
        states.iter().map(|state| (state.gates, state.interval_ps)).collect()
    }

    #[test]
    fn a_cycle_cuts_the_list_or_keeps_its_last_state() {
        let of =
            |cycle| PortGates::new("p".into(), 1, 0, states(&[(1, 10), (2, 20)]), cycle).map(|all| plain(&all.states));
        assert_eq!(of(None), Ok(vec![(1, 10), (2, 20)]));
        assert_eq!(of(Some(25)), Ok(vec![(1, 10), (2, 15)]));
        assert_eq!(of(Some(7)), Ok(vec![(1, 7), (2, 0)]));
        assert_eq!(of(Some(50)), Ok(vec![(1, 10), (2, 40)]));
        let warned =
            |cycle| PortGates::new("p".into(), 1, 0, states(&[(1, 10_000), (2, 20_500)]), cycle).unwrap().warnings;
        assert_eq!(warned(None), [""; 0]);
        let longer =
            "its intervals add up to 30.5 ns, 9.5 ns less than its cycle of 40 ns: its last state lasts longer";
        assert_eq!(warned(Some(40_000)), [longer]);
        let shorter = "its intervals add up to 30.5 ns, 0.5 ns more than its cycle of 30 ns: the end of the list never \
                       comes";
        assert_eq!(warned(Some(30_000)), [shorter]);
        assert!(of(Some(0)).is_err() && PortGates::new("p".into(), 1, 0, Vec::new(), None).is_err());
    }

    #[test]
    fn a_list_that_begins_later_is_seen_from_zero() {
        assert_eq!(plain(&rotated(states(&[(1, 10), (2, 20)]), 0)), [(1, 10), (2, 20)]);
        assert_eq!(plain(&rotated(states(&[(1, 10), (2, 20)]), 5)), [(2, 5), (1, 10), (2, 15)]);
        assert_eq!(plain(&rotated(states(&[(1, 10), (2, 20)]), 25)), [(1, 5), (2, 20), (1, 5)]);
    }

    #[test]
    fn clocks_of_nodes_must_begin_cycles_together() {
        let mut builder = FabricBuilder::new("test");
        let (one, two) = (builder.add_switch("one", 1), builder.add_switch("two", 1));
        for switch in [one, two] {
            let host = builder.add_host(if switch == one { "a" } else { "b" });
            builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(1), Time::ZERO));
        }
        builder.connect(one, two, LinkSpec::new(Rate::from_gbps(1), Time::ZERO));
        let fabric = builder.build().unwrap();
        let gates = |interface: &str, clock| {
            let list = PortGates::new(interface.into(), 4, 0, states(&[(1, 1_000_000)]), None).unwrap();
            PortGates { clock, ..list }
        };
        let added = |nodes: &[(&str, &str, &'static str)]| {
            let mut lists = Lists::new(0, false);
            let nodes = nodes.iter().map(|(node, port, clock)| ((*node).to_owned(), vec![gates(port, clock)]));
            let added = lists.add_gates(&fabric, nodes.collect()).map_err(|(node, error)| format!("{node}: {error}"));
            added.map(|()| lists.warnings)
        };
        assert_eq!(added(&[("one", "eth0", "TAI"), ("two", "eth0", "TAI")]), Ok(vec![]));
        let jumps = added(&[("one", "eth0", "REALTIME"), ("two", "eth0", "REALTIME")]).unwrap();
        let why = "`clockid CLOCK_REALTIME` at `eth0` of `one` (and 1 more list): it jumps with leap seconds";
        assert!(jumps.len() == 1 && jumps[0].starts_with(why), "{jumps:?}");
        let mixed = added(&[("one", "eth0", "TAI"), ("two", "eth0", "MONOTONIC")]).unwrap_err();
        let why = "two: line 4: `clockid CLOCK_MONOTONIC` here, CLOCK_TAI at `eth0` of `one`: their cycles begin \
                   apart";
        assert_eq!(mixed, why);
        let boots = added(&[("one", "eth0", "BOOTTIME"), ("two", "eth0", "BOOTTIME")]).unwrap_err();
        assert!(
            boots.starts_with("two: line 4: `clockid CLOCK_BOOTTIME` counts from the boot of each node"),
            "{boots}"
        );
        let alone = added(&[("one", "eth0", "MONOTONIC")]).unwrap();
        assert_eq!(alone, ["CLOCK_MONOTONIC counts from the boot of `one`: sources must start by its clock, too"]);
        let port = added(&[("one", "swp3", "TAI")]).unwrap_err();
        assert_eq!(port, "one: line 4: `one` has no port `swp3`: it has eth0, eth1");
    }

    /// Lists that start on a day of 2026 have the same entries as lists that start at 0: only differences count.
    #[test]
    fn times_of_today_differ_by_their_offset_alone() {
        let mut builder = FabricBuilder::new("test");
        let switch = builder.add_switch("s", 1);
        for name in ["a", "b"] {
            let host = builder.add_host(name);
            builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(1), Time::ZERO));
        }
        let fabric = builder.build().unwrap();
        let entries = |base_ns: u64, offset_ns: u64| {
            let list = |port: &str, base| {
                PortGates::new(port.into(), 1, base, states(&[(1, 300_000), (2, 700_000)]), None).unwrap()
            };
            let both = vec![list("eth0", base_ns), list("eth1", base_ns + offset_ns)];
            let mut lists = Lists::new(0, false);
            lists.add_gates(&fabric, vec![("s".to_owned(), both)]).unwrap();
            lists.ports.into_iter().map(|port| port.entries).collect::<Vec<_>>()
        };
        let today = 1_795_000_000_123_456_789;
        for offset_ns in [0, 250, 1_000_250, 3_600_000_000_250] {
            assert_eq!(entries(today, offset_ns), entries(0, offset_ns), "{offset_ns}");
        }
        assert_ne!(entries(0, 0), entries(0, 250));
        let warnings = |offset_ns: u64| {
            let list = |port: &str, base| PortGates::new(port.into(), 1, base, states(&[(1, 300_000)]), None).unwrap();
            let mut lists = Lists::new(0, false);
            let both = vec![list("eth0", today), list("eth1", today + offset_ns)];
            lists.add_gates(&fabric, vec![("s".to_owned(), both)]).unwrap();
            lists.warnings
        };
        assert_eq!(warnings(LATE_NS), [""; 0]);
        let late = "the base time of `eth1` of `s` is 3600 s after the earliest: it has no gates until then";
        assert_eq!(warnings(3_600_000_000_000), [late]);
    }
}
