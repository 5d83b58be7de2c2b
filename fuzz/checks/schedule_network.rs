//! Networks of tsnkit: any bytes are an error with a message and a line, or a fabric.

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match schedule::tsnkit::network(text) {
        Ok((fabric, _)) => assert!(fabric.links().iter().all(|link| link.delay.as_ps() > 0)),
        Err(error) => assert!(!error.message.is_empty() && error.line <= text.lines().count() + 1, "{error:?}"),
    }
}
