//! A set of ports of one switch, as the bitmap that a TCAM matches.

use crate::PortIndex;

/// Ports of one switch: bit p of the bitmap is port p. Two sets with the same ports are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PortSet {
    /// Bitmap words without trailing zero words, so that equal sets have equal words.
    words: Box<[u64]>,
}

impl PortSet {
    /// Creates the set of this bitmap; port 0 is the lowest bit of the first word.
    pub fn from_words(words: &[u64]) -> PortSet {
        let length = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        PortSet { words: words[..length].into() }
    }

    /// Returns the bitmap, 64 ports per word, without trailing zero words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns `true` if the port is in the set.
    #[inline]
    pub fn contains(&self, port: PortIndex) -> bool {
        self.words.get(usize::from(port) / 64).is_some_and(|word| word >> (port % 64) & 1 == 1)
    }

    /// Returns the ports, ascending.
    pub fn iter(&self) -> impl Iterator<Item = PortIndex> + '_ {
        ones(&self.words).map(|port| port as PortIndex)
    }

    /// Returns the number of ports.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the highest port; `None` if the set is empty.
    pub fn last(&self) -> Option<PortIndex> {
        let word = self.words.last()?;
        Some(((self.words.len() - 1) * 64 + (63 - word.leading_zeros() as usize)) as PortIndex)
    }

    /// Returns `true` if the two sets have a common port.
    pub fn intersects(&self, other: &PortSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }
}

impl FromIterator<PortIndex> for PortSet {
    fn from_iter<I: IntoIterator<Item = PortIndex>>(ports: I) -> PortSet {
        let mut words = Vec::new();
        for port in ports {
            let word = usize::from(port) / 64;
            if words.len() <= word {
                words.resize(word + 1, 0u64);
            }
            words[word] |= 1 << (port % 64);
        }
        PortSet { words: words.into() }
    }
}

impl std::fmt::Debug for PortSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Returns the positions of the set bits, ascending.
#[inline]
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                index * 64 + bit
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_was_put_in() {
        let set: PortSet = [3, 0, 1, 130, 3].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 1, 3, 130]);
        assert_eq!((set.len(), set.last(), set.contains(130), set.contains(131)), (4, Some(130), true, false));
        assert!(!set.contains(60_000));
        let small: PortSet = [2].into_iter().collect();
        assert!(!set.intersects(&small) && set.intersects(&[130].into_iter().collect()));
        assert_eq!(PortSet::from_words(&[4, 0, 0]), small);
        assert!(PortSet::from_words(&[0]).is_empty());
    }
}
