//! Files that are written atomically and do not replace files that Tidegate did not write.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::manifest::{found, hash_bytes, hash_file};
use crate::temporary;
pub use crate::temporary::is_temporary;

/// Appends `suffix` to the last component of `path`: `out/run` and `.partial` give `out/run.partial`.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// Buffered writing to a temporary file in the directory of `path`, which is renamed to `path` at the end. If it is
/// dropped before, the temporary file is removed; if the process is killed, it remains until the next writer of this
/// path. A device or a pipe is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    /// The given path is a symbolic link to `target`.
    linked: bool,
    // `None` after the rename, and for devices and pipes.
    temporary: Option<PathBuf>,
    // `None` after `close`.
    writer: Option<BufWriter<File>>,
    // The open temporary file, whose lock keeps other processes from it until the rename.
    lock: Option<File>,
}

impl AtomicFile {
    /// Starts a file at `path`; if that is a symbolic link, at its target.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`], also for a directory.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let unwritable = || RecordError::unwritable("create", path);
        let linked = found(path)?.is_some_and(|found| found.is_symlink());
        let target = if linked { path.canonicalize().map_err(unwritable())? } else { path.to_owned() };
        let kind = fs::metadata(&target).ok().map(|found| found.file_type());
        if path.file_name().is_none() || kind.is_some_and(|kind| kind.is_dir()) {
            return Err(unwritable()(io::ErrorKind::IsADirectory.into()));
        }
        let (temporary, file) = if kind.is_some_and(|kind| !kind.is_file()) {
            (None, File::options().write(true).open(&target).map_err(unwritable())?)
        } else {
            let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
            let name = target.file_name().unwrap_or_default().to_string_lossy();
            let (path, file) = temporary::create(parent.unwrap_or(Path::new(".")), &name).map_err(unwritable())?;
            (Some(path), file)
        };
        Ok(AtomicFile { target, linked, temporary, writer: Some(BufWriter::with_capacity(1 << 16, file)), lock: None })
    }

    /// Returns the final path of the file.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes formatted text, with [`RecordError`] as error type.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn print(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), RecordError> {
        let result = self.write_fmt(text);
        result.map_err(RecordError::unwritable("write", &self.target))
    }

    /// Ends writing, so that all errors of writing are found before the rename.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(&mut self) -> Result<(), RecordError> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let flushed = writer.flush().map_err(RecordError::unwritable("write", &self.target));
        // The handle stays open for its lock. `into_parts` does not flush again after an error.
        self.lock = Some(writer.into_parts().0);
        flushed
    }

    /// Renames the file to its target, replacing any existing file: only for files in folders of Tidegate.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; the target is then unchanged.
    pub fn commit(mut self) -> Result<(), RecordError> {
        self.close()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.target).map_err(RecordError::unwritable("create", &self.target))?;
            self.temporary = None;
        }
        Ok(())
    }

    /// Renames the file to its target if the target does not exist, has equal content, or is a file of Tidegate with a
    /// valid [seal](sealed). With `force`, it replaces any file.
    ///
    /// # Errors
    /// [`RecordError::NotOurs`] for any other file at the target; [`RecordError::Unwritable`]. The target is then
    /// unchanged.
    pub fn commit_over(mut self, force: bool) -> Result<(), RecordError> {
        self.close()?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if force || found(&self.target)?.is_none() {
            return self.commit();
        }
        if hash_file(temporary)? == hash_file(&self.target)? {
            // Equal content: `drop` removes the temporary file.
            return Ok(());
        }
        let not_ours = |why| RecordError::NotOurs { path: self.target.clone(), why };
        if self.linked {
            return Err(not_ours("is the target of a symbolic link"));
        }
        match seal_holds(&fs::read(&self.target).map_err(RecordError::unreadable(&self.target))?) {
            Some(true) => self.commit(),
            Some(false) => Err(not_ours("was modified since Tidegate wrote it")),
            None => Err(not_ours("exists with other content, and has no mark of Tidegate")),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(writer) => writer.write(bytes),
            None => Err(io::Error::other("the file was closed")),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // `into_parts` does not flush: the buffered bytes are discarded with the file. Its lock is released after the
        // removal, because the name belongs to the next writer then.
        let _locked = self.writer.take().map(BufWriter::into_parts);
        if let Some(temporary) = &self.temporary {
            // `drop` cannot report a failure, and a remaining temporary file is harmless.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes `bytes` to `path` atomically, replacing any existing file: only for folders of Tidegate.
///
/// # Errors
/// [`RecordError::Unwritable`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    written(path, bytes)?.commit()
}

/// Writes `bytes` to `path` atomically, if this file does not exist or Tidegate wrote it ([`AtomicFile::commit_over`]);
/// with `force`, replaces any file.
///
/// # Errors
/// [`RecordError::NotOurs`], [`RecordError::Unwritable`].
pub fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), RecordError> {
    written(path, bytes)?.commit_over(force)
}

/// Writes `bytes` to a temporary file and closes it, without renaming it to `path`.
pub(crate) fn written(path: &Path, bytes: &[u8]) -> Result<AtomicFile, RecordError> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(RecordError::unwritable("write", path))?;
    file.close()?;
    Ok(file)
}

const SEAL: &str = "<!-- tidegate sha256 ";
const SEAL_END: &str = " -->\n";

/// Adds a seal to HTML or SVG: a comment in the last line with the SHA-256 of the preceding text. A valid seal
/// identifies a file that Tidegate wrote and that was not changed.
pub fn sealed(mut markup: String) -> String {
    if !markup.ends_with('\n') {
        markup.push('\n');
    }
    let hash = hash_bytes(markup.as_bytes());
    markup + SEAL + &hash + SEAL_END
}

/// Returns `true` if the SHA-256 in the seal equals that of the preceding text; `None` without a seal.
fn seal_holds(bytes: &[u8]) -> Option<bool> {
    let hash_at = bytes.len().checked_sub(SEAL_END.len() + 64)?;
    let before = bytes[..hash_at].strip_suffix(SEAL.as_bytes())?;
    let hash = bytes[hash_at..].strip_suffix(SEAL_END.as_bytes())?;
    Some(hash_bytes(before).as_bytes() == hash)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// An empty directory for one test, removed when dropped.
    pub(crate) struct Scratch(pub(crate) PathBuf);

    impl Scratch {
        pub(crate) fn new(name: &str) -> Scratch {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("tidegate-record-{name}-{}-{number}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
        pub(crate) fn names(&self) -> Vec<String> {
            let mut names: Vec<String> =
                fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }
    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_target_does_not_exist_before_the_commit() {
        let scratch = Scratch::new("file");
        let path = scratch.0.join("a.txt");
        let mut file = AtomicFile::create(&path).unwrap();
        file.print(format_args!("one {}\n", 1)).unwrap();
        file.flush().unwrap();
        assert!(matches!(scratch.names().as_slice(), [only] if is_temporary(only)));
        file.commit().unwrap();
        assert_eq!(scratch.names(), ["a.txt"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one 1\n");
    }

    #[test]
    fn a_dropped_file_keeps_the_old_one() {
        let scratch = Scratch::new("file-drop");
        let path = scratch.0.join("a.txt");
        write_whole(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half of the new").unwrap();
        drop(file);
        assert_eq!(scratch.names(), ["a.txt"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn an_unwritable_path_is_named() {
        let error = write_whole(Path::new("/dev/null/none/a.txt"), b"x").unwrap_err();
        assert!(!error.is_machine_failure(), "a file was named that cannot exist: {error}");
        assert!(error.to_string().contains("/dev/null/none/a.txt: "), "{error}");
        let scratch = Scratch::new("file-folder");
        for folder in [scratch.0.clone(), scratch.0.join(".."), PathBuf::from("/")] {
            let error = write_file(&folder, b"x", true).unwrap_err();
            assert!(!error.is_machine_failure() && error.to_string().contains("directory"), "{error}");
        }
    }

    #[test]
    fn only_what_tidegate_wrote_is_replaced_without_force() {
        let scratch = Scratch::new("file-ours");
        let path = scratch.0.join("a.svg");
        let refused = |bytes: &[u8], why: &str| {
            let error = write_file(&path, bytes, false).unwrap_err();
            assert!(matches!(error, RecordError::NotOurs { .. }) && error.to_string().contains(why), "{error}");
            assert!(!error.is_machine_failure());
        };
        fs::write(&path, b"thesis").unwrap();
        refused(b"new", "has no mark of Tidegate");
        write_file(&path, b"thesis", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"thesis");
        write_file(&path, sealed("<svg/>".to_owned()).as_bytes(), true).unwrap();
        let second = sealed("<svg>2</svg>\n".to_owned());
        write_file(&path, second.as_bytes(), false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), second);
        fs::write(&path, second.replace("<svg>2", "<svg>3")).unwrap();
        refused(b"new", "was modified since");
        fs::write(&path, second + "<!-- a note -->\n").unwrap();
        refused(b"new", "has no mark of Tidegate");
        assert_eq!(scratch.names(), ["a.svg"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_with_force_only_and_devices_are_written_to() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new("file-links");
        let at = |name: &str| scratch.0.join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/real"), b"thesis").unwrap();
        symlink(at("elsewhere/real"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        let error = write_file(&at("link"), b"new", false).unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert!(write_file(&at("dangling"), b"new", true).is_err());
        write_file(&at("link"), b"new", true).unwrap();
        assert!(at("link").is_symlink() && fs::read(at("elsewhere/real")).unwrap() == b"new");
        write_file(Path::new("/dev/null"), b"new", false).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(scratch.names(), ["dangling", "elsewhere", "link"]);
    }
}
