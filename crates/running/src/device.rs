//! Classification, queues and pause relations of each port, derived from the configuration.
//!
//! ```text
//!   ingress port                                     egress port
//!   DSCP --DSCP_TO_TC_MAP--> traffic class --TC_TO_QUEUE_MAP--> queue <--MAP_PFC_PRIORITY_TO_QUEUE-- PFC priority
//!                                |          --TC_TO_DSCP_MAP--> DSCP at the next switch
//!                    TC_TO_PRIORITY_GROUP_MAP
//!                                v
//!                        priority group (account) --PFC_PRIORITY_TO_PRIORITY_GROUP_MAP, reversed--> PFC priority sent
//! ```
//!
//! An account is lossless if `pfc_enable` has a priority that maps to it and its `BUFFER_PG` profile has an `xoff`.

use crate::error::{Fault, TOPOLOGY};
use crate::options::QueueBinding;
use crate::read::{COMPUTED, Profile, QosMap, Scheduling, SwitchConfig, table_of};
use fabric::{Fabric, NodeId, NodeKind, PortIndex, Subject, nearest_name};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const DSCPS: usize = 64;
pub(crate) const CLASSES: usize = 16;

/// A connected port of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub node: NodeId,
    pub index: PortIndex,
    pub name: String,
    /// Traffic class by DSCP.
    pub class: [u8; DSCPS],
    /// Priority group by traffic class.
    pub group: [u8; CLASSES],
    /// Queue by traffic class.
    pub queue: [u8; CLASSES],
    /// DSCP that frames of a traffic class have on departure; `None`: unchanged.
    pub dscp: [Option<u8>; CLASSES],
    /// Bitmask of the priorities of `pfc_enable`.
    pub enabled: u8,
    /// Bitmask of the enabled priorities that PFC frames of each group pause.
    pub sends: [u8; 8],
    /// Bitmask of the queues that PFC frames of each enabled priority pause.
    pub stops: [u32; 8],
    /// Bitmask of the groups with a lossless profile.
    pub lossless_profiles: u8,
    /// Bitmask of the groups that send PFC frames instead of dropping.
    pub lossless: u8,
    /// Bitmask of the queues with a lossless profile.
    pub lossless_queues: u32,
    /// Bitmask of the queues with a profile of which neither the name nor that of its pool contains lossless or lossy.
    pub unnamed_queues: u32,
    /// Bitmask of the queues with a scheduler.
    pub scheduled: u32,
    /// Bitmask of the queues with strict-priority scheduling.
    pub strict: u32,
    /// Rate limits (`pir`) of queues below the port's rate, in bytes per second.
    pub limits: BTreeMap<u8, u64>,
    /// The port's rate in bytes per second; 0 if the file states none, in which case `limits` is empty.
    pub rate: u64,
    /// `delivers`: frames to the host may be delivered by this port; `detours`: they may have to take the tunnel to the
    /// other ToR.
    pub delivers: bool,
    pub detours: bool,
}

impl Port {
    /// Returns whether both ports treat frames equally, on ingress and egress.
    pub fn has_equal_treatment(&self, other: &Port) -> bool {
        let maps = |port: &Port| (port.class, port.group, port.queue, port.dscp);
        let pfc = |port: &Port| (port.enabled, port.sends, port.stops, port.lossless);
        let cable = |port: &Port| (port.node, port.delivers, port.detours);
        maps(self) == maps(other) && pfc(self) == pfc(other) && cable(self) == cable(other)
    }

    /// Returns the bitmask of the queues among `fed` that can starve `queue`. These are the queues of higher strict
    /// priority without a rate limit; if all have a rate limit, all of them, provided that the limits add up to the
    /// port's rate.
    pub fn starves(&self, queue: u8, fed: u32) -> u32 {
        let is_strict = |queue: u8| self.strict >> queue & 1 == 1;
        let before = |&other: &u8| {
            let outranks = is_strict(other) && other != queue && (!is_strict(queue) || other > queue);
            outranks && fed >> other & 1 == 1
        };
        let above: Vec<u8> = (0..32u8).filter(before).collect();
        let bits = |queues: &mut dyn Iterator<Item = &u8>| queues.fold(0, |bits, queue| bits | 1 << queue);
        let unlimited = bits(&mut above.iter().filter(|queue| !self.limits.contains_key(queue)));
        let limits = above.iter().filter_map(|queue| self.limits.get(queue));
        let together = limits.fold(0u64, |sum, limit| sum.saturating_add(*limit));
        match unlimited {
            0 if !above.is_empty() && together >= self.rate => bits(&mut above.iter()),
            _ => unlimited,
        }
    }

    /// Returns the queues of [`starves`](Port::starves) if the strict priority of `accepted` queues is no fault; these
    /// are among the result where their limits count. An accepted queue counts in the sum of limits of the others. If
    /// it has no limit itself, the others are judged without it, because the first call returns only queues without a
    /// limit.
    pub fn starves_beside(&self, queue: u8, fed: u32, accepted: u32) -> u32 {
        self.starves(queue, fed) | self.starves(queue, fed & !accepted)
    }
}

/// The tunnel of a switch to the other ToR.
#[derive(Clone, Debug)]
pub(crate) struct PeerTunnel {
    pub peer: NodeId,
    pub uniform: bool,
    pub decap_class: Option<[u8; DSCPS]>,
    pub decap_group: Option<[u8; CLASSES]>,
    pub encap_dscp: Option<[Option<u8>; CLASSES]>,
    pub encap_queue: Option<[u8; CLASSES]>,
}

/// All switches of a fabric with their configurations.
#[derive(Debug)]
pub(crate) struct Device<'a> {
    pub fabric: &'a Fabric,
    pub binding: QueueBinding,
    /// Configuration of each node; `None` for hosts.
    configs: Vec<Option<&'a SwitchConfig>>,
    /// Configured ports, by port number of the fabric; `None` for ports of hosts.
    ports: Vec<Option<Port>>,
    /// Number of the peer port, by port number of the fabric.
    peers: Vec<u32>,
    /// Node and port, by port number of the fabric.
    owners: Vec<(NodeId, PortIndex)>,
    pub detours: BTreeMap<NodeId, PeerTunnel>,
}

fn fault(config: &SwitchConfig, key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Fault {
    Fault { file: config.file.clone(), key: key.into(), message: message.into(), help: help.into() }
}

fn filled<const N: usize>(map: &QosMap) -> [u8; N] {
    std::array::from_fn(|key| map.get(&(key as u8)).copied().unwrap_or(0))
}

fn open(map: &QosMap) -> [Option<u8>; CLASSES] {
    std::array::from_fn(|key| map.get(&(key as u8)).copied())
}

impl<'a> Device<'a> {
    /// Derives all ports.
    ///
    /// # Errors
    /// A switch without a file, a file without a switch, a connected port without maps, a host that forwards.
    pub fn new(
        fabric: &'a Fabric,
        configs: &'a [SwitchConfig],
        binding: QueueBinding,
    ) -> Result<Device<'a>, Vec<Fault>> {
        let mut device = Device {
            fabric,
            binding,
            configs: vec![None; fabric.nodes().len()],
            ports: vec![None; fabric.port_count()],
            peers: vec![0; fabric.port_count()],
            owners: vec![(NodeId(0), 0); fabric.port_count()],
            detours: BTreeMap::new(),
        };
        let mut faults = Vec::new();
        // A host that forwards has accounts and queues that no file describes.
        let forwards = fabric.nodes().iter().find(|node| node.relay && node.kind == NodeKind::Host);
        if let Some(host) = forwards {
            faults.push(Fault {
                file: TOPOLOGY.to_owned(),
                key: fabric::visible(&host.name),
                message: "is a host that forwards, and the configuration of hosts is not read".to_owned(),
                help: "a topology whose hosts forward nothing (without --relay)".to_owned(),
            });
        }
        // The switch ports of attached hosts are in no file, so the classification of their frames is undefined.
        if fabric.decisions().iter().any(|decision| decision.subject == Subject::AttachedHosts) {
            return Err(vec![Fault {
                file: TOPOLOGY.to_owned(),
                key: "DEVICE_NEIGHBOR".to_owned(),
                message: "no file has a server, and the ports of attached hosts have no configuration".to_owned(),
                help: "DEVICE_NEIGHBOR with the server at each port that leads to one; hosts that are attached \
                       (--hosts-on, --hosts-per-switch) do not serve"
                    .to_owned(),
            }]);
        }
        let names: BTreeSet<&str> = configs.iter().map(|config| config.name.as_str()).collect();
        for config in configs {
            match fabric.find(&config.name).filter(|&node| fabric.node(node).kind == NodeKind::Switch) {
                Some(node) => device.configs[node.index()] = Some(config),
                None => {
                    let message = format!("the topology has no switch `{}`", fabric::visible(&config.name));
                    let switches = fabric.switches().map(|node| fabric.name(node));
                    let near = nearest_name(&config.name, switches.filter(|name| !names.contains(name)));
                    let help = near.map_or_else(
                        || "name the topology of these switches before --running".to_owned(),
                        |near| format!("{}, a switch of the topology without a file", fabric::visible(near)),
                    );
                    faults.push(fault(config, "DEVICE_METADATA|localhost.hostname", message, help));
                }
            }
        }
        for node in fabric.node_ids() {
            for (index, peer) in fabric.ports(node).iter().enumerate() {
                let number = fabric.port_number(node, index as PortIndex);
                device.peers[number] = fabric.port_number(peer.peer, peer.peer_port) as u32;
                device.owners[number] = (node, index as PortIndex);
            }
            if fabric.node(node).kind == NodeKind::Host {
                continue;
            }
            let Some(config) = device.configs[node.index()] else {
                faults.push(without_file(fabric, node, configs));
                continue;
            };
            for index in 0..fabric.ports(node).len() as PortIndex {
                match port(fabric, node, index, config) {
                    Ok(port) => device.ports[fabric.port_number(node, index)] = Some(port),
                    Err(wrong) => faults.push(wrong),
                }
            }
            match detour(fabric, config) {
                Ok(Some(found)) => drop(device.detours.insert(node, found)),
                Ok(None) => {}
                Err(wrong) => faults.push(wrong),
            }
        }
        if faults.is_empty() { Ok(device) } else { Err(faults) }
    }

    /// Returns a port of a switch by its port number; `None` for a port of a host.
    pub fn port(&self, number: u32) -> Option<&Port> {
        self.ports[number as usize].as_ref()
    }
    /// Returns all ports of switches, with their port numbers.
    pub fn ports(&self) -> impl Iterator<Item = (u32, &Port)> {
        self.ports.iter().enumerate().filter_map(|(number, port)| Some((number as u32, port.as_ref()?)))
    }
    /// Returns the connected ports of the switch of a file.
    pub fn ports_of(&self, config: &SwitchConfig) -> impl Iterator<Item = &Port> {
        let fabric = self.fabric;
        let ports = fabric.find(&config.name).map_or(0..0, |node| {
            let first = fabric.port_number(node, 0);
            first..first + fabric.ports(node).len()
        });
        ports.filter_map(|number| self.port(number as u32))
    }
    /// Returns the peer port, if it belongs to a switch.
    pub fn peer(&self, number: u32) -> Option<(u32, &Port)> {
        let peer = self.peers[number as usize];
        Some((peer, self.port(peer)?))
    }
    /// Returns the configuration of a port's switch.
    pub fn config(&self, port: &Port) -> &'a SwitchConfig {
        self.configs[port.node.index()].expect("a port of a switch with a file")
    }
    /// Returns the traffic class and priority group of an arriving frame. `dscp` is the DSCP of the outermost header;
    /// in a tunnel, `inner` is that of the inner header. `ends`: whether the tunnel ends at this switch.
    pub fn classify(&self, port: &Port, dscp: u8, inner: Option<u8>, ends: bool) -> (u8, u8) {
        let detour = self.detours.get(&port.node).filter(|_| ends);
        let Some(detour) = detour else {
            let class = port.class[usize::from(dscp)];
            return (class, port.group[usize::from(class)]);
        };
        let seen = self.carried(port.node, dscp, inner, ends);
        let class = detour.decap_class.as_ref().unwrap_or(&port.class)[usize::from(seen)];
        (class, detour.decap_group.as_ref().unwrap_or(&port.group)[usize::from(class)])
    }

    /// Returns the DSCP with which this switch continues to process a frame. If a tunnel ends here, it is that of the
    /// inner header in pipe mode and that of the outer header in uniform mode; otherwise it is that of the outer
    /// header.
    pub fn carried(&self, node: NodeId, dscp: u8, inner: Option<u8>, ends: bool) -> u8 {
        let is_pipe = ends && self.detours.get(&node).is_some_and(|detour| !detour.uniform);
        inner.filter(|_| is_pipe).unwrap_or(dscp)
    }

    /// Returns the queue of a class at `egress` and the DSCP on departure. `enters`: whether the switch
    /// encapsulates the frames in its tunnel.
    pub fn leaves(&self, ingress: &Port, egress: &Port, class: u8, dscp: u8, enters: bool) -> (u8, u8) {
        let class = usize::from(class);
        let by = match self.binding {
            QueueBinding::Egress => egress,
            QueueBinding::Ingress => ingress,
        };
        let (queue, plain) = (by.queue[class], egress.dscp[class].unwrap_or(dscp));
        let Some(detour) = self.detours.get(&egress.node).filter(|_| enters) else { return (queue, plain) };
        let outer = match detour.encap_dscp {
            Some(map) => map[class].unwrap_or(0),
            None if detour.uniform => plain,
            None => 0,
        };
        (detour.encap_queue.map_or(queue, |map| map[class]), outer)
    }

    /// Returns the names of the node and the port.
    pub fn end(&self, number: u32) -> (&'a str, String) {
        let (node, index) = self.owners[number as usize];
        let name = self.fabric.port_name(node, index).map_or(index.to_string(), str::to_owned);
        (self.fabric.name(node), name)
    }
    /// Returns the node of a port.
    pub fn owner(&self, number: u32) -> NodeId {
        self.owners[number as usize].0
    }
    /// Returns the peer port, whether it belongs to a host or a switch.
    pub fn other(&self, number: u32) -> u32 {
        self.peers[number as usize]
    }

    /// Configurations of all switches.
    pub fn configs(&self) -> impl Iterator<Item = &'a SwitchConfig> + '_ {
        self.configs.iter().flatten().copied()
    }

    /// Maps each DSCP to the lowest DSCP that all maps treat equally.
    pub fn alike(&self) -> [u8; DSCPS] {
        let mut maps: BTreeSet<[u8; DSCPS]> = self.ports.iter().flatten().map(|port| port.class).collect();
        maps.extend(self.detours.values().filter_map(|detour| detour.decap_class));
        std::array::from_fn(|dscp| {
            let same = |other: &usize| maps.iter().all(|map| map[*other] == map[dscp]);
            (0..dscp).find(same).unwrap_or(dscp) as u8
        })
    }

    /// Returns the DSCPs that tunnels write for classes that are lossless at a host's port. Hosts must not send these
    /// DSCPs.
    pub fn reserved(&self) -> BTreeSet<u8> {
        let mut reserved = BTreeSet::new();
        for (_, port) in self.ports().filter(|(number, _)| self.peer(*number).is_none()) {
            let Some(map) = self.detours.get(&port.node).and_then(|detour| detour.encap_dscp.as_ref()) else {
                continue;
            };
            let lossless = |class: &usize| port.lossless >> port.group[*class] & 1 == 1;
            reserved.extend((0..CLASSES).filter(lossless).filter_map(|class| map[class]));
        }
        reserved
    }
}

/// Returns the fault of a switch without a file, located at a neighbour that has a file.
fn without_file(fabric: &Fabric, node: NodeId, configs: &[SwitchConfig]) -> Fault {
    let name = fabric::visible(fabric.name(node));
    let by = fabric.ports(node).iter().find_map(|link| {
        let config = configs.iter().find(|config| config.name == fabric.name(link.peer))?;
        Some((config, fabric.port_name(link.peer, link.peer_port).map_or_else(String::new, fabric::visible)))
    });
    // A switch with another link to the neighbour is another one.
    let peers: BTreeSet<&str> =
        fabric.ports(node).iter().flat_map(|link| fabric.ports(link.peer)).map(|link| fabric.name(link.peer)).collect();
    let others = configs.iter().map(|config| config.name.as_str()).filter(|name| !peers.contains(name));
    let near = nearest_name(fabric.name(node), others);
    let near = near.map_or_else(String::new, |near| format!("{}, if this switch is meant; ", fabric::visible(near)));
    let help = format!(
        "{near}the config_db.json of {name} in the folder; --ignore {name} leaves the switch out, --host {name} makes \
         it a host"
    );
    let (file, message) = match by {
        Some((config, port)) => (
            config.file.clone(),
            format!("{port} leads to the switch `{name}`, and no file of the folder has its configuration"),
        ),
        None => (TOPOLOGY.to_owned(), format!("no file of the folder has the configuration of the switch `{name}`")),
    };
    Fault { file, key: "DEVICE_NEIGHBOR".to_owned(), message, help }
}

/// Returns the fault of a row of `PORT_QOS_MAP` without the maps that a connected port needs. The advice has the maps
/// of most other ports of the file.
fn without_maps(config: &SwitchConfig, row: &str, missing: &[&str]) -> Fault {
    let usual = |field: &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let maps = config.qos.values().filter_map(|qos| qos.maps.get(field));
        maps.for_each(|map| *counts.entry(map).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(map, _)| format!("\"{}\"", fabric::visible(map)))
    };
    let advice = |field: &str| usual(field).unwrap_or_else(|| format!("the name of a row of {}", table_of(field)));
    match missing {
        [field] => {
            let message = "is missing: the configuration has no behaviour of the ASIC without it";
            fault(config, format!("{row}.{field}"), message, advice(field))
        }
        fields => {
            let message =
                format!("has no {}: the configuration has no behaviour of the ASIC without them", fields.join(", "));
            let help: Vec<String> = fields.iter().map(|field| format!("{field} {}", advice(field))).collect();
            fault(config, row, message, help.join(", "))
        }
    }
}

/// Returns the `pfc_enable` of most ports of a switch, such as `3,4`; `None` if most have none.
fn usual_pfc_enable(config: &SwitchConfig) -> Option<String> {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    let ports = config.qos.iter().filter(|(name, _)| *name != "global");
    ports.for_each(|(_, qos)| *counts.entry(qos.pfc_enable).or_default() += 1);
    let usual = counts.into_iter().max_by_key(|(_, count)| *count).map(|(enabled, _)| enabled).filter(|&it| it != 0)?;
    let priorities = (0..8).filter(|at| usual >> at & 1 == 1).map(|at: u8| at.to_string());
    Some(priorities.collect::<Vec<_>>().join(","))
}

fn port(fabric: &Fabric, node: NodeId, index: PortIndex, config: &SwitchConfig) -> Result<Port, Fault> {
    let number = index.to_string();
    let name = fabric.port_name(node, index).unwrap_or(&number);
    if !config.ports.contains_key(name) {
        let message = format!("PORT has no `{}`, which the topology connects", fabric::visible(name));
        return Err(fault(config, "PORT", message, "ports as the topology calls them"));
    }
    let qos = config.qos.get(name);
    let row = format!("PORT_QOS_MAP|{name}");
    let key = qos.map_or(&row, |qos| &qos.key);
    let map = |field: &'static str| {
        let global = config.qos.get("global").and_then(|qos| qos.maps.get(field));
        let map = qos.and_then(|qos| qos.maps.get(field)).or(global);
        map.and_then(|map| config.maps[table_of(field)].get(map))
    };
    let enabled = qos.map_or(0, |qos| qos.pfc_enable);
    let needed = ["dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"];
    let needed = if enabled == 0 { &needed[..3] } else { &needed[..] };
    let missing: Vec<&str> = needed.iter().copied().filter(|field| map(field).is_none()).collect();
    if !missing.is_empty() {
        let mut fault = without_maps(config, key, &missing);
        // Without the row, the port has no PFC either.
        if let (None, 2.., Some(priorities)) = (qos, missing.len(), usual_pfc_enable(config)) {
            fault.help.push_str(&format!(", pfc_enable \"{priorities}\""));
        }
        return Err(fault);
    }
    let stops = map("pfc_to_queue_map").filter(|_| enabled != 0).map_or([0; 8], |map| {
        let queue = |priority: usize| map.get(&(priority as u8)).filter(|_| enabled >> priority & 1 == 1);
        std::array::from_fn(|priority| queue(priority).map_or(0, |queue| 1 << queue))
    });
    let whole = |field: &'static str| map(field).map_or_else(QosMap::new, Clone::clone);
    // A PFC priority without an entry maps to the priority group with the same number.
    let groups = map("pfc_to_pg_map");
    let mut sends = [0; 8];
    for priority in (0..8u8).filter(|priority| enabled >> priority & 1 == 1) {
        let group = groups.map_or(priority, |map| map.get(&priority).copied().unwrap_or(priority));
        sends[usize::from(group)] |= 1 << priority;
    }
    let profile = |name: &str| config.profiles.get(name);
    let lossless_profile = |group: u8| {
        let bound = config.groups.get(&(name.to_owned(), group));
        bound.is_some_and(|it| config.computes(&it.name) || profile(&it.name).is_some_and(|it| it.xoff.is_some()))
    };
    let lossless_profiles = (0..8u8).filter(|&group| lossless_profile(group)).fold(0, |bits, group| bits | 1 << group);
    let pausing = (0..8u8).filter(|&group| sends[usize::from(group)] != 0).fold(0u8, |bits, group| bits | 1 << group);
    let (mut lossless_queues, mut unnamed_queues, mut scheduled, mut strict) = (0u32, 0u32, 0u32, 0u32);
    let rate = config.ports[name].rate.map_or(0, |rate| rate.as_bps() / 8);
    let mut limits = BTreeMap::new();
    for queue in 0..32u8 {
        let at = (name.to_owned(), queue);
        if let Some(bound) = config.queues.get(&at) {
            let named = profile(&bound.name).and_then(|it: &Profile| it.lossless_queue);
            let computed = bound.name == COMPUTED;
            lossless_queues |= u32::from(computed || named == Some(true)) << queue;
            unnamed_queues |= u32::from(!computed && named.is_none()) << queue;
        }
        if let Some(scheduling) = config.scheduled.get(&at).and_then(|bound| config.schedulers.get(&bound.name)) {
            scheduled |= 1 << queue;
            let (Scheduling::Strict { limit } | Scheduling::Share { limit }) = scheduling;
            strict |= u32::from(matches!(scheduling, Scheduling::Strict { .. })) << queue;
            // Only a limit below the port's rate leaves bandwidth for other queues.
            limits.extend(limit.filter(|limit| (1..rate).contains(limit)).map(|limit| (queue, limit)));
        }
    }
    let mux = config.mux.get(name);
    Ok(Port {
        node,
        index,
        name: name.to_owned(),
        class: filled(&whole("dscp_to_tc_map")),
        group: filled(&whole("tc_to_pg_map")),
        queue: filled(&whole("tc_to_queue_map")),
        dscp: map("tc_to_dscp_map").map_or([None; CLASSES], open),
        enabled,
        sends,
        stops,
        lossless_profiles,
        lossless: lossless_profiles & pausing,
        lossless_queues,
        unnamed_queues,
        scheduled,
        strict,
        limits,
        rate,
        delivers: mux.is_none_or(|mux| mux.may_be_active),
        detours: mux.is_some_and(|mux| mux.may_be_standby),
    })
}

fn detour(fabric: &Fabric, config: &SwitchConfig) -> Result<Option<PeerTunnel>, Fault> {
    let (Some(tunnel), Some(peer)) = (&config.tunnel, &config.peer) else { return Ok(None) };
    let node = fabric.find(peer).filter(|&node| fabric.node(node).kind == NodeKind::Switch);
    let Some(node) = node else {
        let message = format!("the topology has no switch `{}`", fabric::visible(peer));
        let near = nearest_name(peer, fabric.switches().map(|node| fabric.name(node)));
        let help = near.map_or_else(|| "the name of the other ToR".to_owned(), fabric::visible);
        return Err(fault(config, format!("PEER_SWITCH|{peer}"), message, help));
    };
    let map = |field: &str| tunnel.maps.get(field).and_then(|name| config.maps[table_of(field)].get(name));
    Ok(Some(PeerTunnel {
        peer: node,
        uniform: tunnel.uniform,
        decap_class: map("decap_dscp_to_tc_map").map(filled),
        decap_group: map("decap_tc_to_pg_map").map(filled),
        encap_dscp: map("encap_tc_to_dscp_map").map(open),
        encap_queue: map("encap_tc_to_queue_map").map(filled),
    }))
}
