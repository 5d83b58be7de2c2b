//! Inputs of expected paths: JSON routes, OpenSM's dump of forwarding tables with the subnet's names, and lists of
//! paths. Any text is rejected with a reason, or yields host-to-host paths for which rules can be generated.

use fabric::generate::{TierLinks, leaf_spine};
use fabric::{Fabric, LinkSpec};
use std::ops::ControlFlow;
use tagger::paths::{ExpectedPaths, PathError, PathList, PathSource, Routes, SubnetNames};
use tagger::{Request, generate};
use units::{Rate, Time};

/// Separator of the subnet and the tables in one input.
const BETWEEN: &str = "\n%%\n";

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
    let fabric = leaf_spine(3, 2, 1, 2, links).expect("a fabric");
    let source = match text.split_once(BETWEEN) {
        Some((subnet, tables)) => SubnetNames::read_ibnetdiscover(&fabric, subnet)
            .and_then(|names| Routes::read_fdbs(&fabric, tables, &names))
            .map(PathSource::Tables),
        None if text.trim_start().starts_with('{') => Routes::read_json(&fabric, text).map(PathSource::Tables),
        None => PathList::read(&fabric, text).map(PathSource::List),
    };
    match source {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(source) => follow(&fabric, source),
    }
}

fn follow(fabric: &Fabric, source: PathSource) {
    let expected: ExpectedPaths = source.clone().into();
    let mut count = 0;
    let visited: Result<(), PathError> = expected.visit(fabric, &mut |path| {
        let nodes = path.nodes(fabric);
        let ends = [nodes.first(), nodes.last()];
        assert!(ends.iter().all(|end| end.is_some_and(|&end| fabric.host_index(end).is_some())), "from host to host");
        assert!(nodes.iter().enumerate().all(|(at, node)| !nodes[..at].contains(node)), "without a loop");
        count += 1;
        if count < 1000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match generate(fabric, &Request::new(source)) {
        Ok(generated) => assert!(visited.is_ok() && generated.report.tags > 0 || count == 0),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
