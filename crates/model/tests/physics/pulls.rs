//! Transports that their receivers drive: alone on a path they take what their bytes take, together they fill the
//! receiver's link and no more, and they get everything through links that lose.

use crate::bench::*;
use crate::lone_flow::{chain, random_path, recurrence};
use fabric::generate;
use model::parameters::*;
use units::random::Stream;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// A window of one bandwidth-delay product keeps the slowest link busy, whichever it is, and asks for each further
/// packet in time.
#[test]
fn a_lone_flow_is_exact_over_1_to_6_hops() {
    let mut stream = Stream::new(21, 0, 0);
    for hops in 1..=6 {
        for round in 0..8 {
            let path = random_path(hops, &mut stream);
            let payload = 300 + stream.below(4_000);
            let size = 1 + stream.below(payload * 60);
            let kind = if round % 2 == 0 { "ndp" } else { "eqds" };
            let transport = transport(kind, &[("payload", &format!("{payload}B")), ("timeout", "never")]);
            let wire = |payload: u64| payload + 64 + WIRE_OVERHEAD_BYTES;
            let mut frames = vec![wire(payload); (size / payload) as usize];
            frames.extend((!size.is_multiple_of(payload)).then_some(wire(size % payload)));
            let mut setup = setup(chain(&path), plan(2, [flow(0, 1, size)]));
            setup.host.transport = transport;
            setup.host.mtu_bytes = 9200;
            setup.duration = Time::from_ms(20);
            let told = run(setup);
            told.all_hold();
            let record = &told.flows[0];
            let took = Time::from_ps(record.fct_ps().expect("it completes"));
            assert_eq!(took, recurrence(&path, &frames), "{kind} {path:?} {payload} {size}");
            assert_eq!((record.alone_ps, record.retransmitted_bytes), (took.as_ps(), 0));
        }
    }
}

/// As many senders as there are: what arrives is what fits the receiver's link, from the first packet to the last, and
/// the queue before it never holds more than the first windows.
#[test]
fn an_incast_fills_the_receivers_link() {
    for (kind, senders) in [("ndp", 4), ("ndp", 15), ("eqds", 4), ("eqds", 15)] {
        let fabric = generate::single_switch(senders + 1, link(100, 500)).unwrap();
        let size = 200 * 1436;
        let flows = (0..senders as u32).map(|sender| flow(sender, senders as u32, size));
        let mut setup = setup(fabric, plan(senders as u32 + 1, flows));
        setup.host.transport = transport(kind, &[("timeout", "never")]);
        setup.duration = Time::from_ms(10);
        let packet = Rate::from_gbps(100).serialise(1500 + WIRE_OVERHEAD_BYTES);
        // A round trip of a packet, its acknowledgement and a pull holds so many packets.
        let window = (packet * 2 + Time::from_ns(2000) + Rate::from_gbps(100).serialise(84) * 3).as_ps();
        let ahead = if kind == "eqds" { 3 } else { 2 };
        let most = window.div_ceil(packet.as_ps()) * ahead / 2 * senders as u64 * 1500;
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(most) };
        let told = run(setup);
        told.all_hold();
        assert_eq!(told.dropped("no room"), 0);
        let done = told.flows.iter().map(|flow| flow.delivered_ps.expect("it completes")).max().unwrap();
        // The first packet's way to the switch, all packets through its port, and the last one's delay.
        let floor = packet + Time::from_ns(1000) + packet * (200 * senders as u64);
        let took = Time::from_ps(done);
        assert!(took >= floor && took < floor + packet * 2, "{kind} {senders}: {took}, at least {floor}");
    }
}
