//! TCP receiver: reassembles segments, and decides when to send acknowledgements.

use crate::dctcp::CeEcho;
use crate::endpoint::{Ctx, Receipt, Receiver, Reply};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::ranges::Ranges;
use crate::tcp::blocks::{MOST_BLOCKS, SackBlocks};
use crate::tcp::flags::CWR;
use crate::tcp::parameters::{EcnMode, TcpParameters};
use std::sync::Arc;
use units::Time;

/// Receiver of one TCP flow.
#[derive(Clone, Debug)]
pub struct TcpReceiver {
    parameters: Arc<TcpParameters>,
    ranges: Ranges,
    /// The flow's size in bytes, once its last segment has arrived.
    size_bytes: u64,
    completed: Option<Time>,
    /// One sequence number in each of the latest out-of-order ranges, the latest range first; empty without SACK.
    recent: Vec<u64>,
    /// Number of in-order segments that have not been acknowledged yet.
    pending: u32,
    /// Lowest sequence number above the next expected byte of a trimmed segment; `u64::MAX` if there is none.
    cut: u64,
    /// Right edge of the advertised window, if out-of-order bytes reduce this window. The edge never moves back.
    edge: u64,
    /// Timestamp of the latest segment, which acknowledgements return.
    stamp: Time,
    /// Whether acknowledgements carry ECN-Echo (RFC 3168, 6.1.3).
    echo: bool,
    /// CE state of DCTCP (RFC 8257, 3.2).
    ce: CeEcho,
    /// Expiry of the delayed acknowledgement.
    deadline: Time,
    /// Expiry to which the host's timer is set. The timer is moved to a later `deadline` only when it expires.
    armed: Time,
}

impl TcpReceiver {
    /// Creates the receiver of one flow.
    pub fn new(parameters: &Arc<TcpParameters>) -> Self {
        TcpReceiver {
            parameters: Arc::clone(parameters),
            ranges: Ranges::default(),
            size_bytes: u64::MAX,
            completed: None,
            recent: Vec::new(),
            pending: 0,
            cut: u64::MAX,
            edge: 0,
            stamp: Time::ZERO,
            echo: false,
            ce: CeEcho::default(),
            deadline: Time::MAX,
            armed: Time::MAX,
        }
    }

    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed`.
    pub fn complete(parameters: &Arc<TcpParameters>, size_bytes: u64, completed: Time) -> Self {
        let completed = Some(completed);
        let mut receiver = TcpReceiver { size_bytes, completed, ..TcpReceiver::new(parameters) };
        receiver.ranges.insert(0, size_bytes);
        receiver
    }

    fn acknowledge(&mut self, ctx: &mut Ctx<'_>) {
        self.acknowledge_with(ctx, 0);
    }

    /// Handles a trimmed `frame`. If it is the next expected segment, a duplicate acknowledgement with [`flags::NAK`]
    /// is sent at once. A later segment is not reported yet, because its header may have overtaken queued segments.
    #[cold]
    fn miss(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        let expected = self.ranges.expected();
        if frame.seq > expected {
            self.cut = self.cut.min(frame.seq);
        } else {
            self.acknowledge_with(ctx, if frame.seq == expected { flags::NAK } else { 0 });
        }
        Receipt::default()
    }

    /// Sends a cumulative acknowledgement with the additional flags `more`. [`flags::NAK`] means that the next
    /// expected segment was trimmed.
    fn acknowledge_with(&mut self, ctx: &mut Ctx<'_>, more: u8) {
        let mut flags = more | if self.echo { flags::ECE } else { 0 };
        if self.completed.is_some() {
            flags |= flags::COMPLETE;
        }
        let blocks = if self.ranges.has_gap() && self.parameters.sack { self.report() } else { SackBlocks::default() };
        let detail = match self.completed {
            None if self.parameters.sack => Detail::sack_blocks(blocks),
            None if self.parameters.out_of_order_takes_window => Detail::window_edge(self.advertise()),
            completed => Detail::arrival(completed.unwrap_or(ctx.now)),
        };
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: self.ranges.expected(),
            stamp: self.stamp,
            detail,
            flags,
            size_bytes: self.parameters.ack_frame_bytes(blocks.count()),
            ..Reply::default()
        });
        self.pending = 0;
        self.deadline = Time::MAX;
    }

    /// Records the range of the out-of-order segment `seq` as the first range to report (RFC 2018, 4).
    #[cold]
    fn note_recent(&mut self, seq: u64) {
        let (ranges, expected) = (&self.ranges, self.ranges.expected());
        let own = ranges.range(seq);
        self.recent.retain(|&at| at > expected && ranges.range(at) != own);
        self.recent.insert(0, seq);
        self.recent.truncate(MOST_BLOCKS);
    }

    /// Returns the out-of-order blocks to report, the latest block first.
    #[cold]
    fn report(&mut self) -> SackBlocks {
        let mut blocks = [(0, 0); MOST_BLOCKS];
        let mut count = 0;
        for block in self.recent.iter().filter_map(|&at| self.ranges.range(at)) {
            // Two recorded ranges may have merged since.
            if !blocks[..count].contains(&block) {
                blocks[count] = block;
                count += 1;
            }
        }
        let mss = u64::from(self.parameters.mss_bytes.max(1));
        SackBlocks::new(&blocks[..count], self.ranges.expected(), mss, self.size_bytes)
    }

    /// Returns the right edge of the advertised window: the first missing byte plus the free buffer. The edge never
    /// moves back.
    #[cold]
    fn advertise(&mut self) -> u64 {
        let free = self.parameters.advertised_window_bytes.saturating_sub(self.ranges.waiting_bytes());
        self.edge = self.edge.max(self.ranges.expected() + free);
        self.edge
    }

    /// Updates the ECN-Echo state by the CE bit of this frame.
    fn echo_marks(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        let marked = frame.has(flags::CE);
        match self.parameters.ecn {
            EcnMode::Off => {}
            EcnMode::Classic => {
                // RFC 3168, 6.1.3: ECN-Echo is sent until a segment with CWR arrives. If this segment is CE-marked,
                // it starts again.
                if frame.has(CWR) {
                    self.echo = false;
                }
                self.echo |= marked;
            }
            EcnMode::Dctcp(_) => {
                // RFC 8257, 3.2: if the CE state changes, pending segments are acknowledged at once with the old
                // state, so that the sender can count the marked bytes.
                if self.ce.changes(marked) && self.pending > 0 {
                    self.acknowledge(ctx);
                }
                self.echo = marked;
            }
        }
    }
}

impl Receiver for TcpReceiver {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        self.echo_marks(ctx, frame);
        self.stamp = frame.stamp;
        if frame.kind == Kind::Trimmed {
            return self.miss(ctx, frame);
        }
        let had_gap = self.ranges.has_gap();
        let end = frame.seq.saturating_add(u64::from(frame.payload_bytes));
        let expected = self.ranges.expected();
        let new_bytes = self.ranges.insert(frame.seq, end) as u32;
        if frame.has(flags::LAST) {
            self.size_bytes = end;
        }
        if self.parameters.sack && frame.seq > self.ranges.expected() {
            self.note_recent(frame.seq);
        }
        let whole = self.completed.is_none() && self.ranges.expected() >= self.size_bytes;
        if whole {
            self.completed = Some(ctx.now);
        }
        self.pending += 1;
        // RFC 5681, 4.2: acknowledge at once an out-of-order segment, a segment that fills (a part of) a gap, and
        // every second segment; also a duplicate, whose acknowledgement may have been lost, and the last segment,
        // like a FIN or PSH.
        let out_of_order = frame.seq > expected || new_bytes == 0;
        if self.ranges.expected() >= self.cut {
            // A trimmed header had overtaken this segment. If its segment is the next expected one now, it is
            // missing: send a NAK.
            let missing = self.ranges.expected() == self.cut;
            self.cut = u64::MAX;
            if missing {
                self.acknowledge_with(ctx, flags::NAK);
                return Receipt { new_bytes, completed: whole };
            }
        }
        let at_once = out_of_order || had_gap || frame.ends_message() || self.completed.is_some();
        if at_once || !self.parameters.delayed_ack || self.pending >= 2 {
            self.acknowledge(ctx);
        } else {
            self.deadline = ctx.now.saturating_add(self.parameters.delayed_ack_timeout);
            self.armed = self.armed.min(self.deadline);
        }
        Receipt { new_bytes, completed: whole }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.armed {
            return;
        }
        if ctx.now >= self.deadline {
            self.acknowledge(ctx);
        }
        self.armed = self.deadline;
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.armed
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.ranges.holds(frame.seq, frame.seq.saturating_add(u64::from(frame.payload_bytes)))
    }

    fn next_expected(&self) -> u64 {
        self.ranges.expected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const MSS: u64 = 1000;

    /// Passes one segment per microsecond to a receiver, given by number (`!`: CE-marked, `c`: with CWR). Returns the
    /// acknowledgements as next expected segment numbers (`e`: with ECN-Echo).
    fn answers(parameters: TcpParameters, segments: &[&str]) -> Vec<String> {
        let mut receiver = TcpReceiver::new(&Arc::new(parameters));
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        for (i, text) in segments.iter().enumerate() {
            let now = Time::from_us(i as u64);
            let number: u64 = text.trim_end_matches(['!', 'c']).parse().unwrap();
            let mut flags = if text.contains('!') { flags::CE } else { 0 };
            flags |= if text.contains('c') { CWR } else { 0 };
            let frame =
                Frame { seq: number * MSS, payload_bytes: MSS as u16, flags, kind: Kind::Data, ..Frame::default() };
            receiver.on_frame(&mut Ctx::new(now, &mut random, &mut replies), &frame);
        }
        let now = Time::from_s(1);
        receiver.on_timer(&mut Ctx::new(now, &mut random, &mut replies));
        assert_eq!(receiver.next_timer(), Time::MAX);
        let text =
            |reply: &Reply| format!("{}{}", reply.seq / MSS, if reply.flags & flags::ECE != 0 { "e" } else { "" });
        replies.iter().map(text).collect()
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_timer_covers_the_rest() {
        let tcp = TcpParameters::default();
        assert_eq!(answers(tcp.clone(), &["0", "1", "2", "3", "4"]), ["2", "4", "5"]);
        let every = TcpParameters { delayed_ack: false, ..tcp };
        assert_eq!(answers(every, &["0", "1", "2"]), ["1", "2", "3"]);
    }

    #[test]
    fn disorder_is_answered_at_once() {
        let tcp = TcpParameters::default();
        // Segment 1 arrives late: segments 2 and 3 cause duplicate acknowledgements. Segment 1 and the duplicate of
        // segment 0 are acknowledged at once.
        assert_eq!(answers(tcp, &["0", "2", "3", "1", "0", "4"]), ["1", "1", "4", "4", "5"]);
    }

    /// Advertised window of ten segments. Out-of-order bytes are within the window, and also reduce its free buffer.
    /// The right edge never moves back.
    #[test]
    fn what_waits_takes_room_from_the_window_and_its_edge_never_moves_back() {
        let edges = |takes: bool| {
            let parameters = TcpParameters {
                delayed_ack: false,
                advertised_window_bytes: 10 * MSS,
                out_of_order_takes_window: takes,
                ..TcpParameters::default()
            };
            let mut receiver = TcpReceiver::new(&Arc::new(parameters));
            let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
            for number in [0, 2, 4, 1, 3, 5] {
                let frame =
                    Frame { seq: number * MSS, payload_bytes: MSS as u16, kind: Kind::Data, ..Frame::default() };
                let mut ctx = Ctx { now: Time::from_ps(7), random: &mut random, replies: &mut replies, telemetry: &[] };
                receiver.on_frame(&mut ctx, &frame);
            }
            replies.iter().map(|reply| (reply.seq / MSS, reply.detail)).collect::<Vec<_>>()
        };
        let thousands = [(1, 11), (1, 11), (1, 11), (3, 12), (5, 15), (6, 16)]
            .map(|(seq, edge)| (seq, Detail::window_edge(edge * MSS)));
        assert_eq!(edges(true), thousands);
        assert!(
            edges(false).iter().all(|&(_, detail)| detail == Detail::arrival(Time::from_ps(7))),
            "the instant, and no edge"
        );
    }

    /// RFC 2018, 4: the block of the latest segment is first, the others are in the order of their last change. Each
    /// block makes the acknowledgement longer.
    #[test]
    fn blocks_are_reported_latest_first() {
        let parameters =
            TcpParameters { sack: true, delayed_ack: false, mss_bytes: MSS as u16, ..TcpParameters::default() };
        let mut receiver = TcpReceiver::new(&Arc::new(parameters));
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut feed = |number: u64| {
            let frame = Frame { seq: number * MSS, payload_bytes: MSS as u16, kind: Kind::Data, ..Frame::default() };
            receiver.on_frame(&mut Ctx::new(Time::from_us(1), &mut random, &mut replies), &frame);
            let reply = replies.pop().unwrap();
            let frame = Frame { kind: Kind::Ack, detail: reply.detail, ..Frame::default() };
            let blocks = frame.sack_blocks().iter(reply.seq, MSS).map(|(start, end)| (start / MSS, end / MSS));
            (reply.seq / MSS, blocks.collect::<Vec<_>>(), reply.size_bytes)
        };
        assert_eq!(feed(0), (1, vec![], 64));
        assert_eq!(feed(2), (1, vec![(2, 3)], 70));
        assert_eq!(feed(4), (1, vec![(4, 5), (2, 3)], 78));
        assert_eq!(feed(8), (1, vec![(8, 9), (4, 5), (2, 3)], 86));
        assert_eq!(feed(10), (1, vec![(10, 11), (8, 9), (4, 5)], 86), "no more than three");
        assert_eq!(feed(3), (1, vec![(2, 5), (10, 11), (8, 9)], 86), "two became one");
        assert_eq!(feed(2), (1, vec![(2, 5), (10, 11), (8, 9)], 86), "a copy");
        assert_eq!(feed(1), (5, vec![(10, 11), (8, 9)], 78));
        assert_eq!(feed(9), (5, vec![(8, 11)], 70));
        (5..8).for_each(|number| _ = feed(number));
        assert_eq!(feed(11), (12, vec![], 64));
    }

    #[test]
    fn a_trimmed_segment_is_reported_if_it_is_the_expected_one() {
        let mut receiver =
            TcpReceiver::new(&Arc::new(TcpParameters { delayed_ack: false, ..TcpParameters::default() }));
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut feed = |number: u64, kind: Kind| {
            let frame = Frame { seq: number * MSS, payload_bytes: MSS as u16, kind, ..Frame::default() };
            let mut ctx = Ctx::new(Time::from_us(1), &mut random, &mut replies);
            let receipt = receiver.on_frame(&mut ctx, &frame);
            assert_eq!(receipt.new_bytes > 0, kind == Kind::Data);
            replies.drain(..).map(|reply| (reply.seq / MSS, reply.flags)).collect::<Vec<_>>()
        };
        assert_eq!(feed(0, Kind::Trimmed), [(0, flags::NAK)]);
        assert_eq!(feed(0, Kind::Trimmed), [(0, flags::NAK)], "each copy");
        assert_eq!(feed(2, Kind::Trimmed), [], "it overtook segments 0 and 1");
        assert_eq!(feed(0, Kind::Data), [(1, 0)]);
        assert_eq!(feed(1, Kind::Data), [(2, flags::NAK)]);
        assert_eq!(feed(1, Kind::Trimmed), [(2, 0)], "an old one, whose acknowledgement may have been lost");
    }

    #[test]
    fn classic_ecn_echoes_until_cwr() {
        let tcp = TcpParameters { ecn: EcnMode::Classic, delayed_ack: false, ..TcpParameters::default() };
        assert_eq!(answers(tcp, &["0", "1!", "2", "3c", "4", "5!c", "6"]), ["1", "2e", "3e", "4", "5", "6e", "7e"]);
    }

    /// RFC 8257, 3.2: an acknowledgement, even a delayed one, never covers both marked and unmarked segments.
    #[test]
    fn dctcp_echoes_each_run_of_marks() {
        let answers = answers(TcpParameters::dctcp(), &["0", "1", "2", "3!", "4!", "5!", "6", "7"]);
        assert_eq!(answers, ["2", "3", "5e", "6e", "8"]);
    }
}
