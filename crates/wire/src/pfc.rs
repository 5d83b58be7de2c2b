//! Priority-based flow control (IEEE 802.1Qbb, now 802.1Q clause 36 and 802.3 annex 31D): a pause per priority.

use crate::error::Error;
use crate::reader::Reader;
use crate::vlan::Pcp;
use std::fmt;

/// PFC frame. For each priority: no change (`None`), a pause for a number of quanta, or a resume (0 quanta). The
/// class-enable vector in the frame has a bit for each entry that is `Some`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pfc {
    /// Quanta for each priority, in units of 512 bit times.
    pub quanta: [Option<u16>; 8],
}

impl Pfc {
    /// MAC control opcode.
    pub const OPCODE: u16 = 0x0101;

    /// Creates a PFC frame for one priority.
    pub fn single(priority: Pcp, quanta: u16) -> Pfc {
        let mut pfc = Pfc::default();
        pfc.quanta[usize::from(priority.get())] = Some(quanta);
        pfc
    }

    /// Parses opcode, class-enable vector and times. Returns the PFC frame, and the padding after it. Ignores the
    /// times of classes that are not enabled, and the reserved upper byte of the vector.
    ///
    /// # Errors
    /// If the bytes end early or the opcode differs.
    pub fn parse(bytes: &[u8]) -> Result<(Pfc, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        reader.opcode(Self::OPCODE, "0x0101 (PFC)")?;
        let enabled = reader.u16("class-enable vector")?;
        let mut pfc = Pfc::default();
        for (priority, slot) in pfc.quanta.iter_mut().enumerate() {
            let quanta = reader.u16("priority quanta")?;
            *slot = (enabled >> priority & 1 == 1).then_some(quanta);
        }
        Ok((pfc, reader.rest()))
    }

    /// Appends opcode, class-enable vector and the eight times (0 for a class that is not enabled).
    pub fn emit(&self, out: &mut Vec<u8>) {
        let enabled = (0..8).fold(0u16, |vector, class| vector | u16::from(self.quanta[class].is_some()) << class);
        out.extend_from_slice(&Self::OPCODE.to_be_bytes());
        out.extend_from_slice(&enabled.to_be_bytes());
        for quanta in self.quanta {
            out.extend_from_slice(&quanta.unwrap_or(0).to_be_bytes());
        }
    }
}

/// Formats as `PFC 3:65535 4:0`: quanta by priority.
impl fmt::Display for Pfc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PFC")?;
        for (priority, quanta) in self.quanta.iter().enumerate() {
            if let Some(quanta) = quanta {
                write!(f, " {priority}:{quanta}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("0101 0018 0000 0000 0000 ffff 0000 0000 0000 0000");
        let (pfc, rest) = Pfc::parse(&bytes).unwrap();
        assert_eq!(pfc.quanta, [None, None, None, Some(0xFFFF), Some(0), None, None, None]);
        assert!(rest.is_empty());
        assert_eq!(pfc.to_string(), "PFC 3:65535 4:0");
        assert_refuses_prefixes(&bytes, Pfc::parse);
        let mut emitted = Vec::new();
        pfc.emit(&mut emitted);
        assert_eq!(emitted, bytes);
    }

    #[test]
    fn disabled_classes_and_reserved_bits_are_ignored() {
        let (pfc, _) = Pfc::parse(&hex("0101 ff08 1111 2222 3333 0007 5555 6666 7777 8888")).unwrap();
        assert_eq!(pfc, Pfc::single(Pcp::low_bits(3), 7));
    }

    proptest! {
        #[test]
        fn round_trip(quanta: [Option<u16>; 8]) {
            let mut bytes = Vec::new();
            Pfc { quanta }.emit(&mut bytes);
            prop_assert_eq!(Pfc::parse(&bytes), Ok((Pfc { quanta }, &[][..])));
        }
    }
}
