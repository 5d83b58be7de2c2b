//! Flows that start each other, and hosts that carry the traffic of others.

use crate::bench::*;
use fabric::generate::{bcube, single_switch};
use fabric::lone_flow_time;
use model::parameters::*;
use traffic::{AllToAll, Entry, PlanBuilder, RingAllReduce};
use units::{Rate, Time};

/// In a ring all-reduce every step uses every link of a star once in each direction, and nobody waits for more
/// than a chunk: `2 (n - 1)` times the time of a lone chunk, with the step delay between.
#[test]
fn a_ring_all_reduce_takes_its_steps_times_a_chunk() {
    for (hosts, chunk, step_delay) in [(2u32, 1000, 0), (5, 40_000, 0), (8, 12_345, 700)] {
        let spec = link(40, 600);
        let entry = Entry::new(1, 0);
        let step_delay = Time::from_ns(step_delay);
        let mut builder = PlanBuilder::new();
        let reduce = RingAllReduce { total_bytes: chunk * u64::from(hosts), step_delay };
        let members: Vec<u32> = (0..hosts).collect();
        traffic::ring_all_reduce(&reduce, &members, &entry, &mut builder).unwrap();
        let mut setup = setup(single_switch(hosts, spec).unwrap(), builder.build(hosts).unwrap());
        // Without acknowledgements nothing else is on the wires.
        let datagram = transport("datagram", &[("frame", "1046B")]);
        let header = u64::from(datagram.header_bytes());
        setup.host.transport = datagram;
        let told = run(setup);
        told.all_hold();
        let payload = 1046 - header;
        let last = chunk % payload;
        let last_bytes = if last == 0 { 0 } else { (last + header).max(64) };
        let alone = lone_flow_time(&[(spec.rate, spec.delay); 2], chunk / payload, 1046, last_bytes);
        let steps = 2 * u64::from(hosts - 1);
        assert_eq!(told.flows.len() as u64, steps * u64::from(hosts));
        let end = told.flows.iter().map(|flow| flow.delivered_ps.expect("delivered")).max().unwrap();
        assert_eq!(Time::from_ps(end), alone * steps + step_delay * (steps - 1), "{hosts} hosts, {chunk} bytes");
    }
}

/// With a window of one, a host's sends follow each other; each takes as long as it needs to be sent.
#[test]
fn rounds_of_an_exchange_follow_each_other() {
    let spec = link(10, 1000);
    let mut builder = PlanBuilder::new();
    let exchange = AllToAll { pair_bytes: 10_000, window: 1, round_delay: Time::from_us(2) };
    traffic::all_to_all(&exchange, &[0, 1, 2, 3], &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = setup(single_switch(4, spec).unwrap(), builder.build(4).unwrap());
    setup.host.transport = transport("roce", &[("ack_every", "1000")]);
    let told = run(setup);
    told.all_hold();
    assert_eq!(told.flows.len(), 12);
    for flow in &told.flows {
        assert_eq!(flow.size_bytes, 10_000);
        assert!(flow.slowdown().is_some_and(|slowdown| slowdown < 1.2), "{flow:?}");
    }
    // Three rounds: in each a transfer, its acknowledgement, and between them the delay.
    let transfer = lone_flow_time(&[(spec.rate, spec.delay); 2], 10, 1062, 0);
    let last = told.flows.iter().map(|flow| flow.acked_ps.unwrap()).max().unwrap();
    let acknowledged = transfer + lone_flow_time(&[(spec.rate, spec.delay); 2], 1, 66, 0);
    let least = acknowledged * 3 + Time::from_us(4);
    assert!(last >= least.as_ps() && last < least.as_ps() + 3_000_000, "{last}, at least {least}");
}

/// A notification crosses between hosts with the delay that the setup gives it.
#[test]
fn a_flow_of_another_host_starts_when_it_is_told() {
    let spec = link(10, 1000);
    let mut builder = PlanBuilder::new();
    let first = builder.flow(flow(0, 1, 5_000));
    let start = traffic::Start::After { waits_for: 0, delay: Time::from_us(3) };
    let second = builder.flow(traffic::Flow { start, ..flow(2, 3, 5_000) });
    builder.notify(first, traffic::When::Delivered, second);
    let mut setup = setup(single_switch(4, spec).unwrap(), builder.build(4).unwrap());
    setup.notification_delay = Some(Time::from_us(7));
    let told = run(setup);
    told.all_hold();
    let of = |src: u32| told.flows.iter().find(|flow| flow.src_host == src).unwrap();
    assert_eq!(of(2).start_ps, of(0).delivered_ps.unwrap() + 10_000_000);
}

/// In BCube(3, 1), hosts that differ in both digits reach each other through a third, store and forward.
#[test]
fn bcube_hosts_relay() {
    let fabric = bcube(3, 1, link(10, 500)).unwrap();
    let mut setup = setup(fabric, plan(9, [flow(0, 4, 20_000)]));
    let datagram = transport("datagram", &[("frame", "1046B")]);
    setup.host.transport = datagram;
    let told = run(setup);
    told.all_hold();
    assert_eq!(told.summary.packet_hops, 20 * 4, "two switches and the host between them");
    let path = [(Rate::from_gbps(10), Time::from_ns(500)); 4];
    assert_eq!(told.flows[0].fct_ps(), Some(lone_flow_time(&path, 20, 1046, 0).as_ps()));
    // Everybody to everybody: each of the 72 transfers arrives, acknowledged.
    let mut builder = PlanBuilder::new();
    let exchange = AllToAll { pair_bytes: 30_000, window: 8, round_delay: Time::ZERO };
    traffic::all_to_all(&exchange, &(0..9).collect::<Vec<_>>(), &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = crate::bench::setup(bcube(3, 1, link(10, 500)).unwrap(), builder.build(9).unwrap());
    setup.spread = Spread::FlowHash;
    let told = run(setup);
    told.all_hold();
    assert!(told.flows.len() == 72 && told.flows.iter().all(|flow| flow.acked_ps.is_some()));
}
