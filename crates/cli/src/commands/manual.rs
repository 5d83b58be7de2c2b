//! Sections of the manual pages, and values for completions, that the definition of the arguments does not contain.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_mangen::roff::{Roff, bold, roman};
use std::collections::BTreeSet;

/// Exit codes of all commands with their meaning. A command's description states which checks it has.
const EXIT_STATUS: [(&str, &str); 5] = [
    ("0", "The command completed, and every check holds."),
    ("1", "A check failed, or there is a finding. The report is complete."),
    ("2", "The input is invalid, or an output cannot be written. The message states file and key, or the argument."),
    ("3", "System failure: disk full, or out of memory."),
    ("130", "Interrupted. If the run had begun, its partial result is valid."),
];

/// Example command lines, by the command's name without `tidegate`.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["tidegate new incast", "tidegate run incast.toml --out results/incast"]),
    ("run", &["tidegate run incast.toml", "tidegate run incast.toml --seed 2 --set fabric.k=8 --out results/k8"]),
    ("compare", &["tidegate compare incast.toml --vary host.transport.kind=dcqcn,hpcc --seeds 1..5"]),
    (
        "sweep",
        &[
            "tidegate sweep incast.toml --vary traffic.0.fan_in=8,16,32 --seeds 1..10 --out results/fan-in",
            "tidegate sweep incast.toml --vary traffic.0.fan_in=8,16,32 --seeds 1..10 --out results/fan-in --resume",
        ],
    ),
    ("report", &["tidegate report results/incast --out incast.html"]),
    ("table", &["tidegate table results/incast flows --out flows.csv"]),
    ("fluid", &["tidegate fluid dcqcn.toml --set duration=20ms --plots dcqcn"]),
    ("fabric", &["tidegate fabric check topology.json"]),
    ("fabric build", &["tidegate fabric build fat-tree --k 4 --rate 100Gbps --delay 500ns --out fat-tree.json"]),
    ("fabric check", &["tidegate fabric check topology.json --pfc", "tidegate fabric check --running configurations"]),
    ("fabric convert", &["tidegate fabric convert lab.clab.yml topology.json"]),
    ("fabric headroom", &["tidegate fabric headroom --rate 100Gbps --length 300m --mtu 1518B --ports 32"]),
    ("fabric show", &["tidegate fabric show topology.json --svg fabric.svg"]),
    ("tagger", &["tidegate tagger rules topology.json --paths bounces=1 --out rules.json"]),
    ("tagger budget", &["tidegate tagger budget rules.json --fabric topology.json --profile trident2.toml"]),
    (
        "tagger diff",
        &["tidegate tagger diff rules.json grown-rules.json --fabric grown.json --old-fabric topology.json"],
    ),
    ("tagger explain", &["tidegate tagger explain rules.json --fabric topology.json H1 T1 L1 T2 H5"]),
    ("tagger export", &["tidegate tagger export rules.json --fabric configurations --to sonic --out fragments"]),
    ("tagger rules", &["tidegate tagger rules topology.json --paths bounces=1 --out rules.json"]),
    ("tagger verify", &["tidegate tagger verify rules.json --fabric topology.json --paths bounces=1"]),
    ("tagger what-if", &["tidegate tagger what-if rules.json --fabric topology.json --link T1,L1"]),
    ("trim", &["tidegate trim export scenario.toml --to nvue --interface swp{port+1} --only L1"]),
    ("trim export", &["tidegate trim export scenario.toml --to nvue --interface swp{port+1} --only L1"]),
    ("schedule", &["tidegate schedule streams.toml --fabric plant.json --to taprio --out gates"]),
    ("schedule verify", &["tidegate schedule verify gates --fabric plant.json --streams streams.toml"]),
    ("schedule worst-case", &["tidegate schedule worst-case streams.toml --fabric plant.json"]),
    ("new", &["tidegate new", "tidegate new incast --out incast.toml"]),
    ("import", &["tidegate import hpcc config.txt --out hpcc.toml"]),
    ("import hpcc", &["tidegate import hpcc config.txt --out hpcc.toml"]),
    ("mechanisms", &["tidegate mechanisms", "tidegate mechanisms dcqcn"]),
    ("reproduce", &["tidegate reproduce --list", "tidegate reproduce bg/fig1.3"]),
    (
        "why",
        &[
            "tidegate run incast.toml --set record.trace={} --out results/incast",
            "tidegate why results/incast --slowest",
            "tidegate why results/incast --flow 5",
        ],
    ),
    ("dissector", &["tidegate dissector"]),
    ("completions", &["tidegate completions bash"]),
    ("man", &["tidegate man man1"]),
];

/// Arguments of a control line that has none.
const NONE: [&str; 0] = [];

/// Returns the examples of the command with this full name, such as `tidegate run`.
fn examples(name: &str) -> &'static [&'static str] {
    let own = name.strip_prefix("tidegate").unwrap_or(name).trim_start();
    EXAMPLES.iter().find(|(of, _)| *of == own).map_or(&[], |(_, lines)| lines)
}

/// Returns the sections EXIT STATUS, EXAMPLES and SEE ALSO of the page of `command`. SEE ALSO names the command
/// above it and those below it.
pub fn sections(command: &Command) -> Roff {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_STATUS {
        roff.control("TP", NONE).text([bold(code)]).text([roman(meaning)]);
    }
    roff.control("SH", ["EXAMPLES"]);
    for line in examples(&name) {
        roff.control("PP", NONE).control("EX", NONE).text([roman(*line)]).control("EE", NONE);
    }
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below = below.map(|below| format!("{name} {}", below.get_name()));
    let above = name.rsplit_once(' ').map(|(above, _)| above.to_owned());
    let pages: Vec<String> =
        above.into_iter().chain(below).map(|page| format!("{}(1)", page.replace(' ', "-"))).collect();
    if !pages.is_empty() {
        roff.control("SH", ["SEE ALSO"]).text([roman(pages.join(", "))]);
    }
    roff
}

/// Returns the definition for completions, in which names of mechanisms, experiments and scenario keys are values of
/// their arguments.
pub fn with_values(definition: Command) -> Command {
    let mechanisms = protocols::mechanisms::all().map(|mechanism| mechanism.kind.to_owned()).collect();
    let definition = definition.mut_subcommand("mechanisms", |command| with(command, "name", mechanisms));
    let definition = definition.mut_subcommand("reproduce", |command| with(command, "experiments", experiments()));
    let scenario_keys: BTreeSet<String> = scenario::keys::keys().map(|key| format!("{}=", key.path())).collect();
    ["run", "compare", "sweep"].into_iter().fold(definition, |definition, name| {
        definition.mut_subcommand(name, |command| {
            let command = with(command, "set", scenario_keys.clone());
            if command.get_arguments().any(|argument| argument.get_id() == "vary") {
                with(command, "vary", scenario_keys.clone())
            } else {
                command
            }
        })
    })
}

/// Returns `command` with these values of an argument.
fn with(command: Command, argument: &str, values: BTreeSet<String>) -> Command {
    command.mut_arg(argument, |argument: Arg| argument.value_parser(PossibleValuesParser::new(values)))
}

/// Returns the papers and the experiments.
fn experiments() -> BTreeSet<String> {
    let ids = reproduce::experiments().map(|experiment| experiment.id);
    ids.flat_map(|id| [Some(id), id.split_once('/').map(|(paper, _)| paper)]).flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::EXAMPLES;
    use clap::CommandFactory;

    /// Every example has all arguments that its command requires, and no others.
    #[test]
    fn examples_are_complete_command_lines() {
        for line in EXAMPLES.iter().flat_map(|(_, lines)| *lines) {
            let parsed = crate::Cli::command().try_get_matches_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
