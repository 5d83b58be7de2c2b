//! Comparisons of numerical solutions with closed forms.

use super::*;

/// x' = sum of a_i x(t - d_i), with a constant history of 1.
struct Linear {
    variables: Vec<Variable>,
    delays: Vec<Delay>,
    gains: Vec<f64>,
    /// Weight of the delayed derivative x'(t - d), for the first delay.
    neutral: f64,
}

impl Linear {
    fn new(terms: &[(f64, f64)]) -> Linear {
        Linear {
            variables: vec![Variable::new("x", 1.0)],
            delays: terms.iter().map(|term| Delay::Constant(term.1)).collect(),
            gains: terms.iter().map(|term| term.0).collect(),
            neutral: 0.0,
        }
    }
}

impl System for Linear {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn delays(&self) -> &[Delay] {
        &self.delays
    }
    fn history(&self, _: f64, state: &mut [f64]) {
        state[0] = 1.0;
    }
    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        slopes[0] = self.gains.iter().enumerate().map(|(delay, gain)| gain * now.past.value(delay, 0)).sum();
        if self.neutral != 0.0 {
            slopes[0] += self.neutral * now.past.slope(0, 0);
        }
    }
    fn is_neutral(&self) -> bool {
        self.neutral != 0.0
    }
}

fn samples(system: &mut impl System, end: f64, every: f64, tolerance: f64) -> (Vec<(f64, f64)>, Work) {
    let mut found = Vec::new();
    let options = Options { tolerance, ..Options::default() };
    let work = solve(system, end, every, &options, |time, state| found.push((time, state[0]))).expect("a solution");
    (found, work)
}

/// Closed form of x' = -x(t - 1) with x = 1 for t <= 0, by the method of steps: 1 plus the sum of (-1)^k (t - k +
/// 1)^k / k! over all k with t > k - 1.
fn steps(time: f64) -> f64 {
    let (mut sum, mut k, mut factorial) = (1.0, 1, 1.0);
    while time > f64::from(k - 1) {
        factorial *= f64::from(k);
        let sign = if k % 2 == 1 { -1.0 } else { 1.0 };
        sum += sign * (time - f64::from(k - 1)).powi(k) / factorial;
        k += 1;
    }
    sum
}

#[test]
fn the_polynomials_of_the_method_of_steps() {
    let (found, work) = samples(&mut Linear::new(&[(-1.0, 1.0)]), 10.0, 0.05, 1e-9);
    assert_eq!(found.len(), 201);
    for (time, x) in found {
        assert!((x - steps(time)).abs() < 2e-8, "{time}: {x}, not {}", steps(time));
    }
    // On the first five intervals of length 1 the solution is a polynomial of degree up to 5, for which the method is
    // exact, so few steps suffice.
    assert!(work.steps < 120, "{work:?}");
}

#[test]
fn steps_end_where_derivatives_jump() {
    // The solution is a polynomial of degree up to 4 between the discontinuities at t = 1, 2 and 3. It is exact up to
    // rounding errors only if a step ends at each of these times.
    let (found, _) = samples(&mut Linear::new(&[(-1.0, 1.0)]), 4.0, 0.01, 1e-2);
    for (time, x) in found {
        assert!((x - steps(time)).abs() < 1e-13, "{time}: {x}, not {}", steps(time));
    }
}

/// x' = -a x(t - d) oscillates with constant amplitude for a d = pi / 2, decays for smaller a d and grows for larger
/// a d.
#[test]
fn the_stability_limit_is_half_pi() {
    let amplitude = |gain: f64| {
        let (found, _) = samples(&mut Linear::new(&[(-gain, 1.0)]), 800.0, 0.01, 1e-8);
        let most = |from: f64, to: f64| {
            found
                .iter()
                .filter(|sample| (from..to).contains(&sample.0))
                .map(|sample| sample.1.abs())
                .fold(0.0, f64::max)
        };
        most(780.0, 800.0) / most(80.0, 100.0)
    };
    let limit = std::f64::consts::FRAC_PI_2;
    assert!((amplitude(limit) - 1.0).abs() < 1e-4, "{}", amplitude(limit));
    // To first order, the real part of the rightmost root is 0.453 times the deviation of the gain from the limit. A
    // deviation of 1 % changes the amplitude by the factor e^(+-5) over a time of 700.
    assert!(amplitude(0.99 * limit) < 0.02 && amplitude(1.01 * limit) > 50.0);
}

/// Returns the maximum relative error of the samples at every multiple of `at`, with steps of length 1 / `steps`. The
/// equation x' = 2 x - e x(t - 1) has the solution e^t.
fn error_with(steps: f64, at: f64) -> f64 {
    struct Exponential(Linear);
    impl System for Exponential {
        fn variables(&self) -> &[Variable] {
            self.0.variables()
        }
        fn delays(&self) -> &[Delay] {
            self.0.delays()
        }
        fn history(&self, time: f64, state: &mut [f64]) {
            state[0] = libm::exp(time);
        }
        fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
            slopes[0] = 2.0 * now.state[0] - std::f64::consts::E * now.past.value(0, 0);
        }
    }
    let mut system = Exponential(Linear::new(&[(0.0, 1.0)]));
    let options = Options { tolerance: 1e9, longest_step: 1.0 / steps, ..Options::default() };
    let mut error = 0.0f64;
    solve(&mut system, 3.0, at, &options, |time, state| error = error.max((state[0] / libm::exp(time) - 1.0).abs()))
        .expect("a solution");
    error
}

#[test]
fn the_order_of_convergence_is_five_at_steps_and_four_between() {
    let order = |at: f64| libm::log2(error_with(16.0, at) / error_with(32.0, at));
    assert!((4.6..5.3).contains(&order(1.0)), "{}", order(1.0));
    // The continuous extension is of order 4, so the error within a step is proportional to h^5, like the error at
    // its end.
    assert!((4.6..5.3).contains(&order(0.0173)), "{}", order(0.0173));
    assert!(error_with(8.0, 0.0173) < 1e-5);
}

#[test]
fn delays_shorter_than_a_step_are_iterated() {
    // For small d, x' = -x(t - d) is x' = -x / (1 - d) to first order. Steps are far longer than the delay of 1e-4.
    let (found, work) = samples(&mut Linear::new(&[(-1.0, 1e-4)]), 5.0, 0.5, 1e-8);
    // Rightmost root of s + e^(-s d) = 0, by fixed-point iteration.
    let mut root: f64 = -1.0;
    for _ in 0..50 {
        root = -libm::exp(-root * 1e-4);
    }
    for (time, x) in found.iter().skip(1) {
        assert!((x - libm::exp(root * time)).abs() < 1e-7, "{time}: {x}");
    }
    assert!(work.steps < 400, "{work:?}");
}

/// x' = -x + c x'(t - 1) + c x(t - 1): z = x - c x(t - 1) satisfies z' = -z, so x has a closed form at integer t.
#[test]
fn a_neutral_equation_by_its_difference() {
    let c = 0.5;
    let mut system = Linear::new(&[(c, 1.0), (-1.0, 0.0)]);
    system.neutral = c;
    let (found, _) = samples(&mut system, 8.0, 1.0, 1e-9);
    let mut x = 1.0;
    for (time, got) in found.iter().skip(1) {
        // x(t) = c x(t - 1) + z(0) e^-t with z(0) = 1 - c.
        x = c * x + (1.0 - c) * libm::exp(-time);
        assert!((got - x).abs() < 1e-6, "{time}: {got}, not {x}");
    }
}

/// A queue with the net arrival rate sin(t), clamped between 0 and 1.5.
struct Queue {
    variables: Vec<Variable>,
}

impl System for Queue {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn delays(&self) -> &[Delay] {
        &[]
    }
    fn history(&self, _: f64, state: &mut [f64]) {
        state[0] = 0.0;
    }
    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        slopes[0] = libm::sin(now.time);
    }
}

#[test]
fn a_saturated_queue_stays_between_empty_and_full_and_leaves_at_the_right_instants() {
    use std::f64::consts::PI;
    let mut system = Queue { variables: vec![Variable::new("queue", 1.0).within(0.0, 1.5)] };
    let (found, work) = samples(&mut system, 4.0 * PI, 0.01, 1e-9);
    for (time, queue) in found {
        let phase = time % (2.0 * PI);
        // Per period: the queue grows as 1 - cos(t) until it is full at 1.5, stays full until t = pi, then drains by
        // 1 + cos(t) until it is empty, and stays empty until the period ends.
        let full = libm::acos(-0.5);
        let expected = if phase < full {
            1.0 - libm::cos(phase)
        } else if phase < PI {
            1.5
        } else {
            (1.5 - (libm::cos(phase) + 1.0)).max(0.0)
        };
        assert!((queue - expected).abs() < 1e-7, "{time}: {queue}, not {expected}");
        assert!((0.0..=1.5).contains(&queue) || (queue - expected).abs() < 1e-9);
    }
    assert_eq!(work.events, 7, "full, from full, empty, from empty, full, from full, empty");
}

/// x'(t) = 1 + x(t - d) with d = 1 + x(t) / 2 and x = 0 for t <= 0: x' is discontinuous at t = 0, and again when the
/// delayed time t - d reaches 0.
#[test]
fn a_delay_by_the_state_meets_the_jumps_of_the_past() {
    struct ByState(Vec<Variable>);
    impl System for ByState {
        fn variables(&self) -> &[Variable] {
            &self.0
        }
        fn delays(&self) -> &[Delay] {
            &[Delay::Varying { longest: 10.0 }]
        }
        fn delay(&self, _: usize, _: f64, state: &[f64]) -> f64 {
            1.0 + 0.5 * state[0]
        }
        fn history(&self, _: f64, state: &mut [f64]) {
            state[0] = 0.0;
        }
        fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
            slopes[0] = 1.0 + now.past.value(0, 0);
        }
    }
    // While t - d < 0, x = t; the delayed time t - 1 - t / 2 reaches 0 at t = 2. Then x' = 1 + (t - 1 - x / 2) = t -
    // x / 2, as long as x(s) = s at the delayed time s. With x(2) = 2, x = 2 t - 4 + c e^(-t / 2).
    let mut system = ByState(vec![Variable::new("x", 1.0)]);
    let (found, work) = samples(&mut system, 4.0, 0.125, 1e-9);
    let c = 2.0 * std::f64::consts::E;
    for (time, x) in found {
        let expected = if time <= 2.0 { time } else { 2.0 * time - 4.0 + c * libm::exp(-time / 2.0) };
        assert!((x - expected).abs() < 1e-7, "{time}: {x}, not {expected}");
    }
    assert!(work.events >= 1, "the jump was met");
    assert!(work.rejected < 8, "and not searched for step by step: {work:?}");
}

#[test]
fn divergence_is_reported_with_time_and_variable() {
    struct Square(Vec<Variable>);
    impl System for Square {
        fn variables(&self) -> &[Variable] {
            &self.0
        }
        fn delays(&self) -> &[Delay] {
            &[]
        }
        fn history(&self, _: f64, state: &mut [f64]) {
            state[0] = 1.0;
        }
        fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
            slopes[0] = now.state[0] * now.state[0];
        }
    }
    // The solution 1 / (1 - t) of x' = x^2 diverges at t = 1.
    let mut system = Square(vec![Variable::new("x", 1.0)]);
    let error = solve(&mut system, 2.0, 0.1, &Options::default(), |_, _| {}).unwrap_err();
    assert!((error.time() - 1.0).abs() < 1e-3, "{error}");
    assert!(error.to_string().contains("`x`"), "{error}");
}

#[test]
fn a_delay_into_the_future_is_refused() {
    let mut system = Linear::new(&[(-1.0, -1.0)]);
    let error = solve(&mut system, 1.0, 0.1, &Options::default(), |_, _| {}).unwrap_err();
    assert_eq!(error, SolveError::Delay { time: 0.0, delay: 0, value: -1.0 });
}

#[test]
fn the_same_system_gives_the_same_bytes() {
    let run = || samples(&mut Linear::new(&[(-1.2, 1.0), (-0.3, 0.377)]), 20.0, 0.1, 1e-7);
    assert_eq!(run(), run());
}

#[test]
fn a_jump_by_appointment_travels_along_the_delay() {
    /// x' = x(t - 1), with x set to 1 at t = 0.5 by an appointment.
    struct Jump(Linear);
    impl System for Jump {
        fn variables(&self) -> &[Variable] {
            self.0.variables()
        }
        fn delays(&self) -> &[Delay] {
            self.0.delays()
        }
        fn history(&self, _: f64, state: &mut [f64]) {
            state[0] = 0.0;
        }
        fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
            self.0.derivative(now, slopes);
        }
        fn appointments(&self) -> Vec<f64> {
            vec![0.5]
        }
        fn appointment(&mut self, _: f64, state: &mut [f64]) {
            state[0] = 1.0;
        }
    }
    let (found, _) = samples(&mut Jump(Linear::new(&[(1.0, 1.0)])), 2.5, 0.25, 1e-3);
    for (time, x) in found {
        let expected = if time <= 0.5 { 0.0 } else { 1.0 + (time - 1.5).max(0.0) };
        assert!((x - expected).abs() < 1e-14, "{time}: {x}, not {expected}");
    }
}
