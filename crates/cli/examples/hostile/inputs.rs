//! Runs every command, and thereby every reader, on mutated inputs.

use crate::attacks::{self, Attack, Line};
use crate::corpus::{Maker, Sample};
use crate::mutate::{mutate, mutate_word};
use crate::process::{self, Ran};
use crate::report::{Fault, Report};
use crate::{Field, spread};
use record::results_hash::results_hash;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use units::random::Stream;
use units::random::purpose;

/// Outcome of a command with one mutated input.
struct Case {
    attack: &'static str,
    words: String,
    ran: Ran,
    fault: Option<String>,
}

/// Runs the attacks with these input numbers; the number and the seed determine the input.
pub fn attack(field: &Field, root: &Path, numbers: Range<u64>, report: &mut Report) {
    if numbers.is_empty() {
        return;
    }
    let maker = Maker { tidegate: &field.tidegate, folder: &field.folder.join("corpus"), root };
    let attacks = attacks::all(maker.make());
    let cases = spread("inputs", field.jobs, numbers.clone(), |number| one(field, &attacks, number));
    for (number, case) in numbers.zip(cases) {
        report.count(case.attack, case.ran.code, case.ran.took);
        if let Some(what) = case.fault {
            let command = format!("{}: tidegate {}", case.attack, case.words);
            report.fault(case.attack, Fault { again: format!("--input {number}"), command, what });
        }
    }
}

fn one(field: &Field, attacks: &[Attack], number: u64) -> Case {
    let mut stream = Stream::new(field.seed, number, purpose("hostile input"));
    let weights: u64 = attacks.iter().map(|attack| attack.weight).sum();
    let mut drawn = stream.below(weights);
    let attack = attacks.iter().find(|attack| match drawn.checked_sub(attack.weight) {
        Some(rest) => {
            drawn = rest;
            false
        }
        None => true,
    });
    let attack = attack.expect("the weights add up");
    let any = |stream: &mut Stream| &attack.samples[stream.below(attack.samples.len() as u64) as usize];
    let (mut sample, other) = (any(&mut stream).clone(), any(&mut stream));
    let line = &attack.commands[stream.below(attack.commands.len() as u64) as usize];
    let words = arguments(&mut stream, &line.words);
    if !sample.targets.is_empty() {
        let target = sample.targets[stream.below(sample.targets.len() as u64) as usize];
        let lent = other.targets.first().map_or(&[][..], |&target| &other.files[target].1);
        sample.files[target].1 = mutate(&mut stream, &sample.files[target].1, lent);
    }
    let folder = field.folder.join(format!("input-{number}"));
    let (ran, fault) = meet(field, &folder, &sample, line, &words);
    match &fault {
        Some(what) => keep(field, &folder, &sample, &words, what),
        None => drop(fs::remove_dir_all(&folder)),
    }
    Case { attack: attack.name, words: words.join(" "), ran, fault }
}

/// Splits a command line into words, and mutates some of the words in braces.
fn arguments(stream: &mut Stream, line: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word| match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            Some(value) if stream.below(3) > 0 => mutate_word(stream, value),
            Some(value) => value.to_owned(),
            None => word.to_owned(),
        })
        .collect()
}

/// Runs the command on the sample, twice if it succeeds, and checks that it leaves the right output files.
fn meet(field: &Field, folder: &Path, sample: &Sample, line: &Line, words: &[String]) -> (Ran, Option<String>) {
    let again = |name: &str| -> (PathBuf, Ran) {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).expect("a folder of ours");
        sample.write(&folder);
        forge(&folder.join("result"));
        let ran = process::run(&field.tidegate, &folder, words);
        (folder, ran)
    };
    let (first, ran) = again("first");
    let fault = ran.fault().or_else(|| {
        let left = process::tree(&first);
        if ran.code == Some(2) {
            let known = |name: &str| sample.files.iter().any(|(file, _)| file == name);
            // A sweep or comparison keeps complete runs even if other runs fail.
            let is_sweep = words.first().is_some_and(|word| word == "sweep" || word == "compare");
            let half = left.keys().find(|name| !known(name));
            return half.filter(|_| !is_sweep).map(|name| format!("refused, but `{name}` is left behind"));
        }
        if !ran.is_done() {
            return None;
        }
        let (second, other) = again("second");
        let differs = |what: &str| Some(format!("the second run differs in {what}"));
        if other.code != ran.code {
            return differs("its exit code");
        }
        let prints_speed = words[0] == "run" && !words.iter().any(|word| word == "--json" || word == "--explain");
        if other.out != ran.out && !prints_speed {
            return differs("what it prints");
        }
        let tree = process::tree(&second);
        if let Some(name) = left.keys().chain(tree.keys()).find(|&name| left.get(name) != tree.get(name)) {
            return differs(name);
        }
        let then = line.then.as_ref().filter(|_| ran.code == Some(0))?;
        let words: Vec<String> = then.split_whitespace().map(str::to_owned).collect();
        let reread = process::run(&field.tidegate, &first, &words);
        // Not a fault: the conversion reported that information is lost, or the second command printed why it cannot
        // use the network.
        let is_stated = ran.err.contains("cannot be read again") || !reread.out.is_empty();
        let refused =
            (reread.code == Some(2) && !is_stated).then(|| reread.err.lines().next().unwrap_or_default().to_owned());
        reread.fault().or(refused).map(|what| format!("then `{then}`: {what}"))
    });
    (ran, fault)
}

/// Sets the hash in a result to that of its mutated files, because a result with a wrong hash is rejected before its
/// tables are read.
fn forge(result: &Path) {
    let summary = result.join("summary.json");
    let Ok(text) = fs::read_to_string(&summary) else { return };
    let Ok(hash) = results_hash(result) else { return };
    let Some((before, rest)) = text.split_once("\"results_hash\": \"") else { return };
    let Some((_, after)) = rest.split_once('"') else { return };
    fs::write(summary, format!("{before}\"results_hash\": \"{hash}\"{after}")).expect("a file of ours");
}

/// Stores the input files and the command that reproduce a fault.
fn keep(field: &Field, folder: &Path, sample: &Sample, words: &[String], what: &str) {
    let found = field.folder.join("found").join(folder.file_name().expect("a name"));
    fs::create_dir_all(&found).expect("a folder of ours");
    sample.write(&found);
    fs::write(found.join("COMMAND"), format!("{what}\ntidegate {}\n", words.join(" "))).expect("a file of ours");
    let _ = fs::remove_dir_all(folder);
}
