//! QoS maps of switches, as the simulation executes them. The class, ingress port and egress port of a frame determine
//! its account (priority group), its queue and its next class. Further entries determine the account of the neighbour
//! that pauses a queue.
//!
//! With tag rules, the account of an arriving frame is its class, and PFC of a class pauses the queue of that class. In
//! real switches these numbers may differ: SONiC maps a frame to its priority group, queue and DSCP by three maps, and
//! a PAUSE frame to the paused queue by a fourth map.

use crate::{Fabric, NodeId, PortIndex};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of classes of a simulated frame.
pub const CLASSES: usize = 8;
/// Maximum number of entries of a switch: ports x ports x classes.
const MOST_ENTRIES: usize = 1 << 24;
const FORMAT: &str = "tidegate qos-maps 1";
/// Value for a queue that no account pauses.
const NONE: u8 = u8::MAX;

/// Treatment of the frames of one class between two ports of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Treatment {
    /// Ingress port.
    pub ingress: PortIndex,
    /// Egress port.
    pub egress: PortIndex,
    /// Class of the arriving frame, 0 to 7.
    pub class: u8,
    /// Account (priority group) of the ingress port that counts the frame, 0 to 7.
    pub account: u8,
    /// Queue of the egress port in which the frame waits, 0 to 7.
    pub queue: u8,
    /// Class of the frame on departure, 0 to 7.
    pub leaves: u8,
}

/// A queue that an account of the neighbour pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Egress port.
    pub egress: PortIndex,
    /// Queue of that port, 0 to 7. Hosts have one queue per class.
    pub queue: u8,
    /// Account at the neighbour's port at the other end of the link, 0 to 7.
    pub account: u8,
}

/// QoS maps of a node: a switch, or a host, for which only `stops` is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeMaps {
    /// Name of the node.
    pub name: String,
    /// Treatment of frames. Frames without an entry have account, queue and class 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Treatment>,
    /// Queues that accounts of the neighbours pause. All other queues are never paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
}

/// A file with QoS maps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapsFile {
    /// Name and version of the format.
    format: String,
    /// Classes used as accounts and queues of lossless frames, ascending.
    pub lossless: Vec<u8>,
    /// Maps by node.
    pub nodes: Vec<NodeMaps>,
}

impl MapsFile {
    /// Creates a file of these lossless classes and nodes.
    pub fn new(lossless: Vec<u8>, nodes: Vec<NodeMaps>) -> MapsFile {
        MapsFile { format: FORMAT.to_owned(), lossless, nodes }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Invalid JSON, an unknown key, or another format or version.
    pub fn read(text: &str) -> Result<MapsFile, String> {
        let file: MapsFile = serde_json::from_str(text).map_err(|error| format!("not a file of QoS maps: {error}"))?;
        if file.format != FORMAT {
            return Err(format!("`format` is `{}`: must be `{FORMAT}`", crate::visible(&file.format)));
        }
        Ok(file)
    }

    /// Returns the text of the file, one entry per line.
    pub fn write(&self) -> String {
        let list = |entries: Vec<String>| format!("[\n      {}\n    ]", entries.join(",\n      "));
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let nodes = self.nodes.iter().map(|node| {
            let mut parts = vec![format!("\"name\": {}", json(serde_json::to_string(&node.name)))];
            if !node.frames.is_empty() {
                let frames = node.frames.iter().map(|it| json(serde_json::to_string(it))).collect();
                parts.push(format!("\"frames\": {}", list(frames)));
            }
            if !node.stops.is_empty() {
                let stops = node.stops.iter().map(|it| json(serde_json::to_string(it))).collect();
                parts.push(format!("\"stops\": {}", list(stops)));
            }
            format!("  {{ {} }}", parts.join(",\n    "))
        });
        let nodes: Vec<String> = nodes.collect();
        format!(
            "{{ \"format\": {}, \"lossless\": {:?}, \"nodes\": [\n{}\n] }}\n",
            json(serde_json::to_string(&self.format)),
            self.lossless,
            nodes.join(",\n")
        )
    }
}

/// QoS maps in a form for one lookup per frame.
#[derive(Clone, Debug)]
pub struct QosMaps {
    /// Start of the entries of each node, and its number of ports; `None` for nodes without entries.
    rows_of: Vec<Option<(usize, usize)>>,
    /// Account, queue and next class by (class, ingress, egress).
    entries: Vec<[u8; 3]>,
    /// For each queue of a port, the account of the neighbour that pauses it; by port number in the fabric.
    stops: Vec<[u8; CLASSES]>,
    lossless: u8,
}

impl QosMaps {
    /// Expands the maps of a file.
    ///
    /// # Errors
    /// The file has no lossless class or no entry for frames; lists a node twice; names a node or port that the fabric
    /// does not have; has frame entries at a host that does not forward; has a class above 7; has a pause entry whose
    /// queue or account is not lossless; has two different entries for the same frames or queue; or a switch has more
    /// ports than the table can hold.
    pub fn new(fabric: &Fabric, file: &MapsFile) -> Result<QosMaps, String> {
        let bit = |class: &u8| match usize::from(*class) < CLASSES {
            true => Ok(1u8 << class),
            false => Err(format!("`lossless` has {class}: classes are 0 to 7")),
        };
        let bits: Vec<u8> = file.lossless.iter().map(bit).collect::<Result<_, _>>()?;
        let mut maps = QosMaps {
            rows_of: vec![None; fabric.nodes().len()],
            entries: Vec::new(),
            stops: vec![[NONE; CLASSES]; fabric.port_count()],
            lossless: bits.iter().fold(0, |all, bit| all | bit),
        };
        if bits.is_empty() {
            return Err("`lossless` is empty: PFC stops no queue".to_owned());
        }
        if file.nodes.iter().all(|node| node.frames.is_empty()) {
            return Err("no node has `frames`: without them the maps treat no frame".to_owned());
        }
        let mut listed = BTreeSet::new();
        for node in &file.nodes {
            if !listed.insert(&node.name) {
                return Err(format!("`{}` is listed twice: write one entry per node", crate::visible(&node.name)));
            }
            maps.add(fabric, node)?;
        }
        Ok(maps)
    }

    fn add(&mut self, fabric: &Fabric, maps: &NodeMaps) -> Result<(), String> {
        let name = crate::visible(&maps.name);
        let node = fabric.find(&maps.name).ok_or_else(|| format!("the fabric has no node `{name}`"))?;
        let ports = fabric.ports(node).len();
        let right = |ports_of: &[PortIndex], classes: &[u8]| {
            let port = ports_of.iter().find(|port| usize::from(**port) >= ports);
            let class = classes.iter().find(|class| usize::from(**class) >= CLASSES);
            match (port, class) {
                (Some(port), _) => Err(format!("`{name}` has no port {port}: its ports are 0 to {}", ports.max(1) - 1)),
                (_, Some(class)) => Err(format!("`{name}`: class {class} is above 7")),
                _ => Ok(()),
            }
        };
        let mut known: BTreeMap<(PortIndex, PortIndex, u8), Treatment> = BTreeMap::new();
        let mut accounts: BTreeMap<(PortIndex, u8), u8> = BTreeMap::new();
        if !maps.frames.is_empty() {
            if !fabric.node(node).forwards() {
                return Err(format!("`{name}` is a host, which forwards no frames: remove its `frames`"));
            }
            if ports * ports * CLASSES > MOST_ENTRIES {
                return Err(format!("`{name}` has {ports} ports: too many for a table of QoS maps"));
            }
            self.rows_of[node.index()] = Some((self.entries.len(), ports));
            self.entries.resize(self.entries.len() + ports * ports * CLASSES, [0; 3]);
        }
        for frames in &maps.frames {
            let Treatment { ingress, egress, class, account, queue, leaves } = *frames;
            right(&[ingress, egress], &[class, account, queue, leaves])?;
            let other = known.insert((ingress, egress, class), *frames).is_some_and(|other| other != *frames);
            if other || *accounts.entry((ingress, class)).or_insert(account) != account {
                return Err(format!("`{name}`: class {class} from port {ingress} has two treatments"));
            }
            let Some((base, _)) = self.rows_of[node.index()] else { continue };
            let at = base + (usize::from(class) * ports + usize::from(ingress)) * ports + usize::from(egress);
            self.entries[at] = [account, queue, leaves];
        }
        for stop in &maps.stops {
            right(&[stop.egress], &[stop.queue, stop.account])?;
            if let Some(class) = [stop.account, stop.queue].iter().find(|class| self.lossless >> **class & 1 == 0) {
                return Err(format!("`{name}`: class {class} of `stops` is not in `lossless`"));
            }
            let stops = &mut self.stops[fabric.port_number(node, stop.egress)][usize::from(stop.queue)];
            if *stops != NONE && *stops != stop.account {
                return Err(format!("`{name}`: two accounts stop queue {} of port {}", stop.queue, stop.egress));
            }
            *stops = stop.account;
        }
        Ok(())
    }

    /// Returns the bitmask of the lossless classes (accounts and queues).
    pub fn lossless(&self) -> u8 {
        self.lossless
    }

    /// Returns whether the maps have entries for frames that this node forwards.
    pub fn treats(&self, node: NodeId) -> bool {
        self.rows_of[node.index()].is_some()
    }

    /// Returns the account, queue and next class of a frame of `class`.
    #[inline]
    pub fn treatment(&self, node: NodeId, class: u8, ingress: PortIndex, egress: PortIndex) -> (u8, u8, u8) {
        let Some((base, ports)) = self.rows_of[node.index()] else { return (0, 0, 0) };
        let at = base + (usize::from(class & 7) * ports + usize::from(ingress)) * ports + usize::from(egress);
        self.entries.get(at).map_or((0, 0, 0), |&[account, queue, leaves]| (account, queue, leaves))
    }

    /// Returns the account of the neighbour that pauses a queue of the port with this port number; `None` if no account
    /// does.
    pub fn stopped_by(&self, port: usize, queue: u8) -> Option<u8> {
        self.stops.get(port).map(|stops| stops[usize::from(queue & 7)]).filter(|account| *account != NONE)
    }

    /// Returns the bitmask of the queues of a port that an account of the neighbour pauses.
    pub fn stops(&self, port: usize, account: u8) -> u8 {
        (0..CLASSES as u8)
            .filter(|&queue| self.stopped_by(port, queue) == Some(account))
            .fold(0, |all, at| all | 1 << at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkSpec;
    use units::{Rate, Time};

    fn file() -> MapsFile {
        let link = |egress, queue, account| Stop { egress, queue, account };
        let frames = |class, account, queue, leaves| Treatment { ingress: 0, egress: 1, class, account, queue, leaves };
        let switch = NodeMaps {
            name: "S1".to_owned(),
            frames: vec![frames(1, 2, 1, 3), frames(5, 2, 1, 1)],
            stops: vec![link(1, 1, 2), link(1, 2, 2)],
        };
        let host = NodeMaps { name: "H1".to_owned(), stops: vec![link(0, 1, 2)], ..NodeMaps::default() };
        MapsFile::new(vec![1, 2], vec![switch, host])
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        assert_eq!(MapsFile::read(&file().write()).unwrap(), file());
        assert!(MapsFile::read(&file().write().replace("maps 1", "maps 2")).unwrap_err().contains("must be"));
        assert!(MapsFile::read(&file().write().replace("queue", "row")).unwrap_err().contains("unknown field"));
    }

    #[test]
    fn frames_and_queues_have_the_entries_of_the_file_and_no_others() {
        let link = LinkSpec::new(Rate::from_gbps(1), Time::from_ns(1));
        let fabric = crate::generate::line(2, 1, link, link).unwrap();
        let (s1, h1) = (fabric.find("S1").unwrap(), fabric.find("H1").unwrap());
        let maps = QosMaps::new(&fabric, &file()).unwrap();
        assert_eq!(maps.lossless(), 0b110);
        assert_eq!(maps.treatment(s1, 1, 0, 1), (2, 1, 3));
        assert_eq!(maps.treatment(s1, 5, 0, 1), (2, 1, 1));
        assert_eq!((maps.treatment(s1, 1, 1, 0), maps.treatment(h1, 1, 0, 0)), ((0, 0, 0), (0, 0, 0)));
        let port = fabric.port_number(s1, 1);
        assert_eq!((maps.stops(port, 2), maps.stops(port, 1), maps.stops(port, 3)), (0b110, 0, 0));
        assert_eq!((maps.stopped_by(port, 1), maps.stopped_by(port, 7)), (Some(2), None));
        assert_eq!(maps.stops(fabric.port_number(h1, 0), 2), 1 << 1);
    }

    #[test]
    fn contradictions_and_unknown_places_are_refused() {
        let link = LinkSpec::new(Rate::from_gbps(1), Time::from_ns(1));
        let fabric = crate::generate::line(2, 1, link, link).unwrap();
        let refused = |change: fn(&mut MapsFile), message: &str| {
            let mut file = file();
            change(&mut file);
            let error = QosMaps::new(&fabric, &file).unwrap_err();
            assert!(error.contains(message), "{error}");
        };
        refused(|file| file.nodes[0].name = "S9".to_owned(), "no node `S9`");
        refused(|file| file.nodes[0].frames[0].egress = 7, "no port 7");
        refused(|file| file.nodes[0].frames[0].queue = 8, "class 8 is above 7");
        refused(|file| file.lossless.push(9), "has 9");
        refused(|file| file.lossless.clear(), "`lossless` is empty");
        refused(|file| file.nodes[0].stops[0].queue = 5, "class 5 of `stops` is not in `lossless`");
        refused(|file| file.nodes[0].stops[1] = Stop { egress: 1, queue: 1, account: 1 }, "two accounts stop queue 1");
        let again = |file: &mut MapsFile| {
            let first = file.nodes[0].frames[0];
            file.nodes[0].frames.push(Treatment { egress: 0, account: 1, ..first });
        };
        refused(again, "class 1 from port 0 has two treatments");
        refused(|file| file.nodes.push(file.nodes[0].clone()), "`S1` is listed twice");
        refused(|file| file.nodes[0].frames.clear(), "no node has `frames`");
        let at_host = |file: &mut MapsFile| {
            let frames = Treatment { ingress: 0, egress: 0, class: 1, account: 1, queue: 1, leaves: 1 };
            file.nodes[1].frames.push(frames);
        };
        refused(at_host, "`H1` is a host, which forwards no frames");
    }
}
