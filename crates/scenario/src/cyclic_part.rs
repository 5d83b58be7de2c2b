//! `[[cyclic]]`: ports with cyclic queuing and forwarding, which send in each cycle the frames received in the previous
//! one.

use crate::gates_part::{Gates, PortsPlan, ports_of};
use crate::mechanism;
use crate::section::{Context, Section};
use fabric::{Fabric, NodeId, PortIndex};
use model::parameters::FlowControl;
use protocols::Parameters;
use protocols::cyclic::{Cycles, CyclicError, CyclicParameters};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::WIRE_OVERHEAD_BYTES;

/// One `[[cyclic]]` entry as written.
#[derive(Clone, Debug)]
pub(crate) struct CyclicPlan {
    ports: PortsPlan,
    parameters: CyclicParameters,
}

/// Reads all `[[cyclic]]` entries; `None` if an entry is invalid.
pub(crate) fn read(root: &Section<'_, '_>) -> Option<Vec<CyclicPlan>> {
    let entries: Vec<Option<CyclicPlan>> = root.tables("cyclic", "cyclic").iter().map(entry).collect();
    entries.into_iter().collect()
}

fn entry(section: &Section<'_, '_>) -> Option<CyclicPlan> {
    let ports = PortsPlan::read(section);
    let parameters = mechanism::build(section, CyclicParameters::MECHANISM, &[]);
    section.finish();
    Some(CyclicPlan { ports: ports?, parameters: parameters? })
}

/// Cyclic queuing parameters of ports, by node and port.
pub(crate) type Cyclic = BTreeMap<(NodeId, PortIndex), Cycles>;

/// Resolves the cyclic queuing parameters of all ports; `None` after an error.
pub(crate) fn lower(
    plans: &[CyclicPlan],
    context: &Context<'_>,
    fabric: &Fabric,
    gates: &Gates,
    flow_control: &FlowControl,
) -> Option<Cyclic> {
    let mut all = Cyclic::new();
    let mut right = true;
    for (at, plan) in plans.iter().enumerate() {
        let key = format!("cyclic.{at}");
        let lossless = plan.parameters.classes.map(|class| flow_control.lossless() & 1 << class != 0);
        if lossless[0] != lossless[1] {
            let [first, second] = plan.parameters.classes;
            let message =
                format!("only one of the classes {first} and {second} is lossless, but frames alternate between them");
            context.fail(&format!("{key}.classes"), message, Some("make both lossless, or neither".to_owned()));
            right = false;
        }
        let found = ports(context, fabric, &key, plan);
        right &= found.is_some();
        for place in found.into_iter().flatten() {
            match at_port(context, fabric, (&key, plan), place, gates) {
                Some(cycles) if all.insert(place, cycles).is_none() => continue,
                Some(_) => {
                    let message = format!("port {} of `{}` has cycles twice", place.1, fabric.name(place.0));
                    context.fail(&key, message, Some("write one entry per port".to_owned()));
                }
                None => {}
            }
            right = false;
            break;
        }
    }
    right.then_some(all)
}

/// Returns the ports to which a `[[cyclic]]` entry applies; `None` after an error.
fn ports(context: &Context<'_>, fabric: &Fabric, key: &str, plan: &CyclicPlan) -> Option<Vec<(NodeId, PortIndex)>> {
    let Some(name) = &plan.ports.node else {
        let of = |node| (0..fabric.ports(node).len() as PortIndex).map(move |port| (node, port));
        return Some(fabric.switches().flat_map(of).collect());
    };
    if fabric.find(name).is_some_and(|node| fabric.host_index(node).is_some()) {
        let message = format!("`{name}` is a host: only switches forward in cycles");
        context.fail(
            &format!("{key}.node"),
            message,
            Some("write a switch, or remove node for all switches".to_owned()),
        );
        return None;
    }
    ports_of(context, fabric, key, name, plan.ports.to.as_deref())
}

/// Makes the cyclic queuing parameters of one port; `None` after an error.
fn at_port(
    context: &Context<'_>,
    fabric: &Fabric,
    (key, plan): (&str, &CyclicPlan),
    (node, port): (NodeId, PortIndex),
    gates: &Gates,
) -> Option<Cycles> {
    let link = fabric.link(fabric.ports(node)[usize::from(port)].link);
    let place = format!("port {port} of `{}`", fabric.name(node));
    if gates.contains_key(&(node, port)) {
        let message = format!("{place} has gates, which exclude cycles");
        context.fail(key, message, Some("write one of the two, or name other ports".to_owned()));
        return None;
    }
    let CyclicParameters { cycle, classes, guard } = plan.parameters;
    let cycles = match Cycles::new(cycle, classes, guard.unwrap_or(link.delay)) {
        Ok(cycles) => cycles,
        Err(error) => {
            let part = if matches!(error, CyclicError::NoTime { .. }) && guard.is_some() { "guard" } else { "cycle" };
            context.fail(&format!("{key}.{part}"), format!("{place}: {error}"), None);
            return None;
        }
    };
    let least = link.rate.serialise(64 + WIRE_OVERHEAD_BYTES);
    if cycles.usable() < least {
        let message = format!(
            "{place}: a cycle of {} without its guard is {}, shorter than the shortest frame, {least}",
            cycle,
            cycles.usable()
        );
        let help = "a cycle must fit all frames that a port receives in one".to_owned();
        context.fail(&format!("{key}.cycle"), message, Some(help));
        return None;
    }
    Some(cycles)
}

/// Merges the gate control lists of `[[gates]]` with the lists that open and close the two classes of each cyclic port.
pub(crate) fn with_gates(cyclic: &Cyclic, gates: &Gates) -> Gates {
    let of_cycles = cyclic.iter().filter_map(|(&place, cycles)| Some((place, Arc::new(cycles.gates().ok()?))));
    gates.iter().map(|(&place, list)| (place, Arc::clone(list))).chain(of_cycles).collect()
}
