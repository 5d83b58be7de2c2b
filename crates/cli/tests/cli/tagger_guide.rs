//! The guide pages for operators show the actual output of their commands, which are executed in order in one folder.
//! `UPDATE_DOCS=1 cargo test -p tidegate --test cli tagger_guide` rewrites the pages.

use crate::common::pages::PageRunner;

#[test]
fn the_guide_of_tagger_shows_what_its_commands_print() {
    PageRunner::with_examples("guide-tagger").holds("guide/tagger.md", 9);
}

#[test]
fn the_way_from_a_sonic_fabric_to_rules_shows_what_its_commands_print() {
    PageRunner::with_examples("guide-sonic").holds("guide/sonic.md", 9);
}
