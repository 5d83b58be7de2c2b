//! The documented defaults of mechanisms equal the effective defaults.

use model::parameters::{Overload, QueueLimit, Scheduler, Setup, SwitchParameters, Threshold};
use protocols::describe::{Default, Family, Mechanism};
use protocols::pabo::{self, BounceParameters};
use protocols::trim::{self, TrimParameters};
use protocols::{mechanisms, pause, scheduler};
use scenario::Scenario;
use std::path::Path;
use units::Bytes;

const TOP: &str = "duration = \"1ms\"\n[fabric]\nkind = \"fat-tree\"\nk = 4\n\
                   link = { rate = \"100Gbps\", delay = \"500ns\" }\n\
                   [[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n";

fn parse(text: &str, overrides: &[(String, String)]) -> Scenario {
    let read = Scenario::parse(&format!("{TOP}{text}"), "defaults.toml", Path::new(""), overrides, None);
    read.unwrap_or_else(|errors| panic!("{text}{overrides:?}: {errors}"))
}

fn switch(text: &str) -> SwitchParameters {
    parse(&format!("[switch]\n{text}"), &[]).lower().unwrap_or_else(|errors| panic!("{text}: {errors}")).setup.switch
}

/// Makes a scenario that uses `mechanism` and writes only its required keys.
fn least(mechanism: &Mechanism) -> String {
    let kind = mechanism.kind;
    let required = match kind {
        "pfc" | "cbfc" => ", priorities = [3]",
        "wrr" => ", weights = { 3 = 4 }",
        "drr" => ", quanta = { 3 = \"6KB\" }",
        "tagger" => ", algorithm = \"merge\"",
        "qos-maps" => ", maps = \"maps.json\"",
        _ if mechanism.family == Family::Marking => {
            let required = mechanism.parameters.iter().filter(|it| it.default == Default::Required);
            &required.map(|it| format!(", {} = {}", it.key, it.syntax.example)).collect::<String>()
        }
        _ => "",
    };
    let (table, key) = mechanism.family.key().split_once('.').unwrap_or_default();
    let own = format!("{key} = {{ kind = \"{kind}\"{required} }}\n");
    match mechanism.family {
        Family::Buffer => "[switch]\n".to_owned(),
        Family::Preemption => "[switch]\npreemption = { express = [7] }\n".to_owned(),
        Family::Shaping => "[[shaping]]\nidle_slopes = { 6 = \"1Gbps\" }\n".to_owned(),
        Family::Gates => "[[gates]]\nnode = \"S1\"\nstates = [{ open = [0], time = \"1us\" }]\n".to_owned(),
        Family::Cyclic => "[[cyclic]]\ncycle = \"100us\"\nclasses = [6, 7]\n".to_owned(),
        Family::Watchdog => "[switch]\nflow_control = { kind = \"pfc\", priorities = [3] }\nwatchdog = {}\n".to_owned(),
        Family::Overload => format!("[switch]\nqueue = \"500 packets\"\n{own}"),
        Family::FlowControl if matches!(kind, "florax" | "destination" | "pause-at-output") => {
            format!("[switch]\nqueue = \"500 packets\"\n{own}")
        }
        Family::OnBounce => format!("[host]\ntransport = \"dctcp\"\n{own}"),
        _ => format!("[{table}]\n{own}"),
    }
}

#[test]
fn a_default_that_is_written_changes_nothing() {
    let mut tried = 0;
    for mechanism in mechanisms::all() {
        let text = least(mechanism);
        let plain = format!("{:?}", parse(&text, &[]));
        for parameter in mechanism.parameters {
            let Default::Value(default) = parameter.default else { continue };
            let path = format!("{}.{}", mechanism.family.table(), parameter.key);
            let message = parse(&text, &[(path.clone(), default.to_owned())]);
            assert_eq!(plain, format!("{message:?}"), "{path} = {default} of {}", mechanism.kind);
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn the_codes_own_defaults_are_the_tables() {
    let queue = QueueLimit::Packets(500);
    let bounce = switch("queue = \"500 packets\"\noverload = \"bounce\"\n").overload;
    assert_eq!(bounce, Overload::Bounce { pabo: BounceParameters::default(), queue });
    let theta = pabo::MECHANISM.parameter("theta").expect("theta").default;
    assert_eq!(theta.words().parse(), Ok(BounceParameters::default().theta));

    let header_queue = trim::TRIM.parameter("header_queue").expect("header_queue").default;
    let Default::Absent(words) = header_queue else { panic!("{header_queue:?}") };
    let room = words.split(' ').next().expect("a size").parse::<Bytes>().expect("a size");
    let header_queue = QueueLimit::Bytes(room.get());
    let trim = switch("queue = \"500 packets\"\noverload = \"trim\"\n").overload;
    assert_eq!(trim, Overload::Trim { trim: TrimParameters::default(), header_queue, inside: None });
}

/// Default values that the meanings in the key table mention equal the effective defaults.
// [PFC11]
#[test]
fn numbers_in_meanings_are_those_in_force() {
    let auto = switch("flow_control = { kind = \"pfc\", priorities = [3] }\n").flow_control;
    assert_eq!(auto.pause().expect("PFC").xoff, Threshold::Dynamic { alpha: (1, 8) });
    assert!(pause::PFC.parameter("xoff").expect("xoff").meaning.contains("auto is alpha 1/8"));

    let drr = switch("scheduler = { kind = \"drr\", quanta = { 3 = \"6KB\" } }\n").scheduler;
    assert_eq!(drr, Scheduler::Drr { quantum_bytes: [1518, 1518, 1518, 6000, 1518, 1518, 1518, 1518] });
    assert!(scheduler::drr::MECHANISM.parameters[0].meaning.contains("classes missing in the table have 1518B"));
    let wrr = switch("scheduler = { kind = \"wrr\", weights = { 3 = 4 } }\n").scheduler;
    assert_eq!(wrr, Scheduler::Wrr { weights: [1, 1, 1, 4, 1, 1, 1, 1] });
    assert!(scheduler::wrr::MECHANISM.parameters[0].meaning.contains("classes missing in the table have 1"));
}

/// A scenario with only required keys.
const MINIMAL: &str = r#"
duration = "1ms"
fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 4, link = {rate = "100Gbps", delay = "500ns"} }
traffic = [{ kind = "permutation", size = "1MB" }]
"#;

/// The defaults of a scenario equal those of a setup constructed in code.
#[test]
fn a_setup_of_fabric_and_plan_is_that_of_the_minimal_scenario() {
    let lowered = || Scenario::parse(MINIMAL, "minimal.toml", "".as_ref(), &[], None).unwrap().lower().unwrap().setup;
    let Setup { fabric, traffic, .. } = lowered();
    let by_default = Setup::new(fabric, traffic).unwrap();
    assert_eq!(format!("{by_default:#?}"), format!("{:#?}", lowered()));
}
