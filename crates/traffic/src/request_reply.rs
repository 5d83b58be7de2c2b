//! Partition and aggregate: a client asks servers, they reply, it thinks and asks again.

use crate::pairs::require_hosts;
use crate::{Entry, PlanBuilder, Start, TrafficError, When};
use units::Time;

/// A client and its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestReply {
    /// Who asks.
    pub client: u32,
    /// Who answers.
    pub servers: Servers,
    /// Size of a request (PABO: 200 B).
    pub request_bytes: u64,
    /// Size of a reply (PABO: 1 MiB).
    pub reply_bytes: u64,
    /// Requests to each server, one after the other (PABO: 4).
    pub requests: u32,
    /// From the last byte of a reply at the client to the next request (PABO: 1 s).
    pub think: Time,
    /// From the last byte of a request at the server to its reply.
    pub service: Time,
    /// Which replies a request waits for.
    pub rounds: Rounds,
    /// Whether all requests to a server, and all its replies, share a connection: what its ends have learnt of
    /// the path stays (PABO: one session a connection).
    pub session: bool,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Servers {
    /// These hosts.
    List(Vec<u32>),
    /// So many of the entry's hosts, drawn at random, never the client.
    Random(u32),
}

/// Which replies the next request to a server waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// That server's own: connections do not wait for each other (PABO).
    Independent,
    /// Those of all servers: a query, its answers, the next query.
    Barrier,
}

/// Appends `2 * requests * servers` flows: round by round, the requests and then the replies in the order of
/// the servers. Replies and later requests wait for deliveries at the host that sends them, so no trigger
/// crosses the network.
///
/// # Errors
/// No server, more than there are hosts, a server twice or equal to the client, no request, sizes of zero,
/// more than a plan holds.
pub fn request_reply(
    parameters: &RequestReply,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "request and reply";
    let client = parameters.client;
    for (key, bytes) in [("request_size", parameters.request_bytes), ("reply_size", parameters.reply_bytes)] {
        if bytes == 0 || bytes == crate::ENDLESS {
            return Err(TrafficError::parameter(key, "it must be at least 1 byte, and end"));
        }
    }
    if parameters.requests == 0 {
        return Err(TrafficError::parameter("requests", "at least 1 request must be sent"));
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
    let (count, rounds) = (servers.len() as u128, u128::from(parameters.requests));
    let waits = match parameters.rounds {
        Rounds::Independent => count,
        Rounds::Barrier => count * count,
    };
    builder.reserve(WHAT, 2 * count * rounds, count * rounds + (rounds - 1) * waits)?;

    let mut jitter = entry.jitter_stream();
    let mut replies: Vec<u32> = Vec::new();
    let mut asked: Vec<u32> = Vec::new();
    for round in 0..parameters.requests {
        let mut requests = Vec::with_capacity(servers.len());
        for (at, &server) in servers.iter().enumerate() {
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
            .for_each(|reply| builder.notify(*reply, When::Delivered, request));
        }
        let answered = std::mem::take(&mut replies);
        for (&request, &server) in requests.iter().zip(&servers) {
            let start = Start::After { waits_for: 0, delay: parameters.service };
            let reply = builder.flow(entry.flow(server, client, parameters.reply_bytes, start));
            builder.notify(request, When::Delivered, reply);
            replies.push(reply);
        }
        if parameters.session {
            asked.iter().zip(&requests).for_each(|(&before, &next)| builder.continues(before, next));
            answered.iter().zip(&replies).for_each(|(&before, &next)| builder.continues(before, next));
            asked = requests;
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
            requests: 4,
            think: Time::from_s(1),
            service: Time::ZERO,
            rounds,
            session: false,
        }
    }

    fn plan(parameters: &RequestReply) -> Plan {
        let (hosts, mut builder) = ((0..8).collect::<Vec<_>>(), PlanBuilder::new());
        request_reply(parameters, &hosts, &Entry::new(1, 0), &mut builder).unwrap();
        builder.build(8).unwrap()
    }

    /// A request lasts 1 ms, the reply of server i (i + 1) ms, a think time 1 s.
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
        let plan = plan(&RequestReply { session: true, ..pabo(Rounds::Independent) });
        assert_eq!(plan.sessions.len(), 2 * 3 * 3);
        for (&before, &next) in &plan.sessions {
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
        // Three rounds of the slowest server, 4 ms each, then its own.
        for server in 0..3u64 {
            let expected = Time::from_s(3) + Time::from_ms(3 * 4 + 1 + server + 1);
            assert_eq!(finished[last + server as usize], expected, "server {server}");
        }
    }

    #[test]
    fn triggers_stay_on_their_host() {
        for rounds in [Rounds::Independent, Rounds::Barrier] {
            let plan = plan(&RequestReply { servers: Servers::Random(5), ..pabo(rounds) });
            assert_eq!(plan.flows.len(), 2 * 4 * 5);
            for (index, flow) in plan.flows.iter().enumerate() {
                for notification in plan.notifications.of(index as u32) {
                    assert_eq!(notification.when, When::Delivered);
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
        assert!(fails(RequestReply { reply_bytes: 0, ..good() }).contains("reply_size"));
        assert!(fails(RequestReply { requests: u32::MAX, ..good() }).contains("more than the"));
    }
}
