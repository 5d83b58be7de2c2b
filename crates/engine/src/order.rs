//! Sorts the arrivals of a window.

/// Maximum number of keys for a bucket sort; more keys are sorted by comparisons alone.
const MAX_BUCKET_KEYS: usize = 1024;

/// Fewer keys than this are sorted by insertion.
const MIN_BUCKET_KEYS: usize = 8;

/// If a bucket has more keys than this, a comparison sort is cheaper.
const MAX_PER_BUCKET: u16 = 12;

/// Sorts keys into buckets by their leading bits, then finishes with an insertion sort.
///
/// Arrivals from several wires at link rates spread over the window, so the leading bits of a key nearly determine
/// its position. This takes half the instructions of a comparison sort. Keys of equal time are already in order of
/// their ports, and remain so (the low bits of a key are the index by port).
#[derive(Clone, Debug)]
pub(crate) struct Sorter {
    /// First position of each bucket.
    starts: Box<[u16; MAX_BUCKET_KEYS]>,
    /// The keys, by bucket.
    scratch: Vec<u64>,
}

impl Sorter {
    pub(crate) fn new() -> Self {
        Sorter { starts: Box::new([0; MAX_BUCKET_KEYS]), scratch: Vec::new() }
    }

    /// Sorts `keys` in ascending order; every key must be less than 2^`bits`.
    #[inline]
    pub(crate) fn sort(&mut self, keys: &mut [u64], bits: u32) {
        if keys.len() < MIN_BUCKET_KEYS {
            return insert_each(keys, |keys, position| keys[position]);
        }
        if keys.len() > MAX_BUCKET_KEYS || !self.distribute(keys, bits.min(u64::BITS)) {
            return keys.sort_unstable();
        }
        let scratch = &self.scratch[..keys.len()];
        insert_each(keys, |_, position| scratch[position]);
    }

    /// Copies `keys` to `scratch`, ordered by their leading bits. Returns false if too many keys share these bits;
    /// `scratch` is invalid then.
    #[inline]
    fn distribute(&mut self, keys: &[u64], bits: u32) -> bool {
        let Sorter { starts, scratch } = self;
        // One to two keys per bucket: more buckets cost more than they save in the insertion sort.
        let buckets = keys.len().next_power_of_two() / 2;
        let shift = bits.saturating_sub(buckets.ilog2());
        let bucket = |key: u64| (key >> shift) as usize & (MAX_BUCKET_KEYS - 1);
        starts[..buckets].fill(0);
        for &key in keys {
            starts[bucket(key)] += 1;
        }
        let (mut start, mut largest) = (0, 0);
        for count in &mut starts[..buckets] {
            largest = largest.max(*count);
            start += std::mem::replace(count, start);
        }
        if largest > MAX_PER_BUCKET {
            return false;
        }
        scratch.clear();
        scratch.reserve(keys.len());
        for &key in keys {
            let at = &mut starts[bucket(key)];
            debug_assert!(usize::from(*at) < keys.len());
            // SAFETY: a bucket begins at the end of all buckets before it and grows by the keys counted above, so every
            // position is less than the number of keys, which `reserve` made room for.
            unsafe { scratch.as_mut_ptr().add(usize::from(*at)).write(key) };
            *at += 1;
        }
        // SAFETY: each key was written to a position of its own, so all positions below their number are initialised.
        unsafe { scratch.set_len(keys.len()) };
        true
    }
}

/// Sorts by insertion the keys that `key` returns for each position. Efficient for few keys, or keys almost in order.
#[inline(always)] // called twice, each time with another `key`
fn insert_each(keys: &mut [u64], key: impl Fn(&[u64], usize) -> u64) {
    let mut greatest = 0;
    for end in 0..keys.len() {
        let key = key(keys, end);
        if key >= greatest {
            greatest = key;
            keys[end] = key;
            continue;
        }
        // All keys before position `end` are in order, and the last of them is greater than `key`.
        let mut at = end;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn sorts_as_a_sort_does() {
        const ROUNDS: u64 = if cfg!(miri) { 40 } else { 4_000 };
        let mut random = Stream::new(7, 0, 0);
        let (mut sorter, mut distributed) = (Sorter::new(), 0);
        for round in 0..ROUNDS {
            let bits = 1 + random.below(40) as u32;
            let count = random.below([10, 60, 300, 1_500][(round % 4) as usize]) as usize;
            // Keys are uniformly distributed, or concentrated at the lower end.
            let most = if round % 3 == 0 { (1 << bits) / 50 + 1 } else { 1 << bits };
            let mut keys: Vec<u64> = (0..count).map(|_| random.below(most)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            distributed +=
                u32::from((MIN_BUCKET_KEYS..=MAX_BUCKET_KEYS).contains(&count) && sorter.distribute(&keys, bits));
            sorter.sort(&mut keys, bits);
            assert_eq!(keys, expected, "{count} keys of {bits} bits");
        }
        assert!(u64::from(distributed) > ROUNDS / 4, "{distributed}");
    }
}
