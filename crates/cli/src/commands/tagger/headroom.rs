//! How much a lossless priority may still receive after its PAUSE.

pub mod sonic;
mod terms;

pub use terms::Terms;

use protocols::headroom::{Cells, Conditions, Headroom};
use protocols::reaction::Reaction;
use units::{Bytes, LinkTime, Rate, Time};

/// What headroom depends on beside the link.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct HeadroomArgs {
    /// The largest frame, from destination address to FCS; without it that of the scenario, or 9216B.
    #[arg(long, value_name = "BYTES", value_parser = frame, help_heading = "Headroom")]
    pub mtu: Option<Bytes>,
    /// From the arrival of a PAUSE to its effect at the neighbour: standard, which is what IEEE 802.3, 31B.3.7, allows
    /// by rate, or a time like 500ns, "3840 bit times" or "60 quanta"; without it that of the scenario, or standard.
    #[arg(long, value_name = "TIME", help_heading = "Headroom")]
    pub reaction: Option<Reaction>,
    /// What MAC and PHY of this end take, sending and receiving together: 400ns, "8192 bit times".
    #[arg(long, value_name = "TIME", default_value = "0ns", help_heading = "Headroom")]
    pub mac_phy: LinkTime,
    /// What a gearbox at this end takes, one way.
    #[arg(long, value_name = "TIME", default_value = "0ns", help_heading = "Headroom")]
    pub gearbox: LinkTime,
    /// What the switch's memory is divided into: a frame takes whole cells.
    #[arg(long, value_name = "BYTES", default_value = "1B", value_parser = cell, help_heading = "Headroom")]
    pub cell: Bytes,
    /// How much of the time frames come that waste most of their cells, the others being the largest.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, help_heading = "Headroom")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=100))]
    pub small_packets: u8,
}

/// A size of frame that Ethernet has.
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
    /// The largest frame where nothing states it.
    const MTU: Bytes = Bytes(9_216);

    /// The largest frame.
    pub fn mtu(&self) -> Bytes {
        self.mtu.unwrap_or(Self::MTU)
    }

    /// How soon neighbours stop.
    pub fn reaction(&self) -> Reaction {
        self.reaction.unwrap_or(Reaction::Standard)
    }

    /// For ports with so many lossless priorities.
    pub fn conditions(&self, classes: u64) -> Conditions {
        Conditions {
            mac_phy: self.mac_phy,
            gearbox: self.gearbox,
            cells: Cells { bytes: self.cell.get(), small_percent: self.small_packets.into() },
            ..Conditions::new(self.mtu().get(), self.reaction(), classes)
        }
    }

    /// For one of so many lossless priorities of a port at this rate, on a cable of this delay.
    pub fn bytes(&self, rate: Rate, delay: Time, classes: usize) -> u64 {
        Headroom::of(rate, delay, &self.conditions(classes as u64)).bytes
    }
}
