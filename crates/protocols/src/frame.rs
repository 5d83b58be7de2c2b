//! A frame as the simulation carries it: one cache line by value, with what switches and hosts decide
//! by. Its bytes on the wire are made only where somebody looks at them.

mod detail;

pub use detail::{CongestionMessage, CreditMessage, Detail, PauseCall, XoffCall};

use units::Time;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow.
    #[default]
    Data,
    /// A probe of the path by a flow's sender: no payload of the flow, a class and a path of its own if it likes.
    Probe,
    /// What a flow's sender tells its receiver beside data and probes, under the flow's own name.
    Control,
    /// A receiver's acknowledgement ([`flags::NAK`] makes it a negative one).
    Ack,
    /// A congestion notification packet to a flow's sender (RoCEv2 annex, DCQCN).
    Cnp,
    /// A congestion notification message to a flow's sender (802.1Qau; HetFlow), see [`Frame::congestion_message`].
    Cnm,
    /// 802.3x PAUSE: see [`Frame::pause_call`].
    Pause,
    /// 802.1Qbb priority PAUSE: see [`Frame::pause_call`].
    Pfc,
    /// Credits of one class: see [`Frame::credit_message`].
    Credit,
    /// Backpressure by flow or destination: the neighbour shall slow or stop frames from `src` ([`ANY_SOURCE`]: from
    /// everybody) to `dst`, see [`Frame::xoff`].
    Xoff,
    /// The neighbour shall send what an XOFF held, see [`Frame::xon`].
    Xon,
    /// No frame at all: the message by which one host tells another that a flow may start.
    Trigger,
    /// A data frame whose payload a switch cut: `payload_bytes` still says what was in it, so that its receiver
    /// knows which bytes are missing; `size_bytes` is the header's.
    Trimmed,
    /// A [`Kind::Trimmed`] frame on its way back to its source: `src` and `dst` are swapped, so that ordinary routes
    /// lead it there; `flow` stays the flow's number at its source.
    Returned,
    /// A receiver asks a sender for more: a pull (NDP) or a credit (EQDS).
    Pull,
}

/// Bits of [`Frame::flags`].
pub mod flags {
    /// The sender takes part in ECN (ECT codepoint, RFC 3168).
    pub const ECT: u8 = 1;
    /// Congestion experienced: set by a switch.
    pub const CE: u8 = 2;
    /// The last payload bytes of the flow.
    pub const LAST: u8 = 4;
    /// On data: the last payload bytes of a message whose connection carries more. It is acknowledged at once.
    pub const PUSH: u8 = 128;
    /// On an acknowledgement: the receiver saw CE (ECN-Echo, RFC 3168; per packet for DCTCP).
    pub const ECE: u8 = 8;
    /// These bytes have been sent before.
    pub const RETRANSMISSION: u8 = 16;
    /// A negative acknowledgement: `seq` is the byte the receiver waits for.
    pub const NAK: u8 = 32;
    /// `entropy` is the number of an explicit path.
    pub const EXPLICIT_PATH: u8 = 64;
    /// On an acknowledgement: every byte of the flow has arrived; [`super::Frame::arrival`] says when the last one did.
    pub const COMPLETE: u8 = 128;
    /// On data and probes: each egress port on the way adds to the frame's telemetry, see [`crate::telemetry`]. Such a
    /// frame says nothing else in its [`super::Detail`].
    pub const COLLECTS: u8 = 32;
    /// On a reply: it brings back what the frame that caused it has collected. One that says [`COMPLETE`] cannot.
    pub const TELEMETRY: u8 = 16;
}

/// A frame at one place of its way. Sizes are in bytes, times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
pub struct Frame {
    /// When its last bit arrived at the node that holds it.
    pub at: Time,
    /// Data and probes: when its sender created it, on the sender's clock. Acknowledgement: the stamp of the frame that
    /// caused it.
    pub stamp: Time,
    /// Data: offset of its first payload byte in the flow. Acknowledgement: the next byte expected.
    pub seq: u64,
    /// What only its kind can say: see [`Detail`].
    pub detail: Detail,
    /// The flow's number at its source host; with that host it names the flow.
    pub flow: u32,
    /// Host index of the frame's origin; PAUSE and PFC have none. XOFF and XON: whose frames they are about.
    pub src: u32,
    /// Host index of the frame's destination.
    pub dst: u32,
    /// What routes are chosen by: the flow's hash, a number per frame when spraying or where its sender chooses, the
    /// path's number with [`flags::EXPLICIT_PATH`]. An acknowledgement may bring that of the data back.
    pub entropy: u32,
    /// Length from the destination address to the FCS.
    pub size_bytes: u16,
    /// Payload of the transport.
    pub payload_bytes: u16,
    /// The port by which it entered the node that holds it.
    pub in_port: u16,
    /// What it is.
    pub kind: Kind,
    /// Traffic class on the wire, 0 to 7: the arriving tag. After a switch's rewrite the new tag.
    pub class: u8,
    /// The class under which the ingress account holds it: the tag it arrived with.
    pub in_class: u8,
    /// See [`flags`].
    pub flags: u8,
    /// How many more switches it may cross; none if it is a MAC control frame.
    pub ttl: u8,
    /// How many switches it has crossed, on its way back too (PABO's totalHop); stays at 255.
    pub hops: u8,
    /// How often it was turned around (PABO's bouncedHop), or sent another way than its route's (DIBS); stays at 255.
    pub bounces: u8,
    /// Its distance from the furthest switch it reached forwards (PABO's bouncedDistance).
    pub distance: u8,
    /// The largest `distance` so far (PABO's maxBouncedDistance).
    pub max_distance: u8,
    /// The scenario's traffic entry that made it, for accounts by kind of traffic.
    pub traffic: u8,
}

/// In an XOFF or XON: frames of every source.
pub const ANY_SOURCE: u32 = u32::MAX;

/// The length of a MAC control frame, and the least of any frame.
pub const MIN_FRAME_BYTES: u16 = 64;

impl Frame {
    /// Whether a switch may forward it: MAC control ends at the next node.
    #[inline]
    pub fn is_mac_control(&self) -> bool {
        matches!(self.kind, Kind::Pause | Kind::Pfc | Kind::Credit | Kind::Xoff | Kind::Xon)
    }

    /// Whether it goes from a flow's source to its destination, as data does; everything else comes back.
    #[inline]
    pub fn goes_forward(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Trimmed | Kind::Probe | Kind::Control)
    }

    /// Whether the given bit of [`flags`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether a data frame is the last of its message: its receiver acknowledges it at once.
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
// Millions of frames cross from rank to rank.
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
        // Of any bytes whose kind is one, and of no others.
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
