//! Explanations of a packet, a flow or a port of a traced run, in sentences; and all pauses of a run, by the port that
//! caused them.
//!
//! ```text
//!  folder of a result --Trace::read--> Trace --flow, packet, port--> Story: text | JSON
//!                     \-Blame::read--> every pause, by its root
//! ```

mod blame;
mod calls;
mod chain;
mod error;
mod flow;
mod packet;
mod pauses;
mod port;
mod slowest;
mod story;
mod sufferers;
mod trace;

pub use blame::Blame;
pub use error::ExplainError;
pub use flow::explain as flow;
pub use packet::explain as packet;
pub use port::explain as port;
pub use slowest::Slowest;
pub use story::{Line, Story};
pub use trace::{PortId, Trace};
