//! Reader of SONiC `config_db.json` (one object per switch): the tables that describe links between devices.
//!
//! The reader uses `DEVICE_METADATA.localhost` (`hostname`, `type`), `PORT` (`speed`, `alias`, `role`), `CABLE_LENGTH`,
//! `PORTCHANNEL` and `PORTCHANNEL_MEMBER`, `DEVICE_NEIGHBOR_METADATA`, and `DEVICE_NEIGHBOR` with either of the two
//! keys that SONiC uses: the local port (`"Ethernet0": {"name": "tor1", "port": "Ethernet64"}`), or the neighbour's
//! name as in its YANG model (`"tor1": {"local_port": "Ethernet0", "port": "Ethernet64"}`).
//!
//! A link stated at both ends counts once. Contradictions between its ends are resolved independently of the order of
//! files: the longer of two cable lengths is used and reported as a [`Decision`](crate::Decision); two different speeds
//! are an error. If the neighbour's file exists, its `PORT` table defines its ports; other files may refer to them by
//! their `alias`. Two different lengths of one port are an error, and so are two different types of a neighbour whose
//! own file states none. If another file contradicts the type in the neighbour's own file, the own file has precedence
//! and a decision is reported. Unknown keys of rows that are read are reported.
//!
//! A server port that is the neighbour of two switches has a Y cable (dual ToR): the server gets a port to each switch.
//! The files of a switch with several ASICs share its hostname and form one switch; links between its ASICs (`role`
//! `Int`) are skipped.

use super::error::FileError;
use super::json::parse_json;
use super::plain::{Options, ParsedEnd, ParsedTopology, counted, fail, reason_from, shared_ports_text};
use super::wiring::{HostNames, faults};
use crate::decision::Subject;
use crate::names::{nearest_port, visible};
use crate::sonic::{Neighbour, Object, cable_length, neighbours};
use crate::{Fabric, LinkSpec, NodeKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// Propagation delay per metre of fibre: 5 ns.
pub(super) const DELAY_PER_METRE: Time = Time::from_ns(5);

/// Unit of `PORT.speed`, in bit/s.
pub(super) const MBPS: u64 = 1_000_000;

/// Tables that are read.
const TABLES: [&str; 8] = [
    "DEVICE_METADATA",
    "DEVICE_NEIGHBOR",
    "DEVICE_NEIGHBOR_METADATA",
    "PORT",
    "CABLE_LENGTH",
    "PORTCHANNEL",
    "PORTCHANNEL_MEMBER",
    "MUX_CABLE",
];

/// Known keys of the rows that are read, from SONiC's YANG models and vendors' port tables.
#[rustfmt::skip]
const ROW_KEYS: [(&str, &[&str]); 3] = [
    ("DEVICE_NEIGHBOR", &["name", "port", "local_port", "type", "mgmt_addr"]),
    ("DEVICE_NEIGHBOR_METADATA", &[
        "name", "type", "hwsku", "lo_addr", "lo_addr_v6", "mgmt_addr", "mgmt_addr_v6", "deployment_id", "cluster",
        "rack", "subtype", "slice_type",
    ]),
    ("PORT", &[
        "name", "alias", "lanes", "speed", "mtu", "admin_status", "description", "index", "fec", "autoneg",
        "adv_speeds", "interface_type", "adv_interface_types", "link_training", "role", "subport", "tpid", "pfc_asym",
        "mux_cable", "asic_port_name", "core_id", "core_port_id", "num_voq", "coreId", "corePortId", "numVoq",
        "laser_freq", "tx_power", "dom_polling", "dhcp_rate_limit", "macsec", "mode", "media_type", "learn_mode",
        "unreliable_los", "fast_linkup", "custom_collection", "pt_interface_id", "pt_timestamp_template",
        "packet_aging_enabled", "valid_speeds", "parent_port", "port_type", "oper_status", "preemphasis", "idriver",
        "ipredriver", "pre1", "pre2", "pre3", "main", "post1", "post2", "post3", "attn", "serdes", "band",
    ]),
];

/// Prefixes of all other SONiC table names; these tables do not describe links.
#[rustfmt::skip]
const OTHER_TABLES: [&str; 94] = [
    "AAA", "ACL_", "ASIC_", "AUTO_TECHSUPPORT", "BANNER", "BGP", "BMP", "BREAKOUT", "BUFFER_", "CHASSIS", "CONSOLE",
    "COPP_", "CRM", "DASH", "DEBUG_", "DEFAULT_LOSSLESS", "DHCP", "DNS_", "DOT1P_", "DPU", "DSCP_", "EXP_TO_",
    "FABRIC_", "FEATURE", "FG_NHG", "FIPS", "FLEX_COUNTER", "GNMI", "GRPC", "HEARTBEAT", "INTERFACE", "KDUMP",
    "KUBERNETES", "LDAP", "LLDP", "LOGGER", "LOOPBACK", "LOSSLESS_TRAFFIC", "MACSEC", "MAP_PFC", "MCLAG", "MEMORY",
    "MGMT_", "MIRROR_", "MPLS_", "MUX_", "NAT", "NEIGH", "NTP", "NVGRE", "PASSW", "PBH", "PEER", "PFC", "POLICER",
    "PORTCHANNEL_INTERFACE", "PORT_CABLE", "PORT_DOM", "PORT_MIRROR", "PORT_OPER", "PORT_PHY", "PORT_QOS_MAP",
    "PORT_STORM_CONTROL", "PREFIX", "QOS", "QUEUE", "RADIUS", "RESTAPI", "ROUTE", "SCHEDULER", "SERIAL", "SFLOW",
    "SNMP",
    "SRV6",
    "SSH",
    "STATIC_", "STORM", "STP", "SUBNET", "SUPPRESS", "SWITCH", "SYSLOG", "SYSTEM_", "TACPLUS", "TC_TO", "TELEMETRY",
    "TUNNEL", "VERSIONS", "VLAN", "VNET", "VOQ", "VRF", "VXLAN", "WRED",
];

fn table<'a>(switch: &'a Object, name: &str) -> Option<&'a Object> {
    switch.get(name).and_then(Value::as_object)
}

fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Files of one switch: a single file, or one file per ASIC and one for the switch itself.
pub(super) struct Switch<'a> {
    pub name: &'a str,
    /// File name, or index in the list if files have no names.
    pub location: &'a str,
    pub files: Vec<&'a Object>,
}

impl<'a> Switch<'a> {
    fn tables<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a Object> + 's {
        self.files.iter().filter_map(move |file| table(file, name))
    }

    /// Returns the row of a port in the `PORT` tables of this switch.
    fn port(&self, port: &str) -> Option<&'a Object> {
        self.tables("PORT").find_map(|ports| table(ports, port))
    }

    fn has_ports(&self) -> bool {
        self.tables("PORT").next().is_some()
    }

    /// Returns `true` for a port between two ASICs of this switch.
    pub fn is_internal(&self, port: &str) -> bool {
        port.starts_with("Ethernet-BP") || self.port(port).and_then(|port| text(port, "role")) == Some("Int")
    }

    /// Resolves a port name that another file uses (a name, an alias, or a port channel with one member) to the name in
    /// this switch's own `PORT` table.
    pub fn own_name(&self, port: &str) -> Result<String, String> {
        if let Some(members) = self.members(port) {
            return match members.as_slice() {
                [member] => Ok(member.clone()),
                _ => Err(format!(
                    "`{}` is a port channel of {} with {} members: name the ports",
                    visible(port),
                    self.name,
                    members.len()
                )),
            };
        }
        if !self.has_ports() || self.port(port).is_some() {
            return Ok(port.to_owned());
        }
        let called = |value: &Value| value.as_object().and_then(|one| text(one, "alias")) == Some(port);
        let ports = self.tables("PORT").flatten();
        let mut named = ports.filter(|(_, value)| called(value)).map(|(name, _)| name);
        match (named.next(), named.next()) {
            (Some(name), None) => Ok(name.clone()),
            (Some(name), Some(other)) => {
                Err(format!("`{port}` is the alias of both {name} and {other} of {}", self.name))
            }
            (None, _) => {
                Err(format!("{} has no port `{}`: its file lists the ports in PORT", self.name, visible(port)))
            }
        }
    }

    /// Returns the port of the `PORT` tables with the nearest name and the same numbers.
    pub fn nearest_port(&self, port: &str) -> Option<&'a str> {
        nearest_port(port, self.tables("PORT").flatten().map(|(name, _)| name.as_str()))
    }

    /// Returns the type of the switch in SONiC; empty if its files state none.
    fn kind(&self) -> &'a str {
        self.tables("DEVICE_METADATA").find_map(|all| text(table(all, "localhost")?, "type")).unwrap_or_default()
    }

    /// Returns the members of a port channel.
    fn members(&self, channel: &str) -> Option<Vec<String>> {
        self.tables("PORTCHANNEL").find(|channels| channels.contains_key(channel))?;
        let keys = self.tables("PORTCHANNEL_MEMBER").flatten().filter_map(|(key, _)| key.split_once('|'));
        Some(keys.filter(|(of, _)| *of == channel).map(|(_, member)| member.to_owned()).collect())
    }

    /// Returns rate and length of the cable at a port, as stated in this switch's files.
    fn stated(&self, port: &str) -> Result<StatedCable, FileError> {
        let mut stated = StatedCable::default();
        let mut speeds = self.tables("PORT").filter_map(|ports| table(ports, port)?.get("speed"));
        let speed = speeds.next();
        if let Some((speed, other)) = speed.zip(speeds.find(|other| Some(*other) != speed)) {
            let location = format!("{}.PORT.{port}.speed", self.location);
            return fail(location, format!("{speed} and {other} in two files of {}", self.name));
        }
        if let Some(speed) = speed {
            let mbps = speed.as_u64().or_else(|| speed.as_str()?.parse().ok());
            stated.rate = mbps.and_then(|mbps| Rate::from_bps(mbps.checked_mul(MBPS)?));
            if stated.rate.is_none() {
                return fail(
                    format!("{}.PORT.{port}.speed", self.location),
                    "must be a number of Mbps, like \"100000\"",
                );
            }
        }
        for file in &self.files {
            let found = cable_length(file, port)
                .or_else(|fault| fail(format!("{}.{}", self.location, fault.key.replace('|', ".")), fault.message))?;
            let Some(length) = found else { continue };
            // 0m is SONiC's value for a port without a cable.
            let metres = Some(length.metres).filter(|&metres| metres > 0);
            if let Some((one, other)) = stated.metres.zip(metres).filter(|(one, other)| one != other) {
                let location = format!("{}.CABLE_LENGTH.{port}", self.location);
                return fail(location, format!("{one}m and {other}m in two files of {}", self.name));
            }
            stated.metres = stated.metres.or(metres);
        }
        Ok(stated)
    }
}

/// Attributes of a cable stated at one end.
#[derive(Clone, Copy, Default)]
struct StatedCable {
    rate: Option<Rate>,
    metres: Option<u64>,
}

/// One entry of `DEVICE_NEIGHBOR`.
struct DeviceNeighbor<'a> {
    location: String,
    port: &'a str,
    /// Name of the neighbour: the host name of its file, if it has one.
    peer: &'a str,
    /// The name that the entry states.
    stated_peer: &'a str,
    peer_port: &'a str,
}

/// Reads one object or a list of them.
///
/// # Errors
/// [`FileError::Element`] with the position of a syntax error or invalid element (`tor1.DEVICE_NEIGHBOR.Ethernet0`),
/// including contradictory ends of a cable; [`FileError::Fabric`] if it is not a network.
pub fn read_config_db(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let value: Value = parse_json(content).or_else(|error| {
        let location = format!("line {}, column {}", error.line(), error.column());
        fail(location, format!("not valid JSON: {error}"))
    })?;
    let files = match value {
        Value::Array(files) => files,
        value => vec![value],
    };
    let switches = switches(&files)?;
    let names = HostNames::of(&switches);
    if let Some((first, others)) = faults(&switches).split_first() {
        let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
        let location = format!("{}.{}", first.file, first.key.replacen('|', ".", 1));
        return fail(location, format!("{} (write: {}){more}", first.message, first.help));
    }
    let mut plain = ParsedTopology::default();
    let mut types = PeerTypes::default();
    for switch in &switches {
        let node = plain.node_or_new(switch.name);
        node.kind = Some(NodeKind::Switch);
        node.why = "has a config_db of its own".to_owned();
        let kinds = switch.tables("DEVICE_METADATA").filter_map(|metadata| text(table(metadata, "localhost")?, "type"));
        let tiers: BTreeSet<u8> = kinds.filter_map(tier_of).collect();
        if tiers.len() > 1 {
            let location = format!("{}.DEVICE_METADATA.localhost.type", switch.location);
            return fail(location, format!("the files of `{}` state types of different tiers", visible(switch.name)));
        }
        node.tier = tiers.first().copied();
        types.own.insert(switch.name, node.tier);
    }
    let mut cables = Cables::default();
    let by_name: BTreeMap<&str, &Switch<'_>> = switches.iter().map(|switch| (switch.name, switch)).collect();
    let (mut internal, mut alike) = (Vec::new(), BTreeSet::new());
    for switch in &switches {
        for mut neighbor in neighbors(switch)? {
            if let Some(of) = names.find(neighbor.peer).map(|at| switches[at].name).filter(|of| *of != neighbor.peer) {
                alike.insert(format!("{} is {of}", visible(neighbor.peer)));
                neighbor.peer = of;
            }
            if switch.is_internal(neighbor.port) {
                internal.push(format!("{} {}", switch.name, neighbor.port));
                continue;
            }
            types.describe_peer(&mut plain, switch, &neighbor)?;
            cables.add(&by_name, switch, &neighbor, &plain)?;
        }
    }
    // Neighbours may state all cables of a switch.
    let is_open = |switch: &Switch<'_>| {
        let mut ports = switch.tables("PORT").flat_map(Object::keys);
        !switch.has_ports() || ports.any(|port| !cables.known.contains_key(&(switch.name.to_owned(), port.clone())))
    };
    let missing = switches.iter().filter(|switch| switch.tables("DEVICE_NEIGHBOR").next().is_none() && is_open(switch));
    let text = |count| format!("{} without a table DEVICE_NEIGHBOR", counted(count, "file"));
    plain.decide(Subject::Unread, text, missing.map(|switch| switch.location.to_owned()).collect());
    let text =
        |count| format!("{} of neighbours without or with another domain than the host name", counted(count, "name"));
    plain.decide(Subject::Roles, text, alike.into_iter().collect());
    let mut lengths = Vec::new();
    check_speeds(&by_name, &cables.found)?;
    for (here, there) in &cables.found {
        let (spec, two_lengths) = spec(&by_name, here, there, options)?;
        lengths.extend(two_lengths);
        // The nodes at both ends have been added before this loop.
        plain.connect(here, there, spec).or_else(|id| fail(&here.0, format!("`{id}` is no node")))?;
    }
    let text = |count| format!("{} between ASICs of one switch left out", counted(count, "port"));
    plain.decide(Subject::LeftOut, text, internal);
    let text = |count| format!("{} with two lengths, the longer counts", counted(count, "cable"));
    plain.decide(Subject::CableEnds, text, lengths);
    plain.decide(Subject::SharedPorts, shared_ports_text, cables.shared);
    let text = |count| match count {
        1 => "1 type of a neighbour is not that of its own file, which counts".to_owned(),
        _ => format!("{count} types of neighbours are not those of their own files, which count"),
    };
    plain.decide(Subject::Roles, text, types.overruled);
    let keys = switches.iter().flat_map(unknown_keys).collect();
    plain.decide(Subject::Unread, |count| format!("{} of rows not read", counted(count, "unknown key")), keys);
    let tables: BTreeSet<&String> = switches.iter().flat_map(|of| &of.files).flat_map(|file| file.keys()).collect();
    let is_known = |name: &str| TABLES.contains(&name) || OTHER_TABLES.iter().any(|of| name.starts_with(of));
    let unknown = tables.into_iter().filter(|name| !is_known(name)).cloned().collect();
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown table")), unknown);
    plain.assemble(options)
}

/// Returns the switches sorted by name, so that the order of their files has no effect.
fn switches(files: &[Value]) -> Result<Vec<Switch<'_>>, FileError> {
    let mut switches: Vec<Switch<'_>> = Vec::new();
    for (index, item) in files.iter().enumerate() {
        // The files of a folder are wrapped in objects with the file name (`file`) and content (`config_db`).
        let named = item.get("file").and_then(Value::as_str).zip(item.get("config_db"));
        let (location, file) = named.map_or_else(|| (format!("[{index}]"), item), |(name, of)| (name.to_owned(), of));
        let Value::Object(file) = file else { return fail(location, "must be an object") };
        let localhost = |file| table(file, "DEVICE_METADATA").and_then(|metadata| table(metadata, "localhost"));
        let Some(own) = localhost(file) else {
            return fail(location, "has no DEVICE_METADATA.localhost");
        };
        let Some(name) = text(own, "hostname") else {
            return fail(format!("{location}.DEVICE_METADATA.localhost"), "has no hostname");
        };
        let Some(known) = switches.iter_mut().find(|switch| switch.name == name) else {
            let location = named.map_or(name, |(file, _)| file);
            switches.push(Switch { name, location, files: vec![file] });
            continue;
        };
        let asic = |file| localhost(file).and_then(|own| text(own, "asic_name").or(text(own, "asic_id")));
        if known.files.iter().any(|other| asic(other) == asic(file)) {
            return fail(format!("{location}.DEVICE_METADATA.localhost"), format!("`{name}` is in two files"));
        }
        let ports = |file| table(file, "PORT").into_iter().flat_map(Object::keys);
        // A port may appear both in the file of the switch itself and in the file of one of its ASICs, but not in two
        // ASIC files.
        let of_asics = known.files.iter().filter(|other| asic(other).is_some() && asic(file).is_some());
        if let Some(port) = of_asics.flat_map(|other| ports(other)).find(|port| ports(file).any(|own| own == *port)) {
            return fail(format!("{location}.PORT.{port}"), format!("is a port of another ASIC of `{name}` too"));
        }
        known.files.push(file);
    }
    switches.sort_by_key(|switch| natural(switch.name));
    Ok(switches)
}

/// Returns the neighbours of a switch, by its ports.
fn neighbors<'a>(switch: &Switch<'a>) -> Result<Vec<DeviceNeighbor<'a>>, FileError> {
    let mut found = Vec::new();
    for row in switch.files.iter().flat_map(|file| neighbours(file)) {
        match row {
            Ok(Neighbour { row, port, peer, peer_port }) => {
                let location = format!("{}.DEVICE_NEIGHBOR.{row}", switch.location);
                found.push(DeviceNeighbor { location, port, peer, stated_peer: peer, peer_port });
            }
            Err(key) => {
                let message = "must have the `name` of the neighbour and its `port`, or `local_port` and `port` where \
                               the key is the neighbour's name";
                return fail(format!("{}.DEVICE_NEIGHBOR.{key}", switch.location), message);
            }
        }
    }
    found.sort_by_key(|neighbor| natural(neighbor.port));
    Ok(found)
}

/// Returns the unknown keys of rows that are read, with their locations.
fn unknown_keys(switch: &Switch<'_>) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, known) in ROW_KEYS {
        for (row, fields) in switch.tables(name).flatten() {
            let keys = fields.as_object().into_iter().flatten().map(|(key, _)| key);
            let keys = keys.filter(|key| !known.contains(&key.as_str()));
            unknown.extend(keys.map(|key| format!("{}.{name}.{row}.{key}", switch.location)));
        }
    }
    unknown
}

/// Types of neighbours, as switches state them.
#[derive(Default)]
struct PeerTypes<'a> {
    /// Tier of each switch with a file, if its file states a type.
    own: BTreeMap<&'a str, Option<u8>>,
    /// Location and type of the first statement about each neighbour.
    stated: BTreeMap<String, (String, &'a str)>,
    /// Locations of types that contradict the neighbour's own file.
    overruled: Vec<String>,
}

impl<'a> PeerTypes<'a> {
    /// Sets kind and tier of a neighbour from `DEVICE_NEIGHBOR_METADATA` or its entry in `DEVICE_NEIGHBOR`. The
    /// neighbour's own file has precedence.
    fn describe_peer(
        &mut self,
        plain: &mut ParsedTopology,
        switch: &Switch<'a>,
        &DeviceNeighbor { peer, stated_peer, .. }: &DeviceNeighbor<'_>,
    ) -> Result<(), FileError> {
        let node = plain.node_or_new(peer);
        for name in ["DEVICE_NEIGHBOR_METADATA", "DEVICE_NEIGHBOR"] {
            for kind in switch.tables(name).filter_map(|all| text(table(all, stated_peer)?, "type")) {
                let location = format!("{}.{name}.{stated_peer}.type", switch.location);
                let Some(role) = role_of(kind) else {
                    node.unknown_kind.get_or_insert_with(|| format!("{location} `{}`", visible(kind)));
                    continue;
                };
                let own = self.own.get(peer);
                let contradicts =
                    |tier: &Option<u8>| role == NodeKind::Host || tier.is_some_and(|tier| tier_of(kind) != Some(tier));
                if own.is_some_and(contradicts) {
                    if !self.overruled.contains(&location) {
                        self.overruled.push(location);
                    }
                    continue;
                }
                match self.stated.get(peer) {
                    Some((other, of)) if (role_of(of), tier_of(of)) != (Some(role), tier_of(kind)) => {
                        return fail(location, format!("is `{}`, but {other} is `{}`", visible(kind), visible(of)));
                    }
                    Some(_) => {}
                    None => {
                        self.stated.insert(peer.to_owned(), (location, kind));
                    }
                }
                if node.kind.is_none() {
                    (node.kind, node.why) = (Some(role), reason_from("type", kind));
                }
                if node.kind == Some(NodeKind::Switch) {
                    node.tier = node.tier.or(tier_of(kind));
                }
            }
        }
        Ok(())
    }
}

/// Cables found in the `DEVICE_NEIGHBOR` tables, deduplicated.
#[derive(Default)]
struct Cables {
    /// Endpoint of each cable, by its other endpoint.
    known: BTreeMap<ParsedEnd, ParsedEnd>,
    /// Cables found, each once.
    found: Vec<(ParsedEnd, ParsedEnd)>,
    /// Server ports with a Y cable.
    shared: Vec<String>,
}

impl Cables {
    fn add(
        &mut self,
        switches: &BTreeMap<&str, &Switch<'_>>,
        switch: &Switch<'_>,
        neighbor: &DeviceNeighbor<'_>,
        plain: &ParsedTopology,
    ) -> Result<(), FileError> {
        let DeviceNeighbor { location, port, peer, peer_port, .. } = neighbor;
        let named = |result: Result<String, String>| result.map_or_else(|what| fail(location, what), Ok);
        let port = named(switch.own_name(port))?;
        let peer_port = match switches.get(peer) {
            Some(of) => named(of.own_name(peer_port))?,
            None => (*peer_port).to_owned(),
        };
        let (here, mut there) = ((switch.name.to_owned(), port), ((*peer).to_owned(), peer_port));
        match self.known.get(&here) {
            Some(known) if *known == there => return Ok(()), // already found from its other end
            Some(known) => {
                let message =
                    format!("says {} {}, but {} {} says it is connected here", there.0, there.1, known.0, known.1);
                return fail(location, message);
            }
            None => {}
        }
        if let Some((other, other_port)) = self.known.get(&there) {
            let is_host = plain.kind_of(peer) == Some(NodeKind::Host) || named_server(peer);
            if *other == switch.name || switches.contains_key(peer) || !is_host {
                return fail(location, format!("{} {} is connected to {other} {other_port} already", there.0, there.1));
            }
            self.shared.push(format!("{} {}", there.0, there.1));
            there.1 = format!("{}@{}", there.1, switch.name);
            if self.known.contains_key(&there) {
                return fail(
                    location,
                    format!("{} {} is connected to {} twice", there.0, neighbor.peer_port, switch.name),
                );
            }
        }
        self.known.insert(there.clone(), here.clone());
        self.known.insert(here.clone(), there.clone());
        self.found.push((here, there));
        Ok(())
    }
}

/// Refuses cables with different speeds at their ends. Of the two values the one that fewer ports between switches of
/// these types have is the wrong one.
fn check_speeds(switches: &BTreeMap<&str, &Switch<'_>>, cables: &[(ParsedEnd, ParsedEnd)]) -> Result<(), FileError> {
    let rate =
        |end: &ParsedEnd| switches.get(end.0.as_str()).map_or(Ok(None), |of| of.stated(&end.1).map(|it| it.rate));
    let kind = |end: &ParsedEnd| switches.get(end.0.as_str()).map_or("", |of| of.kind());
    let (mut by_kind, mut differing) = (BTreeMap::<_, BTreeMap<Rate, usize>>::new(), Vec::new());
    for (here, there) in cables {
        let (Some(one), Some(other)) = (rate(here)?, rate(there)?) else { continue };
        let ends = [(here, one, (kind(here), kind(there))), (there, other, (kind(there), kind(here)))];
        for (_, rate, kinds) in ends {
            *by_kind.entry(kinds).or_default().entry(rate).or_default() += 1;
        }
        if one != other {
            differing.push(ends);
        }
    }
    let Some(&[one, other]) = differing.first() else { return Ok(()) };
    let users = |(_, rate, kinds): (&ParsedEnd, Rate, (&str, &str))| by_kind[&kinds][&rate];
    let [wrong, right] = if users(other) < users(one) { [other, one] } else { [one, other] };
    let file = |end: &ParsedEnd| switches.get(end.0.as_str()).map_or(String::new(), |of| of.location.to_owned());
    let value = |rate: Rate| format!("\"{}\"", rate.as_bps() / MBPS);
    // The usual value of ports like the wrong one, if it is that of the other end.
    let of_kind = &by_kind[&wrong.2];
    let (alike, all) = (of_kind.get(&right.1).copied().unwrap_or(0), of_kind.values().sum::<usize>());
    let (hint, help) = match 2 * alike > all {
        true => {
            let (from, to) = wrong.2;
            let of = if from.is_empty() || to.is_empty() { String::new() } else { format!(" from {from} to {to}") };
            (format!("; {alike} of {all} ports{of} have {}", value(right.1)), value(right.1))
        }
        false => (String::new(), format!("{} or {} at both ends", value(wrong.1), value(right.1))),
    };
    let more = match differing.len() - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", counted(more as u64, "cable")),
    };
    let message = format!(
        "is {}, and {}: PORT|{}.speed at the other end of the cable is {}{hint} (write: {help}){more}",
        value(wrong.1),
        file(right.0),
        right.0.1,
        value(right.1)
    );
    fail(format!("{}.PORT.{}.speed", file(wrong.0), wrong.0.1), message)
}

/// Returns the link properties stated at the two ends of a cable, and both lengths if they differ.
fn spec(
    switches: &BTreeMap<&str, &Switch<'_>>,
    here: &ParsedEnd,
    there: &ParsedEnd,
    options: &Options,
) -> Result<(LinkSpec, Option<String>), FileError> {
    let stated =
        |end: &ParsedEnd| switches.get(end.0.as_str()).map_or(Ok(StatedCable::default()), |of| of.stated(&end.1));
    let (own, other) = (stated(here)?, stated(there)?);
    let two_lengths = match (own.metres, other.metres) {
        (Some(metres), Some(peer)) if metres != peer => {
            Some(format!("{} {} {metres}m and {} {} {peer}m", here.0, here.1, there.0, there.1))
        }
        _ => None,
    };
    let mut spec = options.link;
    spec.rate = own.rate.or(other.rate).unwrap_or(spec.rate);
    if let Some(metres) = own.metres.max(other.metres) {
        spec.delay = DELAY_PER_METRE * metres;
    }
    Ok((spec, two_lengths))
}

/// Returns the kind for a neighbour type: server types are hosts, types with a tier are switches.
fn role_of(kind: &str) -> Option<NodeKind> {
    match kind.to_ascii_lowercase().ends_with("server") {
        true => Some(NodeKind::Host),
        false => tier_of(kind).map(|_| NodeKind::Switch),
    }
}

/// Returns `true` for the names `Servers0`, `Servers1` ..., with which SONiC denotes all servers of a ToR.
fn named_server(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("server")
}

/// Returns the tier of `ToRRouter`, `BackEndToRRouter`, `LeafRouter`, `SpineRouter`, `UpperSpineRouter` ...
fn tier_of(kind: &str) -> Option<u8> {
    let kind = kind.to_ascii_lowercase();
    // "tor" is also a part of "storage" and "monitor".
    let tiers = [("torrouter", 1), ("leaf", 2), ("upperspine", 4), ("spine", 3)];
    let known = tiers.iter().find(|(word, _)| kind.contains(word)).map(|(_, tier)| *tier);
    known.or((kind == "tor").then_some(1))
}

/// Sort key that orders Ethernet4 before Ethernet12.
fn natural(name: &str) -> (String, u64, String) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters.to_owned(), name[letters.len()..].parse().unwrap_or(0), name.to_owned())
}
