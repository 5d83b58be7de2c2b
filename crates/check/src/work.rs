//! Work conservation: no link is idle while a frame may start on it.
//!
//! A waiting frame may start once the link is idle and no pause, credit, gate or shaper blocks its class. For each link
//! that was idle for a while, the model reports the earliest instant at which the frame could have started, computed
//! from these conditions and not from its own schedule of departures.

use crate::verdict::Verdict;
use units::Time;

/// A frame that started later than possible, or had not started by the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LateStart {
    /// Earliest possible start.
    pub eligible_at: Time,
    /// Actual start, or the end of the run.
    pub at: Time,
    /// Switch or host.
    pub node: u32,
    /// Egress port of the node.
    pub port: u16,
    /// Class of the frame; `None` for a MAC control frame.
    pub class: Option<u8>,
}

/// Late starts of one node, or of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkLog {
    /// Frames that waited although the link was idle.
    pub late: u64,
    /// The late frame with the earliest possible start.
    pub first: Option<LateStart>,
}

impl WorkLog {
    /// Records a possible and an actual start; for a frame that has not started, the latter is the end of the run.
    #[inline]
    pub fn observe(&mut self, start: LateStart) {
        if start.eligible_at < start.at {
            self.merge(&WorkLog { late: 1, first: Some(start) });
        }
    }

    /// Adds the late starts of another node; the order of merging does not matter.
    #[cold]
    pub fn merge(&mut self, other: &WorkLog) {
        self.late += other.late;
        self.first = self.first.into_iter().chain(other.first).min();
    }

    /// Returns the verdict "work conservation" of a network in which `ports` ports sent at least one frame; `name`
    /// returns the name of a node. `has_end` is set if frames that wait at the end were checked too.
    pub fn verdict(&self, ports: u64, has_end: bool, name: impl Fn(u32) -> String) -> Verdict {
        const NAME: &str = "work conservation";
        let Some(LateStart { eligible_at, at, node, port, class }) = self.first else {
            if ports == 0 && self.late == 0 {
                return Verdict::not_applicable(NAME, "no port sent a frame");
            }
            let plural = if ports == 1 { "" } else { "s" };
            let end = if has_end { "" } else { "; frames waiting at the interruption of the run are excluded" };
            let detail = format!("no wire of {ports} port{plural} idle with an eligible frame{end}");
            return Verdict::new(NAME, self.late == 0, detail);
        };
        let kind = class.map_or("MAC control".to_owned(), |class| format!("class {class}"));
        let frames = if self.late == 1 { "1 frame".to_owned() } else { format!("{} frames", self.late) };
        let detail = format!(
            "{frames} waited at an idle wire; first at {}, egress port {port}, {kind}: could start at {eligible_at}, \
             waited until {at}",
            name(node)
        );
        Verdict::new(NAME, false, detail)
    }
}

units::pack_fields!(LateStart { eligible_at, at, node, port, class });
units::pack_fields!(WorkLog { late, first });

#[cfg(test)]
mod tests {
    use super::*;

    fn start(eligible_at: Time, at: Time) -> LateStart {
        LateStart { eligible_at, at, node: 4, port: 2, class: Some(3) }
    }

    fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    fn verdict(log: &WorkLog, ports: u64) -> Verdict {
        log.verdict(ports, true, |node| format!("S{node}"))
    }

    #[test]
    fn a_frame_that_starts_later_than_it_could_fails_the_check() {
        let mut log = WorkLog::default();
        log.observe(start(ns(7), ns(7)));
        log.observe(start(Time::MAX, ns(7)));
        assert!(verdict(&log, 1).pass && log.late == 0);
        log.observe(start(ns(8), ns(9)));
        log.observe(start(ns(7), ns(7) + Time::from_ps(1)));
        let verdict = verdict(&log, 1);
        assert!(!verdict.pass && log.late == 2);
        let expected = "2 frames waited at an idle wire; first at S4, egress port 2, class 3: could start at 7ns, \
                        waited until 7.001ns";
        assert_eq!(verdict.detail, expected);
    }

    #[test]
    fn a_network_that_sent_nothing_is_not_judged() {
        assert!(!verdict(&WorkLog::default(), 0).applicable);
        assert!(verdict(&WorkLog::default(), 1).applicable);
        let stopped = WorkLog::default().verdict(1, false, |_| String::new());
        assert!(stopped.detail.ends_with("are excluded"), "{}", stopped.detail);
    }

    #[test]
    fn merging_in_any_order_keeps_the_earliest() {
        let (mut a, mut b) = (WorkLog::default(), WorkLog::default());
        a.observe(start(ns(5), ns(9)));
        b.observe(start(ns(3), ns(4)));
        let (before, mut after) = (a, b);
        a.merge(&b);
        after.merge(&before);
        assert_eq!((a, a.first.unwrap().eligible_at), (after, ns(3)));
    }
}
