//! The manifest of a folder: the files that Tidegate wrote, with hashes that reveal changes.
//!
//! The manifest is a file in the folder, in the format of `sha256sum -c`. Only files that are listed and unchanged are
//! ever replaced or removed.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use crate::error::RecordError;

/// Name of the manifest in its folder.
pub const MANIFEST_FILE: &str = "tidegate.sha256";
/// Start of the manifest, followed by the kind of the folder.
const HEADER: &str = "# tidegate: ";
const EXPLANATION: &str =
    "# Tidegate wrote these files and may replace them; sha256sum -c tidegate.sha256 checks them.";
/// Hexadecimal digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The files of one folder that Tidegate wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    kind: String,
    // During a replacement, a file has two entries: its old and its new hash.
    files: BTreeSet<(String, String)>,
}

/// State of a path before a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// The file does not exist.
    Free,
    /// The content that Tidegate wrote.
    Ours,
    /// Tidegate wrote the file, and it was changed since.
    Changed,
    /// Tidegate did not write the file.
    Foreign,
}

impl Manifest {
    /// Creates an empty manifest for a folder of this kind, such as `result`.
    pub fn new(kind: &str) -> Manifest {
        Manifest { kind: kind.to_owned(), files: BTreeSet::new() }
    }

    /// Reads the manifest of `folder`; `None` if it has none.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`]; [`RecordError::Line`] for a file of that name in another format.
    pub fn read(folder: &Path) -> Result<Option<Manifest>, RecordError> {
        let path = folder.join(MANIFEST_FILE);
        match fs::read(&path) {
            Ok(bytes) => Manifest::parse(&String::from_utf8_lossy(&bytes))
                .map(Some)
                .map_err(|(line, what)| RecordError::Line { path: Some(path), line, what }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RecordError::unreadable(&path)(error)),
        }
    }

    fn parse(text: &str) -> Result<Manifest, (usize, String)> {
        let mut lines = text.lines().enumerate();
        let kind = lines.next().and_then(|(_, line)| line.strip_prefix(HEADER));
        let kind =
            kind.ok_or_else(|| (1, format!("not a list of files that Tidegate wrote: expected `{HEADER}...`")))?;
        let mut manifest = Manifest::new(kind);
        for (at, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
            let entry = line.split_once("  ").filter(|(hash, name)| {
                hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) && is_plain(name)
            });
            let (hash, name) =
                entry.ok_or_else(|| (at + 1, "expected a SHA-256, two spaces and the name of a file".to_owned()))?;
            manifest.add(name, hash);
        }
        Ok(manifest)
    }

    /// Returns the kind of the folder, such as `result`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the names of the files in order, without duplicates.
    pub fn names(&self) -> BTreeSet<&str> {
        self.files.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns `true` if the file `name` is listed.
    pub fn lists(&self, name: &str) -> bool {
        self.hashes(name).next().is_some()
    }

    /// Adds a file whose content has this SHA-256.
    pub(crate) fn add(&mut self, name: &str, hash: &str) {
        self.files.insert((name.to_owned(), hash.to_owned()));
    }

    /// Returns `true` if a file of this name and SHA-256 is listed.
    pub(crate) fn lists_content(&self, name: &str, hash: &str) -> bool {
        self.hashes(name).any(|known| known == hash)
    }

    fn hashes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let listed = self.files.range((name.to_owned(), String::new())..);
        listed.take_while(move |(known, _)| known == name).map(|(_, hash)| hash.as_str())
    }

    /// Returns the union of both manifests, with the kind of `self`.
    pub(crate) fn joined(mut self, other: &Manifest) -> Manifest {
        self.files.extend(other.files.iter().cloned());
        self
    }

    /// Returns the manifest without these names.
    pub(crate) fn without(mut self, names: &BTreeSet<&str>) -> Manifest {
        self.files.retain(|(name, _)| !names.contains(name.as_str()));
        self
    }

    /// Returns the state of the file `name` in `folder`.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`].
    pub fn standing(&self, folder: &Path, name: &str) -> Result<PathState, RecordError> {
        let path = folder.join(name);
        let Some(found) = found(&path)? else { return Ok(PathState::Free) };
        if !self.lists(name) {
            return Ok(PathState::Foreign);
        }
        // The file may have been replaced by a link or a directory.
        let as_written = found.is_file() && self.lists_content(name, &hash_file(&path)?);
        Ok(if as_written { PathState::Ours } else { PathState::Changed })
    }

    /// Returns the text of the manifest.
    pub fn to_text(&self) -> String {
        let lines: String = self.files.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect();
        format!("{HEADER}{}\n{EXPLANATION}\n{lines}", self.kind)
    }
}

/// Returns `true` for a name without directories. Manifests may be foreign: with paths, a manifest could claim any file
/// of the user.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    one && !name.chars().any(char::is_control) && name != MANIFEST_FILE
}

/// Returns the metadata of `path` without following a symbolic link; `None` if it does not exist.
pub(crate) fn found(path: &Path) -> Result<Option<Metadata>, RecordError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RecordError::unreadable(path)(error)),
    }
}

/// Calls `each` with the length of a file and no bytes, and then with each block of its content.
pub(crate) fn for_parts(path: &Path, mut each: impl FnMut(u64, &[u8])) -> Result<(), RecordError> {
    let mut file = File::open(path).map_err(RecordError::unreadable(path))?;
    let length = file.metadata().map_err(RecordError::unreadable(path))?.len();
    each(length, &[]);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(RecordError::unreadable(path))? {
            0 => return Ok(()),
            count => each(length, &buffer[..count]),
        }
    }
}

/// Returns the SHA-256 of a file, in hexadecimal digits.
pub(crate) fn hash_file(path: &Path) -> Result<String, RecordError> {
    let mut hasher = Sha256::new();
    for_parts(path, |_, part| hasher.update(part))?;
    Ok(hex(hasher))
}

/// Returns the SHA-256 of `bytes`, in hexadecimal digits.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

pub(crate) fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    #[test]
    fn a_list_comes_back_and_sha256sum_reads_it() {
        let scratch = Scratch::new("manifest");
        fs::write(scratch.0.join("a b.txt"), b"a").unwrap();
        let mut manifest = Manifest::new("result");
        manifest.add("a b.txt", &hash_bytes(b"a"));
        fs::write(scratch.0.join(MANIFEST_FILE), manifest.to_text()).unwrap();
        assert_eq!(Manifest::read(&scratch.0).unwrap(), Some(manifest.clone()));
        let check =
            std::process::Command::new("sha256sum").args(["-c", MANIFEST_FILE]).current_dir(&scratch.0).output();
        match check {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(_) => eprintln!("SKIPPED: there is no sha256sum here"),
        }
        let standing = |name: &str| manifest.standing(&scratch.0, name).unwrap();
        assert_eq!((standing("a b.txt"), standing("none")), (PathState::Ours, PathState::Free));
        assert_eq!(standing(MANIFEST_FILE), PathState::Foreign);
        fs::write(scratch.0.join("a b.txt"), b"b").unwrap();
        assert_eq!(standing("a b.txt"), PathState::Changed);
        fs::remove_file(scratch.0.join("a b.txt")).unwrap();
        fs::create_dir(scratch.0.join("a b.txt")).unwrap();
        assert_eq!(standing("a b.txt"), PathState::Changed);
    }

    #[test]
    fn a_list_cannot_name_what_is_not_in_its_folder() {
        let hash = "0".repeat(64);
        for name in ["../thesis", "/etc/passwd", "a/b", "..", ".", "", "./a", "a\u{1b}b", MANIFEST_FILE] {
            let text = format!("{HEADER}result\n{hash}  {name}\n");
            assert!(Manifest::parse(&text).is_err(), "{name:?}");
        }
        assert_eq!(Manifest::parse("thesis\n").unwrap_err().0, 1);
        assert_eq!(Manifest::parse(&format!("{HEADER}result\n# why\nabc  a\n")).unwrap_err().0, 3);
    }
}
