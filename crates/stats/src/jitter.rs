//! Variation of the one-way delay of flows.

use serde::{Deserialize, Serialize};

/// One-way delays of the data frames of one flow, in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDelays {
    frames: u64,
    least_ps: u64,
    most_ps: u64,
    /// The first delay. Deviations are computed relative to it, so that the sum of their squares is exact in integers.
    first_ps: u64,
    sum_ps: i128,
    squares: u128,
}

impl FlowDelays {
    /// Creates the statistics of a flow whose first frame had this delay.
    pub fn first(delay_ps: u64) -> FlowDelays {
        FlowDelays { frames: 1, least_ps: delay_ps, most_ps: delay_ps, first_ps: delay_ps, sum_ps: 0, squares: 0 }
    }

    /// Adds a frame with this delay.
    pub fn record(&mut self, delay_ps: u64) {
        let off = i128::from(delay_ps) - i128::from(self.first_ps);
        self.frames += 1;
        self.least_ps = self.least_ps.min(delay_ps);
        self.most_ps = self.most_ps.max(delay_ps);
        self.sum_ps += off;
        self.squares = self.squares.saturating_add(off.unsigned_abs().saturating_mul(off.unsigned_abs()));
    }

    fn mean_ps(&self) -> f64 {
        self.first_ps as f64 + self.sum_ps as f64 / self.frames as f64
    }

    /// Returns the sum of squared deviations from the mean, in ps^2.
    fn spread(&self) -> f64 {
        let sum = self.sum_ps as f64;
        (self.squares as f64 - sum * sum / self.frames as f64).max(0.0)
    }
}

/// Variation of the one-way delay of one traffic entry's flows in the measured window. Deviations are computed within
/// each flow, because delays differ between flows with different paths or frame sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JitterSummary {
    /// Index of the traffic entry in the scenario, from 0.
    pub traffic: u32,
    /// Number of flows with received frames.
    pub flows: u64,
    /// Number of received frames of these flows.
    pub frames: u64,
    /// Minimum delay over all frames, in ps.
    #[serde(alias = "least_delay_ps")]
    pub min_delay_ps: u64,
    /// Mean delay over all frames, in ps.
    pub mean_delay_ps: f64,
    /// Maximum delay over all frames, in ps.
    #[serde(alias = "most_delay_ps")]
    pub max_delay_ps: u64,
    /// Standard deviation of the delay of a frame from the mean delay of its flow, in ps.
    #[serde(alias = "deviation_ps")]
    pub standard_deviation_ps: f64,
    /// Maximum over the flows of (maximum delay - minimum delay), in ps.
    pub jitter_ps: u64,
    /// Mean over the frames of (delay - minimum delay of the frame's flow), in ps.
    pub mean_jitter_ps: f64,
}

impl JitterSummary {
    /// Computes the statistics of an entry from its flows, of which there must be at least one.
    pub fn of(traffic: u32, flows: &[FlowDelays]) -> JitterSummary {
        let frames: u64 = flows.iter().map(|flow| flow.frames).sum();
        let over = |of: &dyn Fn(&FlowDelays) -> f64| flows.iter().map(of).sum::<f64>() / frames.max(1) as f64;
        JitterSummary {
            traffic,
            flows: flows.len() as u64,
            frames,
            min_delay_ps: flows.iter().map(|flow| flow.least_ps).min().unwrap_or(0),
            mean_delay_ps: over(&|flow| flow.mean_ps() * flow.frames as f64),
            max_delay_ps: flows.iter().map(|flow| flow.most_ps).max().unwrap_or(0),
            standard_deviation_ps: over(&FlowDelays::spread).sqrt(),
            jitter_ps: flows.iter().map(|flow| flow.most_ps - flow.least_ps).max().unwrap_or(0),
            mean_jitter_ps: over(&|flow| (flow.mean_ps() - flow.least_ps as f64) * flow.frames as f64),
        }
    }
}

units::pack_fields!(FlowDelays { frames, least_ps, most_ps, first_ps, sum_ps, squares });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_is_compared_with_itself() {
        let mut one = FlowDelays::first(100);
        one.record(104);
        let mut other = FlowDelays::first(1000);
        [1001, 999, 1000].into_iter().for_each(|delay| other.record(delay));
        let summary = JitterSummary::of(3, &[one, other]);
        assert_eq!((summary.traffic, summary.flows, summary.frames), (3, 2, 6));
        assert_eq!((summary.min_delay_ps, summary.max_delay_ps, summary.jitter_ps), (100, 1001, 4));
        assert!((summary.mean_delay_ps - 4204.0 / 6.0).abs() < 1e-9);
        // Deviations from the mean of the flow: -2 and 2 in the first flow; 1, -1 and 0, 0 in the second. Over 6
        // frames: sqrt((4 + 4 + 1 + 1) / 6).
        assert!((summary.standard_deviation_ps - (10.0f64 / 6.0).sqrt()).abs() < 1e-9);
        assert!((summary.mean_jitter_ps - 8.0 / 6.0).abs() < 1e-9);
    }
}
