//! Buffer pools and profiles, their users, and schedulers.

use super::reader::{Reader, Row, text_of};
use super::{Pool, Profile, ProfileReference, Scheduling, SwitchConfig, Threshold, references, spelling, values};
use fabric::sonic::computes_headroom;
use std::collections::BTreeMap;

/// The highest queue of an ASIC, unicast and multicast together, and that of SONiC's model of `BUFFER_QUEUE`.
const MOST_QUEUE: u8 = 31;
const MOST_BUFFER_QUEUE: u8 = 15;
const MOST_GROUP: u8 = 7;
/// References that are only checked for existence: table, field, and the referenced table.
const OTHER_REFERENCES: [(&str, &str, &str); 3] = [
    ("QUEUE", "wred_profile", "WRED_PROFILE"),
    ("PORT_QOS_MAP", "scheduler", "SCHEDULER"),
    ("PORT_QOS_MAP", "dscp_to_fc_map", "DSCP_TO_FC_MAP"),
];
/// Exponents of the dynamic threshold in SONiC's YANG model; a platform may allow fewer.
const DYNAMIC_THRESHOLDS: std::ops::RangeInclusive<i64> = -8..=8;
/// Name of a profile that the switch computes from speed and cable.
pub(crate) const COMPUTED: &str = "NULL";

pub(super) fn read(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let any = 0..=u64::MAX;
    for row in reader.rows("BUFFER_POOL") {
        reader.check_fields(&row, &["size", "xoff", "mode", "type"]);
        for (field, values) in [("mode", &["static", "dynamic"][..]), ("type", &["ingress", "egress", "both"])] {
            reader.check_choice(&row, field, values);
            if !row.fields.contains_key(field) {
                reader.fault(format!("{}.{field}", row.key), "is missing: SONiC refuses the pool", values.join(" or "));
            }
        }
        let is = |field: &str, value: &str| row.fields.get(field).is_some_and(|text| text == value);
        let (ingress, egress) = (!is("type", "egress"), !is("type", "ingress"));
        let size = reader.number(&row, "size", any.clone());
        let shared_headroom = reader.number(&row, "xoff", any.clone()).filter(|xoff| *xoff > 0);
        switch.pools.insert(
            row.name.to_owned(),
            Pool { size, shared_headroom, ingress, egress, is_static: is("mode", "static") },
        );
    }
    for row in reader.rows("BUFFER_PROFILE") {
        let read = ["pool", "size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th", "packet_discard_action"];
        reader.check_fields(&row, &read);
        let Some(pool) = reader.reference(&row, "pool", "BUFFER_POOL") else {
            if !row.fields.contains_key("pool") {
                reader.fault(format!("{}.pool", row.key), "is missing", "the name of a row of BUFFER_POOL");
            }
            continue;
        };
        if !reader.has_row("BUFFER_POOL", &pool) {
            let near = spelling::of_near_name(reader.object, "BUFFER_POOL");
            let message = format!("BUFFER_POOL has no `{}`{near}", fabric::visible(&pool));
            let help = references::row_instead(reader, "BUFFER_POOL", &pool);
            reader.fault(format!("{}.pool", row.key), message, help);
        }
        reader.number(&row, "xon_offset", any.clone());
        reader.check_choice(&row, "headroom_type", &["static", "dynamic"]);
        reader.check_integer(&row, "dynamic_th", DYNAMIC_THRESHOLDS);
        let is_static = reader.number(&row, "static_th", any.clone()).map(Threshold::Static);
        let exponent = row.fields.get("dynamic_th").and_then(text_of).and_then(|text| text.trim().parse().ok());
        reader.check_choice(&row, "packet_discard_action", &["drop", "trim"]);
        let (xon, size) = (reader.number(&row, "xon", any.clone()), reader.number(&row, "size", any.clone()));
        let xoff = reader.number(&row, "xoff", any.clone());
        // If `size` is the guaranteed minimum (Broadcom), it is below `xoff` and may be below `xon`, as in published
        // rows.
        if let (Some(xon), Some(size)) = (xon, size)
            && xon > size
            && size >= xoff.unwrap_or(0)
        {
            let message = format!("is {xon}, more than the size of the profile, {size}");
            reader.fault(format!("{}.xon", row.key), message, format!("at most {size}"));
        }
        let computed = computes_headroom(reader.object, row.name);
        check_profile(reader, &row, computed, switch.pools.get(&pool));
        let profile = Profile {
            size: size.unwrap_or(0),
            xoff,
            computed,
            lossless_queue: lossless(row.name).or_else(|| lossless(&pool)),
            threshold: is_static.or(exponent.map(Threshold::Dynamic)),
            trims: row.fields.get("packet_discard_action").is_some_and(|action| action == "trim"),
            pool,
        };
        switch.profiles.insert(row.name.to_owned(), profile);
    }
    switch.groups = bound(reader, "BUFFER_PG", MOST_GROUP, "profile", "BUFFER_PROFILE");
    switch.queues = bound(reader, "BUFFER_QUEUE", MOST_BUFFER_QUEUE, "profile", "BUFFER_PROFILE");
    for row in reader.rows("SCHEDULER") {
        if let Some(scheduling) = values::scheduling(reader, &row) {
            switch.schedulers.insert(row.name.to_owned(), scheduling);
        }
    }
    switch.scheduled = bound(reader, "QUEUE", MOST_QUEUE, "scheduler", "SCHEDULER");
    for row in reader.objects("PORT_QOS_MAP") {
        let scheduler = row.fields.get("scheduler").and_then(serde_json::Value::as_str).unwrap_or_default();
        let name = scheduler.trim_start_matches("[SCHEDULER|").trim_end_matches(']');
        if let Some(Scheduling::Strict { limit: Some(limit) } | Scheduling::Share { limit: Some(limit) }) =
            switch.schedulers.get(name)
        {
            switch.port_limits.insert(row.name.to_owned(), *limit);
        }
    }
    read_wred(reader, switch);
    let tables = [
        (&switch.groups, "profile", "BUFFER_PROFILE"),
        (&switch.queues, "profile", "BUFFER_PROFILE"),
        (&switch.scheduled, "scheduler", "SCHEDULER"),
    ];
    // Report each missing name once, at the first row that refers to it.
    let mut missing: BTreeMap<(&str, String), String> = BTreeMap::new();
    for (rows, field, table) in tables {
        let exists = |name: &str| reader.has_row(table, name) || (table == "BUFFER_PROFILE" && name == COMPUTED);
        for bound in rows.values().filter(|bound| !exists(&bound.name)) {
            missing.entry((table, bound.name.clone())).or_insert_with(|| format!("{}.{field}", bound.key));
        }
    }
    for (of, field, table) in OTHER_REFERENCES {
        for row in reader.objects(of) {
            let Some(name) = reader.reference(&row, field, table) else { continue };
            if !reader.has_row(table, &name) {
                missing.entry((table, name)).or_insert_with(|| format!("{}.{field}", row.key));
            }
        }
    }
    for ((table, name), key) in missing {
        let near = spelling::of_near_name(reader.object, table);
        let message = format!("{table} has no `{}`{near}", fabric::visible(&name));
        let help = references::row_instead(reader, table, &name);
        reader.fault(key, message, help);
    }
}

/// Reports a profile without `size`, without a threshold, with both, or with one that its pool does not have.
fn check_profile(reader: &mut Reader<'_>, row: &Row<'_>, computed: bool, pool: Option<&Pool>) {
    let key = |field: &str| format!("{}.{field}", row.key);
    let has = |field: &str| row.fields.contains_key(field);
    if computed {
        return;
    }
    if !has("size") {
        reader.refused(key("size"), "is missing: SONiC refuses the profile", "the reserved bytes, or 0");
    }
    let of_pool = if pool.is_some_and(|pool| pool.is_static) { "static_th" } else { "dynamic_th" };
    match (has("static_th"), has("dynamic_th")) {
        (true, true) => {
            let why = "beside dynamic_th: a profile has one threshold, and which of them counts is undefined";
            reader.refused(key("static_th"), why, format!("{of_pool} alone"));
        }
        (false, false) => {
            let why = "the profile has neither static_th nor dynamic_th: no threshold says when it pauses or drops";
            reader.refused(key(of_pool), why, format!("{of_pool} of the platform's published profile"));
        }
        _ => {}
    }
}

/// Reads the rows of `WRED_PROFILE` and the queues that refer to them.
fn read_wred(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for row in reader.rows("WRED_PROFILE") {
        let wred = values::read_wred(reader, &row);
        switch.wred.insert(row.name.to_owned(), wred);
    }
    // Faults and findings of these rows were reported with the schedulers.
    let (known, findings) = (reader.faults.len(), reader.findings.len());
    for row in reader.objects("QUEUE") {
        let Some(name) = reader.reference(&row, "wred_profile", "WRED_PROFILE") else { continue };
        for at in reader.ports_and_numbers(&row, MOST_QUEUE) {
            switch.marked.insert(at, ProfileReference { key: row.key.clone(), name: name.clone() });
        }
    }
    reader.faults.truncate(known);
    reader.findings.truncate(findings);
}

/// Expands rows like `Ethernet0|3-4` to one entry per port and number. Overlapping rows are faults, as in SONiC.
fn bound(
    reader: &mut Reader<'_>,
    table: &'static str,
    most: u8,
    field: &'static str,
    of: &str,
) -> BTreeMap<(String, u8), ProfileReference> {
    let mut found: BTreeMap<(String, u8), ProfileReference> = BTreeMap::new();
    for row in reader.rows(table) {
        let fields = [field, "wred_profile"];
        reader.check_fields(&row, if table == "QUEUE" { &fields } else { &fields[..1] });
        if table != "QUEUE" {
            reader.check_numbers(&row);
        }
        let Some(name) = named(reader, &row, field, of) else { continue };
        for (port, number) in reader.ports_and_numbers(&row, most) {
            let bound = ProfileReference { key: row.key.clone(), name: name.clone() };
            if let Some(other) = found.insert((port, number), bound) {
                reader.fault(row.key.clone(), format!("overlaps {}", other.key), "each number in one row");
                break;
            }
        }
    }
    found
}

fn named(reader: &mut Reader<'_>, row: &Row<'_>, field: &'static str, of: &str) -> Option<String> {
    // A row of `QUEUE` may have a WRED profile and no scheduler.
    if !row.fields.contains_key(field) {
        if field == "profile" {
            reader.fault(format!("{}.{field}", row.key), "is missing", format!("the name of a row of {of}"));
        }
        return None;
    }
    reader.reference(row, field, of)
}

/// Returns whether the name of a profile or pool contains "lossless" (true) or "lossy" (false); `None` if neither.
fn lossless(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    match (name.contains("lossless"), name.contains("lossy")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}
