//! Who sends what to whom, and when
