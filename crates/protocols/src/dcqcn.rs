//! DCQCN (Zhu et al., SIGCOMM 2015): each CNP reduces a RoCE sender's rate by the fraction alpha / 2, where alpha
//! estimates how often CNPs arrive. The rate recovers as in QCN ([`crate::rate_recovery`]).
//!
//! There are no timer events: the decay of alpha and the recovery stages since the last read are computed when the rate
//! is read.

use crate::control_state::ControlState;
use crate::frame::Frame;
use crate::parameters::parameters;
use crate::rate_control::{ControlSettings, FlowLimits, RateController, SwitchSupport};
use crate::rate_recovery::{RateRecovery, RecoveryParameters};
use crate::settings::{ParameterError, require};
use units::{Rate, Time};

/// Definition of the samples whose exponentially weighted moving average is alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaSample {
    /// Each rate cut raises alpha, each period of `alpha_timer` without a CNP decays it (DCQCN, eq. 1 and 2).
    Cut,
    /// One sample per period of `alpha_timer`: 1 if a CNP arrived in the period, else 0 (HPCC's ns-3 fork).
    Timer,
}

parameters! {
    /// The parameters that DCQCN adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DcqcnParameters: Transport "dcqcn" {
        title: "RoCE whose rate follows ECN marks";
        source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015";
        over: crate::roce::connection::MECHANISM,
            default [("ecn", "true", "InfiniBand specification, annex A17.9")];
        /// Weight of a new sample in alpha (g).
        gain: f64 = "gain" share, default "0.00390625",
            "weight g of a new sample in alpha, 0 to 1",
            "DCQCN, sec. 5.2 and the parameters of its testbed: 1/256";
        /// Alpha before the first CNP.
        initial_alpha: f64 = "initial_alpha" share, default "1",
            "alpha before the first notification, 0 to 1: with 1 the first cut halves the rate",
            "DCQCN, sec. 3.1";
        /// Time without a CNP after which alpha decays once (K).
        alpha_timer: Time = "alpha_timer" time, default "55us",
            "time K without a notification after which alpha decays by 1 - g, again and again",
            "DCQCN, sec. 3.1 and the parameters of its testbed; HPCC's ns-3 fork: AlphaResumInterval (1us in run.py)";
        /// Definition of the samples of alpha.
        alpha_sample: AlphaSample = "alpha_sample"
            word["cut" = AlphaSample::Cut, "timer" = AlphaSample::Timer],
            default "cut",
            "samples of the average alpha: cut, each cut raises it and each alpha_timer without a notification lowers \
             it; timer, one sample per alpha_timer, raised by a notification in it",
            "DCQCN, eq. 1 and 2 (cut); HPCC's ns-3 fork (timer)";
        /// Minimum time between two rate cuts; a CNP before its end does not cut the rate.
        decrease_interval: Time = "decrease_interval" time, default "4us",
            "a notification sooner than this after a cut only keeps alpha from decaying; 0us: each one cuts",
            "HPCC's ns-3 fork: RateDecreaseInterval; notifications of the paper's receivers are further apart";
        /// Minimum time between two CNPs of a receiver for one flow (N).
        cnp_interval: Time = "cnp_interval" time, default "50us",
            "least time N between a receiver's notifications for one flow",
            "DCQCN, sec. 3.1 and the parameters of its testbed";
        /// Frame length of a CNP in bytes.
        cnp_bytes: u16 = "cnp" frame_bytes, default "78B",
            "length of a notification: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, reserved 16, ICRC 4",
            "InfiniBand specification, annex A17.9";
        /// Whether each cut sets the target rate to the rate before the cut.
        clamp_target: bool = "clamp_target" switch, default "true",
            "every cut sets the target to the rate before it; false: only if a stage has passed since the last cut",
            "DCQCN, eq. 1 (true); HPCC's ns-3 fork: ClampTargetRate (false)";
    }
    /// Parameters of the rate recovery.
    group recovery: RecoveryParameters {
        hyper_by_stage: false, half_after_recovery: false, additive_after: 0, hyper_after: 1, increase_before_cut: true,
    } {
        byte_counter_bytes = "byte_counter" bytes, default "10MB",
            "bytes sent (frames without preamble and gap) per stage of the byte counter; 0B disables it",
            "DCQCN, parameters of its testbed (B)";
        timer = "increase_timer" time, default "55us",
            "length of a stage of the timer; 0us disables it",
            "DCQCN, parameters of its testbed (T); HPCC's ns-3 fork: RPTimer (300us in run.py, 1500us in code)";
        stages = "recovery_stages" count, default "5",
            "stages F of fast recovery",
            "DCQCN, sec. 3.1; IEEE 802.1Qau (rpgThreshold)";
        additive_increase = "additive_increase" rate, default "40Mbps",
            "step R_AI of the target after fast recovery",
            "DCQCN, parameters of its testbed; HPCC's ns-3 fork: 5 Mbps per 25 Gbps of line rate in run.py";
        hyper_increase = "hyper_increase" rate, default "400Mbps",
            "step R_HAI of the target when all enabled counters are past fast recovery",
            "no value in the paper; ten times R_AI, the ratio in HPCC's run.py and in QCN";
        min_rate = "min_rate" rate, default "100Mbps",
            "lower bound of the rate",
            "HPCC's ns-3 fork: MinRate (1 Gbps in run.py)";
    }
}

impl ControlSettings for DcqcnParameters {
    const NEEDS: SwitchSupport = SwitchSupport::Marks;

    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        require((0.0..=1.0).contains(&self.gain), "gain", "a weight from 0 to 1")?;
        require((0.0..=1.0).contains(&self.initial_alpha), "initial_alpha", "a share from 0 to 1")?;
        require(self.alpha_timer > Time::ZERO, "alpha_timer", "alpha decays after a time, at least 1ps")?;
        let climbs = self.recovery.timer > Time::ZERO || self.recovery.byte_counter_bytes > 0;
        require(climbs, "increase_timer", "without timer and byte counter a rate never recovers")
    }

    fn largest_frame_bytes(&self) -> u16 {
        self.cnp_bytes
    }
}

/// Rate control of one flow at its sender (reaction point).
#[derive(Clone, Debug)]
pub struct Dcqcn {
    recovery: RateRecovery,
    /// Alpha after the last CNP ([`AlphaSample::Cut`]) or the last sample ([`AlphaSample::Timer`]), and the time of
    /// that update.
    alpha: f64,
    alpha_at: Time,
    /// Whether a CNP has arrived since the last timer sample.
    notified: bool,
    /// Time of the last rate cut.
    cut_at: Time,
}

/// Returns `base` to the power of `exponent` by repeated squaring: only multiplications, so that results are equal on
/// every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

impl Dcqcn {
    /// Number of whole periods of `alpha_timer` since `alpha_at`.
    fn periods(&self, parameters: &DcqcnParameters, now: Time) -> u64 {
        now.saturating_sub(self.alpha_at).as_ps() / parameters.alpha_timer.as_ps().max(1)
    }

    /// Alpha at `now`: its value after the last CNP, decayed once per whole `alpha_timer` since then (DCQCN, eq. 2).
    fn alpha(&self, parameters: &DcqcnParameters, now: Time) -> f64 {
        self.alpha * power(1.0 - parameters.gain, self.periods(parameters, now))
    }

    /// Adds the timer samples of all periods that have ended by `now`, when a CNP arrives. The first CNP starts the
    /// timer.
    fn sample(&mut self, parameters: &DcqcnParameters, now: Time) {
        if self.alpha_at == Time::MAX {
            self.alpha_at = now;
            return;
        }
        let periods = self.periods(parameters, now);
        if periods > 0 {
            // All CNPs since the last sample arrived in the first of these periods; no CNP arrived in the later ones.
            let first = if self.notified { parameters.gain } else { 0.0 };
            self.alpha = (1.0 - parameters.gain) * self.alpha + first;
            self.alpha *= power(1.0 - parameters.gain, periods - 1);
            self.alpha_at += Time::from_ps(periods * parameters.alpha_timer.as_ps());
            self.notified = false;
        }
        self.notified = true;
    }
}

impl RateController for Dcqcn {
    type Parameters = DcqcnParameters;

    /// Creates the state of a flow that sends at its maximum rate; the rate limiter is inactive until the first CNP.
    fn new(parameters: &DcqcnParameters, limits: FlowLimits) -> Self {
        Dcqcn {
            recovery: RateRecovery::new(limits.most),
            alpha: parameters.initial_alpha,
            alpha_at: Time::MAX,
            notified: false,
            cut_at: Time::MAX,
        }
    }

    fn most(&self) -> Rate {
        self.recovery.most()
    }

    #[inline]
    fn rate(&mut self, parameters: &DcqcnParameters, now: Time) -> Rate {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.current()
    }

    #[inline]
    fn next_change(&self) -> Time {
        self.recovery.next_change()
    }

    #[inline]
    fn on_sent(&mut self, parameters: &DcqcnParameters, now: Time, bytes: u64) {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.on_sent(&parameters.recovery, bytes);
    }

    fn control_state(&mut self, parameters: &DcqcnParameters, now: Time) -> ControlState {
        let rate = self.rate(parameters, now);
        let alpha = match parameters.alpha_sample {
            AlphaSample::Timer if self.alpha_at != Time::MAX => {
                self.sample(parameters, now);
                self.alpha
            }
            AlphaSample::Timer => self.alpha,
            AlphaSample::Cut => self.alpha(parameters, now),
        };
        let target = Some(self.recovery.target());
        ControlState { rate: Some(rate), target, alpha: Some(alpha), ..ControlState::default() }
    }

    fn on_cnp(&mut self, parameters: &DcqcnParameters, now: Time, _frame: &Frame) {
        self.recovery.advance(&parameters.recovery, now);
        let cuts = self.cut_at == Time::MAX || now.saturating_sub(self.cut_at) >= parameters.decrease_interval;
        match parameters.alpha_sample {
            AlphaSample::Timer => self.sample(parameters, now),
            AlphaSample::Cut => {
                self.alpha = self.alpha(parameters, now);
                self.alpha_at = now;
            }
        }
        if !cuts {
            return;
        }
        // DCQCN, eq. 1: the cut uses alpha before its update; the updated alpha applies to the next cut.
        self.recovery.cut(&parameters.recovery, now, 1.0 - self.alpha / 2.0, !parameters.clamp_target);
        if parameters.alpha_sample == AlphaSample::Cut {
            self.alpha = (1.0 - parameters.gain) * self.alpha + parameters.gain;
        }
        self.cut_at = now;
    }

    fn halve(&mut self, parameters: &DcqcnParameters, now: Time) -> bool {
        self.recovery.advance(&parameters.recovery, now);
        if self.recovery.current() <= parameters.recovery.min_rate {
            return false;
        }
        self.recovery.cut(&parameters.recovery, now, 0.5, !parameters.clamp_target);
        // Alpha estimates ECN marks only, so a returned frame does not change it. `cut_at` prevents another cut by a
        // CNP within the decrease interval.
        self.cut_at = now;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow_at(parameters: &DcqcnParameters, line: Rate) -> Dcqcn {
        Dcqcn::new(
            parameters,
            FlowLimits { most: line, line, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
        )
    }

    #[test]
    fn a_notification_cuts_by_half_of_alpha() {
        let p = DcqcnParameters { initial_alpha: 0.5, ..DcqcnParameters::default() };
        let mut flow = flow_at(&p, Rate::from_gbps(40));
        flow.on_cnp(&p, Time::from_us(1), &Frame::default());
        assert_eq!(flow.rate(&p, Time::from_us(1)), Rate::from_gbps(30));
        // A second CNP within the decrease interval of 4 us does not cut.
        flow.on_cnp(&p, Time::from_us(4), &Frame::default());
        assert_eq!(flow.rate(&p, Time::from_us(4)), Rate::from_gbps(30));
        flow.on_cnp(&p, Time::from_us(5), &Frame::default());
        let alpha: f64 = 0.5 * 255.0 / 256.0 + 1.0 / 256.0;
        assert_eq!(flow.rate(&p, Time::from_us(5)).as_bps(), (30e9 * (1.0 - alpha / 2.0)) as u64);
    }

    #[test]
    fn alpha_decays_once_per_period_without_notification() {
        let p = DcqcnParameters::default();
        let mut flow = flow_at(&p, Rate::from_gbps(40));
        flow.on_cnp(&p, Time::ZERO, &Frame::default());
        let g = 1.0 / 256.0;
        let mut alpha = 1.0;
        for period in 0..1000 {
            let now = Time::from_us(55 * period + 54);
            assert!((flow.alpha(&p, now) - alpha).abs() < 1e-12);
            alpha *= 1.0 - g;
        }
        assert_eq!(flow.next_change(), Time::from_us(55));
    }

    #[test]
    fn notifications_that_do_not_cut_restart_the_decay() {
        let p = DcqcnParameters { alpha_timer: Time::from_us(2), ..DcqcnParameters::default() };
        let mut flow = flow_at(&p, Rate::from_gbps(40));
        flow.on_cnp(&p, Time::ZERO, &Frame::default());
        let decay = 1.0 - 1.0 / 256.0;
        // `alpha_timer` is 2 us and each CNP restarts it: one decay at 2 us, no further one up to 4.9 us, a second one
        // at 5 us.
        flow.on_cnp(&p, Time::from_us(2), &Frame::default());
        assert_eq!(flow.alpha(&p, Time::from_us(2)), decay);
        flow.on_cnp(&p, Time::from_us(3), &Frame::default());
        assert_eq!(flow.alpha(&p, Time::from_ns(4900)), decay);
        assert_eq!(flow.alpha(&p, Time::from_us(5)), decay * decay);
        assert_eq!(flow.rate(&p, Time::from_us(5)), Rate::from_gbps(20));
    }

    /// Compares alpha, which covers all timer periods between two CNPs in one calculation, with a loop over the
    /// periods.
    // [DCQCN5]
    #[test]
    fn samples_of_the_timer_are_those_of_each_period() {
        let p = DcqcnParameters {
            alpha_timer: Time::from_us(1),
            alpha_sample: AlphaSample::Timer,
            initial_alpha: 0.5,
            ..DcqcnParameters::default()
        };
        let mut flow = flow_at(&p, Rate::from_gbps(40));
        let mut stream = units::random::Stream::new(7, 1, 1);
        let first_ns = 1234;
        flow.on_cnp(&p, Time::from_ns(first_ns), &Frame::default());
        let (mut now_ns, mut alpha, mut notified, mut period_end_ns) = (first_ns, 0.5_f64, false, first_ns + 1000);
        for _ in 0..5000 {
            now_ns += stream.next_u64() % 3000;
            while period_end_ns <= now_ns {
                alpha = (1.0 - p.gain) * alpha + if notified { p.gain } else { 0.0 };
                (notified, period_end_ns) = (false, period_end_ns + 1000);
            }
            notified = true;
            flow.on_cnp(&p, Time::from_ns(now_ns), &Frame::default());
            assert!((flow.alpha - alpha).abs() < 1e-12, "{} {alpha}", flow.alpha);
        }
        // Alpha stays below 1, because several CNPs in one period count as one sample.
        assert!(alpha > 0.5 && alpha < 1.0, "{alpha}");
    }

    /// If not every CNP cuts the rate, [`AlphaSample::Cut`] counts fewer CNPs than [`AlphaSample::Timer`].
    #[test]
    fn cuts_sample_fewer_notifications_than_the_timer() {
        let of = |alpha_sample| {
            let p = DcqcnParameters {
                alpha_timer: Time::from_us(1),
                alpha_sample,
                cnp_interval: Time::ZERO,
                ..DcqcnParameters::default()
            };
            let mut flow = flow_at(&p, Rate::from_gbps(100));
            // Pairs of CNPs 1 us apart, every 12 us: the second CNP of each pair is within the decrease interval of 4
            // us.
            for pair in 0..2000 {
                flow.on_cnp(&p, Time::from_us(12 * pair), &Frame::default());
                flow.on_cnp(&p, Time::from_us(12 * pair + 1), &Frame::default());
            }
            flow.alpha
        };
        let (cut, timer) = (of(AlphaSample::Cut), of(AlphaSample::Timer));
        assert!((timer - 2.0 / 12.0).abs() < 0.01, "two of twelve periods: {timer}");
        assert!(cut < 0.6 * timer, "one raise for both: {cut}");
    }

    /// With a CNP every N = 50 us, less than K = 55 us, alpha converges to 1. Without CNPs for 100 ms it decays to
    /// almost 0, so that the next cut is small.
    #[test]
    fn a_rare_notification_costs_little() {
        let p = DcqcnParameters::default();
        let mut flow = flow_at(&p, Rate::from_gbps(40));
        flow.on_cnp(&p, Time::ZERO, &Frame::default());
        let late = Time::from_ms(100);
        flow.on_cnp(&p, late, &Frame::default());
        let rate = flow.rate(&p, late).as_bps();
        assert!(rate > 39_900_000_000 && rate < 40_000_000_000, "{rate}");
        for i in 1..3000 {
            flow.on_cnp(&p, late + Time::from_us(50 * i), &Frame::default());
        }
        assert!(flow.alpha > 0.999);
        assert_eq!(flow.rate(&p, late + Time::from_us(50 * 2999)), p.recovery.min_rate);
    }
}
