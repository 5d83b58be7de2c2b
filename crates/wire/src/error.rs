//! Errors of parsing, and of emitting a repr that has no encoding.

/// An error of a parser or emitter. Offsets count from the start of the slice passed to the parser: from the start of
/// the frame for [`crate::Packet`], of the header otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes end before the field does.
    #[error("byte {offset_bytes}: {field} needs {needed_bytes} bytes, but only {available_bytes} are left")]
    Truncated {
        /// The field.
        field: &'static str,
        /// Start of the field.
        offset_bytes: usize,
        /// Length of the field.
        needed_bytes: usize,
        /// Bytes available from `offset_bytes` on.
        available_bytes: usize,
    },
    /// A field has an invalid value.
    #[error("byte {offset_bytes}: {field} is {found:#x}, expected {expected}")]
    Value {
        /// The field.
        field: &'static str,
        /// Start of the field.
        offset_bytes: usize,
        /// Value of the field.
        found: u64,
        /// The valid values.
        expected: &'static str,
    },
    /// A checksum or CRC does not match the bytes that it covers: the frame is damaged.
    #[error("byte {offset_bytes}: {field} is {found:#x}, but the bytes it covers give {computed:#x}")]
    Checksum {
        /// The field of the checksum.
        field: &'static str,
        /// Start of the field.
        offset_bytes: usize,
        /// Value of the field.
        found: u32,
        /// The value computed from the covered bytes.
        computed: u32,
    },
    /// Emitting: the length exceeds the range of its length field.
    #[error("{field} of {found_bytes} bytes cannot be sent, at most {limit_bytes} fit")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Length of the field, in bytes.
        found_bytes: usize,
        /// Maximum length.
        limit_bytes: usize,
    },
    /// Emitting: two layers contradict each other, so that a receiver would read another packet.
    #[error("{field} is {found:#x}, expected {expected}")]
    Inconsistent {
        /// The field.
        field: &'static str,
        /// Value of the field.
        found: u64,
        /// The valid values.
        expected: &'static str,
    },
}

impl Error {
    /// Returns the error with its offset moved by `start_bytes`, for an enclosing layer.
    #[must_use]
    pub fn shifted(mut self, start_bytes: usize) -> Error {
        match &mut self {
            Error::Truncated { offset_bytes, .. }
            | Error::Value { offset_bytes, .. }
            | Error::Checksum { offset_bytes, .. } => *offset_bytes += start_bytes,
            Error::TooLong { .. } | Error::Inconsistent { .. } => {}
        }
        self
    }
}
