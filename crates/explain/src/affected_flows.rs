//! Flows whose frames waited behind paused ports (victim or contributor flows), by the root cause of the pause.

use super::chain::RootCause;
use super::trace::{PortId, Trace};
use record::trace::{PacketKind, TraceEvent, TraceRow};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// Frames of a flow in one direction: flow number, and `true` for the reverse direction (acknowledgements, replies).
pub type Stream = (u64, bool);

/// Waiting time of the frames of one flow behind pauses with one root cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitTotals {
    /// Number of frames; a frame that waited at two paused ports counts twice.
    pub frames: u64,
    /// Sum of the waiting times of these frames.
    pub time: Time,
}

/// Relation of a waiting flow to the root cause of the pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The flow crosses no port of the root cause; if the root cause is a host, the flow has another destination.
    Victim,
    /// The flow crosses a port of the root cause; if the root cause is a host, the flow has this host as destination.
    Contributor,
    /// Unknown, because the trace does not contain the path of the flow.
    Unknown,
}

impl Role {
    /// Returns the name in explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Victim => "victim",
            Role::Contributor => "contributor",
            Role::Unknown => "not traced",
        }
    }
}

fn stream(row: &TraceRow) -> Option<Stream> {
    row.packet.map(|packet| (packet.flow, packet.kind != PacketKind::Data))
}

/// Egress ports on the paths of flows, and the flows of which a frame was traced from its source to its destination.
#[derive(Debug, Default)]
pub struct FlowPaths {
    ports: BTreeMap<Stream, BTreeSet<PortId>>,
    whole: BTreeSet<Stream>,
}

impl FlowPaths {
    /// Processes the next event of the trace.
    pub fn take(&mut self, row: &TraceRow) {
        let Some(stream) = stream(row) else { return };
        match row.event {
            TraceEvent::Started { port, .. } => {
                self.ports.entry(stream).or_default().insert((row.node, port));
            }
            TraceEvent::Delivered | TraceEvent::Consumed => {
                self.whole.insert(stream);
            }
            _ => {}
        }
    }

    /// Returns the number of flows with frames in the trace.
    pub fn flows(&self) -> usize {
        self.ports.keys().map(|stream| stream.0).collect::<BTreeSet<_>>().len()
    }

    /// Returns the role of a flow relative to a root cause.
    pub fn role(&self, trace: &Trace, stream: Stream, root: &RootCause) -> Role {
        let destination = trace.ends(stream.0).map(|(src, dst)| if stream.1 { src } else { dst });
        let roots: &[PortId] = match root {
            RootCause::Congested(port) | RootCause::Credits(port) => std::slice::from_ref(port),
            RootCause::Cycle(ports) => ports,
            RootCause::Host(host) => {
                return match destination {
                    Some(destination) if destination == *host => Role::Contributor,
                    Some(_) => Role::Victim,
                    None => Role::Unknown,
                };
            }
            RootCause::Drained(_) | RootCause::Before(_) => return Role::Unknown,
        };
        let seen = self.ports.get(&stream);
        if roots.iter().any(|port| seen.is_some_and(|seen| seen.contains(port))) {
            return Role::Contributor;
        }
        let last_hops = roots.iter().all(|&port| trace.is_last_hop(port));
        match destination.filter(|_| last_hops) {
            // All ports of the root cause are last hops to hosts other than the flow's destination, so the flow does
            // not cross them, even if its path is not traced.
            Some(destination) if roots.iter().all(|&port| trace.peer(port) != Some(destination)) => Role::Victim,
            Some(_) => Role::Contributor,
            None if self.whole.contains(&stream) => Role::Victim,
            None => Role::Unknown,
        }
    }
}

/// A packet that is waiting in an egress queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    port: PortId,
    since: Time,
    stream: Stream,
    class: u8,
}

/// Collects the waiting times of frames behind pauses, by root cause.
pub struct WaitCollector<'t> {
    trace: &'t Trace,
    /// Index of the root cause of each pause, and of each hold.
    roots: (&'t [usize], &'t [usize]),
    /// Queue and enqueue time of each packet. A packet that is enqueued again, in another queue, replaces its entry.
    queued: BTreeMap<u64, Queued>,
    /// Waiting times by root cause and flow.
    found: BTreeMap<(usize, Stream), WaitTotals>,
}

impl<'t> WaitCollector<'t> {
    /// Creates the collector. `roots` has the index of the root cause of each pause, and of each hold, in `trace`.
    pub fn new(trace: &'t Trace, roots: (&'t [usize], &'t [usize])) -> WaitCollector<'t> {
        WaitCollector { trace, roots, queued: BTreeMap::new(), found: BTreeMap::new() }
    }

    /// Processes the next event of the trace.
    pub fn take(&mut self, row: &TraceRow) {
        let (Some(packet), Some(stream)) = (row.packet, stream(row)) else { return };
        match row.event {
            TraceEvent::Queued { port, .. } => {
                let (port, class) = ((row.node, port), packet.class);
                self.queued.insert(packet.number, Queued { port, since: row.at, stream, class });
            }
            TraceEvent::Started { port, since, .. } => {
                let id = (row.node, port);
                let queued = self.queued.remove(&packet.number).filter(|queued| queued.port == id);
                let since = queued.map_or(since, |queued| queued.since.min(since));
                self.wait(Queued { port: id, since, stream, class: packet.class }, row.at);
            }
            // A dropped frame leaves the queue without a transmission.
            TraceEvent::Dropped { .. } => {
                if let Some(queued) = self.queued.remove(&packet.number) {
                    self.wait(queued, row.at);
                }
            }
            _ => {}
        }
    }

    fn wait(&mut self, Queued { port, since, stream, class }: Queued, until: Time) {
        if since >= until {
            return;
        }
        let pauses = &self.trace.pauses;
        let ends = self.trace.ends(stream.0).map(|(src, dst)| if stream.1 { (dst, src) } else { (src, dst) });
        let (src, dst) = ends.unzip();
        let stops = pauses.indices(port, class, since, until).map(|index| (self.roots.0[index], &pauses.stops[index]));
        let holds = pauses.held(port, (src, dst), since, until);
        let holds = holds.map(|index| (self.roots.1[index], &pauses.holds[index]));
        let mut of_root: BTreeMap<usize, Time> = BTreeMap::new();
        for (root, stop) in stops.chain(holds) {
            let time = of_root.entry(root).or_default();
            *time = time.saturating_add(stop.lasted(since, until));
        }
        for (root, time) in of_root {
            let waited = self.found.entry((root, stream)).or_default();
            *waited = WaitTotals { frames: waited.frames + 1, time: waited.time.saturating_add(time) };
        }
    }

    /// Returns the waiting times; packets that are still queued have waited until the end of the run.
    pub fn finish(mut self) -> BTreeMap<(usize, Stream), WaitTotals> {
        for queued in std::mem::take(&mut self.queued).into_values() {
            self.wait(queued, self.trace.end);
        }
        self.found
    }
}
