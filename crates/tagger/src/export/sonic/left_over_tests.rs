//! Exports with fewer tags than the running configuration, and the form of references.

use super::tests::{leaf, made, made_for, platform};
use super::*;
use crate::rules::Tag;
use serde_json::Value;

/// The platform with the fragment of three tags, whose priorities are 3, 4 and 5.
fn running() -> Value {
    made(&platform(), None, false).unwrap().merged.unwrap().into()
}

/// Returns the fragment of two tags, with priorities 3 and 4.
fn with_two_tags(platform: &Value) -> Result<Fragment, String> {
    let platform = Platform::parse(&platform.to_string()).unwrap();
    let (view, _) = leaf();
    let rules = [1, 2].into_iter().flat_map(|tag: Tag| [(tag, 0, 1, tag), (tag, 1, 0, tag)]);
    let view = SwitchView::new("leaf-1", view.ports().to_vec(), rules).unwrap();
    let given = PlatformBuffers { platform: Some(&platform), ..PlatformBuffers::default() };
    made_for(&view, &Marks::usual(&[1, 2]).unwrap(), &given)
}

#[test]
fn priorities_that_stop_being_lossless_get_lossy_profiles() {
    let made = with_two_tags(&running()).unwrap();
    for port in ["Ethernet240", "Ethernet248"] {
        let key = format!("{port}|5");
        assert_eq!(made.config["BUFFER_PG"][&key]["profile"], "ingress_lossy_profile");
        assert_eq!(made.config["BUFFER_QUEUE"][&key]["profile"], "egress_lossy_profile");
        assert_eq!(made.config["BUFFER_PG"][format!("{port}|4")]["profile"], "pg_lossless_400000_40m_profile");
        assert_eq!(made.config["PORT_QOS_MAP"][port]["pfc_enable"], "3,4");
    }
    let said = "leaf-1: makes lossy, for these rules have no lossless tag with their priority: BUFFER_PG|Ethernet240|5 \
                (ingress_lossy_profile) and 3 more";
    assert!(made.notes.iter().any(|note| note.starts_with(said)), "{:#?}", made.notes);
    // DSCP 42 is that of priority 5.
    assert_eq!(made.lost_dscps, 1 << 42);
    // The same rules again change nothing more.
    let again = with_two_tags(&Value::from(made.merged.unwrap())).unwrap();
    assert!(!again.notes.iter().any(|note| note.contains("makes lossy")), "{:#?}", again.notes);
}

#[test]
fn ranges_of_left_over_priorities_are_split() {
    let mut platform = running();
    for table in ["BUFFER_PG", "BUFFER_QUEUE"] {
        let rows = platform[table].as_object_mut().unwrap();
        for number in [3, 4, 5, 6] {
            rows.remove(&format!("Ethernet240|{number}"));
        }
        let profile = if table == "BUFFER_PG" { "pg_lossless_400000_40m_profile" } else { "egress_lossless_profile" };
        rows.insert("Ethernet240|3-6".to_owned(), json!({ "profile": profile }));
    }
    let made = with_two_tags(&platform).unwrap();
    for (table, lossy) in [("BUFFER_PG", "ingress_lossy_profile"), ("BUFFER_QUEUE", "egress_lossy_profile")] {
        for number in [5, 6] {
            assert_eq!(made.config[table][format!("Ethernet240|{number}")]["profile"], lossy, "{table} {number}");
        }
        assert!(made.patch.as_ref().unwrap().to_string().contains(&format!("\"/{table}/Ethernet240|3-6\"")));
    }
}

#[test]
fn a_platform_without_a_lossy_profile_is_refused() {
    let mut platform = running();
    platform["BUFFER_PROFILE"].as_object_mut().unwrap().remove("ingress_lossy_profile");
    let groups = platform["BUFFER_PG"].as_object_mut().unwrap();
    groups.retain(|_, row| row["profile"] != "ingress_lossy_profile");
    let refused = with_two_tags(&platform).unwrap_err();
    let said = "BUFFER_PG|Ethernet240|5: is lossless in the platform's file and lossy with these rules, and no profile \
                of it is lossy: define one, as ingress_lossy_profile, or remove the entry first";
    assert!(refused.starts_with(said), "{refused}");
}

/// Returns all references of tables of rows.
fn references(tables: &Value) -> Vec<&str> {
    let rows = tables.as_object().unwrap().values().filter_map(Value::as_object).flat_map(|rows| rows.values());
    let fields = ["pool", "profile", "scheduler", "dscp_to_tc_map", "tc_to_queue_map", "pfc_to_pg_map"];
    rows.flat_map(|row| fields.into_iter().filter_map(|field| row.get(field)?.as_str())).collect()
}

#[test]
fn fragment_and_patch_have_the_form_of_references_of_the_platform() {
    let plain = made(&platform(), None, false).unwrap();
    assert!(references(&plain.config).iter().all(|text| !text.starts_with('[')));
    let mut old: Value = serde_json::from_str(&platform()).unwrap();
    for (table, field, target) in [
        ("BUFFER_PROFILE", "pool", "BUFFER_POOL"),
        ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
        ("BUFFER_QUEUE", "profile", "BUFFER_PROFILE"),
    ] {
        for row in old[table].as_object_mut().unwrap().values_mut() {
            row[field] = format!("[{target}|{}]", row[field].as_str().unwrap()).into();
        }
    }
    let made = made(&old.to_string(), None, false).unwrap();
    let all = references(&made.config);
    assert!(all.len() > 20 && all.iter().all(|text| text.starts_with('[') && text.ends_with(']')), "{all:?}");
    let patch = made.patch.unwrap();
    let values: Vec<&str> =
        patch.as_array().unwrap().iter().filter_map(|step| step["value"]["profile"].as_str()).collect();
    assert!(!values.is_empty() && values.iter().all(|text| text.starts_with("[BUFFER_PROFILE|")), "{values:?}");
}
