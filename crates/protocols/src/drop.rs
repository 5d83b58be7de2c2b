//! Scenario parameters of tail drop; implemented in `model`.

use crate::describe::{Family, Mechanism};

/// Description of tail drop.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "frames without buffer space are dropped",
    source: "tail drop",
    parameters: &[],
};
