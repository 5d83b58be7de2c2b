//! A frame as the simulation carries it: one cache line by value, with what switches and hosts decide
//! by. Its bytes on the wire are made only where somebody looks at them.

use units::Time;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow.
    #[default]
    Data,
    /// A receiver's acknowledgement ([`flags::NAK`] makes it a negative one).
    Ack,
    /// A congestion notification packet to a flow's sender (RoCEv2 annex, DCQCN).
    Cnp,
    /// 802.3x PAUSE: quanta in `aux`.
    Pause,
    /// 802.1Qbb priority PAUSE: class-enable vector in `entropy`, see [`Frame::pfc`].
    Pfc,
    /// Credits of one class: see [`Frame::credit`].
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
    /// On an acknowledgement: the receiver saw CE (ECN-Echo, RFC 3168; per packet for DCTCP).
    pub const ECE: u8 = 8;
    /// These bytes have been sent before.
    pub const RETRANSMISSION: u8 = 16;
    /// A negative acknowledgement: `seq` is the byte the receiver waits for.
    pub const NAK: u8 = 32;
    /// `entropy` is the number of an explicit path.
    pub const EXPLICIT_PATH: u8 = 64;
    /// On an acknowledgement: every byte of the flow has arrived; `aux` says when the last one did.
    pub const COMPLETE: u8 = 128;
}

/// A frame at one place of its way. Sizes are in bytes, times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
pub struct Frame {
    /// When its last bit arrived at the node that holds it.
    pub at: Time,
    /// Data: when its sender created it. Acknowledgement: the stamp of the frame that caused it. XOFF: how long it
    /// lasts.
    pub stamp: Time,
    /// Data: offset of its first payload byte in the flow. Acknowledgement: the next byte expected.
    pub seq: u64,
    /// Data: when the flow started (ps), or what its sender announces ([`crate::ndp::Announcement`]). Acknowledgement:
    /// when the data arrived (ps). PAUSE and PFC: the quanta. XOFF: the rate in bits a second.
    pub aux: u64,
    /// The flow's number at its source host; with that host it names the flow.
    pub flow: u32,
    /// Host index of the frame's origin; PAUSE and PFC have none. XOFF and XON: whose frames they are about.
    pub src: u32,
    /// Host index of the frame's destination.
    pub dst: u32,
    /// What routes are chosen by: the flow's hash, a number per frame when spraying, the path's number
    /// with [`flags::EXPLICIT_PATH`].
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
    /// How many more switches it may cross.
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
    /// A PFC frame that gives the classes whose bits are set in `enabled` the same `quanta` (units of 512
    /// bit times; 0 resumes). 802.1Qbb allows a value per class; a switch here sends one frame per change.
    pub fn pfc(enabled: u8, quanta: u16) -> Frame {
        Frame {
            kind: Kind::Pfc,
            entropy: u32::from(enabled),
            aux: u64::from(quanta),
            size_bytes: MIN_FRAME_BYTES,
            class: 7,
            ..Frame::default()
        }
    }

    /// An 802.3x PAUSE frame of `quanta` units of 512 bit times.
    pub fn pause(quanta: u16) -> Frame {
        Frame { kind: Kind::Pause, aux: u64::from(quanta), size_bytes: MIN_FRAME_BYTES, class: 7, ..Frame::default() }
    }

    /// A credit message of `class`: its sender has sent `sent_bytes`, its receiver may send up to `limit_bytes`.
    pub fn credit(class: u8, sent_bytes: u64, limit_bytes: u64) -> Frame {
        Frame {
            kind: Kind::Credit,
            entropy: u32::from(class),
            seq: sent_bytes,
            aux: limit_bytes,
            size_bytes: MIN_FRAME_BYTES,
            class: 7,
            ..Frame::default()
        }
    }

    /// An XOFF for frames from host `src` ([`ANY_SOURCE`]: all) to host `dst`: `rate_bps` on the wire, 0 for none at
    /// all, until `expiry` after its arrival.
    pub fn xoff(src: u32, dst: u32, rate_bps: u64, expiry: Time) -> Frame {
        Frame { kind: Kind::Xoff, aux: rate_bps, stamp: expiry, ..Frame::xon(src, dst) }
    }

    /// The XON that ends an XOFF for the same `src` and `dst`.
    pub fn xon(src: u32, dst: u32) -> Frame {
        Frame { kind: Kind::Xon, src, dst, size_bytes: MIN_FRAME_BYTES, class: 7, ..Frame::default() }
    }

    /// Whether a switch may forward it: MAC control ends at the next node.
    #[inline]
    pub fn is_mac_control(&self) -> bool {
        matches!(self.kind, Kind::Pause | Kind::Pfc | Kind::Credit | Kind::Xoff | Kind::Xon)
    }

    /// Whether it goes from a flow's source to its destination, as data does; everything else comes back.
    #[inline]
    pub fn goes_forward(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Trimmed)
    }

    /// Whether the given bit of [`flags`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_cache_line() {
        assert_eq!(size_of::<Frame>(), 64);
    }
}
