//! Node-link JSON: any text is an error or a network, and a network that was read can be written and read again.

use fabric::LinkSpec;
use fabric::files::{Options, read_node_link, write_node_link};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for hosts_per_switch in [0, 2] {
        check_with(text, Options { hosts_per_switch, ..Options::new(LINK) });
    }
}

fn check_with(text: &str, options: Options) {
    let fabric = match read_node_link(text, &options) {
        Ok(fabric) => fabric,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    fabric.check().expect("what was read is a network");
    let written = write_node_link(&fabric);
    let again = read_node_link(&written, &options).expect("what was written can be read");
    assert_eq!(again.links(), fabric.links());
    assert_eq!(again.nodes(), fabric.nodes());
    assert_eq!(write_node_link(&again), written);
}
