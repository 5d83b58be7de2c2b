//! Reaction time of a port, from the reception of PAUSE or PFC to its effect: from the standard's table, or as
//! configured.

use std::fmt;
use std::str::FromStr;
use units::{LinkTime, ParseQuantityError, Rate, Time};

/// Bytes sent in a pause quantum of 512 bit times.
const QUANTUM_BYTES: u64 = 64;

/// IEEE 802.3, annex 31B.3.7: maximum number of quanta from the end of a PAUSE frame to the start of the last frame
/// of the port, by rate in Mbps, ascending. At 10 Gbps, 67 quanta cover the PHYs that need more than the 60 quanta of
/// other PHYs.
pub const STANDARD_QUANTA: [(u64, u64); 10] = [
    (100, 1),
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];

/// Time from the last bit of a received PAUSE or PFC frame to the latest start of a frame that it pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Maximum time that the standard permits.
    Standard,
    /// A configured time.
    Stated(LinkTime),
}

impl Reaction {
    /// Returns the reaction time on a link of `rate`.
    pub fn on(self, rate: Rate) -> Time {
        match self {
            Reaction::Standard => standard(rate),
            Reaction::Stated(time) => time.on(rate),
        }
    }
}

/// Returns the number of quanta in the standard's table for `rate`; `None` if the table does not list this rate.
pub fn standard_quanta(rate: Rate) -> Option<u64> {
    STANDARD_QUANTA.iter().find(|&&(mbps, _)| Rate::from_mbps(mbps) == rate).map(|&(_, quanta)| quanta)
}

/// Returns the standard's reaction time. Between two entries of the table it is the maximum of the time of the lower
/// entry and the quanta of the higher entry, so that it covers hardware for both rates. Above the highest entry the
/// time is constant, below the lowest entry the number of quanta.
fn standard(rate: Rate) -> Time {
    let quanta = |rate: Rate, quanta: u64| rate.serialise(quanta * QUANTUM_BYTES);
    let listed = || STANDARD_QUANTA.iter().map(|&(mbps, quanta)| (Rate::from_mbps(mbps), quanta));
    let lower = listed().take_while(|&(listed, _)| listed <= rate).last();
    let higher = listed().find(|&(listed, _)| listed >= rate);
    let time_of_lower = lower.map_or(Time::ZERO, |(listed, of)| quanta(listed, of));
    if lower.is_some_and(|(listed, _)| listed == rate) {
        return time_of_lower;
    }
    time_of_lower.max(higher.map_or(Time::ZERO, |(_, of)| quanta(rate, of)))
}

impl FromStr for Reaction {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Reaction, ParseQuantityError> {
        if text.trim() == "standard" { Ok(Reaction::Standard) } else { text.parse().map(Reaction::Stated) }
    }
}

impl fmt::Display for Reaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reaction::Standard => f.write_str("standard"),
            Reaction::Stated(time) => time.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a link carries within the standard's reaction time: 64 per quantum.
    // [PFC9]
    #[test]
    fn the_standard_by_rate() {
        for (mbps, bytes) in [
            (100, 64),
            (1_000, 128),
            (10_000, 4_288),
            (25_000, 5_120),
            (40_000, 7_552),
            (50_000, 9_408),
            (100_000, 25_216),
            (200_000, 28_992),
            (400_000, 57_920),
            (800_000, 57_920),
        ] {
            let rate = Rate::from_mbps(mbps);
            assert_eq!(rate.bytes_in(Reaction::Standard.on(rate)), bytes, "{rate}");
            assert_eq!(standard_quanta(rate).map(|quanta| quanta * 64), Some(bytes));
        }
    }

    /// Rates between two entries: at 5 Gbps, 67 quanta last 6.8608 us, longer than the 1.024 us at 1 Gbps; at 160
    /// Gbps, 453 quanta last 1,449,600 ps, less than the 2,017,280 ps at 100 Gbps. Above 800 Gbps the time is 579,200
    /// ps; at 10 Mbps one quantum is 51.2 us.
    // [PFC9]
    #[test]
    fn rates_that_are_not_listed_get_the_longer_of_their_neighbours() {
        let on = |mbps| Reaction::Standard.on(Rate::from_mbps(mbps)).as_ps();
        assert_eq!(on(2_500), 13_721_600);
        assert_eq!(on(5_000), 6_860_800);
        assert_eq!(on(160_000), 2_017_280);
        assert_eq!(on(300_000), 1_544_534);
        assert_eq!(on(1_600_000), 579_200);
        assert_eq!(on(10), 51_200_000);
        assert_eq!(standard_quanta(Rate::from_gbps(5)), None);
    }

    #[test]
    fn standard_is_a_word_and_all_else_a_time() {
        assert_eq!("standard".parse(), Ok(Reaction::Standard));
        assert_eq!("38.4ns".parse(), Ok(Reaction::Stated(LinkTime::Time(Time::from_ps(38_400)))));
        assert_eq!(Reaction::Stated(LinkTime::BitTimes(3_840)).to_string(), "3840 bit times");
        assert!("3840".parse::<Reaction>().unwrap_err().to_string().contains("no unit"));
    }
}
