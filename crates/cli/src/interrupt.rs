//! Ctrl-C and SIGTERM. The first signal sets the stop flag; if the program cannot react to it, it exits within a
//! second. A second signal exits immediately.

use crate::exit::Exit;
use crate::output;
use lab::StopFlag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};
use std::time::Duration;

/// Global because signals belong to the process.
static STOP: LazyLock<StopFlag> = LazyLock::new(StopFlag::default);

/// Grace period after the first signal, short enough that the total stays below a second on a busy machine.
const PATIENCE: Duration = Duration::from_millis(250);

/// Returns the stop flag that signals set.
pub fn stop() -> &'static StopFlag {
    &STOP
}

/// Installs the handler: the first interrupt or termination signal sets [`stop`]. A second one exits the process, and
/// only an earlier result remains. So does the first one while the program cannot react to the flag.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if STOP.request() {
                end("interrupted again: nothing of what was not complete is left");
            }
            // A thread does the waiting, so that the handler is free for the next signal.
            std::thread::spawn(insist);
        };
        // Without a handler an interrupt kills the process, which is acceptable.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Ensures that the first signal has an effect within a second.
fn insist() {
    std::thread::sleep(PATIENCE);
    let mut is_announced = false;
    // Watches until the process ends, since a later phase may not check the flag.
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

/// Set while the handler ends the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for the end of the process if the handler ends it. It removes unfinished folders, so commands fail that write
/// into them; these errors are no result.
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
