//! Messages that reserve time slots hop by hop (DTSCoE; thesis, section 4.5). No standard defines their format; this
//! one is defined by this project, with an EtherType for local experiments (IEEE 802, clause 9.2.3).
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 2 |
//! | 1 | kind: 1 request, 2 update, 3 ready, 4 fail, 5 withdraw, 6 release |
//! | 2 | L: maximum frame length of the stream, from destination address to FCS |
//! | 8 | identifier of the stream |
//! | 4 | sequence number of the stream's request to which this message belongs |
//! | 4 | sequence number of the request whose slots are in use while this request is pending, 0 for none |
//! | 8 | TW: length of the window, in picoseconds |
//! | 8 | Ts: time from the departure of this request to the slot, modulo TW, in picoseconds |
//! | 8 | total shift of the slot by nodes since the source's request, the sum of all ΔTs, in picoseconds |
//! | 2 | number of divisors of TW that follow, in ascending order |
//! | 2 | a divisor |
//! | 2 | number of intervals of this divisor |
//! | 2 to 14 per interval | distance of its first shift from that of the previous interval, and its length (ps) |
//!
//! The two numbers of an interval are varints: seven bits per byte, the lowest first, with the highest bit set in all
//! bytes except the last one. An interval of a few microseconds takes about 7 bytes. Intervals that do not fit into
//! the message are omitted. A downstream node may then select a slot that is occupied upstream, so that the request
//! fails.
//!
//! A request is padded to L, so that its serialisation delay on every link equals that of the stream's frames. A
//! request with many intervals may be longer than L; its receiver can compute the additional delay from L and the
//! frame length.

use crate::error::Error;
use crate::ethernet::{EtherType, Ethernet, FCS_BYTES, MacAddress, check_fcs, finish_frame};
use crate::reader::{Reader, put_varint};

/// Message type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReservationKind {
    /// From source to receiver: reserve a slot at each node.
    Request,
    /// Towards the source: the slot has been shifted.
    Update,
    /// Towards the source: all nodes have reserved the slot.
    Ready,
    /// Towards the source: a node has no free slot.
    Fail,
    /// Towards the receiver, from a node that had to release the slot: release the slots of this sequence number.
    Withdraw,
    /// From source to receiver: release the slots of this sequence number and of all earlier ones.
    Release,
}

use ReservationKind::{Fail, Ready, Release, Request, Update, Withdraw};

/// All message types, by (number in the message - 1).
const KINDS: [ReservationKind; 6] = [Request, Update, Ready, Fail, Withdraw, Release];

/// Shifts of a slot for which it would collide with another slot: modulo the window / `divisor`, they are at least
/// `first_ps` and less than `first_ps + length_ps`. Shifts are relative to the slot in the message, so that no common
/// clock is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OccupiedShifts {
    /// First shift, in picoseconds; below 2^48.
    pub first_ps: u64,
    /// Length of the interval of shifts, in picoseconds; below 2^48.
    pub length_ps: u64,
    /// Divisor of the window that yields the modulus; at least 1.
    pub divisor: u16,
}

/// A reservation message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Type of the message.
    pub kind: ReservationKind,
    /// Identifier of the stream.
    pub stream: u64,
    /// Sequence number of the request, counted per stream from 1.
    pub sequence: u32,
    /// Sequence number of the request whose slots are in use while this request is pending; 0 for none.
    pub active: u32,
    /// L: maximum frame length of the stream, at least 64.
    pub frame_bytes: u16,
    /// TW: length of the window, above zero.
    pub window_ps: u64,
    /// Ts: time from the departure of the request to the slot, below the window.
    pub start_ps: u64,
    /// Total shift of the slot: the sum of all ΔTs.
    pub shift_ps: u64,
    /// Shifts that upstream nodes cannot accept; in a fail message, those that the failed node cannot accept.
    pub occupied: Vec<OccupiedShifts>,
}

const VERSION: u8 = 2;

impl Reservation {
    /// First EtherType for local experiments.
    pub const ETHERTYPE: EtherType = EtherType(0x88B5);
    /// Maximum window length that intervals can represent, 281 s.
    pub const MAX_WINDOW_PS: u64 = (1 << 48) - 1;

    /// Parses a complete frame. Returns destination address, source address and message.
    ///
    /// # Errors
    /// If the frame has another EtherType, is damaged, or contains invalid values.
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
            return Err(reader.unexpected("version", 1, version, "2"));
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
        let occupied = Self::parse_intervals(&mut reader, window_ps)?;
        Ok(Reservation { kind, stream, sequence, active, frame_bytes, window_ps, start_ps, shift_ps, occupied })
    }

    fn parse_intervals(reader: &mut Reader<'_>, window_ps: u64) -> Result<Vec<OccupiedShifts>, Error> {
        let mut occupied = Vec::new();
        let mut before = 0;
        for _ in 0..reader.u16("number of divisors")? {
            let divisor = reader.u16("divisor")?;
            if divisor <= before || !window_ps.is_multiple_of(divisor.into()) {
                return Err(reader.unexpected("divisor", 2, divisor, "a divisor of the window, in ascending order"));
            }
            before = divisor;
            let mut first_ps = 0;
            for _ in 0..reader.u16("number of intervals")? {
                first_ps += reader.varint("first shift")?;
                if first_ps > Self::MAX_WINDOW_PS {
                    return Err(reader.unexpected("first shift", 1, first_ps, "less than 281 s"));
                }
                let length_ps = reader.varint("length")?;
                if length_ps > Self::MAX_WINDOW_PS {
                    return Err(reader.unexpected("length", 1, length_ps, "less than 281 s"));
                }
                occupied.push(OccupiedShifts { first_ps, length_ps, divisor });
            }
        }
        occupied.sort_unstable_by_key(in_order);
        Ok(occupied)
    }

    /// Appends the complete frame. A request has the maximum frame length of the stream, or up to `most_bytes` if its
    /// intervals need more; intervals that do not fit are omitted. Other messages contain as many intervals as a
    /// request would.
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
        let room = usize::from(self.frame_bytes.max(most_bytes)).saturating_sub(out.len() - start + FCS_BYTES);
        out.extend_from_slice(&intervals(&self.occupied, room));
        if self.kind == Request {
            out.resize(out.len().max(start + usize::from(self.frame_bytes) - FCS_BYTES), 0);
        }
        finish_frame(out, start);
    }
}

/// Encodes as many intervals, from the first one on, as fit into `room_bytes`. If none fits, encodes an empty list.
fn intervals(occupied: &[OccupiedShifts], room_bytes: usize) -> Vec<u8> {
    let all = encoded(occupied);
    if all.len() <= room_bytes {
        return all;
    }
    // Binary search for the longest prefix that fits.
    let (mut fit, mut too_many) = (0, occupied.len());
    while too_many - fit > 1 {
        let some = fit.midpoint(too_many);
        let fits = encoded(&occupied[..some]).len() <= room_bytes;
        (fit, too_many) = if fits { (some, too_many) } else { (fit, some) };
    }
    encoded(&occupied[..fit])
}

/// Sort key of the intervals in a message.
fn in_order(one: &OccupiedShifts) -> (u16, u64, u64) {
    (one.divisor, one.first_ps, one.length_ps)
}

fn encoded(occupied: &[OccupiedShifts]) -> Vec<u8> {
    let mut sorted = occupied.to_vec();
    sorted.sort_unstable_by_key(in_order);
    let groups = || sorted.chunk_by(|a, b| a.divisor == b.divisor);
    let mut bytes = (groups().count() as u16).to_be_bytes().to_vec();
    for group in groups() {
        bytes.extend_from_slice(&group[0].divisor.to_be_bytes());
        bytes.extend_from_slice(&(group.len() as u16).to_be_bytes());
        let mut before_ps = 0;
        for one in group {
            put_varint(&mut bytes, one.first_ps - before_ps);
            put_varint(&mut bytes, one.length_ps);
            before_ps = one.first_ps;
        }
    }
    bytes
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
    fn the_error_of_another_version_names_the_version_of_this_format() {
        let error = Reservation::parse_message(&[1, 1]).unwrap_err().to_string();
        assert!(error.contains("version") && error.contains(&VERSION.to_string()), "{error}");
    }

    #[test]
    fn comes_back_as_it_was_and_a_request_is_as_long_as_the_frames() {
        for kind in KINDS {
            let message = Reservation { kind, ..message() };
            let mut frame = Vec::new();
            message.emit(A, B, 0, &mut frame);
            assert_eq!(frame.len(), if kind == Request { 600 } else { 64 + 4 + 1 + 7 });
            assert_eq!(Reservation::parse(&frame), Ok((A, B, message)));
        }
    }

    #[test]
    fn intervals_without_room_are_left_out() {
        // A divisor and its number of intervals take 4 bytes, each of these intervals 3 bytes (its length of 200 is a
        // varint of two bytes).
        for (frame_bytes, room) in [(64, 0), (68, 0), (71, 1), (73, 1), (74, 2), (600, 50)] {
            let occupied = vec![OccupiedShifts { first_ps: 0, length_ps: 200, divisor: 1 }; 50];
            let mut frame = Vec::new();
            let message = Reservation { frame_bytes, occupied, ..message() };
            message.emit(A, B, 0, &mut frame);
            assert_eq!(frame.len(), usize::from(frame_bytes));
            assert_eq!(Reservation::parse(&frame).unwrap().2.occupied.len(), room, "{frame_bytes}");
            // With a limit of 1518 bytes, the frame has the length that its intervals need.
            frame.clear();
            message.emit(A, B, 1518, &mut frame);
            assert_eq!(frame.len(), usize::from(frame_bytes).max(64 + 4 + 50 * 3));
            assert_eq!(Reservation::parse(&frame).unwrap().2, message);
        }
    }

    #[test]
    fn what_has_room_is_what_came_first() {
        let one = |first_ps, divisor| OccupiedShifts { first_ps, length_ps: 1, divisor };
        let occupied = vec![one(900, 5), one(30, 1), one(500, 5), one(20, 1)];
        let sent = |frame_bytes: u16| {
            let mut frame = Vec::new();
            Reservation { frame_bytes, occupied: occupied.clone(), ..message() }.emit(A, B, 0, &mut frame);
            Reservation::parse(&frame).unwrap().2.occupied
        };
        assert_eq!(sent(64), []);
        assert_eq!(sent(64 + 7), [one(900, 5)]);
        assert_eq!(sent(64 + 13), [one(30, 1), one(900, 5)]);
        assert_eq!(sent(64 + 16), [one(30, 1), one(500, 5), one(900, 5)]);
        assert_eq!(sent(64 + 18), [one(20, 1), one(30, 1), one(500, 5), one(900, 5)]);
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
        refused(14, &[1], "version");
        refused(15, &[0], "kind");
        refused(15, &[7], "kind");
        refused(16, &[0, 63], "longest frame");
        refused(34, &[0; 8], "window");
        refused(34, &[1; 8], "window");
        refused(42, &[1; 8], "Ts");
        refused(50, &[0xFF; 8], "shift");
        // The message announces more divisors than it contains, and its padding is no valid divisor.
        refused(58, &[0xFF; 2], "divisor");
        refused(60, &[0, 0], "divisor");
        refused(60, &[0, 7], "divisor");
        refused(64, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], "first shift");
        refused(64, &[0x80; 8], "first shift");
        refused(65, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], "length");
    }
}
