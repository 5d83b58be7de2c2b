//! Scenario parameters of tail drop. The crate `model` implements it.

use crate::describe::{Family, Mechanism};

/// Description of the mechanism and its parameters.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "frames without buffer space are dropped",
    source: "tail drop",
    parameters: &[],
};
