//! Checks of equations: the thesis's lemmas and fluid figures, and comparisons of fluid models with packets.

mod dumbbell;
mod eccp;
mod experiments;
mod hetflow;
mod hetflow_lemmas;
mod hetflow_packets;
mod packets;
mod track;

pub use experiments::EXPERIMENTS;
