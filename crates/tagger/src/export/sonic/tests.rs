//! Fragments with the configuration of a platform, and the rules of SONiC's models.

use super::*;
use crate::export::PortView;
use crate::export::testing::{self, port};
use crate::rules::Tag;
use proptest::prelude::*;

pub(super) fn settings() -> Settings {
    Settings {
        binding: QueueBinding::Egress,
        watchdog: Watchdog::All,
        first_tags: vec![1],
        detection_ms: 200,
        restoration_ms: 200,
        xon_bytes: 18_432,
        dynamic_th: 0,
    }
}

/// Builds a leaf with three lossless tags: priorities 3, 4 and 5 at both ports.
pub(super) fn leaf() -> (SwitchView, Marks) {
    let ports = ["Ethernet240", "Ethernet248"].map(|name| PortView {
        rate: units::Rate::from_gbps(400),
        headroom_bytes: 105_567,
        ..port(name, false)
    });
    let rules = [1, 2, 3].into_iter().flat_map(|tag: Tag| [(tag, 0, 1, tag), (tag, 1, 0, tag)]);
    let view = SwitchView::new("leaf-1", ports.to_vec(), rules).unwrap();
    (view, Marks::usual(&[1, 2, 3]).unwrap())
}

/// Configuration by SONiC's templates for a Broadcom switch: the guaranteed minimum in `size`, headroom in a shared
/// pool.
const PLATFORM: &str = r#"{
 "DEVICE_METADATA": {"localhost": {"hostname": "leaf-1", "type": "LeafRouter"}},
 "PORT": {"Ethernet240": {"speed": "400000"}, "Ethernet248": {"speed": "400000"}, "Ethernet0": {"speed": "100000"}},
 "BUFFER_POOL": {
  "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "59001152", "xoff": "7827456"},
  "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "67117468"},
  "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "57775104"}},
 "BUFFER_PROFILE": {
  "pg_lossless_400000_40m_profile": {"pool": "ingress_lossless_pool", "size": "18796", "xon": "0", "xoff": "445770",
   "xon_offset": "3556", "dynamic_th": "0"},
  "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "67117468"},
  "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "67117468"},
  "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1778", "dynamic_th": "0"}},
 "BUFFER_PG": {
  "Ethernet240|0": {"profile": "ingress_lossy_profile"}, "Ethernet248|0": {"profile": "ingress_lossy_profile"},
  "Ethernet240|3-4": {"profile": "pg_lossless_400000_40m_profile"},
  "Ethernet248|3-4": {"profile": "pg_lossless_400000_40m_profile"}},
 "BUFFER_QUEUE": {
  "Ethernet240|0-2": {"profile": "egress_lossy_profile"}, "Ethernet240|3-4": {"profile": "egress_lossless_profile"},
  "Ethernet240|5-6": {"profile": "egress_lossy_profile"}, "Ethernet248|0-2": {"profile": "egress_lossy_profile"},
  "Ethernet248|3-4": {"profile": "egress_lossless_profile"}, "Ethernet248|5-6": {"profile": "egress_lossy_profile"}},
 "PORT_QOS_MAP": {"Ethernet240": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}},
 "VLAN": {"Vlan1000": {"vlanid": "1000"}}
}"#;

pub(super) fn platform() -> String {
    // In `PLATFORM` the lossy profile has a static threshold, but its pool has dynamic thresholds. Here the profile
    // gets a dynamic threshold.
    PLATFORM.replace(
        r#""ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "67117468"}"#,
        r#""ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"}"#,
    )
}

/// Returns the `config_db` fragment that is exported without platform files, plus the profile
/// `egress_lossless_profile`, which the platform must define.
fn alone(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Value, SonicError> {
    let mut config = testing::sonic_fragment(view, marks, settings)?;
    config["BUFFER_PROFILE"]["egress_lossless_profile"] = json!({ "pool": "egress_lossless_pool", "size": "0" });
    Ok(config)
}

pub(super) fn made(platform: &str, rows: Option<&str>, below: bool) -> Result<Fragment, String> {
    let platform = Platform::parse(platform).map_err(|error| format!("input: {error}"))?;
    let rows = rows.map(|rows| PgTable::parse(rows).unwrap());
    let (view, marks) = leaf();
    let given = PlatformBuffers { platform: Some(&platform), rows: rows.as_ref(), below, ..PlatformBuffers::default() };
    made_for(&view, &marks, &given)
}

pub(super) fn made_for(view: &SwitchView, marks: &Marks, given: &PlatformBuffers<'_>) -> Result<Fragment, String> {
    fragment(view, marks, &settings(), given).map_err(|error| error.to_string())
}

/// Case 7 of the operators' reports: a platform's own `3-4` groups, and a third lossless priority.
#[test]
fn a_third_priority_beside_the_platforms_own_gets_a_group_and_a_lossless_queue() {
    let made = made(&platform(), None, false).unwrap();
    let config = &made.config;
    let keys = |table: &str| config[table].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let groups = ["240|3", "240|4", "240|5", "248|3", "248|4", "248|5"].map(|key| format!("Ethernet{key}"));
    assert_eq!(keys("BUFFER_PG"), groups);
    for group in &groups {
        assert_eq!(config["BUFFER_PG"][group]["profile"], "pg_lossless_400000_40m_profile");
        assert_eq!(config["BUFFER_QUEUE"][group]["profile"], "egress_lossless_profile");
    }
    // The remaining numbers of a replaced range keep their profile.
    assert_eq!(config["BUFFER_QUEUE"]["Ethernet240|6"]["profile"], "egress_lossy_profile");
    assert_eq!(keys("BUFFER_QUEUE").len(), 8);
    let profile = &config["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"];
    let written = ["size", "xon", "xoff", "xon_offset", "dynamic_th"].map(|field| profile[field].as_str().unwrap());
    assert_eq!(written, ["18796", "0", "445770", "3556", "0"]);
    assert_eq!((made.published[0].computed, made.published[0].written), (105_567, 445_770));
    let removed: Vec<String> = made
        .patch
        .as_ref()
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["op"] == "remove")
        .map(|step| step["path"].as_str().unwrap().to_owned())
        .collect();
    let ranges = [
        "PG/Ethernet240|3-4",
        "PG/Ethernet248|3-4",
        "QUEUE/Ethernet240|3-4",
        "QUEUE/Ethernet240|5-6",
        "QUEUE/Ethernet248|3-4",
        "QUEUE/Ethernet248|5-6",
    ];
    assert_eq!(removed, ranges.map(|range| format!("/BUFFER_{range}")));
    assert!(made.notes.iter().any(|note| note.contains("leaf-1.patch.json first")), "{:?}", made.notes);
    assert!(made.notes.iter().any(|note| note.contains("2674620 B; the shared headroom pool has 7827456 B")));

    // Without the patch SONiC would have two overlapping entries, which it rejects.
    let mut both = Platform::parse(&platform()).unwrap().config;
    merge(&mut both, config.as_object().unwrap());
    let said: Vec<String> = check(&both, None).iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|one| one.contains("overlaps BUFFER_PG|Ethernet240|3")), "{said:?}");
}

const ROWS: &str = "# speed cable size xon xoff threshold\n400000 40m 18796 0 500000 1\n400000 5m 1 2 3 4\n";

#[test]
fn the_platforms_headroom_is_a_floor_that_only_a_flag_lifts() {
    let profile = |made: &Fragment| {
        let (name, fields) = made.config["BUFFER_PROFILE"].as_object().unwrap().iter().next().unwrap();
        let number = |field: &str| fields[field].as_str().unwrap().parse::<u64>().unwrap();
        (name.clone(), number("size"), number("xon"), number("xoff"))
    };
    let with_rows = made(&platform(), Some(ROWS), false).unwrap();
    // The platform's profile with the name that SONiC would choose is unchanged.
    assert_eq!(profile(&with_rows), ("tagger_lossless_400000_40m_500000_profile".to_owned(), 18_796, 0, 500_000));
    assert_eq!(with_rows.published[0].location, "line 2 of pg_profile_lookup.ini");
    let below = made(&platform(), Some(ROWS), true).unwrap();
    assert_eq!(profile(&below).3, 105_567);
    assert_eq!(below.published[0].written, 105_567);
    // If the row's `size` includes the headroom, `size` is increased with `xoff`; if it is only a minimum, it is
    // unchanged.
    let small = made(&platform(), Some("400000 40m 1000 100 900 0\n"), false).unwrap();
    // The port uses a profile of the platform whose `xoff` exceeds that of the row.
    assert_eq!(profile(&small).3, 445_770);
    let bare = platform().replace("\"xoff\": \"445770\"", "\"xoff\": \"900\"");
    let holds = made(&bare, Some("400000 40m 1001 100 901 0\n"), false).unwrap();
    assert_eq!(profile(&holds), ("tagger_lossless_400000_40m_105567_profile".to_owned(), 105_667, 100, 105_567));
    let minimum = made(&bare, Some("400000 40m 99 100 901 0\n"), false).unwrap();
    assert_eq!((profile(&minimum).1, profile(&minimum).3), (99, 105_567));
}

#[test]
fn a_platform_that_does_not_suit_is_refused_with_its_key() {
    for (from, to, said) in [
        ("\"Ethernet248|0\"", "\"Ethernet240|4-5\"", "BUFFER_PG|Ethernet240|4-5: overlaps BUFFER_PG|Ethernet240|3-4"),
        ("\"pool\": \"egress_lossy_pool\", ", "", "input: BUFFER_PROFILE|egress_lossy_profile: it has no `pool`"),
        (
            "\"egress_lossless_pool\": {",
            "\"other\": {",
            "input: BUFFER_PROFILE|egress_lossless_profile.pool: BUFFER_POOL has no",
        ),
        (
            "\"59001152\"",
            "\"70000\"",
            "leaf-1 does not fit: BUFFER_POOL|ingress_lossless_pool.size: 70000 B, and `size`",
        ),
        (
            "\"7827456\"",
            "\"2000000\"",
            "leaf-1 does not fit: BUFFER_POOL|ingress_lossless_pool.xoff: 2000000 B, and `xoff`",
        ),
        ("\"Ethernet248\": {\"speed\": \"400000\"}, ", "", "BUFFER_PG|Ethernet248|0: PORT has no `Ethernet248`"),
        ("\"445770\"", "\"many\"", "input: BUFFER_PROFILE|pg_lossless_400000_40m_profile.xoff: a whole number"),
        ("{\"pfc_enable\": \"3,4\"", "{\"pfc_enable\": \"3-4\"", "PORT_QOS_MAP|Ethernet240.pfc_enable: priorities"),
        (
            "\"BUFFER_QUEUE\": {",
            "\"BUFFER_QUEUE\": 3, \"WRED_PROFILE\": {",
            "input: BUFFER_QUEUE: a table is an object",
        ),
    ] {
        let changed = platform().replacen(from, to, 1);
        assert_ne!(changed, platform(), "{from}");
        let refused = made(&changed, None, false).unwrap_err();
        assert!(refused.starts_with(said), "{from}: {refused}");
    }
    // Without a lossless queue profile, the export is refused.
    let lossy = platform().replace("egress_lossless_profile", "egress_lossy_two");
    let refused = made(&lossy, None, false).unwrap_err();
    assert_eq!(refused, "BUFFER_QUEUE|Ethernet240: the platform has no lossless profile for a lossless queue");
    let absent = made(&platform(), Some("400000 300m 1 2 3 4\n"), false).unwrap_err();
    assert!(absent.starts_with("speed 400000, cable 40m: the platform has no such row"), "{absent}");
    assert!(absent.ends_with("for Ethernet240 of leaf-1"), "{absent}");
    let absent = made(&platform(), Some("25000 5m 1 2 3 4\n"), false).unwrap_err();
    assert!(absent.starts_with("speed 400000: the platform has no such row: its speeds are 25000"), "{absent}");
}

/// Case 8: SONiC's model rejects times below `POLL_INTERVAL`, and a `POLL_INTERVAL` above one second.
#[test]
fn the_watchdog_polls_no_later_than_it_must_act_or_let_go() {
    let (view, marks) = leaf();
    for (detection_ms, restoration_ms, poll) in
        [(400, 200, "200"), (100, 60_000, "100"), (5_000, 60_000, "1000"), (200, 200, "200")]
    {
        let settings = Settings { detection_ms, restoration_ms, ..settings() };
        let config = alone(&view, &marks, &settings).unwrap();
        assert_eq!(config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"], poll);
        assert_eq!(check(config.as_object().unwrap(), None), []);
        // An earlier version used the detection time as polling interval, which the model rejects for some times.
        let mut wrong = config;
        wrong["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = detection_ms.to_string().into();
        let faulty = detection_ms > restoration_ms.min(1_000);
        assert_eq!(!check(wrong.as_object().unwrap(), None).is_empty(), faulty, "{detection_ms} {restoration_ms}");
    }
}

#[test]
fn each_rule_of_the_models_has_a_configuration_that_breaks_it() {
    let (view, marks) = leaf();
    let config = alone(&view, &marks, &settings()).unwrap();
    let good = config.as_object().unwrap();
    assert_eq!((check(good, None), check_lossless(good, None)), (vec![], vec![]));
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut config = config.clone();
        change(&mut config);
        let config = config.as_object().unwrap().clone();
        let all =
            check(&config, None).into_iter().chain(check_lossless(&config, None)).chain(check_pools(&config, false));
        all.map(|one| one.to_string()).collect::<Vec<_>>().join("\n")
    };
    let set = |path: &[&str], value: Value| {
        let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        move |config: &mut Value| {
            let mut at = config;
            for key in &path[..path.len() - 1] {
                at = &mut at[key.as_str()];
            }
            at[path[path.len() - 1].as_str()] = value.clone();
        }
    };
    let profile = "tagger_lossless_105567_profile";
    let rows: [(&[&str], Value, &str); 18] = [
        (&["BUFFER_PG", "Ethernet240|3-4"], json!({ "profile": profile }), "overlaps BUFFER_PG|Ethernet240|3"),
        (&["BUFFER_PG", "Ethernet240|8"], json!({ "profile": profile }), "a number or range of 0 to 7"),
        (&["BUFFER_PG", "Ethernet240|7"], json!({}), "BUFFER_PG|Ethernet240|7: it has no `profile`"),
        (&["BUFFER_PG", "Ethernet240|3"], json!({ "profile": "none" }), "BUFFER_PROFILE has no `none`"),
        (&["BUFFER_PG", "Ethernet240|3"], json!({ "profile": "NULL" }), "has no `xoff`, and priority 3 is lossless"),
        (&["BUFFER_QUEUE", "Ethernet240|6-2"], json!({ "profile": profile }), "a number or range of 0 to 15"),
        (&["BUFFER_QUEUE", "Ethernet240|3"], json!({ "profile": "a_lossy_one" }), "is lossy, and queue 3 is lossless"),
        (&["BUFFER_PROFILE", profile, "pool"], Value::Null, "it has no `pool`"),
        (&["BUFFER_PROFILE", profile, "static_th"], json!("1"), "a profile has one of them"),
        (&["BUFFER_PROFILE", profile, "dynamic_th"], json!("x"), "the exponent of alpha"),
        (&["BUFFER_POOL"], json!({ "ingress_lossless_pool": { "mode": "static" } }), "its pool has static thresholds"),
        (&["BUFFER_POOL"], json!({ "ingress_lossless_pool": { "size": "9" } }), "add up to 743994 B"),
        (&["PFC_WD", "Ethernet240", "action"], json!("stop"), "one of drop, forward, alert"),
        (&["PFC_WD", "Ethernet240", "restoration_time"], json!("150"), "150 is below POLL_INTERVAL, 200"),
        (&["PFC_WD", "GLOBAL", "POLL_INTERVAL"], json!("2000"), "a whole number from 100 to 1000"),
        (&["SCHEDULER", "TAGGER", "weight"], json!("0"), "a whole number from 1 to 100"),
        (&["DSCP_TO_TC_MAP", "TAGGER_IN_1", "64"], json!("1"), "maps 0 to 63 to 0 to 15"),
        (&["PORT_QOS_MAP", "Ethernet240", "tc_to_pg_map"], json!("none"), "TC_TO_PRIORITY_GROUP_MAP has no `none`"),
    ];
    for (path, value, said) in rows {
        let found = broken(&set(path, value));
        assert!(found.contains(said), "{path:?}: {found}");
    }
    let no_queue = broken(&|config| _ = config["BUFFER_QUEUE"].as_object_mut().unwrap().remove("Ethernet240|3"));
    assert_eq!(no_queue, "BUFFER_QUEUE|Ethernet240|3: a lossless queue without a profile");
}

/// Case 4 of the operators' reports, profiles: the two ends of a link can state different cable lengths.
#[test]
fn a_switch_states_the_cables_of_its_own_ports() {
    let text = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "leaf-1"}}, "PORT": {"Ethernet0": {"speed": "100000"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m", "Ethernet4": "0m"}}}"#;
    let own = OwnCables::parse(text).unwrap().unwrap();
    assert_eq!(own.delay("Ethernet0"), Some(units::Time::from_ns(1_500)));
    assert_eq!((own.speed("Ethernet0"), own.delay("Ethernet4")), (Some(units::Rate::from_gbps(100)), None));
    let refused = OwnCables::parse(&text.replace("300m", "300")).unwrap_err().to_string();
    assert_eq!(
        refused,
        "CABLE_LENGTH|AZURE.Ethernet0: is \"300\": no length in metres: write a length with its unit, as 40m"
    );
    assert_eq!(OwnCables::parse("[]"), Ok(None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fragments_obey_the_models(view in testing::switches(), marks in testing::marks()) {
        if let Ok(config) = alone(&view, &marks, &settings()) {
            let config = config.as_object().unwrap();
            prop_assert_eq!(check(config, None), vec![]);
            prop_assert_eq!(check_lossless(config, None), vec![]);
        }
    }

    #[test]
    fn mutated_files_are_refused_or_read_without_a_panic(at in 0usize..2_000, cut in 0usize..6, put in "[ -~]{0,4}") {
        let mutate = |text: &str| {
            let mut all: Vec<char> = text.chars().collect();
            let from = at % all.len();
            let to = (from + cut).min(all.len());
            all.splice(from..to, put.chars());
            all.into_iter().collect::<String>()
        };
        let _ = made(&mutate(&platform()), Some(ROWS), false);
        let _ = OwnCables::parse(&mutate(&platform()));
        let _ = PgTable::parse(&mutate(ROWS));
    }
}
