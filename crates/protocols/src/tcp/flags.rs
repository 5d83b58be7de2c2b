//! Frame flags with a meaning in TCP only.

/// Congestion Window Reduced (RFC 3168, 6.1), on data frames. The bit is ECN-Echo on acknowledgements.
pub const CWR: u8 = crate::frame::flags::ECE;
