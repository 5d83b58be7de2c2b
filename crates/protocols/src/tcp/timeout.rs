//! Retransmission timeout, RTO (RFC 6298).

use crate::tcp::parameters::TcpParameters;
use units::Time;

/// State of the RTO: smoothed RTT, its variation, and the exponential back-off.
#[derive(Clone, Debug)]
pub(crate) struct Timeout {
    /// SRTT and RTTVAR; `None` before the first RTT sample.
    measured: Option<(Time, Time)>,
    /// Number of doublings of the RTO by exponential back-off.
    doublings: u32,
}

impl Timeout {
    pub(crate) fn new() -> Self {
        Timeout { measured: None, doublings: 0 }
    }

    /// Adds the RTT sample of a segment that was sent once; the caller applies Karn's algorithm.
    pub(crate) fn sample(&mut self, rtt: Time) {
        self.measured = Some(match self.measured {
            // RFC 6298, 2.2: first sample.
            None => (rtt, rtt / 2),
            // RFC 6298, 2.3, with alpha = 1/8 and beta = 1/4. RTTVAR is updated first, with the old SRTT.
            Some((smoothed, variation)) => {
                let difference = smoothed.max(rtt) - smoothed.min(rtt);
                let variation = (variation * 3).saturating_add(difference) / 4;
                ((smoothed * 7).saturating_add(rtt) / 8, variation)
            }
        });
        // RFC 6298, 5 (last paragraphs): a new RTT sample ends the back-off.
        self.doublings = 0;
    }

    /// Returns SRTT; `None` before the first RTT sample.
    pub(crate) fn smoothed(&self) -> Option<Time> {
        self.measured.map(|(smoothed, _)| smoothed)
    }

    /// Doubles the RTO (RFC 6298, 5.5).
    pub(crate) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(63);
    }

    /// Returns the current RTO.
    pub(crate) fn rto(&self, parameters: &TcpParameters) -> Time {
        if let Some(fixed) = parameters.fixed_rto {
            return fixed;
        }
        let base = match self.measured {
            None => parameters.initial_rto,
            // RFC 6298, 2.3: SRTT + max(G, K * RTTVAR) with K = 4; 2.4: at least `min_rto`.
            Some((smoothed, variation)) => {
                let margin = variation.saturating_add(variation * 3).max(parameters.clock_granularity);
                smoothed.saturating_add(margin).max(parameters.min_rto)
            }
        };
        // RFC 6298, 2.5 and 5.5: exponential back-off, at most `max_rto`.
        let limit = parameters.max_rto.as_ps();
        let doubled = u128::from(base.as_ps()) << self.doublings;
        Time::from_ps(u64::try_from(doubled).unwrap_or(u64::MAX).min(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_6298_by_hand() {
        let parameters = TcpParameters { min_rto: Time::from_ms(1), ..TcpParameters::default() };
        let mut timeout = Timeout::new();
        assert_eq!(timeout.rto(&parameters), Time::from_s(1));
        timeout.sample(Time::from_ms(100));
        // First sample 100 ms: SRTT = 100, RTTVAR = 50, so that RTO = 100 + 4 * 50.
        assert_eq!(timeout.rto(&parameters), Time::from_ms(300));
        timeout.sample(Time::from_ms(180));
        // Second sample 180 ms: RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5, SRTT = 7/8 * 100 + 1/8 * 180 = 110.
        assert_eq!(timeout.rto(&parameters), Time::from_ms(110 + 230));
        timeout.sample(Time::from_ms(110));
        // Third sample 110 ms: RTTVAR = 3/4 * 57.5 = 43.125, SRTT = 110.
        assert_eq!(timeout.rto(&parameters), Time::from_us(110_000 + 172_500));
    }

    #[test]
    fn back_off_doubles_to_the_limit_and_a_sample_ends_it() {
        let parameters = TcpParameters::default();
        let mut timeout = Timeout::new();
        for expected in [2, 4, 8, 16, 32, 60, 60] {
            timeout.back_off();
            assert_eq!(timeout.rto(&parameters), Time::from_s(expected));
        }
        (0..100).for_each(|_| timeout.back_off());
        assert_eq!(timeout.rto(&parameters), Time::from_s(60));
        timeout.sample(Time::from_us(10));
        assert_eq!(timeout.rto(&parameters), parameters.min_rto);
        let fixed = TcpParameters { fixed_rto: Some(Time::from_s(240)), ..parameters };
        timeout.back_off();
        assert_eq!(timeout.rto(&fixed), Time::from_s(240));
    }

    #[test]
    fn a_constant_round_trip_leaves_the_granularity_as_margin() {
        let parameters = TcpParameters { min_rto: Time::from_ps(1), ..TcpParameters::default() };
        let mut timeout = Timeout::new();
        (0..200).for_each(|_| timeout.sample(Time::from_ms(1)));
        assert_eq!(timeout.rto(&parameters), Time::from_us(1001));
    }
}
