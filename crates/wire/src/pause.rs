//! PAUSE frame (IEEE 802.3 annex 31B): pauses a whole link for a number of quanta.

use crate::error::Error;
use crate::reader::Reader;
use std::fmt;

/// PAUSE frame, which pauses or resumes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Duration in units of 512 bit times; 0 resumes the link.
    pub quanta: u16,
}

impl Pause {
    /// MAC control opcode.
    pub const OPCODE: u16 = 0x0001;

    /// Parses opcode and quanta. Returns the PAUSE frame, and the padding after it.
    ///
    /// # Errors
    /// If the bytes end early or the opcode differs.
    pub fn parse(bytes: &[u8]) -> Result<(Pause, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        reader.opcode(Self::OPCODE, "0x0001 (PAUSE)")?;
        let quanta = reader.u16("pause quanta")?;
        Ok((Pause { quanta }, reader.rest()))
    }

    /// Appends opcode and quanta.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&Self::OPCODE.to_be_bytes());
        out.extend_from_slice(&self.quanta.to_be_bytes());
    }
}

/// Formats as `PAUSE 65535 quanta`.
impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PAUSE {} quanta", self.quanta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("0001 ffff");
        assert_eq!(Pause::parse(&bytes), Ok((Pause { quanta: 0xFFFF }, &[][..])));
        assert_refuses_prefixes(&bytes, Pause::parse);
        assert!(matches!(Pause::parse(&hex("0101 ffff")), Err(Error::Value { found: 0x101, offset_bytes: 0, .. })));
    }

    proptest! {
        #[test]
        fn round_trip(quanta: u16) {
            let mut bytes = Vec::new();
            Pause { quanta }.emit(&mut bytes);
            prop_assert_eq!(Pause::parse(&bytes), Ok((Pause { quanta }, &[][..])));
        }
    }
}
