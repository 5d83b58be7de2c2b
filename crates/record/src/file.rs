//! A file that appears whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::RecordError;

/// `path` with `suffix` after its last component: `out/run` and `.partial` give `out/run.partial`.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// Buffered writing to `<path>.partial`, renamed to `path` by [`WholeFile::commit`]. Dropped without a
/// commit, it leaves nothing behind; killed, it leaves at most the `.partial` file.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    partial: PathBuf,
    // `None` once committed, so that dropping knows there is nothing to remove.
    writer: Option<BufWriter<File>>,
}

impl WholeFile {
    /// Starts a file that will stand at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let partial = sibling(path, ".partial");
        let file = File::create(&partial).map_err(RecordError::unwritable("create", &partial))?;
        Ok(WholeFile { target: path.to_owned(), partial, writer: Some(BufWriter::with_capacity(1 << 16, file)) })
    }

    /// Where the file will stand.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes a formatted piece of text, with the error typed.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn print(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), RecordError> {
        let result = self.write_fmt(text);
        result.map_err(RecordError::unwritable("write", &self.target))
    }

    /// Flushes and renames: from here on the file exists, replacing one of the same name.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; the target is then untouched.
    pub fn commit(mut self) -> Result<(), RecordError> {
        if let Some(writer) = &mut self.writer {
            writer.flush().map_err(RecordError::unwritable("write", &self.target))?;
        }
        fs::rename(&self.partial, &self.target).map_err(RecordError::unwritable("create", &self.target))?;
        self.writer = None;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(writer) => writer.write(bytes),
            None => Err(io::Error::other("the file was committed")),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // Taken apart without a flush: what is buffered goes with the file. Nobody is left to hear
            // of a failure, and a stray .partial file harms no reader.
            drop(writer.into_parts());
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Writes `bytes` to `path`, whole or not at all.
///
/// # Errors
/// [`RecordError::Unwritable`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(RecordError::unwritable("write", path))?;
    file.commit()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// An empty folder of the test's own, removed when dropped.
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
    fn nothing_stands_at_the_target_before_the_commit() {
        let scratch = Scratch::new("file");
        let path = scratch.0.join("a.txt");
        let mut file = WholeFile::create(&path).unwrap();
        file.print(format_args!("one {}\n", 1)).unwrap();
        file.flush().unwrap();
        assert_eq!(scratch.names(), ["a.txt.partial"]);
        file.commit().unwrap();
        assert_eq!(scratch.names(), ["a.txt"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one 1\n");
    }

    #[test]
    fn a_dropped_file_keeps_the_old_one() {
        let scratch = Scratch::new("file-drop");
        let path = scratch.0.join("a.txt");
        write_whole(&path, b"old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half of the new").unwrap();
        drop(file);
        assert_eq!(scratch.names(), ["a.txt"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn an_unwritable_place_says_where() {
        let error = write_whole(Path::new("/dev/null/none/a.txt"), b"x").unwrap_err();
        assert!(error.is_machine_failure());
        assert!(error.to_string().starts_with("cannot create /dev/null/none/a.txt.partial: "), "{error}");
    }
}
