//! One wrong edit of one file: all faults and findings name the edited key, with the value to write.

mod common;

use common::{leaf_spine, texts, topology};
use running::PathSet;
use serde_json::{Value, json};

/// Returns file, key and advice of each fault or finding of eight leaves and four spines after a change, each once.
fn named(name: &str, change: impl Fn(&mut Value)) -> Vec<(String, String, String)> {
    let mut files = leaf_spine(8, 4, 2);
    change(&mut files.iter_mut().find(|(file, _)| *file == format!("{name}.json")).unwrap().1);
    let of_faults = |faults: Vec<running::Fault>| faults.into_iter().map(|it| (it.file, it.key, it.help)).collect();
    let configs = match running::read(&texts(&files)) {
        Ok(configs) => configs,
        Err(faults) => return of_faults(faults),
    };
    match running::judge(&topology(&files), &configs, &common::options(PathSet::Shortest)) {
        Err(faults) => of_faults(faults),
        Ok(report) => {
            let mut all: Vec<_> = report.findings.into_iter().map(|it| (it.file, it.key, it.instead)).collect();
            all.dedup();
            all
        }
    }
}

fn check(name: &str, key: &str, instead: &str, change: impl Fn(&mut Value)) {
    assert_eq!(named(name, change), [(format!("{name}.json"), key.to_owned(), instead.to_owned())]);
}

fn rename(table: &mut Value, from: &str, to: &str) {
    let row = table.as_object_mut().unwrap().remove(from).expect(from);
    table[to] = row;
}

fn remove(table: &mut Value, row: &str) {
    assert!(table.as_object_mut().unwrap().remove(row).is_some(), "{row}");
}

#[test]
fn the_unchanged_files_have_no_finding() {
    assert_eq!(named("leaf-00", |_| ()), []);
}

#[test]
fn a_renamed_row_of_port_is_the_cause_and_not_the_rows_that_use_the_port() {
    check("leaf-01", "PORT|Etherent8", "Ethernet8", |file| rename(&mut file["PORT"], "Ethernet8", "Etherent8"));
    check("leaf-01", "PORT|Etherent0", "Ethernet0", |file| rename(&mut file["PORT"], "Ethernet0", "Etherent0"));
    let missing = "the row of the port, or no row about it in other tables";
    // Another name, which is the only one without a user.
    let with = |row: &str| format!("{missing}; no other table has PORT|{row}, which may be this row");
    check("spine-1", "PORT|Ethernet4", &with("swp77"), |file| rename(&mut file["PORT"], "Ethernet4", "swp77"));
    // A spare port of any name is correct.
    for spare in ["Ethernet44", "Ethernet5", "Ethernet252"] {
        check("spine-1", "PORT|Ethernet4", &with(spare), |file| rename(&mut file["PORT"], "Ethernet4", spare));
    }
    for spares in [["Ethernet44", "Ethernet252"], ["Ethernet5", "Ethernet6"]] {
        check("spine-1", "PORT|Ethernet4", missing, |file| {
            spares.iter().for_each(|spare| file["PORT"][spare] = file["PORT"]["Ethernet4"].clone());
            remove(&mut file["PORT"], "Ethernet4");
        });
    }
    // Beside spare ports the misspelt row is found.
    check("spine-1", "PORT|Etherent4", "Ethernet4", |file| {
        file["PORT"]["Ethernet44"] = file["PORT"]["Ethernet4"].clone();
        rename(&mut file["PORT"], "Ethernet4", "Etherent4");
    });
    // A reference suggests no port of another number.
    check("spine-1", "PFC_WD|Ethernet44", "the name of a row of PORT", |file| {
        file["PFC_WD"]["Ethernet44"] = file["PFC_WD"]["Ethernet4"].clone();
    });
    check("spine-1", "PORT|Ethernet4", missing, |file| remove(&mut file["PORT"], "Ethernet4"));
    check("spine-1", "PORT", "the ports of the switch", |file| remove(file, "PORT"));
    // An unused row of a near name does not make a single wrong row right.
    let near = "Ethernet4, the row of PORT with the nearest name";
    check("spine-1", "PFC_WD|Etherent4", near, |file| {
        file["PORT"]["Etherent44"] = file["PORT"]["Ethernet4"].clone();
        rename(&mut file["PFC_WD"], "Ethernet4", "Etherent4");
    });
}

#[test]
fn references_to_missing_rows_suggest_the_nearest_name() {
    let port = "Ethernet8, the row of PORT with the nearest name";
    for (table, key) in
        [("PORT_QOS_MAP", ""), ("PFC_WD", ""), ("BUFFER_PG", "|3-4"), ("BUFFER_QUEUE", "|3-4"), ("QUEUE", "|3")]
    {
        check("leaf-01", &format!("{table}|Etherent8{key}"), port, |file| {
            rename(&mut file[table], &format!("Ethernet8{key}"), &format!("Etherent8{key}"));
        });
    }
    check("leaf-01", "CABLE_LENGTH|AZURE.Etherent8", port, |file| {
        rename(&mut file["CABLE_LENGTH"]["AZURE"], "Ethernet8", "Etherent8");
    });
    check("leaf-01", "DEVICE_NEIGHBOR|Etherent8", "Ethernet8", |file| {
        rename(&mut file["DEVICE_NEIGHBOR"], "Ethernet8", "Etherent8");
    });
    let row = |row: &str, table: &str| format!("{row}, the row of {table} with the nearest name");
    check("leaf-01", "PORT_QOS_MAP|Ethernet8.tc_to_pg_map", &row("AZURE", "TC_TO_PRIORITY_GROUP_MAP"), |file| {
        file["PORT_QOS_MAP"]["Ethernet8"]["tc_to_pg_map"] = "AZUR".into();
    });
    let profile = "pg_lossless_100000_40m_profile";
    check("leaf-01", "BUFFER_PG|Ethernet8|3-4.profile", &row(profile, "BUFFER_PROFILE"), |file| {
        file["BUFFER_PG"]["Ethernet8|3-4"]["profile"] = "pg_lossless_100000_40_profile".into();
    });
    check("leaf-01", &format!("BUFFER_PROFILE|{profile}.pool"), &row("ingress_lossless_pool", "BUFFER_POOL"), |file| {
        file["BUFFER_PROFILE"][profile]["pool"] = "ingres_lossless_pool".into();
    });
    check("leaf-01", "QUEUE|Ethernet8|3.scheduler", &row("scheduler.1", "SCHEDULER"), |file| {
        file["QUEUE"]["Ethernet8|3"]["scheduler"] = "schedular.1".into();
    });
    check("leaf-01", "QUEUE|Ethernet8|3.wred_profile", &row("AZURE_LOSSLESS", "WRED_PROFILE"), |file| {
        file["QUEUE"]["Ethernet8|3"]["wred_profile"] = "AZURE_LOSLESS".into();
    });
}

#[test]
fn a_wrong_pfc_enable_is_named_and_not_the_map_that_lacks_the_priority() {
    for (port, value) in [
        ("Ethernet8", "3"),
        ("Ethernet8", "3,4,5"),
        ("Ethernet8", "3,5"),
        ("Ethernet8", ""),
        ("Ethernet0", "4"),
        ("Ethernet0", "3,4,5"),
    ] {
        check("leaf-01", &format!("PORT_QOS_MAP|{port}.pfc_enable"), "\"3,4\"", |file| {
            file["PORT_QOS_MAP"][port]["pfc_enable"] = value.into();
        });
    }
    check("leaf-01", "PORT_QOS_MAP|Ethernet8.pfc_enable", "\"3,4\"", |file| {
        remove(&mut file["PORT_QOS_MAP"]["Ethernet8"], "pfc_enable");
    });
    // All ports of the switch, by comparison with its role.
    let all = named("leaf-01", |file| {
        for (_, row) in file["PORT_QOS_MAP"].as_object_mut().unwrap().iter_mut().filter(|(port, _)| *port != "global") {
            row["pfc_enable"] = "3,4,5".into();
        }
    });
    assert_eq!(all.len(), 6, "{all:#?}");
    assert!(all.iter().all(|(_, key, help)| key.ends_with(".pfc_enable") && help == "\"3,4\""), "{all:#?}");
    // The map is wrong where all of its users agree.
    let key = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE.3";
    check("leaf-01", key, "a value for it", |file| {
        remove(&mut file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"], "3")
    });
}

/// Ports without PFC count among those that use a map.
#[test]
fn ports_without_pfc_count_among_the_users_of_a_map() {
    const MAP: &str = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE";
    let faults = |leaves: usize, uplinks: [&str; 2], change: fn(&mut Value)| {
        // Four ports to hosts without PFC, and two to spines.
        let mut files = leaf_spine(leaves, 2, 4);
        for (name, file) in files.iter_mut().filter(|(name, _)| name.starts_with("leaf")) {
            for (port, row) in file["PORT_QOS_MAP"].as_object_mut().unwrap() {
                let enabled = match port.as_str() {
                    "global" => continue,
                    "Ethernet16" if name == "leaf-00.json" => uplinks[0],
                    "Ethernet20" if name == "leaf-00.json" => uplinks[1],
                    "Ethernet16" | "Ethernet20" => "3,4",
                    _ => "",
                };
                row["pfc_enable"] = enabled.into();
            }
        }
        change(&mut files[0].1);
        let faults = running::read(&texts(&files)).err().unwrap_or_default();
        faults.into_iter().map(|it| (it.key, it.message, it.help)).collect::<Vec<_>>()
    };
    let at = |port: &str| format!("PORT_QOS_MAP|{port}.pfc_enable");
    let fault = |key: String, message: String, help: &str| vec![(key, message, help.to_owned())];
    let without = |ports: &str| format!("has 5, without an entry in {MAP}, and {ports} with this map do not enable 5");
    assert_eq!(faults(1, ["3,4", "3,4"], |_| ()), []);
    let one = fault(at("Ethernet20"), without("5 of 6 ports of this switch"), "\"3,4\"");
    assert_eq!(faults(1, ["3,4", "3,4,5"], |_| ()), one);
    // A single port with PFC, in a role without others.
    let help = format!("a list without 5, or values for it in {MAP}");
    let single = fault(at("Ethernet20"), without("5 of 6 ports of this role"), &help);
    assert_eq!(faults(1, ["", "3,4,5"], |_| ()), single);
    // A deleted entry of the map is no error of the ports with PFC, although they are few.
    let map = fault(format!("{MAP}.3"), format!("is missing, and {} names 3", at("Ethernet16")), "a value for it");
    for leaves in [1, 3] {
        let found = faults(leaves, ["3,4", "3,4"], |file| {
            remove(&mut file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"], "3");
        });
        assert_eq!(found, map);
    }
    // Both ports of a switch are wrong, by comparison with the role.
    let both = faults(3, ["3,4,5", "3,4,5"], |_| ());
    let role = without("16 of 18 ports of this role");
    assert_eq!(both, ["Ethernet16", "Ethernet20"].map(|port| (at(port), role.clone(), "\"3,4\"".to_owned())));
}

#[test]
fn a_wrong_row_of_buffers_is_named_and_not_pfc_enable() {
    for (table, profile, noun) in [
        ("BUFFER_PG", "pg_lossless_100000_40m_profile", "groups"),
        ("BUFFER_QUEUE", "egress_lossless_profile", "queues"),
    ] {
        let (row, key) =
            (|range: &str| format!("Ethernet8|{range}"), |range: &str| format!("{table}|Ethernet8|{range}"));
        for range in ["3", "4", "2-4", "3-5", "4-5"] {
            // The row of queues 5 to 6 has queue 5, and that of queues 0 to 2 has queue 2.
            if table == "BUFFER_QUEUE" && !["3", "4"].contains(&range) {
                continue;
            }
            check("leaf-01", &key(range), &key("3-4"), |file| rename(&mut file[table], &row("3-4"), &row(range)));
        }
        let missing = format!("a row for {noun} 3, 4 with profile {profile}");
        check("leaf-01", &key("3-4"), &missing, |file| remove(&mut file[table], &row("3-4")));
        let lossy = if table == "BUFFER_PG" { "ingress_lossy_profile" } else { "egress_lossy_profile" };
        check("leaf-01", &format!("{}.profile", key("3-4")), profile, |file| {
            file[table][row("3-4")]["profile"] = lossy.into();
        });
    }
    check("leaf-01", "BUFFER_PG|Ethernet8|0.profile", "ingress_lossy_profile", |file| {
        file["BUFFER_PG"]["Ethernet8|0"]["profile"] = "pg_lossless_100000_40m_profile".into();
    });
    check("leaf-01", "BUFFER_PG|Ethernet0|3-5", "BUFFER_PG|Ethernet0|3-4", |file| {
        rename(&mut file["BUFFER_PG"], "Ethernet0|3-4", "Ethernet0|3-5");
    });
}

#[test]
fn all_missing_maps_of_all_ports_are_reported_at_once() {
    let found = named("leaf-01", |file| {
        file["PORT_QOS_MAP"]["Ethernet8"] = json!({ "pfc_enable": "3,4" });
        remove(&mut file["PORT_QOS_MAP"], "Ethernet12");
        remove(&mut file["PORT_QOS_MAP"]["Ethernet0"], "tc_to_pg_map");
    });
    let row = |key: &str, instead: &str| ("leaf-01.json".to_owned(), format!("PORT_QOS_MAP|{key}"), instead.to_owned());
    let expected = [
        row("Ethernet0.tc_to_pg_map", "\"AZURE\""),
        row("Ethernet8", "tc_to_queue_map \"AZURE\", tc_to_pg_map \"AZURE\", pfc_to_queue_map \"AZURE\""),
        row("Ethernet12", "tc_to_queue_map \"AZURE\", tc_to_pg_map \"AZURE\", pfc_enable \"3,4\""),
    ];
    assert_eq!(found, expected);
}

/// The file of the neighbour states the link, so that its port is judged: the missing entry is reported, not the row of
/// the neighbour's metadata.
#[test]
fn a_deleted_entry_of_a_switch_with_a_file_is_a_missing_entry() {
    let entry = |file: &mut Value| remove(&mut file["DEVICE_NEIGHBOR"], "Ethernet8");
    let mut leads_to = Value::Null;
    leaf_spine(8, 4, 2).iter().filter(|(name, _)| name == "leaf-01.json").for_each(|(_, file)| {
        leads_to = file["DEVICE_NEIGHBOR"]["Ethernet8"]["name"].clone();
    });
    assert!(leads_to.as_str().unwrap().starts_with("spine"), "{leads_to}");
    check("leaf-01", "DEVICE_NEIGHBOR", "an entry for its port", entry);
}

#[test]
fn a_misspelt_neighbour_suggests_the_nearest_name() {
    check("leaf-01", "DEVICE_NEIGHBOR|Ethernet8", "spine-0 Ethernet4", |file| {
        file["DEVICE_NEIGHBOR"]["Ethernet8"]["name"] = "spine-00".into();
    });
    check("leaf-01", "DEVICE_NEIGHBOR|Ethernet4", "srv-01-1", |file| {
        file["DEVICE_NEIGHBOR"]["Ethernet4"]["name"] = "srv-01-11".into();
    });
    check("leaf-01", "DEVICE_NEIGHBOR_METADATA|spine-l", "spine-1", |file| {
        rename(&mut file["DEVICE_NEIGHBOR_METADATA"], "spine-1", "spine-l");
    });
}

#[test]
fn starvation_mentions_the_option_that_accepts_a_queue() {
    let instead = "a scheduler of type DWRR, or a pir below the rate of the port; or --accept-strict 0, if its frames \
                   leave enough of the rate";
    check("spine-1", "SCHEDULER|scheduler.0.type", instead, |file| {
        file["SCHEDULER"]["scheduler.0"] = json!({ "type": "STRICT" });
    });
}

#[test]
fn a_watched_priority_without_pfc_stays_a_finding_about_the_watchdog() {
    check("leaf-01", "PORT_QOS_MAP|Ethernet8.pfcwd_sw_enable", "priorities of pfc_enable", |file| {
        file["PORT_QOS_MAP"]["Ethernet8"]["pfcwd_sw_enable"] = "3,4,5".into();
    });
}

/// The MTU of a port to a host: a frame that the links between switches drop is a finding, a smaller MTU an assumption.
#[test]
fn an_mtu_of_a_port_to_a_host_is_judged() {
    let larger = named("leaf-01", |file| file["PORT"]["Ethernet0"]["mtu"] = "9216".into());
    let at_most = "at most 9100, the MTU of the links between switches".to_owned();
    assert!(larger.contains(&("leaf-01.json".to_owned(), "PORT|Ethernet0.mtu".to_owned(), at_most)), "{larger:#?}");
    let mut files = leaf_spine(8, 4, 2);
    let assumption = |files: &common::Files| {
        let report = common::judge(files, PathSet::Shortest);
        assert!(report.safe(), "{:#?}", report.findings);
        report.assumptions.into_iter().find(|line| line.contains("above the MTU of the receiver's port"))
    };
    assert_eq!(assumption(&files), None);
    files[1].1["PORT"]["Ethernet0"]["mtu"] = "1500".into();
    let stated = "hosts send no lossless frame above the MTU of the receiver's port: 1 port to hosts with less than \
                  9,100 bytes, leaf-01.json Ethernet0 with 1,500";
    assert_eq!(assumption(&files).as_deref(), Some(stated));
    // Links with a smaller MTU at both ends, on the path of frames that other links carry.
    for (_, file) in &mut files[..] {
        let links = file["DEVICE_NEIGHBOR"].clone();
        for (port, row) in links.as_object().unwrap() {
            let name = file["DEVICE_METADATA"]["localhost"]["hostname"].as_str().unwrap();
            if name == "spine-3" || row["name"] == "spine-3" {
                file["PORT"][port]["mtu"] = "1500".into();
            }
        }
    }
    let report = common::judge(&files, PathSet::Shortest);
    let is_link = |it: &running::Finding| it.key == "PORT|Ethernet20.mtu" && it.why.contains("drops those above 1,500");
    assert!(report.findings.iter().any(is_link), "{:#?}", report.findings);
}

/// Two speeds of a cable: the error has both values with file and key, and that of most ports of the role.
#[test]
fn two_speeds_of_a_cable_have_both_values_and_the_usual_one() {
    let error = |name: &str, port: &str| {
        let mut files = leaf_spine(8, 4, 2);
        let file = files.iter_mut().find(|(file, _)| *file == format!("{name}.json")).unwrap();
        file.1["PORT"][port]["speed"] = "40000".into();
        common::try_topology(&files).unwrap_err()
    };
    let spine = "spine-1.PORT.Ethernet4.speed: is \"40000\", and leaf-01: PORT|Ethernet12.speed at the other end of \
                 the cable is \"100000\"; 31 of 32 ports from LeafRouter to ToRRouter have \"100000\" \
                 (write: \"100000\")";
    assert_eq!(error("spine-1", "Ethernet4"), spine);
    assert!(error("leaf-01", "Ethernet12").starts_with("leaf-01.PORT.Ethernet12.speed: is \"40000\", and spine-1: "));
    // A single cable has no usual value.
    let mut files = leaf_spine(1, 1, 2);
    files[0].1["PORT"]["Ethernet8"]["speed"] = "40000".into();
    let error = common::try_topology(&files).unwrap_err();
    assert!(error.ends_with("(write: \"40000\" or \"100000\" at both ends)"), "{error}");
    // A missing speed is a finding with the value.
    check("leaf-01", "PORT|Ethernet8.speed", "\"100000\"", |file| remove(&mut file["PORT"]["Ethernet8"], "speed"));
    check("leaf-01", "PORT|Ethernet8.mtu", "\"9100\"", |file| file["PORT"]["Ethernet8"]["mtu"] = "1500".into());
}
