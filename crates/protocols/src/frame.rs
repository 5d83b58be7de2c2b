//! A simulated frame: one cache line, passed by value, with the fields that switches and hosts need. It is encoded as
//! wire bytes only for captures and other external readers.

mod detail;

pub use detail::{CongestionMessage, CreditMessage, Detail, PauseMessage, XoffMessage};

use units::Time;

/// Type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// Data frame with payload of a flow.
    #[default]
    Data,
    /// A probe of the path from a flow's sender, without payload of the flow; it may have its own class and path.
    Probe,
    /// A control frame from a flow's sender to its receiver, with the flow's number.
    Control,
    /// A receiver's acknowledgement ([`flags::NAK`] makes it a negative one).
    Ack,
    /// A congestion notification packet to a flow's sender (RoCEv2 annex, DCQCN).
    Cnp,
    /// A congestion notification message to a flow's sender (802.1Qau; HetFlow), see [`Frame::congestion_message`].
    Cnm,
    /// 802.3x PAUSE frame: see [`Frame::pause_message`].
    Pause,
    /// 802.1Qbb PFC frame (priority PAUSE): see [`Frame::pause_message`].
    Pfc,
    /// Credit frame with the credits of one class: see [`Frame::credit_message`].
    Credit,
    /// XOFF of backpressure by flow or destination: the neighbour must limit frames from `src` ([`ANY_SOURCE`]: any
    /// source) to `dst`; see [`Frame::xoff`].
    Xoff,
    /// XON, which ends an XOFF; see [`Frame::xon`].
    Xon,
    /// Not a frame: a message between hosts of the simulator that starts a dependent flow.
    Trigger,
    /// A data frame whose payload a switch trimmed. `payload_bytes` keeps the original payload length, which tells
    /// the receiver the missing bytes; `size_bytes` is the length of the remaining header.
    Trimmed,
    /// A [`Kind::Trimmed`] frame that a switch returns to its source. `src` and `dst` are swapped for ordinary
    /// routing; `flow` is still the flow's number at its source.
    Returned,
    /// A receiver's grant to send more packets: a pull (NDP) or a credit (EQDS).
    Pull,
}

/// Bits of [`Frame::flags`].
pub mod flags {
    /// The sender is ECN-capable (ECT codepoint, RFC 3168).
    pub const ECT: u8 = 1;
    /// Congestion Experienced (CE codepoint, RFC 3168), set by a switch.
    pub const CE: u8 = 2;
    /// On data: the frame contains the last payload bytes of the flow.
    pub const LAST: u8 = 4;
    /// On data: the last payload bytes of a message of a connection, if it is not the last message. It is
    /// acknowledged at once.
    pub const PUSH: u8 = 128;
    /// On an acknowledgement: the receiver has received CE (ECN-Echo, RFC 3168; per packet for DCTCP).
    pub const ECE: u8 = 8;
    /// On data: the payload bytes have been sent before.
    pub const RETRANSMISSION: u8 = 16;
    /// A negative acknowledgement: `seq` is the next byte that the receiver expects.
    pub const NAK: u8 = 32;
    /// `entropy` is the index of an explicit path.
    pub const EXPLICIT_PATH: u8 = 64;
    /// On an acknowledgement: every byte of the flow has arrived, the last one at [`super::Frame::arrival`].
    pub const COMPLETE: u8 = 128;
    /// On data and probes: each egress port on the path adds to the frame's telemetry, see [`crate::telemetry`]. The
    /// [`super::Detail`] of such a frame has no other content.
    pub const COLLECTS: u8 = 32;
    /// On a reply: it returns the telemetry of the data frame or probe that it answers. Never set together with
    /// [`COMPLETE`].
    pub const TELEMETRY: u8 = 16;
}

/// State of a frame at one node of its path. Sizes are in bytes, times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
pub struct Frame {
    /// Arrival time of the frame's last bit at the current node.
    pub at: Time,
    /// Data and probes: creation time on the sender's clock. Acknowledgement: `stamp` of the acknowledged frame.
    pub stamp: Time,
    /// Data: offset of the first payload byte in the flow. Acknowledgement: the next byte expected.
    pub seq: u64,
    /// A value that depends on the kind: see [`Detail`].
    pub detail: Detail,
    /// The flow's number at its source host, unique together with that host.
    pub flow: u32,
    /// Host index of the frame's origin; PAUSE and PFC have none. XOFF and XON: the source of the affected frames.
    pub src: u32,
    /// Host index of the frame's destination.
    pub dst: u32,
    /// Key of route selection: the flow's hash; a number per frame with packet spraying or if the sender sets it; the
    /// path's index with [`flags::EXPLICIT_PATH`]. An acknowledgement may return the key of its data frame.
    pub entropy: u32,
    /// Length from the destination address to the FCS.
    pub size_bytes: u16,
    /// Payload bytes of the transport.
    pub payload_bytes: u16,
    /// Input port at the current node.
    pub in_port: u16,
    /// Type of the frame.
    pub kind: Kind,
    /// Traffic class in the frame's tag, 0 to 7: on arrival the received tag, after the switch's tag rules the new
    /// tag.
    pub class: u8,
    /// Class of the ingress account that the frame is charged to: its class on arrival.
    pub in_class: u8,
    /// See [`flags`].
    pub flags: u8,
    /// Time to live: number of switches that the frame may still pass through; 0 for a MAC control frame.
    pub ttl: u8,
    /// Number of switches that the frame has passed through, forward and back (PABO's totalHop); saturates at 255.
    pub hops: u8,
    /// Bounces (PABO's bouncedHop) or detours (DIBS) of the frame; saturates at 255.
    pub bounces: u8,
    /// Distance of the frame in hops from the furthest switch that it reached (PABO's bouncedDistance).
    pub distance: u8,
    /// Maximum of `distance` so far (PABO's maxBouncedDistance).
    pub max_distance: u8,
    /// Index of the scenario's traffic entry that created the frame, for statistics per entry.
    pub traffic: u8,
}

/// Value of `src` in an XOFF or XON for frames of all sources.
pub const ANY_SOURCE: u32 = u32::MAX;

/// Minimum frame length in bytes, and the length of MAC control frames.
pub const MIN_FRAME_BYTES: u16 = 64;

impl Frame {
    /// Returns whether the frame is a MAC control frame, which ends at the neighbour.
    #[inline]
    pub fn is_mac_control(&self) -> bool {
        matches!(self.kind, Kind::Pause | Kind::Pfc | Kind::Credit | Kind::Xoff | Kind::Xon)
    }

    /// Returns whether a switch can mark the frame: it is ECN-capable and not marked yet (RFC 3168).
    #[inline]
    pub fn can_be_marked(&self) -> bool {
        self.flags & (flags::ECT | flags::CE) == flags::ECT
    }

    /// Returns whether the frame travels from a flow's source to its destination; frames of other kinds travel in the
    /// opposite direction.
    #[inline]
    pub fn goes_forward(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Trimmed | Kind::Probe | Kind::Control)
    }

    /// Returns whether the given bit of [`flags`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns whether a data frame is the last of its message, so that the receiver acknowledges it at once.
    #[inline]
    pub fn ends_message(&self) -> bool {
        self.flags & (flags::LAST | flags::PUSH) != 0
    }
}

units::pack_variants!(Kind {
    0 Data,
    1 Probe,
    2 Control,
    3 Ack,
    4 Cnp,
    5 Cnm,
    6 Pause,
    7 Pfc,
    8 Credit,
    9 Xoff,
    10 Xon,
    11 Trigger,
    12 Trimmed,
    13 Returned,
    14 Pull,
});
impl units::pack::Fixed for Kind {
    #[inline]
    fn write<'a>(&self, to: &'a mut [u8]) -> &'a mut [u8] {
        (*self as u8).write(to)
    }
}
// Frames have a fixed-size encoding for transfer between ranks, because millions of frames are transferred.
units::pack_fixed!(Frame, 64 {
    at,
    stamp,
    seq,
    detail,
    flow,
    src,
    dst,
    entropy,
    size_bytes,
    payload_bytes,
    in_port,
    kind,
    class,
    in_class,
    flags,
    ttl,
    hops,
    bounces,
    distance,
    max_distance,
    traffic,
});

#[cfg(test)]
mod tests {
    use super::*;
    use units::pack::{packed, unpacked};

    #[test]
    fn a_frame_is_one_cache_line() {
        assert_eq!(size_of::<Frame>(), 64);
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        // Random bytes decode if the kind is valid, otherwise decoding fails.
        let mut random = units::random::Stream::new(1, 0, 0);
        for kind in 0..=255 {
            let mut bytes = [0u8; 64];
            bytes.fill_with(|| random.below(256) as u8);
            bytes[54] = kind;
            let frame = unpacked::<Frame>(&bytes);
            assert_eq!(frame.is_some(), kind < 15);
            if let Some(frame) = frame {
                assert_eq!(frame.kind as u8, kind);
                assert_eq!(packed(&frame), bytes);
                assert_eq!(packed(&frame.kind), [kind]);
                assert_eq!(frame.traffic, bytes[63]);
            }
        }
        assert_eq!(unpacked::<Frame>(&[0; 63]), None);
    }
}
