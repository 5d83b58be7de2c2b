//! Links, switches and hosts: drives the mechanisms of `protocols` on the engine.

pub mod parameters;
