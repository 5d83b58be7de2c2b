//! Scenario parameters of the buffer that all ports of a switch share. The crate `model` implements the buffer.

use crate::limits::Threshold;
use crate::parameters::parameters;
use crate::settings::require;

parameters! {
    /// Parameters of a shared buffer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SharedBufferParameters: Buffer "shared-buffer" {
        title: "one buffer for all ports, with thresholds proportional to the free part";
        source: "Choudhury and Hahne, 1998";
        /// Size, headroom included.
        bytes: u64 = "buffer" bytes, default "16MB",
            "one buffer for all ports, headroom included; alternative: switch.queue, a limit per egress queue",
            "choice of this project: the size in single-chip switches of 3.2 Tbps";
        /// Limit of the egress queue of a lossy class.
        egress: Threshold = "egress_threshold" threshold, default "1",
            "limit of an egress queue of a lossy class: bytes, or a share (alpha), such as 1/8, of the free buffer",
            "Choudhury and Hahne, 1998";
    }
    check(parameters) {
        // Counters of the buffer have 32 bits.
        [require((1..=u64::from(u32::MAX)).contains(&parameters.bytes), "buffer", "a size from 1B to 4GB")]
    }
}
