//! Tagger on switches that select the egress queue by the arriving or the new tag, with weighted or strict-priority
//! schedulers. If the verifier of the rules, or the verifier of the switch configuration, excludes deadlock and
//! starvation, a simulation must find neither.

use crate::common::{Scratch, run};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};
use lab::{Run, RunOptions, StopFlag};
use scenario::Scenario;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tagger::paths::PathSource;
use tagger::rules::RuleTable;
use tagger::{Algorithm, Request, generate};
use units::random::Stream;
use verify::{EgressQueue, RuleFile, Scheduler, Switches, Verifier};

/// Random generator of test cases.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Draws a scenario with a fabric, tagger rules, and wrong routes that cause routing loops and bounces.
fn random(case: u64) -> (String, Algorithm, Switches) {
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
    let scheduler = if dice.below(4) == 0 { Scheduler::Strict } else { Scheduler::Share };
    let scheduling = match scheduler {
        Scheduler::Share => "kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1]",
        Scheduler::Strict => "kind = \"strict\"",
    };
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
buffer = "{buffer}"
flow_control = {{ kind = "pfc", priorities = [1, 2, 3, 4, 5, 6, 7], xoff = "{xoff}KB", xon = "3KB" }}
scheduler = {{ {scheduling} }}
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
        // With strict priority the buffer is small, so that starvation is detected within the run: a queue counts as
        // starved if its port has sent a whole buffer of other frames.
        buffer = if scheduler == Scheduler::Strict { "1MB" } else { "16MB" },
        load = dice.one(if scheduler == Scheduler::Strict { &["0.4", "0.9"] } else { &["0.1", "0.2", "0.4"] }),
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
    (text, algorithm, Switches { egress, scheduler })
}

/// Returns SONiC configurations of the switches that implement these rules, where tag t has DSCP t and priority t.
/// `None` if a switch needs more than 16 traffic classes.
fn configuration(fabric: &Fabric, table: &RuleTable, on: Switches) -> Option<Vec<(String, Value)>> {
    let lookup = table.lookup(fabric);
    fabric
        .switches()
        .map(|node| Some((fabric.name(node).to_owned(), switch(fabric, table, &lookup, node, on)?)))
        .collect()
}

fn switch(
    fabric: &Fabric,
    table: &RuleTable,
    lookup: &tagger::rules::Lookup,
    node: NodeId,
    on: Switches,
) -> Option<Value> {
    let ports = 0..fabric.ports(node).len() as PortIndex;
    // Returns the new tags by egress port, for an arriving tag and an ingress port.
    let row = |tag: u8, ingress| ports.clone().map(|egress| lookup.new_tag(node, tag, ingress, egress)).collect();
    let mut classes: BTreeMap<(u8, Vec<Option<u8>>), u8> = BTreeMap::new();
    for (&tag, ingress) in table.lossless_tags.iter().flat_map(|tag| ports.clone().map(move |port| (tag, port))) {
        let next = classes.len() as u8 + 1;
        classes.entry((tag, row(tag, ingress))).or_insert(next);
    }
    if classes.len() > 15 {
        return None;
    }
    let numbered = |values: Vec<u8>| -> Value {
        values
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value.to_string().into()))
            .collect::<Map<_, _>>()
            .into()
    };
    // Returns a map from each traffic class to a value: class 0 is that of lossy traffic.
    let by_class = |lossy: u8, value: &dyn Fn(u8, &[Option<u8>]) -> u8| {
        let mut values = vec![lossy; classes.len() + 1];
        classes.iter().for_each(|((tag, row), class)| values[usize::from(*class)] = value(*tag, row));
        numbered(values)
    };
    let tags: Vec<String> = table.lossless_tags.iter().map(u8::to_string).collect();
    let mut file = json!({
        "DEVICE_METADATA": { "localhost": { "hostname": fabric.name(node) } },
        "MAP_PFC_PRIORITY_TO_QUEUE": { "ALL": numbered((0..8).collect()) },
        "TC_TO_PRIORITY_GROUP_MAP": { "ALL": by_class(0, &|tag, _| tag) },
        "BUFFER_POOL": {
            "ingress_lossless_pool": { "type": "ingress", "mode": "dynamic", "size": "100000000" },
            "egress_lossless_pool": { "type": "egress", "mode": "static", "size": "100000000" },
            "egress_lossy_pool": { "type": "egress", "mode": "dynamic", "size": "100000000" },
        },
        "BUFFER_PROFILE": {
            "lossless": { "pool": "ingress_lossless_pool", "size": "1000000", "xoff": "900000" },
            "egress_lossless": { "pool": "egress_lossless_pool", "size": "0" },
            "egress_lossy": { "pool": "egress_lossy_pool", "size": "0" },
        },
        "SCHEDULER": { "all": match on.scheduler {
            Scheduler::Share => json!({ "type": "DWRR", "weight": "1" }),
            Scheduler::Strict => json!({ "type": "STRICT" }),
        } },
    });
    for port in ports.clone() {
        let name = port.to_string();
        let dscps = (0..64).map(|dscp: u8| match table.lossless_tags.contains(&dscp) {
            true => classes[&(dscp, row(dscp, port))],
            false => 0,
        });
        let out = usize::from(port);
        let queue = |tag: u8, row: &[Option<u8>]| match on.egress {
            EgressQueue::NewTag => row[out].unwrap_or(0),
            EgressQueue::ArrivingTag => tag,
        };
        file["PORT"][&name] = json!({ "speed": "40000" });
        file["DSCP_TO_TC_MAP"][&name] = numbered(dscps.collect());
        file["TC_TO_DSCP_MAP"][&name] = by_class(0, &|_, row| row[out].unwrap_or(0));
        file["TC_TO_QUEUE_MAP"][&name] = by_class(0, &queue);
        file["PORT_QOS_MAP"][&name] = json!({
            "dscp_to_tc_map": name, "tc_to_dscp_map": name, "tc_to_queue_map": name, "tc_to_pg_map": "ALL",
            "pfc_to_queue_map": "ALL", "pfc_enable": tags.join(","),
        });
        for tag in &tags {
            file["BUFFER_PG"][format!("{name}|{tag}")] = json!({ "profile": "lossless" });
        }
        for queue in 0..8 {
            let profile = if tags.contains(&queue.to_string()) { "egress_lossless" } else { "egress_lossy" };
            file["BUFFER_QUEUE"][format!("{name}|{queue}")] = json!({ "profile": profile });
            file["QUEUE"][format!("{name}|{queue}")] = json!({ "scheduler": "all" });
        }
    }
    Some(file)
}

/// Runs `tagger verify --running` on switches that implement these rules; returns whether it proves them, and its
/// output. `None` if no configuration can implement the rules.
fn of_device(
    scratch: &Scratch,
    text: &str,
    table: &RuleTable,
    fabric: &Fabric,
    on: Switches,
) -> Option<(bool, String)> {
    let files = configuration(fabric, table, on)?;
    let folder = scratch.path("running");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, file) in files {
        std::fs::write(scratch.0.join("running").join(name + ".json"), file.to_string()).unwrap();
    }
    let (scenario, rules) = (scratch.file("fabric.toml", text), scratch.file("rules.json", &table.write(fabric)));
    let tags: Vec<String> = table.lossless_tags.iter().map(|tag| format!("--tag={tag}={tag}:{tag}")).collect();
    let mut arguments = vec!["tagger", "verify", &rules, "--fabric", &scenario, "--running", &folder];
    // Hosts may send any tag, so the rules of every tag must be implemented also at ports towards hosts.
    arguments.push("--trust-hosts=any");
    arguments.extend(tags.iter().map(String::as_str));
    let ran = run(&arguments);
    assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
    Some((ran.code == Some(0), ran.out))
}

/// Returns the number of frames in the network long after the traffic has ended: the time suffices to drain every queue
/// and to exhaust the hop limit of every looping frame, so frames that remain are in a deadlock. Returns 0 if the run
/// itself reports a deadlock.
fn remaining(text: &str, stop: &StopFlag) -> u64 {
    let ended = text.replacen("duration = \"400us\"", "duration = \"200ms\"", 1).replacen(
        "process = \"constant\"",
        "process = \"constant\"\nstop = \"400us\"",
        1,
    );
    let run = Run::parse(&ended, "ended.toml", &[], None, stop).unwrap_or_else(|error| panic!("{error}"));
    let summary = run.produce(None, &mut model::NullWatcher, RunOptions::default(), stop).unwrap().summary;
    if summary.deadlock.is_some() { 0 } else { summary.packets.in_flight }
}

#[test]
fn no_deadlock_or_starvation_that_the_verifier_excluded() {
    let (stop, scratch) = (StopFlag::default(), Scratch::new("tagger-switches"));
    let (mut proved, mut refused, mut closed, mut devices, mut starved, mut drained) = (0, 0, 0, 0, 0, 0);
    for case in 0..300 {
        let (text, algorithm, on) = random(case);
        let scenario = Scenario::parse(&text, "random.toml", "".as_ref(), &[], None);
        let lowered = scenario.and_then(|it| it.lower()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let fabric = &lowered.setup.fabric;
        assert!(fabric.nodes().iter().all(|node| node.kind == NodeKind::Switch || !node.relay));
        let paths = PathSource::AllShortest { limit: None };
        let request = Request { algorithm, classes: vec!["class 1".to_owned()], ..Request::new(paths) };
        let table = generate(fabric, &request).unwrap().table;
        let rules = RuleFile::parse(table.write(fabric).as_bytes()).unwrap();
        let verdict = Verifier::new(fabric, &rules).unwrap().on(on).finish();
        let arriving = on.egress == EgressQueue::ArrivingTag;
        let warned = lowered.warnings.iter().any(|warning| warning.key == "switch.tags.egress");
        assert!(!warned || arriving);
        assert!(verdict.pass() || arriving || on.scheduler == Scheduler::Strict, "{text}");
        assert!(verdict.pass() || warned || on.scheduler == Scheduler::Strict, "{text}");
        let run = Run::parse(&text, "random.toml", &[], None, &stop).unwrap_or_else(|error| panic!("{error}"));
        let found = run.produce(None, &mut model::NullWatcher, RunOptions::default(), &stop).unwrap().summary;
        let deadlock = found.deadlock.is_some();
        let stall = found.checks.iter().any(|check| check.name == "stall" && !check.pass);
        assert!(!(verdict.pass() && deadlock), "case {case} was proved and deadlocks:\n{text}");
        assert!(!(verdict.pass() && stall), "case {case} was proved and starves:\n{text}");
        if let Some((pass, out)) = of_device(&scratch, &text, &table, fabric, on) {
            devices += 1;
            assert!(!(pass && (deadlock || stall)), "case {case}: its device was proved:\n{text}\n{out}");
            // The configuration implements the switches that the rule verifier assumes, so both verdicts must agree.
            // Strict priority is an exception: the configuration verifier also rejects lossless queues that a queue of
            // higher priority can starve, whereas the rule verifier checks only the starvation of lossy frames.
            assert!(on.scheduler == Scheduler::Strict || pass == verdict.pass(), "case {case}:\n{text}\n{out}");
            assert!(!pass || verdict.pass(), "case {case}:\n{text}\n{out}");
        }
        // If the run reports no deadlock, no frame may remain in the network.
        if !deadlock {
            let left = remaining(&text, &stop);
            assert!(left == 0, "case {case}: {left} frames remain, and no deadlock was found:\n{text}");
            drained += 1;
        }
        proved += u32::from(verdict.pass());
        refused += u32::from(!verdict.pass());
        closed += u32::from(deadlock);
        starved += u32::from(stall);
    }
    // All outcomes must occur: proved rules, and among the rejected rules many that actually deadlock or starve a
    // queue.
    let counts = format!(
        "{proved} proved, {refused} refused, {closed} deadlocks, {starved} stalls, {devices} devices, {drained} drained"
    );
    println!("{counts}");
    assert!(proved > 80 && refused > 100 && closed > 10 && starved > 0 && devices > 200 && drained > 200, "{counts}");
}
