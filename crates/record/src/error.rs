//! Errors of writing and reading results.

use std::io;
use std::path::{Path, PathBuf};

use crate::table::column::ColumnType;

/// Error of writing or reading results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A write failed: full disk, missing permission, a file in place of a directory.
    #[error("cannot {action} {}: {source}", .path.display())]
    Unwritable {
        /// The attempted action, as a verb: "create", "rename".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A read failed.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The target exists and has content that Tidegate did not write.
    #[error(
        "{} exists and is not a Tidegate result (a folder with tidegate.sha256, the list of its files); name a new or \
         an empty folder", .path.display()
    )]
    Occupied {
        /// The existing directory or file.
        path: PathBuf,
    },
    /// The target file was not written by Tidegate, or was changed after Tidegate wrote it.
    #[error("{} {why}", .path.display())]
    NotOurs {
        /// The existing file.
        path: PathBuf,
        /// The reason, as a predicate: "was modified since Tidegate wrote it".
        why: &'static str,
    },
    /// A directory with files that Tidegate wrote for another kind of output.
    #[error("{} is a Tidegate folder of kind {found:?}, not {wanted:?}", .path.display())]
    OtherKind {
        /// The directory.
        path: PathBuf,
        /// Kind of the directory according to its file list.
        found: String,
        /// The kind to be written.
        wanted: String,
    },
    /// A finished result could not be moved to its target; it was kept at another path.
    #[error("{error}; the finished result stays in {}", .path.display())]
    Kept {
        /// Path of the kept result.
        path: PathBuf,
        /// The cause.
        error: Box<RecordError>,
    },
    /// Another process is writing the result.
    #[error("another process is writing {}; wait for it or name another folder", .path.display())]
    Busy {
        /// The result folder.
        path: PathBuf,
    },
    /// A path that cannot be a result folder: it ends in `..`, or is a root.
    #[error("{} cannot be a result folder: name a folder, for example results/run1", .path.display())]
    BadTarget {
        /// The path.
        path: PathBuf,
    },
    /// An invalid file name: it contains control characters or several path components.
    #[error("{:?} cannot be the name of a file here", .path)]
    BadName {
        /// The resulting path.
        path: PathBuf,
    },
    /// An incomplete or changed result.
    #[error("{} is an incomplete result: {what}; remove it, or copy it again", .path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// The Parquet library rejected a table: a damaged file, or a type that this crate does not write.
    #[error("table {}: {what}", .path.display())]
    Table {
        /// The table's file.
        path: PathBuf,
        /// Description of the error.
        what: String,
    },
    /// The number of values in a row differs from the number of columns.
    #[error("a row of {found} values for the {expected} columns of {}", .path.display())]
    RowLength {
        /// The table's file.
        path: PathBuf,
        /// Number of columns of the table.
        expected: usize,
        /// Number of values in the row.
        found: usize,
    },
    /// The type of a value differs from that of its column, or the value is null and the column is not optional.
    #[error("column {column} holds {expected:?} values, not {found}")]
    ColumnKind {
        /// The column's name.
        column: String,
        /// Type of the column.
        expected: ColumnType,
        /// Type of the value, or type that the reader requested.
        found: &'static str,
    },
    /// A number that is too large for a column of times or counts.
    #[error("column {column} cannot hold {value}: times and counts are less than 2^63 - 1")]
    TooLarge {
        /// The column's name.
        column: String,
        /// The number.
        value: u64,
    },
    /// A requested column is missing.
    #[error("no column {column}; the table has {present}")]
    NoColumn {
        /// The requested name.
        column: String,
        /// The existing names.
        present: String,
    },
    /// A line that violates a text format.
    #[error("{}line {line}: {what}", .path.as_ref().map(|path| format!("{}, ", path.display())).unwrap_or_default())]
    Line {
        /// The file; `None` if the text is not from a file.
        path: Option<PathBuf>,
        /// Line, from 1.
        line: usize,
        /// Description of the error, with a correct value.
        what: String,
    },
    /// A host number that does not fit the 16 bits of the HPCC `fct.txt`.
    #[error("host {host} does not fit the HPCC fct.txt (65,536 hosts); write the conweave format")]
    HostNumber {
        /// The host's number.
        host: u32,
    },
    /// Invalid JSON.
    #[error("{}: {source}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Position and error.
        source: serde_json::Error,
    },
}

/// `ELOOP` on Linux: too many levels of symbolic links.
const LINKS_IN_A_LOOP: i32 = 40;

impl RecordError {
    /// Returns `true` for failures of the machine (full or broken disk, too many open files), `false` for an invalid
    /// input or path: a missing directory, a path that is not a directory, missing write permission.
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
        // A loop of symbolic links has no stable `ErrorKind` yet.
        let looped = cfg!(unix) && source.raw_os_error() == Some(LINKS_IN_A_LOOP);
        let location = matches!(
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
        !location && !looped
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
