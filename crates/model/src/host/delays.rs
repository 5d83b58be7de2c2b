//! One-way delays of frames received by a host.

use crate::all_delays::AllDelays;
use stats::histogram::Histogram;
use units::Time;

/// Delays collected before they are added to a histogram.
const BATCH: usize = 16;

/// The most recent delays of a host, which are not yet in a histogram.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    recent: Vec<u64>,
}

impl Delays {
    /// Records the delay of a frame received by `host`.
    #[inline]
    pub fn record(&mut self, delay: Time, host: u32, all: &AllDelays) {
        self.recent.push(delay.as_ps());
        if self.recent.len() == BATCH {
            self.sort_in(&mut all.of(host));
        }
    }

    // Not inlined, because it runs only once per batch.
    #[inline(never)]
    fn sort_in(&mut self, histogram: &mut Histogram) {
        for delay_ps in self.recent.drain(..) {
            histogram.record(delay_ps);
        }
    }

    /// Adds the delays that are not in [`AllDelays`] yet, in ps, to `total`.
    pub fn add_to(&self, total: &mut Histogram) {
        self.recent.iter().for_each(|&delay_ps| total.record(delay_ps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_delays::HOSTS;
    use units::random::Stream;

    #[test]
    fn the_sum_over_hosts_has_the_delays_of_each() {
        const ALL: u32 = 3 * HOSTS + 1;
        let mut random = Stream::new(9, 0, 0);
        let (all, mut expected) = (AllDelays::new(ALL as usize), Histogram::new());
        let mut hosts: Vec<Delays> = (0..ALL).map(|_| Delays::default()).collect();
        for _ in 0..20_000 {
            let (host, delay_ps) = (random.below(u64::from(ALL)) as u32, 1 + random.below(1 << 30));
            hosts[host as usize].record(Time::from_ps(delay_ps), host, &all);
            expected.record(delay_ps);
        }
        let mut total = Histogram::new();
        all.add_to(&mut total);
        assert!(total.count() < expected.count(), "some wait to be sorted");
        hosts.iter().for_each(|host| host.add_to(&mut total));
        assert_eq!(total, expected);
        all.reset();
        let mut total = Histogram::new();
        all.add_to(&mut total);
        assert_eq!(total, Histogram::new());
    }
}
