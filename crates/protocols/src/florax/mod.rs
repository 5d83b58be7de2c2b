//! Backpressure by flow: FLORAX, and the two schemes that its paper measures it against.
//!
//! A congested output buffer must select the traffic to stop. FLORAX (Lee, Coleri, Dong and Ergen) stops the pairs of
//! source and destination above their fair share. Selective backpressure by destination (Noureddine and Tobagi) stops
//! all traffic through this port to some destinations. Plain 802.3x stops all traffic through this port.
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
//! [`OutputBackpressure`] decides at the congested port, [`Hold`] is the reaction upstream. A switch that holds a flow
//! buffers more of it and may pass its own thresholds. So XOFFs propagate hop by hop, up to the host.

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
