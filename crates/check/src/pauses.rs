//! A pause is answered by a resume or an expiry.

use crate::verdict::Verdict;

/// What happened to the senders that were paused; counted at the sender, where a pause takes effect.
///
/// A pause is the step from sending to paused: a frame that renews a pause is not counted again, and a
/// resume that finds nothing paused is not counted at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseLedger {
    /// Pauses that took effect.
    pub pauses: u64,
    /// Pauses ended by a resume.
    pub resumes: u64,
    /// Pauses ended because their time ran out (802.3 annex 31B, 802.1Qbb).
    pub expiries: u64,
    /// Pauses in effect at the end, counted where they are.
    pub still_paused: u64,
}

impl PauseLedger {
    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &PauseLedger) {
        self.pauses += other.pauses;
        self.resumes += other.resumes;
        self.expiries += other.expiries;
        self.still_paused += other.still_paused;
    }

    /// The check "pauses": pauses = resumes + expiries + still paused.
    pub fn verdict(&self) -> Verdict {
        let PauseLedger { pauses, resumes, expiries, still_paused } = *self;
        let ended: u128 = [resumes, expiries, still_paused].into_iter().map(u128::from).sum();
        let relation = if u128::from(pauses) == ended { "=" } else { "is not" };
        let detail =
            format!("{pauses} pauses {relation} {resumes} resumes + {expiries} expiries + {still_paused} still paused");
        Verdict::new("pauses", u128::from(pauses) == ended, detail)
    }
}

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;

    /// Random pauses, renewals, resumes and expiries on some queues of two nodes.
    fn random_ledger(random: &mut Stream) -> PauseLedger {
        let mut whole = PauseLedger::default();
        for _ in 0..2 {
            let mut ledger = PauseLedger::default();
            let mut paused = [false; 5];
            for _ in 0..random.below(200) {
                let queue = &mut paused[random.below(5) as usize];
                match (random.below(4), *queue) {
                    (0 | 1, false) => {
                        ledger.pauses += 1;
                        *queue = true;
                    }
                    (2, true) => {
                        ledger.resumes += 1;
                        *queue = false;
                    }
                    (3, true) => {
                        ledger.expiries += 1;
                        *queue = false;
                    }
                    _ => {}
                }
            }
            ledger.still_paused = paused.iter().filter(|&&paused| paused).count() as u64;
            whole.merge(&ledger);
        }
        whole
    }

    #[test]
    fn every_single_miscount_is_noticed() {
        let mut random = Stream::new(1, 0, purpose("pauses"));
        for _ in 0..300 {
            let honest = random_ledger(&mut random);
            assert!(honest.verdict().pass, "{}", honest.verdict());
            let fields: [fn(&mut PauseLedger) -> &mut u64; 4] =
                [|l| &mut l.pauses, |l| &mut l.resumes, |l| &mut l.expiries, |l| &mut l.still_paused];
            for field in fields {
                let mut more = honest;
                *field(&mut more) += 1;
                assert!(!more.verdict().pass);
                let mut fewer = honest;
                if *field(&mut fewer) > 0 {
                    *field(&mut fewer) -= 1;
                    assert!(!fewer.verdict().pass);
                }
            }
        }
    }

    #[test]
    fn counts_at_the_limit_do_not_wrap_into_agreement() {
        let ledger = PauseLedger { pauses: 0, resumes: 1 << 63, expiries: 1 << 63, still_paused: 0 };
        assert!(!ledger.verdict().pass);
    }
}
