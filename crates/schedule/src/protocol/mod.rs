//! DTSCoE: hop-by-hop slot reservation by nodes whose clocks have different offsets and rates (thesis, section 4.5).
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
//! - **Time.** A node stores slots by its own clock. Ts on a wire is relative to the departure of the request, which is
//!   as long as a frame of the stream; thus it denotes one instant at all nodes (eq. 4.1 and 4.2).
//! - **Loss, duplicates, order.** Every attempt has a new sequence number. Update and ready carry the *sum* of all ΔTs,
//!   so that a later message replaces a lost one and a duplicate has no effect. Undelivered changes expire with the
//!   entry, and a source stops before the nodes expire its entries.
//! - **Concurrency.** A node holds a new request until earlier ones at the port are settled, or serves all immediately
//!   and fails those with slots that were taken meanwhile ([`Concurrency`]); the thesis describes both. A source with a
//!   failed request retries with the shifts that it has learned are occupied.
//! - **Drift.** A source refreshes every [`Config::refresh`]. [`Config::guard_for`] returns the guard band that this
//!   needs.

mod config;
pub mod network;
mod node;
mod source;
mod table;

pub use config::{Concurrency, Config, WireCost};
pub use node::{Departing, Node, Output, Port, Refused, StreamId};
pub use source::SlotRequest;
