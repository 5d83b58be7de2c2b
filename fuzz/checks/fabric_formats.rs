//! Detected topology formats: any text is an error or a network, and a network that was read can be written in each
//! complete format and read again with all links.

use fabric::LinkSpec;
use fabric::files::{Format, Options, detect};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = Options { hosts_per_switch: 1, ..Options::new(LINK) };
    let Some(format) = detect("file", text) else { return };
    let fabric = match format.read(text, &options) {
        Ok(fabric) => fabric,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    fabric.check().expect("what was read is a network");
    // XML cannot contain every character, and white space around names is lost.
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_graphic()) && !name.is_empty();
    if fabric.links().len() > 1000 || !fabric.nodes().iter().all(|node| plain(&node.name)) {
        return;
    }
    let ports = fabric.node_ids().flat_map(|node| (0..fabric.ports(node).len() as u16).map(move |port| (node, port)));
    if !ports.into_iter().all(|(node, port)| fabric.port_name(node, port).is_none_or(plain)) {
        return;
    }
    for format in [Format::NodeLink, Format::GraphMl] {
        let written = format.write(&fabric).expect("it can say everything");
        let again = format.read(&written, &options).expect("what was written can be read");
        assert_eq!(again.links().len(), fabric.links().len());
    }
}
