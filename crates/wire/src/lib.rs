//! Frames as bytes: parse and emit
