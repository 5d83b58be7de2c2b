//! Messages of a transport other than data, in UDP datagrams: probes of the path, and control messages from a sender
//! to its receiver. The papers of the transports define no format; this one is defined by this project.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | 0x7467, the magic number of this format |
//! | 1 | version, 1 |
//! | 1 | kind: 1 probe, 2 control |
//! | 8 | number, big-endian, defined by the transport |

use crate::error::Error;
use crate::reader::Reader;

/// Message type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ProbeKind {
    /// A probe of the path.
    Probe = 1,
    /// A control message from a sender to its receiver.
    Control = 2,
}

/// Header of the message, which has no payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Message type.
    pub kind: ProbeKind,
    /// Number whose meaning is defined by the transport.
    pub number: u64,
}

impl Probe {
    /// Length of the header.
    pub const BYTES: usize = 12;
    /// Magic number in the first two bytes.
    pub const MAGIC: u16 = 0x7467;

    /// Parses the header. Returns it, and the bytes after it.
    ///
    /// # Errors
    /// If the bytes end early, or magic number, version or type are unsupported.
    pub fn parse(bytes: &[u8]) -> Result<(Probe, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let magic = reader.u16("probe's first bytes")?;
        if magic != Self::MAGIC {
            return Err(reader.unexpected("probe's first bytes", 2, magic, "0x7467"));
        }
        let version = reader.u8("probe version")?;
        if version != 1 {
            return Err(reader.unexpected("probe version", 1, version, "1"));
        }
        let kind = match reader.u8("probe kind")? {
            1 => ProbeKind::Probe,
            2 => ProbeKind::Control,
            other => return Err(reader.unexpected("probe kind", 1, other, "1 (probe) or 2 (control)")),
        };
        let number = reader.u64("probe number")?;
        Ok((Probe { kind, number }, reader.rest()))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&Self::MAGIC.to_be_bytes());
        out.extend_from_slice(&[1, self.kind as u8]);
        out.extend_from_slice(&self.number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("7467 01 02 00000000000005ee");
        assert_eq!(Probe::parse(&bytes), Ok((Probe { kind: ProbeKind::Control, number: 1518 }, &[][..])));
        assert_eq!(bytes.len(), Probe::BYTES);
        assert_refuses_prefixes(&bytes, Probe::parse);
        let wrong = |text: &str| Probe::parse(&hex(text)).unwrap_err().to_string();
        assert_eq!(wrong("7466 01 02 00000000000005ee"), "byte 0: probe's first bytes is 0x7466, expected 0x7467");
        assert_eq!(wrong("7467 02 02 00000000000005ee"), "byte 2: probe version is 0x2, expected 1");
        assert_eq!(
            wrong("7467 01 03 00000000000005ee"),
            "byte 3: probe kind is 0x3, expected 1 (probe) or 2 (control)"
        );
    }

    proptest! {
        #[test]
        fn round_trip(probe: bool, number: u64, rest: [u8; 3]) {
            let probe = Probe { kind: if probe { ProbeKind::Probe } else { ProbeKind::Control }, number };
            let mut bytes = Vec::new();
            probe.emit(&mut bytes);
            bytes.extend(rest);
            prop_assert_eq!(Probe::parse(&bytes), Ok((probe, &rest[..])));
        }
    }
}
