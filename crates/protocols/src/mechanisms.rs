//! List of all mechanisms, for the command `mechanisms`, for the documentation, and for the valid keys of scenarios.

use crate::describe::{Family, Mechanism};
use crate::port_mechanisms::Marking;
use crate::{
    bounce_reaction, cbfc, cyclic, florax, gates, pabo, pause, pipeline_trim, preemption, qos_maps, scheduler, shaping,
    shared_buffer, tagger, transport, trim, watchdog,
};

/// Description of tail drop; implemented in `model`.
const DROP: Mechanism = Mechanism {
    kind: "drop",
    family: Family::Overload,
    title: "frames without buffer space are dropped",
    source: "tail drop",
    parameters: &[],
};

/// Description of DIBS: a packet whose output queue is full is detoured through another port of the switch, chosen at
/// random; implemented in `model`.
const DETOUR: Mechanism = Mechanism {
    kind: "detour",
    family: Family::Overload,
    title: "DIBS: by a random other port towards a switch, when the queue is full",
    source: "Zarifis et al., DIBS: Just-in-time Congestion Mitigation for Data Centers (EuroSys 2014)",
    parameters: &[],
};

/// All mechanisms, in the order in which they act on a frame.
pub fn all() -> impl Iterator<Item = &'static Mechanism> {
    [
        &shared_buffer::MECHANISM,
        &pause::PAUSE,
        &pause::PFC,
        &cbfc::MECHANISM,
        &watchdog::MECHANISM,
        &florax::FLORAX,
        &florax::DESTINATION,
        &florax::PAUSE_AT_OUTPUT,
        &tagger::MECHANISM,
        &qos_maps::MECHANISM,
        &DROP,
        &pabo::MECHANISM,
        &DETOUR,
        &trim::TRIM,
        &trim::CUT_PAYLOAD,
        &trim::SFC,
        &pipeline_trim::PIPELINE_TRIM,
    ]
    .into_iter()
    .chain(Marking::MECHANISMS.iter().copied())
    .chain([
        &scheduler::STRICT,
        &scheduler::wrr::MECHANISM,
        &scheduler::drr::MECHANISM,
        &shaping::MECHANISM,
        &gates::MECHANISM,
        &cyclic::MECHANISM,
        &preemption::MECHANISM,
    ])
    .chain(transport::MECHANISMS)
    .chain([&bounce_reaction::MECHANISM])
}
