//! Random payload lengths of packets (Bahnasy's thesis, table 2.1: frames of N(1000, 150) bytes).
//!
//! The length of a packet is a function of a random number of its flow and of its first byte. A retransmission by
//! go-back-N therefore has the boundaries of the first transmission.

use crate::roce::connection::ConnectionParameters;
use units::random::{Stream, purpose};

/// Returns the payload in bytes of the packet that starts at byte `seq` of the flow with the random number `flow`.
#[cold]
pub(super) fn payload_bytes(parameters: &ConnectionParameters, flow: u64, seq: u64) -> u16 {
    let mut stream = Stream::new(flow, seq, const { purpose("payload") });
    // Box and Muller (1958). 1 - unit() is in (0, 1], so that the logarithm is finite.
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    let deviate = radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit());
    let drawn = f64::from(parameters.payload_bytes) + f64::from(parameters.payload_deviation_bytes) * deviate;
    let (least, most) = (f64::from(parameters.min_payload_bytes), f64::from(parameters.max_payload_bytes));
    libm::round(drawn.clamp(least, most)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{Ctx, FlowStart, Offer, Sender};
    use crate::frame::{Frame, Kind, flags};
    use crate::roce::{RoceParameters, RoceSender};
    use std::sync::Arc;
    use units::{Rate, Time};

    fn connection() -> ConnectionParameters {
        ConnectionParameters { payload_bytes: 938, payload_deviation_bytes: 150, ..ConnectionParameters::default() }
    }

    /// 100,000 lengths have the mean 938 and the deviation 150 of the normal distribution; 15.9 % are below 788.
    #[test]
    fn lengths_are_normal_and_in_their_range() {
        let lengths: Vec<f64> =
            (0..100_000).map(|packet| f64::from(payload_bytes(&connection(), 7, packet * 938))).collect();
        let mean = lengths.iter().sum::<f64>() / 1e5;
        let deviation = libm::sqrt(lengths.iter().map(|length| (length - mean) * (length - mean)).sum::<f64>() / 1e5);
        assert!((mean - 938.0).abs() < 2.0 && (deviation - 150.0).abs() < 2.0, "{mean} {deviation}");
        let below = lengths.iter().filter(|&&length| length < 788.0).count();
        assert!((15_500..16_300).contains(&below), "{below}");
        assert!(lengths.iter().all(|length| (138.0..=1438.0).contains(length)));
        let narrow = ConnectionParameters { min_payload_bytes: 900, max_payload_bytes: 950, ..connection() };
        let lengths: Vec<u16> = (0..1000).map(|packet| payload_bytes(&narrow, 7, packet)).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&900), Some(&950)));
    }

    /// By hand from the first two uniform numbers u, v of each stream: 938 + 150 sqrt(-2 ln(1 - u)) cos(2 pi v).
    #[test]
    fn a_length_depends_on_its_flow_and_first_byte_only() {
        let of = |flow, seq| payload_bytes(&connection(), flow, seq);
        assert_eq!([of(7, 0), of(7, 1000), of(8, 0), of(7, 0)], [793, 1042, 747, 793]);
    }

    /// After a NAK of the sixth packet, the packets from there on have their former boundaries.
    #[test]
    fn a_retransmission_has_the_boundaries_of_the_first_transmission() {
        let parameters = Arc::new(RoceParameters { connection: connection(), ..RoceParameters::default() });
        let flow = FlowStart {
            size_bytes: u64::MAX,
            start: Time::ZERO,
            stop: Time::MAX,
            line_rate: Rate::from_gbps(10),
            round_trip: Time::ZERO,
        };
        let mut sender = RoceSender::new(&parameters, &flow);
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut sent = |sender: &mut RoceSender, us: u64| {
            let Offer::Send(packet) = sender.poll(&mut Ctx::new(Time::from_us(us), &mut random, &mut replies)) else {
                panic!("a packet is due")
            };
            (packet.seq, packet.payload_bytes)
        };
        let first: Vec<(u64, u16)> = (0..10).map(|packet| sent(&mut sender, 2 * packet)).collect();
        assert!(first.windows(2).all(|pair| pair[1].0 == pair[0].0 + u64::from(pair[0].1)));
        assert!(first.windows(2).any(|pair| pair[0].1 != pair[1].1), "{first:?}");
        let nak = Frame { kind: Kind::Ack, seq: first[5].0, flags: flags::NAK, ..Frame::default() };
        let (mut random, mut replies) = (Stream::new(2, 1, 1), Vec::new());
        sender.on_frame(&mut Ctx::new(Time::from_us(30), &mut random, &mut replies), &nak);
        let (mut random, mut replies) = (Stream::new(3, 1, 1), Vec::new());
        for (packet, expected) in first[5..].iter().enumerate() {
            let now = Time::from_us(40 + 2 * packet as u64);
            let Offer::Send(again) = sender.poll(&mut Ctx::new(now, &mut random, &mut replies)) else {
                panic!("a packet is due")
            };
            assert_eq!((again.seq, again.payload_bytes), *expected);
        }
    }

    #[test]
    fn ranges_without_the_mean_and_selective_repeat_are_refused() {
        let key = |changes: &[(&str, &str)]| {
            let mut parameters = RoceParameters::default();
            changes.iter().for_each(|(key, text)| parameters.set(key, text).unwrap());
            parameters.check().map_err(|error| error.key().to_owned())
        };
        let deviation = ("payload_deviation", "150B");
        assert_eq!(key(&[deviation]), Ok(()));
        assert_eq!(key(&[deviation, ("min_payload", "1001B")]), Err("min_payload".to_owned()));
        assert_eq!(key(&[deviation, ("max_payload", "999B")]), Err("max_payload".to_owned()));
        assert_eq!(key(&[deviation, ("loss_recovery", "selective")]), Err("payload_deviation".to_owned()));
    }
}
