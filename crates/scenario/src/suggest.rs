//! Suggestions for misspelt words.

use strsim::osa_distance;

/// Returns the word of `known` with the smallest edit distance (optimal string alignment) to `word`, if this distance
/// is at most a third of the number of its letters. Hyphens and underscores count as equal.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are unlikely to be misspellings, and the comparison would take long.
    if word.chars().count() > 40 {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let (least, found) = known
        .into_iter()
        .filter(|candidate| candidate.len() <= 40)
        .map(|candidate| (osa_distance(&plain(word), &plain(candidate)), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    let letters = word.chars().count();
    (least <= (letters / 3).max(1) && least < letters).then_some(found)
}

/// Returns the help text for the invalid word `word`: the most similar valid word, or the valid words.
pub fn help<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None if known.is_empty() => None,
        None => Some(format!("it is one of {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["rate", "delay", "loss", "bit_error_rate"];
        assert_eq!(nearest("dleay", known), Some("delay"));
        assert_eq!(nearest("bit-error-rate", known), Some("bit_error_rate"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(help("Rate", known).unwrap(), "did you mean `rate`?");
        assert_eq!(help("colour", ["a", "b"]).unwrap(), "it is one of a, b");
    }
}
