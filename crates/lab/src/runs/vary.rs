//! Varied keys, and the Cartesian product of their values.

use crate::error::{LabError, PlanError};
use scenario::{Choice, ScenarioError};
use std::collections::BTreeSet;

/// A value that overrides that of the scenario: `--set key.path=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The key as in a scenario: `fabric.k`, `traffic.0.load`.
    pub key: String,
    /// TOML, or a bare string.
    pub value: String,
}

/// Parses `key.path=value`.
///
/// # Errors
/// A message with the valid form.
pub fn parse_override(text: &str) -> Result<Override, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Override { key: key.trim().to_owned(), value: value.trim().to_owned() })
        }
        _ => Err("write a key and a value, like fabric.k=8 or traffic.0.load=0.5".to_owned()),
    }
}

/// One key and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedKey {
    /// The key as in a scenario.
    pub key: String,
    /// Values; never empty.
    pub values: Vec<String>,
    /// Position of the key in its file; `None` for the command line.
    pub location: Option<(String, u64, u64)>,
    /// If `key` is an axis of a sweep: for each value of the axis, the scenario keys that it sets, with one value each.
    /// Empty otherwise.
    pub changes: Vec<Vec<VariedKey>>,
}

impl VariedKey {
    /// Returns the overrides that this value of the key implies.
    fn overrides(&self, value: &str) -> Vec<Override> {
        let own = |vary: &VariedKey, value: &str| Override { key: vary.key.clone(), value: value.to_owned() };
        let changes_of_name = self.values.iter().position(|known| known == value).and_then(|at| self.changes.get(at));
        match changes_of_name {
            Some(changes) => changes.iter().map(|change| own(change, &change.values.concat())).collect(),
            None => vec![own(self, value)],
        }
    }

    /// Returns the scenario keys that this key or axis overrides, by their current (not deprecated) names, without
    /// duplicates.
    fn keys(&self) -> BTreeSet<String> {
        if self.changes.is_empty() {
            return BTreeSet::from([scenario::present_key(&self.key)]);
        }
        self.changes.iter().flatten().map(|change| scenario::present_key(&change.key)).collect()
    }

    /// Returns whether both vary the same key or axis, by its present or deprecated name.
    pub(crate) fn is_key_of(&self, other: &VariedKey) -> bool {
        scenario::present_key(&self.key) == scenario::present_key(&other.key)
    }

    /// Restricts the axis to the values of `chosen`, in the order of `chosen`.
    ///
    /// # Errors
    /// [`PlanError::NoSuchValue`] for a value that the axis lacks.
    pub(crate) fn only(&self, chosen: &VariedKey) -> Result<VariedKey, PlanError> {
        let mut only = VariedKey { values: Vec::new(), changes: Vec::new(), ..self.clone() };
        for value in &chosen.values {
            let at = self.values.iter().position(|known| known == value.trim_matches('"')).ok_or_else(|| {
                PlanError::NoSuchValue { axis: self.key.clone(), value: value.clone(), known: self.values.clone() }
            })?;
            only.values.push(self.values[at].clone());
            only.changes.push(self.changes[at].clone());
        }
        Ok(only)
    }
}

impl From<Choice> for VariedKey {
    fn from(choice: Choice) -> VariedKey {
        let changes = choice.changes.into_iter().map(|set| set.into_iter().map(VariedKey::from).collect()).collect();
        VariedKey { key: choice.key, values: choice.values, location: Some(choice.location), changes }
    }
}

/// Seeds given by one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Vec<u64>);

/// Parses `1..10` and `1,2,5`.
///
/// # Errors
/// A message with the valid form.
pub fn parse_seeds(text: &str) -> Result<Seeds, String> {
    scenario::parse_seeds(text).map(Seeds)
}

/// Combines the seeds of several options.
///
/// # Errors
/// If a seed is in two of them.
pub fn all_seeds(options: &[Seeds]) -> Result<Vec<u64>, PlanError> {
    let all: Vec<u64> = options.iter().flat_map(|seeds| seeds.0.iter().copied()).collect();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(PlanError::SeedTwice { seed: twice[0] }),
        None => Ok(all),
    }
}

/// Moves an error in a varied value to the position of this value in the sweep file.
pub(crate) fn placed(error: LabError, varied: &[VariedKey]) -> LabError {
    let LabError::Scenario { mut errors, path } = error else { return error };
    for error in &mut errors.errors {
        let Some(written) = error.path.strip_prefix("--set ").map(str::to_owned) else { continue };
        let Some((key, value)) = written.split_once('=') else { continue };
        let of_axes = varied.iter().flat_map(|vary| vary.changes.iter().flatten());
        let is_it = |vary: &&VariedKey| key == vary.key && vary.values.iter().any(|known| known == value);
        let plain = varied.iter().find(|vary| vary.changes.is_empty() && key == vary.key);
        if let Some(vary) = plain.or_else(|| of_axes.into_iter().find(is_it)) {
            let message = std::mem::take(&mut error.message);
            *error = match &vary.location {
                Some((path, line, column)) => ScenarioError {
                    path: path.clone(),
                    line: *line,
                    column: *column,
                    message: format!("{written}: {message}"),
                    ..error.clone()
                },
                None => ScenarioError { path: format!("--vary {written}"), message, ..error.clone() },
            };
        }
    }
    LabError::Scenario { errors, path }
}

/// Checks that no key is varied twice, because the second would silently take precedence.
///
/// # Errors
/// [`PlanError::VariedTwice`].
pub fn check_distinct(varied: &[VariedKey]) -> Result<(), PlanError> {
    for (at, vary) in varied.iter().enumerate() {
        let is_twice = |first: &&VariedKey| first.is_key_of(vary) || !first.keys().is_disjoint(&vary.keys());
        if let Some(first) = varied[..at].iter().find(is_twice) {
            let values = [first.values.as_slice(), &vary.values].concat();
            return Err(PlanError::VariedTwice { key: vary.key.clone(), values });
        }
    }
    Ok(())
}

/// Parses `key.path=a,b,c`. A comma inside quotes, brackets or braces does not separate values.
///
/// # Errors
/// A message with the valid form.
pub fn parse_vary(text: &str) -> Result<VariedKey, String> {
    let wrong = || "write a key and values, like switch.flow_control=none,pfc or fabric.k=4,8".to_owned();
    let (key, values) = text.split_once('=').ok_or_else(wrong)?;
    let values = split(values);
    if key.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err(wrong());
    }
    if let Some(twice) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
        return Err(format!("duplicate value {}", twice.1));
    }
    Ok(VariedKey { key: key.trim().to_owned(), values, location: None, changes: Vec::new() })
}

fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quote) = (0u32, None);
    for c in text.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// One run of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// A value for each varied key, in the order of the keys.
    pub values: Vec<String>,
    /// Seed that overrides that of the scenario.
    pub seed: Option<u64>,
}

impl Variant {
    /// Returns all overrides of the scenario: the common ones, then those of this variant, which take precedence.
    pub fn overrides(&self, common: &[Override], varied: &[VariedKey]) -> Vec<Override> {
        let own = varied.iter().zip(&self.values);
        let own = own.flat_map(|(vary, value)| vary.overrides(value));
        common.iter().cloned().chain(own).collect()
    }

    /// Returns the title of the variant: `fabric.k=8 seed=1`.
    pub fn title(&self, varied: &[VariedKey]) -> String {
        let own = varied.iter().zip(&self.values).map(|(vary, value)| format!("{}={value}", vary.key));
        let parts: Vec<String> = own.chain(self.seed.map(|seed| format!("seed={seed}"))).collect();
        parts.join(" ")
    }

    /// Returns the folder name of the variant, `02_k=8_seed=1`, which is unique by its index.
    pub fn folder(&self, at: usize, varied: &[VariedKey]) -> String {
        let mut name = format!("{:02}", at + 1);
        let own = varied.iter().zip(&self.values).map(|(vary, value)| {
            let key = vary.key.rsplit('.').next().unwrap_or(&vary.key).to_owned();
            (key, value.clone())
        });
        for (key, value) in own.chain(self.seed.map(|seed| ("seed".to_owned(), seed.to_string()))) {
            let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
            let value: String = value.chars().map(safe).take(40).collect();
            let value = value.trim_matches('-');
            let key: String = key.chars().map(safe).take(40).collect();
            name.push_str(&format!("_{key}={value}"));
        }
        name
    }
}

/// Returns all combinations, in lexicographic order: the last key varies faster than the other keys, and the seed
/// fastest.
pub fn variants(varied: &[VariedKey], seeds: &[u64]) -> Vec<Variant> {
    combined(&[], varied, seeds)
}

/// Combines every entry of `list`, in which keys vary together, with every combination of `grid`. The values are in the
/// order of `list`, then `grid`.
pub fn combined(list: &[VariedKey], grid: &[VariedKey], seeds: &[u64]) -> Vec<Variant> {
    let entries = list.first().map_or(1, |vary| vary.values.len());
    let entry = |at: usize| list.iter().filter_map(|vary| vary.values.get(at).cloned()).collect::<Vec<_>>();
    let mut found: Vec<Vec<String>> = (0..entries).map(entry).collect();
    for vary in grid {
        let with = |values: &Vec<String>| {
            vary.values
                .iter()
                .map(|value| [values.as_slice(), std::slice::from_ref(value)].concat())
                .collect::<Vec<_>>()
        };
        found = found.iter().flat_map(with).collect();
    }
    let seeds: Vec<Option<u64>> = if seeds.is_empty() { vec![None] } else { seeds.iter().copied().map(Some).collect() };
    let with = |values: Vec<String>| {
        seeds.iter().map(move |&seed| Variant { values: values.clone(), seed }).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_split_at_the_first_equals_sign() {
        let set = parse_override(" fabric.link = { rate = \"1Gbps\" }").unwrap();
        assert_eq!((set.key.as_str(), set.value.as_str()), ("fabric.link", "{ rate = \"1Gbps\" }"));
        for wrong in ["", "seed", "=1", "seed="] {
            assert!(parse_override(wrong).unwrap_err().contains("like fabric.k=8"));
        }
    }

    #[test]
    fn values_split_at_commas_of_their_own_level() {
        let vary = parse_vary("fabric.link={ rate = \"1Gbps\", delay = '1us' }, [1, 2],\"a,b\" ,x").unwrap();
        assert_eq!(vary.key, "fabric.link");
        assert_eq!(vary.values, ["{ rate = \"1Gbps\", delay = '1us' }", "[1, 2]", "\"a,b\"", "x"]);
        for wrong in ["k", "=1", "k=", "k=1,,2"] {
            assert!(parse_vary(wrong).unwrap_err().contains("fabric.k=4,8"), "{wrong}");
        }
        assert!(parse_vary("k=1,2,1").unwrap_err().contains("duplicate value"));
    }

    #[test]
    fn the_cross_product_is_whole_and_its_folders_are_unique() {
        let varied = [parse_vary("fabric.k=4,8").unwrap(), parse_vary("a.kind=x y,x/y,x-y").unwrap()];
        let all = variants(&varied, &[1, 2]);
        assert_eq!(all.len(), 12);
        assert_eq!((all[0].values.as_slice(), all[0].seed), (["4".to_owned(), "x y".to_owned()].as_slice(), Some(1)));
        assert_eq!(all[1].seed, Some(2));
        let mut folders: Vec<String> =
            all.iter().enumerate().map(|(at, variant)| variant.folder(at, &varied)).collect();
        assert_eq!(folders[3], "04_k=4_kind=x-y_seed=2");
        folders.dedup();
        assert_eq!(folders.len(), 12);
        assert_eq!(variants(&varied[..1], &[]).len(), 2);
        assert_eq!(all[1].title(&varied), "fabric.k=4 a.kind=x y seed=2");
        // Keys of a list vary together; the list is combined only with the grid.
        let list = [parse_vary("x=1,2").unwrap(), parse_vary("y=3,4").unwrap()];
        let values: Vec<String> =
            combined(&list, &varied[..1], &[]).iter().map(|variant| variant.values.concat()).collect();
        assert_eq!(values, ["134", "138", "244", "248"]);
        // A value of an axis overrides several keys, or none.
        let change = |key: &str, value: &str| parse_vary(&format!("{key}={value}")).unwrap();
        let axis = VariedKey {
            values: vec!["small".into(), "own".into()],
            changes: vec![vec![change("fabric.k", "4"), change("x.y", "z")], Vec::new()],
            ..parse_vary("size=1").unwrap()
        };
        let of = |value: &str| {
            axis.overrides(value).iter().map(|set| format!("{}={}", set.key, set.value)).collect::<Vec<_>>()
        };
        assert_eq!((of("small"), of("own")), (vec!["fabric.k=4".to_owned(), "x.y=z".to_owned()], vec![]));
        assert!(check_distinct(&[axis.clone(), change("x.y", "1")]).is_err());
        assert!(check_distinct(&[axis.clone(), change("x.z", "1")]).is_ok());
        assert_eq!(axis.only(&change("size", "own")).unwrap().values, ["own"]);
        assert!(matches!(axis.only(&change("size", "big")), Err(PlanError::NoSuchValue { .. })));
        let common = [Override { key: "fabric.k".into(), value: "16".into() }];
        let overrides = all[0].overrides(&common, &varied);
        assert_eq!(overrides.iter().map(|set| set.value.as_str()).collect::<Vec<_>>(), ["16", "4", "x y"]);
    }
}
