//! Helper functions for the tests of all protocols.

use crate::error::Error;

/// Decodes hexadecimal text; spaces and line breaks are ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Asserts that `parse` refuses every proper prefix of `bytes`, with an error offset inside the prefix.
pub(crate) fn assert_refuses_prefixes<'a, T: std::fmt::Debug>(
    bytes: &'a [u8],
    parse: impl Fn(&'a [u8]) -> Result<T, Error>,
) {
    assert!(parse(bytes).is_ok());
    for length in 0..bytes.len() {
        match parse(&bytes[..length]).expect_err("a prefix must be refused") {
            Error::Truncated { offset_bytes, needed_bytes, available_bytes, .. } => {
                assert_eq!(offset_bytes + available_bytes, length);
                assert!(needed_bytes > available_bytes);
            }
            Error::Value { offset_bytes, .. } | Error::Checksum { offset_bytes, .. } => {
                assert!(offset_bytes < length);
            }
            error => panic!("{error} when parsing"),
        }
    }
}

/// Flips each bit of `bytes` in turn, and asserts that `parse` refuses each result.
pub(crate) fn assert_detects_bit_flips(bytes: &[u8], parse: impl Fn(&[u8]) -> Result<(), Error>) {
    let mut damaged = bytes.to_vec();
    for bit in 0..bytes.len() * 8 {
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(parse(&damaged).is_err(), "flipped bit {bit} went unnoticed");
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
}
