//! DIBS: a packet whose queue is full leaves by another port of the same switch, at random.

use crate::describe::{Family, Mechanism};

/// DIBS as users meet it.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "detour",
    family: Family::Overload,
    title: "DIBS: by a random other port towards a switch, when the queue is full",
    source: "Zarifis et al., DIBS: Just-in-time Congestion Mitigation for Data Centers (EuroSys 2014)",
    parameters: &[],
};
