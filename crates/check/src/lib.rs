//! What must hold in every run, watched from outside the model. The model feeds this crate plain
//! numbers; the crate sees nothing of the model, so a fault in the one does not hide in the other.
//!
//! | check | what must hold |
//! |---|---|
//! | [`conservation`] | every frame that came into being ended in exactly one way or is still on its way |
//! | [`lossless`] | a lossless class lost no frame for want of room; other losses are listed |
//! | [`order`] | a flow that is promised order gets it |
//! | [`buffer`] | nothing held more than it may |
//! | [`collectives`] | no collective operation is faster than the links that it must use |
//! | [`pauses`] | every pause was answered by a resume or an expiry, or still holds |
//! | [`little`] | queue length integrated over time equals the sum of the waits, to the picosecond |
//! | [`load`] | utilisation was measured of what was there |
//! | [`mod@reorder`] | the order of every frame that arrived was judged once |
//! | [`work`] | no wire stays free while a frame may start on it |
//! | [`turns`] | every time that a frame was turned around stands in the frame's own counters, and they agree |
//! | [`stall`] | every stopped lossless queue waits for a queue that drains |
//! | [`mod@deadlock`] | no set of paused queues that hold each other for ever |
//!
//! Two measure where a run asks for it, [`mod@reorder`] how far packets come out of order, [`load`] how full queues
//! are; what they measured is checked.
//!
//! Every check ends in a [`Verdict`], which may be that the check does not apply. What is called once a frame
//! ([`PacketLedger`], [`OrderWatch`], [`QueueArea`], [`HighWater::raise`]) is a few integer operations, without hashing
//! or allocation.

pub mod buffer;
pub mod collectives;
pub mod conservation;
pub mod deadlock;
pub mod little;
pub mod load;
pub mod lossless;
pub mod order;
pub mod pauses;
mod place;
pub mod reorder;
pub mod stall;
pub mod turns;
mod verdict;
pub mod work;

pub use buffer::HighWater;
pub use conservation::{Cause, PacketLedger, Tally};
pub use deadlock::{Account, Deadlock, PausedQueue, deadlock};
pub use little::QueueArea;
pub use load::{LoadSummary, QueueLoad};
pub use lossless::LosslessLosses;
pub use order::{OrderLog, OrderViolation, OrderWatch};
pub use pauses::{ControlLedger, PauseLedger, StopLedger};
pub use place::{AccountId, Place, QueueId};
pub use reorder::{ReorderDensity, ReorderWatch};
pub use stall::{BlockCause, BlockedQueue, Stalls};
pub use turns::TurnLedger;
pub use verdict::Verdict;
pub use work::{LateStart, WorkLog};
