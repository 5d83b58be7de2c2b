//! The README shows the actual output of its command. `UPDATE_DOCS=1 cargo test -p tidegate --test cli readme` rewrites
//! it.

use std::path::Path;
use std::process::Command;

const BEGIN: &str = "<!-- output: begin (generated, see crates/cli/tests/cli/readme.rs) -->\n";
const END: &str = "<!-- output: end -->\n";
const SCENARIO: &str = "examples/replay/scenario.toml";

/// Runs the command; returns the printed summary without the lines that depend on the machine or the output folder.
fn printed(root: &Path) -> String {
    let out = std::env::temp_dir().join(format!("tidegate-readme-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let command = command.env_remove("COLUMNS").args(["run", SCENARIO, "--out"]).arg(&out);
    let output = command.current_dir(root).output().expect("it runs");
    let _ = std::fs::remove_dir_all(&out);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let kept = text.lines().filter(|line| !line.starts_with("speed") && !line.starts_with("files"));
    kept.map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_readme_shows_what_its_command_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("README.md");
    let page = std::fs::read_to_string(&path).expect("README.md");
    assert!(page.contains(&format!("cargo run --release --locked -- run {SCENARIO} ")), "the command itself");
    let (before, rest) = page.split_once(BEGIN).expect("the begin mark");
    let (_, after) = rest.split_once(END).expect("the end mark");
    let current = format!("{before}{BEGIN}\n```text\n{}```\n\n{END}{after}", printed(&root));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &current).expect("a writable page");
    } else {
        assert!(page == current, "run this test with UPDATE_DOCS=1");
    }
}
