//! `[[traffic]]` of kind `collective`.

use crate::names::{HostName, host};
use crate::section::Section;
use traffic::{Algorithm, Collective, Operation};

/// Reads an entry of kind `collective`: the operation, and the root of a broadcast or a reduce.
pub(crate) fn read(section: &Section<'_, '_>) -> Option<(Collective, Option<HostName>)> {
    const OPERATIONS: [Operation; 6] = [
        Operation::AllReduce,
        Operation::ReduceScatter,
        Operation::AllGather,
        Operation::Broadcast { root: None },
        Operation::Reduce { root: None },
        Operation::AllToAll,
    ];
    const ALGORITHMS: [&str; 5] = ["ring", "tree", "halving-doubling", "hierarchical", "direct"];
    let operation = section.word("operation", &OPERATIONS.map(Operation::name));
    let operation = OPERATIONS.into_iter().find(|known| Some(known.name()) == operation);
    let written = section.word("algorithm", &ALGORITHMS);
    let absent = if operation == Some(Operation::AllToAll) { "direct" } else { "ring" };
    let algorithm = if section.has("algorithm") { written } else { Some(absent) };
    if operation.is_none() || algorithm.is_none() {
        // The variant of the table is undetermined: reporting unknown keys would mislead.
        section.undecide();
    }
    let mut root = None;
    if matches!(operation, Some(Operation::Broadcast { .. } | Operation::Reduce { .. })) {
        section.tag("rooted");
        root = section.read("root", host);
    }
    let (size, step_delay) = (section.size("size"), section.time("step_delay"));
    let (chunks, chunks_in_flight) = (section.count("chunks"), section.count("chunks_in_flight"));
    let (iterations, compute) = (section.count("iterations"), section.time("compute"));
    section.warn_idle("chunks_in_flight", chunks != Some(1), "more than one of chunks");
    section.warn_idle("compute", iterations != Some(1), "more than one of iterations");
    let (queue_pairs, alone) = (section.count("qps_per_connection"), section.flag("connection_per_message"));
    let algorithm = match algorithm? {
        "ring" => Algorithm::Ring,
        "tree" => Algorithm::Tree,
        "halving-doubling" => Algorithm::HalvingDoubling,
        "hierarchical" => {
            section.tag("hierarchical");
            Algorithm::Hierarchical { group: section.count("group")? }
        }
        _ => {
            section.tag("direct");
            Algorithm::Direct { window: section.count("window")? }
        }
    };
    if alone == Some(true) && section.has("qps_per_connection") {
        let message = "each message has its own connection, which excludes a number of connections";
        section.fail("qps_per_connection", message, Some("remove one of the two keys".to_owned()));
    }
    let collective = Collective {
        operation: operation?,
        algorithm,
        total_bytes: size?,
        chunks: chunks?,
        chunks_in_flight: chunks_in_flight?,
        step_delay: step_delay?,
        iterations: iterations?,
        compute: compute?,
        qps_per_connection: queue_pairs.filter(|_| alone == Some(false)),
    };
    Some((collective, root))
}
