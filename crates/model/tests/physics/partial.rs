//! Fabrics with flow control at some switches only: frames are lost only at the other switches, exactly as many as a
//! tail-drop queue loses.

use crate::bench::*;
use crate::conservation::network;
use fabric::{Fabric, FabricBuilder, LinkSpec, NodeId};
use model::parameters::*;
use protocols::florax::StopTarget;
use traffic::{ENDLESS, Process};
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// 1250 B on the wire, which take 1 us at 10 Gbps.
const FRAME: u16 = 1230;
const FRAMES: u64 = 1_000;
/// Limit in frames of a queue without flow control.
const QUEUE: u64 = 100;

/// Returns all kinds of flow control, each with a buffer. In each buffer, a queue without flow control holds [`QUEUE`]
/// frames.
fn kinds() -> [(&'static str, FlowControl, Buffer); 6] {
    let shared = Buffer::Shared { bytes: 64_000_000, egress: Threshold::Static { bytes: QUEUE * u64::from(FRAME) } };
    let own = Buffer::PerQueue { limit: QueueLimit::Packets(QUEUE as u32) };
    let credit =
        CreditParameters { classes: 1 << 3, credits_bytes: None, update_bytes: None, regrant: Time::from_us(100) };
    [
        ("pause", FlowControl::Pause(PauseParameters { classes: 0xff, ..pause(20_000) }), shared),
        ("pfc", FlowControl::Pfc(pause(20_000)), shared),
        ("cbfc", FlowControl::Credit(credit), shared),
        ("florax", FlowControl::Florax(backpressure(StopTarget::Flows)), own),
        ("destination", FlowControl::Destination(backpressure(StopTarget::Destinations)), own),
        ("pause-at-output", FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST), own),
    ]
}

/// `H1 - S1 - S2 - S3 - H2`, with `H3` at `S2`: all links have 10 Gbps, except 4 Gbps from `S2` to `S3`.
fn row() -> Fabric {
    let mut builder = FabricBuilder::new("row");
    let [h1, h2, h3] = ["H1", "H2", "H3"].map(|name| builder.add_host(name));
    let [s1, s2, s3] = ["S1", "S2", "S3"].map(|name| builder.add_switch(name, 1));
    let fast: LinkSpec = link(10, 500);
    builder.connect(h1, s1, fast);
    builder.connect(s1, s2, fast);
    builder.connect(s2, s3, link(4, 500));
    builder.connect(s3, h2, fast);
    builder.connect(h3, s2, fast);
    builder.build().unwrap()
}

/// `H1` sends [`FRAMES`] frames at line rate to `H2`. The switches in `outside` have no flow control.
fn line(flow_control: FlowControl, buffer: Buffer, outside: &[&str]) -> Setup {
    let fabric = row();
    let outside = outside.iter().map(|name| fabric.find(name).unwrap()).collect();
    let process = Process::Constant { rate: Rate::from_gbps(10) };
    let payload = FRAMES * u64::from(FRAME);
    let mut setup = setup(fabric, plan(3, [datagrams(0, 1, process, FRAME, payload)]));
    (setup.switch.flow_control, setup.switch.buffer, setup.without_flow_control) = (flow_control, buffer, outside);
    setup.host.mtu_bytes = FRAME;
    setup.duration = Time::from_ms(10);
    setup
}

/// Returns the number of frames that `S2` drops. One frame arrives per microsecond and one is forwarded per 2.5 us, the
/// first immediately: while n frames arrive, floor((n - 1) / 2.5) + 1 are forwarded. The queue is full at the last
/// arrival.
fn lost_at_the_narrow_link() -> u64 {
    let left = (FRAMES - 1) * 2 / 5 + 1;
    FRAMES - left - QUEUE
}

#[test]
fn only_a_switch_without_flow_control_loses_as_tail_drop() {
    for (kind, flow_control, buffer) in kinds() {
        run(line(flow_control, buffer, &[])).all_hold();

        let results = run(line(flow_control, buffer, &["S2"]));
        let summary = &results.summary;
        assert_eq!(results.dropped("outside flow control"), lost_at_the_narrow_link(), "{kind}");
        assert_eq!(summary.packets.dropped.len(), 1, "{kind}: {:?}", summary.packets.dropped);
        assert_eq!((summary.pauses.count, summary.pauses.ignored), (0, 0), "{kind}: nobody else is short of room");
        // The losses do not fail a check, but cause a warning.
        assert!(summary.passes() && summary.packets.closed, "{kind}: {:?}", summary.checks);
        let lossless = summary.checks.iter().find(|check| check.name == "lossless").unwrap();
        assert!(lossless.detail.contains("outside flow control"), "{kind}: {}", lossless.detail);
        assert!(summary.warnings[0].contains("outside flow control"), "{kind}: {:?}", summary.warnings);
        // Without any flow control, tail drop loses the same number of frames, as "queue full".
        let none = run(line(FlowControl::None, buffer, &[]));
        assert_eq!(none.dropped("queue full"), lost_at_the_narrow_link());
    }
}

/// `S2` pauses `S1`, which has no flow control and ignores the pauses: frames beyond the buffer of `S2` are lost at
/// `S2`, and ignored pauses are counted. With credits, no pauses are sent.
#[test]
fn calls_to_a_switch_outside_end_there_and_are_counted() {
    for (kind, flow_control, buffer) in kinds() {
        let results = run(line(flow_control, buffer, &["S1"]));
        let summary = &results.summary;
        assert!(summary.passes() && summary.packets.closed, "{kind}: {:?}", summary.checks);
        let calls = summary.pauses.ignored;
        assert_eq!(calls > 0, kind != "cbfc", "{kind}: {calls}");
        assert_eq!(summary.pauses.total_ps, 0, "{kind}: S1 went on, and so did H1");
        // FLORAX distinguishes flows: it drops the frames of a flow above its assigned rate.
        let cause = if kind == "florax" { "nonconforming" } else { "outside flow control" };
        assert!(results.dropped(cause) > 0, "{kind}: {:?}", summary.packets.dropped);
        assert_eq!(results.dropped("lossless queue full"), 0, "{kind}");
    }
}

/// A host at a switch with flow control loses no frame, although a neighbouring switch has no flow control, because
/// each ingress port has a separate account.
#[test]
fn switches_with_flow_control_are_lossless_beside_others() {
    for (kind, flow_control, buffer) in kinds().into_iter().take(3) {
        let mut setup = line(flow_control, buffer, &["S1"]);
        let process = || Process::Constant { rate: Rate::from_gbps(10) };
        let payload = FRAMES * u64::from(FRAME);
        let both = [datagrams(0, 1, process(), FRAME, payload), datagrams(2, 1, process(), FRAME, payload)];
        setup.traffic = plan(3, both);
        let results = run(setup);
        assert!(results.dropped("outside flow control") > 0 && results.passes("lossless"), "{kind}");
        let obedient = results.flows.iter().find(|flow| flow.src_host == 2).unwrap();
        assert!(obedient.delivered_ps.is_some(), "{kind}: every frame of H3 arrived");
    }
}

/// A pause storm has no effect at a switch without flow control.
#[test]
fn a_pause_storm_ends_at_a_switch_outside() {
    let storm = |outside: &[&str]| {
        let (_, flow_control, buffer) = kinds()[1];
        let mut setup = line(flow_control, buffer, outside);
        let process = Process::Constant { rate: Rate::from_gbps(1) };
        setup.traffic = plan(3, [datagrams(0, 1, process, FRAME, ENDLESS)]);
        let node = setup.fabric.find("H2").unwrap();
        setup.host.pause_storm = Some(PauseStorm { node, at: Time::from_us(10), until: None });
        setup.record.throughput_every = Some(Time::from_us(100));
        run(setup)
    };
    let (inside, outside) = (storm(&[]), storm(&["S3"]));
    assert!(outside.goodput[0] > 10 * inside.goodput[0], "{:?} {:?}", inside.goodput, outside.goodput);
    assert!(outside.summary.pauses.ignored > 0 && outside.summary.pauses.total_ps == 0);
}

/// Random networks in which random switches have no flow control: conservation, on any number of threads.
#[test]
fn random_networks_keep_their_books_on_any_number_of_threads() {
    let (mut lost, mut ignored) = (0, 0);
    for seed in 0..36 {
        let setup = |threads| {
            let mut setup = network(seed, threads).0;
            let mut stream = Stream::new(seed, 0, purpose("outside"));
            let (_, flow_control, buffer) = kinds()[seed as usize % 6];
            (setup.switch.flow_control, setup.switch.buffer) = (flow_control, buffer);
            setup.without_flow_control =
                setup.fabric.switches().filter(|_| stream.below(3) == 0).collect::<Vec<NodeId>>();
            if seed % 5 == 0 {
                setup.record.trace = Some(TraceParameters::everything());
            }
            setup
        };
        let results = run(setup(1));
        let summary = &results.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        let one = setup(1);
        let lossy = one.fabric.links().iter().any(|link| link.loss > 0.0 || link.bit_error_rate > 0.0);
        // Output backpressure is not lossless at a neighbour of a switch without flow control, because frames of this
        // switch use the queue space that is reserved for frames in flight.
        let promised = one.switch.flow_control.backpressure().is_none() && !lossy && one.failures.is_empty();
        for check in summary.checks.iter().filter(|check| !check.pass) {
            let excused = check.name == "deadlock" || check.name == "lossless" && !promised;
            assert!(excused, "seed {seed}: {check:?}");
        }
        lost += results.dropped("outside flow control");
        ignored += summary.pauses.ignored;
        for threads in [2, 3] {
            assert_eq!(format!("{results:?}"), format!("{:?}", run(setup(threads))), "seed {seed}, {threads} threads");
        }
    }
    assert!(lost > 1_000 && ignored > 50, "{lost} {ignored}");
}
