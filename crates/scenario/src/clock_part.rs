//! `host.clock` and `[[host.clocks]]`, `switch.clock` and `[[switch.clocks]]`: clock offsets and drifts of nodes.

use crate::document::Value;
use crate::names::{HostName, hosts_list, names};
use crate::partial_part::switch;
use crate::section::{Context, Read, Section, show};
use fabric::Fabric;
use model::parameters::{MAX_DRIFT_PPB, NodeClock, NodeClocks};

/// `host.clock` and `[[host.clocks]]` as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClocksPlan {
    drawn: Option<NodeClock>,
    stated: Vec<(Vec<HostName>, NodeClock)>,
}

impl ClocksPlan {
    /// Resolves host names with `find`, which returns host indices; `None` after an error.
    pub fn lower(&self, find: impl Fn(&[HostName], &str) -> Option<Vec<u32>>) -> Option<NodeClocks> {
        let mut clocks = NodeClocks { drawn: self.drawn, ..NodeClocks::default() };
        for (at, (hosts, clock)) in self.stated.iter().enumerate() {
            let hosts = find(hosts, &format!("host.clocks.{at}.hosts"))?;
            clocks.stated.extend(hosts.into_iter().map(|host| (host, *clock)));
        }
        Some(clocks)
    }
}

/// `switch.clock` and `[[switch.clocks]]` as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchClocksPlan {
    drawn: Option<NodeClock>,
    stated: Vec<(Vec<String>, NodeClock)>,
}

impl SwitchClocksPlan {
    /// Resolves switch names to nodes; `None` if the fabric lacks a switch.
    pub fn lower(&self, context: &Context<'_>, fabric: &Fabric) -> Option<NodeClocks> {
        let mut clocks = NodeClocks { drawn: self.drawn, ..NodeClocks::default() };
        for (at, (names, clock)) in self.stated.iter().enumerate() {
            for (name_at, name) in names.iter().enumerate() {
                let node = switch(context, fabric, &format!("switch.clocks.{at}.switches.{name_at}"), name)?;
                clocks.stated.insert(node.0, *clock);
            }
        }
        Some(clocks)
    }
}

/// Reads the clocks of switches; `None` after an error.
pub(crate) fn of_switches(section: &Section<'_, '_>) -> Option<SwitchClocksPlan> {
    let table = section.table("clock", "switch.clock", false);
    let drawn = section.has("clock").then(|| clock(&table, 0));
    let stated = section.tables("clocks", "switch.clocks").into_iter().map(|section| {
        let switches = section.read("switches", |value| names(value, "[\"S1\"]"));
        let clock = clock(&section, -i64::from(MAX_DRIFT_PPB));
        Some((switches?, clock?))
    });
    // Read every entry before the first error returns, so that all errors are reported.
    let stated: Vec<Option<_>> = stated.collect();
    let drawn = match drawn {
        Some(drawn) => Some(drawn?),
        None => None,
    };
    Some(SwitchClocksPlan { drawn, stated: stated.into_iter().collect::<Option<_>>()? })
}

/// Reads the clocks of hosts; `None` after an error.
pub(crate) fn read(host: &Section<'_, '_>) -> Option<ClocksPlan> {
    let table = host.table("clock", "host.clock", false);
    let drawn = host.has("clock").then(|| clock(&table, 0));
    let stated = host.tables("clocks", "host.clocks").into_iter().map(|section| {
        let hosts = section.read("hosts", hosts_list);
        let clock = clock(&section, -i64::from(MAX_DRIFT_PPB));
        Some((hosts?, clock?))
    });
    // Read every entry before the first error returns, so that all errors are reported.
    let stated: Vec<Option<_>> = stated.collect();
    let drawn = match drawn {
        Some(drawn) => Some(drawn?),
        None => None,
    };
    Some(ClocksPlan { drawn, stated: stated.into_iter().collect::<Option<_>>()? })
}

fn clock(table: &Section<'_, '_>, least_ppb: i64) -> Option<NodeClock> {
    let offset = table.time("offset");
    let drift_ppb = table.read("drift_ppm", |value| drift_ppb(value, least_ppb));
    table.finish();
    Some(NodeClock { offset: offset?, drift_ppb: drift_ppb? })
}

/// Converts parts per million with up to three decimals to whole parts per billion.
fn drift_ppb(value: &Value, least_ppb: i64) -> Read<i32> {
    let most_ppb = i64::from(MAX_DRIFT_PPB);
    let help = || Some(format!("write a number from {} to {}, such as 0.5 or 50", least_ppb / 1000, most_ppb / 1000));
    let text = value.text().filter(|text| text.len() <= 40);
    let Some(text) = text else { return Err((format!("{} is not a drift", show(value)), help())) };
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |digits| (-1, digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?;
    let ppb = number(whole).zip(number(decimals).filter(|_| decimals.len() <= 3));
    let ppb = ppb.and_then(|(whole, _)| whole.checked_mul(1000)?.checked_add(number(&format!("{decimals:0<3}"))?));
    match ppb.map(|ppb| sign * ppb).filter(|ppb| (least_ppb..=most_ppb).contains(ppb)) {
        Some(ppb) => Ok((ppb as i32, text)),
        None => Err((format!("`{text}` is not a drift in parts per million"), help())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drifts_are_read_exactly() {
        let read =
            |text: &str| drift_ppb(&Value::bare(text), -100_000_000).map(|(ppb, _)| ppb).map_err(|error| error.0);
        let good = [("50", 50_000), ("-20", -20_000), ("0.5", 500), ("-0.001", -1), ("99.25", 99_250), ("0", 0)];
        assert!(good.iter().all(|&(text, ppb)| read(text) == Ok(ppb)));
        assert_eq!(read("100000"), Ok(100_000_000));
        for bad in ["100000.001", "1.0001", "--5", "", "5.", "1e3", "x", "9999999999999999999", "-", ".5", "+1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
