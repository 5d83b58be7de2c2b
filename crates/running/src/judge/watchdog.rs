//! Watchdog settings that SONiC rejects (`sonic-pfcwd.yang`), or that monitor no enabled priority.

use super::findings::{Findings, Scope, finding};
use super::lists::list;
use super::ports::pfc_key;
use crate::device::Device;
use crate::error::FindingKind;
use crate::read::SwitchConfig;

/// Valid ranges in milliseconds, from SONiC's YANG model.
const DETECTION: std::ops::RangeInclusive<u64> = 100..=5_000;
const RESTORATION: std::ops::RangeInclusive<u64> = 100..=60_000;
const POLL_INTERVAL: std::ops::RangeInclusive<u64> = 100..=1_000;
const ACTIONS: [&str; 3] = ["drop", "forward", "alert"];

pub(super) fn judge(config: &SwitchConfig, device: &Device<'_>, findings: &mut Findings) {
    let refused = |findings: &mut Findings, key: String, why: String, instead: String| {
        findings.add(finding(FindingKind::Watchdog, config, key, why, instead));
    };
    let watchdog = &config.watchdog;
    let range = |range: &std::ops::RangeInclusive<u64>| format!("{} to {} ms", range.start(), range.end());
    if let Some(poll) = watchdog.poll_interval.filter(|poll| !POLL_INTERVAL.contains(poll)) {
        let why = format!("SONiC refuses {poll} ms");
        refused(findings, "PFC_WD|GLOBAL.POLL_INTERVAL".to_owned(), why, range(&POLL_INTERVAL));
    }
    let poll = watchdog.poll_interval.unwrap_or(0);
    let longest = watchdog.ports.values().flat_map(|port| [port.detection, port.restoration]).flatten().max();
    // If the polling interval exceeds all times, only the interval has to change.
    let poll = match longest {
        Some(longest) if poll > longest => {
            let why = format!("{poll} ms is more than every detection and restoration time: SONiC refuses them");
            refused(findings, "PFC_WD|GLOBAL.POLL_INTERVAL".to_owned(), why, format!("at most {longest}"));
            0
        }
        _ => poll,
    };
    for port in watchdog.ports.values() {
        let times =
            [("detection_time", port.detection, &DETECTION), ("restoration_time", port.restoration, &RESTORATION)];
        for (field, time, allowed) in times {
            let key = format!("{}.{field}", port.key);
            match time {
                None => refused(findings, key, "is missing: the watchdog does not start".to_owned(), range(allowed)),
                Some(time) if !allowed.contains(&time) => {
                    refused(findings, key, format!("SONiC refuses {time} ms"), range(allowed));
                }
                Some(time) if time < poll => {
                    let why = format!("{time} ms is less than POLL_INTERVAL, {poll} ms: SONiC refuses it");
                    refused(findings, key, why, format!("at least {poll}, or a shorter POLL_INTERVAL"));
                }
                Some(_) => {}
            }
        }
        if let Some(action) = port.action.as_deref().filter(|action| !ACTIONS.contains(action)) {
            let why = format!("SONiC refuses `{}`", fabric::visible(action));
            refused(findings, format!("{}.action", port.key), why, "drop, forward or alert".to_owned());
        }
    }
    for port in device.ports_of(config) {
        let watched = config.qos.get(&port.name).map_or(0, |qos| qos.watched);
        let without = watched & !port.enabled;
        if without != 0 {
            let key = pfc_key(device, port).replace("pfc_enable", "pfcwd_sw_enable");
            let why = format!("watches priority {}, which pfc_enable does not have", list(without.into()));
            let elsewhere = format!("at {}, pfcwd_sw_enable {why}", fabric::visible(&config.name));
            let finding = finding(FindingKind::Watchdog, config, key, why, "priorities of pfc_enable".to_owned());
            findings.conflict(finding, elsewhere, Scope::of_port(port));
        }
        if watched != 0 && !watchdog.ports.contains_key(&port.name) {
            let row = "a row with action, detection_time, restoration_time";
            // If no port has a row, the whole table is missing, which is one finding per file.
            let (key, why, instead) = match watchdog.ports.is_empty() {
                true => {
                    let why = format!("no port has a row, and pfcwd_sw_enable of {} names priorities", port.name);
                    ("PFC_WD".to_owned(), why, format!("{row} for each port"))
                }
                false => {
                    let why = "pfcwd_sw_enable names priorities, other ports have a row, and this one has none";
                    (format!("PFC_WD|{}", port.name), why.to_owned(), row.to_owned())
                }
            };
            refused(findings, key, why, instead);
        }
    }
}
