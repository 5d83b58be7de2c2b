//! Sweep files: any text is rejected with a reason and a place, or is a sweep with consistent parts.

use scenario::SweepFile;
use std::path::Path;

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = SweepFile::recognise(text);
    match SweepFile::parse(text, "fuzz.toml", Path::new("")) {
        Err(errors) => {
            assert!(!errors.errors.is_empty(), "a refusal says why");
            for error in &errors.errors {
                assert!(!error.message.is_empty() && error.span.end <= text.len(), "{error}");
            }
        }
        Ok(sweep) => {
            assert!(sweep.set.iter().all(|choice| choice.values.len() == 1), "a value each");
            assert!(sweep.vary.iter().all(|choice| !choice.values.is_empty()), "a value at least");
            let lengths: Vec<usize> = sweep.runs.iter().map(|choice| choice.values.len()).collect();
            assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "each run has a value of each key");
            let mut seeds = sweep.seeds.clone();
            seeds.sort_unstable();
            assert!(seeds.windows(2).all(|pair| pair[0] != pair[1]), "no seed twice");
        }
    }
}
