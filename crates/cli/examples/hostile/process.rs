//! Runs the command, and records exit code, output and duration.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time after which a command is interrupted.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time after the interrupt in which a command must exit; otherwise it counts as hanging.
const GRACE: Duration = Duration::from_secs(20);
/// Maximum number of output bytes that are read.
const MOST_SAID: u64 = 4 << 20;

/// Outcome of a run.
pub struct Ran {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
    /// Whether the run was interrupted because it took too long.
    pub interrupted: bool,
    /// Duration.
    pub took: Duration,
    status: String,
}

/// Runs `tidegate` with these arguments in `folder`. Standard output and standard error are written to files beside
/// `folder`.
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
    /// Returns a description of behaviour that no input may cause: a panic, a signal, a hang, an undefined exit code,
    /// an error without a message, or a reported failure of disk or memory. `None` if there is none.
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

    /// Returns whether the command accepted its input: exit code 0 or 1.
    pub fn is_done(&self) -> bool {
        matches!(self.code, Some(0 | 1))
    }
}

/// Returns all files below `folder` except `timing.json`, which depends on the machine.
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
