//! One run of the command, watched from outside: how it ended, what it said, what it left behind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command that takes longer is asked to stop; one that does not stop hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to stop.
const GRACE: Duration = Duration::from_secs(20);
/// More of what it says is not looked at.
const MOST_SAID: u64 = 4 << 20;

/// How a run ended.
pub struct Ran {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What stood on standard output.
    pub out: Vec<u8>,
    /// And on standard error.
    pub err: String,
    /// It was asked to stop because it took too long.
    pub interrupted: bool,
    /// How long it took.
    pub took: Duration,
    status: String,
}

/// Runs `tidegate` with these arguments in `folder`; what it says goes through files beside `folder`.
pub fn run(tidegate: &Path, folder: &Path, arguments: &[String]) -> Ran {
    let (out, err) = (folder.with_extension("out"), folder.with_extension("err"));
    let create = |path: &Path| File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let started = Instant::now();
    let mut child = Command::new(tidegate)
        .args(arguments)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(create(&out))
        .stderr(create(&err))
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", tidegate.display()));
    let mut interrupted = false;
    let status = wait(&mut child, PATIENCE).or_else(|| {
        interrupted = true;
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        wait(&mut child, GRACE)
    });
    let status = status.map_or_else(
        || {
            let _ = (child.kill(), child.wait());
            (None, "it hangs: neither ends nor heeds an interrupt".to_owned())
        },
        |status| (status.code(), status.to_string()),
    );
    let ran = Ran {
        code: status.0,
        out: said(&out),
        err: String::from_utf8_lossy(&said(&err)).into_owned(),
        interrupted,
        took: started.elapsed(),
        status: status.1,
    };
    let _ = (fs::remove_file(out), fs::remove_file(err));
    ran
}

fn said(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = File::open(path).map(|file| file.take(MOST_SAID).read_to_end(&mut bytes));
    bytes
}

fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let (started, mut pause) = (Instant::now(), Duration::from_micros(500));
    while started.elapsed() < patience {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
    None
}

impl Ran {
    /// What no input may bring about: a panic, a signal, a hang, an exit code that stands for nothing, a refusal
    /// without a word, a machine that is said to have failed.
    pub fn fault(&self) -> Option<String> {
        let said = || self.err.lines().find(|line| line.contains("panicked at")).unwrap_or_default().to_owned();
        match self.code {
            _ if self.err.contains("panicked at") => Some(format!("panic: {}", said())),
            None => Some(self.status.clone()),
            Some(130) if self.interrupted => None,
            Some(0 | 1) => None,
            Some(2) if self.err.trim().is_empty() && self.out.is_empty() => {
                Some("exit code 2 without a word".to_owned())
            }
            Some(2) => None,
            Some(code) => Some(format!("exit code {code}: {}", self.err.lines().next().unwrap_or_default())),
        }
    }

    /// Whether it did what it was asked.
    pub fn is_done(&self) -> bool {
        matches!(self.code, Some(0 | 1))
    }
}

/// All files below `folder` but `timing.json`, which is the machine's.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(folder, "", &mut files);
    files
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else if entry.file_name() != "timing.json" {
            files.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }
}
