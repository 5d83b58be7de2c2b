//! Runs the checks of the fuzz targets on mutated inputs, many inputs per process for speed. The targets run in
//! separate processes, so that a stack overflow does not end the whole attack.

use crate::checks::TARGETS;
use crate::committed::inputs;
use crate::mutate::mutate;
use crate::process;
use crate::report::{Fault, Report};
use crate::{Field, spread};
use std::fs;
use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use units::random::{Stream, purpose};

/// Number of inputs per process. A stack overflow or a hang loses at most the remaining inputs of its process.
const SHARE: u64 = 1000;

/// Message of the last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Sends `count` inputs to each target, in separate processes.
pub fn attack(field: &Field, count: u64, report: &mut Report) {
    let shares = count.div_ceil(SHARE);
    let own = std::env::current_exe().expect("a path of ours");
    let cases = spread("readers", field.jobs, 0..shares * TARGETS.len() as u64, |number| {
        let (target, first) = (TARGETS[(number / shares) as usize].0, number % shares * SHARE);
        let folder = field.folder.join(format!("reader-{number}"));
        fs::create_dir_all(&folder).expect("a folder of ours");
        let (from, to) = (first, count.min(first + SHARE));
        let line = format!("--seed {} --folder {} --reader {target}:{from}-{to}", field.seed, folder.display());
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let ran = process::run(&own, &folder, &words);
        let at = fs::read_to_string(folder.join("at")).unwrap_or_default();
        let _ = fs::remove_dir_all(&folder);
        (target, to - from, ran, at)
    });
    for (target, inputs, ran, at) in cases {
        report.count_inputs(target, inputs, ran.took);
        let fault = ran.fault().or((ran.code == Some(1)).then(|| "breaks its promise".to_owned()));
        if let Some(what) = fault {
            let said = ran.err.lines().find(|line| line.contains("panicked at")).unwrap_or_default().to_owned();
            let again = format!("--reader {target}:{at}");
            report.fault(target, Fault { again, command: said, what });
        }
    }
}

/// Runs the inputs from `first` to `last` (exclusive) of a target in this process, until a check fails. `wanted` is
/// `target:7` for one input or `target:0-1000` for a range.
pub fn one(folder: &Path, seed: u64, wanted: &str) -> ExitCode {
    let (name, numbers) = wanted.split_once(':').expect("target:number");
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, ""));
    let first: u64 = first.parse().expect("a number");
    let last = last.parse().unwrap_or(first + 1);
    let &(name, check) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
    let corpus: Vec<Vec<u8>> = inputs(name).into_values().collect();
    // A reader may catch panics internally: the hook only stores the message, which is printed for an uncaught panic.
    std::panic::set_hook(Box::new(|panic| *LAST.lock().expect("a lock") = panic.to_string()));
    for number in first..last {
        // If this process dies, the parent process reads the number of the current input from this file.
        fs::write(folder.join("at"), number.to_string()).expect("a file of ours");
        let mut stream = Stream::new(seed, number, purpose(name));
        let mut any = || &corpus[stream.below(corpus.len() as u64) as usize];
        let (input, other) = (any(), any());
        let input = mutate(&mut stream, input, other);
        if catch_unwind(|| check(&input)).is_err() {
            eprintln!("{}", LAST.lock().expect("a lock"));
            if first + 1 == last {
                std::io::stdout().write_all(&input).expect("standard output");
            }
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
