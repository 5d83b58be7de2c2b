//! List of all mechanisms, for the command `mechanisms`, for the documentation, and for the valid keys of scenarios.

use crate::describe::Mechanism;
use crate::port_mechanisms::Marking;
use crate::{
    bounce_reaction, cbfc, cyclic, detour, drop, florax, gates, pabo, pause, pipeline_trim, preemption, qos_maps,
    scheduler, shaping, shared_buffer, tagger, transport, trim, watchdog,
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
        &drop::MECHANISM,
        &pabo::MECHANISM,
        &detour::MECHANISM,
        &trim::TRIM,
        &trim::CUT_PAYLOAD,
        &trim::SFC,
        &pipeline_trim::PIPELINE_TRIM,
    ]
    .into_iter()
    .chain(Marking::MECHANISMS.iter().copied())
    .chain([
        &scheduler::STRICT,
        &scheduler::WRR,
        &scheduler::DRR,
        &shaping::MECHANISM,
        &gates::MECHANISM,
        &cyclic::MECHANISM,
        &preemption::MECHANISM,
    ])
    .chain(transport::MECHANISMS)
    .chain([&bounce_reaction::MECHANISM])
}
