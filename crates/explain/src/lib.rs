//! Explains, in sentences, the delays and losses of a packet, a flow or a port in a traced run; and lists all pauses of
//! a run by root cause.
//!
//! ```text
//!  folder of a result --Trace::read--> Trace --flow, packet, port--> Explanation: text | JSON
//!                     \-PauseCauses::read--> every pause, by its root
//! ```

mod affected_flows;
mod backpressure_requests;
mod chain;
mod error;
mod explanation;
mod flow;
mod packet;
mod pause_causes;
mod pauses;
mod port;
mod slowest;
mod trace;

pub use error::ExplainError;
pub use explanation::{Explanation, Line};
pub use flow::explain as flow;
pub use packet::explain as packet;
pub use pause_causes::PauseCauses;
pub use port::explain as port;
pub use slowest::Slowest;
pub use trace::{PortId, Trace};
