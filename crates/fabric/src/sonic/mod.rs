//! SONiC tables that several crates read: the inputs of the dynamic buffer model, and the headroom that it computes from
//! them.

mod asic;
mod headroom;
mod model;
mod table;

pub use asic::{AsicTables, read_asic_tables};
pub use headroom::{DynamicHeadroom, PortInputs, Term};
pub use model::{BufferModel, computes_headroom, uses_dynamic_model};
pub use table::{Object, TableFault};
