//! QoS maps of the simulated frames: their DSCPs, groups and queues in the eight classes of the simulator.

use super::walks::Walk;
use crate::device::Device;
use fabric::NodeId;
use fabric::tags::{MapsFile, NodeMaps, Stop, Treatment};
use std::collections::{BTreeMap, BTreeSet};

const CLASSES: u8 = 8;

/// Flow of a host along one path.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub walk: Walk,
    /// Rate in bits per second; `None`: an equal share of the sender's link.
    pub rate: Option<u64>,
}

/// DSCP of a frame; inside a tunnel, also the inner DSCP and the switch at the tunnel's end.
type Mark = (u8, Option<(u8, NodeId)>);

/// The tables of one switch: treatment by ingress port, egress port and class, and the accounts that pause its queues.
type Tables = (BTreeMap<(u16, u16, u8), Treatment>, BTreeSet<Stop>);

/// A port and one of its priority groups or queues.
type PortSlot = (u32, u8);

/// Frames expressed in the classes of the simulator.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    pub maps: MapsFile,
    /// Class with which the frames of each flow leave their host.
    pub classes: Vec<u8>,
    /// Lossless classes: 1 to this number.
    pub lossless: u8,
    /// Class of each queue, by egress port.
    pub queues: BTreeMap<u32, BTreeMap<u8, u8>>,
    /// Text lines: the DSCP of each class, and the priority group or queue of each account and queue of the simulation.
    pub notes: Vec<String>,
}

/// Priority groups or queues of each port, by number, and whether their frames are lossless.
type Used = BTreeMap<u32, BTreeMap<u8, bool>>;

/// Expresses the frames of `flows` in the simulator's classes. At port `ordered`, the order of the lossy classes is
/// that of the strict priorities; at other ports the order is arbitrary.
///
/// # Errors
/// The reason why the simulator cannot represent these frames.
pub(super) fn lower(device: &Device<'_>, flows: &[Flow], ordered: Option<u32>) -> Result<Lowered, String> {
    let steps = || flows.iter().flat_map(|flow| &flow.walk.0);
    let (mut marks, mut accounts, mut queues) = (BTreeMap::<Mark, bool>::new(), Used::new(), Used::new());
    for flow in flows {
        for (hop, step) in flow.walk.0.iter().enumerate() {
            let Some(port) = device.port(step.state.ingress) else { continue };
            let lossless = port.lossless >> step.wait.group & 1 == 1;
            *marks.entry((step.state.dscp, step.state.inside)).or_default() |= lossless && hop == 0;
            accounts.entry(step.state.ingress).or_default().insert(step.wait.group, lossless);
            *queues.entry(step.wait.egress).or_default().entry(step.wait.queue).or_default() |= lossless;
        }
    }
    if marks.len() > CLASSES.into() {
        return Err(format!("its frames have {} marks (DSCPs, tunnels), and the simulator has 8 classes", marks.len()));
    }
    flows.iter().try_for_each(|flow| single_links(device, &flow.walk))?;
    let stopped = stopped_queues(device, &accounts, &mut queues)?;
    let most = |used: &Used, lossless: bool| {
        used.values().map(|of| of.values().filter(|it| **it == lossless).count()).max().unwrap_or(0)
    };
    let of_marks = |lossless: bool| marks.values().filter(|it| **it == lossless).count();
    let needs = |lossless| most(&accounts, lossless).max(most(&queues, lossless)).max(of_marks(lossless)) as u8;
    let (lossless, lossy) = (needs(true), needs(false));
    if lossless + lossy > CLASSES || lossless == CLASSES {
        return Err(format!(
            "it needs {lossless} lossless and {lossy} lossy classes for groups and queues of a port and for DSCPs: the \
             simulator has 8, of which class 0 is lossy"
        ));
    }
    let numbers = Numbers { lossless };
    let mark_class = numbers.number(marks.iter().map(|(mark, lossless)| (*mark, *lossless, false)));
    let number_all = |used: &Used, rank: &dyn Fn(u32, u8) -> bool| -> BTreeMap<u32, BTreeMap<u8, u8>> {
        let of_port = |(&port, of): (&u32, &BTreeMap<u8, bool>)| {
            let mut list: Vec<(u8, bool, bool)> =
                of.iter().map(|(&at, &lossless)| (at, lossless, rank(port, at))).collect();
            list.sort_by_key(|&(at, _, strict)| (strict, at));
            (port, numbers.number(list.into_iter()))
        };
        used.iter().map(of_port).collect()
    };
    let strict = |port: u32, queue: u8| {
        ordered == Some(port) && device.port(port).is_some_and(|port| port.strict >> queue & 1 == 1)
    };
    let account_class = number_all(&accounts, &|_, _| false);
    let queue_class = number_all(&queues, &strict);

    let mut nodes: BTreeMap<NodeId, Tables> = BTreeMap::new();
    for step in steps() {
        let (Some(ingress), Some(egress)) = (device.port(step.state.ingress), device.port(step.wait.egress)) else {
            continue;
        };
        let class = mark_class[&(step.state.dscp, step.state.inside)];
        let treatment = Treatment {
            ingress: ingress.index,
            egress: egress.index,
            class,
            account: account_class[&step.state.ingress][&step.wait.group],
            queue: queue_class[&step.wait.egress][&step.wait.queue],
            leaves: step.next.map_or(class, |next| mark_class[&(next.dscp, next.inside)]),
        };
        let frames = &mut nodes.entry(ingress.node).or_default().0;
        let known = *frames.entry((ingress.index, egress.index, class)).or_insert(treatment);
        if known != treatment {
            let (name, port) = device.end(step.state.ingress);
            return Err(format!(
                "frames of DSCP {} from {} {} enter a tunnel on one path and not on another",
                step.state.dscp,
                fabric::visible(name),
                fabric::visible(&port)
            ));
        }
    }
    for ((port, queue), (peer, group)) in stopped {
        let Some(egress) = device.port(port) else { continue };
        let stop =
            Stop { egress: egress.index, queue: queue_class[&port][&queue], account: account_class[&peer][&group] };
        nodes.entry(egress.node).or_default().1.insert(stop);
    }
    // A host has one queue per class that it sends.
    for flow in flows {
        let Some(step) = flow.walk.0.first() else { continue };
        let Some(port) = device.port(step.state.ingress) else { continue };
        if port.lossless >> step.wait.group & 1 == 0 {
            continue;
        }
        let peer = &device.fabric.ports(port.node)[usize::from(port.index)];
        let stop = Stop {
            egress: peer.peer_port,
            queue: mark_class[&(step.state.dscp, step.state.inside)],
            account: account_class[&step.state.ingress][&step.wait.group],
        };
        nodes.entry(peer.peer).or_default().1.insert(stop);
    }
    let node = |(node, (frames, stops)): (NodeId, Tables)| NodeMaps {
        name: device.fabric.name(node).to_owned(),
        frames: frames.into_values().collect(),
        stops: stops.into_iter().collect(),
    };
    let notes = notes(device, &mark_class, &account_class, &queue_class);
    let of_flow = |flow: &Flow| flow.walk.0.first().map_or(0, |step| mark_class[&(step.state.dscp, step.state.inside)]);
    Ok(Lowered {
        maps: MapsFile::new((1..=lossless).collect(), nodes.into_iter().map(node).collect()),
        classes: flows.iter().map(of_flow).collect(),
        lossless,
        queues: queue_class,
        notes,
    })
}

/// Lists the classes, accounts and queues of the simulation with the corresponding DSCPs, priority groups and queues of
/// the configuration.
fn notes(
    device: &Device<'_>,
    marks: &BTreeMap<Mark, u8>,
    accounts: &BTreeMap<u32, BTreeMap<u8, u8>>,
    queues: &BTreeMap<u32, BTreeMap<u8, u8>>,
) -> Vec<String> {
    let name = |node: NodeId| fabric::visible(device.fabric.name(node)).to_string();
    let mark = |(&(dscp, inside), class): (&Mark, &u8)| match inside {
        None => format!("class {class}: DSCP {dscp}"),
        Some((inner, end)) => format!("class {class}: DSCP {dscp} in the tunnel to {}, inner DSCP {inner}", name(end)),
    };
    let ports: BTreeSet<u32> = accounts.keys().chain(queues.keys()).copied().collect();
    let port = |number: &u32| {
        let list = |kind: &str, is: &str, of: &BTreeMap<u32, BTreeMap<u8, u8>>| -> Vec<String> {
            let all = of.get(number).into_iter().flatten();
            all.map(|(real, class)| format!("{kind} {class} is {is} {real}")).collect()
        };
        let mut parts = list("account", "priority group", accounts);
        parts.extend(list("queue", "queue", queues));
        let (node, port) = device.end(*number);
        let index = device.port(*number).map_or(0, |port| port.index);
        format!("{} port {index} ({}): {}", fabric::visible(node), fabric::visible(&port), parts.join(", "))
    };
    marks.iter().map(mark).chain(ports.iter().map(port)).collect()
}

/// Checks that the names of its nodes identify a path.
///
/// # Errors
/// If the path uses one of several parallel links other than the one with the lowest port.
fn single_links(device: &Device<'_>, walk: &Walk) -> Result<(), String> {
    let first = walk.0.first().map(|step| device.other(step.state.ingress));
    for number in first.into_iter().chain(walk.0.iter().map(|step| step.wait.egress)) {
        let (from, to) = (device.owner(number), device.owner(device.other(number)));
        let lowest = device.fabric.port_towards(from, to).map(|port| device.fabric.port_number(from, port) as u32);
        if lowest != Some(number) {
            return Err(format!(
                "it needs one of the parallel links from {} to {}, and a path of a scenario names nodes",
                fabric::visible(device.fabric.name(from)),
                fabric::visible(device.fabric.name(to))
            ));
        }
    }
    Ok(())
}

/// Returns the account of the neighbour that pauses each queue, by egress port and queue, and marks these queues as
/// lossless.
///
/// # Errors
/// If two accounts pause one queue.
fn stopped_queues(
    device: &Device<'_>,
    accounts: &Used,
    queues: &mut Used,
) -> Result<BTreeMap<PortSlot, PortSlot>, String> {
    let mut stopped = BTreeMap::new();
    for (&number, of) in queues.iter_mut() {
        let (Some(egress), Some((peer, there))) = (device.port(number), device.peer(number)) else { continue };
        for (&group, _) in accounts.get(&peer).into_iter().flatten().filter(|(_, lossless)| **lossless) {
            let sent = there.sends[usize::from(group)];
            let stops = (0..8usize).filter(|priority| sent >> priority & 1 == 1);
            let bits = stops.fold(0u32, |bits, priority| bits | egress.stops[priority]);
            for (&queue, lossless) in of.iter_mut().filter(|(queue, _)| bits >> **queue & 1 == 1) {
                *lossless = true;
                if let Some((_, other)) = stopped.insert((number, queue), (peer, group)) {
                    let (name, port) = device.end(number);
                    return Err(format!(
                        "queue {queue} of {} {} is stopped by groups {other} and {group} of its neighbour, and the \
                         simulator has one account per queue",
                        fabric::visible(name),
                        fabric::visible(&port)
                    ));
                }
            }
        }
    }
    Ok(stopped)
}

struct Numbers {
    lossless: u8,
}

impl Numbers {
    /// Assigns class numbers in the order of the list: lossless classes from 1 up; lossy classes 0 and then the numbers
    /// above all lossless classes; strict-priority lossy classes at the top, ascending, so that the last has class 7.
    fn number<T: Ord>(&self, list: impl Iterator<Item = (T, bool, bool)>) -> BTreeMap<T, u8> {
        let list: Vec<(T, bool, bool)> = list.collect();
        let mut strict = list.iter().filter(|(_, lossless, strict)| !lossless && *strict).count() as u8;
        let (mut next, mut next_lossy) = (1, 0);
        let class = |(of, lossless, is_strict): (T, bool, bool)| {
            let number = if lossless {
                next += 1;
                next - 1
            } else if is_strict {
                strict -= 1;
                CLASSES - 1 - strict
            } else {
                let number = next_lossy;
                next_lossy = if number == 0 { self.lossless + 1 } else { number + 1 };
                number
            };
            (of, number)
        };
        list.into_iter().map(class).collect()
    }
}
