//! Rules as an ACL that rewrites the DSCP, in the format of SONiC's `ACL_RULE`: one ACL rule per
//! [`Entry`](super::Entry), then the default rule that makes all other packets lossy. Only vendor builds support this
//! action; community builds reject it.

use super::dialect::Dialect;
use super::entries::entries;
use super::factorise::UnsupportedSwitch;
use super::marks::Marks;
use super::view::SwitchView;
use fabric::PortIndex;
use serde_json::{Map, Value, json};

/// Warning for the operator who loads the fragment.
pub const WARNING: &str = "Community SONiC up to 202605 rejects an ACL rule that rewrites the DSCP by IN_PORTS, \
    OUT_PORTS and DSCP. This is for a vendor's build that takes it. The egress queue must follow the rewritten DSCP: \
    otherwise PAUSE of the new tag does not stop the packet, and any loop of links can deadlock. An ACL sets no \
    scheduler: give the lossy queue a share of every port (DWRR or WRR, not strict priority), or packets that turn \
    lossy can stop a lossless queue for ever.";

/// Highest priority of a rule.
const HIGHEST: u32 = 9999;

/// Returns the ACL of a switch as a configuration fragment.
///
/// # Errors
/// [`UnsupportedSwitch::Name`] if a name is invalid in SONiC.
pub fn config_db(view: &SwitchView, marks: &Marks) -> Result<Value, UnsupportedSwitch> {
    UnsupportedSwitch::of_names(view, Dialect::Sonic)?;
    let names = |ports: &[PortIndex]| ports.iter().map(|&port| view.interface(port)).collect::<Vec<_>>().join(",");
    let mut rules = Map::new();
    let mut add = |number: usize, mut rule: Value| {
        rule["PRIORITY"] = HIGHEST.saturating_sub(number as u32).to_string().into();
        rules.insert(format!("TAGGER|RULE_{number:04}"), rule);
    };
    let entries = entries(view, marks);
    for (number, entry) in entries.iter().enumerate() {
        let rule = json!({
            "DSCP": marks.dscp(Some(entry.tag)).to_string(), "IN_PORTS": names(&entry.ingress),
            "OUT_PORTS": names(&entry.egress), "DSCP_ACTION": marks.dscp(Some(entry.shown)).to_string(),
        });
        add(number, rule);
    }
    for (number, mark) in marks.lossless().iter().enumerate() {
        let lossy = marks.lossy().dscp.to_string();
        add(entries.len() + number, json!({ "DSCP": mark.dscp.to_string(), "DSCP_ACTION": lossy }));
    }
    let ports: Vec<&str> = view.port_numbers().map(|port| view.interface(port)).collect();
    Ok(json!({
        "ACL_TABLE_TYPE": { "TAGGER": {
            "MATCHES": ["DSCP", "IN_PORTS", "OUT_PORTS"], "ACTIONS": ["DSCP_ACTION"], "BIND_POINTS": ["PORT"],
        } },
        "ACL_TABLE": { "TAGGER": { "type": "TAGGER", "stage": "egress", "ports": ports } },
        "ACL_RULE": rules,
    }))
}
