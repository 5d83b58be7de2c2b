//! Announcement that a sender puts into every data packet.

/// Announcement: the initial window and, if known, the flow's size. It is carried in [`crate::frame::Frame::detail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Initial window: number of packets sent without a pull, 1 to 65535.
    pub window: u16,
    /// Number of packets of the flow, up to 2^48 - 1; 0 if the receiver must learn it from the last packet (NDP).
    pub packets: u64,
}

impl Announcement {
    /// Packs the announcement into the detail word of a frame.
    pub fn pack(self) -> u64 {
        self.packets << 16 | u64::from(self.window)
    }

    /// Unpacks the announcement from the detail word of a frame.
    pub fn unpack(number: u64) -> Self {
        Announcement { window: number as u16, packets: number >> 16 }
    }
}
