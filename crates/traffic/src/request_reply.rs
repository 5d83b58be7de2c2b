//! Closed-loop requests: a client sends requests to servers, the servers reply, and after a think time the client
//! sends the next request. With many servers this is partition/aggregate traffic, with one server the traffic of a
//! client of a key-value store.

use crate::entry::Entry;
use crate::error::TrafficError;
use crate::pairs::require_hosts;
use crate::plan::{Exchange, FlowEvent, PlanBuilder, Start};
use crate::random::exponential;
use units::Time;
use units::random::Stream;

/// A client and its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestReply {
    /// Host of the client.
    pub client: u32,
    /// Hosts of the servers.
    pub servers: Servers,
    /// Size of a request in bytes (PABO: 200 B).
    pub request_bytes: u64,
    /// Size of a reply in bytes (PABO: 1 MiB).
    pub reply_bytes: u64,
    /// Number of connections to each server, each with one outstanding request: maximum number of concurrent requests
    /// of the client per server (memslap's `--concurrency`).
    pub connections: u32,
    /// Number of consecutive requests per connection (PABO: 4).
    pub requests: u32,
    /// Think time from the last byte of a reply at the client to the next request (PABO: 1 s).
    pub think: Time,
    /// Service time: from the last byte of a request at the server to the start of its reply.
    pub service: Service,
    /// Replies that the next request waits for.
    pub rounds: Rounds,
    /// Whether all requests of a connection share one transport connection, and all replies another one, which keep
    /// their congestion state (PABO: one session per connection).
    pub persistent_connection: bool,
}

/// Service time of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Constant service time.
    Constant(Time),
    /// Exponentially distributed service time with this mean, drawn for each request.
    Exponential(Time),
}

impl Service {
    fn draw(self, stream: &mut Stream) -> Time {
        match self {
            Service::Constant(time) => time,
            Service::Exponential(mean) => exponential(stream, mean),
        }
    }
}

/// Selection of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Servers {
    /// The listed hosts.
    List(Vec<u32>),
    /// This number of hosts of the entry, drawn at random without the client.
    Random(u32),
}

/// Replies that the next request of a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// The reply on the same connection: connections are independent of each other (PABO).
    Independent,
    /// The replies on all connections: rounds of a query, its replies, and the next query.
    Barrier,
}

/// Appends `2 * requests * servers * connections` flows: in each round the requests, then the replies, ordered by
/// server and then by connection. Replies and later requests wait for the delivery of a flow at the host that sends
/// them, so that notifications need no network.
///
/// # Errors
/// If there is no server, there are more servers than hosts, a server occurs twice or is the client, the number of
/// connections or requests or a size is zero, or the plan would exceed its limits.
pub fn request_reply(
    parameters: &RequestReply,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "request and reply";
    let client = parameters.client;
    for (key, bytes) in [("request_size", parameters.request_bytes), ("reply_size", parameters.reply_bytes)] {
        if bytes == 0 || bytes == crate::sizes::ENDLESS {
            return Err(TrafficError::parameter(key, "it must be finite and at least 1 byte"));
        }
    }
    if parameters.requests == 0 {
        return Err(TrafficError::parameter("requests", "at least 1 request must be sent"));
    }
    if parameters.connections == 0 {
        return Err(TrafficError::parameter("connections", "at least 1 must carry requests"));
    }
    let servers = match &parameters.servers {
        Servers::List(list) => list.clone(),
        Servers::Random(count) => {
            let mut others: Vec<u32> = hosts.iter().copied().filter(|host| *host != client).collect();
            require_hosts(WHAT, &others, u64::from(*count))?;
            entry.stream("servers").shuffle(&mut others);
            others.truncate(*count as usize);
            others
        }
    };
    require_hosts(WHAT, &servers, 1)?;
    if servers.contains(&client) {
        return Err(TrafficError::parameter("servers", format!("the client, host {client}, is one of its servers")));
    }
    let count = servers.len() as u128 * u128::from(parameters.connections);
    let rounds = u128::from(parameters.requests);
    let waits = match parameters.rounds {
        Rounds::Independent => count,
        Rounds::Barrier => count * count,
    };
    builder.reserve(WHAT, 2 * count * rounds, count * rounds + (rounds - 1) * waits)?;
    // Server of each connection.
    let connections: Vec<u32> =
        servers.iter().flat_map(|&server| (0..parameters.connections).map(move |_| server)).collect();
    builder.exchange(Exchange {
        traffic: entry.traffic,
        first_flow: builder.len() as u32,
        connections: connections.len() as u32,
        requests: parameters.requests,
        persistent_connection: parameters.persistent_connection,
    });

    let (mut jitter, mut service) = (entry.jitter_stream(), entry.stream("service"));
    let mut replies: Vec<u32> = Vec::new();
    let mut previous_requests: Vec<u32> = Vec::new();
    for round in 0..parameters.requests {
        let mut requests = Vec::with_capacity(connections.len());
        for (at, &server) in connections.iter().enumerate() {
            let start = match round {
                0 => entry.start_at(&mut jitter),
                _ => Start::After { waits_for: 0, delay: parameters.think },
            };
            let request = builder.flow(entry.flow(client, server, parameters.request_bytes, start));
            requests.push(request);
            match parameters.rounds {
                Rounds::Independent => replies.get(at..=at).unwrap_or_default(),
                Rounds::Barrier => &replies[..],
            }
            .iter()
            .for_each(|reply| builder.notify(*reply, FlowEvent::Delivered, request));
        }
        // Replies of the previous round; `replies` collects those of this round.
        let answered = std::mem::take(&mut replies);
        for (&request, &server) in requests.iter().zip(&connections) {
            let start = Start::After { waits_for: 0, delay: parameters.service.draw(&mut service) };
            let reply = builder.flow(entry.flow(server, client, parameters.reply_bytes, start));
            builder.notify(request, FlowEvent::Delivered, reply);
            replies.push(reply);
        }
        if parameters.persistent_connection {
            previous_requests.iter().zip(&requests).for_each(|(&before, &next)| builder.continues(before, next));
            answered.iter().zip(&replies).for_each(|(&before, &next)| builder.continues(before, next));
            previous_requests = requests;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::finish_times;
    use crate::{Flow, Plan};

    fn pabo(rounds: Rounds) -> RequestReply {
        RequestReply {
            client: 3,
            servers: Servers::List(vec![0, 1, 2]),
            request_bytes: 200,
            reply_bytes: 1 << 20,
            connections: 1,
            requests: 4,
            think: Time::from_s(1),
            service: Service::Constant(Time::ZERO),
            rounds,
            persistent_connection: false,
        }
    }

    fn plan(parameters: &RequestReply) -> Plan {
        let (hosts, mut builder) = ((0..8).collect::<Vec<_>>(), PlanBuilder::new());
        request_reply(parameters, &hosts, &Entry::new(1, 0), &mut builder).unwrap();
        builder.build(8).unwrap()
    }

    /// Returns the duration of a flow: 1 ms for a request, (i + 1) ms for the reply of server i. The think time is 1
    /// s.
    fn duration(flow: &Flow) -> Time {
        if flow.src == 3 { Time::from_ms(1) } else { Time::from_ms(u64::from(flow.src) + 1) }
    }

    #[test]
    fn connections_run_on_their_own() {
        let plan = plan(&pabo(Rounds::Independent));
        assert_eq!(plan.flows.len(), 2 * 4 * 3);
        assert_eq!(plan.notifications.len(), 12 + 9);
        let finished = finish_times(&plan, duration);
        let last = finished.len() - 3;
        for server in 0..3u64 {
            let expected = Time::from_s(3) + Time::from_ms(4 * (1 + server + 1));
            assert_eq!(finished[last + server as usize], expected, "server {server}");
        }
    }

    #[test]
    fn a_session_links_each_reply_to_the_next_of_its_server() {
        let plan = plan(&RequestReply { persistent_connection: true, ..pabo(Rounds::Independent) });
        let follows: Vec<(u32, u32)> =
            (0..plan.flows.len() as u32).filter_map(|flow| Some((flow, plan.connections.next(flow)?))).collect();
        assert_eq!(follows.len(), 2 * 3 * 3);
        for (before, next) in follows {
            let ends = |flow: u32| (plan.flows[flow as usize].src, plan.flows[flow as usize].dst);
            assert!(before < next && ends(before) == ends(next));
        }
    }

    #[test]
    fn a_barrier_waits_for_the_slowest() {
        let plan = plan(&pabo(Rounds::Barrier));
        assert_eq!(plan.notifications.len(), 12 + 3 * 9);
        let finished = finish_times(&plan, duration);
        let last = finished.len() - 3;
        // Three rounds, each of which takes as long as the slowest server (1 ms + 3 ms) plus a think time of 1 s,
        // then the last round of this server.
        for server in 0..3u64 {
            let expected = Time::from_s(3) + Time::from_ms(3 * 4 + 1 + server + 1);
            assert_eq!(finished[last + server as usize], expected, "server {server}");
        }
    }

    /// Two connections to each of three servers: six independent closed loops.
    #[test]
    fn each_connection_is_a_loop_of_its_own() {
        let parameters = RequestReply { connections: 2, persistent_connection: true, ..pabo(Rounds::Independent) };
        let plan = plan(&parameters);
        assert_eq!(plan.flows.len(), 2 * 4 * 6);
        let follow = (0..plan.flows.len() as u32).filter_map(|flow| plan.connections.next(flow)).count();
        assert_eq!(follow, 2 * 3 * 6);
        let exchange = plan.exchanges[0];
        assert_eq!((exchange.first_flow, exchange.connections, exchange.requests), (0, 6, 4));
        for (flow, ends) in plan.flows.iter().enumerate() {
            let flow = flow as u32;
            let request = exchange.request_of(flow).expect("a flow of the exchange");
            match request == flow {
                true => assert_eq!(ends.src, 3),
                false => {
                    assert_eq!(ends.dst, 3);
                    assert_eq!(plan.flows[request as usize].dst, ends.src);
                    assert_eq!(plan.notifications.of(request)[0].target, flow);
                    // The reply starts the next request of the connection, except for the last reply.
                    let next = plan.notifications.of(flow).first().map(|next| next.target);
                    assert_eq!(next, (flow < 42).then_some(request + 12));
                }
            }
        }
        assert_eq!(exchange.request_of(48), None);
    }

    /// Exponentially distributed service times have the mean of the parameter, each entry has its own random stream,
    /// and a constant service time draws no random number.
    #[test]
    fn service_is_drawn_for_each_request() {
        let mean = Time::from_us(50);
        let parameters = RequestReply {
            requests: 20_000,
            servers: Servers::List(vec![0]),
            service: Service::Exponential(mean),
            ..pabo(Rounds::Independent)
        };
        let delays = |plan: &Plan| -> Vec<Time> {
            let delay = |flow: &Flow| match flow.start {
                Start::After { delay, .. } if flow.dst == 3 => Some(delay),
                _ => None,
            };
            plan.flows.iter().filter_map(delay).collect()
        };
        let drawn = delays(&plan(&parameters));
        let sum: f64 = drawn.iter().map(|delay| delay.as_secs_f64()).sum();
        // Standard error: mean / sqrt(20000) = 0.7 %; the tolerance is 3 %.
        assert!((sum / 20_000.0 / mean.as_secs_f64() - 1.0).abs() < 0.03, "{sum}");
        let constant = delays(&plan(&RequestReply { service: Service::Constant(mean), ..parameters }));
        assert!(constant.len() == 20_000 && constant.iter().all(|&delay| delay == mean));
    }

    #[test]
    fn triggers_stay_on_their_host() {
        for rounds in [Rounds::Independent, Rounds::Barrier] {
            let plan = plan(&RequestReply { servers: Servers::Random(5), ..pabo(rounds) });
            assert_eq!(plan.flows.len(), 2 * 4 * 5);
            for (index, flow) in plan.flows.iter().enumerate() {
                for notification in plan.notifications.of(index as u32) {
                    assert_eq!(notification.when, FlowEvent::Delivered);
                    assert_eq!(plan.flows[notification.target as usize].src, flow.dst);
                }
            }
        }
    }

    #[test]
    fn refuses_what_cannot_run() {
        let fails = |parameters: RequestReply| {
            let hosts: Vec<u32> = (0..8).collect();
            request_reply(&parameters, &hosts, &Entry::new(1, 0), &mut PlanBuilder::new()).unwrap_err().to_string()
        };
        let good = || pabo(Rounds::Barrier);
        assert!(fails(RequestReply { servers: Servers::List(vec![]), ..good() }).contains("at least 1"));
        assert!(fails(RequestReply { servers: Servers::List(vec![1, 3]), ..good() }).contains("one of its servers"));
        assert!(fails(RequestReply { servers: Servers::List(vec![1, 1]), ..good() }).contains("twice"));
        assert!(fails(RequestReply { servers: Servers::Random(8), ..good() }).contains("at least 8 hosts"));
        assert!(fails(RequestReply { requests: 0, ..good() }).contains("requests"));
        assert!(fails(RequestReply { connections: 0, ..good() }).contains("connections"));
        assert!(fails(RequestReply { connections: u32::MAX, ..good() }).contains("more than the"));
        assert!(fails(RequestReply { reply_bytes: 0, ..good() }).contains("reply_size"));
        assert!(fails(RequestReply { requests: u32::MAX, ..good() }).contains("more than the"));
    }
}
