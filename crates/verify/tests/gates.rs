//! A valid schedule, and a faulty variant for each check.

use fabric::{Fabric, FabricBuilder, LinkSpec};
use serde_json::{Value, json};
use units::{Rate, Time};
use verify::gates::{Gates, judge};

/// Hosts a, b and c at switch s, with links of 10 Gbps and 100 ns delay. Port 2 of s leads to c.
fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new("test");
    let switch = builder.add_switch("s", 1);
    for name in ["a", "b", "c"] {
        let host = builder.add_host(name);
        builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(10), Time::from_ns(100)));
    }
    builder.build().unwrap()
}

/// A valid schedule. A frame of 100 bytes occupies the link for 96 ns; its last bit is sent after 86.4 ns.
fn valid() -> Value {
    let gates = |node: &str, port: u16, from: u64, to: u64| {
        json!({ "node": node, "port": port, "cycle_ps": 2_000_000, "entries": [
            { "gates": 127, "interval_ps": from }, { "gates": 128, "interval_ps": to - from },
            { "gates": 127, "interval_ps": 2_000_000 - to } ] })
    };
    json!({
        "format": "tidegate-schedule-1", "wire": "ethernet", "processing_ps": 600, "class": 7,
        "streams": [
            { "name": "one", "period_ps": 1_000_000, "frame_bytes": 100, "deadline_ps": 373_400, "hops": [
                { "node": "a", "port": 0, "start_ps": 0 }, { "node": "s", "port": 2, "start_ps": 187_000 } ] },
            { "name": "two", "period_ps": 2_000_000, "frame_bytes": 100, "hops": [
                { "node": "b", "port": 0, "start_ps": 100_000 }, { "node": "s", "port": 2, "start_ps": 287_000 } ] },
        ],
        "gates": [
            { "node": "a", "port": 0, "cycle_ps": 1_000_000, "entries": [
                { "gates": 128, "interval_ps": 96_000 }, { "gates": 127, "interval_ps": 904_000 } ] },
            gates("b", 0, 100_000, 196_000),
            { "node": "s", "port": 2, "cycle_ps": 2_000_000, "entries": [
                { "gates": 127, "interval_ps": 187_000 }, { "gates": 128, "interval_ps": 196_000 },
                { "gates": 127, "interval_ps": 804_000 }, { "gates": 128, "interval_ps": 96_000 },
                { "gates": 127, "interval_ps": 717_000 } ] },
        ],
    })
}

/// Names of the checks that fail.
fn failed(file: &Value) -> Vec<&'static str> {
    let judgement = judge(&Gates::parse(&file.to_string()).unwrap(), &fabric());
    judgement.checks.iter().filter(|check| !check.faults.is_empty()).map(|check| check.name).collect()
}

fn changed(pointer: &str, value: impl Into<Value>) -> Value {
    let mut file = valid();
    *file.pointer_mut(pointer).unwrap() = value.into();
    file
}

#[test]
fn a_schedule_that_holds_passes_and_is_measured() {
    let judgement = judge(&Gates::parse(&valid().to_string()).unwrap(), &fabric());
    assert_eq!(failed(&valid()), [""; 0]);
    assert!(judgement.pass());
    // Number of frames per cycle: one on the link of each host, and on the shared link, in 2 us, two frames of `one`
    // and one frame of `two`.
    assert_eq!((judgement.frames, judgement.longest_wait_ps, judgement.longest_latency_ps), (1 + 1 + 3, 0, 373_400));
    assert_eq!(judgement.warnings, [""; 0]);
}

#[test]
fn each_fault_is_found_by_its_check() {
    assert_eq!(failed(&changed("/streams/0/hops/1/port", 9)), ["paths"]);
    assert_eq!(failed(&changed("/streams/1/hops/1/node", "a")), ["paths"]);
    assert_eq!(failed(&changed("/streams/0/deadline_ps", 373_399)), ["deadlines"]);
    assert_eq!(failed(&changed("/streams/0/hops/1/start_ps", 186_999)), ["order", "gates-open"]);
    // The frame starts 1 ps before the end of the other frame on the link; the gate is open for both frames.
    assert_eq!(failed(&changed("/streams/1/hops/1/start_ps", 282_999)), ["order", "wires"]);
    // The gate closes 1 ps before the end of the second frame of `one` in the cycle.
    assert_eq!(
        failed(&changed(
            "/gates/2/entries",
            json!([
        { "gates": 127, "interval_ps": 187_000 }, { "gates": 128, "interval_ps": 196_000 },
        { "gates": 127, "interval_ps": 804_000 }, { "gates": 128, "interval_ps": 95_999 },
        { "gates": 127, "interval_ps": 717_001 } ])
        )),
        ["gates-open"]
    );
    assert_eq!(failed(&changed("/gates/2/entries/3/gates", 129)), ["gates-closed"]);
    let mut file = valid();
    file["gates"].as_array_mut().unwrap().remove(1);
    assert_eq!(failed(&file), ["gates-closed"]);
    // A path without its last hop ends at a switch.
    let mut file = valid();
    file["streams"][0]["hops"].as_array_mut().unwrap().truncate(1);
    assert_eq!(failed(&file), ["paths"]);
}

#[test]
fn two_frames_that_meet_only_after_many_cycles_are_found() {
    // The periods of 7 us and 11.001 us have a greatest common divisor of 1 ns, so that the frames take every relative
    // position (in steps of 1 ns) and overlap at some time.
    let mut file = changed("/streams/0/period_ps", 7_000_000);
    file["streams"][1]["period_ps"] = 11_001_000.into();
    assert!(failed(&file).contains(&"wires"));
}

#[test]
fn a_cycle_that_cannot_be_gone_through_is_no_pass() {
    let mut file = changed("/streams/0/period_ps", 999_999_999_989_u64);
    file["streams"][1]["period_ps"] = 999_999_999_961_u64.into();
    assert!(failed(&file).contains(&"wires"));
}

#[test]
fn gates_that_never_open_are_warned_of() {
    let file = changed("/gates/1/entries/0/gates", 0x3F);
    let mut file = file;
    file["gates"][1]["entries"][2]["gates"] = 0x3F.into();
    let judgement = judge(&Gates::parse(&file.to_string()).unwrap(), &fabric());
    assert_eq!(judgement.warnings, ["port 0 of `b`: the gates of classes 6 never open"]);
}

#[test]
fn what_is_no_schedule_is_refused_with_its_place() {
    let message = |file: &Value| Gates::parse(&file.to_string()).unwrap_err().to_string();
    assert_eq!(message(&changed("/format", "x")), "`format` is `x`, expected `tidegate-schedule-1`");
    assert_eq!(message(&changed("/class", 8)), "class: classes are 0 to 7");
    assert_eq!(message(&changed("/streams/1/name", "one")), "stream `one`: the name occurs twice");
    assert!(message(&changed("/streams/1/period_ps", 0)).contains("period"));
    let sum = message(&changed("/gates/0/cycle_ps", 7));
    assert!(sum.contains("its intervals add up to ") && sum.contains(" more than its cycle of 0.007 ns"), "{sum}");
    let overflow = message(&changed("/gates/0/entries/0/interval_ps", u64::MAX));
    assert!(overflow.contains("its intervals add up to more than 11 days"), "{overflow}");
    assert!(message(&changed("/gates/1/node", "a")).contains("occurs twice"));
    assert!(Gates::parse("{\n\"format\": 1}").unwrap_err().to_string().contains("string"));
}
