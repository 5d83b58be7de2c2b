//! Ctrl-C: asks for an end at the next tick; a second one does not ask.

use crate::exit::Exit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt or a request to terminate sets [`interrupted`]; a second one ends the process
/// where it stands, which leaves no result but an earlier one.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
        };
        // Without a handler an interrupt kills the process: worse, but no reason not to run.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Whether somebody wants an end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
