//! DCTCP (RFC 8257): what it adds to [`crate::tcp`].
