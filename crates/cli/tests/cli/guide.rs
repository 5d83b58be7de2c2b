//! The text after `$ tidegate ...` in a guide equals the output of the command. `UPDATE_DOCS=1 cargo test -p tidegate
//! --test cli guide` rewrites it.

use crate::common::Scratch;
use crate::common::pages::PageRunner;
use std::path::Path;
use std::process::Command;

const PAGES: [&str; 7] = [
    "docs/fluid.md",
    "docs/guide/fabric.md",
    "docs/guide/running.md",
    "docs/guide/schedule.md",
    "docs/guide/verify.md",
    "docs/guide/why.md",
    "docs/mechanisms/bounce.md",
];

/// Runs a command line in this folder. The line may have been continued after an escaped line break.
fn printed(folder: &Path, line: &str) -> String {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let output = command.args(&arguments).env_remove("COLUMNS").current_dir(folder).output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    match output.status.code() {
        Some(0) => text,
        code => format!("{text}exit code {}\n", code.expect("a code")),
    }
}

/// Returns the page with the current output of every `console` block.
fn current(folder: &Path, page: &str) -> (String, usize) {
    let (mut text, mut blocks) = (String::new(), 0);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        text += &format!("{line}\n");
        if line != "```console" {
            continue;
        }
        blocks += 1;
        let mut command =
            lines.next().expect("a command").strip_prefix("$ tidegate ").expect("$ tidegate ...").to_owned();
        text += &format!("$ tidegate {command}\n");
        while command.ends_with('\\') {
            let more = lines.next().expect("the rest of the command");
            text += &format!("{more}\n");
            command = format!("{} {more}", command.trim_end_matches('\\'));
        }
        text += &printed(folder, &command);
        lines.by_ref().find(|line| *line == "```").expect("the end of a block");
        text += "```\n";
    }
    (text, blocks)
}

#[test]
fn guides_show_what_their_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The commands read the repository's inputs through symbolic links, and write to a temporary folder of this test.
    let scratch = Scratch::new("guides");
    for name in ["benches", "examples", "experiments"] {
        let inputs = root.join(name).canonicalize().expect("a folder");
        std::os::unix::fs::symlink(inputs, scratch.0.join(name)).expect("a link");
    }
    for name in PAGES {
        let page = std::fs::read_to_string(root.join(name)).expect("a page");
        let (current, blocks) = current(&scratch.0, &page);
        assert!(blocks > 0, "{name} shows no command");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(root.join(name), &current).expect("a writable page");
        } else {
            assert!(page == current, "{name}: run this test with UPDATE_DOCS=1");
        }
    }
}

#[test]
fn the_guide_of_tagger_shows_what_its_commands_print() {
    PageRunner::with_examples("guide-tagger").holds("guide/tagger.md", 9);
}

#[test]
fn the_way_from_a_sonic_fabric_to_rules_shows_what_its_commands_print() {
    PageRunner::with_examples("guide-sonic").holds("guide/sonic.md", 9);
}
