//! Pipeline model of trimming switches (Tofino, and switches that mirror on drop).
//!
//! ```text
//!            ingress pipeline p                  traffic manager            egress
//!  port ---> [read depth] -> [stages] -> meters -- pass ---> data queue of e  -------> port e
//!             (Tofino 2)                 of (p, e) - trim -> header queue of e ------> (ahead)
//!                                           ^                   |
//!             NOTIFY: every pipeline, or p  |                   | full: deflect the frame, or mirror its header
//!                                           |                   v
//!                                           +------ <--- recirculation port of p: FIFO, a rate, a latency
//!                                                         after it: cut, header to the queue of e
//! ```
//!
//! Each station has one pending event time. Events of stations are timer events of the switch: they follow the
//! departures and arrivals of the same instant. Frames that the queue admits and no meter trims are forwarded as in any
//! other switch.

mod report;
mod stages;

use crate::network::Network;
use crate::on_wire::OnWire;
use crate::parameters::{Overflow, PipelineParameters, QueueLimit};
use crate::switch::core::Core;
use crate::switch::outcome::{Crossing, FrameFate};
use crate::switch::overload::action::Decision;
use crate::switch::overload::trim::Trimming;
use check::HighWater;
use check::conservation::Cause;
use check::little::QueueArea;
use engine::{EarliestTimes, Ring, Window};
use fabric::NodeId;
use protocols::frame::{Frame, Kind};
use protocols::pipeline_trim::{Metered, SIGNAL_BYTES, TrimMeter};
use stats::trace::{Load, TraceEvent};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// A frame at a station of a pipeline: the time at which it leaves the station, and its egress port.
#[derive(Clone, Copy, Debug, Default)]
struct PipelineFrame {
    at: Time,
    egress: u16,
    frame: Frame,
}

/// A congestion signal in flight to pipelines.
#[derive(Clone, Copy, Debug, Default)]
struct Signal {
    at: Time,
    origin: u16,
    egress: u16,
}

/// The stations of one pipeline. Each station is a FIFO queue.
#[derive(Debug)]
struct Pipeline {
    /// Frames that wait for their clock cycle, in which the depth of their queue is read.
    entering: Ring<PipelineFrame>,
    /// Frames between the read of the queue depth and the traffic manager.
    staged: Ring<PipelineFrame>,
    /// Start of the next free clock cycle.
    next_cycle: Time,
    /// Frames that wait for the recirculation port, which is occupied until `busy_until`.
    waiting: Ring<PipelineFrame>,
    waiting_bytes: u64,
    /// Maximum length of the recirculation queue `waiting`; `area` is the time integral of its length, with the sojourn
    /// times of its frames.
    most_frames: HighWater,
    most_bytes: HighWater,
    area: QueueArea,
    busy_until: Time,
    /// Frames on the recirculation link.
    round: Ring<PipelineFrame>,
    counts: PipelineCounts,
}

impl Pipeline {
    /// Occupies the recirculation port with a control message, ahead of the waiting frames, from the end of the current
    /// transmission on.
    fn send_message(&mut self, now: Time, rate: Rate) {
        self.busy_until = self.busy_until.max(now) + rate.serialise(SIGNAL_BYTES + WIRE_OVERHEAD_BYTES);
    }

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
            counts: PipelineCounts::default(),
        }
    }
}

/// Counters of one pipeline since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PipelineCounts {
    /// Frames trimmed by the meters of the pipeline or by its read of the queue depth.
    pub ingress_trims: u64,
    /// Frames or headers sent to the recirculation port of the pipeline.
    pub recirculated: u64,
    pub recirculated_bytes: u64,
    /// Maximum number of frames in the recirculation queue, and the time at which it was first reached.
    pub max_waiting: u64,
    pub most_waiting_at: Time,
    /// Time of the first recirculation.
    pub first: Option<Time>,
    /// Congestion signals received.
    pub notified: u64,
}

/// Number of stations with an event time in each pipeline.
const STATIONS: usize = 4;
const ENTERING: usize = 0;
const STAGED: usize = 1;
const WAITING: usize = 2;
const RECIRCULATING: usize = 3;
/// Index of the signals in `due`; the stations of the pipelines follow.
const SIGNALS: u16 = 0;

/// The pipeline model of one switch.
#[derive(Debug)]
pub(crate) struct Pipelines {
    parameters: PipelineParameters,
    pipelines: Vec<Pipeline>,
    /// Trim meters by pipeline, then egress port.
    trim_meters: Vec<TrimMeter>,
    ports: usize,
    ports_per_pipeline: u16,
    signals: Ring<Signal>,
    due: EarliestTimes,
}

impl Pipelines {
    /// Creates the pipelines of `node`; `None` without a pipeline model.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<Pipelines>> {
        let parameters = *network.switch.overload.pipelines()?;
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
            due: EarliestTimes::new(1 + STATIONS * count),
        }))
    }

    /// Returns the pipeline of a port. Ports beyond the last pipeline wrap around: a scenario can model the sending and
    /// the receiving side of one physical port as two ports with a host each.
    #[inline]
    fn of(&self, port: u16) -> usize {
        usize::from(port / self.ports_per_pipeline) % self.pipelines.len()
    }

    /// Returns the time of the next pipeline event.
    #[inline]
    pub fn next(&self) -> Time {
        self.due.earliest()
    }

    /// Updates the pending time of a station from its first frame.
    fn update_station(&mut self, pipeline: usize, station: usize) {
        let line = &self.pipelines[pipeline];
        let at = match station {
            ENTERING => line.entering.front().map(|first| first.at),
            STAGED => line.staged.front().map(|first| first.at),
            WAITING => line.waiting.front().map(|first| first.at.max(line.busy_until)),
            _ => line.round.front().map(|first| first.at),
        };
        self.due.set((1 + pipeline * STATIONS + station) as u16, at.unwrap_or(Time::MAX));
    }

    /// Returns whether the recirculation port of `pipeline` has room for `frame`.
    fn has_room(&self, pipeline: usize, frame: &Frame) -> bool {
        let line = &self.pipelines[pipeline];
        let fits = |limit: QueueLimit| limit.fits(line.waiting.len(), line.waiting_bytes, frame.size_bytes);
        self.parameters.deflect_queue.is_none_or(fits)
    }

    /// Returns, for each recirculation queue: the time integral of its length, the number of frames, and the arrival
    /// time of each frame.
    pub fn areas(&self) -> impl Iterator<Item = (&QueueArea, u64, impl Iterator<Item = Time>)> {
        self.pipelines.iter().map(|line| {
            let pipes = line.waiting.iter().map(|passing| passing.at);
            (&line.area, line.waiting.len() as u64, pipes)
        })
    }

    /// Returns the maximum backlog of each recirculation port, in the unit of `limit`.
    pub fn max_waiting(&self, limit: QueueLimit) -> impl Iterator<Item = u64> {
        self.pipelines.iter().map(move |line| match limit {
            QueueLimit::Packets(_) => line.most_frames.peak(),
            QueueLimit::Bytes(_) => line.most_bytes.peak(),
        })
    }

    /// Removes a frame of a recirculation queue without counting it, for tests of the checks.
    #[cfg(test)]
    pub fn lose_in_silence(&mut self) -> bool {
        self.pipelines.iter_mut().any(|line| line.waiting.len() > 3 && line.waiting.pop().is_some())
    }

    /// Removes the limits of recirculation queues, for tests of the checks.
    #[cfg(test)]
    pub fn forget_limits(&mut self) {
        self.parameters.deflect_queue = None;
    }

    /// Returns all frames in the pipelines.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.pipelines.iter().flat_map(|line| {
            [&line.entering, &line.staged, &line.waiting, &line.round]
                .into_iter()
                .flat_map(|ring| ring.iter().map(|passing| &passing.frame))
        })
    }
}

/// Returns the bytes of `frame` on the wire, with preamble and gap.
#[inline]
fn wire_bytes(frame: &Frame) -> u32 {
    u32::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES as u32
}

impl Trimming {
    /// Handles a frame at the entry of the pipeline of its port.
    #[inline(never)]
    pub(crate) fn enter_pipeline(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let Crossing { in_port, egress, in_class, .. } = crossing;
        let can_cut = self.trim.can_cut(frame);
        let counts = |pipes: &&mut Pipelines| can_cut || pipes.parameters.metered == Metered::All;
        let Some(pipes) = self.pipelines.as_deref_mut().filter(counts) else {
            return core.forward(self, &crossing, frame, window);
        };
        let pipeline = pipes.of(in_port);
        if can_cut && pipes.parameters.stages.is_some() {
            let frame = Frame { in_port, in_class, ..*frame };
            let line = &mut pipes.pipelines[pipeline];
            let at = line.next_cycle.max(frame.at);
            line.next_cycle = at + pipes.parameters.cycle;
            line.entering.push(PipelineFrame { at, egress, frame });
            pipes.update_station(pipeline, ENTERING);
            core.wake_at(pipes.next());
            // The frame is traced when it leaves the stages.
            return FrameFate::Recorded { egress };
        }
        let PipelineParameters { control, .. } = pipes.parameters;
        let trim_meter = &mut pipes.trim_meters[pipeline * pipes.ports + usize::from(egress)];
        if trim_meter.trims(&control, frame.at, wire_bytes(frame)) && can_cut {
            pipes.pipelines[pipeline].counts.ingress_trims += 1;
            core.note_metered(crossing, pipeline as u16, frame);
            let mut crossing = crossing;
            let decision = self.cut(core, &mut crossing, frame);
            core.carry_out(self, &crossing, frame, decision, window)
        } else {
            core.forward(self, &crossing, frame, window)
        }
    }

    /// Sends a frame that was not admitted, or its header, to the recirculation port of its ingress pipeline.
    pub(super) fn recirculate(&mut self, core: &mut Core, crossing: &Crossing, frame: &Frame) -> Decision {
        let now = frame.at;
        let &Crossing { in_port, egress, in_class, .. } = crossing;
        let is_header = self.pipelines.as_ref().is_some_and(|pipes| pipes.parameters.overflow == Overflow::Mirror);
        let frame = if is_header { self.header_of(core, *crossing, frame) } else { *frame };
        let frame = Frame { in_port, in_class, ..frame };
        let Some(pipes) = self.pipelines.as_deref_mut() else { return core.drop_without_room(*crossing, &frame) };
        let pipeline = pipes.of(in_port);
        if !pipes.has_room(pipeline, &frame) {
            let cause = Cause::RecirculationQueueFull;
            // The loss of a header is traced separately from the cut.
            return if is_header { Decision::DropHeader { cause, header: frame } } else { Decision::drop(cause) };
        }
        let line = &mut pipes.pipelines[pipeline];
        line.counts.first.get_or_insert(now);
        line.area.on_change(now, line.waiting.len() as u64);
        line.waiting.push(PipelineFrame { at: now, egress, frame });
        line.waiting_bytes += u64::from(frame.size_bytes);
        line.most_frames.raise(line.waiting.len() as u64);
        line.most_bytes.raise(line.waiting_bytes);
        line.counts.recirculated += 1;
        line.counts.recirculated_bytes += u64::from(frame.size_bytes);
        if line.busy_until <= now && line.waiting.len() == 1 {
            pipes.serve(pipeline, now);
        } else {
            let waiting = line.waiting.len() as u64;
            if waiting > line.counts.max_waiting {
                (line.counts.max_waiting, line.counts.most_waiting_at) = (waiting, now);
            }
            pipes.update_station(pipeline, WAITING);
        }
        core.wake_at(pipes.next());
        let line = &pipes.pipelines[pipeline];
        let waiting = Load { frames: line.waiting.len() as u64, bytes: line.waiting_bytes };
        let (pipeline, mirrored) = (pipeline as u16, frame.kind == Kind::Trimmed);
        core.note(*crossing, &frame, TraceEvent::Deflected { port: egress, pipeline, waiting, mirrored });
        Decision::Hold
    }
}
