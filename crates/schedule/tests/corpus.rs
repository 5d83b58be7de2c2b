//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/schedule_network.rs"]
mod schedule_network;
#[path = "../../../fuzz/checks/schedule_streams.rs"]
mod schedule_streams;

#[test]
fn schedule_streams_corpus() {
    replay::replay("schedule_streams", schedule_streams::check);
}

#[test]
fn schedule_network_corpus() {
    replay::replay("schedule_network", schedule_network::check);
}

/// Every list of streams that the documentation shows can be read.
#[test]
fn streams_of_the_documentation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/schedule.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut read = 0;
    for part in page.split("```toml\n").skip(1) {
        let snippet = part.split("```").next().unwrap();
        // The gates of a run belong to a scenario, whose reader is not this crate's.
        if snippet.starts_with("[[gates]]") {
            continue;
        }
        let streams = schedule::streams::parse(snippet).unwrap_or_else(|error| panic!("{error:?}\n{snippet}"));
        assert!(!streams.is_empty(), "{snippet}");
        read += 1;
    }
    assert!(read > 0);
}
