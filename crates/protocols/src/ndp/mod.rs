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

mod arrivals;
mod flight;
mod pacer;
pub(crate) mod parameters;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use pacer::PullPacer;
pub use parameters::{EarlyPulls, MECHANISM, NdpParameters, Pulls, Window};
pub use receiver::NdpReceiver;
pub use sender::NdpSender;

/// What every data packet of a flow tells its receiver beside its payload: how many packets its sender sends unasked,
/// and how many it has, where it says so. Travels in [`crate::frame::Frame::detail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Packets sent without a pull, 1 to 65535.
    pub window: u16,
    /// Packets of the flow, up to 2^48 - 1; 0 where only the last packet tells (NDP).
    pub packets: u64,
}

impl Announcement {
    /// As a number for a frame.
    pub fn pack(self) -> u64 {
        self.packets << 16 | u64::from(self.window)
    }

    /// The number of a frame.
    pub fn unpack(number: u64) -> Self {
        Announcement { window: number as u16, packets: number >> 16 }
    }
}

/// Packets that may be between a flow's oldest unacknowledged and its newest one, for a window of so many: as many
/// again may be sent while one is missing.
fn span(window: u16) -> u64 {
    (2 * u64::from(window)).next_power_of_two().max(64)
}

/// The bits of `word` that are set from bit `from`, 0 to 63, on without a gap: how many, and which.
#[inline]
fn run(word: u64, from: u64) -> (u64, u64) {
    let count = (word >> from).trailing_ones();
    let bits = if count == 64 { u64::MAX } else { ((1 << count) - 1) << from };
    (u64::from(count), bits)
}
