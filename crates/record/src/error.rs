//! What can go wrong between a result and the disk.

use std::io;
use std::path::{Path, PathBuf};

use crate::table::column::Kind;

/// Why results could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The machine refused to write: full disk, missing permission, a file where a folder should be.
    #[error("cannot {action} {}: {source}", .path.display())]
    Unwritable {
        /// What was attempted, as a verb: "create", "rename".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The machine refused to read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The target exists and holds something that Tidegate did not write.
    #[error(
        "{} exists and is not a Tidegate result (a folder with a tidegate.sha256, the list of what Tidegate wrote \
         there); name a new or an empty folder", .path.display()
    )]
    Occupied {
        /// The folder or file in the way.
        path: PathBuf,
    },
    /// Something stands where a file is to be written that Tidegate did not write, or that was changed since.
    #[error("{} {why}", .path.display())]
    NotOurs {
        /// What stands in the way.
        path: PathBuf,
        /// Why it is not ours, as a predicate: "was changed since Tidegate wrote it".
        why: &'static str,
    },
    /// A folder holds files of Tidegate, but of another kind than those to be written.
    #[error("{} holds what Tidegate wrote as {found:?}, and {wanted:?} is another kind of folder", .path.display())]
    OtherKind {
        /// The folder.
        path: PathBuf,
        /// What its list says.
        found: String,
        /// What was to be written.
        wanted: String,
    },
    /// A result that is done could not take its place.
    #[error("{error}; the finished result stays in {}", .path.display())]
    Kept {
        /// Where the result is.
        path: PathBuf,
        /// Why.
        error: Box<RecordError>,
    },
    /// Another process is writing the same result right now.
    #[error("another process is writing {}; wait for it or name another folder", .path.display())]
    Busy {
        /// The result folder both want.
        path: PathBuf,
    },
    /// A path that cannot be a result folder: it ends in `..`, or is a root.
    #[error("{} cannot be a result folder: name a folder, for example results/run1", .path.display())]
    BadTarget {
        /// The path.
        path: PathBuf,
    },
    /// A name that no file directly in a folder can have: with control characters, or of several parts.
    #[error("{:?} cannot be the name of a file here", .path)]
    BadName {
        /// The path that it would make.
        path: PathBuf,
    },
    /// A folder that is not the whole of a result.
    #[error("{} is no whole result: {what}; remove it, or copy it again", .path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The Parquet library rejected a table: a damaged file, or a type this crate does not write.
    #[error("table {}: {what}", .path.display())]
    Table {
        /// The table's file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A row does not have one value for each column.
    #[error("a row of {found} values for the {expected} columns of {}", .path.display())]
    RowLength {
        /// The table's file.
        path: PathBuf,
        /// Columns of the table.
        expected: usize,
        /// Values of the row.
        found: usize,
    },
    /// A value's kind is not its column's, or it is null where the column is not optional.
    #[error("column {column} holds {expected:?} values, not {found}")]
    ColumnKind {
        /// The column's name.
        column: String,
        /// What the column holds.
        expected: Kind,
        /// What the row brought, or the reader asked for.
        found: &'static str,
    },
    /// A number is too large for a column of times and counts.
    #[error("column {column} cannot hold {value}: times and counts are less than 2^63 - 1")]
    TooLarge {
        /// The column's name.
        column: String,
        /// The number.
        value: u64,
    },
    /// A table lacks a column that was asked for.
    #[error("no column {column}; the table has {present}")]
    NoColumn {
        /// The name asked for.
        column: String,
        /// The names there are.
        present: String,
    },
    /// A text file breaks its format.
    #[error("{}line {line}: {what}", .path.as_ref().map(|path| format!("{}, ", path.display())).unwrap_or_default())]
    Line {
        /// The file, where the text came from one.
        path: Option<PathBuf>,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what would be right.
        what: String,
    },
    /// A host number that the HPCC `fct.txt` cannot hold: it has 16 bits for it.
    #[error("host {host} does not fit the HPCC fct.txt (65,536 hosts); write the conweave format")]
    HostNumber {
        /// The host's number.
        host: u32,
    },
    /// A JSON file that is not what it should be.
    #[error("{}: {source}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where it breaks.
        source: serde_json::Error,
    },
}

/// ELOOP of Linux.
const LINKS_IN_A_LOOP: i32 = 40;

impl RecordError {
    /// True where the machine failed (a full disk, a broken one, too many files), false where the input or the place
    /// that was named is wrong: a folder that is not there, is no folder, or may not be written.
    pub fn is_machine_failure(&self) -> bool {
        use io::ErrorKind::{
            AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
            ReadOnlyFilesystem,
        };
        let source = match self {
            RecordError::Unwritable { source, .. } | RecordError::Unreadable { source, .. } => source,
            RecordError::Kept { error, .. } => return error.is_machine_failure(),
            _ => return false,
        };
        // Too many links on the way: the kind for it is not stable yet.
        let looped = cfg!(unix) && source.raw_os_error() == Some(LINKS_IN_A_LOOP);
        let place = matches!(
            source.kind(),
            AlreadyExists
                | InvalidFilename
                | InvalidInput
                | IsADirectory
                | NotADirectory
                | NotFound
                | PermissionDenied
                | ReadOnlyFilesystem
        );
        !place && !looped
    }

    pub(crate) fn unwritable(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordError {
        move |source| RecordError::Unwritable { action, path: path.to_owned(), source }
    }

    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> RecordError {
        move |source| RecordError::Unreadable { path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_machine_and_a_wrong_place_is_not() {
        let of =
            |kind: io::ErrorKind| RecordError::unwritable("write", Path::new("x"))(kind.into()).is_machine_failure();
        assert!(of(io::ErrorKind::StorageFull) && of(io::ErrorKind::FileTooLarge) && of(io::ErrorKind::Other));
        assert!(!of(io::ErrorKind::NotADirectory) && !of(io::ErrorKind::PermissionDenied));
        assert!(!RecordError::BadTarget { path: "..".into() }.is_machine_failure());
    }
}
