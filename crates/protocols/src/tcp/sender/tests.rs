//! Tests of the sender against sequences by hand.

use super::*;
use crate::frame::Detail;
use crate::tcp::{CongestionControl, InitialWindow};
use units::Rate;
use units::random::Stream;

/// A sender with an MSS of 1000 bytes, after it has sent its initial window at time zero.
struct Bench {
    sender: TcpSender,
    random: Stream,
    replies: Vec<crate::endpoint::Reply>,
}

impl Bench {
    fn new(parameters: TcpParameters) -> Self {
        let parameters = TcpParameters { mss_bytes: 1000, min_rto: Time::from_ms(1), ..parameters };
        let flow = FlowStart {
            size_bytes: u64::MAX,
            start: Time::ZERO,
            stop: Time::MAX,
            line_rate: Rate::from_gbps(10),
            round_trip: Time::ZERO,
        };
        let sender = TcpSender::new(&Arc::new(parameters), &flow);
        let mut bench = Bench { sender, random: Stream::new(1, 1, 1), replies: Vec::new() };
        bench.send(0);
        bench
    }

    /// Sends as many segments as the window permits, at time `ms`. Returns their numbers and flags.
    fn send(&mut self, ms: u64) -> Vec<(u64, u8)> {
        let mut sent = Vec::new();
        let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
        while let Offer::Send(segment) = self.sender.poll(&mut ctx) {
            sent.push((segment.seq / 1000, segment.flags));
        }
        sent
    }

    fn ack(&mut self, ms: u64, packet: u64, flags: u8) {
        let frame = Frame { kind: Kind::Ack, seq: packet * 1000, flags, ..Frame::default() };
        let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
        self.sender.on_frame(&mut ctx, &frame);
    }

    fn timer(&mut self, ms: u64) {
        let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
        self.sender.on_timer(&mut ctx);
    }
}

/// The sender sends no byte beyond the highest advertised edge, even if the congestion window permits it. An
/// acknowledgement with a lower edge does not move the edge back.
#[test]
fn what_waits_at_the_receiver_holds_the_sender_back() {
    let sent = |takes: bool| {
        let mut bench = Bench::new(TcpParameters {
            initial_window: InitialWindow::Bytes(10_000),
            advertised_window_bytes: 10_000,
            congestion_control: CongestionControl::Fixed,
            out_of_order_takes_window: takes,
            ..TcpParameters::default()
        });
        let mut ack = |packet: u64, edge: u64| {
            let frame = Frame {
                kind: Kind::Ack,
                seq: packet * 1000,
                detail: Detail::window_edge(edge * 1000),
                ..Frame::default()
            };
            let mut ctx =
                Ctx { now: Time::from_ms(1), random: &mut bench.random, replies: &mut bench.replies, telemetry: &[] };
            bench.sender.on_frame(&mut ctx, &frame);
            bench.send(1).len()
        };
        [ack(3, 12), ack(3, 11), ack(5, 15)]
    };
    assert_eq!(sent(true), [2, 0, 3]);
    assert_eq!(sent(false), [3, 0, 2]);
}

/// RFC 6298, 3: a retransmitted segment yields no RTT sample, neither after a fast retransmit nor after a
/// timeout.
#[test]
fn karn() {
    let mut fast = Bench::new(TcpParameters::default());
    (0..3).for_each(|_| fast.ack(10, 0, 0));
    assert_eq!(fast.send(10)[0], (0, flags::RETRANSMISSION));
    fast.ack(20, 10, 0);
    fast.send(20);
    assert_eq!(fast.sender.deadline, Time::from_ms(1020), "still the initial timeout");

    let mut late = Bench::new(TcpParameters::default());
    late.timer(1000);
    assert_eq!(late.send(1000), [(0, flags::RETRANSMISSION)]);
    assert_eq!(late.sender.deadline, Time::from_ms(3000));
    late.ack(1001, 1, 0);
    assert_eq!(late.sender.deadline, Time::from_ms(3001), "the back-off stays without a sample");
    // The window has grown to two segments: 1 and 2 are retransmitted. After all old segments have been
    // acknowledged, a new segment is timed. Its RTT R = 5 ms gives RTO = SRTT + 4 RTTVAR = R + 4 R / 2 = 15 ms.
    late.ack(1002, 10, 0);
    late.send(1002);
    late.ack(1007, 11, 0);
    assert_eq!(late.sender.deadline, Time::from_ms(1007 + 15));
}

#[test]
fn an_earlier_deadline_moves_the_timer_and_a_later_one_waits() {
    let mut bench = Bench::new(TcpParameters::default());
    assert_eq!(bench.sender.next_timer(), Time::from_s(1));
    bench.ack(10, 1, 0);
    assert_eq!(bench.sender.next_timer(), Time::from_ms(40));
    bench.ack(20, 2, 0);
    assert_eq!(bench.sender.next_timer(), Time::from_ms(40));
    bench.timer(40);
    assert_eq!(bench.sender.next_timer(), Time::from_ms(50));
    assert_eq!(bench.sender.statistics().timeouts, 0);
    bench.timer(50);
    assert_eq!(bench.sender.statistics().timeouts, 1);
}

/// RFC 3168, 6.1.2: one reduction per window of data for any number of ECN-Echoes, announced by one CWR.
/// Retransmissions are not ECN-capable.
#[test]
fn classic_ecn_halves_once_a_window() {
    let mut bench = Bench::new(TcpParameters { ecn: EcnMode::Classic, ..TcpParameters::default() });
    for packet in 1..=6 {
        bench.ack(10, packet, flags::ECE);
    }
    assert_eq!(bench.sender.congestion_window_bytes(), 5000);
    let sent = bench.send(10);
    assert_eq!(sent, [(10, flags::ECT | CWR)]);
    for packet in 7..=10 {
        bench.ack(11, packet, flags::ECE);
    }
    assert_eq!(bench.sender.congestion_window_bytes(), 2500);
    (0..3).for_each(|_| bench.ack(12, 10, 0));
    assert_eq!(bench.send(12)[0], (10, flags::RETRANSMISSION));
}

/// RFC 5681, 4.1: after an idle time longer than the RTO, a connection restarts from the initial window and keeps
/// ssthresh. After a shorter idle time it keeps its window. Sequence numbers continue.
#[test]
fn a_connection_goes_on_with_what_it_has_learnt() {
    let after = |ms: u64| {
        let mut bench = Bench::new(TcpParameters::default());
        bench.sender.size_bytes = 10_000;
        (1..=6).for_each(|packet| bench.ack(10, packet, 0));
        (0..3).for_each(|_| bench.ack(10, 6, 0));
        let (threshold, initial) = (bench.sender.window.ssthresh, TcpParameters::default().initial_window);
        bench.ack(10, 10, 0);
        assert_eq!(bench.sender.acknowledged(), 10_000);
        let before = bench.sender.congestion_window_bytes();
        assert!(bench.sender.extend(Time::from_ms(ms), 50_000));
        assert_eq!(bench.sender.window.ssthresh, threshold);
        assert_eq!(bench.send(ms)[0], (10, 0), "the bytes of the next message follow");
        (bench.sender.congestion_window_bytes(), before, initial.bytes(1000))
    };
    let (soon, before, _) = after(11);
    assert_eq!(soon, before);
    let (late, before, initial) = after(10_000);
    assert_eq!(late, initial.min(before));
}

/// RFC 8257, 3.3: one update of alpha per window of data, for both messages of a connection.
#[test]
fn alpha_is_updated_each_window_in_every_message() {
    let mut parameters = TcpParameters::dctcp();
    parameters.initial_window = InitialWindow::Bytes(10_000);
    parameters.ecn = EcnMode::Dctcp(crate::dctcp::DctcpParameters { gain: 0.0625, initial_alpha: 0.0 });
    let mut bench = Bench::new(parameters);
    bench.sender.size_bytes = 100_000;
    let (mut acked, mut updates, mut rounds) = (0, [0, 0], [0, 0]);
    for message in 0..2 {
        while bench.sender.acknowledged() < bench.sender.size_bytes {
            let alpha = bench.sender.control_state(Time::ZERO).alpha;
            let sent = bench.sender.snd_max / 1000;
            (acked + 1..=sent).for_each(|packet| bench.ack(10, packet, flags::ECE));
            acked = sent;
            rounds[message] += 1;
            updates[message] += u32::from(bench.sender.control_state(Time::ZERO).alpha != alpha);
            bench.send(10);
        }
        bench.sender.extend(Time::from_ms(10), 100_000);
        bench.send(10);
    }
    assert_eq!(updates, rounds);
    assert!(rounds[1] > 20, "{rounds:?}");
}

/// After a timeout the sender discards the SACK information. Blocks reported after the timeout are not
/// retransmitted.
#[test]
fn after_a_timeout_only_what_is_missing_goes_again() {
    let sack = TcpParameters { sack: true, initial_window: InitialWindow::Bytes(10_000), ..Default::default() };
    let mut bench = Bench::new(sack);
    let report = |bench: &mut Bench, ms: u64, packet: u64, blocks: &[(u64, u64)]| {
        let blocks: Vec<(u64, u64)> = blocks.iter().map(|&(start, end)| (start * 1000, end * 1000)).collect();
        let blocks = crate::tcp::SackBlocks::new(&blocks, packet * 1000, 1000, u64::MAX);
        let detail = Detail::sack_blocks(blocks);
        let frame = Frame { kind: Kind::Ack, seq: packet * 1000, detail, ..Frame::default() };
        let mut ctx = Ctx::new(Time::from_ms(ms), &mut bench.random, &mut bench.replies);
        bench.sender.on_frame(&mut ctx, &frame);
    };
    // With SACK, an acknowledgement without newly reported bytes is no duplicate acknowledgement.
    (0..5).for_each(|_| report(&mut bench, 10, 0, &[]));
    assert_eq!(bench.send(10), []);
    report(&mut bench, 20, 0, &[(2, 4)]);
    assert_eq!(bench.send(20), [(10, 0), (11, 0)], "two have left the network (limited transmit)");
    bench.timer(2000);
    assert_eq!(bench.send(2000), [(0, flags::RETRANSMISSION)]);
    report(&mut bench, 2010, 1, &[(4, 6), (2, 4)]);
    // The window is two segments: 1 and 6 are retransmitted, since 2 to 5 have been reported as arrived.
    let again = flags::RETRANSMISSION;
    assert_eq!(bench.send(2010), [(1, again), (6, again)]);
    assert_eq!(bench.sender.statistics().timeouts, 1);
}

/// An ECN mark reduces the window by the fraction alpha / 2.
#[test]
fn dctcp_cuts_by_half_of_alpha() {
    let mut parameters = TcpParameters::dctcp();
    parameters.ecn = EcnMode::Dctcp(crate::dctcp::DctcpParameters { gain: 0.5, initial_alpha: 0.4 });
    let mut bench = Bench::new(parameters);
    // The first acknowledgement ends DCTCP's first observation window: alpha = 0.4 / 2 + 1 / 2 = 0.7. The
    // congestion window becomes 10,000 (1 - 0.7 / 2) = 6500.
    bench.ack(10, 1, flags::ECE);
    assert_eq!(bench.sender.congestion_window_bytes(), 6500);
}
