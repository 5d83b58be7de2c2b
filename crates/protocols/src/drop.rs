//! Scenario parameters of tail drop; implemented in `model`.

use crate::describe::{Family, Mechanism};

/// Description of tail drop.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "a frame that finds no room is lost",
    source: "tail drop",
    parameters: &[],
};
