//! Fabrics with flow control at some switches only: `switch.flow_control.except` and `tiers`.

use crate::document::Value;
use crate::section::{Context, Read, Section, list, text};
use crate::suggest;
use crate::values::tiers;
use fabric::{Fabric, Link, NodeId};
use std::collections::BTreeSet;

const EXCEPT: &str = "switch.flow_control.except";
const TIERS: &str = "switch.flow_control.tiers";

/// Maximum number of switch names in a message.
const NAMED: usize = 8;

/// Returns an ellipsis if there are more switch names than a message shows.
fn more(count: usize) -> &'static str {
    if count > NAMED { ", ..." } else { "" }
}

/// Selection of the switches with flow control, before names and tiers are resolved to nodes.
#[derive(Clone, Debug)]
pub(crate) struct PartialPlan {
    /// Names of switches without flow control.
    except: Vec<String>,
    /// Bit mask of tiers with flow control.
    tiers: u8,
}

impl PartialPlan {
    /// Makes a plan with flow control at all switches.
    pub fn whole() -> Self {
        PartialPlan { except: Vec::new(), tiers: 0xff }
    }

    /// Reads a flow-control table whose kind is not `none`.
    pub fn read(table: &Section<'_, '_>) -> Option<PartialPlan> {
        let except = table.read("except", names);
        let tiers = table.read("tiers", |value| tiers(value, "the list of tiers with flow control is empty"));
        Some(PartialPlan { except: except?, tiers: tiers? })
    }

    /// Returns the switches without flow control, ascending; `None` after a reported error.
    pub fn lower(
        &self,
        context: &Context<'_>,
        fabric: &Fabric,
        derived: &mut Vec<(String, String)>,
    ) -> Option<Vec<NodeId>> {
        let tier = |node| fabric.node(node).tier.min(7);
        let in_tiers = |&node: &NodeId| self.tiers >> tier(node) & 1 == 1;
        if self.tiers != 0xff && !fabric.switches().any(|node| in_tiers(&node)) {
            let mut known: Vec<u8> = fabric.switches().map(tier).collect();
            known.sort_unstable();
            known.dedup();
            let help = format!("this fabric has switches in the tiers {known:?}");
            context.fail(TIERS, "no switch is in a listed tier", Some(help));
            return None;
        }
        let named =
            self.except.iter().enumerate().map(|(at, name)| switch(context, fabric, &format!("{EXCEPT}.{at}"), name));
        // Look up every name before the first error returns, so that all errors are reported.
        let named: Vec<Option<NodeId>> = named.collect();
        let named: BTreeSet<NodeId> = named.into_iter().collect::<Option<_>>()?;
        let outside: Vec<NodeId> = fabric.switches().filter(|node| !in_tiers(node) || named.contains(node)).collect();
        let count = fabric.switches().count();
        if outside.len() == count && count > 0 {
            let help = "remove a switch from the list, or write flow_control = \"none\"".to_owned();
            context.fail(EXCEPT, "no switch with flow control is left", Some(help));
            return None;
        }
        if !outside.is_empty() {
            let shown: Vec<&str> = outside.iter().take(NAMED).map(|&node| fabric.name(node)).collect();
            let text = format!("{} of {count}: {}{}", outside.len(), shown.join(", "), more(outside.len()));
            derived.push(("switches outside flow control".to_owned(), text));
        }
        Some(outside)
    }
}

/// A fabric and its switches without flow control.
#[derive(Clone, Copy)]
pub(crate) struct FlowControlScope<'f> {
    pub fabric: &'f Fabric,
    /// Switches without flow control, ascending.
    pub outside: &'f [NodeId],
}

impl<'f> FlowControlScope<'f> {
    pub fn takes_part(&self, node: NodeId) -> bool {
        self.outside.binary_search(&node).is_err()
    }

    /// Returns the switches with flow control.
    pub fn switches(self) -> impl Iterator<Item = NodeId> + 'f {
        self.fabric.switches().filter(move |&node| self.takes_part(node))
    }

    /// Returns the links that need headroom at one or both endpoints: all links except those between two switches
    /// without flow control.
    pub fn links(self) -> impl Iterator<Item = &'f Link> {
        self.fabric.links().iter().filter(move |link| self.takes_part(link.a.node) || self.takes_part(link.b.node))
    }
}

/// Looks up a switch by name.
pub(crate) fn switch(context: &Context<'_>, fabric: &Fabric, key: &str, name: &str) -> Option<NodeId> {
    let Some(node) = fabric.find(name) else {
        let known = || fabric.switches().map(|node| fabric.name(node));
        let near = suggest::nearest(name, known().take(10_000)).map(|near| format!("did you mean `{near}`?"));
        let some = || format!("it has {}{}", known().take(NAMED).collect::<Vec<_>>().join(", "), more(known().count()));
        context.fail(key, format!("the fabric has no switch `{name}`"), Some(near.unwrap_or_else(some)));
        return None;
    };
    if fabric.host_index(node).is_some() {
        let help = "list hosts that ignore pauses in host.ignore_pause".to_owned();
        context.fail(key, format!("`{name}` is a host, not a switch"), Some(help));
        return None;
    }
    Some(node)
}

/// Reads a list of names, which may be empty.
pub(crate) fn names(value: &Value) -> Read<Vec<String>> {
    // "none" is the default in the key table and stands for an empty list.
    if value.text().as_deref() == Some("none") {
        return Ok((Vec::new(), "none".to_owned()));
    }
    let items = list(value, "[\"S1\", \"S2\"]")?;
    let names = items.iter().map(|item| text(&item.value, "the name of a switch")).collect::<Result<Vec<_>, _>>()?;
    let shown = if names.is_empty() { "none".to_owned() } else { format!("{names:?}") };
    Ok((names, shown))
}
