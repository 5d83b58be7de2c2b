//! Errors and warnings of flow control.

use super::{GOOD, lower, wrong};

#[test]
fn a_buffer_smaller_than_its_headroom() {
    // Headroom per port: 12,500 B for the round trip of the link, 84 B for the pause frame, 25,216 B for the reaction
    // time and 1082 B for a frame in transmission are 38,882 B on the wire. A frame of 1082 B on the wire takes 1062 B
    // of buffer: 38,164 B; plus two frames of 1062 B. The switch has 4 ports.
    assert_eq!(
        wrong("\"16MB\"", "\"60KB\""),
        "dir/test.toml:10:10: the buffer of 60KB is smaller than its headroom: switch `S1` needs 161.152KB for 4 ports \
         and 1 lossless class\n  help: write switch.buffer = \"201.441KB\" or more"
    );
    // The headroom error is reported in addition to another error. Lossless classes without traffic need no headroom.
    let text = GOOD.replace("\"16MB\"", "\"60KB\"").replace("fan_in = 8", "fan_in = 80");
    assert_eq!(lower(&text, &[]).unwrap_err().matches("dir/test.toml").count(), 2);
    assert!(lower(&GOOD.replace("\"16MB\"", "\"170KB\"").replace("[3]", "[3, 4]"), &[]).is_ok());
    assert!(
        lower(&GOOD.replace("\"16MB\"", "\"170KB\"").replace("[3]", "[3, 4]"), &[("host.reply_class", "4")]).is_err()
    );
}

#[test]
fn watchdogs() {
    let with = |key: &str, value: &str| lower(GOOD, &[(key, value)]);
    assert!(with("switch.watchdog.detection_time", "100us").is_ok());
    assert!(
        with("switch.watchdog.detection_time", "0s")
            .unwrap_err()
            .starts_with("--set switch.watchdog.detection_time=0s")
    );
    assert!(with("switch.watchdog.action", "pray").unwrap_err().contains("`action` is \"pray\"; expected one of "));
    let without =
        lower(GOOD, &[("switch.watchdog.detection_time", "1ms"), ("switch.flow_control", "none")]).unwrap_err();
    assert!(without.contains("a watchdog needs PAUSE or PFC"), "{without}");
    let storm = |host: &str| lower(GOOD, &[("host.pause_storm.host", host), ("host.pause_storm.at", "100us")]);
    assert_eq!(storm("H3").unwrap().setup.host.pause_storm.unwrap().at, units::Time::from_us(100));
    assert!(storm("H33").unwrap_err().contains("the fabric has no host `H33`"));
    let back = lower(GOOD, &[("host.pause_storm", "{ host = \"H3\", at = \"2us\", until = \"1us\" }")]).unwrap_err();
    assert!(back.contains("the storm ends before its start"), "{back}");
}

#[test]
fn switches_that_take_no_part() {
    let control = |rest: &str| lower(&GOOD.replace("priorities = [3]", &format!("priorities = [3], {rest}")), &[]);
    let names = |rest: &str| {
        let lowered = control(rest).unwrap();
        let setup = &lowered.setup;
        setup.without_flow_control.iter().map(|&node| setup.fabric.name(node).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("except = [\"C2\", \"S1\", \"C2\"]"), ["S1", "C2"]);
    assert_eq!(names("tiers = [1, 2]"), ["C1", "C2", "C3", "C4"]);
    assert_eq!(names("tiers = [1, 2], except = [\"S1\"]").len(), 5);
    // An empty `except` gives the same setup and hash as no `except`.
    let (plain, none) = (lower(GOOD, &[]).unwrap(), control("except = [], tiers = \"all\"").unwrap());
    assert!(none.setup.without_flow_control.is_empty() && none.hash == plain.hash && none.warnings.is_empty());
    assert!(!none.derived.iter().any(|line| line.0.contains("outside")));
    let two = control("except = [\"S1\", \"S2\"]").unwrap();
    assert!(two.hash != plain.hash);
    assert!(two.derived.contains(&("switches outside flow control".to_owned(), "2 of 20: S1, S2".to_owned())));
    // A switch without flow control needs no headroom.
    let small = |rest: &str| lower(&GOOD.replace("16MB", "60KB"), &[("switch.flow_control.tiers", rest)]);
    assert!(small("all").unwrap_err().contains("switch `S1` needs"));
    assert!(small("[2]").unwrap_err().contains("switch `S3` needs"));

    let wrong = |rest: &str| control(rest).unwrap_err();
    assert_eq!(
        wrong("except = [\"S1\", \"S99\"]"),
        "dir/test.toml:11:66: the fabric has no switch `S99`\n  help: did you mean `S9`?"
    );
    assert_eq!(
        wrong("except = [\"spine one\"]"),
        "dir/test.toml:11:60: the fabric has no switch `spine one`\n  help: it has S1, S2, S3, S4, S5, S6, S7, S8, ..."
    );
    assert_eq!(
        wrong("except = [\"H1\"]"),
        "dir/test.toml:11:60: `H1` is a host, not a switch\n  help: list hosts that ignore pauses in host.ignore_pause"
    );
    assert_eq!(
        wrong("except = \"S1\""),
        "dir/test.toml:11:59: `S1` is not a list\n  help: write it like [\"S1\", \"S2\"]"
    );
    assert_eq!(
        wrong("tiers = [4]"),
        "dir/test.toml:11:58: no switch is in a listed tier\n  help: this fabric has switches in the tiers [1, 2, 3]"
    );
    let everybody: Vec<String> = (1..=16).map(|n| format!("\"S{n}\"")).collect();
    assert_eq!(
        wrong(&format!("tiers = [1, 2], except = [{}]", everybody.join(", "))),
        "dir/test.toml:11:75: no switch with flow control is left\n  help: remove a switch from the list, or write \
         flow_control = \"none\""
    );
    assert!(
        lower(GOOD, &[("switch.flow_control", "{ kind = \"none\", except = [\"S1\"] }")])
            .unwrap_err()
            .contains("has no key `except`")
    );
}

#[test]
fn credits() {
    let with = |rest: &str| GOOD.replace("kind = \"pfc\", priorities = [3]", &format!("kind = \"cbfc\", {rest}"));
    let wrong = |rest: &str| lower(&with(rest), &[]).unwrap_err();
    assert_eq!(
        wrong("priorities = [3], credits = \"0B\""),
        "dir/test.toml:11:61: `credits` = 0B is out of range\n  help: write \"auto\" or a size like \"20KB\": without \
         credits no frame could be sent"
    );
    assert_eq!(
        wrong("priorities = [3], credits = \"1KB\""),
        "dir/test.toml:11:61: credits of 1KB are less than a frame of 1.062KB: it could never be sent\n  help: write \
         credits = \"1.062KB\" or more, or \"auto\""
    );
    assert_eq!(
        wrong("priorities = [3], regrant = \"0s\""),
        "dir/test.toml:11:61: `regrant` = 0ps is out of range\n  help: write a time above zero, such as \"100us\": \
         credits cannot be repeated without any time in between"
    );
    // All errors are reported at once, except checks that depend on an invalid value.
    let many = wrong("priorities = [3], credits = \"0B\", update = \"5x\", regrant = \"0s\"");
    for key in ["`credits` = 0B is out of range", "`x` is not a unit", "`regrant` = 0ps is out of range"] {
        assert!(many.contains(key), "{key} is missing in {many}");
    }
    // If a value cannot be parsed, no other value is compared with its default.
    let marking = "[switch]\nmarking = { kind = \"congestion-point\", sample = \"5x\", sample_min = \"200KB\" }";
    let message = lower(&GOOD.replacen("[switch]", marking, 1), &[]).unwrap_err();
    assert!(message.contains("`x` is not a unit") && !message.contains("out of range"), "{message}");
    assert!(wrong("credits = \"20KB\"").contains("priorities"));
    let queues = with("priorities = [3]").replace("buffer = \"16MB\"", "queue = \"100KB\"");
    let message = lower(&queues, &[]).unwrap_err();
    assert!(message.contains("dir/test.toml:11:25: credits reserve buffer per port"), "{message}");
    let message = lower(&with("priorities = [3]").replace("16MB", "60KB"), &[]).unwrap_err();
    assert!(message.contains("the buffer of 60KB is not larger than its credits"), "{message}");
    // A buffer as large as the sum of the credits leaves no room for lossy frames.
    let derived = lower(&with("priorities = [3]"), &[]).unwrap().derived;
    let all = &derived.iter().find(|(what, _)| what.starts_with("credits of all ports")).unwrap().1;
    let message = lower(&with("priorities = [3]").replace("16MB", all), &[]).unwrap_err();
    let expected = format!("the buffer of {all} is not larger than its credits: switch `S1` grants {all} for 4 ports");
    assert!(message.contains(&expected), "{message}");
    // The RTT of a credit corresponds to 1082 + 84 + 12,500 B on the wire, which is 13 frames: 13 x 1062 B = 13,806 B.
    let few = lower(&with("priorities = [3], credits = \"5310B\""), &[]).unwrap();
    assert_eq!(
        few.warnings[0].to_string(),
        "switch.flow_control.credits: 5.31KB is less than rate x round trip of a link of 100Gbps and 500ns, 13.806KB: \
         a class reaches about 39.58Gbps there"
    );
    assert!(lower(&with("priorities = [3], credits = \"13806B\""), &[]).unwrap().warnings.is_empty());
}

#[test]
fn times_that_leave_nothing() {
    assert_eq!(
        wrong("\"100us\"", "\"1ms\""),
        "dir/test.toml:19:11: the warm-up of 1ms is not shorter than the duration of 1ms\n  help: warm_up must be \
         shorter than `duration`"
    );
    assert_eq!(
        wrong("size = \"1MB\"", "size = \"1MB\"\nstart = \"2ms\""),
        "dir/test.toml:17:9: traffic begins at 2ms, but the run ends at 1ms"
    );
}

/// The reaction time is the standard's value unless a scenario states a time. A number without a unit, formerly in bit
/// times, is an error.
#[test]
fn reaction_is_standard_or_a_stated_time() {
    let with = |rest: &str| lower(&GOOD.replace("priorities = [3]", &format!("priorities = [3]{rest}")), &[]);
    let headroom = |rest: &str| {
        let derived = with(rest).unwrap().derived;
        derived.iter().find(|line| line.0 == "headroom of the longest link").unwrap().1.clone()
    };
    // Bytes on the wire with the standard's reaction time: 12,500 + 84 + 25,216 + 1082 B. With 3840 bit times, the
    // reaction time takes 480 B instead of 25,216 B; with 0, none.
    assert_eq!(headroom(""), "40.288KB");
    assert_eq!(headroom(", reaction = \"standard\""), headroom(""));
    assert_eq!(headroom(", reaction = \"3840 bit times\""), "16.009KB");
    assert_eq!(headroom(", reaction = \"38.4ns\""), "16.009KB");
    assert_eq!(headroom(", reaction = \"0ns\""), "15.538KB");
    assert_eq!(with("").unwrap().hash, with(", reaction = \"standard\"").unwrap().hash);
    let wrong = with(", reaction = 3840").unwrap_err();
    assert!(wrong.contains("has no unit") && wrong.contains("\"3840 bit times\""), "{wrong}");
}

/// `pause-at-output` with default parameters gives no warning at any link rate. A queue with too little room above the
/// XOFF threshold `upper` gives a warning.
#[test]
fn pause_at_output_with_its_defaults_at_any_rate() {
    let at_output = |queue: &str, rate: &str| {
        let text = GOOD.replace("buffer = \"16MB\"", &format!("queue = \"{queue}\"")).replace("100Gbps", rate);
        lower(&text.replace("kind = \"pfc\", priorities = [3]", "kind = \"pause-at-output\""), &[]).unwrap()
    };
    for rate in ["100Mbps", "10Gbps", "100Gbps", "800Gbps"] {
        let mut warnings = at_output("100000 packets", rate).warnings;
        // At 100 Mbps, the flows take longer than the run: ignore the warning about the duration.
        warnings.retain(|warning| warning.key != "duration");
        assert!(warnings.is_empty(), "{rate}: {warnings:?}");
    }
    // Each of three neighbours may send 40.288 KB before XOFF stops it, that is, 38 packets of 1062 B.
    let warnings = at_output("100 packets", "100Gbps").warnings;
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(warning.key, "switch.flow_control.upper");
    assert!(
        warning.message.contains("has 50 packets left") && warning.message.contains("may send 114 packets"),
        "{}",
        warning.message
    );
    assert!(at_output("150KB", "100Gbps").warnings[0].message.contains("may send 120.864KB"));
    assert!(at_output("250KB", "100Gbps").warnings.is_empty());
}

/// A pause that expires before its renewal gives a warning.
#[test]
fn pauses_that_end_before_they_are_renewed() {
    let warnings = |rest: &str| {
        let text = GOOD.replace("priorities = [3]", &format!("priorities = [3], {rest}"));
        lower(&text, &[]).unwrap().warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
    };
    // The pause must last at least twice the sum of the reaction time (394 quanta) and the time of a data frame and the
    // pause frame (1166 B, 18.2 quanta).
    assert_eq!(warnings("quanta = 825"), Vec::<String>::new());
    let [warning] = &warnings("quanta = 824")[..] else { panic!() };
    assert!(warning.contains("824 quanta last 4.21888us") && warning.contains("write 825 or more"), "{warning}");
    assert_eq!(warnings("quanta = 53, reaction = \"3840 bit times\""), Vec::<String>::new());
    assert_eq!(warnings("quanta = 51, reaction = \"3840 bit times\"").len(), 1);
}

/// The deprecated kind `simple`, a term of the FLORAX paper, is accepted.
#[test]
fn the_former_name_of_a_kind() {
    let with = |kind: &str| {
        let text = GOOD.replace("buffer = \"16MB\"", "queue = \"250KB\"");
        lower(&text.replace("kind = \"pfc\", priorities = [3]", &format!("kind = \"{kind}\"")), &[])
    };
    assert_eq!(with("simple").unwrap().hash, with("pause-at-output").unwrap().hash);
    assert!(with("simpel").unwrap_err().contains("pause-at-output"));
}
