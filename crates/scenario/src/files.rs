//! Files that a scenario names: each read once, its digest kept for the scenario's hash.

use crate::section::Context;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads a file.
pub type Load = dyn Fn(&Path) -> io::Result<Vec<u8>> + Send + Sync;

/// Maximum size of a file: most machines cannot hold a larger file twice in memory.
const MAX_BYTES: u64 = 1 << 32;

/// Maximum size of a pipe. The length of a pipe is unknown before it is read, so that an endless pipe is read up to
/// this limit.
const MAX_PIPE_BYTES: u64 = 1 << 28;

/// Maximum size of a hand-written file (a scenario, a sweep, a profile): 16 MiB.
pub const MAX_WRITTEN_BYTES: u64 = 1 << 24;

/// Maximum size of a file of another tool that is parsed into a tree many times its size (a topology, rules, tables):
/// 512 MiB, ten times the file of a fabric of 65,536 hosts.
pub const MAX_TREE_BYTES: u64 = 1 << 29;

/// Opens a file or a pipe for reading.
///
/// # Errors
/// Errors of the file system; a directory ([`io::ErrorKind::IsADirectory`]), a device.
pub fn open(path: &Path) -> io::Result<File> {
    // Check before opening, because `open` of a device may block or rewind a tape.
    let before = std::fs::metadata(path)?;
    if before.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if is_device(&before) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    File::open(path)
}

/// Reads a file of at most `most` bytes. It reads at most one byte beyond the limit, also if the file grows meanwhile.
///
/// # Errors
/// Errors of the file system; a directory, a device; [`io::ErrorKind::FileTooLarge`] for a longer file and a pipe above
/// 256 MiB.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    let most = if metadata.is_file() { most } else { most.min(MAX_PIPE_BYTES) };
    let longer = || {
        let message = format!("it is longer than {}", units::Bytes(most));
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if metadata.len() > most {
        return Err(longer());
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most { Err(longer()) } else { Ok(content) }
}

/// Returns `true` for character and block devices: `/dev/zero` and terminals have no end of file.
#[cfg(unix)]
fn is_device(file: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.file_type().is_char_device() || file.file_type().is_block_device()
}
#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Reads a file. From a directory, it reads all files as one text ([`fabric::files::join`]): `config_db.json` files,
/// one per switch or, in a subdirectory, one per ASIC; or LLDP tables, one per switch.
///
/// # Errors
/// Errors of the file system; files above 4 GiB, devices; a directory without such files; a file that is not text or
/// whose format differs from the others.
pub fn from_disk(path: &Path) -> io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_dir() {
        let mut files = Vec::new();
        let mut left = MAX_TREE_BYTES;
        for name in files_of_folder(path)? {
            let error_of = |why: String| io::Error::other(format!("{}{why}", name.display()));
            let content = read_at_most(&name, left).map_err(|error| error_of(format!(": {error}")))?;
            left -= content.len() as u64;
            let text =
                fabric::files::text_of(&content).map_err(|fault| error_of(format!(":{}: {fault}", fault.line)))?;
            let shown = name.strip_prefix(path).unwrap_or(&name).display().to_string();
            files.push((shown, text.to_owned()));
        }
        return fabric::files::join(files).map(String::into_bytes).map_err(io::Error::other);
    }
    read_at_most(path, MAX_BYTES)
}

/// Returns the `.json` and `.txt` files of a directory and its direct subdirectories, sorted by name.
fn files_of_folder(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = |path: &Path| std::fs::read_dir(path)?.map(|entry| entry.map(|of| of.path())).collect();
    let mut names: Vec<PathBuf> = Vec::new();
    let own: io::Result<Vec<PathBuf>> = entries(path);
    for entry in own? {
        match entry.is_dir() {
            true => {
                let inner: io::Result<Vec<PathBuf>> = entries(&entry);
                names.extend(inner?);
            }
            false => names.push(entry),
        }
    }
    names.retain(|name| name.extension().is_some_and(|extension| extension == "json" || extension == "txt"));
    names.sort();
    // In a directory with JSON configurations, text files are notes unless they are LLDP tables. In a directory without
    // JSON files, every text file is taken as an LLDP table.
    if names.iter().any(|name| name.extension().is_some_and(|extension| extension == "json")) {
        let is_text = |name: &PathBuf| name.extension().is_some_and(|extension| extension == "txt");
        let is_table = |name: &PathBuf| {
            let content = read_at_most(name, MAX_BYTES).unwrap_or_default();
            fabric::files::is_lldp_table(&String::from_utf8_lossy(&content))
        };
        names.retain(|name| !is_text(name) || is_table(name));
    }
    if names.is_empty() {
        return Err(io::Error::other("it is a folder without .json files or LLDP tables"));
    }
    Ok(names)
}

pub(crate) struct Files<'a> {
    /// Directory that names are relative to.
    pub directory: PathBuf,
    pub load: &'a Load,
    /// Key and SHA-256 of every file, in reading order.
    pub digests: RefCell<Vec<(String, String)>>,
}

impl Files<'_> {
    /// Returns the path of the file for error messages.
    pub fn shown(&self, file: &str) -> String {
        self.directory.join(file).display().to_string()
    }

    /// Returns the content of a file; reports a failure at `key`.
    pub fn load(&self, context: &Context<'_>, file: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.directory.join(file);
        // Only the fabric may be a directory, because its files can be joined into one text.
        let folder = !key.starts_with("fabric.") && path.is_dir();
        let read = if folder { Err(io::Error::other("it is a folder, not a file")) } else { (self.load)(&path) };
        match read {
            Ok(content) => {
                self.digests.borrow_mut().push((key.to_owned(), hex(&Sha256::digest(&content))));
                Some(content)
            }
            Err(error) => {
                let help = Some("names are relative to the scenario's folder".to_owned());
                context.fail(key, format!("cannot read `{}`: {error}", self.shown(file)), help);
                None
            }
        }
    }
}

/// Formats bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn message(path: &Path, most: u64) -> String {
        read_at_most(path, most).unwrap_err().to_string()
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_refused_unread() {
        assert_eq!(message(Path::new("/dev/zero"), MAX_BYTES), "it is a device, not a file");
        assert_eq!(message(&std::env::temp_dir(), MAX_BYTES), "it is a folder, not a file");
        assert!(from_disk(Path::new("/dev/zero")).unwrap_err().to_string().contains("device"));
    }

    /// The size limit holds during reading, because the file length in the metadata can be wrong.
    #[test]
    fn a_file_is_read_up_to_its_bound_and_no_further() {
        let path = std::env::temp_dir().join(format!("tidegate-bound-{}", std::process::id()));
        File::create(&path).unwrap().write_all(&[b'x'; 100]).unwrap();
        assert_eq!(read_at_most(&path, 100).unwrap().len(), 100);
        assert_eq!(message(&path, 99), "it is longer than 99B");
        std::fs::remove_file(&path).unwrap();
        // A file whose metadata reports length 0 although it has content.
        if let Ok(content) = read_at_most(Path::new("/proc/self/maps"), MAX_BYTES) {
            assert!(content.len() > 100);
            assert_eq!(message(Path::new("/proc/self/maps"), 100), "it is longer than 100B");
        }
    }
}
