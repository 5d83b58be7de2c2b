//! EQDS-style credit: NDP with a receiver that has each sender's backlog (Olteanu et al., NSDI 2022).
//!
//! Every data packet announces the backlog of its sender. A receiver grants credit for it, flow by flow, paced by its
//! port, and up to a bound ahead of the received data. Speculative packets that were trimmed are granted again. The
//! mechanism's page lists the simplifications against EQDS.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
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
            syntax: Syntax::TEXT,
            default: Value("1"),
            meaning: "largest credit of a control frame in packets, at least 1; the port's pacer sends the next one \
                      after their time at line rate",
            source: "the EQDS model of the csg-htsim simulator grants one MTU at a time",
        },
        Parameter {
            key: "ahead",
            syntax: Syntax::TEXT,
            default: Value("50%"),
            meaning: "outstanding credit beyond one per arrival, as a share of the initial window, 0 to 1; 0: one \
                      credit per arrival, like NDP's pulls",
            source: "choice of this project; EQDS bounds the requests of a sender by a maximal window",
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
