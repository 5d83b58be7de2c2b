//! Parameters of SONiC's dynamic buffer model in `config_db.json`.

use super::table::{Object, TableFault, only_row};
use serde_json::Value;

/// Profile name of a priority group for which the switch computes the headroom.
const NO_PROFILE: &str = "NULL";

/// Parameters of the dynamic buffer model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferModel {
    /// Size of the largest lossless frame in bytes: `LOSSLESS_TRAFFIC_PATTERN.mtu`.
    pub lossless_mtu: u64,
    /// Percentage of frames that have the smallest size: `LOSSLESS_TRAFFIC_PATTERN.small_packet_percentage`.
    pub small_packet_percent: u64,
    /// Exponent of the dynamic threshold alpha of computed profiles:
    /// `DEFAULT_LOSSLESS_BUFFER_PARAMETER.default_dynamic_th`.
    pub default_threshold: i64,
    /// Whether priority groups share their headroom, which is the case if `over_subscribe_ratio` or `xoff` of the pool
    /// `ingress_lossless_pool` is set.
    pub shared_headroom: bool,
    /// Key of the row that describes the lossless traffic: `LOSSLESS_TRAFFIC_PATTERN|AZURE`.
    pub key: String,
}

/// Returns whether the switch uses the dynamic buffer model: `DEVICE_METADATA|localhost.buffer_model` states it. If the
/// row states no model, the headroom of a priority group is computed.
pub fn uses_dynamic_model(config: &Object) -> bool {
    let localhost = config.get("DEVICE_METADATA").and_then(|metadata| metadata.get("localhost"));
    let model = localhost.and_then(|localhost| localhost.get("buffer_model")).and_then(Value::as_str);
    let groups = config.get("BUFFER_PG").and_then(Value::as_object).into_iter().flatten();
    let mut profiles = groups.filter_map(|(_, group)| group.get("profile").and_then(Value::as_str));
    match model {
        Some("dynamic") => true,
        Some("traditional") => false,
        _ => profiles.any(|profile| computes_headroom(config, profile)),
    }
}

/// Returns whether the switch computes the headroom of a profile (`NAME` or `[BUFFER_PROFILE|NAME]`): the profile is
/// `NULL`, or its headroom type is dynamic and it has no `xoff`.
pub fn computes_headroom(config: &Object, profile: &str) -> bool {
    let inner = profile.strip_prefix("[BUFFER_PROFILE|").and_then(|inner| inner.strip_suffix(']'));
    let name = inner.unwrap_or(profile);
    let fields = config.get("BUFFER_PROFILE").and_then(|profiles| profiles.get(name));
    let is_dynamic = |fields: &Value| {
        fields.get("headroom_type").and_then(Value::as_str) == Some("dynamic") && fields.get("xoff").is_none()
    };
    name == NO_PROFILE || fields.is_some_and(is_dynamic)
}

impl BufferModel {
    /// Reads the parameters.
    ///
    /// # Errors
    /// The first missing or invalid parameter, with its key. Without it, SONiC computes no headroom either.
    pub fn of(config: &Object) -> Result<BufferModel, TableFault> {
        let missing = |table: &str, fields: &str| TableFault::new(table, "is missing", format!("a row with {fields}"));
        let (pattern, parameters) = ("LOSSLESS_TRAFFIC_PATTERN", "DEFAULT_LOSSLESS_BUFFER_PARAMETER");
        let traffic = only_row(config, pattern)?.ok_or_else(|| missing(pattern, "`mtu`, `small_packet_percentage`"))?;
        let defaults = only_row(config, parameters)?.ok_or_else(|| missing(parameters, "`default_dynamic_th`"))?;
        let lossless_mtu = traffic.integer("mtu", 64..=9_216)?.unsigned_abs();
        let small_packet_percent = traffic.integer("small_packet_percentage", 0..=100)?.unsigned_abs();
        let default_threshold = defaults.integer("default_dynamic_th", -8..=8)?;
        let ratio = match defaults.fields.contains_key("over_subscribe_ratio") {
            true => defaults.integer("over_subscribe_ratio", 0..=i64::from(u16::MAX))?,
            false => 0,
        };
        let pool = config.get("BUFFER_POOL").and_then(|pools| pools.get("ingress_lossless_pool"));
        let xoff = pool.and_then(|pool| pool.get("xoff")).and_then(Value::as_str).unwrap_or("0");
        let shared_headroom = ratio != 0 || xoff.trim().parse() != Ok(0);
        Ok(BufferModel { lossless_mtu, small_packet_percent, default_threshold, shared_headroom, key: traffic.key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config() -> Object {
        let config = json!({
            "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
            "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
            "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
            "BUFFER_PROFILE": {
                "own": {"headroom_type": "dynamic", "pool": "p", "dynamic_th": "3"},
                "fixed": {"headroom_type": "dynamic", "pool": "p", "xoff": "9000"},
            },
        });
        config.as_object().cloned().unwrap()
    }

    #[test]
    fn parameters_are_read_and_missing_ones_named() {
        let found = BufferModel::of(&config()).unwrap();
        assert_eq!((found.lossless_mtu, found.small_packet_percent, found.shared_headroom), (1_024, 100, false));
        for (table, field, message) in [
            ("LOSSLESS_TRAFFIC_PATTERN", None, "LOSSLESS_TRAFFIC_PATTERN: is missing: write a row with `mtu`, "),
            ("LOSSLESS_TRAFFIC_PATTERN", Some("mtu"), "LOSSLESS_TRAFFIC_PATTERN|AZURE.mtu: is missing"),
            (
                "LOSSLESS_TRAFFIC_PATTERN",
                Some("small_packet_percentage"),
                "LOSSLESS_TRAFFIC_PATTERN|AZURE.small_packet_percentage: is missing",
            ),
            ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", None, "DEFAULT_LOSSLESS_BUFFER_PARAMETER: is missing"),
            (
                "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
                Some("default_dynamic_th"),
                "DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE.default_dynamic_th: is missing",
            ),
        ] {
            let mut without = config();
            match field {
                None => _ = without.remove(table),
                Some(field) => _ = without[table]["AZURE"].as_object_mut().unwrap().remove(field),
            }
            let refused = BufferModel::of(&without).unwrap_err().to_string();
            assert!(refused.starts_with(message), "{refused}");
        }
        let mut wrong = config();
        wrong["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"]["mtu"] = "20".into();
        let refused = BufferModel::of(&wrong).unwrap_err().to_string();
        assert_eq!(refused, "LOSSLESS_TRAFFIC_PATTERN|AZURE.mtu: is `20`: write a whole number from 64 to 9216");
    }

    #[test]
    fn headroom_is_shared_by_ratio_or_pool() {
        for (ratio, xoff, shared) in [(Some("0"), None, false), (Some("2"), None, true), (None, Some("4096"), true)] {
            let mut with = config();
            if let Some(ratio) = ratio {
                with["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["over_subscribe_ratio"] = ratio.into();
            }
            if let Some(xoff) = xoff {
                with.insert("BUFFER_POOL".to_owned(), json!({"ingress_lossless_pool": {"xoff": xoff}}));
            }
            assert_eq!(BufferModel::of(&with).unwrap().shared_headroom, shared, "{ratio:?} {xoff:?}");
        }
    }

    #[test]
    fn computed_groups_or_the_buffer_model_make_a_switch_dynamic() {
        let computed = ["NULL", "own", "[BUFFER_PROFILE|own]", "fixed", "absent"];
        assert_eq!(computed.map(|profile| computes_headroom(&config(), profile)), [true, true, true, false, false]);
        assert!(uses_dynamic_model(&config()));
        let mut traditional = config();
        traditional["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional".into();
        assert!(!uses_dynamic_model(&traditional));
        traditional.insert("BUFFER_PG".to_owned(), json!({"Ethernet0|3-4": {"profile": "NULL"}}));
        assert!(!uses_dynamic_model(&traditional), "the stated model counts");
        traditional["DEVICE_METADATA"]["localhost"].as_object_mut().unwrap().remove("buffer_model");
        assert!(uses_dynamic_model(&traditional));
    }
}
