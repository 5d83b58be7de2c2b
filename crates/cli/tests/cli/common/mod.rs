//! Shared code of the command-line tests.
pub mod pages;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Returns the command under test, in an environment without terminal settings.
pub fn tidegate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.env_remove("NO_COLOR").env_remove("COLUMNS").env("RUST_BACKTRACE", "0");
    command
}

/// Exit code and output of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs the command with these arguments in the current folder.
pub fn run(arguments: &[&str]) -> Ran {
    tidegate().args(arguments).output().expect("it starts").into()
}

/// Returns the path of an example scenario.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// Temporary folder of one test, which is removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        // Tests run concurrently in one process, and two tests may use the same name, so a number makes the folder
        // unique.
        static CREATED: AtomicUsize = AtomicUsize::new(0);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tidegate-cli-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a file in the folder and returns its path.
    pub fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.0.join(name), content).expect("a file");
        self.path(name)
    }

    /// Returns the sorted names of the files in a subfolder.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(folder)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns name and content of every file of a result except `timing.json`.
    pub fn result(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let names = self.names(folder).into_iter().filter(|name| name != "timing.json");
        names.map(|name| (name.clone(), std::fs::read(self.0.join(folder).join(&name)).expect("a file"))).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Interrupts `child` half a second after the file `begun` appears, and returns its exit code and output.
pub fn interrupt(mut child: Child, begun: &Path) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let started = Instant::now();
    while !begun.exists() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("a child").is_none(), "it is still running");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    child.wait_with_output().expect("its end").into()
}

/// Returns [`SMALL`] with flows that never complete and little output.
pub fn endless() -> String {
    let text = SMALL.replace("200us", "20s").replace("100KB", "100TB");
    text.split("[record]").next().unwrap_or_default().to_owned()
}

/// A small scenario with a short run time and all recordings: flows share ports, and frames are queued, ECN-marked and
/// paused.
pub const SMALL: &str = r#"name = "small"
duration = "200us"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "1us" }

[switch]
buffer = "4MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "50KB" }
marking = { kind = "ecn", k_min = "10KB", k_max = "40KB", p_max = 0.5 }

[host]
transport = { kind = "dcqcn" }

[[traffic]]
kind = "incast"
fan_in = 7
receiver = "H1"
size = "100KB"

[measure]
warm_up = "0s"

[record]
queues = { every = "1us" }
links = { every = "10us" }
throughput = { every = "10us" }
pauses = true
"#;

/// Checks that invalid scenarios are rejected. Each row has a line of the valid scenario `good`, its replacement, the
/// line that the error must point to (if empty: the replacement), and parts of the error message.
pub fn refused(name: &str, good: &str, rows: &[(&str, &str, &str, &[&str])]) {
    let scratch = Scratch::new(name);
    let printed = run(&["run", &scratch.file("good.toml", good), "--quiet"]);
    assert_ne!(printed.code, Some(2), "the scenario itself is good: {}", printed.err);
    for &(from, to, blamed, said) in rows {
        let from = format!("\n{from}\n");
        let text = good.replacen(&from, &format!("\n{to}\n"), 1);
        assert!(good.contains(&from), "no line {from}");
        let blamed = if blamed.is_empty() { to } else { blamed };
        let line = text.lines().position(|line| line == blamed).unwrap_or_else(|| panic!("no line {blamed}")) + 1;
        let ran = run(&["run", &scratch.file("bad.toml", &text), "--out", &scratch.path("out")]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{to}\n{}", ran.err);
        for part in [&[format!("bad.toml:{line}:").as_str()], said].concat() {
            assert!(ran.err.contains(part), "{to}: `{part}` is missing in\n{}", ran.err);
        }
        assert_eq!(scratch.names(""), ["bad.toml", "good.toml"], "nothing is left behind");
    }
}
