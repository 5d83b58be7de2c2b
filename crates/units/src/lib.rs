//! Quantities: [`Time`] in picoseconds, [`Rate`] in bits per second, [`Bytes`]; their text forms ("1.5us", "100Gbps",
//! "64KiB"); and reproducible random streams ([`random::Stream`]). Times and byte counts are never floats.

mod cable;
pub mod clock;
mod link_time;
pub mod pack;
mod parse;
mod quantity;
pub mod random;

pub use cable::cable_delay;
pub use link_time::LinkTime;
pub use parse::{ParseQuantityError, parse_percent};
pub use quantity::{Bytes, GAP_BYTES, PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};
