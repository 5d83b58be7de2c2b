//! Tests of the numbered requirements in the documentation pages of transports. Expected values are computed by hand
//! or by a separate program.

use crate::endpoint::{Ctx, FlowStart, Offer, Receiver, Reply, Segment, Sender};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::telemetry::Hop;
use crate::transport::{ReceiverState, SenderState, TransportParameters};
use units::random::Stream;
use units::{Rate, Time};

fn build(kind: &str, settings: &[(&str, &str)]) -> TransportParameters {
    TransportParameters::build(kind, settings.iter().copied()).unwrap()
}

const fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// Sender and receiver of one flow.
struct Ends {
    sender: SenderState,
    receiver: ReceiverState,
    random: Stream,
}

impl Ends {
    /// Creates a flow of `size_bytes` that starts at time zero on a port of 10 Gbps.
    fn new(kind: &str, settings: &[(&str, &str)], size_bytes: u64) -> Ends {
        Ends::at(Rate::from_gbps(10), kind, settings, size_bytes)
    }

    fn at(line_rate: Rate, kind: &str, settings: &[(&str, &str)], size_bytes: u64) -> Ends {
        let transport = build(kind, settings);
        let (start, stop, round_trip) = (Time::ZERO, Time::MAX, us(20));
        let flow = FlowStart { size_bytes, start, stop, line_rate, round_trip };
        Ends { sender: transport.sender(&flow), receiver: transport.receiver(), random: Stream::new(1, 1, 1) }
    }

    fn ask(&mut self, now: Time) -> Offer {
        self.sender.poll(&mut Ctx::new(now, &mut self.random, &mut Vec::new()))
    }

    /// Polls the sender, which must send a segment.
    fn send(&mut self, now: Time) -> Segment {
        match self.ask(now) {
            Offer::Send(segment) => segment,
            offer => panic!("{offer:?} at {now}"),
        }
    }

    fn report(&mut self, now: Time, frame: &Frame) {
        self.report_with(now, frame, &[]);
    }

    fn report_with(&mut self, now: Time, frame: &Frame, telemetry: &[Hop]) {
        let mut replies = Vec::new();
        let mut ctx = Ctx::new(now, &mut self.random, &mut replies);
        ctx.telemetry = telemetry;
        self.sender.on_frame(&mut ctx, frame);
    }

    fn fire(&mut self, now: Time) {
        self.sender.on_timer(&mut Ctx::new(now, &mut self.random, &mut Vec::new()));
    }

    fn arrive(&mut self, now: Time, frame: &Frame) -> Vec<Reply> {
        let mut replies = Vec::new();
        self.receiver.on_frame(&mut Ctx::new(now, &mut self.random, &mut replies), frame);
        replies
    }

    fn rate(&self, now: Time) -> u64 {
        self.sender.control_state(now).rate.map_or(0, Rate::as_bps)
    }
}

fn ack(seq: u64, flags: u8) -> Frame {
    Frame { kind: Kind::Ack, seq, flags, ..Frame::default() }
}

/// Returns an acknowledgement up to `seq`, of a packet whose transmission started at `stamp`.
fn ack_of(seq: u64, stamp: Time) -> Frame {
    Frame { stamp, ..ack(seq, 0) }
}

fn data(seq: u64, payload_bytes: u16, flags: u8) -> Frame {
    Frame { kind: Kind::Data, seq, payload_bytes, flags, ..Frame::default() }
}

/// Returns the next expected byte, the NAK flag and the frame length in bytes of each reply.
fn said(replies: &[Reply]) -> Vec<(u64, bool, u16)> {
    replies.iter().map(|reply| (reply.seq, reply.flags & flags::NAK != 0, reply.size_bytes)).collect()
}

/// The start of the next packet is computed with the rate at the poll. The serialisation delay of 1082 wire bytes is
/// 8,656,000 ps at 1 Gbps and 8,570,298 ps at 1.01 Gbps.
// [ROCE1] [ROCE2] [ROCE3] [TIMELY2]
#[test]
fn the_next_start_follows_the_rate_of_the_question() {
    let settings = [("initial_rate", "1Gbps"), ("segment", "1000B"), ("payload", "1000B")];
    let mut ends = Ends::new("timely", &settings, 10_000);
    assert_eq!(ends.send(Time::ZERO).next, Time::from_ps(8_656_000));
    assert_eq!(ends.ask(us(5)), Offer::At(Time::from_ps(8_656_000)));
    // An RTT of less than t_low raises TIMELY's rate by 10 Mbps.
    ends.report(us(6), &ack_of(1_000, Time::ZERO));
    assert_eq!(ends.ask(us(6)), Offer::At(Time::from_ps(8_570_298)));
    let second = ends.send(Time::from_ps(8_570_298));
    assert_eq!((second.seq, second.next), (1_000, Time::from_ps(2 * 8_570_298)));
    // The parameter `rate` is only an upper bound: the port has 10 Gbps.
    let mut slow = Ends::new("roce", &[("rate", "1Gbps")], 10_000);
    assert_eq!(slow.send(Time::ZERO).next, Time::from_ps(8_656_000));
    assert_eq!(Ends::new("roce", &[("rate", "40Gbps")], 10_000).send(Time::ZERO).next, Time::from_ps(865_600));
}

// [ROCE4] [ROCE5] [ROCE6] [ROCE7] [ROCE8]
#[test]
fn the_timer_runs_from_the_first_unacknowledged_packet() {
    let mut ends = Ends::new("roce", &[("timeout", "100us"), ("window", "3500B")], 10_000);
    for packet in 0..4 {
        assert_eq!(ends.send(us(packet)).seq, packet * 1000);
    }
    assert_eq!(ends.ask(us(4)), Offer::Blocked, "4000 bytes of 3500 are unacknowledged");
    ends.report(us(10), &ack(1_000, 0));
    assert_eq!(ends.send(us(10)).seq, 4_000);
    // The timeout of 100 us was restarted by the progress at 10 us, not by the departure of a packet.
    ends.fire(us(100));
    assert_eq!((ends.sender.statistics().timeouts, ends.sender.next_timer()), (0, us(110)));
    ends.fire(us(110));
    assert_eq!((ends.sender.statistics().timeouts, ends.sender.next_timer()), (1, us(210)));
    assert_eq!(ends.send(us(111)).seq, 1_000);
    assert_eq!(ends.send(us(112)).seq, 2_000);
    // Acknowledgements below the first unacknowledged byte, and of bytes that were never sent, are ignored. A NAK of
    // the first unacknowledged byte makes the sender go back, and restarts the timeout.
    ends.report(us(150), &ack(0, flags::NAK));
    ends.report(us(150), &ack(5_001, flags::NAK));
    assert_eq!(ends.send(us(150)).seq, 3_000);
    ends.report(us(160), &ack(1_000, flags::NAK));
    assert_eq!(ends.send(us(160)).seq, 1_000);
    ends.fire(us(210));
    assert_eq!((ends.sender.statistics().timeouts, ends.sender.next_timer()), (1, us(260)));
    // A NAK that acknowledges new bytes does both, from the new first unacknowledged byte on.
    ends.report(us(220), &ack(3_000, flags::NAK));
    assert_eq!(ends.send(us(220)).seq, 3_000);
    // With no unacknowledged byte the timer is stopped until the next packet starts.
    ends.report(us(230), &ack(5_000, 0));
    ends.fire(us(260));
    ends.fire(us(320));
    assert_eq!((ends.sender.statistics().timeouts, ends.sender.next_timer()), (1, Time::MAX));
    assert_eq!(ends.send(us(400)).seq, 5_000);
    assert_eq!(ends.sender.next_timer(), us(500));
    // The reply to a late duplicate reports the flow completion time.
    ends.report(us(410), &Frame { detail: Detail::arrival(us(405)), ..ack(1_000, flags::COMPLETE) });
    assert_eq!(ends.sender.statistics().delivered, Some(us(405)));
}

// [ROCE9] [ROCE10] [ROCE11] [ROCE12] [ROCE13]
#[test]
fn a_receiver_acknowledges_what_comes_in_order_and_again() {
    let mut ends = Ends::new("roce", &[("ack_every", "3"), ("nak_interval", "50us")], 10_000);
    let mut arrive = |at_us: u64, seq: u64, flags: u8| said(&ends.arrive(us(at_us), &data(seq, 1000, flags)));
    assert_eq!([arrive(0, 0, 0), arrive(1, 1_000, 0)], [[], []]);
    assert_eq!(arrive(2, 2_000, 0), [(3_000, false, 66)]);
    // A missing packet causes a NAK, and another one after the NAK interval of 50 us. A NAK also resets the count of
    // packets per acknowledgement.
    assert_eq!(arrive(3, 3_000, 0), []);
    assert_eq!(arrive(4, 5_000, 0), [(4_000, true, 66)]);
    assert_eq!([arrive(5, 6_000, 0), arrive(53, 7_000, 0)], [[], []]);
    assert_eq!(arrive(54, 8_000, 0), [(4_000, true, 66)]);
    assert_eq!([arrive(55, 4_000, 0), arrive(56, 5_000, 0)], [[], []]);
    // After progress, another missing packet causes a NAK at once.
    assert_eq!(arrive(57, 7_000, 0), [(6_000, true, 66)]);
    // Duplicates count for `ack_every` like new packets. Their acknowledgements carry the next expected byte.
    assert_eq!([arrive(58, 0, 0), arrive(59, 1_000, 0)], [[], []]);
    assert_eq!(arrive(60, 2_000, 0), [(6_000, false, 66)]);
    assert_eq!(arrive(61, 6_000, flags::LAST), [(7_000, false, 66)], "the last packet at once");
    // With a window of 5 packets, there are at most 2 packets per acknowledgement (half the window, rounded down).
    let mut ends = Ends::new("roce", &[("ack_every", "9"), ("window", "5999B")], 10_000);
    let answers = |ends: &mut Ends, seq| said(&ends.arrive(us(1), &data(seq, 1000, 0))).len();
    assert_eq!([0, 1_000, 2_000, 3_000].map(|seq| answers(&mut ends, seq)), [0, 1, 0, 1]);
    let settings = [("ack_every", "9"), ("window", "50KB"), ("variable_window", "true")];
    let mut ends = Ends::new("dcqcn", &settings, 10_000);
    assert_eq!([0, 1_000].map(|seq| answers(&mut ends, seq)), [1, 1]);
    // The reply returns the timestamp of the packet.
    let packet = Frame { stamp: us(7), ..data(2_000, 1000, 0) };
    assert_eq!(ends.arrive(us(9), &packet)[0].stamp, us(7));
}

/// RTTs in microseconds, and the resulting rates, computed by a separate program.
// [TIMELY2] [TIMELY3] [TIMELY4] [TIMELY5]
#[test]
fn timely_by_hand() {
    let settings = [("initial_rate", "1Gbps"), ("segment", "1000B"), ("payload", "1000B")];
    let mut ends = Ends::new("timely", &settings, 1_000_000);
    let mut now = us(1_000);
    let rtts = [100, 120, 600, 40, 45, 45, 60, 50, 50, 50, 50, 50, 50];
    let rates: [u64; 13] = [
        1_010_000_000,
        302_999_999,
        262_599_999,
        272_599_999,
        282_599_999,
        292_599_999,
        148_179_647,
        158_179_647,
        168_179_647,
        178_179_647,
        188_179_647,
        238_179_647,
        288_179_647,
    ];
    for (packet, (rtt, rate)) in (1..).zip(rtts.into_iter().zip(rates)) {
        ends.send(now);
        now += us(1_000);
        // The serialisation delay of the full packet is that of 1082 bytes at the port rate of 10 Gbps, 865,600 ps,
        // independent of the flow's rate.
        let stamp = now - us(rtt) - Time::from_ps(865_600);
        // NAKs that acknowledge new bytes are RTT samples too.
        let kind = if packet % 2 == 0 { flags::NAK } else { 0 };
        ends.report(now, &Frame { stamp, ..ack(packet * 1000, kind) });
        assert_eq!(ends.rate(now), rate, "{rtt} us, measurement {packet}");
        // An acknowledgement without new bytes is no RTT sample.
        ends.report(now, &Frame { stamp: Time::ZERO, ..ack(packet * 1000, 0) });
        assert_eq!(ends.rate(now), rate);
    }
}

// [TIMELY1] [TIMELY6]
#[test]
fn timely_measures_by_segment_or_round_trip() {
    let mut ends = Ends::new("timely", &[("segment", "3999B"), ("payload", "1000B")], 10_000);
    let mut answers = |seq, flags| said(&ends.arrive(us(1), &data(seq, 1000, flags))).len();
    assert_eq!([0, 1_000, 2_000, 3_000].map(|seq| answers(seq, 0)), [0, 0, 1, 0]);
    assert_eq!(answers(4_000, flags::LAST), 1);
    let settings = [("initial_rate", "1Gbps"), ("measure", "round-trip"), ("payload", "1000B")];
    let mut ends = Ends::new("timely", &settings, 100_000);
    (0..4).for_each(|packet| _ = ends.send(us(100 * packet)));
    // The first acknowledgement is an RTT sample. The next sample is the first acknowledgement beyond byte 4000,
    // which was the next byte to send at the first sample.
    let mut rates = Vec::new();
    for packet in 1..=5 {
        ends.report(us(1_000), &ack_of(packet * 1000, us(990)));
        rates.push(ends.rate(us(1_000)));
        ends.send(us(1_000 + 100 * packet));
    }
    assert_eq!(rates, [1_010_000_000, 1_010_000_000, 1_010_000_000, 1_010_000_000, 1_020_000_000]);
}

/// CNPs arrive at 10, 60, 62, 300 and 420 us. Entries: time in us, rate and target rate in bit/s, computed by a
/// separate program.
const DCQCN: [(u64, u64, u64); 11] = [
    (10, 20_000_000_000, 40_000_000_000),
    (60, 10_000_000_000, 20_000_000_000),
    (62, 10_000_000_000, 20_000_000_000),
    (300, 9_837_982_577, 19_375_000_000),
    (420, 8_692_037_317, 16_990_745_645),
    (474, 8_692_037_317, 16_990_745_645),
    (475, 12_841_391_481, 16_990_745_645),
    (530, 14_916_068_563, 16_990_745_645),
    (700, 16_751_411_010, 17_030_745_645),
    (900, 17_080_828_816, 17_150_745_645),
    (1_200, 17_350_278_195, 17_390_745_645),
];

// [DCQCN2] [DCQCN3] [DCQCN4] [DCQCN7] [DCQCN8]
#[test]
fn dcqcn_by_hand() {
    let mut ends = Ends::at(Rate::from_gbps(40), "dcqcn", &[], 1_000_000);
    let cnp = Frame { kind: Kind::Cnp, ..Frame::default() };
    let state = |ends: &Ends, at_us| {
        let state = ends.sender.control_state(us(at_us));
        (state.rate.map_or(0, Rate::as_bps), state.target.map_or(0, Rate::as_bps))
    };
    assert_eq!(state(&ends, 0), (40_000_000_000, 40_000_000_000));
    for (at_us, rate, target) in DCQCN {
        if at_us <= 420 {
            ends.report(us(at_us), &cnp);
        }
        assert_eq!(state(&ends, at_us), (rate, target), "{at_us} us");
    }
}

/// Byte counter stages of 2500 bytes: the third frame of 1062 bytes ends the first stage, the fifth frame the second
/// one.
// [DCQCN4] [DCQCN6] [DCQCN7] [ROCE2]
#[test]
fn the_byte_counter_of_dcqcn_counts_what_has_been_sent() {
    let settings = [("byte_counter", "2500B"), ("increase_timer", "0us"), ("clamp_target", "false")];
    let mut ends = Ends::at(Rate::from_gbps(40), "dcqcn", &settings, 1_000_000);
    let cnp = Frame { kind: Kind::Cnp, ..Frame::default() };
    ends.report(us(1), &cnp);
    // No stage has ended since the first cut, so that the second cut keeps the target rate.
    ends.report(us(9), &cnp);
    let state = ends.sender.control_state(us(9));
    assert_eq!((ends.rate(us(9)), state.target), (10_000_000_000, Some(Rate::from_gbps(40))));
    let mut rates = Vec::new();
    for packet in 10..16 {
        let sent = ends.send(us(packet));
        // The pacing time after a packet is computed with the rate before the byte counter has counted this packet.
        let before = *rates.last().unwrap_or(&10_000_000_000);
        assert_eq!(sent.next - us(packet), Rate::from_bps(before).unwrap().serialise(1082));
        rates.push(ends.rate(us(packet)));
    }
    let gbps = |thousandths: u64| thousandths * 1_000_000;
    assert_eq!(rates, [gbps(10_000), gbps(10_000), gbps(25_000), gbps(25_000), gbps(32_500), gbps(32_500)]);
    // The host polls before the pacing slot of the fourth packet. The slot is determined by the new rate after the
    // third packet: 1082 bytes at 25 Gbps.
    let mut ends = Ends::at(Rate::from_gbps(40), "dcqcn", &settings, 1_000_000);
    ends.report(us(1), &cnp);
    ends.report(us(9), &cnp);
    (10..13).for_each(|packet| _ = ends.send(us(packet)));
    assert_eq!(ends.ask(us(12)), Offer::At(us(12) + Time::from_ps(346_240)));
    // A cut after a completed stage sets the target rate to the rate before the cut.
    ends.report(us(20), &cnp);
    assert_eq!(ends.sender.control_state(us(20)).target, Some(Rate::from_gbps(25)));
}

/// Timer samples: alpha is updated every 55 us from the first CNP on; several CNPs in one period count as one sample.
// [DCQCN5]
#[test]
fn alpha_by_the_samples_of_a_timer() {
    let settings = [("alpha_sample", "timer"), ("gain", "0.5"), ("initial_alpha", "0.25"), ("decrease_interval", "1s")];
    let mut ends = Ends::at(Rate::from_gbps(40), "dcqcn", &settings, 1_000_000);
    let cnp = Frame { kind: Kind::Cnp, ..Frame::default() };
    for at_us in [100, 110, 120, 156, 400] {
        ends.report(us(at_us), &cnp);
    }
    // The first CNP is at 100 us, so that periods end at 155, 210, ... us. The first two periods have a CNP each
    // (alpha = 0.625, 0.8125); the three until 375 us have none (0.1015625). The sixth period, with the CNP at 400
    // us, ends at 430 us.
    let alpha = |ends: &Ends, at_us| ends.sender.control_state(us(at_us)).alpha;
    assert_eq!((alpha(&ends, 400), alpha(&ends, 429)), (Some(0.1015625), Some(0.1015625)));
    assert_eq!(alpha(&ends, 430), Some(0.55078125));
    // The first CNP cut the rate by the initial alpha; because of the decrease interval of 1 s there has been no
    // other cut.
    assert_eq!(ends.sender.control_state(us(100)).target, Some(Rate::from_gbps(40)));
}

// [DCQCN1]
#[test]
fn notifications_go_before_the_acknowledgement_and_keep_their_distance() {
    let mut ends = Ends::new("dcqcn", &[], 100_000);
    let mut kinds = |at_us, seq| -> Vec<(Kind, u16)> {
        let replies = ends.arrive(us(at_us), &data(seq, 1000, flags::CE));
        replies.iter().map(|reply| (reply.kind, reply.size_bytes)).collect()
    };
    assert_eq!(kinds(10, 0), [(Kind::Cnp, 78), (Kind::Ack, 66)]);
    assert_eq!(kinds(59, 1_000), [(Kind::Ack, 66)]);
    // Packets that arrive out of order cause CNPs too.
    assert_eq!(kinds(60, 5_000), [(Kind::Cnp, 78), (Kind::Ack, 66)]);
    assert_eq!(kinds(120, 6_000), [(Kind::Cnp, 78)]);
}

fn hop(at: Time, queue_bytes: u64, sent_bytes: u64) -> Hop {
    Hop { at, rate: Rate::from_gbps(10), queue_bytes, sent_bytes, probe_bytes: 0 }
}

/// T is 8.0005 us; the window is computed from T rounded down to nanoseconds. U starts at 1.
// [HPCC1] [HPCC3] [HPCC5] [HPCC7] [HPCC8] [HPCC9] [HPCC10]
#[test]
fn hpcc_by_hand() {
    let settings = [("base_rtt", "8000500ps"), ("payload", "1000B")];
    let mut ends = Ends::new("hpcc", &settings, 100_000);
    assert_eq!(ends.send(Time::ZERO).size_bytes, 1000 + 62 + 42);
    assert_eq!(ends.arrive(us(1), &data(0, 1000, 0))[0].size_bytes, 66 + 42);
    assert_eq!(ends.arrive(us(1), &data(9_000, 1000, 0))[0].size_bytes, 66 + 42);
    (1..8).for_each(|packet| _ = ends.send(us(packet)));
    let window = |ends: &Ends| ends.sender.control_state(us(50)).window_bytes;
    assert_eq!((ends.rate(us(50)), window(&ends)), (10_000_000_000, Some(10_000)));
    // The first acknowledgement only stores its telemetry. The first round trip ends at byte 8000, the next byte to
    // send.
    ends.report_with(us(10), &ack(1_000, 0), &[hop(us(1), 3_000, 1_000)]);
    assert_eq!(ends.rate(us(10)), 10_000_000_000);
    // Two more acknowledgements within the round trip, whose rates are both computed from the reference rate. 5000
    // bytes in 4 us are the full line rate; the shorter of the two queues, 2000 bytes, takes 1600 of 8000.5 ns.
    let u = |before: f64, between: f64, used: f64| {
        let weight = between / 8_000_500.0;
        (1.0 - weight) * before + weight * used
    };
    let first = u(1.0, 4e6, 5_000.0 * 8e12 / 4e6 / 1e10 + 2_000.0 * 8.0 * 1e12 / (1e10 * 8_000_500.0));
    ends.report_with(us(11), &ack(2_000, 0), &[hop(us(5), 2_000, 6_000)]);
    let after = |utilisation: f64| (1e10 * (utilisation / 0.95).recip()) as u64 + 40_000_000;
    assert_eq!(ends.rate(us(11)), after(first));
    // A duplicate acknowledgement, which acknowledges no new byte, has no effect.
    ends.report_with(us(11), &ack(2_000, 0), &[hop(us(6), 9_000, 7_000)]);
    assert_eq!(ends.rate(us(11)), after(first));
    let second = u(first, 2e6, 2_400.0 * 8e12 / 2e6 / 1e10 + 1_000.0 * 8.0 * 1e12 / (1e10 * 8_000_500.0));
    ends.report_with(us(12), &ack(3_000, 0), &[hop(us(7), 1_000, 8_400)]);
    let rate = if second >= 0.95 { after(second) } else { 10_000_000_000 };
    assert_eq!((ends.rate(us(12)), window(&ends)), (rate, Some(rate * 8_000 / 8_000_000_000)));
    assert_eq!(ends.sender.control_state(us(12)).target, Some(Rate::from_gbps(10)), "the reference of the round trip");
    // Byte 9000 is beyond 8000, so that the round trip ends. Its rate is the next reference rate.
    ends.report_with(us(13), &ack(8_000, 0), &[hop(us(20), 9_000, 8_500)]);
    ends.send(us(14));
    ends.report_with(us(15), &ack(9_000, 0), &[hop(us(24), 9_000, 12_000)]);
    assert_eq!(ends.sender.control_state(us(15)).target.map(Rate::as_bps), Some(ends.rate(us(15))));
}

/// With a NAK that acknowledges new bytes, the next round trip ends at the byte that was next to send before the
/// sender went back.
// [ROCE6] [HPCC5] [TIMELY6]
#[test]
fn progress_counts_before_a_sender_goes_back() {
    let settings = [("initial_rate", "1Gbps"), ("measure", "round-trip"), ("payload", "1000B")];
    let mut ends = Ends::new("timely", &settings, 100_000);
    (0..4).for_each(|packet| _ = ends.send(us(100 * packet)));
    ends.report(us(400), &Frame { stamp: us(390), ..ack(1_000, flags::NAK) });
    assert_eq!((ends.rate(us(400)), ends.send(us(410)).seq), (1_010_000_000, 1_000));
    // The round trip has not ended: byte 3000 is not beyond 4000, which was next to send before the sender went back
    // to 1000.
    ends.send(us(430));
    ends.report(us(450), &ack_of(3_000, us(440)));
    assert_eq!(ends.rate(us(450)), 1_010_000_000);
}

/// The default initial window is the RTT divided by the serialisation delay of a full packet, rounded up: 20 us over
/// the delay of 1500 + 20 bytes at 10 Gbps.
// [NDP1] [NDP2] [NDP4]
#[test]
fn an_ndp_sender_sends_its_window_and_what_is_pulled() {
    let sends = |ends: &mut Ends| {
        let mut packets = Vec::new();
        while let Offer::Send(segment) = ends.ask(us(1)) {
            packets.push(segment.seq / 1436);
        }
        packets
    };
    let pull = |count: u64, below: u64| {
        let detail = Detail::next_expected(below * 1436);
        Frame { kind: Kind::Pull, seq: count, detail, ..Frame::default() }
    };
    let answer = |packet: u64, flags: u8| ack(packet * 1436, flags);
    let mut ends = Ends::new("ndp", &[], 100 * 1436);
    assert_eq!(sends(&mut ends).len(), 20_000_000_u64.div_ceil(1520 * 800) as usize);
    assert_eq!(sends(&mut Ends::new("ndp", &[], 3 * 1436 - 1)), [0, 1, 2]);
    let mut ends = Ends::new("ndp", &[("initial_window", "4")], 100 * 1436);
    assert_eq!(sends(&mut ends), [0, 1, 2, 3]);
    // Of two pulls the first one is lost. The second one replaces it, since the count in a pull is cumulative.
    // Packets 2 and 1 were trimmed.
    ends.report(us(2), &answer(2, flags::NAK));
    ends.report(us(2), &answer(1, flags::NAK));
    assert_eq!(sends(&mut ends), []);
    ends.report(us(3), &pull(2, 0));
    assert_eq!(sends(&mut ends), [1, 2]);
    // A pull that arrives out of order has no effect. Pull 3 reports that all packets below 3 have arrived, so that
    // packet 1 is not retransmitted.
    ends.report(us(4), &answer(1, flags::NAK));
    ends.report(us(4), &pull(1, 0));
    ends.report(us(4), &pull(3, 3));
    assert_eq!(sends(&mut ends), [4]);
    // While packet 3 is missing, packets up to 3 + 63 may be sent, because the bitmap for a window of 4 has the
    // minimum of 64 packets.
    ends.report(us(5), &pull(90, 3));
    assert_eq!(sends(&mut ends).last(), Some(&66));
}

// [NDP3] [NDP5] [NDP6] [NDP11]
#[test]
fn an_ndp_receiver_answers_each_packet_and_wants_what_is_missing() {
    // A flow of five packets with an initial window of two.
    let settings = [("initial_window", "2"), ("control", "70B")];
    let mut ends = Ends::new("ndp", &settings, 5 * 1436);
    let first = ends.send(Time::ZERO);
    let mut arrive = |packet: u64, kind: Kind| {
        let last = if packet == 4 { flags::LAST } else { 0 };
        let detail = first.detail;
        let frame = Frame { kind, detail, seq: packet * 1436, payload_bytes: 1436, flags: last, ..Frame::default() };
        let replies = ends.arrive(us(5), &frame);
        let Reply { kind, seq, flags, size_bytes, .. } = replies[0];
        assert_eq!((replies.len(), kind, seq, size_bytes), (1, Kind::Ack, packet * 1436, 70));
        (flags & (flags::NAK | flags::COMPLETE), ends.receiver.wants())
    };
    let (whole, cut) = (Kind::Data, Kind::Trimmed);
    // The receiver does not know the size of the flow, so that it requests one packet per arrival.
    assert_eq!(arrive(0, whole), (0, 1));
    assert_eq!(arrive(1, cut), (flags::NAK, 2));
    assert_eq!(arrive(0, whole), (0, 2), "a copy is answered and counts for nothing");
    assert_eq!(arrive(0, cut), (0, 3), "a needless header is acknowledged");
    // The number of arrivals, four, limits the requests. The flow needs one more: 5 packets, plus 2 trimmed ones,
    // minus the initial window of 2.
    assert_eq!(arrive(4, cut), (flags::NAK, 4));
    assert_eq!(arrive(2, whole), (0, 5));
    let mut ends = Ends::new("ndp", &settings, 5 * 1436);
    let announced = ends.send(Time::ZERO).detail;
    for packet in [4, 1, 2, 3] {
        let flags = if packet == 4 { flags::LAST } else { 0 };
        let frame = Frame { detail: announced, ..data(packet * 1436, 1436, flags) };
        assert_eq!(ends.arrive(us(6), &frame)[0].flags, 0);
    }
    // The flow needs only 3 requests, 5 packets minus the initial window of 2; the four arrivals do not limit them.
    assert_eq!(ends.receiver.wants(), 3);
    let frame = Frame { detail: announced, ..data(0, 1436, 0) };
    let done = ends.arrive(us(7), &frame)[0];
    assert_eq!((done.flags, done.detail, ends.receiver.wants()), (flags::COMPLETE, Detail::arrival(us(7)), 0));
    // This reply alone reports the completion to the sender.
    ends.report(us(9), &Frame { kind: Kind::Ack, detail: done.detail, flags: flags::COMPLETE, ..Frame::default() });
    assert_eq!(ends.sender.statistics().delivered, Some(us(7)));
}

/// At 3 Gbps the serialisation delay of 1250 wire bytes is 3,333,333 1/3 ps. Creation times are in whole picoseconds,
/// without a cumulative error.
// [DGRAM1] [DGRAM2] [DGRAM3]
#[test]
fn datagrams_are_due_at_whole_picoseconds_that_add_up() {
    let settings = [("frame", "1230B"), ("rate", "3Gbps")];
    let mut ends = Ends::new("datagram", &settings, 5 * 1184 + 100);
    let mut sent = Vec::new();
    let mut now = Time::ZERO;
    loop {
        match ends.ask(now) {
            Offer::Send(segment) => sent.push(segment),
            Offer::At(at) => now = at,
            _ => break,
        }
    }
    let stamps: Vec<u64> = sent.iter().map(|segment| segment.stamp.as_ps()).collect();
    assert_eq!(stamps, [0, 3_333_333, 6_666_666, 10_000_000, 13_333_333, 16_666_666]);
    assert_eq!((sent[4].payload_bytes, sent[5].payload_bytes, sent[5].size_bytes), (1184, 100, 146));
    // The second datagram is sent 5 us late. The creation time of the third one does not change.
    let mut late = Ends::new("datagram", &settings, 5_000);
    late.send(Time::ZERO);
    let second = late.send(Time::from_ps(8_333_333));
    assert_eq!(second.stamp, Time::from_ps(3_333_333));
    assert_eq!(late.send(Time::from_ps(8_333_334)).stamp, Time::from_ps(6_666_666));
    // The last datagram arrives before the first one: the flow completes only when the first one has arrived.
    let mut arrive = |seq, payload, flags| {
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut ctx = Ctx::new(us(1), &mut random, &mut replies);
        ends.receiver.on_frame(&mut ctx, &data(seq, payload, flags)).completed
    };
    assert!(!arrive(1_184, 100, flags::LAST));
    assert!(arrive(0, 1_184, 0));
}
