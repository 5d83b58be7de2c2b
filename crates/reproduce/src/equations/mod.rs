//! What equations can judge: the thesis's lemmas and fluid figures, and a fluid model beside packets.

mod dumbbell;
mod eccp;
mod experiments;
mod hetflow;
mod hetflow_lemmas;
mod hetflow_packets;
mod packets;
mod track;

pub use experiments::EXPERIMENTS;
