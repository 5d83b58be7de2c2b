//! `topology.txt`: any text is an error or a network, and a network that was read can be written and read again.

use fabric::files::{read_hpcc, write_hpcc};

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let fabric = match read_hpcc(text) {
        Ok(fabric) => fabric,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    fabric.check().expect("what was read is a network");
    let written = write_hpcc(&fabric).expect("what was read can be written");
    let again = read_hpcc(&written).expect("what was written can be read");
    assert_eq!(again.links(), fabric.links());
    assert_eq!(again.nodes(), fabric.nodes());
    assert_eq!(write_hpcc(&again).expect("as before"), written);
}
