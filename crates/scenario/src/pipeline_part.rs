//! Reads `switch.overload` of kind `pipeline-trim`: the pipeline parameters of a switch.

use crate::mechanism;
use crate::section::Section;
use fabric::Fabric;
use model::parameters::{Overflow, PipelineParameters, QueueLimit};
use protocols::pipeline_trim::{Control, ControlParameters, PIPELINE_TRIM, PipelineSettings};
use units::{Bytes, Time};

/// Keys that apply only to some pipeline models.
const ONLY: [(&str, &[&str]); 15] = [
    ("pessimistic", &["tofino", "switch-p4"]),
    ("half", &["tofino", "switch-p4"]),
    ("half_share", &["tofino", "switch-p4"]),
    ("pessimistic_share", &["tofino", "switch-p4"]),
    ("response", &["tofino"]),
    ("trim_next", &["tofino"]),
    ("notify", &["tofino", "switch-p4"]),
    ("signal_delay", &["tofino", "switch-p4"]),
    ("signal_load", &["tofino", "switch-p4"]),
    ("metered", &["tofino", "switch-p4", "dod"]),
    ("meter_burst", &["tofino", "switch-p4", "dod"]),
    ("timestamp", &["switch-p4"]),
    ("clock", &["switch-p4"]),
    ("stages", &["tofino2"]),
    ("cycle", &["tofino2"]),
];

/// Reads the pipeline parameters of `table`.
pub(crate) fn read(table: &Section<'_, '_>) -> Option<PipelineParameters> {
    let settings: PipelineSettings = mechanism::build(table, &PIPELINE_TRIM, &[])?;
    let PipelineSettings { model, response, pipelines, pessimistic, recirculation_latency: latency, .. } = settings;
    for (key, models) in ONLY {
        if table.has(key) && !models.contains(&model) {
            let message = format!("`{key}` has no effect with model \"{model}\": it belongs to {}", models.join(", "));
            table.context.warn(&table.key(key), message);
        }
    }
    if let ("tofino", "all" | "next") = (model, response) {
        let idle = match response {
            "all" => &["pessimistic_share"][..],
            _ => &["pessimistic", "half", "half_share", "pessimistic_share"],
        };
        for key in idle.iter().filter(|key| table.has(key)) {
            table.context.warn(&table.key(key), format!("`{key}` has no effect with response \"{response}\""));
        }
    }
    if table.has("trim_next") && model == "tofino" && response != "next" {
        table.context.warn(&table.key("trim_next"), "`trim_next` has no effect: it needs response = \"next\"");
    }
    let control = match (model, response) {
        ("mod" | "tofino2", _) => Control::None,
        ("dod", _) => Control::Meter,
        ("switch-p4", _) => Control::TwoMeters { wrap: settings.wrap, clock_ns: settings.clock_ns },
        (_, "all") => Control::TrimAll,
        (_, "next") => Control::TrimNext { packets: settings.trim_next },
        _ => Control::ThreeMeters,
    };
    if matches!(model, "tofino" | "switch-p4") && pessimistic > Time::ZERO && pessimistic < latency {
        let message = format!(
            "ports stay pessimistic for {pessimistic} after a signal, but recirculation takes {latency}: the state \
             ends before the next signal can arrive, and the deflect queue oscillates"
        );
        table.context.warn(&table.key("pessimistic"), message);
    }
    Some(PipelineParameters {
        pipelines,
        ports_per_pipeline: settings.ports_per_pipeline,
        overflow: if model == "mod" { Overflow::Mirror } else { Overflow::Deflect },
        control: ControlParameters {
            control,
            pessimistic,
            until_optimistic: pessimistic.saturating_add(settings.half),
            burst_bytes: u32::try_from(settings.burst_bytes).ok()?,
            half: settings.half_share,
            share: settings.pessimistic_share.unwrap_or((1, u32::from(pipelines))),
        },
        recirculation_rate: settings.recirculation_rate,
        recirculation_latency: latency,
        deflect_queue: settings.deflect_queue,
        signal_delay: settings.signal_delay.unwrap_or(latency),
        notified: settings.notified,
        signal_load: settings.signal_load,
        metered: settings.metered,
        stages: if model == "tofino2" { Some(settings.stages) } else { None },
        cycle: settings.cycle,
    })
}

/// Checks the parameters against the fabric and the largest frame. On failure, returns the key within the table, the
/// error and the help.
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
