//! The committed inputs of all fuzz targets.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Returns the inputs in `fuzz/corpus.tar` by target and name.
///
/// # Panics
///
/// If the archive is unreadable.
pub fn all_inputs() -> BTreeMap<String, BTreeMap<String, Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus.tar");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut inputs = BTreeMap::<_, BTreeMap<_, _>>::new();
    for entry in tar::Archive::new(file).entries().expect("an archive") {
        let mut entry = entry.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = entry.path().expect("a path").to_string_lossy().into_owned();
        let (target, name) = name.split_once('/').expect("TARGET/NAME");
        let (target, name) = (target.to_owned(), name.to_owned());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap_or_else(|error| panic!("{}: {name}: {error}", path.display()));
        inputs.entry(target).or_default().insert(name, bytes);
    }
    inputs
}

/// Returns the inputs of a target by name.
///
/// # Panics
///
/// If the archive is unreadable or has no input of the target.
pub fn inputs(target: &str) -> BTreeMap<String, Vec<u8>> {
    all_inputs().remove(target).unwrap_or_else(|| panic!("fuzz/corpus.tar has no input of {target}"))
}
