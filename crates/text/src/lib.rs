//! What a person reads: [`numbers`] with their units, [`table`]s, curves as pictures ([`lines`]), words in colour, and
//! words that survive a shell or a spreadsheet.

mod csv;
mod joined;
pub mod lines;
pub mod numbers;
mod paint;
pub mod screen;
mod shell;
mod table;

pub use csv::csv_cell;
pub use joined::{Joined, Joint};
pub use paint::{Paint, Style};
pub use shell::quoted;
pub use table::{Layout, table};
