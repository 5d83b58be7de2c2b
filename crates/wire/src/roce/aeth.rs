//! Acknowledge extended transport header, AETH (InfiniBand volume 1, clause 9.3.5).

use crate::bits::bit_field;
use crate::error::Error;
use crate::reader::{Reader, put_u24};
use std::fmt;

bit_field! {
    /// Message sequence number: number of messages that the responder has completed, modulo 2^24.
    Msn: u32, 24 bits
}
bit_field! {
    /// Lower five bits of a syndrome: a credit count, a timer or an error code, depending on the upper three bits.
    SyndromeValue: u8, 5 bits
}

/// Syndrome: the type in the upper three bits, and a value in the lower five bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syndrome {
    /// Acknowledgement of all packets up to the packet sequence number. The value encodes the credits; 31 means that
    /// credits are not used.
    Acknowledge(SyndromeValue),
    /// Receiver not ready (no receive buffer): the requester must retry after the encoded delay.
    ReceiverNotReady(SyndromeValue),
    /// Negative acknowledgement with an error code; [`Syndrome::SEQUENCE_ERROR`] requests all packets from the packet
    /// sequence number on.
    Negative(SyndromeValue),
}

impl Syndrome {
    /// Acknowledgement that does not use credits.
    pub const ACKNOWLEDGE: Syndrome = Syndrome::Acknowledge(SyndromeValue::MAX);
    /// Negative acknowledgement of a missing packet, the NAK of go-back-N (code 0).
    pub const SEQUENCE_ERROR: Syndrome = Syndrome::Negative(SyndromeValue::low_bits(0));

    fn to_byte(self) -> u8 {
        match self {
            Syndrome::Acknowledge(value) => value.get(),
            Syndrome::ReceiverNotReady(value) => 0b001 << 5 | value.get(),
            Syndrome::Negative(value) => 0b011 << 5 | value.get(),
        }
    }
}

/// Formats as `ACK`, `RNR NAK timer 14`, `NAK sequence error` or `NAK code 2`.
impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Syndrome::Acknowledge(_) => f.write_str("ACK"),
            Syndrome::ReceiverNotReady(timer) => write!(f, "RNR NAK timer {timer}"),
            Syndrome::SEQUENCE_ERROR => f.write_str("NAK sequence error"),
            Syndrome::Negative(code) => write!(f, "NAK code {code}"),
        }
    }
}

/// Acknowledge extended transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// Syndrome: positive or negative acknowledgement, with its value.
    pub syndrome: Syndrome,
    /// Number of completed messages.
    pub message_sequence: Msn,
}

impl Aeth {
    /// Length of the header.
    pub const BYTES: usize = 4;

    /// Parses the header. Returns it, and the bytes after it.
    ///
    /// # Errors
    /// If the bytes end early, or the type of the syndrome is reserved.
    pub fn parse(bytes: &[u8]) -> Result<(Aeth, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let byte = reader.u8("AETH syndrome")?;
        let value = SyndromeValue::low_bits(byte);
        let syndrome = match byte >> 5 {
            0b000 => Syndrome::Acknowledge(value),
            0b001 => Syndrome::ReceiverNotReady(value),
            0b011 => Syndrome::Negative(value),
            _ => {
                return Err(reader.unexpected(
                    "AETH syndrome",
                    1,
                    byte,
                    "0x00-0x1f (ACK), 0x20-0x3f (RNR NAK) or 0x60-0x7f (NAK)",
                ));
            }
        };
        let message_sequence = Msn::low_bits(reader.u24("AETH message sequence number")?);
        Ok((Aeth { syndrome, message_sequence }, reader.rest()))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.syndrome.to_byte());
        put_u24(out, self.message_sequence.get());
    }
}

/// Formats as `ACK msn 3`.
impl fmt::Display for Aeth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} msn {}", self.syndrome, self.message_sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};

    #[test]
    fn known_bytes() {
        let bytes = hex("1f 000003");
        let (header, _) = Aeth::parse(&bytes).unwrap();
        assert_eq!(header, Aeth { syndrome: Syndrome::ACKNOWLEDGE, message_sequence: Msn::low_bits(3) });
        assert_eq!(header.to_string(), "ACK msn 3");
        assert_refuses_prefixes(&bytes, Aeth::parse);
        let (nak, _) = Aeth::parse(&hex("60 000000")).unwrap();
        assert_eq!(nak.syndrome, Syndrome::SEQUENCE_ERROR);
        assert_eq!(nak.to_string(), "NAK sequence error msn 0");
        let (not_ready, _) = Aeth::parse(&hex("2e ffffff")).unwrap();
        assert_eq!(not_ready.to_string(), "RNR NAK timer 14 msn 16777215");
    }

    /// Each of the 256 syndromes is refused, or parsed and emitted unchanged.
    #[test]
    fn round_trip() {
        let mut refused = 0;
        for byte in 0..=255 {
            let bytes = [byte, 1, 2, 3];
            match Aeth::parse(&bytes) {
                Ok((header, rest)) => {
                    let mut emitted = Vec::new();
                    header.emit(&mut emitted);
                    assert_eq!((&emitted[..], rest.len()), (&bytes[..], 0));
                }
                Err(error) => {
                    refused += 1;
                    assert!(matches!(error, Error::Value { field: "AETH syndrome", offset_bytes: 0, .. }), "{error}");
                }
            }
        }
        // Refused are type 0b010 (32 values) and all types with the top bit set (128 values).
        assert_eq!(refused, 32 + 128);
    }
}
