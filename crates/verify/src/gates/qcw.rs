//! Reader of IEEE 802.1Qcw JSON (YANG encoded by RFC 7951): the gate parameters of the ports of a bridge.

use super::file::{GateFileError, State};
use super::lists::PortGates;
use super::taprio_options::FRAMING_BYTES;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File {
    #[serde(rename = "ietf-interfaces:interfaces", alias = "interfaces")]
    interfaces: Interfaces,
}

#[derive(Deserialize)]
struct Interfaces {
    interface: Vec<Interface>,
}

#[derive(Deserialize)]
struct Interface {
    name: String,
    #[serde(rename = "type")]
    kind: Option<IgnoredAny>,
    /// `ietf-interfaces`, default true.
    enabled: Option<bool>,
    #[serde(rename = "ieee802-dot1q-bridge:bridge-port", alias = "bridge-port")]
    port: Option<BridgePort>,
}

#[derive(Deserialize)]
struct BridgePort {
    #[serde(rename = "ieee802-dot1q-sched-bridge:gate-parameter-table", alias = "gate-parameter-table")]
    table: Option<Table>,
}

/// Converted and checked during deserialisation, so that errors have a line number.
#[derive(Deserialize)]
#[serde(try_from = "RawTable")]
struct Table {
    enabled: bool,
    gates: Option<PortGates>,
}

/// Container `gate-parameter-table` of `ieee802-dot1q-sched`. Other names are errors: an element that is not read may
/// change the gates.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RawTable {
    gate_enabled: Option<bool>,
    config_change: Option<bool>,
    admin_cycle_time: Option<Fraction>,
    admin_cycle_time_extension: Option<u64>,
    admin_base_time: Option<BaseTime>,
    admin_control_list: Option<ControlList>,
    #[serde(default)]
    queue_max_sdu_table: Vec<QueueMaxSdu>,
    // Gates before the first cycle, and operational state of the bridge: without effect on the gates of a cycle.
    #[serde(rename = "admin-gate-states")]
    _admin_gate_states: Option<IgnoredAny>,
    #[serde(rename = "oper-gate-states")]
    _oper_gate_states: Option<IgnoredAny>,
    #[serde(rename = "oper-control-list")]
    _oper_control_list: Option<IgnoredAny>,
    #[serde(rename = "oper-cycle-time")]
    _oper_cycle_time: Option<IgnoredAny>,
    #[serde(rename = "oper-cycle-time-extension")]
    _oper_cycle_time_extension: Option<IgnoredAny>,
    #[serde(rename = "oper-base-time")]
    _oper_base_time: Option<IgnoredAny>,
    #[serde(rename = "config-change-time")]
    _config_change_time: Option<IgnoredAny>,
    #[serde(rename = "config-change-error")]
    _config_change_error: Option<IgnoredAny>,
    #[serde(rename = "config-pending")]
    _config_pending: Option<IgnoredAny>,
    #[serde(rename = "tick-granularity")]
    _tick_granularity: Option<IgnoredAny>,
    #[serde(rename = "current-time")]
    _current_time: Option<IgnoredAny>,
    supported_list_max: Option<u32>,
    #[serde(rename = "supported-cycle-max")]
    _supported_cycle_max: Option<IgnoredAny>,
    #[serde(rename = "supported-interval-max")]
    _supported_interval_max: Option<IgnoredAny>,
}

/// Entry of `queue-max-sdu-table`: longest service data unit of a traffic class, in bytes; 0 means no limit.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct QueueMaxSdu {
    traffic_class: u8,
    queue_max_sdu: u32,
    #[serde(rename = "transmission-overrun")]
    _transmission_overrun: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Fraction {
    #[serde(deserialize_with = "number")]
    numerator: u64,
    #[serde(deserialize_with = "number")]
    denominator: u64,
}

#[derive(Deserialize)]
struct BaseTime {
    #[serde(deserialize_with = "number")]
    seconds: u64,
    #[serde(deserialize_with = "number", default)]
    nanoseconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlList {
    #[serde(rename = "gate-control-entry", default)]
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(try_from = "RawEntry")]
struct Entry {
    index: u32,
    state: State,
    holds: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RawEntry {
    index: u32,
    operation_name: String,
    #[serde(deserialize_with = "number")]
    time_interval_value: u64,
    gate_states_value: u8,
}

/// Reads an unsigned number: RFC 7951 encodes 64-bit numbers as strings, and 32-bit numbers as numbers.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Either::deserialize(from)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => {
            text.parse().map_err(|_| serde::de::Error::custom(format!("`{text}` is no whole number")))
        }
    }
}

impl TryFrom<RawEntry> for Entry {
    type Error = String;

    fn try_from(raw: RawEntry) -> Result<Entry, String> {
        let name = raw.operation_name.rsplit(':').next().unwrap_or_default();
        let holds = match name {
            "set-gate-states" => false,
            "set-and-hold-mac" | "set-and-release-mac" => true,
            _ => {
                let all = "set-gate-states, set-and-hold-mac or set-and-release-mac";
                return Err(format!("entry {}: `{}` is not {all}", raw.index, raw.operation_name));
            }
        };
        if raw.time_interval_value > u32::MAX.into() {
            return Err(format!("entry {}: time-interval-value is at most 4294967295 ns", raw.index));
        }
        let state = State { gates: raw.gate_states_value, interval_ps: raw.time_interval_value * 1000 };
        Ok(Entry { index: raw.index, state, holds })
    }
}

impl TryFrom<RawTable> for Table {
    type Error = String;

    fn try_from(raw: RawTable) -> Result<Table, String> {
        if raw.gate_enabled.is_none() && raw.admin_control_list.is_some() {
            return Err("gate-enabled is missing: its default is false, so that the list has no effect".to_owned());
        }
        if raw.gate_enabled != Some(true) {
            return Ok(Table { enabled: false, gates: None });
        }
        let missing = [
            (raw.config_change.is_none(), "config-change is missing: a bridge adopts the list only if it is true"),
            (raw.admin_base_time.is_none(), "admin-base-time is missing: cycles are taken to start at 0"),
            (raw.admin_cycle_time.is_none(), "admin-cycle-time is missing: the sum of the intervals is taken"),
        ];
        let warnings = missing.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, text)| text.to_owned());
        let mut warnings: Vec<String> = warnings.collect();
        if raw.config_change == Some(false) {
            let why = "a bridge adopts the admin list only if it is true (802.1Q, 8.6.9.3.1)";
            return Err(format!("config-change is false: {why}"));
        }
        let mut entries = raw.admin_control_list.map_or_else(Vec::new, |list| list.entries);
        if let Some(most) = raw.supported_list_max.filter(|&most| entries.len() as u64 > u64::from(most)) {
            return Err(format!("supported-list-max is {most}, and the list has {} entries", entries.len()));
        }
        entries.sort_by_key(|entry| entry.index);
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].index == pair[1].index) {
            return Err(format!("index {} occurs twice among the gate-control-entries", pair[0].index));
        }
        let second = 1_000_000_000_000u128;
        let cycle = raw.admin_cycle_time.map(|cycle| {
            let ps = u128::from(cycle.numerator) * second;
            match ps.checked_rem(cycle.denominator.into()) {
                Some(0) => {
                    u64::try_from(ps / u128::from(cycle.denominator)).map_err(|_| "admin-cycle-time is too long")
                }
                _ => Err("admin-cycle-time is no whole number of picoseconds"),
            }
        });
        let base = raw
            .admin_base_time
            .map_or(Some(0), |base| base.seconds.checked_mul(1_000_000_000)?.checked_add(base.nanoseconds));
        // Nanoseconds since 1970 fit into 64 bits until the year 2554.
        let base = base.ok_or("admin-base-time is too late")?;
        if raw.admin_cycle_time_extension.is_some_and(|extension| extension > 0) {
            return Err("admin-cycle-time-extension: only 0 is supported".to_owned());
        }
        let mut longest_frame_bytes = [u64::MAX; 8];
        for QueueMaxSdu { traffic_class, queue_max_sdu, .. } in raw.queue_max_sdu_table {
            let Some(longest) = longest_frame_bytes.get_mut(usize::from(traffic_class)) else {
                return Err(format!("queue-max-sdu-table: traffic-class {traffic_class} is above 7"));
            };
            if queue_max_sdu > 0 {
                *longest = u64::from(queue_max_sdu) + FRAMING_BYTES;
            }
        }
        let holds = entries.iter().any(|entry| entry.holds);
        let states = entries.into_iter().map(|entry| entry.state).collect();
        let gates = PortGates::new("the port".to_owned(), 0, base, states, cycle.transpose()?)?;
        warnings.extend(gates.warnings.iter().cloned());
        Ok(Table { enabled: true, gates: Some(PortGates { holds, longest_frame_bytes, warnings, ..gates }) })
    }
}

/// Returns a warning about the elements of each interface's bridge port that are not read, by interface. Some of them,
/// such as tables of traffic classes and of preemption, determine which gate applies to a frame.
fn unread_elements(text: &str) -> BTreeMap<String, String> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let container = document.get("ietf-interfaces:interfaces").or_else(|| document.get("interfaces"));
    let interfaces = container.and_then(|all| all.get("interface")?.as_array()).into_iter().flatten();
    let warning = |interface: &Value| {
        let name = interface.get("name")?.as_str()?.to_owned();
        let port = interface.get("ieee802-dot1q-bridge:bridge-port").or_else(|| interface.get("bridge-port"))?;
        let is_read = |key: &str| key.rsplit(':').next() == Some("gate-parameter-table");
        let unread: Vec<String> =
            port.as_object()?.keys().filter(|key| !is_read(key)).map(|key| fabric::visible(key).to_string()).collect();
        (!unread.is_empty()).then(|| (name, format!("elements of the bridge port are not read: {}", unread.join(", "))))
    };
    interfaces.filter_map(warning).collect()
}

/// Returns the gate control list of every interface whose gates are enabled.
///
/// # Errors
/// The first fault in the file, with its line.
pub fn parse(text: &str) -> Result<Vec<PortGates>, GateFileError> {
    let file: File = serde_json::from_str(text).map_err(GateFileError::of_json)?;
    let mut all = Vec::new();
    let unread = unread_elements(text);
    for Interface { name, kind, enabled, port } in file.interfaces.interface {
        let table = port.and_then(|port| port.table).filter(|table| table.enabled);
        let Some(mut gates) = table.and_then(|table| table.gates) else { continue };
        if enabled == Some(false) {
            let message = format!("interface `{}` has gates and is not enabled", fabric::visible(&name));
            return Err(GateFileError::Line { line: 0, message });
        }
        if kind.is_none() {
            gates.warnings.push("type is missing: without it the model has no bridge port".to_owned());
        }
        gates.warnings.extend(unread.get(&name).cloned());
        all.push(PortGates { interface: name, ..gates });
    }
    match all.is_empty() {
        true => Err(GateFileError::Line { line: 0, message: "no interface has gates that are enabled".to_owned() }),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"ietf-interfaces:interfaces": {"interface": [
 {"name": "sw0p2", "type": "iana-if-type:ethernetCsmacd", "ieee802-dot1q-bridge:bridge-port": {
  "ieee802-dot1q-sched-bridge:gate-parameter-table": {
   "gate-enabled": true,
   "admin-cycle-time": {"numerator": 1, "denominator": 2000},
   "admin-base-time": {"seconds": "2", "nanoseconds": 5},
   "admin-control-list": {"gate-control-entry": [
    {"index": 1, "operation-name": "set-gate-states", "time-interval-value": 400000, "gate-states-value": 127},
    {"index": 0, "operation-name": "ieee802-dot1q-sched:set-gate-states", "time-interval-value": 100000,
     "gate-states-value": 128}]}}}},
 {"name": "sw0p3"}]}}"#;

    #[test]
    fn gates_of_a_bridge_read_in_the_order_of_their_indices() {
        let all = parse(GOOD).unwrap();
        assert_eq!((all.len(), all[0].interface.as_str(), all[0].base_ns), (1, "sw0p2", 2_000_000_005));
        assert_eq!(all[0].longest_frame_bytes, [u64::MAX; 8]);
        assert_eq!(all[0].warnings, ["config-change is missing: a bridge adopts the list only if it is true"]);
        let bare = GOOD.replacen("\"type\": \"iana-if-type:ethernetCsmacd\",", "", 1).replacen(
            "\"admin-base-time\": {\"seconds\": \"2\", \"nanoseconds\": 5},",
            "",
            1,
        );
        let bare = parse(&bare).unwrap();
        assert_eq!(bare[0].warnings.len(), 3, "{:?}", bare[0].warnings);
        assert!(bare[0].warnings[2].starts_with("type is missing"));
        let class_table = "\"ieee802-dot1q-bridge:bridge-port\": {\"default-priority\": 0, \"traffic-class\": {},";
        let more = parse(&GOOD.replacen("\"ieee802-dot1q-bridge:bridge-port\": {", class_table, 1)).unwrap();
        let unread = "elements of the bridge port are not read: default-priority, traffic-class";
        assert!(more[0].warnings.contains(&unread.to_owned()), "{:?}", more[0].warnings);
        let limits = "\"queue-max-sdu-table\": [{\"traffic-class\": 2, \"queue-max-sdu\": 500}, \
                      {\"traffic-class\": 3, \"queue-max-sdu\": 0, \"transmission-overrun\": \"9\"}], \
                      \"supported-list-max\": 16, \"gate-enabled\"";
        let limited = parse(&GOOD.replacen("\"gate-enabled\"", limits, 1)).unwrap();
        assert_eq!(limited[0].longest_frame_bytes[2..4], [500 + FRAMING_BYTES, u64::MAX]);
        let states: Vec<(u8, u64)> = all[0].states.iter().map(|state| (state.gates, state.interval_ps)).collect();
        assert_eq!(states, [(128, 100_000_000), (127, 400_000_000)]);
    }

    #[test]
    fn hostile_values_are_reported_with_their_line() {
        let rows = [
            ("\"index\": 1", "\"index\": 0", 10, "index 0 occurs twice"),
            (
                "\"set-gate-states\"",
                "\"set-and-stop-mac\"",
                8,
                "`set-and-stop-mac` is not set-gate-states, set-and-hold-mac",
            ),
            ("\"gate-states-value\": 127", "\"gate-states-value\": 256", 8, "invalid value: integer `256`"),
            ("400000", "-4", 8, "data did not match"),
            ("400000", "4294967296", 8, "time-interval-value is at most"),
            ("\"denominator\": 2000", "\"denominator\": 0", 10, "admin-cycle-time is no whole number"),
            ("\"denominator\": 2000", "\"denominator\": 7", 10, "admin-cycle-time is no whole number"),
            ("\"seconds\": \"2\"", "\"seconds\": \"soon\"", 6, "`soon` is no whole number"),
            ("\"seconds\": \"2\"", "\"seconds\": \"99999999999999\"", 10, "admin-base-time is too late"),
            ("\"gate-enabled\": true", "\"gate-enabled\": false", 0, "no interface has gates"),
            ("\"gate-enabled\": true,", "", 10, "gate-enabled is missing: its default is false"),
            ("\"gate-enabled\": true", "\"gate-enabled\": true, \"supported-list-max\": 1", 10, "has 2 entries"),
            ("\"type\"", "\"enabled\": false, \"type\"", 0, "`sw0p2` has gates and is not enabled"),
            (
                "\"gate-enabled\": true",
                "\"gate-enabled\": true, \"config-change\": false",
                10,
                "config-change is false",
            ),
            ("\"interface\"", "\"interfaces\"", 11, "missing field `interface`"),
            ("\"gate-enabled\": true", "\"gate-enabled\": true, \"admin-cyle-time\": 1", 4, "unknown field"),
            (
                "\"gate-enabled\": true",
                "\"gate-enabled\": true, \"admin-cycle-time-extension\": 5",
                10,
                "admin-cycle-time-extension: only 0",
            ),
            ("\"index\": 1", "\"index\": 1, \"gates\": 3", 7, "unknown field `gates`"),
            (
                "\"gate-enabled\": true",
                "\"gate-enabled\": true, \"queue-max-sdu-table\": [{\"traffic-class\": 8, \"queue-max-sdu\": 1}]",
                10,
                "traffic-class 8 is above 7",
            ),
        ];
        for (good, bad, line, message) in rows {
            let error = parse(&GOOD.replacen(good, bad, 1)).unwrap_err();
            let location = match &error {
                GateFileError::Json { line, .. } | GateFileError::Line { line, .. } => *line,
                other => panic!("{other:?}"),
            };
            // A check of a whole object reports the last line of the object, or the following line.
            assert!(
                error.to_string().contains(message) && (line..=line + 1).contains(&location),
                "{bad}: {location}: {error}"
            );
        }
    }
}
