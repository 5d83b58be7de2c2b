//! Frame flags that only TCP uses.

/// Congestion Window Reduced (RFC 3168, 6.1), on data frames. On acknowledgements the same bit is ECN-Echo.
pub const CWR: u8 = crate::frame::flags::ECE;
