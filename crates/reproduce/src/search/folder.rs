//! Folder of a search: its description, and the results of its points in one file per part.

use super::{PointResult, Space};
use record::file::write_whole;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const DESCRIPTION: &str = "search.json";

/// Error of the folder of a search.
#[derive(Debug, thiserror::Error)]
pub enum SearchFailure {
    /// The folder has files but no search description.
    #[error("{path}: the folder has files, and none of them is {DESCRIPTION}")]
    NoSearch {
        /// Folder.
        path: PathBuf,
    },
    /// The folder has a search of other choices, or of another version of tidegate.
    #[error("{path}: the folder has a search of other choices or of another version of tidegate")]
    Other {
        /// Folder.
        path: PathBuf,
    },
    /// A line of a file is not the result of a point.
    #[error("{file}:{line}: {message}")]
    Line {
        /// File.
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Error of the parser.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SearchFailure {
    let path = path.to_owned();
    move |error| SearchFailure::Io { path, error }
}

/// Folder of a search. Results are appended to the file of one part, a group of settings per line.
#[derive(Debug)]
pub struct SearchFolder {
    path: PathBuf,
    file: Mutex<File>,
    file_path: PathBuf,
}

/// Returns the description of a search. The results of two searches are comparable only if their descriptions are
/// equal.
fn description(space: &Space) -> Value {
    let choices: Vec<Value> = space
        .choices
        .iter()
        .map(|choice| {
            let labels: Vec<&str> = choice.alternatives.iter().map(|it| it.label).collect();
            json!({ "name": choice.name, "source": choice.source, "alternatives": labels })
        })
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    json!({ "search": space.paper, "version": version, "revision": space.revision, "choices": choices })
}

impl SearchFolder {
    /// Opens or creates the folder at `path` for part `part` of `parts`; parts are numbered from 1.
    ///
    /// # Errors
    /// If the folder has other files or another search, or cannot be written.
    pub fn open(path: &Path, space: &Space, (part, parts): (usize, usize)) -> Result<SearchFolder, SearchFailure> {
        let wanted = description(space);
        let file = path.join(DESCRIPTION);
        match fs::read_to_string(&file) {
            Ok(text) if serde_json::from_str::<Value>(&text).is_ok_and(|found| found == wanted) => {}
            Ok(_) => return Err(SearchFailure::Other { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut entries = match fs::read_dir(path) {
                    Ok(entries) => Some(entries),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => return Err(io_error(path)(error)),
                };
                if entries.as_mut().is_some_and(|entries| entries.next().is_some()) {
                    return Err(SearchFailure::NoSearch { path: path.to_owned() });
                }
                fs::create_dir_all(path).map_err(io_error(path))?;
                let text = format!("{wanted:#}\n");
                write_whole(&file, text.as_bytes()).map_err(|error| io_error(&file)(io::Error::other(error)))?;
            }
            Err(error) => return Err(io_error(&file)(error)),
        }
        let file_path = path.join(format!("points-{part}-of-{parts}.jsonl"));
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(&file_path).map_err(io_error(&file_path))?;
        end_line(&mut file).map_err(io_error(&file_path))?;
        Ok(SearchFolder { path: path.to_owned(), file: Mutex::new(file), file_path })
    }

    /// Appends the results of a group of settings with common runs as one line, so that an interruption never leaves a
    /// part of a group.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&self, results: &[PointResult]) -> Result<(), SearchFailure> {
        let line = serde_json::to_string(results).map(|text| text + "\n").map_err(io::Error::other);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        line.and_then(|line| file.write_all(line.as_bytes())).map_err(io_error(&self.file_path))
    }

    /// Returns the results of all parts, by point, and the number of incomplete lines, which interrupted runs have
    /// left.
    ///
    /// # Errors
    /// If a complete line is not a result, or a file cannot be read.
    pub fn results(&self) -> Result<(BTreeMap<u64, PointResult>, usize), SearchFailure> {
        let (mut results, mut cut) = (BTreeMap::new(), 0);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(io_error(&self.path))? {
            let path = entry.map_err(io_error(&self.path))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("points-") && path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).map_err(io_error(&file))?;
            for (at, line) in text.split_inclusive('\n').enumerate() {
                match serde_json::from_str::<Vec<PointResult>>(line) {
                    Ok(group) => results.extend(group.into_iter().map(|result| (result.point, result))),
                    // Only an incomplete line ends before the end of its JSON value.
                    Err(error) if error.is_eof() => cut += 1,
                    Err(error) => {
                        return Err(SearchFailure::Line { file, line: at + 1, message: error.to_string() });
                    }
                }
            }
        }
        Ok((results, cut))
    }
}

/// Completes a last line that an interrupted run has left incomplete, so that the next result starts on a new line.
fn end_line(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::SPACES;

    /// Temporary folder; it is deleted when the value is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("tidegate-search-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn result(point: u64) -> [PointResult; 1] {
        [PointResult { point, setting: BTreeMap::new(), claims: Vec::new() }]
    }

    #[test]
    fn a_search_goes_on_after_a_cut_line_and_over_parts() {
        let folder = Scratch::new("parts");
        let (path, space) = (folder.0.join("search"), SPACES[0]);
        let first = SearchFolder::open(&path, space, (1, 2)).unwrap();
        first.add(&result(0)).unwrap();
        first.add(&result(2)).unwrap();
        drop(first);
        let file = path.join("points-1-of-2.jsonl");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, &text[..text.len() - 5]).unwrap();
        let second = SearchFolder::open(&path, space, (2, 2)).unwrap();
        second.add(&result(1)).unwrap();
        let again = SearchFolder::open(&path, space, (1, 2)).unwrap();
        let (results, cut) = again.results().unwrap();
        assert_eq!((results.keys().copied().collect::<Vec<_>>(), cut), (vec![0, 1], 1));
        again.add(&result(2)).unwrap();
        assert_eq!(again.results().unwrap().0.len(), 3);
    }

    #[test]
    fn folders_of_others_are_refused() {
        let folder = Scratch::new("others");
        let (path, space) = (folder.0.as_path(), SPACES[0]);
        fs::write(path.join("thesis.pdf"), "").unwrap();
        assert!(matches!(SearchFolder::open(path, space, (1, 1)), Err(SearchFailure::NoSearch { .. })));
        fs::remove_file(path.join("thesis.pdf")).unwrap();
        SearchFolder::open(path, space, (1, 1)).unwrap();
        fs::write(path.join("points-1-of-1.jsonl"), "[1]\n").unwrap();
        let error = SearchFolder::open(path, space, (1, 1)).unwrap().results().unwrap_err();
        assert!(error.to_string().contains("points-1-of-1.jsonl:1: "), "{error}");
        fs::write(path.join(DESCRIPTION), "{}").unwrap();
        assert!(matches!(SearchFolder::open(path, space, (1, 1)), Err(SearchFailure::Other { .. })));
    }
}
