//! What every node counts, always: the raw material of the packet account and the checks.

use check::conservation::{Cause, PacketLedger};
use check::order::OrderLog;
use check::pauses::PauseLedger;
use check::turns::TurnLedger;
use check::{LosslessLosses, WorkLog};
use protocols::frame::Frame;
use units::Time;

/// One node's counters since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)] // what every frame counts comes first
pub struct Ledger {
    /// Frames that crossed a link to this node, control frames included.
    pub hops: u64,
    /// What became of data, acknowledgements and notifications. MAC control frames live for one link and
    /// are counted apart.
    pub packets: PacketLedger,
    /// Frames out of order in flows that are promised order.
    pub order: OrderLog,
    /// Pauses that ports obeyed; filled in when the run is summed up.
    pub pauses: PauseLedger,
    /// Frames marked with congestion experienced.
    pub marks: u64,
    /// Frames turned around, and frames sent by another port than their route's.
    pub bounces: u64,
    /// See `bounces`.
    pub detours: u64,
    /// Bytes of the frames that were turned around, once for each time.
    pub bounced_bytes: u64,
    /// Frames that came back as far as the host that had sent them, once for each time.
    pub bounced_to_source: u64,
    /// How often a sender slowed down for that.
    pub slowed: u64,
    /// Turns as frames carry them: those of frames that have ended, and that are under way; up to 255 a frame.
    pub turns: TurnLedger,
    /// Data frames sent that had been sent before, and their payload.
    pub retransmissions: u64,
    /// See `retransmissions`.
    pub retransmitted_bytes: u64,
    /// MAC control frames sent.
    pub control_sent: u64,
    /// MAC control frames that arrived.
    pub control_received: u64,
    /// Those of them that told somebody to stop or go on who takes no part: a switch left out, a host that does not
    /// obey.
    pub control_ignored: u64,
    /// MAC control frames lost with their link.
    pub control_lost: u64,
    /// MAC control frames that wait to be sent or are on a link; filled in when the run is summed up.
    pub control_on_the_way: u64,
    /// XOFF decisions (renewals not counted).
    pub pauses_sent: u64,
    /// XON decisions.
    pub resumes_sent: u64,
    /// Pause storms that a watchdog found.
    pub pause_storms: u64,
    /// What lossless classes lost, for any cause.
    pub lossless_losses: LosslessLosses,
    /// The first frame that a lossless class lost for want of room: when, at which node and ingress port, of which
    /// class.
    pub first_lossless_drop: Option<(Time, u32, u16, u8)>,
    /// The first header that was lost for want of room: when, at which node, and by which port it had come.
    pub first_header_loss: Option<(Time, u32, u16)>,
    /// Frames that left ports which send in cycles, in the classes that do, and those of them that did not leave in the
    /// cycle after that in which they came.
    pub cyclic_frames: u64,
    /// See `cyclic_frames`.
    pub missed_cycles: u64,
    /// Headers that told of payload which had arrived in another copy: to send it again would be needless.
    pub spurious_trims: u64,
    /// Frames that waited behind a free wire.
    pub work: WorkLog,
}

impl Ledger {
    /// Counts a frame that leaves by another port than its route's.
    pub fn note_detour(&mut self, frame: &Frame) {
        self.detours += 1;
        self.bounced_bytes += u64::from(frame.size_bytes);
        self.turns.made += u64::from(frame.bounces < u8::MAX);
    }

    /// Counts a lost frame; `lossless` classes have a bit each.
    pub fn lose(&mut self, node: u32, frame: &Frame, cause: Cause, lossless: u8) {
        self.packets.drop_frame(cause, u64::from(frame.size_bytes));
        // A frame whose tag has become lossy may be lost. Want of room is that of the account by which it came.
        let room = matches!(cause, Cause::LosslessNoRoom | Cause::OutsideFlowControl);
        if room || lossless >> (frame.class & 7) & 1 == 1 {
            let class = if room { frame.in_class } else { frame.class };
            self.lossless_losses.count(class, cause, frame.size_bytes.into());
        }
        self.turns.end(frame.bounces, frame.max_distance, frame.distance);
        if cause == Cause::LosslessNoRoom && self.first_lossless_drop.is_none() {
            self.first_lossless_drop = Some((frame.at, node, frame.in_port, frame.in_class));
        }
        if cause == Cause::HeaderNoRoom && self.first_header_loss.is_none() {
            self.first_header_loss = Some((frame.at, node, frame.in_port));
        }
    }

    /// Adds another node's counters; the earlier lossless drop stays.
    pub fn merge(&mut self, other: &Ledger) {
        self.hops += other.hops;
        self.packets.merge(&other.packets);
        self.order.merge(&other.order);
        self.pauses.merge(&other.pauses);
        self.marks += other.marks;
        self.bounces += other.bounces;
        self.detours += other.detours;
        self.bounced_bytes += other.bounced_bytes;
        self.bounced_to_source += other.bounced_to_source;
        self.slowed += other.slowed;
        self.turns.merge(&other.turns);
        self.retransmissions += other.retransmissions;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.control_sent += other.control_sent;
        self.control_received += other.control_received;
        self.control_ignored += other.control_ignored;
        self.control_lost += other.control_lost;
        self.control_on_the_way += other.control_on_the_way;
        self.pauses_sent += other.pauses_sent;
        self.resumes_sent += other.resumes_sent;
        self.pause_storms += other.pause_storms;
        self.lossless_losses.merge(&other.lossless_losses);
        self.first_lossless_drop = self.first_lossless_drop.into_iter().chain(other.first_lossless_drop).min();
        self.first_header_loss = self.first_header_loss.into_iter().chain(other.first_header_loss).min();
        self.spurious_trims += other.spurious_trims;
        self.cyclic_frames += other.cyclic_frames;
        self.missed_cycles += other.missed_cycles;
        self.work.merge(&other.work);
    }
}

units::pack_fields!(Ledger {
    hops,
    packets,
    order,
    pauses,
    marks,
    bounces,
    detours,
    bounced_bytes,
    bounced_to_source,
    slowed,
    turns,
    retransmissions,
    retransmitted_bytes,
    control_sent,
    control_received,
    control_ignored,
    control_lost,
    control_on_the_way,
    pauses_sent,
    resumes_sent,
    pause_storms,
    lossless_losses,
    first_lossless_drop,
    first_header_loss,
    cyclic_frames,
    missed_cycles,
    spurious_trims,
    work,
});
