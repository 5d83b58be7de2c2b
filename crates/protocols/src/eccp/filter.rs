//! Kalman filter of BART (Ekelin et al., NOMS 2006) for the line eps = a mu + b, the strain as a function of the
//! probe rate.

use super::parameters::EccpParameters;

/// Estimate of the line eps = a mu + b, with `mu` in Gbps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    /// Slope a in 1/Gbps, and offset b.
    line: [f64; 2],
    /// Covariance matrix: variance of a, covariance, variance of b.
    covariance: [f64; 3],
}

impl Filter {
    /// Creates a line with this slope that is zero at `mu`, and with the initial variances of the parameters. For a
    /// FIFO queue the slope is the inverse of the link rate.
    pub fn new(parameters: &EccpParameters, slope: f64, mu: f64) -> Filter {
        let (of_slope, of_offset) = (parameters.initial_slope_variance, parameters.initial_offset_variance);
        Filter { line: [slope, -slope * mu], covariance: [of_slope, 0.0, of_offset] }
    }

    /// Updates the line with the measurement of a train at `mu` Gbps: its `strain`, with the `variance` above 0.
    pub fn update(&mut self, parameters: &EccpParameters, mu: f64, strain: f64, variance: f64) {
        let [aa, ab, bb] = self.covariance;
        let (aa, bb) = (aa + parameters.noise_slope, bb + parameters.noise_offset);
        // With the measurement matrix H = (mu, 1): P H^T, and the innovation variance H P H^T + R.
        let (of_slope, of_offset) = (aa * mu + ab, ab * mu + bb);
        let innovation_variance = mu * of_slope + of_offset + variance;
        let gain = [of_slope / innovation_variance, of_offset / innovation_variance];
        let innovation = strain - (self.line[0] * mu + self.line[1]);
        self.line[0] += gain[0] * innovation;
        self.line[1] += gain[1] * innovation;
        self.covariance = [aa - gain[0] * of_slope, ab - gain[0] * of_offset, bb - gain[1] * of_offset];
    }

    /// Returns the available bandwidth in Gbps, the zero of the line: -b / a (thesis, eq. 2.3). 0 if the slope is not
    /// positive or the zero is negative.
    pub fn available(&self) -> f64 {
        let [slope, offset] = self.line;
        let available = -offset / slope;
        if slope > 0.0 && available.is_finite() { available.max(0.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// A link of 10 Gbps with an available bandwidth of 6, 5 or 1.5 Gbps (figure 2.19 of the thesis): after 200
    /// trains at random rates, the estimate is within 5 %.
    #[test]
    fn the_filter_finds_the_knee() {
        let p = EccpParameters::default();
        for knee in [6.0, 5.0, 1.5] {
            let mut random = Stream::new(7, 0, 0);
            let mut filter = Filter::new(&p, 0.1, 0.0);
            for _ in 0..200 {
                let mu = knee + random.unit() * (10.0 - knee);
                let noise = 0.01 * (random.unit() - 0.5);
                filter.update(&p, mu, 0.1 * (mu - knee) + noise, 1e-5);
            }
            assert!((filter.available() / knee - 1.0).abs() < 0.05, "{knee}: {filter:?}");
        }
    }

    /// With the slope 1 / C of a FIFO queue, one train suffices: mu = 0.2 Gbps, C = 10 Gbps and eps = 0.015 yield the
    /// estimate mu - C eps = 0.05 Gbps.
    #[test]
    fn the_first_train_is_taken_at_its_word() {
        let p = EccpParameters::default();
        let mut filter = Filter::new(&p, 0.1, 0.1);
        filter.update(&p, 0.2, 0.015, 1e-6);
        assert!((filter.available() - 0.05).abs() < 0.001, "{filter:?}");
    }

    #[test]
    fn the_covariance_stays_valid_for_any_measurement() {
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let p = EccpParameters::default();
            let mut filter = Filter::new(&p, 0.1, 0.0);
            for _ in 0..5000 {
                let strain = (random.unit() - 0.3) * 10.0_f64.powi(random.below(6) as i32 - 3);
                filter.update(&p, random.unit() * 10.0, strain, 1e-8 + random.unit());
                let [aa, ab, bb] = filter.covariance;
                assert!(aa > 0.0 && bb > 0.0 && aa * bb >= ab * ab * (1.0 - 1e-6), "{filter:?}");
                assert!(filter.available() >= 0.0 && filter.available().is_finite());
            }
        }
    }
}
