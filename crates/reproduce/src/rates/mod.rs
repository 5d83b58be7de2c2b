//! Rate controls in packets: the figures of the thesis that its simulator drew.

mod bench;
mod eccp_demands;
mod eccp_dumbbell;
mod eccp_judge;
mod eccp_probes;
mod eccp_readings;
mod experiments;
mod hetflow_peers;
mod peers;
mod recovery;

pub use bench::{Bench, mean};
pub use experiments::EXPERIMENTS;
