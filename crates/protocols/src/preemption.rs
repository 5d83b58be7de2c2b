//! Frame preemption (IEEE 802.1Qbu and 802.3br): an express frame interrupts the transmission of a preemptable frame,
//! the rest of which is sent afterwards.
//!
//! ```text
//!   preemptable  |pre|first fragment|mCRC|gap|                        |pre|rest and FCS|gap|
//!   express                                  |pre|express frame|gap|
//! ```
//!
//! Every fragment has at least 64 bytes, check sequence included. A frame of less than 124 bytes is therefore never
//! interrupted, and an express frame waits for up to 123 bytes of a preemptable frame. The ideal variant interrupts a
//! frame at once, after any byte and without overhead.

use crate::parameters::parameters;
use units::{GAP_BYTES, PREAMBLE_BYTES, Rate, Time};

/// Minimum length of a fragment in bytes, check sequence included.
const LEAST_BYTES: u64 = 64;
/// Length of the check sequence of a fragment that is not the last one (mCRC), in bytes.
const CHECK_BYTES: u64 = 4;

/// Positions at which a frame may be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragments {
    /// Only between fragments of the lengths that IEEE 802.3br permits.
    Standard,
    /// A frame may be interrupted after any byte, without overhead.
    Ideal,
}

parameters! {
    /// Parameters of preemption.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PreemptionParameters: Preemption "preemption" {
        title: "express frames interrupt frames of other classes";
        source: "IEEE 802.1Qbu, IEEE 802.3br (802.3-2022, clause 99)";
        /// Bitmask of express classes.
        express: u8 = "express" classes, required,
            "express classes: their frames interrupt those of all other classes and are never interrupted",
            "802.1Q-2022, 6.7.2";
        /// Positions at which a frame may be interrupted.
        fragments: Fragments = "fragments"
            word["standard" = Fragments::Standard, "ideal" = Fragments::Ideal],
            default "standard",
            "standard: fragments of at least 64 bytes, each with preamble, check sequence and gap; ideal: a cut at \
             any byte, immediate and without overhead",
            "802.3-2022, clause 99";
    }
}

impl PreemptionParameters {
    /// Whether a frame of `class` and `size_bytes` can be interrupted at all.
    pub fn cuts(&self, class: u8, size_bytes: u16) -> bool {
        self.express & 1 << class == 0
            && (self.fragments == Fragments::Ideal || u64::from(size_bytes) >= 2 * LEAST_BYTES - CHECK_BYTES)
    }

    /// Longest time for which a preemptable frame occupies a wire of `rate` after a hold request (802.1Q-2022,
    /// 12.30.1.3: holdAdvance). A frame of 123 bytes that has just started cannot be interrupted; in the ideal
    /// variant, only the inter-frame gap remains.
    pub fn hold_advance(&self, rate: Rate) -> Time {
        match self.fragments {
            Fragments::Standard => rate.serialise(PREAMBLE_BYTES + 2 * LEAST_BYTES - CHECK_BYTES - 1 + GAP_BYTES),
            Fragments::Ideal => rate.serialise(GAP_BYTES),
        }
    }

    /// Returns the lookahead of a link of `rate` and `delay`: at this time before its arrival, a frame can no longer
    /// be interrupted. The lookahead excludes the last instant at which an interruption is possible.
    pub fn lookahead(&self, rate: Rate, delay: Time) -> Time {
        let first = Time::from_ps(1);
        match self.fragments {
            // A frame can be interrupted until its last 64 bytes start, including that instant. One more picosecond
            // covers the rounding of times.
            Fragments::Standard => (rate.serialise(LEAST_BYTES) + delay).saturating_sub(first * 2).max(first),
            Fragments::Ideal => delay.max(first),
        }
    }
}

/// Unsent part of a preemptable frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    fragments: Fragments,
    /// Unsent bytes. While a fragment is on the wire, they are those at the start of this fragment.
    bytes: u64,
    /// Unsent wire time, for the ideal variant.
    time: Time,
}

impl Rest {
    /// Returns the state of a frame whose transmission has not started.
    pub fn whole(fragments: Fragments, size_bytes: u16, rate: Rate) -> Rest {
        let bytes = u64::from(size_bytes);
        Rest { fragments, bytes, time: rate.serialise(bytes + PREAMBLE_BYTES + GAP_BYTES) }
    }

    /// Returns the times from the start of the next fragment until the wire is idle, and until its last bit is sent.
    pub fn busy(&self, rate: Rate) -> (Time, Time) {
        match self.fragments {
            Fragments::Standard => {
                let sent = PREAMBLE_BYTES + self.bytes;
                (rate.serialise(sent + GAP_BYTES), rate.serialise(sent))
            }
            Fragments::Ideal => (self.time, self.time.saturating_sub(rate.serialise(GAP_BYTES))),
        }
    }

    /// Interrupts, as early as possible, the fragment that started `elapsed` ago. Returns the time from its start
    /// until the wire is idle, and the unsent part of the frame. `None` if the fragment can no longer be interrupted.
    pub fn cut(&self, elapsed: Time, rate: Rate) -> Option<(Time, Rest)> {
        match self.fragments {
            Fragments::Ideal => {
                let (_, sent) = self.busy(rate);
                (elapsed < sent).then(|| (elapsed, Rest { time: self.time - elapsed, ..*self }))
            }
            Fragments::Standard => {
                let whole = rate.bytes_in(elapsed);
                // A byte whose transmission has started is completed before the interruption.
                let begun = whole + u64::from(rate.serialise(whole) < elapsed);
                // Both parts need the minimum fragment length: the interruption is delayed until the first part has
                // it, and is impossible if the second part has less.
                let sent = begun.saturating_sub(PREAMBLE_BYTES).max(LEAST_BYTES - CHECK_BYTES);
                let bytes = self.bytes.checked_sub(sent).filter(|&left| left >= LEAST_BYTES)?;
                let free = rate.serialise(PREAMBLE_BYTES + sent + CHECK_BYTES + GAP_BYTES);
                Some((free, Rest { bytes, ..*self }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const RATE: Rate = Rate::from_gbps(100);
    /// Serialisation delay of a byte at the rate of these tests.
    const BYTE: Time = Time::from_ps(80);

    #[test]
    fn a_fragment_has_64_bytes_at_least() {
        let standard = PreemptionParameters { express: 0x80, fragments: Fragments::Standard };
        assert!(standard.cuts(0, 124) && !standard.cuts(0, 123) && !standard.cuts(7, 1500));
        assert!(PreemptionParameters { fragments: Fragments::Ideal, ..standard }.cuts(0, 64));
        let rest = Rest::whole(Fragments::Standard, 1500, RATE);
        assert_eq!(rest.busy(RATE), (BYTE * 1520, BYTE * 1508));
        // An interruption right at the start takes effect after 60 bytes of the frame and the check sequence; 1440 of
        // 1500 bytes are left.
        let (free, left) = rest.cut(Time::ZERO, RATE).unwrap();
        assert_eq!((free, left.bytes), (BYTE * (8 + 64 + 12), 1440));
        assert_eq!(left.busy(RATE).0, BYTE * 1460);
        // An interruption in the middle of byte 100 of the frame takes effect after that byte.
        assert_eq!(rest.cut(BYTE * 108 - Time::from_ps(40), RATE).unwrap(), (BYTE * 124, Rest { bytes: 1400, ..rest }));
        // The last 64 bytes are the last fragment, which cannot be interrupted.
        assert_eq!(rest.cut(BYTE * 1444, RATE).unwrap().1.bytes, 64);
        assert_eq!(rest.cut(BYTE * 1444 + Time::from_ps(1), RATE), None);
    }

    /// Longest wait of an express frame for a preemptable frame: 123 bytes, and 20 bytes of preamble and gap.
    #[test]
    fn an_express_frame_waits_for_143_bytes_at_most() {
        let mut longest = Time::ZERO;
        for size_bytes in (64..=1518).step_by(7).chain(120..=130) {
            let rest = Rest::whole(Fragments::Standard, size_bytes, RATE);
            let end = rest.busy(RATE).0;
            for elapsed in (0..end.as_ps()).step_by(40).map(Time::from_ps) {
                let free = rest.cut(elapsed, RATE).map_or(end, |cut| cut.0);
                longest = longest.max(free - elapsed);
            }
        }
        assert_eq!(longest, BYTE * 143);
        let standard = PreemptionParameters { express: 0x80, fragments: Fragments::Standard };
        assert_eq!(standard.hold_advance(RATE), longest);
    }

    /// At every rate, the wire is idle at the latest holdAdvance after the hold request.
    #[test]
    fn a_hold_frees_the_wire_within_its_advance() {
        let mut random = Stream::new(9, 0, 0);
        for _ in 0..20_000 {
            let fragments = if random.below(2) == 0 { Fragments::Ideal } else { Fragments::Standard };
            let rate = Rate::from_mbps(1 + random.below(400_000));
            let advance = PreemptionParameters { express: 0, fragments }.hold_advance(rate);
            let mut rest = Rest::whole(fragments, 64 + random.below(1455) as u16, rate);
            loop {
                let end = rest.busy(rate).0;
                let elapsed = Time::from_ps(1 + random.below(end.as_ps()));
                let cut = rest.cut(elapsed, rate);
                let free = cut.map_or(end, |cut| cut.0);
                assert!(free.saturating_sub(elapsed) <= advance, "{rest:?} {rate} {elapsed}");
                let Some((_, left)) = cut else { break };
                rest = left;
            }
        }
    }

    /// A port commits a frame to the link one lookahead before its arrival. At that time the frame can no longer be
    /// interrupted, but a few picoseconds earlier it can.
    #[test]
    fn a_frame_is_committed_as_soon_as_it_cannot_be_cut() {
        let mut random = Stream::new(10, 0, 0);
        for round in 0..20_000 {
            let fragments = if round % 2 == 0 { Fragments::Ideal } else { Fragments::Standard };
            let parameters = PreemptionParameters { express: 0, fragments };
            let rate = Rate::from_mbps(1 + random.below(400_000));
            let delay = Time::from_ps(1 + random.below(2_000_000));
            let rest = Rest::whole(fragments, 124 + random.below(1395) as u16, rate);
            let arrival = rest.busy(rate).1 + delay;
            let committed_at = arrival - parameters.lookahead(rate, delay);
            assert_eq!(rest.cut(committed_at, rate), None, "{rate} {rest:?}");
            assert!(rest.cut(committed_at - Time::from_ps(3), rate).is_some(), "{rate} {rest:?}");
        }
    }

    /// After any number of interruptions, no byte is lost and every fragment has the minimum length. Each
    /// interruption costs 24 bytes of preamble, check sequence and gap; in the ideal variant it costs nothing.
    #[test]
    fn fragments_add_up_to_the_frame() {
        let mut random = Stream::new(8, 0, 0);
        for _ in 0..3000 {
            let ideal = random.below(2) == 0;
            let fragments = if ideal { Fragments::Ideal } else { Fragments::Standard };
            let rate = Rate::from_mbps(1 + random.below(400_000));
            let size = 64 + random.below(1455) as u16;
            let mut rest = Rest::whole(fragments, size, rate);
            let (mut busy, mut cuts) = (Time::ZERO, 0);
            loop {
                let (end, _) = rest.busy(rate);
                let elapsed = Time::from_ps(random.below(end.as_ps()));
                match rest.cut(elapsed, rate) {
                    Some((free, left)) if random.below(8) > 0 => {
                        assert!(free >= elapsed);
                        assert!(ideal || (left.bytes >= 64 && rest.bytes - left.bytes >= 60));
                        busy += free;
                        cuts += 1;
                        rest = left;
                    }
                    _ => {
                        busy += end;
                        break;
                    }
                }
            }
            let overhead = if ideal { 0 } else { 24 * cuts };
            let expected = rate.serialise(u64::from(size) + 20 + overhead);
            assert!(busy >= expected && busy <= expected + Time::from_ps(cuts + 1), "{busy} {expected} {cuts}");
        }
    }
}
