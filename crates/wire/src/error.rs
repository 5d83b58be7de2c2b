//! Errors of parsers, and of emitters for a repr that has no valid encoding.

/// Error of a parser or emitter. Offsets count from the start of the slice that is parsed: the start of the frame for
/// [`crate::Packet`], the start of the header for other parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before the end of a field.
    #[error("byte {offset_bytes}: {field} needs {needed_bytes} bytes, but only {available_bytes} are left")]
    Truncated {
        /// Name of the field.
        field: &'static str,
        /// Offset of the field.
        offset_bytes: usize,
        /// Length of the field, in bytes.
        needed_bytes: usize,
        /// Number of bytes from `offset_bytes` to the end.
        available_bytes: usize,
    },
    /// A field has an invalid value.
    #[error("byte {offset_bytes}: {field} is {found:#x}, expected {expected}")]
    Value {
        /// Name of the field.
        field: &'static str,
        /// Offset of the field.
        offset_bytes: usize,
        /// Value of the field.
        found: u64,
        /// Valid values.
        expected: &'static str,
    },
    /// A checksum or CRC does not match the bytes that it covers: they are damaged.
    #[error("byte {offset_bytes}: {field} is {found:#x}, but the bytes it covers give {computed:#x}")]
    Checksum {
        /// Name of the checksum field.
        field: &'static str,
        /// Offset of the field.
        offset_bytes: usize,
        /// Value of the field.
        found: u32,
        /// Value computed from the covered bytes.
        computed: u32,
    },
    /// Emitter: a part of the packet is longer than its length field permits.
    #[error("{field} of {found_bytes} bytes cannot be sent, at most {limit_bytes} fit")]
    TooLong {
        /// Name of the part.
        field: &'static str,
        /// Length of the part, in bytes.
        found_bytes: usize,
        /// Maximum length, in bytes.
        limit_bytes: usize,
    },
    /// Emitter: fields of two layers are inconsistent, so that a receiver would parse another packet.
    #[error("{field} is {found:#x}, expected {expected}")]
    Inconsistent {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        found: u64,
        /// Valid values.
        expected: &'static str,
    },
}

impl Error {
    /// Returns the error with its offset increased by `start_bytes`, for an error in an inner layer.
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
