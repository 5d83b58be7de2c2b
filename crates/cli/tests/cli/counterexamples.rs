//! Simulates the counterexamples of `fabric check --running`. Each cyclic buffer dependency and each starved queue that
//! the check finds must occur in the simulation; configurations without either must neither deadlock nor starve a queue
//! under load.

use crate::common::{Scratch, example, run};
use crate::running::config::seeded::{Seeded, seeded};
use crate::running::config::{
    Cable, Files, dual_tor, leaf_spine, numbered, read, switch, texts, topology, try_topology,
};
use fabric::Fabric;
use fabric::files::write_node_link;
use lab::{Run, RunOptions, StopFlag};
use running::reproduce::{Counterexample, TOPOLOGY_FILE, counterexamples};
use running::{PathSet, QueueBinding, SwitchConfig};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use units::random::{Stream, purpose};

fn folder(scratch: &Scratch, name: &str, files: &Files) -> String {
    std::fs::create_dir_all(scratch.path(name)).unwrap();
    for (file, text) in texts(files) {
        std::fs::write(scratch.0.join(name).join(file), text).unwrap();
    }
    scratch.path(name)
}

/// Outcome of a simulation: the ports of its deadlock, and the detail of the failed check "stall".
struct Outcome {
    deadlock: Option<BTreeSet<(String, u32)>>,
    stall: Option<String>,
}

fn simulate(scratch: &Scratch, fabric: &Fabric, found: &Counterexample) -> Outcome {
    simulate_text(scratch, fabric, found, &found.scenario)
}

fn simulate_text(scratch: &Scratch, fabric: &Fabric, found: &Counterexample, scenario: &str) -> Outcome {
    scratch.file(TOPOLOGY_FILE, &write_node_link(fabric));
    scratch.file(found.maps_file, &found.maps);
    let path = scratch.file("scenario.toml", scenario);
    let stop = StopFlag::default();
    let run = Run::read(path.as_ref(), &[], None, &stop).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
    let summary = run.produce(None, &mut model::NullWatcher, RunOptions::default(), &stop).unwrap().summary;
    let ports =
        |cycle: Vec<_>| cycle.into_iter().map(|edge: stats::summary::DeadlockEdge| (edge.node, edge.port)).collect();
    let stall = summary.checks.iter().find(|check| check.name == "stall" && !check.pass);
    Outcome {
        deadlock: summary.deadlock.map(|deadlock| ports(deadlock.cycle)),
        stall: stall.map(|check| check.detail.clone()),
    }
}

fn expected(found: &Counterexample) -> BTreeSet<(String, u32)> {
    found.ports.iter().map(|(node, port)| (node.clone(), u32::from(*port))).collect()
}

#[test]
fn the_command_writes_and_simulates_its_counterexamples() {
    let scratch = Scratch::new("counterexample");
    let out = scratch.path("out");
    let ran = run(&["fabric", "check", "--running", &example("running/no-remap"), "--counterexample", &out]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("deadlock.toml: simulated: this cycle closes at"), "{}", ran.out);
    let names = [
        "NOTES.txt",
        "deadlock-uniform.toml",
        "deadlock.maps.json",
        "deadlock.toml",
        "tidegate.sha256",
        "topology.json",
    ];
    assert_eq!(scratch.names("out"), names);
    let again = run(&["run", &scratch.path("out/deadlock.toml"), "--quiet", "--out", &scratch.path("result")]);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    let safe = scratch.path("safe");
    let ran = run(&["fabric", "check", "--running", &example("running/dual-tor"), "--counterexample", &safe]);
    let loaded = "load.toml: simulated: 24 flows on random paths: no deadlock";
    assert!(ran.code == Some(0) && ran.out.contains(loaded), "{}{}", ran.out, ran.err);
    // A second check into the same folder removes the files of the first.
    let ran = run(&["fabric", "check", "--running", &example("running/dual-tor"), "--counterexample", &out]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let names = ["NOTES.txt", "load.maps.json", "load.toml", "tidegate.sha256", "topology.json"];
    assert_eq!(scratch.names("out"), names);
    // The switches implement the rules, but the rules allow a deadlock if forwarding is arbitrary: the counterexample
    // is a cycle, which the simulation must close.
    let (fabric, rules) = (example("running/leaf-spine"), scratch.path("rules.json"));
    let ran = run(&["fabric", "check", "--running", &fabric, "--rules-out", &rules]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let refuted = scratch.path("refuted");
    let marks = ["--tag", "3=3:3", "--tag", "4=4:4"];
    let verify = ["tagger", "verify", &rules, "--fabric", &fabric, "--running", &fabric, "--counterexample", &refuted];
    let ran = run(&[verify.as_slice(), &marks].concat());
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("deadlock.toml: simulated: this cycle closes at"), "{}", ran.out);
    let ran =
        run(&[["tagger", "verify", &rules, "--fabric", &fabric, "--counterexample", &refuted].as_slice(), &marks]
            .concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    // All queues of strict priority: a queue of higher priority starves the lossless queues. If queue 3 has no
    // scheduler, its starvation must be reported as not simulated.
    let mut files = leaf_spine(3, 2, 2);
    for (_, file) in &mut files {
        file["SCHEDULER"]["scheduler.0"] = json!({ "type": "STRICT" });
    }
    let strict = folder(&scratch, "strict", &files);
    let starved = scratch.path("starved");
    let ran = run(&["fabric", "check", "--running", &strict, "--counterexample", &starved, "--json"]);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    let found = &value["counterexamples"][0];
    assert!(found["kind"] == "starvation" && found["reproduced"] == true, "{found:#}");
    let mut files = leaf_spine(3, 2, 2);
    for (_, file) in &mut files {
        file["QUEUE"].as_object_mut().unwrap().retain(|key, _| !key.ends_with("|3"));
    }
    let none = folder(&scratch, "none", &files);
    let ran = run(&["fabric", "check", "--running", &none, "--counterexample", &scratch.path("unused")]);
    assert!(ran.out.contains("the starvation is not simulated: frames wait in queue 3"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("which has no scheduler to simulate") && ran.code == Some(1), "{}", ran.out);
}

struct Draw(Stream);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }
    fn value(&mut self, count: usize) -> Value {
        self.below(count).to_string().into()
    }
    /// Draws a permutation of 0 to 7 by swapping `pairs` random pairs of the identity.
    fn exchanged(&mut self, pairs: usize) -> Vec<u8> {
        let mut values: Vec<u8> = (0..8).collect();
        for _ in 0..pairs {
            let (a, b) = (self.below(8), self.below(8));
            values.swap(a, b);
        }
        values
    }
}

/// Draws the configuration files of a ring, a chain or a leaf-spine fabric, with hosts.
fn fabric_of(draw: &mut Draw) -> Files {
    let hosts = 1 + draw.below(2);
    let shape = draw.below(3);
    if shape == 0 {
        return leaf_spine(2 + draw.below(2), 2, hosts);
    }
    let switches = 3 + draw.below(2);
    let name = |at: usize| format!("s{at}");
    let port = |at: usize| format!("Ethernet{}", 4 * at);
    let last = switches - 1;
    let of = |at: usize| {
        let mut cables: Vec<Cable> = (0..hosts)
            .map(|host| Cable {
                port: port(host),
                peer: format!("srv-{at}-{host}"),
                peer_port: "eth0".into(),
                kind: "Server",
                metres: 5,
            })
            .collect();
        for (side, ends) in [(0, shape == 2 && at == last), (1, shape == 2 && at == 0)] {
            // Port hosts + 0 leads to the next switch, port hosts + 1 to the previous switch.
            let peer = if side == 0 { (at + 1) % switches } else { (at + last) % switches };
            if !ends {
                cables.push(Cable {
                    port: port(hosts + side),
                    peer: name(peer),
                    peer_port: port(hosts + 1 - side),
                    kind: "LeafRouter",
                    metres: 40,
                });
            }
        }
        (format!("{}.json", name(at)), switch(&name(at), "LeafRouter", &cables))
    };
    (0..switches).map(of).collect()
}

/// Draws random QoS maps, PFC priorities and schedulers. DSCPs above 7 are mapped like DSCP 0.
fn randomise(file: &mut Value, draw: &mut Draw) {
    let wild = draw.below(3) == 0;
    let row = |values: &[u8]| numbered(values);
    let classes: Vec<u8> = if wild { (0..8).map(|_| draw.below(8) as u8).collect() } else { draw.exchanged(1) };
    let dscps: Map<String, Value> = (0..64usize)
        .map(|dscp| (dscp.to_string(), classes[if dscp < 8 { dscp } else { 0 }].to_string().into()))
        .collect();
    file["DSCP_TO_TC_MAP"]["AZURE"] = dscps.into();
    let drawn = |draw: &mut Draw, pairs: usize| match draw.below(4) {
        0 => draw.exchanged(pairs),
        _ => (0..8).collect(),
    };
    file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"] = row(&drawn(draw, 2));
    file["TC_TO_QUEUE_MAP"]["AZURE"] = row(&drawn(draw, 1));
    file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"] = row(&drawn(draw, 1));
    file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"] = row(&drawn(draw, 1));
    let rewrites = draw.below(3) == 0;
    if rewrites {
        file["TC_TO_DSCP_MAP"]["AZURE"] = row(&drawn(draw, 3));
    }
    let lossless: Vec<String> = (1..8).filter(|_| draw.below(3) > 0).map(|at: u8| at.to_string()).take(5).collect();
    let ports: Vec<String> = file["PORT"].as_object().unwrap().keys().cloned().collect();
    let profile =
        file["BUFFER_PROFILE"].as_object().unwrap().keys().find(|key| key.starts_with("pg_")).unwrap().clone();
    let strict = draw.below(5) == 0;
    let scheduler = if strict { "STRICT" } else { "DWRR" };
    file["SCHEDULER"]["scheduler.0"]["type"] = scheduler.into();
    (file["BUFFER_PG"], file["BUFFER_QUEUE"], file["QUEUE"]) = (json!({}), json!({}), json!({}));
    let strict_queue = draw.value(8);
    for port in ports {
        file["PORT_QOS_MAP"][&port]["pfc_enable"] = lossless.join(",").into();
        file["PORT_QOS_MAP"][&port]["pfcwd_sw_enable"] = lossless.join(",").into();
        if rewrites {
            file["PORT_QOS_MAP"][&port]["tc_to_dscp_map"] = "AZURE".into();
        }
        for queue in 0..8u8 {
            let queue = queue.to_string();
            if lossless.contains(&queue) {
                file["BUFFER_PG"][format!("{port}|{queue}")] = json!({ "profile": profile });
            }
            file["BUFFER_QUEUE"][format!("{port}|{queue}")] = json!({ "profile": "egress_lossless_profile" });
            let scheduler = if strict_queue == queue.as_str() { "scheduler.0" } else { "scheduler.1" };
            file["QUEUE"][format!("{port}|{queue}")] = json!({ "scheduler": scheduler });
        }
    }
    // Host links may be slower than the links between switches.
    let speed = ["100000", "100000", "25000", "10000"][draw.below(4)];
    let neighbours = file["DEVICE_NEIGHBOR"].as_object().unwrap();
    let to_host = |row: &Value| row["name"].as_str().unwrap().starts_with("srv");
    let ports: Vec<String> = neighbours.iter().filter(|(_, row)| to_host(row)).map(|(port, _)| port.clone()).collect();
    for port in ports {
        file["PORT"][&port]["speed"] = speed.into();
    }
}

/// Numbers of configurations by outcome.
#[derive(Debug, Default)]
struct Counts {
    cycles: u32,
    closed: u32,
    /// Number of cycles that the simulation closes only if all switches have the same thresholds.
    uniform: u32,
    starved: u32,
    stalled: u32,
    safe: u32,
    loads: u32,
    /// Descriptions of cycles for which the simulation found no deadlock, or a deadlock of other ports.
    differ: Vec<String>,
    /// Number of counterexamples that a scenario cannot express, by reason with names removed.
    unexpressed: BTreeMap<String, u32>,
}

impl Counts {
    fn unexpressed(&mut self, why: &str) {
        let words: Vec<&str> = why.split(' ').filter(|word| word.chars().all(|at| at.is_lowercase())).collect();
        *self.unexpressed.entry(words.join(" ")).or_default() += 1;
    }

    /// Simulates the counterexamples, or the load, of a configuration, and counts the outcome; `name` is used in
    /// messages.
    fn check(
        &mut self,
        scratch: &Scratch,
        name: &str,
        (fabric, configs): (&Fabric, &[SwitchConfig]),
        paths: PathSet,
        seed: u64,
    ) {
        let binding = QueueBinding::Egress;
        let found =
            counterexamples(fabric, configs, binding, paths, seed).unwrap_or_else(|faults| panic!("{faults:#?}"));
        match &found.deadlock {
            Some(Ok(found)) => {
                self.cycles += 1;
                let mut cycle = simulate(scratch, fabric, found).deadlock;
                if cycle.as_ref() != Some(&expected(found)) {
                    self.uniform += 1;
                    let alternative = found.alternative.as_ref().unwrap();
                    cycle = simulate_text(scratch, fabric, found, alternative).deadlock;
                }
                match cycle {
                    Some(cycle) if cycle == expected(found) => self.closed += 1,
                    other => self.differ.push(format!("{name}: {other:?}\n{}\n{}", found.scenario, found.maps)),
                }
            }
            Some(Err(why)) => self.unexpressed(why),
            None => self.safe += 1,
        }
        match &found.starvation {
            Some(Ok(found)) => {
                self.starved += 1;
                let outcome = simulate(scratch, fabric, found);
                let ((node, port), class) = (&found.ports[0], found.starved.as_ref().unwrap().class);
                let detail = outcome.stall.unwrap_or_else(|| panic!("{name}: no stall in\n{}", found.scenario));
                let location = format!("{node} port {port} class {class} ");
                assert!(detail.contains(&location), "{name}: {location}: {detail}");
                self.stalled += 1;
            }
            Some(Err(why)) => self.unexpressed(why),
            None => {}
        }
        assert_eq!(found.load.is_some(), found.deadlock.is_none(), "{name}");
        match &found.load {
            Some(Ok(load)) => {
                let outcome = simulate(scratch, fabric, load);
                assert!(outcome.deadlock.is_none(), "{name}: proved and deadlocks\n{}\n{}", load.scenario, load.maps);
                assert!(outcome.stall.is_none(), "{name}: {:?}\n{}", outcome.stall, load.scenario);
                self.loads += 1;
            }
            Some(Err(why)) => self.unexpressed(why),
            None => {}
        }
    }
}

#[test]
fn verdicts_on_random_maps_agree_with_simulations() {
    let scratch = Scratch::new("random-maps");
    let mut counts = Counts::default();
    for case in 0..320 {
        let mut draw = Draw(Stream::new(case, 0, purpose("random maps")));
        let mut files = fabric_of(&mut draw);
        // All switches have the same random configuration, or each has its own.
        let common = draw.below(2) == 0;
        for (number, (_, file)) in (0u64..).zip(&mut files) {
            let seed = if common { 0 } else { number };
            let mut draw = Draw(Stream::new(case, seed, purpose("maps of a switch")));
            randomise(file, &mut draw);
        }
        let paths = [PathSet::Shortest, PathSet::Any, PathSet::Bounces(1)][draw.below(3)];
        let (fabric, configs) = (topology(&files), read(&files));
        counts.check(&scratch, &format!("case {case}, {paths}"), (&fabric, &configs), paths, case);
    }
    let differ = std::mem::take(&mut counts.differ);
    println!("{counts:#?}, {} differ", differ.len());
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(counts.closed > 60 && counts.stalled > 50 && counts.loads > 60, "{counts:#?}");
    assert_eq!(counts.uniform, 0, "hosts of any rate close these cycles with the first scenario");
}

#[test]
fn counterexamples_of_sonics_own_configurations_occur() {
    let scratch = Scratch::new("sonic-maps");
    let mut counts = Counts::default();
    let fabrics =
        [("leaf-spine", leaf_spine(3, 2, 2)), ("remapped", dual_tor(true)), ("not remapped", dual_tor(false))];
    for (name, files) in &fabrics {
        let (fabric, configs) = (topology(files), read(files));
        for paths in [PathSet::Shortest, PathSet::Bounces(1), PathSet::Any] {
            counts.check(&scratch, &format!("{name}, {paths}"), (&fabric, &configs), paths, 1);
        }
    }
    println!("{counts:#?}");
    assert!(counts.differ.is_empty() && counts.closed >= 5 && counts.loads >= 2, "{counts:#?}");
}

/// Leaf-spine configurations with a random single-line fault that the reader accepts. Each cycle and each starved queue
/// that the check finds must occur in the simulation; configurations without either must not deadlock or starve a
/// queue.
#[test]
fn seeded_faults_occur_if_they_deadlock_or_starve() {
    let scratch = Scratch::new("seeded-faults");
    let (mut counts, mut refused) = (Counts::default(), 0);
    let healthy = leaf_spine(4, 2, 2);
    for seed in 0..100 {
        let Seeded { name, files, file, port } = seeded(&healthy, seed);
        // The reader rejects the fault: there is no configuration to simulate.
        let (Ok(configs), Ok(fabric)) = (running::read(&texts(&files)), try_topology(&files)) else {
            refused += 1;
            continue;
        };
        let found = counterexamples(&fabric, &configs, QueueBinding::Egress, PathSet::Shortest, seed);
        match found {
            Err(_) => refused += 1,
            Ok(_) => {
                let location = format!("seed {seed}: {name} in {file} at {port}");
                counts.check(&scratch, &location, (&fabric, &configs), PathSet::Shortest, seed);
            }
        }
    }
    println!("{counts:#?}, {refused} refused");
    assert!(counts.differ.is_empty(), "{}", counts.differ.join("\n"));
    assert!(counts.starved > 1 && counts.loads > 50 && refused < 50, "{counts:#?}");
}
