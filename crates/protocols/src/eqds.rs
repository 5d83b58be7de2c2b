//! EQDS-style credit: NDP with a receiver that has each sender's backlog (Olteanu et al., NSDI 2022).
//!
//! Every data packet announces the backlog of its sender. A receiver grants credit for it, flow by flow, paced by its
//! port, and up to a bound ahead of the received data. Speculative packets that were trimmed are granted again. The
//! mechanism's page lists the simplifications against EQDS.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter};
use crate::ndp::parameters::{CONTROL, HEADER, INITIAL_WINDOW, PAYLOAD, TIMEOUT};
use crate::settings::{self, ParameterError, require};

/// Description of EQDS.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "eqds",
    family: Family::Transport,
    title: "EQDS-style credit: a receiver grants what senders announce",
    source: "Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI 2022",
    parameters: &[
        PAYLOAD,
        HEADER,
        CONTROL,
        INITIAL_WINDOW,
        TIMEOUT,
        Parameter {
            key: "quantum",
            default: Value("1"),
            meaning: "packets of credit that a control frame grants at most, at least 1; the next turn of the port's \
                      pacer comes when they have had their time",
            source: "the EQDS model of the csg-htsim simulator grants one MTU at a time",
        },
        Parameter {
            key: "ahead",
            default: Value("50%"),
            meaning: "credit that may be out beyond one for each arrival, as a share of the initial window, 0 to 1: \
                      with 0 credit follows arrivals as NDP's pulls do",
            source: "our choice; EQDS bounds what a sender may ask for by a maximal window",
        },
    ],
};

/// Parameters of EQDS beside those of NDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqdsParameters {
    /// Packets of credit per control frame.
    pub quantum: u32,
    /// Bound of the credit ahead of received data, as a share of the window, 0 to 1.
    pub ahead: f64,
}

impl Default for EqdsParameters {
    fn default() -> Self {
        EqdsParameters { quantum: 1, ahead: 0.5 }
    }
}

impl EqdsParameters {
    pub(crate) fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "quantum" => self.quantum = settings::count(key, text)?,
            "ahead" => self.ahead = settings::share(key, text)?,
            _ => return Err(settings::unknown(&MECHANISM, key)),
        }
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        require(self.quantum > 0, "quantum", "a control frame grants at least 1 packet")
    }

    /// The bound in packets, for a window of `window` packets.
    pub(crate) fn ahead(&self, window: u16) -> u64 {
        (f64::from(window) * self.ahead) as u64
    }
}
