//! SIGINT (Ctrl-C) and SIGTERM. The first signal sets the stop flag; if the program cannot check the flag, it exits
//! within a second. A second signal exits immediately.

use crate::exit::Exit;
use crate::output;
use lab::StopFlag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};
use std::time::Duration;

/// Global because signal handlers are per process.
static STOP: LazyLock<StopFlag> = LazyLock::new(StopFlag::default);

/// Grace period after the first signal. It is short enough that the process exits within a second even on a busy
/// machine.
const PATIENCE: Duration = Duration::from_millis(250);

/// Returns the stop flag that signals set.
pub fn stop() -> &'static StopFlag {
    &STOP
}

/// Installs the signal handler. The first interrupt or termination signal sets [`stop`]. A second signal exits the
/// process without writing a result; an earlier result remains. The first signal does the same while the program cannot
/// check the flag.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if STOP.request() {
                end("interrupted again: nothing of what was not complete is left");
            }
            // A separate thread waits, so that the handler can receive the next signal.
            std::thread::spawn(insist);
        };
        // If the handler cannot be installed, an interrupt kills the process, which is acceptable.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Exits the process if it cannot check the stop flag within the grace period after the first signal.
fn insist() {
    std::thread::sleep(PATIENCE);
    let mut is_announced = false;
    // Repeats the check until the process ends, because a later phase of the run may be unable to check the flag.
    loop {
        if STOP.is_blocked() {
            end("interrupted where nothing could hear it: it leaves nothing behind");
        }
        if !std::mem::replace(&mut is_announced, true) {
            output::note("interrupted: writing what there is; interrupt again to end without it");
        }
        std::thread::sleep(PATIENCE / 16);
    }
}

/// Set while the signal handler ends the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// If the signal handler is ending the process, waits for the end. The handler removes unfinished folders, so that
/// commands which write to them fail; these errors must not be reported.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn end(why: &str) -> ! {
    ENDING.store(true, Ordering::SeqCst);
    output::note(why);
    for folder in STOP.unfinished_folders() {
        record::folder::abandon(&folder);
    }
    std::process::exit(Exit::Interrupted.code().into())
}
