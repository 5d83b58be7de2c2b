//! Bits of a frame that only TCP reads so.

/// Congestion Window Reduced (RFC 3168, 6.1): on a data frame, the bit that on an acknowledgement is
/// ECN-Echo.
pub const CWR: u8 = crate::frame::flags::ECE;
