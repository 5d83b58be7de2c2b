//! Rightmost characteristic roots: eigenvalues of the discretised generator as initial guesses (Breda, Maset and
//! Vermiglio, Stability of Linear Delay Differential Equations, chapter 5), then Newton's method on the determinant.

use super::Linear;
use nalgebra::{Complex, DMatrix, linalg::Schur};

/// Error of the root search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// The eigenvalues did not converge.
    #[error("the eigenvalues of the linearised equation do not converge")]
    Eigenvalues,
    /// The rightmost roots of successive discretisations differ.
    #[error("the rightmost root of the linearised equation is not found: finer discretisations differ")]
    Unsettled,
}

/// Number of Chebyshev nodes of the first discretisation; each further discretisation has twice as many.
const NODES: usize = 16;
const TRIES: u32 = 3;

/// Returns the `count` rightmost roots in 1/s, by descending real part; of complex pairs only the root with positive
/// imaginary part.
///
/// # Errors
/// [`RootError`].
pub fn rightmost(linear: &Linear, count: usize) -> Result<Vec<Complex<f64>>, RootError> {
    if linear.delay_terms.is_empty() {
        return Ok(sorted(eigenvalues(linear.now.clone())?, linear.now.amax(), count));
    }
    let mut coarse = refined(linear, NODES)?;
    for nodes in (1..TRIES).map(|doubled| NODES << doubled) {
        let fine = refined(linear, nodes)?;
        let same = match (coarse.first(), fine.first()) {
            (Some(a), Some(b)) => distance(*a, *b) < 1e-6 * (size(*b) + 1.0 / linear.longest()),
            _ => false,
        };
        if same {
            return Ok(fine.into_iter().take(count).collect());
        }
        coarse = fine;
    }
    Err(RootError::Unsettled)
}

/// Returns the rightmost roots from the first discretisation only, for searches whose final result is computed by
/// [`rightmost`].
///
/// # Errors
/// [`RootError::Eigenvalues`].
pub(super) fn roughly_rightmost(linear: &Linear) -> Result<Vec<Complex<f64>>, RootError> {
    if linear.delay_terms.is_empty() { rightmost(linear, 1) } else { refined(linear, NODES) }
}

fn size(z: Complex<f64>) -> f64 {
    libm::hypot(z.re, z.im)
}

fn distance(a: Complex<f64>, b: Complex<f64>) -> f64 {
    size(a - b)
}

fn eigenvalues(matrix: DMatrix<f64>) -> Result<Vec<Complex<f64>>, RootError> {
    let schur = Schur::try_new(matrix, f64::EPSILON, 100_000).ok_or(RootError::Eigenvalues)?;
    Ok(schur.complex_eigenvalues().iter().copied().collect())
}

/// Sorts the roots by descending real part, and keeps one root per conjugate pair. Neutral equations have chains of
/// roots whose real parts are equal up to rounding errors; such roots are sorted by ascending imaginary part.
fn sorted(roots: Vec<Complex<f64>>, unit: f64, count: usize) -> Vec<Complex<f64>> {
    let mut roots: Vec<_> = roots.into_iter().filter(|root| root.im >= -1e-9 * size(*root)).collect();
    let row = |root: &Complex<f64>| (root.re / (1e-9 * unit)).round();
    roots.sort_by(|a, b| row(b).total_cmp(&row(a)).then(a.im.total_cmp(&b.im)));
    roots.truncate(count);
    roots
}

/// Returns the roots to which Newton's method converges from the eigenvalues of a discretisation with this number of
/// nodes.
fn refined(linear: &Linear, nodes: usize) -> Result<Vec<Complex<f64>>, RootError> {
    let unit = 1.0 / linear.longest();
    let guesses = eigenvalues(generator(linear, nodes))?;
    // Only the rightmost eigenvalues are accurate; eigenvalues with very negative real parts are artefacts of the
    // discretisation.
    let guesses = sorted(guesses, 1.0, nodes * linear.size() / 2);
    let mut roots: Vec<Complex<f64>> = Vec::new();
    for guess in guesses {
        let guess = guess * unit;
        let Some(root) = newton(linear, guess) else { continue };
        let root = if root.im.abs() < 1e-9 * (size(root) + unit) { Complex::new(root.re, 0.0) } else { root };
        let near = 1e-6 * (size(root) + unit);
        let came_far = distance(root, guess) > 0.1 * (size(guess) + unit);
        if !came_far && root.im >= 0.0 && roots.iter().all(|known| distance(*known, root) > near) {
            roots.push(root);
        }
    }
    Ok(sorted(roots, unit, usize::MAX))
}

/// Returns the discretised generator of the equation's semigroup on the Chebyshev nodes of [-longest, 0]. Time is in
/// units of the longest delay. The rows of all nodes except 0 differentiate the interpolating polynomial; the rows of
/// the node 0 are the equation itself.
fn generator(linear: &Linear, nodes: usize) -> DMatrix<f64> {
    let (size, longest) = (linear.size(), linear.longest());
    let points: Vec<f64> =
        (0..=nodes).map(|at| 0.5 * (libm::cos(std::f64::consts::PI * at as f64 / nodes as f64) - 1.0)).collect();
    let weights: Vec<f64> = (0..=nodes)
        .map(|at| if at % 2 == 0 { 1.0 } else { -1.0 } * if at == 0 || at == nodes { 0.5 } else { 1.0 })
        .collect();
    let mut derivatives = DMatrix::<f64>::zeros(nodes + 1, nodes + 1);
    for row in 0..=nodes {
        for column in (0..=nodes).filter(|column| *column != row) {
            derivatives[(row, column)] = weights[column] / weights[row] / (points[row] - points[column]);
        }
        derivatives[(row, row)] = -derivatives.row(row).sum();
    }
    // Weights of the values at the nodes in the interpolating polynomial at `point`.
    let interpolate = |point: f64| -> DMatrix<f64> {
        let mut row = DMatrix::zeros(1, nodes + 1);
        if let Some(exact) = points.iter().position(|node| (node - point).abs() < 1e-14) {
            row[(0, exact)] = 1.0;
            return row;
        }
        let terms: Vec<f64> = points.iter().zip(&weights).map(|(node, weight)| weight / (point - node)).collect();
        let sum: f64 = terms.iter().sum();
        terms.iter().enumerate().for_each(|(at, term)| row[(0, at)] = term / sum);
        row
    };
    let mut matrix = DMatrix::zeros(size * (nodes + 1), size * (nodes + 1));
    for row in 1..=nodes {
        for column in 0..=nodes {
            for at in 0..size {
                matrix[(size * row + at, size * column + at)] = derivatives[(row, column)];
            }
        }
    }
    let mut equation = matrix.rows_mut(0, size);
    equation.columns_mut(0, size).copy_from(&(&linear.now * longest));
    for term in &linear.delay_terms {
        let value = interpolate(-term.delay / longest);
        let slope = &value * &derivatives;
        for column in 0..=nodes {
            let mut block = equation.columns_mut(size * column, size);
            // Derivatives on both sides of the equation are with respect to the scaled time, so that `slopes` needs
            // no factor.
            block += &term.values * (longest * value[(0, column)]) + &term.slopes * slope[(0, column)];
        }
    }
    matrix
}

/// Refines a root by Newton's method on the determinant of the characteristic matrix M: z -= 1 / tr(M^-1 M').
fn newton(linear: &Linear, guess: Complex<f64>) -> Option<Complex<f64>> {
    let unit = 1.0 / linear.longest();
    let mut z = guess;
    for round in 0..60 {
        let [matrix, derivative] = linear.characteristic(z);
        let Some(solved) = matrix.lu().solve(&derivative) else { return Some(z) };
        let trace = solved.trace();
        if !trace.re.is_finite() || !trace.im.is_finite() {
            return (round > 0).then_some(z);
        }
        let step = Complex::new(1.0, 0.0) / trace;
        if size(step).is_nan() || size(step) > 1e3 * (size(z) + unit) {
            return None;
        }
        z -= step;
        if size(step) < 1e-12 * (size(z) + unit) {
            return Some(z);
        }
    }
    // Near a double root, Newton's method converges only linearly: each iteration halves the error. The result is
    // accurate enough.
    Some(z)
}
