//! `[switch]`: buffers, flow control, marking, scheduling.

use crate::backpressure_part;
use crate::clock_part::{self, SwitchClocksPlan};
use crate::document::{Table, Value};
use crate::mechanism;
use crate::overload_part as overload;
use crate::override_part;
use crate::override_plan::OverridePlan;
use crate::partial_part::PartialPlan;
use crate::section::{Read, Section};
use crate::tags::TagsPlan;
use crate::values::room;
use model::parameters::{
    Buffer, CreditParameters, FlowControl, Marking, PauseParameters, QueueLimit, Scheduler, SwitchParameters, Threshold,
};
use protocols::describe::Mechanism;
use protocols::preemption::PreemptionParameters;
use protocols::scheduler::drr::DrrParameters;
use protocols::scheduler::wrr::WrrParameters;
use protocols::shared_buffer::SharedBufferParameters;
use protocols::watchdog::WatchdogParameters;
use protocols::{Parameters, pause};
use units::Bytes;

/// Contents of `[switch]`: parameters of all switches, overrides, switches with flow control, tags, clocks, preemption.
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
    let preemption = mechanism::build(&table, PreemptionParameters::MECHANISM, &[]);
    table.finish();
    preemption.map(Some)
}

/// Reads the PFC watchdog, which requires PAUSE or PFC.
fn watchdog(section: &Section<'_, '_>, flow_control: Option<FlowControl>) -> Option<FlowControl> {
    let table = section.table("watchdog", "switch.watchdog", false);
    if !section.has("watchdog") {
        return flow_control;
    }
    let watchdog: Option<WatchdogParameters> = mechanism::build(&table, WatchdogParameters::MECHANISM, &[]);
    table.finish();
    let watchdog = Some(watchdog?);
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

/// Reads the shared buffer or the limit of each queue. With queue limits, also returns the limit of bounce queues, if
/// any.
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
    let SharedBufferParameters { bytes, egress } = mechanism::build(section, SharedBufferParameters::MECHANISM, &[])?;
    Some((Buffer::Shared { bytes, egress }, None))
}

/// Reads the limits of normal and bounce queues: `{ normal = "500 packets", bounce = "500 packets" }`.
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

/// Reads flow control and the selection of switches that use it.
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
    let control = match kind {
        Some("pause") => pause(&table, &pause::PAUSE, &[pause::ALL_CLASSES], shared).map(FlowControl::Pause),
        Some("pfc") => pause(&table, &pause::PFC, &[], shared).map(FlowControl::Pfc),
        Some("cbfc") => credit(&table, shared).map(FlowControl::Credit),
        Some(kind @ ("florax" | "destination" | "pause-at-output")) => backpressure_part::read(kind, &table, buffer),
        Some(_) => Some(FlowControl::None),
        None => None,
    };
    let partial = match kind {
        None | Some("none") => Some(PartialPlan::whole()),
        Some(_) => PartialPlan::read(&table),
    };
    table.finish();
    (control, partial)
}

/// Reads credit parameters. [`crate::credits`] checks later, when the links are known, whether the credits suffice.
fn credit(table: &Section<'_, '_>, shared: bool) -> Option<CreditParameters> {
    if !shared {
        let message = "credits reserve buffer per port and need a shared buffer";
        table.fail("kind", message, Some("write switch.buffer = \"16MB\" instead of switch.queue".to_owned()));
    }
    mechanism::build(table, CreditParameters::MECHANISM, &[])
}

fn pause(
    table: &Section<'_, '_>,
    mechanism: &'static Mechanism,
    settings: &[(&'static str, &str)],
    shared: bool,
) -> Option<PauseParameters> {
    let pause: PauseParameters = mechanism::build(table, mechanism, settings)?;
    if !shared && matches!(pause.xoff, Threshold::Dynamic { .. }) {
        let message = "a dynamic XOFF needs a shared buffer";
        table.fail("xoff", message, Some("write a size: xoff = \"100KB\", less than `switch.queue`".to_owned()));
    }
    // XOFF below the default XON offset of 3 KB is accepted: then XON is sent only when the account is empty. An
    // explicit `xon` above XOFF is an error.
    let xon = pause.xon_offset_bytes;
    if let Threshold::Static { bytes: xoff } = pause.xoff
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
    Some(pause)
}

pub(crate) fn marking(section: &Section<'_, '_>) -> Option<Marking> {
    let table = section.table("marking", "switch.marking", true);
    let kinds: Vec<&str> = std::iter::once("none").chain(Marking::MECHANISMS.iter().map(|it| it.kind)).collect();
    let kind = table.kind("marking", &kinds);
    let found = Marking::MECHANISMS.iter().find(|mechanism| Some(mechanism.kind) == kind);
    let marking = match found {
        Some(found) => mechanism::build_with(&table, found, |settings| {
            Marking::read(found.kind, settings).unwrap_or(Ok((Marking::None, Vec::new())))
        }),
        None => kind.map(|_| Marking::None),
    };
    table.finish();
    marking
}

pub(crate) fn scheduler(section: &Section<'_, '_>) -> Option<Scheduler> {
    let table = section.table("scheduler", "switch.scheduler", true);
    let kind = table.kind("scheduler", &["strict", "wrr", "drr"]);
    let scheduler = match kind {
        Some("strict") => Some(Scheduler::Strict),
        Some("wrr") => mechanism::build(&table, WrrParameters::MECHANISM, &[])
            .map(|WrrParameters { weights }| Scheduler::Wrr { weights }),
        Some("drr") => mechanism::build(&table, DrrParameters::MECHANISM, &[])
            .map(|DrrParameters { quantum_bytes }| Scheduler::Drr { quantum_bytes }),
        _ => None,
    };
    table.finish();
    scheduler
}
