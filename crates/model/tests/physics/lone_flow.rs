//! Exact FCT of a flow in an idle network, over 1 to 6 links, compared with the closed form and with an independent
//! recurrence over frames.

use crate::bench::*;
use fabric::{Fabric, FabricBuilder, LinkSpec};
use traffic::Process;
use units::random::Stream;
use units::{Rate, Time};

/// A line of switches, `H1 - S1 - .. - H2`, with these links.
pub fn chain(links: &[LinkSpec]) -> Fabric {
    let mut builder = FabricBuilder::new("chain");
    let mut at = builder.add_host("H1");
    for (index, &spec) in links.iter().enumerate() {
        let last = index + 1 == links.len();
        let next = if last { builder.add_host("H2") } else { builder.add_switch(format!("S{}", index + 1), 1) };
        builder.connect(at, next, spec);
        at = next;
    }
    builder.build().unwrap()
}

/// Returns the arrival time of the last frame, by recurrence over frames and links. Each frame takes 8 bytes of
/// preamble, its length, and 12 bytes of gap, which only delays the next frame.
pub fn recurrence(path: &[LinkSpec], frames: &[u64]) -> Time {
    let mut free = vec![Time::ZERO; path.len()];
    let mut done = Time::ZERO;
    for &bytes in frames {
        let mut arrival = Time::ZERO;
        for (free, link) in free.iter_mut().zip(path) {
            let start = arrival.max(*free);
            *free = start + link.rate.serialise(8 + bytes + 12);
            arrival = start + link.rate.serialise(8 + bytes) + link.delay;
        }
        done = arrival;
    }
    done
}

/// Returns random links; some rates divide 8 Tbps (integral byte time in ps), others do not.
pub fn random_path(hops: usize, stream: &mut Stream) -> Vec<LinkSpec> {
    const GBPS: [u64; 8] = [1, 3, 7, 10, 25, 40, 100, 400];
    (0..hops)
        .map(|_| {
            let rate = Rate::from_gbps(GBPS[stream.below(8) as usize]);
            LinkSpec::new(rate, Time::from_ps(1 + stream.below(3_000_000)))
        })
        .collect()
}

/// Returns the FCT of one flow, and the baseline FCT in its record.
fn completion(
    path: &[LinkSpec],
    transport: protocols::transport::TransportParameters,
    flow: traffic::Flow,
) -> [Time; 2] {
    let mut setup = setup(chain(path), plan(2, [flow]));
    setup.host.transport = transport;
    setup.host.mtu_bytes = 9200;
    setup.duration = Time::from_ms(20);
    let results = run(setup);
    results.all_hold();
    let record = &results.flows[0];
    [Time::from_ps(record.fct_ps().expect("it completes")), Time::from_ps(record.baseline_fct_ps)]
}

// [M3] [M51] [ROCE1] [ROCE2] [TIMELY1]
#[test]
fn roce_at_line_rate_is_exact_over_1_to_6_hops() {
    let mut stream = Stream::new(1, 0, 0);
    for hops in 1..=6 {
        for _ in 0..12 {
            let mut path = random_path(hops, &mut stream);
            // At line rate, the queue at a slower link grows for the whole flow: this is part of the test.
            if hops > 3 {
                path[0].rate = Rate::from_gbps(400);
            }
            let payload = 64 + stream.below(4_000);
            let size = 1 + stream.below(payload * 40);
            let text = format!("{payload}B");
            let roce = transport("roce", &[("payload", &text), ("timeout", "1s")]);
            let header = u64::from(roce.header_bytes());
            let frame = |payload: u64| (payload + header).max(64);
            let mut frames = vec![frame(payload); (size / payload) as usize];
            frames.extend((!size.is_multiple_of(payload)).then(|| frame(size % payload)));
            let [measured, stated] = completion(&path, roce, flow(0, 1, size));
            assert_eq!(measured, recurrence(&path, &frames), "{size} bytes as {payload} over {path:?}");
            assert_eq!(measured, stated, "{size} bytes as {payload} over {path:?}");
        }
    }
}

#[test]
fn datagrams_are_exact_over_1_to_6_hops() {
    let mut stream = Stream::new(2, 0, 0);
    for hops in 1..=6 {
        for _ in 0..12 {
            let path = random_path(hops, &mut stream);
            let frame_bytes = 64 + stream.below(9_000) as u16;
            let count = 1 + stream.below(60);
            let process = Process::Constant { rate: path[0].rate };
            let size = count * u64::from(frame_bytes);
            let sent = datagrams(0, 1, process, frame_bytes, size);
            let frames = vec![u64::from(frame_bytes); count as usize];
            let [measured, stated] = completion(&path, transport("roce", &[]), sent);
            assert_eq!(measured, recurrence(&path, &frames), "{count} of {frame_bytes} over {path:?}");
            assert_eq!(measured, stated, "{count} of {frame_bytes} over {path:?}");
        }
    }
}

#[test]
fn the_datagram_transport_is_exact_too() {
    let path = [link(10, 700), link(3, 1), link(40, 12_345)];
    let datagram = transport("datagram", &[("frame", "1000B")]);
    let payload = 1000 - u64::from(datagram.header_bytes());
    let size = 17 * payload + 100;
    let mut frames = vec![1000; 17];
    frames.push(100 + u64::from(datagram.header_bytes()));
    let [measured, stated] = completion(&path, datagram, flow(0, 1, size));
    assert_eq!(measured, recurrence(&path, &frames));
    assert_eq!(measured, stated);
}

/// Negative control: a single minimum-size frame of another flow delays the completion by its wire time (64 + 20 B).
#[test]
fn another_flow_on_the_path_shows() {
    let path = [link(10, 700), link(10, 300)];
    let alone = completion(&path, transport("roce", &[]), flow(0, 1, 100_000))[0];
    let mut setup = setup(chain(&path), plan(2, [flow(0, 1, 100_000), flow(0, 1, 1)]));
    setup.duration = Time::from_ms(20);
    let results = run(setup);
    let both = results.flows.iter().find(|flow| flow.size_bytes == 100_000).unwrap();
    assert_eq!(Time::from_ps(both.fct_ps().unwrap()), alone + Rate::from_gbps(10).serialise(64 + 20));
}

/// A frame arrives when its last bit arrives, and the inter-frame gap does not delay it. At 1 Gbps the gap lasts 96 ns:
/// the FCT of a single frame contains no gap at any hop, and the second of two frames arrives one frame, one preamble
/// and one gap after the first, over any number of hops.
// [M3]
#[test]
fn the_gap_keeps_the_wire_and_delays_nothing() {
    for hops in 1..=5u64 {
        let path = vec![link(1, 100); hops as usize];
        let one = Time::from_ns((500 + 8) * 8 + 100) * hops;
        for (frames, expected) in [(1, one), (2, one + Time::from_ns((500 + 8 + 12) * 8))] {
            let datagram = transport("datagram", &[("frame", "500B")]);
            let payload = 500 - u64::from(datagram.header_bytes());
            let took = completion(&path, datagram, flow(0, 1, frames * payload));
            assert_eq!(took, [expected; 2], "{frames} frames over {hops} hops");
        }
    }
}
