//! Invalid input is rejected with file and key, for both forms of references; random damage causes no panic.

mod common;

use common::{Files, dual_tor, leaf_spine, texts, try_topology};
use running::{PathSet, QueueBinding};
use serde_json::{Value, json};
use units::random::{Stream, purpose};

/// Returns the faults of two leaves and a spine after a change to the second leaf's file.
fn faults(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut files = leaf_spine(2, 1, 1);
    change(&mut files[1].1);
    running::read(&texts(&files)).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn fault(change: impl Fn(&mut Value)) -> String {
    let faults = faults(change);
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults[0].clone()
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
}

#[test]
fn holes_and_missing_rows_name_file_and_key() {
    let hole = fault(|file| remove(&mut file["DSCP_TO_TC_MAP"]["AZURE"], "17"));
    assert_eq!(hole, "leaf-01.json: DSCP_TO_TC_MAP|AZURE.17: is missing: the map has a hole");
    let hole = fault(|file| remove(&mut file["TC_TO_QUEUE_MAP"]["AZURE"], "6"));
    assert_eq!(hole, "leaf-01.json: TC_TO_QUEUE_MAP|AZURE.6: is missing: the map has a hole");
    let pool = fault(|file| remove(&mut file["BUFFER_POOL"], "egress_lossy_pool"));
    assert_eq!(pool, "leaf-01.json: BUFFER_PROFILE|egress_lossy_profile.pool: BUFFER_POOL has no `egress_lossy_pool`");
    let map = fault(|file| file["PORT_QOS_MAP"]["Ethernet0"]["tc_to_pg_map"] = "AZURE_2".into());
    assert_eq!(map, "leaf-01.json: PORT_QOS_MAP|Ethernet0.tc_to_pg_map: TC_TO_PRIORITY_GROUP_MAP has no `AZURE_2`");
    let length = fault(|file| file["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40".into());
    assert_eq!(length, "leaf-01.json: CABLE_LENGTH|AZURE.Ethernet0: is \"40\": no length in metres");
    let port = fault(|file| file["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"] = "3,9".into());
    assert_eq!(port, "leaf-01.json: PORT_QOS_MAP|Ethernet4.pfc_enable: `3,9` is no list of priorities");
    let overlap = fault(|file| file["BUFFER_PG"]["Ethernet0|3"] = json!({ "profile": "ingress_lossy_profile" }));
    assert_eq!(overlap, "leaf-01.json: BUFFER_PG|Ethernet0|3-4: overlaps BUFFER_PG|Ethernet0|3");
    let unknown = fault(|file| file["PFC_WD"]["Ethernet9"] = json!({ "action": "drop" }));
    assert_eq!(unknown, "leaf-01.json: PFC_WD|Ethernet9: PORT has no `Ethernet9`");
    let twice = fault(|file| file["PFC_WD"]["Ethernet0 "] = file["PFC_WD"]["Ethernet0"].clone());
    assert_eq!(twice, "leaf-01.json: PFC_WD|Ethernet0 : Ethernet0 has two rows");
    let all = fault(|file| file["PORT_QOS_MAP"]["global"]["pfc_enable"] = "3,4".into());
    assert!(all.starts_with("leaf-01.json: PORT_QOS_MAP|global.pfc_enable: is in the row of the switch"), "{all}");
    let packets = fault(|file| {
        file["SCHEDULER"]["scheduler.0"] = json!({ "type": "STRICT", "meter_type": "packets", "pir": "1000" });
    });
    assert!(packets.starts_with("leaf-01.json: SCHEDULER|scheduler.0.meter_type: is `packets`"), "{packets}");
    let nothing = fault(|file| remove(file, "PORT_QOS_MAP"));
    assert_eq!(nothing, "leaf-01.json: PORT_QOS_MAP: is missing: the file has no QoS");
    let dot1p = fault(|file| file["PORT_QOS_MAP"]["Ethernet0"]["dot1p_to_tc_map"] = "AZURE".into());
    assert!(dot1p.starts_with("leaf-01.json: PORT_QOS_MAP|Ethernet0.dot1p_to_tc_map: classifies"), "{dot1p}");
}

#[test]
fn values_that_sonics_models_refuse_are_faults() {
    let mode = fault(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["mode"] = "dynamc".into());
    assert_eq!(mode, "leaf-01.json: BUFFER_POOL|ingress_lossless_pool.mode: is `dynamc`: SONiC refuses it");
    let kind = fault(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["type"] = "in".into());
    assert_eq!(kind, "leaf-01.json: BUFFER_POOL|ingress_lossless_pool.type: is `in`: SONiC refuses it");
    let profile = |field: &'static str, value: &'static str| {
        fault(|file| file["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"][field] = value.into())
    };
    let at = "leaf-01.json: BUFFER_PROFILE|pg_lossless_100000_40m_profile";
    assert_eq!(profile("dynamic_th", "-99"), format!("{at}.dynamic_th: is `-99`: SONiC refuses it"));
    assert_eq!(profile("dynamic_th", "9"), format!("{at}.dynamic_th: is `9`: SONiC refuses it"));
    assert_eq!(profile("static_th", "-1"), format!("{at}.static_th: is `-1`"));
    assert_eq!(
        profile("packet_discard_action", "keep"),
        format!("{at}.packet_discard_action: is `keep`: SONiC refuses it")
    );
    assert!(
        profile("xon", "1000000").starts_with(&format!("{at}.xon: is 1000000, more than the size of the profile, "))
    );
    // A row as published by Broadcom, in which `size` is the guaranteed minimum.
    let broadcom = faults(|file| {
        let profile = &mut file["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"];
        (profile["size"], profile["xon"], profile["xoff"]) = ("1248".into(), "2288".into(), "55120".into());
    });
    assert_eq!(broadcom, Vec::<String>::new());
    for allowed in ["-8", "8", "0"] {
        let changed =
            faults(|file| file["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]["dynamic_th"] = allowed.into());
        assert_eq!(changed, Vec::<String>::new());
    }
    for length in ["40 m", " 40m", "+40m", "m", "-40m", "0.5m"] {
        let wrong = fault(|file| file["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = length.into());
        assert_eq!(wrong, format!("leaf-01.json: CABLE_LENGTH|AZURE.Ethernet0: is \"{length}\": no length in metres"));
    }
}

#[test]
fn references_to_rows_that_are_not_there_are_faults() {
    let wred = fault(|file| file["QUEUE"]["Ethernet4|3"]["wred_profile"] = "NOPE".into());
    assert_eq!(wred, "leaf-01.json: QUEUE|Ethernet4|3.wred_profile: WRED_PROFILE has no `NOPE`");
    let port = fault(|file| file["PORT_QOS_MAP"]["Ethernet4"]["scheduler"] = "scheduler.9".into());
    assert_eq!(port, "leaf-01.json: PORT_QOS_MAP|Ethernet4.scheduler: SCHEDULER has no `scheduler.9`");
    let class = fault(|file| file["PORT_QOS_MAP"]["Ethernet4"]["dscp_to_fc_map"] = "FC".into());
    assert_eq!(class, "leaf-01.json: PORT_QOS_MAP|Ethernet4.dscp_to_fc_map: DSCP_TO_FC_MAP has no `FC`");
}

#[test]
fn a_row_with_a_fault_is_no_missing_row() {
    let scheduler = fault(|file| file["SCHEDULER"]["scheduler.0"]["type"] = "DWR".into());
    assert_eq!(scheduler, "leaf-01.json: SCHEDULER|scheduler.0.type: is `DWR`: SONiC refuses it");
    let profile = "pg_lossless_100000_40m_profile";
    let pool = fault(|file| remove(&mut file["BUFFER_PROFILE"][profile], "pool"));
    assert_eq!(pool, format!("leaf-01.json: BUFFER_PROFILE|{profile}.pool: is missing"));
    let row = fault(|file| file["BUFFER_PROFILE"][profile] = 3.into());
    assert_eq!(row, format!("leaf-01.json: BUFFER_PROFILE|{profile}: must be an object of fields"));
    let pool = fault(|file| file["BUFFER_POOL"]["egress_lossy_pool"] = 3.into());
    assert_eq!(pool, "leaf-01.json: BUFFER_POOL|egress_lossy_pool: must be an object of fields");
    let class = fault(|file| file["DSCP_TO_TC_MAP"]["AZURE"]["17"] = "99".into());
    assert_eq!(class, "leaf-01.json: DSCP_TO_TC_MAP|AZURE.17: is \"99\"");
    let group = fault(|file| file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["3"] = "9".into());
    assert_eq!(group, "leaf-01.json: PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE.3: is \"9\"");
    let map = fault(|file| file["TC_TO_QUEUE_MAP"]["AZURE"] = 3.into());
    assert_eq!(map, "leaf-01.json: TC_TO_QUEUE_MAP|AZURE: must be an object of fields");
}

#[test]
fn a_port_that_two_files_claim_and_two_switches_of_one_name_are_refused() {
    let claimed = faults(|file| file["DEVICE_NEIGHBOR"]["Ethernet4"]["port"] = "Ethernet0".into());
    let why = "leaf-01.json: DEVICE_NEIGHBOR|Ethernet4: leads to spine-0 Ethernet0, and spine-0.json: \
               DEVICE_NEIGHBOR|Ethernet0 leads to leaf-00 Ethernet4; spine-0.json: DEVICE_NEIGHBOR|Ethernet4 leads to \
               leaf-01 Ethernet4";
    assert_eq!(claimed, [why]);
    let named = faults(|file| file["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf-00".into());
    let why = "leaf-01.json: DEVICE_METADATA|localhost.hostname: is `leaf-00`, and the entry of the port that leads \
               here names `leaf-01`";
    assert_eq!(named, [why]);
    let without = faults(|file| {
        file["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf-00".into();
        file["DEVICE_NEIGHBOR"] = json!({});
    });
    assert!(without[0].contains("`leaf-00` is also the name of leaf-00.json"), "{without:?}");
}

/// A file of another fabric whose neighbours have the names of this one: it gets no name that a file here has.
#[test]
fn a_leaf_of_another_fabric_is_not_renamed_to_a_leaf_of_this_one() {
    let mut files = leaf_spine(2, 2, 1);
    let mut foreign = files[1].1.clone();
    foreign["DEVICE_METADATA"]["localhost"]["hostname"] = "dc2-leaf-01".into();
    files.push(("dc2-leaf-01.json".to_owned(), foreign));
    let faults = running::read(&texts(&files)).unwrap_err();
    let fault = faults.iter().find(|fault| fault.file == "dc2-leaf-01.json").expect("a fault");
    assert!(fault.message.contains("`leaf-01`, the name of leaf-01.json"), "{fault}");
    assert_eq!(fault.help, "another name, or remove the file if it is of another fabric");
}

/// The entries of two ports have each other's neighbour: one error at the file with both, none at the neighbours.
#[test]
fn exchanged_neighbours_are_one_error_at_the_file_with_both() {
    let mut files = leaf_spine(2, 2, 1);
    let rows = files[1].1["DEVICE_NEIGHBOR"].as_object_mut().unwrap();
    let names = ["Ethernet4", "Ethernet8"].map(|port| rows[port]["name"].clone());
    for (port, name) in ["Ethernet8", "Ethernet4"].into_iter().zip(names) {
        rows[port].as_object_mut().unwrap().insert("name".to_owned(), name);
    }
    let faults = running::read(&texts(&files)).unwrap_err();
    let exchanged: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let [one] = &exchanged[..] else { panic!("{exchanged:#?}") };
    let start = "leaf-01.json: DEVICE_NEIGHBOR|Ethernet4: leads to spine-1 Ethernet4, and DEVICE_NEIGHBOR|Ethernet8 to \
                 spine-0 Ethernet4; spine-1.json: DEVICE_NEIGHBOR|Ethernet4 leads to leaf-01 Ethernet8; spine-0.json: ";
    assert!(one.starts_with(start), "{one}");
}

/// A renamed row of `PORT` is an error at its file, and not at the neighbours whose entries lead to the former name.
#[test]
fn a_renamed_port_is_no_error_of_its_neighbours() {
    let faults = faults(|file| {
        let ports = file["PORT"].as_object_mut().unwrap();
        let row = ports.remove("Ethernet4").unwrap();
        ports.insert("Ethernet5".to_owned(), row);
    });
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault.starts_with("leaf-01.json: ")), "{faults:#?}");
}

#[test]
fn a_y_cable_to_a_server_without_a_type_is_none_that_two_files_claim() {
    let mut files = dual_tor(true);
    for (_, file) in &mut files {
        file["DEVICE_NEIGHBOR_METADATA"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("Servers"));
    }
    let report = common::judge(&files, PathSet::Shortest);
    assert!(report.safe(), "{:#?}", report.findings);
}

#[test]
fn two_rows_of_a_port_in_mux_cable_are_refused() {
    let mut files = dual_tor(true);
    files[2].1["MUX_CABLE"]["Ethernet4,Ethernet0"] = json!({ "state": "active" });
    let faults: Vec<String> = running::read(&texts(&files)).unwrap_err().iter().map(ToString::to_string).collect();
    let twice = |port: u8| format!("tor-a.json: MUX_CABLE|Ethernet4,Ethernet0: Ethernet{port} has two rows");
    assert_eq!(faults, [twice(4), twice(0)]);
}

#[test]
fn hosts_that_forward_are_refused() {
    let files = leaf_spine(2, 2, 1);
    let (fabric, configs) = (common::topology(&files).with_relaying_hosts(), common::read(&files));
    let options = common::options(PathSet::Shortest);
    let faults = running::judge(&fabric, &configs, &options).unwrap_err();
    let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let why = "is a host that forwards, and the configuration of hosts is not read";
    assert_eq!(all, [format!("(topology): srv-00-0: {why}")]);
    assert!(running::Binding::new(&fabric, &configs, QueueBinding::Egress).is_err());
}

#[test]
fn json_with_a_key_twice_is_refused_with_its_place() {
    let text = "{\"PORT\": {},\n \"PORT\": {}}".to_owned();
    let faults = running::read(&[("a.json".to_owned(), text)]).unwrap_err();
    assert_eq!(faults[0].to_string(), "a.json: line 2, column 12: not valid JSON: duplicate key `PORT`");
}

#[test]
fn references_of_both_styles_and_lists_of_ports_mean_the_same() {
    let old: Files = leaf_spine(2, 1, 1);
    let mut new = old.clone();
    for (_, file) in &mut new {
        for (_, row) in file["PORT_QOS_MAP"].as_object_mut().unwrap() {
            for (field, table) in [
                ("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
                ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
                ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
            ] {
                if row.get(field).is_some() {
                    row[field] = format!("[{table}|AZURE]").into();
                }
            }
        }
        let profiles = file["BUFFER_PROFILE"].as_object_mut().unwrap();
        profiles
            .values_mut()
            .for_each(|row| row["pool"] = format!("[BUFFER_POOL|{}]", row["pool"].as_str().unwrap()).into());
        // One row of `QUEUE` for two ports.
        let queues = file["QUEUE"].as_object_mut().unwrap();
        let row = queues.remove("Ethernet0|0").unwrap();
        queues.remove("Ethernet4|0");
        queues.insert("Ethernet0,Ethernet4|0".to_owned(), row);
    }
    assert_eq!(common::judge(&new, PathSet::Shortest), common::judge(&old, PathSet::Shortest));
}

/// Replaces, removes or adds a random value.
fn damage(value: &mut Value, stream: &mut Stream) {
    let junk = ["", "3,4", "-1", "99999999999999999999", "NULL", "[", "|", "Ethernet0|", "AZURE", "0-255", "\u{202e}"];
    let drawn = Value::from(junk[stream.below(junk.len() as u64) as usize]);
    let descend = stream.below(8) != 0;
    match value {
        Value::Object(map) if descend && !map.is_empty() => {
            let key = map.keys().nth(stream.below(map.len() as u64) as usize).unwrap().clone();
            match stream.below(12) {
                0 => drop(map.remove(&key)),
                1 => {
                    let row = map.remove(&key).unwrap();
                    map.insert(drawn.as_str().unwrap().to_owned(), row);
                }
                _ => damage(map.get_mut(&key).unwrap(), stream),
            }
        }
        other => *other = [drawn, json!(3), json!(null), json!([]), json!({})][stream.below(5) as usize].clone(),
    }
}

#[test]
fn damaged_files_are_refused_or_judged_and_never_panic() {
    let (mut refused, mut unsafe_, mut safe) = (0, 0, 0);
    for seed in 0..600 {
        let mut stream = Stream::new(seed, 0, purpose("damaged configuration"));
        let mut files = if seed % 2 == 0 { dual_tor(true) } else { leaf_spine(2, 2, 1) };
        for _ in 0..1 + stream.below(3) {
            let at = stream.below(files.len() as u64) as usize;
            damage(&mut files[at].1, &mut stream);
        }
        let mut texts = texts(&files);
        if seed % 5 == 0 {
            let at = stream.below(texts.len() as u64) as usize;
            let cut = stream.below(texts[at].1.len() as u64) as usize;
            texts[at].1.truncate(cut);
        }
        let judged = running::read(&texts).map_err(|_| ()).and_then(|configs| {
            let fabric = try_topology(&files).map_err(|_| ())?;
            let paths = [PathSet::Shortest, PathSet::Bounces(1), PathSet::Any][seed as usize % 3];
            let options = common::options(paths);
            running::judge(&fabric, &configs, &options).map_err(|_| ())
        });
        match judged {
            Err(()) => refused += 1,
            Ok(report) if report.safe() => safe += 1,
            Ok(_) => unsafe_ += 1,
        }
    }
    assert!(refused > 100 && unsafe_ > 20 && safe > 3, "{refused} refused, {unsafe_} unsafe, {safe} safe");
}

#[test]
fn rows_of_a_modular_chassis_are_one_fault_a_table() {
    let chassis = faults(|file| {
        let rows = std::mem::take(file["QUEUE"].as_object_mut().unwrap());
        file["QUEUE"] = rows
            .into_iter()
            .map(|(key, row)| (format!("lc1|Asic0|{key}"), row))
            .collect::<serde_json::Map<_, _>>()
            .into();
    });
    let why =
        "leaf-01.json: QUEUE|lc1|Asic0|Ethernet0|0: has three parts: configuration of a modular chassis is not read";
    assert_eq!(chassis, [why]);
}
