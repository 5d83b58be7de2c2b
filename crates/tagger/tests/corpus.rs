//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/tagger_export.rs"]
mod tagger_export;
#[path = "../../../fuzz/checks/tagger_paths.rs"]
mod tagger_paths;
#[path = "../../../fuzz/checks/tagger_profile.rs"]
mod tagger_profile;

#[test]
fn tagger_export_corpus() {
    replay::replay("tagger_export", tagger_export::check);
}

#[test]
fn tagger_paths_corpus() {
    replay::replay("tagger_paths", tagger_paths::check);
}

#[test]
fn tagger_profile_corpus() {
    replay::replay("tagger_profile", tagger_profile::check);
}
