//! Files that a scenario names: read once, their contents remembered for its hash.

use crate::section::Context;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How a file is read.
pub type Load = dyn Fn(&Path) -> io::Result<Vec<u8>> + Send + Sync;

/// Larger files would not fit the memory of most machines twice.
const MAX_BYTES: u64 = 1 << 32;

/// A pipe does not say how long it is, so that all of this may be read before it is found to be endless.
const MAX_PIPE_BYTES: u64 = 1 << 28;

/// The most that a person's file has (a scenario, a sweep, a profile): 16 MiB.
pub const MAX_WRITTEN_BYTES: u64 = 1 << 24;

/// The most that a file of another tool has which is read as a whole into a tree many times its size (a topology,
/// rules, tables): 512 MiB, ten times that of a fabric of 65,536 hosts.
pub const MAX_TREE_BYTES: u64 = 1 << 29;

/// Opens a file or a pipe for reading.
///
/// # Errors
/// What the file system says; a folder, a device.
pub fn open(path: &Path) -> io::Result<File> {
    // Before it is opened, which may wait for ever, or wind a tape.
    let before = std::fs::metadata(path)?;
    if before.is_dir() {
        return Err(io::Error::other("it is a folder, not a file"));
    }
    if is_device(&before) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    File::open(path)
}

/// Reads a file of at most `most` bytes, and no more of it if it is longer, or grows while it is read.
///
/// # Errors
/// What the file system says; a folder, a device, a file that is longer, a pipe beyond 256 MiB.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    let most = if metadata.is_file() { most } else { most.min(MAX_PIPE_BYTES) };
    let longer = || io::Error::other(format!("it is longer than {}", units::Bytes(most)));
    if metadata.len() > most {
        return Err(longer());
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most { Err(longer()) } else { Ok(content) }
}

/// `/dev/zero` has no end, and a terminal none that anybody sees.
#[cfg(unix)]
fn is_device(file: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.file_type().is_char_device() || file.file_type().is_block_device()
}
#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Reads a file; of a folder, its files as one text ([`fabric::files::join`]): `config_db.json` files, one a switch or,
/// in a folder of its own, one an ASIC of it; or LLDP tables, one a switch.
///
/// # Errors
/// What the file system says; files above 4 GiB, devices; a folder without such files, or one of them that is not text
/// or not of the format of the others.
pub fn from_disk(path: &Path) -> io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_dir() {
        let mut files = Vec::new();
        let mut left = MAX_TREE_BYTES;
        for name in files_of_folder(path)? {
            let told = |why: String| io::Error::other(format!("{}{why}", name.display()));
            let content = read_at_most(&name, left).map_err(|error| told(format!(": {error}")))?;
            left -= content.len() as u64;
            let text = fabric::files::text_of(&content).map_err(|line| told(format!(":{line}: not UTF-8 text")))?;
            let shown = name.strip_prefix(path).unwrap_or(&name).display().to_string();
            files.push((shown, text.to_owned()));
        }
        return fabric::files::join(files).map(String::into_bytes).map_err(io::Error::other);
    }
    read_at_most(path, MAX_BYTES)
}

/// The `.json` and `.txt` files of a folder and of the folders in it, by name.
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
    // Notes lie beside configurations.
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
    /// What names are relative to.
    pub directory: PathBuf,
    pub load: &'a Load,
    /// Key and SHA-256 of every file, in the order of reading.
    pub digests: RefCell<Vec<(String, String)>>,
}

impl Files<'_> {
    /// The file's name as errors show it.
    pub fn shown(&self, file: &str) -> String {
        self.directory.join(file).display().to_string()
    }

    /// Its content; a failure is reported at `key`.
    pub fn load(&self, context: &Context<'_>, file: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.directory.join(file);
        // Only a fabric may be a folder, of which the files are read as one.
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

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn said(path: &Path, most: u64) -> String {
        read_at_most(path, most).unwrap_err().to_string()
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_refused_unread() {
        assert_eq!(said(Path::new("/dev/zero"), MAX_BYTES), "it is a device, not a file");
        assert_eq!(said(&std::env::temp_dir(), MAX_BYTES), "it is a folder, not a file");
        assert!(from_disk(Path::new("/dev/zero")).unwrap_err().to_string().contains("device"));
    }

    /// The bound holds while reading: what a file says of its length beforehand is not enough.
    #[test]
    fn a_file_is_read_up_to_its_bound_and_no_further() {
        let path = std::env::temp_dir().join(format!("tidegate-bound-{}", std::process::id()));
        File::create(&path).unwrap().write_all(&[b'x'; 100]).unwrap();
        assert_eq!(read_at_most(&path, 100).unwrap().len(), 100);
        assert_eq!(said(&path, 99), "it is longer than 99B");
        std::fs::remove_file(&path).unwrap();
        // A file that says it is empty, and is not.
        if let Ok(content) = read_at_most(Path::new("/proc/self/maps"), MAX_BYTES) {
            assert!(content.len() > 100);
            assert_eq!(said(Path::new("/proc/self/maps"), 100), "it is longer than 100B");
        }
    }
}
