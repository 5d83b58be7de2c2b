//! Congestion window (RFC 5681, RFC 6582): arithmetic only, without a clock or segments.

use crate::tcp::cubic::Cubic;
use crate::tcp::parameters::{CongestionControl, TcpParameters};
use crate::tcp::vegas::{Round, Vegas};
use units::Time;

/// Action of the sender after an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckAction {
    /// Retransmit the first unacknowledged segment, even if the window does not permit it.
    pub(crate) retransmit: bool,
    /// Do not restart the retransmission timer (RFC 6582, 3.2: only the first partial acknowledgement of a fast
    /// recovery restarts it).
    pub(crate) keep_timer: bool,
}

/// Growth rule in congestion avoidance.
#[derive(Clone, Debug)]
enum Growth {
    Reno,
    Cubic(Box<Cubic>),
    Vegas(Box<Vegas>),
}

/// Congestion window of one flow, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    mss: u64,
    /// Advertised window in bytes, beyond which the congestion window does not grow.
    limit: u64,
    /// Bytes acknowledged since the last window increase in congestion avoidance.
    counted: u64,
    duplicates: u32,
    threshold: u32,
    control: CongestionControl,
    growth: Growth,
    /// Time of the last acknowledgement, and smoothed RTT.
    now: Time,
    rtt: Time,
    fast_retransmit: bool,
    /// Whether losses are repaired with a scoreboard (RFC 6675), so that duplicate acknowledgements do not inflate
    /// the window.
    selective: bool,
    /// Whether fast recovery is active, and whether a partial acknowledgement has arrived in it.
    recovering: bool,
    partial: bool,
    /// Whether there was no new acknowledgement since the last timeout, so that the next timeout is a repeated one.
    timed_out: bool,
    /// End of the bytes sent before the last loss or timeout ("recover" of RFC 6582, plus one).
    recover: u64,
    /// End of the bytes sent before the last reduction for any cause; it ensures at most one reduction per window of
    /// data.
    reduced: u64,
}

impl Window {
    pub(crate) fn new(parameters: &TcpParameters) -> Self {
        let mss = u64::from(parameters.mss_bytes.max(1));
        Window {
            cwnd: parameters.initial_window.bytes(mss),
            ssthresh: parameters.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            mss,
            limit: parameters.advertised_window_bytes.max(mss),
            counted: 0,
            duplicates: 0,
            threshold: parameters.dupack_threshold.max(1),
            control: parameters.congestion_control,
            growth: match parameters.congestion_control {
                CongestionControl::Cubic => {
                    Growth::Cubic(Box::new(Cubic::new(parameters.cubic_scale, parameters.cubic_beta)))
                }
                CongestionControl::Vegas => Growth::Vegas(Box::new(Vegas::new(parameters))),
                _ => Growth::Reno,
            },
            now: Time::ZERO,
            rtt: Time::ZERO,
            fast_retransmit: parameters.fast_retransmit && parameters.retransmissions,
            selective: parameters.sack,
            recovering: false,
            partial: false,
            timed_out: false,
            recover: 0,
            reduced: 0,
        }
    }

    /// Handles the end of an idle time at `now`, in which all bytes were acknowledged. If the idle time is longer than
    /// `rto`, the window becomes at most the initial window (RFC 5681, 4.1). The idle time does not count in CUBIC's
    /// epoch (RFC 9438, 4.2 and 5.8).
    pub(crate) fn on_idle_end(&mut self, now: Time, rto: Time, parameters: &TcpParameters) {
        let idle = now.saturating_sub(self.now);
        let restarts = idle > rto;
        if restarts {
            self.cwnd = self.cwnd.min(parameters.initial_window.bytes(self.mss));
        }
        if let Growth::Cubic(cubic) = &mut self.growth {
            cubic.on_idle_end(idle, restarts);
        }
    }

    /// Sets the time and the smoothed RTT of the acknowledgement that is handled next.
    pub(crate) fn at(&mut self, now: Time, rtt: Option<Time>) {
        (self.now, self.rtt) = (now, rtt.unwrap_or(Time::ZERO));
    }

    /// Adds an RTT sample; only Vegas uses it.
    pub(crate) fn on_round_trip(&mut self, rtt: Time) {
        let Growth::Vegas(vegas) = &mut self.growth else { return };
        let slow_start = self.cwnd < self.ssthresh;
        let round = vegas.on_round(rtt, self.cwnd as f64 / self.mss as f64, slow_start);
        if self.recovering {
            return;
        }
        match round {
            Round::Grow if self.cwnd < self.limit => self.cwnd += self.mss,
            Round::Fall => {
                self.cwnd = self.cwnd.saturating_sub(self.mss).max(2 * self.mss);
                // Keeps the window in congestion avoidance: a window below ssthresh would be in slow start.
                self.ssthresh = self.ssthresh.min(self.cwnd);
            }
            Round::EndSlowStart => self.ssthresh = self.cwnd,
            Round::Grow | Round::Hold => {}
        }
    }

    /// Returns ssthresh after a loss with `flight` bytes in flight, by RFC 5681, equation 4, or with CUBIC's beta.
    fn half(&self, flight: u64) -> u64 {
        let left = if let Growth::Cubic(cubic) = &self.growth { cubic.cut(flight) } else { flight / 2 };
        left.max(2 * self.mss)
    }

    /// Returns the window after an ECN mark, which counts as a loss.
    pub(crate) fn after_mark(&self) -> u64 {
        if let Growth::Cubic(cubic) = &self.growth { cubic.cut(self.cwnd) } else { self.cwnd / 2 }
    }

    /// Reports a window reduction to CUBIC. Every reduction must call this, because otherwise CUBIC would return to
    /// its old curve at the next acknowledgement.
    fn note_loss(&mut self, timeout: bool) {
        if let Growth::Cubic(cubic) = &mut self.growth {
            cubic.on_loss(self.cwnd, self.mss, timeout);
        }
    }

    /// Handles an acknowledgement of `acked` new bytes, up to `acknowledged`, after which `flight` bytes are in
    /// flight. `grow` is false if the acknowledgement carries ECN-Echo.
    pub(crate) fn on_new_ack(&mut self, acked: u64, acknowledged: u64, flight: u64, grow: bool) -> AckAction {
        self.duplicates = 0;
        self.timed_out = false;
        if !self.recovering {
            if grow {
                self.grow(acked);
            }
            return AckAction::default();
        }
        if self.selective && acknowledged < self.recover {
            // RFC 6675, 5, step B: the scoreboard selects the next segment to send.
            return AckAction::default();
        }
        if self.repairs_holes() && acknowledged < self.recover {
            // RFC 6582, 3.2, step 3, partial acknowledgement: retransmit the next missing segment, and deflate the
            // window by the acknowledged bytes.
            let verdict = AckAction { retransmit: true, keep_timer: self.partial };
            self.partial = true;
            self.cwnd = self.cwnd.saturating_sub(acked);
            if acked >= self.mss {
                self.cwnd += self.mss;
            }
            self.cwnd = self.cwnd.max(self.mss);
            return verdict;
        }
        self.recovering = false;
        self.counted = 0;
        self.cwnd = match self.control {
            // RFC 6675, 5, step A: end of loss recovery.
            _ if self.selective => self.ssthresh,
            // RFC 6582, 3.2, step 3, full acknowledgement, option 1: avoids a burst if few bytes are in flight.
            _ if self.repairs_holes() => self.ssthresh.min(flight.max(self.mss) + self.mss),
            // RFC 5681, 3.2, step 6: deflates the window.
            _ => self.ssthresh,
        };
        AckAction::default()
    }

    /// Returns whether fast recovery lasts until all bytes sent before the loss are acknowledged (RFC 6582).
    fn repairs_holes(&self) -> bool {
        !matches!(self.control, CongestionControl::Reno | CongestionControl::Fixed)
    }

    /// Increases the window after `acked` acknowledged bytes (RFC 5681, 3.1).
    fn grow(&mut self, acked: u64) {
        // Growth beyond the advertised window has no effect, and would delay the effect of the reduction after a
        // loss.
        if self.cwnd >= self.limit {
            return;
        }
        if self.cwnd < self.ssthresh {
            // RFC 5681, equation 2 (slow start). Vegas grows only in every other RTT.
            if !matches!(&self.growth, Growth::Vegas(vegas) if !vegas.doubles) {
                self.cwnd += acked.min(self.mss);
            }
            return;
        }
        match &mut self.growth {
            Growth::Reno => {}
            Growth::Cubic(cubic) => {
                self.cwnd = cubic.grown(self.now, self.rtt, acked, self.cwnd, self.mss);
                return;
            }
            Growth::Vegas(_) => return,
        }
        // RFC 5681, 3.1, recommended method of congestion avoidance: one segment per window of acknowledged bytes.
        self.counted += acked;
        if self.counted >= self.cwnd {
            self.counted -= self.cwnd;
            self.cwnd += self.mss;
        }
    }

    /// Handles a duplicate acknowledgement of `acknowledged`, with `flight` bytes in flight; `sent` is the end of the
    /// bytes sent so far.
    pub(crate) fn on_duplicate_ack(&mut self, acknowledged: u64, flight: u64, sent: u64) -> AckAction {
        if !self.fast_retransmit {
            return AckAction::default();
        }
        if self.recovering {
            // RFC 5681, 3.2, step 4: inflates the window, but not beyond the advertised window.
            if !self.selective && self.cwnd < self.ssthresh.max(self.limit) {
                self.cwnd += self.mss;
            }
            return AckAction::default();
        }
        self.duplicates = self.duplicates.saturating_add(1);
        // RFC 6582, 3.2, step 2: duplicate acknowledgements of bytes sent before the last loss indicate no new loss.
        let old_news = self.repairs_holes() && acknowledged < self.recover;
        if self.duplicates != self.threshold || old_news {
            return AckAction::default();
        }
        self.recover = sent;
        if self.control != CongestionControl::Fixed {
            // RFC 5681, 3.2, steps 2 and 3: fast retransmit.
            self.note_loss(false);
            self.ssthresh = self.half(flight);
            // RFC 6675, 5, step 4.2: with SACK the window is not inflated.
            let inflation = if self.selective { 0 } else { u64::from(self.threshold) * self.mss };
            self.cwnd = self.ssthresh + inflation;
            (self.recovering, self.partial) = (true, false);
            self.reduced = sent;
        }
        AckAction { retransmit: true, keep_timer: false }
    }

    /// Returns whether fast recovery is active.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Handles the loss of the first unacknowledged segment by the rules of the scoreboard (RFC 6675, 5, step 2),
    /// like the duplicate acknowledgement that reaches the threshold.
    pub(crate) fn on_lost(&mut self, acknowledged: u64, flight: u64, sent: u64) -> AckAction {
        self.duplicates = self.threshold - 1;
        self.on_duplicate_ack(acknowledged, flight, sent)
    }

    /// Handles the trimming of the first unacknowledged segment: it is retransmitted at once, each time it is
    /// trimmed. Outside fast recovery the trimming also counts as a loss.
    pub(crate) fn on_cut(&mut self, acknowledged: u64, flight: u64, sent: u64) -> AckAction {
        if !self.fast_retransmit {
            return AckAction::default();
        }
        if self.recovering {
            return AckAction { retransmit: true, keep_timer: false };
        }
        self.duplicates = self.threshold.saturating_sub(1);
        let verdict = self.on_duplicate_ack(acknowledged, flight, sent);
        AckAction { retransmit: true, ..verdict }
    }

    /// Handles a retransmission timeout with `flight` bytes in flight; `sent` is the end of the bytes sent so far.
    pub(crate) fn on_timeout(&mut self, flight: u64, sent: u64) {
        self.duplicates = 0;
        self.recovering = false;
        self.counted = 0;
        // RFC 6582, 4: timeouts set `recover`.
        self.recover = sent;
        self.reduced = sent;
        if self.control == CongestionControl::Fixed {
            return;
        }
        // RFC 5681, 3.1: a repeated timeout of the same segment keeps ssthresh.
        if !self.timed_out {
            self.note_loss(true);
            self.ssthresh = self.half(flight);
        }
        self.timed_out = true;
        // Loss window (RFC 5681, 3.1): one segment.
        self.cwnd = self.mss;
    }

    /// Returns whether an ECN mark echoed in an acknowledgement of `acknowledged` may reduce the window: at most once
    /// per window of data (RFC 3168, 6.1.2; RFC 8257, 3.3), and not in fast recovery.
    pub(crate) fn may_reduce(&self, acknowledged: u64) -> bool {
        self.control != CongestionControl::Fixed && !self.recovering && acknowledged >= self.reduced
    }

    /// Halves the window, to at least two segments; `sent` is the end of the bytes sent so far. Returns false if the
    /// window was not larger than two segments.
    pub(crate) fn halve(&mut self, sent: u64) -> bool {
        let larger = self.cwnd > 2 * self.mss;
        if larger {
            self.reduce(self.cwnd / 2, sent);
        }
        larger
    }

    /// Reduces the window to `cwnd`, at least two segments, because of ECN marks, pauses or bounces; `sent` is the
    /// end of the bytes sent so far.
    pub(crate) fn reduce(&mut self, cwnd: u64, sent: u64) {
        self.note_loss(false);
        self.cwnd = cwnd.max(2 * self.mss);
        self.ssthresh = self.cwnd;
        self.counted = 0;
        self.reduced = sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::InitialWindow;

    const MSS: u64 = 1000;

    fn window(control: CongestionControl, ssthresh: Option<u64>) -> Window {
        Window::new(&TcpParameters {
            mss_bytes: MSS as u16,
            initial_window: InitialWindow::Bytes(MSS),
            initial_ssthresh_bytes: ssthresh,
            congestion_control: control,
            ..TcpParameters::default()
        })
    }

    #[test]
    fn slow_start_doubles_and_congestion_avoidance_adds_one_segment_a_round() {
        let mut w = window(CongestionControl::Reno, Some(16 * MSS));
        for round in 0..4 {
            assert_eq!(w.cwnd, MSS << round);
            (0..w.cwnd / MSS).for_each(|_| _ = w.on_new_ack(MSS, 0, 0, true));
        }
        for round in 0..20 {
            assert_eq!(w.cwnd, (16 + round) * MSS);
            (0..w.cwnd / MSS).for_each(|_| _ = w.on_new_ack(MSS, 0, 0, true));
        }
        // In congestion avoidance, delayed acknowledgements of two segments increase the window equally fast.
        w.cwnd = 20 * MSS;
        w.counted = 0;
        (0..10).for_each(|_| _ = w.on_new_ack(2 * MSS, 0, 0, true));
        assert_eq!(w.cwnd, 21 * MSS);
    }

    #[test]
    fn initial_windows_of_the_standards() {
        let table = [(536, 2144, 5360), (1460, 4380, 14_600), (2190, 6570, 14_600), (8960, 17_920, 17_920)];
        for (mss, rfc5681, rfc6928) in table {
            assert_eq!(InitialWindow::Rfc5681.bytes(mss), rfc5681);
            assert_eq!(InitialWindow::Rfc6928.bytes(mss), rfc6928);
        }
    }

    #[test]
    fn reno_recovers_on_the_first_new_acknowledgement() {
        let mut w = window(CongestionControl::Reno, None);
        w.cwnd = 20 * MSS;
        let flight = 20 * MSS;
        assert!(!w.on_duplicate_ack(0, flight, flight).retransmit);
        assert!(!w.on_duplicate_ack(0, flight, flight).retransmit);
        assert!(w.on_duplicate_ack(0, flight, flight).retransmit);
        assert_eq!((w.ssthresh, w.cwnd), (10 * MSS, 13 * MSS));
        (0..5).for_each(|_| assert!(!w.on_duplicate_ack(0, flight, flight).retransmit));
        assert_eq!(w.cwnd, 18 * MSS);
        assert_eq!(w.on_new_ack(5 * MSS, 5 * MSS, 15 * MSS, true), AckAction::default());
        assert_eq!(w.cwnd, 10 * MSS);
    }

    #[test]
    fn newreno_repairs_a_hole_per_partial_acknowledgement() {
        let mut w = window(CongestionControl::NewReno, None);
        w.cwnd = 20 * MSS;
        let sent = 20 * MSS;
        (0..3).for_each(|_| _ = w.on_duplicate_ack(0, sent, sent));
        assert_eq!(w.cwnd, 13 * MSS);
        let first = w.on_new_ack(4 * MSS, 4 * MSS, 16 * MSS, true);
        assert_eq!(first, AckAction { retransmit: true, keep_timer: false });
        assert_eq!(w.cwnd, 10 * MSS);
        let second = w.on_new_ack(MSS, 5 * MSS, 15 * MSS, true);
        assert_eq!(second, AckAction { retransmit: true, keep_timer: true });
        assert_eq!(w.cwnd, 10 * MSS);
        assert_eq!(w.on_new_ack(15 * MSS, sent, 6 * MSS, true), AckAction::default());
        assert_eq!(w.cwnd, 7 * MSS);
        // RFC 6582, 3.2, step 2: duplicate acknowledgements of bytes below `recover` do not start a second fast
        // recovery.
        w.recover = 30 * MSS;
        (0..5).for_each(|_| assert!(!w.on_duplicate_ack(sent, 6 * MSS, 30 * MSS).retransmit));
    }

    #[test]
    fn timeouts_halve_once_and_restart_from_one_segment() {
        let mut w = window(CongestionControl::NewReno, None);
        w.cwnd = 40 * MSS;
        w.on_timeout(40 * MSS, 40 * MSS);
        assert_eq!((w.ssthresh, w.cwnd), (20 * MSS, MSS));
        w.on_timeout(MSS, 40 * MSS);
        assert_eq!((w.ssthresh, w.cwnd), (20 * MSS, MSS));
        w.on_new_ack(MSS, MSS, 0, true);
        w.on_timeout(2 * MSS, 40 * MSS);
        assert_eq!(w.ssthresh, 2 * MSS);
    }

    /// RFC 6582, 4: duplicate acknowledgements caused by the retransmissions after a timeout indicate no loss in
    /// NewReno, but do in Reno.
    #[test]
    fn newreno_ignores_duplicates_from_before_a_timeout() {
        for (control, retransmits) in [(CongestionControl::NewReno, false), (CongestionControl::Reno, true)] {
            let mut w = window(control, None);
            w.on_timeout(30 * MSS, 30 * MSS);
            w.on_new_ack(MSS, MSS, 29 * MSS, true);
            let verdicts = [(); 3].map(|()| w.on_duplicate_ack(MSS, 29 * MSS, 30 * MSS).retransmit);
            assert_eq!(verdicts, [false, false, retransmits]);
        }
    }

    /// After every kind of reduction, CUBIC grows from the reduced window: after a halving (`on_pause`, `on_bounce`),
    /// after an ECN mark, and after DCTCP's reduction. All of them call [`Window::reduce`].
    #[test]
    fn cubic_does_not_undo_a_reduction() {
        let reductions: [fn(&mut Window); 3] = [
            |w| _ = w.halve(200 * MSS),
            |w| {
                let left = w.after_mark();
                w.reduce(left, 200 * MSS);
            },
            |w| w.reduce(w.cwnd * 9 / 10, 200 * MSS),
        ];
        for reduce in reductions {
            let mut w = window(CongestionControl::Cubic, Some(100 * MSS));
            w.cwnd = 100 * MSS;
            let (mut now, rtt) = (Time::ZERO, Time::from_us(100));
            for ack in 0..2000 {
                now += Time::from_us(1);
                w.at(now, Some(rtt));
                w.on_new_ack(MSS, ack * MSS, 100 * MSS, true);
            }
            let before = w.cwnd;
            reduce(&mut w);
            let reduced = w.cwnd;
            assert!(reduced < before);
            for ack in 2000..2000 + reduced / MSS {
                now += Time::from_us(1);
                w.at(now, Some(rtt));
                w.on_new_ack(MSS, ack * MSS, 50 * MSS, true);
            }
            assert!(w.cwnd <= reduced + 2 * MSS, "{before} -> {reduced} -> {} within a round trip", w.cwnd);
        }
    }

    #[test]
    fn a_fixed_window_only_grows() {
        let mut w = window(CongestionControl::Fixed, None);
        for i in 0..2000 {
            w.on_new_ack(MSS, i * MSS, 0, true);
            assert!(!w.may_reduce(i * MSS));
        }
        let full = w.cwnd;
        assert!(((1 << 20)..(1 << 20) + MSS).contains(&full));
        w.on_timeout(full, full);
        (0..5).for_each(|_| _ = w.on_duplicate_ack(0, full, full));
        assert_eq!(w.cwnd, full);
    }
}
