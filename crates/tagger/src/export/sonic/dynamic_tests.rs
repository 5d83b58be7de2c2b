//! Fragments for switches with the dynamic buffer model.

use super::tests::{leaf, made_for, platform};
use super::*;
use fabric::sonic::{AsicTables, read_asic_tables};

const ASIC: &str = r#"[{"ASIC_TABLE:MELLANOX-SPECTRUM-3": {"cell_size": "144", "pipeline_latency": "19",
                        "mac_phy_delay": "0.8", "peer_response_time": "3.8"}, "OP": "SET"}]"#;

fn asic() -> AsicTables {
    AsicTables::of(&read_asic_tables(ASIC).unwrap()).unwrap().unwrap()
}

/// Returns a platform with the dynamic buffer model: groups without profile, and no published headroom.
fn dynamic() -> Value {
    let mut config: Value = serde_json::from_str(&platform()).unwrap();
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic".into();
    config["LOSSLESS_TRAFFIC_PATTERN"] = json!({"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}});
    config["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = json!({"AZURE": {"default_dynamic_th": "1"}});
    config["BUFFER_PROFILE"].as_object_mut().unwrap().remove("pg_lossless_400000_40m_profile");
    config["BUFFER_POOL"]["ingress_lossless_pool"] = json!({"type": "ingress", "mode": "dynamic"});
    for port in ["Ethernet240", "Ethernet248"] {
        config["BUFFER_PG"][format!("{port}|3-4")]["profile"] = "NULL".into();
        config["PORT"][port]["lanes"] = "1,2,3,4,5,6,7,8".into();
    }
    config
}

fn made(config: &Value, asic: Option<&AsicTables>, below: bool) -> Result<Fragment, String> {
    let platform = Platform::parse(&config.to_string()).map_err(|error| format!("input: {error}"))?;
    let (view, marks) = leaf();
    made_for(&view, &marks, &PlatformBuffers { platform: Some(&platform), asic, below, ..PlatformBuffers::default() })
}

/// Returns the fields of the profile of a group.
fn profile(made: &Fragment, group: &str) -> [String; 4] {
    let name = made.config["BUFFER_PG"][group]["profile"].as_str().unwrap();
    let fields = &made.config["BUFFER_PROFILE"][name];
    ["xoff", "xon", "size", "dynamic_th"].map(|field| fields[field].as_str().unwrap().to_owned())
}

#[test]
fn the_computed_headroom_of_the_switch_is_the_minimum() {
    // 400 Gbps, 40 m, 8 lanes, MTU 9100; the computed headroom of this project is 105,567.
    let with = made(&dynamic(), Some(&asic()), false).unwrap();
    for group in ["Ethernet240|3", "Ethernet240|5", "Ethernet248|4"] {
        assert_eq!(profile(&with, group), ["265216", "38912", "313344", "1"].map(str::to_owned), "{group}");
    }
    let published = with.published.first().unwrap();
    assert_eq!((published.computed, published.published, published.written), (105_567, 265_216, 265_216));
    let location = "the dynamic buffer model (ASIC_TABLE|MELLANOX-SPECTRUM-3, LOSSLESS_TRAFFIC_PATTERN|AZURE)";
    assert_eq!(published.location, location);
    let terms: u64 = published.dynamic.as_ref().unwrap().terms.iter().map(|term| term.bytes).sum();
    assert_eq!(terms, 265_216);
    assert!(with.notes.iter().any(|note| note.contains("not below the computed ones")), "{:?}", with.notes);
    // The table in the switch's own `config_db.json` takes precedence over the given table.
    let mut own = dynamic();
    own["ASIC_TABLE"] = json!({"MELLANOX-SPECTRUM-3": {"cell_size": "96", "pipeline_latency": "19",
        "mac_phy_delay": "0.8", "peer_response_time": "3.8"}});
    let own = made(&own, Some(&asic()), false).unwrap();
    assert_eq!(profile(&own, "Ethernet240|3")[0], "177152");
    // If the operator accepts headroom below the platform's (`below`), the headroom is the value that this project
    // computes.
    let below = made(&dynamic(), Some(&asic()), true).unwrap();
    assert_eq!(profile(&below, "Ethernet240|3")[0], "105567");
}

#[test]
fn a_profile_of_type_dynamic_sets_the_threshold_and_a_larger_one_the_headroom() {
    let mut config = dynamic();
    let pool = "ingress_lossless_pool";
    config["BUFFER_PROFILE"]["steep"] = json!({"pool": pool, "headroom_type": "dynamic", "dynamic_th": "-2"});
    let large = json!({"pool": pool, "size": "500000", "xon": "1", "xoff": "400000", "dynamic_th": "0"});
    config["BUFFER_PROFILE"]["large"] = large;
    config["BUFFER_PG"]["Ethernet240|3-4"]["profile"] = "steep".into();
    config["BUFFER_PG"]["Ethernet248|3-4"]["profile"] = "large".into();
    let made = made(&config, Some(&asic()), false).unwrap();
    assert_eq!(profile(&made, "Ethernet240|3"), ["265216", "38912", "313344", "-2"].map(str::to_owned));
    assert_eq!(made.config["BUFFER_PG"]["Ethernet248|3"]["profile"], "large");
}

#[test]
fn missing_inputs_are_refused_by_name() {
    let refused = made(&dynamic(), None, false).unwrap_err();
    assert!(refused.starts_with("ASIC_TABLE: is missing: the switch computes the headroom from it"), "{refused}");
    assert!(refused.contains("for Ethernet240 of leaf-1"), "{refused}");
    // If headroom below the platform's is accepted (`below`), the `ASIC_TABLE` is not needed.
    let below = made(&dynamic(), None, true).unwrap();
    assert_eq!(profile(&below, "Ethernet240|3")[0], "105567");
    for (table, field, message) in [
        ("LOSSLESS_TRAFFIC_PATTERN", "", "LOSSLESS_TRAFFIC_PATTERN: is missing"),
        ("LOSSLESS_TRAFFIC_PATTERN", "mtu", "LOSSLESS_TRAFFIC_PATTERN|AZURE.mtu: is missing"),
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "", "DEFAULT_LOSSLESS_BUFFER_PARAMETER: is missing"),
        ("PORT", "lanes", "PORT|Ethernet240.lanes: is missing"),
    ] {
        let mut config = dynamic();
        if field.is_empty() {
            config.as_object_mut().unwrap().remove(table);
        } else {
            let row = if table == "PORT" { "Ethernet240" } else { "AZURE" };
            config[table][row].as_object_mut().unwrap().remove(field);
        }
        let refused = made(&config, Some(&asic()), false).unwrap_err();
        assert!(refused.starts_with(message), "{refused}");
    }
}

#[test]
fn the_model_that_the_switch_states_counts() {
    let mut config = dynamic();
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional".into();
    // The groups have the profile `NULL`, and no ASIC is needed: nothing computes their headroom.
    let made = made(&config, None, false).unwrap();
    assert_eq!(profile(&made, "Ethernet240|3")[0], "105567");
    assert!(made.published.is_empty(), "{:?}", made.published);
    assert!(!made.notes.iter().any(|note| note.contains("computed")), "{:?}", made.notes);
}

#[test]
fn queues_of_maps_have_the_limits_of_the_models() {
    for (table, key, most) in [("TC_TO_QUEUE_MAP", "0", 9), ("MAP_PFC_PRIORITY_TO_QUEUE", "3", 7)] {
        for (value, is_refused) in [(most, false), (most + 1, true)] {
            let config = json!({ table: { "AZURE": { key: value.to_string() } } });
            let found = check(config.as_object().unwrap(), None);
            let refused = found.iter().any(|one| one.key == format!("{table}|AZURE.{key}"));
            assert_eq!(refused, is_refused, "{table} {value}: {found:?}");
        }
    }
}
