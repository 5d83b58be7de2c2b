//! DTSCoE: slots reserved hop by hop, by nodes whose clocks agree neither in time nor in rate (thesis, section 4.5).
//!
//! ```text
//!   source            switch 1             switch 2            receiver
//!     | request Ts       |                    |                    |
//!     |----------------->| RTab: free         |                    |
//!     |                  |------------------->| RTab: taken, moves |
//!     |                  |<------ update -----| by dTs             |
//!     |<---- update -----|                    |------------------->|
//!     |                  |                    |<------ ready ------|
//!     |<---- ready ------|<------ ready ------|                    |
//!     | starts at Ts + dTs
//! ```
//!
//! - **Time.** A node keeps slots by its own clock. Ts on a wire counts from the departure of the request, which is as
//!   long as a frame of the stream: whatever is done to it in between, it names the same instant (eq. 4.1 and 4.2).
//! - **Loss, duplicates, order.** Every attempt has a new sequence number. Update and ready carry the *sum* of all ΔTs,
//!   so one that is lost is made good by the next, and one that comes twice changes nothing. What never arrives ends
//!   with the lifetime of the entry, and a source stops before the nodes forget it.
//! - **Several at once.** A node keeps a new request until those before it on the same port are settled, or serves all
//!   at once and lets those fail whose slot is taken meanwhile ([`Concurrency`]); the thesis describes both. A source
//!   whose request failed asks again, with the shifts that it has learned are taken.
//! - **Drift.** A source asks anew every [`Config::refresh`]. [`Config::guard_for`] is the guard band that this needs.

mod config;
pub mod network;
mod node;
mod source;
mod table;

pub use config::{Concurrency, Config, WireCost};
pub use node::{Departing, Node, Output, Port, Refused, StreamId};
pub use source::Ask;
