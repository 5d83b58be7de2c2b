//! Checks that a lossless class loses no frame to a full queue or buffer. Losses by a broken or lossy link, a
//! watchdog or a missing route are not failures of flow control and fail no run, but they are listed by class and
//! cause. A run is called lossless only if no frame of a lossless class was lost for any cause.

use std::collections::BTreeMap;

use crate::conservation::{Cause, FrameCount, PacketLedger};
use crate::verdict::Verdict;

/// Lossless classes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LosslessGuarantee {
    /// No class in use is lossless, or no switch uses flow control.
    Nothing,
    /// Some classes: a full queue may drop frames of the other classes.
    SomeClasses,
    /// All classes: no full queue may drop any frame.
    AllClasses,
}

/// Lost frames of lossless classes, by class and cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LosslessLosses {
    /// Lost frames and bytes by cause (its [index](Cause::index)), then class.
    tallies: BTreeMap<(u8, u8), FrameCount>,
}

impl LosslessLosses {
    /// Counts a lost frame of `bytes` of a lossless class.
    pub fn count(&mut self, class: u8, cause: Cause, bytes: u64) {
        self.tallies.entry((cause.index() as u8, class)).or_default().count(bytes);
    }

    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &LosslessLosses) {
        other.tallies.iter().for_each(|(&key, &tally)| *self.tallies.entry(key).or_default() += tally);
    }

    /// Returns cause, class and losses, ordered by cause, then class.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u8, FrameCount)> + '_ {
        self.tallies.iter().map(|(&(cause, class), &tally)| (Cause::ALL[usize::from(cause)], class, tally))
    }

    /// Returns the losses of all lossless classes by `cause`.
    pub fn by(&self, cause: Cause) -> FrameCount {
        let mut sum = FrameCount::default();
        self.iter().filter(|loss| loss.0 == cause).for_each(|loss| sum += loss.2);
        sum
    }

    /// Formats the losses by the causes for which `includes` returns true, such as "3 of lossless classes lost for
    /// other causes: link down 3 (class 4)"; `None` if there are no such losses.
    fn otherwise(&self, includes: impl Fn(Cause) -> bool) -> Option<String> {
        let mut frames = 0;
        let mut causes = Vec::new();
        for cause in Cause::ALL.into_iter().filter(|&cause| includes(cause)) {
            let by_class: Vec<(u8, u64)> =
                self.iter().filter(|loss| loss.0 == cause).map(|loss| (loss.1, loss.2.frames)).collect();
            let lost: u64 = by_class.iter().map(|class| class.1).sum();
            frames += lost;
            match by_class[..] {
                [] => {}
                [(class, _)] => causes.push(format!("{cause} {lost} (class {class})")),
                _ => {
                    let classes: Vec<String> =
                        by_class.iter().map(|(class, n)| format!("class {class}: {n}")).collect();
                    causes.push(format!("{cause} {lost} ({})", classes.join(", ")));
                }
            }
        }
        (!causes.is_empty())
            .then(|| format!("{frames} of lossless classes lost for other causes: {}", causes.join(", ")))
    }
}

/// Returns the verdict "lossless": no frame of a lossless class was dropped at a full queue or buffer. `losses` has
/// the losses of lossless classes by any cause; `first` describes the first frame lost at a full queue or buffer.
pub fn verdict(
    ledger: &PacketLedger,
    losses: &LosslessLosses,
    promise: LosslessGuarantee,
    first: Option<&str>,
) -> Verdict {
    let all = promise == LosslessGuarantee::AllClasses;
    let mut lost = ledger.dropped_by(Cause::LosslessNoRoom);
    lost += if all { ledger.dropped_by(Cause::NoRoom) } else { losses.by(Cause::NoRoom) };
    // Lost bytes without a lost frame would be an inconsistent count: this is a violation too.
    let pass = lost.frames == 0 && lost.bytes == 0;
    let otherwise = losses.otherwise(|cause| !matches!(cause, Cause::LosslessNoRoom | Cause::NoRoom));
    if pass && promise == LosslessGuarantee::Nothing {
        let lost = otherwise.map_or(String::new(), |lost| format!("; {lost}"));
        return Verdict::not_applicable("lossless", &format!("no traffic in a lossless class{lost}"));
    }
    let mut parts = Vec::new();
    if !pass {
        parts.push(format!("{} lossless frames ({} bytes) dropped at a full buffer", lost.frames, lost.bytes));
        parts.extend(first.map(|first| format!("first {first}")));
    } else if otherwise.is_none() {
        parts.push("no lossless frame dropped".to_owned());
    } else if losses.by(Cause::OutsideFlowControl) == FrameCount::default() {
        parts.push("no loss at a full buffer".to_owned());
    } else {
        parts.push("no loss at a full buffer within flow control".to_owned());
    }
    parts.extend(otherwise);
    Verdict::new("lossless", pass, parts.join("; "))
}

units::pack_fields!(LosslessLosses { tallies });

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(ledger: &PacketLedger, losses: &LosslessLosses, promise: LosslessGuarantee) -> (bool, String) {
        let verdict = verdict(ledger, losses, promise, None);
        (verdict.pass, verdict.detail)
    }

    #[test]
    fn only_want_of_room_in_a_lossless_class_fails() {
        for cause in Cause::ALL {
            let (mut ledger, none) = (PacketLedger::default(), LosslessLosses::default());
            assert!(detail(&ledger, &none, LosslessGuarantee::SomeClasses).0);
            ledger.drop_frame(cause, 1_500);
            assert_eq!(
                detail(&ledger, &none, LosslessGuarantee::SomeClasses).0,
                cause != Cause::LosslessNoRoom,
                "{cause}"
            );
            let either = matches!(cause, Cause::LosslessNoRoom | Cause::NoRoom);
            assert_eq!(detail(&ledger, &none, LosslessGuarantee::AllClasses).0, !either, "{cause}");
            let mut losses = LosslessLosses::default();
            losses.count(3, cause, 1_500);
            assert_eq!(detail(&ledger, &losses, LosslessGuarantee::SomeClasses).0, !either, "{cause}");
        }
    }

    #[test]
    fn without_a_promise_there_is_nothing_to_keep() {
        let verdict = verdict(&PacketLedger::default(), &LosslessLosses::default(), LosslessGuarantee::Nothing, None);
        assert_eq!((verdict.pass, verdict.applicable), (true, false));
    }

    /// A run in which any cause, such as the watchdog, dropped frames of a lossless class must not be reported as
    /// lossless.
    #[test]
    fn a_run_is_called_lossless_only_if_no_cause_took_a_frame_of_a_lossless_class() {
        const SENTENCE: &str = "no lossless frame dropped";
        let (mut ledger, none) = (PacketLedger::default(), LosslessLosses::default());
        ledger.drop_frame(Cause::NoRoom, 64);
        assert_eq!(detail(&ledger, &none, LosslessGuarantee::SomeClasses).1, SENTENCE, "a lossy class lost it");
        for cause in Cause::ALL {
            let mut losses = LosslessLosses::default();
            losses.count(5, cause, 64);
            let (_, text) = detail(&PacketLedger::default(), &losses, LosslessGuarantee::SomeClasses);
            assert!(!text.contains(SENTENCE) || cause == Cause::LosslessNoRoom, "{cause}: {text}");
        }
        let mut losses = LosslessLosses::default();
        (0..1_662).for_each(|_| losses.count(3, Cause::PauseStorm, 64));
        let expected = "no loss at a full buffer; 1662 of lossless classes lost for other causes: pause storm \
             1662 (class 3)"
            .to_owned();
        assert_eq!(detail(&ledger, &losses, LosslessGuarantee::SomeClasses), (true, expected));
        let mut other = LosslessLosses::default();
        (0..2).for_each(|_| other.count(4, Cause::PauseStorm, 64));
        other.count(4, Cause::OutsideFlowControl, 700);
        losses.merge(&other);
        let expected = "no loss at a full buffer within flow control; 1665 of lossless classes lost \
                        for other causes: pause storm 1664 (class 3: 1662, class 4: 2), outside flow control 1 (class \
                        4)";
        assert_eq!(detail(&ledger, &losses, LosslessGuarantee::SomeClasses), (true, expected.to_owned()));
        ledger.drop_frame(Cause::LosslessNoRoom, 900);
        let failed = verdict(&ledger, &losses, LosslessGuarantee::SomeClasses, Some("at 3us at S1"));
        let begin = "1 lossless frames (900 bytes) dropped at a full buffer; first at 3us at S1; 1665 of lossless";
        assert!(!failed.pass && failed.detail.starts_with(begin), "{failed}");
        assert_eq!(losses.by(Cause::PauseStorm), FrameCount { frames: 1_664, bytes: 1_664 * 64 });
    }
}
