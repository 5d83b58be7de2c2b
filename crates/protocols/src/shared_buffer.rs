//! Scenario parameters of the buffer that all ports of a switch share; implemented in `model`.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter};

/// Description of the shared buffer.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "shared-buffer",
    family: Family::Buffer,
    title: "one memory for all ports, with thresholds that follow what is free",
    source: "Choudhury and Hahne, 1998",
    parameters: &[
        Parameter {
            key: "buffer",
            default: Value("16MB"),
            meaning: "one buffer for all ports, headroom included; instead of it, switch.queue gives each egress queue \
                      room of its own",
            source: "choice of this project: what single-chip switches of 3.2 Tbps hold",
        },
        Parameter {
            key: "egress",
            default: Value("1"),
            meaning: "the most that an egress queue of a lossy class may hold: bytes, or a share (alpha), such as 1/8, \
                      of the free buffer",
            source: "Choudhury and Hahne, 1998",
        },
    ],
};
