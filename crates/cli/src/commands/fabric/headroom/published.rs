//! Compares the computed headroom with published values in `pg_profile_lookup.ini`, by speed and cable length.

use crate::commands::tagger::headroom::{HeadroomArgs, Terms};
use serde_json::{Value, json};
use text::numbers::grouped;
use text::{Layout, table};
use units::{Rate, Time, cable_delay};

/// Speed in Gbps, cable length, and the median `xoff` in bytes of public SONiC platforms at an MTU of about 9100: 3,607
/// rows of 106 platforms in `device/*/*/*/pg_profile_lookup.ini` of sonic-net/sonic-buildimage, read on 2026-11-25.
const MEDIANS: [(u64, &str, u64); 9] = [
    (10, "5m", 35_776),
    (25, "5m", 50_176),
    (100, "40m", 55_120),
    (100, "300m", 165_888),
    (400, "40m", 283_648),
    (400, "300m", 373_888),
    (400, "80km", 53_305_344),
    (800, "5m", 572_516),
    (800, "300m", 929_132),
];

struct Row {
    rate: Rate,
    cable: &'static str,
    delay: Time,
    here: u64,
    sonic: u64,
    published: u64,
}

fn rows(args: &HeadroomArgs, classes: u8) -> impl Iterator<Item = Row> + '_ {
    MEDIANS.iter().filter_map(move |&(gbps, cable, published)| {
        let (rate, delay) = (Rate::from_gbps(gbps), cable_delay(cable).ok()?);
        let here = args.bytes(rate, delay, classes.into());
        let sonic = Terms::of(rate, delay, classes, args).sonic_bytes();
        Some(Row { rate, cable, delay, here, sonic, published })
    })
}

/// Returns the comparison as a table; `args` and `classes` are the inputs of the computed headroom.
pub fn as_text(args: &HeadroomArgs, classes: u8) -> String {
    let line = |row: Row| {
        let share = format!("{:.0} %", 100.0 * row.here as f64 / row.published as f64);
        let bytes = [row.here, row.sonic, row.published].map(grouped);
        let [here, sonic, published] = bytes;
        vec![row.rate.to_string(), row.cable.to_owned(), here, sonic, published, share]
    };
    let lines: Vec<Vec<String>> = rows(args, classes).map(line).collect();
    let header = ["rate", "cable", "here, bytes", "SONiC's formula", "published, median", "here of published"];
    format!(
        "headroom (xoff) of one lossless class, frames up to {}, beside pg_profile_lookup.ini of public \
         SONiC platforms\n{}",
        args.mtu(),
        table(&header, &lines, 0, Layout::Fitting, 2)
    )
}

/// Returns the comparison as a JSON array; `args` and `classes` are the inputs of the computed headroom.
pub fn as_json(args: &HeadroomArgs, classes: u8) -> Value {
    let one = |row: Row| {
        json!({
            "rate_bps": row.rate.as_bps(), "cable": row.cable, "delay_ps": row.delay.as_ps(),
            "headroom_bytes": row.here, "sonic_bytes": row.sonic, "published_median_bytes": row.published,
        })
    };
    rows(args, classes).map(one).collect()
}
