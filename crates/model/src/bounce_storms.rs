//! Detector of bounce storms: intervals with more bounces than deliveries.

use crate::account::Ledger;
use crate::parameters::StormParameters;
use stats::turns::Storm;
use units::Time;

/// Detects bounce storms, as [`StormParameters`] defines them.
#[derive(Debug, Default)]
pub(crate) struct Storms {
    parameters: StormParameters,
    /// Bounces and arrivals of each node at its last sample.
    before: Vec<(u64, u64)>,
    /// Bounces and arrivals in the current interval.
    turned: u64,
    received: u64,
    /// Current run of consecutive bad intervals.
    current: Storm,
    looks: u32,
    longest: Storm,
    last_look: Time,
}

impl Storms {
    pub fn new(parameters: StormParameters, nodes: usize) -> Storms {
        Storms { parameters, before: vec![(0, 0); nodes], ..Storms::default() }
    }

    /// Returns the configured interval.
    pub fn every(&self) -> Option<Time> {
        self.parameters.every
    }

    /// Adds the counts of one node since its last sample.
    pub fn add(&mut self, index: usize, ledger: &Ledger) {
        let packets = &ledger.packets;
        let now = (ledger.bounces + ledger.detours, packets.delivered_whole.frames + packets.consumed.frames);
        let before = std::mem::replace(&mut self.before[index], now);
        self.turned += now.0 - before.0;
        self.received += now.1 - before.1;
    }

    /// Returns and clears the bounces and arrivals of this rank in the current interval.
    pub fn take_span(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.turned), std::mem::take(&mut self.received))
    }

    /// Evaluates the interval that ends at `now`, from the counts of all ranks.
    pub fn look(&mut self, now: Time, parts: Vec<(u64, u64)>) {
        let (turned, received) = parts.into_iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        // Counts are below 2^53, so they are exact as floats, with one rounded multiplication.
        if turned as f64 > self.parameters.ratio * received as f64 {
            if self.looks == 0 {
                self.current = Storm { start_ps: self.last_look.as_ps(), ..Storm::default() };
            }
            self.looks += 1;
            self.current.end_ps = now.as_ps();
            self.current.turned += turned;
            self.current.received += received;
            let longer = self.current.end_ps - self.current.start_ps > self.longest.end_ps - self.longest.start_ps;
            if self.looks >= self.parameters.looks && longer {
                self.longest = self.current;
            }
        } else {
            self.looks = 0;
        }
        self.last_look = now;
    }

    /// Returns the longest storm.
    pub fn storm(&self) -> Option<Storm> {
        (self.longest.end_ps > 0).then_some(self.longest)
    }

    /// Returns the warning for the summary.
    pub fn warning(&self) -> Option<String> {
        let Storm { start_ps, end_ps, turned, received } = self.storm()?;
        let (start, span) = (Time::from_ps(start_ps), Time::from_ps(end_ps - start_ps));
        Some(format!(
            "bounce storm: for {span} from {start} on switches turned {turned} frames around while hosts received \
             {received}: the load is more than buffers can carry back and forth; slow the senders down, or limit \
             bounces"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_by(parameters: StormParameters, spans: &[(u64, u64)]) -> Option<Storm> {
        let mut storms = Storms::new(parameters, 1);
        let mut ledger = Ledger::default();
        for (at, &(turned, received)) in spans.iter().enumerate() {
            ledger.bounces += turned;
            ledger.packets.consumed.frames += received;
            storms.add(0, &ledger);
            let span = storms.take_span();
            storms.look(Time::from_us(at as u64 + 1), vec![span]);
        }
        storms.storm()
    }

    fn told(spans: &[(u64, u64)]) -> Option<Storm> {
        told_by(StormParameters::default(), spans)
    }

    #[test]
    fn looks_and_ratio_are_parameters() {
        let with = |looks, ratio, spans: &[(u64, u64)]| {
            told_by(StormParameters { looks, ratio, ..StormParameters::default() }, spans).is_some()
        };
        assert!(with(3, 1.0, &[(5, 4); 3]) && !with(4, 1.0, &[(5, 4); 3]));
        assert!(with(3, 1.2, &[(5, 4); 3]) && !with(3, 1.25, &[(5, 4); 3]));
        assert!(with(1, 0.0, &[(1, 100)]) && !with(1, 0.0, &[(0, 100)]));
    }

    #[test]
    fn a_storm_is_ten_bad_looks_in_a_row() {
        assert_eq!(told(&[(5, 4); 9]), None);
        assert_eq!(told(&[(4, 4); 100]), None, "as many as were received is not more");
        let nine_and_nine: Vec<(u64, u64)> = (0..19).map(|at| if at == 9 { (0, 1) } else { (5, 4) }).collect();
        assert_eq!(told(&nine_and_nine), None);
        let storm = told(&[vec![(0, 9); 3], vec![(5, 4); 12], vec![(0, 9)]].concat());
        let expected = Storm { start_ps: 3_000_000, end_ps: 15_000_000, turned: 60, received: 48 };
        assert_eq!(storm, Some(expected));
    }
}
