//! Seeded faults, one per call, in the configuration of a leaf-spine fabric.

use super::Files;
use serde_json::{Value, json};
use units::random::{Stream, purpose};

pub struct Draw(Stream);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }
    fn one<'v>(&mut self, of: &[&'v str]) -> &'v str {
        of[self.below(of.len())]
    }
}

/// A function that injects a fault at a port of a switch.
type Make = fn(&mut Value, &str, &mut Draw);

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key} is not there");
}

/// Changes the key of a row.
fn rename(table: &mut Value, from: &str, to: &str) {
    let row = table.as_object_mut().unwrap().remove(from).expect(from);
    table[to] = row;
}

pub const FAULTS: &[(&str, Make)] = &[
    ("no entry of DSCP_TO_TC_MAP", |file, _, draw| {
        let dscp = draw.below(64).to_string();
        remove(&mut file["DSCP_TO_TC_MAP"]["AZURE"], &dscp);
    }),
    ("no entry of TC_TO_QUEUE_MAP", |file, _, draw| {
        remove(&mut file["TC_TO_QUEUE_MAP"]["AZURE"], draw.one(&["0", "1", "2", "3", "4", "5", "6"]));
    }),
    ("no entry of TC_TO_PRIORITY_GROUP_MAP", |file, _, draw| {
        remove(&mut file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"], draw.one(&["0", "1", "2", "3", "4", "5", "6"]));
    }),
    ("no entry of MAP_PFC_PRIORITY_TO_QUEUE", |file, _, draw| {
        remove(&mut file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"], draw.one(&["3", "4"]));
    }),
    ("another class for a DSCP", |file, _, draw| {
        let (dscp, class) = [("3", "4"), ("4", "3"), ("3", "1"), ("4", "0"), ("20", "3"), ("0", "4")][draw.below(6)];
        file["DSCP_TO_TC_MAP"]["AZURE"][dscp] = class.into();
    }),
    ("another queue for a class", |file, _, draw| {
        let (class, queue) = [("3", "4"), ("4", "3"), ("3", "1"), ("1", "3"), ("4", "2")][draw.below(5)];
        file["TC_TO_QUEUE_MAP"]["AZURE"][class] = queue.into();
    }),
    ("another priority group for a class", |file, _, draw| {
        let (class, group) = [("3", "4"), ("4", "3"), ("3", "0"), ("1", "3")][draw.below(4)];
        file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"][class] = group.into();
    }),
    ("another queue for a priority", |file, _, draw| {
        let (priority, queue) = [("3", "4"), ("4", "3"), ("3", "2")][draw.below(3)];
        file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"][priority] = queue.into();
    }),
    ("another priority group for a priority", |file, _, draw| {
        let (priority, group) = [("3", "4"), ("4", "3"), ("4", "0")][draw.below(3)];
        file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"][priority] = group.into();
    }),
    ("fewer or more priorities in pfc_enable", |file, port, draw| {
        file["PORT_QOS_MAP"][port]["pfc_enable"] = draw.one(&["3", "4", "", "3,4,5"]).into();
    }),
    ("no pfc_enable", |file, port, _| remove(&mut file["PORT_QOS_MAP"][port], "pfc_enable")),
    ("no map of a port", |file, port, draw| {
        remove(&mut file["PORT_QOS_MAP"][port], draw.one(&["tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"]));
    }),
    ("a map that is not there", |file, port, draw| {
        let field = draw.one(&["dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"]);
        file["PORT_QOS_MAP"][port][field] = "AZURE_2".into();
    }),
    ("a key that nothing reads", |file, port, draw| {
        let key = draw.one(&["pfc_enabled", "tc_to_queue", "pfcwd_enable"]);
        file["PORT_QOS_MAP"][port][key] = "3,4".into();
    }),
    ("a watched priority without PFC", |file, port, _| {
        file["PORT_QOS_MAP"][port]["pfcwd_sw_enable"] = "3,4,5".into();
    }),
    ("a lossy profile of lossless groups", |file, port, _| {
        file["BUFFER_PG"][format!("{port}|3-4")]["profile"] = "ingress_lossy_profile".into();
    }),
    ("a lossless profile of a lossy group", |file, port, _| {
        let profile = file["BUFFER_PG"][format!("{port}|3-4")]["profile"].clone();
        file["BUFFER_PG"][format!("{port}|0")]["profile"] = profile;
    }),
    ("a group that two rows have", |file, port, _| {
        rename(&mut file["BUFFER_PG"], &format!("{port}|0"), &format!("{port}|0-3"));
    }),
    ("lossless groups without a row", |file, port, _| {
        remove(&mut file["BUFFER_PG"], &format!("{port}|3-4"));
    }),
    ("a row for one lossless group", |file, port, draw| {
        let range = draw.one(&["3", "4"]);
        rename(&mut file["BUFFER_PG"], &format!("{port}|3-4"), &format!("{port}|{range}"));
    }),
    ("a lossy profile of lossless queues", |file, port, _| {
        file["BUFFER_QUEUE"][format!("{port}|3-4")]["profile"] = "egress_lossy_profile".into();
    }),
    ("a lossless profile of lossy queues", |file, port, _| {
        file["BUFFER_QUEUE"][format!("{port}|0-2")]["profile"] = "egress_lossless_profile".into();
    }),
    ("lossless queues without a row", |file, port, _| {
        remove(&mut file["BUFFER_QUEUE"], &format!("{port}|3-4"));
    }),
    ("a pool that is not there", |file, _, draw| {
        remove(&mut file["BUFFER_POOL"], draw.one(&["ingress_lossless_pool", "egress_lossless_pool"]));
    }),
    ("a profile that is not there", |file, _, _| {
        remove(&mut file["BUFFER_PROFILE"], "pg_lossless_100000_40m_profile");
    }),
    ("xoff below the cable's need", |file, _, draw| {
        let xoff = [0, 1_000, 30_000, 50_000][draw.below(4)].to_string();
        file["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]["xoff"] = xoff.into();
    }),
    ("size below xoff", |file, _, _| {
        file["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]["size"] = "19456".into();
    }),
    ("a longer cable", |file, port, draw| {
        file["CABLE_LENGTH"]["AZURE"][port] = draw.one(&["300m", "2000m", "60m"]).into();
    }),
    ("a length without unit", |file, port, _| file["CABLE_LENGTH"]["AZURE"][port] = "40".into()),
    ("no length", |file, port, _| remove(&mut file["CABLE_LENGTH"]["AZURE"], port)),
    ("a strict scheduler", |file, _, draw| {
        let name = draw.one(&["scheduler.0", "scheduler.1"]);
        file["SCHEDULER"][name] = json!({ "type": "STRICT" });
    }),
    ("no scheduler", |file, port, draw| {
        let queue = draw.one(&["3", "4"]);
        remove(&mut file["QUEUE"], &format!("{port}|{queue}"));
    }),
    ("a scheduler that is not there", |file, port, draw| {
        let queue = draw.one(&["0", "3", "6"]);
        file["QUEUE"][format!("{port}|{queue}")]["scheduler"] = "scheduler.9".into();
    }),
    ("watchdog times that SONiC refuses", |file, port, draw| {
        let (field, time) = [
            ("detection_time", "50"),
            ("detection_time", "6000"),
            ("restoration_time", "70000"),
            ("restoration_time", "150"),
            ("detection_time", "199"),
        ][draw.below(5)];
        file["PFC_WD"][port][field] = time.into();
    }),
    ("a poll interval above the times", |file, _, _| file["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "500".into()),
    ("no watchdog of a port", |file, port, _| remove(&mut file["PFC_WD"], port)),
    ("a watchdog's action that is none", |file, port, _| file["PFC_WD"][port]["action"] = "block".into()),
    ("another speed", |file, port, _| file["PORT"][port]["speed"] = "40000".into()),
    ("another MTU", |file, port, _| file["PORT"][port]["mtu"] = "1500".into()),
    ("the name of another switch", |file, _, _| {
        let name = file["DEVICE_METADATA"]["localhost"]["hostname"].as_str().unwrap();
        let other = if name == "leaf-00" { "leaf-01" } else { "leaf-00" };
        file["DEVICE_METADATA"]["localhost"]["hostname"] = other.into();
    }),
    ("the neighbour of another port", |file, port, draw| {
        let other = 4 * (32 + draw.below(8));
        file["DEVICE_NEIGHBOR"][port]["port"] = format!("Ethernet{other}").into();
    }),
];

/// Returns a random port of a file that leads to another switch.
fn uplink(file: &Value, draw: &mut Draw) -> String {
    let neighbours = file["DEVICE_NEIGHBOR"].as_object().unwrap();
    let to_switch = |row: &Value| !row["name"].as_str().unwrap().starts_with("srv");
    let ports: Vec<&String> = neighbours.iter().filter(|(_, row)| to_switch(row)).map(|(port, _)| port).collect();
    ports[draw.below(ports.len())].clone()
}

/// A fault in one file.
pub struct Seeded {
    pub name: &'static str,
    pub files: Files,
    pub file: String,
    pub port: String,
}

/// Injects the fault of a seed: the first seeds inject each kind twice, further seeds a random kind.
pub fn seeded(healthy: &Files, seed: u64) -> Seeded {
    let mut draw = Draw(Stream::new(seed, 0, purpose("faults of configuration")));
    let kind = if seed < 2 * FAULTS.len() as u64 { seed as usize % FAULTS.len() } else { draw.below(FAULTS.len()) };
    let (name, make) = FAULTS[kind];
    let mut files = healthy.clone();
    let at = draw.below(files.len());
    let (file, value) = &mut files[at];
    let (file, port) = (file.clone(), uplink(value, &mut draw));
    make(value, &port, &mut draw);
    Seeded { name, files, file, port }
}
