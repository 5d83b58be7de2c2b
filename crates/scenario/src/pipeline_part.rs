//! `switch.overload` of kind `pipeline-trim`: the pipelines of a switch.

use crate::document::Value;
use crate::section::{Read, Section, quantity, show};
use crate::values::room;
use fabric::Fabric;
use model::parameters::{Overflow, PipelineParameters, QueueLimit, SignalScope};
use protocols::limits::fraction;
use protocols::pipeline_trim::{Control, ControlParameters, MAX_BURST_BYTES, Wrap};
use units::{Bytes, Time};

/// Keys that only some models read.
const ONLY: [(&str, &[&str]); 13] = [
    ("pessimistic", &["tofino", "switch-p4"]),
    ("half", &["tofino", "switch-p4"]),
    ("half_share", &["tofino", "switch-p4"]),
    ("pessimistic_share", &["tofino", "switch-p4"]),
    ("response", &["tofino"]),
    ("trim_next", &["tofino"]),
    ("notify", &["tofino", "switch-p4"]),
    ("signal_delay", &["tofino", "switch-p4"]),
    ("meter_burst", &["tofino", "switch-p4", "dod"]),
    ("timestamp", &["switch-p4"]),
    ("clock", &["switch-p4"]),
    ("stages", &["tofino2"]),
    ("cycle", &["tofino2"]),
];

/// Reads the pipeline parameters of `table`.
pub(crate) fn read(table: &Section<'_, '_>) -> Option<PipelineParameters> {
    let model = table.word("model", "model of a switch", &["tofino", "switch-p4", "dod", "mod", "tofino2"]);
    let pipelines = table.whole("pipelines", 1..=64).map(|count| count as u16);
    let ports_per_pipeline = table.whole("ports_per_pipeline", 1..=u64::from(u16::MAX)).map(|count| count as u16);
    let rate = table.rate("recirculation_rate");
    let latency = table.time("recirculation_latency");
    let deflect_queue = table.read("recirculation_queue", room);
    let (pessimistic, half) = (table.time("pessimistic"), table.time("half"));
    let half_share = table.read("half_share", part);
    let pessimistic_share = table.read("pessimistic_share", part);
    let burst = table.read("meter_burst", burst);
    let response = table.word("response", "response", &["meter", "all", "next"]);
    let trim_next = table.whole("trim_next", 1..=1_000_000).map(|packets| packets as u32);
    let notify = table.word("notify", "set of pipelines", &["all", "origin"]);
    let signal_delay = table.time("signal_delay");
    let timestamp = table.word("timestamp", "timestamp comparison", &["wrapping", "as-listed"]);
    let clock_ns = table.whole("clock", 0..=u64::from(u32::MAX)).map(|clock| clock as u32);
    let stages = table.whole("stages", 0..=64).map(|stages| stages as u32);
    let cycle = table.time("cycle");

    let model = model?;
    for (key, models) in ONLY {
        if table.has(key) && !models.contains(&model) {
            let message = format!("`{key}` has no effect with model \"{model}\": it belongs to {}", models.join(", "));
            table.context.warn(&table.key(key), message);
        }
    }
    if let ("tofino", Some(response @ ("all" | "next"))) = (model, response) {
        let idle = match response {
            "all" => &["pessimistic_share"][..],
            _ => &["pessimistic", "half", "half_share", "pessimistic_share"],
        };
        for key in idle.iter().filter(|key| table.has(key)) {
            table.context.warn(&table.key(key), format!("`{key}` has no effect with response \"{response}\""));
        }
    }
    if table.has("trim_next") && model == "tofino" && response != Some("next") {
        table.context.warn(&table.key("trim_next"), "`trim_next` has no effect: it needs response = \"next\"");
    }
    let wrap = if timestamp? == "as-listed" { Wrap::AsListed } else { Wrap::Handled };
    let control = match (model, response?) {
        ("mod" | "tofino2", _) => Control::None,
        ("dod", _) => Control::Meter,
        ("switch-p4", _) => Control::TwoMeters { wrap, clock_ns: clock_ns? },
        (_, "all") => Control::TrimAll,
        (_, "next") => Control::TrimNext { packets: trim_next? },
        _ => Control::ThreeMeters,
    };
    let (pipelines, pessimistic, latency) = (pipelines?, pessimistic?, latency?);
    if matches!(model, "tofino" | "switch-p4") && pessimistic > Time::ZERO && pessimistic < latency {
        let message = format!(
            "ports stay pessimistic for {pessimistic} after a signal, but recirculation takes {latency}: the state \
             ends before the next signal can arrive, and the deflect queue oscillates"
        );
        table.context.warn(&table.key("pessimistic"), message);
    }
    if table.has("recirculation_queue") && deflect_queue.is_none() {
        return None;
    }
    Some(PipelineParameters {
        pipelines,
        ports_per_pipeline,
        overflow: if model == "mod" { Overflow::Mirror } else { Overflow::Deflect },
        control: ControlParameters {
            control,
            pessimistic,
            until_optimistic: pessimistic.saturating_add(half?),
            burst_bytes: burst?,
            half: half_share?,
            share: pessimistic_share.unwrap_or((1, u32::from(pipelines))),
        },
        recirculation_rate: rate?,
        recirculation_latency: latency,
        deflect_queue,
        signal_delay: signal_delay.unwrap_or(latency),
        notified: if notify? == "origin" { SignalScope::Origin } else { SignalScope::All },
        stages: if model == "tofino2" { Some(stages?) } else { None },
        cycle: cycle?,
    })
}

/// Reads the share of the line rate that a meter passes.
fn part(value: &Value) -> Read<(u32, u32)> {
    let right = || Some("write a share of the line rate, like \"1/4\" or 0.5".to_owned());
    match value.text().and_then(|text| fraction(&text)) {
        Some((0, _)) => Err(("a meter without a rate would trim every packet".to_owned(), right())),
        Some((numerator, denominator)) if denominator > 0 && numerator <= denominator => {
            Ok(((numerator, denominator), format!("{numerator}/{denominator}")))
        }
        _ => Err((format!("{} is not a share of the line rate", show(value)), right())),
    }
}

fn burst(value: &Value) -> Read<u32> {
    let right = || Some(format!("write a size up to {}, like \"12160B\"", Bytes(MAX_BURST_BYTES.into())));
    let (bytes, text) = quantity::<Bytes>(value, "a size")?;
    match u32::try_from(bytes.get()) {
        Ok(burst) if burst > 0 && burst <= MAX_BURST_BYTES => Ok((burst, text)),
        _ => Err((format!("`{text}` is not a valid burst of a meter"), right())),
    }
}

/// Checks the parameters against fabric and largest frame. `Err` has the key within the table, the error and the help.
pub(crate) fn check(
    inside: &PipelineParameters,
    fabric: &Fabric,
    mtu_bytes: u16,
) -> Result<(), (&'static str, String, String)> {
    let fewest = fabric.switches().map(|switch| (fabric.ports(switch).len(), switch)).min_by_key(|found| found.0);
    if let Some((ports, switch)) = fewest.filter(|(ports, _)| *ports < usize::from(inside.pipelines)) {
        let message =
            format!("switch `{}` has {ports} ports, fewer than {} pipelines", fabric.name(switch), inside.pipelines);
        return Err(("pipelines", message, format!("write pipelines = {ports} or less")));
    }
    let frame = u32::from(mtu_bytes) + units::WIRE_OVERHEAD_BYTES as u32;
    let meters = !matches!(inside.control.control, Control::None);
    if meters && inside.control.burst_bytes < frame {
        let message = format!(
            "a bucket of {} is less than the largest frame on the wire, {frame} B: its meter would trim every such \
             frame",
            Bytes(inside.control.burst_bytes.into())
        );
        return Err(("meter_burst", message, format!("write \"{frame}B\" or more")));
    }
    if let Some(QueueLimit::Bytes(most)) = inside.deflect_queue.filter(|_| inside.overflow == Overflow::Deflect)
        && most < u64::from(mtu_bytes)
    {
        let message = format!("a recirculation queue of {} cannot hold a frame of {mtu_bytes} B", Bytes(most));
        return Err(("recirculation_queue", message, "write a number of packets, or a larger size".to_owned()));
    }
    Ok(())
}
