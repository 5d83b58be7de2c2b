//! Switch pipelines in a scenario: errors, warnings and defaults.

use model::parameters::{Overflow, Overload, PipelineParameters, SignalScope};
use protocols::pipeline_trim::{Control, Wrap};
use scenario::{Scenario, ScenarioErrors};
use std::path::Path;
use units::Time;

fn lowered(keys: &str) -> Result<scenario::Lowered, ScenarioErrors> {
    let text = format!(
        "duration = \"1ms\"\n[fabric]\nkind = \"fat-tree\"\nk = 4\nlink = {{ rate = \"100Gbps\", delay = \"500ns\" }}\n\
         [switch]\nqueue = \"10 packets\"\n[switch.overload]\nkind = \"pipeline-trim\"\nheader_class = 6\n{keys}\n\
         [host]\nreply_class = 6\n[[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n"
    );
    Scenario::parse(&text, "pipelines.toml", Path::new(""), &[], None)?.lower()
}

fn inside(keys: &str) -> PipelineParameters {
    let lowered = lowered(keys).unwrap_or_else(|errors| panic!("{keys}: {errors}"));
    let Overload::Trim { inside: Some(inside), .. } = lowered.setup.switch.overload else { panic!("{keys}") };
    inside
}

/// Returns key and message of the only error of a scenario with `keys`.
fn mistake(keys: &str) -> (String, String) {
    let errors = lowered(keys).err().unwrap_or_else(|| panic!("{keys} is taken"));
    assert_eq!(errors.errors.len(), 1, "{errors}");
    (errors.errors[0].key.clone(), errors.errors[0].to_string())
}

#[test]
fn wrong_inner_keys_are_reported_with_their_key() {
    for (keys, key, words) in [
        ("pipelines = 5", "pipelines", "4 ports"),
        ("half_share = 0", "half_share", "without a rate"),
        ("pessimistic_share = \"0/4\"", "pessimistic_share", "without a rate"),
        ("half_share = 1.5", "half_share", "not a share of the line rate"),
        ("meter_burst = \"1KB\"", "meter_burst", "less than the largest frame"),
        ("meter_burst = \"3MB\"", "meter_burst", "out of range"),
        ("recirculation_queue = \"100B\"", "recirculation_queue", "cannot hold a frame"),
        ("model = \"tofino3\"", "model", "tofino3"),
        ("pipelines = 0", "pipelines", "out of range"),
    ] {
        let (found, message) = mistake(keys);
        assert_eq!(found, format!("switch.overload.{key}"), "{message}");
        assert!(message.contains(words), "{keys}: {message}");
    }
}

#[test]
fn a_response_that_ends_before_its_effect_is_warned_of_and_runs() {
    let lowered = lowered("pessimistic = \"500ns\"").unwrap();
    assert!(lowered.warnings.iter().any(|warning| warning.key == "switch.overload.pessimistic"));
    for fine in ["pessimistic = \"1us\"", "pessimistic = \"0s\"\nhalf = \"0s\"", "model = \"mod\""] {
        let lowered = self::lowered(fine).unwrap();
        assert!(lowered.warnings.iter().all(|warning| !warning.key.starts_with("switch.overload")), "{fine}");
    }
    let idle = self::lowered("model = \"mod\"\nclock = 5").unwrap();
    assert!(idle.warnings.iter().any(|warning| warning.key == "switch.overload.clock"));
}

#[test]
fn models_are_made_of_their_parts() {
    let tofino = inside("");
    assert_eq!((tofino.control.control, tofino.overflow), (Control::ThreeMeters, Overflow::Deflect));
    assert_eq!((tofino.control.pessimistic, tofino.control.until_optimistic), (Time::from_us(6), Time::from_us(24)));
    assert_eq!((tofino.control.half, tofino.control.share), ((1, 2), (1, 4)));
    assert_eq!((tofino.signal_delay, tofino.notified), (Time::from_us(1), SignalScope::All));
    assert_eq!(inside("pipelines = 2").control.share, (1, 2));
    assert_eq!(inside("recirculation_latency = \"2us\"").signal_delay, Time::from_us(2));
    assert_eq!(inside("model = \"mod\"").overflow, Overflow::Mirror);
    assert_eq!(inside("model = \"dod\"").control.control, Control::Meter);
    assert_eq!(inside("model = \"tofino2\"").stages, Some(4));
    assert_eq!(inside("response = \"next\"").control.control, Control::TrimNext { packets: 12 });
    let two = Control::TwoMeters { wrap: Wrap::AsListed, clock_ns: 7 };
    assert_eq!(inside("model = \"switch-p4\"\ntimestamp = \"as-listed\"\nclock = 7").control.control, two);
}
