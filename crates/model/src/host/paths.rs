//! Path selection by senders: each packet carries an entropy value, which switches hash to select the path.
//!
//! With `spread = "path"` a sender has one entropy for each path. It uses all of them in random order, then again in a
//! new order (NDP, sec. 3.1.1). With `spread = "entropy"` it uses all its entropy values once per round, as Ultra
//! Ethernet's oblivious spraying does. Switches hash the values, so several values may select the same path, and some
//! paths get more packets than others.

use crate::network::Network;
use fabric::routing::{Hop, mix32};
use rustc_hash::FxHashMap;
use units::random::Stream;

/// Maximum number of paths of a sender.
const MAX_PATHS: usize = 256;

/// The entropies of a flow's data frames.
#[derive(Debug)]
pub(super) enum Paths {
    /// One entropy for each path.
    Known {
        entropies: Box<[u32]>,
        /// Index of the first entropy not yet used in this round.
        next: usize,
    },
    /// Entropy values that switches hash.
    Hashed {
        /// The hash of the flow.
        flow_hash: u32,
        /// Number of values, a power of two.
        values: u32,
        /// Values used in this round.
        next: u32,
        /// Random number that is XORed with the index of the value. Drawn again in each round.
        order: u32,
    },
}

impl Paths {
    /// Creates the selection from the entropies of [`find`].
    pub fn known(entropies: Box<[u32]>) -> Paths {
        Paths::Known { entropies, next: 0 }
    }

    /// Creates the selection from `values` entropy values, a power of two, for a flow with this hash.
    pub fn hashed(flow_hash: u32, values: u32) -> Paths {
        Paths::Hashed { flow_hash, values, next: values, order: 0 }
    }

    /// Returns the entropy of the next data frame.
    pub fn take(&mut self, random: &mut Stream) -> u32 {
        match self {
            Paths::Known { entropies, next } => {
                let count = entropies.len();
                if *next == count {
                    *next = 0;
                }
                let chosen = *next + random.below((count - *next) as u64) as usize;
                entropies.swap(*next, chosen);
                *next += 1;
                entropies[*next - 1]
            }
            Paths::Hashed { flow_hash, values, next, order } => {
                if *next == *values {
                    (*next, *order) = (0, random.below(u64::from(*values)) as u32);
                }
                let value = *next ^ *order;
                *next += 1;
                flow_hash.wrapping_add(value.wrapping_mul(0x9e37_79b9))
            }
        }
    }
}

/// Returns an entropy for each path from host `src` to host `dst`, at least one and at most [`MAX_PATHS`].
pub(super) fn find(network: &Network, src: u32, dst: u32) -> Box<[u32]> {
    let (fabric, forwarding) = (&network.fabric, &network.routing.forwarding);
    let mut known: FxHashMap<Vec<Hop>, u32> = FxHashMap::default();
    let mut entropies = Vec::new();
    let mut paths = 1;
    let mut tries = 0;
    // To find all of n paths takes about n ln n tries (coupon collector).
    while entropies.len() < paths && tries < 32 * paths as u32 {
        let entropy = mix32(tries.wrapping_mul(0x9e37_79b9));
        tries += 1;
        let Ok(hops) = forwarding.path(fabric, src, dst, entropy) else { break };
        if tries == 1 {
            let choices = hops.iter().map(|hop| forwarding.lookup(hop.node, dst).len().max(1));
            paths = choices.product::<usize>().min(MAX_PATHS);
        }
        known.entry(hops).or_insert_with(|| {
            entropies.push(entropy);
            entropy
        });
    }
    if entropies.is_empty() {
        entropies.push(0);
    }
    entropies.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_used_once_before_any_is_used_twice() {
        let mut random = Stream::new(1, 2, 3);
        let mut paths = Paths::known(Box::new([10, 11, 12, 13, 14, 15, 16]));
        let mut rounds: Vec<Vec<u32>> = Vec::new();
        for _ in 0..50 {
            rounds.push((0..7).map(|_| paths.take(&mut random)).collect());
        }
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [10, 11, 12, 13, 14, 15, 16]);
        }
        assert!(rounds.windows(2).filter(|pair| pair[0] == pair[1]).count() < 2);
    }
}
