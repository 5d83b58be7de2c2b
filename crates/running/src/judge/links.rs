//! Check for attributes of a link that differ between its two ends.

use super::findings::{Findings, Scope, finding};
use super::lists::list;
use super::ports::pfc_key;
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::read::SwitchConfig;
use fabric::NodeId;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use units::Rate;

/// An attribute that each end of a link states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    /// Bit/s; 0 if the row of the port has none.
    Speed,
    /// Bytes.
    Mtu,
    /// Metres; stated only if the file has a length of the port.
    Length,
}

impl Attribute {
    fn at(self, config: &SwitchConfig, port: &str) -> Option<u64> {
        let row = config.ports.get(port)?;
        match self {
            Attribute::Speed => Some(row.rate.map_or(0, Rate::as_bps)),
            Attribute::Mtu => Some(row.mtu),
            Attribute::Length => config.cables.get(port).map(|cable| cable.metres),
        }
    }

    /// Returns the key of the value of a port.
    pub fn key(self, config: &SwitchConfig, port: &str) -> String {
        match self {
            Attribute::Speed => format!("PORT|{port}.speed"),
            Attribute::Mtu => format!("PORT|{port}.mtu"),
            Attribute::Length => {
                let cable = config.cables.get(port);
                cable.map_or_else(|| format!("CABLE_LENGTH|AZURE.{port}"), |cable| cable.key.clone())
            }
        }
    }

    /// Returns a value as in the file.
    fn value(self, value: u64) -> String {
        match self {
            Attribute::Speed => format!("\"{}\"", value / 1_000_000),
            Attribute::Mtu => format!("\"{value}\""),
            Attribute::Length => format!("\"{value}m\""),
        }
    }

    fn text(self, value: u64) -> String {
        match (self, Rate::from_bps(value)) {
            (Attribute::Speed, Some(rate)) => rate.to_string(),
            (Attribute::Speed, None) => "none".to_owned(),
            (Attribute::Mtu, _) => value.to_string(),
            (Attribute::Length, _) => format!("{value} m"),
        }
    }
}

/// A link whose ends state different values.
#[derive(Clone, Copy)]
struct Ends<'a> {
    here: (&'a SwitchConfig, &'a Port, u64),
    there: (&'a SwitchConfig, &'a Port, u64),
}

/// Links whose ends state different values of an attribute, and the values of all ports between switches.
pub(super) struct Differences<'a> {
    attribute: Attribute,
    by_port: BTreeMap<u32, Ends<'a>>,
    ports_by_value: BTreeMap<u64, usize>,
    by_switch: BTreeMap<NodeId, usize>,
}

impl<'a> Differences<'a> {
    pub fn of(device: &'a Device<'_>, attribute: Attribute) -> Differences<'a> {
        let (by_port, ports_by_value, by_switch) = Default::default();
        let mut all = Differences { attribute, by_port, ports_by_value, by_switch };
        for (number, port) in device.ports() {
            let Some((_, peer)) = device.peer(number) else { continue };
            let (config, other) = (device.config(port), device.config(peer));
            let Some(here) = attribute.at(config, &port.name) else { continue };
            *all.ports_by_value.entry(here).or_default() += 1;
            let Some(there) = attribute.at(other, &peer.name).filter(|there| *there != here) else { continue };
            all.by_port.insert(number, Ends { here: (config, port, here), there: (other, peer, there) });
            *all.by_switch.entry(port.node).or_default() += 1;
        }
        all
    }

    /// Whether the ends of the link of a port differ.
    pub fn contains(&self, number: u32) -> bool {
        self.by_port.contains_key(&number)
    }

    pub fn attribute(&self) -> Attribute {
        self.attribute
    }

    /// Whether more than half of the ports between switches have this value.
    fn is_usual(&self, value: u64) -> bool {
        2 * self.ports_by_value[&value] > self.ports_by_value.values().sum()
    }

    /// Returns whether the ends of the link of a port differ, and the finding is at this port: by evidence
    /// ([`is_refuted`](Differences::is_refuted)), else where fewer ports of the fabric or of the file have the value,
    /// or at the first file.
    fn is_outlier(&self, number: u32) -> bool {
        let rank = |(config, port, value): (&'a SwitchConfig, &'a Port, u64)| {
            let alike = config.ports.keys().filter(|name| self.attribute.at(config, name) == Some(value)).count();
            let differing = Reverse(self.by_switch[&port.node]);
            (self.is_usual(value), differing, self.ports_by_value[&value], alike, &config.file, &port.name)
        };
        self.by_port.get(&number).is_some_and(|ends| rank(ends.here) < rank(ends.there))
    }

    /// Returns whether the value of a port is wrong by evidence: the other value is that of most ports, or the switch
    /// differs from more neighbours. Without evidence, the greater value counts at both ends.
    pub fn is_refuted(&self, number: u32) -> bool {
        let rank = |(_, port, value): (&'a SwitchConfig, &'a Port, u64)| {
            (self.is_usual(value), Reverse(self.by_switch[&port.node]))
        };
        self.by_port.get(&number).is_some_and(|ends| rank(ends.here) < rank(ends.there))
    }

    fn report(&self, findings: &mut Findings) {
        for (number, Ends { here: (config, port, here), there: (other, peer, there) }) in &self.by_port {
            if !self.is_outlier(*number) {
                continue;
            }
            let [own, others] = [*here, *there].map(|value| self.attribute.text(value));
            let at = format!("{} {}", other.file, peer.name);
            let like = match self.is_usual(*there) {
                true => {
                    let (count, all) = (self.ports_by_value[there], self.ports_by_value.values().sum::<usize>());
                    format!("; {count} of {all} ports between switches have {others}")
                }
                false => String::new(),
            };
            let (why, instead) = match self.attribute {
                Attribute::Speed => (format!("the speed is {own} here and {others} at {at}"), "one speed at both ends"),
                Attribute::Mtu => (
                    format!("the MTU is {own} here and {others} at {at}: the smaller end drops"),
                    "one MTU at both ends",
                ),
                Attribute::Length => {
                    let key = self.attribute.key(other, &peer.name);
                    (format!("{own} here, {others} at {at} ({key})"), "the length of the cable at both ends")
                }
            };
            // A length that most ports have may be wrong for this cable.
            let is_advised = self.is_usual(*there) && self.attribute != Attribute::Length;
            let instead = if is_advised { self.attribute.value(*there) } else { instead.to_owned() };
            let key = self.attribute.key(config, &port.name);
            findings.add(finding(FindingKind::Neighbours, config, key, why + &like, instead));
        }
    }
}

/// Number of ports between switches by value of `pfc_enable`.
fn enabled(device: &Device<'_>) -> BTreeMap<u8, usize> {
    let mut values = BTreeMap::new();
    for (_, port) in device.ports().filter(|(number, _)| device.peer(*number).is_some()) {
        *values.entry(port.enabled).or_default() += 1;
    }
    values
}

pub(super) fn judge(device: &Device<'_>, findings: &mut Findings) {
    let enabled = enabled(device);
    let all: usize = enabled.values().sum();
    let is_usual = |value: u8| 2 * enabled[&value] > all;
    for (number, port) in device.ports() {
        let Some((_, peer)) = device.peer(number) else { continue };
        let (config, other) = (device.config(port), device.config(peer));
        let there = format!("{} {}", other.file, peer.name);
        let missing = peer.enabled & !port.enabled;
        if missing != 0 {
            let missing = list(missing.into());
            let most = if is_usual(port.enabled) { " and most ports between switches do" } else { " does" };
            let more = format!(
                "enables PFC for {missing}, and {} {}{most} not: it ignores and sends no such PAUSE",
                config.file, port.name
            );
            let fewer =
                format!("{there} enables PFC for {missing}, and this end does not: it ignores and sends no such PAUSE");
            let scope = Scope::of_ports(&[port, peer]);
            // The finding names the end whose value differs from that of most ports.
            let (config, key, why, elsewhere) = match is_usual(port.enabled) {
                true => (other, pfc_key(device, peer), more, fewer),
                false => (config, pfc_key(device, port), fewer, format!("{there} {more}")),
            };
            let finding = finding(FindingKind::Neighbours, config, key, why, String::new());
            findings.conflict(finding, elsewhere, scope);
        }
    }
    for attribute in [Attribute::Speed, Attribute::Mtu, Attribute::Length] {
        Differences::of(device, attribute).report(findings);
    }
}
