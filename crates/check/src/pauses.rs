//! Checks pauses: each pause ends by a resume or an expiry, each node ends its own decisions to pause, and no MAC
//! control frame disappears.

use crate::verdict::Verdict;

/// Pauses of senders, counted at the sender when a pause takes effect.
///
/// A pause is the transition from sending to paused: a renewal is not counted again, and a resume of a queue that is
/// not paused is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseLedger {
    /// Pauses that took effect.
    pub pauses: u64,
    /// Pauses ended by a resume.
    pub resumes: u64,
    /// Pauses ended because their time ran out (802.3 annex 31B, 802.1Qbb).
    pub expiries: u64,
    /// Pauses in effect at the end of the run, counted at the sender.
    pub still_paused: u64,
}

/// MAC control frames (PAUSE, PFC), each of which traverses one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlLedger {
    /// Sent, or waiting to be sent.
    pub sent: u64,
    /// Received.
    pub received: u64,
    /// Lost because the link failed.
    pub lost: u64,
    /// Waiting to be sent or on a link at the end of the run, counted in queues and on links.
    pub in_flight: u64,
}

/// Pause decisions of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseDecisions {
    /// Decisions to pause a sender that was not paused.
    pub stops: u64,
    /// Decisions to resume, and pauses that expired at the deciding node.
    pub ended: u64,
    /// Pauses in effect at the end of the run, counted at the deciding node.
    pub standing: u64,
    /// Pauses in effect although the deciding node has no backlog that justifies them.
    pub idle: u64,
}

impl PauseLedger {
    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &PauseLedger) {
        self.pauses += other.pauses;
        self.resumes += other.resumes;
        self.expiries += other.expiries;
        self.still_paused += other.still_paused;
    }

    /// Returns the verdict "pauses". Pauses = resumes + expiries + still paused; every control frame was received,
    /// was lost with its link or is in flight; every decision to pause was ended by its node, or is in effect with a
    /// backlog that justifies it.
    pub fn verdict(&self, control: &ControlLedger, decisions: &PauseDecisions) -> Verdict {
        let PauseLedger { pauses, resumes, expiries, still_paused } = *self;
        let sum = |parts: &[u64]| parts.iter().copied().map(u128::from).sum::<u128>();
        let mut faults = Vec::new();
        if u128::from(pauses) != sum(&[resumes, expiries, still_paused]) {
            faults.push(format!(
                "{pauses} pauses is not {resumes} resumes + {expiries} expiries + {still_paused} still paused"
            ));
        }
        let ControlLedger { sent, received, lost, in_flight } = *control;
        if u128::from(sent) != sum(&[received, lost, in_flight]) {
            faults.push(format!(
                "{sent} control frames sent is not {received} received + {lost} lost with their links + {in_flight} \
                 in flight"
            ));
        }
        let PauseDecisions { stops, ended, standing, idle } = *decisions;
        if u128::from(stops) != sum(&[ended, standing]) {
            faults.push(format!("{stops} stops is not {ended} ended + {standing} active"));
        }
        if idle > 0 {
            faults.push(format!("{idle} active stops have no backlog and would never end"));
        }
        if !faults.is_empty() {
            return Verdict::new("pauses", false, faults.join("; "));
        }
        if pauses == 0 && sent == 0 && stops == 0 {
            return Verdict::not_applicable("pauses", "no pause frames sent");
        }
        let detail = format!("{pauses} pauses = {resumes} resumes + {expiries} expiries + {still_paused} still paused");
        Verdict::new("pauses", true, detail)
    }
}

units::pack_fields!(PauseLedger { pauses, resumes, expiries, still_paused });

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;

    /// Counts random pauses, renewals, resumes and expiries of some queues at two nodes.
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

    fn alone(ledger: &PauseLedger) -> Verdict {
        ledger.verdict(&ControlLedger::default(), &PauseDecisions::default())
    }

    #[test]
    fn every_single_miscount_is_noticed() {
        let mut random = Stream::new(1, 0, purpose("pauses"));
        for _ in 0..300 {
            let honest = random_ledger(&mut random);
            assert!(alone(&honest).pass, "{}", alone(&honest));
            let fields: [fn(&mut PauseLedger) -> &mut u64; 4] =
                [|l| &mut l.pauses, |l| &mut l.resumes, |l| &mut l.expiries, |l| &mut l.still_paused];
            for field in fields {
                let mut more = honest;
                *field(&mut more) += 1;
                assert!(!alone(&more).pass);
                let mut fewer = honest;
                if *field(&mut fewer) > 0 {
                    *field(&mut fewer) -= 1;
                    assert!(!alone(&fewer).pass);
                }
            }
        }
    }

    #[test]
    fn a_control_frame_that_vanishes_and_a_stop_that_is_forgotten_are_noticed() {
        let ledger = PauseLedger { pauses: 3, resumes: 1, expiries: 1, still_paused: 1 };
        let control = ControlLedger { sent: 9, received: 6, lost: 1, in_flight: 2 };
        let decisions = PauseDecisions { stops: 4, ended: 3, standing: 1, idle: 0 };
        assert!(ledger.verdict(&control, &decisions).pass);
        for field in 0..4 {
            let mut control = control;
            let fields = [&mut control.sent, &mut control.received, &mut control.lost, &mut control.in_flight];
            *fields.into_iter().nth(field).unwrap() += 1;
            assert!(!ledger.verdict(&control, &decisions).pass, "{control:?}");
            let mut decisions = decisions;
            let fields = [&mut decisions.stops, &mut decisions.ended, &mut decisions.standing, &mut decisions.idle];
            *fields.into_iter().nth(field).unwrap() += 1;
            assert!(!ledger.verdict(&ControlLedger::default(), &decisions).pass, "{decisions:?}");
        }
        assert!(!alone(&PauseLedger::default()).applicable);
    }

    #[test]
    fn counts_at_the_limit_do_not_wrap_into_agreement() {
        let ledger = PauseLedger { pauses: 0, resumes: 1 << 63, expiries: 1 << 63, still_paused: 0 };
        assert!(!alone(&ledger).pass);
    }
}
