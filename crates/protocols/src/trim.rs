//! Trimming: a frame that finds no room loses its payload and keeps its header, which tells its receiver, or its
//! sender, at once what is missing.

use crate::describe::{Family, Mechanism, Parameter};
use crate::frame::{Frame, Kind, flags};

/// Trimming as users meet it.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "trim",
    family: Family::Overload,
    title: "trim: the payload is cut, the header goes on in a queue of its own",
    source: "Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance (NDP, SIGCOMM 2017); Popa et al., Implementing packet trimming support in hardware",
    parameters: &[
        Parameter {
            key: "size",
            default: "64B",
            meaning: "length of what is left of a frame, FCS included; a frame that is no longer than this is dropped",
            source: "NDP's header as the trimming paper's simulations have it; SONiC 128 B and more, as the chip allows",
        },
        Parameter {
            key: "header_class",
            default: "7",
            meaning: "the class in whose queue headers wait, 0 to 7; the scheduler says what priority that is",
            source: "NDP, section 3.1: a queue of higher priority; the number is a choice of this project",
        },
        Parameter {
            key: "header_queue",
            default: "1MB",
            meaning: "room of that queue, beside switch.queue; a shared buffer gives it what it gives any lossy queue",
            source: "what the trimming paper's simulations leave open; NDP, section 3.1 gives headers as much memory as data",
        },
        Parameter {
            key: "victim",
            default: "arriving",
            meaning: "which payload is cut: that of the frame that finds no room (arriving), that of the youngest in the queue (tail), or either with probability one half (coin)",
            source: "arriving: the trimming paper; coin: NDP, section 3.1, against phase effects",
        },
        Parameter {
            key: "header_full",
            default: "return",
            meaning: "what becomes of a header that finds no room: it goes back to its source (return), or is lost as `header queue full` (drop)",
            source: "NDP, section 3.2.4 (return to sender); SONiC drops",
        },
        Parameter {
            key: "priorities",
            default: "all that no flow control owns",
            meaning: "the classes whose frames are trimmed, a list of 0 to 7",
            source: "SONiC: lossy queues only",
        },
    ],
};

/// Which payload is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Victim {
    /// Of the frame that finds no room.
    #[default]
    Arriving,
    /// Of the youngest frame in the queue.
    Tail,
    /// Of either, with probability one half.
    Coin,
}

/// What becomes of a header that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HeaderFull {
    /// It goes back to its source.
    #[default]
    Return,
    /// It is lost.
    Drop,
}

/// What a switch that trims goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimParameters {
    /// What is left of a frame, at least [`crate::frame::MIN_FRAME_BYTES`].
    pub size_bytes: u16,
    /// The class of headers.
    pub header_class: u8,
    /// Which payload is cut.
    pub victim: Victim,
    /// What becomes of a header without room.
    pub full: HeaderFull,
    /// The classes whose frames are trimmed, a bit each.
    pub classes: u8,
}

impl TrimParameters {
    /// Whether `frame` has something to cut.
    #[inline]
    pub fn can_cut(&self, frame: &Frame) -> bool {
        frame.kind == Kind::Data && frame.size_bytes > self.size_bytes && self.classes & (1 << frame.class) != 0
    }

    /// What is left of `frame`, a data frame.
    pub fn cut(&self, frame: &Frame) -> Frame {
        Frame { kind: Kind::Trimmed, size_bytes: self.size_bytes, class: self.header_class, ..*frame }
    }
}

/// The header `frame`, on its way back to its source.
pub fn give_back(frame: &Frame) -> Frame {
    // An explicit path leads to the destination only.
    let flags = frame.flags & !flags::EXPLICIT_PATH;
    Frame { kind: Kind::Returned, src: frame.dst, dst: frame.src, flags, ..*frame }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_remembers_what_it_lost_and_finds_its_way_back() {
        let trim = TrimParameters {
            size_bytes: 64,
            header_class: 6,
            victim: Victim::Arriving,
            full: HeaderFull::Return,
            classes: 1,
        };
        let frame =
            Frame { seq: 3000, flow: 9, src: 1, dst: 2, size_bytes: 1518, payload_bytes: 1460, ..<_>::default() };
        assert!(trim.can_cut(&frame));
        let header = trim.cut(&frame);
        assert_eq!((header.kind, header.size_bytes, header.class), (Kind::Trimmed, 64, 6));
        assert_eq!((header.seq, header.payload_bytes, header.flow, header.dst), (3000, 1460, 9, 2));
        let back = give_back(&header);
        assert_eq!((back.kind, back.src, back.dst, back.flow), (Kind::Returned, 2, 1, 9));
        // Nothing is cut twice, nothing from what has no payload to lose, nothing from other classes.
        for other in [header, back, Frame { kind: Kind::Ack, ..frame }, Frame { class: 1, ..frame }] {
            assert!(!trim.can_cut(&other), "{other:?}");
        }
        assert!(!trim.can_cut(&Frame { size_bytes: 64, ..frame }));
    }
}
