//! Checks of figures 3.9 to 3.13 and table 3.3 of the thesis on runs of several congestion controls.

use super::peers::{Compared, Peer, PeerResult, interval};
use crate::check::{Check, Relation};
use crate::trial::Trial;
use lab::statistics::Interval;

/// Claims that compare a statistic of two congestion controls. Each claim is judged by the lower limit of the 95 %
/// confidence interval of the difference over seeds.
pub struct Claim<'a> {
    /// Results of the congestion controls.
    pub compared: &'a Compared,
    /// Description of the case, with which the names of its checks begin.
    pub of: &'a str,
}

impl Claim<'_> {
    /// Checks that the statistic `pick` of the first congestion control exceeds that of the second.
    pub fn above(
        &self,
        trial: &mut Trial,
        what: &str,
        unit: &'static str,
        [a, b]: [Peer; 2],
        pick: fn(&PeerResult) -> f64,
    ) {
        let name = format!("{}: {what} of {a:?} above that of {b:?} by", self.of);
        let check = Check::new(name, unit, self.compared.surely_above(a, b, pick), Relation::Above, 0.0, 0.0);
        trial.check_in_full(check.note("the lower end of the 95 % interval of differences over seeds"));
    }

    /// Checks that the congestion control `peer` uses at least 90 % of the link.
    pub fn used(&self, trial: &mut Trial, peer: Peer) {
        let name = format!("{}: share of the link that {peer:?} uses", self.of);
        let used = self.compared.mean(peer, |result| result.used);
        trial.check(Check::new(name, "1", used, Relation::AtLeast, 0.9, 0.0));
    }
}

/// Jain's index of the flows' mean rates.
pub const JAIN: fn(&PeerResult) -> f64 = |result| result.jain;
/// Mean queue length, in KB.
pub const QUEUE: fn(&PeerResult) -> f64 = |result| result.queue_kb;
/// Tolerance of mean queues that the thesis calls close to zero, in KB: a sixth of T_low C at 10 Gbps, the queue from
/// which its figures distinguish them.
const ABOUT_ZERO_KB: f64 = 10.0;
/// Remark on these claims.
const ABOUT_ZERO: &str = "one-sided, because a queue is never negative; 10 KB is our reading of about 0";
/// Frame of the flows at 10 Gbps, in KB.
const DEFAULT_FRAME_KB: f64 = 0.6;
/// Standard deviation of the queue length, in KB.
pub const DEVIATION: fn(&PeerResult) -> f64 = |result| result.queue_deviation_kb;

/// Congestion controls that the thesis compares.
pub const CLAIMED: &[Peer] = &[Peer::HetFlow, Peer::Qcn, Peer::Timely];

impl Claim<'_> {
    /// Checks figure 3.9 with `flows` flows, and the order of the queues of table 3.3.
    pub fn few(&self, trial: &mut Trial) {
        for other in [Peer::Qcn, Peer::Timely] {
            self.above(trial, "Jain's index", "1", [Peer::HetFlow, other], JAIN);
            self.above(trial, "deviation of the queue", "KB", [other, Peer::HetFlow], DEVIATION);
        }
        for &peer in CLAIMED {
            self.used(trial, peer);
        }
        let table = Claim { of: &format!("table 3.3, {}", self.of), ..*self };
        table.above(trial, "mean queue", "KB", [Peer::Timely, Peer::HetFlow], QUEUE);
        table.above(trial, "mean queue", "KB", [Peer::Qcn, Peer::Timely], QUEUE);
    }

    /// Checks that the mean queue of `peer` is about 0.
    fn empty(&self, trial: &mut Trial, peer: Peer, name: &str) {
        let queue = self.compared.mean(peer, QUEUE);
        let check = Check::new(name, "KB", queue, Relation::Equal, 0.0, ABOUT_ZERO_KB);
        trial.check_in_full(check.note(ABOUT_ZERO));
    }

    /// Checks figure 3.10: 38 flows at 10 Gbps.
    pub fn thirty_eight(&self, trial: &mut Trial) {
        for other in [Peer::Qcn, Peer::Timely] {
            self.above(trial, "Jain's index", "1", [Peer::HetFlow, other], JAIN);
        }
        for &peer in CLAIMED {
            self.used(trial, peer);
        }
        self.empty(trial, Peer::HetFlow, &format!("{}: mean queue of HetFlow, of about 0", self.of));
        self.threshold(trial);
        let jain = self.compared.mean(Peer::HetFlow, JAIN);
        let name = "table 3.3, 38 flows: Jain's index of HetFlow, which scales well";
        trial.check_in_full(Check::new(name, "1", jain, Relation::Above, 0.95, 0.0));
    }

    /// Checks that the mean queue of TIMELY is T_low C at 10 Gbps (figure 3.10).
    pub fn threshold(&self, trial: &mut Trial) {
        let Interval { mean: queue, half } = interval(self.compared.of(Peer::Timely), QUEUE);
        // One seed has no interval.
        let tolerance = if half.is_finite() { half.max(DEFAULT_FRAME_KB) } else { DEFAULT_FRAME_KB };
        let name = format!("{}: mean queue of TIMELY, around T_low C", self.of);
        let check = Check::new(name, "KB", queue, Relation::Equal, 62.5, tolerance);
        trial.check_in_full(check.note("half of the 95 % interval over seeds, at least a frame"));
    }

    /// Checks figure 3.11: 38 flows at 100 Gbps.
    pub fn hundred(&self, trial: &mut Trial) {
        self.above(trial, "Jain's index", "1", [Peer::HetFlow, Peer::Timely], JAIN);
        self.above(trial, "Jain's index", "1", [Peer::Timely, Peer::Qcn], JAIN);
        self.above(trial, "mean queue", "KB", [Peer::Timely, Peer::HetFlow], QUEUE);
        self.empty(trial, Peer::HetFlow, &format!("{}: mean queue of HetFlow, of about 0", self.of));
    }

    /// Checks figure 3.12: four flows with RTTs of 60 to 180 us.
    pub fn round_trips(&self, trial: &mut Trial) {
        for other in [Peer::Qcn, Peer::Timely] {
            self.above(trial, "Jain's index", "1", [Peer::HetFlow, other], JAIN);
        }
        self.above(trial, "deviation of the queue", "KB", [Peer::Qcn, Peer::HetFlow], DEVIATION);
        self.empty(trial, Peer::Timely, &format!("{}: mean queue of TIMELY, of about 0", self.of));
        let table = Claim { of: "table 3.3, fair among RTTs", ..*self };
        table.above(trial, "Jain's index", "1", [Peer::Qcn, Peer::Timely], JAIN);
    }

    /// Checks figure 3.13: four flows with frames of 200 to 1400 B.
    pub fn sizes(&self, trial: &mut Trial) {
        for other in [Peer::Qcn, Peer::Timely] {
            self.above(trial, "Jain's index", "1", [Peer::HetFlow, other], JAIN);
            self.above(trial, "mean queue", "KB", [other, Peer::HetFlow], QUEUE);
        }
        self.above(trial, "deviation of the queue", "KB", [Peer::Qcn, Peer::HetFlow], DEVIATION);
        self.used(trial, Peer::HetFlow);
        let table = Claim { of: "table 3.3, fair among sizes", ..*self };
        table.above(trial, "Jain's index", "1", [Peer::Qcn, Peer::Timely], JAIN);
    }
}
