//! Tracing of selected frames and ports, and capture. Nodes record events; the simulation merges and numbers them; a
//! [`crate::watcher::Watcher`] writes them.
//!
//! Only a traced node has a [`Tracer`]. The forwarding path of a switch contains no trace calls: it returns an outcome
//! per frame (`switch/outcome.rs`), and a traced switch records it (`switch/tracing.rs`).

mod collect;
mod ports;
pub(crate) mod selection;
mod tracer;

pub(crate) use collect::Collector;
pub(crate) use ports::traffic;
pub use selection::CapturedFrame;
pub(crate) use tracer::Tracer;
