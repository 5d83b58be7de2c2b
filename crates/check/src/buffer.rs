//! Checks by high-water marks that buffers, queues and ingress accounts stay within their limits, and that each node's
//! occupancy counter equals the contents of its queues: a mismatch shows that bytes were freed twice, or never.

use std::fmt;

use crate::location::BufferLocation;
use crate::verdict::Verdict;

/// Unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of frames.
    Bytes,
    /// Frames.
    Frames,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Bytes => "bytes",
            Unit::Frames => "frames",
        })
    }
}

/// High-water mark of a buffer, queue or account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighWater(u64);

impl HighWater {
    /// Records the current level.
    #[inline]
    pub fn raise(&mut self, level: u64) {
        self.0 = self.0.max(level);
    }

    /// Returns the highest level.
    #[inline]
    pub fn peak(self) -> u64 {
        self.0
    }
}

/// A high-water mark and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighWaterMark {
    /// Location of the buffer, queue or account.
    pub location: BufferLocation,
    /// The highest level, in `unit`.
    pub peak: u64,
    /// Highest allowed level, inclusive, in `unit`.
    pub limit: u64,
    /// Unit of `peak` and `limit`.
    pub unit: Unit,
}

/// Occupancy counter of a node, and the recounted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OccupancyRecount {
    /// Location of the buffer.
    pub location: BufferLocation,
    /// Bytes according to the node's counter.
    pub counted_bytes: u64,
    /// Bytes found by a recount.
    pub found_bytes: u64,
}

/// Aggregated high-water marks and occupancy recounts, of one part of the network or of all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OccupancyFindings {
    /// Number of high-water marks, and of marks above their limit.
    locations: u64,
    over: u64,
    /// The mark with the largest excess over its limit; of equal ones, the mark with the lowest location.
    worst: Option<HighWaterMark>,
    /// Number of occupancy counters that differ from their recount, and the differing counter with the lowest location.
    wrong: u64,
    first_wrong: Option<OccupancyRecount>,
}

impl OccupancyFindings {
    /// Aggregates high-water marks and recounts (`books`), in any order.
    pub fn of(
        marks: impl IntoIterator<Item = HighWaterMark>,
        books: impl IntoIterator<Item = OccupancyRecount>,
    ) -> OccupancyFindings {
        let mut found = OccupancyFindings::default();
        for mark in marks {
            found.locations += 1;
            if mark.peak > mark.limit {
                found.over += 1;
                found.worst = worse(found.worst, Some(mark));
            }
        }
        for book in books.into_iter().filter(|book| book.counted_bytes != book.found_bytes) {
            found.wrong += 1;
            found.first_wrong = lower(found.first_wrong, Some(book));
        }
        found
    }

    /// Merges the findings of another part of the network.
    pub fn beside(self, other: OccupancyFindings) -> OccupancyFindings {
        OccupancyFindings {
            locations: self.locations + other.locations,
            over: self.over + other.over,
            worst: worse(self.worst, other.worst),
            wrong: self.wrong + other.wrong,
            first_wrong: lower(self.first_wrong, other.first_wrong),
        }
    }

    /// Returns the verdict "buffer": no mark is above its limit, and every occupancy counter equals its recount. A
    /// failure names the mark with the largest excess and the wrong counter with the lowest location; `name` returns
    /// the name of a node.
    pub fn verdict(&self, name: impl Fn(u32) -> String) -> Verdict {
        let OccupancyFindings { locations, over, wrong, .. } = *self;
        let mut faults = Vec::new();
        if let Some(HighWaterMark { location, peak, limit, unit }) = self.worst {
            faults.push(format!(
                "{over} of {locations} over their limit, the worst {}: {peak} of at most {limit} {unit}",
                location.words(&name)
            ));
        }
        if let Some(OccupancyRecount { location, counted_bytes, found_bytes }) = self.first_wrong {
            faults.push(format!(
                "{wrong} occupancies are wrong, first {}: {counted_bytes} bytes counted, {found_bytes} present",
                location.words(&name)
            ));
        }
        if !faults.is_empty() {
            return Verdict::new("buffer", false, faults.join("; "));
        }
        if locations == 0 {
            return Verdict::not_applicable("buffer", "no buffer or queue has a limit");
        }
        let (kinds, limits) =
            if locations == 1 { ("buffer or queue", "its limit") } else { ("buffers and queues", "their limits") };
        Verdict::new("buffer", true, format!("{locations} {kinds} within {limits}"))
    }
}

fn worse(a: Option<HighWaterMark>, b: Option<HighWaterMark>) -> Option<HighWaterMark> {
    let rank = |mark: &HighWaterMark| (u64::MAX - (mark.peak - mark.limit), mark.location, mark.unit as u8, mark.limit);
    a.into_iter().chain(b).min_by_key(rank)
}

fn lower(a: Option<OccupancyRecount>, b: Option<OccupancyRecount>) -> Option<OccupancyRecount> {
    a.into_iter().chain(b).min()
}

units::pack_variants!(Unit { 0 Bytes, 1 Frames });
units::pack_fields!(HighWaterMark { location, peak, limit, unit });
units::pack_fields!(OccupancyRecount { location, counted_bytes, found_bytes });
units::pack_fields!(OccupancyFindings { locations, over, worst, wrong, first_wrong });

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;
    use crate::location::QueueId;

    fn verdict(
        marks: impl IntoIterator<Item = HighWaterMark>,
        books: impl IntoIterator<Item = OccupancyRecount>,
    ) -> Verdict {
        OccupancyFindings::of(marks, books).verdict(name)
    }

    fn name(node: u32) -> String {
        format!("S{node}")
    }

    fn queue(port: u16) -> BufferLocation {
        BufferLocation::Queue(QueueId { node: 3, port, class: 0 })
    }

    /// High-water marks at or below their limits pass; one mark that is one byte above its limit fails.
    #[test]
    fn one_byte_over_one_limit_is_noticed() {
        let mut random = Stream::new(1, 0, purpose("buffer"));
        for _ in 0..300 {
            let mut marks: Vec<HighWaterMark> = (0..1 + random.below(20) as u16)
                .map(|port| {
                    let limit = random.below(10_000);
                    let mut high = HighWater::default();
                    (0..20).for_each(|_| high.raise(random.below(limit + 1)));
                    HighWaterMark { location: queue(port), peak: high.peak(), limit, unit: Unit::Bytes }
                })
                .collect();
            assert!(verdict(marks.iter().copied(), []).pass);
            let port = random.below(marks.len() as u64) as usize;
            let mut high = HighWater(marks[port].peak);
            high.raise(marks[port].limit + 1);
            high.raise(0);
            marks[port].peak = high.peak();
            let before = verdict(marks.iter().copied(), []);
            assert!(!before.pass);
            assert!(before.detail.contains(&format!("S3 egress port {port} class 0")), "{before}");
            random.shuffle(&mut marks);
            // Merging the findings of two parts of the list of marks gives the findings of the whole list.
            let (some, others) = marks.split_at(random.below(marks.len() as u64) as usize);
            let [some, others] = [some, others].map(|part| OccupancyFindings::of(part.iter().copied(), []));
            assert_eq!(some.beside(others).verdict(name), before);
            assert_eq!(verdict(marks, []), before);
        }
    }

    #[test]
    fn the_worst_is_named_with_its_unit() {
        let mark = |location, peak, limit, unit| HighWaterMark { location, peak, limit, unit };
        let marks = [
            mark(queue(1), 501, 500, Unit::Frames),
            mark(BufferLocation::Buffer { node: 7 }, 1_000_007, 1_000_000, Unit::Bytes),
            mark(queue(2), 500, 500, Unit::Frames),
        ];
        let expected = "2 of 3 over their limit, the worst S7 buffer: 1000007 of at most 1000000 bytes";
        assert_eq!(verdict(marks, []).detail, expected);
    }

    /// If no buffer or queue has a limit, the verdict must be "not applicable", not "passed".
    #[test]
    fn over_nothing_there_is_nothing_to_say() {
        let none = verdict([], []);
        assert_eq!((none.pass, none.applicable), (true, false));
        assert_eq!(none.detail, "not applicable: no buffer or queue has a limit");
        let one = HighWaterMark { location: queue(1), peak: 5, limit: 5, unit: Unit::Frames };
        assert_eq!(verdict([one], []).detail, "1 buffer or queue within its limit");
        assert!(verdict([one], []).applicable);
    }

    /// The counter of node 4 is one byte too high (bytes were never freed), that of node 2 one byte too low (freed
    /// twice).
    #[test]
    fn a_book_that_is_wrong_by_a_byte_is_noticed() {
        let book = |node, counted_bytes| OccupancyRecount {
            location: BufferLocation::Buffer { node },
            counted_bytes,
            found_bytes: 9_000,
        };
        assert!(verdict([], [book(1, 9_000), book(2, 9_000)]).pass);
        let wrong = verdict([], [book(4, 9_001), book(2, 8_999), book(1, 9_000)]);
        let expected = "2 occupancies are wrong, first S2 buffer: 8999 bytes counted, 9000 present";
        assert_eq!((wrong.pass, wrong.detail.as_str()), (false, expected));
        let parts =
            [vec![book(4, 9_001), book(1, 9_000)], vec![book(2, 8_999)]].map(|part| OccupancyFindings::of([], part));
        assert_eq!(parts.into_iter().reduce(OccupancyFindings::beside).unwrap().verdict(name), wrong);
    }
}
