//! Scenario parameters of the buffer that all ports of a switch share. The crate `model` implements the buffer.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};

/// Description of the mechanism and its parameters.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "shared-buffer",
    family: Family::Buffer,
    title: "one buffer for all ports, with thresholds proportional to the free part",
    source: "Choudhury and Hahne, 1998",
    parameters: &[
        Parameter {
            key: "buffer",
            syntax: Syntax::SIZE,
            default: Value("16MB"),
            meaning: "one buffer for all ports, headroom included; alternative: switch.queue, a limit per egress queue",
            source: "choice of this project: the size in single-chip switches of 3.2 Tbps",
        },
        Parameter {
            key: "egress",
            syntax: Syntax::THRESHOLD,
            default: Value("1"),
            meaning: "limit of an egress queue of a lossy class: bytes, or a share (alpha), such as 1/8, of the free \
                      buffer",
            source: "Choudhury and Hahne, 1998",
        },
    ],
};
