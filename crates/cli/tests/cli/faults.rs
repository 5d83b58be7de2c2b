//! Fault injection: makes each single change of the file system by the commands below fail, by a preloaded library
//! (`faults/preload.rs`), and examines the files afterwards and after the next run.
//!
//! Each call fails in one of three ways; with `TIDEGATE_ALL_FAULTS` in the environment, in each of them.

use crate::common::{Ran, SMALL, Scratch, example, tidegate};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Contents of files by path below a folder; `None` for folders.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// One command that writes files.
struct Case {
    name: &'static str,
    /// Arguments; `IN` is the folder of inputs, `OUT` that of outputs.
    arguments: String,
    /// Arguments of the command that writes the earlier output.
    earlier: Option<String>,
    /// Each output is a set of files that are replaced one by one: a set with files of both is accepted if each file is
    /// whole and the next run completes the set.
    is_set: bool,
}

/// Compiles the library to preload.
fn library(scratch: &Scratch) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/faults/preload.rs");
    let library = scratch.path("preload.so");
    let rustc = Path::new(env!("CARGO")).with_file_name("rustc");
    let rustc = if rustc.is_file() { rustc } else { PathBuf::from("rustc") };
    let arguments = ["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o", &library];
    let built = Command::new(rustc).args(arguments).arg(source).output().expect("rustc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// Returns all files and folders below `root`, except times of execution.
fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below the root").to_str().expect("UTF-8").to_owned();
            if path.is_dir() {
                folders.push(path);
                found.insert(name, None);
            } else if !name.ends_with("timing.json") {
                found.insert(name, Some(fs::read(&path).expect("a file")));
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}

/// Returns `true` for names of files and folders that the next run of the command removes.
fn is_leftover(path: &str) -> bool {
    path.split('/').any(|part| {
        [".partial", ".replaced"].iter().any(|suffix| part.contains(suffix)) || part.starts_with(".tidegate")
    })
}

struct Injector<'a> {
    library: &'a str,
    inputs: PathBuf,
    outputs: PathBuf,
    log: PathBuf,
}

impl Injector<'_> {
    fn command(&self, arguments: &str) -> Command {
        let mut command = tidegate();
        let (inputs, outputs) = (self.inputs.to_str().unwrap(), self.outputs.to_str().unwrap());
        command
            .args(arguments.split(' ').map(|word| word.replace("IN/", &format!("{inputs}/")).replace("OUT", outputs)));
        command.current_dir(&self.inputs);
        command
    }

    fn done(&self, arguments: &str) {
        let ran = Ran::from(self.command(arguments).output().expect("it starts"));
        assert!(matches!(ran.code, Some(0 | 1)), "{arguments}: {:?} {}{}", ran.code, ran.out, ran.err);
    }

    /// Runs the command with fault number `at`; returns exit code (`None` if killed), standard error and the calls.
    fn faulty(&self, arguments: &str, at: usize, kind: &str) -> (Option<i32>, String, Vec<String>) {
        let _ = fs::remove_file(&self.log);
        let mut command = self.command(arguments);
        command.env("LD_PRELOAD", self.library).env("FAULT_FOLDER", &self.outputs).env("FAULT_LOG", &self.log);
        command.env("FAULT_AT", at.to_string()).env("FAULT_KIND", kind).env("RAYON_NUM_THREADS", "1");
        let output = command.output().expect("it starts");
        let calls = fs::read_to_string(&self.log).unwrap_or_default().lines().map(str::to_owned).collect();
        assert!(matches!(output.status.signal(), None | Some(9)), "{arguments}: {output:?}");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"), calls)
    }
}

/// Counts of one command.
#[derive(Default)]
struct Counts {
    calls: usize,
    tried: usize,
    injected: usize,
    findings: Vec<String>,
}

/// Injects every fault of every kind into one command.
fn examine(injector: &Injector, scratch: &Scratch, case: &Case) -> Counts {
    let outputs = &injector.outputs;
    let before = scratch.0.join("before");
    let _ = fs::remove_dir_all(outputs);
    fs::create_dir_all(outputs).unwrap();
    if let Some(earlier) = &case.earlier {
        injector.done(earlier);
    }
    copy(outputs, &before);
    let old = tree(outputs);
    let (code, error, calls) = injector.faulty(&case.arguments, 0, "none");
    assert!(matches!(code, Some(0 | 1)), "{}: {code:?} {error}", case.arguments);
    let new = tree(outputs);
    assert!(!calls.is_empty() && new != old, "{}: no call was counted", case.name);
    let mut counts = Counts { calls: calls.len(), ..Counts::default() };
    let all = std::env::var_os("TIDEGATE_ALL_FAULTS").is_some();
    for (index, kind) in ["error", "full", "kill"].into_iter().enumerate() {
        for at in (1..=calls.len()).filter(|at| all || at % 3 == index) {
            copy(&before, outputs);
            let (code, error, made) = injector.faulty(&case.arguments, at, kind);
            counts.tried += 1;
            if made.len() < at {
                // The number of calls depends on the threads.
                continue;
            }
            counts.injected += 1;
            let mut found = Vec::new();
            let left = tree(outputs);
            let whole: Tree =
                left.iter().filter(|(path, _)| !is_leftover(path)).map(|(a, b)| (a.clone(), b.clone())).collect();
            // A result that cannot get its name keeps that of its temporary folder, and the message names it.
            let kept = left.keys().find(|path| {
                path.ends_with(".partial") && error.contains(&format!("stays in {}", outputs.join(path).display()))
            });
            let kept = kept.cloned();
            let is_kept = |path: &str| kept.as_ref().is_some_and(|kept| path.starts_with(kept.as_str()));
            // The table of a sweep lists failed runs, too.
            let is_table =
                |path: &str| path.ends_with("sweep.parquet") && record::table::read_table(&outputs.join(path)).is_ok();
            let is_whole =
                |path: &String| [&old, &new].iter().any(|tree| tree.get(path) == whole.get(path)) || is_table(path);
            let not_whole: Vec<&String> = whole.keys().chain(old.keys()).filter(|path| !is_whole(path)).collect();
            // A removal that fails cannot remove, and is no failure of the command. Without a later call that needs
            // space, a full disk is none either.
            let call = &made[at - 1];
            let is_removal =
                ["unlink", "rmdir"].iter().any(|name| call.starts_with(name)) || call.ends_with(".replaced");
            match code {
                Some(0 | 1) if whole == new && (is_removal || kind == "full") => {}
                Some(3) if error.contains(outputs.to_str().unwrap()) => {}
                None if kind == "kill" => {}
                _ => found.push(format!("exit code {code:?}: {}", error.trim())),
            }
            if !(whole == old
                || whole == new
                || is_empty(&whole) && is_empty(&old)
                || case.is_set && not_whole.is_empty())
            {
                found.push(format!("neither old nor new: {not_whole:?}"));
            }
            if kind != "kill" && !is_removal {
                let names: Vec<&String> = left.keys().filter(|path| is_leftover(path) && !is_kept(path)).collect();
                if !names.is_empty() {
                    found.push(format!("left behind: {names:?}"));
                }
            }
            let (code, error, _) = injector.faulty(&case.arguments, 0, "none");
            if !matches!(code, Some(0 | 1)) {
                found.push(format!("the next run: exit code {code:?}: {}", error.trim()));
            }
            let mut after = tree(outputs);
            after.retain(|path, _| !is_kept(path));
            if after != new {
                let differs: Vec<&String> =
                    after.keys().chain(new.keys()).filter(|path| new.get(*path) != after.get(*path)).collect();
                found.push(format!("after the next run: {differs:?}"));
            }
            counts.findings.extend(
                found
                    .iter()
                    .map(|text| format!("{}, {kind} at {at} of {}, {}: {text}", case.name, calls.len(), made[at - 1])),
            );
        }
    }
    assert!(counts.injected * 10 >= counts.tried * 9, "{}: {} of {}", case.name, counts.injected, counts.tried);
    counts
}

fn is_empty(tree: &Tree) -> bool {
    tree.values().all(Option::is_none)
}

/// Inputs and folders of one test.
struct Bench {
    scratch: Scratch,
    library: String,
}

impl Bench {
    fn new() -> Bench {
        let scratch = Scratch::new("faults");
        let library = library(&scratch);
        fs::create_dir_all(scratch.0.join("in")).unwrap();
        let small = SMALL.split("[record]").next().unwrap();
        scratch.file("in/small.toml", &format!("{small}\n[record]\nflows = true\nqueues = {{ every = \"20us\" }}\n"));
        let bench = Bench { scratch, library };
        bench.injector().done(&format!("{BUILD} --delay=1us --out IN/t.txt"));
        bench.injector().done("tagger rules IN/t.txt --paths shortest -q --out IN/rules.json");
        bench.injector().done("run IN/small.toml -q --out IN/result");
        bench
    }

    fn injector(&self) -> Injector<'_> {
        let at = |name| self.scratch.0.join(name);
        Injector { library: &self.library, inputs: at("in"), outputs: at("out"), log: at("log") }
    }

    /// Examines the commands, and prints a row of counts for each.
    fn examine(&self, cases: &[Case]) {
        let mut findings = Vec::new();
        for case in cases {
            let counts = examine(&self.injector(), &self.scratch, case);
            eprintln!("| `{}` | {} | {} | {} |", case.name, counts.calls, counts.injected, counts.findings.len());
            findings.extend(counts.findings);
        }
        assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    }
}

const BUILD: &str = "fabric build leaf-spine --leaves=2 --spines=2 --hosts-per-leaf=2 --rate=100Gbps";

/// A command with one output, which is replaced at once.
fn one(name: &'static str, arguments: &str, earlier: Option<&str>) -> Case {
    Case { name, arguments: arguments.to_owned(), earlier: earlier.map(str::to_owned), is_set: false }
}

/// A command with several files, which are replaced one by one.
fn set(name: &'static str, arguments: &str, earlier: Option<&str>) -> Case {
    Case { is_set: true, ..one(name, arguments, earlier) }
}

#[test]
fn a_failed_call_of_a_run_leaves_the_old_or_the_new_result() {
    let again = "run IN/small.toml -q --seed 2 --out OUT/run";
    Bench::new().examine(&[
        one("run", "run IN/small.toml -q --threads 1 --out OUT/run", None),
        one("run, replacing", "run IN/small.toml -q --threads 1 --out OUT/run", Some(again)),
    ]);
}

#[test]
fn a_failed_call_of_several_runs_leaves_whole_results() {
    Bench::new().examine(&[
        set("sweep", "sweep IN/small.toml --seeds 1,2 -q --jobs 1 --resume --out OUT/sweep", None),
        set("compare", "compare IN/small.toml --vary seed=1,2 -q --jobs 1 --out OUT/compare", None),
    ]);
}

#[test]
fn a_failed_call_leaves_the_old_or_the_new_file() {
    let topology = format!("{BUILD} --delay=1us --force --out OUT/t.txt");
    let rules = "tagger rules IN/t.txt --paths shortest --out OUT/rules.json --paths-out OUT/paths.txt";
    Bench::new().examine(&[
        one(
            "report",
            "report IN/result -q --out OUT/page.html",
            Some("report IN/result -q --title old --out OUT/page.html"),
        ),
        one("fabric build", &topology, Some(&format!("{BUILD} --delay=2us --out OUT/t.txt"))),
        one("fabric show", "fabric show IN/t.txt --svg OUT/t.svg", None),
        set("tagger rules", rules, None),
    ]);
}

#[test]
fn a_failed_call_of_an_export_leaves_whole_files() {
    let trim = format!(
        "trim export {} --to nvue --interface swp{{port+1}} --out OUT/trim",
        example("trim-shared-buffer.toml")
    );
    let csv = "tagger export IN/rules.json --fabric IN/t.txt -q --to csv --out OUT/csv";
    let at = example("schedule");
    let schedule = format!("schedule {at}/cpri.toml --fabric {at}/fronthaul.json --to taprio --out OUT/slots");
    let fluid = format!("fluid {} --out OUT/fluid", example("fluid/timely.toml"));
    let running = format!("fabric check --running {} --rules-out OUT/rules.json", example("running/leaf-spine"));
    Bench::new().examine(&[
        set("table", "table IN/result --out OUT/csv", None),
        set("fabric convert", "fabric convert IN/t.txt OUT/cfg --to config-db", None),
        set("tagger export", csv, None),
        set("trim export", &trim, None),
        set("new", "new replay --out OUT/new.toml", None),
        set("man", "man OUT/man", None),
        set("schedule", &schedule, None),
        set("fluid", &fluid, None),
        one("fabric check", &running, None),
    ]);
}
