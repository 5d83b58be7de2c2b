//! Descriptions of the three schemes.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::partial::{EXCEPT, TIERS};
use crate::pause::REACTION;

const NO_NUMBER: &str = "choice of this project: no value in the FLORAX paper";

const UPPER: Parameter = Parameter {
    key: "upper",
    syntax: Syntax::TEXT,
    default: Value("0.5"),
    meaning: "share of a port's buffer (switch.queue) above which senders are stopped, 0 to 1, above `lower`",
    source: NO_NUMBER,
};
const LOWER: Parameter = Parameter {
    key: "lower",
    syntax: Syntax::TEXT,
    default: Value("0.25"),
    meaning: "share of a port's buffer below which all stopped traffic resumes, above 0",
    source: NO_NUMBER,
};
const BURST_GAP: Parameter = Parameter {
    key: "burst_gap",
    syntax: Syntax::TEXT,
    default: Value("10ms"),
    meaning: "idle time after which a burst ends and a flow is no longer counted, above 0",
    source: NO_NUMBER,
};
const EXPIRY: Parameter = Parameter {
    key: "expiry",
    syntax: Syntax::TEXT,
    default: Value("20ms"),
    meaning: "duration of an XOFF without an XON, above 0; longer than the time to drain a full buffer",
    source: "FLORAX, section 4.2.2: a protection against lost XONs, so normally the XON is first; the value is a \
             choice of this project",
};
const FLOWS: Parameter = Parameter {
    key: "flows",
    syntax: Syntax::TEXT,
    default: Value("4096"),
    meaning: "entries of a port's flow table, at least 1; further flows are stopped without an entry",
    source: "choice of this project: address tables of the paper's time",
};

/// FLORAX.
pub const FLORAX: Mechanism = Mechanism {
    kind: "florax",
    family: Family::FlowControl,
    title: "backpressure per flow: flows above their fair share are slowed down, hop by hop",
    source: "Lee, Coleri, Dong, Ergen: FLORAX, Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x",
    parameters: &[
        UPPER,
        LOWER,
        Parameter {
            key: "max_upper",
            syntax: Syntax::TEXT,
            default: Value("0.8"),
            meaning: "share of a port's buffer above which every flow is blocked, from `upper` to 1",
            source: "FLORAX, section 4.2.2: against overflow, so frames in flight must fit above it; the value is a \
                     choice of this project",
        },
        Parameter {
            key: "raise",
            syntax: Syntax::TEXT,
            default: Value("0.1"),
            meaning: "rise of the upper threshold, as a share of `upper`, after each decision that sends an XOFF, up \
                      to `max_upper`; below `lower` it falls back to `upper`",
            source: "choice of this project: FLORAX, section 4.2.2, resets the upper threshold, so it must have been \
                     raised",
        },
        BURST_GAP,
        EXPIRY,
        Parameter {
            key: "grace",
            syntax: Syntax::TEXT,
            default: Value("auto"),
            meaning: "time after an XOFF in which a flow's excess still passes; auto is the link's round trip and \
                      three frames",
            source: "choice of this project: the paper drops frames received despite an XOFF, without a start time",
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
    title: "backpressure per destination: traffic to a congested destination is stopped, hop by hop",
    source: "Noureddine, Tobagi: Selective Backpressure in Switched Ethernet LANs, 1999, as FLORAX compares with it",
    parameters: &[UPPER, LOWER, BURST_GAP, EXPIRY, FLOWS, EXCEPT, TIERS],
};

/// 802.3x PAUSE with a decision at the output.
pub const PAUSE_AT_OUTPUT: Mechanism = Mechanism {
    kind: "pause-at-output",
    family: Family::FlowControl,
    title: "802.3x PAUSE decided at the output: all ports that feed a congested queue are paused",
    source: "IEEE 802.3-2018 annex 31B; the decision as in FLORAX, section 1",
    parameters: &[
        UPPER,
        LOWER,
        BURST_GAP,
        Parameter {
            key: "expiry",
            syntax: Syntax::TEXT,
            default: Value("auto"),
            meaning: "duration of a PAUSE without a resume, above 0; auto is 65535 quanta of a switch's fastest link, \
                      renewed at half time while the port is congested",
            source: "IEEE 802.3 annex 31B.2: the longest pause",
        },
        REACTION,
        EXCEPT,
        TIERS,
    ],
};
