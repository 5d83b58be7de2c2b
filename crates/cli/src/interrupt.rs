//! Ctrl-C and SIGTERM: what runs is asked to end, what cannot hear is ended within a second; a second signal does not
//! ask.

use crate::exit::Exit;
use crate::output;
use lab::Stop;
use std::sync::{LazyLock, Once};
use std::time::Duration;

/// A process has one pair of ears, so this is the one thing that all of it shares.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);

/// What is asked has this long to end; a second shall not pass on a busy machine either.
const PATIENCE: Duration = Duration::from_millis(250);

/// What a signal asks by.
pub fn stop() -> &'static Stop {
    &STOP
}

/// From now on an interrupt or a request to terminate asks [`stop`]. A second one ends the process where it stands,
/// which leaves no result but an earlier one; so does the first one where nobody can hear.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if STOP.ask() {
                end("interrupted again: nothing of what was not complete is left");
            }
            // The next signal must find this one handled.
            std::thread::spawn(insist);
        };
        // Without a handler an interrupt kills the process: worse, but no reason not to run.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Sees to it that the first signal has an effect within a second.
fn insist() {
    std::thread::sleep(PATIENCE);
    let mut told = false;
    loop {
        if STOP.is_deaf() {
            end("interrupted where nothing could hear it: it leaves nothing behind");
        }
        if !std::mem::replace(&mut told, true) {
            output::note("interrupted: writing what there is; interrupt again to end without it");
        }
        std::thread::sleep(PATIENCE / 16);
    }
}

fn end(why: &str) -> ! {
    output::note(why);
    for folder in STOP.unfinished_folders() {
        record::folder::abandon(&folder);
    }
    std::process::exit(Exit::Interrupted.code().into())
}
