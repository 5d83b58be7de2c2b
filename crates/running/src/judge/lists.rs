//! Numbers of bitmasks as text.

/// Formats bits as numbers: "3, 4".
pub(super) fn list(bits: u32) -> String {
    let numbers: Vec<String> = (0..32).filter(|at| bits >> at & 1 == 1).map(|at: u32| at.to_string()).collect();
    numbers.join(", ")
}

/// Formats bits as ranges: "3-4", "2-4 and 6".
pub(super) fn ranges(bits: u32) -> String {
    let is_set = |at: u32| at < 32 && bits >> at & 1 == 1;
    let starts = (0..32u32).filter(|&at| is_set(at) && (at == 0 || !is_set(at - 1)));
    let range = |start: u32| {
        let end = (start..32).find(|&at| !is_set(at + 1)).unwrap_or(31);
        if start == end { start.to_string() } else { format!("{start}-{end}") }
    };
    starts.map(range).collect::<Vec<_>>().join(" and ")
}
