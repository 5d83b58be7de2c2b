//! QoS maps, and the ports and tunnels that use them.

use super::known::OTHER_CLASSIFIERS;
use super::reader::{Reader, Row};
use super::{Mux, PortQos, QosMap, SwitchConfig, Tunnel, references, spelling};
use crate::error::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// A table of maps, with the largest key, the largest value of an ASIC, and that of SONiC's model.
struct MapTable {
    name: &'static str,
    most_key: u8,
    most_value: u8,
    most_in_model: u8,
}

const DSCP_TO_TC: &str = "DSCP_TO_TC_MAP";
const TC_TO_QUEUE: &str = "TC_TO_QUEUE_MAP";
const TC_TO_PG: &str = "TC_TO_PRIORITY_GROUP_MAP";
const TC_TO_DSCP: &str = "TC_TO_DSCP_MAP";
const PFC_TO_QUEUE: &str = "MAP_PFC_PRIORITY_TO_QUEUE";
const PFC_TO_PG: &str = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP";

const TABLES: [MapTable; 6] = [
    MapTable { name: DSCP_TO_TC, most_key: 63, most_value: 15, most_in_model: 15 },
    MapTable { name: TC_TO_QUEUE, most_key: 15, most_value: 31, most_in_model: 9 },
    MapTable { name: TC_TO_PG, most_key: 15, most_value: 7, most_in_model: 7 },
    MapTable { name: TC_TO_DSCP, most_key: 15, most_value: 63, most_in_model: 63 },
    MapTable { name: PFC_TO_QUEUE, most_key: 7, most_value: 31, most_in_model: 7 },
    MapTable { name: PFC_TO_PG, most_key: 7, most_value: 7, most_in_model: 7 },
];

/// Fields of `PORT_QOS_MAP`, and the table that each refers to.
pub(crate) const PORT_MAPS: [(&str, &str); 6] = [
    ("dscp_to_tc_map", DSCP_TO_TC),
    ("tc_to_queue_map", TC_TO_QUEUE),
    ("tc_to_pg_map", TC_TO_PG),
    ("tc_to_dscp_map", TC_TO_DSCP),
    ("pfc_to_queue_map", PFC_TO_QUEUE),
    ("pfc_to_pg_map", PFC_TO_PG),
];

/// Fields of `TUNNEL`, and the table that each refers to.
const TUNNEL_MAPS: [(&str, &str); 4] = [
    ("decap_dscp_to_tc_map", DSCP_TO_TC),
    ("decap_tc_to_pg_map", TC_TO_PG),
    ("encap_tc_to_dscp_map", TC_TO_DSCP),
    ("encap_tc_to_queue_map", TC_TO_QUEUE),
];

/// The table that a field of `PORT_QOS_MAP` or `TUNNEL` refers to.
pub(crate) fn table_of(field: &str) -> &'static str {
    let found = PORT_MAPS.iter().chain(&TUNNEL_MAPS).find(|(known, _)| *known == field);
    found.map_or(DSCP_TO_TC, |(_, table)| table)
}

pub(super) fn read(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for table in &TABLES {
        let maps: BTreeMap<String, QosMap> = reader
            .rows(table.name)
            .into_iter()
            .map(|row| (row.name.to_owned(), read_map(reader, table, &row)))
            .collect();
        switch.maps.insert(table.name, maps);
    }
    read_port_maps(reader, switch);
    read_tunnel(reader, switch);
}

fn read_map(reader: &mut Reader<'_>, table: &MapTable, row: &Row<'_>) -> QosMap {
    let mut map = QosMap::new();
    super::values::check_name(reader, row);
    for (key, value) in row.fields {
        let location = format!("{}.{key}", row.key);
        let help = format!("a number from 0 to {} for one from 0 to {}", table.most_value, table.most_key);
        let number = key.parse::<u8>().ok().filter(|number| *number <= table.most_key && number.to_string() == *key);
        let target = super::reader::text_of(value).and_then(|text| text.trim().parse::<u8>().ok());
        match (number, target.filter(|target| *target <= table.most_value)) {
            (Some(number), Some(target)) => {
                super::values::check_range(reader, row, key, Some(target.into()), 0..=table.most_in_model.into());
                map.insert(number, target);
            }
            (None, _) => reader.fault(location, "is no key of this map", help),
            (_, None) => reader.fault(location, format!("is {}", fabric::visible(&value.to_string())), help),
        }
    }
    map
}

fn read_port_maps(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let fields: Vec<&str> =
        PORT_MAPS.iter().map(|(field, _)| *field).chain(["pfc_enable", "pfcwd_sw_enable"]).collect();
    for row in reader.rows("PORT_QOS_MAP") {
        let classifiers = OTHER_CLASSIFIERS.iter().find(|field| row.fields.contains_key(**field));
        if let Some(field) = classifiers {
            let message = "classifies frames by something other than DSCP, which is not read";
            reader.fault(format!("{}.{field}", row.key), message, "dscp_to_tc_map");
            continue;
        }
        reader.check_fields(&row, &fields);
        let mut qos = PortQos { key: row.key.clone(), ..PortQos::default() };
        for (field, table) in PORT_MAPS {
            if let Some(name) = reader.reference(&row, field, table) {
                qos.maps.insert(field, name);
            }
        }
        qos.pfc_enable = reader.priorities(&row, "pfc_enable").unwrap_or(0);
        if row.name == "global" && qos.pfc_enable != 0 {
            let message = "is in the row of the switch, where SONiC does not read it";
            reader.fault(format!("{}.pfc_enable", row.key), message, "pfc_enable in the row of each port");
        }
        qos.watched = reader.priorities(&row, "pfcwd_sw_enable").unwrap_or(0);
        let names = if row.name == "global" { vec!["global".to_owned()] } else { reader.ports_of(&row, row.name) };
        for name in names {
            if switch.qos.insert(name.clone(), qos.clone()).is_some() {
                reader.fault(row.key.clone(), format!("{name} has two rows"), "one row a port");
            }
        }
    }
}

fn read_tunnel(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let fields: Vec<&str> = TUNNEL_MAPS.iter().map(|(field, _)| *field).chain(["dscp_mode"]).collect();
    for row in reader.rows("TUNNEL") {
        reader.check_fields(&row, &fields);
        let mut tunnel = Tunnel { key: row.key.clone(), ..Tunnel::default() };
        match reader.text(&row, "dscp_mode").as_deref() {
            Some("uniform") => tunnel.uniform = true,
            Some("pipe") => {}
            _ => reader.fault(format!("{}.dscp_mode", row.key), "is missing or unknown", "pipe or uniform"),
        }
        for (field, table) in TUNNEL_MAPS {
            if let Some(name) = reader.reference(&row, field, table) {
                tunnel.maps.insert(field, name);
            }
        }
        if let Some(other) = switch.tunnel.replace(tunnel) {
            reader.fault(row.key.clone(), format!("beside {}: one tunnel is read", other.key), "one row");
        }
    }
    for row in reader.rows("MUX_CABLE") {
        reader.check_fields(&row, &["state"]);
        let mux = match reader.text(&row, "state").as_deref() {
            Some("active") => Mux { may_be_standby: false, may_be_active: true },
            Some("standby") => Mux { may_be_standby: true, may_be_active: false },
            Some("auto" | "manual" | "detach") | None => Mux { may_be_standby: true, may_be_active: true },
            Some(other) => {
                let message = format!("is `{}`", fabric::visible(other));
                reader.fault(format!("{}.state", row.key), message, "auto, manual, detach, active or standby");
                continue;
            }
        };
        for port in reader.ports_of(&row, row.name) {
            if switch.mux.insert(port.clone(), mux.clone()).is_some() {
                reader.fault(row.key.clone(), format!("{port} has two rows"), "one row a port");
            }
        }
    }
    for row in reader.rows("PEER_SWITCH") {
        reader.check_fields(&row, &[]);
        if switch.peer.replace(row.name.to_owned()).is_some() {
            reader.fault(row.key.clone(), "is a second one", "one row: the other ToR");
        }
    }
    if !switch.mux.is_empty() {
        for (there, table) in [(switch.tunnel.is_some(), "TUNNEL"), (switch.peer.is_some(), "PEER_SWITCH")] {
            if !there {
                reader.fault(table, "is missing, and MUX_CABLE has rows", "the tunnel to the other ToR, and its name");
            }
        }
    }
}

/// Checks that every used map exists and is complete.
pub(super) fn check(reader: &mut Reader<'_>, switch: &SwitchConfig) {
    let of_ports = switch.qos.values().map(|qos| (&qos.key, &qos.maps));
    let of_tunnels = switch.tunnel.iter().map(|tunnel| (&tunnel.key, &tunnel.maps));
    let mut used: BTreeMap<(&'static str, &str), bool> = BTreeMap::new();
    for (key, maps) in of_ports.chain(of_tunnels) {
        for (&field, name) in maps {
            let table = table_of(field);
            if !reader.has_row(table, name) {
                let near = spelling::of_near_name(reader.object, table);
                let message = format!("{table} has no `{}`{near}", fabric::visible(name));
                let help = references::row_instead(reader, table, name);
                reader.fault(format!("{key}.{field}"), message, help);
            }
            // The `tc_to_dscp_map` of a port may be incomplete: classes without an entry keep their DSCP. That of a
            // tunnel must be complete.
            *used.entry((table, name)).or_default() |= field != "tc_to_dscp_map";
        }
    }
    let classes: Vec<u8> = used
        .keys()
        .filter(|(table, _)| *table == DSCP_TO_TC)
        .filter_map(|(table, name)| switch.maps[table].get(*name))
        .flat_map(|map| map.values().copied())
        .collect();
    for ((table, name), whole) in used {
        let Some(map) = switch.maps[table].get(name).filter(|_| whole) else { continue };
        let highest = map.keys().next_back().copied().unwrap_or(0);
        let needed: Vec<u8> = match table {
            DSCP_TO_TC => (0..64).collect(),
            PFC_TO_QUEUE | PFC_TO_PG => continue,
            _ => (0..=highest).chain(classes.iter().copied()).collect(),
        };
        let missing = needed.into_iter().filter(|key| !reader.has_number(table, name, *key)).min();
        if let Some(missing) = missing {
            let key = format!("{table}|{name}.{missing}");
            reader.fault(key, "is missing: the map has a hole", "a value for it");
        }
    }
}

/// A port that uses a map of PFC priorities: its switch, and its row of `PORT_QOS_MAP`.
#[derive(Clone, Copy)]
struct MapUser<'a> {
    switch: &'a SwitchConfig,
    qos: &'a PortQos,
}

/// Checks that the maps of PFC priorities have all priorities of `pfc_enable`. If most ports with the map do not enable
/// a priority that it lacks, the `pfc_enable` of the others is wrong, and otherwise the map. Ports without PFC count,
/// but if all of several ports with PFC enable it, the map is wrong.
pub(super) fn check_pfc(switches: &[SwitchConfig]) -> Vec<Fault> {
    let mut users: BTreeMap<(&str, &str), Vec<MapUser<'_>>> = BTreeMap::new();
    for switch in switches {
        let global = switch.qos.get("global");
        for (_, qos) in switch.qos.iter().filter(|(port, _)| *port != "global") {
            for field in ["pfc_to_queue_map", "pfc_to_pg_map"] {
                let name = qos.maps.get(field).or_else(|| global?.maps.get(field));
                users.entry((field, name.map_or("", String::as_str))).or_default().push(MapUser { switch, qos });
            }
        }
    }
    let mut of_maps: BTreeMap<(&str, String), Fault> = BTreeMap::new();
    let mut of_ports: BTreeMap<(&str, &str), WrongPriorities> = BTreeMap::new();
    for ((field, name), users) in &users {
        let table = table_of(field);
        let map = format!("{table}|{}", fabric::visible(name));
        // By file and priority.
        let mut usual: BTreeMap<(&str, u8), Option<Most>> = BTreeMap::new();
        for MapUser { switch, qos } in users {
            let Some(row) = switch.row(table, name) else { continue };
            let enabled = (0..8u8).filter(|priority| qos.pfc_enable >> priority & 1 == 1);
            for priority in enabled.filter(|priority| !row.contains_key(&priority.to_string())) {
                let most = usual.entry((&switch.file, priority)).or_insert_with(|| {
                    let same_switch = users.iter().filter(|other| other.switch.file == switch.file);
                    let same_role = users.iter().filter(|other| other.switch.role == switch.role);
                    of_most(same_switch, priority, "switch").or_else(|| of_most(same_role, priority, "role"))
                });
                if let Some(most) = most {
                    let wrong = of_ports.entry((&switch.file, &qos.key)).or_insert_with(|| WrongPriorities {
                        priorities: BTreeSet::new(),
                        maps: BTreeSet::new(),
                        most: most.clone(),
                    });
                    wrong.priorities.insert(priority);
                    wrong.maps.insert(map.clone());
                } else {
                    let key = format!("{map}.{priority}");
                    let message = format!("is missing, and {}.pfc_enable names {priority}", qos.key);
                    let (file, help) = (switch.file.clone(), "a value for it".to_owned());
                    let fault = Fault { file, key: key.clone(), message, help };
                    of_maps.entry((&switch.file, key)).or_insert(fault);
                }
            }
        }
    }
    let of_ports = of_ports.into_iter().map(|((file, key), wrong)| wrong.fault(file, key));
    of_ports.chain(of_maps.into_values()).collect()
}

/// Priorities of a `pfc_enable` that maps lack.
struct WrongPriorities {
    priorities: BTreeSet<u8>,
    maps: BTreeSet<String>,
    most: Most,
}

impl WrongPriorities {
    fn fault(self, file: &str, row: &str) -> Fault {
        let priorities: Vec<String> = self.priorities.iter().map(u8::to_string).collect();
        let maps: Vec<String> = self.maps.into_iter().collect();
        let (priorities, maps) = (priorities.join(" and "), maps.join(" and "));
        let Most { without, all, of, priority, usual } = self.most;
        let message = format!(
            "has {priorities}, without an entry in {maps}, and {without} of {all} ports of this {of} with this map do \
             not enable {priority}"
        );
        let help = usual.unwrap_or_else(|| format!("a list without {priorities}, or values for it in {maps}"));
        Fault { file: file.to_owned(), key: format!("{row}.pfc_enable"), message, help }
    }
}

/// The majority of the ports with a map, which do not enable a priority.
#[derive(Clone)]
struct Most {
    /// Number of ports that do not enable the priority.
    without: usize,
    all: usize,
    /// `switch` or `role`.
    of: &'static str,
    priority: u8,
    /// The most frequent `pfc_enable` of these ports that is not empty.
    usual: Option<String>,
}

/// Returns the ports that do not enable a priority, if they are the majority and one of them has PFC. In a role with a
/// single port with PFC the others decide.
fn of_most<'a>(users: impl Iterator<Item = &'a MapUser<'a>>, priority: u8, of: &'static str) -> Option<Most> {
    let values: Vec<u8> = users.map(|user| user.qos.pfc_enable).collect();
    let without: Vec<u8> = values.iter().copied().filter(|value| value >> priority & 1 == 0).collect();
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    without.iter().filter(|value| **value != 0).for_each(|value| *counts.entry(*value).or_default() += 1);
    let usual = counts.into_iter().max_by_key(|(_, count)| *count).map(|(usual, _)| {
        let numbers: Vec<String> = (0..8u8).filter(|at| usual >> at & 1 == 1).map(|at| at.to_string()).collect();
        format!("\"{}\"", numbers.join(","))
    });
    let is_single = of == "role" && values.len() - without.len() == 1;
    let is_most = 2 * without.len() > values.len() && (usual.is_some() || is_single);
    is_most.then_some(Most { without: without.len(), all: values.len(), of, priority, usual })
}
