//! Profiles of ASICs: any text is rejected with a reason and a line, or states limits above zero.

use tagger::operate::profile::Profile;

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Profile::parse(text) {
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(error.line.is_none_or(|line| line >= 1 && line <= text.matches('\n').count() + 1), "{error:?}");
        }
        Ok(profile) => {
            let limits = profile.limits;
            let counts = [limits.lossless_priorities, limits.tcam_entries, limits.traffic_classes, limits.ports];
            assert!(counts.into_iter().flatten().all(|limit| limit > 0));
        }
    }
}
