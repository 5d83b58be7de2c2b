//! Writes the files of a command to a folder that the user chose.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::RecordError;
use crate::file::{AtomicFile, write_whole};
use crate::folder::{Claim, RESULT};
use crate::manifest::{MANIFEST_FILE, Manifest, PathState, found, hash_bytes, hash_file, is_plain};

/// Base name of the temporary folder in an existing folder; the suffix `.partial` is added.
const GROWING: &str = ".tidegate";

/// Treatment of files that an earlier command of this kind wrote and that the current command does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousFiles {
    /// Keep them: the folder accumulates files.
    Kept,
    /// Remove them, unless they were changed: the files of the folder form one output.
    Removed,
}

/// Files that are collected in a temporary folder until all are complete: for more data than memory can hold, and for
/// several threads. If it is dropped before [`NewFiles::commit`], all files are removed. If the process is killed, the
/// temporary folder remains, and the next writer with this target removes it.
///
/// It replaces only files that Tidegate wrote in a folder of this kind; with `force`, any file of these names.
#[derive(Debug)]
pub struct NewFiles<'a> {
    folder: &'a Path,
    force: bool,
    known: Manifest,
    /// Names of the files and the SHA-256 of their contents.
    ready: Mutex<Vec<(String, String)>>,
    /// The temporary folder: inside the folder if that exists, otherwise next to it.
    growing: Claim,
    /// Directories that were created. Declared after `growing`, so that it is dropped after it: a directory can be
    /// removed only when it is empty.
    made: CreatedDirectories,
}

impl<'a> NewFiles<'a> {
    /// Claims a temporary folder inside `folder` if that exists, otherwise next to it.
    ///
    /// # Errors
    /// [`RecordError::OtherKind`], [`RecordError::Busy`] while another process writes to `folder`,
    /// [`RecordError::Unwritable`].
    pub fn open(folder: &'a Path, kind: &str, force: bool) -> Result<NewFiles<'a>, RecordError> {
        let parent = folder.parent().unwrap_or(folder);
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = CreatedDirectories(parent.ancestors().take_while(missing).map(Path::to_owned).collect());
        let growing = if missing(&folder) {
            fs::create_dir_all(parent).map_err(RecordError::unwritable("create", folder))?;
            Claim::beside(&folder.components().collect::<PathBuf>())?
        } else {
            fs::create_dir_all(folder).map_err(RecordError::unwritable("create", folder))?;
            // Another process may be creating this folder, or may have been killed before or after it renamed the
            // folder.
            Claim::clear_beside(folder)?;
            Claim::beside(&folder.join(GROWING))?
        };
        let known = check_files(folder, kind, [], force)?;
        Ok(NewFiles { folder, force, known, ready: Mutex::default(), growing, made })
    }

    /// Writes a file, which becomes visible at [`NewFiles::commit`]. Each name may be used only once.
    ///
    /// # Errors
    /// [`RecordError::NotOurs`] for an existing file that Tidegate did not write or that was changed,
    /// [`RecordError::BadName`] for an invalid name, [`RecordError::Unwritable`].
    pub fn add(&self, name: &str, content: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.writable_path(name)?, content)?;
        self.grown(name, hash_bytes(content));
        Ok(())
    }

    /// Like [`NewFiles::add`], for a file whose content `write` writes incrementally.
    ///
    /// # Errors
    /// Those of [`NewFiles::add`] and of `write`.
    pub fn add_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut AtomicFile) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let path = self.writable_path(name)?;
        let mut file = AtomicFile::create(&path)?;
        write(&mut file)?;
        file.commit()?;
        self.grown(name, hash_file(&path)?);
        Ok(())
    }

    /// Checks that the file may be written, and returns its temporary path.
    fn writable_path(&self, name: &str) -> Result<PathBuf, RecordError> {
        check_file(self.folder, &self.known, name, self.force)?;
        let path = self.folder.join(name);
        if path.is_dir() {
            return Err(RecordError::unwritable("create", &path)(io::ErrorKind::IsADirectory.into()));
        }
        self.growing.writable_path(name)
    }

    fn grown(&self, name: &str, hash: String) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), hash));
    }

    /// Renames all files to their final paths and writes the manifest.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn commit(self, earlier: PreviousFiles) -> Result<(), RecordError> {
        // Locals are dropped in reverse order: the claimed folder before its parents.
        let NewFiles { folder, force, known, ready, mut made, growing } = self;
        let ready = ready.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut new = Manifest::new(known.kind());
        ready.iter().for_each(|(name, hash)| new.add(name, hash));
        let list = |folder: &Path, manifest: &Manifest| {
            write_whole(&folder.join(MANIFEST_FILE), manifest.to_text().as_bytes())
        };
        if found(folder)?.is_none() {
            list(growing.path(), &new)?;
            growing.rename_to(folder)?;
            made.0.clear();
            return Ok(());
        }
        // Check again, because files may have been created in `folder` since `add`.
        ready.iter().try_for_each(|(name, _)| check_file(folder, &known, name, force))?;
        // The manifest has old and new hashes before the renames, so that both versions are recognised if the process
        // is killed between the renames.
        list(folder, &new.clone().joined(&known))?;
        made.0.clear();
        for (name, _) in &ready {
            let mut path = folder.join(name);
            if found(&path)?.is_some_and(|found| found.is_symlink()) {
                path = path.canonicalize().map_err(RecordError::unwritable("create", &path))?;
            }
            fs::rename(growing.path().join(name), &path).map_err(RecordError::unwritable("create", &path))?;
        }
        let names = new.names();
        let mut rest: BTreeSet<&str> = known.names();
        rest.retain(|name| !names.contains(name));
        if earlier == PreviousFiles::Removed {
            for &name in &rest {
                if known.standing(folder, name)? == PathState::Ours {
                    let path = folder.join(name);
                    fs::remove_file(&path).map_err(RecordError::unwritable("remove", &path))?;
                }
            }
            rest.clear();
        }
        let kept = known.clone().without(&known.names().into_iter().filter(|name| !rest.contains(name)).collect());
        list(folder, &new.joined(&kept))
    }
}

/// Directories created for files that may not be completed; the innermost first.
#[derive(Debug)]
struct CreatedDirectories(Vec<PathBuf>);

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        // Directories with other files are not empty, so that they are not removed.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Writes `files`, given by name and content, and their manifest into `folder`, which is created if it is missing. All
/// temporary files are complete before the first one is renamed.
///
/// It replaces only files that Tidegate wrote in a folder of this `kind`; with `force`, any file of these names.
///
/// # Errors
/// [`RecordError::NotOurs`] for an existing file that Tidegate did not write or that was changed,
/// [`RecordError::OtherKind`], [`RecordError::BadName`] for an invalid name, [`RecordError::Unwritable`]. The files are
/// then unchanged.
pub fn write_files(
    folder: &Path,
    kind: &str,
    files: &[(&str, &[u8])],
    earlier: PreviousFiles,
    force: bool,
) -> Result<(), RecordError> {
    let new = NewFiles::open(folder, kind, force)?;
    files.iter().try_for_each(|(name, content)| new.add(name, content))?;
    new.commit(earlier)
}

/// Checks, before a long computation, that [`write_files`] may write files of these names. Returns the manifest of the
/// files that Tidegate wrote in `folder` as this kind.
///
/// # Errors
/// Those of [`write_files`].
pub fn check_files<'a>(
    folder: &Path,
    kind: &str,
    names: impl IntoIterator<Item = &'a str>,
    force: bool,
) -> Result<Manifest, RecordError> {
    let known = match Manifest::read(folder) {
        Ok(Some(known)) if known.kind() == kind => known,
        // The manifest of a result is never replaced, because without it the result would not be recognised.
        Ok(Some(known)) if !force || known.kind() == RESULT => {
            let (found, wanted) = (known.kind().to_owned(), kind.to_owned());
            return Err(RecordError::OtherKind { path: folder.to_owned(), found, wanted });
        }
        Err(RecordError::Line { .. }) | Ok(_) if force => Manifest::new(kind),
        Ok(_) => Manifest::new(kind),
        Err(error) => return Err(error),
    };
    names.into_iter().try_for_each(|name| check_file(folder, &known, name, force))?;
    Ok(known)
}

/// Checks that the file `name` may be written, given the manifest `known`.
fn check_file(folder: &Path, known: &Manifest, name: &str, force: bool) -> Result<(), RecordError> {
    let path = folder.join(name);
    if !is_plain(name) {
        return Err(RecordError::BadName { path });
    }
    let why = match known.standing(folder, name)? {
        _ if force => return Ok(()),
        PathState::Free | PathState::Ours => return Ok(()),
        PathState::Changed => "was modified since Tidegate wrote it",
        PathState::Foreign => "exists and was not written by Tidegate",
    };
    Err(RecordError::NotOurs { path, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    fn write(
        scratch: &Scratch,
        kind: &str,
        files: &[(&str, &str)],
        earlier: PreviousFiles,
        force: bool,
    ) -> Result<(), RecordError> {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        write_files(&scratch.0, kind, &files, earlier, force)
    }

    #[test]
    fn a_folder_is_written_again_and_what_is_the_user_s_stays() {
        let scratch = Scratch::new("files");
        let read = |name: &str| fs::read_to_string(scratch.0.join(name)).unwrap();
        fs::write(scratch.0.join("thesis.txt"), "years").unwrap();
        write(&scratch, "export", &[("a", "1"), ("b", "1")], PreviousFiles::Removed, false).unwrap();
        write(&scratch, "export", &[("a", "2"), ("c", "2")], PreviousFiles::Removed, false).unwrap();
        assert_eq!(scratch.names(), ["a", "c", "thesis.txt", MANIFEST_FILE]);
        write(&scratch, "export", &[("d", "3")], PreviousFiles::Kept, false).unwrap();
        assert_eq!((read("a"), read("d")), ("2".to_owned(), "3".to_owned()));
        let known = Manifest::read(&scratch.0).unwrap().unwrap();
        assert_eq!(known.names().into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);

        // A changed file is not removed, even if the folder is rewritten without it.
        fs::write(scratch.0.join("c"), "by hand").unwrap();
        let error = write(&scratch, "export", &[("c", "4")], PreviousFiles::Removed, false).unwrap_err();
        assert!(matches!(error, RecordError::NotOurs { .. }) && error.to_string().contains("modified"), "{error}");
        write(&scratch, "export", &[("a", "4")], PreviousFiles::Removed, false).unwrap();
        assert_eq!((read("c"), read("thesis.txt")), ("by hand".to_owned(), "years".to_owned()));

        let error =
            write(&scratch, "export", &[("a", "5"), ("thesis.txt", "5")], PreviousFiles::Removed, false).unwrap_err();
        assert!(error.to_string().ends_with("thesis.txt exists and was not written by Tidegate"), "{error}");
        assert_eq!(read("a"), "4", "nothing is written where one file does not do");
        write(&scratch, "export", &[("thesis.txt", "5")], PreviousFiles::Kept, true).unwrap();
        assert_eq!(read("thesis.txt"), "5");
    }

    #[test]
    fn one_kind_of_folder_does_not_take_the_place_of_another() {
        let scratch = Scratch::new("files-kind");
        write(&scratch, "config-db", &[("S1.json", "1")], PreviousFiles::Removed, false).unwrap();
        let error = write(&scratch, "sonic", &[("S1.json", "2")], PreviousFiles::Removed, false).unwrap_err();
        assert!(matches!(error, RecordError::OtherKind { .. }), "{error}");
        write(&scratch, "sonic", &[("S2.json", "2")], PreviousFiles::Removed, true).unwrap();
        assert_eq!(scratch.names(), ["S1.json", "S2.json", MANIFEST_FILE], "nothing but these names is overwritten");
        let list = Manifest::new(RESULT).to_text();
        fs::write(scratch.0.join(MANIFEST_FILE), &list).unwrap();
        let error = write(&scratch, "sonic", &[("S3.json", "2")], PreviousFiles::Removed, true).unwrap_err();
        assert!(matches!(error, RecordError::OtherKind { .. }), "{error}");
        assert_eq!(fs::read_to_string(scratch.0.join(MANIFEST_FILE)).unwrap(), list);
    }

    #[test]
    fn files_of_many_threads_appear_together_or_not_at_all() {
        let scratch = Scratch::new("files-threads");
        let folder = scratch.0.join("deep/down");
        let filled = || {
            let new = NewFiles::open(&folder, "export", false).unwrap();
            let add = |from: usize| (from..from + 50).try_for_each(|at| new.add(&format!("S{at}"), b"1"));
            std::thread::scope(|scope| {
                let other = scope.spawn(|| add(50));
                add(0).and(other.join().unwrap()).unwrap();
            });
            new
        };
        drop(filled());
        assert!(scratch.names().is_empty(), "the folders were made for these files alone");
        let new = filled();
        assert!(!folder.exists(), "all of it appears at once");
        assert!(matches!(new.add("../S1", b"1"), Err(RecordError::BadName { .. })));
        new.commit(PreviousFiles::Removed).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 101, "and the list of them");
        drop(filled());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 101, "what stood there stays");
        fs::write(folder.join("S7"), "by hand").unwrap();
        let new = NewFiles::open(&folder, "export", false).unwrap();
        assert!(matches!(new.add("S7", b"1"), Err(RecordError::NotOurs { .. })));
    }

    /// Reproduces the state after a killed writer: its folder and marker exist, and its lock was released when the
    /// process ended.
    fn killed(partial: &Path) {
        fs::create_dir_all(partial).unwrap();
        fs::write(partial.join(".tidegate-partial"), "S1\nS2\n").unwrap();
        fs::write(partial.join("S1"), "half").unwrap();
        fs::write(partial.join(".tidegate-0123456789abcdef.tmp"), "of S2").unwrap();
    }

    #[test]
    fn what_a_killed_writer_left_goes_with_the_next_and_a_living_one_is_not_disturbed() {
        let scratch = Scratch::new("files-killed");
        let folder = scratch.0.join("out");
        let write = || write_files(&folder, "export", &[("S1", b"1")], PreviousFiles::Removed, false);
        let names = || {
            let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            entries.collect::<BTreeSet<String>>()
        };
        let expected = BTreeSet::from(["S1".to_owned(), MANIFEST_FILE.to_owned()]);
        killed(&scratch.0.join("out.partial"));
        write().unwrap();
        assert_eq!((scratch.names(), names()), (vec!["out".to_owned()], expected.clone()));
        killed(&folder.join(".tidegate.partial"));
        fs::write(folder.join(".tidegate.partial/thesis.txt"), "years").unwrap();
        write().unwrap();
        assert_eq!(fs::read_to_string(folder.join(".tidegate.partial/thesis.txt")).unwrap(), "years");
        fs::remove_dir_all(folder.join(".tidegate.partial")).unwrap();
        assert_eq!(names(), expected);

        // One writer was killed just after it had renamed its folder to the target; another writer, which was to
        // replace it, was killed, too.
        fs::write(folder.join(".tidegate-partial"), "S1\n").unwrap();
        killed(&scratch.0.join("out.partial"));
        write().unwrap();
        assert_eq!((scratch.names(), names()), (vec!["out".to_owned()], expected.clone()));

        let living = NewFiles::open(&folder, "export", false).unwrap();
        living.add("S1", b"2").unwrap();
        assert!(matches!(write(), Err(RecordError::Busy { .. })));
        assert_eq!(fs::read_to_string(folder.join("S1")).unwrap(), "1");
        living.commit(PreviousFiles::Removed).unwrap();
        assert_eq!((fs::read_to_string(folder.join("S1")).unwrap(), names()), ("2".to_owned(), expected));
    }

    #[test]
    fn names_that_lead_elsewhere_and_folders_that_are_files_are_refused() {
        let scratch = Scratch::new("files-names");
        for name in ["../a", "a/b", "", MANIFEST_FILE] {
            let error = write(&scratch, "export", &[(name, "1")], PreviousFiles::Kept, true).unwrap_err();
            assert!(matches!(error, RecordError::BadName { .. }), "{name}: {error}");
        }
        assert!(scratch.names().is_empty());
        fs::write(scratch.0.join("plain"), "years").unwrap();
        let error =
            write_files(&scratch.0.join("plain"), "export", &[("a", b"1")], PreviousFiles::Kept, true).unwrap_err();
        assert!(!error.is_machine_failure(), "{error}");
        fs::write(scratch.0.join(MANIFEST_FILE), "my own sums").unwrap();
        assert!(write(&scratch, "export", &[("a", "1")], PreviousFiles::Kept, false).is_err());
        assert_eq!(fs::read_to_string(scratch.0.join(MANIFEST_FILE)).unwrap(), "my own sums");
    }
}
