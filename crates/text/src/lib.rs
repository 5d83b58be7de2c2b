//! Human-readable output: [`numbers`] with units, [`table`]s, plots ([`lines`]), styled text, and quoting for shells
//! and spreadsheets.

mod csv;
mod joined;
pub mod lines;
pub mod numbers;
mod paint;
pub mod screen;
mod shell;
mod table;

pub use csv::csv_cell;
pub use joined::{Concatenation, ConcatenationFormat};
pub use paint::{ColorMode, Style};
pub use shell::quoted;
pub use table::{Layout, table};
