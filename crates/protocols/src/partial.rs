//! Parameters of flow control that is enabled at some switches only.

use crate::describe::Default::Value;
use crate::describe::Parameter;

pub(crate) const EXCEPT: Parameter = Parameter {
    key: "except",
    default: Value("none"),
    meaning: "switches that take no part: they neither send nor obey its frames, which end there, and drop frames of \
              every class that find no room",
    source: "choice of this project",
};
pub(crate) const TIERS: Parameter = Parameter {
    key: "tiers",
    default: Value("all"),
    meaning: "the tiers whose switches take part: 1 ToR or leaf, 2 aggregation or spine, 3 core",
    source: "choice of this project",
};
