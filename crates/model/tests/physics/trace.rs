//! Full traces, compared with the packet counters and checked for consistency.

use crate::bench::*;
use crate::conservation::network;
use fabric::{Fabric, NodeId};
use model::parameters::*;
use stats::trace::{PacketKind, TraceEvent, TraceRow};
use std::collections::BTreeMap;
use units::Time;

fn traced(seed: u64, threads: usize) -> Setup {
    let mut setup = network(seed, threads).0;
    setup.record.trace = Some(TraceParameters::everything());
    let ports = |node: NodeId| (0..setup.fabric.ports(node).len() as u16).map(move |port| (node, port));
    setup.record.capture = setup
        .fabric
        .node_ids()
        .flat_map(ports)
        .map(|(node, port)| CaptureParameters {
            node,
            port,
            inbound: true,
            outbound: true,
            from: Time::ZERO,
            until: Time::MAX,
        })
        .collect();
    setup
}

fn count(rows: &[TraceRow], name: &str, of: impl Fn(&TraceRow) -> bool) -> u64 {
    rows.iter().filter(|row| row.event.name() == name && of(row)).count() as u64
}

/// Checks that the events of a packet are consecutive: it is sent after it arrived at a node, and arrives at the
/// announced node, port and time.
pub fn check_chain(fabric: &Fabric, rows: &[&TraceRow]) {
    assert_eq!(rows[0].event.name(), "created", "{rows:?}");
    // Either the node that holds the packet, and since when; or node, port and time of its next arrival.
    let mut held = Some((rows[0].node, rows[0].at));
    let mut flying: Option<(NodeId, u16, Time)> = None;
    for (at, row) in rows.iter().enumerate() {
        match &row.event {
            TraceEvent::Arrived { in_port } => {
                assert_eq!(flying.take(), Some((NodeId(row.node), *in_port, row.at)), "{rows:?}");
                held = Some((row.node, row.at));
            }
            TraceEvent::Started { port, since, until } => {
                assert_eq!(held.take(), Some((row.node, *since)), "{rows:?}");
                assert!(*since <= row.at && row.at < *until);
                let peer = fabric.ports(NodeId(row.node))[usize::from(*port)];
                flying = Some((peer.peer, peer.peer_port, *until));
            }
            TraceEvent::Dropped { .. } => {
                // The packet is dropped at its current node, or at the node of its next arrival.
                let there = held.map(|held| held.0).or(flying.map(|(node, ..)| node.0));
                assert_eq!(there, Some(row.node), "{rows:?}");
                if let (None, Some((_, _, until))) = (held, flying) {
                    assert_eq!(row.at, until);
                }
            }
            _ => assert_eq!(held.map(|held| held.0), Some(row.node), "{rows:?}"),
        }
        assert!(!row.event.is_end() || at + 1 == rows.len(), "something happened after the end: {rows:?}");
    }
}

#[test]
fn a_trace_of_everything_agrees_with_the_books_and_changes_nothing() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let setup = traced(seed, 1);
        let fabric = setup.fabric.clone();
        let results = run(setup);
        let (rows, packets) = (&results.trace, &results.summary.packets);
        assert!(rows.is_sorted_by_key(|row| row.at), "seed {seed}");
        let data = |row: &TraceRow| row.packet.is_some_and(|packet| packet.kind == PacketKind::Data);
        let created = packets.injected + packets.created_in_network;
        assert_eq!(count(rows, "created", |_| true), created, "seed {seed}");
        assert_eq!(count(rows, "delivered", data), packets.delivered_whole, "seed {seed}");
        assert_eq!(count(rows, "delivered", |_| true), packets.delivered_whole, "seed {seed}");
        assert_eq!(count(rows, "consumed", |_| true), packets.consumed, "seed {seed}");
        assert_eq!(count(rows, "marked", |_| true), results.summary.event_counts.marks, "seed {seed}");
        let again = |row: &TraceRow| row.packet.is_some_and(|packet| packet.retransmission);
        assert_eq!(count(rows, "created", again), results.summary.event_counts.retransmissions, "seed {seed}");
        assert_eq!(count(rows, "pause sent", |_| true), results.summary.pauses.count, "seed {seed}");
        assert_eq!(count(rows, "resume sent", |_| true), results.summary.pauses.resumes, "seed {seed}");
        for (name, &dropped) in &packets.dropped {
            let by = |row: &TraceRow| matches!(&row.event, TraceEvent::Dropped { cause, .. } if cause == name);
            assert_eq!(count(rows, "dropped", by), dropped, "seed {seed}: {name}");
        }
        assert_eq!(count(rows, "dropped", |_| true), packets.dropped.values().sum::<u64>(), "seed {seed}");

        let mut chains: BTreeMap<u64, Vec<&TraceRow>> = BTreeMap::new();
        for row in rows {
            seen.insert(row.event.name());
            if let Some(packet) = row.packet {
                chains.entry(packet.number).or_default().push(row);
            }
        }
        assert_eq!(chains.len() as u64, created, "seed {seed}: one number a packet");
        chains.values().for_each(|rows| check_chain(&fabric, rows));
        let open = chains.values().filter(|rows| !rows[rows.len() - 1].event.is_end()).count() as u64;
        assert_eq!(open, packets.in_flight, "seed {seed}");

        // The captures contain each sent frame once: each frame with a `started` event, and each MAC control frame.
        let out = results.captured.iter().filter(|captured| captured.outbound).count();
        let started = count(rows, "started", |_| true) as usize;
        let control = results.captured.iter().filter(|captured| captured.frame.is_mac_control());
        assert_eq!(out, started + control.filter(|captured| captured.outbound).count(), "seed {seed}");

        // A run without a trace has equal results.
        let (mut plain, mut watched) = (run(network(seed, 1).0), results);
        (watched.trace, watched.captured) = Default::default();
        let bare = |results: &mut Results| format!("{results:?}");
        assert_eq!(bare(&mut plain), bare(&mut watched), "seed {seed}: the trace changed the run");
    }
    for name in [
        "created",
        "queued",
        "ahead",
        "marked",
        "started",
        "dropped",
        "pause sent",
        "account queue",
        "resume sent",
        "paused",
    ] {
        assert!(seen.contains(name), "no random network had an event `{name}`: {seen:?}");
    }
}

#[test]
fn a_trace_is_the_same_on_any_number_of_threads() {
    for seed in 0..8 {
        let results = run(traced(seed, 1));
        for threads in [2, 3] {
            let other = run(traced(seed, threads));
            assert!(
                results.trace == other.trace && results.captured == other.captured,
                "seed {seed} on {threads} threads"
            );
        }
    }
}

/// A trace with filters equals the corresponding part of the full trace.
#[test]
fn chosen_flows_ports_and_times_are_a_part_of_everything() {
    for seed in 0..8 {
        let whole = run(traced(seed, 1)).trace;
        let (from, until) = (Time::from_us(10), Time::from_us(60));
        let chosen = |flows: &[u64], ports: &[(NodeId, u16)]| {
            let mut setup = traced(seed, 1);
            setup.record.trace = Some(TraceParameters { flows: flows.to_vec(), ports: ports.to_vec(), from, until });
            run(setup).trace
        };
        let inside = |row: &TraceRow| row.at >= from && row.at < until;
        // Packet numbers depend on the filter: compare all other fields.
        let plain = |row: &TraceRow| {
            let packet = row.packet.map(|packet| stats::trace::TracedPacket { number: 0, ..packet });
            format!("{:?}", TraceRow { packet, ..row.clone() })
        };
        let part = |of: &dyn Fn(&TraceRow) -> bool| -> Vec<String> {
            whole
                .iter()
                .filter(|row| if row.packet.is_some() { inside(row) && of(row) } else { row.at < until })
                .map(plain)
                .collect()
        };
        let of_flow = |row: &TraceRow| row.packet.is_some_and(|packet| packet.flow == 0);
        let flow = chosen(&[0], &[]);
        assert_eq!(flow.iter().map(plain).collect::<Vec<_>>(), part(&of_flow), "seed {seed}");
        assert_eq!(chosen(&[], &[]).iter().map(plain).collect::<Vec<_>>(), part(&|_| true), "seed {seed}");
        let port = (NodeId(whole[0].node), 0);
        let at_port = chosen(&[], &[port]);
        let leaves = |row: &TraceRow| matches!(row.event, TraceEvent::Started { port: by, .. } if by == port.1);
        let started = |rows: &[TraceRow]| {
            let there = rows.iter().filter(|row| inside(row) && row.node == port.0.0 && leaves(row));
            there.map(plain).collect::<Vec<_>>()
        };
        assert_eq!(started(&at_port), started(&whole), "seed {seed}");
        assert!(at_port.iter().all(|row| row.packet.is_none() || row.node == port.0.0), "seed {seed}");
    }
}
