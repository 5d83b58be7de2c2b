//! Alternative values of a key, derived from its type and its effective value.

use super::locations::KeyLocation;

/// Returns values to try, the most effective first. If a value is out of range, the caller tries the next.
pub fn of(location: &KeyLocation, now: Option<&str>) -> Vec<String> {
    let mut values = Vec::new();
    let now = now.unwrap_or("");
    match now {
        "true" => values.push("false".to_owned()),
        "false" => values.push("true".to_owned()),
        _ => {}
    }
    // The text of an effective value may continue after its word: "auto: 1/8".
    let in_force = now.split(':').next().unwrap_or(now);
    values.extend(words(location.value).into_iter().filter(|word| word != in_force));
    values.extend(multiples(now));
    values.extend(multiples(location.default.words()));
    if !["", "{}", "[]"].contains(&location.example) {
        values.push(location.example.to_owned());
    }
    let mut tried: Vec<String> = vec![now.to_owned(), format!("\"{now}\"")];
    values.retain(|value| {
        let is_new = !tried.contains(value);
        tried.push(value.clone());
        is_new
    });
    values
}

/// Returns the words of an enumeration such as "none, reno or cubic"; empty for a type such as "a time" or "a list".
fn words(value: &str) -> Vec<String> {
    let parts = value.split(", ").flat_map(|part| part.split(" or "));
    let parts = parts.map(|part| part.trim_start_matches("or ").trim());
    parts.filter(|part| is_word(part)).map(str::to_owned).collect()
}

/// Returns whether a value is a word of an enumeration.
pub fn is_word(value: &str) -> bool {
    let of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    value.starts_with(|c: char| c.is_ascii_lowercase()) && value.chars().all(of_word)
}

/// Returns larger and smaller values and zero for a number with or without unit.
fn multiples(text: &str) -> Vec<String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let Ok(number) = number.parse::<f64>() else { return Vec::new() };
    if unit.contains(char::is_whitespace) && !unit.starts_with(" packets") || unit.contains('/') {
        return Vec::new();
    }
    let mut values = Vec::new();
    for factor in [2.0, 0.5, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0] {
        values.push(format!("{}{unit}", rounded(number * factor)));
    }
    values.extend([format!("{}{unit}", number + 1.0), format!("{}{unit}", rounded(number - 1.0)), format!("0{unit}")]);
    values.retain(|value| !value.starts_with('-'));
    values
}

/// Rounds to nine decimals, which removes binary representation errors.
fn rounded(number: f64) -> String {
    let text = format!("{number:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
