//! Scoreboard of a sender with selective acknowledgements (RFC 6675): lost bytes, bytes in flight (pipe), next
//! segment.

use crate::ranges::Ranges;

/// Byte range (start, end) with an exclusive end.
type ByteRange = (u64, u64);

/// Next transmission (RFC 6675, 4, NextSeg).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSegment {
    /// Retransmit this range, because it is lost, or because no new bytes can be sent.
    Again(ByteRange),
    /// Send new bytes.
    New,
}

/// Scoreboard of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// Bytes acknowledged cumulatively or reported by SACK blocks.
    arrived: Ranges,
    mss: u64,
    /// DupThresh (RFC 6675), in segments.
    threshold: u64,
    /// End of the highest byte range retransmitted in this loss recovery (HighRxt, plus one).
    high_rxt: u64,
    /// Whether the rescue retransmission of this loss recovery has been sent.
    rescued: bool,
}

impl Scoreboard {
    pub(crate) fn new(mss: u64, threshold: u32) -> Self {
        Scoreboard { arrived: Ranges::default(), mss, threshold: threshold.into(), high_rxt: 0, rescued: false }
    }

    /// Adds all bytes below `acknowledged`, and the bytes of the SACK `blocks` below `sent`, the end of the bytes
    /// sent so far. Returns the number of bytes that the blocks report for the first time.
    pub(crate) fn update(&mut self, acknowledged: u64, blocks: impl Iterator<Item = ByteRange>, sent: u64) -> u64 {
        let expected = self.arrived.expected();
        self.arrived.insert(expected, acknowledged.max(expected));
        blocks.map(|(start, end)| self.arrived.insert(start, end.min(sent))).sum()
    }

    /// Discards the SACK information after a timeout, because the receiver may have discarded these bytes (RFC 2018,
    /// 8).
    pub(crate) fn forget(&mut self, acknowledged: u64) {
        self.arrived = Ranges::default();
        self.arrived.insert(0, acknowledged);
        self.high_rxt = acknowledged;
    }

    /// Begins a loss recovery; `acknowledged` is the first unacknowledged byte.
    pub(crate) fn begin(&mut self, acknowledged: u64) {
        (self.high_rxt, self.rescued) = (acknowledged, false);
    }

    /// Returns the segment at the first missing byte, which must be below `sent`, and records its retransmission.
    /// This retransmission does not depend on the pipe.
    pub(crate) fn first(&mut self, sent: u64) -> ByteRange {
        let piece = self.missing(self.arrived.expected(), sent);
        self.high_rxt = self.high_rxt.max(piece.1);
        piece
    }

    /// Returns the number of bytes below `below` that SACK blocks have reported.
    pub(crate) fn reported_bytes(&self, below: u64) -> u64 {
        self.arrived.above().iter().map(|&(start, end)| end.min(below).saturating_sub(start)).sum()
    }

    /// Returns the segment at the first missing byte from `from` on, clipped at `sent`.
    pub(crate) fn missing(&self, from: u64, sent: u64) -> ByteRange {
        let (start, end) = self.arrived.gap(from).unwrap_or((from.max(self.arrived.highest()), sent));
        (start, end.min(start + self.mss).min(sent).max(start))
    }

    /// Returns whether a missing byte is lost if `ranges` are the reported ranges above it (RFC 6675, 4, IsLost):
    /// there are at least DupThresh ranges, or they contain more than (DupThresh - 1) segments.
    fn is_lost(&self, ranges: &[ByteRange]) -> bool {
        let bytes: u64 = ranges.iter().map(|&(start, end)| end - start).sum();
        ranges.len() as u64 >= self.threshold || bytes > (self.threshold - 1) * self.mss
    }

    /// Returns the reported ranges above the byte `at`.
    fn behind(&self, at: u64) -> &[ByteRange] {
        let ranges = self.arrived.above();
        &ranges[ranges.partition_point(|&(start, _)| start <= at)..]
    }

    /// Returns whether the first missing byte is lost, as defined by RFC 6675.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.is_lost(self.arrived.above())
    }

    /// Returns the bytes in flight, where `sent` is the end of the bytes sent so far: each byte that is neither
    /// reported nor lost, plus each retransmitted byte (RFC 6675, 4, SetPipe).
    pub(crate) fn pipe(&self, sent: u64) -> u64 {
        let ranges = self.arrived.above();
        let mut pipe = sent.saturating_sub(self.arrived.highest());
        let mut gap_start = self.arrived.expected();
        let mut bytes: u64 = ranges.iter().map(|&(start, end)| end - start).sum();
        for (at, &(start, end)) in ranges.iter().enumerate() {
            let lost = (ranges.len() - at) as u64 >= self.threshold || bytes > (self.threshold - 1) * self.mss;
            pipe += if lost { 0 } else { start - gap_start };
            pipe += self.high_rxt.min(start).saturating_sub(gap_start);
            bytes -= end - start;
            gap_start = end;
        }
        // Bytes above the highest reported range, whose first segment may have been retransmitted.
        pipe + self.high_rxt.min(sent).saturating_sub(gap_start)
    }

    /// Returns the next transmission in loss recovery, and records it. `sent` is the end of the bytes sent so far;
    /// `has_new` is true if new bytes may be sent.
    pub(crate) fn next(&mut self, sent: u64, has_new: bool) -> Option<NextSegment> {
        let from = self.high_rxt.max(self.arrived.expected());
        let gap = self.arrived.gap(from).map(|(start, end)| (start, end.min(start + self.mss)));
        let piece = gap.filter(|&(start, _)| self.is_lost(self.behind(start)));
        if piece.is_none() && has_new {
            return Some(NextSegment::New);
        }
        if let Some(piece) = piece.or(gap) {
            self.high_rxt = piece.1;
            return Some(NextSegment::Again(piece));
        }
        // Rescue retransmission: the last unreported segment, once per loss recovery, because otherwise only the
        // timer could detect its loss. HighRxt does not change.
        let ranges = self.arrived.above();
        let (start, end) = match ranges.last() {
            Some(&(start, end)) if end >= sent => {
                (ranges.len().checked_sub(2).map_or(self.arrived.expected(), |before| ranges[before].1), start)
            }
            last => (last.map_or(self.arrived.expected(), |last| last.1), sent),
        };
        if !self.rescued && start < end {
            self.rescued = true;
            return Some(NextSegment::Again((start.max(end.saturating_sub(self.mss)), end)));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn board(reported: &[ByteRange]) -> Scoreboard {
        let mut board = Scoreboard::new(10, 3);
        board.update(0, reported.iter().copied(), 1000);
        board.begin(0);
        board
    }

    /// RFC 6675, 4: a byte is lost if three separate ranges above it are reported, or more than two segments above
    /// it.
    #[test]
    fn three_ranges_or_more_than_two_segments_indicate_a_loss() {
        for (reported, lost) in [
            (&[(10, 20)][..], false),
            (&[(10, 30)], false),
            (&[(10, 31)], true),
            (&[(10, 40)], true),
            (&[(10, 11), (20, 21)], false),
            (&[(10, 11), (20, 21), (30, 31)], true),
        ] {
            assert_eq!(board(reported).first_is_lost(), lost, "{reported:?}");
        }
        assert!(!board(&[]).first_is_lost());
    }

    /// The four rules of NextSeg in their order, with segments of 10 bytes.
    #[test]
    fn lost_then_new_then_doubtful_then_the_rescue() {
        // Bytes 0 to 10 and 20 to 30 are lost. Bytes 60 to 70 are missing, but not lost by the rules yet. Bytes 80 to
        // 100 are in flight.
        let mut board = board(&[(10, 20), (30, 60), (70, 80)]);
        assert_eq!(board.pipe(100), 10 + 20, "60 and the tail");
        assert_eq!(board.next(100, true), Some(NextSegment::Again((0, 10))));
        assert_eq!(board.pipe(100), 40);
        assert_eq!(board.next(100, true), Some(NextSegment::Again((20, 30))));
        assert_eq!(board.pipe(100), 50);
        assert_eq!(board.next(100, true), Some(NextSegment::New));
        assert_eq!(board.next(100, false), Some(NextSegment::Again((60, 70))));
        assert_eq!(board.next(100, false), Some(NextSegment::Again((90, 100))), "the rescue");
        assert_eq!(board.next(100, false), None, "once");
        assert_eq!(board.pipe(100), 60, "the rescue leaves HighRxt where it was");
        board.update(0, [(80, 100)].into_iter(), 100);
        board.begin(60);
        assert_eq!(board.next(100, false), Some(NextSegment::Again((60, 70))), "a new recovery");
        assert_eq!(
            board.next(100, false),
            Some(NextSegment::Again((60, 70))),
            "its rescue, of the last that is not reported"
        );
    }

    #[test]
    fn a_timeout_forgets_what_was_reported() {
        let mut board = board(&[(10, 20), (30, 60)]);
        assert_eq!((board.reported_bytes(40), board.reported_bytes(1000)), (20, 40));
        assert_eq!(board.missing(0, 100), (0, 10));
        assert_eq!(board.missing(25, 100), (25, 30));
        assert_eq!(board.missing(55, 100), (60, 70));
        assert_eq!(board.missing(95, 100), (95, 100));
        board.forget(0);
        assert_eq!((board.reported_bytes(1000), board.pipe(100), board.missing(0, 100)), (0, 100, (0, 10)));
    }

    /// For random reports, compares the pipe with its definition, byte by byte.
    #[test]
    fn the_pipe_is_counted_as_the_standard_defines_it() {
        let mut random = Stream::new(6, 0, 0);
        for _ in 0..500 {
            let (mut board, mut map) = (Scoreboard::new(10, 3), [false; 400]);
            let sent = 100 + random.below(300);
            let acknowledged = random.below(50);
            map[..acknowledged as usize].fill(true);
            for _ in 0..random.below(12) {
                let start = acknowledged + random.below(sent - acknowledged);
                let end = (start + 1 + random.below(25)).min(sent);
                map[start as usize..end as usize].fill(true);
                board.update(acknowledged, [(start, end)].into_iter(), sent);
            }
            board.update(acknowledged, [].into_iter(), sent);
            let first = map.iter().position(|&here| !here).unwrap() as u64;
            board.begin(first);
            let high_rxt = first + random.below(sent - first + 1);
            board.high_rxt = high_rxt;
            let lost = |at: usize| {
                let behind = &map[at..sent as usize];
                let ranges = behind.windows(2).filter(|pair| !pair[0] && pair[1]).count();
                ranges >= 3 || behind.iter().filter(|&&here| here).count() > 20
            };
            let mut pipe = 0;
            for at in (first as usize..sent as usize).filter(|&at| !map[at]) {
                pipe += u64::from(!lost(at)) + u64::from((at as u64) < high_rxt);
            }
            assert_eq!(board.pipe(sent), pipe);
        }
    }
}
