//! InfiniBand base transport header, BTH (InfiniBand Architecture Specification, volume 1, clause 9.2).

use crate::bits::bit_field;
use crate::error::Error;
use crate::reader::{Reader, put_u24};
use std::fmt;

bit_field! {
    /// Packet sequence number (PSN), modulo 2^24.
    Psn: u32, 24 bits
}
bit_field! {
    /// Queue pair number.
    QueuePair: u32, 24 bits
}
bit_field! {
    /// Number of padding bytes after the payload, so that its length is a multiple of four.
    PadCount: u8, 2 bits
}

impl PadCount {
    /// Returns the pad count for a payload of this length.
    pub const fn of_payload(payload_bytes: usize) -> PadCount {
        // -n modulo 4, for which the low bits of n suffice.
        PadCount::low_bits((payload_bytes as u8).wrapping_neg())
    }
}

/// Opcode: transport service in the upper three bits, operation in the lower five bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Opcode(pub u8);

impl Opcode {
    /// Reliable connection: first packet of a SEND.
    pub const RC_SEND_FIRST: Opcode = Opcode(0x00);
    /// Reliable connection: middle packet of a SEND.
    pub const RC_SEND_MIDDLE: Opcode = Opcode(0x01);
    /// Reliable connection: last packet of a SEND.
    pub const RC_SEND_LAST: Opcode = Opcode(0x02);
    /// Reliable connection: only packet of a SEND.
    pub const RC_SEND_ONLY: Opcode = Opcode(0x04);
    /// Reliable connection: first packet of an RDMA WRITE.
    pub const RC_WRITE_FIRST: Opcode = Opcode(0x06);
    /// Reliable connection: middle packet of an RDMA WRITE.
    pub const RC_WRITE_MIDDLE: Opcode = Opcode(0x07);
    /// Reliable connection: last packet of an RDMA WRITE.
    pub const RC_WRITE_LAST: Opcode = Opcode(0x08);
    /// Reliable connection: only packet of an RDMA WRITE.
    pub const RC_WRITE_ONLY: Opcode = Opcode(0x0A);
    /// Reliable connection: request of an RDMA READ.
    pub const RC_READ_REQUEST: Opcode = Opcode(0x0C);
    /// Reliable connection: acknowledgement or negative acknowledgement.
    pub const RC_ACKNOWLEDGE: Opcode = Opcode(0x11);
    /// RoCEv2 congestion notification packet (annex A17.9).
    pub const CONGESTION_NOTIFICATION: Opcode = Opcode(0x81);

    /// Returns whether an [`Aeth`](super::Aeth) follows: in acknowledgements and in the first, last and only responses
    /// to RDMA READ and to atomics, of the reliable connection and the reliable datagram service.
    pub const fn has_aeth(self) -> bool {
        let reliable = matches!(self.0 >> 5, 0b000 | 0b010);
        reliable && matches!(self.0 & 0x1F, 0x0D | 0x0F | 0x10 | 0x11 | 0x12)
    }
}

/// Formats as `RC WRITE only`; an opcode without a name in this crate is formatted as its number.
impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Opcode::RC_SEND_FIRST => "RC SEND first",
            Opcode::RC_SEND_MIDDLE => "RC SEND middle",
            Opcode::RC_SEND_LAST => "RC SEND last",
            Opcode::RC_SEND_ONLY => "RC SEND only",
            Opcode::RC_WRITE_FIRST => "RC WRITE first",
            Opcode::RC_WRITE_MIDDLE => "RC WRITE middle",
            Opcode::RC_WRITE_LAST => "RC WRITE last",
            Opcode::RC_WRITE_ONLY => "RC WRITE only",
            Opcode::RC_READ_REQUEST => "RC READ request",
            Opcode::RC_ACKNOWLEDGE => "RC acknowledge",
            Opcode::CONGESTION_NOTIFICATION => "CNP",
            Opcode(other) => return write!(f, "opcode {other:#04x}"),
        })
    }
}

/// Base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// Opcode: transport service and operation.
    pub opcode: Opcode,
    /// Solicited event (SE): the receiver must raise an event.
    pub solicited_event: bool,
    /// Path migration state (MigReq).
    pub migration_request: bool,
    /// Number of padding bytes after the payload.
    pub padding: PadCount,
    /// Partition key; 0xFFFF is that of the default partition.
    pub partition_key: u16,
    /// Forward explicit congestion notification (FECN): a switch has marked the packet. RoCEv2 uses the ECN bits of
    /// IP instead.
    pub forward_congestion: bool,
    /// Backward explicit congestion notification (BECN): reports a marked packet to its sender; set in a CNP.
    pub backward_congestion: bool,
    /// Queue pair number at the receiver.
    pub destination_queue_pair: QueuePair,
    /// AckReq: the receiver must acknowledge the packet.
    pub acknowledge_request: bool,
    /// Packet sequence number.
    pub sequence: Psn,
}

impl Bth {
    /// Length of the header.
    pub const BYTES: usize = 12;
    /// Partition key of the default partition, with full membership.
    pub const DEFAULT_PARTITION: u16 = 0xFFFF;

    /// Creates a header with the default partition key and without flags, for a payload of `payload_bytes`.
    pub fn new(opcode: Opcode, destination_queue_pair: QueuePair, sequence: Psn, payload_bytes: usize) -> Bth {
        Bth {
            opcode,
            solicited_event: false,
            migration_request: false,
            padding: PadCount::of_payload(payload_bytes),
            partition_key: Self::DEFAULT_PARTITION,
            forward_congestion: false,
            backward_congestion: false,
            destination_queue_pair,
            acknowledge_request: false,
            sequence,
        }
    }

    /// Parses the header. Returns it, and the bytes after it, padding included.
    ///
    /// # Errors
    /// If the bytes end early or the version is not 0.
    pub fn parse(bytes: &[u8]) -> Result<(Bth, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let opcode = Opcode(reader.u8("BTH opcode")?);
        let flags = reader.u8("BTH flags")?;
        if flags & 0xF != 0 {
            return Err(reader.unexpected("BTH version", 1, flags & 0xF, "0"));
        }
        let partition_key = reader.u16("BTH partition key")?;
        let congestion = reader.u8("BTH congestion bits")?;
        let destination_queue_pair = QueuePair::low_bits(reader.u24("BTH destination queue pair")?);
        let acknowledge = reader.u8("BTH acknowledge request")?;
        let sequence = Psn::low_bits(reader.u24("BTH sequence number")?);
        let header = Bth {
            opcode,
            solicited_event: flags & 0x80 != 0,
            migration_request: flags & 0x40 != 0,
            padding: PadCount::low_bits(flags >> 4),
            partition_key,
            forward_congestion: congestion & 0x80 != 0,
            backward_congestion: congestion & 0x40 != 0,
            destination_queue_pair,
            acknowledge_request: acknowledge & 0x80 != 0,
            sequence,
        };
        Ok((header, reader.rest()))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flags =
            u8::from(self.solicited_event) << 7 | u8::from(self.migration_request) << 6 | self.padding.get() << 4;
        out.extend_from_slice(&[self.opcode.0, flags]);
        out.extend_from_slice(&self.partition_key.to_be_bytes());
        out.push(u8::from(self.forward_congestion) << 7 | u8::from(self.backward_congestion) << 6);
        put_u24(out, self.destination_queue_pair.get());
        out.push(u8::from(self.acknowledge_request) << 7);
        put_u24(out, self.sequence.get());
    }
}

/// Formats as `RC WRITE only qp 210 psn 7`.
impl fmt::Display for Bth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} qp {} psn {}", self.opcode, self.destination_queue_pair, self.sequence)?;
        f.write_str(if self.acknowledge_request { " ack-req" } else { "" })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn fields_are_where_the_standard_puts_them() {
        let bytes = hex("0a e0 ffff 80 0000d2 80 ffffff");
        let (header, rest) = Bth::parse(&bytes).unwrap();
        assert!(rest.is_empty());
        let expected = Bth {
            solicited_event: true,
            migration_request: true,
            forward_congestion: true,
            acknowledge_request: true,
            ..Bth::new(Opcode::RC_WRITE_ONLY, QueuePair::low_bits(210), Psn::MAX, 2)
        };
        assert_eq!(header, expected);
        assert_eq!(header.to_string(), "RC WRITE only qp 210 psn 16777215 ack-req");
        assert_refuses_prefixes(&bytes, Bth::parse);
        let error = Bth::parse(&hex("0a 01 ffff 00 000000 00 000000")).unwrap_err();
        assert_eq!(error.to_string(), "byte 1: BTH version is 0x1, expected 0");
    }

    #[test]
    fn padding_reaches_the_next_word() {
        let padding: Vec<u8> = (0..9).map(|length| PadCount::of_payload(length).get()).collect();
        assert_eq!(padding, [0, 3, 2, 1, 0, 3, 2, 1, 0]);
        assert_eq!(PadCount::of_payload(1021).get(), 3);
    }

    #[test]
    fn which_opcodes_carry_an_acknowledgement() {
        let with: Vec<u8> = (0..=255).filter(|&opcode| Opcode(opcode).has_aeth()).collect();
        assert_eq!(with, [0x0D, 0x0F, 0x10, 0x11, 0x12, 0x4D, 0x4F, 0x50, 0x51, 0x52]);
    }

    prop_compose! {
        /// Any header, for a payload of `payload_bytes` bytes.
        pub(crate) fn any_header(payload_bytes: usize)(
            (opcode, partition_key, queue_pair, sequence) in any::<(u8, u16, u32, u32)>(),
            flags in any::<[bool; 5]>(),
        ) -> Bth {
            let [solicited_event, migration_request, forward_congestion, ..] = flags;
            let [.., backward_congestion, acknowledge_request] = flags;
            Bth {
                opcode: Opcode(opcode),
                solicited_event,
                migration_request,
                padding: PadCount::of_payload(payload_bytes),
                partition_key,
                forward_congestion,
                backward_congestion,
                destination_queue_pair: QueuePair::low_bits(queue_pair),
                acknowledge_request,
                sequence: Psn::low_bits(sequence),
            }
        }
    }

    proptest! {
        #[test]
        fn round_trip(header in (0usize..4).prop_flat_map(any_header)) {
            let mut bytes = Vec::new();
            header.emit(&mut bytes);
            prop_assert_eq!(Bth::parse(&bytes), Ok((header, &[][..])));
        }
    }
}
