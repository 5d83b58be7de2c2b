//! Reproducible random streams. Each stream is derived from (run seed, component, purpose), so that a new component
//! does not change the numbers of other components, and every version and machine draws the same numbers.

/// One independent stream of random numbers: xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64.
/// Known-answer tests ensure that the numbers never change.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

/// Takes one step of SplitMix64 (Steele, Lea and Flood, 2014). A single step is also a good 64-bit mixing function.
#[inline]
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Hashes the name of a purpose (FNV-1a) to a number for [`Stream::new`].
pub const fn purpose(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

impl Stream {
    /// Makes the stream of `component` (a node or flow number) for one `purpose` (see [`purpose`]) in the run with this
    /// `seed`.
    pub fn new(seed: u64, component: u64, purpose: u64) -> Self {
        let mut mixer = seed;
        let mut key = split_mix(&mut mixer) ^ component;
        key = split_mix(&mut key) ^ purpose;
        Stream { state: std::array::from_fn(|_| split_mix(&mut key)) }
    }

    /// Draws 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Draws 32 uniform bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Draws uniformly from [0, 1), with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws uniformly from 0..bound, without bias (Lemire, 2019).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no element");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            // Rejects 2^64 mod `bound` values of the low half: the remaining values give each result equally often.
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Shuffles `items` uniformly (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference outputs of the generators' authors: SplitMix64 from state 1234567, xoshiro256++ from state 1, 2, 3, 4.
    // [M13] [M15]
    #[test]
    fn known_answers() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let drawn: Vec<u64> = (0..4).map(|_| stream.next_u64()).collect();
        assert_eq!(drawn, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    // [M14] [M15] [M16]
    #[test]
    fn streams_of_a_run() {
        assert_eq!((purpose("switch"), purpose("host")), (0xa5a8_7ac5_b0b3_79b1, 0x4077_f8cc_7eaf_4d6f));
        let mut seed = 1;
        let mut state = split_mix(&mut seed) ^ 3;
        state = split_mix(&mut state) ^ purpose("switch");
        let words: [u64; 4] = std::array::from_fn(|_| split_mix(&mut state));
        let mut switch = Stream::new(1, 3, purpose("switch"));
        assert_eq!(switch.state, words);
        assert_eq!(
            [0; 3].map(|_| switch.next_u64()),
            [0xc525_5280_ba7c_ec04, 0x9b28_fc6e_a4c9_1d5f, 0xfe1e_098f_b205_0eb4]
        );
        let mut host = Stream::new(1, 0, purpose("host"));
        assert_eq!([0; 2].map(|_| host.next_u64()), [0x28ad_8c28_a282_b4ea, 0xf76f_767b_f0a6_a2fd]);
    }

    // [M17]
    #[test]
    fn units_and_numbers_below_a_bound_by_hand() {
        let mut stream = Stream::new(1, 3, purpose("switch"));
        assert_eq!(stream.unit(), (0xc525_5280_ba7c_ec04_u64 >> 11) as f64 / 9_007_199_254_740_992.0);
        assert_eq!(stream.below(10), 6); // the next draw, 0x9b28..., is 0.606 of 2^64
        // 2^64 mod (2^63 + 1) is 2^63 - 1: about half of all numbers are drawn again.
        let (mut stream, mut numbers) = (Stream::new(5, 0, 0), Stream::new(5, 0, 0));
        let bound = (1u64 << 63) + 1;
        for _ in 0..100 {
            let expected = loop {
                let wide = u128::from(numbers.next_u64()) * u128::from(bound);
                if wide as u64 >= (1 << 63) - 1 {
                    break (wide >> 64) as u64;
                }
            };
            assert_eq!(stream.below(bound), expected);
        }
    }

    #[test]
    fn streams_differ_by_seed_component_and_purpose() {
        let first = |seed, component, name| Stream::new(seed, component, purpose(name)).next_u64();
        let reference = first(1, 2, "spray");
        assert_ne!(reference, first(2, 2, "spray"));
        assert_ne!(reference, first(1, 3, "spray"));
        assert_ne!(reference, first(1, 2, "mark"));
        assert_eq!(reference, first(1, 2, "spray"));
    }

    #[test]
    fn below_is_uniform_enough() {
        let mut stream = Stream::new(1, 0, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Chi-square with 6 degrees of freedom: 22.5 is the 0.1 % quantile.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 22.5, "{counts:?}");
    }
}
