//! Keys that have an effect only with certain values of another key: with other values they must give an error or a
//! warning.

use super::locations::{self, KeyLocation};
use super::results::run;
use super::{bases, cases, values};

/// With the overrides `set`, these keys have no effect.
struct Condition {
    /// Table of the keys.
    section: &'static str,
    /// Variants of the table; empty for all variants that have the key.
    of: &'static [&'static str],
    keys: &'static [&'static str],
    set: &'static [(&'static str, &'static str)],
    /// A substring that is unique to the expected message.
    says: &'static str,
}

type Keys = &'static [&'static str];

const fn beside(
    section: &'static str,
    of: Keys,
    keys: Keys,
    set: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Condition {
    Condition { section, of, keys, set, says }
}

const T: &str = "host.transport";
const TIMERS: Keys = &["initial_rto", "min_rto", "max_rto", "clock_granularity"];
const TRAINS: Keys = &[
    "strain_threshold",
    "noise_slope",
    "noise_offset",
    "initial_slope_variance",
    "initial_offset_variance",
    "best_trains",
    "strain_variance",
];
const O: &str = "switch.overload";
const OTHER_MODELS: Keys = &["stages", "cycle", "timestamp", "clock"];
const SIGNALS: Keys =
    &["pessimistic", "half", "half_share", "pessimistic_share", "notify", "signal_delay", "signal_load"];
const SIZED: Keys = &["constant frames", "poisson frames", "on-off frames", "bursts of frames"];

const PERIODIC: &str = "[{ kind = \"pairs\", pairs = [[\"H1\", \"H6\"]], process = \"periodic\", \
                        period = \"50us\", frame = \"800B\" }]";

const CONDITIONS: &[Condition] = &[
    beside(T, &[], &["cubic_scale", "cubic_beta"], &[("host.transport.congestion_control", "newreno")], "cubic"),
    beside(
        T,
        &[],
        &["vegas_alpha", "vegas_beta", "vegas_gamma"],
        &[("host.transport.congestion_control", "cubic")],
        "vegas",
    ),
    beside(
        T,
        &["dctcp"],
        &["gain", "initial_alpha"],
        &[("host.transport.congestion_control", "none")],
        "congestion_control",
    ),
    beside(T, &["tcp", "dctcp"], TIMERS, &[("host.transport.rto", "300us")], "rto = \"measured\""),
    beside(T, &["tcp", "dctcp"], TIMERS, &[("host.transport.retransmissions", "false")], "retransmissions"),
    beside(
        T,
        &["tcp", "dctcp"],
        &["fast_retransmit", "dupack_threshold", "rto"],
        &[("host.transport.retransmissions", "false")],
        "retransmissions",
    ),
    beside(
        T,
        &["tcp", "dctcp"],
        &["dupack_threshold"],
        &[("host.transport.fast_retransmit", "false")],
        "fast_retransmit",
    ),
    beside(T, &["tcp", "dctcp"], &["delayed_ack_timeout"], &[("host.transport.delayed_ack", "false")], "delayed_ack"),
    beside(
        T,
        &[],
        &["flight_cap", "rto_low", "rto_high", "rto_low_packets"],
        &[("host.transport.loss_recovery", "go-back-n")],
        "loss_recovery = \"selective\"",
    ),
    beside(
        T,
        &[],
        &["nak_interval"],
        &[("host.transport.loss_recovery", "selective")],
        "loss_recovery = \"go-back-n\"",
    ),
    beside(
        T,
        &["roce", "dcqcn", "timely", "hpcc", "swift", "hetflow", "qcn", "eccp", "dctcp-rate", "external"],
        &["timeout"],
        &[("host.transport.loss_recovery", "selective")],
        "loss_recovery = \"go-back-n\"",
    ),
    beside(T, &[], &["ack_every"], &[("host.transport.loss_recovery", "selective")], "every packet"),
    beside(
        T,
        &["dcqcn", "qcn"],
        &["ack_every"],
        &[("host.transport.window", "20KB"), ("host.transport.variable_window", "true")],
        "every packet",
    ),
    beside(T, &["timely"], &["segment"], &[("host.transport.measure", "round-trip")], "measure = \"segment\""),
    beside(T, &["timely"], &["hyper_after"], &[("host.transport.hyper_factor", "1")], "hyper_factor"),
    beside(T, &[], &["min_payload", "max_payload"], &[], "payload_deviation"),
    beside(T, &["eccp"], &["count_probes"], &[], "estimate = \"measured\""),
    beside(T, &["eccp"], TRAINS, &[("host.transport.estimate", "measured")], "estimate = \"trains\""),
    beside(T, &["swift"], &["reset_after"], &[("host.transport.timeout", "never")], "timeout"),
    beside(T, &["datagram"], &["mean_on", "mean_off"], &[("host.transport.arrival", "poisson")], "on_off"),
    beside(T, &["datagram"], &["rate"], &[("host.transport.gap", "50us")], "gap"),
    beside(O, &["pipeline-trim"], OTHER_MODELS, &[], "it belongs to"),
    beside(O, &["pipeline-trim"], SIGNALS, &[("switch.overload.model", "dod")], "tofino"),
    beside(O, &["pipeline-trim"], &["meter_burst", "metered"], &[("switch.overload.model", "mod")], "tofino"),
    beside(O, &["pipeline-trim"], &["response"], &[("switch.overload.model", "switch-p4")], "tofino"),
    beside(O, &["pipeline-trim"], &["trim_next"], &[("switch.overload.response", "all")], "response = \"next\""),
    beside(
        O,
        &["pipeline-trim"],
        &["pessimistic", "half", "half_share", "pessimistic_share"],
        &[("switch.overload.response", "next")],
        "response",
    ),
    beside(O, &["pipeline-trim"], &["pessimistic_share"], &[("switch.overload.response", "all")], "response"),
    beside("routing", &[], &["root"], &[], "up-down"),
    beside("routing", &[], &["entropy_values"], &[], "entropy"),
    beside("measure", &[], &["reordering_threshold"], &[], "reordering = true"),
    beside("measure", &[], &["queue_utilisation"], &[], "switch.queue"),
    beside("traffic", SIZED, &["frame_max"], &[], "frame_deviation"),
    beside("traffic", &["periodic frames"], &["header"], &[("traffic", PERIODIC)], "rate"),
    beside("traffic", &["collective"], &["chunks_in_flight"], &[], "chunks"),
    beside(
        "traffic",
        &["collective"],
        &["qps_per_connection"],
        &[("traffic.0.connection_per_message", "true")],
        "connection",
    ),
    beside("traffic", &["request-reply"], &["hosts"], &[], "servers"),
    beside("traffic", &["request-reply"], &["think_time", "rounds"], &[("traffic.0.requests", "1")], "requests"),
    beside("traffic", &["collective"], &["compute"], &[("traffic.0.iterations", "1")], "iterations"),
    beside("fabric", &["file"], &["hosts_per_switch"], &[], "has hosts"),
    beside("traffic", &["replay"], &["packet", "start_unit"], &[], "is none"),
    beside(
        "switch.tags",
        &[],
        &["bounces"],
        &[("switch.tags", "{ kind = \"tagger\", algorithm = \"merge\" }")],
        "bounces",
    ),
    beside("switch.tags", &[], &["paths"], &[], "merge"),
    beside("switch.preemption", &[], &["express"], &[("traffic.0.class", "3"), ("traffic.1.class", "3")], "express"),
    beside(T, &["roce"], &["ecn"], &[("switch.marking", "none")], "no switch marks"),
    beside("committed_rate", &[], &["rate"], &[("switch.flow_control", "none")], "florax"),
    beside(
        "host",
        &[],
        &["obeys_pause", "ignore_pause", "on_pause"],
        &[("switch.flow_control", "none"), ("host.transport", "dcqcn")],
        "flow_control",
    ),
    beside("host", &[], &["trim_aware"], &[("switch.overload", "drop")], "trim"),
    beside("host.on_bounce", &[], &["every"], &[("switch.overload", "drop")], "bounce"),
    beside("host", &[], &["notification_delay"], &[], "another"),
    beside("host", &[], &["reply_class"], &[("host.transport", "datagram")], "repl"),
    beside("switch.clock", &[], &["offset", "drift_ppm"], &[("gates", "[]")], "gates"),
    beside("switch.clocks", &[], &["offset", "drift_ppm"], &[("gates", "[]")], "gates"),
    beside(
        "switch.watchdog",
        &[],
        &["detection_time"],
        &[("switch.flow_control", "none"), ("host.pause_storm.until", "600us")],
        "watchdog",
    ),
    beside("host.pause_storm", &[], &["at"], &[("switch.flow_control", "none"), ("switch.watchdog", "{}")], "PAUSE"),
    beside("check.bounce_storm", &[], &["samples", "every", "ratio"], &[("switch.overload", "drop")], "bounce"),
];

/// Returns values of the key. The default is excluded, because writing it explicitly is valid.
fn values_of(location: &KeyLocation) -> Vec<String> {
    let cases = cases::cases(location);
    match cases.first() {
        Some(case) if !case.values.is_empty() => case.values.iter().map(|&value| value.to_owned()).collect(),
        _ => values::of(location, Some(location.default.words())),
    }
}

/// Returns whether some value of `location` with the overrides of `condition` gives an error or a warning with the
/// stated reason.
fn is_reported(location: &KeyLocation, condition: &Condition) -> Result<(), String> {
    let (text, path) = bases::base(location);
    let mut last = String::from("no value");
    for value in values_of(location) {
        let mut set = super::pairs(condition.set);
        set.push((path.clone(), value.clone()));
        let fits = |message: &String| names(location, message) && message.contains(condition.says);
        match run(&text, &set) {
            Err(error) if fits(&error) => return Ok(()),
            Err(error) => last = format!("{value} is refused otherwise: {error}"),
            Ok(results) if results.warnings.iter().any(fits) => return Ok(()),
            Ok(_) => last = format!("{value} is accepted"),
        }
    }
    Err(format!("{location} beside {:?}: {last}", condition.set))
}

/// Tables for which one error or warning concerns the whole table.
const WHOLE_TABLES: Keys = &[
    "committed_rate",
    "host.on_bounce",
    "switch.clock",
    "switch.clocks",
    "switch.watchdog",
    "host.pause_storm",
    "check.bounce_storm",
];

/// Returns whether a message concerns the key, or its whole table.
fn names(location: &KeyLocation, message: &str) -> bool {
    let table = location.section.rsplit('.').next().unwrap_or_default();
    message.contains(location.name) || WHOLE_TABLES.contains(&location.section) && message.contains(table)
}

#[test]
fn keys_that_cannot_act_are_refused_or_warned_of() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    let locations = locations::all();
    for condition in CONDITIONS {
        for key in condition.keys {
            let fits = |location: &&KeyLocation| {
                let of_variant = || location.variant.is_some_and(|variant| condition.of.contains(&variant));
                location.section == condition.section
                    && location.name == *key
                    && (condition.of.is_empty() || of_variant())
            };
            let mut found = 0;
            for location in locations.iter().filter(fits) {
                found += 1;
                match is_reported(location, condition) {
                    Ok(()) => tried += 1,
                    Err(error) => wrong.push(error),
                }
            }
            assert!(found > 0, "no key {}.{key} of {:?}", condition.section, condition.of);
        }
    }
    eprintln!("{tried} keys are refused, or warned of, beside values that leave them without effect");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
