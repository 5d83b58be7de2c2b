//! DCQCN averaged over cycles, a cycle being the time from one rate cut to the next. The papers' fluid model does not
//! represent these cycles.
//!
//! Notation of the module [`super`]: tau is the minimum time between CNPs, tau' the interval of the alpha timer, T and
//! B the stage lengths of the increase timer and the byte counter, F the number of stages of fast recovery, R_AI the
//! additive increase, g and a the gain and value of alpha, p the marking probability. R is the mean rate (in packets/s
//! for m), R^ the rate before a cut; a cut reduces it by the share a / 2.
//!
//! A receiver sends a CNP for the first ECN-marked packet that arrives tau or more after the previous CNP. Marked
//! packets arrive at rate m = -R ln(1 - p). The cycles, each from one rate cut to the next, form a renewal process: the
//! length C of a cycle is tau plus an exponentially distributed time with mean 1 / m. During a cycle each recovery
//! stage halves the remaining part of the cut. In the papers' equations (d) and (e) any mark ends a recovery stage, and
//! cuts and stages occur in any order, so that a late stage of a cycle recovers as much as the first. In this module:
//!
//! ```text
//!  P(C >= t)    = 1 for t <= tau, else e^(-m (t - tau))
//!  S            = E[C] = tau + 1/m            mean length of a cycle
//!  stages(L, F) = sum over k > F of P(C >= k L)
//!                                             mean number of stages of length L per cycle, beyond the first F
//!  left(L)      = E[2^-floor(C / L)] = 1 - sum over k >= 1 of 2^-k P(C >= k L)
//!                                             mean remaining part of a cut at the end of the cycle
//!  R^'          = (R_AI (stages(T, F) + stages(B / R, F)) - R^ a / 2 * left(T) left(B / R)) / S
//!  a'           = g (1 - a - a stages(tau', 0)) / S
//!  mean_left    = E[integral of 2^-floor(t / T) over t from 0 to C] / S
//!                                             remaining part of a cut, averaged over time
//!  R'           = (R^ (1 - a / 2 * mean_left) - R) / T
//!                                             first-order lag with time constant T
//! ```
//!
//! This project derived these equations; they are compared with packet-level simulations.

use super::Parameters;

/// Lower bound of m, the arrival rate of ECN-marked packets, in packets/s; avoids division by zero.
const FEWEST: f64 = 1e-3;

/// Distribution of the cycle length C of a flow: `wait` is tau, `marks` is m, `length` is the mean S.
struct Cycle {
    wait: f64,
    marks: f64,
    length: f64,
}

impl Cycle {
    fn new(wait: f64, marks: f64) -> Cycle {
        let marks = marks.max(FEWEST);
        Cycle { wait, marks, length: wait + 1.0 / marks }
    }

    /// Returns P(C >= `time`), the probability that a cycle lasts at least `time`.
    fn lasts(&self, time: f64) -> f64 {
        if time <= self.wait { 1.0 } else { libm::exp(-self.marks * (time - self.wait)) }
    }

    /// Returns the number of stages of length `stage` that end within tau. Every cycle has at least these stages.
    fn sure(&self, stage: f64) -> f64 {
        libm::floor(self.wait / stage * (1.0 + 1e-12))
    }

    /// Returns stages(L, F) for L = `stage` and F = `beyond`: the mean number of stages per cycle, without the first
    /// F.
    fn stages(&self, stage: f64, beyond: f64) -> f64 {
        let (sure, again) = (self.sure(stage), libm::exp(-self.marks * stage));
        let first = sure.max(beyond);
        (sure - beyond).max(0.0) + self.lasts((first + 1.0) * stage) / (1.0 - again)
    }

    /// Returns left(L) for L = `stage`: the mean remaining part of a rate cut at the end of the cycle.
    fn left(&self, stage: f64) -> f64 {
        let (sure, again) = (self.sure(stage), libm::exp(-self.marks * stage));
        let half = libm::exp2(-sure - 1.0);
        2.0 * half - self.lasts((sure + 1.0) * stage) * half / (1.0 - again / 2.0)
    }

    /// Returns mean_left for stages of length `stage`: the remaining part of a rate cut, averaged over time.
    fn mean_left(&self, stage: f64) -> f64 {
        let (sure, again) = (self.sure(stage), libm::exp(-self.marks * stage));
        let next = self.lasts((sure + 1.0) * stage);
        // Integrals over the stages that end before tau, over the stage that contains tau, and over all later stages.
        let whole = 2.0 * stage * (1.0 - libm::exp2(-sure));
        let holding = libm::exp2(-sure) * (self.wait - sure * stage + (1.0 - next) / self.marks);
        let after = next * (1.0 - again) / self.marks * libm::exp2(-sure - 1.0) / (1.0 - again / 2.0);
        (whole + holding + after) / self.length
    }
}

/// Returns the time derivatives of rate R, rate before a cut R^ and alpha. `seen` is the rate one loop delay ago,
/// `mark` the ECN marking probability.
pub(super) fn control(p: &Parameters, [rate, before, alpha]: [f64; 3], seen: f64, mark: f64) -> [f64; 3] {
    let cycle = Cycle::new(p.cnp_interval, -seen / p.packet * libm::log1p(-mark));
    let (by_time, by_bytes) = (p.increase_timer, p.byte_counter / seen);
    let stages = cycle.stages(by_time, p.recovery_stages) + cycle.stages(by_bytes, p.recovery_stages);
    let left = cycle.left(by_time) * cycle.left(by_bytes);
    let mean = before * (1.0 - alpha / 2.0 * cycle.mean_left(by_time));
    [
        (mean - rate) / p.increase_timer,
        (p.additive_increase * stages - before * alpha / 2.0 * left) / cycle.length,
        p.gain * (1.0 - alpha - alpha * cycle.stages(p.alpha_timer, 0.0)) / cycle.length,
    ]
}

/// Returns rate, rate before a cut and alpha at the fixed point, for a given rate and ECN marking probability `mark`.
pub(super) fn at_rest(p: &Parameters, rate: f64, mark: f64) -> [f64; 3] {
    let cycle = Cycle::new(p.cnp_interval, -rate / p.packet * libm::log1p(-mark));
    let alpha = 1.0 / (1.0 + cycle.stages(p.alpha_timer, 0.0));
    [rate, rate / (1.0 - alpha / 2.0 * cycle.mean_left(p.increase_timer)), alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the closed forms of `stages`, `left` and `mean_left` with numerical sums.
    #[test]
    fn closed_forms_are_the_sums_that_they_stand_for() {
        for (wait, marks, stage) in
            [(50e-6, 2e4, 55e-6), (50e-6, 3e5, 12e-6), (50e-6, 500.0, 55e-6), (50e-6, 1e4, 25e-6)]
        {
            let cycle = Cycle::new(wait, marks);
            let steps = 2_000_000;
            let most = wait + 40.0 / marks;
            let (mut mean, mut length) = (0.0, 0.0);
            for step in 0..steps {
                let time = most * (f64::from(step) + 0.5) / f64::from(steps);
                let lasts = cycle.lasts(time) * most / f64::from(steps);
                mean += lasts * libm::exp2(-libm::floor(time / stage));
                length += lasts;
            }
            assert!((length / cycle.length - 1.0).abs() < 1e-5);
            assert!(
                (mean / length / cycle.mean_left(stage) - 1.0).abs() < 1e-4,
                "{} {}",
                mean / length,
                cycle.mean_left(stage)
            );
            let ends: Vec<f64> = (1..20_000).map(|k| cycle.lasts(f64::from(k) * stage)).collect();
            assert!((ends.iter().sum::<f64>() / cycle.stages(stage, 0.0) - 1.0).abs() < 1e-9);
            assert!((ends[5..].iter().sum::<f64>() / cycle.stages(stage, 5.0) - 1.0).abs() < 1e-9);
            let left = 1.0 - ends.iter().zip(1..).map(|(end, k)| end * libm::exp2(-f64::from(k))).sum::<f64>();
            assert!((left - cycle.left(stage)).abs() < 1e-12, "{left} {}", cycle.left(stage));
        }
    }

    #[test]
    fn without_marks_the_target_climbs_a_step_a_stage() {
        let parameters = super::super::tests::parameters();
        let [_, climbs, _] = control(&parameters, [20e9, 20e9, 0.0], 20e9, 0.0);
        let expected =
            parameters.additive_increase * (1.0 / parameters.increase_timer + 20e9 / parameters.byte_counter);
        assert!((climbs / expected - 1.0).abs() < 1e-3, "{climbs} {expected}");
    }
}
