//! The receiver's bitmap of arrived packets, for the range of packets that may arrive while an earlier packet is
//! missing.

use super::bits::run;

/// Set of the packets that have arrived complete, by packet number; it contains all packets below `base`.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// Ring buffer of bits: the bit of a packet from `base` on is set if the packet has arrived complete.
    words: Box<[u64]>,
    base: u64,
}

/// Result of [`Arrivals::insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The packet had not arrived before.
    New,
    /// The packet had arrived before.
    Copy,
    /// The packet is beyond the announced window.
    Impossible,
}

impl Arrivals {
    /// Creates an empty bitmap for packets whose numbers differ by less than `span`, a power of two of at least 64.
    pub fn new(span: u64) -> Self {
        debug_assert!(span.is_power_of_two() && span >= 64);
        Arrivals { words: vec![0; (span / 64) as usize].into_boxed_slice(), base: 0 }
    }

    /// Creates the bitmap of a complete flow of `packets` packets.
    pub fn of_all(packets: u64) -> Self {
        Arrivals { base: packets, ..Arrivals::new(64) }
    }

    /// Returns whether the bitmap has not been allocated yet.
    pub fn is_unset(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the lowest packet that has not arrived.
    pub fn base(&self) -> u64 {
        self.base
    }

    #[inline]
    fn word_and_bit(&self, packet: u64) -> (usize, u64) {
        (((packet / 64) & (self.words.len() as u64 - 1)) as usize, 1 << (packet % 64))
    }

    /// Returns whether `packet` has arrived complete.
    #[inline]
    pub fn contains(&self, packet: u64) -> bool {
        let (word, bit) = self.word_and_bit(packet);
        packet < self.base || packet - self.base < self.words.len() as u64 * 64 && self.words[word] & bit != 0
    }

    /// Records the complete arrival of `packet`.
    #[inline]
    pub fn insert(&mut self, packet: u64) -> Arrival {
        if self.contains(packet) {
            return Arrival::Copy;
        }
        if packet - self.base >= self.words.len() as u64 * 64 {
            return Arrival::Impossible;
        }
        let (word, bit) = self.word_and_bit(packet);
        self.words[word] |= bit;
        if packet == self.base {
            self.advance();
        }
        Arrival::New
    }

    /// Advances `base` to the first missing packet.
    fn advance(&mut self) {
        loop {
            let (word, _) = self.word_and_bit(self.base);
            let (count, bits) = run(self.words[word], self.base % 64);
            self.words[word] &= !bits;
            self.base += count;
            if count == 0 || !self.base.is_multiple_of(64) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Stream;

    /// Random arrivals yield the same results as a set of packet numbers.
    #[test]
    fn agrees_with_a_set() {
        let mut stream = Stream::new(6, 0, 0);
        for span in [64, 128, 512] {
            let (mut arrivals, mut set) = (Arrivals::new(span), BTreeSet::new());
            for _ in 0..50_000 {
                let base = arrivals.base();
                let near = if stream.below(9) == 0 { span + 20 } else { 12 };
                let packet = base.saturating_sub(5) + stream.below(near);
                let expected = match packet {
                    _ if set.contains(&packet) => Arrival::Copy,
                    _ if packet >= base + span => Arrival::Impossible,
                    _ => Arrival::New,
                };
                assert_eq!(arrivals.contains(packet), expected == Arrival::Copy);
                assert_eq!(arrivals.insert(packet), expected);
                if expected == Arrival::New {
                    set.insert(packet);
                }
                assert_eq!(arrivals.base(), (base..).find(|packet| !set.contains(packet)).unwrap());
            }
            assert!(arrivals.base() > 10_000, "{}", arrivals.base());
        }
    }
}
