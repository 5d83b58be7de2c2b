//! Window growth of CUBIC (RFC 9438): the window is a function of the time since the last loss, independent of the
//! RTT.

use units::Time;

/// State of CUBIC, with windows in segments as in the RFC.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    /// C, in segments per second cubed, and beta, the multiplicative decrease factor: the fraction of the window that
    /// remains after a loss.
    scale: f64,
    beta: f64,
    /// Window before the last loss, reduced by fast convergence (W_max).
    w_max: f64,
    /// Window before the last loss (cwnd_prior).
    prior: f64,
    /// Start of the current congestion avoidance stage, and the time in seconds from it to the plateau (K).
    epoch: Option<(Time, f64)>,
    /// Estimate of Reno's window (W_est).
    reno: f64,
    /// Fractional part of the window below one byte, in segments.
    rest: f64,
    after_timeout: bool,
}

impl Cubic {
    pub fn new(scale: f64, beta: f64) -> Self {
        Cubic { scale, beta, w_max: 0.0, prior: 0.0, epoch: None, reno: 0.0, rest: 0.0, after_timeout: false }
    }

    /// Returns the window in bytes after a loss, from the window of `bytes` before it.
    pub fn cut(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.beta).round() as u64
    }

    /// Records the reduction of a window of `cwnd` bytes after a loss (sections 4.6 to 4.8).
    pub fn on_loss(&mut self, cwnd: u64, mss: u64, timeout: bool) {
        let cwnd = cwnd as f64 / mss as f64;
        // Fast convergence: a flow whose window shrinks releases bandwidth for new flows.
        let converging = cwnd < self.w_max;
        self.w_max = if converging { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        (self.prior, self.epoch, self.rest, self.after_timeout) = (cwnd, None, 0.0, timeout);
    }

    /// Handles the end of an idle time, which does not count as time since the epoch (RFC 9438, 4.2 and 5.8). If the
    /// window `restarts` from the initial window, a new epoch starts after slow start.
    pub fn on_idle_end(&mut self, idle: Time, restarts: bool) {
        if restarts {
            (self.epoch, self.rest) = (None, 0.0);
        } else if let Some((epoch, _)) = &mut self.epoch {
            *epoch = epoch.saturating_add(idle);
        }
    }

    /// Returns the window in bytes after an acknowledgement of `acked` bytes at `now`, in congestion avoidance; `rtt`
    /// is the smoothed RTT.
    pub fn grown(&mut self, now: Time, rtt: Time, acked: u64, cwnd: u64, mss: u64) -> u64 {
        let Cubic { scale, beta, .. } = *self;
        let window = cwnd as f64 / mss as f64 + self.rest;
        let (epoch, plateau) = *self.epoch.get_or_insert_with(|| {
            // Section 4.8: after a timeout, or before the first loss (W_max is below the window), the curve starts at
            // its plateau.
            if std::mem::take(&mut self.after_timeout) || self.w_max < window {
                self.w_max = window;
            }
            self.reno = window;
            (now, libm::cbrt((self.w_max - window) / scale))
        });
        let curve = |since: Time| {
            let seconds = since.as_ps() as f64 * 1e-12 - plateau;
            scale * seconds * seconds * seconds + self.w_max
        };
        let since = now.saturating_sub(epoch);
        // Section 4.3: Reno's growth with this beta up to cwnd_prior, then that of standard Reno (one segment per
        // RTT).
        let alpha = if self.reno < self.prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        self.reno += alpha * (acked as f64 / mss as f64) / window;
        let next = if curve(since) < self.reno {
            self.reno.max(window)
        } else {
            let target = curve(since.saturating_add(rtt)).clamp(window, 1.5 * window);
            window + (target - window) / window
        };
        let bytes = (next * mss as f64) as u64;
        self.rest = (next - bytes as f64 / mss as f64).max(0.0);
        bytes.max(cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Returns the windows in segments after each RTT, after a loss with a window of `from` segments.
    fn rounds(from: u64, rtt: Time, count: u32) -> Vec<f64> {
        let mut cubic = Cubic::new(0.4, 0.7);
        cubic.on_loss(from * MSS, MSS, false);
        let mut cwnd = cubic.cut(from * MSS);
        let mut now = Time::ZERO;
        let mut seen = Vec::new();
        for _ in 0..count {
            let acks = cwnd / MSS;
            for ack in 0..acks {
                cwnd = cubic.grown(now + rtt * ack / acks, rtt, MSS, cwnd, MSS);
            }
            now += rtt;
            seen.push(cwnd as f64 / MSS as f64);
        }
        seen
    }

    /// W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) / C): K = 10.6 s for W_max = 1600 segments.
    #[test]
    fn the_window_follows_the_cubic() {
        let (rtt, lost) = (Time::from_ms(100), 1600.0);
        let plateau = libm::cbrt(lost * 0.3 / 0.4);
        assert!((plateau - 10.627).abs() < 0.001, "{plateau}");
        for (round, window) in rounds(1600, rtt, 212).into_iter().enumerate() {
            let seconds = (round + 1) as f64 * 0.1;
            let exact = 0.4 * libm::pow(seconds - plateau, 3.0) + lost;
            assert!((window / exact - 1.0).abs() < 0.01, "{seconds} s: {window} for {exact}");
        }
    }

    /// With a short RTT, Reno with the same beta grows faster than the cubic: by 3 (1 - beta) / (1 + beta) = 9 / 17
    /// segments per RTT up to cwnd_prior, then by one segment per RTT.
    #[test]
    fn over_short_round_trips_it_grows_as_reno_would() {
        let seen = rounds(100, Time::from_us(100), 100);
        let slow = (seen[40] - seen[0]) / 40.0;
        assert!((slow - 9.0 / 17.0).abs() < 0.01, "{slow}");
        let fast = seen[99] - seen[79];
        assert!((fast - 20.0).abs() < 0.5, "{fast}");
    }

    #[test]
    fn who_had_less_than_before_aims_lower() {
        let mut cubic = Cubic::new(0.4, 0.7);
        cubic.on_loss(100 * MSS, MSS, false);
        assert_eq!(cubic.w_max, 100.0);
        cubic.on_loss(80 * MSS, MSS, false);
        assert!((cubic.w_max - 68.0).abs() < 1e-9, "80 x 1.7 / 2: {}", cubic.w_max);
        cubic.on_loss(90 * MSS, MSS, false);
        assert_eq!(cubic.w_max, 90.0);
        assert_eq!(cubic.cut(90 * MSS), 63 * MSS);
    }

    /// RFC 9438, 4.2 and 5.8: with an idle time the window follows the same curve as without. After a restart, the
    /// window has no discontinuity at the end of slow start.
    #[test]
    fn idle_time_is_no_part_of_the_curve() {
        let rtt = Time::from_ms(1);
        let after = |idle: Time, restarts: bool| {
            let mut cubic = Cubic::new(0.4, 0.7);
            cubic.on_loss(1000 * MSS, MSS, false);
            let mut cwnd = cubic.cut(1000 * MSS);
            (0..700).for_each(|ack| cwnd = cubic.grown(rtt * ack / 700, rtt, MSS, cwnd, MSS));
            let start = rtt.saturating_add(idle);
            cubic.on_idle_end(idle, restarts);
            (0..700).for_each(|ack| cwnd = cubic.grown(start + rtt * ack / 700, rtt, MSS, cwnd, MSS));
            cwnd
        };
        let busy = after(Time::ZERO, false);
        assert_eq!(after(Time::from_s(30), false), busy);
        assert!(after(Time::from_s(30), true).abs_diff(busy) <= MSS);
    }

    /// After a timeout the curve starts at its plateau, so that the window does not return to W_max at once.
    #[test]
    fn after_a_timeout_the_curve_begins_where_the_window_is() {
        let mut cubic = Cubic::new(0.4, 0.7);
        cubic.on_loss(1000 * MSS, MSS, true);
        let rtt = Time::from_ms(100);
        let grown = cubic.grown(Time::from_s(1), rtt, MSS, 500 * MSS, MSS);
        assert_eq!(cubic.epoch.map(|epoch| epoch.1), Some(0.0));
        assert!(grown < 501 * MSS, "{grown}");
    }
}
