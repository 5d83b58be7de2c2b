//! Numbered sentences of the pages on buffers, flow control, credits, marking and schedulers, each tested in a network
//! small enough to compute all times by hand.

use crate::bench::*;
use crate::specification::{BUSY, CONTROL, FLIGHT, frames, once, order, star, starts};
use fabric::routing::Failure;
use fabric::{Fabric, FabricBuilder, LinkId, NodeId};
use model::parameters::*;
use protocols::frame::Kind;
use protocols::reaction::Reaction;
use stats::trace::TraceEvent;
use traffic::{Flow, Process, Start};
use units::random::{Stream, purpose};
use units::{LinkTime, Rate, Time};

/// Reaction time longer than any run: pauses are received but never take effect.
const NEVER: Reaction = Reaction::Stated(LinkTime::Time(Time::from_ms(100)));

fn at(ps: u64) -> Start {
    Start::At(Time::from_ps(ps))
}

/// `H1`, `H3` and `H4` at 100 Gbps, and `H2` at 10 Gbps, at one switch; all links have a delay of 500 ns.
fn step_down() -> (Fabric, NodeId) {
    let mut builder = FabricBuilder::new("step down");
    let hosts: Vec<NodeId> = (1..=4).map(|host| builder.add_host(format!("H{host}"))).collect();
    let switch = builder.add_switch("S1", 1);
    for (&host, gbps) in hosts.iter().zip([100, 10, 100, 100]) {
        builder.connect(host, switch, link(gbps, 500));
    }
    (builder.build().unwrap(), switch)
}

/// Frames of 1230 B from `H1` to `H2`, which arrive every 100 ns from 599.04 ns on and are forwarded every microsecond.
fn burst(frames: u64, class: u8) -> Flow {
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    Flow { class, ..datagrams(0, 1, process, 1230, 1230 * frames) }
}

const FRAME: u64 = 1230;
const FIRST: u64 = 599_040;
/// Time in picoseconds from the start of a MAC control frame at 100 Gbps to its arrival.
const HEARD: u64 = 72 * 80 + 500_000;

/// Dynamic threshold: numerator and denominator of the share of the free buffer.
type Alpha = (u64, u64);

/// Shared buffer with one account and one queue, implemented independently from the specification.
#[derive(Clone, Copy, Default)]
struct Shared {
    bytes: u64,
    headroom: u64,
    /// XOFF threshold of a lossless class; 0/1 for a lossy class.
    xoff: Alpha,
    xon: u64,
    /// Egress threshold of a lossy class.
    egress: Alpha,
    used: u64,
    account: u64,
    in_headroom: u64,
    paused: bool,
    queued: u64,
}

impl Shared {
    fn limit(&self, alpha: Alpha) -> u64 {
        (self.bytes - self.used) * alpha.0 / alpha.1
    }

    fn is_lossless(&self) -> bool {
        self.xoff.0 > 0
    }

    /// Returns whether a frame is admitted, and accounts for it.
    fn admit(&mut self) -> bool {
        let free = self.bytes - self.used;
        if self.is_lossless() && (FRAME > free || self.account + FRAME > self.limit(self.xoff)) {
            if self.in_headroom + FRAME > self.headroom {
                return false;
            }
            self.in_headroom += FRAME;
        } else if !self.is_lossless() && (FRAME > free || self.queued * FRAME + FRAME > self.limit(self.egress)) {
            return false;
        } else {
            self.used += FRAME;
        }
        self.account += FRAME;
        self.queued += 1;
        true
    }

    /// Returns whether the last admitted frame triggers a pause.
    fn pauses(&mut self) -> bool {
        let pauses = self.is_lossless() && !self.paused && self.account > self.limit(self.xoff);
        self.paused |= pauses;
        pauses
    }

    /// Removes a frame from the queue. Returns whether the account triggers a resume.
    fn resumes_after_departure(&mut self) -> bool {
        let of_headroom = FRAME.min(self.in_headroom);
        self.in_headroom -= of_headroom;
        self.used -= FRAME - of_headroom;
        self.account -= FRAME;
        self.queued -= 1;
        let drained = self.account <= self.limit(self.xoff).saturating_sub(self.xon) && self.in_headroom == 0;
        let resumes = self.paused && (drained || self.account == 0);
        self.paused &= !resumes;
        resumes
    }

    /// Returns the number of frames of a [`burst`] that are lost; and the times of pauses (`true`) and resumes
    /// (`false`).
    fn run(mut self, frames: u64) -> (u64, Vec<(u64, bool)>) {
        let (mut lost, mut decided, mut next) = (0, Vec::new(), FIRST + 1_000_000);
        for n in 1..=frames {
            let now = if n < frames { FIRST + n * 100_000 } else { u64::MAX };
            while self.queued > 0 && next <= now {
                if self.resumes_after_departure() {
                    decided.push((next, false));
                }
                next += 1_000_000;
            }
            if n < frames && !self.admit() {
                lost += 1;
            } else if n < frames && self.pauses() {
                decided.push((now, true));
            }
        }
        (lost, decided)
    }
}

// [BUF1] [BUF2] [BUF4] [BUF6] [PFC1] [PFC2] [PAUSE1]
#[test]
fn thresholds_and_headroom_of_a_lossless_class() {
    let mut seen = (0, 0);
    for (shared, headroom, alpha, xon) in [
        (100_000, 5_000, (1, 8), 3_000),
        (40_000, 2_460, (1, 2), 3_000),
        (40_000, 20_000, (2, 3), 1_229),
        (30_000, 3_000, (1, 1), 0),
        (9_000, 12_000, (3, 1), 5_000),
        (200_000, 100_000, (1, 8), 3_000),
    ] {
        let (fabric, _) = step_down();
        let mut setup = setup(fabric, plan(4, [burst(60, 3)]));
        let control = PauseParameters {
            xoff: Threshold::Dynamic { alpha: (alpha.0 as u32, alpha.1 as u32) },
            xon_offset_bytes: xon,
            headroom_bytes: Some(headroom),
            reaction: NEVER,
            ..pause(0)
        };
        let egress = Threshold::Static { bytes: 1 };
        setup.switch.buffer = Buffer::Shared { bytes: shared + 4 * headroom, egress };
        setup.record.pauses = true;
        let model = Shared { bytes: shared, headroom, xoff: alpha, xon, egress: (1, 1), ..Shared::default() };
        let (lost, decided) = model.run(60);
        let mut check_notified = |flow_control, classes| {
            setup.switch.flow_control = flow_control;
            let (fabric, _) = step_down();
            let mut again = crate::bench::setup(fabric, plan(4, [burst(60, 3)]));
            (again.switch, again.record) = (setup.switch, setup.record.clone());
            let results = run(again);
            let heard: Vec<_> = results.pauses.iter().map(|it| (it.0.as_ps(), it.3, it.4)).collect();
            let expected: Vec<_> = decided.iter().map(|&(at, stop)| (at + HEARD, classes, stop)).collect();
            assert_eq!(
                (results.dropped("lossless queue full"), heard),
                (lost, expected),
                "{shared} {headroom} {alpha:?}"
            );
        };
        check_notified(FlowControl::Pfc(control), 1 << 3);
        check_notified(FlowControl::Pause(PauseParameters { classes: 0xff, ..control }), 0xff);
        seen = (seen.0 + lost, seen.1 + decided.len());
    }
    assert!(seen.0 > 0 && seen.1 >= 12, "{seen:?}");
}

/// The shared buffer space of class 0 excludes the headroom or the credits of class 3, which another flow uses.
// [BUF1] [BUF2] [BUF3] [CBFC10]
#[test]
fn thresholds_of_a_lossy_class() {
    for (shared, headroom, alpha) in
        [(60_000, 2_000, (1, 2)), (60_000, 9_000, (2, 3)), (20_000, 5_000, (8, 1)), (200_000, 3_000, (1, 8))]
    {
        let credits = CreditParameters {
            classes: 1 << 3,
            credits_bytes: Some(headroom),
            update_bytes: None,
            regrant: Time::from_us(100),
        };
        let control = PauseParameters { headroom_bytes: Some(headroom), ..pause(20_000) };
        for flow_control in [FlowControl::Pfc(control), FlowControl::Credit(credits)] {
            let other = datagrams(2, 3, Process::Constant { rate: Rate::from_gbps(1) }, 1000, 10_000);
            let mut setup = setup(step_down().0, plan(4, [burst(100, 0), other]));
            let egress = Threshold::Dynamic { alpha: (alpha.0 as u32, alpha.1 as u32) };
            setup.switch.buffer = Buffer::Shared { bytes: shared + 4 * headroom, egress };
            setup.switch.flow_control = flow_control;
            let model = Shared { bytes: shared, xoff: (0, 1), egress: alpha, ..Shared::default() };
            assert_eq!(run(setup).dropped("queue full"), model.run(100).0, "{shared} {headroom} {alpha:?}");
        }
    }
}

/// At 3 Gbps, 43 quanta last 7,338,667 ps. A pause is renewed half of that, 3,669,333 ps, after the decision, even if
/// the pause frame had to wait for a frame in transmission.
// [PFC3] [PFC4] [PFC5] [M2] [M4]
#[test]
fn a_pause_is_renewed_at_half_its_time_from_the_decision() {
    let mut builder = FabricBuilder::new("odd");
    let (h1, h2, s1) = (builder.add_host("H1"), builder.add_host("H2"), builder.add_switch("S1", 1));
    builder.connect(h1, s1, link(3, 500));
    builder.connect(h2, s1, link(1, 500));
    let three = Rate::from_gbps(3);
    let start = 20_000_000;
    // Frame 1 of 1230 B starts when the port is idle, 3,333,334 ps after frame 0. At the switch it is queued and
    // exceeds XOFF.
    let decided = start + 3_333_334 + 3_301_334 + 500_000;
    // A frame of `H2` reaches the switch after 9.904 us + 500 ns and starts at the port to `H1` 1 us before the
    // decision.
    let reverse = decided - 1_000_000 - 9_904_000 - 500_000;
    let flows = [
        Flow { start: at(start), ..datagrams(0, 1, Process::Constant { rate: three }, 1230, 4 * 1230) },
        Flow { start: at(reverse), class: 5, ..datagrams(1, 0, Process::Constant { rate: three }, 1230, 1230) },
    ];
    let mut setup = setup(builder.build().unwrap(), plan(2, flows));
    let reaction = Reaction::Stated(LinkTime::Time(Time::from_ps(7_000_000)));
    let control = PauseParameters { quanta: 43, headroom_bytes: Some(100_000), reaction, ..pause(1_000) };
    setup.switch.flow_control = FlowControl::Pfc(control);
    setup.record.pauses = true;
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    let heard: Vec<u64> = results.pauses.iter().map(|it| it.0.as_ps()).collect();
    let flight = 192_000 + 500_000;
    let sent = decided - 1_000_000 + 3_333_334;
    let renewed = |n: u64| decided + n * 3_669_333 + flight;
    assert_eq!(heard[..4], [sent + flight, renewed(1), renewed(2), renewed(3)]);
    // Each pause stops the class from 7 us to 7,338,667 ps after its arrival.
    let spans: Vec<(u64, u64)> = (results.trace.iter())
        .filter_map(|row| match row.event {
            TraceEvent::Paused { from, until, .. } => Some((from.as_ps(), until.as_ps())),
            _ => None,
        })
        .collect();
    assert_eq!(spans[0], (heard[0] + 7_000_000, heard[0] + 7_338_667));
    assert_eq!(spans[1], (heard[1] + 7_000_000, heard[1] + 7_338_667));
}

/// When the pause is decided, a frame of `H3` is in transmission on the link to `H1`, and a frame of `H4` is queued for
/// it: the pause frame precedes the queued frame.
// [M6] [M35] [M38] [M40]
#[test]
fn control_frames_wait_for_the_frame_on_the_wire_and_for_no_other() {
    let (fabric, switch) = step_down();
    let process = Process::Constant { rate: Rate::from_gbps(1) };
    // The frames of `H3` and `H4` arrive at the switch at 1750 and 1760 ns. The eleventh queued frame of the burst
    // arrives at 1799.04 ns.
    let before = 99_040 + 500_000;
    let to_h1 = |src, there: u64| Flow { start: at(there - before), ..datagrams(src, 0, process, 1230, 1230) };
    let mut setup = setup(fabric, plan(4, [burst(60, 3), to_h1(2, 1_750_000), to_h1(3, 1_760_000)]));
    setup.switch.flow_control = FlowControl::Pfc(pause(10 * 1230));
    setup.record.pauses = true;
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    assert_eq!(results.pauses[0].0.as_ps(), 1_850_000 + HEARD);
    assert_eq!(starts(&results, switch, 0), [(1_750_000, 1), (1_850_000 + 84 * 80, 2)]);
}

/// `H3` pauses class 3 of its port permanently. A frame of class 5 is sent on arrival, although a frame of class 3 is
/// queued. Frames of class 3 are never sent.
// [M36] [M37]
#[test]
fn a_frame_starts_at_once_if_all_that_waits_is_stopped() {
    let other = Flow { class: 5, ..once(1, 2, 9_000_000) };
    let mut setup = star(3, [once(0, 2, 5_000_000), other, once(1, 2, 20_000_000)]);
    let node = setup.fabric.host_node(2);
    setup.switch.flow_control = FlowControl::Pfc(pause(20_000));
    setup.host.pause_storm = Some(PauseStorm { node, at: Time::ZERO, until: None });
    setup.duration = Time::from_us(100);
    let switch = setup.fabric.switches().next().unwrap();
    assert_eq!(starts(&run(setup), switch, 2), [(9_000_000 + FLIGHT, 1)]);
}

/// Returns the credit messages that a port of the switch sends: start time in picoseconds, and granted bytes.
fn granted(results: &Results) -> Vec<(u64, u64)> {
    let messages = results.captured.iter().filter(|it| it.frame.kind == Kind::Credit && it.outbound);
    messages.map(|it| (it.at.as_ps(), it.frame.credit_message().limit_bytes)).collect()
}

fn credited(mut setup: Setup, mtu_bytes: u16, credits: u64, port: u16) -> (Results, NodeId) {
    setup.switch.flow_control = FlowControl::Credit(CreditParameters {
        classes: 1 << 3,
        credits_bytes: Some(credits),
        update_bytes: None,
        regrant: Time::from_us(100),
    });
    setup.host.mtu_bytes = mtu_bytes;
    let node = setup.fabric.switches().next().unwrap();
    let (from, until) = (Time::ZERO, Time::MAX);
    setup.record.capture = vec![CaptureParameters { node, port, inbound: true, outbound: true, from, until }];
    setup.record.trace = Some(TraceParameters::everything());
    let host = setup.fabric.host_node(0);
    (run(setup), host)
}

/// With credits for one frame, each frame waits for the credit message that the switch sends when the previous frame
/// has arrived and is forwarded.
// [CBFC1] [CBFC2] [CBFC4] [CBFC6] [CBFC7] [M6]
#[test]
fn a_frame_waits_for_its_credits() {
    let (results, host) = credited(star(2, [frames(0, 1, 3, 0, Rate::from_gbps(10))]), 1000, 1000, 0);
    let period = FLIGHT + CONTROL;
    assert_eq!(starts(&results, host, 0), [(0, 0), (period, 0), (2 * period, 0)]);
    let expected = [(FLIGHT, 2000), (period + FLIGHT, 3000), (2 * period + FLIGHT, 4000)];
    assert_eq!(granted(&results)[..3], expected);
}

/// A credit message that becomes due while a frame is in transmission waits for the end of this frame.
// [CBFC5]
#[test]
fn a_credit_message_waits_for_the_frame_on_the_wire() {
    let start = 10_000_000;
    let flows = [frames(0, 1, 2, start, Rate::from_gbps(10)), once(1, 0, start - 100_000)];
    let (results, host) = credited(star(2, flows), 1000, 1000, 0);
    let sent = start - 100_000 + FLIGHT + BUSY;
    assert_eq!(granted(&results)[0], (sent, 2000));
    assert_eq!(starts(&results, host, 0)[1].0, sent + CONTROL);
}

/// A queued frame occupies its room until it is forwarded: one credit message for the first frame, which is forwarded
/// immediately, then one per microsecond. Each port repeats its credits every 100 us.
// [CBFC3] [CBFC4] [CBFC9] [CBFC11]
#[test]
fn room_is_granted_when_frames_leave() {
    let (results, _) = credited(setup(step_down().0, plan(4, [burst(20, 3)])), 1230, 50 * FRAME, 0);
    let mut expected: Vec<_> = (0..20).map(|n| (FIRST + n * 1_000_000, (51 + n) * FRAME)).collect();
    expected.extend((1..10).map(|n| (n * 100_000_000, 70 * FRAME)));
    assert_eq!(granted(&results), expected);
    // Hosts also repeat their credits: one credit message arrives every 100 us.
    let heard = results.captured.iter().filter(|it| it.frame.kind == Kind::Credit && !it.outbound);
    let times: Vec<u64> = heard.map(|it| it.at.as_ps()).collect();
    assert_eq!(times, (1..10).map(|n| n * 100_000_000 + HEARD).collect::<Vec<_>>());
}

/// A link is repaired at the instant of a repetition of credits. The first repetition, at 100 us, was scheduled before
/// the repair: it precedes the repair, finds the link down and sends no message. The second, at 200 us, was scheduled
/// after the repair: it follows the credit message that the repair triggers.
// [M25] [M59] [CBFC9]
#[test]
fn a_repair_at_the_instant_of_a_repetition_of_credits() {
    for (repaired_us, messages) in [(100, 1), (200, 2)] {
        let mut setup = star(2, [once(0, 1, 300_000_000)]);
        let (down_at, up_at) = (Time::from_us(50), Some(Time::from_us(repaired_us)));
        setup.failures = vec![Failure { link: LinkId(0), down_at, up_at }];
        let (results, _) = credited(setup, 1230, 50 * FRAME, 0);
        let heard = results.captured.iter().filter(|it| it.frame.kind == Kind::Credit && !it.outbound);
        let times: Vec<u64> = heard.map(|it| it.at.as_ps()).collect();
        let expected: Vec<u64> = (0..messages).map(|n| repaired_us * 1_000_000 + CONTROL + n * 84 * 800).collect();
        assert_eq!(times[..messages as usize], expected);
        assert!(times[messages as usize] >= expected[0] + 100_000_000);
    }
}

/// A host grants credits for a received frame before it sends the acknowledgement: the credit message precedes it on
/// the wire.
// [CBFC4]
#[test]
fn a_host_grants_before_it_answers() {
    let mut setup = star(2, [flow(0, 1, 1000)]);
    setup.host.reply_class = None;
    let (results, _) = credited(setup, 1062, 1062, 1);
    let at_switch: Vec<(Kind, u64)> =
        results.captured.iter().filter(|it| !it.outbound).map(|it| (it.frame.kind, it.at.as_ps())).take(2).collect();
    // 1062 B over two links; a credit message of 64 B (84 with preamble and gap), then the acknowledgement of 66 B.
    let arrives = 2 * (1070 * 800 + 1_000_000);
    let expected = [(Kind::Credit, arrives + CONTROL), (Kind::Ack, arrives + 84 * 800 + 74 * 800 + 1_000_000)];
    assert_eq!(at_switch, expected);
}

/// A host that does not know the length of its next frame waits for credits for an MTU.
// [M48] [CBFC2]
#[test]
fn a_host_waits_for_credits_for_the_mtu() {
    // 1000 of 2200 B are spent: the remaining credits suffice for the second frame, but not for an MTU.
    let (results, host) = credited(star(2, [frames(0, 1, 2, 0, Rate::from_gbps(10))]), 1500, 2200, 0);
    assert_eq!(starts(&results, host, 0), [(0, 0), (FLIGHT + CONTROL, 0)]);
}

/// The queue at the arrival of frame n of a burst consists of earlier frames that have not been forwarded. The switch
/// draws one random number for each arriving frame whose marking probability is between 0 and 1.
// [ECN2] [ECN3] [ECN4] [M18]
#[test]
fn marks_are_drawn_from_the_stream_of_the_switch() {
    for (seed, p_max) in [(1, 0.5), (2, 0.2), (77, 1.0)] {
        let (fabric, switch) = step_down();
        let mut setup = setup(fabric, plan(4, [flow(0, 1, 200 * 1184)]));
        setup.host.transport = transport("datagram", &[("frame", "1230B"), ("ecn", "true")]);
        let (k_min_bytes, k_max_bytes) = (10_000, 150_000);
        setup.switch.marking = Marking::Ecn(EcnParameters {
            k_min_bytes,
            k_max_bytes: Some(k_max_bytes),
            p_max,
            of_rate: None,
            at: MarkEvent::Enqueue,
        });
        setup.seed = seed;
        let mut random = Stream::new(seed, switch.0.into(), purpose("switch"));
        let most = if p_max == 1.0 { u64::MAX } else { (p_max * 18_446_744_073_709_551_616.0) as u64 };
        let marked = |n: &u64| {
            // The first frame is forwarded immediately; then one per microsecond, before the arrival at the same
            // instant.
            let queue = (n - 1 - n / 10) * FRAME;
            if queue <= k_min_bytes || queue > k_max_bytes {
                return queue > k_max_bytes;
            }
            let number = u128::from(random.next_u64()) + 1;
            number * u128::from(k_max_bytes - k_min_bytes) <= u128::from(most) * u128::from(queue - k_min_bytes)
        };
        let expected = (1..200u64).filter(marked).count() as u64;
        assert_eq!(run(setup).summary.event_counts.marks, expected);
    }
}

/// WRR with one frame per round for classes 3 and 5. At a switch, a frame that arrives at an idle port is not charged
/// to the round of its class; at a host, it is charged.
// [WRR2] [WRR5] [WRR6] [M38]
#[test]
fn only_hosts_charge_a_frame_that_finds_its_port_idle() {
    let with = |flows: [Flow; 3]| {
        let mut setup = star(4, flows);
        setup.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
        let (host, switch) = (setup.fabric.host_node(0), setup.fabric.switches().next().unwrap());
        let results = run(setup);
        (order(&starts(&results, host, 0)), order(&starts(&results, switch, 2)))
    };
    let class_5 = |src| Flow { class: 5, ..once(src, 2, 200_000) };
    assert_eq!(with([once(0, 2, 0), once(1, 2, 100_000), class_5(3)]).1, [0, 1, 2]);
    assert_eq!(with([once(0, 2, 0), once(0, 2, 100_000), class_5(0)]).0, [0, 2, 1]);
}

/// DRR at a host. Class 3 sends a frame and then has a deficit of -920 B. As long as its flow is in the ring, each
/// round of class 5 (ten frames) adds 100 B. After ten rounds the deficit is paid: the flow is polled, is not yet due,
/// and leaves the ring. When it is due, at 200 us, its deficit is 0.
// [WRR7] [DRR2] [DRR3] [M44]
#[test]
fn a_class_of_a_host_gains_credit_while_its_flow_is_in_the_ring() {
    let flows = [flow(0, 1, 2 * 954), Flow { class: 5, ..frames(0, 1, 400, 0, Rate::from_gbps(10)) }];
    let mut setup = star(2, flows);
    setup.host.transport = transport("datagram", &[("frame", "1000B"), ("rate", "40.8Mbps")]);
    setup.switch.scheduler = Scheduler::Drr { quantum_bytes: [1518, 1518, 1518, 100, 1518, 10_200, 1518, 1518] };
    let host = setup.fabric.host_node(0);
    let results = run(setup);
    let own: Vec<u64> = starts(&results, host, 0).iter().filter(|start| start.1 == 0).map(|start| start.0).collect();
    // Rounds of class 5 end at 816 ns, and then every 8.16 us.
    assert_eq!(own, [0, 816_000 + 25 * 8_160_000]);
}
