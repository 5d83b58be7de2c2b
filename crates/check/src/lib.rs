//! Checks invariants of every run, independently of the model. The model supplies plain numbers; the crate does not
//! depend on the model, so that a fault in one cannot mask a fault in the other.
//!
//! | check | invariant |
//! |---|---|
//! | [`conservation`] | every frame ended in exactly one way or is still in flight |
//! | [`lossless`] | a lossless class lost no frame to a full queue or buffer; other losses are listed |
//! | [`order`] | flows with guaranteed order are delivered in order |
//! | [`buffer`] | no buffer, queue or account exceeded its limit |
//! | [`collectives`] | no collective operation is faster than its links allow |
//! | [`pauses`] | every pause ended by a resume or an expiry, or is still in effect |
//! | [`little`] | the time integral of the queue length equals the sum of the sojourn times, to the picosecond |
//! | [`load`] | measured utilisation agrees with queue lengths |
//! | [`mod@reorder`] | the displacement of every arriving frame was counted once |
//! | [`work`] | work conservation: no link is idle while a frame may start on it |
//! | [`bounces`] | bounces counted by switches equal the bounces in the frames' counters |
//! | [`stall`] | every paused lossless queue waits for a queue that drains |
//! | [`mod@deadlock`] | no set of paused queues blocks itself forever |
//!
//! Two modules also measure, if the scenario requests it: [`mod@reorder`] measures the displacement of packets,
//! [`load`] the utilisation of queues. The checks verify these measurements.
//!
//! Every check ends in a [`Verdict`], possibly "not applicable". Functions called per frame ([`PacketLedger`],
//! [`OrderWatch`], [`QueueArea`], [`HighWater::raise`]) are a few integer operations, without hashing or allocation.

pub mod bounces;
pub mod buffer;
pub mod collectives;
pub mod conservation;
pub mod deadlock;
pub mod little;
pub mod load;
mod location;
pub mod lossless;
pub mod order;
pub mod pauses;
pub mod reorder;
pub mod stall;
mod verdict;
pub mod work;

pub use bounces::BounceLedger;
pub use buffer::HighWater;
pub use conservation::{Cause, FrameCount, PacketLedger};
pub use deadlock::{Account, Deadlock, PausedQueue, deadlock};
pub use little::QueueArea;
pub use load::{LoadSummary, QueueLoad};
pub use location::{AccountId, BufferLocation, QueueId};
pub use lossless::LosslessLosses;
pub use order::{OrderLog, OrderViolation, OrderWatch};
pub use pauses::{ControlLedger, PauseDecisions, PauseLedger};
pub use reorder::{ReorderDensity, ReorderWatch};
pub use stall::{BlockCause, BlockedQueue, Stalls};
pub use verdict::Verdict;
pub use work::{LateStart, WorkLog};
