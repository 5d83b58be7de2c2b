//! TCP Reno and NewReno (RFC 5681, 6582, 6298) with ECN (RFC 3168).
