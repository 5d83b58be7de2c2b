//! LLDP tables: a folder with one file per switch. The file has the name of the switch and the output of `lldpcli show
//! neighbors -f json` or SONiC's `show lldp table`.
//!
//! [`join_lldp`] converts the folder to one text: a JSON list of objects with the name of a switch and its table. A
//! single table without a switch name is read as the table of a switch called `local`.
//!
//! A neighbour without a table is a switch if it has the bridge or router capability, otherwise a host. Its name may
//! have a domain suffix. A cable listed at both ends counts once: a switch may announce a port by its alias or MAC
//! address, so the announced port id and description are looked up in the neighbour's own table. Management ports
//! (`eth0`, `mgmt0`) are skipped. The tables state neither rates nor delays. Other attributes of a neighbour are
//! ignored; an unknown key at a higher level is reported.

use super::claims::Claims;
use super::error::FileError;
use super::plain::{Options, ParsedEnd, ParsedTopology, counted, fail};
use crate::decision::Subject;
use crate::{Fabric, NodeKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Management ports, which do not belong to the fabric.
const MANAGEMENT: [&str; 4] = ["eth0", "mgmt0", "Management0", "Management1"];

/// Joins the files of a folder to one text. A file is named after its switch, with any extension.
pub fn join_lldp(files: impl IntoIterator<Item = (String, String)>) -> String {
    let item = |(file, content): (String, String)| {
        let switch = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
        json!({ "switch": switch, "file": file, "lldp_table": content })
    };
    Value::Array(files.into_iter().map(item).collect()).to_string()
}

/// Returns `true` if the content is the LLDP table of a switch.
pub fn is_lldp_table(content: &str) -> bool {
    let content = content.trim_start_matches('\u{feff}').trim_start();
    match content.strip_prefix('{') {
        Some(object) => object.trim_start().starts_with("\"lldp\""),
        None => content.lines().any(|line| line.starts_with("LocalPort") && line.contains("RemotePortID")),
    }
}

/// Row of an LLDP table.
struct LldpNeighbor {
    location: String,
    port: String,
    peer: String,
    /// Names under which the neighbour announces its port: id and description.
    peer_ports: [String; 2],
    forwards: bool,
}

/// Reads the joined text of a folder, or the table of one switch.
///
/// # Errors
/// [`FileError::Element`] with the invalid switch and port (`leaf1.Ethernet4`); [`FileError::Fabric`] if it is not a
/// network.
pub fn read_lldp(content: &str, options: &Options) -> Result<Fabric, FileError> {
    // Switch name, file name and table of each switch.
    let mut tables: Vec<(String, String, String)> = match serde_json::from_str(content) {
        Ok(Value::Array(items)) => {
            let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let table = |item| Some((text(item, "switch")?, text(item, "file")?, text(item, "lldp_table")?));
            match items.iter().map(table).collect() {
                Some(tables) => tables,
                None => return fail("top level", "must be objects with `switch`, `file` and `lldp_table`"),
            }
        }
        _ => vec![("local".to_owned(), "local".to_owned(), content.to_owned())],
    };
    tables.sort();
    let mut plain = ParsedTopology::default();
    for (switch, ..) in &tables {
        let node = plain.node_or_new(switch);
        (node.kind, node.why) = (Some(NodeKind::Switch), "has a table of its own".to_owned());
    }
    let mut rows: Vec<(String, LldpNeighbor)> = Vec::new();
    let (mut management, mut nameless, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for (switch, file, table) in &tables {
        for mut neighbor in neighbors(file, table, &mut unread)? {
            if MANAGEMENT.contains(&neighbor.port.as_str()) {
                management.push(format!("{switch} {}", neighbor.port));
                continue;
            }
            // A host without an LLDP agent may send LLDP frames without a system name.
            if neighbor.peer.is_empty() {
                nameless.push(format!("{switch} {}", neighbor.port));
                continue;
            }
            // A neighbour announced as `spine1.lab.example` is the switch `spine1` if that has a table.
            let first = neighbor.peer.split('.').next().unwrap_or_default();
            if !plain.has(&neighbor.peer) && tables.iter().any(|(name, ..)| name == first) {
                neighbor.peer = first.to_owned();
            }
            rows.push((switch.clone(), neighbor));
        }
    }
    let own: BTreeSet<ParsedEnd> = rows.iter().map(|(switch, row)| (switch.clone(), row.port.clone())).collect();
    let has_table = |peer: &String| tables.iter().any(|(name, ..)| name == peer);
    // Cables between two switches that both have a table, if only one of the two tables lists the cable.
    let mut unmatched: Vec<(String, String, String)> = Vec::new();
    let mut by_capability = Vec::new();
    let (mut cables, mut claims) = (Vec::new(), Claims::default());
    for (switch, LldpNeighbor { location, port, peer, peer_ports, forwards }) in rows {
        let node = plain.node_or_new(&peer);
        if node.kind.is_none() {
            node.kind = Some(if forwards { NodeKind::Switch } else { NodeKind::Host });
            node.why = format!("{} the capability of a bridge or router", if forwards { "has" } else { "without" });
            if forwards {
                by_capability.push(peer.clone());
            }
        }
        let listed = peer_ports.iter().find(|name| own.contains(&(peer.clone(), (*name).clone())));
        if listed.is_none() && has_table(&peer) {
            unmatched.push((location.clone(), switch.clone(), peer.clone()));
        }
        let peer_port = listed.unwrap_or(&peer_ports[0]).clone();
        let (here, there) = ((switch, port), (peer, peer_port));
        claims.add(location.clone(), &here, &there);
        cables.push((location, here, there));
    }
    claims.check()?;
    let mut known: BTreeSet<(ParsedEnd, ParsedEnd)> = BTreeSet::new();
    for (location, here, there) in cables {
        if known.contains(&(here.clone(), there.clone())) {
            continue;
        }
        plain.connect(&here, &there, options.link).or_else(|id| fail(location, format!("no `{id}`")))?;
        known.insert((there.clone(), here.clone()));
        known.insert((here, there));
    }
    // If the tables of two switches each list a cable to the other switch that the other table lacks, the two entries
    // are probably one cable whose ports have two names. Reading them as two cables would count it twice.
    if let Some((location, _, peer)) =
        unmatched.iter().find(|(_, a, b)| unmatched.iter().any(|(_, c, d)| (a, b) == (d, c)))
    {
        return fail(location, format!("names a port that is not in the table of {peer}, and the other way round"));
    }
    let names = unmatched.into_iter().map(|(location, ..)| location).collect();
    plain.decide(
        Subject::CableEnds,
        |count| format!("{} in the table of one end only", counted(count, "cable")),
        names,
    );
    plain.decide(
        Subject::Roles,
        |count| match count {
            1 => "1 neighbour without a table is a switch by its capability".to_owned(),
            _ => format!("{count} neighbours without a table are switches by their capability"),
        },
        by_capability,
    );
    plain.decide(
        Subject::LeftOut,
        |count| format!("{} without a device name left out", counted(count, "row")),
        nameless,
    );
    plain.decide(Subject::LeftOut, |count| format!("{} left out", counted(count, "management port")), management);
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown key")), unread);
    plain.assemble(options)
}

fn neighbors(file: &str, table: &str, unread: &mut Vec<String>) -> Result<Vec<LldpNeighbor>, FileError> {
    let table = table.trim_start_matches('\u{feff}');
    if table.trim_start().starts_with('{') { of_lldpcli(file, table, unread) } else { of_sonic(file, table) }
}

/// Keys of an interface, its chassis and its port, from lldpcli.
#[rustfmt::skip]
const KEYS: [&[&str]; 3] = [
    &["via", "rid", "age", "chassis", "port", "vlan", "ppvid", "pi", "lldp-med", "unknown-tlvs", "ttl", "cdp", "vlans"],
    &["id", "name", "descr", "mgmt-ip", "mgmt-iface", "capability"],
    &["id", "descr", "ttl", "mfs", "aggregation", "auto-negotiation", "power"],
];

/// Returns the locations of keys that are not in `known`.
fn unknown_keys(location: &str, value: &Value, known: &[&str]) -> Vec<String> {
    let keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
    keys.filter(|key| !known.contains(&key.as_str())).map(|key| format!("{location}.{key}")).collect()
}

/// Parses the output of `lldpcli show neighbors -f json`.
fn of_lldpcli(file: &str, table: &str, unread: &mut Vec<String>) -> Result<Vec<LldpNeighbor>, FileError> {
    let document: Value = serde_json::from_str(table)
        .or_else(|error| fail(format!("{file}, line {}", error.line()), format!("not valid JSON: {error}")))?;
    unread.extend(unknown_keys(file, &document, &["lldp"]));
    unread.extend(document.get("lldp").into_iter().flat_map(|lldp| unknown_keys(file, lldp, &["interface"])));
    let interfaces = match document.get("lldp") {
        Some(Value::Object(lldp)) => lldp.get("interface"),
        _ => return fail(file, "must have `lldp.interface`; of lldpcli's formats `-f json` is read, not `json0`"),
    };
    // A single neighbour is an object, several neighbours are a list of objects with one key each.
    let items: Vec<(&String, &Value)> = match interfaces {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_object).flatten().collect(),
        Some(Value::Object(items)) => items.iter().collect(),
        None => Vec::new(),
        Some(_) => return fail(format!("{file}.lldp.interface"), "must be a list of interfaces"),
    };
    let mut found = Vec::new();
    for (port, item) in items {
        let location = format!("{file}.{port}");
        unread.extend(unknown_keys(&location, item, KEYS[0]));
        unread.extend(item.get("port").into_iter().flat_map(|port| unknown_keys(&location, port, KEYS[2])));
        let id_of = |value: &Value| Some(value.get("id")?.get("value")?.as_str()?.to_owned());
        let Some(chassis) = item.get("chassis").and_then(Value::as_object) else {
            return fail(location, "has no `chassis`");
        };
        // The chassis is an object under the neighbour's name, or directly the value if the neighbour has no name.
        let named = chassis.iter().find(|(_, value)| value.get("id").is_some_and(Value::is_object));
        let (peer, chassis) = match named {
            Some((name, value)) => (Some(name.clone()), value),
            None => (id_of(&item["chassis"]), &item["chassis"]),
        };
        unread.extend(unknown_keys(&location, chassis, KEYS[1]));
        let port_of = item.get("port");
        let is_mac = |port: &Value| port.get("id").and_then(|id| id.get("type")?.as_str()) == Some("mac");
        let described = |port: &Value| Some(port.get("descr")?.as_str()?.to_owned());
        let peer_ports = port_of.and_then(|port| {
            let (id, description) = (id_of(port)?, described(port).unwrap_or_default());
            let by_description = is_mac(port) && !description.is_empty();
            Some(if by_description { [description, id] } else { [id, description] })
        });
        let (Some(peer), Some(peer_ports)) = (peer, peer_ports) else {
            return fail(location, "must name the chassis and the port of the neighbour");
        };
        let one;
        let capabilities = match chassis.get("capability") {
            Some(Value::Array(list)) => list.as_slice(),
            Some(capability) => {
                one = [capability.clone()];
                &one[..]
            }
            None => &[],
        };
        let forwards = capabilities.iter().any(|capability| {
            let kind = capability.get("type").and_then(Value::as_str);
            matches!(kind, Some("Bridge" | "Router")) && capability.get("enabled") == Some(&Value::Bool(true))
        });
        found.push(LldpNeighbor { location, port: port.clone(), peer, peer_ports, forwards });
    }
    Ok(found)
}

/// Parses SONiC's `show lldp table`: the dashes below the titles define the column widths.
fn of_sonic(file: &str, table: &str) -> Result<Vec<LldpNeighbor>, FileError> {
    let lines: Vec<(usize, &str)> = table.lines().enumerate().map(|(n, line)| (n + 1, line)).collect();
    let Some(header) = lines.iter().position(|(_, line)| line.starts_with("LocalPort")) else {
        return fail(file, "has no line that begins with `LocalPort`");
    };
    let Some((number, dashes)) = lines.get(header + 1).filter(|(_, line)| line.starts_with('-')) else {
        return fail(format!("{file}, line {}", header + 2), "expected a line of dashes below the titles");
    };
    let dashes = dashes.trim_end();
    let columns: Vec<usize> = dashes
        .char_indices()
        .filter(|&(at, c)| c == '-' && (at == 0 || dashes[..at].ends_with(' ')))
        .map(|(at, _)| at)
        .collect();
    if columns.len() < 4 || !dashes.chars().all(|c| c == '-' || c == ' ') {
        return fail(format!("{file}, line {number}"), "expected at least four columns of dashes");
    }
    let mut found: Vec<LldpNeighbor> = Vec::new();
    for (line, text) in lines.iter().skip(header + 2).filter(|(_, text)| !text.trim().is_empty()) {
        let location = format!("{file}, line {line}");
        if text.starts_with("---") {
            continue;
        }
        if let Some(total) = text.strip_prefix("Total entries displayed:") {
            if total.trim().parse() != Ok(found.len()) {
                let message = format!("is {}, and the table has {}", total.trim(), counted(found.len() as u64, "row"));
                return fail(location, message);
            }
            break;
        }
        let cells = cells(text, dashes, &columns).or_else(|message| fail(&location, message))?;
        let [port, peer, id, capability] = [0, 1, 2, 3].map(|column| cells[column].clone());
        let description = cells.get(4).cloned().unwrap_or_default();
        // A line with empty cells except the description continues the description of the previous row.
        if cells[..4].iter().all(String::is_empty) && !found.is_empty() {
            continue;
        }
        if port.is_empty() || port.contains(' ') || id.is_empty() {
            return fail(location, "must have a local port, and the port of a remote device: is a row wrapped?");
        }
        // If the port id is a MAC address, the description has the port name.
        let by_description = id.matches(':').count() == 5 && !description.is_empty();
        let peer_ports = if by_description { [description, id] } else { [id, description] };
        found.push(LldpNeighbor { location, port, peer, peer_ports, forwards: capability.contains(['B', 'R']) });
    }
    Ok(found)
}

/// Returns the cells of a row. By default, the dashes determine the columns; if a cell is wider than its column, the
/// cells are separated by two or more spaces. Fails if neither rule yields the cells.
fn cells(text: &str, dashes: &str, columns: &[usize]) -> Result<Vec<String>, String> {
    let characters: Vec<char> = text.trim_end().chars().collect();
    let gaps = dashes.chars().enumerate().filter(|(_, c)| *c == ' ');
    if gaps.filter_map(|(at, _)| characters.get(at)).all(|c| *c == ' ') {
        let cell = |(at, start): (usize, &usize)| {
            let end = columns.get(at + 1).copied().unwrap_or(characters.len()).min(characters.len());
            let cell: String = characters[(*start).min(end)..end].iter().collect();
            cell.trim().to_owned()
        };
        return Ok(columns.iter().enumerate().map(cell).collect());
    }
    let parts: Vec<String> =
        text.split("  ").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    // The number of parts is also right if one cell is empty and another contains two spaces, but then the part in the
    // place of the capability is not a capability.
    let is_capability = |part: &String| part.chars().all(|c| "RBO".contains(c));
    match parts.len() == columns.len() && is_capability(&parts[3]) {
        true => Ok(parts),
        false => Err(format!(
            "a cell is wider than its column, and the parts between two or more spaces are not the {} cells of a row \
             (is it wrapped?)",
            columns.len()
        )),
    }
}
