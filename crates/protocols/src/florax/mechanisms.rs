//! Descriptions of the three schemes.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter};
use crate::partial::{EXCEPT, TIERS};
use crate::pause::REACTION;

const NO_NUMBER: &str = "choice of this project: the FLORAX paper gives no number";

const UPPER: Parameter = Parameter {
    key: "upper",
    default: Value("0.5"),
    meaning: "share of a port's buffer (switch.queue) above which it stops others, 0 to 1, above `lower`",
    source: NO_NUMBER,
};
const LOWER: Parameter = Parameter {
    key: "lower",
    default: Value("0.25"),
    meaning: "share of a port's buffer below which everybody may go on, above 0",
    source: NO_NUMBER,
};
const BURST_GAP: Parameter = Parameter {
    key: "burst_gap",
    default: Value("10ms"),
    meaning: "silence after which a burst is over and a flow no longer counts, above 0",
    source: NO_NUMBER,
};
const EXPIRY: Parameter = Parameter {
    key: "expiry",
    default: Value("20ms"),
    meaning: "how long an XOFF lasts without an XON, above 0; longer than a full buffer takes to drain",
    source: "FLORAX, section 4.2.2: a hedge against lost XONs, so normally the XON is first; the number is ours",
};
const FLOWS: Parameter = Parameter {
    key: "flows",
    default: Value("4096"),
    meaning: "entries of a port's flow table, at least 1; what finds no place is stopped without being remembered",
    source: "choice of this project: address tables of the paper's time",
};

/// FLORAX.
pub const FLORAX: Mechanism = Mechanism {
    kind: "florax",
    family: Family::FlowControl,
    title: "backpressure by flow: whoever sends more than its fair share slows down, hop by hop",
    source: "Lee, Coleri, Dong, Ergen: FLORAX, Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x",
    parameters: &[
        UPPER,
        LOWER,
        Parameter {
            key: "max_upper",
            default: Value("0.8"),
            meaning: "share of a port's buffer above which every flow is blocked, from `upper` to 1",
            source: "FLORAX, section 4.2.2: against overflow, so what is on its way must fit above it; the number is \
                     ours",
        },
        Parameter {
            key: "raise",
            default: Value("0.1"),
            meaning: "share of `upper` by which it rises, up to `max_upper`, when flows were stopped, until they may \
                      go on",
            source: "choice of this project: FLORAX, section 4.2.2, resets the upper threshold, so something raises it",
        },
        BURST_GAP,
        EXPIRY,
        Parameter {
            key: "grace",
            default: Value("auto"),
            meaning: "how long after an XOFF a flow's excess still passes; auto is the link's round trip and three \
                      frames",
            source: "choice of this project: the paper drops what comes despite an XOFF, and does not say from when on",
        },
        FLOWS,
        EXCEPT,
        TIERS,
    ],
};

/// Backpressure by destination.
pub const DESTINATION: Mechanism = Mechanism {
    kind: "destination",
    family: Family::FlowControl,
    title: "backpressure by destination: who sends to where a queue is long stops, hop by hop",
    source: "Noureddine, Tobagi: Selective Backpressure in Switched Ethernet LANs, 1999, as FLORAX compares with it",
    parameters: &[UPPER, LOWER, BURST_GAP, EXPIRY, FLOWS, EXCEPT, TIERS],
};

/// 802.3x PAUSE with a decision at the output.
pub const PAUSE_AT_OUTPUT: Mechanism = Mechanism {
    kind: "pause-at-output",
    family: Family::FlowControl,
    title: "802.3x PAUSE decided at the output: every port that feeds a long queue is stopped",
    source: "IEEE 802.3-2018 annex 31B; the decision as FLORAX, section 1, describes it",
    parameters: &[
        UPPER,
        LOWER,
        BURST_GAP,
        Parameter {
            key: "expiry",
            default: Value("auto"),
            meaning: "how long a PAUSE lasts without a resume, above 0; auto is 65535 quanta of a switch's fastest \
                      link, told again at half time while the port is long",
            source: "IEEE 802.3 annex 31B.2: the longest pause",
        },
        REACTION,
        EXCEPT,
        TIERS,
    ],
};
