//! A lossless class loses no frame for want of room. What a broken or lossy link takes is not the
//! fault of flow control and does not count here.

use crate::conservation::{Cause, PacketLedger, Tally};
use crate::verdict::Verdict;

/// How much of a run's traffic must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// No class in use is lossless, or no switch takes part.
    Nothing,
    /// Some classes are: a full queue may cost frames of the others.
    SomeClasses,
    /// All classes are: no full queue may cost any frame.
    AllClasses,
}

/// The check "lossless": no frame of a lossless class found its queue or buffer full.
pub fn verdict(ledger: &PacketLedger, promise: Promise) -> Verdict {
    let mut lost = ledger.dropped_by(Cause::LosslessNoRoom);
    if promise == Promise::AllClasses {
        lost += ledger.dropped_by(Cause::NoRoom);
    }
    // Bytes without a frame cannot be, so they are a fault as well.
    let pass = lost.frames == 0 && lost.bytes == 0;
    if pass && promise == Promise::Nothing {
        return Verdict::not_applicable("lossless", "no traffic in a lossless class");
    }
    let mut detail = if pass {
        "no lossless frame dropped".to_owned()
    } else {
        format!("{} lossless frames ({} bytes) dropped for want of room", lost.frames, lost.bytes)
    };
    // Nobody promised anything there; but who reads "lossless" must not take it for more than it says.
    let outside = ledger.dropped_by(Cause::OutsideFlowControl);
    if outside != Tally::default() {
        let (frames, bytes) = (outside.frames, outside.bytes);
        detail.push_str(&format!(" where flow control reaches; {frames} ({bytes} bytes) where it does not"));
    }
    Verdict::new("lossless", pass, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_want_of_room_in_a_lossless_class_counts() {
        for cause in Cause::ALL {
            let mut ledger = PacketLedger::default();
            assert!(verdict(&ledger, Promise::SomeClasses).pass);
            ledger.drop_frame(cause, 1_500);
            assert_eq!(verdict(&ledger, Promise::SomeClasses).pass, cause != Cause::LosslessNoRoom, "{cause}");
            let either = matches!(cause, Cause::LosslessNoRoom | Cause::NoRoom);
            assert_eq!(verdict(&ledger, Promise::AllClasses).pass, !either, "{cause}");
        }
    }

    #[test]
    fn without_a_promise_there_is_nothing_to_keep() {
        let verdict = verdict(&PacketLedger::default(), Promise::Nothing);
        assert_eq!((verdict.pass, verdict.judged), (true, false));
    }

    /// It does not call lossless what only parts of the fabric promise.
    #[test]
    fn what_is_lost_outside_is_told() {
        let mut ledger = PacketLedger::default();
        ledger.drop_frame(Cause::OutsideFlowControl, 700);
        let told = "no lossless frame dropped where flow control reaches; 1 (700 bytes) where it does not";
        assert_eq!(verdict(&ledger, Promise::SomeClasses).detail, told);
        ledger.drop_frame(Cause::LosslessNoRoom, 900);
        let verdict = verdict(&ledger, Promise::SomeClasses);
        assert!(!verdict.pass && verdict.detail.ends_with("1 (700 bytes) where it does not"));
    }
}
