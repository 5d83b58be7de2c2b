//! Detector of bounce storms: intervals with more bounces than deliveries.

use crate::account::Counters;
use crate::parameters::StormParameters;
use stats::bounces::BounceStorm;
use units::Time;

/// Detects bounce storms, as [`StormParameters`] defines them.
#[derive(Debug, Default)]
pub(crate) struct Storms {
    parameters: StormParameters,
    /// Bounces and arrivals of each node at its last sample.
    before: Vec<(u64, u64)>,
    /// Bounces and arrivals in the current interval.
    bounced: u64,
    received: u64,
    /// Current sequence of consecutive intervals that exceed the ratio (`bad_intervals`).
    current: BounceStorm,
    bad_intervals: u32,
    longest: BounceStorm,
    last_sample: Time,
}

impl Storms {
    pub fn new(parameters: StormParameters, nodes: usize) -> Storms {
        Storms { parameters, before: vec![(0, 0); nodes], ..Storms::default() }
    }

    /// Returns the configured interval.
    pub fn every(&self) -> Option<Time> {
        self.parameters.every
    }

    /// Adds the bounces and arrivals of one node since its last sample.
    pub fn add(&mut self, index: usize, counters: &Counters) {
        let packets = &counters.packets;
        let now = (counters.bounces + counters.detours, packets.delivered_whole.frames + packets.consumed.frames);
        let before = std::mem::replace(&mut self.before[index], now);
        self.bounced += now.0 - before.0;
        self.received += now.1 - before.1;
    }

    /// Returns and clears the bounces and arrivals of this rank in the current interval.
    pub fn take_interval(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.bounced), std::mem::take(&mut self.received))
    }

    /// Evaluates the interval that ends at `now`, from the counts of all ranks.
    pub fn evaluate(&mut self, now: Time, parts: Vec<(u64, u64)>) {
        let (bounced, received) = parts.into_iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        // Counts are below 2^53, so they are exact as `f64`; only the multiplication rounds.
        if bounced as f64 > self.parameters.ratio * received as f64 {
            if self.bad_intervals == 0 {
                self.current = BounceStorm { start_ps: self.last_sample.as_ps(), ..BounceStorm::default() };
            }
            self.bad_intervals += 1;
            self.current.end_ps = now.as_ps();
            self.current.bounced += bounced;
            self.current.received += received;
            let longer = self.current.end_ps - self.current.start_ps > self.longest.end_ps - self.longest.start_ps;
            if self.bad_intervals >= self.parameters.samples && longer {
                self.longest = self.current;
            }
        } else {
            self.bad_intervals = 0;
        }
        self.last_sample = now;
    }

    /// Returns the longest storm.
    pub fn storm(&self) -> Option<BounceStorm> {
        (self.longest.end_ps > 0).then_some(self.longest)
    }

    /// Returns the warning about the longest storm, if any.
    pub fn warning(&self) -> Option<String> {
        let BounceStorm { start_ps, end_ps, bounced, received } = self.storm()?;
        let (start, span) = (Time::from_ps(start_ps), Time::from_ps(end_ps - start_ps));
        Some(format!(
            "bounce storm: for {span} from {start} on switches bounced {bounced} frames while hosts received \
             {received}: the load exceeds the capacity for bounces; slow the senders down, or limit bounces"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storm_with(parameters: StormParameters, spans: &[(u64, u64)]) -> Option<BounceStorm> {
        let mut storms = Storms::new(parameters, 1);
        let mut counters = Counters::default();
        for (at, &(bounced, received)) in spans.iter().enumerate() {
            counters.bounces += bounced;
            counters.packets.consumed.frames += received;
            storms.add(0, &counters);
            let span = storms.take_interval();
            storms.evaluate(Time::from_us(at as u64 + 1), vec![span]);
        }
        storms.storm()
    }

    fn storm_of(spans: &[(u64, u64)]) -> Option<BounceStorm> {
        storm_with(StormParameters::default(), spans)
    }

    #[test]
    fn samples_and_ratio_are_parameters() {
        let with = |samples, ratio, spans: &[(u64, u64)]| {
            storm_with(StormParameters { samples, ratio, ..StormParameters::default() }, spans).is_some()
        };
        assert!(with(3, 1.0, &[(5, 4); 3]) && !with(4, 1.0, &[(5, 4); 3]));
        assert!(with(3, 1.2, &[(5, 4); 3]) && !with(3, 1.25, &[(5, 4); 3]));
        assert!(with(1, 0.0, &[(1, 100)]) && !with(1, 0.0, &[(0, 100)]));
    }

    #[test]
    fn a_storm_is_ten_bad_samples_in_a_row() {
        assert_eq!(storm_of(&[(5, 4); 9]), None);
        assert_eq!(storm_of(&[(4, 4); 100]), None, "as many as were received is not more");
        let nine_and_nine: Vec<(u64, u64)> = (0..19).map(|at| if at == 9 { (0, 1) } else { (5, 4) }).collect();
        assert_eq!(storm_of(&nine_and_nine), None);
        let storm = storm_of(&[vec![(0, 9); 3], vec![(5, 4); 12], vec![(0, 9)]].concat());
        let expected = BounceStorm { start_ps: 3_000_000, end_ps: 15_000_000, bounced: 60, received: 48 };
        assert_eq!(storm, Some(expected));
    }
}
