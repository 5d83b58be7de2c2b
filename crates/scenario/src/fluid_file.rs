//! The file of a fluid model: read like a scenario, with its own keys.

use crate::document::Document;
use crate::error::{Explained, ScenarioError, ScenarioErrors, not_text};
use crate::files;
use crate::fluid_control::{bps, control, seconds};
use crate::section::{Context, Section};
use fluid::models::{Bottleneck, Control, Flows, Model};
use std::path::Path;
use units::{Rate, Time};

/// Maximum number of rows of the series.
const MOST_SAMPLES: u64 = 1_000_000;
/// Maximum number of groups of flows: more groups require packet-level simulation.
const MOST_KINDS: usize = 256;

/// A fluid model as its file describes it.
#[derive(Clone, Debug)]
pub struct FluidFile {
    /// Name in results.
    pub name: String,
    /// Purpose of the model.
    pub description: Option<String>,
    /// Duration of the solution.
    pub duration: Time,
    /// Start of the interval over which time averages are taken.
    pub warm_up: Time,
    /// Sampling interval of the series.
    pub sample: Time,
    /// Error tolerance per step, relative to the size of a variable.
    pub tolerance: f64,
    /// The congestion control.
    pub control: Control,
    /// Kind of the control, as in the file.
    pub kind: &'static str,
    /// The bottleneck link.
    pub bottleneck: Bottleneck,
    /// The groups of flows.
    pub flows: Vec<Flows>,
    /// Every value with its origin.
    pub explained: Vec<Explained>,
}

impl FluidFile {
    /// Reads the file at `path`; `overrides` are (`key.path`, value as TOML or bare text), applied in order.
    ///
    /// # Errors
    /// An unreadable file, and all errors in it.
    pub fn read(path: &Path, overrides: &[(String, String)]) -> Result<FluidFile, ScenarioErrors> {
        let name = path.display().to_string();
        let whole = |message: String| {
            let (path, key) = (name.clone(), String::new());
            let error = ScenarioError { path, line: 0, column: 0, span: 0..0, key, message, help: None };
            ScenarioErrors { errors: vec![error] }
        };
        let content = files::read_at_most(path, files::MAX_WRITTEN_BYTES);
        let content = content.map_err(|error| whole(format!("cannot read the fluid model: {error}")))?;
        let text = fabric::files::text_of(&content).map_err(|fault| not_text(&name, fault.line))?;
        Self::parse(text, &name, overrides)
    }

    /// Like [`FluidFile::read`], from a text that errors call `name`.
    ///
    /// # Errors
    /// All errors in the text.
    pub fn parse(text: &str, name: &str, overrides: &[(String, String)]) -> Result<FluidFile, ScenarioErrors> {
        let document = Document::parse(text, name, overrides).map_err(|errors| ScenarioErrors { errors })?;
        let context = Context::new(&document);
        let file = read(&context, name);
        let (errors, explained, _) = context.finish();
        match file {
            Some(file) if errors.is_empty() => Ok(FluidFile { explained, ..file }),
            _ if errors.is_empty() => {
                let message = "this fluid model cannot be read".to_owned();
                Err(ScenarioErrors { errors: vec![document.error(&document.locate(""), "", message, None)] })
            }
            _ => Err(ScenarioErrors { errors }),
        }
    }

    /// Returns the model in its initial state.
    pub fn model(&self) -> Box<dyn Model> {
        self.control.model(self.bottleneck, self.flows.clone())
    }
}

fn read(context: &Context<'_>, path: &str) -> Option<FluidFile> {
    let root = context.root_of("fluid");
    let name = root.text("name");
    let file = || Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or_else(file).unwrap_or_else(|| "fluid model".to_owned());
    let description = root.text("description");
    let duration = root.positive_time("duration");
    let warm_up = root.time("warm_up");
    let sample = root.positive_time("sample");
    let tolerance = root.number("tolerance", 1e-12..=0.01);
    let sections = (root.table("model", "fluid.model", true), root.table("bottleneck", "fluid.bottleneck", false));
    let entries = root.tables("flow", "fluid.flow");
    for (key, example) in
        [("model", "[model] with kind = \"dcqcn\""), ("bottleneck", "[bottleneck] with rate = \"40Gbps\"")]
    {
        if !root.has(key) {
            root.fail("", format!("a fluid model needs `{key}`"), Some(format!("write {example}")));
        }
    }
    root.finish();
    let link = bottleneck(&sections.1);
    let control = control(&sections.0);
    if entries.is_empty() || entries.len() > MOST_KINDS {
        let message = format!("there are {} entries of flows", entries.len());
        root.fail("flow", message, Some(format!("write 1 to {MOST_KINDS} of [[flow]], with rtt = \"4us\"")));
    }
    let read: Vec<Option<Entry>> = entries.iter().map(|entry| flow(entry, link)).collect();
    let (duration, tolerance) = (duration?, tolerance?);
    let warm_up = warm_up.unwrap_or(Time::from_ps(duration.as_ps() / 2));
    if warm_up >= duration {
        root.fail("warm_up", "the warm-up is not shorter than the duration", Some("write a shorter one".to_owned()));
    }
    let sample = sample.unwrap_or(Time::from_ps((duration.as_ps() / 1000).max(1)));
    if duration.as_ps() / sample.as_ps() > MOST_SAMPLES {
        let least = duration.as_ps().div_ceil(MOST_SAMPLES);
        let help = format!("write at least {}", Time::from_ps(least));
        root.fail("sample", format!("a row each {sample} are more than {MOST_SAMPLES} rows"), Some(help));
    }
    let ((kind, control), link) = (control?, link?);
    let least = control.min_rate();
    if least > link.rate {
        let help = "write a rate up to that of the bottleneck".to_owned();
        sections.0.fail("min_rate", "rates could not fall to that of the bottleneck", Some(help));
    }
    let read: Vec<Entry> = read.into_iter().collect::<Option<_>>()?;
    let count: u64 = read.iter().map(|entry| u64::from(entry.count)).sum();
    let first = control.first_rate(link.rate, link.rate / count as f64);
    for (entry, section) in read.iter().zip(&entries) {
        if let Some(rate) = entry.rate.filter(|rate| bps(*rate) < least) {
            let help = format!("write a rate from {least} bps up");
            section.fail("rate", format!("{rate} is below the least rate of the model"), Some(help));
        }
    }
    let flows = |entry: &Entry| Flows {
        count: entry.count,
        start: seconds(entry.start),
        rtt: seconds(entry.rtt),
        rate: entry.rate.map_or(first, bps),
    };
    let flows = read.iter().map(flows).collect();
    let (bottleneck, explained) = (link, Vec::new());
    Some(FluidFile {
        name,
        description,
        duration,
        warm_up,
        sample,
        tolerance,
        control,
        kind,
        bottleneck,
        flows,
        explained,
    })
}

fn bottleneck(section: &Section<'_, '_>) -> Option<Bottleneck> {
    let (rate, buffer) = (section.rate("rate"), section.size("buffer"));
    section.finish();
    let (rate, buffer) = (rate?, buffer?);
    if buffer == 0 {
        section.fail("buffer", "a queue of 0 bytes", Some("write a size like \"16MB\"".to_owned()));
    }
    Some(Bottleneck { rate: bps(rate), buffer: buffer as f64 * 8.0 })
}

struct Entry {
    count: u32,
    start: Time,
    rtt: Time,
    rate: Option<Rate>,
}

fn flow(section: &Section<'_, '_>, link: Option<Bottleneck>) -> Option<Entry> {
    let (count, start, rtt) = (section.whole("count", 1..=100_000), section.time("start"), section.time("rtt"));
    let rate = section.rate("rate");
    section.finish();
    if let (Some(rate), Some(link)) = (rate, link)
        && bps(rate) > link.rate
    {
        let help = "write a rate up to that of the bottleneck".to_owned();
        section.fail("rate", format!("{rate} is more than the bottleneck has"), Some(help));
    }
    Some(Entry { count: count? as u32, start: start?, rtt: rtt?, rate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid_control::KINDS;

    const HETFLOW: &str = "duration = \"100ms\"\n[model]\nkind = \"hetflow\"\n[bottleneck]\nrate = \"10Gbps\"\n\
                           [[flow]]\n\
                           count = 4\nrtt = \"10us\"\n";

    fn error_text(text: &str) -> String {
        FluidFile::parse(text, "a.toml", &[]).expect_err("it is wrong").to_string()
    }

    #[test]
    fn what_is_not_written_has_a_default_with_its_source() {
        let file = FluidFile::parse(HETFLOW, "a.toml", &[]).unwrap();
        assert_eq!((file.warm_up, file.sample), (Time::from_ms(50), Time::from_us(100)));
        assert_eq!(file.flows[0].rate, 2e9, "80 % of an equal share");
        let scaling = file.explained.iter().find(|value| value.key == "model.scaling").unwrap();
        assert_eq!(
            (scaling.value.as_str(), &scaling.origin),
            ("1500", &crate::Origin::Default { source: "thesis, table 3.2" })
        );
    }

    #[test]
    fn every_kind_is_read_with_its_defaults() {
        for kind in KINDS {
            let more = if kind == "dcqcn" { "k_min = \"5KB\"\nk_max = \"200KB\"\n" } else { "" };
            let text = HETFLOW.replace("kind = \"hetflow\"\n", &format!("kind = \"{kind}\"\n{more}"));
            let file = FluidFile::parse(&text, "a.toml", &[]).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(file.kind, kind);
        }
    }

    #[test]
    fn words_that_are_unknown_or_no_texts_are_refused_with_the_known_ones() {
        let with = |line: &str| error_text(&HETFLOW.replace("kind = \"hetflow\"", line));
        let dcqcn = |more: &str| with(&format!("kind = \"dcqcn\"\nk_min = \"5KB\"\nk_max = \"200KB\"\n{more}"));
        for (error, expected) in [
            (with("kind = \"dctcp\""), "3:8: `dctcp` is not a valid fluid model\n  help: it is one of dcqcn, timely"),
            (with("kind = 5"), "3:8: `5` is not a valid fluid model\n  help: write one of dcqcn, timely"),
            (with("kind = []"), "3:8: a list is not a valid fluid model"),
            (
                dcqcn("mark_at = 5"),
                "6:11: `mark_at` is `5`; expected one of dequeue, enqueue\n  help: write it in quotes",
            ),
            (dcqcn("mark_at = \"now\""), "6:11: `mark_at` is \"now\"; expected one of dequeue, enqueue"),
            (
                dcqcn("mark_at = \"dequeu\""),
                "6:11: `mark_at` is \"dequeu\"; expected one of dequeue, enqueue\n  help: did you mean `dequeue`?",
            ),
        ] {
            assert!(error.contains(&format!("a.toml:{expected}")), "{expected}:\n{error}");
        }
    }

    #[test]
    fn a_gain_that_makes_a_rate_negative_is_refused_with_its_line() {
        let text = HETFLOW.replace("kind = \"hetflow\"\n", "kind = \"hetflow\"\ngain = 0.02\n");
        let error_text = error_text(&text);
        assert!(error_text.starts_with("a.toml:4:") && error_text.contains("below 0.015625"), "{error_text}");
    }

    #[test]
    fn a_sampling_interval_of_zero_is_refused_with_its_line() {
        let error_text = error_text(&HETFLOW.replace("kind = \"hetflow\"\n", "kind = \"hetflow\"\ntimer = \"0ms\"\n"));
        assert!(error_text.starts_with("a.toml:4:") && error_text.contains("above zero"), "{error_text}");
        let zero = self::error_text(&format!("sample = \"0s\"\n{HETFLOW}"));
        assert!(zero.starts_with("a.toml:1:"), "{zero}");
    }

    #[test]
    fn a_delay_below_zero_is_refused_with_its_line() {
        let error_text = error_text(&HETFLOW.replace("rtt = \"10us\"", "rtt = \"-10us\""));
        assert!(error_text.starts_with("a.toml:8:") && error_text.contains("negative"), "{error_text}");
    }

    #[test]
    fn rates_below_the_least_and_a_least_above_the_link_are_refused_with_their_lines() {
        let slow = error_text(&format!("{HETFLOW}rate = \"1Mbps\"\n"));
        assert!(slow.starts_with("a.toml:9:") && slow.contains("10000000 bps up"), "{slow}");
        let fast = error_text(&HETFLOW.replace("\"hetflow\"\n", "\"hetflow\"\nmin_rate = \"11Gbps\"\n"));
        assert!(fast.starts_with("a.toml:4:"), "{fast}");
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let error_text = error_text(
            "duration = \"1ms\"\nsample = \"1ps\"\nwarm_up = \"2ms\"\ncolour = 1\n[model]\nkind = \"timely\"\n\
             beta = 2\n",
        );
        for part in [
            "a.toml:4:1: unknown key `colour` in a fluid model",
            "`beta`",
            "bottleneck",
            "entries of flows",
            "more than 1000000 rows",
            "warm-up",
        ] {
            let part = part.replace("`beta`", "a gradient of 1 cuts by 2");
            assert!(error_text.contains(&part), "{part}:\n{error_text}");
        }
    }
}
