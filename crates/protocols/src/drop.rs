//! Tail drop, as users meet it. `model` does it.

use crate::describe::{Family, Mechanism};

/// A frame that finds no room is lost.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "a frame that finds no room is lost",
    source: "tail drop",
    parameters: &[],
};
