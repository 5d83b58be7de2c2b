//! Headroom: bytes of a lossless priority that may still arrive after its PAUSE was sent.

pub mod sonic;
mod terms;

pub use terms::Terms;

use protocols::headroom::{Cells, Conditions, Headroom};
use protocols::reaction::Reaction;
use units::{Bytes, LinkTime, Rate, Time};

/// Conditions of headroom besides the link.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct HeadroomArgs {
    /// The largest frame, from destination address to FCS [default: that of the scenario, or 9216B]
    #[arg(long, value_name = "BYTES", value_parser = frame, help_heading = "Headroom")]
    pub mtu: Option<Bytes>,
    /// Time from the arrival of a PAUSE to its effect at the neighbour: standard, the maximum of IEEE 802.3, 31B.3.7,
    /// by rate; or a time like 500ns, "3840 bit times" or "60 quanta" [default: that of the scenario, or standard]
    #[arg(long, value_name = "TIME", help_heading = "Headroom")]
    pub reaction: Option<Reaction>,
    /// Latency of MAC and PHY at this end, sending and receiving together: 400ns, "8192 bit times".
    #[arg(long, value_name = "TIME", default_value = "0ns", help_heading = "Headroom")]
    pub mac_phy: LinkTime,
    /// One-way latency of a gearbox at this end.
    #[arg(long, value_name = "TIME", default_value = "0ns", help_heading = "Headroom")]
    pub gearbox: LinkTime,
    /// Cell size of the switch's memory: a frame occupies whole cells.
    #[arg(long, value_name = "BYTES", default_value = "1B", value_parser = cell, help_heading = "Headroom")]
    pub cell: Bytes,
    /// Percentage of frames of the size that wastes most of their cells; all others have the largest size.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, help_heading = "Headroom")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=100))]
    pub small_packets: u8,
}

/// Parses an Ethernet frame size.
fn frame(text: &str) -> Result<Bytes, String> {
    between(text, 64, "a frame has 64 to 65535 bytes")
}

fn cell(text: &str) -> Result<Bytes, String> {
    between(text, 1, "a cell has 1 to 65535 bytes")
}

fn between(text: &str, least: u64, what: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if (least..=65_535).contains(&bytes.get()) { Ok(bytes) } else { Err(what.to_owned()) }
}

impl HeadroomArgs {
    /// Default of the largest frame.
    const MTU: Bytes = Bytes(9_216);

    /// Returns the largest frame.
    pub fn mtu(&self) -> Bytes {
        self.mtu.unwrap_or(Self::MTU)
    }

    /// Returns the reaction of neighbours to PAUSE.
    pub fn reaction(&self) -> Reaction {
        self.reaction.unwrap_or(Reaction::Standard)
    }

    /// Returns the headroom conditions of ports with `classes` lossless priorities.
    pub fn conditions(&self, classes: u64) -> Conditions {
        Conditions {
            mac_phy: self.mac_phy,
            gearbox: self.gearbox,
            cells: Cells { bytes: self.cell.get(), small_percent: self.small_packets.into() },
            ..Conditions::new(self.mtu().get(), self.reaction(), classes)
        }
    }

    /// Returns the headroom in bytes for one of `classes` lossless priorities of a port with this link rate and cable
    /// delay.
    pub fn bytes(&self, rate: Rate, delay: Time, classes: usize) -> u64 {
        Headroom::of(rate, delay, &self.conditions(classes as u64)).bytes
    }
}
