//! Rate-based congestion controls in packet-level simulations: figures of the thesis that are from simulations.

mod bench;
mod eccp_demands;
mod eccp_dumbbell;
mod eccp_judge;
mod eccp_probes;
mod eccp_readings;
mod eccp_search;
mod experiments;
mod hetflow_judge;
mod hetflow_peers;
mod hetflow_search;
mod peers;
mod recovery;

pub use bench::{Bench, mean};
pub use eccp_search::SPACE as ECCP_SPACE;
pub use experiments::EXPERIMENTS;
pub use hetflow_search::SPACE as HETFLOW_SPACE;
