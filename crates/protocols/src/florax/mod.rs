//! Backpressure by flow: FLORAX, and the two schemes that its paper measures it against.
//!
//! An output buffer that grows too long asks *whom* to stop. FLORAX (Lee, Coleri, Dong and Ergen) answers: the pairs of
//! source and destination that send more than their fair share; selective backpressure by destination (Noureddine and
//! Tobagi) answers: everybody who sends this way to those destinations; plain 802.3x: everybody who sends this way.
//!
//! ```text
//!                     frame in                                             frame out
//!                        |                                                     |
//!   Flow: burst, rate    v                  buffer of one output port          v
//!   conforming? --no--> lost     [ | | | |lower| | | |upper -> ... |max| ]   below lower?
//!        | yes                                                                 | yes
//!        v                                                                     v
//!   above max: XOFF everybody, 0      above upper: XOFF who is over            XON to all, upper falls back
//!                                     its max-min share, upper rises
//! ```
//!
//! [`OutputBackpressure`] decides at the congested port, [`Hold`] obeys upstream. A switch that holds a flow has a
//! longer buffer for it, which may pass its own thresholds: so the call travels on, hop by hop, as far as the host.

mod backpressure;
mod conform;
mod destination;
mod fair;
mod hold;
mod mechanisms;
mod pause_request;
mod table;

pub use backpressure::OutputBackpressure;
pub use fair::{Demand, fair_rates};
pub use hold::Hold;
pub use mechanisms::{DESTINATION, FLORAX, PAUSE_AT_OUTPUT};
pub use pause_request::{BackpressureStatistics, Neighbours, PauseRequest};
pub use table::{FLOW_BYTES, Pair};

use units::Time;

/// Whom a congested output stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The pairs of source and destination above their fair share (FLORAX).
    Flows,
    /// All traffic to the destination of the most aggressive flow.
    Destinations,
    /// All traffic of the ports that feed it (802.3x).
    Everybody,
}

/// How an output port keeps room in its buffer. Thresholds count what its limit counts, packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackpressureParameters {
    /// Whom it stops.
    pub whom: Whom,
    /// Below this, everybody may go on.
    pub lower: u64,
    /// Above this, those over their share are stopped; above `lower`.
    pub upper: u64,
    /// Above this, everybody is; at least `upper`. Without meaning but for [`Whom::Flows`].
    pub max_upper: u64,
    /// By how much `upper` rises, up to `max_upper`, whenever somebody was stopped, until everybody may go on.
    pub raise: u64,
    /// Silence after which a burst is over and a flow no longer active; positive.
    pub burst_gap: Time,
    /// How long an XOFF lasts by itself; positive.
    pub expiry: Time,
    /// Whether an XOFF is told again at half of that while it must last.
    pub renewed: bool,
    /// How long after an XOFF more than its rate may still come; `None`: what link and frames take.
    pub grace: Option<Time>,
    /// Flows that a port tells apart, at least 1.
    pub flows: u32,
}
