//! Reaction of a sender to its bounced frames: it may halve its window or rate.
//!
//! PABO (section II-G) suggests that hosts treat a returned frame as a congestion signal, but defines no reaction.
//! This project's reaction: [`crate::endpoint::Sender::on_returned`] is called for every returned data frame of the
//! flow, and halves window or rate at most once per `every` returned frames and at most once per round trip.

use crate::parameters::parameters;

parameters! {
    /// Parameters of the reaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HalveParameters: OnBounce "halve" {
        title: "a sender whose frames are bounced back to it halves its window or rate";
        source: "Shi et al., PABO, section II-G, names the idea; the definition is this project's";
        /// Minimum number of returned frames between two halvings, at least 1.
        every: u32 = "every" count[1, 1_000_000], default "1",
            "bounced frames of a flow per reduction, 1 to 1000000",
            "choice of this project";
    }
}

/// State of a flow with returned frames. The host keeps it outside the sender, since most flows never need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BouncedFlow {
    /// Frames returned since the last halving.
    frames: u32,
    /// Next byte to send at the last halving. Its acknowledgement ends the round trip.
    sent: u64,
}

impl BouncedFlow {
    /// Counts a returned frame; `acknowledged` is the first unacknowledged byte. Returns true if window or rate must
    /// be halved.
    pub(crate) fn is_due(&mut self, every: u32, acknowledged: u64) -> bool {
        self.frames = self.frames.saturating_add(1);
        self.frames >= every.max(1) && acknowledged >= self.sent
    }

    /// Records a halving; `sent` is the next byte to send.
    pub(crate) fn halved(&mut self, sent: u64) {
        *self = BouncedFlow { frames: 0, sent };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn at_most_one_for_so_many_frames_and_a_round_trip() {
        let mut returns = BouncedFlow::default();
        assert_eq!([(); 3].map(|()| returns.is_due(3, 0)), [false, false, true]);
        returns.halved(5000);
        // At least `every` = 3 frames have returned, but the round trip has not ended (acknowledgement of byte 5000),
        // so no halving. These frames count when the round trip has ended.
        assert!((0..10).all(|_| !returns.is_due(3, 4999)));
        assert!(returns.is_due(3, 5000));
        returns.halved(9000);
        assert!(!returns.is_due(3, 9000) && !returns.is_due(3, 9000) && returns.is_due(3, 9000));
    }

    /// In random sequences of sends, acknowledgements and returns, there are at least `every` returned frames and one
    /// round trip between two halvings.
    #[test]
    fn random_histories() {
        let mut random = Stream::new(1, 0, 0);
        for _ in 0..200 {
            let every = 1 + random.below(6) as u32;
            let mut returns = BouncedFlow::default();
            let (mut acknowledged, mut sent, mut since) = (0u64, 0u64, 0u32);
            let mut last_sent = 0;
            for _ in 0..300 {
                match random.below(3) {
                    0 => sent += random.below(20),
                    1 => acknowledged += random.below(sent - acknowledged + 1),
                    _ => {
                        since += 1;
                        let due = returns.is_due(every, acknowledged);
                        assert_eq!(due, since >= every && acknowledged >= last_sent);
                        if due {
                            returns.halved(sent);
                            (since, last_sent) = (0, sent);
                        }
                    }
                }
            }
        }
    }
}
