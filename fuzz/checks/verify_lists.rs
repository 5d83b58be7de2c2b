//! Gate lists in external formats: any bytes are an error with a message, or gates through which frames are simulated
//! without a panic.

use fabric::{Fabric, FabricBuilder, LinkSpec};
use units::{Rate, Time};
use verify::gates::tables::{self, Table};
use verify::gates::{Flow, FlowHop, Lists, PortGates, follow, qcw, taprio};

/// Returns hosts 1, 2 and 3 at switch 0.
fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new("fuzz");
    let switch = builder.add_switch("0", 1);
    for name in ["1", "2", "3"] {
        let host = builder.add_host(name);
        builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(1), Time::from_ns(100)));
    }
    builder.build().expect("a fabric")
}

/// Returns two streams to host 3.
fn lists(fabric: &Fabric, gates: Vec<PortGates>) -> Option<Lists> {
    let mut lists = Lists::new(0, false);
    lists.add_gates(fabric, vec![("0".to_owned(), gates)]).ok()?;
    for (name, class) in [("1", 7), ("2", 0)] {
        let hop = |node: &str, port| FlowHop { node: node.to_owned(), port, class };
        let flow = Flow {
            name: name.to_owned(),
            period_ps: 10_000_000,
            frame_bytes: 100,
            deadline_ps: Some(5_000_000),
            offsets_ps: vec![1000],
            hops: vec![hop(name, 0), hop("0", 2)],
        };
        lists.add_flow(flow).ok()?;
    }
    Some(lists)
}

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let fabric = fabric();
    let judged = |lists: &Lists| {
        let judgement = follow(lists, &fabric);
        assert_eq!(judgement.pass(), judgement.checks.iter().all(|check| check.faults.is_empty()));
    };
    for read in [taprio::parse(text), qcw::parse(text)] {
        match read {
            Ok(gates) => {
                if let Some(lists) = lists(&fabric, gates) {
                    judged(&lists);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    // The tables of one input are separated by lines of dashes.
    let parts: Vec<&str> = text.split("---\n").collect();
    let [streams, gates, offsets, routes, queues] = parts[..] else { return };
    let of = |table| match table {
        Table::Streams => streams,
        Table::Gates => gates,
        Table::Offsets => offsets,
        Table::Routes => routes,
        Table::Queues => queues,
    };
    let mut lists = Lists::new(2_000_000, true);
    match tables::read(&mut lists, &fabric, of) {
        Ok(()) => judged(&lists),
        Err((_, error)) => assert!(!error.to_string().is_empty()),
    }
}
