use super::*;
use units::random::Stream;

const LINK: Rate = Rate::from_mbps(100);
const FRAME: u64 = 1500;

struct Alone;
impl Neighbours for Alone {
    fn held_bps(&self, _: HostPair) -> Option<u64> {
        None
    }
    fn committed_bps(&self, _: HostPair) -> u64 {
        0
    }
    fn held(&self, _: HostPair) -> u64 {
        0
    }
    fn grace(&self, _: u16, _: usize) -> Time {
        Time::from_us(500)
    }
}

fn parameters(target: StopTarget) -> BackpressureParameters {
    BackpressureParameters {
        target,
        lower: 25,
        upper: 50,
        max_upper: 90,
        raise: 5,
        burst_gap: Time::from_ms(10),
        expiry: Time::from_ms(5),
        renewed: false,
        grace: None,
        flows: 64,
    }
}

const fn pair(src: u32) -> HostPair {
    HostPair { src, dst: 9 }
}

/// Flows 1 and 2 send at 80 and 20 Mbps to host 9 for 6 ms. Returns the state of the output port, and the end time.
fn two_flows(parameters: &BackpressureParameters) -> (OutputBackpressure, Time) {
    let mut output = OutputBackpressure::new(parameters);
    let mut requests = Vec::new();
    for at in 0..40u64 {
        let now = Time::from_us(150 * at);
        let mut count = |src: u32| {
            let pair = OutputBackpressure::pair(parameters, src, 9);
            output.count_sender(parameters, (now, src as u16, HostPair { src, dst: 9 }), FRAME, LINK);
            output.count(parameters, (now, src as u16, pair), (FRAME, FRAME), LINK, &mut requests)
        };
        assert!(count(1) && (at % 4 != 0 || count(2)));
    }
    assert!(requests.is_empty());
    (output, Time::from_us(150 * 40))
}

fn decide(
    output: &mut OutputBackpressure,
    parameters: &BackpressureParameters,
    now: Time,
    occupancy: u64,
) -> Vec<PauseRequest> {
    let mut requests = Vec::new();
    let pair = OutputBackpressure::pair(parameters, 1, 9);
    output.decide(parameters, (now, 1, pair), occupancy, Rate::from_mbps(90), &Alone, &mut requests);
    requests
}

#[test]
fn only_the_flow_above_its_share_is_stopped() {
    let parameters = parameters(StopTarget::Flows);
    let (mut output, now) = two_flows(&parameters);
    assert_eq!(decide(&mut output, &parameters, now, 50), []);
    // Max-min fair shares of 90 Mbps for demands of 80 and 20 Mbps: flow 2 gets its 20 Mbps, so that 70 Mbps remain
    // for flow 1.
    assert_eq!(
        decide(&mut output, &parameters, now, 51),
        [PauseRequest { port: 1, pair: pair(1), rate_bps: Some(70_000_000) }]
    );
    assert_eq!(output.upper(), 55, "it rises when somebody was stopped");
    assert_eq!(decide(&mut output, &parameters, now, 55), []);
    assert_eq!(decide(&mut output, &parameters, now, 56), [], "each sender is stopped once");
    assert_eq!(output.upper(), 55);
}

#[test]
fn above_the_last_threshold_everybody_is_blocked_once() {
    let parameters = parameters(StopTarget::Flows);
    let (mut output, now) = two_flows(&parameters);
    decide(&mut output, &parameters, now, 51);
    let blocked: Vec<_> =
        decide(&mut output, &parameters, now, 91).iter().map(|call| (call.port, call.rate_bps)).collect();
    assert_eq!(blocked, [(1, Some(0)), (2, Some(0))]);
    assert_eq!(decide(&mut output, &parameters, now, 95), []);
    // Both flows resume only below the lower threshold of 25, where the upper threshold returns to its initial value
    // of 50.
    let mut requests = Vec::new();
    output.on_departure(&parameters, now, 25, &Alone, &mut requests);
    assert_eq!(requests, []);
    output.on_departure(&parameters, now, 24, &Alone, &mut requests);
    assert_eq!(requests.iter().map(|call| (call.port, call.rate_bps)).collect::<Vec<_>>(), [(1, None), (2, None)]);
    assert_eq!(output.upper(), 50);
    let (statistics, stopped) = output.statistics(now);
    assert_eq!((statistics.xoffs, statistics.changes, statistics.xons, stopped), (2, 1, 2, 0));
}

#[test]
fn the_other_schemes_stop_more() {
    let by_destination = parameters(StopTarget::Destinations);
    let (mut output, now) = two_flows(&by_destination);
    let all = |pair| [1, 2].map(|port| PauseRequest { port, pair, rate_bps: Some(0) });
    assert_eq!(decide(&mut output, &by_destination, now, 51), all(HostPair::to(9)));
    let simple = parameters(StopTarget::WholePort);
    let (mut output, now) = two_flows(&simple);
    assert_eq!(decide(&mut output, &simple, now, 51), all(HostPair::ALL));
    assert_eq!(decide(&mut output, &simple, now, 60), []);
}

#[test]
fn what_comes_despite_an_xoff_is_dropped_after_its_grace() {
    let parameters = parameters(StopTarget::Flows);
    let (mut output, now) = two_flows(&parameters);
    decide(&mut output, &parameters, now, 91);
    let mut passes = |us: u64| {
        let at = now + Time::from_us(us);
        output.count(&parameters, (at, 1, pair(1)), (FRAME, FRAME), LINK, &mut Vec::new())
    };
    assert!((0..20).all(|at| passes(at * 20)), "in flight when it was stopped");
    assert_eq!((25..45).filter(|at| passes(at * 20)).count(), 2, "two frames of slack");
    // After 5 ms the XOFF of the flow has expired, without an XON.
    assert!(passes(5_000));
}

#[test]
fn a_flow_that_is_held_further_on_is_stopped_at_that_rate() {
    struct Held;
    impl Neighbours for Held {
        fn held_bps(&self, pair: HostPair) -> Option<u64> {
            (pair.src == 2).then_some(5_000_000)
        }
        fn committed_bps(&self, _: HostPair) -> u64 {
            0
        }
        fn held(&self, _: HostPair) -> u64 {
            0
        }
        fn grace(&self, _: u16, _: usize) -> Time {
            Time::ZERO
        }
    }
    let parameters = parameters(StopTarget::Flows);
    let (mut output, now) = two_flows(&parameters);
    let mut requests = Vec::new();
    output.decide(&parameters, (now, 1, pair(1)), 51, Rate::from_mbps(90), &Held, &mut requests);
    // The next switch limits flow 2 to 5 Mbps, so that 85 of 90 Mbps remain for flow 1, which sends at 80 Mbps and
    // gets no XOFF.
    assert_eq!(requests, [PauseRequest { port: 2, pair: pair(2), rate_bps: Some(5_000_000) }]);
}

#[test]
fn flows_beyond_a_full_table_are_paused_together() {
    let parameters = BackpressureParameters { flows: 2, ..parameters(StopTarget::Flows) };
    let (mut output, now) = two_flows(&parameters);
    let mut requests = Vec::new();
    let third = (now, 3, pair(3));
    assert!(output.count(&parameters, third, (FRAME, FRAME), LINK, &mut requests));
    output.decide(&parameters, third, 60, LINK, &Alone, &mut requests);
    assert!(requests.iter().all(|call| call.pair != pair(3)), "below the last threshold it is nobody's business");
    requests.clear();
    output.decide(&parameters, third, 91, LINK, &Alone, &mut requests);
    assert_eq!(requests[0], PauseRequest { port: 3, pair: pair(3), rate_bps: Some(0) });
    assert_eq!((output.flows(), output.statistics(now).0.untracked), (2, 1));
    // After the idle timeout, a new flow replaces the entries of inactive flows.
    let later = (now + Time::from_ms(16), 3, pair(3));
    assert!(output.count(&parameters, later, (FRAME, FRAME), LINK, &mut requests));
    assert_eq!((output.flows(), output.statistics(later.0).0.untracked), (1, 1));
}

/// Random frames, departures and queue lengths: tables keep their limits, every XOFF ends by an XON or by expiry,
/// requests use only input ports of the flow, and the upper threshold stays between `upper` and `max_upper`.
#[test]
fn random_operations() {
    for seed in 0..60 {
        let mut random = Stream::new(seed, 0, 0);
        let target = [StopTarget::Flows, StopTarget::Destinations, StopTarget::WholePort][seed as usize % 3];
        let parameters = BackpressureParameters { flows: 1 + random.below(6) as u32, ..parameters(target) };
        let mut output = OutputBackpressure::new(&parameters);
        let (mut now, mut requests, mut seen) = (Time::ZERO, Vec::new(), BTreeSet::new());
        for _ in 0..3_000 {
            let longest = if random.below(50) == 0 { 20_000 } else { 200 };
            now += Time::from_us(random.below(longest));
            let (src, dst, occupancy) = (random.below(8) as u32, random.below(3) as u32, random.below(110));
            if random.below(3) > 0 {
                let at = (now, (src % 4) as u16, OutputBackpressure::pair(&parameters, src, dst));
                seen.insert((at.2, at.1));
                output.count_sender(&parameters, (now, at.1, HostPair { src, dst }), 1538, LINK);
                if output.count(&parameters, at, (84 + random.below(1500), 1538), LINK, &mut requests) {
                    output.decide(&parameters, at, occupancy, LINK, &Alone, &mut requests);
                }
            } else {
                output.on_departure(&parameters, now, occupancy, &Alone, &mut requests);
            }
            assert!(output.flows() <= parameters.flows as usize);
            assert!((parameters.upper..=parameters.max_upper).contains(&output.upper()));
            assert!(requests.drain(..).all(|call| seen.contains(&(call.pair, call.port))));
            let (statistics, stopped) = output.statistics(now);
            assert_eq!(statistics.xoffs, statistics.xons + statistics.expiries + stopped, "seed {seed}");
            assert!(target == StopTarget::Flows || statistics.changes == 0);
        }
        let (_, stopped) = output.statistics(now + parameters.expiry);
        assert_eq!(stopped, 0, "nobody stays stopped longer than an expiry");
    }
}

/// A flow that becomes active while all others are paused gets its own XOFF, without new XOFFs for the others. Flow 4
/// is such a flow, and so is flow 3, which was inactive when the others were paused.
#[test]
fn who_comes_while_everybody_is_stopped_is_stopped_alone() {
    let parameters = parameters(StopTarget::Flows);
    let mut output = OutputBackpressure::new(&parameters);
    let mut requests = Vec::new();
    let mut come = |output: &mut OutputBackpressure, us: u64, src: u32| {
        let at = (Time::from_us(us), src as u16, pair(src));
        requests.clear();
        output.count(&parameters, at, (FRAME, FRAME), LINK, &mut requests);
        output.decide(&parameters, at, 95, LINK, &Alone, &mut requests);
        requests.iter().map(|call| (call.pair.src, call.rate_bps)).collect::<Vec<_>>()
    };
    let mut counted = Vec::new();
    output.count(&parameters, (Time::ZERO, 3, pair(3)), (FRAME, FRAME), LINK, &mut counted);
    output.count(&parameters, (Time::from_us(11_000), 2, pair(2)), (FRAME, FRAME), LINK, &mut counted);
    // Flow 3 has been idle for longer than `burst_gap` (10 ms), so that it is inactive and gets no XOFF.
    assert_eq!(come(&mut output, 11_000, 1), [(1, Some(0)), (2, Some(0))]);
    assert_eq!(come(&mut output, 11_001, 1), []);
    assert_eq!(come(&mut output, 11_002, 3), [(3, Some(0))]);
    assert_eq!(come(&mut output, 11_003, 4), [(4, Some(0))]);
    assert_eq!(come(&mut output, 11_004, 4), []);
    // The pauses of flows 1 and 2 expire at 16,000 us. Then all flows are checked again: each active flow whose pause
    // has expired gets a new XOFF.
    assert_eq!(come(&mut output, 16_001, 4), [(1, Some(0)), (2, Some(0))]);
    assert_eq!(come(&mut output, 16_003, 4), [(3, Some(0)), (4, Some(0))]);
}

/// One flow sends at 80 Mbps to host 9 through port 1; five flows send at 20 Mbps each to host 8 through ports 2 to
/// 6. The total rate to host 8 (100 Mbps) is higher than that to host 9.
fn one_aggressor(parameters: &BackpressureParameters) -> (OutputBackpressure, Time) {
    let mut output = OutputBackpressure::new(parameters);
    for at in 0..40u64 {
        let now = Time::from_us(150 * at);
        for src in (1..=6).filter(|&src| src == 1 || at % 4 == 0) {
            let dst = if src == 1 { 9 } else { 8 };
            output.count_sender(parameters, (now, src as u16, HostPair { src, dst }), FRAME, LINK);
            assert!(output.count(
                parameters,
                (now, src as u16, HostPair::to(dst)),
                (FRAME, FRAME),
                LINK,
                &mut Vec::new()
            ));
        }
    }
    (output, Time::from_us(150 * 40))
}

/// A next switch that pauses frames to host 9, so that the given number of frames to host 9 waits at the output port.
/// No frame waits for it if the number is 0.
struct Holds(u64);
impl Neighbours for Holds {
    fn held_bps(&self, to: HostPair) -> Option<u64> {
        (to.dst == 9 && self.0 > 0).then_some(0)
    }
    fn committed_bps(&self, _: HostPair) -> u64 {
        0
    }
    fn held(&self, to: HostPair) -> u64 {
        if to.dst == 9 { self.0 } else { 0 }
    }
    fn grace(&self, _: u16, _: usize) -> Time {
        Time::from_us(500)
    }
}

/// Returns the (port, destination) pairs of the XOFFs that a frame to host 8 causes at a queue length of `occupancy`.
fn stops_sent(
    output: &mut OutputBackpressure,
    parameters: &BackpressureParameters,
    now: Time,
    occupancy: u64,
    holds: u64,
) -> Vec<(u16, u32)> {
    let mut requests = Vec::new();
    output.decide(parameters, (now, 2, HostPair::to(8)), occupancy, LINK, &Holds(holds), &mut requests);
    assert!(requests.iter().all(|call| call.rate_bps == Some(0)));
    requests.iter().map(|call| (call.port, call.pair.dst)).collect()
}

/// The destination of the flow with the highest rate (host 9) is paused, although the total rate to host 8 is higher.
/// The next XOFF is sent only after the first has taken effect, 500 us later.
#[test]
fn the_destination_of_the_most_aggressive_flow_is_stopped_and_no_other() {
    let parameters = parameters(StopTarget::Destinations);
    let (mut output, now) = one_aggressor(&parameters);
    assert_eq!(stops_sent(&mut output, &parameters, now, 50, 0), []);
    assert_eq!(stops_sent(&mut output, &parameters, now, 51, 0), [(1, 9)]);
    assert_eq!(
        stops_sent(&mut output, &parameters, now + Time::from_us(499), 70, 0),
        [],
        "what was on its way still comes"
    );
    // After the grace period the queue is still above the threshold, so that the next destination is paused.
    let all = (2..=6).map(|port| (port, 8)).collect::<Vec<_>>();
    assert_eq!(stops_sent(&mut output, &parameters, now + Time::from_us(500), 51, 0), all);
    assert_eq!(stops_sent(&mut output, &parameters, now + Time::from_us(2_000), 99, 0), [], "nobody is left");
    let mut requests = Vec::new();
    output.on_departure(&parameters, now + Time::from_us(3_000), 25, &Holds(0), &mut requests);
    assert_eq!(requests, []);
    output.on_departure(&parameters, now + Time::from_us(3_000), 24, &Holds(0), &mut requests);
    assert!(requests.len() == 6 && requests.iter().all(|call| call.rate_bps.is_none()));
}

/// Frames that wait because the next switch has paused their destination do not indicate congestion of this port.
/// They cause an XOFF for this destination only.
#[test]
fn frames_that_the_next_switch_holds_stop_their_own_destination_alone() {
    let parameters = parameters(StopTarget::Destinations);
    let (mut output, now) = one_aggressor(&parameters);
    assert_eq!(stops_sent(&mut output, &parameters, now, 51, 51), [(1, 9)], "hop by hop");
    let later = now + Time::from_us(600);
    assert_eq!(stops_sent(&mut output, &parameters, later, 60 + 50, 60), [], "60 are held, 50 wait");
    assert_eq!(
        stops_sent(&mut output, &parameters, later, 60 + 51, 60).len(),
        5,
        "51 wait: the port is congested itself"
    );
    // The lower threshold is 25. Destination 8 resumes at 24 frames plus those that the next switch holds for
    // destination 9. The held frames count for destination 9, which resumes at a queue length of 20 + 4, not of 20 +
    // 5.
    let mut resumed = |occupancy, holds| {
        let mut requests = Vec::new();
        output.on_departure(&parameters, later, occupancy, &Holds(holds), &mut requests);
        requests.iter().map(|call| call.pair.dst).collect::<BTreeSet<_>>()
    };
    assert_eq!(resumed(60 + 24, 60), BTreeSet::from([8]));
    assert_eq!(resumed(20 + 5, 20), BTreeSet::new());
    assert_eq!(resumed(20 + 4, 20), BTreeSet::from([9]));
}

/// A renewal extends the XOFFs in force by `expiry`, at every input port. After the XON there is no XOFF to renew.
#[test]
fn a_renewal_extends_what_is_in_force() {
    let parameters = BackpressureParameters { renewed: true, ..parameters(StopTarget::WholePort) };
    let (mut output, now) = two_flows(&parameters);
    let mut requests = Vec::new();
    assert!(!output.renew(&parameters, now, &mut requests) && requests.is_empty(), "nobody is stopped");
    assert_eq!(decide(&mut output, &parameters, now, 51).len(), 2);
    let half = now + parameters.expiry / 2;
    assert!(output.stops(1, half) && output.stops(2, half) && !output.stops(3, half));
    assert!(output.renew(&parameters, half, &mut requests));
    assert_eq!(
        requests.iter().map(|call| (call.port, call.rate_bps)).collect::<Vec<_>>(),
        [(1, Some(0)), (2, Some(0))]
    );
    let late = now + parameters.expiry + Time::from_ms(1);
    assert!(output.stops(1, late), "the first call alone would be over");
    assert!(decide(&mut output, &parameters, late, 60).is_empty(), "everybody is stopped already");
    requests.clear();
    output.on_departure(&parameters, late, 24, &Alone, &mut requests);
    assert_eq!(requests.len(), 2);
    requests.clear();
    assert!(!output.stops(1, late) && !output.renew(&parameters, late, &mut requests));
    assert!(requests.is_empty());
}
