//! How whoever runs something asks it to end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A flag that ends what runs, with what its owner must know who cannot wait: whether anybody looks at the flag now,
/// and which folders are unfinished. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    wanted: Arc<AtomicBool>,
    /// Threads that do something during which nobody looks.
    deaf: Arc<AtomicUsize>,
    unfinished: Arc<Mutex<Vec<PathBuf>>>,
}

impl Stop {
    /// Asks for an end; whether somebody had asked before.
    pub fn ask(&self) -> bool {
        self.wanted.swap(true, Ordering::Relaxed)
    }

    /// Whether somebody asked for an end.
    pub fn is_asked(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// What [`Stop::is_asked`] looks at, for an engine that looks by itself.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wanted)
    }

    /// Whether something is under way that cannot hear, such as the building of a large network.
    pub fn is_deaf(&self) -> bool {
        self.deaf.load(Ordering::Relaxed) > 0
    }

    /// Begins such a time; it lasts until what this returns is dropped.
    pub fn deaf(&self) -> Deaf {
        self.deaf.fetch_add(1, Ordering::Relaxed);
        Deaf(Arc::clone(&self.deaf))
    }

    /// Folders that hold half a result now: whoever ends the process must abandon them ([`record::folder::abandon`]).
    pub fn unfinished_folders(&self) -> Vec<PathBuf> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that `folder` is one, until what this returns is dropped.
    pub(crate) fn unfinished(&self, folder: &Path) -> Unfinished {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
        Unfinished { folder: folder.to_owned(), all: Arc::clone(&self.unfinished) }
    }
}

/// Nobody looks at the flag while it lives.
#[derive(Debug)]
pub struct Deaf(Arc<AtomicUsize>);

impl Drop for Deaf {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A folder holds half a result while it lives.
#[derive(Debug)]
pub(crate) struct Unfinished {
    folder: PathBuf,
    all: Arc<Mutex<Vec<PathBuf>>>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_flags_of_one_process_know_nothing_of_each_other() {
        let (one, other) = (Stop::default(), Stop::default());
        assert!(!one.ask() && one.clone().is_asked() && one.ask());
        let deaf = one.clone().deaf();
        let folder = one.unfinished(Path::new("half"));
        assert!(one.is_deaf() && one.unfinished_folders() == [PathBuf::from("half")]);
        assert!(!other.is_asked() && !other.is_deaf() && other.unfinished_folders().is_empty());
        drop((deaf, folder));
        assert!(!one.is_deaf() && one.unfinished_folders().is_empty());
    }
}
