//! Messages that reserve time slots hop by hop (DTSCoE; thesis, section 4.5). No standard has bytes for them, so these
//! are a format of this project's own, behind an EtherType for local experiments (IEEE 802, clause 9.2.3).
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | 1 | kind: 1 request, 2 update, 3 ready, 4 fail, 5 withdraw, 6 release |
//! | 2 | L: the longest frame of the stream, from destination address to FCS |
//! | 8 | stream |
//! | 4 | sequence: which request of the stream this is about |
//! | 4 | the sequence whose slots the stream uses meanwhile, 0 for none |
//! | 8 | TW: the window, in picoseconds |
//! | 8 | Ts: from the departure of this request to the slot, modulo TW, in picoseconds |
//! | 8 | by how much nodes have moved the slot since the source asked, the sum of all ΔTs, in picoseconds |
//! | 2 | number of intervals |
//! | 14 each | first shift (6 bytes), length (6 bytes), both in picoseconds, and a divisor (2 bytes) of TW |
//!
//! A request is padded to L, so that it takes as long on every wire as the frames that follow it. One that has more to
//! tell may be longer: whoever receives it knows both lengths, and so how much later it comes than such a frame.

use crate::error::Error;
use crate::ethernet::{EtherType, Ethernet, FCS_BYTES, MacAddress, check_fcs, finish_frame};
use crate::reader::Reader;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReservationKind {
    /// From source to receiver: reserve a slot.
    Request,
    /// Backwards: the slot has moved.
    Update,
    /// Backwards: all nodes have the slot.
    Ready,
    /// Backwards: a node has no room.
    Fail,
    /// From a node that had to give up a slot towards the receiver: forget this sequence.
    Withdraw,
    /// From source to receiver: forget this sequence and all before it.
    Release,
}

use ReservationKind::{Fail, Ready, Release, Request, Update, Withdraw};

/// All kinds, by their number less one.
const KINDS: [ReservationKind; 6] = [Request, Update, Ready, Fail, Withdraw, Release];

/// Shifts of a slot that would hit another's: those which, modulo the window / `divisor`, are at least `first_ps` and
/// less than `first_ps + length_ps`. Shifts count from where the message has the slot, so no clock is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OccupiedShifts {
    /// The first; below 2^48.
    pub first_ps: u64,
    /// How many; below 2^48.
    pub length_ps: u64,
    /// The window over this is the modulus; at least 1.
    pub divisor: u16,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// What it says.
    pub kind: ReservationKind,
    /// Which stream.
    pub stream: u64,
    /// Which request of the stream; from 1.
    pub sequence: u32,
    /// The sequence whose slots are in use meanwhile; 0 for none.
    pub active: u32,
    /// The longest frame of the stream, 64 and more.
    pub frame_bytes: u16,
    /// The window; above zero.
    pub window_ps: u64,
    /// Ts, below the window.
    pub start_ps: u64,
    /// The sum of all ΔTs.
    pub shift_ps: u64,
    /// Shifts that upstream nodes (of a fail, the node that failed) have no room for.
    pub occupied: Vec<OccupiedShifts>,
}

const VERSION: u8 = 1;
const FIXED_BYTES: usize = 46;
const INTERVAL_BYTES: usize = 14;

impl Reservation {
    /// The first EtherType for local experiments.
    pub const ETHERTYPE: EtherType = EtherType(0x88B5);
    /// The longest window that the format's intervals can speak of, 281 s.
    pub const MAX_WINDOW_PS: u64 = (1 << 48) - 1;

    /// How many intervals a frame of so many bytes has room for.
    pub fn room(frame_bytes: u16) -> usize {
        let fixed = Ethernet::HEADER_BYTES + FIXED_BYTES + FCS_BYTES;
        usize::from(frame_bytes).saturating_sub(fixed) / INTERVAL_BYTES
    }

    /// Reads a whole frame: addresses, message, FCS.
    ///
    /// # Errors
    /// If the bytes are no such frame, were damaged, or hold values that no message may have.
    pub fn parse(frame: &[u8]) -> Result<(MacAddress, MacAddress, Reservation), Error> {
        let (ethernet, bytes) = Ethernet::parse(check_fcs(frame)?)?;
        let at = Ethernet::HEADER_BYTES;
        if ethernet.ethertype != Self::ETHERTYPE {
            let (field, found, expected) = ("EtherType", ethernet.ethertype.0.into(), "0x88b5 (reservation)");
            return Err(Error::Value { field, offset_bytes: at - 2, found, expected });
        }
        let message = Self::parse_message(bytes).map_err(|error| error.shifted(at))?;
        Ok((ethernet.destination, ethernet.source, message))
    }

    fn parse_message(bytes: &[u8]) -> Result<Reservation, Error> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8("version")?;
        if version != VERSION {
            return Err(reader.unexpected("version", 1, version, "1"));
        }
        let number = reader.u8("kind")?;
        let kind = usize::from(number).checked_sub(1).and_then(|at| KINDS.get(at));
        let kind = *kind.ok_or_else(|| reader.unexpected("kind", 1, number, "a kind from 1 to 6"))?;
        let frame_bytes = reader.u16("longest frame")?;
        if frame_bytes < 64 {
            return Err(reader.unexpected("longest frame", 2, frame_bytes, "64 bytes or more"));
        }
        let (stream, sequence, active) =
            (reader.u64("stream")?, reader.u32("sequence")?, reader.u32("sequence in use")?);
        let window_ps = reader.u64("window")?;
        if !(1..=Self::MAX_WINDOW_PS).contains(&window_ps) {
            return Err(reader.unexpected("window", 8, window_ps, "1 ps to 281 s"));
        }
        let start_ps = reader.u64("Ts")?;
        if start_ps >= window_ps {
            return Err(reader.unexpected("Ts", 8, start_ps, "less than the window"));
        }
        let shift_ps = reader.u64("shift")?;
        if shift_ps > Self::MAX_WINDOW_PS * 256 {
            return Err(reader.unexpected("shift", 8, shift_ps, "less than 256 windows of 281 s"));
        }
        let count = reader.u16("number of intervals")?;
        let mut occupied = Vec::new();
        for _ in 0..count {
            let pair: [u8; 12] = reader.octets("interval")?;
            let long = |six: &[u8]| six.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            let (first_ps, length_ps) = (long(&pair[..6]), long(&pair[6..]));
            let divisor = reader.u16("divisor")?;
            if divisor == 0 || !window_ps.is_multiple_of(divisor.into()) {
                return Err(reader.unexpected("divisor", 2, divisor, "a divisor of the window"));
            }
            occupied.push(OccupiedShifts { first_ps, length_ps, divisor });
        }
        Ok(Reservation { kind, stream, sequence, active, frame_bytes, window_ps, start_ps, shift_ps, occupied })
    }

    /// Appends the whole frame. A request is as long as the stream's frames, or up to `most_bytes` if its intervals
    /// need that; those that have no room then are left out. Other messages carry as many as a request would.
    pub fn emit(&self, destination: MacAddress, source: MacAddress, most_bytes: u16, out: &mut Vec<u8>) {
        let start = out.len();
        Ethernet { destination, source, ethertype: Self::ETHERTYPE }.emit(out);
        let kind = KINDS.iter().position(|&kind| kind == self.kind).map_or(0, |at| at as u8 + 1);
        out.extend_from_slice(&[VERSION, kind]);
        out.extend_from_slice(&self.frame_bytes.to_be_bytes());
        out.extend_from_slice(&self.stream.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.active.to_be_bytes());
        for value in [self.window_ps, self.start_ps, self.shift_ps] {
            out.extend_from_slice(&value.to_be_bytes());
        }
        let fits = &self.occupied[..self.occupied.len().min(Self::room(self.frame_bytes.max(most_bytes)))];
        out.extend_from_slice(&(fits.len() as u16).to_be_bytes());
        for interval in fits {
            out.extend_from_slice(&interval.first_ps.to_be_bytes()[2..]);
            out.extend_from_slice(&interval.length_ps.to_be_bytes()[2..]);
            out.extend_from_slice(&interval.divisor.to_be_bytes());
        }
        if self.kind == Request {
            out.resize(out.len().max(start + usize::from(self.frame_bytes) - FCS_BYTES), 0);
        }
        finish_frame(out, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Reservation {
        let occupied = vec![OccupiedShifts { first_ps: 1, length_ps: (1 << 48) - 1, divisor: 3 }];
        Reservation {
            kind: Request,
            stream: 0x0102,
            sequence: 3,
            active: 2,
            frame_bytes: 600,
            window_ps: 1_920_000,
            start_ps: 1_919_999,
            shift_ps: 48_000,
            occupied,
        }
    }

    const A: MacAddress = MacAddress::new([2, 0, 0, 0, 0, 1]);
    const B: MacAddress = MacAddress::new([2, 0, 0, 0, 0, 2]);

    #[test]
    fn comes_back_as_it_was_and_a_request_is_as_long_as_the_frames() {
        for kind in KINDS {
            let message = Reservation { kind, ..message() };
            let mut frame = Vec::new();
            message.emit(A, B, 0, &mut frame);
            assert_eq!(frame.len(), if kind == Request { 600 } else { 78 });
            assert_eq!(Reservation::parse(&frame), Ok((A, B, message)));
        }
    }

    #[test]
    fn intervals_without_room_are_left_out() {
        for (frame_bytes, room) in [(64, 0), (78, 1), (91, 1), (600, 38)] {
            let occupied = vec![OccupiedShifts { first_ps: 0, length_ps: 1, divisor: 1 }; 50];
            let mut frame = Vec::new();
            let message = Reservation { frame_bytes, occupied, ..message() };
            message.emit(A, B, 0, &mut frame);
            assert_eq!(frame.len(), usize::from(frame_bytes));
            assert_eq!(Reservation::parse(&frame).unwrap().2.occupied.len(), room);
            assert_eq!(Reservation::room(frame_bytes), room);
            // As long as they need, and no longer than it may be.
            frame.clear();
            message.emit(A, B, 1518, &mut frame);
            assert_eq!((frame.len(), Reservation::parse(&frame).unwrap().2), (64 + 50 * 14, message));
        }
    }

    #[test]
    fn values_that_no_message_may_have_are_refused() {
        let refused = |at: usize, value: &[u8], field: &str| {
            let mut frame = Vec::new();
            message().emit(A, B, 0, &mut frame);
            frame[at..at + value.len()].copy_from_slice(value);
            frame.truncate(596);
            finish_frame(&mut frame, 0);
            let error = Reservation::parse(&frame).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        };
        refused(12, &[8, 0], "EtherType");
        refused(14, &[2], "version");
        refused(15, &[0], "kind");
        refused(15, &[7], "kind");
        refused(16, &[0, 63], "longest frame");
        refused(34, &[0; 8], "window");
        refused(34, &[1; 8], "window");
        refused(42, &[1; 8], "Ts");
        refused(50, &[0xFF; 8], "shift");
        // More intervals than there are: the padding is none.
        refused(58, &[0xFF; 2], "divisor");
        refused(72, &[0, 0], "divisor");
        refused(72, &[0, 7], "divisor");
    }
}
