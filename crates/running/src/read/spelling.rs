//! Names that are nearly those that are read: probably typing errors, with which nothing reads the table or field.

use super::known::TABLES;
use super::reader::{Object, Reader};
use crate::error::{Finding, FindingKind};
use serde_json::Value;
use strsim::osa_distance;

/// Tables of SONiC that are not read, and whose names are near those that are.
const OTHER_TABLES: [&str; 5] =
    ["DSCP_TO_FC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_DOT1P_MAP", "EXP_TO_FC_MAP", "MUX_LINKMGR"];

/// Fields of `DEVICE_METADATA|localhost` that are read. The row has many others, and new versions add more.
const METADATA: [&str; 7] = ["hostname", "type", "subtype", "buffer_model", "asic_name", "asic_id", "hwsku"];

/// Returns the name without case, separators, and the ending of the tables of SONiC's other databases.
fn bare(name: &str) -> String {
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
    bare.strip_suffix("TABLE").map_or(bare.clone(), str::to_owned)
}

/// Returns the known name that an unknown one is nearly equal to.
fn nearly<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let name = bare(name);
    // Longer names are no typing errors of the known ones, and the comparison would take long.
    if name.len() > 64 {
        return None;
    }
    let near = known.filter_map(|known| {
        let bare = bare(known);
        // Two typing errors make another word of a short name.
        let most = if bare.len() <= 5 { 1 } else { 2 };
        Some((osa_distance(&name, &bare), known)).filter(|(edits, _)| *edits <= most)
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// End of the advice for an unknown key, after the name that it nearly is.
const OR_LEAVE_OUT: &str = ", or leave it out";

/// Returns the field that an unknown field of `row` nearly is, preferably one that the row does not have, and the
/// advice: this field, or else the fields that are read.
pub(super) fn instead_of<'k>(
    field: &str,
    read: &[&'k str],
    others: &[&'k str],
    row: &Object,
) -> (Option<&'k str>, String) {
    let known = || read.iter().chain(others).copied();
    let absent = known().filter(|known| !row.contains_key(*known));
    let near = nearly(field, absent).or_else(|| nearly(field, known()));
    let instead = match near {
        Some(near) => format!("{near}{OR_LEAVE_OUT}"),
        None if read.is_empty() => "leave it out".to_owned(),
        None => format!("one of {}{OR_LEAVE_OUT}", read.join(", ")),
    };
    (near, instead)
}

/// Returns a text about a table of the file that nothing reads, and whose name is nearly that of `table`: ", and the
/// file has PORT_QOS_MAPS, which nothing reads". Empty if there is none.
pub(super) fn of_near_name(object: &Object, table: &str) -> String {
    let is_near = |name: &&String| !is_known(name) && nearly(name, [table].into_iter()).is_some();
    match object.keys().find(is_near) {
        Some(name) => format!(", and the file has {}, which nothing reads", fabric::visible(name)),
        None => String::new(),
    }
}

/// Returns the tables that are read.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name)
}

fn is_known(table: &str) -> bool {
    tables().chain(OTHER_TABLES).any(|known| known == table)
}

fn misspelt(file: &str, key: String, what: &str, near: &str) -> Finding {
    let why = format!("SONiC has no {what} of this name, so nothing reads it");
    let (kind, instead) = (FindingKind::UnknownKey, format!("{near}{OR_LEAVE_OUT}"));
    Finding::new(kind, file.to_owned(), fabric::visible(&key), why, instead).nearly(Some(near.to_owned()))
}

/// Reports tables, and fields of `DEVICE_METADATA`, whose names are nearly those that are read.
pub(super) fn check_tables(reader: &mut Reader<'_>) {
    let found = reader.object.keys().filter(|table| !is_known(table)).filter_map(|table| {
        let near = nearly(table, tables())?;
        Some(misspelt(reader.file, table.clone(), "table", near))
    });
    let localhost = reader.object.get("DEVICE_METADATA").and_then(|all| all.get("localhost"));
    let fields = localhost.and_then(Value::as_object).into_iter().flat_map(|row| row.keys());
    let fields = fields.filter(|field| !METADATA.contains(&field.as_str())).filter_map(|field| {
        let near = nearly(field, METADATA.into_iter())?;
        Some(misspelt(reader.file, format!("DEVICE_METADATA|localhost.{field}"), "field", near))
    });
    let found: Vec<Finding> = found.chain(fields).collect();
    reader.findings.extend(found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_sonic_are_no_misspelt_ones() {
        for (table, near) in [
            ("BUFFER_PROFIL", Some("BUFFER_PROFILE")),
            ("BUFFER_PROFILES", Some("BUFFER_PROFILE")),
            ("buffer_pg", Some("BUFFER_PG")),
            ("BUFFERPG", Some("BUFFER_PG")),
            ("PORT_QOS_MPA", Some("PORT_QOS_MAP")),
            ("BUFFER_QUEUE_TABLE", Some("BUFFER_QUEUE")),
            ("PFC_WDD", Some("PFC_WD")),
            ("PORTS", Some("PORT")),
            ("MPLS_TC_TO_TC_MAP", None),
            ("VLAN", None),
            ("VRF", None),
            ("NTP", None),
            ("PORTCHANNEL_INTERFACE", None),
            ("BUFFER_PORT_INGRESS_PROFILE_LIST", None),
            ("POLICER", None),
            ("PFC_WD_FLOW", None),
        ] {
            assert_eq!(nearly(table, tables()), near, "{table}");
        }
        // No read table is nearly another one.
        for table in tables() {
            assert_eq!(nearly(table, tables()), Some(table));
        }
    }
}
