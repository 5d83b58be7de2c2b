//! EQDS-style credit: NDP in which senders announce their backlog to the receiver (Olteanu et al., NSDI 2022).
//!
//! Every data packet announces the backlog of its sender. The receiver grants credit for this backlog, flow by flow
//! at the rate of its port, up to a limit of credit beyond the received data. A packet sent without credit
//! (speculatively) and trimmed is granted again. The documentation page of the mechanism lists the simplifications
//! against EQDS.

use crate::parameters::parameters;
use crate::settings::{ParameterError, require};

parameters! {
    /// The parameters that EQDS adds to those of NDP. Pulls are separate frames, and early pulls always count.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct EqdsParameters: Transport "eqds" {
        title: "EQDS-style credit: a receiver grants what senders announce";
        source: "Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI 2022";
        over: crate::ndp::parameters::MECHANISM, without ["early_pulls", "pulls"];
        /// Maximum credit per control frame, in packets.
        quantum: u32 = "quantum" count, default "1",
            "largest credit of a control frame in packets, at least 1; the port's pacer sends the next one after \
             their time at line rate",
            "the EQDS model of the csg-htsim simulator grants one MTU at a time";
        /// Limit of the credit beyond the received data, as a share of the initial window, 0 to 1.
        ahead: f64 = "ahead" share, default "50%",
            "outstanding credit beyond one per arrival, as a share of the initial window, 0 to 1; 0: one credit per \
             arrival, like NDP's pulls",
            "choice of this project; EQDS bounds the requests of a sender by a maximal window";
    }
}

impl EqdsParameters {
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        require(self.quantum > 0, "quantum", "a control frame grants at least 1 packet")
    }

    /// Returns the limit of the credit beyond the received data, in packets, for an initial window of `window`
    /// packets.
    pub(crate) fn ahead(&self, window: u16) -> u64 {
        (f64::from(window) * self.ahead) as u64
    }
}
