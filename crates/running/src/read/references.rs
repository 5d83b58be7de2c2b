//! References to rows by name: the rows that a misspelt name probably means, and rows of `PORT` that other tables use
//! under another name.

use super::reader::Reader;
use fabric::sonic::{Neighbour, neighbours};
use fabric::{nearest_name, nearest_port};
use serde_json::Value;
use std::collections::BTreeSet;
use text::numbers::counted;

/// Number of rows that a fault about a port lists.
const MOST_LISTED: usize = 3;

/// Returns the advice for a reference to a row that a table does not have: the row with the nearest name, if there is
/// one; of `PORT` a row with the same numbers.
pub(super) fn row_instead(reader: &Reader<'_>, table: &str, name: &str) -> String {
    let rows = reader.object.get(table).and_then(Value::as_object);
    let rows = rows.into_iter().flatten().map(|(row, _)| row.as_str());
    match if table == "PORT" { nearest_port(name, rows) } else { nearest_name(name, rows) } {
        Some(near) => format!("{}, the row of {table} with the nearest name", fabric::visible(near)),
        None => format!("the name of a row of {table}"),
    }
}

/// Reports ports that tables use and `PORT` does not have: a port in rows of several tables once, as the first fault of
/// the file, because its row of `PORT` is missing or misspelt; a port in one table at each of its rows. Spare ports
/// without a row in other tables are usual, so that only an unused port with the same numbers is a misspelt one.
///
/// Returns the rows of `DEVICE_NEIGHBOR` that such a fault explains.
pub(super) fn check_ports(reader: &mut Reader<'_>) -> BTreeSet<String> {
    note_neighbours(reader);
    // A missing table is one fault.
    if reader.ports.is_empty() {
        return BTreeSet::new();
    }
    let unused: Vec<&str> = reader.ports.iter().map(String::as_str).filter(|port| !is_used(reader, port)).collect();
    let absent: Vec<_> = reader.absent_ports.iter().filter(|(_, tables)| tables.len() > 1).collect();
    let (mut causes, mut explained) = (Vec::new(), BTreeSet::new());
    for &(name, tables) in &absent {
        let near = nearest_port(name, unused.iter().copied());
        let rows: Vec<&String> = tables.values().flatten().collect();
        let first: Vec<String> = rows.iter().take(MOST_LISTED).map(|row| fabric::visible(row)).collect();
        let more = if rows.len() > first.len() { " ..." } else { "" };
        let users = format!("{} of other tables: {}{more}", counted(rows.len() as u64, "row"), first.join(", "));
        let visible = fabric::visible(name);
        causes.push(match near {
            Some(row) => {
                let message = format!("no other table has this port, and PORT has no `{visible}`, which is in {users}");
                (format!("PORT|{row}"), message, visible)
            }
            None => {
                let mut help = "the row of the port, or no row about it in other tables".to_owned();
                if let ([row], 1) = (&unused[..], absent.len()) {
                    help += &format!("; no other table has PORT|{}, which may be this row", fabric::visible(row));
                }
                (format!("PORT|{name}"), format!("is missing, and is in {users}"), help)
            }
        });
        explained.extend(tables.get("DEVICE_NEIGHBOR").into_iter().flatten().map(|row| fabric::visible(row)));
    }
    let single = reader.absent_ports.iter().filter(|(_, tables)| tables.len() == 1);
    let single = single.flat_map(|(name, tables)| tables.iter().map(move |(table, rows)| (name, *table, rows)));
    // The check of all entries of `DEVICE_NEIGHBOR` reports its rows.
    let single = single.filter(|(_, table, _)| *table != "DEVICE_NEIGHBOR");
    let single = single.flat_map(|(name, _, rows)| rows.iter().map(move |row| (name, row)));
    let single: Vec<_> = single
        .map(|(name, row)| {
            let help = row_instead(reader, "PORT", name);
            (row.clone(), format!("PORT has no `{}`", fabric::visible(name)), help)
        })
        .collect();
    let others = std::mem::take(&mut reader.faults);
    causes.into_iter().for_each(|(key, message, help)| reader.fault(key, message, help));
    reader.faults.extend(others);
    single.into_iter().for_each(|(key, message, help)| reader.fault(key, message, help));
    explained
}

/// Adds the ports that `DEVICE_NEIGHBOR` and `PORTCHANNEL_MEMBER` name.
fn note_neighbours(reader: &mut Reader<'_>) {
    for row in neighbours(reader.object) {
        match row {
            Ok(Neighbour { row, port, .. }) => {
                reader.note_port(port, "DEVICE_NEIGHBOR", format!("DEVICE_NEIGHBOR|{row}"))
            }
            Err(row) => {
                let message = "has no name of the neighbour, or no port";
                let help = "name and port of the neighbour, or local_port and port in a row with its name";
                reader.fault(format!("DEVICE_NEIGHBOR|{row}"), message, help);
            }
        }
    }
    for row in reader.objects("PORTCHANNEL_MEMBER") {
        if let Some((_, port)) = row.name.split_once('|') {
            reader.note_port(port, "PORTCHANNEL_MEMBER", row.key.clone());
        }
    }
}

/// Whether a table uses a port by its name or its alias.
fn is_used(reader: &Reader<'_>, port: &str) -> bool {
    let alias = reader.object.get("PORT").and_then(|ports| ports.get(port)?.get("alias")?.as_str());
    let is_used = |name: &str| reader.used_ports.contains(name);
    is_used(port) || alias.is_some_and(is_used)
}
