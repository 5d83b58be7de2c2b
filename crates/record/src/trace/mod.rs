//! What happened to single frames, and who stopped whom: `trace.parquet`, and the ports that it names.
//!
//! A scenario chooses what is traced (`[record] trace`); `tidegate why` reads it back.

mod file;
mod ports;

pub use file::{TRACE_FILE, TraceTable, read_trace, trace_columns, visit_trace};
pub use ports::{PORTS_FILE, PortRow, PortTable, read_ports};
pub use stats::trace::*;
