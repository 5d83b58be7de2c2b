//! Packet trimming: a switch removes the payload of a frame that does not fit its queue, and forwards or returns the
//! header. The header reports the loss to the receiver or the sender at once.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Mechanism, Parameter, Syntax, extended};
use crate::frame::{Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::limits::QueueLimit;
use crate::parameters::{Parameters, parameters};
use crate::settings::require;

/// Destination of the headers of trimmed frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HeaderDestination {
    /// Headers are enqueued in the queue of the header class (NDP).
    #[default]
    OwnQueue,
    /// Headers are enqueued in the queue of the trimmed frame (cut payload).
    SameQueue,
    /// Headers are returned to the source of the trimmed frame (SFC).
    Source,
}

/// Frame that is trimmed if the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Victim {
    /// The arriving frame.
    #[default]
    Arriving,
    /// The last frame in the queue.
    Tail,
    /// The arriving frame or the last frame in the queue, each with probability one half.
    Coin,
}

/// Treatment of a header that does not fit its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HeaderFull {
    /// The header is returned to its source.
    #[default]
    Return,
    /// The header is dropped.
    Drop,
}

const HEADER_QUEUE_SYNTAX: Syntax = Syntax::other("a size or a number of packets", "\"100KB\"");
pub(crate) const HEADER_QUEUE: Parameter = Parameter {
    key: "header_queue",
    syntax: HEADER_QUEUE_SYNTAX,
    default: Absent("1MB with switch.queue"),
    meaning: "limit of the header queue, in addition to switch.queue; in a shared buffer, the limit of lossy queues",
    source: "not given in the trimming paper's simulations; NDP, section 3.1: as much memory as data",
};
const TIERS: Parameter = Parameter {
    key: "tiers",
    syntax: Syntax::other("all or a list of tiers", "[1]"),
    default: Value("all"),
    meaning: "the tiers of switches that trim: 1 ToR or leaf, 2 aggregation or spine, 3 core; the others drop",
    source: "choice of this project",
};

parameters! {
    /// Parameters of a switch that trims. By default, switches of all tiers trim all classes except the class of
    /// headers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TrimParameters: Overload "trim" {
        title: "NDP: the payload is cut, the header is forwarded in its own queue";
        source: "Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance \
            (NDP, SIGCOMM 2017); Popa et al., Implementing packet trimming support in hardware";
        /// Frame length of a trimmed frame in bytes, at least [`crate::frame::MIN_FRAME_BYTES`].
        size_bytes: u16 = "size" frame_bytes, default "64B",
            "length of a trimmed frame, FCS included: at least its headers, and less than the largest frame; frames \
             of at most this length are not trimmed",
            "NDP's header in the trimming paper's simulations; SONiC 128 B and more, depending on the chip";
        /// Traffic class of headers.
        header_class: u8 = "header_class" class, default "7",
            "class of headers, 0 to 7; switch.scheduler determines its priority",
            "NDP, section 3.1: a queue of higher priority; the number is a choice of this project";
        /// Frame that is trimmed if the queue is full.
        victim: Victim = "victim"
            word["arriving" = Victim::Arriving, "tail" = Victim::Tail, "coin" = Victim::Coin],
            default "arriving",
            "the frame that is trimmed: the one without buffer space (arriving), the youngest in the queue (tail), or \
             either with probability one half (coin)",
            "arriving: the trimming paper; coin: NDP, section 3.1, against phase effects";
        /// Treatment of a header that does not fit its queue.
        full: HeaderFull = "header_full"
            word["return" = HeaderFull::Return, "drop" = HeaderFull::Drop],
            default "return",
            "action for a header without buffer space: return to its source (return), or loss as `header queue full` \
             (drop)",
            "NDP, section 3.2.4 (return to sender); SONiC drops";
        /// Queue length from which frames are trimmed; `None`: only frames that do not fit the queue are trimmed.
        watermark: Option<QueueLimit> = "watermark" queue_limit, absent "a full queue",
            "queue length from which frames return as headers, at most switch.queue",
            "the trimming paper, section 2: when the queue exceeds a threshold, without a value";
        /// Bitmask of the classes that are trimmed.
        classes: u8 = "priorities" classes, absent "all lossy classes" = 0x7f,
            "the trimmed classes, 0 to 7",
            "SONiC: lossy queues only";
    }
    also [HEADER_QUEUE, TIERS]
    beside {
        /// Destination of the headers of trimmed frames.
        scheme: HeaderDestination = HeaderDestination::OwnQueue;
        /// Bitmask of the tiers whose switches trim.
        tiers: u8 = 0xff;
    }
    check(parameters) {
        let wanted = "\"64B\" or more: headers alone are longer, and the shortest Ethernet frame has 64B";
        [require(parameters.size_bytes >= MIN_FRAME_BYTES, "size", wanted)]
    }
}

impl Default for TrimParameters {
    fn default() -> Self {
        Self::read(&[]).expect("the declared defaults are valid")
    }
}

/// Description of NDP's trimming, without the watermark, which only [`SFC`] has.
pub const TRIM: Mechanism = Mechanism {
    parameters: &extended::<{ MECHANISM.parameters.len() - 1 }>(MECHANISM.parameters, &["watermark"], &[], &[]),
    ..MECHANISM
};

/// Description of cut payload (CP).
pub const CUT_PAYLOAD: Mechanism = Mechanism {
    kind: "cut-payload",
    title: "CP: the payload is cut, the header stays in the queue",
    source: "Cheng et al., Catch the Whole Lot in an Action: Rapid Precise Packet Loss Notification in Data Centers \
             (NSDI 2014)",
    parameters: &{
        const QUEUE: Parameter = Parameter {
            key: "header_queue",
            syntax: HEADER_QUEUE_SYNTAX,
            default: Absent("1MB with switch.queue"),
            meaning: "limit of a queue including headers, while switch.queue limits data; in a shared buffer headers \
                      count as lossy frames",
            source: "choice of this project: the paper's headers are small enough to ignore",
        };
        let without = ["header_class", "victim", "header_full", "watermark", "header_queue"];
        extended::<{ MECHANISM.parameters.len() - 4 }>(MECHANISM.parameters, &without, &[], &[QUEUE])
    },
    ..MECHANISM
};

/// Description of source flow control (SFC).
pub const SFC: Mechanism = Mechanism {
    kind: "sfc",
    title: "SFC: above a watermark the payload is cut, and the header returns to its source",
    source: "Lee et al., Source Priority Flow Control towards Source Flow Control (IETF 112, ICCRG); IEEE P802.1Qdw; \
             Popa et al., Implementing packet trimming support in hardware",
    parameters: &{
        let without = ["victim", "header_full"];
        extended::<{ MECHANISM.parameters.len() - 2 }>(MECHANISM.parameters, &without, &[], &[])
    },
    ..MECHANISM
};

impl TrimParameters {
    /// Class of the queue in which the header of a frame of `class` is enqueued.
    #[inline]
    pub fn class_of_header(&self, class: u8) -> u8 {
        if self.scheme == HeaderDestination::SameQueue { class } else { self.header_class }
    }

    /// Whether headers are enqueued in the queue of `class`.
    #[inline]
    pub fn headers_wait_in(&self, class: u8) -> bool {
        if self.scheme == HeaderDestination::SameQueue {
            self.classes & (1 << class) != 0
        } else {
            class == self.header_class
        }
    }

    /// Whether `frame`, in the queue of `class`, may use the buffer reserved for headers.
    #[inline]
    pub fn counts_as_header(&self, class: u8, frame: &Frame) -> bool {
        self.headers_wait_in(class)
            && (self.scheme != HeaderDestination::SameQueue || frame.size_bytes <= self.size_bytes)
    }

    /// Whether a queue with `frames` frames and `bytes` bytes has reached the watermark, so that arriving frames are
    /// trimmed.
    #[inline]
    pub fn is_past_watermark(&self, frames: usize, bytes: u64) -> bool {
        match self.watermark {
            None => false,
            Some(QueueLimit::Packets(least)) => frames >= least as usize,
            Some(QueueLimit::Bytes(least)) => bytes >= least,
        }
    }

    /// Whether `frame` can be trimmed: it is a data frame of a trimmed class and longer than a trimmed frame.
    #[inline]
    pub fn can_cut(&self, frame: &Frame) -> bool {
        frame.kind == Kind::Data && frame.size_bytes > self.size_bytes && self.classes & (1 << frame.class) != 0
    }

    /// Returns the trimmed form of the data frame `frame`.
    pub fn cut(&self, frame: &Frame) -> Frame {
        let class = self.class_of_header(frame.class);
        Frame { kind: Kind::Trimmed, size_bytes: self.size_bytes, class, ..*frame }
    }
}

/// Returns the header `frame` for its return to the source: with source and destination exchanged.
pub fn give_back(frame: &Frame) -> Frame {
    // The explicit path is that to the destination, so that it cannot be used for the return.
    let flags = frame.flags & !flags::EXPLICIT_PATH;
    Frame { kind: Kind::Returned, src: frame.dst, dst: frame.src, flags, ..*frame }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_remembers_what_it_lost_and_finds_its_way_back() {
        let trim = TrimParameters { header_class: 6, classes: 1, ..TrimParameters::default() };
        let frame =
            Frame { seq: 3000, flow: 9, src: 1, dst: 2, size_bytes: 1518, payload_bytes: 1460, ..<_>::default() };
        assert!(trim.can_cut(&frame));
        let header = trim.cut(&frame);
        assert_eq!((header.kind, header.size_bytes, header.class), (Kind::Trimmed, 64, 6));
        assert_eq!((header.seq, header.payload_bytes, header.flow, header.dst), (3000, 1460, 9, 2));
        let back = give_back(&header);
        assert_eq!((back.kind, back.src, back.dst, back.flow), (Kind::Returned, 2, 1, 9));
        // Frames that are never trimmed: headers, frames without payload, frames of other classes, frames of minimum
        // length.
        for other in [header, back, Frame { kind: Kind::Ack, ..frame }, Frame { class: 1, ..frame }] {
            assert!(!trim.can_cut(&other), "{other:?}");
        }
        assert!(!trim.can_cut(&Frame { size_bytes: 64, ..frame }));
        let same = TrimParameters { scheme: HeaderDestination::SameQueue, ..trim };
        assert_eq!(same.cut(&frame).class, 0);
        assert!(same.counts_as_header(0, &same.cut(&frame)) && !same.counts_as_header(0, &frame));
        assert!(!same.headers_wait_in(6) && trim.headers_wait_in(6) && !trim.headers_wait_in(0));
    }

    #[test]
    fn a_watermark_counts_what_waits() {
        let with = |watermark| TrimParameters { watermark, ..TrimParameters::default() };
        let packets = with(Some(QueueLimit::Packets(3)));
        assert!(packets.is_past_watermark(3, 0) && !packets.is_past_watermark(2, 1 << 20));
        let bytes = with(Some(QueueLimit::Bytes(4000)));
        assert!(bytes.is_past_watermark(0, 4000) && !bytes.is_past_watermark(9, 3999));
        assert!(!with(None).is_past_watermark(usize::MAX, u64::MAX));
    }
}
