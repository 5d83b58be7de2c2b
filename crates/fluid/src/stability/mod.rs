//! Stability of models: the roots of the linearised equation, and the thesis's conditions.
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
    /// No disturbance grows, but one is constant: a root at 0.
    Marginal,
    /// Some disturbance grows.
    Unstable,
}

/// Stability of a model at its fixed point.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Rate at the fixed point of each kind of flows, in bit/s.
    pub rates: Vec<f64>,
    /// Queue at the fixed point, in bits.
    pub queue: f64,
    /// Rightmost roots, in 1/s; complex pairs only with positive imaginary part.
    pub roots: Vec<Complex<f64>>,
    /// For a neutral equation, the spectral radius of the matrix that multiplies delayed derivatives. Above 1 there
    /// are infinitely many roots to the right of 0, for arbitrarily short delays.
    pub neutral_radius: Option<f64>,
    /// Result.
    pub verdict: Verdict,
    /// Factor for all RTTs at which the verdict changes; `None` if it does not change between 0.01 and 100.
    pub rtt_factor: Option<f64>,
}

/// Roots below this, divided by the longest delay, count as 0.
const ZERO: f64 = 1e-6;
/// Number of roots in a report.
const TOLD: usize = 4;

/// Analyses `model` at its fixed point. One flow of each group is separated, to include the dynamics between flows in
/// addition to their common dynamics.
///
/// # Errors
/// The reason if there is no fixed point or no result.
pub fn report(model: &dyn Model) -> Result<Report, String> {
    let point = model.fixed_point()?;
    let rates = (0..model.shared().flows.len()).map(|flows| point.state[model.rate(flows)]).collect();
    let (roots, neutral_radius, verdict) = at_factor(model, 1.0, true)?;
    let stable = verdict != Verdict::Unstable;
    let changes =
        |factor: f64| at_factor(model, factor, false).map(|(.., verdict)| (verdict != Verdict::Unstable) != stable);
    // Searches by factors of 2 in the direction in which the verdict can change.
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

/// Rightmost roots, neutral radius, verdict.
type Judged = (Vec<Complex<f64>>, Option<f64>, Verdict);

/// Returns the result with all RTTs multiplied by `factor`.
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
        // An infinite chain of roots has no rightmost root. With a neutral radius above 1 it extends to the right of
        // 0.
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
