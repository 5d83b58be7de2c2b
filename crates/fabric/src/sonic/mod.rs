//! SONiC tables that several crates read: links, and the dynamic buffer model with its inputs and the resulting
//! headroom.

mod asic;
mod headroom;
mod links;
mod model;
mod room;
mod table;

pub use asic::{AsicTables, read_asic_tables};
pub use headroom::{DynamicHeadroom, PortInputs, Term};
pub use links::{CableLength, MAX_METRES, Neighbour, cable_length, cable_lengths, neighbours};
pub use model::{BufferModel, computes_headroom, uses_dynamic_model};
pub use room::{HeadroomLimit, room_after_xoff};
pub use table::{Object, TableFault};
