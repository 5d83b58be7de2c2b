//! Pipelines of a switch that trims packets: closed forms for their stages, and conservation in random networks.

use crate::bench::*;
use crate::conservation::network;
use crate::trim::trim;
use fabric::generate::single_switch;
use model::parameters::*;
use protocols::pipeline_trim::{Control, ControlParameters, SIGNAL_BYTES, Wrap};
use protocols::trim::HeaderFull;
use stats::pipelines::PipelineSummary;
use stats::trace::TraceEvent;
use traffic::Process;
use units::random::{Stream, purpose};
use units::{Rate, Time};

const FRAME: u64 = 1518;

fn control(control: Control) -> ControlParameters {
    ControlParameters {
        control,
        pessimistic: Time::from_us(6),
        until_optimistic: Time::from_us(24),
        burst_bytes: 8 * 1538,
        half: (1, 2),
        share: (1, 4),
    }
}

/// Four pipelines with four ports each, recirculation ports of 100 Gbps, and a recirculation latency of 1 us.
fn inside(overflow: Overflow, by: Control) -> PipelineParameters {
    PipelineParameters {
        pipelines: 4,
        ports_per_pipeline: Some(4),
        overflow,
        control: control(by),
        recirculation_rate: Rate::from_gbps(100),
        recirculation_latency: Time::from_us(1),
        deflect_queue: None,
        signal_delay: Time::from_us(1),
        notified: SignalScope::All,
        signal_load: SignalLoad::None,
        metered: Metered::Data,
        stages: None,
        cycle: Time::from_ns(1),
    }
}

fn with(inside: PipelineParameters, packets: u32) -> SwitchParameters {
    SwitchParameters {
        buffer: Buffer::PerQueue { limit: QueueLimit::Packets(packets) },
        flow_control: FlowControl::None,
        overload: Overload::Trim { trim: trim(), header_queue: QueueLimit::Packets(10_000), inside: Some(inside) },
        marking: Marking::None,
        scheduler: Scheduler::Strict,
    }
}

/// The first `senders` of 17 hosts send `frames` frames each at line rate to the last host, from time 0.
fn burst(senders: u32, frames: u64, switch: SwitchParameters) -> Results {
    let fabric = single_switch(17, link(100, 100)).unwrap();
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let flows = (0..senders).map(|src| datagrams(src, 16, process, FRAME as u16, frames * 1500));
    let mut setup = setup(fabric, plan(17, flows));
    setup.switch = switch;
    setup.record.trace = Some(TraceParameters::everything());
    run(setup)
}

fn pipeline_summary_of(results: &Results) -> &PipelineSummary {
    results.summary.pipelines.as_ref().expect("a switch with an inside tells of it")
}

/// Returns the times at which packets were trimmed.
fn trims(results: &Results) -> Vec<Time> {
    let trimmed = results.trace.iter().filter(|row| matches!(row.event, TraceEvent::Trimmed { .. }));
    trimmed.map(|row| row.at).collect()
}

/// 16 frames arrive simultaneously, four per pipeline: one is sent, two are queued, thirteen are deflected to
/// recirculation. The k-th deflected frame of a pipeline is trimmed after k serialisation delays, minus one gap, plus
/// the recirculation latency.
#[test]
fn a_deflected_frame_is_cut_when_it_comes_round() {
    let results = burst(16, 1, with(inside(Overflow::Deflect, Control::None), 2));
    results.all_hold();
    assert_eq!((results.summary.packets.delivered_whole, results.summary.packets.delivered_trimmed), (3, 13));
    let (on_wire, latency) = (Time::from_ps((FRAME + 20) * 80), Time::from_us(1));
    let gap = Time::from_ps(12 * 80);
    let came = on_wire - gap + Time::from_ns(100);
    let mut expected = Vec::new();
    for pipeline in &pipeline_summary_of(&results).switches[0].pipelines {
        // The first deflected frame is in transmission on the recirculation port, the others are queued.
        assert_eq!(pipeline.max_waiting, pipeline.recirculated.saturating_sub(1));
        assert_eq!(pipeline.first_recirculated_ps, Some(came.as_ps()));
        expected.extend((1..=pipeline.recirculated).map(|location| came + on_wire * location - gap + latency));
    }
    expected.sort();
    assert_eq!((trims(&results), pipeline_summary_of(&results).recirculated), (expected, 13));
}

/// With mirroring, headers are trimmed immediately, and the header is delayed by its transmission on the recirculation
/// port and the latency.
#[test]
fn a_mirrored_header_is_cut_at_once_and_late_by_its_way_round() {
    let results = burst(16, 1, with(inside(Overflow::Mirror, Control::None), 2));
    results.all_hold();
    let came = Time::from_ps((FRAME + 8) * 80) + Time::from_ns(100);
    assert_eq!(trims(&results), vec![came; 13]);
    let delivered = results.trace.iter().filter(|row| {
        matches!(row.event, TraceEvent::Delivered) && row.packet.is_some_and(|packet| packet.size_bytes == 64)
    });
    let first = delivered.map(|row| row.at).min().unwrap();
    // Sum of: arrival, transmission of the header (72 B with preamble) on the recirculation port, 1 us of latency,
    // transmission on the link to the host, and delay of this link. The link has sent all data frames before.
    assert_eq!(first, came + Time::from_ps(72 * 80) + Time::from_us(1) + Time::from_ps(72 * 80) + Time::from_ns(100));
}

/// Frames beyond the limit of the recirculation queue are dropped with a separate cause.
#[test]
fn a_deflect_queue_without_room_loses_by_its_own_cause() {
    let limited =
        PipelineParameters { deflect_queue: Some(QueueLimit::Packets(1)), ..inside(Overflow::Deflect, Control::None) };
    let results = burst(16, 1, with(limited, 2));
    results.all_hold();
    let lost = results.dropped("recirculation queue full");
    let came_round = results.summary.packets.delivered_trimmed;
    assert_eq!((came_round + lost, came_round), (13, pipeline_summary_of(&results).recirculated));
    // Each recirculation port transmits one frame and queues one. Three of the 16 frames were not deflected.
    let pipelines = &pipeline_summary_of(&results).switches[0].pipelines;
    assert!(pipelines.iter().all(|pipeline| pipeline.recirculated <= 2 && pipeline.max_waiting <= 1));
    assert!((7..=8).contains(&came_round), "{came_round}");
}

/// Each pipeline has a meter that passes the line rate. If four senders are in one pipeline, its meter trims the
/// excess, so no frame arrives at a full queue once the burst allowance is used up. If they are in four pipelines,
/// the load of each meter is at most the line rate, so it passes all frames, the queue overflows and frames are
/// deflected.
#[test]
fn meters_see_their_own_pipeline_only() {
    let unsignalled = inside(Overflow::Deflect, Control::Meter);
    let results = burst(4, 200, with(unsignalled, 64));
    results.all_hold();
    let one = pipeline_summary_of(&results);
    let frames = results.summary.packets.injected;
    assert_eq!(
        one.ingress_trims,
        frames - (8 + frames / 4 - 1),
        "{frames} frames: the bucket, then one a round: {one:?}"
    );
    let apart = PipelineParameters { ports_per_pipeline: Some(1), ..unsignalled };
    let results = burst(4, 200, with(apart, 64));
    results.all_hold();
    let four = pipeline_summary_of(&results);
    assert_eq!(four.ingress_trims, 0);
    assert!(four.recirculated > 400, "{four:?}");
}

/// A queue-full signal arrives after its configured delay at all pipelines or only at one, and ends the optimistic
/// state of their meters.
#[test]
fn signals_reach_their_destinations() {
    for (notified, heard) in [(SignalScope::All, 4), (SignalScope::Origin, 1)] {
        let parameters = PipelineParameters {
            ports_per_pipeline: Some(1),
            notified,
            ..inside(Overflow::Deflect, Control::ThreeMeters)
        };
        let results = burst(4, 300, with(parameters, 10));
        results.all_hold();
        let inside = pipeline_summary_of(&results);
        let signals: u64 = inside.switches[0].pipelines.iter().map(|pipeline| pipeline.signals_received).sum();
        assert_eq!(signals, heard * inside.recirculated, "one a deflected frame");
        let first_deflected = results.trace.iter().find(|row| matches!(row.event, TraceEvent::Deflected { .. }));
        let first_signal = results.trace.iter().find(|row| matches!(row.event, TraceEvent::Signalled { .. }));
        let (deflected, signal) = (first_deflected.unwrap().at, first_signal.unwrap().at);
        assert_eq!(signal, deflected + Time::from_us(1), "the port was idle: it left the queue at once");
        let metered = results.trace.iter().find(|row| matches!(row.event, TraceEvent::Metered { .. })).unwrap().at;
        assert!(metered >= signal, "no sender exceeds its line before a signal");
        let unsignalled =
            burst(4, 300, with(PipelineParameters { control: control(Control::Meter), ..parameters }, 10));
        assert!(
            inside.recirculated * 4 < pipeline_summary_of(&unsignalled).recirculated,
            "the control: without signals"
        );
    }
}

/// An UPDATE of each deflected frame, and a NOTIFY to each notified pipeline, occupy recirculation ports: a saturated
/// port sends its frames further apart by the time of these messages.
#[test]
fn messages_of_signals_take_time_of_recirculation_ports() {
    let times = |signal_load, notified| {
        let control = ControlParameters {
            pessimistic: Time::ZERO,
            until_optimistic: Time::ZERO,
            ..control(Control::ThreeMeters)
        };
        let parameters = PipelineParameters {
            ports_per_pipeline: Some(1),
            recirculation_rate: Rate::from_gbps(50),
            signal_load,
            notified,
            control,
            ..inside(Overflow::Deflect, Control::ThreeMeters)
        };
        let results = burst(4, 300, with(parameters, 10));
        results.all_hold();
        let of_first = |row: &&stats::trace::TraceRow| matches!(row.event, TraceEvent::Signalled { pipeline: 0, .. });
        results.trace.iter().filter(of_first).map(|row| row.at).collect::<Vec<Time>>()
    };
    let wire =
        |frames: u64, messages: u64| Rate::from_gbps(50).serialise(frames * 1538 + messages * (SIGNAL_BYTES + 20));
    // Four pipelines deflect at the same rate: a port has one UPDATE and four NOTIFY, or one, for each of its frames.
    for (load, notified, messages) in [
        (SignalLoad::None, SignalScope::All, 0),
        (SignalLoad::Recirculation, SignalScope::Origin, 2),
        (SignalLoad::Recirculation, SignalScope::All, 5),
    ] {
        let times = times(load, notified);
        let (from, to) = (20, 120);
        let took = times[to] - times[from];
        let expected = wire(100, 100 * messages);
        let difference = took.max(expected) - took.min(expected);
        assert!(difference <= wire(0, 4), "{messages} messages: {took} instead of {expected}");
    }
}

/// With `metered = "all"`, frames that cannot be trimmed take tokens of the meter and pass.
#[test]
fn meters_count_frames_that_cannot_be_trimmed_only_if_configured() {
    let trims = |metered| {
        let parameters = PipelineParameters { pipelines: 1, metered, ..inside(Overflow::Deflect, Control::Meter) };
        let fabric = single_switch(3, link(100, 100)).unwrap();
        let at = |gbps| Process::Constant { rate: Rate::from_gbps(gbps) };
        // 60 Gbps of frames that can be trimmed, and 60 Gbps of frames of 64 B, which cannot.
        let flows = [datagrams(0, 2, at(60), FRAME as u16, 300 * 1500), datagrams(1, 2, at(60), 64, 5_000 * 46)];
        let mut setup = setup(fabric, plan(3, flows));
        setup.switch = with(parameters, 10_000);
        let results = run(setup);
        results.all_hold();
        pipeline_summary_of(&results).ingress_trims
    };
    assert_eq!(trims(Metered::Data), 0, "60 of 100 Gbps");
    assert!(trims(Metered::All) > 20, "120 of 100 Gbps: {}", trims(Metered::All));
}

/// A pipeline samples the queue state `stages` cycles before the frame reaches the queue; if the sampled queue is full,
/// it trims at ingress. Frames between sampling and queue are deflected: with one frame per cycle, at most `stages`
/// frames per free slot.
#[test]
fn queue_samples_are_delayed_by_the_stages() {
    let recirculated_frames = |stages| {
        let parameters = PipelineParameters {
            ports_per_pipeline: Some(16),
            stages: Some(stages),
            ..inside(Overflow::Deflect, Control::None)
        };
        // 16 frames arrive simultaneously and traverse one pipeline, one per cycle.
        let results = burst(16, 1, with(parameters, 2));
        results.all_hold();
        let inside = pipeline_summary_of(&results);
        assert_eq!(inside.ingress_trims + inside.recirculated, 13);
        inside.recirculated
    };
    // The third frame takes the last slot in cycle 2 + stages. Later frames that sampled the queue before that cycle
    // are deflected.
    assert_eq!(
        [recirculated_frames(0), recirculated_frames(1), recirculated_frames(4), recirculated_frames(8)],
        [0, 1, 4, 8]
    );
}

/// An ideal switch without pipelines trims the same number of frames.
#[test]
fn the_same_frames_lose_their_payload_as_in_an_ideal_switch() {
    let mut ideal = with(inside(Overflow::Mirror, Control::None), 2);
    ideal.overload = Overload::Trim { trim: trim(), header_queue: QueueLimit::Packets(10_000), inside: None };
    let (results, mirrored) = (burst(16, 1, ideal), burst(16, 1, with(inside(Overflow::Mirror, Control::None), 2)));
    assert_eq!(results.summary.event_counts.trims, mirrored.summary.event_counts.trims);
    assert!(results.summary.pipelines.is_none());
}

/// Random networks with failures and random pipelines: frames and bytes are conserved, and results are equal on any
/// number of threads.
#[test]
fn random_networks_with_pipelines_keep_their_books() {
    let (mut metered, mut recirculated, mut lost, mut under_way) = (0, 0, 0, 0);
    for seed in 0..24 {
        let setup = |threads| {
            let (mut setup, _) = network(seed, threads);
            let mut random = Stream::new(seed, 2, purpose("random pipelines"));
            let mut below = |bound: usize| random.below(bound as u64) as usize;
            let by = [
                Control::None,
                Control::Meter,
                Control::ThreeMeters,
                Control::TwoMeters { wrap: Wrap::Handled, clock_ns: u32::MAX - 10_000 },
                Control::TwoMeters { wrap: Wrap::AsListed, clock_ns: u32::MAX - 10_000 },
                Control::TrimAll,
                Control::TrimNext { packets: 3 },
            ][below(7)];
            let parameters = PipelineParameters {
                pipelines: 1 + below(2) as u16,
                ports_per_pipeline: [None, Some(1), Some(2)][below(3)],
                overflow: [Overflow::Deflect, Overflow::Mirror][below(2)],
                recirculation_rate: Rate::from_gbps(1 + below(20) as u64),
                recirculation_latency: Time::from_ns(below(3_000) as u64),
                deflect_queue: [None, None, Some(QueueLimit::Packets(2)), Some(QueueLimit::Bytes(4_000))][below(4)],
                signal_delay: Time::from_ns(below(3_000) as u64),
                notified: [SignalScope::All, SignalScope::Origin][below(2)],
                signal_load: [SignalLoad::None, SignalLoad::Recirculation][below(2)],
                metered: [Metered::Data, Metered::All][below(2)],
                stages: [None, None, Some(0), Some(4)][below(4)],
                cycle: Time::from_ns(1 + below(100) as u64),
                ..inside(Overflow::Deflect, by)
            };
            if below(4) != 0 {
                setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(1 + below(4) as u32) };
            }
            let trim = protocols::trim::TrimParameters {
                full: [HeaderFull::Return, HeaderFull::Drop][below(2)],
                classes: !setup.switch.flow_control.lossless(),
                ..trim()
            };
            let header_queue = QueueLimit::Packets(1 + below(20) as u32);
            setup.switch.overload = Overload::Trim { trim, header_queue, inside: Some(parameters) };
            setup
        };
        let results = run(setup(1));
        let summary = &results.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        for name in ["conservation", "buffer", "little's law"] {
            assert!(results.passes(name), "seed {seed}: {name}: {:?}", summary.checks);
        }
        let inside = pipeline_summary_of(&results);
        metered += inside.ingress_trims;
        recirculated += inside.recirculated;
        lost += results.dropped("recirculation queue full");
        under_way += summary.packets.in_flight;
        for threads in [2, 3] {
            let other = run(setup(threads));
            assert_eq!(format!("{results:?}"), format!("{other:?}"), "seed {seed} on {threads} threads");
        }
    }
    assert!(metered > 500 && recirculated > 500 && lost > 10 && under_way > 0, "{metered} {recirculated} {lost}");
}
