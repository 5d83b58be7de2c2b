//! RoCEv2 reliable connections: paced packets with go-back-N (InfiniBand specification, 9.7; the model follows the
//! ns-3 fork of HPCC) or with [`selective`] repeat. A rate [`control`] determines the rate.

pub(crate) mod connection;
pub mod control;
mod measuring;
mod parameters;
mod payload_length;
mod probing;
mod receiver;
pub mod selective;
mod sender;

pub use connection::{ConnectionParameters, FIXED_RATE as MECHANISM, FlightCap, LossRecovery};
pub use measuring::MeasuringReceiver;
pub use parameters::RoceParameters;
pub use probing::ProbingSender;
pub use receiver::RoceReceiver;
pub use selective::{SelectiveReceiver, SelectiveSender};
pub use sender::RoceSender;
