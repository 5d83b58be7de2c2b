//! One hash of all results in a folder: two runs have equal hashes if and only if their results are byte-identical.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::RecordError;
use crate::folder::{RESULT, SUMMARY_FILE, TIMING_FILE};
use crate::manifest::{Manifest, for_parts, hash_bytes, hex};

/// Returns the SHA-256, in 64 hex digits, of the names and contents of the files in the manifest, in order of names,
/// without `timing.json`, which depends on the machine. `summary.json` contains the hash itself, and is hashed with an
/// empty `results_hash`: for a finished folder, the computed hash equals that in `summary.json`.
///
/// # Errors
/// [`RecordError::Damaged`] for a folder without a manifest; [`RecordError::Unreadable`].
pub fn results_hash(folder: &Path) -> Result<String, RecordError> {
    let damaged = |what| RecordError::Damaged { path: folder.to_owned(), what };
    let manifest =
        Manifest::read(folder)?.ok_or_else(|| damaged(format!("it has no {}", crate::manifest::MANIFEST_FILE)))?;
    Ok(hashes(folder, &manifest.names())?.0)
}

/// Returns the hash over the files `names` of `folder`, and their manifest, both without `timing.json`.
pub(crate) fn hashes(folder: &Path, names: &BTreeSet<&str>) -> Result<(String, Manifest), RecordError> {
    let mut all = Sha256::new();
    let mut manifest = Manifest::new(RESULT);
    for &name in names {
        let path = folder.join(name);
        if name == TIMING_FILE {
            continue;
        }
        // Names and contents are preceded by their lengths, so that different folders never give the same byte stream.
        all.update((name.len() as u64).to_le_bytes());
        all.update(name.as_bytes());
        if name == SUMMARY_FILE {
            let text = fs::read(&path).map_err(RecordError::unreadable(&path))?;
            manifest.add(name, &hash_bytes(&text));
            let text = without_results_hash(&text);
            all.update((text.len() as u64).to_le_bytes());
            all.update(&text);
            continue;
        }
        let mut own = Sha256::new();
        for_parts(&path, |length, part| {
            // The first call passes the length and no bytes.
            if part.is_empty() {
                all.update(length.to_le_bytes());
            }
            all.update(part);
            own.update(part);
        })?;
        manifest.add(name, &hex(own));
    }
    Ok((hex(all), manifest))
}

/// Empties the value of the key `results_hash`. The pattern cannot occur inside a JSON string, because quotes in
/// strings are escaped.
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

    fn hash(folder: &Path, names: &[&str]) -> String {
        hashes(folder, &names.iter().copied().collect()).unwrap().0
    }

    #[test]
    fn depends_on_names_and_contents_but_not_on_the_machine() {
        let scratch = Scratch::new("hash");
        let at = |name: &str| scratch.0.join(name);
        fs::write(at("queues.parquet"), b"abc").unwrap();
        fs::write(at("flows.parquet"), b"def").unwrap();
        let names = ["queues.parquet", "flows.parquet"];
        let first = hash(&scratch.0, &names);
        assert_eq!(first.len(), 64);
        fs::write(at("timing.json"), b"{}").unwrap();
        assert_eq!(hash(&scratch.0, &["queues.parquet", "flows.parquet", "timing.json"]), first);

        fs::write(at("flows.parquet"), b"dee").unwrap();
        assert_ne!(hash(&scratch.0, &names), first);
        fs::write(at("flows.parquet"), b"def").unwrap();
        assert_eq!(hash(&scratch.0, &names), first);
        fs::rename(at("flows.parquet"), at("flow.parquet")).unwrap();
        assert_ne!(hash(&scratch.0, &["queues.parquet", "flow.parquet"]), first);
    }

    #[test]
    fn known_answer() {
        let scratch = Scratch::new("hash-known");
        fs::write(scratch.0.join("a"), b"b").unwrap();
        // sha256(le64(1) "a" le64(1) "b")
        let mut stream = vec![1, 0, 0, 0, 0, 0, 0, 0, b'a'];
        stream.extend([1, 0, 0, 0, 0, 0, 0, 0, b'b']);
        assert_eq!(hash(&scratch.0, &["a"]), hash_bytes(&stream));
    }

    #[test]
    fn the_summary_counts_without_its_own_hash() {
        let scratch = Scratch::new("hash-summary");
        let path = scratch.0.join(SUMMARY_FILE);
        let of = |text: String| {
            fs::write(&path, text).unwrap();
            hash(&scratch.0, &[SUMMARY_FILE])
        };
        let empty = of("{\n  \"events\": 1,\n  \"results_hash\": \"\"\n}\n".to_owned());
        assert_eq!(of(format!("{{\n  \"events\": 1,\n  \"results_hash\": \"{empty}\"\n}}\n")), empty);
        assert_ne!(of(format!("{{\n  \"events\": 2,\n  \"results_hash\": \"{empty}\"\n}}\n")), empty);
    }
}
