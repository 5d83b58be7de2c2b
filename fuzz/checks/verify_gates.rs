//! Schedules: any bytes are an error with a message, or slots and gates that are verified without a panic.

use fabric::{FabricBuilder, LinkSpec};
use units::{Rate, Time};

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let gates = match verify::gates::Gates::parse(text) {
        Ok(gates) => gates,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut builder = FabricBuilder::new("fuzz");
    let switch = builder.add_switch("s", 1);
    for name in ["a", "b", "c"] {
        let host = builder.add_host(name);
        builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(10), Time::from_ns(100)));
    }
    let judgement = verify::gates::judge(&gates, &builder.build().expect("a fabric"));
    assert_eq!(judgement.pass(), judgement.checks.iter().all(|check| check.faults.is_empty()));
}
