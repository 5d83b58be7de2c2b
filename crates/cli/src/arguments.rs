//! Arguments that several commands take.

use crate::failure::Failure;
use crate::interrupt;
use crate::recognise::not_a_scenario;
use scenario::{Lowered, Scenario};
use std::path::{Path, PathBuf};

/// `--set key.path=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// As in a scenario: `fabric.k`, `traffic.0.load`.
    pub key: String,
    /// TOML, or a bare text.
    pub value: String,
}

/// Parses `key.path=value`.
///
/// # Errors
/// A sentence for clap.
pub fn parse_override(text: &str) -> Result<Override, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Override { key: key.trim().to_owned(), value: value.trim().to_owned() })
        }
        _ => Err("write a key and a value, like fabric.k=8 or traffic.0.load=0.5".to_owned()),
    }
}

/// A scenario and what the command line changes in it.
#[derive(Clone, Debug, clap::Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Change a value: `--set fabric.k=8 --set traffic.0.load=0.5`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    pub set: Vec<Override>,
}

/// Reads a scenario with overrides.
///
/// # Errors
/// [`Failure::Scenario`] with everything that is wrong; something else than a scenario.
pub fn read(path: &Path, overrides: &[Override], seed: Option<u64>) -> Result<Scenario, Failure> {
    let pairs: Vec<(String, String)> = overrides.iter().map(|set| (set.key.clone(), set.value.clone())).collect();
    Scenario::read(path, &pairs, seed)
        .map_err(|errors| not_a_scenario(path).unwrap_or(Failure::Scenario { errors, path: path.to_owned() }))
}

/// Lowers what was read from `path`.
///
/// # Errors
/// [`Failure::Scenario`] with everything that does not fit together.
pub fn lower(scenario: &Scenario, path: &Path) -> Result<Lowered, Failure> {
    let _deaf = interrupt::deaf();
    scenario.lower().map_err(|errors| Failure::Scenario { errors, path: path.to_owned() })
}

/// `text` as one word of a POSIX shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
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
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b.toml"), "a/b.toml");
        for text in ["", "two words", "it's", "a\"b", "$HOME", "x;y", "~"] {
            let command = format!("printf %s {}", quoted(text));
            let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
