//! Mechanisms of lossless Ethernet as state machines without clock, sockets or random source of their own. A
//! simulator calls them in simulated time; a driver of a real network could use them unchanged.
//!
//! Each mechanism is a folder or file. [`endpoint`] holds the interfaces between hosts and transports, [`frame`] the
//! frame, and [`describe`] the descriptions of mechanisms with their parameters, defaults and sources.

pub mod afd;
pub mod bounce_reaction;
pub mod cbfc;
pub mod control_state;
pub mod custom;
pub mod cyclic;
pub mod datagram;
pub mod dcqcn;
pub mod dctcp;
pub mod dctcp_rate;
pub mod describe;
pub mod eccp;
pub mod ecn;
pub mod endpoint;
pub mod eqds;
pub mod external;
pub mod florax;
pub mod frame;
pub mod gates;
pub mod headroom;
pub mod hetflow;
pub mod hold;
pub mod hpcc;
mod idle;
pub mod limits;
pub mod mechanisms;
pub mod ndp;
pub mod pabo;
mod parameters;
mod partial;
pub mod pause;
pub mod phantom;
pub mod pipeline_trim;
pub mod port;
pub mod port_mechanisms;
pub mod preemption;
pub mod qcn;
pub mod qos_maps;
mod ranges;
pub mod rate_control;
pub mod rate_recovery;
pub mod reaction;
pub mod roce;
pub mod scheduler;
mod settings;
pub mod shaping;
pub mod shared_buffer;
pub mod swift;
pub mod tagger;
pub mod tcp;
pub mod telemetry;
pub mod timely;
pub mod transport;
pub mod trim;
pub mod watchdog;

pub use parameters::Parameters;
pub use settings::{Checked, ParameterError};

#[cfg(test)]
mod complete_tests;
#[cfg(test)]
mod pipe;
#[cfg(test)]
mod pipe_tests;
#[cfg(test)]
mod specification_tests;
