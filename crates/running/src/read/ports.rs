//! Ports, cable lengths, and the watchdog.

use super::reader::{Reader, text_of};
use super::{Cable, PortConfig, SwitchConfig, WatchdogPort, values};
use fabric::sonic::{CableLength, cable_lengths};
use units::Rate;

/// SONiC's default MTU in bytes, for ports whose row has none.
const DEFAULT_MTU: u64 = 9_100;
const BPS_PER_MBPS: u64 = 1_000_000;
/// Bytes and Mbps, from SONiC's YANG model.
const MTUS: std::ops::RangeInclusive<u64> = 68..=9_216;
const SPEEDS: std::ops::RangeInclusive<u64> = 1..=1_600_000;

pub(super) fn read(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for row in reader.rows("PORT") {
        reader.check_fields(&row, &["speed", "mtu", "admin_status", "pfc_asym"]);
        reader.check_choice(&row, "pfc_asym", &["on", "off"]);
        let asymmetric = row.fields.get("pfc_asym").and_then(text_of).is_some_and(|text| text == "on");
        let rate = reader.number(&row, "speed", 1..=10_000_000).and_then(|mbps| Rate::from_bps(mbps * BPS_PER_MBPS));
        let mtu = reader.number(&row, "mtu", 68..=65_535);
        values::check_range(reader, &row, "mtu", mtu, MTUS);
        values::check_range(reader, &row, "speed", rate.map(|rate| rate.as_bps() / BPS_PER_MBPS), SPEEDS);
        let mtu = mtu.unwrap_or(DEFAULT_MTU);
        let up = match reader.text(&row, "admin_status").as_deref() {
            // SONiC's default is down.
            Some("down") | None => false,
            Some("up") => true,
            Some(other) => {
                let message = format!("is `{}`", fabric::visible(other));
                reader.fault(format!("{}.admin_status", row.key), message, "up or down");
                true
            }
        };
        let lanes = row.fields.get("lanes").and_then(text_of).map(|lanes| 1 + lanes.matches(',').count() as u64);
        switch.ports.insert(row.name.to_owned(), PortConfig { rate, mtu, up, lanes, asymmetric });
    }
    // Reports rows that are no objects.
    for row in reader.rows("CABLE_LENGTH") {
        values::check_name(reader, &row);
    }
    for length in cable_lengths(reader.object) {
        match length {
            Err(fault) => reader.fault(fault.key, fault.message, fault.help),
            Ok(CableLength { port, key, metres }) => {
                if reader.port_exists(port, "CABLE_LENGTH", &key) {
                    switch.cables.insert(port.to_owned(), Cable { metres, key });
                }
            }
        }
    }
    read_watchdog(reader, switch);
}

fn read_watchdog(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    // Values outside SONiC's ranges are findings and not faults, so any number is accepted here.
    let any = 0..=u64::from(u32::MAX);
    for row in reader.rows("PFC_WD") {
        if row.name == "GLOBAL" {
            reader.check_fields(&row, &["POLL_INTERVAL"]);
            switch.watchdog.poll_interval = reader.number(&row, "POLL_INTERVAL", any.clone());
            continue;
        }
        reader.check_fields(&row, &["action", "detection_time", "restoration_time"]);
        reader.check_choice(&row, "pfc_stat_history", &["enable", "disable"]);
        let port = WatchdogPort {
            key: row.key.clone(),
            detection: reader.number(&row, "detection_time", any.clone()),
            restoration: reader.number(&row, "restoration_time", any.clone()),
            action: reader.text(&row, "action"),
        };
        for name in reader.ports_of(&row, row.name) {
            if switch.watchdog.ports.insert(name.clone(), port.clone()).is_some() {
                reader.fault(row.key.clone(), format!("{name} has two rows"), "one row a port");
            }
        }
    }
}
