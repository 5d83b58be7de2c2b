//! Gates, switch clocks and periodic sources: values; errors with their lines.

use model::parameters::NodeClock;
use protocols::gates::{GateOperation, GateState};
use protocols::preemption::{Fragments, PreemptionParameters};
use scenario::{Lowered, Scenario};
use std::path::Path;
use traffic::{LengthDistribution, Load, Process};
use units::Time;

const PLAIN: &str = "duration = \"1ms\"\n\
    [fabric]\nkind = \"single-switch\"\nhosts = 4\nlink = { rate = \"10Gbps\", delay = \"500ns\" }\n\
    [[traffic]]\nkind = \"permutation\"\nprocess = \"constant\"\nrate = \"1Gbps\"\nframe = \"1000B\"\nclass = 3\n";
const GATES: &str = "[[gates]]\nnode = \"S1\"\nto = [\"H2\"]\n\
    states = [{ open = [3], time = \"10us\" }, { open = [0, 1], time = \"90us\" }]\n";
const SLOTS: &str = r#"{"format": "tidegate-schedule-1", "wire": "ethernet", "class": 3, "streams": [],
    "gates": [{"node": "S1", "port": 2, "cycle_ps": 5000000, "entries": [{"gates": 8, "interval_ps": 5000000}]}]}"#;

fn lower_with(text: &str, slots: &str) -> Result<Lowered, String> {
    let slots = slots.to_owned();
    let load = Box::new(move |_: &Path| Ok(slots.clone().into_bytes()));
    let scenario = Scenario::parse_with(text, "gates.toml", Path::new(""), &[], None, load);
    scenario.and_then(|scenario| scenario.lower()).map_err(|errors| errors.to_string())
}

fn lower(text: &str) -> Result<Lowered, String> {
    lower_with(text, SLOTS)
}

#[test]
fn gates_are_those_of_the_ports_that_are_named() {
    let gates = |text: &str| lower(&format!("{PLAIN}{text}")).unwrap().setup.timing.gates;
    let one = gates(GATES);
    assert_eq!(one.len(), 1);
    let ((node, port), list) = one.into_iter().next().unwrap();
    let fabric = lower(PLAIN).unwrap().setup.fabric;
    assert_eq!((fabric.name(node), fabric.name(fabric.ports(node)[usize::from(port)].peer)), ("S1", "H2"));
    assert_eq!((list.cycle(), list.longest(3), list.longest(2)), (Time::from_us(100), Time::from_us(10), Time::ZERO));
    assert_eq!(gates(&GATES.replace("to = [\"H2\"]\n", "")).len(), 4);
    let slots = gates("[[gates]]\nschedule = \"slots.json\"\n");
    assert_eq!((slots.len(), slots.into_keys().next().unwrap().1), (1, 2));
}

const PREEMPTION: &str = "[switch]\npreemption = { express = [7] }\n";

#[test]
fn states_name_their_operation() {
    let text = GATES.replace("\"10us\"", "\"10us\", operation = \"set-and-hold-mac\"");
    let gates = lower(&format!("{PLAIN}{text}{PREEMPTION}")).unwrap().setup.timing.gates;
    let states: Vec<GateState> = gates.into_values().flat_map(|list| list.states().to_vec()).collect();
    assert_eq!(states.iter().map(|it| it.operation).collect::<Vec<_>>(), [Some(GateOperation::SetAndHoldMac), None]);
    // Set-and-hold needs frame preemption, which hosts do not have.
    let line = 3 + PLAIN.lines().count() + 1;
    for (text, words) in [
        (format!("{PLAIN}{text}"), "needs preemption, which no switch has"),
        (format!("{PLAIN}{}", text.replace("hold", "release")), "needs preemption, which no switch has"),
        (
            format!("{PLAIN}{}{PREEMPTION}", text.replace("S1\"\nto = [\"H2\"]\n", "H1\"\n\n")),
            "hosts have no preemption",
        ),
        (format!("{PLAIN}{}{PREEMPTION}", text.replace("set-and-hold-mac", "hold")), "`hold`"),
        (format!("{PLAIN}{}{PREEMPTION}", text.replace("\"set-and-hold-mac\"", "7")), "7"),
    ] {
        let error = lower(&text).unwrap_err();
        assert!(error.contains(&format!("gates.toml:{line}:")) && error.contains(words), "{text} {error}");
    }
    let set = text.replace("set-and-hold-mac", "set-gate-states");
    assert!(lower(&format!("{PLAIN}{set}")).is_ok());
}

#[test]
fn faults_of_gates_are_reported_with_their_line() {
    let line = 1 + PLAIN.lines().count();
    for (from, to, at, words) in [
        ("\"S1\"", "\"S9\"", 1, "the fabric has no node `S9`"),
        ("[\"H2\"]", "[\"H9\"]", 2, "the fabric has no node `H9`"),
        ("[\"H2\"]", "[\"S1\"]", 2, "no link joins `S1` and `S1`"),
        ("[\"H2\"]", "[]", 2, "the list of neighbours is empty"),
        ("open = [3]", "open = [8]", 3, "8"),
        ("\"10us\"", "\"0s\"", 3, "`0ps` must be above zero"),
        ("\"10us\"", "\"1200000s\"", 3, "longer than 11 days"),
        ("open = [3]", "opens = [3]", 3, "a state of gates has no key `opens`"),
        ("open = [3], ", "", 3, "a state of gates needs `open` and `time`"),
        ("{ open = [3], time = \"10us\" }", "7", 3, "`7` is not a state of gates"),
        (
            "states = [{ open = [3], time = \"10us\" }, { open = [0, 1], time = \"90us\" }]",
            "states = []",
            3,
            "at least one state",
        ),
        ("node = \"S1\"\n", "", 0, "needs `node`"),
        ("node", "nodes", 1, "unknown key `nodes`"),
    ] {
        assert!(GATES.contains(from), "{from}");
        let error = lower(&format!("{PLAIN}{}", GATES.replacen(from, to, 1))).unwrap_err();
        let location = format!("gates.toml:{}:", line + at);
        assert!(error.contains(&location) && error.contains(words), "{from} -> {to}: {error}");
    }
    let error = lower(&format!("{PLAIN}{GATES}{GATES}")).unwrap_err();
    assert!(error.contains("of `S1` has gates twice") && error.contains(&format!("toml:{}:", line + 4)), "{error}");
}

#[test]
fn faults_of_a_schedule_are_reported_with_their_location() {
    let text = format!("{PLAIN}[[gates]]\nschedule = \"slots.json\"\n");
    for (from, to, words) in [
        ("-1\"", "-2\"", "`format` is `tidegate-schedule-2`"),
        ("\"ethernet\"", "\"frame-only\"", "run tidegate schedule without --frame-only"),
        ("\"S1\"", "\"S7\"", "no node `S7`"),
        ("\"port\": 2", "\"port\": 4", "`S1` has 4 ports, and no port 4"),
        ("\"port\": 2", "\"port\": -2", "line 2, column "),
        (
            "\"interval_ps\": 5000000",
            "\"interval_ps\": 0",
            "gates of port 2 of `S1`: state 0 of the gates has no duration",
        ),
    ] {
        assert!(SLOTS.contains(from), "{from}");
        let error = lower_with(&text, &SLOTS.replacen(from, to, 1)).unwrap_err();
        let location = format!("gates.toml:{}:", 2 + PLAIN.lines().count());
        assert!(error.contains(&location) && error.contains(words), "{from} -> {to}: {error}");
    }
}

#[test]
fn a_class_that_no_gate_lets_pass_is_a_warning() {
    let messages = |text: &str| {
        let warnings = lower(&format!("{PLAIN}{text}")).unwrap().warnings;
        warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(messages(GATES), "");
    let never = messages(&GATES.replace("[3]", "[4]"));
    assert!(never.contains("class 3 has traffic, but its gate at port") && never.contains("of `S1`"), "{never}");
    // A frame of 1000 B takes 1020 B on the wire, that is, 816 ns at 10 Gbps. The gate must be open for at least this
    // time.
    assert_eq!(messages(&GATES.replace("10us", "816ns")), "");
    assert!(messages(&GATES.replace("10us", "815ns")).contains("up to 1000 bytes and need 816ns"));
    // With preemption, the state that opens only the express class 7 holds preemptable frames. A frame of class 3 is
    // sent if it starts more than 143 B (114.4 ns) before the hold: an open time of 115 ns suffices. If the second
    // state opens the preemptable classes 0 and 1 instead, there is no hold, and the whole frame must fit.
    let held = GATES.replace("10us", "115ns").replace("[0, 1]", "[7]");
    assert_eq!(messages(&format!("{held}{PREEMPTION}")), "");
    let short = messages(&format!("{}{PREEMPTION}", held.replace("115ns", "114ns")));
    assert!(
        short.contains("at most 114ns at a time (gate open, MAC released)") && short.contains("114.4ns ahead"),
        "{short}"
    );
    let never = messages(&format!("{}{PREEMPTION}", held.replace("[3]", "[4]")));
    assert!(never.contains("its gate at port") && never.contains("never opens"), "{never}");
    let whole = format!("{}{PREEMPTION}", held.replace("[7]", "[0, 1]"));
    assert!(messages(&whole).contains("up to 1000 bytes and need 816ns"));
    // The gates of a host port are checked only against frames of this host, not against longer frames of other hosts.
    let of_host = |host: &str| {
        let pairs = format!("kind = \"pairs\"\npairs = [[\"{host}\", \"H4\"]]");
        let text = PLAIN.replace("kind = \"permutation\"", &pairs);
        let gates =
            "[[gates]]\nnode = \"H1\"\nstates = [{ open = [3], time = \"815ns\" }, { open = [], time = \"1us\" }]\n";
        lower(&format!("{text}{gates}")).unwrap().warnings.len()
    };
    assert_eq!((of_host("H1"), of_host("H2")), (1, 0));
}

const SHAPING: &str = "[[shaping]]\nnode = \"S1\"\nto = [\"H2\"]\nidle_slopes = { 3 = \"2Gbps\", 5 = \"8Gbps\" }\n";

#[test]
fn idle_slopes_are_those_of_the_ports_that_are_named() {
    let lowered = lower(&format!("{PLAIN}{SHAPING}")).unwrap();
    let shaping = &lowered.setup.timing.shaping;
    let (&(node, port), slopes) = shaping.iter().next().unwrap();
    let fabric = &lowered.setup.fabric;
    assert_eq!((fabric.name(node), fabric.name(fabric.ports(node)[usize::from(port)].peer)), ("S1", "H2"));
    assert_eq!((shaping.len(), slopes.classes(), slopes.by_class[3]), (1, 0x28, Some(units::Rate::from_gbps(2))));
    let warnings: Vec<&str> = lowered.warnings.iter().map(|warning| &*warning.message).collect();
    assert_eq!(warnings, ["class 5 is shaped, but has no traffic"]);
    let ports = |text: &str| lower(&format!("{PLAIN}{text}")).unwrap().setup.timing.shaping.len();
    assert_eq!(ports("[[shaping]]\nidle_slopes = { 3 = \"10Gbps\" }\n"), 4);
    assert_eq!(ports("[[shaping]]\nnode = \"H3\"\nidle_slopes = { 3 = \"10Gbps\" }\n"), 1);
}

#[test]
fn faults_of_shaping_are_reported_with_their_line() {
    let line = 1 + PLAIN.lines().count();
    for (from, to, at, words) in [
        ("\"S1\"", "\"S9\"", 1, "the fabric has no node `S9`"),
        ("[\"H2\"]", "[\"S1\"]", 2, "no link joins `S1` and `S1`"),
        ("[\"H2\"]", "[]", 2, "the list of neighbours is empty"),
        ("node = \"S1\"\n", "", 1, "`to` lists neighbours of a node: write `node` too"),
        ("8Gbps", "8.5Gbps", 3, "the idle slopes are 10.5Gbps together, more than the 10Gbps of port 1 of `S1`"),
        ("2Gbps", "0Gbps", 3, "0"),
        ("2Gbps", "-2Gbps", 3, "-2Gbps"),
        ("5 =", "8 =", 3, "`8` is not a class"),
        ("{ 3 = \"2Gbps\", 5 = \"8Gbps\" }", "{}", 3, "write the rate of at least one class"),
        ("{ 3 = \"2Gbps\", 5 = \"8Gbps\" }", "7", 3, "is not a list of eight values"),
        ("idle_slopes = { 3 = \"2Gbps\", 5 = \"8Gbps\" }", "", 0, "needs `idle_slopes`"),
        ("idle_slopes", "idle_slope", 3, "unknown key `idle_slope`"),
    ] {
        assert!(SHAPING.contains(from), "{from}");
        let error = lower(&format!("{PLAIN}{}", SHAPING.replacen(from, to, 1))).unwrap_err();
        let location = format!("gates.toml:{}:", line + at);
        assert!(error.contains(&location) && error.contains(words), "{from} -> {to}: {error}");
    }
    let error = lower(&format!("{PLAIN}{SHAPING}{SHAPING}")).unwrap_err();
    assert!(error.contains("of `S1` is shaped twice") && error.contains(&format!("toml:{}:", line + 4)), "{error}");
}

const CYCLIC: &str = "[[cyclic]]\nnode = \"S1\"\nto = [\"H2\"]\ncycle = \"10us\"\nclasses = [3, 5]\nguard = \"1us\"\n";

#[test]
fn cycles_are_those_of_the_ports_that_are_named() {
    let cycles = |text: &str| lower(&format!("{PLAIN}{text}")).unwrap().setup.timing.cycles;
    let named = cycles(CYCLIC);
    let of = named.values().next().unwrap();
    assert_eq!((named.len(), of.cycle(), of.usable(), of.mask()), (1, Time::from_us(10), Time::from_us(9), 0x28));
    let all = cycles("[[cyclic]]\ncycle = \"10us\"\nclasses = [3, 5]\n");
    // The default guard time is the delay of the link.
    assert_eq!((all.len(), all.values().next().unwrap().usable()), (4, Time::from_us(10) - Time::from_ns(500)));
}

#[test]
fn faults_of_cycles_are_reported_with_their_line() {
    let line = 1 + PLAIN.lines().count();
    for (from, to, at, words) in [
        ("\"S1\"", "\"S9\"", 1, "the fabric has no node `S9`"),
        ("\"S1\"", "\"H1\"", 1, "`H1` is a host: only switches"),
        ("[\"H2\"]", "[\"S1\"]", 2, "no link joins `S1` and `S1`"),
        ("node = \"S1\"\n", "", 1, "`to` lists neighbours of a node: write `node` too"),
        ("10us", "0us", 3, "`cycle` = 0ps is out of range"),
        ("10us", "1010ns", 3, "a cycle of 1.01us without its guard is 10ns, shorter than the shortest frame, 67.2ns"),
        ("[3, 5]", "[3, 3]", 4, "is not a pair of classes"),
        ("[3, 5]", "[3]", 4, "is not a pair of classes"),
        ("[3, 5]", "[3, 8]", 4, "8"),
        ("guard = \"1us\"", "guard = \"10us\"", 5, "the guard 10us is not shorter than the cycle 10us"),
        ("guard = \"1us\"", "guard = 7", 5, "7"),
        ("cycle = \"10us\"\n", "", 0, "needs `cycle`"),
        ("classes = [3, 5]\n", "", 0, "needs `classes`"),
        ("guard", "guards", 5, "unknown key `guards`"),
    ] {
        assert!(CYCLIC.contains(from), "{from}");
        let error = lower(&format!("{PLAIN}{}", CYCLIC.replacen(from, to, 1))).unwrap_err();
        let location = format!("gates.toml:{}:", line + at);
        assert!(error.contains(&location) && error.contains(words), "{from} -> {to}: {error}");
    }
    let error = lower(&format!("{PLAIN}{CYCLIC}{CYCLIC}")).unwrap_err();
    assert!(error.contains("of `S1` has cycles twice"), "{error}");
    let gates = "[[gates]]\nnode = \"S1\"\nstates = [{ open = [0, 3, 5], time = \"1us\" }]\n";
    let error = lower(&format!("{PLAIN}{gates}{CYCLIC}")).unwrap_err();
    assert!(error.contains("has gates, which exclude cycles"), "{error}");
    let pfc = "[switch]\nflow_control = { kind = \"pfc\", priorities = [3] }\n";
    let error = lower(&format!("{PLAIN}{pfc}{CYCLIC}")).unwrap_err();
    assert!(error.contains("only one of the classes 3 and 5 is lossless"), "{error}");
    // Each of these mechanisms selects a queue by the class of the frame, which is incompatible with cyclic queuing.
    for switch in [
        "overload = \"detour\"",
        "queue = \"8 packets\"\noverload = \"bounce\"",
        "queue = \"8 packets\"\noverload = { kind = \"sfc\", watermark = \"4 packets\" }",
        "queue = \"8 packets\"\nflow_control = \"florax\"",
    ] {
        let error = lower(&format!("{PLAIN}[switch]\n{switch}\n{CYCLIC}")).unwrap_err();
        assert!(error.contains("cyclic queuing and ") && error.contains("not supported together"), "{switch}: {error}");
    }
    // A cycle of 1500 ns is shorter than guard time plus transmission time of a 1000 B frame: such frames are never
    // sent.
    let short = CYCLIC.replace("10us", "1500ns");
    let warnings = lower(&format!("{PLAIN}{short}")).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.message.contains("they are never sent")), "{warnings:?}");
}

/// Gates of a switch port are checked against the longest frame that traverses this port, not against longer frames of
/// the same class.
#[test]
fn gates_of_a_switch_are_judged_by_the_frames_that_pass_them() {
    let warnings = |gate_to: &str, host: &str| {
        let entry = |from: &str, to: &str, frame: u32| {
            format!(
                "[[traffic]]\nkind = \"pairs\"\npairs = [[\"{from}\", \"{to}\"]]\nprocess = \"constant\"\n\
                 rate = \"1Gbps\"\nframe = \"{frame}B\"\nclass = 3\n"
            )
        };
        let top = PLAIN.split("[[traffic]]").next().unwrap();
        // The gate is open for 240 ns, the transmission time of 300 B on the wire.
        let gates = format!(
            "[[gates]]\nnode = \"S1\"\nto = [\"{gate_to}\"]\n\
             states = [{{ open = [3], time = \"240ns\" }}, {{ open = [], time = \"1us\" }}]\n"
        );
        let text = format!("{top}{}{}{gates}", entry("H1", "H2", 100), entry(host, "H4", 1000));
        let messages = lower(&text).unwrap().warnings;
        messages.into_iter().map(|warning| warning.message).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(warnings("H2", "H3"), "");
    let blocked = warnings("H4", "H3");
    assert!(blocked.contains("class 3 have up to 1000 bytes and need 816ns at port 3 of `S1`"), "{blocked}");
    assert_eq!(warnings("H3", "H1"), "");
}

#[test]
fn clocks_of_switches_are_read_like_those_of_hosts() {
    let clocks = |text: &str| lower(&format!("{PLAIN}{text}")).map(|lowered| lowered.setup.timing.clocks);
    assert_eq!(clocks("").unwrap(), Default::default());
    let read = clocks(
        "[switch]\nclock = { offset = \"1s\", drift_ppm = 0.05 }\nclocks = [{ switches = [\"S1\"], drift_ppm = -3 }]\n",
    );
    let read = read.unwrap();
    assert_eq!(read.drawn, Some(NodeClock { offset: Time::from_s(1), drift_ppb: 50 }));
    assert_eq!(read.stated.into_values().collect::<Vec<_>>(), [NodeClock { offset: Time::ZERO, drift_ppb: -3000 }]);
    let error = clocks("[switch]\nclocks = [{ switches = [\"S5\"] }]\n").unwrap_err();
    assert!(error.contains("S5") && error.contains("gates.toml:13:"), "{error}");
}

const SOURCE: &str = "duration = \"1ms\"\n\
    [fabric]\nkind = \"single-switch\"\nhosts = 4\nlink = { rate = \"10Gbps\", delay = \"500ns\" }\n\
    [[traffic]]\nkind = \"permutation\"\nprocess = \"periodic\"\nperiod = \"640ns\"\nrate = \"7.5Gbps\"\n";

/// A periodic frame carries the bytes that the stream generates per period, plus 26 B of headers.
#[test]
fn periodic_frames_carry_what_comes_in_a_period() {
    let source = |text: &str| match lower(text).unwrap().setup.traffic.flows.remove(0).load {
        Load::Datagrams(source) => *source,
        Load::Transport => panic!("a transport"),
    };
    let process = |phase| Process::Periodic { period: Time::from_ns(640), phase };
    let of_rate = source(SOURCE);
    assert_eq!((of_rate.frame_bytes, of_rate.process), (626, process(None)));
    assert_eq!(source(&format!("{SOURCE}header = \"0B\"\n")).frame_bytes, 600);
    assert_eq!(source(&SOURCE.replace("7.5G", "0.1G")).frame_bytes, 64);
    let stated = source(&SOURCE.replace("rate = \"7.5Gbps\"\n", "frame = \"700B\"\nphase = \"3ns\"\n"));
    assert_eq!((stated.frame_bytes, stated.process), (700, process(Some(Time::from_ns(3)))));
    let normal =
        SOURCE.replace("periodic\"\nperiod = \"640ns\"", "poisson\"\nframe = \"600B\"\nframe_deviation = \"150B\"");
    let longest = |longest_bytes| LengthDistribution::Normal { deviation_bytes: 150, longest_bytes };
    assert_eq!(source(&normal).lengths, longest(1518));
    let cut = format!("{normal}frame_longest = \"1500B\"\n");
    assert_eq!((source(&cut).lengths, lower(&cut).unwrap().setup.host.mtu_bytes), (longest(1500), 1500));
}

#[test]
fn faults_of_periodic_frames_are_reported_with_their_line() {
    let normal = "process = \"poisson\"\nframe = \"600B\"\nframe_deviation = \"150B\"\n";
    let old = "process = \"periodic\"\nperiod = \"640ns\"\n";
    for (from, to, line, words) in [
        ("period = \"640ns\"\n", "", 6, "needs `period`"),
        ("640ns", "0s", 9, "`0ps` must be above zero"),
        ("640ns", "1s", 10, "a period yields a frame of 937500026 bytes"),
        ("rate = \"7.5Gbps\"\n", "", 6, "needs `frame` or `rate`"),
        ("rate = \"7.5Gbps\"", "frame = \"600B\"\nrate = \"7.5Gbps\"", 11, "`frame` and `rate` exclude each other"),
        ("rate = \"7.5Gbps\"", "frame = \"63B\"", 10, "`63B` is not a frame length"),
        (old, &format!("{normal}frame_longest = \"599B\"\n"), 11, "is below the mean `frame` = 600B"),
        (old, &normal.replace("150B", "70KB"), 10, "is more than any frame"),
    ] {
        assert!(SOURCE.contains(from), "{from}");
        let error = lower(&SOURCE.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(&format!("gates.toml:{line}:")) && error.contains(words), "{from} -> {to}: {error}");
    }
}

#[test]
fn preemption_is_read_and_faults_are_reported_with_their_line() {
    let preemption = |text: &str| lower(&format!("{PLAIN}[switch]\n{text}")).map(|read| read.setup.timing.preemption);
    assert_eq!(preemption(""), Ok(None));
    let read = |fragments| Ok(Some(PreemptionParameters { express: 0xc0, fragments }));
    assert_eq!(preemption("preemption = { express = [6, 7] }\n"), read(Fragments::Standard));
    assert_eq!(preemption("preemption = { express = [6, 7], fragments = \"ideal\" }\n"), read(Fragments::Ideal));
    for (text, words) in [
        ("preemption = {}", "needs `express`"),
        ("preemption = { express = [] }", "the list of classes is empty"),
        ("preemption = { express = [8] }", "8"),
        (
            "preemption = { express = [7], fragments = \"none\" }",
            "`fragments` is \"none\"; expected one of standard, ideal",
        ),
        ("preemption = 7", "not a table"),
        ("preemption = { express = [7], expres = [6] }", "unknown key `expres`"),
    ] {
        let error = preemption(&format!("{text}\n")).unwrap_err();
        assert!(error.contains("gates.toml:13:") && error.contains(words), "{text}: {error}");
    }
}
