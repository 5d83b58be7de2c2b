//! Request-reply traffic (closed loop) through one switch, compared with closed forms.

use crate::bench::*;
use fabric::generate::single_switch;
use model::parameters::Setup;
use stats::requests::RequestSummary;
use traffic::{Entry, PlanBuilder, RequestReply, Rounds, Servers, Service};
use units::{Rate, Time};

const GBPS: u64 = 10;
const DELAY_NS: u64 = 700;
/// Payload bytes of a request and of a reply, each of which fits one frame.
const REQUEST: u64 = 200;
const REPLY: u64 = 900;

fn ask(connections: u32, requests: u32) -> RequestReply {
    RequestReply {
        client: 0,
        servers: Servers::List(vec![1]),
        request_bytes: REQUEST,
        reply_bytes: REPLY,
        connections,
        requests,
        think: Time::ZERO,
        service: Service::Constant(Time::from_us(3)),
        rounds: Rounds::Independent,
        persistent_connection: false,
    }
}

fn exchange(parameters: &RequestReply, kind: &str) -> Setup {
    let hosts = [0, 1, 2];
    let mut builder = PlanBuilder::new();
    traffic::request_reply(parameters, &hosts, &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = setup(single_switch(3, link(GBPS, DELAY_NS)).unwrap(), builder.build(3).unwrap());
    setup.host.transport = transport(kind, &[]);
    setup.duration = Time::from_ms(20);
    setup
}

fn requests(setup: Setup) -> RequestSummary {
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.requests.len(), 1);
    results.summary.requests[0]
}

/// Returns the wire time of a frame with this payload, including preamble and gap.
fn wire(payload_bytes: u64, header_bytes: u64) -> Time {
    Rate::from_gbps(GBPS).serialise((payload_bytes + header_bytes).max(64) + 20)
}

/// Returns the time from the start of such a frame to the arrival of its last bit over one link.
fn arrival(payload_bytes: u64, header_bytes: u64) -> Time {
    Rate::from_gbps(GBPS).serialise((payload_bytes + header_bytes).max(64) + 8) + Time::from_ns(DELAY_NS)
}

/// Returns the latency in an idle network: request, service time and reply.
fn alone(service: Time, header_bytes: u64) -> Time {
    (arrival(REQUEST, header_bytes) + arrival(REPLY, header_bytes)) * 2 + service
}

/// Without acknowledgements, a thousand sequential requests take exactly a thousand times as long as one.
#[test]
fn an_idle_loop_takes_its_requests_times_one() {
    for think in [Time::ZERO, Time::from_us(2)] {
        let setup = exchange(&RequestReply { think, ..ask(1, 1000) }, "datagram");
        let one = alone(Time::from_us(3), setup.host.transport.header_bytes().into());
        let results = requests(setup);
        assert_eq!((results.started, results.completed), (1000, 1000));
        let latency = results.latency_ns.unwrap();
        let one_ns = one.as_ps() as f64 / 1000.0;
        assert_eq!((latency.min, latency.mean, latency.max), (one_ns, one_ns, one_ns));
        assert_eq!((results.first_ps, results.last_ps), (0, (one * 1000 + think * 999).as_ps()));
        let expected = 1000.0 / (one * 1000 + think * 999).as_secs_f64();
        assert!((results.per_second.unwrap() / expected - 1.0).abs() < 1e-12);
    }
}

/// With acknowledgements: the client sends the acknowledgement of a reply just before its next request, which waits for
/// it.
#[test]
fn acknowledgements_go_before_the_next_request() {
    let setup = exchange(&ask(1, 500), "roce");
    let one = alone(Time::from_us(3), setup.host.transport.header_bytes().into());
    let results = requests(setup);
    // The RoCEv2 acknowledgement (66 B) precedes the request on the whole path, so that the request waits for it only
    // once.
    let waits = wire(0, 66) * 499;
    assert_eq!(results.last_ps, (one * 500 + waits).as_ps());
}

/// With k connections, k requests are outstanding: the request rate is k times that of one connection, until the link
/// of the server is fully utilised.
#[test]
fn connections_multiply_the_rate_until_the_link_is_full() {
    let one_frame = |connections: u32| {
        let setup = exchange(&ask(connections, 400), "datagram");
        let header = setup.host.transport.header_bytes().into();
        let full = 1.0 / wire(REPLY, header).as_secs_f64();
        let lone = 1.0 / alone(Time::from_us(3), header).as_secs_f64();
        (requests(setup).per_second.unwrap(), lone, full)
    };
    for connections in [2, 4] {
        let (rate, lone, full) = one_frame(connections);
        assert!(f64::from(connections) * lone < 0.7 * full, "below the link's rate");
        // Requests that start simultaneously queue behind each other once, which delays the last request of a round.
        assert!((rate / (f64::from(connections) * lone) - 1.0).abs() < 0.01, "{connections}: {rate} of {lone}");
    }
    for connections in [32, 64] {
        let (rate, _, full) = one_frame(connections);
        assert!(rate < full && rate > 0.99 * full, "{connections}: {rate} of {full}");
    }
}

/// Little's law: request rate x latency = number of outstanding requests = number of connections, for any distribution
/// of service times.
#[test]
fn rate_times_latency_is_the_number_of_connections() {
    for kind in ["tcp", "ndp"] {
        for service in [Service::Constant(Time::from_us(20)), Service::Exponential(Time::from_us(20))] {
            let results =
                requests(exchange(&RequestReply { service, persistent_connection: true, ..ask(8, 300) }, kind));
            assert_eq!((results.started, results.completed), (2400, 2400), "{kind}");
            let there = results.per_second.unwrap() * results.latency_ns.unwrap().mean * 1e-9;
            // Fewer than 8 requests are outstanding after the first connection has finished.
            let most = if matches!(service, Service::Constant(_)) { 0.1 } else { 1.5 };
            assert!(there <= 8.0 + 1e-9 && there > 8.0 - most, "{kind}: {there}");
        }
    }
}

/// Requests that start in the warm-up and requests without a reply are not counted. Results do not depend on the number
/// of threads.
#[test]
fn only_requests_of_the_window_count_on_any_number_of_threads() {
    let at = |threads: usize| {
        let service = Service::Exponential(Time::from_us(5));
        let mut setup = exchange(&RequestReply { service, ..ask(5, 1_000) }, "tcp");
        (setup.duration, setup.warm_up, setup.threads) = (Time::from_us(900), Time::from_us(300), threads);
        run(setup)
    };
    let one = at(1);
    let results = one.summary.requests[0];
    // At the end, each connection has an outstanding request, or an unacknowledged reply to an earlier request.
    let open = results.started - results.completed;
    assert!((5..=10).contains(&open) && (100..1_000).contains(&results.completed), "{results:?}");
    assert!(results.first_ps >= 300_000_000 && results.last_ps <= 900_000_000);
    for threads in [2, 3] {
        assert_eq!(at(threads).summary, one.summary, "{threads} threads");
    }
}

/// A service time or think time beyond the range of `Time` never ends: the client becomes idle without an arithmetic
/// overflow.
#[test]
fn delays_beyond_the_range_of_time_never_end() {
    let never = Time::from_ps(u64::MAX - 1);
    let service = requests(exchange(&RequestReply { service: Service::Constant(never), ..ask(2, 3) }, "datagram"));
    assert_eq!((service.started, service.completed, service.latency_ns), (2, 0, None));
    let think = requests(exchange(&RequestReply { think: never, ..ask(2, 3) }, "datagram"));
    assert_eq!((think.started, think.completed), (2, 2));
}
