//! The thesis's stability conditions, as printed and corrected, with its equation numbers.

use crate::models::{eccp, hetflow};

/// Limits of lemma 2.1 (equation 2.18): according to the thesis, ECCP's decrease is stable if tau / T is below the
/// smallest of these limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lemma21 {
    /// First limit, (A I-12) as printed, with the term - 2 / (Gd zeta)^2 under the square root. NaN if the radicand
    /// is negative.
    pub printed: f64,
    /// First limit with the sign that follows from (A I-11): + 2 / (Gd zeta)^2 under the square root.
    pub corrected: f64,
    /// Second limit, w + 1 / (Gd zeta), (A I-23).
    pub damping: f64,
    /// Third limit, w + sqrt(w^2 + 2 w), (A I-26).
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

    /// Returns the smallest limit of tau / T, with the first limit as printed.
    pub fn printed_limit(&self) -> f64 {
        self.printed.min(self.damping).min(self.inertia)
    }

    /// Returns the smallest limit of tau / T, with the first limit corrected.
    pub fn corrected_limit(&self) -> f64 {
        self.corrected.min(self.damping).min(self.inertia)
    }
}

/// Returns the roots in 1/T, as real and imaginary part, of the second-order model a z^2 + b z + 1 of lemma 2.1
/// (equation (A I-6)), for `ratio` = tau / T.
///
/// The coefficient a is negative for every ratio below w + sqrt(w^2 + 2 w), and the constant term is 1. The product
/// of the roots is therefore negative, so that both roots are real, one of them is positive, and the model is never
/// stable.
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

/// Returns the byte counter of lemma 2.2 (equation 2.19), in bits; with a larger byte counter the queue stays empty.
/// `link` is in bit/s, `cycle` (the control cycle T) and `tau` are in s.
pub fn least_byte_counter(link: f64, flows: f64, cycle: f64, tau: f64) -> f64 {
    link * (cycle + 2.0 * tau) / (2.0 * flows)
}

/// Returns dR'/dR of HetFlow's decrease at its fixed point by equation (3.18), in 1/s; according to the thesis, the
/// fixed point is stable if this is negative. `eta` and `tau` are in s.
pub fn hetflow_slope(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    let gain = parameters.gain * parameters.scaling;
    -gain / (eta - gain * (eta + tau))
}

/// Returns the product a d of the exact equation that (3.18) approximates. The decrease of (3.13) is x' = -a x(t - d)
/// with a = Gd Kc / eta and d = eta + tau; it is stable for a d < pi / 2.
pub fn hetflow_product(parameters: &hetflow::Parameters, eta: f64, tau: f64) -> f64 {
    parameters.gain * parameters.scaling * (eta + tau) / eta
}
