//! RoCEv2 reliable connections: packets at a set rate, go-back-N when one is missing (InfiniBand
//! specification, 9.7; the model follows the ns-3 fork of HPCC), or [`selective`] repeat. What sets the rate is a
//! [`control`].

pub mod control;
pub(crate) mod described;
mod measuring;
pub(crate) mod parameters;
mod probing;
mod receiver;
pub mod selective;
mod sender;

pub use measuring::MeasuringReceiver;
pub use parameters::{LossRecovery, MECHANISM, RoceParameters};
pub use probing::ProbingSender;
pub use receiver::RoceReceiver;
pub use selective::{SelectiveReceiver, SelectiveSender};
pub use sender::RoceSender;
