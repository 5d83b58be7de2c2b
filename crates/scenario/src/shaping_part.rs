//! `[[shaping]]`: credit-based shaping of classes, per port.

use crate::gates_part::{PortsPlan, ports_of};
use crate::mechanism;
use crate::section::{Context, Section};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::Parameters;
use protocols::shaping::IdleSlopes;
use std::collections::BTreeMap;
use traffic::Plan;
use units::Rate;

/// One `[[shaping]]` entry as written.
#[derive(Clone, Debug)]
pub(crate) struct ShapingPlan {
    ports: PortsPlan,
    slopes: IdleSlopes,
}

/// Reads all `[[shaping]]` entries; `None` if an entry is invalid.
pub(crate) fn read(root: &Section<'_, '_>) -> Option<Vec<ShapingPlan>> {
    let entries: Vec<Option<ShapingPlan>> = root.tables("shaping", "shaping").iter().map(entry).collect();
    entries.into_iter().collect()
}

fn entry(section: &Section<'_, '_>) -> Option<ShapingPlan> {
    let ports = PortsPlan::read(section);
    let slopes = mechanism::build(section, IdleSlopes::MECHANISM, &[]);
    section.finish();
    Some(ShapingPlan { ports: ports?, slopes: slopes? })
}

/// Idle slopes of ports, by node and port.
pub(crate) type Shaping = BTreeMap<(NodeId, PortIndex), IdleSlopes>;

/// Resolves the idle slopes of all ports; `None` after an error.
pub(crate) fn lower(plans: &[ShapingPlan], context: &Context<'_>, fabric: &Fabric) -> Option<Shaping> {
    let mut all = Shaping::new();
    let mut right = true;
    for (at, plan) in plans.iter().enumerate() {
        let key = format!("shaping.{at}");
        let ports = match &plan.ports.node {
            Some(node) => ports_of(context, fabric, &key, node, plan.ports.to.as_deref()),
            None => Some(
                (fabric.switches())
                    .flat_map(|node| (0..fabric.ports(node).len() as PortIndex).map(move |port| (node, port)))
                    .collect(),
            ),
        };
        right &= ports.is_some();
        let mut is_reported = false;
        for (node, port) in ports.into_iter().flatten() {
            let rate = fabric.link(fabric.ports(node)[usize::from(port)].link).rate;
            let total = plan.slopes.total_bps();
            if total > u128::from(rate.as_bps()) && !is_reported {
                let total = u64::try_from(total).ok().and_then(Rate::from_bps).unwrap_or(rate);
                let message = format!(
                    "the idle slopes are {total} together, more than the {rate} of port {port} of `{}`",
                    fabric.name(node)
                );
                let help = format!("write slopes of {rate} or less together, or name the ports that are faster");
                context.fail(&format!("{key}.idle_slopes"), message, Some(help));
                is_reported = true;
            }
            if all.insert((node, port), plan.slopes).is_some() && !is_reported {
                let message = format!("port {port} of `{}` is shaped twice", fabric.name(node));
                context.fail(&key, message, Some("write one entry per port".to_owned()));
                is_reported = true;
            }
        }
        right &= !is_reported;
    }
    right.then_some(all)
}

/// Warns of shaped classes in which neither flows nor acknowledgements (class `replies`) are sent.
pub(crate) fn warn(context: &Context<'_>, shaping: &Shaping, plan: &Plan, replies: Option<u8>) {
    let classes = shaping.values().fold(0, |all, slopes| all | slopes.classes());
    let idle = classes & !(plan.classes() | replies.map_or(0, |class| 1 << class));
    for class in (0..8u8).filter(|class| idle & 1 << class != 0) {
        context.warn("shaping", format!("class {class} is shaped, but has no traffic"));
    }
}
