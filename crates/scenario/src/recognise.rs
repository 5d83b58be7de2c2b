//! Recognises the format of a file by its content, so that errors can name a file of the wrong kind.

use fabric::files::{Format, detect};
use std::fmt;

/// A file format that is common in this field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownFormat {
    /// A flow file of HPCC, conweave or ns3-rdma.
    Flows,
    /// A connection matrix of htsim.
    ConnectionMatrix,
    /// A distribution of flow sizes.
    Sizes,
    /// A topology.
    Topology(Format),
    /// A configuration of HPCC's simulator.
    Configuration,
    /// Another format, in words.
    Other(&'static str),
}

impl fmt::Display for KnownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnownFormat::Flows => f.write_str("a flow file of HPCC, conweave or ns3-rdma"),
            KnownFormat::ConnectionMatrix => f.write_str("a connection matrix of htsim"),
            KnownFormat::Sizes => f.write_str("a distribution of sizes"),
            KnownFormat::Topology(format) => write!(f, "a topology ({})", format.title()),
            KnownFormat::Configuration => f.write_str("a configuration of HPCC's simulator (tidegate import hpcc)"),
            KnownFormat::Other(what) => f.write_str(what),
        }
    }
}

/// Maximum number of bytes of a file that are inspected.
const MOST_BYTES: usize = 1 << 16;

/// Returns the format of a file; `None` if it is uncertain.
pub fn known_format(content: &[u8]) -> Option<KnownFormat> {
    if content.starts_with(b"PAR1") {
        return Some(KnownFormat::Other("a Parquet table"));
    }
    let head = &content[..content.len().min(MOST_BYTES)];
    let head = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = head.trim_start_matches('\u{feff}').trim_start();
    let data = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut lines = data.map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|words| !words.is_empty());
    if text.starts_with(['{', '[']) {
        return json(text);
    }
    let first = lines.next()?;
    let topology = || detect("", text).map(KnownFormat::Topology);
    match first.as_slice() {
        ["num_ranks", _] => Some(KnownFormat::Other("a GOAL schedule (LogGOPSim, ATLAHS)")),
        ["Nodes", _] => Some(match topology() {
            Some(tree) if lines.all(|words| words[0] != "Connections" && !words[0].contains("->")) => tree,
            _ => KnownFormat::ConnectionMatrix,
        }),
        ["topology:", network, ..] if network.starts_with('[') => {
            Some(KnownFormat::Other("a network of ASTRA-sim's analytical backend"))
        }
        [word, ..] if ["HYBRID_", "TRANSFORMER", "MICRO"].iter().any(|start| word.starts_with(start)) => {
            Some(KnownFormat::Other("a workload of SimAI or ASTRA-sim"))
        }
        [word, _, ..] if crate::import::is_key(word) => Some(KnownFormat::Configuration),
        [columns] if columns.starts_with("stream,src,dst") || columns.starts_with("link,q_num") => {
            Some(KnownFormat::Other("a table of tsnkit"))
        }
        [count] if count.parse::<u64>().is_ok() => Some(KnownFormat::Flows),
        [size, share] if size.parse::<f64>().is_ok() && share.parse::<f64>().is_ok() => Some(KnownFormat::Sizes),
        [time, node, "0" | "1", port, "0" | "1"] if [time, node, port].iter().all(|word| is_whole(word)) => {
            Some(KnownFormat::Other("pauses of HPCC's simulator (pfc.txt)"))
        }
        [_, _, numbers @ ..] if numbers.len() == 6 && numbers.iter().all(|word| is_whole(word)) => {
            Some(KnownFormat::Other("completion times of HPCC's simulator (fct.txt)"))
        }
        _ => topology(),
    }
}

fn is_whole(word: &str) -> bool {
    word.parse::<u64>().is_ok()
}

fn json(text: &str) -> Option<KnownFormat> {
    // A TOML table begins with the same character as a JSON array.
    if text.starts_with("[fabric") || text.starts_with("[[") && text.contains("]]\n") {
        return None;
    }
    let has = |key: &str| text.contains(key);
    match () {
        () if has("\"scheduling-policy\"") => Some(KnownFormat::Other("a system of ASTRA-sim")),
        () if has("\"logical-dims\"") => Some(KnownFormat::Other("logical dimensions of ASTRA-sim")),
        () if has("\"lossless_tags\"") => Some(KnownFormat::Other("rules of Tagger")),
        () => detect("", text).map(KnownFormat::Topology),
    }
}
