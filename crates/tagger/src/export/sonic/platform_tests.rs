//! Fragments with platform configurations that differ from the templates.

use super::tests::{made, made_for, platform};
use super::*;

/// Returns the buffer profile name of the priority group `key`, and the `xoff` of the profile in bytes.
fn group(made: &Fragment, key: &str) -> (String, u64) {
    let name = made.config["BUFFER_PG"][key]["profile"].as_str().expect(key).to_owned();
    let xoff = made.config["BUFFER_PROFILE"][&name]["xoff"].as_str().expect("xoff").parse().expect("bytes");
    (name, xoff)
}

/// Returns the platform with changes, each of which must apply.
fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(platform(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

const PROFILE: &str = "\"pg_lossless_400000_40m_profile\": {\"pool\": \"ingress_lossless_pool\", \"size\": \"18796\", \
                       \"xon\": \"0\", \"xoff\": \"445770\",\n   \"xon_offset\": \"3556\", \"dynamic_th\": \"0\"}";

#[test]
fn each_priority_has_the_headroom_of_its_own_group() {
    let with = |xoff: u64| {
        PROFILE.replace("pg_lossless_400000_40m_profile", &format!("own_{xoff}")).replace("445770", &xoff.to_string())
    };
    let two = changed(&[
        (PROFILE, &format!("{}, {}", with(60_000), with(400_000))),
        (
            "\"Ethernet240|3-4\": {\"profile\": \"pg_lossless_400000_40m_profile\"}",
            "\"Ethernet240|3\": {\"profile\": \"own_60000\"}, \"Ethernet240|4\": {\"profile\": \"own_400000\"}",
        ),
        (
            "\"Ethernet248|3-4\": {\"profile\": \"pg_lossless_400000_40m_profile\"}",
            "\"Ethernet248|3\": {\"profile\": \"own_60000\"}",
        ),
    ]);
    let made = made(&two, None, false).unwrap();
    let found = ["240|3", "240|4", "240|5", "248|3", "248|4"].map(|key| group(&made, &format!("Ethernet{key}")).1);
    // The computed headroom is 105,567; a priority without its own group gets the largest headroom of the port.
    assert_eq!(found, [105_567, 400_000, 400_000, 105_567, 105_567]);
}

#[test]
fn a_profile_of_the_platform_is_never_overwritten() {
    // The operator raised the profile's `xoff` above the row. Ethernet248 has no lossless priority group; SONiC would
    // give it the profile named after its speed and cable.
    let raised = changed(&[(
        ", \n  \"Ethernet248|3-4\": {\"profile\": \"pg_lossless_400000_40m_profile\"}".trim_start_matches(", \n  "),
        "\"Ethernet248|1\": {\"profile\": \"ingress_lossy_profile\"}",
    )]);
    let row = "400000 40m 18796 0 300000 1\n";
    let made = made(&raised, Some(row), false).unwrap();
    let own = ("pg_lossless_400000_40m_profile".to_owned(), 445_770);
    assert_eq!(["240|3", "248|3"].map(|key| group(&made, &format!("Ethernet{key}"))), [own.clone(), own]);

    // A row has more headroom than the profile: a new profile is written, so the platform's profile, which other ports
    // use, is unchanged.
    let above = tests::made(&raised, Some("400000 40m 18796 0 500000 1\n"), false).unwrap();
    let new = ("tagger_lossless_400000_40m_500000_profile".to_owned(), 500_000);
    assert_eq!(group(&above, "Ethernet240|3"), new);
    assert!(above.config["BUFFER_PROFILE"].get("pg_lossless_400000_40m_profile").is_none());

    // A profile of an earlier export with other fields is not overwritten either.
    let earlier = PROFILE.replace("pg_lossless_400000_40m_profile", "tagger_lossless_400000_40m_500000_profile");
    let earlier = changed(&[(PROFILE, &format!("{PROFILE}, {earlier}"))]);
    let again = tests::made(&earlier, Some("400000 40m 18796 0 500000 1\n"), false).unwrap();
    assert_eq!(group(&again, "Ethernet240|3").0, "tagger_lossless_400000_40m_500000_profile_2");
}

/// Applies the steps of a JSON patch that this crate writes.
fn apply(config: &mut Config, steps: &Value) {
    for step in steps.as_array().expect("steps") {
        let mut path = step["path"].as_str().expect("a path")[1..].splitn(2, '/');
        let (table, entry) = (path.next().unwrap(), path.next().unwrap().replace("~1", "/").replace("~0", "~"));
        let table = config.get_mut(table).and_then(Value::as_object_mut).expect("a table that is there");
        match step["op"].as_str() {
            Some("add") => _ = table.insert(entry, step["value"].clone()),
            Some("remove") => assert!(table.remove(&entry).is_some(), "{entry} is not there"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_patch_empties_no_table_and_leaves_every_number_its_profile() {
    let only_ranges = changed(&[(
        "\"Ethernet240|0\": {\"profile\": \"ingress_lossy_profile\"}, \
         \"Ethernet248|0\": {\"profile\": \"ingress_lossy_profile\"},\n",
        "",
    )]);
    let made = made(&only_ranges, None, false).unwrap();
    let mut config = Platform::parse(&only_ranges).unwrap().config;
    let before = config.clone();
    apply(&mut config, made.patch.as_ref().unwrap());
    assert!(config.iter().all(|(_, entries)| entries.as_object().is_some_and(|entries| !entries.is_empty())));
    assert_eq!(config["BUFFER_PG"].as_object().unwrap().len(), 4);
    for (old, new) in [("3-4", "3"), ("3-4", "4"), ("5-6", "6")] {
        let profile =
            |config: &Config, key: &str| config["BUFFER_QUEUE"][format!("Ethernet240|{key}")]["profile"].clone();
        assert_eq!(profile(&before, old), profile(&config, new));
    }
    // After the patch, the fragment overlaps no entry of the platform.
    merge(&mut config, made.config.as_object().unwrap());
    assert_eq!(check(&config, None), []);
}

#[test]
fn a_profile_without_size_or_threshold_keeps_its_headroom_or_is_refused() {
    for missing in ["\"size\": \"18796\", ", ", \"dynamic_th\": \"0\""] {
        let dynamic = PROFILE.replace(missing, "").replace("\"xon\"", "\"headroom_type\": \"dynamic\", \"xon\"");
        let kept = made(&changed(&[(PROFILE, &dynamic)]), None, false).unwrap();
        assert_eq!(group(&kept, "Ethernet240|3"), ("pg_lossless_400000_40m_profile".to_owned(), 445_770));
        let profile = &kept.config["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"];
        assert_eq!(profile["headroom_type"], "dynamic");
        let less = changed(&[(PROFILE, &dynamic.replace("445770", "9000"))]);
        let refused = made(&less, None, false).unwrap_err();
        assert!(
            refused.starts_with("BUFFER_PROFILE|pg_lossless_400000_40m_profile: it has xoff 9000 B and no "),
            "{refused}"
        );
    }
    // If the file publishes nothing because the switch computes the headroom, a note says so.
    let null = changed(&[(
        "\"Ethernet240|3-4\": {\"profile\": \"pg_lossless_400000_40m_profile\"}",
        "\"Ethernet240|3-4\": {\"profile\": \"NULL\"}",
    )]);
    let notes = made(&null, None, false).unwrap().notes;
    let message = "leaf-1: the switch computes the headroom of BUFFER_PG|Ethernet240|3-4 (dynamic buffer model)";
    assert!(notes.iter().any(|note| note.starts_with(message)), "{notes:?}");
}

#[test]
fn a_pool_of_another_name_is_taken_with_its_mode() {
    let bare = changed(&[
        ("ingress_lossless_pool", "my_pool"),
        (
            &PROFILE.replace("ingress_lossless_pool", "my_pool"),
            "\"other\": {\"pool\": \"my_pool\", \"size\": \"0\", \"dynamic_th\": \"3\"}",
        ),
        ("\"pg_lossless_400000_40m_profile\"", "\"other\""),
    ]);
    for rows in [None, Some("400000 40m 18796 0 300000 1\n")] {
        let made = made(&bare, rows, false).unwrap();
        let (name, _) = group(&made, "Ethernet240|3");
        assert_eq!(made.config["BUFFER_PROFILE"][&name]["pool"], "my_pool");
        assert!(made.config["BUFFER_PROFILE"][&name].get("dynamic_th").is_some());
    }
    let fixed = bare
        .replace("\"type\": \"ingress\", \"mode\": \"dynamic\"", "\"type\": \"ingress\", \"mode\": \"static\"")
        .replace(
            "\"pool\": \"my_pool\", \"size\": \"0\", \"dynamic_th\"",
            "\"pool\": \"my_pool\", \"size\": \"0\", \"static_th\"",
        );
    let refused = made(&fixed, None, false).unwrap_err();
    assert!(
        refused.starts_with("BUFFER_POOL|my_pool.mode: its thresholds are static, and no file has one"),
        "{refused}"
    );
    let made = made(&fixed, Some("400000 40m 18796 0 300000 1\n"), false).unwrap();
    let (name, _) = group(&made, "Ethernet240|3");
    assert_eq!(made.config["BUFFER_PROFILE"][&name]["static_th"], "1");
}

#[test]
fn a_queue_that_drops_is_lossy_under_any_name() {
    let q_drop = "\"q_drop\": {\"pool\": \"egress_shared\", \"size\": \"1778\", \"dynamic_th\": \"0\"}";
    let lossy =
        "\"egress_lossy_profile\": {\"pool\": \"egress_lossy_pool\", \"size\": \"1778\", \"dynamic_th\": \"0\"}";
    let queues = ["240|3-4", "240|5-6", "248|3-4", "248|5-6"];
    let mut drops = changed(&[
        (lossy, &format!("{lossy}, {q_drop}")),
        (
            "\"egress_lossy_pool\": {",
            "\"egress_shared\": {\"type\": \"egress\", \"mode\": \"dynamic\", \"size\": \"57775104\"},\n  \
             \"egress_lossy_pool\": {",
        ),
    ]);
    for key in queues {
        for old in ["egress_lossless_profile", "egress_lossy_profile"] {
            drops = drops.replace(
                &format!("\"Ethernet{key}\": {{\"profile\": \"{old}\"}}"),
                &format!("\"Ethernet{key}\": {{\"profile\": \"q_drop\"}}"),
            );
        }
    }
    let kept = made(&drops, None, false).unwrap();
    for priority in 3..=5 {
        assert_eq!(
            kept.config["BUFFER_QUEUE"][format!("Ethernet240|{priority}")]["profile"],
            "egress_lossless_profile"
        );
    }
    let mut over = kept.config.as_object().unwrap().clone();
    over["BUFFER_QUEUE"]["Ethernet240|3"]["profile"] = "q_drop".into();
    let mut both = Platform::parse(&drops).unwrap().config;
    apply(&mut both, kept.patch.as_ref().unwrap());
    merge(&mut both, &over);
    assert_eq!(check_lossless(&both, None).len(), 1, "{:?}", check_lossless(&both, None));
    // With `dynamic_th` 7 a queue has no limit: SAI treats the exponent as infinite.
    both["BUFFER_PROFILE"]["q_drop"]["dynamic_th"] = "7".into();
    assert_eq!(check_lossless(&both, None), []);
    // A profile whose name contains "lossless" is accepted despite its limit, with a note.
    let small =
        changed(&[("\"size\": \"0\", \"static_th\": \"67117468\"}", "\"size\": \"0\", \"static_th\": \"60000\"}")]);
    let notes = made(&small, None, false).unwrap().notes;
    let message = "leaf-1: lossless queues have BUFFER_PROFILE|egress_lossless_profile with static_th 60000";
    assert!(notes.iter().any(|note| note.starts_with(message)), "{notes:?}");
}

#[test]
fn a_lossy_threshold_of_another_kind_than_its_pool_is_a_note_and_a_lossless_one_is_refused() {
    let mut lossy: Value = serde_json::from_str(&platform()).unwrap();
    lossy["BUFFER_PROFILE"]["ingress_lossy_profile"] =
        json!({ "pool": "ingress_lossless_pool", "size": "0", "static_th": "67117468" });
    let foreign = "BUFFER_PROFILE|ingress_lossy_profile.static_th: its pool has dynamic thresholds";
    let notes = made(&lossy.to_string(), None, false).unwrap().notes;
    let found = notes.iter().find(|note| note.contains("static_th: its pool")).unwrap();
    assert!(found.starts_with(&format!("leaf-1: {foreign}. The platform's file has it before")), "{found}");
    let profile = lossy["BUFFER_PROFILE"]["ingress_lossy_profile"].take();
    for (name, xoff) in [("ingress_lossless_other", false), ("ingress_lossy_profile", true)] {
        let mut other = lossy.clone();
        other["BUFFER_PROFILE"]["ingress_lossy_profile"] =
            json!({"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"});
        other["BUFFER_PROFILE"][name] = profile.clone();
        if xoff {
            other["BUFFER_PROFILE"][name]["xoff"] = "9000".into();
        }
        let refused = made(&other.to_string(), None, false).unwrap_err();
        assert!(refused.contains(&format!("BUFFER_PROFILE|{name}.static_th: its pool has dynamic")), "{refused}");
    }
}

#[test]
fn faults_at_ports_of_no_cable_are_the_platforms_and_faults_of_ours_are_not_hidden_by_them() {
    let with = |entry: &str| changed(&[("\"BUFFER_PG\": {", &format!("\"BUFFER_PG\": {{{entry},"))]);
    let profile = "{\"profile\": \"ingress_lossy_profile\"}";
    // The fabric does not contain Ethernet0, so invalid entries of this port alone are ignored.
    for foreign in ["Ethernet0|3-4\": {}, \"Ethernet0|4-5", "Ethernet0|nine", "Ethernet96|1"] {
        let text = with(&format!("\"{foreign}\": {profile}"));
        assert!(made(&text, None, false).is_ok(), "{foreign}: {:?}", made(&text, None, false).err());
    }
    for ours in ["Ethernet0,Ethernet248|4-5", "Ethernet248,Ethernet0|9"] {
        let refused = made(&with(&format!("\"{ours}\": {profile}")), None, false).unwrap_err();
        assert!(refused.contains(&format!("BUFFER_PG|{ours}")), "{refused}");
    }
}

#[test]
fn dscps_that_turn_lossy_are_named_and_those_that_hosts_must_send() {
    let (view, marks) = tests::leaf();
    let maps = "\"DSCP_TO_TC_MAP\": {\"AZURE\": {\"3\": \"3\", \"4\": \"4\", \"26\": \"3\", \"8\": \"0\"}},\n \
                \"TC_TO_PRIORITY_GROUP_MAP\": {\"AZURE\": {\"0\": \"0\", \"3\": \"3\", \"4\": \"4\"}},\n \
                \"PORT_QOS_MAP\": {\"Ethernet240\": {\"dscp_to_tc_map\": \"AZURE\", \"tc_to_pg_map\": \"AZURE\", ";
    let text = changed(&[("\"PORT_QOS_MAP\": {\"Ethernet240\": {", maps)]);
    let platform = Platform::parse(&text).unwrap();
    let given = PlatformBuffers { platform: Some(&platform), ..PlatformBuffers::default() };
    let notes = made_for(&view, &marks, &given).unwrap().notes;
    let message = "leaf-1: lossless until now and lossy with the fragment: DSCP 3, 4 at Ethernet240";
    assert!(notes.iter().any(|note| note == message), "{notes:?}");
    let general = general_notes(&marks, &tests::settings(), &given);
    assert!(
        general.iter().any(|note| note.starts_with("Hosts must send lossless traffic with DSCP 26 (tag 1)")),
        "{general:?}"
    );
}

#[test]
fn rows_of_a_platform_with_shared_headroom_do_not_fit_a_pool_without() {
    let without = changed(&[(", \"xoff\": \"7827456\"}", "}"), ("\"size\": \"18796\"", "\"size\": \"445770\"")]);
    assert!(made(&without, None, false).is_ok());
    let refused = made(&without, Some("400000 40m 18796 0 500000 1\n"), false).unwrap_err();
    let said =
        "line 1: does not fit the platform: its BUFFER_POOL|ingress_lossless_pool.xoff is missing, and size 18796 B";
    assert!(refused.starts_with(said), "{refused}");
    // A profile of the platform with the same fault is refused as well.
    let refused = made(&changed(&[(", \"xoff\": \"7827456\"}", "}")]), None, false).unwrap_err();
    assert!(refused.starts_with("BUFFER_POOL|ingress_lossless_pool.xoff: is missing"), "{refused}");
}

#[test]
fn the_poll_interval_suits_rows_of_ports_outside_the_fabric() {
    let row = |restoration: u32| {
        let rows = format!(
            "\"PFC_WD\": {{\"GLOBAL\": {{\"POLL_INTERVAL\": \"150\"}}, \"Ethernet0\": {{\"action\": \"drop\", \
             \"detection_time\": \"400\", \"restoration_time\": \"{restoration}\"}}}}, \"VLAN\""
        );
        made(&changed(&[("\"VLAN\"", &rows)]), None, false).unwrap()
    };
    for (restoration, poll, said) in
        [(400, "150", "GLOBAL (POLL_INTERVAL 150)"), (120, "120", "Ethernet0 (restoration_time 120)")]
    {
        let made = row(restoration);
        assert_eq!(made.config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"], poll);
        let noted =
            |note: &String| note.contains(&format!("POLL_INTERVAL is {poll} ms, not 200")) && note.contains(said);
        assert!(made.notes.iter().any(noted), "{:?}", made.notes);
    }
}

#[test]
fn unknown_fields_of_a_profile_are_noted_and_not_copied() {
    let unknown =
        changed(&[("\"xon_offset\": \"3556\"", "\"xon_offset\": \"3556\", \"xof\": \"3\""), ("445770", "60000")]);
    let made = made(&unknown, None, false).unwrap();
    let (name, xoff) = group(&made, "Ethernet240|3");
    assert_eq!((xoff, made.config["BUFFER_PROFILE"][&name].get("xof")), (105_567, None));
    let noted = |note: &String| note.contains("BUFFER_PROFILE|pg_lossless_400000_40m_profile has the field `xof`");
    assert!(made.notes.iter().any(noted), "{:?}", made.notes);
}
