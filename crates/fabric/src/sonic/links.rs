//! Links of a switch according to its own configuration: `CABLE_LENGTH` and `DEVICE_NEIGHBOR`.

use super::table::{Object, TableFault};
use crate::names::visible;
use serde_json::Value;
use std::collections::HashMap;

/// Maximum cable length in metres; a larger value is assumed to be a typing error.
pub const MAX_METRES: u64 = 1_000_000;

/// The length of the cable at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableLength<'a> {
    /// The port.
    pub port: &'a str,
    /// Key of the length in the configuration: `CABLE_LENGTH|AZURE.Ethernet0`.
    pub key: String,
    /// Length in metres; 0 for a port without a cable.
    pub metres: u64,
}

/// Returns the lengths of all cables, in the order of rows and ports.
///
/// An invalid length, or a second length of a port, is an error as in [`cable_length`].
pub fn cable_lengths(config: &Object) -> impl Iterator<Item = Result<CableLength<'_>, TableFault>> {
    let all = rows(config).flat_map(|(row, ports)| ports.iter().map(move |(port, value)| (row, port, value)));
    let mut first: HashMap<&str, &str> = HashMap::new();
    all.map(move |(row, port, value)| match first.get(port.as_str()) {
        Some(other) => Err(stated_twice(row, port, other)),
        None => {
            first.insert(port, row);
            length(row, port, value)
        }
    })
}

fn stated_twice(row: &str, port: &str, other: &str) -> TableFault {
    let key = |row: &str| visible(&format!("CABLE_LENGTH|{row}.{port}"));
    TableFault::new(key(row), format!("{} states a length of the port too", key(other)), "one length a port")
}

/// Returns the length of the cable at a port, if the file has one.
///
/// # Errors
/// The value does not match SONiC's pattern `[0-9]+m|None`, which permits no space, sign or other unit, or is above
/// [`MAX_METRES`]; or a second row states a length of the port, even if it is equal.
pub fn cable_length<'a>(config: &'a Object, port: &str) -> Result<Option<CableLength<'a>>, TableFault> {
    let mut stated = rows(config).filter_map(|(row, ports)| Some((row, ports.get_key_value(port)?)));
    let Some((row, (port, value))) = stated.next() else { return Ok(None) };
    match stated.next() {
        Some((second, _)) => Err(stated_twice(second, port, row)),
        None => length(row, port, value).map(Some),
    }
}

fn rows(config: &Object) -> impl Iterator<Item = (&String, &Object)> {
    let rows = config.get("CABLE_LENGTH").and_then(Value::as_object).into_iter().flatten();
    rows.filter_map(|(row, ports)| Some((row, ports.as_object()?)))
}

fn length<'a>(row: &str, port: &'a str, value: &Value) -> Result<CableLength<'a>, TableFault> {
    let key = visible(&format!("CABLE_LENGTH|{row}.{port}"));
    if value == "None" {
        return Ok(CableLength { port, key, metres: 0 });
    }
    let digits = value.as_str().and_then(|text| text.strip_suffix('m'));
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse().ok()).filter(|metres| *metres <= MAX_METRES) {
        Some(metres) => Ok(CableLength { port, key, metres }),
        None => {
            let message = format!("is {}: no length in metres", visible(&value.to_string()));
            Err(TableFault::new(key, message, "a length with its unit, as 40m"))
        }
    }
}

/// A neighbour of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour<'a> {
    /// Key of the row: a local port, or the neighbour's name.
    pub row: &'a str,
    /// Port of the switch.
    pub port: &'a str,
    /// Name of the neighbour.
    pub peer: &'a str,
    /// Port of the neighbour.
    pub peer_port: &'a str,
}

/// Returns the rows of `DEVICE_NEIGHBOR`, which may have either of two keys:
///
/// - by the local port: `"Ethernet0": {"name": "tor1", "port": "Ethernet64"}`,
/// - by the neighbour's name, as in SONiC's YANG model: `"tor1": {"local_port": "Ethernet0", "port": "Ethernet64"}`.
///
/// A row that is not an object, or has neither form, is an error with the key of the row.
pub fn neighbours(config: &Object) -> impl Iterator<Item = Result<Neighbour<'_>, &str>> {
    let rows = config.get("DEVICE_NEIGHBOR").and_then(Value::as_object).into_iter().flatten();
    rows.map(|(row, fields)| {
        let text = |field: &str| fields.get(field).and_then(Value::as_str);
        let by_name = || Some((text("local_port")?, text("name").unwrap_or(row)));
        let by_port = || Some((row.as_str(), text("name")?));
        let ends = by_name().or_else(by_port).zip(text("port"));
        ends.map(|((port, peer), peer_port)| Neighbour { row, port, peer, peer_port }).ok_or(row.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(value: Value) -> Object {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn lengths_are_those_that_sonic_accepts() {
        for (text, metres) in [("40m", Some(40)), ("0m", Some(0)), ("None", Some(0)), ("1000000m", Some(1_000_000))] {
            let config = config(json!({"CABLE_LENGTH": {"AZURE": {"Ethernet0": text}}}));
            assert_eq!(cable_lengths(&config).map(|one| one.unwrap().metres).next(), metres);
            assert_eq!(cable_length(&config, "Ethernet0").unwrap().map(|one| one.metres), metres);
            assert_eq!(cable_length(&config, "Ethernet4"), Ok(None));
        }
        for text in ["40", "m", "40 m", "+40m", "4km", "1000001m", "99999999999999999999m", ""] {
            let config = config(json!({"CABLE_LENGTH": {"AZURE": {"Ethernet0": text}}}));
            let fault = cable_lengths(&config).next().unwrap().unwrap_err();
            assert_eq!(fault.key, "CABLE_LENGTH|AZURE.Ethernet0", "{text}");
        }
    }

    #[test]
    fn two_rows_with_one_port_are_a_fault_whatever_their_order() {
        for [first, second] in [["AA", "ZZ"], ["ZZ", "AA"]] {
            let config = config(json!({"CABLE_LENGTH": {first: {"Ethernet0": "40m"}, second: {"Ethernet0": "300m"}}}));
            let fault = cable_length(&config, "Ethernet0").unwrap_err();
            assert!(fault.key.contains(".Ethernet0") && fault.message.contains("states a length of the port too"));
            assert_eq!(cable_lengths(&config).filter_map(Result::err).collect::<Vec<_>>(), [fault]);
        }
    }

    #[test]
    fn both_forms_of_a_neighbour_are_read() {
        let config = config(json!({"DEVICE_NEIGHBOR": {
            "Ethernet0": {"name": "tor1", "port": "Ethernet64"},
            "tor2": {"local_port": "Ethernet4", "port": "Ethernet8"},
            "Ethernet8": {"port": "Ethernet8"},
            "Ethernet9": "tor1",
        }}));
        let found: Vec<_> = neighbours(&config).collect();
        let row = |row, port, peer, peer_port| Ok(Neighbour { row, port, peer, peer_port });
        let expected = [
            row("Ethernet0", "Ethernet0", "tor1", "Ethernet64"),
            Err("Ethernet8"),
            Err("Ethernet9"),
            row("tor2", "Ethernet4", "tor2", "Ethernet8"),
        ];
        assert_eq!(found, expected);
    }
}
