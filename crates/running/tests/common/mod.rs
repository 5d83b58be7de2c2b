//! Generator of configurations that follow SONiC's templates: T0 and T1 switches of a leaf-spine fabric, and the ToRs
//! of a dual-ToR pair.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod seeded;

use fabric::Fabric;
use fabric::LinkSpec;
use fabric::files::{Options, join_config_db, read_config_db};
use running::{Conditions, PathSet, QueueBinding, Report, SwitchConfig};
use serde_json::{Map, Value, json};
use units::{Rate, Time};

/// Files by name.
pub type Files = Vec<(String, Value)>;

/// A cable of a switch port: the port, the peer and its port, the kind of the peer, and the length in metres.
pub struct Cable {
    pub port: String,
    pub peer: String,
    pub peer_port: String,
    pub kind: &'static str,
    pub metres: u64,
}

/// Returns SONiC's published map, with lossless DSCPs 3 and 4.
pub fn dscp_to_tc() -> Map<String, Value> {
    let class = |dscp: u8| match dscp {
        3 => 3,
        4 => 4,
        5 => 2,
        8 => 0,
        46 => 5,
        48 => 6,
        _ => 1,
    };
    (0..64).map(|dscp: u8| (dscp.to_string(), class(dscp).to_string().into())).collect()
}

pub fn numbered(values: &[u8]) -> Value {
    values
        .iter()
        .enumerate()
        .map(|(at, value)| (at.to_string(), value.to_string().into()))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns a switch with the tables of SONiC's published template and lossless priorities 3 and 4.
pub fn switch(name: &str, kind: &str, cables: &[Cable]) -> Value {
    let (mut ports, mut neighbours, mut metadata) = (Map::new(), Map::new(), Map::new());
    let (mut lengths, mut qos, mut watchdog) = (Map::new(), Map::new(), Map::new());
    let (mut groups, mut queues, mut scheduled) = (Map::new(), Map::new(), Map::new());
    watchdog.insert("GLOBAL".into(), json!({ "POLL_INTERVAL": "200" }));
    qos.insert("global".into(), json!({ "dscp_to_tc_map": "AZURE" }));
    let mut profiles = Map::from_iter([
        (
            "ingress_lossy_profile".to_owned(),
            json!({ "pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3" }),
        ),
        (
            "egress_lossless_profile".to_owned(),
            json!({ "pool": "egress_lossless_pool", "size": "0", "static_th": "33004032" }),
        ),
        ("egress_lossy_profile".to_owned(), json!({ "pool": "egress_lossy_pool", "size": "1792", "dynamic_th": "3" })),
    ]);
    for (at, cable) in cables.iter().enumerate() {
        let port = &cable.port;
        ports.insert(
            port.clone(),
            json!({ "alias": format!("etp{at}"), "lanes": at.to_string(), "speed": "100000", "mtu": "9100",
                "admin_status": "up", "fec": "rs", "index": at.to_string() }),
        );
        neighbours.insert(port.clone(), json!({ "name": cable.peer, "port": cable.peer_port }));
        metadata.insert(cable.peer.clone(), json!({ "type": cable.kind }));
        lengths.insert(port.clone(), format!("{}m", cable.metres).into());
        qos.insert(
            port.clone(),
            json!({ "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE",
                "pfc_to_queue_map": "AZURE", "pfc_to_pg_map": "AZURE", "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4" }),
        );
        watchdog.insert(port.clone(), json!({ "action": "drop", "detection_time": "400", "restoration_time": "400" }));
        let profile = format!("pg_lossless_100000_{}m_profile", cable.metres);
        groups.insert(format!("{port}|0"), json!({ "profile": "ingress_lossy_profile" }));
        groups.insert(format!("{port}|3-4"), json!({ "profile": profile.clone() }));
        queues.insert(format!("{port}|0-2"), json!({ "profile": "egress_lossy_profile" }));
        queues.insert(format!("{port}|3-4"), json!({ "profile": "egress_lossless_profile" }));
        queues.insert(format!("{port}|5-6"), json!({ "profile": "egress_lossy_profile" }));
        for queue in 0..7 {
            let scheduler = if [3, 4].contains(&queue) { "scheduler.1" } else { "scheduler.0" };
            let mut row = json!({ "scheduler": scheduler });
            if [3, 4].contains(&queue) {
                row["wred_profile"] = "AZURE_LOSSLESS".into();
            }
            scheduled.insert(format!("{port}|{queue}"), row);
        }
        let xoff = needed(&Conditions {
            rate: Rate::from_gbps(100),
            delay: Time::from_ns(5 * cable.metres),
            mtu: 9_100,
            priorities: 2,
        });
        profiles.insert(
            profile,
            json!({ "pool": "ingress_lossless_pool", "xon": "19456", "xoff": xoff.to_string(),
                "size": (xoff + 19_456).to_string(), "dynamic_th": "0" }),
        );
    }
    json!({
        "DEVICE_METADATA": { "localhost": { "hostname": name, "type": kind, "hwsku": "ACS-MSN2700" } },
        "PORT": ports, "DEVICE_NEIGHBOR": neighbours, "DEVICE_NEIGHBOR_METADATA": metadata,
        "CABLE_LENGTH": { "AZURE": lengths },
        "DSCP_TO_TC_MAP": { "AZURE": dscp_to_tc() },
        "TC_TO_QUEUE_MAP": { "AZURE": numbered(&[0, 1, 2, 3, 4, 5, 6, 7]) },
        "TC_TO_PRIORITY_GROUP_MAP": { "AZURE": numbered(&[0, 0, 0, 3, 4, 0, 0, 7]) },
        "MAP_PFC_PRIORITY_TO_QUEUE": { "AZURE": numbered(&[0, 1, 2, 3, 4, 5, 6, 7]) },
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": { "AZURE": { "3": "3", "4": "4" } },
        "PORT_QOS_MAP": qos, "PFC_WD": watchdog,
        "BUFFER_POOL": {
            "ingress_lossless_pool": { "type": "ingress", "mode": "dynamic", "size": "33004032" },
            "egress_lossless_pool": { "type": "egress", "mode": "static", "size": "33004032" },
            "egress_lossy_pool": { "type": "egress", "mode": "dynamic", "size": "24192256" },
        },
        "BUFFER_PROFILE": profiles, "BUFFER_PG": groups, "BUFFER_QUEUE": queues,
        "SCHEDULER": {
            "scheduler.0": { "type": "DWRR", "weight": "14" }, "scheduler.1": { "type": "DWRR", "weight": "15" },
        },
        "QUEUE": scheduled,
        "WRED_PROFILE": { "AZURE_LOSSLESS": { "ecn": "ecn_all", "wred_green_enable": "true",
            "green_min_threshold": "1048576", "green_max_threshold": "2097152", "green_drop_probability": "5" } },
    })
}

/// Returns the headroom of a cable in bytes, by a simplified formula: the bytes of one round trip, of the standard's
/// reaction time at 100 Gbps (394 quanta of 64 bytes), and of three frames.
pub fn needed(conditions: &Conditions) -> u64 {
    let bits = u128::from(conditions.delay.as_ps()) * 2 * u128::from(conditions.rate.as_bps());
    u64::try_from(bits.div_ceil(8_000_000_000_000)).unwrap() + 394 * 64 + 3 * conditions.mtu
}

/// Returns `leaves` T0 switches with `hosts` servers each, and `spines` T1 switches.
pub fn leaf_spine(leaves: usize, spines: usize, hosts: usize) -> Files {
    let port = |at: usize| format!("Ethernet{}", at * 4);
    let mut files = Files::new();
    for leaf in 0..leaves {
        let name = format!("leaf-{leaf:02}");
        let to_host = |host: usize| Cable {
            port: port(host),
            peer: format!("srv-{leaf:02}-{host}"),
            peer_port: "eth0".into(),
            kind: "Server",
            metres: 5,
        };
        let to_spine = |spine: usize| Cable {
            port: port(hosts + spine),
            peer: format!("spine-{spine}"),
            peer_port: port(leaf),
            kind: "LeafRouter",
            metres: 40,
        };
        let cables: Vec<Cable> = (0..hosts).map(to_host).chain((0..spines).map(to_spine)).collect();
        files.push((format!("{name}.json"), switch(&name, "ToRRouter", &cables)));
    }
    for spine in 0..spines {
        let name = format!("spine-{spine}");
        let to_leaf = |leaf: usize| Cable {
            port: port(leaf),
            peer: format!("leaf-{leaf:02}"),
            peer_port: port(hosts + spine),
            kind: "ToRRouter",
            metres: 40,
        };
        let cables: Vec<Cable> = (0..leaves).map(to_leaf).collect();
        files.push((format!("{name}.json"), switch(&name, "LeafRouter", &cables)));
    }
    files
}

/// Returns two ToRs that share every server port, two T1s, and a third ToR, whose traffic the T1s spread over the pair.
/// `remapped`: with SONiC's remapping of bounced traffic.
pub fn dual_tor(remapped: bool) -> Files {
    let tor = |name: &str, side: usize| {
        let servers = (0..2).map(|server| Cable {
            port: format!("Ethernet{}", server * 4),
            peer: format!("Servers{server}"),
            // The server has a single port with a Y cable to both ToRs.
            peer_port: "eth0".into(),
            kind: "Server",
            metres: 5,
        });
        let uplinks = (0..2).map(|spine: usize| Cable {
            port: format!("Ethernet{}", 112 + spine * 4),
            peer: format!("t1-{}", spine + 1),
            peer_port: format!("Ethernet{}", side * 4),
            kind: "LeafRouter",
            metres: 40,
        });
        let cables: Vec<Cable> = servers.chain(uplinks).collect();
        let mut file = switch(name, "ToRRouter", &cables);
        file["DEVICE_METADATA"]["localhost"]["subtype"] = "DualToR".into();
        file["PEER_SWITCH"] = json!({ if side == 0 { "tor-b" } else { "tor-a" }: { "address_ipv4": "10.1.0.33" } });
        file["MUX_CABLE"] = json!({
            "Ethernet0": { "state": "auto", "server_ipv4": "192.168.0.2/32" },
            "Ethernet4": { "state": "auto", "server_ipv4": "192.168.0.3/32" },
        });
        file["TUNNEL"] = json!({ "MuxTunnel0": { "tunnel_type": "IPINIP", "dst_ip": "10.1.0.32",
            "dscp_mode": "uniform", "ecn_mode": "copy_from_outer", "encap_ecn_mode": "standard",
            "ttl_mode": "pipe" } });
        if remapped {
            file["TUNNEL"]["MuxTunnel0"]["dscp_mode"] = "pipe".into();
            for (field, map) in [
                ("decap_dscp_to_tc_map", "AZURE_TUNNEL"),
                ("decap_tc_to_pg_map", "AZURE_TUNNEL"),
                ("encap_tc_to_dscp_map", "AZURE_TUNNEL"),
                ("encap_tc_to_queue_map", "AZURE_TUNNEL"),
            ] {
                file["TUNNEL"]["MuxTunnel0"][field] = map.into();
            }
            // Priorities and queues 2 and 6 are for frames that a ToR sends to the other ToR of the pair.
            let mut azure = dscp_to_tc();
            azure.insert("5".into(), "1".into());
            azure.insert("48".into(), "7".into());
            let mut uplink = azure.clone();
            uplink.insert("2".into(), "2".into());
            uplink.insert("6".into(), "6".into());
            file["DSCP_TO_TC_MAP"] = json!({ "AZURE": azure.clone(), "AZURE_TUNNEL": azure, "AZURE_UPLINK": uplink });
            file["TC_TO_DSCP_MAP"] = json!({ "AZURE_TUNNEL": numbered(&[8, 0, 0, 2, 6, 46, 0, 48]) });
            file["TC_TO_QUEUE_MAP"]["AZURE_TUNNEL"] = numbered(&[0, 1, 1, 2, 6, 5, 1, 7]);
            file["TC_TO_PRIORITY_GROUP_MAP"] = json!({
                "AZURE": numbered(&[0, 0, 2, 3, 4, 0, 6, 0]), "AZURE_TUNNEL": numbered(&[0, 0, 0, 2, 6, 0, 0, 0]),
            });
            extra_priorities(&mut file, &["Ethernet112", "Ethernet116"]);
            for port in ["Ethernet112", "Ethernet116"] {
                file["PORT_QOS_MAP"][port]["dscp_to_tc_map"] = "AZURE_UPLINK".into();
            }
        }
        file
    };
    let t1 = |spine: usize| {
        let cables: Vec<Cable> = ["tor-a", "tor-b", "tor-c"]
            .into_iter()
            .enumerate()
            .map(|(side, name)| Cable {
                port: format!("Ethernet{}", side * 4),
                peer: name.into(),
                peer_port: format!("Ethernet{}", 112 + (spine - 1) * 4),
                kind: "ToRRouter",
                metres: 40,
            })
            .collect();
        let mut file = switch(&format!("t1-{spine}"), "LeafRouter", &cables);
        if remapped {
            for (dscp, class) in [("2", "2"), ("5", "1"), ("6", "6"), ("48", "7")] {
                file["DSCP_TO_TC_MAP"]["AZURE"][dscp] = class.into();
            }
            file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"] = numbered(&[0, 0, 2, 3, 4, 0, 6, 0]);
            extra_priorities(&mut file, &["Ethernet0", "Ethernet4"]);
        }
        file
    };
    let remote = {
        let uplinks = (0..2).map(|spine: usize| Cable {
            port: format!("Ethernet{}", 112 + spine * 4),
            peer: format!("t1-{}", spine + 1),
            peer_port: "Ethernet8".into(),
            kind: "LeafRouter",
            metres: 40,
        });
        let server = Cable {
            port: "Ethernet0".into(),
            peer: "Servers2".into(),
            peer_port: "eth0".into(),
            kind: "Server",
            metres: 5,
        };
        switch("tor-c", "ToRRouter", &[server].into_iter().chain(uplinks).collect::<Vec<_>>())
    };
    vec![
        ("t1-1.json".into(), t1(1)),
        ("t1-2.json".into(), t1(2)),
        ("tor-a.json".into(), tor("tor-a", 0)),
        ("tor-b.json".into(), tor("tor-b", 1)),
        ("tor-c.json".into(), remote),
    ]
}

/// Enables lossless priorities 2 and 6, in addition to 3 and 4, on ports between the tiers.
fn extra_priorities(file: &mut Value, ports: &[&str]) {
    file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE_DUALTOR"] = json!({ "2": "2", "3": "3", "4": "4", "6": "6" });
    for port in ports {
        file["PORT_QOS_MAP"][port]["pfc_enable"] = "2,3,4,6".into();
        file["PORT_QOS_MAP"][port]["pfc_to_pg_map"] = "AZURE_DUALTOR".into();
        let profile = file["BUFFER_PG"][format!("{port}|3-4")].clone();
        let groups = file["BUFFER_PG"].as_object_mut().unwrap();
        groups.remove(&format!("{port}|3-4"));
        groups.insert(format!("{port}|2-4"), profile.clone());
        groups.insert(format!("{port}|6"), profile);
        let queues = file["BUFFER_QUEUE"].as_object_mut().unwrap();
        for range in ["0-2", "3-4", "5-6"] {
            queues.remove(&format!("{port}|{range}"));
        }
        for (range, profile) in
            [("0-1", "lossy"), ("2-4", "lossless"), ("5", "lossy"), ("6", "lossless"), ("7", "lossy")]
        {
            let profile = format!("egress_{profile}_profile");
            queues.insert(format!("{port}|{range}"), json!({ "profile": profile }));
        }
        for queue in [2, 6] {
            file["QUEUE"][format!("{port}|{queue}")] =
                json!({ "scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS" });
        }
    }
    let ports: Vec<String> = file["PORT"].as_object().unwrap().keys().cloned().collect();
    for port in ports {
        file["QUEUE"][format!("{port}|7")] = json!({ "scheduler": "scheduler.0" });
        file["BUFFER_QUEUE"][format!("{port}|7")] = json!({ "profile": "egress_lossy_profile" });
    }
}

/// Returns switches that compute the headroom of priorities 3 and 4: the dynamic buffer model.
pub fn dynamic(mut files: Files) -> Files {
    for (_, file) in &mut files {
        file["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic".into();
        file["LOSSLESS_TRAFFIC_PATTERN"] = json!({"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}});
        file["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = json!({"AZURE": {"default_dynamic_th": "0"}});
        for (key, group) in file["BUFFER_PG"].as_object_mut().unwrap() {
            if key.ends_with("|3-4") {
                group["profile"] = "NULL".into();
            }
        }
        let profiles = file["BUFFER_PROFILE"].as_object_mut().unwrap();
        profiles.retain(|name, _| !name.starts_with("pg_lossless"));
    }
    files
}

pub fn texts(files: &Files) -> Vec<(String, String)> {
    files.iter().map(|(name, value)| (name.clone(), format!("{value:#}"))).collect()
}

/// Returns the topology of the files.
pub fn topology(files: &Files) -> Fabric {
    try_topology(files).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_topology(files: &Files) -> Result<Fabric, String> {
    let text = join_config_db(files.iter().map(|(_, value)| value.to_string()));
    let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(25));
    read_config_db(&text, &Options::new(link)).map_err(|error| error.to_string())
}

pub fn read(files: &Files) -> Vec<SwitchConfig> {
    running::read(&texts(files)).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// Returns the options of the check with maps of the egress port and without an ASIC table.
pub fn options(paths: PathSet) -> running::Options<'static> {
    running::Options { binding: QueueBinding::Egress, paths, headroom: &needed, asic: None, accepted_strict: 0 }
}

pub fn judge(files: &Files, paths: PathSet) -> Report {
    let (fabric, configs) = (topology(files), read(files));
    running::judge(&fabric, &configs, &options(paths)).unwrap_or_else(|faults| panic!("{faults:#?}"))
}
