//! Hash-based selection among equal paths.

use crate::NodeId;

/// Bijective 32-bit mixer: every input bit flips every output bit with probability near 1/2 (the two-multiply
/// construction of Wellons' hash prospector).
#[inline]
pub const fn mix32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Returns the index of the ECMP member, of `n`, that a frame takes. It is uniform over 0..n for uniform `entropy`, and
/// is computed without a division. 0 if `n` is 0 or 1. `salt` differs per node ([`node_salt`]): if all nodes used the
/// same hash, a switch of the next tier would receive only flows with equal hash values and would not spread them (hash
/// polarisation).
#[inline]
pub const fn select(entropy: u32, salt: u32, n: usize) -> usize {
    ((mix32(entropy ^ salt) as u64 * n as u64) >> 32) as usize
}

/// Returns the salt of a node for seed 0.
#[inline]
pub const fn node_salt(node: NodeId) -> u32 {
    mix32(node.0.wrapping_add(0x9e37_79b9))
}

/// Returns the value that a seed adds (XOR) to every node's salt, like the hash seed of all switches of an operator; 0
/// for seed 0.
#[inline]
pub const fn seed_salt(seed: u64) -> u32 {
    mix32(seed as u32 ^ mix32((seed >> 32) as u32))
}

/// Returns the entropy of a flow, which a real switch computes from addresses and ports. It is the same for all frames
/// of the flow and differs between the two directions.
#[inline]
pub const fn flow_hash(src_host: u32, dst_host: u32, flow: u32) -> u32 {
    mix32(mix32(mix32(src_host.wrapping_add(0x85eb_ca6b)) ^ dst_host).wrapping_add(flow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_is_uniform_and_independent_between_nodes() {
        const FLOWS: u32 = 64_000;
        let mut joint = [[0u32; 8]; 8];
        for flow in 0..FLOWS {
            let entropy = flow_hash(flow % 97, flow % 89, flow);
            joint[select(entropy, node_salt(NodeId(3)), 8)][select(entropy, node_salt(NodeId(4)), 8)] += 1;
        }
        // 64 cells of 1000: chi-square with 63 degrees of freedom is below 103.4 in 99.9 % of cases.
        let chi: f64 = joint.iter().flatten().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 103.4, "{chi}: {joint:?}");
    }

    /// Flows that share a port under one seed are independent under another seed: they share a port only as often as by
    /// chance.
    #[test]
    fn seeds_choose_independently_of_each_other() {
        assert_eq!(seed_salt(0), 0);
        let salt = node_salt(NodeId(7));
        for (a, b) in [(0, 1), (1, 2), (5, 5 << 32)] {
            let mut joint = [[0u32; 8]; 8];
            for flow in 0..64_000 {
                let entropy = flow_hash(3, 4, flow);
                let choice = |seed| select(entropy, salt ^ seed_salt(seed), 8);
                joint[choice(a)][choice(b)] += 1;
            }
            let chi: f64 = joint.iter().flatten().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi < 103.4, "{a} and {b}: {chi}");
        }
    }

    #[test]
    fn selection_stays_in_range() {
        assert_eq!(select(0xffff_ffff, 0, 0), 0);
        for entropy in (0..=u32::MAX).step_by(65_537) {
            assert_eq!(select(entropy, 7, 1), 0);
            assert!(select(entropy, 7, 5) < 5);
        }
        assert_ne!(flow_hash(1, 2, 0), flow_hash(2, 1, 0));
    }
}
