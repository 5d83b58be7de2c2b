//! Values that SONiC's YANG models refuse, one by one or together: marking, schedulers, names, ranges, the switch's
//! own row. Values with which a row still has a meaning are findings, others are faults.
//!
//! Models: `sonic-wred-profile`, `sonic-scheduler`, `sonic-buffer-profile`, `sonic-buffer-pg`, `sonic-buffer-queue`,
//! `sonic-device_metadata`, `sonic-port`, and those of the maps.

use super::reader::{Reader, Row, text_of};
use super::{Scheduling, Wred, WredColour};
use std::ops::RangeInclusive;

const ANY: RangeInclusive<u64> = 0..=u64::MAX;
const PERCENT: RangeInclusive<u64> = 0..=100;
/// Weight of a scheduler, and its priority.
const WEIGHTS: RangeInclusive<u64> = 1..=100;
const PRIORITIES: RangeInclusive<u64> = 0..=9;
/// Bursts in bytes or packets.
const BURSTS: RangeInclusive<u64> = 0..=u32::MAX as u64;
/// Longest name of a map or a WRED profile.
const NAME_BYTES: usize = 32;
const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// Colours of frames that WRED marks instead of dropping.
const ECN_MODES: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];

/// Types of switches of several versions of SONiC (`sonic-device_metadata.yang`).
const TYPES: [&str; 35] = [
    "ToRRouter",
    "LeafRouter",
    "SpineRouter",
    "LowerSpineRouter",
    "UpperSpineRouter",
    "FabricSpineRouter",
    "RegionalHub",
    "LowerRegionalHub",
    "UpperRegionalHub",
    "FabricRegionalHub",
    "BackEndToRRouter",
    "BackEndLeafRouter",
    "SpineChassisFrontendRouter",
    "ChassisBackendRouter",
    "ASIC",
    "MgmtToRRouter",
    "MgmtLeafRouter",
    "MgmtSpineRouter",
    "MgmtAccessRouter",
    "LowerMgmtAggregator",
    "UpperMgmtAggregator",
    "MgmtTsToR",
    "BmcMgmtToRRouter",
    "EPMS",
    "MiniTs",
    "LeafTs",
    "SpineTs",
    "CoreTs",
    "ConsoleServer",
    "TerminalServer",
    "SonicHost",
    "SonicDpu",
    "SmartSwitchDPU",
    "Server",
    "not-provisioned",
];
const SUBTYPES: [&str; 7] =
    ["DualToR", "SmartSwitch", "Supervisor", "UpstreamLC", "DownstreamLC", "LowerSpineRouter", "UpperSpineRouter"];

/// Reports a `type`, `subtype` or `buffer_model` of the switch that SONiC does not have: templates choose the QoS by
/// them.
pub(super) fn check_metadata(reader: &mut Reader<'_>) {
    for row in reader.objects("DEVICE_METADATA").into_iter().filter(|row| row.name == "localhost") {
        for (field, values) in
            [("type", &TYPES[..]), ("subtype", &SUBTYPES), ("buffer_model", &["dynamic", "traditional"])]
        {
            let Some(text) = row.fields.get(field).and_then(text_of) else { continue };
            if !text.is_empty() && !values.contains(&text.as_str()) {
                let why = format!("is `{}`, which SONiC does not have", fabric::visible(&text));
                reader.refused(format!("{}.{field}", row.key), why, one_of(values));
            }
        }
    }
}

/// Formats some values: "a, b or c".
fn one_of(values: &[&str]) -> String {
    const MOST: usize = 4;
    match values {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if first.len() < MOST => format!("{} or {last}", first.join(", ")),
        values => format!("one of {} ...", values[..MOST].join(", ")),
    }
}

/// Reports the name of a row that is too long, or has other characters than SONiC's models allow.
pub(super) fn check_name(reader: &mut Reader<'_>, row: &Row<'_>) {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let begins = row.name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !begins || row.name.len() > NAME_BYTES || !row.name.bytes().all(allowed) {
        let instead = format!("letters, digits, - and _, at most {NAME_BYTES}, the first a letter or digit");
        reader.refused(row.key.clone(), "SONiC refuses this name", instead);
    }
}

/// Reports a number outside the range of SONiC's model, which is narrower than what an ASIC may have.
pub(super) fn check_range(
    reader: &mut Reader<'_>,
    row: &Row<'_>,
    field: &str,
    number: Option<u64>,
    range: RangeInclusive<u64>,
) {
    let Some(number) = number.filter(|number| !range.contains(number)) else { return };
    let instead = format!("a number from {} to {}", range.start(), range.end());
    reader.refused(format!("{}.{field}", row.key), format!("SONiC refuses {number}"), instead);
}

/// Reads a boolean; SONiC knows `true` and `false`.
fn boolean(reader: &mut Reader<'_>, row: &Row<'_>, field: &str) -> bool {
    let Some(text) = reader.text(row, field) else { return false };
    if !["true", "false"].contains(&text.as_str()) {
        let why = format!("is `{}`: SONiC refuses it", fabric::visible(&text));
        reader.refused(format!("{}.{field}", row.key), why, "true or false");
    }
    text.trim().eq_ignore_ascii_case("true")
}

/// Reads the rows of `WRED_PROFILE`.
pub(super) fn read_wred(reader: &mut Reader<'_>, row: &Row<'_>) -> Wred {
    check_name(reader, row);
    let kinds = ["min_threshold", "max_threshold", "drop_probability", "mark_probability"];
    let of_colour = |colour: &str| {
        let [min, max, drop, mark] = kinds.map(|kind| format!("{colour}_{kind}"));
        let marks = [&min, &max, &mark].map(|field| format!("ecn_{field}"));
        [vec![format!("wred_{colour}_enable"), min, max, drop], marks.to_vec()].concat()
    };
    let fields: Vec<String> = COLOURS.iter().flat_map(|colour| of_colour(colour)).collect();
    let known: Vec<&str> = ["ecn"].into_iter().chain(fields.iter().map(String::as_str)).collect();
    reader.check_fields(row, &known);
    reader.check_choice(row, "ecn", &ECN_MODES);
    let ecn = row.fields.get("ecn").and_then(text_of).unwrap_or_else(|| "ecn_none".to_owned());
    let (mut drops, mut marks) = (Vec::new(), Vec::new());
    for name in COLOURS {
        let is_marked = ecn == "ecn_all" || ecn.contains(name);
        let from = thresholds(reader, row, name);
        thresholds(reader, row, &format!("ecn_{name}"));
        reader.number(row, &format!("{name}_drop_probability"), PERCENT);
        reader.number(row, &format!("ecn_{name}_mark_probability"), PERCENT);
        for field in ["min_threshold", "max_threshold", "mark_probability"].map(|kind| format!("ecn_{name}_{kind}")) {
            if row.fields.contains_key(&field) && !is_marked {
                let why = format!("ecn is {ecn}, which marks no {name} frames: SONiC refuses it");
                reader.refused(format!("{}.{field}", row.key), why, format!("an ecn with {name}, or leave it out"));
            }
        }
        match (boolean(reader, row, &format!("wred_{name}_enable")), is_marked) {
            (true, true) => marks.push(WredColour { name, from }),
            (true, false) => drops.push(WredColour { name, from }),
            (false, _) => {}
        }
    }
    Wred { ecn, drops, marks }
}

/// Reads both thresholds of a colour, and returns the lower.
fn thresholds(reader: &mut Reader<'_>, row: &Row<'_>, colour: &str) -> Option<u64> {
    let (low, high) = (format!("{colour}_min_threshold"), format!("{colour}_max_threshold"));
    let from = reader.number(row, &low, ANY);
    let to = reader.number(row, &high, ANY);
    at_least(reader, row, (&high, to), (&low, from));
    from
}

/// Reports a value below another one of the row.
fn at_least(reader: &mut Reader<'_>, row: &Row<'_>, (field, value): (&str, Option<u64>), least: (&str, Option<u64>)) {
    if let (Some(value), (of, Some(least))) = (value, least)
        && value < least
    {
        let why = format!("is {value}, below {of}, {least}: SONiC refuses it");
        reader.refused(format!("{}.{field}", row.key), why, format!("at least {least}, or a lower {of}"));
    }
}

/// Reads a row of `SCHEDULER`, with the defaults of SONiC's model: `type` WRR, `weight` 1, `meter_type` bytes.
pub(super) fn scheduling(reader: &mut Reader<'_>, row: &Row<'_>) -> Option<Scheduling> {
    reader.check_fields(row, &["type", "weight", "pir", "meter_type"]);
    let rate = |reader: &mut Reader<'_>, field| reader.number(row, field, ANY);
    let (limit, committed) = (rate(reader, "pir"), rate(reader, "cir"));
    at_least(reader, row, ("pir", limit), ("cir", committed));
    let burst = |reader: &mut Reader<'_>, field| reader.number(row, field, BURSTS);
    let (peak_burst, committed_burst) = (burst(reader, "pbs"), burst(reader, "cbs"));
    at_least(reader, row, ("pbs", peak_burst), ("cbs", committed_burst));
    for (field, rate, of) in [("cbs", committed, "cir"), ("pbs", limit, "pir")] {
        if row.fields.contains_key(field) && rate.is_none_or(|rate| rate == 0) {
            let why = format!("is a burst without {of}: SONiC refuses it");
            reader.refused(format!("{}.{field}", row.key), why, format!("{of} above 0 too, or leave it out"));
        }
    }
    reader.number(row, "weight", WEIGHTS);
    reader.number(row, "priority", PRIORITIES);
    match reader.text(row, "meter_type").as_deref() {
        Some("bytes") | None => {}
        // A limit in packets per second has no rate in bytes: frame lengths vary.
        Some("packets") if limit.is_none() => {}
        Some(other) => {
            let message = format!("is `{}`: a pir in bytes a second alone is read", fabric::visible(other));
            reader.fault(format!("{}.meter_type", row.key), message, "bytes");
        }
    }
    match reader.text(row, "type").as_deref() {
        Some("STRICT") => Some(Scheduling::Strict { limit }),
        Some("DWRR" | "WRR") | None => Some(Scheduling::Share { limit }),
        Some(other) => {
            let message = format!("is `{}`: SONiC refuses it", fabric::visible(other));
            reader.fault(format!("{}.type", row.key), message, "STRICT, DWRR or WRR");
            None
        }
    }
}
