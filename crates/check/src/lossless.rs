//! A lossless class loses no frame for want of room. What a broken or lossy link takes is not the
//! fault of flow control and does not count here.

use crate::conservation::{Cause, PacketLedger};
use crate::verdict::Verdict;

/// The check "lossless": no frame of a lossless class found its queue or buffer full.
pub fn verdict(ledger: &PacketLedger) -> Verdict {
    let lost = ledger.dropped_by(Cause::LosslessNoRoom);
    // Bytes without a frame cannot be, so they are a fault as well.
    let pass = lost.frames == 0 && lost.bytes == 0;
    let detail = if pass {
        "no lossless frame dropped".to_owned()
    } else {
        format!("{} lossless frames ({} bytes) dropped for want of room", lost.frames, lost.bytes)
    };
    Verdict::new("lossless", pass, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_want_of_room_in_a_lossless_class_counts() {
        for cause in Cause::ALL {
            let mut ledger = PacketLedger::default();
            assert!(verdict(&ledger).pass);
            ledger.drop_frame(cause, 1_500);
            assert_eq!(verdict(&ledger).pass, cause != Cause::LosslessNoRoom, "{cause}");
        }
    }
}
