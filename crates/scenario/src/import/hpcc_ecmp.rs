//! Computes the paths that flows take under the ECMP of HPCC's simulator (`SwitchNode::EcmpHash`, `CalculateRoute` of
//! its `third.cc`), so that a comparison with that simulator does not depend on the hash.

use fabric::{Fabric, NodeId};
use std::collections::BTreeMap;
use traffic::Flow;

/// UDP source port of the first flow between two hosts; each further flow of this pair uses the next port.
const FIRST_SOURCE_PORT: u16 = 10_000;

/// Returns the nodes on the path of each flow, source and destination included; `None` if a flow has no path.
///
/// A switch hashes the addresses and ports of the data packets, seeded with its node number, and selects one of its
/// next hops. Next hops are in the order in which a breadth-first search from the destination finds them. The search
/// visits the neighbours of a node in the order of their memory addresses: hosts by ascending number, then switches by
/// descending number, because these objects are large and are allocated at descending addresses. This order was
/// inferred from FCTs. With it, slowdowns over the permutation have a rank correlation of 0.96 with those of the HPCC
/// simulator; with Tidegate's own paths, 0.05 (experiments/peers/hpcc.py, --own-paths).
pub(super) fn paths(fabric: &Fabric, flows: &[Flow]) -> Option<Vec<Vec<NodeId>>> {
    let mut ports: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let mut known: BTreeMap<u32, Vec<Vec<NodeId>>> = BTreeMap::new();
    let path = |flow: &Flow| {
        let source_port = ports.entry((flow.src, flow.dst)).or_insert(FIRST_SOURCE_PORT);
        let five_tuple = [
            address(fabric.host_node(flow.src)),
            address(fabric.host_node(flow.dst)),
            u32::from(*source_port) | u32::from(flow.dst_port) << 16,
        ];
        *source_port = source_port.wrapping_add(1);
        let to = fabric.host_node(flow.dst);
        let next_hops = known.entry(flow.dst).or_insert_with(|| next_hops(fabric, to));
        let mut path = vec![fabric.host_node(flow.src)];
        while let Some(&at) = path.last().filter(|&&at| at != to) {
            let hops = &next_hops[at.0 as usize];
            let chosen = murmur3(five_tuple, at.0) as usize % hops.len().max(1);
            path.push(*hops.get(chosen)?);
        }
        Some(path)
    };
    flows.iter().map(path).collect()
}

/// Returns the IP address of a node: 11.0.0.1 with the node number in the two middle bytes.
fn address(node: NodeId) -> u32 {
    0x0b00_0001 + node.0 / 256 * 0x1_0000 + node.0 % 256 * 0x100
}

/// Returns the next hops of every node, by node number, towards the host `to`.
fn next_hops(fabric: &Fabric, to: NodeId) -> Vec<Vec<NodeId>> {
    let mut hops = vec![Vec::new(); fabric.nodes().len()];
    let mut distances = vec![u32::MAX; hops.len()];
    let mut found = vec![to];
    distances[to.0 as usize] = 0;
    let mut index = 0;
    while let Some(&at) = found.get(index) {
        index += 1;
        let distance = distances[at.0 as usize] + 1;
        let mut peers: Vec<NodeId> = fabric.ports(at).iter().map(|port| port.peer).collect();
        let is_switch = |peer: NodeId| fabric.host_index(peer).is_none();
        peers.sort_unstable_by_key(|&peer| (is_switch(peer), if is_switch(peer) { u32::MAX - peer.0 } else { peer.0 }));
        peers.dedup();
        for peer in peers {
            let known = &mut distances[peer.0 as usize];
            if *known == u32::MAX {
                *known = distance;
                if is_switch(peer) {
                    found.push(peer);
                }
            }
            if *known == distance {
                hops[peer.0 as usize].push(at);
            }
        }
    }
    hops
}

/// Computes MurmurHash3, x86, 32 bit, of three words.
fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        hash ^= word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 12;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::FlowFileOptions;

    /// MurmurHash3_x86_32 of "aaaabbbbcccc" with two seeds, as computed by Python's mmh3.
    #[test]
    fn the_hash_is_murmur3() {
        let words = [b"aaaa", b"bbbb", b"cccc"].map(|word| u32::from_le_bytes(*word));
        assert_eq!([murmur3(words, 0), murmur3(words, 0x9747_b28c)], [0x0d30_08c2, 0x7410_f64c]);
    }

    /// Two leaves (4, 5) and two spines (6, 7): the hash of the leaf selects the spine from the ECMP group [7, 6]. A
    /// second flow between two hosts has the next source port.
    #[test]
    fn a_switch_hashes_the_five_tuple_with_its_number() {
        let text = "8 4 8\n4 5 6 7\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n\
            4 6 1Gbps 1us 0\n4 7 1Gbps 1us 0\n5 6 1Gbps 1us 0\n5 7 1Gbps 1us 0\n";
        let fabric = fabric::files::read_hpcc(text).unwrap();
        let flows = format!("5\n{}3 1 3 100 1000 2.0\n", "0 2 3 100 1000 2.0\n".repeat(4));
        let options = FlowFileOptions { hosts: 4, switches: vec![4, 5, 6, 7], ..FlowFileOptions::default() };
        let flows = traffic::read_flow_file(flows.as_bytes(), "flow.txt", &options).unwrap().flows;
        let spine = |src: u32, dst: u32, port: u32, leaf: u32| {
            let words = [0x0b00_0001 + src * 256, 0x0b00_0001 + dst * 256, 100 << 16 | port];
            [7, 6][murmur3(words, leaf) as usize % 2]
        };
        let mut expected: Vec<Vec<u32>> = (0..4).map(|n| vec![0, 4, spine(0, 2, 10_000 + n, 4), 5, 2]).collect();
        expected.push(vec![3, 5, spine(3, 1, 10_000, 5), 4, 1]);
        let found = paths(&fabric, &flows).unwrap();
        let found: Vec<Vec<u32>> = found.iter().map(|path| path.iter().map(|node| node.0).collect()).collect();
        assert_eq!(found, expected);
    }
}
