//! Files that a scenario names: read once, their contents remembered for its hash.

use crate::section::Context;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// How a file is read.
pub type Load = dyn Fn(&Path) -> io::Result<Vec<u8>> + Send + Sync;

/// Larger files would not fit the memory of most machines twice.
const MAX_BYTES: u64 = 1 << 32;

/// Reads a file; of a folder, the JSON files in it as one list: `config_db.json` files, one a switch.
///
/// # Errors
/// What the file system says; files above 4 GiB; a folder without JSON files.
pub fn from_disk(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        names.retain(|name| name.extension().is_some_and(|extension| extension == "json"));
        names.sort();
        if names.is_empty() {
            return Err(io::Error::other("it is a folder without .json files"));
        }
        let files = names.iter().map(std::fs::read_to_string).collect::<io::Result<Vec<String>>>()?;
        return Ok(fabric::files::join_config_db(files).into_bytes());
    }
    if metadata.len() > MAX_BYTES {
        return Err(io::Error::other("it is larger than 4 GiB"));
    }
    std::fs::read(path)
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
        match (self.load)(&self.directory.join(file)) {
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
