//! Output: plain text to pipes, styled text to terminals.

use crate::failure::Failure;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use text::ColorMode;
pub use text::Style;
use text::screen::{self, fitted};

/// Writes `text` to standard output. A closed pipe is not an error.
///
/// # Errors
/// [`Failure::Output`] if a write fails, for example on a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes text to standard output. Text is wrapped at the width of the terminal, JSON is not.
///
/// # Errors
/// Like [`print()`].
pub fn show(text: &str) -> Result<(), Failure> {
    print(&fitted(text, screen::columns().filter(|_| !text.starts_with(['{', '[']))))
}

/// Writes a note to standard error.
pub fn note(text: &str) {
    // If standard error fails, the failure cannot be reported.
    let _ = writeln!(std::io::stderr(), "{text}");
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether only errors are printed (`--quiet`).
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Writes a decision about an ambiguous input to standard error, unless `--quiet` is set.
pub fn decision(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        note(text);
    }
}

/// Returns true if colours are disabled by a non-empty NO_COLOR (<https://no-color.org>) or by a dumb terminal.
fn colours_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns true if standard error is a terminal.
pub fn errors_are_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns true if standard output is a terminal.
pub fn output_is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// Returns true if coloured text can be written to standard error.
pub fn errors_take_colour() -> bool {
    errors_are_watched() && !colours_unwanted()
}

/// Returns the colour mode of standard output.
pub fn paint() -> ColorMode {
    static PAINT: OnceLock<ColorMode> = OnceLock::new();
    let takes =
        || if std::io::stdout().is_terminal() && !colours_unwanted() { ColorMode::Colour } else { ColorMode::Plain };
    *PAINT.get_or_init(takes)
}

/// Returns `text` in `style` if coloured text can be written to standard output, otherwise unchanged.
pub fn styled(text: &str, style: Style) -> String {
    paint().styled(text, style)
}
