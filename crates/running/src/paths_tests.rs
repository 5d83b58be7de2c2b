//! The merge of equally configured ports does not change the result.

use super::*;
use crate::common::{Files, dual_tor, leaf_spine, read, topology};
use crate::options::QueueBinding;
use serde_json::json;

fn assert_same(name: &str, files: &Files) -> u64 {
    let (fabric, configs) = (topology(files), read(files));
    let mut merged = 0;
    for binding in [QueueBinding::Egress, QueueBinding::Ingress] {
        let device = Device::new(&fabric, &configs, binding).unwrap();
        merged = equivalent_ports(&device).values().map(|ports| ports.len() as u64).sum();
        for paths in [PathSet::Shortest, PathSet::Bounces(1), PathSet::Any] {
            let (together, alone) = (follow(&device, paths), follow_from(&device, paths, BTreeMap::new()));
            assert!(together.waits == alone.waits && together.accounts == alone.accounts, "{name}, {paths}");
            assert_eq!(together.reserved_at, alone.reserved_at, "{name}, {paths}");
        }
    }
    merged
}

#[test]
fn ports_that_are_configured_alike_are_followed_as_one_with_the_same_result() {
    assert_eq!(assert_same("one host a leaf", &leaf_spine(3, 2, 1)), 0);
    assert_eq!(assert_same("four hosts a leaf", &leaf_spine(3, 2, 4)), 9);
    let mut files = leaf_spine(3, 2, 4);
    files[1].1["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"] = "3".into();
    assert_eq!(assert_same("a port of its own", &files), 8);
    for remapped in [false, true] {
        let files = dual_tor(remapped);
        assert_eq!(assert_same("dual ToR", &files), 2);
        let mut files = dual_tor(remapped);
        files[2].1["MUX_CABLE"]["Ethernet0"] = json!({ "state": "standby" });
        files[2].1["MUX_CABLE"]["Ethernet4"] = json!({ "state": "standby" });
        files[3].1["MUX_CABLE"]["Ethernet0"] = json!({ "state": "active" });
        assert_eq!(assert_same("dual ToR, one active", &files), 1);
    }
}

#[test]
fn a_frame_leaves_a_tunnel_in_pipe_mode_with_its_inner_dscp() {
    let files = dual_tor(true);
    let (fabric, configs) = (topology(&files), read(&files));
    let device = Device::new(&fabric, &configs, QueueBinding::Egress).unwrap();
    let tor = |port: u32| fabric.name(device.owner(port)).starts_with("tor-");
    let reached = follow(&device, PathSet::Any);
    let beyond = reached.waits.iter().filter(|wait| tor(wait.egress) && [2, 6].contains(&wait.dscp) && !wait.enters);
    let dscps: BTreeSet<u8> = beyond.filter_map(|wait| Some(wait.next?.dscp)).collect();
    assert!(dscps.is_superset(&BTreeSet::from([3, 4])) && dscps.is_disjoint(&BTreeSet::from([2, 6])), "{dscps:?}");
}
