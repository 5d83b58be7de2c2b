//! The top level of a scenario, `[routing]`, `[[path]]`, `[[fail]]`, `[host]`, `[measure]`, `[record]` and `[check]`.

use crate::clock_part::{self, ClocksPlan};
use crate::error::Origin;
use crate::keys::{self, Default};
use crate::mechanism;
use crate::names::{HostName, hosts_list, names};
use crate::record_part::{self, RecordPart};
use crate::section::{Section, positive, show};
use crate::suggest;
use model::parameters::{Reroute, Spread, StormParameters};
use protocols::bounce_reaction::HalveParameters;
use protocols::transport::{MECHANISMS, TransportParameters};
use protocols::{ParameterError, Parameters};
use units::Time;

/// Maximum duration of a run, so that sums of times stay below the limit of 213 days.
const MAX_DURATION: Time = Time::from_s(20 * 86_400);

/// Values of the top-level keys of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    pub name: Option<String>,
    pub description: Option<String>,
    pub duration: Time,
    pub ends_with_flows: bool,
    pub seed: u64,
    pub threads: usize,
}

pub(crate) fn top(root: &Section<'_, '_>) -> Option<Top> {
    let (name, description) = (root.text("name"), root.text("description"));
    let duration = root.read("duration", |value| {
        let (time, text) = positive(value)?;
        if time > MAX_DURATION {
            return Err((format!("`{text}` is too long for a run"), Some("at most 20 days: 1728000s".to_owned())));
        }
        Ok((time, text))
    });
    let ends_with_flows = root.word("until", &["flows done"]).is_some();
    let (seed, threads) = (root.whole("seed", 0..=u64::MAX), root.whole("threads", 1..=1024));
    Some(Top { name, description, duration: duration?, ends_with_flows, seed: seed?, threads: threads? as usize })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoutingMode {
    Shortest,
    TwoLevel,
    UpDown,
    Explicit,
}

#[derive(Clone, Debug)]
pub(crate) struct Routing {
    pub mode: RoutingMode,
    pub root: Option<String>,
    pub spread: Spread,
    pub reroute: Reroute,
    /// `None`: the hash seed is derived from the seed of the run.
    pub hash_seed: Option<u64>,
}

pub(crate) fn routing(root: &Section<'_, '_>) -> Option<Routing> {
    let section = root.table("routing", "routing", false);
    let mode = section.word("mode", &["shortest", "two-level", "up-down", "explicit"]);
    let up_root = section.text("root");
    let spread = section.word("spread", &["flow", "packet", "path", "entropy"]);
    let values = section.whole("entropy_values", 1..=65_536);
    let reroute = section.word("reroute", &["none", "local"]);
    let hash_seed = section.whole("hash_seed", 0..=u64::MAX);
    section.finish();
    let mode = match mode? {
        "shortest" => RoutingMode::Shortest,
        "two-level" => RoutingMode::TwoLevel,
        "up-down" => RoutingMode::UpDown,
        _ => RoutingMode::Explicit,
    };
    if up_root.is_some() && mode != RoutingMode::UpDown {
        section.fail("root", "only up-down routing has a root", Some("write mode = \"up-down\"".to_owned()));
    }
    let spread = match spread? {
        "flow" => Spread::FlowHash,
        "packet" => Spread::PerPacket,
        "path" => Spread::PerPath,
        _ => Spread::PerEntropy { values: values? as u32 },
    };
    let is_entropy = matches!(spread, Spread::PerEntropy { .. });
    if section.has("entropy_values") && !is_entropy {
        section.fail("entropy_values", "only spread = \"entropy\" has entropy values", None);
    }
    if !values?.is_power_of_two() {
        section.fail("entropy_values", "not a power of two", Some("write 64".to_owned()));
    }
    let reroute = if reroute? == "none" { Reroute::None } else { Reroute::Local };
    Some(Routing { mode, root: up_root, spread, reroute, hash_seed })
}

#[derive(Clone, Debug)]
pub(crate) struct NamedPath {
    pub name: String,
    pub nodes: Vec<String>,
}

pub(crate) fn paths(root: &Section<'_, '_>) -> Vec<NamedPath> {
    let mut paths: Vec<NamedPath> = Vec::new();
    for section in root.tables("path", "path") {
        let (name, nodes) =
            (section.text("name"), section.read("nodes", |value| names(value, "[\"H1\", \"S1\", \"H2\"]")));
        section.finish();
        let (Some(name), Some(nodes)) = (name, nodes) else { continue };
        if paths.iter().any(|path| path.name == name) {
            section.fail("name", format!("two paths are called `{name}`"), Some("names must differ".to_owned()));
        }
        paths.push(NamedPath { name, nodes });
    }
    paths
}

#[derive(Clone, Debug)]
pub(crate) struct NamedFailure {
    pub ends: [String; 2],
    pub at: Time,
    pub until: Option<Time>,
}

pub(crate) fn failures(root: &Section<'_, '_>) -> Vec<NamedFailure> {
    let mut failures = Vec::new();
    for section in root.tables("fail", "fail") {
        let ends = section.read("link", |value| {
            let (names, text) = names(value, "[\"S1\", \"C1\"]")?;
            match <[String; 2]>::try_from(names) {
                Ok(ends) => Ok((ends, text)),
                Err(_) => Err(("a link has two ends".to_owned(), Some("write link = [\"S1\", \"C1\"]".to_owned()))),
            }
        });
        let (at, until) = (section.time("at"), section.time("until"));
        section.finish();
        if let (Some(at), Some(until)) = (at, until)
            && until <= at
        {
            let message = format!("the end of the failure, {until}, is not after its start, {at}");
            section.fail("until", message, Some("remove `until` for a permanent failure".to_owned()));
        }
        if let (Some(ends), Some(at)) = (ends, at) {
            failures.push(NamedFailure { ends, at, until });
        }
    }
    failures
}

#[derive(Clone, Debug)]
pub(crate) struct HostPart {
    pub transport: TransportParameters,
    /// Name of the transport in scenarios.
    pub transport_kind: &'static str,
    pub reply_class: Option<u8>,
    pub obeys_pause: bool,
    /// Name of the host with the pause-storm fault, its start and end.
    pub pause_storm: Option<(String, Time, Option<Time>)>,
    pub ignore_pause: Vec<HostName>,
    /// `true` if a sender halves its window or rate when its host is paused.
    pub halves: bool,
    pub trim_aware: bool,
    pub on_bounce: Option<HalveParameters>,
    pub ttl: u8,
    pub notification_delay: Option<Time>,
    pub clocks: ClocksPlan,
}

pub(crate) fn host(root: &Section<'_, '_>) -> Option<HostPart> {
    let section = root.table("host", "host", false);
    let transport = transport(&section);
    let (reply_class, obeys_pause) = (section.class("reply_class"), section.flag("obeys_pause"));
    let storm = section.table("pause_storm", "host.pause_storm", false);
    let pause_storm = section.has("pause_storm").then(|| pause_storm(&storm));
    let ignore_pause = section.read("ignore_pause", hosts_list).unwrap_or_default();
    let on_pause = section.word("on_pause", &["none", "halve"]);
    if on_pause == Some("halve") && transport.as_ref().is_some_and(|(_, transport)| !transport.slows_down()) {
        let message = "senders of this transport have no window or rate that falls and grows again: nothing to halve";
        let help = "use tcp, dctcp or dcqcn, or remove host.on_pause".to_owned();
        section.fail("on_pause", message, Some(help));
    }
    let trim_aware = section.flag("trim_aware");
    let clocks = clock_part::read(&section);
    let on_bounce = on_bounce(&section, transport.as_ref().map(|(_, transport)| transport));
    let ttl = section.whole("ttl", 1..=255);
    let notification_delay = section.read("notification_delay", positive);
    section.finish();
    let (transport_kind, transport) = transport?;
    let (obeys_pause, on_bounce, ttl) = (obeys_pause?, on_bounce?, ttl? as u8);
    Some(HostPart {
        transport,
        transport_kind,
        reply_class,
        obeys_pause,
        pause_storm: match pause_storm {
            Some(storm) => Some(storm?),
            None => None,
        },
        ignore_pause,
        halves: on_pause? == "halve",
        trim_aware: trim_aware?,
        on_bounce,
        ttl,
        notification_delay,
        clocks: clocks?,
    })
}

/// Reads `host.pause_storm`: name of the faulty host, start and end of the storm.
fn pause_storm(table: &Section<'_, '_>) -> Option<(String, Time, Option<Time>)> {
    let (name, at, until) = (table.text("host"), table.time("at"), table.time("until"));
    table.finish();
    let (name, at) = (name?, at?);
    if until.is_some_and(|until| until <= at) {
        table.fail("until", "the storm ends before its start", Some("write a time after `at`".to_owned()));
        return None;
    }
    Some((name, at, until))
}

/// Reads `host.on_bounce`, which requires a transport that can reduce its rate or window. `None` after an error,
/// `Some(None)` without reaction.
#[expect(clippy::option_option, reason = "wrong, absent, or there, as every part is read")]
fn on_bounce(host: &Section<'_, '_>, transport: Option<&TransportParameters>) -> Option<Option<HalveParameters>> {
    let table = host.table("on_bounce", "host.on_bounce", true);
    let kind = table.kind("reaction to returned frames", &["none", "halve"]);
    let halves = kind == Some("halve");
    let parameters = if halves { mechanism::build(&table, HalveParameters::MECHANISM, &[]) } else { None };
    table.finish();
    if halves && transport.is_some_and(|transport| !transport.slows_down()) {
        let message = "senders of this transport have no window or rate that falls and grows again: nothing to halve";
        let help = "use tcp, dctcp or dcqcn, or remove host.on_bounce".to_owned();
        table.fail("kind", message, Some(help));
    }
    if kind? == "none" { Some(None) } else { parameters.map(Some) }
}

/// Reads a transport; its parameters are read by the mechanism's declaration, with defaults and sources.
pub(crate) fn transport(section: &Section<'_, '_>) -> Option<(&'static str, TransportParameters)> {
    let table = section.table("transport", "host.transport", true);
    let kind = table.kind("transport", &MECHANISMS.map(|mechanism| mechanism.kind));
    let mechanism = kind.and_then(keys::transport)?;
    let mut settings: Vec<(&str, String)> = Vec::new();
    let mut wrong = false;
    for (key, item, location) in table.entries().filter(|(key, ..)| *key != "kind") {
        let full = table.key(key);
        let known = || mechanism.parameters.iter().map(|parameter| parameter.key);
        let mut fail = |location, message: String, help| {
            wrong = true;
            table.context.fail_at(location, &full, message, help);
        };
        if !known().any(|known| known == key) {
            fail(location, format!("`{}` has no parameter `{key}`", mechanism.kind), suggest::help(key, known()));
            continue;
        }
        let Some(value) = item.value.text() else {
            fail(&item.location, format!("`{key}` cannot be {}", show(&item.value)), None);
            continue;
        };
        match TransportParameters::build(mechanism.kind, [(key, value.as_str())]) {
            // A value out of range with the defaults of other parameters may be valid with their written values: all
            // parameters are checked together below.
            Ok(_) | Err(ParameterError::Range { .. }) => {
                table.context.explain(full, value.clone(), table.context.origin(&item.location));
                settings.push((key, value));
            }
            Err(ParameterError::Value { value, wanted, .. }) => {
                // Some of these messages contain the value; others only state the valid values.
                let message = if wanted.contains('`') { wanted } else { format!("`{value}`: {wanted}") };
                fail(&item.location, message, None);
            }
            Err(error) => fail(&item.location, error.to_string(), None),
        }
    }
    for parameter in mechanism.parameters {
        if !table.has(parameter.key) {
            let source = parameter.source;
            let origin = match parameter.default {
                Default::Absent(_) => Origin::Absent { source },
                Default::Value(_) | Default::Required => Origin::Default { source },
            };
            table.context.explain(table.key(parameter.key), parameter.default.words().to_owned(), origin);
        }
    }
    if wrong {
        return None;
    }
    match TransportParameters::build(mechanism.kind, settings.iter().map(|(key, value)| (*key, value.as_str()))) {
        Ok(parameters) => {
            for (key, _) in &settings {
                let needs = parameters.idle(key);
                table.refuse_idle(key, needs.is_none(), needs.unwrap_or_default());
            }
            Some((mechanism.kind, parameters))
        }
        Err(ParameterError::Range { key, wanted }) => {
            table.fail(key, format!("`{key}` does not work"), Some(wanted));
            None
        }
        Err(error) => {
            section.fail("transport", error.to_string(), None);
            None
        }
    }
}

/// Contents of the tables `[measure]`, `[record]` and `[check]`.
#[derive(Clone, Debug)]
pub(crate) struct MeasurementPlan {
    pub warm_up: Time,
    pub measure_end: Option<Time>,
    pub record: RecordPart,
    pub deadlock_every: Option<Time>,
    pub storm: Option<StormParameters>,
    pub expect_deadlock: bool,
}

pub(crate) fn watch(root: &Section<'_, '_>, duration: Option<Time>) -> Option<MeasurementPlan> {
    let measure = root.table("measure", "measure", false);
    let (warm_up, measure_end) = (measure.time("warm_up"), measure.time("end"));
    let (reordering, threshold) = (measure.flag("reordering"), measure.whole("reordering_threshold", 1..=1 << 20));
    let utilisation = measure.probability("queue_utilisation");
    let (jitter, queues) = (measure.flag("jitter"), measure.every("queues"));
    measure.finish();
    measure.refuse_idle("reordering_threshold", reordering != Some(false), "reordering = true");
    if let (Some(warm_up), Some(duration)) = (warm_up, duration) {
        let end = measure_end.unwrap_or(duration);
        if warm_up >= duration {
            let message = format!("the warm-up of {warm_up} is not shorter than the duration of {duration}");
            measure.fail("warm_up", message, Some("warm_up must be shorter than `duration`".to_owned()));
        } else if end <= warm_up || end > duration {
            let message = format!("measuring ends at {end}, outside of the run after its warm-up");
            measure.fail("end", message, Some(format!("write a time above {warm_up}, up to {duration}")));
        }
    }
    let record = record_part::read(root);
    let check = root.table("check", "check", false);
    let deadlock_every = check.every("deadlock");
    let storm = storm(&check);
    let expect = check.word("expect", &["deadlock"]);
    check.finish();
    if expect.is_some() && deadlock_every.is_none() {
        let help = "write check.deadlock = { every = \"10us\" }".to_owned();
        check.fail("expect", "a deadlock is expected, but the detection is off", Some(help));
    }
    let mut record = record?;
    record.every.reordering = reordering?.then_some(threshold? as u32);
    record.every.utilisation = utilisation;
    record.every.jitter = jitter?;
    record.every.queue_lengths_every = queues;
    let storm = storm?;
    Some(MeasurementPlan {
        warm_up: warm_up?,
        measure_end,
        record,
        deadlock_every,
        storm,
        expect_deadlock: expect.is_some(),
    })
}

/// Reads `check.bounce_storm`: a table, or a flag that turns the check on.
fn storm(check: &Section<'_, '_>) -> Option<Option<StormParameters>> {
    if check.is_flag("bounce_storm") {
        return check.flag("bounce_storm").map(|on| on.then(StormParameters::default));
    }
    let table = check.table("bounce_storm", "check.bounce_storm", false);
    let (samples, every) = (table.whole("samples", 1..=1_000_000), table.read("every", positive));
    let ratio = table.read("ratio", |value| match value.text().map(|text| (text.parse::<f64>(), text)) {
        Some((Ok(ratio), text)) if ratio.is_finite() && ratio >= 0.0 => Ok((ratio, text)),
        _ => {
            let help = "write a number of at least 0: bounces per received frame".to_owned();
            Err((format!("{} is not a ratio of frames", show(value)), Some(help)))
        }
    });
    table.finish();
    Some(Some(StormParameters { samples: samples? as u32, every, ratio: ratio? }))
}
