//! Events of frames and of flow control: `trace.parquet`, and the table of the ports that it refers to.
//!
//! A scenario selects the traced frames (`[record] trace`); `tidegate why` reads the file.

mod file;
mod ports;

pub use file::{TRACE_FILE, TraceTable, read_trace, trace_columns, visit_trace};
pub use ports::{PORTS_FILE, PortRow, PortTable, read_ports};
pub use stats::trace::*;
