//! Cursor over bytes. A failed read returns an error with the name of the field and its offset.

use crate::error::Error;

/// Parses fields in network byte order from the front of a slice.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset_bytes: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, offset_bytes: 0 }
    }

    /// Returns the next `count` bytes.
    pub(crate) fn take(&mut self, field: &'static str, count: usize) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let Some(taken) = rest.get(..count) else {
            return Err(Error::Truncated {
                field,
                offset_bytes: self.offset_bytes,
                needed_bytes: count,
                available_bytes: rest.len(),
            });
        };
        self.offset_bytes += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(field, N)?);
        Ok(array)
    }

    pub(crate) fn octets<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        self.array(field)
    }
    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, Error> {
        self.array(field).map(u8::from_be_bytes)
    }
    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, Error> {
        self.array(field).map(u16::from_be_bytes)
    }
    pub(crate) fn u24(&mut self, field: &'static str) -> Result<u32, Error> {
        let [a, b, c] = self.array(field)?;
        Ok(u32::from_be_bytes([0, a, b, c]))
    }
    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, Error> {
        self.array(field).map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, Error> {
        self.array(field).map(u64::from_be_bytes)
    }

    /// Parses a varint (seven bits per byte, the lowest first), whose value is below 2^56.
    pub(crate) fn varint(&mut self, field: &'static str) -> Result<u64, Error> {
        let mut value = 0;
        for at in 0..8 {
            let byte = self.u8(field)?;
            value |= u64::from(byte & 0x7F) << (7 * at);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.unexpected(field, 8, value, "a number of at most 8 bytes"))
    }

    /// Parses the opcode at the start of a MAC control frame (IEEE 802.3 clause 31). If it is not `opcode`, returns an
    /// error with the text `expected`.
    pub(crate) fn opcode(&mut self, opcode: u16, expected: &'static str) -> Result<(), Error> {
        let found = self.u16("MAC control opcode")?;
        if found == opcode { Ok(()) } else { Err(self.unexpected("MAC control opcode", 2, found, expected)) }
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.offset_bytes..]
    }

    /// Returns the error for a field of `width_bytes`, which has just been read, with the invalid value `found`.
    pub(crate) fn unexpected(
        &self,
        field: &'static str,
        width_bytes: usize,
        found: impl Into<u64>,
        expected: &'static str,
    ) -> Error {
        Error::Value { field, offset_bytes: self.offset_bytes - width_bytes, found: found.into(), expected }
    }
}

/// Appends the low 24 bits of `value` in network byte order.
pub(crate) fn put_u24(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes()[1..]);
}

/// Appends `value`, below 2^56, in the format of [`Reader::varint`].
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_network_order_and_reports_the_end() {
        let mut reader = Reader::new(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(reader.u8("a"), Ok(1));
        assert_eq!(reader.u16("b"), Ok(0x0203));
        assert_eq!(reader.u24("c"), Ok(0x0004_0506));
        let error = reader.u32("d").unwrap_err();
        assert_eq!(error, Error::Truncated { field: "d", offset_bytes: 6, needed_bytes: 4, available_bytes: 1 });
        assert_eq!(error.shifted(14).to_string(), "byte 20: d needs 4 bytes, but only 1 are left");
        // A failed read does not advance the cursor.
        assert_eq!(reader.rest(), [7]);
    }

    #[test]
    fn numbers_of_seven_bits_a_byte_come_back() {
        for value in [0, 1, 127, 128, 16_383, 16_384, (1 << 48) - 1, (1 << 56) - 1] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            assert_eq!(bytes.len(), (64 - u64::leading_zeros(value | 1) as usize).div_ceil(7));
            assert_eq!(Reader::new(&bytes).varint("a"), Ok(value));
        }
        assert!(Reader::new(&[0x80]).varint("a").is_err() && Reader::new(&[0x80; 9]).varint("a").is_err());
    }
}
