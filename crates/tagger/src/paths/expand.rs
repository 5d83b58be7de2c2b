//! Expansion of a path between switches to the paths between the hosts of these switches.

use super::path::{Path, Visitor};
use super::trees::{Senders, Tree};
use crate::graph::TaggedGraph;
use crate::ports::{Ports, put};
use fabric::NodeId;

/// Path through switches, which represents the paths between all hosts of its first and last switch.
pub(crate) struct SwitchPath<'a> {
    /// First node: a switch with hosts, or a relaying host that is itself the sender.
    pub source: u32,
    /// Egress port at each node except the last, as a port number of the fabric.
    pub out: &'a [u32],
    /// Ports by which packets leave the last node towards hosts; empty if the last node is a relaying host.
    pub exits: &'a [u32],
}

/// Records the turns of a path for all hosts of its first and last switch.
pub(crate) fn record(graph: &mut TaggedGraph, senders: &mut Senders, path: &SwitchPath) {
    let ports = graph.ports;
    let relay = ports.fabric.host_index(NodeId(path.source)).is_some();
    graph.reserve_hops(path.out.len() + 1);
    graph.recorded += path.out.len() as u64 + 1;
    // Hop 1 is the turn at the first node that is not the sending host.
    let planes = &mut graph.hops[usize::from(!relay)..];
    match path.out.first() {
        None => path.exits.iter().for_each(|&exit| senders.take(ports, exit)),
        Some(&first) if !relay => senders.take(ports, first),
        Some(_) => {}
    }
    for ((index, &out), plane) in path.out.iter().enumerate().zip(planes) {
        let row = ports.far[out as usize].row as usize;
        match path.out.get(index + 1) {
            Some(&next) => put(&mut plane[row..], ports.local(next)),
            None => path.exits.iter().for_each(|&exit| put(&mut plane[row..], ports.local(exit))),
        }
    }
}

/// Visits a path for each pair of hosts of its first and last switch. Returns false if the visitor stops.
pub(crate) fn show(ports: &Ports, path: &SwitchPath, out_ports: &mut Vec<u16>, visitor: &mut Visitor) -> bool {
    let source = NodeId(path.source);
    if ports.fabric.host_index(source).is_some() {
        out_ports.clear();
        out_ports.extend(path.out.iter().map(|&out| ports.local(out) as u16));
        return finish(ports, source, path.exits, out_ports, visitor);
    }
    ports.of(source).filter(|&port| ports.faces_host(port)).all(|entry| {
        let sender = ports.peer[entry as usize];
        out_ports.clear();
        out_ports.push(ports.local(sender) as u16);
        out_ports.extend(path.out.iter().map(|&out| ports.local(out) as u16));
        finish(ports, NodeId(ports.node[sender as usize]), path.exits, out_ports, visitor)
    })
}

/// Visits the path once for each exit port, except the port to the path's source. Returns false if the visitor stops.
pub(super) fn finish(
    ports: &Ports,
    source: NodeId,
    exits: &[u32],
    out_ports: &mut Vec<u16>,
    visitor: &mut Visitor,
) -> bool {
    if exits.is_empty() {
        return visitor(Path { source, out_ports }).is_continue();
    }
    exits.iter().filter(|&&exit| ports.node[ports.peer[exit as usize] as usize] != source.0).all(|&exit| {
        out_ports.push(ports.local(exit) as u16);
        let flow = visitor(Path { source, out_ports });
        out_ports.pop();
        flow.is_continue()
    })
}

/// Returns the slots at which paths can end, with the ports by which packets leave them towards hosts.
pub(crate) fn destinations(tree: &Tree) -> Vec<(u32, Vec<u32>)> {
    let mut all = Vec::new();
    for (slot, &node) in tree.nodes.iter().enumerate() {
        let exits: Vec<u32> = tree.ports.of(NodeId(node)).filter(|&port| tree.ports.faces_host(port)).collect();
        if !exits.is_empty() || tree.ports.fabric.host_index(NodeId(node)).is_some() {
            all.push((slot as u32, exits));
        }
    }
    all
}
