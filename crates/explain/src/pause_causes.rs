//! All pauses of a run by root cause, with the propagation of the pauses and the flows that waited.

mod json;

use super::affected_flows::{FlowPaths, Role, Stream, WaitCollector, WaitTotals};
use super::chain::{RootCause, chain};
use super::explanation::plural;
use super::pauses::PauseInterval;
use super::trace::{PortId, Trace};
use crate::error::ExplainError;
use record::trace::TrafficSelector;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use text::numbers::span_ps;
use text::{ColorMode, Layout, Style, table};
use units::Time;

/// Maximum number of root causes in the text, and of ports, hosts and flows per root cause; `--json` contains all.
const MAX_SHOWN: usize = 16;

/// Number and total duration of pauses, including holds (pauses of one flow or destination).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PauseTotals {
    stops: u64,
    /// Number of `stops` that are holds.
    holds: u64,
    time: Time,
    longest: Time,
}

impl PauseTotals {
    fn add(&mut self, stop: &PauseInterval) {
        let lasted = stop.lasted(stop.from, stop.until);
        *self = PauseTotals {
            stops: self.stops + 1,
            holds: self.holds + u64::from(stop.of.is_some()),
            time: self.time.saturating_add(lasted),
            longest: self.longest.max(lasted),
        };
    }
}

/// A paused port; or a held flow or destination at a port.
type PausedTraffic = (PortId, Option<TrafficSelector>);

/// Pauses with one root cause, and the waiting times that they caused.
#[derive(Debug)]
struct CauseEffects {
    root: RootCause,
    all: PauseTotals,
    /// Pauses by the path along which they propagated from the root cause; the last element of a path is the paused
    /// port.
    tree: BTreeMap<Vec<PausedTraffic>, PauseTotals>,
    /// Hosts whose egress ports were paused.
    hosts: BTreeMap<u32, (Role, PauseTotals)>,
    flows: BTreeMap<Stream, (Role, WaitTotals)>,
}

impl CauseEffects {
    fn ports(&self) -> BTreeSet<PortId> {
        self.tree.keys().filter_map(|path| path.last()).map(|location| location.0).collect()
    }

    fn depth(&self) -> usize {
        self.tree.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the number of paused hosts and of waiting flows with this role, as text.
    fn suffering(&self, role: Role) -> String {
        let hosts = self.hosts.values().filter(|host| host.0 == role).count();
        let flows = self.flows.values().filter(|flow| flow.0 == role).count();
        match (hosts, flows) {
            (0, 0) => "-".to_owned(),
            (hosts, 0) => plural(hosts as u64, "host"),
            (0, flows) => plural(flows as u64, "flow"),
            (hosts, flows) => format!("{}, {}", plural(hosts as u64, "host"), plural(flows as u64, "flow")),
        }
    }
}

/// All pauses of a run, by root cause.
#[derive(Debug)]
pub struct PauseCauses {
    trace: Trace,
    all: PauseTotals,
    /// Pauses and waits of each root cause, sorted by descending total pause time.
    caused: Vec<CauseEffects>,
    /// Pauses of each port, class and flow.
    ports: BTreeMap<(PortId, Option<u8>, Option<TrafficSelector>), PauseTotals>,
    traced_flows: usize,
}

impl PauseCauses {
    /// Reads the trace in `folder` in two passes, without storing it.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn read(folder: &Path) -> Result<PauseCauses, ExplainError> {
        let mut paths = FlowPaths::default();
        let trace = Trace::visit(folder, |row| paths.take(row))?;
        let mut pause_causes = PauseCauses {
            all: PauseTotals::default(),
            caused: Vec::new(),
            ports: BTreeMap::new(),
            traced_flows: paths.flows(),
            trace,
        };
        let mut numbers: BTreeMap<RootCause, usize> = BTreeMap::new();
        let mut caused: Vec<CauseEffects> = Vec::new();
        let mut roots = [Vec::new(), Vec::new()];
        for (stops, roots) in
            [&pause_causes.trace.pauses.stops, &pause_causes.trace.pauses.holds].into_iter().zip(&mut roots)
        {
            for stop in stops {
                let (steps, root) = chain(&pause_causes.trace, stop);
                let number = *numbers.entry(root.clone()).or_insert(caused.len());
                if number == caused.len() {
                    let (tree, hosts, flows) = <_>::default();
                    caused.push(CauseEffects { root, all: PauseTotals::default(), tree, hosts, flows });
                }
                roots.push(number);
                let one = &mut caused[number];
                // In a cycle, the last step leads back to a pause that is already in the path: skip it.
                let closing = usize::from(matches!(one.root, RootCause::Cycle(_)));
                let between = steps.iter().rev().skip(closing).filter_map(|step| step.next);
                let path = between.chain([stop]).map(|stop| (stop.port, stop.of));
                one.tree.entry(path.collect()).or_default().add(stop);
                one.all.add(stop);
                if pause_causes.trace.is_host(stop.port.0) {
                    let role = (Role::Unknown, PauseTotals::default());
                    one.hosts.entry(stop.port.0).or_insert(role).1.add(stop);
                }
                pause_causes.all.add(stop);
                pause_causes.ports.entry((stop.port, stop.class, stop.of)).or_default().add(stop);
            }
        }
        let mut waits = WaitCollector::new(&pause_causes.trace, (&roots[0], &roots[1]));
        pause_causes.trace.again(|row| waits.take(&row))?;
        for ((number, stream), waited) in waits.finish() {
            let one = &mut caused[number];
            let role = paths.role(&pause_causes.trace, stream, &one.root);
            one.flows.insert(stream, (role, waited));
        }
        pause_causes.classify_hosts(&paths, &mut caused);
        caused.sort_by_key(|one| Reverse(one.all.time));
        pause_causes.caused = caused;
        Ok(pause_causes)
    }

    /// Sets the role of each paused host from the flows that it sends: contributor if any of them is a contributor;
    /// otherwise unknown if the role of any of them is unknown; otherwise victim.
    fn classify_hosts(&self, paths: &FlowPaths, caused: &mut [CauseEffects]) {
        let mut of_host: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &flow in self.trace.flows.keys() {
            if let Some((src, _)) = self.trace.ends(flow) {
                of_host.entry(src).or_default().push(flow);
            }
        }
        for one in caused {
            for (host, (role, _)) in &mut one.hosts {
                let flows = of_host.get(host).map(Vec::as_slice).unwrap_or_default();
                let roles: BTreeSet<Role> =
                    flows.iter().map(|&flow| paths.role(&self.trace, (flow, false), &one.root)).collect();
                let known = [Role::Contributor, Role::Unknown, Role::Victim];
                *role = known.into_iter().find(|role| roles.contains(role)).unwrap_or(Role::Unknown);
            }
        }
    }

    fn root_words(&self, root: &RootCause) -> String {
        let trace = &self.trace;
        match root {
            RootCause::Congested(port) => trace.port_towards(*port),
            RootCause::Cycle(ports) => {
                let names: Vec<String> = ports.iter().map(|&port| trace.port_name(port)).collect();
                format!("a circle of {}", names.join(", "))
            }
            RootCause::Host(host) => format!("{}, a host", trace.node(*host)),
            RootCause::Credits(port) => format!("late or too few credits at {}", trace.port_name(*port)),
            RootCause::Drained(node) => format!("{}, drained", trace.node(*node)),
            RootCause::Before(node) => format!("{}, before the trace", trace.node(*node)),
        }
    }

    fn traffic_words(&self, of: Option<TrafficSelector>) -> String {
        let name = |node: Option<u32>| node.map_or("anybody", |node| self.trace.node(node));
        of.map(|of| format!(" ({} to {})", name(of.src), name(of.dst))).unwrap_or_default()
    }

    fn stream_words(&self, (flow, reply): Stream) -> String {
        let ends = self.trace.ends(flow);
        let ends = ends.map(|(src, dst)| format!(", {} to {}", self.trace.node(src), self.trace.node(dst)));
        format!("{}flow {flow}{}", if reply { "replies of " } else { "" }, ends.unwrap_or_default())
    }

    /// Returns the text, with tables.
    pub fn text(&self, paint: ColorMode) -> String {
        let PauseTotals { stops, time, .. } = self.all;
        let ports: BTreeSet<PortId> = self.ports.keys().map(|key| key.0).collect();
        let ports = plural(ports.len() as u64, "port");
        let heading =
            format!("every pause of the run: {} of {ports}, {} in all", plural(stops, "stop"), span_ps(time.as_ps()));
        let mut text = format!("{}\n", paint.styled(&heading, Style::Strong));
        let rows: Vec<Vec<String>> = self.caused.iter().take(MAX_SHOWN).map(|one| self.row(one)).collect();
        if !rows.is_empty() {
            let header = ["caused by", "victims", "contributors", "not traced", "stops", "stopped", "ports", "depth"];
            text.push_str(&table(&header, &rows, 4, Layout::Fitting, 2));
        }
        let more = |text: &mut String, count: usize, what: &str| {
            if count > MAX_SHOWN {
                text.push_str(&format!("  ... and {} more {what}: --json has all\n", count - MAX_SHOWN));
            }
        };
        more(&mut text, self.caused.len(), "causes");
        for one in self.caused.iter().take(MAX_SHOWN) {
            let name = self.root_words(&one.root);
            text.push_str(&format!("{}\n", paint.styled(&format!("{name}: stopped ports"), Style::Strong)));
            text.push_str(&table(&[], &self.branches(one), 1, Layout::Fitting, 2));
            more(&mut text, one.tree.len(), "ports");
            let affected_flows = self.affected_flows(one);
            if !affected_flows.is_empty() {
                text.push_str(&format!(
                    "{}\n",
                    paint.styled(&format!("{name}: delayed hosts and flows"), Style::Strong)
                ));
                let shown = &affected_flows[..affected_flows.len().min(MAX_SHOWN)];
                text.push_str(&table(&[], shown, 2, Layout::Fitting, 2));
                more(&mut text, affected_flows.len(), "hosts and flows");
            }
        }
        let (traced, all) = (self.traced_flows, self.trace.flows.len());
        if traced < all {
            let flows = plural(all as u64, "flow");
            text.push_str(&format!(
                "  The trace has frames of {traced} of {flows}; delays of other flows are unknown.\n"
            ));
        }
        text
    }

    fn row(&self, one: &CauseEffects) -> Vec<String> {
        let mut row = vec![self.root_words(&one.root)];
        row.extend([Role::Victim, Role::Contributor, Role::Unknown].map(|role| one.suffering(role)));
        row.extend([
            one.all.stops.to_string(),
            span_ps(one.all.time.as_ps()),
            one.ports().len().to_string(),
            one.depth().to_string(),
        ]);
        row
    }

    /// Returns the rows of the paused ports as a tree, indented by the number of propagation steps from the root cause.
    fn branches(&self, one: &CauseEffects) -> Vec<Vec<String>> {
        // If the root cause is a cycle, every path begins with the other ports of the cycle, which the heading lists:
        // indent relative to the shortest path.
        let least = one.tree.keys().map(Vec::len).min().unwrap_or(1);
        let rows = one.tree.iter().take(MAX_SHOWN).map(|(path, stopped)| {
            let (port, of) = path.last().copied().unwrap_or(((0, 0), None));
            let indent = "  ".repeat(path.len() - least);
            vec![
                format!("{indent}{}{}", self.trace.port_towards(port), self.traffic_words(of)),
                plural(stopped.stops, "stop"),
                span_ps(stopped.time.as_ps()),
                format!("longest {}", span_ps(stopped.longest.as_ps())),
            ]
        });
        rows.collect()
    }

    /// Returns the rows of the paused hosts, then of the flows that waited; each group by role (victims first), then by
    /// descending time.
    fn affected_flows(&self, one: &CauseEffects) -> Vec<Vec<String>> {
        let mut hosts: Vec<_> = one.hosts.iter().collect();
        hosts.sort_by_key(|(_, (role, stopped))| (*role, Reverse(stopped.time)));
        let mut flows: Vec<_> = one.flows.iter().collect();
        flows.sort_by_key(|(_, (role, waited))| (*role, Reverse(waited.time)));
        let hosts = hosts.into_iter().map(|(&host, (role, stopped))| {
            let how = if stopped.holds == stopped.stops { "held back" } else { "stopped" };
            let waited_text = format!("{how} {}", plural(stopped.stops, "time"));
            vec![role.name().to_owned(), self.trace.node(host).to_owned(), waited_text, span_ps(stopped.time.as_ps())]
        });
        let flows = flows.into_iter().map(|(&stream, (role, waited))| {
            let waited_text = format!("{} waited", plural(waited.frames, "frame"));
            vec![role.name().to_owned(), self.stream_words(stream), waited_text, span_ps(waited.time.as_ps())]
        });
        hosts.chain(flows).collect()
    }
}
