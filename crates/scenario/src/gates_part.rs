//! `[[gates]]`: gate control lists of ports (IEEE 802.1Qbv), from a schedule file or as written.

use crate::document::{Value, unknown_word};
use crate::files::Files;
use crate::names::{names, near_node};
use crate::section::{Context, Read, Section, Wrong, list, positive, show, whole, word};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::gates::{GateList, GateOperation, GateState};
use protocols::preemption::PreemptionParameters;
use schedule::read::{SlotFile, WireKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One `[[gates]]` entry as written.
#[derive(Clone, Debug)]
pub(crate) enum GatesPlan {
    /// Gate control lists of all ports in a schedule file.
    Schedule(String),
    /// Gate control list of some ports of a node.
    Node { node: String, to: Option<Vec<String>>, list: Arc<GateList> },
}

/// Reads all `[[gates]]` entries; `None` if an entry is invalid.
pub(crate) fn read(root: &Section<'_, '_>) -> Option<Vec<GatesPlan>> {
    let entries: Vec<Option<GatesPlan>> = root.tables("gates", "gates").iter().map(entry).collect();
    entries.into_iter().collect()
}

fn entry(section: &Section<'_, '_>) -> Option<GatesPlan> {
    if section.has("schedule") {
        section.tag("from a schedule");
        let file = section.text("schedule");
        section.finish();
        return file.map(GatesPlan::Schedule);
    }
    section.tag("as written");
    let node = section.text("node");
    let to = neighbours(section);
    let states = section.read("states", states);
    section.finish();
    if section.has("to") && to.is_none() {
        return None;
    }
    let list = match GateList::with_operations(&states?) {
        Ok(list) => Arc::new(list),
        Err(error) => {
            section.fail("states", error.to_string(), None);
            return None;
        }
    };
    Some(GatesPlan::Node { node: node?, to, list })
}

/// Ports of an entry that applies to every switch, to a node, or to a node's ports towards some neighbours.
#[derive(Clone, Debug)]
pub(crate) struct PortsPlan {
    /// Node name; if absent, every switch.
    pub node: Option<String>,
    pub to: Option<Vec<String>>,
}

impl PortsPlan {
    /// Reads `node` and `to`; `None` after an error.
    pub fn read(section: &Section<'_, '_>) -> Option<PortsPlan> {
        let (node, to) = (section.text("node"), neighbours(section));
        let wrong = (section.has("node") && node.is_none()) || (section.has("to") && to.is_none());
        if !wrong && to.is_some() && node.is_none() {
            section.fail("to", "`to` lists neighbours of a node: write `node` too", Some("write node".to_owned()));
            return None;
        }
        (!wrong).then_some(PortsPlan { node, to })
    }
}

/// Reads `to`, the names of neighbours.
fn neighbours(section: &Section<'_, '_>) -> Option<Vec<String>> {
    section.read("to", |value| match names(value, "[\"S2\"]")? {
        (names, _) if names.is_empty() => {
            Err(("the list of neighbours is empty".to_owned(), Some("write to = [\"S2\"]".to_owned())))
        }
        read => Ok(read),
    })
}

const EXAMPLE: &str = "[{ open = [7], time = \"10us\" }, { open = [0, 1], time = \"90us\" }]";

/// Names of gate operations, as in the YANG module ieee802-dot1q-sched.
const OPERATIONS: [(&str, GateOperation); 3] = [
    ("set-gate-states", GateOperation::SetGateStates),
    ("set-and-hold-mac", GateOperation::SetAndHoldMac),
    ("set-and-release-mac", GateOperation::SetAndReleaseMac),
];

fn operation(value: &Value) -> Result<GateOperation, Wrong> {
    const WHAT: &str = "operation of gates";
    let names = OPERATIONS.map(|known| known.0);
    let name = word(value, WHAT, &names)?;
    let found = OPERATIONS.iter().find(|known| known.0 == name);
    found.map(|known| known.1).ok_or_else(|| unknown_word(&name, WHAT, &names))
}

/// Reads `[{ open = [7], time = "10us" }, ...]`.
fn states(value: &Value) -> Read<Vec<GateState>> {
    let help = || Some(format!("write states = {EXAMPLE}"));
    let state = |value: &Value| -> Result<GateState, Wrong> {
        let Value::Table(table) = value else {
            return Err((format!("{} is not a state of gates", show(value)), help()));
        };
        if let Some(other) =
            table.entries.iter().find(|entry| !matches!(entry.key.as_str(), "open" | "time" | "operation"))
        {
            return Err((format!("a state of gates has no key `{}`", other.key), help()));
        }
        let (Some(open), Some(time)) = (table.get("open"), table.get("time")) else {
            return Err(("a state of gates needs `open` and `time`".to_owned(), help()));
        };
        let mut gates = 0;
        for class in list(&open.value, "[7]")? {
            gates |= 1 << whole(&class.value, 0..=7)?.0;
        }
        let operation = table.get("operation").map(|it| operation(&it.value)).transpose()?;
        Ok(GateState { open: gates, time: positive(&time.value)?.0, operation })
    };
    let states = list(value, EXAMPLE)?.iter().map(|item| state(&item.value)).collect::<Result<Vec<_>, _>>()?;
    let show = |state: &GateState| {
        let named = OPERATIONS.iter().find(|known| Some(known.1) == state.operation);
        format!("{:08b} {}{}", state.open, state.time, named.map_or(String::new(), |known| format!(" {}", known.0)))
    };
    let shown = states.iter().map(show).collect::<Vec<_>>().join(", ");
    Ok((states, shown))
}

/// Gate control lists of ports, by node and port.
pub(crate) type Gates = BTreeMap<(NodeId, PortIndex), Arc<GateList>>;

/// Resolves the gate control lists of all ports; `None` after an error.
pub(crate) fn lower(
    plans: &[GatesPlan],
    context: &Context<'_>,
    fabric: &Fabric,
    files: &Files<'_>,
    preemption: Option<PreemptionParameters>,
) -> Option<Gates> {
    let mut all = Gates::new();
    let mut right = true;
    for (at, plan) in plans.iter().enumerate() {
        let key = format!("gates.{at}");
        let ports = match plan {
            GatesPlan::Schedule(file) => of_schedule(context, fabric, files, &format!("{key}.schedule"), file),
            GatesPlan::Node { node, to, list } => ports_of(context, fabric, &key, node, to.as_deref())
                .filter(|_| can_operate(context, fabric, &format!("{key}.states"), (node, list), preemption))
                .map(|ports| ports.into_iter().map(|port| (port, Arc::clone(list))).collect()),
        };
        right &= ports.is_some();
        for ((node, port), list) in ports.into_iter().flatten() {
            if all.insert((node, port), list).is_some() {
                let message = format!("port {port} of `{}` has gates twice", fabric.name(node));
                context.fail(&key, message, Some("write one list per port".to_owned()));
                right = false;
            }
        }
    }
    right.then_some(all)
}

/// Returns whether the ports of `node` support the hold and release operations of `list`, which need frame preemption.
/// Reports an error if not.
fn can_operate(
    context: &Context<'_>,
    fabric: &Fabric,
    key: &str,
    (node, list): (&str, &GateList),
    preemption: Option<PreemptionParameters>,
) -> bool {
    let operates = |state: &GateState| !matches!(state.operation, None | Some(GateOperation::SetGateStates));
    let is_host = fabric.find(node).is_some_and(|node| fabric.host_index(node).is_some());
    if !list.states().iter().any(operates) || (preemption.is_some() && !is_host) {
        return true;
    }
    let (message, help) = if is_host {
        ("hosts have no preemption: their frames cannot be held or released", "remove `operation`")
    } else {
        (
            "`operation` needs preemption, which no switch has",
            "write switch.preemption = { express = [7] }, or remove `operation`",
        )
    };
    context.fail(key, message, Some(help.to_owned()));
    false
}

type Ports = Vec<((NodeId, PortIndex), Arc<GateList>)>;

/// Returns the port of a node towards the neighbour that a schedule file names.
pub(crate) fn port_of(
    context: &Context<'_>,
    fabric: &Fabric,
    key: &str,
    (name, port): (&str, u16),
) -> Option<(NodeId, PortIndex)> {
    let Some(node) = fabric.find(name) else {
        context.fail(key, format!("the fabric has no node `{name}`"), near_node(fabric, name));
        return None;
    };
    let ports = fabric.ports(node).len();
    if usize::from(port) >= ports {
        let help = Some("make the schedule for this fabric".to_owned());
        context.fail(key, format!("`{name}` has {ports} ports, and no port {port}"), help);
        return None;
    }
    Some((node, port))
}

/// Loads a schedule that a scenario names.
pub(crate) fn schedule(context: &Context<'_>, files: &Files<'_>, key: &str, file: &str) -> Option<SlotFile> {
    let content = files.load(context, file, key)?;
    let text = String::from_utf8(content).map_err(|_| "not UTF-8 text".to_owned());
    match text.and_then(|text| SlotFile::parse(&text).map_err(|error| error.to_string())) {
        Ok(slots) => Some(slots),
        Err(error) => {
            let help = Some("`tidegate schedule --to json` writes such files".to_owned());
            context.fail(key, format!("`{}`: {error}", files.shown(file)), help);
            None
        }
    }
}

fn of_schedule(context: &Context<'_>, fabric: &Fabric, files: &Files<'_>, key: &str, file: &str) -> Option<Ports> {
    let slots = schedule(context, files, key, file)?;
    if slots.wire == WireKind::FrameOnly {
        let message = format!(
            "`{}` counts frames without preamble and gap, which every wire carries: none would fit its slot",
            files.shown(file)
        );
        context.fail(key, message, Some("run tidegate schedule without --frame-only".to_owned()));
        return None;
    }
    let one = |port: &schedule::read::FilePort| {
        let location = port_of(context, fabric, key, (&port.node, port.port))?;
        match GateList::new(&port.states().collect::<Vec<_>>()) {
            Ok(list) => Some((location, Arc::new(list))),
            Err(error) => {
                let message =
                    format!("`{}`: gates of port {} of `{}`: {error}", files.shown(file), port.port, port.node);
                context.fail(key, message, None);
                None
            }
        }
    };
    slots.gates.iter().map(one).collect()
}

/// Returns the ports of a node towards the neighbours `to`, or all ports of the node if `to` is absent.
pub(crate) fn ports_of(
    context: &Context<'_>,
    fabric: &Fabric,
    key: &str,
    name: &str,
    to: Option<&[String]>,
) -> Option<Vec<(NodeId, PortIndex)>> {
    let find = |key: &str, name: &str| {
        let node = fabric.find(name);
        if node.is_none() {
            context.fail(key, format!("the fabric has no node `{name}`"), near_node(fabric, name));
        }
        node
    };
    let node = find(&format!("{key}.node"), name)?;
    let peers = || (0..).zip(fabric.ports(node));
    let mut ports = Vec::new();
    match to {
        None => ports.extend(peers().map(|(port, _)| port)),
        Some(names) => {
            for (at, peer_name) in names.iter().enumerate() {
                let key = format!("{key}.to.{at}");
                let peer = find(&key, peer_name)?;
                let before = ports.len();
                ports.extend(peers().filter(|(_, known)| known.peer == peer).map(|(port, _)| port));
                if ports.len() == before {
                    let known: Vec<&str> = peers().take(16).map(|(_, port)| fabric.name(port.peer)).collect();
                    let help = format!("`{name}` is linked to {}", known.join(", "));
                    context.fail(&key, format!("no link joins `{name}` and `{peer_name}`"), Some(help));
                    return None;
                }
            }
        }
    }
    Some(ports.into_iter().map(|port| (node, port)).collect())
}
