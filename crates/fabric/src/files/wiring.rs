//! Check of the entries of `DEVICE_NEIGHBOR` of all switches against each other. A cable between two switches has one
//! entry per end, and the two entries refer to each other. If they do not, the wrong one is determined from the entries
//! that refer to its port.

use super::config_db::Switch;
use super::error::ConfigFault;
use crate::names::visible;
use crate::sonic::{Neighbour, Object, neighbours};
use std::collections::{BTreeMap, BTreeSet};

/// Host names of switches, for look-ups of neighbours.
pub(super) struct HostNames<'a> {
    by_name: BTreeMap<&'a str, usize>,
    /// By the name before the first dot.
    by_label: BTreeMap<&'a str, Vec<&'a str>>,
}

fn label(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Returns whether a name is the beginning of a fully qualified one.
fn is_short(short: &str, long: &str) -> bool {
    long.strip_prefix(short).is_some_and(|domain| domain.starts_with('.'))
}

impl<'a> HostNames<'a> {
    pub fn of(switches: &[Switch<'a>]) -> HostNames<'a> {
        let mut by_label: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        switches.iter().for_each(|switch| by_label.entry(label(switch.name)).or_default().push(switch.name));
        HostNames { by_name: switches.iter().enumerate().map(|(at, switch)| (switch.name, at)).collect(), by_label }
    }

    /// Returns the place in the list of the switch that the name of a neighbour means: the one of this name, or the
    /// only one whose name is its short or its fully qualified form (`leaf1`, `leaf1.dc.example`).
    pub fn find(&self, name: &str) -> Option<usize> {
        let alike = || match self.by_label.get(label(name)).map(Vec::as_slice) {
            Some([one]) if !label(name).is_empty() && (is_short(one, name) || is_short(name, one)) => Some(*one),
            _ => None,
        };
        self.by_name.get(name).or_else(|| self.by_name.get(alike()?)).copied()
    }
}

/// Result of the comparison of all entries of `DEVICE_NEIGHBOR`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeighbourCheck {
    /// Entries that other entries contradict, and host names that two files or no neighbour have.
    pub faults: Vec<ConfigFault>,
    /// File and key of each entry without an entry of the port that it leads to, which nothing contradicts.
    pub one_sided: Vec<(String, String)>,
}

/// Compares the entries of `DEVICE_NEIGHBOR` of the files of a fabric, given as pairs of file name and content. Files
/// without a host name are skipped.
pub fn check_neighbours(files: &[(&str, &Object)]) -> NeighbourCheck {
    let switch = |&(location, file): &(&'_ str, &'_ Object)| {
        let name = file.get("DEVICE_METADATA")?.get("localhost")?.get("hostname")?.as_str()?;
        Some((name.to_owned(), location.to_owned()))
    };
    let names: Vec<Option<(String, String)>> = files.iter().map(switch).collect();
    let switches = names.iter().zip(files).filter_map(|(name, (_, file))| {
        let (name, location) = name.as_ref()?;
        Some(Switch { name, location, files: vec![*file] })
    });
    check(&switches.collect::<Vec<_>>())
}

/// Returns the faults of `DEVICE_NEIGHBOR` in the order of switches and ports.
pub(super) fn faults(switches: &[Switch<'_>]) -> Vec<ConfigFault> {
    check(switches).faults
}

/// A port of a switch, by the place of the switch in the list.
type End = (usize, String);

/// An entry, with the port that it is for.
struct Entry<'a> {
    from: End,
    key: String,
    peer: &'a str,
    peer_port: &'a str,
    /// The end that it leads to; `None` if the neighbour has no file, or no such port.
    peer_end: Option<End>,
    /// The neighbour, if it has a file.
    peer_switch: Option<usize>,
}

fn check(switches: &[Switch<'_>]) -> NeighbourCheck {
    let names = HostNames::of(switches);
    let (mut entries, mut without_port) = (Vec::new(), Vec::new());
    for (at, switch) in switches.iter().enumerate() {
        for Neighbour { row, port, peer, peer_port } in switch.files.iter().flat_map(|file| neighbours(file)).flatten()
        {
            let key = format!("DEVICE_NEIGHBOR|{}", visible(row));
            let port = match switch.own_name(port) {
                Ok(port) if switch.is_internal(&port) => continue,
                Ok(port) => port,
                Err(_) if switch.is_internal(port) => continue,
                Err(message) => {
                    let near = switch.nearest_port(port).map(visible);
                    let help = near.unwrap_or_else(|| "the name of a row of PORT".to_owned());
                    without_port.push(ConfigFault { file: switch.location.to_owned(), key, message, help });
                    continue;
                }
            };
            let peer_switch = names.find(peer);
            let peer_end = peer_switch.and_then(|at| Some((at, switches[at].own_name(peer_port).ok()?)));
            entries.push(Entry { from: (at, port), key, peer, peer_port, peer_end, peer_switch });
        }
    }
    let wiring = Wiring::of(switches, &entries);
    // Entries contradict each other if a switch has a wrong name.
    let wrong_names = wiring.wrong_names();
    if !wrong_names.is_empty() {
        return NeighbourCheck { faults: wrong_names, one_sided: Vec::new() };
    }
    let mut found: BTreeMap<usize, ConfigFault> = BTreeMap::new();
    let mut explained: BTreeSet<usize> = BTreeSet::new();
    for at in 0..entries.len() {
        if let Some(exchange) = wiring.exchange(at).filter(|_| !explained.contains(&at)) {
            found.insert(at, wiring.exchange_fault(exchange));
            explained.extend(exchange);
        }
    }
    let unexplained = || (0..entries.len()).filter(|at| !explained.contains(at));
    for at in unexplained() {
        found.extend(wiring.fault(at).map(|fault| (at, fault)));
    }
    // Two entries that contradict each other without evidence of which is wrong.
    for at in unexplained() {
        if let Some(other) = wiring.contradicting(at).filter(|other| !found.contains_key(other))
            && !found.contains_key(&at)
        {
            let message = format!("leads to {}, and {}", wiring.target(at), wiring.leads(other));
            found.insert(at, wiring.fault_at(at, message, "the port that the cable leads to, at both ends".to_owned()));
        }
    }
    let is_one_sided =
        |at: &usize| entries[*at].peer_end.is_some() && wiring.opposite(*at).is_none() && !found.contains_key(at);
    let place = |at: usize| (switches[entries[at].from.0].location.to_owned(), entries[at].key.clone());
    let one_sided = (0..entries.len()).filter(is_one_sided).map(place).collect();
    NeighbourCheck { faults: without_port.into_iter().chain(found.into_values()).collect(), one_sided }
}

struct Wiring<'e, 's, 'a> {
    switches: &'s [Switch<'a>],
    entries: &'e [Entry<'a>],
    /// The entry of each port, and the entries that lead to each port.
    by_port: BTreeMap<&'e End, usize>,
    leading: BTreeMap<&'e End, Vec<usize>>,
}

impl<'e, 's, 'a> Wiring<'e, 's, 'a> {
    fn of(switches: &'s [Switch<'a>], entries: &'e [Entry<'a>]) -> Wiring<'e, 's, 'a> {
        let mut leading: BTreeMap<&End, Vec<usize>> = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            if let Some(to) = &entry.peer_end {
                leading.entry(to).or_default().push(at);
            }
        }
        let by_port = entries.iter().enumerate().map(|(at, entry)| (&entry.from, at)).collect();
        Wiring { switches, entries, by_port, leading }
    }

    /// Returns the faults of host names: those that differ from the name that all neighbours have for the switch, or
    /// else those that two files have.
    fn wrong_names(&self) -> Vec<ConfigFault> {
        let mut named: Vec<Vec<&str>> = vec![Vec::new(); self.switches.len()];
        for (at, entry) in self.entries.iter().enumerate() {
            named[entry.from.0].extend(self.opposite(at).map(|back| self.entries[back].peer));
        }
        let fault = |at: usize, message: String, help: String| {
            let (file, key) = (self.switches[at].location.to_owned(), "DEVICE_METADATA|localhost.hostname".to_owned());
            ConfigFault { file, key, message, help }
        };
        let mut found = Vec::new();
        for (at, names) in named.iter().enumerate() {
            let own = self.switches[at].name;
            let [first, others @ ..] = names.as_slice() else { continue };
            let is_other = *first != own && !is_short(first, own) && !is_short(own, first);
            // One entry alone may be wrong itself.
            let is_shared = || self.switches.iter().filter(|switch| switch.name == own).count() > 1;
            if is_other && (!others.is_empty() || is_shared()) && others.iter().all(|other| other == first) {
                let (own, name) = (visible(own), visible(first));
                let entries = match names.len() {
                    1 => "the entry of the port that leads here names".to_owned(),
                    many => format!("the entries of {many} ports that lead here name"),
                };
                let message = format!("is `{own}`, and {entries} `{name}`");
                let holder = self.switches.iter().find(|switch| switch.name == *first);
                found.push(match holder {
                    // With this name there would be two files of one switch.
                    Some(holder) => {
                        let message = format!("{message}, the name of {}", holder.location);
                        fault(at, message, "another name, or remove the file if it is of another fabric".to_owned())
                    }
                    None => fault(at, message, name),
                });
            }
        }
        if !found.is_empty() {
            return found;
        }
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, switch) in self.switches.iter().enumerate() {
            if let Some(other) = first.insert(switch.name, at) {
                let other = self.switches[other].location;
                let message = format!("`{}` is also the name of {other}: both have its ports", visible(switch.name));
                found.push(fault(at, message, "one file per switch".to_owned()));
            }
        }
        found
    }

    /// Returns the entry of the port that an entry leads to.
    fn opposite(&self, at: usize) -> Option<usize> {
        self.by_port.get(self.entries[at].peer_end.as_ref()?).copied()
    }

    fn is_confirmed(&self, at: usize) -> bool {
        self.opposite(at).is_some_and(|back| self.entries[back].peer_end.as_ref() == Some(&self.entries[at].from))
    }

    /// Returns the entry of the port that an entry leads to, if it leads elsewhere.
    fn contradicting(&self, at: usize) -> Option<usize> {
        self.opposite(at).filter(|_| !self.is_confirmed(at))
    }

    /// Returns an entry that leads to the port of an entry, from the switch `of`, or from any.
    fn counterpart(&self, at: usize, of: Option<usize>) -> Option<usize> {
        let leading = self.leading.get(&self.entries[at].from)?;
        leading.iter().copied().find(|&other| of.is_none_or(|of| self.entries[other].from.0 == of))
    }

    /// Returns two entries of a switch whose neighbours, two other switches, both have the port of the other entry: the
    /// entry `at`, the second one, and the entries of the neighbours to which they lead.
    fn exchange(&self, at: usize) -> Option<[usize; 4]> {
        let elsewhere = self.contradicting(at)?;
        let port = self.entries[elsewhere].peer_end.as_ref().filter(|port| port.0 == self.entries[at].from.0)?;
        let second = *self.by_port.get(port)?;
        let other = self.contradicting(second)?;
        let [one, two] = [elsewhere, other].map(|neighbour| self.entries[neighbour].from.0);
        let is_exchanged = self.entries[other].peer_end.as_ref() == Some(&self.entries[at].from) && one != two;
        is_exchanged.then_some([at, second, elsewhere, other])
    }

    fn exchange_fault(&self, [at, second, elsewhere, other]: [usize; 4]) -> ConfigFault {
        let (to, leads) = (self.target(at), [elsewhere, other].map(|neighbour| self.leads(neighbour)));
        let message = format!(
            "leads to {to}, and {} to {}; {}; {}",
            self.entries[second].key,
            self.target(second),
            leads[0],
            leads[1]
        );
        self.fault_at(at, message, format!("{} here and {to} there: the two are exchanged", self.target(second)))
    }

    fn target(&self, at: usize) -> String {
        let entry = &self.entries[at];
        format!("{} {}", visible(entry.peer), visible(entry.peer_port))
    }

    /// Text such as `spine-0.json: DEVICE_NEIGHBOR|Ethernet20 leads to leaf-05 Ethernet8`.
    fn leads(&self, at: usize) -> String {
        let entry = &self.entries[at];
        format!("{}: {} leads to {}", self.switches[entry.from.0].location, entry.key, self.target(at))
    }

    fn fault_at(&self, at: usize, message: String, help: String) -> ConfigFault {
        let entry = &self.entries[at];
        let file = self.switches[entry.from.0].location.to_owned();
        ConfigFault { file, key: entry.key.clone(), message, help }
    }

    /// Returns the fault of an entry that other entries refute, with the port that it probably means.
    fn fault(&self, at: usize) -> Option<ConfigFault> {
        let entry = &self.entries[at];
        let Some(of) = entry.peer_switch else {
            // The neighbour has no file: it may be a server.
            let other = self.counterpart(at, None)?;
            let (switch, port) = &self.entries[other].from;
            // Another entry of this switch is the counterpart of `other`, which is the wrong one.
            if self
                .leading
                .get(&self.entries[other].from)
                .is_some_and(|to| to.iter().any(|it| self.entries[*it].from.0 == entry.from.0))
            {
                return None;
            }
            let name = self.switches[*switch].name;
            let message = format!(
                "leads to {}, and no file has the host name `{}`; {}",
                self.target(at),
                visible(entry.peer),
                self.leads(other)
            );
            return Some(self.fault_at(at, message, format!("{} {}", visible(name), visible(port))));
        };
        let counterpart = self.counterpart(at, Some(of)).filter(|&other| Some(other) != self.opposite(at));
        let and = counterpart.map_or(String::new(), |other| format!("; {}", self.leads(other)));
        let help = |otherwise: String| counterpart.map_or(otherwise, |other| visible(&self.entries[other].from.1));
        let cable = || "the port that the cable leads to".to_owned();
        let Some(to) = &entry.peer_end else {
            let wrong = self.switches[of].own_name(entry.peer_port).err()?;
            // If the neighbour itself has an entry for the port, its `PORT` table is wrong, which is an error there.
            let own = self.switches[of].files.iter().flat_map(|file| neighbours(file)).flatten();
            if own.into_iter().any(|own| own.port == entry.peer_port) {
                return None;
            }
            let near = self.switches[of].nearest_port(entry.peer_port).map_or_else(cable, visible);
            let message = format!("leads to {}: {wrong} ({}){and}", self.target(at), self.switches[of].location);
            return Some(self.fault_at(at, message, help(near)));
        };
        if self.is_confirmed(at) {
            return None;
        }
        let Some(back) = self.opposite(at) else {
            let other = self.leading[to].iter().copied().find(|&other| other != at);
            let has_counterpart = |at: usize| self.counterpart(at, Some(of)).is_some();
            return match (counterpart, other) {
                (None, None) => None,
                // The other entry to this port is wrong, or this one if neither has a counterpart.
                (None, Some(other)) if has_counterpart(other) || other > at => None,
                (None, Some(other)) => {
                    let message = format!("{} too", self.leads(other));
                    Some(self.fault_at(at, message, cable()))
                }
                (Some(_), _) => {
                    let message = format!(
                        "leads to {}, which has no entry in {}{and}",
                        self.target(at),
                        self.switches[of].location
                    );
                    Some(self.fault_at(at, message, help(cable())))
                }
            };
        };
        // The entry at the other end is wrong itself, unless another entry there leads here.
        (self.is_confirmed(back) || counterpart.is_some()).then(|| {
            let message = format!("leads to {}, and {}{and}", self.target(at), self.leads(back));
            self.fault_at(at, message, help(cable()))
        })
    }
}
