//! Suggestions for misspelt words.

/// Returns the edit distance of two words, in which a swap of adjacent letters counts as one edit (optimal string
/// alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least.min(rows[i - 2][j - 2] + 1)
                } else {
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

/// Returns the word of `known` with the smallest edit distance to `word`, if this distance is at most a third of the
/// number of its letters. Hyphens and underscores count as equal.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are unlikely to be misspellings, and the comparison would take long.
    if word.chars().count() > 40 {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let (least, found) = known
        .into_iter()
        .filter(|candidate| candidate.len() <= 40)
        .map(|candidate| (distance(&plain(word), &plain(candidate)), candidate))
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
        assert_eq!(distance("fan_in", "fan_inn"), 1);
        assert_eq!(distance("delya", "delay"), 1);
        assert_eq!(distance("", "abc"), 3);
        let known = ["rate", "delay", "loss", "bit_error_rate"];
        assert_eq!(nearest("dleay", known), Some("delay"));
        assert_eq!(nearest("bit-error-rate", known), Some("bit_error_rate"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(help("Rate", known).unwrap(), "did you mean `rate`?");
        assert_eq!(help("colour", ["a", "b"]).unwrap(), "it is one of a, b");
    }
}
