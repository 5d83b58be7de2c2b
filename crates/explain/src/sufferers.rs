//! Who waited behind stopped ports: flows whose frames did, by the root of the stop.

use super::chain::Root;
use super::trace::{PortId, Trace};
use record::trace::{PacketKind, TraceEvent, TraceRow};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// A flow in one direction: its data, or its replies.
pub type Stream = (u64, bool);

/// What frames of one flow waited behind stops of one root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Frames, one that waited at two stops twice.
    pub frames: u64,
    /// Their time, added up.
    pub time: Time,
}

/// What somebody who waited has to do with the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Its own way does not cross the congested port, or does not lead to the host that pauses.
    Victim,
    /// It does.
    Contributor,
    /// The trace does not hold its way.
    Unknown,
}

impl Role {
    /// In words.
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

/// The ports by which flows left, and whether one of their frames was seen to arrive.
#[derive(Debug, Default)]
pub struct Ways {
    ports: BTreeMap<Stream, BTreeSet<PortId>>,
    whole: BTreeSet<Stream>,
}

impl Ways {
    /// The next event.
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

    /// How many flows have frames in the trace.
    pub fn flows(&self) -> usize {
        self.ports.keys().map(|stream| stream.0).collect::<BTreeSet<_>>().len()
    }

    /// What a flow has to do with a root.
    pub fn role(&self, trace: &Trace, stream: Stream, root: &Root) -> Role {
        let destination = trace.ends(stream.0).map(|(src, dst)| if stream.1 { src } else { dst });
        let roots: &[PortId] = match root {
            Root::Congested(port) | Root::Credits(port) => std::slice::from_ref(port),
            Root::Circle(ports) => ports,
            Root::Host(host) => {
                return match destination {
                    Some(destination) if destination == *host => Role::Contributor,
                    Some(_) => Role::Victim,
                    None => Role::Unknown,
                };
            }
            Root::Drained(_) | Root::Before(_) => return Role::Unknown,
        };
        let seen = self.ports.get(&stream);
        if roots.iter().any(|port| seen.is_some_and(|seen| seen.contains(port))) {
            return Role::Contributor;
        }
        let last_hops = roots.iter().all(|&port| trace.is_last_hop(port));
        match destination.filter(|_| last_hops) {
            // Whoever goes elsewhere does not cross the last hop to this host, traced or not.
            Some(destination) if roots.iter().all(|&port| trace.peer(port) != Some(destination)) => Role::Victim,
            Some(_) => Role::Contributor,
            None if self.whole.contains(&stream) => Role::Victim,
            None => Role::Unknown,
        }
    }
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    port: PortId,
    since: Time,
    stream: Stream,
    class: u8,
}

/// Where every stop's root is known: what frames waited.
pub struct Waits<'t> {
    trace: &'t Trace,
    /// By place in the stops, and in the holds: the number of the root.
    roots: (&'t [usize], &'t [usize]),
    /// When and where a packet joined the queue in which it is: what is held changes queues before it leaves.
    queued: BTreeMap<u64, Queued>,
    /// By root and flow.
    found: BTreeMap<(usize, Stream), Waited>,
}

impl<'t> Waits<'t> {
    /// `roots` by place in the stops, and in the holds, of `trace`.
    pub fn new(trace: &'t Trace, roots: (&'t [usize], &'t [usize])) -> Waits<'t> {
        Waits { trace, roots, queued: BTreeMap::new(), found: BTreeMap::new() }
    }

    /// The next event.
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
            // It left the queue without leaving by its port.
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
        let stops = pauses.places(port, class, since, until).map(|place| (self.roots.0[place], &pauses.stops[place]));
        let holds = pauses.held(port, (src, dst), since, until);
        let holds = holds.map(|place| (self.roots.1[place], &pauses.holds[place]));
        let mut of_root: BTreeMap<usize, Time> = BTreeMap::new();
        for (root, stop) in stops.chain(holds) {
            let time = of_root.entry(root).or_default();
            *time = time.saturating_add(stop.lasted(since, until));
        }
        for (root, time) in of_root {
            let waited = self.found.entry((root, stream)).or_default();
            *waited = Waited { frames: waited.frames + 1, time: waited.time.saturating_add(time) };
        }
    }

    /// What still waits when the run ends has waited until then.
    pub fn finish(mut self) -> BTreeMap<(usize, Stream), Waited> {
        for queued in std::mem::take(&mut self.queued).into_values() {
            self.wait(queued, self.trace.end);
        }
        self.found
    }
}
