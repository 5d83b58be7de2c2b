//! One number for all results of a folder: two runs agree byte for byte exactly when it is equal.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::RecordError;
use crate::folder::{SUMMARY_FILE, TIMING_FILE};

/// The SHA-256, in 64 hex digits, over the names and contents of all files below `folder` in order of
/// their path, except `timing.json` (the machine's) and names that start with a dot. `summary.json`
/// itself holds the result, so it counts with an empty `results_hash`: computing again over a finished
/// folder gives the number in it.
///
/// # Errors
/// [`RecordError::Unreadable`].
pub fn results_hash(folder: &Path) -> Result<String, RecordError> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, path) in &files {
        // Lengths stand before names and contents, so that no two folders make the same stream.
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        if name == SUMMARY_FILE {
            let text = fs::read(path).map_err(RecordError::unreadable(path))?;
            let text = without_results_hash(&text);
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(&text);
            continue;
        }
        let mut file = File::open(path).map_err(RecordError::unreadable(path))?;
        let length = file.metadata().map_err(RecordError::unreadable(path))?.len();
        hasher.update(length.to_le_bytes());
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut buffer).map_err(RecordError::unreadable(path))?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> Result<(), RecordError> {
    for entry in fs::read_dir(folder).map_err(RecordError::unreadable(folder))? {
        let entry = entry.map_err(RecordError::unreadable(folder))?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let full = format!("{prefix}{name}");
        if name.starts_with('.') || full == TIMING_FILE {
            continue;
        }
        if entry.file_type().map_err(RecordError::unreadable(&path))?.is_dir() {
            collect(&path, &format!("{full}/"), files)?;
        } else {
            files.push((full, path));
        }
    }
    Ok(())
}

/// Empties the value of the key `results_hash`. Inside a JSON string the quotes of a key would be
/// escaped, so the pattern cannot stand anywhere else.
fn without_results_hash(summary: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = b"\"results_hash\": \"";
    let Some(at) = summary.windows(KEY.len()).position(|window| window == KEY) else {
        return summary.to_vec();
    };
    let value = at + KEY.len();
    let end = summary[value..].iter().position(|&byte| byte == b'"').map_or(summary.len(), |length| value + length);
    [&summary[..value], &summary[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    #[test]
    fn depends_on_names_and_contents_but_not_on_the_machine() {
        let scratch = Scratch::new("hash");
        let at = |name: &str| scratch.0.join(name);
        fs::create_dir(at("series")).unwrap();
        fs::write(at("series/queues.parquet"), b"abc").unwrap();
        fs::write(at("flows.parquet"), b"def").unwrap();
        let first = results_hash(&scratch.0).unwrap();
        assert_eq!(first.len(), 64);
        fs::write(at("timing.json"), b"{}").unwrap();
        assert_eq!(results_hash(&scratch.0).unwrap(), first);

        fs::write(at("flows.parquet"), b"dee").unwrap();
        assert_ne!(results_hash(&scratch.0).unwrap(), first);
        fs::write(at("flows.parquet"), b"def").unwrap();
        assert_eq!(results_hash(&scratch.0).unwrap(), first);
        fs::rename(at("flows.parquet"), at("flow.parquet")).unwrap();
        assert_ne!(results_hash(&scratch.0).unwrap(), first);
    }

    #[test]
    fn known_answer() {
        let scratch = Scratch::new("hash-known");
        fs::write(scratch.0.join("a"), b"b").unwrap();
        // sha256(le64(1) "a" le64(1) "b")
        let mut stream = vec![1, 0, 0, 0, 0, 0, 0, 0, b'a'];
        stream.extend([1, 0, 0, 0, 0, 0, 0, 0, b'b']);
        let expected: String = Sha256::digest(&stream).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(results_hash(&scratch.0).unwrap(), expected);
    }

    #[test]
    fn the_summary_counts_without_its_own_hash() {
        let scratch = Scratch::new("hash-summary");
        let path = scratch.0.join(SUMMARY_FILE);
        fs::write(&path, b"{\n  \"events\": 1,\n  \"results_hash\": \"\"\n}\n").unwrap();
        let empty = results_hash(&scratch.0).unwrap();
        fs::write(&path, format!("{{\n  \"events\": 1,\n  \"results_hash\": \"{empty}\"\n}}\n")).unwrap();
        assert_eq!(results_hash(&scratch.0).unwrap(), empty);
        fs::write(&path, format!("{{\n  \"events\": 2,\n  \"results_hash\": \"{empty}\"\n}}\n")).unwrap();
        assert_ne!(results_hash(&scratch.0).unwrap(), empty);
    }
}
