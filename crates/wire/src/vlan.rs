//! Customer VLAN tag (IEEE 802.1Q clause 9.6): priority code point, drop eligible indicator and VLAN identifier.

use crate::bits::bit_field;
use crate::error::Error;
use crate::ethernet::EtherType;
use crate::reader::Reader;
use std::fmt;

bit_field! {
    /// Priority code point, 0 to 7: the traffic class for PFC and for the queues of a switch.
    Pcp: u8, 3 bits
}

/// VLAN identifier, 0 (no VLAN: a priority tag) to 4094.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vid(u16);

impl Vid {
    /// Identifier of a priority tag, which has no VLAN.
    pub const PRIORITY_ONLY: Vid = Vid(0);
    /// Maximum identifier, since 4095 is reserved (802.1Q table 9-2).
    pub const MAX: Vid = Vid(0xFFE);

    /// Returns the identifier, or `None` if `value` exceeds [`Vid::MAX`].
    pub const fn new(value: u16) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Vid(value)) } else { None }
    }
    /// Returns the value of the identifier.
    pub const fn get(self) -> u16 {
        self.0
    }
}
impl fmt::Display for Vid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Tag control information of a VLAN tag. The EtherType of the tag itself, 0x8100, is the last field of the preceding
/// header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    /// Priority code point.
    pub priority: Pcp,
    /// Drop eligible indicator (DEI): under congestion the frame may be dropped before others.
    pub drop_eligible: bool,
    /// VLAN identifier.
    pub vid: Vid,
}

impl VlanTag {
    /// Length of the tag control information and the following EtherType.
    pub const BYTES: usize = 4;

    /// Parses the tag. Returns it, the EtherType after it, and the remaining bytes.
    ///
    /// # Errors
    /// If the bytes end early, the VLAN identifier is the reserved 4095, or an 802.2 length follows instead of an
    /// EtherType.
    pub fn parse(bytes: &[u8]) -> Result<(VlanTag, EtherType, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let control = reader.u16("VLAN tag")?;
        let Some(vid) = Vid::new(control & 0xFFF) else {
            return Err(reader.unexpected("VLAN identifier", 2, control & 0xFFF, "at most 4094"));
        };
        let tag = VlanTag { priority: Pcp::low_bits((control >> 13) as u8), drop_eligible: control & 0x1000 != 0, vid };
        let ethertype = EtherType::read(&mut reader)?;
        Ok((tag, ethertype, reader.rest()))
    }

    /// Appends the tag control information, and the EtherType of the payload.
    pub fn emit(&self, ethertype: EtherType, out: &mut Vec<u8>) {
        let control = u16::from(self.priority.get()) << 13 | u16::from(self.drop_eligible) << 12 | self.vid.get();
        out.extend_from_slice(&control.to_be_bytes());
        out.extend_from_slice(&ethertype.0.to_be_bytes());
    }
}

/// Formats as `vlan 5 pcp 3`, followed by `dei` if the drop eligible indicator is set.
impl fmt::Display for VlanTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vlan {} pcp {}{}", self.vid, self.priority, if self.drop_eligible { " dei" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn fields_are_where_the_standard_puts_them() {
        let bytes = hex("7005 0800");
        let (tag, ethertype, rest) = VlanTag::parse(&bytes).unwrap();
        assert_eq!(tag, VlanTag { priority: Pcp::low_bits(3), drop_eligible: true, vid: Vid(5) });
        assert_eq!((ethertype, rest.len()), (EtherType::IPV4, 0));
        assert_eq!(tag.to_string(), "vlan 5 pcp 3 dei");
        assert_refuses_prefixes(&bytes, VlanTag::parse);
        let error = VlanTag::parse(&hex("ffff 0800")).unwrap_err();
        assert_eq!(error.to_string(), "byte 0: VLAN identifier is 0xfff, expected at most 4094");
    }

    proptest! {
        #[test]
        fn round_trip(pcp: u8, drop_eligible: bool, vid in 0u16..=4094, ethertype in 0x600u16..) {
            let tag = VlanTag { priority: Pcp::low_bits(pcp), drop_eligible, vid: Vid(vid) };
            let mut bytes = Vec::new();
            tag.emit(EtherType(ethertype), &mut bytes);
            prop_assert_eq!(VlanTag::parse(&bytes), Ok((tag, EtherType(ethertype), &[][..])));
        }
    }
}
