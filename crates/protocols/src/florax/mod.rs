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
mod pause_at_output;
mod pause_request;
mod table;

pub use backpressure::OutputBackpressure;
pub use fair::{Demand, fair_rates};
pub use hold::Hold;
pub use mechanisms::{DESTINATION, FLORAX, FloraxParameters};
pub use pause_at_output::{MECHANISM as PAUSE_AT_OUTPUT, PauseAtOutputParameters};
pub use pause_request::{BackpressureStatistics, Neighbours, PauseRequest};
pub use table::{FLOW_BYTES, HostPair};

use units::Time;

/// The traffic that a congested output pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTarget {
    /// The pairs of source and destination above their fair share (FLORAX).
    Flows,
    /// All traffic to the destination of the most aggressive flow.
    Destinations,
    /// All traffic of the ports that feed it (802.3x).
    WholePort,
}

/// Buffer control of an output port. Thresholds count packets or bytes, like the port's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackpressureParameters {
    /// The traffic to pause.
    pub target: StopTarget,
    /// Threshold below which all traffic resumes.
    pub lower: u64,
    /// Threshold above which the traffic selected by `target` is paused; above `lower`.
    pub upper: u64,
    /// Threshold above which all flows are paused; at least `upper`. For [`StopTarget::Flows`] only.
    pub max_upper: u64,
    /// Increase of the upper threshold after each decision that sends an XOFF, up to `max_upper`; below `lower` the
    /// threshold falls back to `upper`.
    pub raise: u64,
    /// Silence that ends a burst and makes a flow inactive; positive.
    pub burst_gap: Time,
    /// Duration of an XOFF without an XON; positive.
    pub expiry: Time,
    /// An XOFF is renewed at half its duration while it must last.
    pub renewed: bool,
    /// Time after an XOFF in which excess frames pass; `None`: computed from the link and the frame size.
    pub grace: Option<Time>,
    /// Maximum entries in a port's flow table, at least 1.
    pub flows: u32,
}
