//! Draws the traffic of random scenarios.

use crate::scenarios::Draft;

/// Draws one to three traffic entries.
pub fn draw(draft: &mut Draft, duration: u64) {
    for _ in 0..draft.between(1, 3) {
        entry(draft, duration);
    }
}

fn entry(draft: &mut Draft, duration: u64) {
    let kind = draft.of(&[
        "incast",
        "incast",
        "permutation",
        "all-to-all",
        "random",
        "stride",
        "pairs",
        "poisson",
        "request-reply",
        "collective",
        "collective",
    ]);
    draft.line(&format!("[[traffic]]\nkind = \"{kind}\""));
    // Eight of ten entries use a lossless class, if the scenario has one.
    let class = match draft.lossless.as_slice() {
        classes if !classes.is_empty() && draft.stream.below(10) < 8 => {
            classes[draft.stream.below(classes.len() as u64) as usize]
        }
        _ => draft.stream.below(8),
    };
    draft.line(&format!("class = {class}"));
    let half = duration / 2;
    if draft.chance(30) {
        let start = draft.stream.below(half);
        draft.line(&format!("start = \"{start}ns\""));
    }
    if draft.chance(20) {
        draft.line(&format!("jitter = \"{half}ns\""));
    }
    let sizes = ["\"1B\"", "\"1KB\"", "\"10KB\"", "\"100KB\"", "\"1MB\"", "\"10MB\""];
    match kind {
        "poisson" => {
            draft.maybe(
                100,
                "sizes",
                &["\"web-search\"", "\"facebook-hadoop\"", "\"5KB\"", "{ uniform = [\"1B\", \"20KB\"] }"],
            );
            draft.maybe(100, "load", &["0.3", "0.9", "1", "0.01"]);
            draft.maybe(20, "flows_per_host", &["1", "3"]);
        }
        "request-reply" => {
            draft.line("client = \"H1\"");
            draft.maybe(100, "servers", &["1", "2"]);
            draft.maybe(100, "reply_size", &sizes);
            draft.maybe(30, "connections", &["2", "3"]);
            draft.maybe(50, "requests", &["3", "20"]);
            draft.maybe(20, "think_time", &["\"1us\""]);
            draft.maybe(20, "service_time", &["\"1us\"", "{ exponential = \"500ns\" }"]);
            draft.maybe(20, "rounds", &["\"barrier\""]);
        }
        "collective" => collective(draft, &sizes),
        _ => pairs(draft, kind, &sizes),
    }
    draft.line("");
}

fn collective(draft: &mut Draft, sizes: &[&'static str]) {
    let of_parts = ["\"all-reduce\"", "\"reduce-scatter\"", "\"all-gather\""];
    let (operation, algorithms): (_, &[&str]) = match draft.between(0, 3) {
        0 => ("\"all-to-all\"", &["\"direct\""]),
        1 => (draft.of(&["\"broadcast\"", "\"reduce\""]), &["\"ring\"", "\"tree\""]),
        _ => (draft.of(&of_parts), &["\"ring\"", "\"direct\"", "\"halving-doubling\"", "\"hierarchical\""]),
    };
    draft.line(&format!("operation = {operation}"));
    let algorithm = draft.of(algorithms);
    draft.line(&format!("algorithm = {algorithm}"));
    match algorithm {
        "\"hierarchical\"" => drop(draft.maybe(100, "group", &["2", "2", "4"])),
        "\"direct\"" => drop(draft.maybe(30, "window", &["2", "3"])),
        _ => {}
    }
    draft.maybe(100, "size", sizes);
    draft.maybe(30, "chunks", &["2", "7"]);
    draft.maybe(20, "chunks_in_flight", &["1", "3"]);
    draft.maybe(20, "step_delay", &["\"1us\""]);
    draft.maybe(30, "iterations", &["2", "3"]);
    draft.maybe(20, "compute", &["\"5us\""]);
}

fn pairs(draft: &mut Draft, kind: &str, sizes: &[&'static str]) {
    match kind {
        "incast" => {
            let most = draft.hosts - 1;
            let fan_in = draft.between(1, most);
            draft.line(&format!("fan_in = {fan_in}"));
            draft.maybe(50, "receiver", &["\"H1\"", "\"H2\""]);
        }
        "random" => drop(draft.maybe(100, "count", &["1", "5", "20"])),
        "stride" => drop(draft.maybe(100, "stride", &["1", "1", "2"])),
        "pairs" => {
            draft.maybe(
                100,
                "pairs",
                &["[[\"H1\", \"H2\"]]", "[[\"H2\", \"H1\"], [\"H1\", \"H2\"], [\"H3\", \"H1\"]]"],
            );
        }
        _ => {}
    }
    if draft.chance(60) {
        draft.maybe(100, "size", sizes);
        return;
    }
    let process = draft.of(&["\"constant\"", "\"poisson\"", "\"on-off\"", "\"bursts\""]);
    draft.line(&format!("process = {process}"));
    draft.maybe(50, "frame", &["\"64B\"", "\"1518B\"", "\"9000B\"", "\"1001B\""]);
    if process == "\"bursts\"" {
        draft.line("frame_gap = \"200ns\"\nframes_per_burst = 7\npause = \"3us\"");
    } else {
        draft.maybe(100, "load", &["0.2", "0.7", "1"]);
    }
    if process == "\"on-off\"" {
        draft.line("mean_on = \"5us\"\nmean_off = \"2us\"");
    }
}
