//! DIBS: a switch detours a packet whose output queue is full through another port, chosen at random.

use crate::describe::{Family, Mechanism};

/// Description of the mechanism and its parameters.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "detour",
    family: Family::Overload,
    title: "DIBS: by a random other port towards a switch, when the queue is full",
    source: "Zarifis et al., DIBS: Just-in-time Congestion Mitigation for Data Centers (EuroSys 2014)",
    parameters: &[],
};
