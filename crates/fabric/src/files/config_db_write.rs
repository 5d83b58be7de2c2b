//! Writer of SONiC `config_db.json`, one object per switch.

use super::config_db::{DELAY_PER_METRE, MBPS};
use super::error::FileError;
use super::plain::port_label;
use crate::decision::Subject;
use crate::sonic::{MAX_METRES, Object};
use crate::{Fabric, Link, NodeId, NodeKind};
use serde_json::json;
use std::collections::BTreeSet;

/// Returns the name and the `config_db.json` of each switch, with the tables that describe the fabric. Switch ports
/// without a name are called `Ethernet<4 * number>`, host ports `eth<number>`. Both switches of a Y cable (dual ToR)
/// name the same server port, as SONiC does.
///
/// # Errors
/// [`FileError::NotExpressible`] for a name with a `|`, which separates the parts of a key in SONiC's database, and for
/// a link that is between two hosts, slower than 1 Mbps, or longer than the reader's limit.
pub fn write_config_db(fabric: &Fabric) -> Result<Vec<(String, String)>, FileError> {
    let ports = fabric
        .node_ids()
        .flat_map(|node| (0..fabric.ports(node).len() as u16).filter_map(move |port| fabric.port_name(node, port)));
    let mut names = fabric.nodes().iter().map(|node| node.name.as_str()).chain(ports);
    if let Some(name) = names.find(|name| name.contains('|')) {
        return Err(FileError::NotExpressible { what: format!("the name `{name}`, which has a `|`") });
    }
    fabric.links().iter().try_for_each(|link| expressible(fabric, link))?;
    let kind = |node: NodeId| match fabric.node(node) {
        crate::Node { kind: NodeKind::Host, .. } => "Server",
        node => ["ToRRouter", "LeafRouter", "SpineRouter"][usize::from(node.tier.clamp(1, 3)) - 1],
    };
    let shared = fabric.decisions().iter().filter(|decision| decision.subject == Subject::SharedPorts);
    let shared: BTreeSet<&str> = shared.flat_map(|decision| decision.names.iter().map(String::as_str)).collect();
    let label = |node: NodeId, port: u16| {
        let host = fabric.node(node).kind == NodeKind::Host;
        let label = port_label(fabric, node, port, |port| {
            if host { format!("eth{port}") } else { format!("Ethernet{}", u32::from(port) * 4) }
        });
        // The reader gives the port at the second switch of a Y cable the name `<port>@<switch>`.
        let peer = fabric.name(fabric.ports(node)[usize::from(port)].peer);
        match label.strip_suffix(peer).and_then(|rest| rest.strip_suffix('@')) {
            Some(port) if shared.contains(format!("{} {port}", fabric.name(node)).as_str()) => port.to_owned(),
            _ => label,
        }
    };
    let file = |switch: NodeId| {
        let (mut neighbors, mut metadata) = (Object::new(), Object::new());
        let (mut ports, mut lengths) = (Object::new(), Object::new());
        for (number, port) in fabric.ports(switch).iter().enumerate() {
            let (name, peer) = (label(switch, number as u16), fabric.name(port.peer));
            let link = fabric.link(port.link);
            neighbors.insert(name.clone(), json!({ "name": peer, "port": label(port.peer, port.peer_port) }));
            metadata.insert(peer.to_owned(), json!({ "type": kind(port.peer) }));
            ports.insert(name.clone(), json!({ "speed": (link.rate.as_bps() / MBPS).to_string() }));
            lengths.insert(name, format!("{}m", metres(link)).into());
        }
        let file = json!({
            "DEVICE_METADATA": { "localhost": { "hostname": fabric.name(switch), "type": kind(switch) } },
            "DEVICE_NEIGHBOR": neighbors,
            "DEVICE_NEIGHBOR_METADATA": metadata,
            "PORT": ports,
            "CABLE_LENGTH": { "AZURE": lengths },
        });
        (fabric.name(switch).to_owned(), format!("{file:#}\n"))
    };
    Ok(fabric.switches().map(file).collect())
}

/// Returns the cable length for the link's delay, in whole metres.
fn metres(link: &Link) -> u64 {
    link.delay.as_ps().div_ceil(DELAY_PER_METRE.as_ps())
}

fn expressible(fabric: &Fabric, link: &Link) -> Result<(), FileError> {
    let ends = [link.a, link.b].map(|end| fabric.node(end.node));
    let why = match () {
        () if ends.iter().all(|node| node.kind == NodeKind::Host) => "only switches have files",
        () if link.rate.as_bps() < MBPS => "a speed is a number of Mbps",
        () if metres(link) > MAX_METRES => "no cable is longer than 1000 km, 5 ms",
        () => return Ok(()),
    };
    let what = format!(
        "the link of {} and {} between `{}` and `{}`: {why}",
        link.rate, link.delay, ends[0].name, ends[1].name
    );
    Err(FileError::NotExpressible { what })
}
