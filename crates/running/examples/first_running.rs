//! Finds the fault in the configuration of a switch: no queue for traffic class 4.
//!
//! ```text
//!    host --- Ethernet0  leaf-1: traffic classes 0, 1, 2, 3, 5 have a queue
//! ```

pub(crate) fn main() {
    let file = r#"{
        "DEVICE_METADATA": { "localhost": { "hostname": "leaf-1", "type": "ToRRouter" } },
        "PORT": { "Ethernet0": { "speed": "100000" } },
        "DSCP_TO_TC_MAP": { "AZURE": {} },
        "TC_TO_QUEUE_MAP": { "AZURE": { "0": "0", "1": "1", "2": "2", "3": "3", "5": "5" } },
        "PORT_QOS_MAP": { "Ethernet0": { "tc_to_queue_map": "AZURE" } }
    }"#;
    let faults = running::read(&[("leaf-1.json".to_owned(), file.to_owned())]).unwrap_err();
    faults.iter().for_each(|fault| println!("{fault}"));
    assert_eq!(faults[0].key, "TC_TO_QUEUE_MAP|AZURE.4");
}
