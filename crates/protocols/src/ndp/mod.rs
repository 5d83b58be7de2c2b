//! NDP: a receiver-driven transport for switches that trim (Handley et al., SIGCOMM 2017).
//!
//! ```text
//!  sender                                    receiver
//!    initial window, at line rate ──────────▶  complete: ACK.  Trimmed header: NACK
//!    ◀──────────────── ACK or NACK, at once     each arrival permits one more pull ...
//!    ◀──────────────── PULL ── pull pacer ◀──   ... in the flow's slot: one per packet time of the port,
//!    a NACKed packet, else a new one ───────▶       for any number of flows
//! ```
//! [`crate::eqds`] is the same protocol with another rule for the number of pulls. The pull pacer ([`PullPacer`])
//! belongs to the receiver's port, not to a flow.

pub(crate) mod announcement;
mod arrivals;
mod bits;
mod flight;
mod pacer;
pub(crate) mod parameters;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use announcement::Announcement;
pub use pacer::PullPacer;
pub use parameters::{EarlyPulls, MECHANISM, NdpParameters, Pulls, Window};
pub use receiver::NdpReceiver;
pub use sender::NdpSender;
