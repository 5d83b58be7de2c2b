//! The thesis's conditions of stability, as printed and as they follow; its numbers of equations stand here.

use crate::models::{eccp, hetflow};

/// Lemma 2.1 (equation 2.18): ECCP's decrease is said to be stable while tau / T is below all three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lemma21 {
    /// The root of a square, from (A I-12) as printed, with - 2 / (Gd zeta)^2 under it. Not a number where that is
    /// negative.
    pub printed: f64,
    /// The same with the sign that follows from (A I-11): + 2 / (Gd zeta)^2.
    pub corrected: f64,
    /// w + 1 / (Gd zeta), (A I-23).
    pub damping: f64,
    /// w + sqrt(w^2 + 2 w), (A I-26).
    pub inertia: f64,
}

impl Lemma21 {
    /// For so many flows.
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

    /// The limit of tau / T with the first term as printed.
    pub fn printed_limit(&self) -> f64 {
        self.printed.min(self.damping).min(self.inertia)
    }

    /// The limit of tau / T with the first term corrected.
    pub fn corrected_limit(&self) -> f64 {
        self.corrected.min(self.damping).min(self.inertia)
    }
}

/// The roots in 1/T of the second-order model that lemma 2.1 is about, equation A I-6, for `ratio` = tau / T; complex
/// ones as real and imaginary part, twice.
///
/// The coefficient a is negative for every ratio below w + sqrt(w^2 + 2 w), and the constant is 1: the product of the
/// roots is negative, so one of two real roots is positive, and the model is never a stable node.
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

/// Lemma 2.2 (equation 2.19): no data queues while the byte counter is above this, in bits; `link` in bit/s, the
/// control cycle and tau in s.
pub fn least_byte_counter(link: f64, flows: f64, cycle: f64, tau: f64) -> f64 {
    link * (cycle + 2.0 * tau) / (2.0 * flows)
}

/// Equation 3.18: dR'/dR of HetFlow's decrease at its fixed point, in 1/s; below 0 the thesis calls it stable. `eta`
/// and `tau` in s.
pub fn hetflow_slope(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    let gain = parameters.gain * parameters.scaling;
    -gain / (eta - gain * (eta + tau))
}

/// What 3.18 approximates: the decrease of (3.13) is x' = -a x(t - d) with a = Gd Kc / eta and d = eta + tau, which is
/// stable while a d is below pi / 2.
pub fn hetflow_product(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    parameters.gain * parameters.scaling * (eta + tau) / eta
}
