//! Stability of models: the characteristic roots of the linearised equation, and the stability conditions of the
//! thesis.
//!
//! ```text
//!   Model ── fixed point ──> Linear ── spectral discretisation of the generator ──> guesses ── Newton ──> roots
//!                (central differences)        (Chebyshev nodes, twice as many to check)   (det of the char. matrix)
//! ```

mod linear;
mod roots;
pub mod thesis;

pub use linear::Linear;
pub use nalgebra::{Complex, DMatrix};
use roots::roughly_rightmost;
pub use roots::{RootError, rightmost};

use crate::models::{Flows, Model};

/// Result of the stability analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every disturbance decays.
    Stable,
    /// No disturbance grows, but some disturbance stays constant: a characteristic root at 0.
    Marginal,
    /// Some disturbance grows.
    Unstable,
}

/// Stability of a model at its fixed point.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Rate of each group of flows at the fixed point, in bit/s.
    pub rates: Vec<f64>,
    /// Queue length at the fixed point, in bits.
    pub queue: f64,
    /// Rightmost characteristic roots, in 1/s; of a complex pair only the root with positive imaginary part.
    pub roots: Vec<Complex<f64>>,
    /// For a neutral equation, the spectral radius of the matrix that multiplies delayed derivatives. If it is above
    /// 1, infinitely many roots have a positive real part, even for arbitrarily short delays.
    pub neutral_radius: Option<f64>,
    /// Stability of the fixed point.
    pub verdict: Verdict,
    /// Factor for all RTTs at which the fixed point becomes stable or unstable; `None` if there is none between 0.01
    /// and 100.
    pub rtt_factor: Option<f64>,
}

/// Real parts of roots below this value, divided by the longest delay, count as 0.
const ZERO: f64 = 1e-6;
/// Number of roots in a report.
const TOLD: usize = 4;

/// Analyses the stability of `model` at its fixed point. One flow of each group becomes a group of its own, so that
/// differences between the rates of equal flows are included.
///
/// # Errors
/// The reason, if there is no fixed point or the roots cannot be computed.
pub fn report(model: &dyn Model) -> Result<Report, String> {
    let point = model.fixed_point()?;
    let rates = (0..model.shared().flows.len()).map(|flows| point.state[model.rate(flows)]).collect();
    let (roots, neutral_radius, verdict) = at_factor(model, 1.0, true)?;
    let stable = verdict != Verdict::Unstable;
    let changes =
        |factor: f64| at_factor(model, factor, false).map(|(.., verdict)| (verdict != Verdict::Unstable) != stable);
    // Multiplies the RTTs by 2 if stable, by 1/2 if unstable, until the verdict changes; bisection follows.
    let away: f64 = if stable { 2.0 } else { 0.5 };
    let (mut inside, mut outside) = (1.0, None);
    while outside.is_none() && (0.01..=100.0).contains(&(inside * away)) {
        if changes(inside * away)? { outside = Some(inside * away) } else { inside *= away }
    }
    if let Some(mut outside) = outside {
        for _ in 0..20 {
            let middle = (inside * outside).sqrt();
            if changes(middle)? { outside = middle } else { inside = middle }
        }
    }
    let rtt_factor = outside.map(|_| inside);
    Ok(Report { rates, queue: point.state[model.queue()], roots, neutral_radius, verdict, rtt_factor })
}

/// Result for one RTT factor: rightmost roots, neutral radius, verdict.
type Judged = (Vec<Complex<f64>>, Option<f64>, Verdict);

/// Returns roots, neutral radius and verdict with all RTTs multiplied by `factor`. If `thorough` is not set, the
/// roots are those of the first discretisation.
fn at_factor(model: &dyn Model, factor: f64, thorough: bool) -> Result<Judged, String> {
    let apart = |flows: &Flows| {
        let flows = Flows { rtt: flows.rtt * factor, ..*flows };
        let rest = (flows.count > 1).then_some(Flows { count: flows.count - 1, ..flows });
        [Some(Flows { count: 1, ..flows }), rest]
    };
    let model = model.with_flows(model.shared().flows.iter().flat_map(apart).flatten().collect());
    let linear = Linear::of(&*model, &model.fixed_point()?);
    let neutral_radius = linear.neutral_radius();
    let roots = if thorough { rightmost(&linear, TOLD) } else { roughly_rightmost(&linear) };
    let roots = match roots {
        // In a neutral equation, an infinite chain of roots may have no rightmost root, so that the search fails.
        // With a neutral radius above 1 the chain extends to positive real parts: the fixed point is unstable.
        Err(RootError::Unsettled) if neutral_radius.is_some_and(|radius| radius > 1.0) => Vec::new(),
        roots => roots.map_err(|error| error.to_string())?,
    };
    let zero = ZERO / linear.longest().max(1e-9);
    let most = roots.first().map_or(f64::NEG_INFINITY, |root| root.re);
    let verdict = if most > zero || neutral_radius.is_some_and(|radius| radius > 1.0) {
        Verdict::Unstable
    } else if most > -zero {
        Verdict::Marginal
    } else {
        Verdict::Stable
    };
    Ok((roots, neutral_radius, verdict))
}

#[cfg(test)]
mod tests;
