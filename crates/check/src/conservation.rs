//! Conservation of frames and bytes.
//!
//! ```text
//! injected + created_in_network = delivered_whole + delivered_trimmed + returned_to_source
//!                               + consumed + dropped (by cause) + in_flight
//! ```
//!
//! This holds in frames; in bytes, the payload cut from trimmed frames is added on the right. Frames in flight must
//! be *counted* at the end, in queues, on links and in hosts: if their number were computed as a difference, the
//! account would always balance.

use std::fmt;
use std::ops::AddAssign;

use crate::verdict::Verdict;

/// Cause of a frame loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// No room in a lossy queue or the shared buffer: tail drop.
    NoRoom,
    /// No room for a frame of a lossless class: a failure of the run, see [`crate::lossless`].
    LosslessNoRoom,
    /// No room for a trimmed header.
    HeaderNoRoom,
    /// A watchdog dropped frames that a pause storm kept in a queue.
    PauseStorm,
    /// The link was down, or failed with the frame on it.
    LinkDown,
    /// Configured loss of the link.
    LinkLoss,
    /// A bit error: the frame check sequence (FCS) was wrong.
    BitError,
    /// The hop limit was reached.
    TtlExpired,
    /// No port leads to the destination.
    NoRoute,
    /// No room in the bounce queue (PABO).
    BounceQueueFull,
    /// No room, and the frame has reached its bounce limit (PABO).
    BounceLimit,
    /// A flow exceeded the rate that FLORAX assigned to it: its sender did not slow down.
    Nonconforming,
    /// No room in the recirculation queue of a pipeline.
    RecirculationQueueFull,
    /// No room for a frame of a lossless class that no flow control protects: the switch has no flow control, or the
    /// upstream neighbour has none.
    OutsideFlowControl,
    /// A queue management mechanism dropped the frame although there was room.
    QueueManagement,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = Cause::ALL.len();

    /// All causes, ordered by [`Cause::index`].
    pub const ALL: [Cause; 15] = [
        Cause::NoRoom,
        Cause::LosslessNoRoom,
        Cause::HeaderNoRoom,
        Cause::PauseStorm,
        Cause::LinkDown,
        Cause::LinkLoss,
        Cause::BitError,
        Cause::TtlExpired,
        Cause::NoRoute,
        Cause::BounceQueueFull,
        Cause::BounceLimit,
        Cause::Nonconforming,
        Cause::RecirculationQueueFull,
        Cause::OutsideFlowControl,
        Cause::QueueManagement,
    ];

    /// Returns the array index of the cause, below [`Cause::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in results. It is stable, so that results of different versions can be compared.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::NoRoom => "queue full",
            Cause::LosslessNoRoom => "lossless queue full",
            Cause::HeaderNoRoom => "header queue full",
            Cause::PauseStorm => "pause storm",
            Cause::LinkDown => "link down",
            Cause::LinkLoss => "link loss",
            Cause::BitError => "bit error",
            Cause::TtlExpired => "ttl expired",
            Cause::NoRoute => "no route",
            Cause::BounceQueueFull => "bounce queue full",
            Cause::BounceLimit => "bounce limit",
            Cause::Nonconforming => "nonconforming",
            Cause::RecirculationQueueFull => "recirculation queue full",
            Cause::OutsideFlowControl => "outside flow control",
            Cause::QueueManagement => "queue management",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of frames and their bytes (without preamble and interpacket gap).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCount {
    /// Number of frames.
    pub frames: u64,
    /// Bytes of these frames.
    pub bytes: u64,
}

impl FrameCount {
    /// Counts one frame of `bytes`.
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.frames += 1;
        self.bytes += bytes;
    }
}

impl AddAssign for FrameCount {
    #[inline]
    fn add_assign(&mut self, other: FrameCount) {
        self.frames += other.frames;
        self.bytes += other.bytes;
    }
}

/// Origins and fates of frames. Each node or thread has a ledger; [`PacketLedger::merge`] combines the ledgers, in any
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketLedger {
    /// Sent by hosts, retransmissions included.
    pub injected: FrameCount,
    /// Created by switches: notifications, copies.
    pub created_in_network: FrameCount,
    /// Delivered complete.
    pub delivered_whole: FrameCount,
    /// Delivered as a trimmed header; only the bytes that arrived count.
    pub delivered_trimmed: FrameCount,
    /// Returned to the sender.
    pub returned_to_source: FrameCount,
    /// Consumed by a switch: notifications that it acted upon.
    pub consumed: FrameCount,
    /// Lost, by [`Cause::index`].
    pub dropped: [FrameCount; Cause::COUNT],
    /// Trimmed frames and the bytes cut from them. A frame is trimmed at most once.
    pub cut: FrameCount,
    /// In flight, counted at the end of the run.
    pub in_flight: FrameCount,
}

impl PacketLedger {
    /// Counts a frame of `bytes` as lost by `cause`.
    #[inline]
    pub fn drop_frame(&mut self, cause: Cause, bytes: u64) {
        self.dropped[cause.index()].count(bytes);
    }

    /// Returns the losses by `cause`.
    pub fn dropped_by(&self, cause: Cause) -> FrameCount {
        self.dropped[cause.index()]
    }

    /// Returns the losses by any cause.
    pub fn dropped_total(&self) -> FrameCount {
        let mut total = FrameCount::default();
        for &dropped in &self.dropped {
            total += dropped;
        }
        total
    }

    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &PacketLedger) {
        self.injected += other.injected;
        self.created_in_network += other.created_in_network;
        self.delivered_whole += other.delivered_whole;
        self.delivered_trimmed += other.delivered_trimmed;
        self.returned_to_source += other.returned_to_source;
        self.consumed += other.consumed;
        for (dropped, other) in self.dropped.iter_mut().zip(other.dropped) {
            *dropped += other;
        }
        self.cut += other.cut;
        self.in_flight += other.in_flight;
    }

    /// Returns the verdict "conservation": both sides of the account agree in frames and in bytes, and at most as
    /// many frames were delivered as headers as were trimmed.
    pub fn verdict(&self) -> Verdict {
        let came = [self.injected, self.created_in_network];
        let kept = [self.delivered_whole, self.delivered_trimmed, self.returned_to_source, self.consumed];
        let ended = [kept.as_slice(), &self.dropped, &[self.in_flight]].concat();
        // Sums in 128 bits: in 64 bits, corrupt counts could wrap around to equal sums.
        let sum = |tallies: &[FrameCount], part: fn(&FrameCount) -> u64| -> u128 {
            tallies.iter().map(|tally| u128::from(part(tally))).sum()
        };
        let frames = (sum(&came, |tally| tally.frames), sum(&ended, |tally| tally.frames));
        let bytes = (sum(&came, |tally| tally.bytes), sum(&ended, |tally| tally.bytes) + u128::from(self.cut.bytes));

        let mut faults = Vec::new();
        for (unit, (came, ended)) in [("frames", frames), ("bytes", bytes)] {
            match came.checked_sub(ended) {
                Some(0) => {}
                Some(missing) => {
                    faults.push(format!("{missing} {unit} missing ({came} created, {ended} accounted for)"))
                }
                None => {
                    faults.push(format!("{} {unit} too many ({came} created, {ended} accounted for)", ended - came))
                }
            }
        }
        if self.delivered_trimmed.frames > self.cut.frames {
            let (headers, cut) = (self.delivered_trimmed.frames, self.cut.frames);
            faults.push(format!("{headers} frames arrived as headers, but only {cut} were trimmed"));
        }
        if faults.is_empty() && frames.0 == 0 {
            return Verdict::not_applicable("conservation", "no frame was sent");
        }
        let detail = if faults.is_empty() {
            format!("{} frames, {} bytes accounted for", frames.0, bytes.0)
        } else {
            faults.join("; ")
        };
        Verdict::new("conservation", faults.is_empty(), detail)
    }
}

units::pack_fields!(FrameCount { frames, bytes });
units::pack_fields!(PacketLedger {
    injected,
    created_in_network,
    delivered_whole,
    delivered_trimmed,
    returned_to_source,
    consumed,
    dropped,
    cut,
    in_flight,
});

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;

    /// Counts one frame with a random origin and a random fate, each in the ledger of a random node.
    fn random_life(random: &mut Stream, nodes: &mut [PacketLedger]) {
        let count = nodes.len() as u64;
        let at = |random: &mut Stream| random.below(count) as usize;
        let mut bytes = 128 + random.below(9_000);
        let origin = at(random);
        if random.below(10) == 0 {
            nodes[origin].created_in_network.count(bytes);
        } else {
            nodes[origin].injected.count(bytes);
        }
        let trimmed = random.below(4) == 0;
        if trimmed {
            nodes[at(random)].cut.count(bytes - 64);
            bytes = 64;
        }
        let end = &mut nodes[at(random)];
        match random.below(6) {
            0 | 1 if trimmed => end.delivered_trimmed.count(bytes),
            0 | 1 => end.delivered_whole.count(bytes),
            2 => end.returned_to_source.count(bytes),
            3 => end.consumed.count(bytes),
            4 => end.drop_frame(Cause::ALL[random.below(Cause::COUNT as u64) as usize], bytes),
            _ => end.in_flight.count(bytes),
        }
    }

    fn random_ledger(random: &mut Stream) -> PacketLedger {
        let mut nodes = vec![PacketLedger::default(); 1 + random.below(5) as usize];
        for _ in 0..random.below(400) {
            random_life(random, &mut nodes);
        }
        random.shuffle(&mut nodes);
        let mut whole = PacketLedger::default();
        nodes.iter().for_each(|node| whole.merge(node));
        whole
    }

    /// Returns the counts of all origins and fates.
    fn tallies(ledger: &mut PacketLedger) -> Vec<&mut FrameCount> {
        let mut all = vec![
            &mut ledger.injected,
            &mut ledger.created_in_network,
            &mut ledger.delivered_whole,
            &mut ledger.delivered_trimmed,
            &mut ledger.returned_to_source,
            &mut ledger.consumed,
            &mut ledger.in_flight,
        ];
        all.extend(&mut ledger.dropped);
        all
    }

    #[test]
    fn an_honest_account_closes_and_a_corrupt_one_does_not() {
        let mut random = Stream::new(1, 0, purpose("conservation"));
        for _ in 0..200 {
            let honest = random_ledger(&mut random);
            assert!(honest.verdict().pass, "{}", honest.verdict());
            let locations = 7 + Cause::COUNT;
            for location in 0..locations {
                for corruption in 0..4 {
                    let mut corrupt = honest.clone();
                    let tally = &mut tallies(&mut corrupt)[location];
                    match corruption {
                        0 => tally.count(1 + random.below(9_000)),
                        1 => tally.bytes += 1,
                        2 => tally.frames += 1,
                        _ if tally.frames > 0 => tally.frames -= 1,
                        _ => continue,
                    }
                    assert!(!corrupt.verdict().pass, "location {location}, corruption {corruption}: {corrupt:?}");
                }
            }
            let mut uncut = honest.clone();
            uncut.cut.bytes += 1;
            assert!(!uncut.verdict().pass);
        }
    }

    #[test]
    fn a_header_without_a_trim_is_detected() {
        let mut ledger = PacketLedger::default();
        ledger.injected.count(64);
        ledger.delivered_trimmed.count(64);
        let verdict = ledger.verdict();
        assert!(!verdict.pass);
        assert_eq!(verdict.detail, "1 frames arrived as headers, but only 0 were trimmed");
    }

    #[test]
    fn counts_at_the_limit_do_not_wrap_into_agreement() {
        let half = FrameCount { frames: 1 << 63, bytes: 1 << 63 };
        let ledger = PacketLedger { injected: half, created_in_network: half, ..PacketLedger::default() };
        assert!(!ledger.verdict().pass);
    }

    #[test]
    fn causes_have_their_own_index_and_name() {
        let mut names: Vec<&str> = Cause::ALL.iter().map(|cause| cause.name()).collect();
        for (index, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(cause.index(), index);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Cause::COUNT);
    }

    #[test]
    fn a_cause_is_counted_under_its_own_name() {
        let mut ledger = PacketLedger::default();
        ledger.drop_frame(Cause::BitError, 100);
        ledger.drop_frame(Cause::NoRoute, 50);
        assert_eq!(ledger.dropped_by(Cause::BitError), FrameCount { frames: 1, bytes: 100 });
        assert_eq!(ledger.dropped_total(), FrameCount { frames: 2, bytes: 150 });
    }
}
