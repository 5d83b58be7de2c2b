//! `[switch]`: buffers, flow control, marking, scheduling.

use crate::backpressure_part;
use crate::clock_part::{self, SwitchClocksPlan};
use crate::document::{Table, Value};
use crate::overload_part as overload;
use crate::override_part;
use crate::override_plan::OverridePlan;
use crate::partial_part::PartialPlan;
use crate::section::{Read, Section, positive, quantity, whole};
use crate::tags::TagsPlan;
use crate::values::{alpha, buffer_size, canonical, classes, greatest_common_divisor, per_class, reaction, room};
use model::parameters::{
    Buffer, CreditParameters, FlowControl, Marking, PauseParameters, QueueLimit, Scheduler, SwitchParameters, Threshold,
};
use protocols::ParameterError;
use protocols::describe::{Default, Mechanism};
use protocols::preemption::{Fragments, PreemptionParameters};
use protocols::watchdog::{Action, WatchdogParameters};
use units::{Bytes, Time};

/// Threshold of `xoff = "auto"`.
const AUTO_XOFF: Threshold = Threshold::Dynamic { alpha: (1, 8) };
/// Default quantum of deficit round robin: a full frame.
const DRR_QUANTUM_BYTES: u32 = 1518;

/// Common parameters, overrides, switches with flow control, tags, clocks, and preemption.
pub(crate) type SwitchPart = (
    SwitchParameters,
    Vec<OverridePlan>,
    PartialPlan,
    Option<TagsPlan>,
    SwitchClocksPlan,
    Option<PreemptionParameters>,
);

pub(crate) fn read(root: &Section<'_, '_>) -> Option<SwitchPart> {
    let section = root.table("switch", "switch", false);
    let (buffer, bounce_queue) = buffer(&section).unzip();
    let (flow_control, partial) = flow_control(&section, !section.has("queue"), buffer.as_ref());
    let flow_control = watchdog(&section, flow_control);
    let limit = match buffer {
        Some(Buffer::PerQueue { limit }) => Some(limit),
        _ => None,
    };
    let overload = overload::read(&section, limit, bounce_queue.flatten(), flow_control.as_ref());
    let (marking, scheduler) = (marking(&section), scheduler(&section));
    let tags = TagsPlan::read(&section);
    let overrides = override_part::read(&section);
    let clocks = clock_part::of_switches(&section);
    let preemption = preemption(&section);
    section.finish();
    let parameters = SwitchParameters {
        buffer: buffer?,
        flow_control: flow_control?,
        overload: overload?,
        marking: marking?,
        scheduler: scheduler?,
    };
    Some((parameters, overrides?, partial?, tags?, clocks?, preemption?))
}

/// Reads `{ express = [7] }`: `None` after an error, `Some(None)` without preemption.
#[expect(clippy::option_option, reason = "wrong, absent, or there, as every part is read")]
fn preemption(section: &Section<'_, '_>) -> Option<Option<PreemptionParameters>> {
    let table = section.table("preemption", "switch.preemption", false);
    if !section.has("preemption") {
        return Some(None);
    }
    let express = table.read("express", |value| classes(value, "no class interrupts any other"));
    let fragments = table.word("fragments", "kind of fragments", &["standard", "ideal"]);
    table.finish();
    let fragments = if fragments? == "ideal" { Fragments::Ideal } else { Fragments::Standard };
    Some(Some(PreemptionParameters { express: express?, fragments }))
}

/// Reads the watchdog, which requires PAUSE or PFC.
fn watchdog(section: &Section<'_, '_>, flow_control: Option<FlowControl>) -> Option<FlowControl> {
    let table = section.table("watchdog", "switch.watchdog", false);
    if !section.has("watchdog") {
        return flow_control;
    }
    let (detect, restore) = (table.read("detect", positive), table.read("restore", positive));
    let action = table.word("action", "action of a watchdog", &["drop", "forward"]);
    table.finish();
    let (detect, restore) = (detect?, restore?);
    let action = if action? == "drop" { Action::Drop } else { Action::Forward };
    let watchdog = Some(WatchdogParameters { detect, restore, action });
    match flow_control? {
        FlowControl::Pause(pause) => Some(FlowControl::Pause(PauseParameters { watchdog, ..pause })),
        FlowControl::Pfc(pause) => Some(FlowControl::Pfc(PauseParameters { watchdog, ..pause })),
        _ => {
            let help = "write flow_control = { kind = \"pfc\", priorities = [3] }, or no watchdog".to_owned();
            section.fail("watchdog", "a watchdog needs PAUSE or PFC", Some(help));
            None
        }
    }
}

/// Reads the buffer, and the limit of bounce queues if queues are limited one by one.
fn buffer(section: &Section<'_, '_>) -> Option<(Buffer, Option<QueueLimit>)> {
    if section.has("queue") {
        section.tag("per queue");
        let (limit, bounce) = section.read("queue", |value| match value {
            Value::Table(table) => queue_pair(table),
            _ => room(value).map(|(limit, text)| ((limit, limit), text)),
        })?;
        return Some((Buffer::PerQueue { limit }, Some(bounce)));
    }
    section.tag("shared");
    let bytes = section.read("buffer", buffer_size);
    let egress = section.read("egress", threshold);
    if bytes == Some(0) {
        section.fail("buffer", "a switch without buffer forwards nothing", Some("write \"16MB\"".to_owned()));
        return None;
    }
    Some((Buffer::Shared { bytes: bytes?, egress: egress? }, None))
}

/// Reads `{ normal = "500 packets", bounce = "500 packets" }`.
fn queue_pair(table: &Table) -> Read<(QueueLimit, QueueLimit)> {
    let right = || Some("write { normal = \"500 packets\", bounce = \"500 packets\" }".to_owned());
    if let Some(other) = table.entries.iter().find(|entry| !matches!(entry.key.as_str(), "normal" | "bounce")) {
        return Err((format!("a queue has no key `{}`", other.key), right()));
    }
    let normal = table.get("normal").ok_or_else(|| ("a queue needs `normal`".to_owned(), right()))?;
    let (normal, normal_text) = room(&normal.value)?;
    let (bounce, bounce_text) = match table.get("bounce") {
        Some(bounce) => room(&bounce.value)?,
        None => (normal, normal_text.clone()),
    };
    Ok(((normal, bounce), format!("normal {normal_text}, bounce {bounce_text}")))
}

/// Reads a threshold: `"1/8"`, `0.125` or `1` is alpha; `"1MB"` is fixed.
pub(crate) fn threshold(value: &Value) -> Read<Threshold> {
    let right = || Some("write a size like \"100KB\", or a share of the free buffer like \"1/8\"".to_owned());
    let Some(text) = value.text() else { return Err((format!("{} is not a threshold", value.what()), right())) };
    let numeric = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '/' | ' '));
    if !numeric {
        let (bytes, text) = quantity::<Bytes>(value, "a size").map_err(|(message, _)| (message, right()))?;
        return Ok((Threshold::Static { bytes: bytes.get() }, text));
    }
    match alpha(&text) {
        Some((numerator, denominator)) if numerator > 0 && denominator > 0 => {
            let divisor = greatest_common_divisor(numerator, denominator);
            let alpha = (numerator / divisor, denominator / divisor);
            let text = if alpha.1 == 1 { alpha.0.to_string() } else { format!("{}/{}", alpha.0, alpha.1) };
            Ok((Threshold::Dynamic { alpha }, text))
        }
        _ => Err((format!("`{text}` is not a share of the free buffer"), right())),
    }
}

/// Reads flow control and the switches that use it.
fn flow_control(
    section: &Section<'_, '_>,
    shared: bool,
    buffer: Option<&Buffer>,
) -> (Option<FlowControl>, Option<PartialPlan>) {
    let table = section.table("flow_control", "switch.flow_control", true);
    let kind = table.kind_or(
        "flow control",
        &["none", "pause", "pfc", "cbfc", "florax", "destination", "pause-at-output"],
        &[("simple", "pause-at-output")],
    );
    let lossless = || table.read("priorities", |value| classes(value, "the list of lossless classes is empty"));
    let parameters = match kind {
        Some("pause") => pause(&table, Some(0xff), shared).map(FlowControl::Pause),
        Some("pfc") => pause(&table, lossless(), shared).map(FlowControl::Pfc),
        Some("cbfc") => credit(&table, lossless(), shared).map(FlowControl::Credit),
        Some(_) => Some(FlowControl::None),
        None => None,
    };
    let guarded = match kind {
        Some(kind @ ("florax" | "destination" | "pause-at-output")) => {
            Some(backpressure_part::read(kind, &table, buffer))
        }
        _ => None,
    };
    let partial = match kind {
        None | Some("none") => Some(PartialPlan::whole()),
        Some(_) => PartialPlan::read(&table),
    };
    table.finish();
    (guarded.unwrap_or(parameters), partial)
}

/// Reads credit parameters; whether they suffice is checked when the links are available.
fn credit(table: &Section<'_, '_>, classes: Option<u8>, shared: bool) -> Option<CreditParameters> {
    let positive = |value: &Value, what: &str| match value.text().as_deref() {
        Some("auto") => Ok((None, "auto".to_owned())),
        _ => match quantity::<Bytes>(value, "a size")? {
            (Bytes(0), _) => Err((what.to_owned(), Some("write \"auto\" or a size like \"20KB\"".to_owned()))),
            (bytes, text) => Ok((Some(bytes.get()), text)),
        },
    };
    let credits_bytes = table.read("credits", |value| positive(value, "without credits no frame could be sent"));
    let update_bytes = table.read("update", |value| positive(value, "an update grants at least a byte"));
    let regrant = table.time("regrant");
    if regrant == Some(Time::ZERO) {
        let help = "write regrant = \"100us\"".to_owned();
        table.fail("regrant", "credits cannot be repeated without any time in between", Some(help));
        return None;
    }
    if !shared {
        let message = "credits reserve buffer per port and need a shared buffer";
        table.fail("kind", message, Some("write switch.buffer = \"16MB\" instead of switch.queue".to_owned()));
    }
    Some(CreditParameters {
        classes: classes?,
        credits_bytes: credits_bytes?,
        update_bytes: update_bytes?,
        regrant: regrant?,
    })
}

/// Reads `"auto"`, a size, or a share of the free buffer.
pub(crate) fn xoff(value: &Value) -> Read<Threshold> {
    match value.text().as_deref() {
        Some("auto") => Ok((AUTO_XOFF, "auto: 1/8".to_owned())),
        _ => threshold(value),
    }
}

/// Reads `"auto"`, which is `None`, or a size.
pub(crate) fn headroom(value: &Value) -> Read<Option<u64>> {
    match value.text().as_deref() {
        Some("auto") => Ok((None, "auto".to_owned())),
        _ => quantity::<Bytes>(value, "a size").map(|(bytes, text)| (Some(bytes.get()), text)),
    }
}

fn pause(table: &Section<'_, '_>, classes: Option<u8>, shared: bool) -> Option<PauseParameters> {
    let xoff = table.read("xoff", xoff);
    if !shared && matches!(xoff, Some(Threshold::Dynamic { .. })) {
        let message = "a dynamic XOFF needs a shared buffer";
        table.fail("xoff", message, Some("write a size: xoff = \"100KB\", less than `switch.queue`".to_owned()));
    }
    let xon = table.size("xon");
    // The default of 3 KB is accepted with a lower XOFF: the account must then be empty. A written `xon` above XOFF is
    // an error.
    if let (Some(Threshold::Static { bytes: xoff }), Some(xon)) = (xoff, xon)
        && table.has("xon")
        && xon > xoff
    {
        let message = format!(
            "`xon` = {} is more than `xoff` = {}: it is the distance below XOFF, and an account cannot fall that far",
            Bytes(xon),
            Bytes(xoff)
        );
        table.fail("xon", message, Some(format!("write {} or less, such as xon = \"3KB\"", Bytes(xoff))));
    }
    let headroom = table.read("headroom", headroom);
    let quanta = table.whole("quanta", 1..=65_535);
    let reaction = table.read("reaction", reaction);
    Some(PauseParameters {
        classes: classes?,
        xoff: xoff?,
        xon_offset_bytes: xon?,
        headroom_bytes: headroom?,
        quanta: quanta? as u16,
        reaction: reaction?,
        watchdog: None,
    })
}

pub(crate) fn marking(section: &Section<'_, '_>) -> Option<Marking> {
    let table = section.table("marking", "switch.marking", true);
    let kinds: Vec<&str> = std::iter::once("none").chain(Marking::MECHANISMS.iter().map(|it| it.kind)).collect();
    let kind = table.kind("marking", &kinds);
    let mechanism = Marking::MECHANISMS.iter().find(|mechanism| Some(mechanism.kind) == kind);
    let settings = mechanism.map_or(Some(Vec::new()), |mechanism| parameters(&table, mechanism));
    table.finish();
    let settings = settings?;
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
    match Marking::build(kind?, &settings)? {
        Ok(marking) => Some(marking),
        Err(ParameterError::Range { key, wanted }) => {
            table.fail(key, format!("`{key}` is out of range"), Some(format!("write {wanted}")));
            None
        }
        Err(ParameterError::Value { key, value, wanted }) => {
            table.fail(&key, format!("`{key}` cannot be {value}: {wanted}"), None);
            None
        }
        Err(error) => {
            section.fail("marking", error.to_string(), None);
            None
        }
    }
}

/// Reads the parameters of a mechanism as canonical texts; `None` if one is wrong or missing, which is reported.
fn parameters(table: &Section<'_, '_>, mechanism: &'static Mechanism) -> Option<Vec<(&'static str, String)>> {
    let mut wrong = false;
    let mut settings = Vec::new();
    for parameter in mechanism.parameters {
        match table.read(parameter.key, |value| canonical(value, parameter.syntax)) {
            Some(text) => settings.push((parameter.key, text)),
            None => wrong |= table.has(parameter.key) || parameter.default == Default::Required,
        }
    }
    (!wrong).then_some(settings)
}

pub(crate) fn scheduler(section: &Section<'_, '_>) -> Option<Scheduler> {
    let table = section.table("scheduler", "switch.scheduler", true);
    let kind = table.kind("scheduler", &["strict", "wrr", "drr"]);
    let scheduler = match kind {
        Some("strict") => Some(Scheduler::Strict),
        Some("wrr") => {
            let weight = |value: &Value| whole(value, 1..=65_535).map(|(weight, _)| weight as u16);
            table.read("weights", |value| per_class(value, 1, weight)).map(|weights| Scheduler::Wrr { weights })
        }
        Some("drr") => {
            let quantum = |value: &Value| match quantity::<Bytes>(value, "a size")? {
                (Bytes(bytes @ 1..=0xffff_ffff), _) => Ok(bytes as u32),
                (_, text) => Err((format!("`{text}` is out of range"), Some("from 1B to 4GB".to_owned()))),
            };
            table
                .read("quanta", |value| per_class(value, DRR_QUANTUM_BYTES, quantum))
                .map(|quantum_bytes| Scheduler::Drr { quantum_bytes })
        }
        _ => None,
    };
    table.finish();
    scheduler
}
