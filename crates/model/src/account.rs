//! Counters of a node, which are always enabled: the input of the packet account and the checks.

use crate::mechanism_counts::MechanismCounts;
use check::bounces::BounceLedger;
use check::conservation::{Cause, PacketLedger};
use check::order::OrderLog;
use check::pauses::PauseLedger;
use check::{LosslessLosses, WorkLog};
use protocols::frame::Frame;
use units::Time;

/// Counters of one node since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)] // fields that each frame updates are first
pub struct Counters {
    /// Frames, including control frames, that crossed a link to this node.
    pub hops: u64,
    /// Fates of data, acknowledgements and notifications. MAC control frames exist on one link only and are counted
    /// separately.
    pub packets: PacketLedger,
    /// Frames out of order in flows with guaranteed order.
    pub order: OrderLog,
    /// Pauses that ports obeyed. Set when the run is summarised.
    pub pauses: PauseLedger,
    /// Frames marked with Congestion Experienced.
    pub marks: u64,
    /// Bounced frames (PABO).
    pub bounces: u64,
    /// Frames sent by a port other than that of their route (DIBS).
    pub detours: u64,
    /// Bytes of bounced and detoured frames, counted once per event.
    pub bounced_bytes: u64,
    /// Arrivals of bounced frames at the host that sent them.
    pub bounced_to_source: u64,
    /// Number of times that a sender slowed down because one of its frames bounced back.
    pub source_slowdowns: u64,
    /// Bounces according to the bounce counters of frames, which saturate at 255, for frames that ended and frames in
    /// flight.
    pub bounces_in_frames: BounceLedger,
    /// Retransmitted data frames.
    pub retransmissions: u64,
    /// Payload bytes of retransmitted data frames.
    pub retransmitted_bytes: u64,
    /// Sent MAC control frames.
    pub control_sent: u64,
    /// Arrived MAC control frames.
    pub control_received: u64,
    /// PAUSE, PFC, XOFF and XON frames without effect: at a switch outside flow control, or at a host that ignores
    /// pauses.
    pub control_ignored: u64,
    /// MAC control frames lost on a link, or in the queue of a port with a failed link.
    pub control_lost: u64,
    /// MAC control frames that are queued or on a link. Set when the run is summarised.
    pub control_in_flight: u64,
    /// XOFF decisions, without renewals.
    pub pauses_sent: u64,
    /// XON decisions.
    pub resumes_sent: u64,
    /// Pause storms that a watchdog detected.
    pub pause_storms: u64,
    /// Losses of lossless classes, for any cause.
    pub lossless_losses: LosslessLosses,
    /// First frame of a lossless class that was lost for lack of room: time, node, ingress port, class.
    pub first_lossless_drop: Option<(Time, u32, u16, u8)>,
    /// First header that was lost for lack of room: time, node, ingress port.
    pub first_header_loss: Option<(Time, u32, u16)>,
    /// Counters of port mechanisms. Set when the run is summarised.
    pub mechanisms: MechanismCounts,
    /// Headers of trimmed frames whose payload had already arrived in another copy.
    pub spurious_trims: u64,
    /// Work-conservation log: frames that waited although the wire was free.
    pub work: WorkLog,
}

impl Counters {
    /// Counts a frame that is detoured (DIBS): it leaves by a port other than that of its route.
    pub fn note_detour(&mut self, frame: &Frame) {
        self.detours += 1;
        self.bounced_bytes += u64::from(frame.size_bytes);
        self.bounces_in_frames.made += u64::from(frame.bounces < u8::MAX);
    }

    /// Counts a lost frame. `lossless` is the bitmask of lossless classes.
    pub fn lose(&mut self, node: u32, frame: &Frame, cause: Cause, lossless: u8) {
        self.packets.drop_frame(cause, u64::from(frame.size_bytes));
        // The class of a frame may become lossy when its tag is rewritten. A loss for lack of room is attributed to the
        // ingress class, because the ingress account lacks the room.
        let room = matches!(cause, Cause::LosslessNoRoom | Cause::OutsideFlowControl);
        if room || lossless >> (frame.class & 7) & 1 == 1 {
            let class = if room { frame.in_class } else { frame.class };
            self.lossless_losses.count(class, cause, frame.size_bytes.into());
        }
        self.bounces_in_frames.end(frame.bounces, frame.max_distance, frame.distance);
        if cause == Cause::LosslessNoRoom && self.first_lossless_drop.is_none() {
            self.first_lossless_drop = Some((frame.at, node, frame.in_port, frame.in_class));
        }
        if cause == Cause::HeaderNoRoom && self.first_header_loss.is_none() {
            self.first_header_loss = Some((frame.at, node, frame.in_port));
        }
    }

    /// Adds the counters of another node. For the fields with a first loss, keeps the earlier loss.
    pub fn merge(&mut self, other: &Counters) {
        self.hops += other.hops;
        self.packets.merge(&other.packets);
        self.order.merge(&other.order);
        self.pauses.merge(&other.pauses);
        self.marks += other.marks;
        self.bounces += other.bounces;
        self.detours += other.detours;
        self.bounced_bytes += other.bounced_bytes;
        self.bounced_to_source += other.bounced_to_source;
        self.source_slowdowns += other.source_slowdowns;
        self.bounces_in_frames.merge(&other.bounces_in_frames);
        self.retransmissions += other.retransmissions;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.control_sent += other.control_sent;
        self.control_received += other.control_received;
        self.control_ignored += other.control_ignored;
        self.control_lost += other.control_lost;
        self.control_in_flight += other.control_in_flight;
        self.pauses_sent += other.pauses_sent;
        self.resumes_sent += other.resumes_sent;
        self.pause_storms += other.pause_storms;
        self.lossless_losses.merge(&other.lossless_losses);
        self.first_lossless_drop = self.first_lossless_drop.into_iter().chain(other.first_lossless_drop).min();
        self.first_header_loss = self.first_header_loss.into_iter().chain(other.first_header_loss).min();
        self.spurious_trims += other.spurious_trims;
        self.mechanisms.merge(&other.mechanisms);
        self.work.merge(&other.work);
    }
}

units::pack_fields!(Counters {
    hops,
    packets,
    order,
    pauses,
    marks,
    bounces,
    detours,
    bounced_bytes,
    bounced_to_source,
    source_slowdowns,
    bounces_in_frames,
    retransmissions,
    retransmitted_bytes,
    control_sent,
    control_received,
    control_ignored,
    control_lost,
    control_in_flight,
    pauses_sent,
    resumes_sent,
    pause_storms,
    lossless_losses,
    first_lossless_drop,
    first_header_loss,
    mechanisms,
    spurious_trims,
    work,
});
