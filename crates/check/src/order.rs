//! Checks that the frames of flows with guaranteed order are delivered in order.

use units::Time;

use crate::verdict::Verdict;

/// State of the check for one flow, at its receiver: eight bytes.
///
/// Sequence numbers (frame numbers or byte offsets) rise with every new frame. A gap is not a violation: losses are
/// counted by other checks. A frame that is not a retransmission and arrives after a frame with a higher or equal
/// number was overtaken or duplicated. A retransmission may have any number, but it raises the expected number too:
/// frames with lower numbers that were first sent before it must not arrive after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderWatch {
    /// Smallest sequence number that is in order for a frame that is not a retransmission.
    pub next: u64,
}

/// A frame that arrived out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderViolation {
    /// Smallest sequence number that would have been in order.
    pub expected: u64,
    /// Sequence number of the frame.
    pub seq: u64,
}

impl OrderWatch {
    /// Checks an arriving frame; returns the violation if it is out of order. `seq` must be below `u64::MAX`.
    #[inline]
    pub fn observe(&mut self, seq: u64, is_retransmission: bool) -> Option<OrderViolation> {
        if seq >= self.next {
            self.next = seq.saturating_add(1);
            None
        } else if is_retransmission {
            None
        } else {
            Some(OrderViolation { expected: self.next, seq })
        }
    }
}

/// Violations of a node or network: their number and the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderLog {
    /// Frames out of order.
    pub violations: u64,
    /// The earliest violation, with its time and flow number; of simultaneous ones, that of the lowest flow number.
    pub first: Option<(Time, u64, OrderViolation)>,
}

impl OrderLog {
    /// Records a violation in `flow` at `now`.
    #[cold]
    pub fn note(&mut self, now: Time, flow: u64, violation: OrderViolation) {
        self.merge(&OrderLog { violations: 1, first: Some((now, flow, violation)) });
    }

    /// Adds the violations of another log; the order of merging does not matter.
    pub fn merge(&mut self, other: &OrderLog) {
        self.violations += other.violations;
        self.first = self.first.into_iter().chain(other.first).min();
    }

    /// Returns the verdict "order": none of the `frames` that arrived was out of order in a flow with guaranteed order.
    pub fn verdict(&self, frames: u64) -> Verdict {
        let detail = match self.first {
            None if frames == 0 && self.violations == 0 => {
                return Verdict::not_applicable("order", "no data frame arrived");
            }
            None => format!("{} of {frames} frames out of order", self.violations),
            Some((time, flow, OrderViolation { expected, seq })) => format!(
                "{} of {frames} frames out of order, first in flow {flow} at {} ps: received {seq}, expected \
                 {expected} or more",
                self.violations,
                time.as_ps()
            ),
        };
        Verdict::new("order", self.violations == 0 && self.first.is_none(), detail)
    }
}

units::pack_fields!(OrderViolation { expected, seq });
units::pack_fields!(OrderLog { violations, first });

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;

    #[test]
    fn the_watch_stays_small() {
        assert_eq!(size_of::<OrderWatch>(), 8);
    }

    /// Go-back-N over a channel that loses but does not reorder frames passes. A swap of adjacent frames, or a
    /// duplicate frame, fails unless one of the two frames is a retransmission.
    #[test]
    fn losses_and_retransmissions_pass_and_every_swap_is_seen() {
        let mut random = Stream::new(1, 0, purpose("order"));
        for _ in 0..500 {
            let mut arrivals = Vec::new();
            let (mut next, mut highest) = (0, 0);
            while arrivals.len() < 50 {
                if random.below(10) > 0 {
                    arrivals.push((next, next < highest));
                }
                next += 1;
                highest = highest.max(next);
                if random.below(8) == 0 {
                    next -= random.below(next.min(5) + 1);
                }
            }
            assert_eq!(violations(&arrivals), 0, "{arrivals:?}");
            let at = random.below(49) as usize;
            let (first, second) = (arrivals[at], arrivals[at + 1]);
            if !first.1 && !second.1 {
                let mut swapped = arrivals.clone();
                swapped.swap(at, at + 1);
                assert_eq!(violations(&swapped), 1);
                let mut doubled = arrivals.clone();
                doubled.insert(at + 1, first);
                assert_eq!(violations(&doubled), 1);
            }
        }
    }

    fn violations(arrivals: &[(u64, bool)]) -> usize {
        let mut watch = OrderWatch::default();
        arrivals.iter().filter_map(|&(seq, again)| watch.observe(seq, again)).count()
    }

    #[test]
    fn an_original_after_its_own_retransmission_was_overtaken() {
        let mut watch = OrderWatch::default();
        assert_eq!(watch.observe(0, false), None);
        assert_eq!(watch.observe(1, true), None);
        assert_eq!(watch.observe(1, false), Some(OrderViolation { expected: 2, seq: 1 }));
    }

    #[test]
    fn the_log_keeps_the_earliest_for_any_order_of_merging() {
        let violation = OrderViolation { expected: 5, seq: 3 };
        let found = [(30, 1), (10, 9), (10, 2), (20, 0)];
        let logs = found.map(|(ns, flow)| {
            let mut log = OrderLog::default();
            log.note(Time::from_ns(ns), flow, violation);
            log
        });
        let merge = |order: [usize; 4]| {
            let mut whole = OrderLog::default();
            order.iter().for_each(|&index| whole.merge(&logs[index]));
            whole
        };
        let whole = merge([0, 1, 2, 3]);
        assert_eq!(whole, merge([3, 2, 1, 0]));
        assert_eq!((whole.violations, whole.first), (4, Some((Time::from_ns(10), 2, violation))));
        assert!(!whole.verdict(9).pass);
        assert!(OrderLog::default().verdict(9).pass && OrderLog::default().verdict(9).applicable);
        assert!(!OrderLog::default().verdict(0).applicable);
    }
}
