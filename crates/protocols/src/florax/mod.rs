//! Per-flow backpressure: FLORAX, and the two baselines of its paper.
//!
//! A congested output port must select the traffic to pause. FLORAX (Lee, Coleri, Dong and Ergen) pauses or slows down
//! the source-destination pairs that exceed their max-min fair share. Selective backpressure by destination (Noureddine
//! and Tobagi) pauses all traffic through this port to the destination of the flow with the highest rate. Plain 802.3x
//! pauses all traffic through this port.
//!
//! ```text
//!                     frame in                                             frame out
//!                        |                                                     |
//!   Flow: burst, rate    v                  buffer of one output port          v
//!   conforming? --no--> lost     [ | | | |lower| | | |upper -> ... |max| ]   below lower?
//!        | yes                                                                 | yes
//!        v                                                                     v
//!   above max: XOFF to all, 0         above upper: XOFF to flows over          XON to all, upper falls back
//!                                     their max-min share, upper rises
//! ```
//!
//! [`OutputBackpressure`] is the state of a congested output port, [`Hold`] the rate limit of a paused flow at the
//! upstream switch or host. An upstream switch queues the frames of a held flow. If its queue exceeds its own
//! thresholds, it sends XOFFs in turn, so that backpressure propagates hop by hop to the sending host.

mod backpressure;
mod conform;
mod destination;
mod fair;
mod hold;
mod mechanisms;
mod parameters;
mod pause_at_output;
mod pause_request;
mod table;

pub use backpressure::OutputBackpressure;
pub use fair::{Demand, fair_rates};
pub use hold::Hold;
pub use mechanisms::{DESTINATION, FLORAX, FloraxParameters};
pub use parameters::{BackpressureParameters, StopTarget};
pub use pause_at_output::{MECHANISM as PAUSE_AT_OUTPUT, PauseAtOutputParameters};
pub use pause_request::{BackpressureStatistics, Neighbours, PauseRequest};
pub use table::{FLOW_BYTES, HostPair};
