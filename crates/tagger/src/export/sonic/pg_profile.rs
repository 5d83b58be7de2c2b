//! `pg_profile_lookup.ini` of a SONiC platform: buffer settings of a lossless priority group by speed and cable.
//!
//! ```text
//! # speed cable size    xon   xoff   threshold [xon_offset]
//!   100000  40m  1248  2288  55120       -3      2288
//! ```

use super::platform::PlatformError;
use std::collections::BTreeMap;
use units::{Rate, Time, cable_delay};

/// A row: sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgRow {
    /// Line, counted from 1.
    pub line: usize,
    /// Cable length as in the file: `40m`.
    pub cable: String,
    /// Guaranteed minimum of the group, in bytes. If it is less than `xoff` plus `xon`, the headroom is in a pool that
    /// groups share (Broadcom); otherwise it includes the headroom.
    pub size: u64,
    /// XON threshold of the group, in bytes.
    pub xon: u64,
    /// Headroom after XOFF, in bytes.
    pub xoff: u64,
    /// Threshold of the shared pool: an exponent of alpha, or bytes if the pool is static.
    pub threshold: i64,
    /// XON is also sent if the occupancy is this many bytes below the XOFF threshold.
    pub xon_offset: Option<u64>,
}

impl PgRow {
    /// Returns whether `size` includes the headroom.
    pub fn size_holds_headroom(&self) -> bool {
        self.size >= self.xon.saturating_add(self.xoff)
    }
}

/// Rows of a file by speed in Mbit/s and cable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgTable {
    rows: BTreeMap<(u64, Time), PgRow>,
}

impl PgTable {
    /// Reads a file.
    ///
    /// # Errors
    /// With the line, for an invalid number, a length without unit, or a repeated speed and cable; also if the file has
    /// no rows.
    pub fn parse(text: &str) -> Result<PgTable, PlatformError> {
        let mut rows: BTreeMap<(u64, Time), PgRow> = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let wrong = |what: String| PlatformError::of_rows(format!("line {}", index + 1), what);
            if !(6..=7).contains(&words.len()) {
                let what =
                    format!("{} columns, expected speed cable size xon xoff threshold [xon_offset]", words.len());
                return Err(wrong(what));
            }
            let number = |column: usize, what: &str| match words[column].parse::<u64>() {
                Ok(number) if number <= 1 << 40 => Ok(number),
                _ => Err(wrong(format!("{what} `{}` is no whole number", fabric::visible(words[column])))),
            };
            let speed = number(0, "speed")?;
            if speed == 0 || Rate::from_bps(speed.saturating_mul(1_000_000)).is_none() {
                return Err(wrong(format!("speed {speed} is no rate in Mbit/s")));
            }
            let delay = match cable_delay(words[1]) {
                Ok(delay) => delay,
                Err(why) => return Err(wrong(format!("cable `{}`: {why}", fabric::visible(words[1])))),
            };
            let Ok(threshold) = words[5].parse::<i64>() else {
                return Err(wrong(format!("threshold `{}` is no whole number", fabric::visible(words[5]))));
            };
            let row = PgRow {
                line: index + 1,
                cable: words[1].to_owned(),
                size: number(2, "size")?,
                xon: number(3, "xon")?,
                xoff: number(4, "xoff")?,
                threshold,
                xon_offset: (words.len() == 7).then(|| number(6, "xon_offset")).transpose()?,
            };
            if let Some(first) = rows.insert((speed, delay), row) {
                return Err(wrong(format!("speed {speed} and cable {} are in line {} already", words[1], first.line)));
            }
        }
        match rows.is_empty() {
            true => Err(PlatformError::of_rows("pg_profile_lookup".to_owned(), "it has no row".to_owned())),
            false => Ok(PgTable { rows }),
        }
    }

    /// Returns the row of a port.
    ///
    /// # Errors
    /// If the platform does not have the speed or cable: SONiC gives such a port no lossless profile.
    pub fn row(&self, rate: Rate, delay: Time) -> Result<&PgRow, PlatformError> {
        let speed = rate.as_bps() / 1_000_000;
        if let Some(row) = self.rows.get(&(speed, delay)) {
            return Ok(row);
        }
        let cables: Vec<&str> =
            self.rows.iter().filter(|(key, _)| key.0 == speed).map(|(_, row)| row.cable.as_str()).collect();
        let (key, what) = if cables.is_empty() {
            let mut speeds: Vec<u64> = self.rows.keys().map(|key| key.0).collect();
            speeds.dedup();
            let speeds: Vec<String> = speeds.iter().map(u64::to_string).collect();
            (format!("speed {speed}"), format!("the platform has no such row: its speeds are {}", speeds.join(", ")))
        } else {
            let what = format!("the platform has no such row: its cables at {speed} are {}", cables.join(", "));
            (format!("speed {speed}, cable {}", length(delay)), what)
        };
        Err(PlatformError::of_rows(key, what))
    }
}

/// Returns the length of a cable: `40m`, at 5 ns per metre, or its delay if the length is not in whole metres.
pub(super) fn length(delay: Time) -> String {
    match delay.as_ps() % 5_000 {
        0 => format!("{}m", delay.as_ps() / 5_000),
        _ => delay.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# PG lossless profiles.\n# speed cable size xon xoff threshold xon_offset\n\n\
                        100000 40m 1248 2288 55120 -3 2288\n 400000   300m  18796 0 445770 0\n";

    #[test]
    fn rows_are_found_by_speed_and_cable() {
        let table = PgTable::parse(GOOD).unwrap();
        let row = table.row(Rate::from_gbps(100), Time::from_ns(200)).unwrap();
        assert_eq!((row.size, row.xon, row.xoff, row.threshold, row.xon_offset), (1248, 2288, 55120, -3, Some(2288)));
        assert!(!row.size_holds_headroom());
        let row = table.row(Rate::from_gbps(400), Time::from_ns(1_500)).unwrap();
        assert_eq!((row.line, row.xon_offset), (5, None));
        let absent = table.row(Rate::from_gbps(400), Time::from_ns(200)).unwrap_err().to_string();
        assert_eq!(absent, "speed 400000, cable 40m: the platform has no such row: its cables at 400000 are 300m");
        let absent = table.row(Rate::from_gbps(10), Time::from_ns(200)).unwrap_err().to_string();
        assert_eq!(absent, "speed 10000: the platform has no such row: its speeds are 100000, 400000");
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        for (from, to, message) in [
            ("40m", "40", "line 4: cable `40`: write a length like 300m or 10km"),
            ("100000 40m", "fast 40m", "line 4: speed `fast` is no whole number"),
            ("55120", "-1", "line 4: xoff `-1` is no whole number"),
            (" -3 2288", " -3 2288 9", "line 4: 8 columns, expected speed cable"),
            (" -3 2288", "", "line 4: 5 columns, expected speed cable"),
            ("400000   300m", "100000 40m", "line 5: speed 100000 and cable 40m are in line 4 already"),
            (" 0\n", " x\n", "line 5: threshold `x` is no whole number"),
        ] {
            let refused = PgTable::parse(&GOOD.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(refused.starts_with(message), "{to}: {refused}");
        }
        assert!(PgTable::parse("# nothing\n").unwrap_err().to_string().contains("no row"));
    }
}
