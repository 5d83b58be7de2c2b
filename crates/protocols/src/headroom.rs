//! How much a lossless account may still receive after it went above XOFF.
//!
//! Let the frame that takes an account above XOFF arrive at time zero. From then on, until the neighbour starts no
//! frame any more, there pass in the worst case:
//!
//! ```text
//!   a frame of our own, just begun, that holds the pause back      one largest frame of wire time
//!   the pause frames themselves, one of each lossless class
//!   MAC and PHY, gearbox, the cable, there                        )
//!   the neighbour's reaction                                       )  in wire time
//!   and the cable back                                             )
//! ```
//!
//! What comes within that time is counted in bytes of frames: of each largest frame's wire time the 20 bytes of
//! preamble and gap are no load of the buffer. To this come two whole frames: that which went above XOFF, all of which
//! counts against the headroom, and that which the neighbour starts just before it must not.

use crate::frame::MIN_FRAME_BYTES;
use crate::reaction::Reaction;
use units::{LinkTime, Rate, Time, WIRE_OVERHEAD_BYTES};

/// What headroom depends on beside the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// The largest frame, from destination address to FCS.
    pub mtu_bytes: u64,
    /// How late the neighbour stops.
    pub reaction: Reaction,
    /// Lossless classes of the port: the pause frames of all may leave together. 1 for 802.3x.
    pub classes: u64,
    /// MAC and PHY at this end, sending and receiving together. The standard's reaction is measured at the neighbour's
    /// connector and includes its own.
    pub mac_phy: LinkTime,
    /// A gearbox at this end, which the pause passes, and what comes back.
    pub gearbox: LinkTime,
    /// What the buffer is divided into.
    pub cells: Cells,
}

impl Conditions {
    /// A port whose MAC and PHY take no time, into a buffer that counts bytes.
    pub fn new(mtu_bytes: u64, reaction: Reaction, classes: u64) -> Conditions {
        let (mac_phy, gearbox) = (LinkTime::ZERO, LinkTime::ZERO);
        Conditions { mtu_bytes, reaction, classes, mac_phy, gearbox, cells: Cells::BYTES }
    }
}

/// A buffer that gives each frame whole cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Of each, 1 to 65535.
    pub bytes: u64,
    /// Percent of the wire time with frames of the size that wastes most, 0 to 100; the rest are the largest.
    pub small_percent: u64,
}

impl Cells {
    /// A buffer without cells.
    pub const BYTES: Cells = Cells { bytes: 1, small_percent: 0 };

    /// What a frame takes.
    pub fn taken(&self, frame_bytes: u64) -> u64 {
        frame_bytes.div_ceil(self.bytes) * self.bytes
    }

    /// Of the frames of 64 bytes to `mtu_bytes`, the one that takes most for its time on the wire.
    fn worst_frame(&self, mtu_bytes: u64) -> u64 {
        let least = u64::from(MIN_FRAME_BYTES);
        // A byte more than whole cells wastes most; among those sizes the first or the last does.
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

    /// What frames that last `wire_bytes` on the wire take, at most.
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

/// Headroom and what makes it up, in bytes. The first six are wire time; of a sum of all, `overhead` is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// There and back.
    pub cable: u64,
    /// 64 bytes with preamble and gap for each class.
    pub pause_frames: u64,
    /// What the neighbour sends before it stops.
    pub reaction: u64,
    /// MAC and PHY.
    pub mac_phy: u64,
    /// Both passes.
    pub gearbox: u64,
    /// The frame that holds the pause back.
    pub held_back: u64,
    /// The frame above XOFF, and the last that the neighbour starts.
    pub whole_frames: u64,
    /// Preambles and gaps of the wire time.
    pub overhead: u64,
    /// What whole cells waste.
    pub cell_waste: u64,
    /// The sum.
    pub bytes: u64,
}

impl Headroom {
    /// Of a lossless account of a port on a link of `rate` and one-way `delay`.
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
        let held_back = mtu + WIRE_OVERHEAD_BYTES;
        let passes = [pause_frames, reaction, mac_phy, gearbox, held_back];
        let wire = passes.into_iter().fold(cable, u64::saturating_add);
        let in_bytes = Cells::BYTES.taken_in(wire, mtu);
        let bytes = cells.taken_in(wire, mtu).saturating_add(2 * cells.taken(mtu));
        let whole_frames = 2 * mtu;
        let (overhead, cell_waste) = (wire - in_bytes, bytes.saturating_sub(in_bytes.saturating_add(whole_frames)));
        Headroom {
            cable,
            pause_frames,
            reaction,
            mac_phy,
            gearbox,
            held_back,
            whole_frames,
            overhead,
            cell_waste,
            bytes,
        }
    }
}

#[cfg(test)]
#[path = "headroom_tests.rs"]
mod tests;
