//! Senders that choose their packets' paths: all of them in random order, then all again in a new order (NDP, sec.
//! 3.1.1).
//!
//! A sender learns what it can choose among as a real one does that varies a port number which switches hash: it
//! looks where its numbers lead.

use crate::network::Network;
use fabric::routing::{Hop, mix32};
use rustc_hash::FxHashMap;
use units::random::Stream;

/// The most paths that a sender keeps.
const MOST: usize = 256;

/// Numbers that lead a flow's frames by different paths.
#[derive(Debug)]
pub(super) struct Paths {
    entropies: Box<[u32]>,
    /// Those before this one have had their turn.
    next: usize,
}

impl Paths {
    /// Those of [`find`].
    pub fn new(entropies: Box<[u32]>) -> Paths {
        Paths { entropies, next: 0 }
    }

    /// The next path in random order.
    pub fn take(&mut self, random: &mut Stream) -> u32 {
        let count = self.entropies.len();
        if self.next == count {
            self.next = 0;
        }
        let chosen = self.next + random.below((count - self.next) as u64) as usize;
        self.entropies.swap(self.next, chosen);
        self.next += 1;
        self.entropies[self.next - 1]
    }
}

/// A number for each path from host `src` to host `dst`, at least one and at most [`MOST`].
pub(super) fn find(network: &Network, src: u32, dst: u32) -> Box<[u32]> {
    let (fabric, forwarding) = (&network.fabric, &network.forwarding);
    let mut known: FxHashMap<Vec<Hop>, u32> = FxHashMap::default();
    let mut entropies = Vec::new();
    let mut paths = 1;
    let mut tries = 0;
    // Of n paths the last is found after n ln n tries or so.
    while entropies.len() < paths && tries < 32 * paths as u32 {
        let entropy = mix32(tries.wrapping_mul(0x9e37_79b9));
        tries += 1;
        let Ok(hops) = forwarding.path(fabric, src, dst, entropy) else { break };
        if tries == 1 {
            let choices = hops.iter().map(|hop| forwarding.lookup(hop.node, dst).len().max(1));
            paths = choices.product::<usize>().min(MOST);
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
    fn every_path_has_its_turn_before_one_has_two() {
        let mut random = Stream::new(1, 2, 3);
        let mut paths = Paths { entropies: Box::new([10, 11, 12, 13, 14, 15, 16]), next: 0 };
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
