//! The inside of a switch that trims with what its pipelines offer (Tofino, and switches that mirror on drop).
//!
//! ```text
//!            ingress pipeline p                  traffic manager            egress
//!  port ---> [read depth] -> [stages] -> meters -- pass ---> data queue of e  -------> port e
//!             (Tofino 2)                 of (p, e) - trim -> header queue of e ------> (ahead)
//!                                           ^                   |
//!             NOTIFY: every pipeline, or p  |                   | full: deflect the frame, or mirror its header
//!                                           |                   v
//!                                           +------ <--- recirculation port of p: FIFO, a rate, a latency
//!                                                         comes round: cut, header to the queue of e
//! ```
//!
//! Nothing here has a link: what waits inside has one time a station in times of its own, and acts as the switch's
//! timers do, after departures and arrivals of the same instant. Frames that no queue refuses and no meter trims pass
//! as in any switch; a switch without pipelines never asks for them.

mod inside;
mod tell;

use crate::network::Network;
use crate::on_wire::OnWire;
use crate::parameters::{Notified, Overflow, PipelineParameters, QueueLimit};
use crate::switch::core::Core;
use crate::switch::outcome::{Crossing, Outcome};
use crate::switch::overload::trim::Trimming;
use check::HighWater;
use check::conservation::Cause;
use check::little::QueueArea;
use engine::{Due, Ring, Window};
use fabric::NodeId;
use protocols::frame::{Frame, Kind};
use protocols::pipeline_trim::TrimMeter;
use stats::trace::{Load, TraceEvent};
use units::{Time, WIRE_OVERHEAD_BYTES};

/// A frame somewhere inside: when it goes on, and to which egress port.
#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    at: Time,
    egress: u16,
    frame: Frame,
}

/// A signal on its way to pipelines.
#[derive(Clone, Copy, Debug, Default)]
struct Signal {
    at: Time,
    origin: u16,
    egress: u16,
}

/// One pipeline's stations. Every station passes frames on in the order in which they came.
#[derive(Debug)]
struct Pipeline {
    /// Frames that wait for their clock cycle, to read the depth of their queue.
    entering: Ring<Passing>,
    /// Frames between that and the traffic manager.
    staged: Ring<Passing>,
    /// The next free cycle.
    next_cycle: Time,
    /// Frames that wait for the recirculation port, and until when it is busy.
    waiting: Ring<Passing>,
    waiting_bytes: u64,
    /// The most that ever waited there; length over time, and the waits that make it up.
    most_frames: HighWater,
    most_bytes: HighWater,
    area: QueueArea,
    busy_until: Time,
    /// Frames on its wire and on their way round.
    round: Ring<Passing>,
    told: PipelineCounts,
}

impl Pipeline {
    fn new() -> Pipeline {
        Pipeline {
            entering: Ring::new(),
            staged: Ring::new(),
            next_cycle: Time::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            most_frames: HighWater::default(),
            most_bytes: HighWater::default(),
            area: QueueArea::starting(Time::ZERO),
            busy_until: Time::ZERO,
            round: Ring::new(),
            told: PipelineCounts::default(),
        }
    }
}

/// What one pipeline counted since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PipelineCounts {
    /// Frames that its meters, or its look at the queue, trimmed.
    pub ingress_trims: u64,
    /// Frames, or headers, that went to its recirculation port.
    pub recirculated: u64,
    pub recirculated_bytes: u64,
    /// The most that waited there at once, and when first.
    pub most_waiting: u64,
    pub most_waiting_at: Time,
    /// When the first frame had to go there.
    pub first: Option<Time>,
    /// Congestion signals that it heard.
    pub notified: u64,
}

/// Stations with a time of their own in each pipeline.
const STATIONS: usize = 4;
const ENTERING: usize = 0;
const STAGED: usize = 1;
const WAITING: usize = 2;
const ROUND: usize = 3;
/// The place of signals among them; pipelines stand behind it.
const SIGNALS: u16 = 0;

/// Everything inside one switch.
#[derive(Debug)]
pub(crate) struct Pipelines {
    parameters: PipelineParameters,
    pipelines: Vec<Pipeline>,
    /// By pipeline, then egress port.
    trim_meters: Vec<TrimMeter>,
    ports: usize,
    ports_per_pipeline: u16,
    signals: Ring<Signal>,
    due: Due,
}

impl Pipelines {
    /// What `node` needs; `None` where its switches have no inside.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<Pipelines>> {
        let parameters = *network.switch.overload.inside()?;
        let fabric = &network.fabric;
        let ports = fabric.ports(node);
        let count = usize::from(parameters.pipelines);
        let trim_meters = (0..count)
            .flat_map(|_| ports.iter().map(|peer| TrimMeter::new(&parameters.control, fabric.link(peer.link).rate)))
            .collect();
        Some(Box::new(Pipelines {
            parameters,
            pipelines: (0..count).map(|_| Pipeline::new()).collect(),
            trim_meters,
            ports: ports.len(),
            ports_per_pipeline: parameters
                .ports_per_pipeline
                .unwrap_or_else(|| ports.len().div_ceil(count).max(1) as u16),
            signals: Ring::new(),
            due: Due::new(1 + STATIONS * count),
        }))
    }

    /// The pipeline of a port. Ports beyond the last pipeline begin again with the first: a scenario can give the
    /// sending and the receiving side of a port each its own host.
    #[inline]
    fn of(&self, port: u16) -> usize {
        usize::from(port / self.ports_per_pipeline) % self.pipelines.len()
    }

    /// The time of the next event inside.
    #[inline]
    pub fn next(&self) -> Time {
        self.due.earliest()
    }

    /// Sets the time of a station from what stands first there.
    fn plan(&mut self, pipeline: usize, station: usize) {
        let line = &self.pipelines[pipeline];
        let at = match station {
            ENTERING => line.entering.front().map(|first| first.at),
            STAGED => line.staged.front().map(|first| first.at),
            WAITING => line.waiting.front().map(|first| first.at.max(line.busy_until)),
            _ => line.round.front().map(|first| first.at),
        };
        self.due.set((1 + pipeline * STATIONS + station) as u16, at.unwrap_or(Time::MAX));
    }

    /// Whether the recirculation port of `pipeline` has room for `frame`.
    fn has_room(&self, pipeline: usize, frame: &Frame) -> bool {
        let line = &self.pipelines[pipeline];
        let fits = |limit: QueueLimit| limit.fits(line.waiting.len(), line.waiting_bytes, frame.size_bytes);
        self.parameters.deflect_queue.is_none_or(fits)
    }

    /// The queue before each recirculation port: length over time, how many frames wait, and since when each does.
    pub fn areas(&self) -> impl Iterator<Item = (&QueueArea, u64, impl Iterator<Item = Time>)> {
        self.pipelines.iter().map(|line| {
            let inside = line.waiting.iter().map(|passing| passing.at);
            (&line.area, line.waiting.len() as u64, inside)
        })
    }

    /// The most that ever waited before each recirculation port, in the unit of `limit`.
    pub fn most_waiting(&self, limit: QueueLimit) -> impl Iterator<Item = u64> {
        self.pipelines.iter().map(move |line| match limit {
            QueueLimit::Packets(_) => line.most_frames.peak(),
            QueueLimit::Bytes(_) => line.most_bytes.peak(),
        })
    }

    /// For tests of the checks: a frame that waits for a recirculation port is gone, and nobody counts it.
    #[cfg(test)]
    pub fn lose_in_silence(&mut self) -> bool {
        self.pipelines.iter_mut().any(|line| line.waiting.len() > 3 && line.waiting.pop().is_some())
    }

    /// For tests of the checks: recirculation ports have any room.
    #[cfg(test)]
    pub fn forget_limits(&mut self) {
        self.parameters.deflect_queue = None;
    }

    /// Every frame that is inside now.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.pipelines.iter().flat_map(|line| {
            [&line.entering, &line.staged, &line.waiting, &line.round]
                .into_iter()
                .flat_map(|ring| ring.iter().map(|passing| &passing.frame))
        })
    }
}

/// Bytes of `frame` on a wire.
#[inline]
fn wire_bytes(frame: &Frame) -> u32 {
    u32::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES as u32
}

impl Trimming {
    /// A frame enters the pipeline of its port.
    #[inline(never)]
    pub(crate) fn enter_pipeline(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome {
        let Crossing { in_port, egress, in_class, .. } = crossing;
        let can_cut = self.trim.can_cut(frame);
        let Some(inside) = self.inside.as_deref_mut().filter(|_| can_cut) else {
            return core.forward(self, &crossing, frame, window);
        };
        let pipeline = inside.of(in_port);
        if inside.parameters.stages.is_some() {
            let frame = Frame { in_port, in_class, ..*frame };
            let line = &mut inside.pipelines[pipeline];
            let at = line.next_cycle.max(frame.at);
            line.next_cycle = at + inside.parameters.cycle;
            line.entering.push(Passing { at, egress, frame });
            inside.plan(pipeline, ENTERING);
            core.wake_at(inside.next());
            // Where it goes from there is written down when it does.
            return Outcome::Recorded { egress };
        }
        let PipelineParameters { control, .. } = inside.parameters;
        let trim_meter = &mut inside.trim_meters[pipeline * inside.ports + usize::from(egress)];
        if trim_meter.trims(&control, frame.at, wire_bytes(frame)) {
            inside.pipelines[pipeline].told.ingress_trims += 1;
            core.note_metered(crossing, pipeline as u16, frame);
            self.cut(core, crossing, frame, window)
        } else {
            core.forward(self, &crossing, frame, window)
        }
    }

    /// A frame that can be cut found no room: it, or its header, goes to the recirculation port of the pipeline by
    /// which it came.
    pub(super) fn recirculate(&mut self, core: &mut Core, crossing: Crossing, frame: &Frame) -> Outcome {
        let now = frame.at;
        let Crossing { in_port, egress, in_class, .. } = crossing;
        let overflow = self.inside.as_ref().map(|inside| inside.parameters.overflow);
        let (frame, is_cut) = match overflow {
            Some(Overflow::Mirror) => (self.header_of(core, crossing, frame), true),
            _ => (*frame, false),
        };
        let frame = Frame { in_port, in_class, ..frame };
        let Some(inside) = self.inside.as_deref_mut() else { return core.lose_without_room(crossing, &frame) };
        let pipeline = inside.of(in_port);
        if !inside.has_room(pipeline, &frame) {
            let lost = core.lose(crossing, &frame, Cause::DeflectQueueFull);
            // Of a frame that was cut it is written down that its header is lost.
            return if is_cut { core.record(crossing, &frame, lost) } else { lost };
        }
        let line = &mut inside.pipelines[pipeline];
        line.told.first.get_or_insert(now);
        line.area.on_change(now, line.waiting.len() as u64);
        line.waiting.push(Passing { at: now, egress, frame });
        line.waiting_bytes += u64::from(frame.size_bytes);
        line.most_frames.raise(line.waiting.len() as u64);
        line.most_bytes.raise(line.waiting_bytes);
        line.told.recirculated += 1;
        line.told.recirculated_bytes += u64::from(frame.size_bytes);
        if line.busy_until <= now && line.waiting.len() == 1 {
            inside.serve(pipeline, now);
        } else {
            let waiting = line.waiting.len() as u64;
            if waiting > line.told.most_waiting {
                (line.told.most_waiting, line.told.most_waiting_at) = (waiting, now);
            }
            inside.plan(pipeline, WAITING);
        }
        core.wake_at(inside.next());
        let line = &inside.pipelines[pipeline];
        let waiting = Load { frames: line.waiting.len() as u64, bytes: line.waiting_bytes };
        let (pipeline, mirrored) = (pipeline as u16, frame.kind == Kind::Trimmed);
        core.note(crossing, &frame, TraceEvent::Deflected { port: egress, pipeline, waiting, mirrored });
        Outcome::Recorded { egress }
    }
}

impl Notified {
    /// Whether a signal from `origin` goes to `pipeline`.
    #[inline]
    fn includes(self, origin: usize, pipeline: usize) -> bool {
        self == Notified::All || origin == pipeline
    }
}
