//! Writing to the terminal: plain text into pipes, some weight and colour for eyes.

use crate::failure::Failure;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use text::Paint;
pub use text::Style;
use text::screen::{self, fitted};

/// Writes `text` to standard output. Whoever closed the pipe has seen enough: that is no failure.
///
/// # Errors
/// [`Failure::Output`] where the machine refuses, as for a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes `text` for a person to standard output, in lines as long as the screen is wide; JSON as it is.
///
/// # Errors
/// As [`print()`].
pub fn show(text: &str) -> Result<(), Failure> {
    print(&fitted(text, screen::columns().filter(|_| !text.starts_with(['{', '[']))))
}

/// A sentence for the user beside the result, on standard error.
pub fn note(text: &str) {
    // Standard error is the last place to report to.
    let _ = writeln!(std::io::stderr(), "{text}");
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether the command was asked to say nothing but errors.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// A decision about what an input leaves open, on standard error; nothing with `--quiet`.
pub fn decision(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        note(text);
    }
}

/// <https://no-color.org>: any value that is not empty.
fn colours_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether standard error is watched by a person.
pub fn errors_are_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether standard output is watched by a person.
pub fn output_is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether standard error takes colours.
pub fn errors_take_colour() -> bool {
    errors_are_watched() && !colours_unwanted()
}

/// What standard output takes.
pub fn paint() -> Paint {
    static PAINT: OnceLock<Paint> = OnceLock::new();
    let takes = || if std::io::stdout().is_terminal() && !colours_unwanted() { Paint::Colour } else { Paint::Plain };
    *PAINT.get_or_init(takes)
}

/// `text` in `style` where standard output takes colours, else as it is.
pub fn styled(text: &str, style: Style) -> String {
    paint().styled(text, style)
}
