//! Ctrl-C and SIGTERM: what runs is asked to end, what cannot hear is ended within a second; a second signal does not ask.

use crate::exit::Exit;
use crate::output;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

/// A process has one pair of ears, so this is the one thing that all of it shares.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Threads that do something during which nobody asks.
static DEAF: AtomicUsize = AtomicUsize::new(0);
/// Folders to clear away when the process ends here.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What is asked has this long to end; a second shall not pass on a busy machine either.
const PATIENCE: Duration = Duration::from_millis(500);

/// From now on an interrupt or a request to terminate sets [`interrupted`]. A second one ends the process where it
/// stands, which leaves no result but an earlier one; so does the first one where somebody is [`deaf`].
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
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
        if DEAF.load(Ordering::Relaxed) > 0 {
            end("interrupted before the run began: it leaves nothing behind");
        }
        if !std::mem::replace(&mut told, true) {
            output::note("interrupted: writing what there is; interrupt again to end without it");
        }
        std::thread::sleep(PATIENCE / 16);
    }
}

fn end(why: &str) -> ! {
    output::note(why);
    for folder in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        record::folder::abandon(folder);
    }
    std::process::exit(Exit::Interrupted.code().into())
}

/// Whether somebody wants an end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// What [`interrupted`] looks at, for those who look by themselves.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&INTERRUPTED)
}

/// Says that nobody asks for [`interrupted`] while it lives: building something large, say.
pub struct Deaf(());

/// Begins such a time.
pub fn deaf() -> Deaf {
    DEAF.fetch_add(1, Ordering::Relaxed);
    Deaf(())
}

impl Drop for Deaf {
    fn drop(&mut self) {
        DEAF.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A folder that the process clears away if it ends early.
pub struct Unfinished(PathBuf);

/// Such a folder, until what this returns is dropped.
pub fn unfinished(folder: &Path) -> Unfinished {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
    Unfinished(folder.to_owned())
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.0);
    }
}
