//! Every file of a committed corpus through its check, without a fuzzer.

use std::path::Path;

/// Calls `check` with each file of `fuzz/corpus/<target>`, in order of name, and names the one that it fails on.
pub fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no input", folder.display());
    for file in &files {
        let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if std::panic::catch_unwind(|| check(&bytes)).is_err() {
            panic!("{} fails its check", file.display());
        }
    }
}
