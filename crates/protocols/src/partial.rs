//! Parameters that enable flow control at a part of the switches only.

use crate::describe::Default::Value;
use crate::describe::{Parameter, Syntax};

pub(crate) const EXCEPT: Parameter = Parameter {
    key: "except",
    syntax: Syntax::other("a list of switches", "[\"S1\", \"S2\"]"),
    default: Value("none"),
    meaning: "switches without flow control: they neither send, obey nor forward its frames, and drop frames of every \
              class without buffer space",
    source: "choice of this project",
};
pub(crate) const TIERS: Parameter = Parameter {
    key: "tiers",
    syntax: Syntax::other("all or a list of tiers", "[1]"),
    default: Value("all"),
    meaning: "the tiers of switches with flow control: 1 ToR or leaf, 2 aggregation or spine, 3 core",
    source: "choice of this project",
};
