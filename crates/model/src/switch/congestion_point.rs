//! Queues that are congestion points (QCN): frames that wait in them are sampled, and their sources notified.
//!
//! It stands where overload is asked about a class before admission, so that switches without it pay nothing: a frame
//! of a class that is watched is admitted as ever, and looked at if it waits. A notification asks for room as a frame
//! that arrives does: where outputs decide whom to stop, that is room of its port.

use super::core::Core;
use super::outcome::{Crossing, Outcome};
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
    /// Classes about whose frames overload decides before admission, a bit each.
    early: u8,
    /// By queue, as in the buffer.
    points: Vec<Watched>,
    /// By port and class, bytes that have waited, where other classes may share a port with a watched one.
    waited_bytes: Vec<[u64; 8]>,
    random: Stream,
    /// Where outputs decide whom to stop, the notification that the frame caused which is being admitted.
    made: Option<(Crossing, Frame)>,
}

/// One of them.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    point: CongestionPoint,
    /// Bytes that had come to its port when it was last looked at, and of these, bytes that waited in other classes.
    seen_bytes: u64,
    other_bytes: u64,
}

impl Watched {
    /// Bytes that came to its port since it was last looked at and did not wait in other classes: `came_bytes` and
    /// `other_bytes` of them since the run began. What other classes sent over the idle wire is still among them.
    fn passed_bytes(&mut self, came_bytes: u64, other_bytes: u64) -> u64 {
        let came = came_bytes.saturating_sub(self.seen_bytes);
        let others = other_bytes.saturating_sub(self.other_bytes);
        (self.seen_bytes, self.other_bytes) = (came_bytes, other_bytes);
        came.saturating_sub(others)
    }
}

impl CongestionPoints {
    /// Those of `node`, if it has any.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<CongestionPoints>> {
        let marking = network.switch_of(node).marking;
        let parameters = *marking.congestion_point()?;
        let random = Stream::new(network.seed, u64::from(node.0), purpose("congestion points"));
        let ports = if network.classes.len() > 1 { network.fabric.ports(node).len() } else { 0 };
        let waited_bytes = vec![[0; 8]; ports];
        Some(Box::new(CongestionPoints { parameters, early: 0, points: Vec::new(), waited_bytes, random, made: None }))
    }
}

/// Which queue it is, for whoever reads a notification: the address of the port, and the class.
fn identifier(node: NodeId, port: u16, class: u8) -> u64 {
    let [_, a, b, c] = node.0.to_be_bytes();
    let [d, e] = port.to_be_bytes();
    u64::from_be_bytes([6, a, b, c, d, e, 0, class])
}

impl Core {
    /// The classes whose queues are watched, a bit each; overload decides about those of `early` before admission.
    pub(super) fn watched_classes(&mut self, early: u8) -> u8 {
        let queues = self.buffer.queues.len();
        self.points.as_mut().map_or(0, |points| {
            points.early = early;
            points.points.resize(queues, Watched::default());
            // Of frames of other classes it must be known that they waited.
            if points.waited_bytes.is_empty() { points.parameters.classes } else { u8::MAX }
        })
    }

    /// A frame of a class of [`Core::early`] found its wire occupied.
    #[inline(never)]
    pub(super) fn decide_early(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome {
        let early = self.points.as_ref().is_none_or(|points| points.early & (1 << crossing.class) != 0);
        let outcome = if early {
            overload.decide(self, crossing, frame, window)
        } else {
            self.admit_or_refuse(overload, &crossing, frame, window)
        };
        if let Outcome::Queued { egress, index, .. } = outcome
            && let Some(message) = self.sample(egress, index as usize, frame)
        {
            self.notify_source(overload, crossing, (frame, message), window);
        }
        outcome
    }

    /// `frame` waits in the queue at `index` of `egress`: what its source shall be told, if anything.
    fn sample(&mut self, egress: u16, index: usize, frame: &Frame) -> Option<CongestionMessage> {
        let points = self.points.as_mut()?;
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
        // What found the wire idle never came here: it shows in what the port has carried, without what waited in other
        // classes, which passed other queues.
        let hop = self.egress.hop(frame.at, egress, self.buffer.waiting_bytes(egress));
        let came_bytes = hop.sent_bytes + hop.queue_bytes;
        let CongestionPoints { parameters, points, random, .. } = &mut **points;
        let watched = points.get_mut(index)?;
        let passed_bytes = watched.passed_bytes(came_bytes, others_bytes).saturating_sub(size_bytes);
        if queue_bytes == size_bytes {
            watched.point.on_idle(parameters, passed_bytes, random);
        }
        watched.point.on_arrival(parameters, size_bytes, queue_bytes, random)
    }

    /// Sends the source of a frame that was sampled on its way a notification.
    #[cold]
    fn notify_source(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        (sampled, message): (&Frame, CongestionMessage),
        window: &mut Window<'_, OnWire>,
    ) {
        let Some(points) = &self.points else { return };
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
        self.books.ledger.packets.injected.count(u64::from(frame.size_bytes));
        // A way of its own begins here.
        let Some(egress) = self.route(&frame, u16::MAX) else {
            self.lose(crossing, &frame, Cause::NoRoute);
            return;
        };
        let back = Crossing { in_port: crossing.in_port, egress, in_class: class, class };
        self.note(back, &frame, TraceEvent::Created { since: frame.at });
        if self.has_backpressure {
            if let Some(points) = &mut self.points {
                points.made = Some((back, frame));
            }
            return;
        }
        let outcome = self.forward(overload, &back, &frame, window);
        self.record(back, &frame, outcome);
    }

    /// Takes the notification that is still to be admitted.
    pub(super) fn take_notification(&mut self) -> Option<(Crossing, Frame)> {
        self.points.as_mut()?.made.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A busy second class of the port does not count as frames that found the queue empty.
    #[test]
    fn what_waits_in_other_classes_does_not_pass_the_queue() {
        let mut watched = Watched::default();
        assert_eq!(watched.passed_bytes(10_000, 0), 10_000);
        assert_eq!(watched.passed_bytes(110_000, 97_000), 3_000);
        assert_eq!(watched.passed_bytes(111_000, 97_000), 1_000);
    }
}
