//! The thesis's stability conditions, as printed and corrected, with its equation numbers.

use crate::models::{eccp, hetflow};

/// Lemma 2.1 (equation 2.18): according to the thesis, ECCP's decrease is stable while tau / T is below all three
/// limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lemma21 {
    /// Root from (A I-12) as printed, with - 2 / (Gd zeta)^2 under it. NaN if the argument is negative.
    pub printed: f64,
    /// Root with the sign that follows from (A I-11): + 2 / (Gd zeta)^2.
    pub corrected: f64,
    /// w + 1 / (Gd zeta), (A I-23).
    pub damping: f64,
    /// w + sqrt(w^2 + 2 w), (A I-26).
    pub inertia: f64,
}

impl Lemma21 {
    /// Computes the limits for `flows` flows.
    pub fn of(parameters: &eccp::Parameters, flows: f64) -> Lemma21 {
        let (w, inverse) = (parameters.weight, 1.0 / (parameters.gain * parameters.zeta(flows)));
        let root = |square: f64| w - inverse + (2.0 * w * w + square + 4.0 * w).sqrt();
        Lemma21 {
            printed: root(-2.0 * inverse * inverse),
            corrected: root(2.0 * inverse * inverse),
            damping: w + inverse,
            inertia: w + (w * w + 2.0 * w).sqrt(),
        }
    }

    /// Returns the limit of tau / T with the first term as printed.
    pub fn printed_limit(&self) -> f64 {
        self.printed.min(self.damping).min(self.inertia)
    }

    /// Returns the limit of tau / T with the first term corrected.
    pub fn corrected_limit(&self) -> f64 {
        self.corrected.min(self.damping).min(self.inertia)
    }
}

/// Returns the roots in 1/T of the second-order model of lemma 2.1, equation (A I-6), for `ratio` = tau / T. Complex
/// roots are given twice, as real and imaginary part.
///
/// The coefficient a is negative for every ratio below w + sqrt(w^2 + 2 w), and the constant is 1. The product of the
/// roots is therefore negative, so that one of two real roots is positive and the model is never a stable node.
pub fn second_order_roots(parameters: &eccp::Parameters, flows: f64, ratio: f64) -> [(f64, f64); 2] {
    let (w, inverse) = (parameters.weight, 1.0 / (parameters.gain * parameters.zeta(flows)));
    let (a, b) = (ratio * ratio / 2.0 - w * (1.0 + ratio), w + inverse - ratio);
    let square = b * b - 4.0 * a;
    if square >= 0.0 {
        let root = square.sqrt();
        [((-b + root) / (2.0 * a), 0.0), ((-b - root) / (2.0 * a), 0.0)]
    } else {
        let part = (-square).sqrt() / (2.0 * a.abs());
        [(-b / (2.0 * a), part), (-b / (2.0 * a), -part)]
    }
}

/// Returns the byte counter of lemma 2.2 (equation 2.19) in bits, above which no data queues; `link` in bit/s, the
/// control cycle and tau in s.
pub fn least_byte_counter(link: f64, flows: f64, cycle: f64, tau: f64) -> f64 {
    link * (cycle + 2.0 * tau) / (2.0 * flows)
}

/// Returns dR'/dR of HetFlow's decrease at its fixed point by equation (3.18), in 1/s; according to the thesis, stable
/// below 0. `eta` and `tau` in s.
pub fn hetflow_slope(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    let gain = parameters.gain * parameters.scaling;
    -gain / (eta - gain * (eta + tau))
}

/// Returns a d of the exact equation that (3.18) approximates: the decrease of (3.13) is x' = -a x(t - d) with a = Gd
/// Kc / eta and d = eta + tau, stable while a d is below pi / 2.
pub fn hetflow_product(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    parameters.gain * parameters.scaling * (eta + tau) / eta
}
