//! Rate of the fastest unstrained train (thesis, eq. 2.4), of all trains or of the last ones.

use std::collections::VecDeque;

/// Rates of the unstrained trains that are, or can become, the fastest of the last trains.
#[derive(Clone, Debug, Default)]
pub struct FastestTrain {
    /// Number and rate in Gbps of trains, by ascending number and descending rate: a train that is slower than a later
    /// one is never the fastest.
    trains: VecDeque<(u64, f64)>,
}

impl FastestTrain {
    /// Adds the unstrained train `number` at `gbps`. `last` is the range of [`FastestTrain::gbps`]; with 0 only the
    /// fastest train is kept.
    pub fn add(&mut self, number: u64, gbps: f64, last: u32) {
        if last == 0 && self.trains.front().is_some_and(|&(_, fastest)| fastest >= gbps) {
            return;
        }
        while self.trains.back().is_some_and(|&(_, slower)| slower <= gbps) {
            self.trains.pop_back();
        }
        self.trains.push_back((number, gbps));
    }

    /// Returns the rate in Gbps of the fastest of the last `last` trains up to the train `number`, and forgets earlier
    /// ones; of all trains if `last` is 0. Without an unstrained train it is 0.
    pub fn gbps(&mut self, number: u64, last: u32) -> f64 {
        let is_over = |&(train, _): &(u64, f64)| last > 0 && train.saturating_add(last.into()) <= number;
        while self.trains.front().is_some_and(is_over) {
            self.trains.pop_front();
        }
        self.trains.front().map_or(0.0, |train| train.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains 1 to 5 at 0.3, 0.9, 0.5, 0.4, 0.6 Gbps: the fastest of the last two, of the last three and of all.
    #[test]
    fn the_fastest_of_the_last_trains_by_hand() {
        let over = |last: u32| {
            let mut fastest = FastestTrain::default();
            let rates = [0.3, 0.9, 0.5, 0.4, 0.6].into_iter().zip(1..);
            rates
                .map(|(gbps, number)| {
                    fastest.add(number, gbps, last);
                    fastest.gbps(number, last)
                })
                .collect::<Vec<f64>>()
        };
        assert_eq!(over(2), [0.3, 0.9, 0.9, 0.5, 0.6]);
        assert_eq!(over(3), [0.3, 0.9, 0.9, 0.9, 0.6]);
        assert_eq!(over(0), [0.3, 0.9, 0.9, 0.9, 0.9]);
        assert_eq!(over(1), [0.3, 0.9, 0.5, 0.4, 0.6]);
        // Strained trains count too: after train 9 none of the last three was unstrained.
        let mut fastest = FastestTrain::default();
        fastest.add(6, 0.6, 3);
        assert_eq!([fastest.gbps(8, 3), fastest.gbps(9, 3)], [0.6, 0.0]);
    }

    /// Trains of falling rates: without a range, slower trains are not kept.
    #[test]
    fn only_the_maximum_is_kept_without_a_range() {
        for (last, kept) in [(0, 1), (3, 3)] {
            let mut fastest = FastestTrain::default();
            for number in 1..=1000 {
                fastest.add(number, 1.0 / number as f64, last);
                fastest.gbps(number, last);
            }
            assert_eq!(fastest.trains.len(), kept);
        }
    }
}
