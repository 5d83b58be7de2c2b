//! What a switch does by itself, as users meet it. `model` decides it; these are the words for it.

use crate::describe::{Family, Mechanism, Parameter};

/// A buffer that all ports share.
pub const SHARED_BUFFER: Mechanism = Mechanism {
    kind: "shared-buffer",
    family: Family::Buffer,
    title: "one memory for all ports, with thresholds that follow what is free",
    source: "Choudhury and Hahne, 1998",
    parameters: &[
        Parameter {
            key: "buffer",
            default: "16MB",
            meaning: "all of the memory, headroom included; instead of it, `switch.queue` gives each egress queue room of \
                      its own",
            source: "choice of this project",
        },
        Parameter {
            key: "egress",
            default: "1",
            meaning: "the most that an egress queue of a lossy class may hold: a size, or a share (alpha) of the free buffer",
            source: "Choudhury and Hahne, 1998",
        },
    ],
};

/// A frame that finds no room is lost.
pub const DROP: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "a frame that finds no room is lost",
    source: "tail drop",
    parameters: &[],
};

/// The highest class first.
pub const STRICT: Mechanism = Mechanism {
    kind: "strict",
    family: Family::Scheduler,
    title: "the highest class that may send goes first",
    source: "IEEE 802.1Q-2022, 8.6.8.1",
    parameters: &[],
};

/// Frames by turns.
pub const WRR: Mechanism = Mechanism {
    kind: "wrr",
    family: Family::Scheduler,
    title: "classes take turns, a number of frames each",
    source: "weighted round robin",
    parameters: &[Parameter {
        key: "weights",
        default: "",
        meaning: "frames of each class a round: eight numbers, or a table of class and number; a table leaves 1 to the others",
        source: "required: what classes are worth is the operator's choice",
    }],
};

/// Bytes by turns.
pub const DRR: Mechanism = Mechanism {
    kind: "drr",
    family: Family::Scheduler,
    title: "classes take turns, a number of bytes each",
    source: "Shreedhar and Varghese, 1996",
    parameters: &[Parameter {
        key: "quanta",
        default: "",
        meaning: "bytes of each class a round: eight sizes, or a table of class and size; a table leaves 1518B to the others",
        source: "required: what classes are worth is the operator's choice",
    }],
};
