//! Properties of a switch ASIC and its gearboxes: `ASIC_TABLE`, `PERIPHERAL_TABLE` and `PORT_PERIPHERAL_TABLE` of
//! SONiC's state database.

use super::table::{Object, Row, TableFault, only_row};
use crate::files::json::parse_json;
use serde_json::Value;

/// Tables that are read.
const TABLES: [&str; 3] = ["ASIC_TABLE", "PERIPHERAL_TABLE", "PORT_PERIPHERAL_TABLE"];
/// Name prefix of the ASICs for which the headroom formula is known.
const KNOWN: &str = "MELLANOX-SPECTRUM";
/// Maximum number of decimal places of a delay.
const DECIMALS: usize = 6;
/// Maximum delay; a larger value is assumed to be a typing error.
const MOST_DELAY: u64 = 1_000_000;

/// Properties of an ASIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsicTables {
    /// Key of the row in `ASIC_TABLE`: `MELLANOX-SPECTRUM-3`.
    pub name: String,
    /// Size of a buffer cell in bytes.
    pub cell_bytes: u64,
    /// `pipeline_latency`, in millionths of 1024 B.
    pub(super) pipeline_latency: u64,
    /// `mac_phy_delay`, in millionths of 1024 B.
    pub(super) mac_phy_delay: u64,
    /// `peer_response_time`, in millionths of 1024 B, used for speeds for which IEEE 802.3 states no limit.
    pub(super) peer_response_time: u64,
    /// `gearbox_delay` of the gearbox at all ports, in fs (millionths of a nanosecond); 0 without gearboxes.
    pub(super) gearbox_delay: u64,
}

/// Parses an unsigned decimal number as an integer number of millionths.
fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > DECIMALS {
        return None;
    }
    let number: u64 = whole.parse().ok().filter(|number| *number <= MOST_DELAY)?;
    Some(number * 1_000_000 + format!("{fraction:0<DECIMALS$}").parse::<u64>().ok()?)
}

/// Reads `ASIC_TABLE` and the gearbox tables from a file, by table name. Three formats are accepted: the list of rows
/// that SONiC's buffer manager loads (`asic_table.json`, `peripheral_table.json`: `[{"ASIC_TABLE:NAME": {...}, "OP":
/// "SET"}]`), an export of the state database (`{"ASIC_TABLE|NAME": {"type": "hash", "value": {...}}}`), and tables by
/// name (`{"ASIC_TABLE": {"NAME": {...}}}`).
///
/// # Errors
/// The text is not JSON, or the file has none of these tables.
pub fn read_asic_tables(text: &str) -> Result<Object, TableFault> {
    let forms = "the asic_table.json or peripheral_table.json of the platform, or an export of these tables";
    let value: Value = parse_json(text).map_err(|error| {
        TableFault::new(format!("line {}, column {}", error.line(), error.column()), "this is not valid JSON", forms)
    })?;
    let mut tables = Object::new();
    let parts = match value {
        Value::Array(parts) => parts,
        one => vec![one],
    };
    for (key, value) in parts.into_iter().filter_map(|part| part.as_object().cloned()).flatten() {
        let row = key.split_once(['|', ':']).filter(|(table, _)| TABLES.contains(table));
        if let Some((table, name)) = row {
            let fields = value.get("value").filter(|fields| fields.is_object()).unwrap_or(&value).clone();
            let rows = tables.entry(table).or_insert_with(|| Object::new().into());
            rows.as_object_mut().map(|rows| rows.insert(name.to_owned(), fields));
        } else if TABLES.contains(&key.as_str()) {
            tables.insert(key, value);
        }
    }
    match tables.is_empty() {
        true => Err(TableFault::new("ASIC_TABLE", "the file has neither ASIC_TABLE nor PERIPHERAL_TABLE", forms)),
        false => Ok(tables),
    }
}

impl AsicTables {
    /// Reads the tables from a configuration; `None` if it has no `ASIC_TABLE`.
    ///
    /// # Errors
    /// A field is missing or invalid, there are several ASICs, or no formula is known for the ASIC.
    pub fn of(config: &Object) -> Result<Option<AsicTables>, TableFault> {
        let Some(row) = only_row(config, "ASIC_TABLE")? else { return Ok(None) };
        let name = row.key.split_once('|').map_or("", |(_, name)| name).to_owned();
        let generation = name.strip_prefix(KNOWN).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        if !generation.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(TableFault::new(
                row.key,
                "the headroom formula of this ASIC is not known",
                format!("the table of an ASIC named {KNOWN} or {KNOWN}-N"),
            ));
        }
        let decimal = |row: &Row<'_>, field: &str| {
            let help = format!("a number up to {MOST_DELAY} with at most {DECIMALS} digits after the point");
            row.needed(field, &help, millionths)
        };
        Ok(Some(AsicTables {
            cell_bytes: row.integer("cell_size", 1..=65_535)?.unsigned_abs(),
            pipeline_latency: decimal(&row, "pipeline_latency")?,
            mac_phy_delay: decimal(&row, "mac_phy_delay")?,
            peer_response_time: decimal(&row, "peer_response_time")?,
            gearbox_delay: gearbox(config)?.map_or(Ok(0), |row| decimal(&row, "gearbox_delay"))?,
            name,
        }))
    }

    /// Returns the generation of the ASIC: 1 for `MELLANOX-SPECTRUM`, 3 for `MELLANOX-SPECTRUM-3`.
    pub(super) fn generation(&self) -> u64 {
        self.name.rsplit_once('-').and_then(|(_, digits)| digits.parse().ok()).unwrap_or(1)
    }
}

/// Returns the row of the gearbox model in `PORT_PERIPHERAL_TABLE|global`. SONiC permits one model per switch.
fn gearbox(config: &Object) -> Result<Option<Row<'_>>, TableFault> {
    let Some(row) = only_row(config, "PORT_PERIPHERAL_TABLE")? else { return Ok(None) };
    if row.key != "PORT_PERIPHERAL_TABLE|global" {
        return Err(TableFault::new(row.key, "SONiC reads `global` alone", "PORT_PERIPHERAL_TABLE|global"));
    }
    let model = row.needed("gearbox_model", "the name of a row of PERIPHERAL_TABLE", |text| Some(text.to_owned()))?;
    let fields = config.get("PERIPHERAL_TABLE").and_then(|rows| rows.get(&model)).and_then(Value::as_object);
    let key = format!("PERIPHERAL_TABLE|{model}");
    match fields {
        Some(fields) => Ok(Some(Row { key, fields })),
        None => Err(TableFault::new(key, "is missing: it is the gearbox of all ports", "its `gearbox_delay`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"cell_size": "144", "pipeline_latency": "19", "mac_phy_delay": "0.8",
                          "peer_response_time": "3.8", "port_max_shp": "8192"}"#;

    fn read(text: &str) -> Result<AsicTables, String> {
        let tables = read_asic_tables(text).map_err(|fault| fault.to_string())?;
        let found = AsicTables::of(&tables).map_err(|fault| fault.to_string())?;
        found.ok_or_else(|| "no ASIC".to_owned())
    }

    #[test]
    fn the_three_forms_of_a_file_have_equal_tables() {
        let list = format!(r#"[{{"ASIC_TABLE:MELLANOX-SPECTRUM-3": {ROW}, "OP": "SET"}}]"#);
        let export = format!(r#"{{"ASIC_TABLE|MELLANOX-SPECTRUM-3": {{"type": "hash", "value": {ROW}}}}}"#);
        let tables = format!(r#"{{"ASIC_TABLE": {{"MELLANOX-SPECTRUM-3": {ROW}}}}}"#);
        let first = read(&list).unwrap();
        assert_eq!((first.generation(), first.cell_bytes, first.mac_phy_delay), (3, 144, 800_000));
        assert_eq!(read(&export), Ok(first.clone()));
        assert_eq!(read(&tables), Ok(first));
    }

    #[test]
    fn the_gearbox_of_all_ports_has_its_delay() {
        let with = |rest: &str| format!(r#"[{{"ASIC_TABLE:MELLANOX-SPECTRUM-2": {ROW}}}, {rest}]"#);
        let all = r#"{"PORT_PERIPHERAL_TABLE:global": {"gearbox_model": "BOX"}}"#;
        let box_row = r#"{"PERIPHERAL_TABLE:BOX": {"gearbox_delay": "9.765"}}"#;
        assert_eq!(read(&with(&format!("{all}, {box_row}"))).unwrap().gearbox_delay, 9_765_000);
        // A gearbox model that no port uses adds no delay.
        assert_eq!(read(&with(box_row)).unwrap().gearbox_delay, 0);
        let missing = "PERIPHERAL_TABLE|BOX: is missing: it is the gearbox of all ports: write its `gearbox_delay`";
        assert_eq!(read(&with(all)), Err(missing.to_owned()));
    }

    #[test]
    fn faults_name_table_row_and_field() {
        let row = |from: &str, to: &str| {
            let row = ROW.replace(from, to);
            format!(r#"{{"ASIC_TABLE": {{"MELLANOX-SPECTRUM-3": {row}}}}}"#)
        };
        for (text, message) in [
            (row(r#""cell_size": "144", "#, ""), "ASIC_TABLE|MELLANOX-SPECTRUM-3.cell_size: is missing"),
            (row("144", "0"), "ASIC_TABLE|MELLANOX-SPECTRUM-3.cell_size: is `0`: write a whole number from 1 to 65535"),
            (row("3.8", "-3.8"), "ASIC_TABLE|MELLANOX-SPECTRUM-3.peer_response_time: is `-3.8`"),
            (row("0.8", "0.8us"), "ASIC_TABLE|MELLANOX-SPECTRUM-3.mac_phy_delay: is `0.8us`"),
            (format!(r#"{{"ASIC_TABLE": {{"vs": {ROW}}}}}"#), "ASIC_TABLE|vs: the headroom formula of this ASIC"),
            (
                format!(r#"{{"ASIC_TABLE": {{"MELLANOX-SPECTRUM": {ROW}, "MELLANOX-SPECTRUM-2": {ROW}}}}}"#),
                "ASIC_TABLE: has several rows: MELLANOX-SPECTRUM, MELLANOX-SPECTRUM-2: write one row",
            ),
            ("{\"PORT\": {}}".to_owned(), "ASIC_TABLE: the file has neither ASIC_TABLE nor PERIPHERAL_TABLE"),
            ("[{".to_owned(), "line 1, column 2: this is not valid JSON"),
        ] {
            let refused = read(&text).unwrap_err();
            assert!(refused.starts_with(message), "{refused}");
        }
    }
}
