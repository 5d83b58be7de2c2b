//! QCN congestion points: queued frames are sampled, and their sources are notified.
//!
//! The sampling uses the branch for early overload decisions, so that other switches pay nothing: a frame of a sampled
//! class is admitted as usual and then sampled if it waits. A notification needs room like an arriving frame; if flow
//! control decides at the output, that is room of its port.

use super::core::Core;
use super::outcome::{Crossing, FrameFate};
use super::overload::action::Action;
use crate::network::Network;
use crate::on_wire::OnWire;
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::frame::{CongestionMessage, Detail, Frame, Kind, MIN_FRAME_BYTES};
use protocols::qcn::{CongestionPoint, PointParameters};
use stats::trace::TraceEvent;
use units::random::{Stream, purpose};

/// The congestion points of one switch.
#[derive(Debug)]
pub(crate) struct CongestionPoints {
    parameters: PointParameters,
    /// Bitmask of the classes with an overload decision before admission.
    other_preadmission: u8,
    /// By queue, indexed as in the buffer.
    points: Vec<SampledQueue>,
    /// By port and class, bytes that have waited. Empty if only one class is in use.
    waited_bytes: Vec<[u64; 8]>,
    random: Stream,
    /// The notification caused by the frame in admission, if flow control decides at the output.
    pending_cnm: Option<(Crossing, Frame)>,
}

/// The congestion point of one queue.
#[derive(Clone, Copy, Debug, Default)]
struct SampledQueue {
    point: CongestionPoint,
    /// Bytes offered to the port at the last sample, and the part of them that waited in other classes.
    seen_bytes: u64,
    other_bytes: u64,
}

impl SampledQueue {
    /// Returns the bytes offered to the port since the last sample, without those that waited in other classes. Both
    /// arguments are totals since the start of the run. Frames of other classes that found the wire idle are still
    /// included.
    fn passed_bytes(&mut self, came_bytes: u64, other_bytes: u64) -> u64 {
        let came = came_bytes.saturating_sub(self.seen_bytes);
        let others = other_bytes.saturating_sub(self.other_bytes);
        (self.seen_bytes, self.other_bytes) = (came_bytes, other_bytes);
        came.saturating_sub(others)
    }
}

impl CongestionPoints {
    /// Creates the congestion points of `node`; `None` if it has none.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<CongestionPoints>> {
        let marking = network.switch_of(node).marking;
        let parameters = *marking.congestion_point()?;
        let random = Stream::new(network.seed, u64::from(node.0), purpose("congestion points"));
        let ports = if network.classes.len() > 1 { network.fabric.ports(node).len() } else { 0 };
        let waited_bytes = vec![[0; 8]; ports];
        Some(Box::new(CongestionPoints {
            parameters,
            other_preadmission: 0,
            points: Vec::new(),
            waited_bytes,
            random,
            pending_cnm: None,
        }))
    }
}

/// Returns the congestion point identifier (CPID) for notifications: port address and class.
fn identifier(node: NodeId, port: u16, class: u8) -> u64 {
    let [_, a, b, c] = node.0.to_be_bytes();
    let [d, e] = port.to_be_bytes();
    u64::from_be_bytes([6, a, b, c, d, e, 0, class])
}

impl Core {
    /// Returns the bitmask of the classes to sample. `preadmission` are those with an overload decision before
    /// admission.
    pub(super) fn sampled_classes(&mut self, preadmission: u8) -> u8 {
        let queues = self.buffer.queues.len();
        self.congestion_points.as_mut().map_or(0, |points| {
            points.other_preadmission = preadmission;
            points.points.resize(queues, SampledQueue::default());
            // With several classes, the bytes that wait in the others must be counted too.
            if points.waited_bytes.is_empty() { points.parameters.classes } else { u8::MAX }
        })
    }

    /// Handles a frame of a class in [`Core::preadmission_classes`] that found its wire occupied.
    #[inline(never)]
    pub(super) fn handle_preadmission(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let preadmission =
            self.congestion_points.as_ref().is_none_or(|points| points.other_preadmission & (1 << crossing.class) != 0);
        let outcome = if preadmission {
            overload.decide(self, crossing, frame, window)
        } else {
            self.admit_or_refuse(overload, &crossing, frame, window)
        };
        if let FrameFate::Queued { egress, index, .. } = outcome
            && let Some(message) = self.sample(egress, index as usize, frame)
        {
            self.notify_source(overload, crossing, (frame, message), window);
        }
        outcome
    }

    /// Samples `frame`, which waits in the queue at `index` of `egress`. Returns the message to its source, if any.
    fn sample(&mut self, egress: u16, index: usize, frame: &Frame) -> Option<CongestionMessage> {
        let points = self.congestion_points.as_mut()?;
        let mut others_bytes = 0;
        if let Some(waited) = points.waited_bytes.get_mut(usize::from(egress)) {
            waited[usize::from(frame.class & 7)] += u64::from(frame.size_bytes);
            others_bytes = waited.iter().sum::<u64>() - waited[usize::from(frame.class & 7)];
        }
        if frame.kind != Kind::Data || points.parameters.classes & (1 << frame.class) == 0 {
            return None;
        }
        let size_bytes = u64::from(frame.size_bytes);
        let queue_bytes = u64::from(self.buffer.queues[index].bytes);
        // Frames that found the wire idle were not sampled. They are in the bytes that the port has sent, which must
        // exclude bytes of other classes that waited in other queues.
        let hop = self.egress.hop(frame.at, egress, self.buffer.waiting_bytes(egress));
        let came_bytes = hop.sent_bytes + hop.queue_bytes;
        let CongestionPoints { parameters, points, random, .. } = &mut **points;
        let sampled = points.get_mut(index)?;
        let passed_bytes = sampled.passed_bytes(came_bytes, others_bytes).saturating_sub(size_bytes);
        // The queue was empty before this frame.
        if queue_bytes == size_bytes {
            sampled.point.on_idle(parameters, passed_bytes, random);
        }
        sampled.point.on_arrival(parameters, size_bytes, queue_bytes, random)
    }

    /// Sends a notification to the source of a sampled frame.
    #[cold]
    fn notify_source(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        (sampled, message): (&Frame, CongestionMessage),
        window: &mut Window<'_, OnWire>,
    ) {
        let Some(points) = &self.congestion_points else { return };
        let class = points.parameters.cnm_class;
        let frame = Frame {
            at: sampled.at,
            stamp: sampled.stamp,
            seq: identifier(self.node, crossing.egress, crossing.class),
            detail: Detail::congestion_message(message),
            flow: sampled.flow,
            src: sampled.dst,
            dst: sampled.src,
            entropy: sampled.entropy,
            size_bytes: points.parameters.cnm_bytes.max(MIN_FRAME_BYTES),
            kind: Kind::Cnm,
            class,
            in_class: class,
            ttl: self.network.host.ttl,
            traffic: sampled.traffic,
            ..Frame::default()
        };
        self.stats.counters.packets.injected.count(u64::from(frame.size_bytes));
        // The notification starts its own path: no ingress port to avoid.
        let Some(egress) = self.route(&frame, u16::MAX) else {
            self.lose(crossing, &frame, Cause::NoRoute);
            return;
        };
        let back = Crossing { in_port: crossing.in_port, egress, in_class: class, class };
        self.note(back, &frame, TraceEvent::Created { since: frame.at });
        if self.has_backpressure {
            if let Some(points) = &mut self.congestion_points {
                points.pending_cnm = Some((back, frame));
            }
            return;
        }
        let outcome = self.forward(overload, &back, &frame, window);
        self.trace_outcome(back, &frame, outcome);
    }

    /// Takes the notification that has yet to be admitted.
    pub(super) fn take_pending_cnm(&mut self) -> Option<(Crossing, Frame)> {
        self.congestion_points.as_mut()?.pending_cnm.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a busy second class do not count as frames that found the queue empty.
    #[test]
    fn frames_of_other_classes_do_not_pass_the_queue() {
        let mut sampled = SampledQueue::default();
        assert_eq!(sampled.passed_bytes(10_000, 0), 10_000);
        assert_eq!(sampled.passed_bytes(110_000, 97_000), 3_000);
        assert_eq!(sampled.passed_bytes(111_000, 97_000), 1_000);
    }
}
