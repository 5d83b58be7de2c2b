//! A parsed scenario: all keys exist, and each value is valid, independent of the others.

use crate::document::Document;
use crate::error::{Explained, Origin, ScenarioError, ScenarioErrors, Warning, not_text};
use crate::fabric_part::FabricPlan;
use crate::files::{self, Load, hex};
use crate::parts::Parts;
use crate::section::Context;
use crate::{agreements, cyclic_part, gates_part, run_part, shaping_part, static_routes, switch_part, traffic_part};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};

/// A parsed scenario; [`Scenario::lower`] builds the setup of a run.
pub struct Scenario {
    pub(crate) document: Document,
    /// Directory that file names are relative to.
    pub(crate) directory: PathBuf,
    pub(crate) load: Box<Load>,
    pub(crate) parts: Parts,
    pub(crate) explained: Vec<Explained>,
    /// Warnings about single keys.
    pub(crate) warnings: Vec<Warning>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name()).field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// Keys without effect on results; and the seed, which is recorded besides the hash.
const NOT_HASHED: [&str; 5] = ["name", "description", "seed", "threads", "fabric.file"];

impl Scenario {
    /// Reads a scenario file; file names in it are relative to its directory. `overrides` are (`key.path`, value as
    /// TOML or bare text), applied in order; `seed` takes precedence over the scenario's.
    ///
    /// # Errors
    /// An unreadable file, and all errors in it.
    pub fn read(path: &Path, overrides: &[(String, String)], seed: Option<u64>) -> Result<Scenario, ScenarioErrors> {
        let name = path.display().to_string();
        let whole = |message: String| {
            let (path, key) = (name.clone(), String::new());
            let error = ScenarioError { path, line: 0, column: 0, span: 0..0, key, message, help: None };
            ScenarioErrors { errors: vec![error] }
        };
        let content = files::read_at_most(path, files::MAX_WRITTEN_BYTES);
        let content = content.map_err(|error| whole(format!("cannot read the scenario: {error}")))?;
        let text = fabric::files::text_of(&content).map_err(|fault| not_text(&name, fault.line))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(text, &name, directory, overrides, seed)
    }

    /// Like [`Scenario::read`], from a text that errors call `name` and whose files are in `directory`.
    ///
    /// # Errors
    /// All errors in the text.
    pub fn parse(
        text: &str,
        name: &str,
        directory: &Path,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> Result<Scenario, ScenarioErrors> {
        Self::parse_with(text, name, directory, overrides, seed, Box::new(files::from_disk))
    }

    /// Like [`Scenario::parse`], with files read by `load`.
    ///
    /// # Errors
    /// All errors in the text.
    pub fn parse_with(
        text: &str,
        name: &str,
        directory: &Path,
        overrides: &[(String, String)],
        seed: Option<u64>,
        load: Box<Load>,
    ) -> Result<Scenario, ScenarioErrors> {
        let document = Document::parse(text, name, overrides).map_err(|errors| ScenarioErrors { errors })?;
        let context = Context::new(&document);
        // Warn once per key, even if several overrides name it.
        let mut former: Vec<(String, String)> = Vec::new();
        for found in document.former.iter().map(|key| (key.path(), key.warning())) {
            if !former.contains(&found) {
                context.warn(&found.0, &*found.1);
                former.push(found);
            }
        }
        let parts = read_parts(&context, seed);
        let (errors, mut explained, warnings) = context.finish();
        if let (Some(seed), Some(entry)) = (seed, explained.iter_mut().find(|entry| entry.key == "seed")) {
            (entry.value, entry.origin) = (seed.to_string(), Origin::Override);
        }
        match parts {
            Some(parts) if errors.is_empty() => {
                Ok(Scenario { directory: directory.to_owned(), load, parts, explained, warnings, document })
            }
            _ if errors.is_empty() => {
                // A part returned `None` without an error: this is a bug, and must not pass as success.
                let message = "this scenario cannot be read".to_owned();
                Err(ScenarioErrors { errors: vec![document.error(&document.locate(""), "", message, None)] })
            }
            _ => Err(ScenarioErrors { errors }),
        }
    }

    /// Returns the name in results: `name`, or the stem of the file name.
    pub fn name(&self) -> String {
        let file = || Path::new(&self.document.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.parts.top.name.clone().or_else(file).unwrap_or_else(|| "scenario".to_owned())
    }

    /// Returns the text, for rendering errors.
    pub fn text(&self) -> &str {
        &self.document.text
    }

    /// Returns every value with its origin.
    pub fn explain(&self) -> &[Explained] {
        &self.explained
    }

    /// Returns the values that are set in the text or by an override, as (key, value), with keys as in `--set`. A list
    /// of scalars is one value, in brackets.
    pub fn written(&self) -> Vec<(String, String)> {
        self.document.written()
    }

    /// See [`crate::Lowered::hash`].
    pub(crate) fn hash(&self, digests: &[(String, String)]) -> String {
        hex(&Sha256::digest(self.hashed_lines(digests).concat()))
    }

    /// Returns the input of the hash, one item per line: written values, default values and digests of files. Absent
    /// keys are left out, because their explained value is a description, whose wording may change.
    fn hashed_lines(&self, digests: &[(String, String)]) -> Vec<String> {
        let mut lines: Vec<String> = self
            .explained
            .iter()
            .filter(|entry| !matches!(entry.origin, Origin::Absent { .. }))
            .filter(|entry| !NOT_HASHED.contains(&entry.key.as_str()) && !is_replay_file(&entry.key))
            .map(|entry| format!("{}={:?}\n", entry.key, entry.value))
            .chain(digests.iter().map(|(key, digest)| format!("{key} contains {digest}\n")))
            .collect();
        // The order of keys in the file does not matter.
        lines.sort_unstable();
        lines
    }
}

/// Returns `true` for the file names of replays: their contents are hashed, not their names.
fn is_replay_file(key: &str) -> bool {
    key.starts_with("traffic.") && key.ends_with(".file")
}

/// Reads every part before the first error returns, so that all errors are reported.
fn read_parts(context: &Context<'_>, seed: Option<u64>) -> Option<Parts> {
    let root = context.root();
    let top = run_part::top(&root);
    let fabric = FabricPlan::read(&root);
    let routing = run_part::routing(&root);
    let (paths, failures) = (run_part::paths(&root), run_part::failures(&root));
    let (static_routes, agreements) = (static_routes::read(&root), agreements::read(&root));
    let (gates, cyclic, shaping) = (gates_part::read(&root), cyclic_part::read(&root), shaping_part::read(&root));
    let (switch, host) = (switch_part::read(&root), run_part::host(&root));
    let traffic = traffic_part::read(&root);
    let watch = run_part::watch(&root, top.as_ref().map(|top| top.duration));
    root.finish();
    let top = top?;
    let (fabric, control_loss) = fabric?;
    let (switch, overrides, partial, tags, switch_clocks, preemption) = switch?;
    Some(Parts {
        seed: seed.unwrap_or(top.seed),
        top,
        fabric,
        control_loss,
        routing: routing?,
        paths,
        failures,
        static_routes,
        agreements,
        switch,
        overrides,
        partial,
        tags,
        switch_clocks,
        preemption,
        gates: gates?,
        cyclic: cyclic?,
        shaping: shaping?,
        host: host?,
        traffic: traffic.into_iter().collect::<Option<Vec<_>>>()?,
        watch: watch?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{self, Default};
    use protocols::transport::MECHANISMS;

    /// Scenarios are `Send` and `Sync`, because a comparison lowers variants of one scenario on several threads.
    #[test]
    fn scenarios_cross_threads() {
        fn check<T: Send + Sync>() {}
        check::<Scenario>();
        check::<crate::Lowered>();
    }

    const TEXT: &str = "duration = \"1ms\"\n[fabric]\nkind = \"fat-tree\"\nk = 4\n\
                        link = { rate = \"100Gbps\", delay = \"500ns\" }\n\
                        [switch]\nflow_control = { kind = \"pfc\", priorities = [3] }\n\
                        [host]\ntransport = \"tcp\"\n\
                        [[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n";

    fn parse(overrides: &[(&str, &str)]) -> Scenario {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Scenario::parse(TEXT, "hash.toml", Path::new(""), &overrides, None).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The hash excludes descriptions, because their wording may change between two builds and `sweep --resume` must
    /// still find the results.
    #[test]
    fn the_hash_excludes_descriptions_of_absent_keys() {
        let keys = keys::keys().map(|key| (key.name, key.default));
        let parameters = MECHANISMS.iter().flat_map(|mechanism| mechanism.parameters);
        let described = |(name, default)| match default {
            Default::Absent(description) => Some((name, description)),
            Default::Value(_) | Default::Required => None,
        };
        let descriptions: Vec<(&str, &str)> =
            keys.chain(parameters.map(|parameter| (parameter.key, parameter.default))).filter_map(described).collect();
        let is_description = |entry: &&Explained| {
            let name = entry.key.rsplit('.').next().unwrap_or_default();
            !NOT_HASHED.contains(&&*entry.key) && descriptions.contains(&(name, &entry.value))
        };
        let scenario = parse(&[]);
        let lines = scenario.hashed_lines(&[("fabric.file".to_owned(), "ab".to_owned())]);
        let absent: Vec<&Explained> = scenario.explained.iter().filter(is_description).collect();
        assert!(absent.len() >= 10, "{absent:?}");
        for entry in absent {
            let start = format!("{}=", entry.key);
            assert!(!lines.iter().any(|line| line.starts_with(&start)), "{} is hashed: {}", entry.key, entry.value);
        }
        assert!(lines.contains(&"fabric.file contains ab\n".to_owned()), "{lines:?}");
    }

    #[test]
    fn the_hash_includes_written_and_default_values() {
        let lines = |overrides: &[(&str, &str)]| parse(overrides).hashed_lines(&[]);
        let plain = lines(&[]);
        assert!(plain.contains(&"fabric.k=\"4\"\n".to_owned()), "{plain:?}");
        assert!(plain.contains(&"host.transport.out_of_order_takes_window=\"false\"\n".to_owned()), "{plain:?}");
        // A default that is written gives the same hash input as an absent key.
        assert_eq!(lines(&[("host.transport.out_of_order_takes_window", "false")]), plain);
        // A written value of a key without a default adds one line to the hash input.
        let mut more = lines(&[("measure.end", "500us")]);
        more.retain(|line| !plain.contains(line));
        assert_eq!(more, ["measure.end=\"500us\"\n"]);
    }
}
