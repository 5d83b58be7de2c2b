//! What can be wrong with bytes, or with a repr that no bytes can express.

/// Why bytes are no frame, or a repr cannot become bytes. Offsets count from the start of the slice that
/// was given to the parser: from the start of the frame for [`crate::Packet`], of the header otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes end before the field does.
    #[error("byte {offset_bytes}: {field} needs {needed_bytes} bytes, but only {available_bytes} are left")]
    Truncated {
        /// What was to be read.
        field: &'static str,
        /// Where the field starts.
        offset_bytes: usize,
        /// How long the field is.
        needed_bytes: usize,
        /// How many bytes there are from `offset_bytes` on.
        available_bytes: usize,
    },
    /// A field holds a value that it must not hold.
    #[error("byte {offset_bytes}: {field} is {found:#x}, expected {expected}")]
    Value {
        /// The field.
        field: &'static str,
        /// Where the field starts.
        offset_bytes: usize,
        /// What it holds.
        found: u64,
        /// What would be right.
        expected: &'static str,
    },
    /// A checksum or CRC does not match what it covers: the frame was damaged.
    #[error("byte {offset_bytes}: {field} is {found:#x}, but the bytes it covers give {computed:#x}")]
    Checksum {
        /// Which checksum.
        field: &'static str,
        /// Where it stands.
        offset_bytes: usize,
        /// What it holds.
        found: u32,
        /// What it would have to hold.
        computed: u32,
    },
    /// Emitting: more bytes than the field that counts them can say.
    #[error("{field} of {found_bytes} bytes cannot be sent, at most {limit_bytes} fit")]
    TooLong {
        /// What is too long.
        field: &'static str,
        /// How long it is.
        found_bytes: usize,
        /// How long it may be.
        limit_bytes: usize,
    },
    /// Emitting: two layers contradict each other, so that a receiver would read something else.
    #[error("{field} is {found:#x}, expected {expected}")]
    Inconsistent {
        /// The field.
        field: &'static str,
        /// What it holds.
        found: u64,
        /// What would be right.
        expected: &'static str,
    },
}

impl Error {
    /// The same error seen from `start_bytes` further out.
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
