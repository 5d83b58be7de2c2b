//! Flow size distributions, from files and built-in.

use crate::decimal;
use crate::lines::{FileError, Lines, Problem, not_number};
use crate::sizes::{Cdf, CdfPoint};
use std::io::BufRead;
use std::sync::Arc;

/// Maximum number of points of a size distribution.
const MAX_POINTS: usize = 1 << 20;

impl Cdf {
    /// Reads a size distribution: two columns, size in bytes and cumulative share, with linear interpolation between
    /// the points. The last share is 100 (HPCC) or 1 (conweave), which determines the scale. `file` is the file name
    /// in errors.
    ///
    /// # Errors
    /// If a line is malformed, a size or share decreases, or the last share is not 100 or 1.
    pub fn read(reader: impl BufRead, file: &str) -> Result<Cdf, FileError> {
        let mut lines = Lines::new(reader, file, "size distribution");
        let (mut points, mut numbers) = (Vec::new(), Vec::new());
        while let Some(columns) = lines.next()? {
            let point = parse_point(&columns);
            points.push(point.map_err(|problem| lines.error(problem))?);
            numbers.push(lines.number());
            if points.len() > MAX_POINTS {
                return Err(lines.error(Problem::Distribution("a distribution has at most 1,048,576 points")));
            }
        }
        let Some(last) = points.last() else {
            return Err(lines.error(Problem::Empty("lines of <bytes> <percent>")));
        };
        // Shares were parsed with twelve decimals; those that end at 100 are scaled to end at 1.
        if last.share == 100 * Cdf::WHOLE {
            points.iter_mut().for_each(|point| point.share = (point.share + 50) / 100);
        } else if last.share != Cdf::WHOLE {
            return Err(lines.error(Problem::Distribution("the last share must be 100 (percent) or 1")));
        }
        Cdf::new(points).map_err(|(at, why)| lines.error_at(numbers[at], Problem::Distribution(why)))
    }
}

fn parse_point(columns: &[&str]) -> Result<CdfPoint, Problem> {
    let &[bytes, share] = columns else {
        return Err(Problem::Columns { found: columns.len(), expected: "<bytes> <percent>" });
    };
    let (bytes, _) = decimal::parse(bytes, 0).ok_or_else(|| not_number(bytes, "a size in bytes"))?;
    let (share, _) = decimal::parse(share, 12).ok_or_else(|| not_number(share, "a share from 0 to 100 or 0 to 1"))?;
    Ok(CdfPoint { bytes, share })
}

/// A built-in size distribution.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Name of the distribution in scenarios.
    pub name: &'static str,
    /// Origin of the measurement, and source of the points.
    pub source: &'static str,
    /// Points: size in bytes, and cumulative share in hundredths of a percent.
    points: &'static [(u64, u64)],
}

/// Bytes per packet of the data-mining distribution, whose sizes were published in packets.
const MINED_PACKET_BYTES: u64 = 1460;

/// Built-in size distributions.
pub const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: "ali-storage",
        source: "storage in Alibaba's data centres, 2019; points of AliStorage2019.txt of the HPCC simulator",
        points: &[
            (0, 0),
            (4_000, 2293),
            (8_000, 6921),
            (16_000, 8061),
            (32_000, 9047),
            (64_000, 9353),
            (128_000, 9677),
            (256_000, 9753),
            (2_000_000, 10_000),
        ],
    },
    BuiltIn {
        name: "data-mining",
        source: "a data-mining cluster (VL2, SIGCOMM 2009), as in pFabric (SIGCOMM 2013): packets of 1460 bytes, half \
                 of all flows one packet",
        points: &[
            (MINED_PACKET_BYTES, 0),
            (MINED_PACKET_BYTES, 5000),
            (2 * MINED_PACKET_BYTES, 6000),
            (3 * MINED_PACKET_BYTES, 7000),
            (7 * MINED_PACKET_BYTES, 8000),
            (267 * MINED_PACKET_BYTES, 9000),
            (2_107 * MINED_PACKET_BYTES, 9500),
            (66_667 * MINED_PACKET_BYTES, 9900),
            (666_667 * MINED_PACKET_BYTES, 10_000),
        ],
    },
    BuiltIn {
        name: "facebook-hadoop",
        source: "Hadoop at Facebook (Roy et al., SIGCOMM 2015); points of FbHdp_distribution.txt of the HPCC simulator",
        points: &[
            (0, 0),
            (100, 100),
            (200, 200),
            (300, 500),
            (350, 1500),
            (400, 2000),
            (500, 3000),
            (600, 4000),
            (700, 5000),
            (1_000, 6000),
            (2_000, 6700),
            (7_000, 7000),
            (30_000, 7200),
            (50_000, 8200),
            (80_000, 8700),
            (120_000, 9000),
            (300_000, 9500),
            (1_000_000, 9750),
            (2_000_000, 9900),
            (10_000_000, 10_000),
        ],
    },
    BuiltIn {
        name: "web-search",
        source: "a web search cluster (DCTCP, SIGCOMM 2010); points of WebSearch_distribution.txt of the HPCC \
            simulator",
        points: &[
            (0, 0),
            (10_000, 1500),
            (20_000, 2000),
            (30_000, 3000),
            (50_000, 4000),
            (80_000, 5300),
            (200_000, 6000),
            (1_000_000, 7000),
            (2_000_000, 8000),
            (5_000_000, 9000),
            (10_000_000, 9700),
            (30_000_000, 10_000),
        ],
    },
];

impl BuiltIn {
    /// Returns the built-in distribution of this name; `None` if there is none.
    pub fn named(name: &str) -> Option<BuiltIn> {
        BUILT_IN.into_iter().find(|built_in| built_in.name == name)
    }

    /// Returns the points as a [`Cdf`].
    pub fn cdf(&self) -> Arc<Cdf> {
        let point = |&(bytes, share)| CdfPoint { bytes, share: share * (Cdf::WHOLE / 10_000) };
        Arc::new(Cdf::new(self.points.iter().map(point).collect()).expect("tested"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mean, Sizes};
    use units::random::Stream;

    fn read(text: &str) -> Result<Cdf, String> {
        Cdf::read(text.as_bytes(), "sizes.txt").map_err(|error| error.to_string())
    }

    #[test]
    fn means_are_exact() {
        let mean = |name: &str| BuiltIn::named(name).unwrap().cdf().mean();
        let whole = |Mean { numerator, denominator }| (numerator / denominator, numerator % denominator);
        // Sum of (share * mean size) over the intervals, in bytes: 750 + 750 + 2500 + 4000 + 8450 + 9800 + 60000 +
        // ...
        assert_eq!(whole(mean("web-search")), (1_711_250, 0));
        // The mean is 5116.65 packets; the simulations of pFabric and its successors round it to 5117.
        assert!((mean("data-mining").as_f64() / 1460.0 - 5116.6).abs() < 0.1);
        assert!((mean("ali-storage").as_f64() - 40_869.8).abs() < 1e-6, "{}", mean("ali-storage").as_f64());
        assert!((mean("facebook-hadoop").as_f64() - 120_420.75).abs() < 1e-6, "{}", mean("facebook-hadoop").as_f64());
    }

    #[test]
    fn both_scales_are_distinguished_by_the_last_line() {
        let percent = read("0 0\n10000 15\n# comment\n\n30000000 100\n").unwrap();
        assert_eq!(percent, read("0 0\n10000 0.15\n30000000 1.0\n").unwrap());
        assert_eq!(percent.points()[1].share, Cdf::WHOLE / 100 * 15);
        assert_eq!(read("1 0\n1 0.5\n2 1\n").unwrap().mean().as_f64(), 1.25, "a step");
    }

    #[test]
    fn each_error_names_the_line_and_what_would_be_right() {
        let fails = |text: &str, at: &str, what: &str| {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("sizes.txt:{at}: ")) && error.contains(what), "{error}");
        };
        fails("", "1", "empty");
        fails("0 0\n\n5 ten\n", "3", "`ten` is not a share");
        fails("0 0\n-5 50\n", "2", "`-5` is not a size");
        fails("0 0\n5\n", "2", "1 columns: expected <bytes> <percent>");
        fails("0 0\n5 50 1\n", "2", "3 columns");
        fails("0 0\n5 60\n4 70\n6 100\n", "3", "sizes must not decrease");
        fails("0 0\n5 60\n7 50\n8 100\n", "3", "shares must not decrease");
        fails("0 0\n5 60\n7 97.5\n", "3", "100 (percent) or 1");
        fails("0 5\n5 60\n7 100\n", "1", "share 0");
        fails("0 0\n0 100\n", "2", "largest size");
        fails("0 0\n99999999999999999 100\n", "2", "largest size");
        fails("5 100\n", "1", "share 0");
        let long = format!("0 0\n{}\n", "1".repeat(5000));
        fails(&long, "2", "longer than");
        assert!(Cdf::read(&b"0 0\n\xff\xfe 1\n"[..], "x").unwrap_err().to_string().starts_with("x:2: not UTF-8"));
    }

    /// Kolmogorov-Smirnov test at drawn sizes, for which the distribution is known exactly. The sample mean must be
    /// within four standard errors of the mean.
    #[test]
    fn samples_follow_their_distribution() {
        const DRAWS: usize = 100_000;
        for (seed, built_in) in BUILT_IN.into_iter().enumerate() {
            let cdf = built_in.cdf();
            let (sizes, mut stream) = (Sizes::Empirical(cdf.clone()), Stream::new(seed as u64, 0, 0));
            let mut drawn: Vec<u64> = (0..DRAWS).map(|_| sizes.draw(&mut stream)).collect();
            drawn.sort_unstable();
            // 1.95 / sqrt(n) is the 99.9 % quantile of the test statistic for a continuous distribution; for steps it
            // is smaller.
            let allowed = 1.95 / (DRAWS as f64).sqrt();
            for at in (0..DRAWS).step_by(97) {
                let below = drawn.partition_point(|size| *size <= drawn[at]) as f64 / DRAWS as f64;
                let expected = cdf.share_at_most(drawn[at]) as f64 / Cdf::WHOLE as f64;
                // Sizes are rounded to whole bytes, which matters if a single size has a share of its own.
                let next = cdf.share_at_most(drawn[at] + 1) as f64 / Cdf::WHOLE as f64;
                assert!(below >= expected - allowed && below <= next + allowed, "{} at {}", built_in.name, drawn[at]);
            }
            let mean = cdf.mean().as_f64();
            let sum: f64 = drawn.iter().map(|size| *size as f64).sum();
            let squares: f64 = drawn.iter().map(|size| (*size as f64 - mean).powi(2)).sum();
            let error = (squares / DRAWS as f64).sqrt() / (DRAWS as f64).sqrt();
            assert!((sum / DRAWS as f64 - mean).abs() < 4.0 * error, "{}: {}", built_in.name, sum / DRAWS as f64);
        }
    }

    #[test]
    fn the_ends_of_the_inverse() {
        let cdf = read("0 0\n1000 100\n").unwrap();
        assert_eq!(cdf.at(0), 1, "never an empty flow");
        assert_eq!(cdf.at(Cdf::WHOLE - 1), 1000);
        assert_eq!(cdf.at(Cdf::WHOLE / 2), 500);
        let mined = BuiltIn::named("data-mining").unwrap().cdf();
        assert_eq!(mined.at(Cdf::WHOLE / 2 - 1), 1460);
        assert_eq!(mined.share_at_most(1459), 0);
        assert_eq!(mined.share_at_most(1460), Cdf::WHOLE / 2);
        assert_eq!(mined.share_at_most(u64::MAX), Cdf::WHOLE);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            drop(Cdf::read(&bytes[..], "x"));
        }
        #[test]
        fn any_numbers_are_read_or_refused(text in "([0-9]{1,20} [0-9.]{1,8}\n){0,8}[0-9]{1,7} (1|100)\n") {
            if let Ok(cdf) = Cdf::read(text.as_bytes(), "x") {
                let last = cdf.points().last().map(|point| point.bytes);
                proptest::prop_assert!(Some(cdf.at(Cdf::WHOLE - 1)) <= last && cdf.at(0) >= 1);
            }
        }
    }
}
