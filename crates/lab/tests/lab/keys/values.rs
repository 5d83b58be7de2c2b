//! Alternative values of a key, derived from its description and the value in force.

use super::locations::KeyLocation;

/// Returns values to try, the most effective first. If one is refused as out of range, the next is tried.
pub fn of(location: &KeyLocation, now: Option<&str>) -> Vec<String> {
    let mut values = Vec::new();
    let now = now.unwrap_or("");
    match now {
        "true" => values.push("false".to_owned()),
        "false" => values.push("true".to_owned()),
        _ => {}
    }
    // A value in force may contain more than its word: "auto: 1/8".
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

/// Returns the words of "none, reno or cubic"; descriptions such as "a time" or "a list" have none.
fn words(value: &str) -> Vec<String> {
    let parts = value.split(", ").flat_map(|part| part.split(" or "));
    let parts = parts.map(|part| part.trim_start_matches("or ").trim());
    parts.filter(|part| is_word(part)).map(str::to_owned).collect()
}

/// Returns whether a value is one of a list of words.
pub fn is_word(value: &str) -> bool {
    let of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    value.starts_with(|c: char| c.is_ascii_lowercase()) && value.chars().all(of_word)
}

/// Returns more, less and zero for a number with or without unit.
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

/// Removes digits that binary fractions add.
fn rounded(number: f64) -> String {
    let text = format!("{number:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
