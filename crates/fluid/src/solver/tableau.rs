//! Pair of Dormand and Prince of orders 5 and 4 with a continuous extension of order 4 (Dormand and Prince, 1980;
//! Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.5 and II.6).

/// Number of stages of a step. The last stage is the first stage of the next step (FSAL).
pub const STAGES: usize = 7;

/// Time of each stage, as a fraction of the step.
pub const NODES: [f64; STAGES] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];

/// Weights of the earlier stages in each stage (Runge-Kutta matrix); the last row yields the solution of order 5.
pub const WEIGHTS: [[f64; STAGES - 1]; STAGES] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the stages in the error estimate, the difference between the solutions of order 5 and 4.
pub const ERROR: [f64; STAGES] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Weights of the stages in the last coefficient of the continuous extension.
pub const DENSE: [f64; STAGES] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_sum_to_their_nodes_and_the_error_to_nothing() {
        for (row, node) in WEIGHTS.iter().zip(NODES) {
            assert!((row.iter().sum::<f64>() - node).abs() < 1e-14);
        }
        assert!(ERROR.iter().sum::<f64>().abs() < 1e-15);
        // For a constant derivative the continuous extension is linear, so its last coefficient must be 0.
        assert!(DENSE.iter().sum::<f64>().abs() < 1e-13);
    }
}
