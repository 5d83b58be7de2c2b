//! Tests of both ends of selective repeat: the replies of the receiver compared with a bitmap; loss recovery,
//! timeouts and flight cap of the sender, step by step.

use super::*;
use crate::endpoint::{Ctx, FlowStart, Offer, Receiver, Reply, Sender};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::roce::RoceParameters;
use std::sync::Arc;
use units::random::Stream;
use units::{Rate, Time};

fn parameters(settings: &[(&str, &str)]) -> Arc<RoceParameters> {
    let mut parameters = RoceParameters::default();
    parameters.set("loss_recovery", "selective").unwrap();
    settings.iter().for_each(|(key, text)| parameters.set(key, text).unwrap());
    Arc::new(parameters)
}

/// Sender of an endless flow at 10 Gbps, which sends one packet per microsecond (1082 bytes on the wire take 866 ns).
struct Bench {
    sender: SelectiveSender,
    random: Stream,
    replies: Vec<Reply>,
}

impl Bench {
    fn new(settings: &[(&str, &str)], round_trip: Time) -> Self {
        let line_rate = Rate::from_gbps(10);
        let flow = FlowStart { size_bytes: u64::MAX, start: Time::ZERO, stop: Time::MAX, line_rate, round_trip };
        let sender = SelectiveSender::new(&parameters(settings), &flow);
        Bench { sender, random: Stream::new(1, 1, 1), replies: Vec::new() }
    }

    /// Polls the sender at time `us`. Returns the number of the packet that it sends, and whether it is a
    /// retransmission.
    fn send(&mut self, us: u64) -> Option<(u64, bool)> {
        let mut ctx = Ctx::new(Time::from_us(us), &mut self.random, &mut self.replies);
        match self.sender.poll(&mut ctx) {
            Offer::Send(segment) => Some((segment.seq / 1000, segment.flags & flags::RETRANSMISSION != 0)),
            _ => None,
        }
    }

    fn reply(&mut self, us: u64, expected: u64, flags: u8, detail: Detail) {
        let frame = Frame { kind: Kind::Ack, seq: expected * 1000, flags, detail, ..Frame::default() };
        let mut ctx = Ctx::new(Time::from_us(us), &mut self.random, &mut self.replies);
        self.sender.on_frame(&mut ctx, &frame);
    }

    fn nak(&mut self, us: u64, expected: u64, packet: u64) {
        self.reply(us, expected, flags::NAK, Detail::packet(packet * 1000, 1000));
    }

    fn timer(&mut self, us: u64) -> u32 {
        let mut ctx = Ctx::new(Time::from_us(us), &mut self.random, &mut self.replies);
        self.sender.on_timer(&mut ctx);
        self.sender.statistics().timeouts
    }
}

/// IRN, sec. 3.1, order of transmission: first the packet that the cumulative acknowledgement expects, then missing
/// packets below a packet that has arrived, then new packets; each packet is retransmitted once.
#[test]
fn what_is_missing_goes_before_what_is_new_and_goes_once() {
    let mut bench = Bench::new(&[], Time::ZERO);
    (0..10).for_each(|us| assert_eq!(bench.send(us), Some((us, false))));
    // Packets 2, 3, 6 and 9 are lost; the loss of packet 9 cannot be known yet.
    bench.reply(11, 2, 0, Detail::NONE);
    bench.nak(12, 2, 4);
    assert_eq!(bench.send(12), Some((2, true)));
    assert_eq!(bench.send(13), Some((3, true)));
    assert_eq!(bench.send(14), Some((10, false)), "6 may still come");
    bench.nak(15, 2, 5);
    bench.nak(15, 2, 7);
    bench.nak(15, 2, 8);
    assert_eq!(bench.send(15), Some((6, true)));
    assert_eq!(bench.send(16), Some((11, false)));
    // The retransmissions arrive. Their acknowledgements arrive out of order: first the NAK caused by packet 6.
    bench.nak(17, 2, 6);
    bench.reply(18, 4, 0, Detail::NONE);
    assert_eq!(bench.sender.statistics().retransmitted_bytes, 3000);
    // All packets below 9 are acknowledged; packet 9 is missing.
    bench.nak(19, 9, 10);
    assert_eq!(bench.send(19), Some((9, true)));
    // A NAK from before the last acknowledgement has no effect.
    bench.nak(20, 2, 4);
    assert_eq!(bench.send(20), Some((12, false)));
}

/// IRN, sec. 3.1: the timeout, measured from the last progress, is 100 us with less than three packets in flight,
/// else 320 us.
#[test]
fn the_timeout_depends_on_what_is_on_its_way() {
    let mut few = Bench::new(&[], Time::ZERO);
    few.send(0);
    few.send(1);
    assert_eq!((few.sender.next_timer(), few.timer(99)), (Time::from_us(100), 0));
    assert_eq!(few.timer(100), 1);
    assert_eq!(few.send(100), Some((0, true)));
    assert_eq!(few.send(102), Some((2, false)), "packet 1 is not known to be lost");
    let mut more = Bench::new(&[], Time::ZERO);
    (0..3).for_each(|us| _ = more.send(us));
    assert_eq!(more.timer(100), 0);
    assert_eq!(more.sender.next_timer(), Time::from_us(320));
    assert_eq!((more.timer(319), more.timer(320)), (0, 1));
    // After the timeout of 320 us, a timer call at 321 us has no effect; packet 0 is retransmitted.
    assert_eq!((more.timer(321), more.send(322)), (1, Some((0, true))));
    // An acknowledgement of new bytes at 330 us restarts the timeout.
    more.reply(330, 1, 0, Detail::NONE);
    assert_eq!((more.timer(420), more.timer(430)), (1, 2), "two packets: 100 us");
}

/// A retransmission that waits for its pacing slot causes no timeout: the timeout starts when the packet is sent.
#[test]
fn what_waits_for_its_turn_is_not_late() {
    let mut bench = Bench::new(&[("rate", "8Mbps")], Time::ZERO);
    assert_eq!(bench.send(0), Some((0, false)));
    assert_eq!((bench.timer(100), bench.send(100)), (1, None), "1082 bytes last 1082 us");
    (2..10).for_each(|n| assert_eq!(bench.timer(n * 100), 1));
    assert_eq!(bench.send(1082), Some((0, true)));
    assert_eq!((bench.timer(1181), bench.timer(1182)), (1, 2));
}

/// IRN, sec. 3.2: in an RTT of 20 us, 10 Gbps carry 25,000 bytes, or 24 packets of 1082 wire bytes (rounded up).
#[test]
fn the_cap_is_what_the_line_carries_in_a_round_trip() {
    let sent = |settings: &[(&str, &str)], us| {
        let mut bench = Bench::new(settings, Time::from_us(us));
        (0..1000).filter(|&us| bench.send(us).is_some()).count()
    };
    assert_eq!(sent(&[], 20), 24);
    assert_eq!(sent(&[("flight_cap", "5KB")], 20), 5);
    assert_eq!(sent(&[("flight_cap", "1B")], 20), 1);
    assert_eq!(sent(&[("flight_cap", "unlimited")], 20), 1000);
    // Packets that arrive out of order do not extend the cap, which counts from the first missing byte.
    let mut bench = Bench::new(&[("flight_cap", "5KB")], Time::ZERO);
    (0..5).for_each(|us| _ = bench.send(us));
    bench.nak(6, 0, 1);
    assert_eq!((bench.send(6), bench.send(7)), (Some((0, true)), None));
    bench.reply(8, 2, 0, Detail::NONE);
    assert_eq!((bench.send(8), bench.send(9), bench.send(10)), (Some((5, false)), Some((6, false)), None));
}

/// A trimmed packet is retransmitted at once after each trimming, and only once if a gap also indicates its loss.
#[test]
fn what_was_cut_goes_again_at_once() {
    let mut bench = Bench::new(&[], Time::ZERO);
    (0..6).for_each(|us| _ = bench.send(us));
    bench.reply(7, 0, flags::NAK, Detail::packet(3000, 0));
    assert_eq!(bench.send(7), Some((3, true)));
    bench.nak(8, 3, 4);
    assert_eq!(bench.send(8), Some((6, false)), "3 is on its way");
    bench.reply(9, 3, flags::NAK, Detail::packet(3000, 0));
    assert_eq!(bench.send(9), Some((3, true)));
    let returned = Frame { kind: Kind::Returned, seq: 5000, ..Frame::default() };
    let mut ctx = Ctx::new(Time::from_us(10), &mut bench.random, &mut bench.replies);
    bench.sender.on_frame(&mut ctx, &returned);
    assert_eq!((bench.send(10), bench.send(11)), (Some((5, true)), Some((7, false))));
}

/// Random loss, duplication, reordering and trimming: compares the receiver with a bitmap. Each frame causes one
/// reply with the first missing byte, and with the packet of the frame if an earlier packet is missing.
#[test]
fn each_packet_is_answered_with_the_truth() {
    let mut random = Stream::new(7, 0, 0);
    for _ in 0..200 {
        let mut receiver = SelectiveReceiver::new(&parameters(&[]));
        let count = 1 + random.below(100) as usize;
        let (mut here, mut delivered, mut completions) = (vec![false; count], 0, 0);
        let first_missing = |here: &[bool]| here.iter().position(|&here| !here).unwrap_or(count) as u64;
        let (mut replies, mut other) = (Vec::new(), Stream::new(1, 1, 1));
        while here.contains(&false) {
            let next = first_missing(&here);
            let packet = (next + random.below(12)).saturating_sub(2).min(count as u64 - 1);
            let cut = random.below(8) == 0;
            let frame = Frame {
                kind: if cut { Kind::Trimmed } else { Kind::Data },
                seq: packet * 1000,
                payload_bytes: 1000,
                flags: if packet + 1 == count as u64 { flags::LAST } else { 0 },
                ..Frame::default()
            };
            let had = here[packet as usize];
            let receipt = receiver.on_frame(&mut Ctx::new(Time::from_us(1), &mut other, &mut replies), &frame);
            here[packet as usize] |= !cut;
            delivered += receipt.new_bytes;
            completions += u32::from(receipt.completed);
            assert_eq!(receipt.new_bytes, if cut || had { 0 } else { 1000 });
            let replies_sent: Vec<Reply> = std::mem::take(&mut replies);
            let expected = first_missing(&here);
            if cut && had {
                assert!(replies_sent.is_empty());
                continue;
            }
            let [reply] = replies_sent[..] else { panic!("{replies_sent:?}") };
            assert_eq!(reply.seq, expected * 1000);
            let negative = cut || packet > expected;
            assert_eq!(reply.flags & flags::NAK != 0, negative);
            if negative {
                let answer = Frame { kind: Kind::Ack, detail: reply.detail, ..Frame::default() };
                assert_eq!(answer.packet(), (packet * 1000, if cut { 0 } else { 1000 }));
                assert_eq!(reply.size_bytes, 70);
            }
        }
        assert_eq!((delivered, completions), (count as u32 * 1000, 1));
    }
}

#[test]
fn errors_are_reported() {
    let refused = |key: &str, text: &str| {
        let mut parameters = RoceParameters::default();
        parameters.set(key, text).and_then(|()| parameters.check()).unwrap_err().to_string()
    };
    assert!(refused("loss_recovery", "sack").contains("go-back-n, selective"));
    assert!(refused("flight_cap", "0B").contains("at least 1B"));
    assert!(refused("flight_cap", "bdp").contains("flight_cap"));
    assert!(refused("rto_low", "0us").contains("round trip"));
    assert!(refused("rto_low", "1ms").contains("rto_low"));
    assert!(refused("rto_low_packets", "-1").contains("whole number"));
}
