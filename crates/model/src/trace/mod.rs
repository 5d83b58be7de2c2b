//! What happens to chosen frames, and frames at chosen ports: noted by the nodes, numbered and put in order by the
//! simulation, written down by whoever watches.
//!
//! A node that is watched has a [`Tracer`]; all others have none, and run as if there were no such thing. A
//! switch says what became of each frame (`switch/outcome.rs`), and where it is watched that is written down
//! (`switch/watch.rs`): its own path has no trace of it.

mod collect;
mod ports;
pub(crate) mod selection;
mod tracer;

pub(crate) use collect::Collector;
pub(crate) use ports::traffic;
pub use selection::CapturedFrame;
pub(crate) use tracer::Tracer;
