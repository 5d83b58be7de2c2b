//! Congestion notification packet (CNP) of RoCEv2 (InfiniBand annex A17.9), from the receiver of ECN-marked packets
//! to their sender: a base transport header with fixed contents, and 16 reserved bytes.

use super::bth::{Bth, Opcode, Psn, QueuePair};
use crate::error::Error;
use crate::reader::Reader;
use std::fmt;

/// Variable fields of a CNP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnp {
    /// Queue pair number of the sender of the marked packets, which must reduce its rate.
    pub destination_queue_pair: QueuePair,
    /// Partition key; 0xFFFF is that of the default partition.
    pub partition_key: u16,
}

impl Cnp {
    /// Length of the header and the reserved bytes.
    pub const BYTES: usize = Bth::BYTES + Self::RESERVED_BYTES;
    const RESERVED_BYTES: usize = 16;

    /// Parses the header, and skips the reserved bytes. Returns the CNP, and the bytes after it.
    ///
    /// # Errors
    /// If the bytes end early or the opcode differs.
    pub fn parse(bytes: &[u8]) -> Result<(Cnp, &[u8]), Error> {
        let (header, rest) = Bth::parse(bytes)?;
        if header.opcode != Opcode::CONGESTION_NOTIFICATION {
            return Err(Error::Value {
                field: "BTH opcode",
                offset_bytes: 0,
                found: header.opcode.0.into(),
                expected: "0x81 (congestion notification)",
            });
        }
        let mut reader = Reader::new(rest);
        reader.take("CNP reserved bytes", Self::RESERVED_BYTES).map_err(|error| error.shifted(Bth::BYTES))?;
        let cnp = Cnp { destination_queue_pair: header.destination_queue_pair, partition_key: header.partition_key };
        Ok((cnp, reader.rest()))
    }

    /// Appends header and reserved bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let header = Bth {
            backward_congestion: true,
            partition_key: self.partition_key,
            ..Bth::new(Opcode::CONGESTION_NOTIFICATION, self.destination_queue_pair, Psn::default(), 0)
        };
        header.emit(out);
        out.extend_from_slice(&[0; Self::RESERVED_BYTES]);
    }
}

/// Formats as `CNP qp 210`.
impl fmt::Display for Cnp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CNP qp {}", self.destination_queue_pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("81 00 ffff 40 0000d2 00 000000 00000000000000000000000000000000");
        let cnp = Cnp { destination_queue_pair: QueuePair::low_bits(210), partition_key: 0xFFFF };
        assert_eq!(Cnp::parse(&bytes), Ok((cnp, &[][..])));
        assert_eq!(cnp.to_string(), "CNP qp 210");
        let mut emitted = Vec::new();
        cnp.emit(&mut emitted);
        assert_eq!(emitted, bytes);
        assert_refuses_prefixes(&bytes, Cnp::parse);
    }

    #[test]
    fn another_opcode_is_named() {
        let error = Cnp::parse(&hex("11 00 ffff 40 0000d2 00 000000 00000000000000000000000000000000")).unwrap_err();
        assert_eq!(error.to_string(), "byte 0: BTH opcode is 0x11, expected 0x81 (congestion notification)");
    }

    proptest! {
        #[test]
        fn round_trip(queue_pair: u32, partition_key: u16) {
            let cnp = Cnp { destination_queue_pair: QueuePair::low_bits(queue_pair), partition_key };
            let mut bytes = Vec::new();
            cnp.emit(&mut bytes);
            prop_assert_eq!(bytes.len(), Cnp::BYTES);
            prop_assert_eq!(Cnp::parse(&bytes), Ok((cnp, &[][..])));
        }
    }
}
