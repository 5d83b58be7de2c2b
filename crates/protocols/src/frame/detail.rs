//! The detail word of a frame, whose meaning depends on the frame's kind, and its accessors.
//!
//! | kind | value | accessor |
//! |---|---|---|
//! | data, trimmed, returned | start of the flow, or an announcement | [`Frame::flow_start`], [`Frame::announcement`] |
//! | probe, control | a number of the transport | [`Frame::number`] |
//! | acknowledgement, CNP | arrival time of the data | [`Frame::arrival`] |
//! | negative acknowledgement (selective repeat) | packet that was out of order or trimmed | [`Frame::packet`] |
//! | acknowledgement | out-of-order blocks | [`Frame::sack_blocks`] |
//! | acknowledgement | right edge of the window, or pulled packets | [`Frame::window_edge`], [`Frame::pulls`] |
//! | congestion notification message | feedback | [`Frame::congestion_message`] |
//! | CNP of ECCP | available bandwidth, in bits per second | [`Frame::available_bps`] |
//! | pull | the next byte expected | [`Frame::next_expected`] |
//! | frames with telemetry | index of the record | [`Frame::record`] |
//! | PAUSE, PFC | classes and quanta | [`Frame::pause_message`] |
//! | credit | the limit granted | [`Frame::credit_message`] |
//! | XOFF | the rate | [`Frame::xoff_message`] |

use super::{Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::ndp::announcement::Announcement;
use crate::tcp::blocks::SackBlocks;
use crate::telemetry::RecordId;
use units::Time;

/// A word of 64 bits whose meaning depends on the frame's kind. Only these constructors write it and only the
/// accessors of [`Frame`] read it, so that a value is never interpreted as that of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct Detail(u64);

impl Detail {
    /// No value: zero.
    pub const NONE: Detail = Detail(0);

    /// Data: start time of the flow.
    #[inline]
    pub fn flow_start(at: Time) -> Detail {
        Detail(at.as_ps())
    }

    /// Data: announcement of the sender (NDP and EQDS).
    #[inline]
    pub fn announcement(announcement: Announcement) -> Detail {
        Detail(announcement.pack())
    }

    /// Probe or control frame: a number defined by its transport.
    #[inline]
    pub fn number(number: u64) -> Detail {
        Detail(number)
    }

    /// Acknowledgement or CNP: arrival time of the data; with [`super::flags::COMPLETE`] the arrival time of the last
    /// byte.
    #[inline]
    pub fn arrival(at: Time) -> Detail {
        Detail(at.as_ps())
    }

    /// Acknowledgement with a window that is reduced by the out-of-order bytes: its right edge.
    #[inline]
    pub fn window_edge(seq: u64) -> Detail {
        Detail(seq)
    }

    /// Negative acknowledgement of a receiver with selective repeat: offset `seq` (below 2^48) of the packet that
    /// arrived out of order, and the number of its `bytes` that arrived; 0 if its payload was trimmed.
    #[inline]
    pub fn packet(seq: u64, bytes: u16) -> Detail {
        Detail(seq << 16 | u64::from(bytes))
    }

    /// Selective acknowledgement: the blocks that arrived out of order.
    #[inline]
    pub fn sack_blocks(blocks: SackBlocks) -> Detail {
        Detail(blocks.pack())
    }

    /// Acknowledgement of a receiver-driven transport: total number of packets pulled.
    #[inline]
    pub fn pulls(packets: u64) -> Detail {
        Detail(packets)
    }

    /// CNP of ECCP: available bandwidth of the path, in bits per second.
    #[inline]
    pub fn available(bps: u64) -> Detail {
        Detail(bps)
    }

    /// Congestion notification message: its feedback, offset and delta.
    #[inline]
    pub fn congestion_message(message: CongestionMessage) -> Detail {
        let CongestionMessage { feedback, offset, delta } = message;
        let [offset, delta] = [offset, delta].map(|units| u64::from(units as u16));
        Detail(u64::from(feedback) << 32 | offset << 16 | delta)
    }

    /// Pull: the next byte expected.
    #[inline]
    pub fn next_expected(seq: u64) -> Detail {
        Detail(seq)
    }

    /// Data, probe or reply with telemetry: the index of the telemetry record.
    #[inline]
    pub fn record(record: RecordId) -> Detail {
        Detail(u64::from(record.host) << 32 | u64::from(record.slot))
    }

    /// Returns this word, or `other` if this one is [`Detail::NONE`].
    #[inline]
    pub fn or(self, other: Detail) -> Detail {
        if self == Detail::NONE { other } else { self }
    }
}

/// The contents of a PAUSE or PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseMessage {
    /// Bitmask of the affected classes; all classes in a PAUSE frame.
    pub classes: u8,
    /// Duration of the pause in units of 512 bit times; 0 resumes.
    pub quanta: u16,
}

/// The contents of a credit frame, for one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditMessage {
    /// The class, 0 to 7.
    pub class: u8,
    /// Total bytes of the class that the sender of this credit frame has sent since link up.
    pub sent_bytes: u64,
    /// Total bytes of the class that the receiver of this credit frame may send, counted since link up.
    pub limit_bytes: u64,
}

/// The contents of a congestion notification message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CongestionMessage {
    /// Quantised congestion feedback, up to 64.
    pub feedback: u8,
    /// From a switch: queue length minus the equilibrium length, in units of 64 bytes.
    pub offset: i16,
    /// From a switch: queue length minus the length at the previous sample, in units of 64 bytes.
    pub delta: i16,
}

/// The contents of an XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XoffMessage {
    /// Permitted rate on the wire in bits per second; 0 pauses.
    pub rate_bps: u64,
    /// Duration of the XOFF from its arrival on.
    pub expiry: Time,
}

const QUANTA_BITS: u32 = 16;

impl Frame {
    /// Returns a PFC frame that sets all classes of the bitmask `enabled` to `quanta` (units of 512 bit times; 0
    /// resumes). 802.1Qbb permits a different value per class; switches of this model send one frame per change.
    pub fn pfc(enabled: u8, quanta: u16) -> Frame {
        let detail = Detail(u64::from(enabled) << QUANTA_BITS | u64::from(quanta));
        Frame { kind: Kind::Pfc, detail, ..Frame::mac_control() }
    }

    /// Returns an 802.3x PAUSE frame with a duration of `quanta` units of 512 bit times.
    pub fn pause(quanta: u16) -> Frame {
        Frame { kind: Kind::Pause, ..Frame::pfc(0xff, quanta) }
    }

    /// Returns a credit frame of `class`: its sender has sent a total of `sent_bytes`, and its receiver may send a
    /// total of `limit_bytes`.
    pub fn credit(class: u8, sent_bytes: u64, limit_bytes: u64) -> Frame {
        let detail = Detail(limit_bytes);
        Frame { kind: Kind::Credit, in_class: class & 7, seq: sent_bytes, detail, ..Frame::mac_control() }
    }

    /// Returns an XOFF for frames from host `src` ([`super::ANY_SOURCE`]: all) to host `dst`: at most `rate_bps` on the
    /// wire, 0 to pause, for `expiry` from its arrival.
    pub fn xoff(src: u32, dst: u32, rate_bps: u64, expiry: Time) -> Frame {
        Frame { kind: Kind::Xoff, detail: Detail(rate_bps), stamp: expiry, ..Frame::xon(src, dst) }
    }

    /// Returns the XON that ends an XOFF for this `src` and `dst`.
    pub fn xon(src: u32, dst: u32) -> Frame {
        Frame { kind: Kind::Xon, src, dst, ..Frame::mac_control() }
    }

    fn mac_control() -> Frame {
        Frame { size_bytes: MIN_FRAME_BYTES, class: 7, ttl: 0, ..Frame::default() }
    }

    /// Returns the classes and the duration of a PAUSE or PFC frame.
    #[inline]
    pub fn pause_message(&self) -> PauseMessage {
        debug_assert!(matches!(self.kind, Kind::Pause | Kind::Pfc), "{:?} pauses nobody", self.kind);
        PauseMessage { classes: (self.detail.0 >> QUANTA_BITS) as u8, quanta: self.detail.0 as u16 }
    }

    /// Returns the contents of a credit frame.
    #[inline]
    pub fn credit_message(&self) -> CreditMessage {
        debug_assert!(self.kind == Kind::Credit, "{:?} grants nothing", self.kind);
        CreditMessage { class: self.in_class, sent_bytes: self.seq, limit_bytes: self.detail.0 }
    }

    /// Returns the permitted rate and the duration of an XOFF.
    #[inline]
    pub fn xoff_message(&self) -> XoffMessage {
        debug_assert!(self.kind == Kind::Xoff, "{:?} holds nobody", self.kind);
        XoffMessage { rate_bps: self.detail.0, expiry: self.stamp }
    }

    /// Returns the start time of the flow, on the driver's clock. The frame must be a data frame, complete or
    /// trimmed, without an announcement.
    #[inline]
    pub fn flow_start(&self) -> Time {
        debug_assert!(self.carries_data(), "{:?} belongs to no flow's data", self.kind);
        Time::from_ps(self.detail.0)
    }

    /// Returns the announcement in a data frame, complete or trimmed.
    #[inline]
    pub fn announcement(&self) -> Announcement {
        debug_assert!(self.carries_data(), "{:?} announces nothing", self.kind);
        Announcement::unpack(self.detail.0)
    }

    /// Returns the number in a probe or control frame, defined by its transport.
    #[inline]
    pub fn number(&self) -> u64 {
        debug_assert!(matches!(self.kind, Kind::Probe | Kind::Control), "{:?} has no number", self.kind);
        self.detail.0
    }

    /// Returns the arrival time of the data from an acknowledgement or CNP.
    #[inline]
    pub fn arrival(&self) -> Time {
        debug_assert!(matches!(self.kind, Kind::Ack | Kind::Cnp), "{:?} tells of no arrival", self.kind);
        Time::from_ps(self.detail.0)
    }

    /// Returns the right edge of the window, from an acknowledgement whose window is reduced by the out-of-order bytes.
    #[inline]
    pub fn window_edge(&self) -> u64 {
        debug_assert!(self.kind == Kind::Ack, "{:?} has no window", self.kind);
        self.detail.0
    }

    /// Returns the contents of a negative acknowledgement with selective repeat: the offset of the packet that caused
    /// it, and the number of its bytes that arrived.
    #[inline]
    pub fn packet(&self) -> (u64, u16) {
        debug_assert!(self.kind == Kind::Ack, "{:?} tells of no packet", self.kind);
        (self.detail.0 >> 16, self.detail.0 as u16)
    }

    /// Returns the out-of-order blocks of a selective acknowledgement.
    #[inline]
    pub fn sack_blocks(&self) -> SackBlocks {
        debug_assert!(self.kind == Kind::Ack, "{:?} reports nothing", self.kind);
        SackBlocks::unpack(self.detail.0)
    }

    /// Returns the total number of packets pulled, from an acknowledgement of a receiver-driven transport.
    #[inline]
    pub fn pulls(&self) -> u64 {
        debug_assert!(self.kind == Kind::Ack, "{:?} counts no pulls", self.kind);
        self.detail.0
    }

    /// Returns the available bandwidth, in bits per second, from a CNP of ECCP.
    #[inline]
    pub fn available_bps(&self) -> u64 {
        debug_assert!(self.kind == Kind::Cnp, "{:?} tells of no bandwidth", self.kind);
        self.detail.0
    }

    /// Returns the contents of a congestion notification message.
    #[inline]
    pub fn congestion_message(&self) -> CongestionMessage {
        debug_assert!(self.kind == Kind::Cnm, "{:?} tells of no congestion", self.kind);
        let Detail(word) = self.detail;
        CongestionMessage { feedback: (word >> 32) as u8, offset: (word >> 16) as i16, delta: word as i16 }
    }

    /// Returns the next byte expected by the receiver, from a pull.
    #[inline]
    pub fn next_expected(&self) -> u64 {
        debug_assert!(self.kind == Kind::Pull, "{:?} expects nothing", self.kind);
        self.detail.0
    }

    /// Returns the index of the frame's telemetry record, if the frame collects or returns telemetry.
    #[inline]
    pub fn record(&self) -> Option<RecordId> {
        let flag = if self.goes_forward() || self.kind == Kind::Returned { flags::COLLECTS } else { flags::TELEMETRY };
        let record = RecordId { host: (self.detail.0 >> 32) as u32, slot: self.detail.0 as u32 };
        (self.has(flag) && !self.is_mac_control()).then_some(record)
    }

    fn carries_data(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Trimmed | Kind::Returned)
    }
}

impl units::pack::Pack for Detail {
    #[inline]
    fn pack(&self, to: &mut Vec<u8>) {
        self.0.pack(to);
    }
    #[inline]
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from).map(Detail)
    }
}

impl units::pack::Fixed for Detail {
    #[inline]
    fn write<'a>(&self, to: &'a mut [u8]) -> &'a mut [u8] {
        self.0.write(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// For random values, accessors return the values that constructors wrote.
    #[test]
    fn views_read_what_constructors_wrote() {
        let mut random = Stream::new(1, 0, 0);
        for _ in 0..1000 {
            let (classes, quanta) = (random.next_u32() as u8, random.next_u32() as u16);
            assert_eq!(Frame::pfc(classes, quanta).pause_message(), PauseMessage { classes, quanta });
            assert_eq!(Frame::pause(quanta).pause_message(), PauseMessage { classes: 0xff, quanta });
            let (class, sent_bytes, limit_bytes) = (random.below(8) as u8, random.next_u64(), random.next_u64());
            let credit = CreditMessage { class, sent_bytes, limit_bytes };
            assert_eq!(Frame::credit(class, sent_bytes, limit_bytes).credit_message(), credit);
            let (rate_bps, expiry) = (random.next_u64(), Time::from_ps(random.next_u64()));
            assert_eq!(Frame::xoff(1, 2, rate_bps, expiry).xoff_message(), XoffMessage { rate_bps, expiry });
            let message =
                CongestionMessage { feedback: classes, offset: quanta as i16, delta: random.next_u32() as i16 };
            let cnm = Frame { kind: Kind::Cnm, detail: Detail::congestion_message(message), ..Frame::default() };
            assert_eq!(cnm.congestion_message(), message);
            assert_eq!(
                Frame { kind: Kind::Cnp, detail: Detail::available(rate_bps), ..Frame::default() }.available_bps(),
                rate_bps
            );
            let announcement = Announcement { window: quanta, packets: random.next_u64() >> 16 };
            let frame = |kind, detail| Frame { kind, detail, ..Frame::default() };
            assert_eq!(frame(Kind::Data, Detail::announcement(announcement)).announcement(), announcement);
            assert_eq!(frame(Kind::Returned, Detail::flow_start(expiry)).flow_start(), expiry);
            assert_eq!(frame(Kind::Ack, Detail::arrival(expiry)).arrival(), expiry);
            assert_eq!(frame(Kind::Ack, Detail::pulls(rate_bps)).pulls(), rate_bps);
            assert_eq!(frame(Kind::Ack, Detail::window_edge(rate_bps)).window_edge(), rate_bps);
            let seq = rate_bps >> 16;
            assert_eq!(frame(Kind::Ack, Detail::packet(seq, quanta)).packet(), (seq, quanta));
            let blocks = SackBlocks::unpack(rate_bps);
            assert_eq!(frame(Kind::Ack, Detail::sack_blocks(blocks)).sack_blocks(), blocks);
            assert_eq!(frame(Kind::Pull, Detail::next_expected(rate_bps)).next_expected(), rate_bps);
            assert_eq!(frame(Kind::Probe, Detail::number(rate_bps)).number(), rate_bps);
            let record = RecordId { host: random.next_u32(), slot: random.next_u32() };
            let detail = Detail::record(record);
            let collects = Frame { flags: flags::COLLECTS, ..frame(Kind::Data, detail) };
            let brings = Frame { flags: flags::TELEMETRY, ..frame(Kind::Ack, detail) };
            assert_eq!((collects.record(), brings.record()), (Some(record), Some(record)));
            // On an acknowledgement the bit COLLECTS means NAK, on data the bit TELEMETRY means RETRANSMISSION:
            // neither frame has a telemetry record.
            let (nak, again) = (Frame { kind: Kind::Ack, ..collects }, Frame { kind: Kind::Data, ..brings });
            assert_eq!((nak.record(), again.record(), frame(Kind::Data, detail).record()), (None, None, None));
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "Data pauses nobody")]
    fn no_kind_is_taken_for_another() {
        _ = Frame::default().pause_message();
    }
}
