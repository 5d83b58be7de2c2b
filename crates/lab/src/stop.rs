//! Stop requests for runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A stop flag. For an owner that must end the process, it also has the folders with incomplete results, and whether a
/// phase is in progress that does not poll the flag. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    wanted: Arc<AtomicBool>,
    /// Number of threads in a phase that does not poll the flag.
    signals_blocked: Arc<AtomicUsize>,
    unfinished: Arc<Mutex<Vec<PathBuf>>>,
}

impl StopFlag {
    /// Requests a stop. Returns whether a stop had been requested before.
    pub fn request(&self) -> bool {
        self.wanted.swap(true, Ordering::Relaxed)
    }

    /// Returns whether a stop was requested.
    pub fn is_set(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Returns the atomic flag for the engine.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wanted)
    }

    /// Returns whether a phase that does not poll the flag is in progress, such as the construction of a large network.
    pub fn is_blocked(&self) -> bool {
        self.signals_blocked.load(Ordering::Relaxed) > 0
    }

    /// Begins a phase that does not poll the flag; it lasts until the returned guard is dropped.
    pub fn block_signals(&self) -> SignalsBlocked {
        self.signals_blocked.fetch_add(1, Ordering::Relaxed);
        SignalsBlocked(Arc::clone(&self.signals_blocked))
    }

    /// Returns the folders with incomplete results. Before the process ends, they must be cleaned up
    /// ([`record::folder::abandon`]).
    pub fn unfinished_folders(&self) -> Vec<PathBuf> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Registers `folder` as incomplete until the returned guard is dropped.
    pub(crate) fn unfinished(&self, folder: &Path) -> IncompleteFolder {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
        IncompleteFolder { folder: folder.to_owned(), all: Arc::clone(&self.unfinished) }
    }
}

/// Guard of a phase that does not poll the flag.
#[derive(Debug)]
pub struct SignalsBlocked(Arc<AtomicUsize>);

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Guard of a folder with an incomplete result.
#[derive(Debug)]
pub(crate) struct IncompleteFolder {
    folder: PathBuf,
    all: Arc<Mutex<Vec<PathBuf>>>,
}

impl Drop for IncompleteFolder {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_flags_of_one_process_know_nothing_of_each_other() {
        let (one, other) = (StopFlag::default(), StopFlag::default());
        assert!(!one.request() && one.clone().is_set() && one.request());
        let signals_blocked = one.clone().block_signals();
        let folder = one.unfinished(Path::new("half"));
        assert!(one.is_blocked() && one.unfinished_folders() == [PathBuf::from("half")]);
        assert!(!other.is_set() && !other.is_blocked() && other.unfinished_folders().is_empty());
        drop((signals_blocked, folder));
        assert!(!one.is_blocked() && one.unfinished_folders().is_empty());
    }
}
