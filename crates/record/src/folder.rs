//! A result folder that appears whole or not at all.
//!
//! A run writes into `<target>.partial` and renames it at the end, so whoever sees the target sees a
//! complete result, and a killed run never passes for a finished one. Nothing is synced to the
//! platter: the promise is about processes that die, not about power.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::RecordError;
use crate::file::{WholeFile, sibling, write_whole};
use crate::results_hash::results_hash;
use crate::summary::Summary;
use crate::timing::Timing;

/// Marks a folder as the unfinished work of this crate, so that a leftover may be removed; its lock
/// tells a killed writer from a living one.
const MARKER: &str = ".tidegate-partial";
/// The file that makes a folder a result.
pub const SUMMARY_FILE: &str = "summary.json";
/// What depends on the machine; the only file outside the results hash.
pub const TIMING_FILE: &str = "timing.json";

/// A result in the making. Dropped before [`ResultFolder::commit`], it leaves no trace and an earlier
/// result at the target untouched.
#[derive(Debug)]
pub struct ResultFolder {
    target: PathBuf,
    partial: PathBuf,
    // Held open for its lock; `None` once the folder is no longer ours to remove.
    marker: Option<File>,
}

impl ResultFolder {
    /// Starts a result that will stand at `target`; missing parents are created. A target that is an
    /// earlier result will be replaced at the commit; what a killed run left is cleared away.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if something else stands there, [`RecordError::Busy`] if another
    /// process writes the same target, [`RecordError::BadTarget`], [`RecordError::Unwritable`].
    pub fn create(target: &Path) -> Result<Self, RecordError> {
        // Components drop a trailing slash, which would otherwise put the sibling inside the target.
        let target: PathBuf = target.components().collect();
        if !matches!(target.components().next_back(), Some(Component::Normal(_))) {
            return Err(RecordError::BadTarget { path: target });
        }
        if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(RecordError::unwritable("create", parent))?;
        }
        let partial = sibling(&target, ".partial");
        let marker = claim(&target, &partial)?;
        let folder = ResultFolder { target, partial, marker: Some(marker) };
        folder.restore_interrupted_replacement()?;
        folder.check_target()?;
        Ok(folder)
    }

    /// Where to write: the temporary folder, which becomes the target.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Where the result will stand.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Starts the file `name` of the result.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn file(&self, name: &str) -> Result<WholeFile, RecordError> {
        WholeFile::create(&self.partial.join(name))
    }

    /// Writes the file `name` of the result.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.partial.join(name), bytes)
    }

    /// Writes `summary.json` with the hash of all results, which is also set in `summary`, and
    /// `timing.json`, then commits. Every other file must be closed by now.
    ///
    /// # Errors
    /// Those of [`ResultFolder::commit`] and [`results_hash`].
    pub fn finish(self, summary: &mut Summary, timing: &Timing) -> Result<(), RecordError> {
        summary.results_hash.clear();
        self.write(SUMMARY_FILE, summary.to_json().as_bytes())?;
        summary.results_hash = results_hash(&self.partial)?;
        self.write(SUMMARY_FILE, summary.to_json().as_bytes())?;
        self.write(TIMING_FILE, timing.to_json().as_bytes())?;
        self.commit()
    }

    /// Renames the folder to its target, replacing an earlier result.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if something else has come to stand at the target,
    /// [`RecordError::Unwritable`]; the target is then as it was, and the finished result stays at
    /// [`ResultFolder::path`]: hours of work are not thrown away for a name.
    pub fn commit(mut self) -> Result<(), RecordError> {
        // The marker moves with the folder and its lock is held until it is gone: killed anywhere in between,
        // what is left is either known as ours or stands whole at the target.
        let _lock = self.marker.take();
        self.check_target().and_then(|()| self.rename()).inspect_err(|_| {
            // Without its marker the finished work is safe from the next writer at this target.
            let _ = fs::remove_file(self.partial.join(MARKER));
        })?;
        let marker = self.target.join(MARKER);
        fs::remove_file(&marker).map_err(RecordError::unwritable("remove", &marker))
    }

    fn rename(&self) -> Result<(), RecordError> {
        let replaced = sibling(&self.target, ".replaced");
        let replaces = self.target.exists();
        if replaces {
            fs::rename(&self.target, &replaced).map_err(RecordError::unwritable("replace", &self.target))?;
        }
        if let Err(source) = fs::rename(&self.partial, &self.target) {
            if replaces {
                let _ = fs::rename(&replaced, &self.target);
            }
            return Err(RecordError::Unwritable { action: "create", path: self.target.clone(), source });
        }
        if replaces {
            remove_folder(&replaced, SUMMARY_FILE)?;
        }
        Ok(())
    }

    /// An earlier commit killed between its two renames leaves the old result beside an empty place:
    /// put it back. Killed after them, it leaves rubbish.
    fn restore_interrupted_replacement(&self) -> Result<(), RecordError> {
        let replaced = sibling(&self.target, ".replaced");
        if !replaced.exists() {
            return Ok(());
        }
        if !is_replaceable(&replaced)? {
            return Err(RecordError::Occupied { path: replaced });
        }
        if self.target.exists() {
            remove_folder(&replaced, SUMMARY_FILE)
        } else {
            fs::rename(&replaced, &self.target).map_err(RecordError::unwritable("restore", &self.target))
        }
    }

    fn check_target(&self) -> Result<(), RecordError> {
        match self.target.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(RecordError::unreadable(&self.target)(error)),
            Ok(_) if is_replaceable(&self.target)? => Ok(()),
            Ok(_) => Err(RecordError::Occupied { path: self.target.clone() }),
        }
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        // The lock goes last, so that nobody else's work is in the folder when it is removed.
        if let Some(_lock) = self.marker.take() {
            // Best effort: what is left over, the next run at this target clears away.
            let _ = remove_folder(&self.partial, MARKER);
        }
    }
}

/// Makes `partial` an empty folder that this process has locked.
fn claim(target: &Path, partial: &Path) -> Result<File, RecordError> {
    let marker_path = partial.join(MARKER);
    match fs::create_dir(partial) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !marker_path.exists() && !is_empty_folder(partial)? {
                return Err(RecordError::Occupied { path: partial.to_owned() });
            }
        }
        Err(error) => return Err(RecordError::unwritable("create", partial)(error)),
    }
    let marker = File::create(&marker_path).map_err(RecordError::unwritable("create", &marker_path))?;
    match marker.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(RecordError::Busy { path: target.to_owned() }),
        // A file system without locks: then the promise about two writers is the user's to keep.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(RecordError::unwritable("lock", &marker_path)(error)),
    }
    // Its owner may have committed between our two calls; then the lock is on a file that is gone.
    if !marker_path.exists() {
        return Err(RecordError::Busy { path: target.to_owned() });
    }
    clear_folder(partial, MARKER)?;
    Ok(marker)
}

/// Removes all that is in `folder` but the file `kept`.
fn clear_folder(folder: &Path, kept: &str) -> Result<(), RecordError> {
    for entry in fs::read_dir(folder).map_err(RecordError::unreadable(folder))? {
        let entry = entry.map_err(RecordError::unreadable(folder))?;
        let path = entry.path();
        if entry.file_name() == kept {
            continue;
        }
        let is_folder = entry.file_type().map_err(RecordError::unreadable(&path))?.is_dir();
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(RecordError::unwritable("remove", &path))?;
    }
    Ok(())
}

/// Removes `folder`, and `last` after all else: killed in between, what is left is still known as ours by it.
fn remove_folder(folder: &Path, last: &str) -> Result<(), RecordError> {
    clear_folder(folder, last)?;
    fs::remove_dir_all(folder).map_err(RecordError::unwritable("remove", folder))
}

fn is_empty_folder(path: &Path) -> Result<bool, RecordError> {
    if !path.is_dir() {
        return Ok(false);
    }
    Ok(fs::read_dir(path).map_err(RecordError::unreadable(path))?.next().is_none())
}

/// True for an empty folder and for an earlier result: nothing of anybody else's is lost with it.
fn is_replaceable(path: &Path) -> Result<bool, RecordError> {
    let kind = path.symlink_metadata().map_err(RecordError::unreadable(path))?;
    Ok(kind.is_dir() && (is_empty_folder(path)? || is_result(path)))
}

/// True if `folder` is a Tidegate result: it contains a `summary.json` with a `results_hash`. The name
/// alone is too common to let a folder be deleted for it.
pub fn is_result(folder: &Path) -> bool {
    let mut text = String::new();
    let read = File::open(folder.join(SUMMARY_FILE)).and_then(|mut file| file.read_to_string(&mut text));
    read.is_ok() && text.contains("\"results_hash\"")
}

/// The summary of the result at `folder`, once all its files have been held against its hash.
///
/// # Errors
/// [`RecordError::Damaged`] where files are missing, cut or changed, as in a folder that was copied by
/// halves; [`RecordError::Json`], [`RecordError::Unreadable`].
pub fn read_verified(folder: &Path) -> Result<Summary, RecordError> {
    let damaged = |what: String| RecordError::Damaged { path: folder.to_owned(), what };
    let file = folder.join(SUMMARY_FILE);
    if !file.is_file() {
        return Err(damaged(format!("it has no {SUMMARY_FILE}")));
    }
    let summary = Summary::read(&file)?;
    if results_hash(folder)? != summary.results_hash {
        return Err(damaged(format!("its files do not add up to the results_hash of its {SUMMARY_FILE}")));
    }
    // A commit that was killed after its rename leaves its marker in a whole result.
    let marker = folder.join(MARKER);
    if let Ok(file) = File::open(&marker)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(&marker);
    }
    Ok(summary)
}

/// Removes what killed writers left below `parent`: their temporary folders; and gives back results that
/// they were replacing. What a living writer holds, and what is not ours, stays.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Unwritable`] where a leftover cannot be removed.
pub fn clear_leftovers(parent: &Path) -> Result<(), RecordError> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(parent).map_err(RecordError::unreadable(parent))? {
        let name = entry.map_err(RecordError::unreadable(parent))?.file_name();
        let Some(name) = name.to_str() else { continue };
        let stem = name.strip_suffix(".partial").or(name.strip_suffix(".replaced"));
        targets.extend(stem.map(|stem| parent.join(stem)));
    }
    for target in targets {
        // A folder that is created and dropped at once takes the leftover with it.
        if let Err(error @ RecordError::Unwritable { .. }) = ResultFolder::create(&target) {
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    const SUMMARY: &[u8] = b"{ \"results_hash\": \"\" }";

    fn finished(target: &Path, content: &[u8]) {
        let folder = ResultFolder::create(target).unwrap();
        folder.write(SUMMARY_FILE, SUMMARY).unwrap();
        folder.write("flows.txt", content).unwrap();
        folder.commit().unwrap();
    }

    #[test]
    fn a_result_appears_at_the_commit_and_replaces_an_earlier_one_whole() {
        let scratch = Scratch::new("folder");
        let target = scratch.0.join("deep/run");
        let folder = ResultFolder::create(&target).unwrap();
        folder.write(SUMMARY_FILE, SUMMARY).unwrap();
        folder.write("only-in-first.txt", b"1").unwrap();
        assert!(!target.exists());
        folder.commit().unwrap();
        assert!(is_result(&target) && target.join("only-in-first.txt").exists());

        finished(&target, b"second");
        let mut names: Vec<_> = fs::read_dir(&target).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["flows.txt", "summary.json"]);
        let siblings: Vec<_> =
            fs::read_dir(target.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(siblings, ["run"]);
    }

    #[test]
    fn a_dropped_folder_leaves_nothing_and_keeps_the_old_result() {
        let scratch = Scratch::new("folder-drop");
        let target = scratch.0.join("run/");
        drop(ResultFolder::create(&target).unwrap());
        assert!(scratch.names().is_empty());
        finished(&target, b"first");
        let folder = ResultFolder::create(&target).unwrap();
        let mut file = folder.file("flows.txt").unwrap();
        file.print(format_args!("half")).unwrap();
        drop(folder);
        assert_eq!(scratch.names(), ["run"]);
        assert_eq!(fs::read(target.join("flows.txt")).unwrap(), b"first");
    }

    #[test]
    fn a_killed_writer_leaves_nothing_at_the_target_and_the_next_one_clears_up() {
        let scratch = Scratch::new("folder-killed");
        let target = scratch.0.join("run");
        // What a kill leaves: the temporary folder with its marker, its lock gone with the process.
        let partial = scratch.0.join("run.partial");
        fs::create_dir_all(partial.join("series")).unwrap();
        fs::write(partial.join(MARKER), b"").unwrap();
        fs::write(partial.join("series/queues.parquet"), b"PAR1 half").unwrap();
        fs::write(partial.join(SUMMARY_FILE), SUMMARY).unwrap();
        assert!(!target.exists());
        let folder = ResultFolder::create(&target).unwrap();
        folder.write("a", b"a").unwrap();
        folder.commit().unwrap();
        let names: Vec<_> = fs::read_dir(&target).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["a"]);
    }

    const VICTIM: &str = "TIDEGATE_RECORD_TEST_VICTIM";

    /// Not a test of its own: the process that the next test runs and that dies while writing.
    #[test]
    fn victim() {
        let Some(target) = std::env::var_os(VICTIM) else {
            return;
        };
        let folder = ResultFolder::create(Path::new(&target)).unwrap();
        folder.write(SUMMARY_FILE, SUMMARY).unwrap();
        let mut file = folder.file("flows.txt").unwrap();
        file.print(format_args!("half a li")).unwrap();
        std::process::abort();
    }

    #[test]
    fn a_process_that_dies_leaves_the_earlier_result_as_it_was() {
        let scratch = Scratch::new("folder-dies");
        let target = scratch.0.join("run");
        finished(&target, b"first");
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", "folder::tests::victim"]).env(VICTIM, &target).output().unwrap();
        assert!(!output.status.success());
        assert_eq!(scratch.names(), ["run", "run.partial"], "it died while writing");
        assert_eq!(fs::read(target.join("flows.txt")).unwrap(), b"first");
        // The lock died with its process: the next writer is not told that somebody is at work.
        finished(&target, b"second");
        assert_eq!(scratch.names(), ["run"]);
        assert_eq!(fs::read(target.join("flows.txt")).unwrap(), b"second");
    }

    #[test]
    fn a_commit_killed_between_its_renames_gives_the_old_result_back() {
        let scratch = Scratch::new("folder-between");
        let target = scratch.0.join("run");
        finished(&target, b"first");
        fs::rename(&target, scratch.0.join("run.replaced")).unwrap();
        drop(ResultFolder::create(&target).unwrap());
        assert_eq!(scratch.names(), ["run"]);
        assert_eq!(fs::read(target.join("flows.txt")).unwrap(), b"first");
    }

    #[test]
    fn what_is_not_ours_is_never_touched() {
        let scratch = Scratch::new("folder-occupied");
        let target = scratch.0.join("thesis");
        fs::create_dir(&target).unwrap();
        drop(ResultFolder::create(&target).unwrap()); // empty: fine
        fs::write(target.join(SUMMARY_FILE), b"{\"chapters\": 7}").unwrap();
        let error = ResultFolder::create(&target).unwrap_err();
        assert!(matches!(error, RecordError::Occupied { .. }), "{error}");
        assert!(!error.is_machine_failure());
        assert_eq!(scratch.names(), ["thesis"]);

        fs::create_dir(scratch.0.join("run.partial")).unwrap();
        fs::write(scratch.0.join("run.partial/mine.txt"), b"mine").unwrap();
        let error = ResultFolder::create(&scratch.0.join("run")).unwrap_err();
        assert!(matches!(error, RecordError::Occupied { .. }), "{error}");
        assert_eq!(fs::read(scratch.0.join("run.partial/mine.txt")).unwrap(), b"mine");

        fs::write(scratch.0.join("plain"), b"").unwrap();
        assert!(matches!(ResultFolder::create(&scratch.0.join("plain")), Err(RecordError::Occupied { .. })));
        assert!(matches!(ResultFolder::create(Path::new("..")), Err(RecordError::BadTarget { .. })));
    }

    #[test]
    fn two_writers_of_one_target_are_told_apart() {
        let scratch = Scratch::new("folder-busy");
        let target = scratch.0.join("run");
        let first = ResultFolder::create(&target).unwrap();
        first.write("a", b"a").unwrap();
        assert!(matches!(ResultFolder::create(&target), Err(RecordError::Busy { .. })));
        fs::create_dir(&target).unwrap();
        fs::write(target.join("theirs.txt"), b"came meanwhile").unwrap();
        assert!(matches!(first.commit(), Err(RecordError::Occupied { .. })));
        assert_eq!(fs::read(scratch.0.join("run.partial/a")).unwrap(), b"a", "the finished work stays");
        fs::remove_dir_all(&target).unwrap();
        fs::remove_dir_all(scratch.0.join("run.partial")).unwrap();

        let first = ResultFolder::create(&target).unwrap();
        first.write("a", b"a").unwrap();
        first.commit().unwrap();
        assert_eq!(fs::read(target.join("a")).unwrap(), b"a");
    }

    #[test]
    fn a_commit_killed_before_its_marker_is_gone_leaves_a_whole_result() {
        let scratch = Scratch::new("folder-marked");
        let target = scratch.0.join("run");
        let folder = ResultFolder::create(&target).unwrap();
        folder.write("flows.txt", b"flows").unwrap();
        folder.finish(&mut Summary::default(), &Timing::default()).unwrap();
        fs::write(target.join(MARKER), b"").unwrap();
        read_verified(&target).unwrap();
        assert!(!target.join(MARKER).exists());
    }

    #[test]
    fn half_a_result_is_told_from_a_whole_one() {
        let scratch = Scratch::new("folder-half");
        let target = scratch.0.join("run");
        let folder = ResultFolder::create(&target).unwrap();
        folder.write("flows.txt", b"flows").unwrap();
        let mut summary = Summary { events: 3, ..Summary::default() };
        folder.finish(&mut summary, &Timing::default()).unwrap();
        assert_eq!(read_verified(&target).unwrap(), summary);
        fs::write(target.join("flows.txt"), b"flo").unwrap();
        let error = read_verified(&target).unwrap_err();
        assert!(error.to_string().contains("do not add up") && !error.is_machine_failure(), "{error}");
        fs::remove_file(target.join(SUMMARY_FILE)).unwrap();
        assert!(read_verified(&target).unwrap_err().to_string().contains("it has no summary.json"));
    }

    #[test]
    fn only_what_killed_writers_left_is_cleared() {
        let scratch = Scratch::new("folder-leftovers");
        let at = |name: &str| scratch.0.join(name);
        let living = ResultFolder::create(&at("living")).unwrap();
        for name in ["killed.partial", "just-begun.partial", "foreign.partial", "old.replaced"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("killed.partial").join(MARKER), b"").unwrap();
        fs::write(at("killed.partial/flows.txt"), b"half").unwrap();
        fs::write(at("foreign.partial/mine.txt"), b"mine").unwrap();
        fs::write(at("old.replaced").join(SUMMARY_FILE), SUMMARY).unwrap();
        clear_leftovers(&scratch.0).unwrap();
        assert_eq!(scratch.names(), ["foreign.partial", "living.partial", "old"]);
        drop(living);
    }

    #[test]
    fn an_unwritable_place_is_the_machine_s_fault() {
        let error = ResultFolder::create(Path::new("/dev/null/run")).unwrap_err();
        assert!(error.is_machine_failure(), "{error}");
    }
}
