//! Headroom: the bytes that a lossless ingress account can receive after it has exceeded XOFF.
//!
//! The frame that takes the account above XOFF arrives at time zero. The worst-case time until the neighbour starts
//! no more frames, and its last frame has arrived, is the sum of:
//!
//! ```text
//!   an own frame, just started, that delays the pause              one maximum frame of wire time
//!   the pause frames themselves, one per lossless class
//!   MAC and PHY, gearbox, cable delay                              )
//!   the neighbour's reaction                                       )  in wire time
//!   the cable delay back                                           )
//! ```
//!
//! The data received in this time is counted in bytes of frames: the 20 bytes of preamble and gap per maximum frame
//! do not occupy the buffer. Two maximum frames are added: the frame that exceeded XOFF, which counts completely as
//! headroom, and the frame that the neighbour starts just before it stops.

use crate::frame::MIN_FRAME_BYTES;
use crate::reaction::Reaction;
use units::{LinkTime, Rate, Time, WIRE_OVERHEAD_BYTES};

/// Inputs of the headroom computation in addition to the rate and delay of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Maximum frame in bytes, from destination address to FCS.
    pub mtu_bytes: u64,
    /// Reaction time of the neighbour.
    pub reaction: Reaction,
    /// Number of lossless classes of the port, whose pause frames may be sent back to back. 1 for 802.3x.
    pub classes: u64,
    /// Delay of MAC and PHY at this end, for transmission and reception together. The reaction time in the standard
    /// is measured at the neighbour's connector and includes the delay of the neighbour's MAC and PHY.
    pub mac_phy: LinkTime,
    /// Delay of a gearbox at this end, once for the pause frame and once for the received data.
    pub gearbox: LinkTime,
    /// Allocation of the buffer in cells.
    pub cells: Cells,
}

impl Conditions {
    /// Conditions of a port without MAC, PHY or gearbox delay, and with a buffer that is allocated in bytes.
    pub fn new(mtu_bytes: u64, reaction: Reaction, classes: u64) -> Conditions {
        let (mac_phy, gearbox) = (LinkTime::ZERO, LinkTime::ZERO);
        Conditions { mtu_bytes, reaction, classes, mac_phy, gearbox, cells: Cells::BYTES }
    }
}

/// A buffer that allocates whole cells to each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Size of a cell in bytes, 1 to 65535.
    pub bytes: u64,
    /// Percentage of the wire time occupied by frames of the length with the most wasted buffer, 0 to 100; the rest
    /// is occupied by maximum frames.
    pub small_percent: u64,
}

impl Cells {
    /// Allocation in bytes: no waste.
    pub const BYTES: Cells = Cells { bytes: 1, small_percent: 0 };

    /// Buffer bytes allocated to a frame.
    pub fn taken(&self, frame_bytes: u64) -> u64 {
        frame_bytes.div_ceil(self.bytes) * self.bytes
    }

    /// The frame length, from 64 to `mtu_bytes`, with the most buffer bytes per byte of wire time.
    fn worst_frame(&self, mtu_bytes: u64) -> u64 {
        let least = u64::from(MIN_FRAME_BYTES);
        // A length of whole cells plus one byte wastes most. The smallest and the largest such length suffice as
        // candidates, with the minimum frame.
        let first = (least - 1).div_ceil(self.bytes) * self.bytes + 1;
        let last = (mtu_bytes.saturating_sub(1) / self.bytes) * self.bytes + 1;
        let sizes = [least, first, last].into_iter().filter(|size| (least..=mtu_bytes).contains(size));
        let share = |size: u64| (self.taken(size), size + WIRE_OVERHEAD_BYTES);
        let more = |a: u64, b: u64| {
            let ((a_taken, a_wire), (b_taken, b_wire)) = (share(a), share(b));
            if b_taken * a_wire > a_taken * b_wire { b } else { a }
        };
        sizes.fold(mtu_bytes, more)
    }

    /// Maximum buffer bytes of frames that occupy `wire_bytes` of wire time.
    fn taken_in(&self, wire_bytes: u64, mtu_bytes: u64) -> u64 {
        let worst = self.worst_frame(mtu_bytes);
        let wire = |frame: u64| u128::from(frame + WIRE_OVERHEAD_BYTES);
        let taken =
            |frame: u64, percent: u64| u128::from(self.taken(frame)) * u128::from(percent) * u128::from(wire_bytes);
        let sum = taken(mtu_bytes, 100 - self.small_percent) * wire(worst)
            + taken(worst, self.small_percent) * wire(mtu_bytes);
        u64::try_from(sum.div_ceil(100 * wire(worst) * wire(mtu_bytes))).unwrap_or(u64::MAX)
    }
}

/// Headroom and its terms in bytes. The terms from `cable` to `blocking_frame` are wire time; `overhead` is
/// subtracted from the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Bytes sent during the cable delay in both directions.
    pub cable: u64,
    /// Wire time of one pause frame per lossless class: 64 bytes with preamble and gap.
    pub pause_frames: u64,
    /// Bytes that the neighbour sends during its reaction time.
    pub reaction: u64,
    /// Bytes sent during the delay of MAC and PHY.
    pub mac_phy: u64,
    /// Bytes sent during the gearbox delay in both directions.
    pub gearbox: u64,
    /// Wire time of this port's own frame that delays the pause frame.
    pub blocking_frame: u64,
    /// The frame that exceeded XOFF, and the last frame that the neighbour starts.
    pub mtu_frames: u64,
    /// Preambles and inter-frame gaps in the wire time, which do not occupy the buffer.
    pub overhead: u64,
    /// Bytes wasted by the allocation of whole cells.
    pub cell_waste: u64,
    /// The headroom: sum of the terms, minus `overhead`.
    pub bytes: u64,
}

impl Headroom {
    /// Headroom of a lossless account of a port on a link of `rate` and one-way propagation delay `delay`.
    pub fn of(rate: Rate, delay: Time, conditions: &Conditions) -> Headroom {
        let Conditions { mtu_bytes: mtu, cells, .. } = *conditions;
        let bytes_in = |time: Time, times: u64| {
            let wide = u128::from(time.as_ps()) * u128::from(times) * u128::from(rate.as_bps());
            u64::try_from(wide.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX)
        };
        let cable = bytes_in(delay, 2);
        let pause_frames = (u64::from(MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES) * conditions.classes;
        let reaction = bytes_in(conditions.reaction.on(rate), 1);
        let mac_phy = bytes_in(conditions.mac_phy.on(rate), 1);
        let gearbox = bytes_in(conditions.gearbox.on(rate), 2);
        let blocking_frame = mtu + WIRE_OVERHEAD_BYTES;
        let passes = [pause_frames, reaction, mac_phy, gearbox, blocking_frame];
        let wire = passes.into_iter().fold(cable, u64::saturating_add);
        // Each term is rounded up to bytes of wire time; only the sum of the terms is converted to buffer bytes.
        let in_bytes = Cells::BYTES.taken_in(wire, mtu);
        let bytes = cells.taken_in(wire, mtu).saturating_add(2 * cells.taken(mtu));
        let mtu_frames = 2 * mtu;
        let (overhead, cell_waste) = (wire - in_bytes, bytes.saturating_sub(in_bytes.saturating_add(mtu_frames)));
        Headroom {
            cable,
            pause_frames,
            reaction,
            mac_phy,
            gearbox,
            blocking_frame,
            mtu_frames,
            overhead,
            cell_waste,
            bytes,
        }
    }
}

#[cfg(test)]
#[path = "headroom_tests.rs"]
mod tests;
