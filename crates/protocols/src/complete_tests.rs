//! Compares two receivers of a completed flow: one that the host creates as complete (`complete_receiver`), and one
//! that received every frame.

use crate::custom::{AnyReceiver, AnySender, CustomTransport, Transport};
use crate::endpoint::{Ctx, Receipt, Receiver, Reply};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::ndp::announcement::Announcement;
use crate::transport::{FlowStart, MECHANISMS, TransportParameters};
use units::random::Stream;
use units::{Rate, Time};

const PACKETS: u64 = 10;

/// Returns each transport with its defaults, and transports with parameters that affect the replies of the receiver.
fn transports() -> Vec<TransportParameters> {
    let plain = MECHANISMS.iter().map(|mechanism| (mechanism.kind, vec![]));
    let special = [
        ("roce", vec![("ack_every", "10")]),
        ("roce", vec![("ack", "90B")]),
        ("dcqcn", vec![("ack_every", "4")]),
        ("dcqcn", vec![("loss_recovery", "selective")]),
        ("hpcc", vec![("loss_recovery", "selective")]),
        ("hetflow", vec![("loss_recovery", "selective")]),
        ("tcp", vec![("sack", "true")]),
        ("tcp", vec![("delayed_ack", "false")]),
        ("dctcp", vec![("delayed_ack", "true")]),
        ("ndp", vec![("control", "80B")]),
    ];
    let build = |(kind, settings): (&str, Vec<(&'static str, &'static str)>)| {
        TransportParameters::build(kind, settings).unwrap_or_else(|error| panic!("{kind}: {error}"))
    };
    plain.chain(special).map(build).collect()
}

/// Returns the receipt and the replies of `receiver` to `frame`, without measurement notifications: a newly created
/// receiver starts its measurement anew.
fn answers(receiver: &mut impl Receiver, now: Time, frame: &Frame) -> (Receipt, Vec<Reply>) {
    let (mut random, mut replies) = (Stream::new(1, 2, 3), Vec::new());
    let receipt = receiver.on_frame(&mut Ctx::new(now, &mut random, &mut replies), frame);
    replies.retain(|reply| reply.kind == Kind::Ack);
    (receipt, replies)
}

/// Both receivers get the same duplicates of random packets, whole, trimmed or ECN-marked. Their replies must be
/// equal.
#[test]
fn a_receiver_made_complete_answers_as_one_that_received_everything() {
    for transport in transports() {
        let payload = u64::from(transport.payload_bytes());
        let flow = FlowStart {
            size_bytes: PACKETS * payload - 7,
            start: Time::ZERO,
            stop: Time::MAX,
            line_rate: Rate::from_gbps(10),
            round_trip: Time::from_us(10),
        };
        let packet = |number: u64| Frame {
            seq: number * payload,
            payload_bytes: payload.min(flow.size_bytes - number * payload) as u16,
            flags: if number + 1 == PACKETS { flags::LAST } else { 0 },
            stamp: Time::from_ns(number),
            // NDP senders announce their window in each data packet.
            detail: Detail::announcement(Announcement { window: 8, packets: PACKETS }),
            ..Frame::default()
        };
        let mut live = transport.receiver();
        for number in 0..PACKETS {
            let (receipt, _) = answers(&mut live, Time::from_us(number), &packet(number));
            assert_eq!(receipt.completed, number + 1 == PACKETS, "{transport:?}");
        }
        let completed = Time::from_us(PACKETS - 1);
        let mut made = transport.complete_receiver(live.next_expected(), completed);
        assert!(live.next_expected() >= flow.size_bytes && live.next_expected() < flow.size_bytes + payload);
        assert_eq!((made.next_expected(), made.next_timer()), (live.next_expected(), Time::MAX));
        let silent = matches!(transport, TransportParameters::Datagram(_));
        let mut random = Stream::new(7, 0, 0);
        for step in 0..200 {
            let mut frame = packet(random.below(PACKETS));
            if random.below(4) == 0 {
                frame.kind = Kind::Trimmed;
            }
            frame.flags |= if random.below(5) == 0 { flags::CE } else { 0 };
            let now = completed + Time::from_us(step + 1);
            let (receipt, replies) = answers(&mut made, now, &frame);
            if !silent {
                assert_eq!((receipt, replies.clone()), answers(&mut live, now, &frame), "{transport:?}");
                assert_eq!(receipt, Receipt::default());
                assert_eq!(replies.len(), 1, "each duplicate is answered: {transport:?}");
                assert!(replies[0].flags & flags::COMPLETE != 0 && replies[0].detail == Detail::arrival(completed));
            }
            assert_eq!(replies.is_empty(), silent);
            assert_eq!((made.wants(), made.next_timer()), (0, Time::MAX), "{transport:?}");
        }
    }
}

/// A user-defined transport that uses the default receiver for complete flows.
#[derive(Debug)]
struct Plain;

impl Transport for Plain {
    fn sender(&self, _: &FlowStart) -> Box<dyn AnySender> {
        unreachable!("only the receiver of a complete flow is made")
    }
    fn receiver(&self) -> Box<dyn AnyReceiver> {
        unreachable!("only the receiver of a complete flow is made")
    }
    fn payload_bytes(&self) -> u16 {
        1000
    }
    fn header_bytes(&self) -> u16 {
        64
    }
}

#[test]
fn a_transport_of_a_users_own_acknowledges_the_whole_flow_with_each_duplicate() {
    let transport = TransportParameters::Custom(CustomTransport::new(Plain));
    let mut made = transport.complete_receiver(5_000, Time::from_us(3));
    let frame = Frame { seq: 1000, payload_bytes: 1000, stamp: Time::from_us(1), ..Frame::default() };
    let (receipt, replies) = answers(&mut made, Time::from_us(9), &frame);
    assert_eq!((receipt, replies.len(), made.next_expected()), (Receipt::default(), 1, 5_000));
    let Reply { seq, size_bytes, stamp, detail, .. } = replies[0];
    assert_eq!((seq, size_bytes, stamp), (5_000, 64, Time::from_us(1)));
    assert_eq!(detail, Detail::arrival(Time::from_us(3)));
}
