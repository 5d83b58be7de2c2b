//! Comparisons with closed forms and with numbers of the thesis.

use super::*;
use crate::models::{Bottleneck, Dcqcn, Eccp, HetFlow, Timely, eccp, hetflow};
use std::f64::consts::{E, PI};

fn one(value: f64) -> DMatrix<f64> {
    DMatrix::from_element(1, 1, value)
}

/// Returns the equation x' = now x + value x(t - delay) + slope x'(t - delay).
fn scalar(now: f64, delay: f64, value: f64, slope: f64) -> Linear {
    let mut linear = Linear::new(one(now));
    linear.add_delay(delay, one(value), one(slope));
    linear
}

#[test]
fn the_roots_of_a_pure_delay_are_lambert_s() {
    // Rightmost roots of x' = -a x(t - d): for a d = 1 / e a double root at -1 / d, for a d = pi / 2 an imaginary
    // pair, for a larger a d a pair with positive real part.
    let root = |product: f64| rightmost(&scalar(0.0, 2.0, -product / 2.0, 0.0), 3).unwrap()[0] * 2.0;
    assert!((root(1.0 / E).re + 1.0).abs() < 1e-3, "{}", root(1.0 / E));
    let edge = root(PI / 2.0);
    assert!(edge.re.abs() < 1e-12 && (edge.im - PI / 2.0).abs() < 1e-12, "{edge}");
    assert!(root(1.5).re < -0.01 && root(1.65).re > 0.01);
    // The first roots of z + e^(-z) = 0 from the literature are W_0(-1) = -0.318131505204764 +- 1.337235701430689 i
    // and W_1(-1).
    let roots = rightmost(&scalar(0.0, 1.0, -1.0, 0.0), 2).unwrap();
    assert!((roots[0].re + 0.318_131_505_204_764).abs() < 1e-12 && (roots[0].im - 1.337_235_701_430_689).abs() < 1e-12);
    assert!((roots[1].re + 2.062_277_729_598_284).abs() < 1e-12 && (roots[1].im - 7.588_631_178_472_513).abs() < 1e-12);
}

#[test]
fn a_neutral_equation_has_a_chain_of_roots() {
    // Roots of (z + 1) (1 - c e^(-z)) = 0: -1, and ln c + 2 pi i k for each integer k.
    let c: f64 = 0.6;
    let linear = scalar(-1.0, 1.0, c, c);
    let roots = rightmost(&linear, 4).unwrap();
    for (k, root) in roots[..3].iter().enumerate() {
        assert!((root.re - c.ln()).abs() < 1e-10 && (root.im - 2.0 * PI * k as f64).abs() < 1e-9, "{roots:?}");
    }
    assert!((linear.neutral_radius().unwrap() - c).abs() < 1e-12);
}

#[test]
fn without_delays_they_are_eigenvalues_and_with_delays_of_zero_too() {
    let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -4.0, -0.2]);
    let mut linear = Linear::new(DMatrix::zeros(2, 2));
    linear.add_delay(0.0, matrix, DMatrix::zeros(2, 2));
    let root = rightmost(&linear, 1).unwrap()[0];
    assert!((root.re + 0.1).abs() < 1e-12 && (root.im - 3.99_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn every_reported_root_is_one() {
    let mut linear = Linear::new(DMatrix::from_row_slice(2, 2, &[-1.0, 0.5, 0.3, -0.2]));
    linear.add_delay(0.7, DMatrix::from_row_slice(2, 2, &[0.1, -1.0, 0.6, 0.0]), DMatrix::zeros(2, 2));
    linear.add_delay(2.3, DMatrix::from_row_slice(2, 2, &[0.0, 0.2, -0.4, 0.1]), DMatrix::zeros(2, 2));
    for root in rightmost(&linear, 6).unwrap() {
        let [matrix, _] = linear.characteristic(root);
        let determinant = matrix.determinant();
        assert!(libm::hypot(determinant.re, determinant.im) < 1e-9, "{root}: {determinant}");
    }
}

/// Parameters of table 2.1 of the thesis, with another gain.
fn table_2_1(gain: f64, slope: bool) -> eccp::Parameters {
    eccp::Parameters {
        gain,
        largest_cut: 0.5,
        weight: 2.0,
        available: 0.1,
        equilibrium: 0.5,
        cycle: 1e-3,
        byte_counter: 6e6,
        additive_increase: 5e6,
        min_rate: 50e6,
        slope,
    }
}

#[test]
fn lemma_2_1_as_printed_and_as_it_follows() {
    let of = |gain: f64| thesis::Lemma21::of(&table_2_1(gain, true), 4.0);
    let (table, hundredth) = (of(100.0 / 128.0), of(0.01));
    assert!((table.corrected - 5.969).abs() < 1e-3 && (table.inertia - 4.828).abs() < 1e-3, "{table:?}");
    assert!((table.corrected_limit() - 2.0316).abs() < 1e-4 && (table.printed_limit() - 2.0316).abs() < 1e-4);
    assert!((hundredth.printed_limit() - 1.481_95).abs() < 1e-5, "the printed limit is that of a gain of 1/100");
    assert!((hundredth.corrected_limit() - 4.469).abs() < 1e-3);
}

#[test]
fn the_second_order_model_is_never_a_stable_node() {
    for gain in [0.01, 100.0 / 128.0] {
        for step in 1..48 {
            let roots = thesis::second_order_roots(&table_2_1(gain, true), 4.0, 0.1 * f64::from(step));
            assert!(roots.iter().any(|root| root.0 > 0.0), "{step}: {roots:?}");
        }
    }
    let [low, high] = thesis::second_order_roots(&table_2_1(100.0 / 128.0, true), 4.0, 0.3);
    assert!((low.0 + 0.373).abs() < 1e-3 && (high.0 - 1.05).abs() < 1e-2, "{low:?} {high:?}");
}

#[test]
fn lemma_2_2_gives_168_75_kb() {
    let bytes = |cycle: f64| thesis::least_byte_counter(10e9, 4.0, cycle, 40e-6) / 8.0;
    assert!((bytes(1e-3) - 168_750.0).abs() < 1e-6 && (bytes(5e-3) - 793_750.0).abs() < 1e-6, "{}", bytes(1e-3));
}

fn eccp_with(gain: f64, tau: f64, slope: bool) -> Eccp {
    let flows = vec![Flows { count: 4, start: 0.0, rtt: tau, rate: 2e9 }];
    Eccp::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, table_2_1(gain, slope))
}

/// Linearised, (A I-2) is neutral with the spectral radius w Gd zeta: 63.3 with the gain of table 2.1 (100/128), 0.81
/// with a gain of 1/100. Above 1 it is unstable.
#[test]
fn eccp_s_decrease_is_neutral_and_unstable_by_table_2_1() {
    let of = |gain: f64| {
        let model =
            eccp_with(gain, 300e-6, true).with_flows(vec![Flows { count: 4, start: 0.0, rtt: 300e-6, rate: 2e9 }]);
        Linear::of(&*model, &model.fixed_point().unwrap()).neutral_radius().unwrap()
    };
    assert!((of(100.0 / 128.0) - 63.28).abs() < 0.01, "{}", of(100.0 / 128.0));
    assert!((of(0.01) - 0.81).abs() < 1e-4, "{}", of(0.01));
    assert_eq!(report(&eccp_with(100.0 / 128.0, 40e-6, true)).unwrap().verdict, Verdict::Unstable);
}

/// Feedback with the difference of A_r (2.6) instead of its slope: the linearised equation is x' = -a (x(t - tau) (1
/// + w) - w x(t - tau - T)). At the RTT limit of the report, the rightmost root must be imaginary.
#[test]
fn the_limit_of_eccp_s_delay_is_where_a_root_is_on_the_axis() {
    let found = report(&eccp_with(0.01, 40e-6, false)).unwrap();
    let factor = found.rtt_factor.expect("a limit");
    let edge = report(&eccp_with(0.01, 40e-6 * factor, false)).unwrap();
    assert!(edge.roots[0].re.abs() < 1e-3 * edge.roots[0].im, "{edge:?}");
    assert!(edge.neutral_radius.is_none());
}

fn hetflow_parameters(scaling: f64) -> hetflow::Parameters {
    hetflow::Parameters {
        gain: 1.0 / 128.0,
        scaling,
        timer: 3e-3,
        byte_counter: 8e5,
        recovery: 10e-3,
        quantum: 1.0,
        slope_age: 1.0,
        min_rate: 10e6,
    }
}

fn hetflow_with(scaling: f64, tau: f64) -> HetFlow {
    let parameters = hetflow_parameters(scaling);
    let flows = vec![Flows { count: 2, start: 0.0, rtt: tau, rate: 4e9 }];
    HetFlow::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, parameters)
}

/// HetFlow is linearised to x' = -(Gd Kc / eta) x(t - eta - tau), which is stable for Gd Kc (eta + tau) / eta < pi /
/// 2; equation (3.18) gives another limit. No feedback controls the rate difference of the flows, so the
/// characteristic equation has a root at 0.
#[test]
fn hetflow_is_a_pure_delay_and_indifferent_to_shares() {
    let eta = 8e5 / 5e9;
    let found = report(&hetflow_with(64.0, 40e-6)).unwrap();
    assert_eq!(found.verdict, Verdict::Marginal, "{found:?}");
    assert!(found.roots.iter().any(|root| libm::hypot(root.re, root.im) < 1.0), "{found:?}");
    let limit = found.rtt_factor.expect("a limit") * 40e-6;
    // The limit of tau is eta (pi - 1), from Gd Kc = 1/2. The report counts real parts of up to 1e-6 / (longest
    // delay) as 0, which limits the accuracy.
    assert!((limit / (eta * (PI - 1.0)) - 1.0).abs() < 1e-5, "{limit}");
    assert_eq!(report(&hetflow_with(1500.0, 10e-6)).unwrap().verdict, Verdict::Unstable);
}

/// Compares equation (3.18) at eta = 80 us with known values. For Kc = 1500 (table 3.2) dR'/dR is positive: unstable
/// by the thesis's own criterion.
#[test]
fn equation_3_18_by_table_3_2_and_by_the_design_that_lemma_3_2_assumes() {
    let of = |scaling: f64, tau: f64| thesis::hetflow_slope(&hetflow_parameters(scaling), 80e-6, tau);
    assert!((of(1500.0, 10e-6) / 1.2e4 - 1.0).abs() < 0.05, "{}", of(1500.0, 10e-6));
    assert!((of(64.0, 10e-6) / -1.43e4 - 1.0).abs() < 0.05, "{}", of(64.0, 10e-6));
    assert!((of(64.0, 90e-6) / 1e5 - 1.0).abs() < 0.05, "{}", of(64.0, 90e-6));
}

/// DCQCN below its RTT limit (0.8 times) settles at a constant queue length; above the limit (1.25 times) the queue
/// oscillates.
#[test]
fn verdicts_agree_with_solutions() {
    use crate::models::testing::means;
    let dcqcn = |rtt: f64| {
        let parameters = crate::models::dcqcn::Parameters {
            gain: 1.0 / 256.0,
            cnp_interval: 50e-6,
            alpha_timer: 55e-6,
            increase_timer: 55e-6,
            byte_counter: 80e6,
            recovery_stages: 5.0,
            additive_increase: 40e6,
            min_rate: 10e6,
            packet: 8e3,
            k_min: 40e3,
            k_max: 1.6e6,
            p_max: 0.01,
            at_enqueue: false,
            cycles: false,
        };
        let flows = vec![Flows { count: 2, start: 0.0, rtt, rate: 20e9 }];
        Dcqcn::new(Bottleneck { rate: 40e9, buffer: 80e6 }, flows, parameters)
    };
    let found = report(&dcqcn(4e-6)).unwrap();
    assert_eq!(found.verdict, Verdict::Stable, "{found:?}");
    let limit = 4e-6 * found.rtt_factor.expect("a limit");
    for (rtt, rests) in [(0.8 * limit, true), (1.25 * limit, false)] {
        let mut model = dcqcn(rtt);
        let (_, queue, last) = means(&mut model, 0.4);
        let off = (last[3] / queue - 1.0).abs();
        // The queue of a limit cycle may equal its mean at one end time, but not at three different end times.
        let (_, _, earlier) = means(&mut dcqcn(rtt), 0.3931);
        let (_, _, between) = means(&mut dcqcn(rtt), 0.3967);
        let off = off.max((earlier[3] / queue - 1.0).abs()).max((between[3] / queue - 1.0).abs());
        assert_eq!(off < 0.02, rests, "{rtt}: {off}");
    }
}

#[test]
fn patched_timely_rests_and_timely_has_nowhere_to() {
    let parameters = |patched| crate::models::timely::Parameters {
        ewma: 0.875,
        beta: 0.008,
        additive_increase: 10e6,
        t_low: 50e-6,
        t_high: 500e-6,
        min_rtt: 20e-6,
        segment: 128e3,
        packet: 8e3,
        min_rate: 10e6,
        patched,
    };
    let model = |patched| {
        let flows = vec![Flows { count: 2, start: 0.0, rtt: 4e-6, rate: 5e9 }];
        Timely::new(Bottleneck { rate: 10e9, buffer: 20e6 }, flows, parameters(patched))
    };
    assert_eq!(report(&model(true)).unwrap().verdict, Verdict::Stable);
    assert!(report(&model(false)).unwrap_err().contains("no fixed point"));
}
