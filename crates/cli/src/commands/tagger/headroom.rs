//! How much a lossless priority may still receive after its PAUSE.

use fabric::Link;
use model::parameters::headroom_bytes;
use units::Bytes;

/// What headroom depends on beside the link.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct HeadroomArgs {
    /// The largest frame.
    #[arg(long, value_name = "BYTES", default_value = "9216B", help_heading = "Headroom")]
    pub mtu: Bytes,
    /// From the arrival of a PAUSE to its effect, in bit times of the link (802.1Qbb allows 3840 at 10 Gbps).
    #[arg(long, value_name = "BIT TIMES", default_value_t = 3840, help_heading = "Headroom")]
    pub reaction: u64,
}

impl HeadroomArgs {
    /// For one lossless priority of a port on this link.
    pub fn bytes(&self, link: &Link) -> u64 {
        headroom_bytes(link.rate, link.delay, self.mtu.get(), self.reaction)
    }
}
