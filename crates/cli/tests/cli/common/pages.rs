//! Executes the commands on a documentation page: the text below `$ command` must equal the output of the command.

use super::Scratch;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// Returns true if pages are to be rewritten instead of compared (`UPDATE_DOCS` is set).
pub fn update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Folder in which the commands of a page are executed in order.
pub struct PageRunner {
    /// Temporary folder, removed when dropped.
    _scratch: Scratch,
    folder: PathBuf,
    /// Value of the environment variable `PATH` for the commands.
    path: String,
}

impl PageRunner {
    /// Creates a folder with `examples`, and with `tidegate` in `PATH`.
    pub fn with_examples(name: &str) -> PageRunner {
        let scratch = Scratch::new(name);
        symlink(root().join("examples"), scratch.0.join("examples")).expect("a link");
        let binaries = Path::new(env!("CARGO_BIN_EXE_tidegate")).parent().expect("a folder");
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
        PageRunner { folder: scratch.0.clone(), _scratch: scratch, path }
    }

    /// Creates a folder with the sources, as after a checkout. If `installed` is false, there is no `tidegate` until a
    /// command of the page installs it by cargo; a stand-in for cargo then installs the binary under test instead of
    /// building it.
    pub fn with_sources(name: &str, installed: bool) -> PageRunner {
        let scratch = Scratch::new(name);
        let [folder, tools, programs] = ["tidegate", "tools", "programs"].map(|part| scratch.0.join(part));
        for folder in [&folder, &tools, &programs] {
            fs::create_dir(folder).expect("a folder");
        }
        for entry in fs::read_dir(root()).expect("the project").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().expect("a name");
            if !["target", "results", ".git"].iter().any(|other| name == *other) {
                symlink(&entry, folder.join(name)).expect("a link");
            }
        }
        let cargo = tools.join("cargo");
        let stand_in = format!(
            "#!/bin/sh\n[ \"$*\" = 'install --path crates/cli --locked' ] && [ -f crates/cli/Cargo.toml ] || \
             {{ echo \"nothing stands in for cargo $*\"; exit 2; }}\nexec ln -s '{}' '{}'\n",
            env!("CARGO_BIN_EXE_tidegate"),
            programs.join("tidegate").display()
        );
        fs::write(&cargo, stand_in).expect("a script");
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("permissions");
        if installed {
            symlink(env!("CARGO_BIN_EXE_tidegate"), programs.join("tidegate")).expect("a link");
        }
        let before = [&tools, &programs].map(|folder| format!("{}:", folder.display())).concat();
        let path = before + &std::env::var("PATH").unwrap_or_default();
        PageRunner { folder, _scratch: scratch, path }
    }

    /// Returns the output of a command with its standard error, after removing speeds, which depend on the machine.
    fn printed(&mut self, command: &str) -> String {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder = self.folder.join(folder);
            assert!(self.folder.is_dir(), "{command}: no such folder");
            return String::new();
        }
        let script = format!("{{ {command}\n}} 2>&1");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS");
        let output = shell.output().expect("sh");
        let text = String::from_utf8(output.stdout).expect("text");
        let most = if command.ends_with("# wrong on purpose") { 2 } else { 1 };
        let ended = output.status.code().is_some_and(|code| code <= most);
        assert!(!text.contains("panicked") && ended, "{command}: {text}");
        let kept = text.lines().filter(|line| !line.starts_with("speed  "));
        kept.map(|line| format!("{}\n", timeless(line.trim_end()))).collect()
    }

    /// Returns the page with the current outputs, and the number of commands.
    fn current(&mut self, page: &str) -> (String, usize) {
        let (mut current, mut commands) = (String::new(), 0);
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            current += &format!("{line}\n");
            if let Some(name) = line.strip_prefix("Save this as `").and_then(|rest| rest.strip_suffix("`:")) {
                let mut rest = lines.clone().skip_while(|line| !line.starts_with("```"));
                rest.next().expect("what to save stands below");
                let text: String = rest.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
                fs::write(self.folder.join(name), text).expect("a file");
            }
            let Some(first) = line.strip_prefix("$ ") else { continue };
            let mut command = first.to_owned();
            while command.ends_with('\\') {
                let next = lines.next().expect("the command goes on");
                current += &format!("{next}\n");
                command += &format!("\n{next}");
            }
            current += &self.printed(&command);
            commands += 1;
            // Skip the previous output, which ends at the next command or at the end of the code block.
            let mut rest = lines.clone();
            while rest.next().is_some_and(|line| !line.starts_with("$ ") && line != "```") {
                lines.next();
            }
        }
        (current, commands)
    }

    /// Executes the commands of a page and compares the page with their outputs; rewrites it if `UPDATE_DOCS` is set.
    pub fn holds(&mut self, page: &str, least_commands: usize) {
        let path = root().join("docs").join(page);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
        let (current, commands) = self.current(&text);
        assert!(commands >= least_commands, "{page}: {commands} commands");
        if update() {
            fs::write(&path, &current).expect("a writable page");
        } else {
            let differs = text.lines().zip(current.lines()).find(|(was, is)| was != is);
            assert!(text == current, "{page}: run this test with UPDATE_DOCS=1: {differs:?}");
        }
    }

    /// Compares the SVG pictures of a page, which are in `pictures`, with the files that its commands wrote to the
    /// page's folder or a subfolder. Returns the number of pictures.
    pub fn draws(&self, page: &str) -> usize {
        let path = root().join("docs").join(page);
        let text = fs::read_to_string(&path).expect("a page");
        let names: Vec<&str> = text.split("pictures/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        for name in &names {
            let folders = fs::read_dir(&self.folder).expect("a folder").map(|entry| entry.expect("an entry").path());
            let drawn = folders.chain([self.folder.clone()]).map(|folder| folder.join(name));
            let drawn = drawn.into_iter().find(|path| path.is_file()).unwrap_or_else(|| panic!("{page}: no {name}"));
            let kept = root().join("docs/concepts/pictures").join(name);
            if update() {
                fs::copy(&drawn, &kept).expect("a picture");
            }
            let [drawn, kept] = [drawn, kept].map(|path| fs::read(path).unwrap_or_default());
            assert!(drawn == kept, "{page}: {name} is drawn otherwise now; run this test with UPDATE_DOCS=1");
        }
        names.len()
    }
}

/// Removes a duration from the end of a line, as in `  holds (0.3 s)`, because it depends on the machine.
fn timeless(line: &str) -> &str {
    line.strip_suffix(" s)").and_then(|line| line.rsplit_once(" (")).map_or(line, |(line, _)| line)
}

/// Units after which a number counts as a measured value.
const UNITS: [&str; 9] = ["ns", "us", "ms", "Mbps", "Gbps", "Tbps", "KB", "MB", "GB"];

/// Returns numbers with a unit or thousands separator (52.72 Gbps, 4.86 ms, 65,438) that occur in the text but in none
/// of the code blocks of the page.
pub fn numbers_not_shown(text: &str) -> Vec<String> {
    let (mut shown, mut said, mut in_block) = (String::new(), String::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        }
        let part = if in_block { &mut shown } else { &mut said };
        *part += &format!("{line} ");
    }
    let shown: String = shown.split_whitespace().collect();
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut missing = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let number = word.trim_matches(|c: char| !c.is_ascii_digit() && !c.is_ascii_alphabetic());
        let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit() || ".,".contains(c)) {
            continue;
        }
        let next = words.get(at + 1).map_or("", |word| word.trim_matches(|c: char| !c.is_ascii_alphabetic()));
        let (own, is_unit) = (&number[digits.len()..], |word: &str| UNITS.contains(&word));
        let unit = if own.is_empty() && is_unit(next) { next } else { "" };
        // Round numbers with a unit, and version numbers, are not measured values.
        let measured = digits.contains(',') || digits.contains('.') && (is_unit(own) || is_unit(unit));
        if measured && !shown.contains(&format!("{number}{unit}")) {
            missing.push(format!("{number}{unit}"));
        }
    }
    missing
}
