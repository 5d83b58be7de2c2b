//! What a sender says of its flow with every packet.

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
