//! What the pages for operators show is what their commands print, one after the other in one folder.
//! `UPDATE_DOCS=1 cargo test -p tidegate --test tagger_guide` rewrites it.

mod common;

use common::Scratch;
use std::path::Path;
use std::process::Command;

/// What a command of the page prints, standard error included; `examples` is that of the project.
fn printed(folder: &Path, command: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_tidegate")).parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let script = format!("{{ {command}\n}} 2>&1");
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-c", &script]).current_dir(folder).env("PATH", path).env("NO_COLOR", "1").output().expect("sh");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!text.contains("panicked") && output.status.code().is_some_and(|code| code < 2), "{command}: {text}");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_guide_of_tagger_shows_what_its_commands_print() {
    shows_what_it_prints("tagger");
}

#[test]
fn the_way_from_a_sonic_fabric_to_rules_shows_what_its_commands_print() {
    shows_what_it_prints("sonic");
}

fn shows_what_it_prints(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("docs/guide/{name}.md"));
    let page = std::fs::read_to_string(&path).expect("the page");
    let scratch = Scratch::new(&format!("guide-{name}"));
    let examples = root.join("examples").canonicalize().expect("examples");
    std::os::unix::fs::symlink(examples, scratch.0.join("examples")).expect("a link");
    let mut current = String::new();
    let mut lines = page.lines();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        current += &format!("{line}\n");
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let mut command = first.to_owned();
        while command.ends_with('\\') {
            let next = lines.next().expect("the command goes on");
            current += &format!("{next}\n");
            command += &format!("\n{next}");
        }
        current += &printed(&scratch.0, &command);
        commands += 1;
        // What stood there before, up to the next command or the end of the block.
        let mut rest = lines.clone();
        while rest.next().is_some_and(|line| !line.starts_with("$ ") && line != "```") {
            lines.next();
        }
    }
    assert!(commands > 8, "{commands} commands");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &current).expect("a writable page");
    } else {
        assert!(page == current, "run this test with UPDATE_DOCS=1");
    }
}
