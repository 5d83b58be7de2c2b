//! A readable table: text left, numbers right, with units.
//!
//! ```text
//!  name, bytes, ps --numbers--> "32MB", "1.5us" --table--> columns of minimal width
//! ```
use text::numbers::{grouped, size, span_ps};
use text::{Layout, table};

pub(crate) fn main() {
    let row =
        |name: &str, frames: u64, bytes: u64, ps: u64| vec![name.to_owned(), grouped(frames), size(bytes), span_ps(ps)];
    let rows = [row("s0 port 1", 12_345, 32_000_000, 1_500_000), row("s0 port 2", 7, 1_500, 0)];
    let drawn = table(&["port", "frames", "sent", "paused"], &rows, 1, Layout::Fixed, 0);
    print!("{drawn}");
    assert!(drawn.contains("s0 port 1  12,345   32MB   1.5us"));
}
