//! Translates the switch parameters of an HPCC configuration: buffer, flow control, marking.

use super::hpcc::Value;
use super::hpcc_scenario::{Writer, quoted};
use fabric::NodeKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::Rate;

/// Bytes reserved per port in the HPCC simulator besides headroom: `SwitchMmu::reserve`.
const RESERVE_BYTES: u64 = 4096;

/// Upper bound of the bytes that a data frame has besides its payload: headers, preamble and inter-frame gap.
const FRAME_OVERHEAD_BYTES: u64 = 128;

impl Writer<'_> {
    /// Writes the keys of `[switch]`, followed by `[[switch.override]]` entries.
    pub(super) fn switch(&mut self) -> String {
        let mib = self.whole("BUFFER_SIZE", 16);
        let mut text = format!("buffer = \"{mib}MiB\"\n");
        let mut overrides = String::new();
        let mut classes: Vec<u8> = self.inputs.flows.iter().map(|flow| flow.class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.first() == Some(&0) {
            self.notes.push(
                "flows of priority group 0: highest priority and never paused there; here class 0, the lowest \
                 priority, and lossy"
                    .to_owned(),
            );
            classes.remove(0);
        }
        if !self.switched("ENABLE_PFC", true) {
            self.note("ENABLE_PFC", "0: no flow control, and the classes of the flows are lossy");
            text.push_str("flow_control = \"none\"\n");
        } else if classes.is_empty() {
            text.push_str("flow_control = \"none\"\n");
        } else {
            overrides.push_str(&self.flow_control(&classes, &mut text));
        }
        if !self.switched("USE_DYNAMIC_PFC_THRESHOLD", true) {
            self.note(
                "USE_DYNAMIC_PFC_THRESHOLD",
                "the released simulator's thresholds always follow the free buffer; so does xoff",
            );
        }
        let rates = self.port_rates();
        let hosts_rate = self.inputs.fabric.hosts().first().and_then(|&host| {
            let port = self.inputs.fabric.ports(host).first()?;
            Some(self.inputs.fabric.link(port.link).rate)
        });
        if let Some(host) = hosts_rate
            && rates.keys().any(|&rate| rate > host)
        {
            self.notes.push(format!(
                "ports faster than the first host's {host}: they pause their neighbour later there, at alpha 1/4 for \
                 twice the rate and 1/2 for four times; here at 1/8 like all ports"
            ));
        }
        if self.switched("ENABLE_QCN", true) {
            if let Some((marking, of_rates)) = self.marking(&rates) {
                text.push_str(&marking);
                overrides.push_str(&of_rates);
            }
        } else {
            text.push_str("marking = \"none\"\n");
        }
        if !overrides.is_empty() {
            let _ = writeln!(text, "\n{}", overrides.trim_end());
        }
        text
    }

    /// Writes PFC as in the HPCC simulator. Returns overrides for switches whose headroom differs from the common
    /// headroom. In that simulator, a pause takes effect at once, and the headroom of a port is three times rate x
    /// delay of its link. The scenario has the same headroom unless more bytes can arrive after XOFF.
    fn flow_control(&mut self, classes: &[u8], text: &mut String) -> String {
        let headrooms = self.headrooms();
        let mut switches: BTreeMap<Option<u64>, Vec<String>> = BTreeMap::new();
        for (name, headroom) in headrooms {
            switches.entry(headroom).or_default().push(quoted(&name));
        }
        let shown = |headroom: Option<u64>| headroom.map_or("auto".to_owned(), |bytes| format!("{bytes}B"));
        let common = switches.iter().max_by_key(|(_, names)| names.len()).and_then(|(&headroom, _)| headroom);
        let _ = writeln!(
            text,
            "flow_control = {{ kind = \"pfc\", priorities = {classes:?}, xoff = \"1/8\", xon = \"3KiB\", \
             headroom = \"{}\", reaction = \"0ns\" }}",
            shown(common)
        );
        switches.remove(&common);
        let mut overrides = String::new();
        for (headroom, names) in switches {
            let (names, headroom) = (names.join(", "), shown(headroom));
            let _ = writeln!(
                overrides,
                "[[switch.override]]\nswitches = [{names}]\nflow_control = {{ headroom = \"{headroom}\" }}\n"
            );
        }
        overrides
    }

    /// Returns headroom plus reserve per port of each switch in bytes, by switch name; `None` for a switch with a port
    /// whose headroom cannot hold all bytes that can arrive after XOFF.
    fn headrooms(&mut self) -> Vec<(String, Option<u64>)> {
        let (fabric, frame_bytes) = (self.inputs.fabric, self.payload_bytes() + FRAME_OVERHEAD_BYTES);
        let (mut found, mut mixed, mut short) = (Vec::new(), 0, 0);
        for node in fabric.node_ids().filter(|&node| fabric.node(node).kind == NodeKind::Switch) {
            let links = fabric.ports(node).iter().map(|port| fabric.link(port.link));
            // Bytes in flight on each link in one direction.
            let wires: Vec<u64> = links.map(|link| link.rate.bytes_in(link.delay)).collect();
            let (least, most) = (wires.iter().min().copied(), wires.iter().max().copied());
            let (Some(least), Some(most)) = (least, most) else { continue };
            // Arrivals after XOFF: the bytes in flight in both directions of the link, one frame at each endpoint whose
            // transmission delays the pause, and two more frames for the rounding of computed headroom (docs/model.md,
            // Headroom). The port with the shortest link is critical, because its headroom is smallest.
            let holds = 3 * least >= 2 * least + 4 * frame_bytes;
            mixed += u32::from(holds && least != most);
            short += u32::from(!holds);
            found.push((fabric.name(node).to_owned(), holds.then(|| 3 * most + RESERVE_BYTES)));
        }
        if short > 0 {
            self.notes.push(format!(
                "headroom of {short} switches: three times rate x delay there, less than may arrive after a pause; \
                 computed here"
            ));
        }
        if mixed > 0 {
            self.notes.push(format!(
                "headroom of {mixed} switches: per port there; here all ports of a switch have the largest"
            ));
        }
        found
    }

    /// Returns the number of switch ports per rate.
    fn port_rates(&self) -> BTreeMap<Rate, u64> {
        let fabric = self.inputs.fabric;
        let mut rates = BTreeMap::new();
        for node in fabric.node_ids().filter(|&node| fabric.node(node).kind == NodeKind::Switch) {
            for port in fabric.ports(node) {
                *rates.entry(fabric.link(port.link).rate).or_default() += 1;
            }
        }
        rates
    }

    /// Returns the value for ports of `rate` in the map `key`, such as `KMIN_MAP`. Reports an error if the map has no
    /// value for this rate.
    fn mapped(&mut self, key: &str, rate: Rate) -> Option<f64> {
        let found = match self.entry(key).map(|entry| &entry.value) {
            // The last entry of a rate holds, as in the simulator.
            Some(Value::Map(pairs)) => pairs.iter().rev().find(|(of, _)| *of == rate).map(|(_, value)| *value),
            _ => None,
        };
        if found.is_none() && !self.errors.iter().any(|error| error.key == key) {
            let (message, bps) =
                (format!("{key} has nothing for ports of {rate}, which the topology has"), rate.as_bps());
            self.fail(key, message, Some(&format!("add a pair: {bps} and its value")));
        }
        found
    }

    /// Returns the ECN marking of all ports, and the overrides for ports whose rate has other thresholds.
    fn marking(&mut self, rates: &BTreeMap<Rate, u64>) -> Option<(String, String)> {
        let mut found = Vec::new();
        for &rate in rates.keys() {
            let (low, high) = (self.mapped("KMIN_MAP", rate), self.mapped("KMAX_MAP", rate));
            let share = self.mapped("PMAX_MAP", rate);
            let (Some(low), Some(high), Some(share)) = (low, high, share) else { continue };
            if share > 1.0 || high < low {
                let message = format!("ports of {rate} would mark from {low} KB to {high} KB with up to {share}");
                self.fail("KMAX_MAP", message, Some("KMAX is at least KMIN, and PMAX at most 1"));
                continue;
            }
            // The simulator truncates thresholds to whole kilobytes.
            found.push((rate, low as u64, high as u64, share));
        }
        let &(rate, low, high, share) = found.first()?;
        let of = |wide: u64, rate: Rate| u128::from(wide) * u128::from(rate.as_bps());
        let same = found.iter().all(|other| (other.1, other.2, other.3) == (low, high, share));
        let proportional = found.iter().all(|&(other, other_low, other_high, other_share)| {
            of(other_low, rate) == of(low, other) && of(other_high, rate) == of(high, other) && other_share == share
        });
        let scaled = if !same && proportional { format!(", rate = \"{rate}\"") } else { String::new() };
        let table = |low: u64, high: u64, share: f64| {
            format!(
                "marking = {{ kind = \"ecn\", k_min = \"{low}KB\", k_max = \"{high}KB\", p_max = {share:?}{scaled}, \
                 at = \"dequeue\" }}\n"
            )
        };
        let mut text = table(low, high, share);
        if same || proportional {
            return Some((text, String::new()));
        }
        let mut overrides = String::new();
        for &(of, of_low, of_high, of_share) in &found[1..] {
            if (of_low, of_high, of_share) != (low, high, share) {
                let ports = self.ports_of(of).join(", ");
                let marking = table(of_low, of_high, of_share);
                let _ = writeln!(overrides, "# Ports of {of}.\n[[switch.override]]\nports = [{ports}]\n{marking}");
            }
        }
        text.insert_str(0, &format!("# Of ports of {rate}; others below.\n"));
        Some((text, overrides))
    }

    /// Returns the names of the switch ports of one rate, as TOML strings.
    fn ports_of(&self, rate: Rate) -> Vec<String> {
        let fabric = self.inputs.fabric;
        let switches = fabric.node_ids().filter(|&node| fabric.node(node).kind == NodeKind::Switch);
        let ports = switches.flat_map(|node| fabric.ports(node).iter().enumerate().map(move |port| (node, port)));
        let of_rate = ports.filter(|(_, (_, port))| fabric.link(port.link).rate == rate);
        of_rate.map(|(node, (number, _))| quoted(&format!("{}:{number}", fabric.name(node)))).collect()
    }
}
