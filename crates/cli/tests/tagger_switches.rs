//! Tagger on switches of both kinds: the verifier excludes no deadlock that a simulation then finds.

use lab::{Run, Stop, Way};
use scenario::Scenario;
use tagger::paths::PathSource;
use tagger::{Algorithm, Request, generate};
use units::random::Stream;
use verify::{EgressQueue, RuleFile, Switches, Verifier};

/// A random choice.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// A fabric, its rules, and routes that are wrong at random: loops and frames that are sent back included.
fn random(case: u64) -> (String, Algorithm, EgressQueue) {
    let mut dice = Dice(Stream::new(case, 0, 9));
    let link = "link = { rate = \"40Gbps\", delay = \"500ns\" }";
    let fabric = match dice.below(4) {
        0 => format!("kind = \"ring\"\nswitches = {}\nhosts_per_switch = 2\n{link}", 3 + dice.below(3)),
        1 => format!("kind = \"line\"\nswitches = {}\nhosts_per_switch = 2\n{link}", 1 + dice.below(3)),
        2 => format!("kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n{link}"),
        _ => format!(
            "kind = \"clos\"\npods = 2\ntors_per_pod = 2\nleaves_per_pod = 2\nspines = 2\nhosts_per_tor = 1\n{link}"
        ),
    };
    let egress = if dice.below(2) == 0 { EgressQueue::NewTag } else { EgressQueue::ArrivingTag };
    let algorithm = if dice.below(2) == 0 { Algorithm::Merge } else { Algorithm::OnePerHop };
    let names = [
        if algorithm == Algorithm::Merge { "merge" } else { "one-per-hop" },
        if egress == EgressQueue::NewTag { "new-tag" } else { "arriving-tag" },
    ];
    let mut text = format!(
        r#"
duration = "400us"
seed = {case}
[fabric]
{fabric}
[switch]
buffer = "16MB"
flow_control = {{ kind = "pfc", priorities = [1, 2, 3, 4, 5, 6, 7], xoff = "{xoff}KB", xon = "3KB" }}
scheduler = {{ kind = "wrr", weights = [1, 1, 1, 1, 1, 1, 1, 1] }}
tags = {{ kind = "tagger", algorithm = "{algorithm}", egress = "{egress}" }}
[host]
transport = "datagram"
[check]
deadlock = {{ every = "5us" }}
[[traffic]]
kind = "all-to-all"
process = "constant"
frame = "1000B"
load = {load}
class = 1
"#,
        algorithm = names[0],
        egress = names[1],
        xoff = dice.one(&["12", "24", "60"]),
        load = dice.one(&["0.1", "0.2", "0.4"]),
    );
    let fabric = Scenario::parse(&text, "random.toml", "".as_ref(), &[], None).and_then(|it| it.fabric());
    let fabric = fabric.unwrap_or_else(|errors| panic!("{errors}"));
    let switches: Vec<_> = fabric.switches().collect();
    for _ in 0..dice.below(8) {
        let node = switches[dice.below(switches.len())];
        let to = fabric.name(fabric.host_node(dice.below(fabric.hosts().len()) as u32));
        let near: Vec<&str> = fabric
            .ports(node)
            .iter()
            .map(|port| port.peer)
            .filter(|peer| fabric.node(*peer).forwards())
            .map(|peer| fabric.name(peer))
            .collect();
        if !near.is_empty() {
            let via = dice.one(&near);
            text += &format!("[[route]]\nnode = \"{}\"\nto = \"{to}\"\nvia = [\"{via}\"]\n", fabric.name(node));
        }
    }
    (text, algorithm, egress)
}

#[test]
fn no_deadlock_that_the_verifier_excluded() {
    let stop = Stop::default();
    let (mut proved, mut refused, mut closed) = (0, 0, 0);
    for case in 0..300 {
        let (text, algorithm, egress) = random(case);
        let scenario = Scenario::parse(&text, "random.toml", "".as_ref(), &[], None);
        let lowered = scenario.and_then(|it| it.lower()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let fabric = &lowered.setup.fabric;
        let paths = PathSource::AllShortest { limit: None };
        let request = Request { algorithm, classes: vec!["class 1".to_owned()], ..Request::new(paths) };
        let rules = generate(fabric, &request).unwrap().table.write(fabric);
        let rules = RuleFile::parse(rules.as_bytes()).unwrap();
        let switches = Switches { egress, ..Switches::default() };
        let verdict = Verifier::new(fabric, &rules).unwrap().on(switches).finish();
        let warned = lowered.warnings.iter().any(|warning| warning.key == "switch.tags.egress");
        assert!(!warned || egress == EgressQueue::ArrivingTag);
        assert!(verdict.pass() || egress == EgressQueue::ArrivingTag, "{text}");
        assert!(verdict.pass() || warned, "{text}");
        let run = Run::parse(&text, "random.toml", &[], None, &stop).unwrap_or_else(|error| panic!("{error}"));
        let found = run.produce(None, &mut model::Unwatched, Way::default(), &stop).unwrap().summary;
        let deadlock = found.deadlock.is_some();
        assert!(!(verdict.pass() && deadlock), "case {case} was proved and deadlocks:\n{text}");
        proved += u32::from(verdict.pass());
        refused += u32::from(!verdict.pass());
        closed += u32::from(deadlock);
    }
    // Neither side of the test is empty: some rules are proved, and of the refused many do deadlock.
    assert!(proved > 100 && refused > 100 && closed > 10, "{proved} proved, {refused} refused, {closed} deadlocks");
}
