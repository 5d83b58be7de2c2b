//! CRC-32 of IEEE 802.3, clause 3.2.9: polynomial 0x04C11DB7, bits in wire order (reflected), initial value of all
//! ones, final complement. The frame check sequence and the InfiniBand ICRC both use it; on the wire its least
//! significant byte is first.

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            // The polynomial in reflected bit order.
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
};

/// Incremental CRC-32 over several slices.
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Crc32 {
    /// Creates the CRC of zero bytes.
    pub const fn new() -> Self {
        Crc32(u32::MAX)
    }
    /// Adds `bytes` to the CRC.
    #[must_use]
    pub fn update(self, bytes: &[u8]) -> Self {
        let step = |crc: u32, &byte: &u8| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)];
        Crc32(bytes.iter().fold(self.0, step))
    }
    /// Returns the CRC of all added bytes; `to_le_bytes` yields the wire order.
    pub const fn finish(self) -> u32 {
        !self.0
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Crc32::new()
    }
}

/// Returns the CRC-32 of `bytes`; `to_le_bytes` yields the wire order.
pub fn crc32(bytes: &[u8]) -> u32 {
    Crc32::new().update(bytes).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published check value of CRC-32/ISO-HDLC, and simple cases.
    #[test]
    fn known_answers() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(&[0]), 0xD202_EF8D);
        assert_eq!(Crc32::new().update(b"1234").update(b"").update(b"56789").finish(), 0xCBF4_3926);
    }

    /// The CRC of a message followed by its own CRC is a constant (the residue).
    #[test]
    fn residue_is_constant() {
        let mut stream = units::random::Stream::new(1, 0, 0);
        for length in 0..200 {
            let mut message: Vec<u8> = (0..length).map(|_| stream.next_u32() as u8).collect();
            message.extend_from_slice(&crc32(&message).to_le_bytes());
            assert_eq!(crc32(&message), 0x2144_DF1C);
        }
    }
}
