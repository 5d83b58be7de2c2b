//! NDP: a transport that its receiver drives, for switches that trim (Handley et al., SIGCOMM 2017).
//!
//! ```text
//!  sender                                    receiver
//!    initial window, at line rate ──────────▶  whole: ACK.  Header of a trimmed packet: NACK
//!    ◀──────────────── ACK or NACK, at once     each arrival asks for one packet more ...
//!    ◀──────────────── PULL ── pull pacer ◀──   ... when it is its flow's turn: one per packet time of the port,
//!    a NACKed packet, else a new one ───────▶       whatever number of flows there is
//! ```
//!
//! [`crate::eqds`] is the same machine with another idea of how much is asked for. The pull pacer belongs to the
//! receiver's port, not to a flow: [`PullPacer`].

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
