//! Scenarios: any text is rejected with a reason and a place, or lowers to a network with traffic.

/// Fails on a text that violates the property. A first line `#! key = value` is an override, like `--set`.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    let over = first.and_then(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()));
    scenario::fuzz::read_any(text, over);
}
