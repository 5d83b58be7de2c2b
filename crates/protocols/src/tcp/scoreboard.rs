//! What a sender knows from selective acknowledgements, and what it sends next (RFC 6675).

use crate::ranges::Ranges;

/// A piece of the flow, from its first byte to before its end.
type Piece = (u64, u64);

/// What to send next (RFC 6675, 4, NextSeg).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This again: it is lost, or nothing else is left to send.
    Again(Piece),
    /// What was never sent, if there is any and the receiver has room.
    New,
}

/// The scoreboard of one flow, its counts in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// What the receiver has.
    arrived: Ranges,
    mss: u64,
    /// DupThresh.
    threshold: u64,
    /// The end of the highest byte that was sent again in this recovery (HighRxt, plus one).
    high_rxt: u64,
    /// Whether the rescue retransmission of this recovery has left.
    rescued: bool,
}

impl Scoreboard {
    pub(crate) fn new(mss: u64, threshold: u32) -> Self {
        Scoreboard { arrived: Ranges::default(), mss, threshold: threshold.into(), high_rxt: 0, rescued: false }
    }

    /// Everything below `acknowledged` has arrived, and these blocks, as far as they were `sent`. How many bytes behind
    /// `acknowledged` are news.
    pub(crate) fn update(&mut self, acknowledged: u64, blocks: impl Iterator<Item = Piece>, sent: u64) -> u64 {
        let expected = self.arrived.expected();
        self.arrived.insert(expected, acknowledged.max(expected));
        blocks.map(|(start, end)| self.arrived.insert(start, end.min(sent))).sum()
    }

    /// The timer fired: the receiver may have thrown away what it reported (RFC 2018, 8).
    pub(crate) fn forget(&mut self, acknowledged: u64) {
        self.arrived = Ranges::default();
        self.arrived.insert(0, acknowledged);
        self.high_rxt = acknowledged;
    }

    /// Recovery begins; `acknowledged` is the first missing byte.
    pub(crate) fn begin(&mut self, acknowledged: u64) {
        (self.high_rxt, self.rescued) = (acknowledged, false);
    }

    /// The segment from the first missing byte, which is below `sent` and goes now, whatever the pipe.
    pub(crate) fn first(&mut self, sent: u64) -> Piece {
        let piece = self.missing(self.arrived.expected(), sent);
        self.high_rxt = self.high_rxt.max(piece.1);
        piece
    }

    /// Bytes below `below` that arrived behind a gap.
    pub(crate) fn reported_bytes(&self, below: u64) -> u64 {
        self.arrived.above().iter().map(|&(start, end)| end.min(below).saturating_sub(start)).sum()
    }

    /// The segment from the first missing byte at or after `from`, and before `sent`.
    pub(crate) fn missing(&self, from: u64, sent: u64) -> Piece {
        let (start, end) = self.arrived.gap(from).unwrap_or((from.max(self.arrived.highest()), sent));
        (start, end.min(start + self.mss).min(sent).max(start))
    }

    /// Whether a byte is lost behind which ranges lie from this one on (RFC 6675, 4, IsLost): as many separate ones as
    /// duplicates tell a loss, or more bytes than one segment less than that.
    fn is_lost(&self, ranges: &[Piece]) -> bool {
        let bytes: u64 = ranges.iter().map(|&(start, end)| end - start).sum();
        ranges.len() as u64 >= self.threshold || bytes > (self.threshold - 1) * self.mss
    }

    /// The ranges above `at`.
    fn behind(&self, at: u64) -> &[Piece] {
        let ranges = self.arrived.above();
        &ranges[ranges.partition_point(|&(start, _)| start <= at)..]
    }

    /// Whether the first missing byte is lost.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.is_lost(self.arrived.above())
    }

    /// What is on its way of what was `sent`: each byte that was not reported and is not lost, and once more what was
    /// sent again (RFC 6675, 4, SetPipe).
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
        // The tail, of which the first segment may have been sent again.
        pipe + self.high_rxt.min(sent).saturating_sub(gap_start)
    }

    /// What comes next in recovery, and goes now, where everything below `sent` has been sent and `has_new` tells
    /// whether more may be.
    pub(crate) fn next(&mut self, sent: u64, has_new: bool) -> Option<Next> {
        let from = self.high_rxt.max(self.arrived.expected());
        let gap = self.arrived.gap(from).map(|(start, end)| (start, end.min(start + self.mss)));
        let piece = gap.filter(|&(start, _)| self.is_lost(self.behind(start)));
        if piece.is_none() && has_new {
            return Some(Next::New);
        }
        if let Some(piece) = piece.or(gap) {
            self.high_rxt = piece.1;
            return Some(Next::Again(piece));
        }
        // The last segment that is not reported, once, lest only the timer could tell of its loss. It leaves HighRxt as
        // it is.
        let ranges = self.arrived.above();
        let (start, end) = match ranges.last() {
            Some(&(start, end)) if end >= sent => {
                (ranges.len().checked_sub(2).map_or(self.arrived.expected(), |before| ranges[before].1), start)
            }
            last => (last.map_or(self.arrived.expected(), |last| last.1), sent),
        };
        if !self.rescued && start < end {
            self.rescued = true;
            return Some(Next::Again((start.max(end.saturating_sub(self.mss)), end)));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn board(reported: &[Piece]) -> Scoreboard {
        let mut board = Scoreboard::new(10, 3);
        board.update(0, reported.iter().copied(), 1000);
        board.begin(0);
        board
    }

    /// RFC 6675, 4: lost with three separate ranges behind it, or with more than two segments' bytes.
    #[test]
    fn three_ranges_or_more_than_two_segments_tell_a_loss() {
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

    /// NextSeg by its four rules, in their order.
    #[test]
    fn lost_then_new_then_doubtful_then_the_rescue() {
        // 0 and 20 are lost, 60 is not yet known to be; 80 and 90 are on their way.
        let mut board = board(&[(10, 20), (30, 60), (70, 80)]);
        assert_eq!(board.pipe(100), 10 + 20, "60 and the tail");
        assert_eq!(board.next(100, true), Some(Next::Again((0, 10))));
        assert_eq!(board.pipe(100), 40);
        assert_eq!(board.next(100, true), Some(Next::Again((20, 30))));
        assert_eq!(board.pipe(100), 50);
        assert_eq!(board.next(100, true), Some(Next::New));
        assert_eq!(board.next(100, false), Some(Next::Again((60, 70))));
        assert_eq!(board.next(100, false), Some(Next::Again((90, 100))), "the rescue");
        assert_eq!(board.next(100, false), None, "once");
        assert_eq!(board.pipe(100), 60, "the rescue leaves HighRxt where it was");
        board.update(0, [(80, 100)].into_iter(), 100);
        board.begin(60);
        assert_eq!(board.next(100, false), Some(Next::Again((60, 70))), "a new recovery");
        assert_eq!(board.next(100, false), Some(Next::Again((60, 70))), "its rescue, of the last that is not reported");
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

    /// The pipe against its definition, byte by byte.
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
