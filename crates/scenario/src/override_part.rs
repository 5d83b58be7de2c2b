//! `[[switch.override]]`: parameters of some switches, selected by name or tier, or of some ports.

use crate::override_plan::OverridePlan;
use crate::partial_part::{names, switch};
use crate::record_part::{find_port, ports};
use crate::section::{Context, Section};
use crate::switch_part::{marking, scheduler};
use crate::values::{buffer_size, headroom, room, threshold, tiers, xoff};
use fabric::{Fabric, NodeId, PortIndex};
use model::parameters::{Buffer, SwitchOverride, SwitchParameters, Threshold};
use std::collections::BTreeSet;

/// Parameters that an `[[switch.override]]` entry may set.
const WHAT: [&str; 6] = ["buffer", "egress_threshold", "queue", "flow_control", "marking", "scheduler"];

/// Reads all `[[switch.override]]` entries; `None` if an entry is invalid.
pub(crate) fn read(section: &Section<'_, '_>) -> Option<Vec<OverridePlan>> {
    // Read every entry before the first error returns, so that all errors are reported.
    let entries: Vec<Option<OverridePlan>> = section.tables("override", "switch.override").iter().map(entry).collect();
    entries.into_iter().collect()
}

fn entry(section: &Section<'_, '_>) -> Option<OverridePlan> {
    let named = section.read("switches", names);
    let of_tiers = section.read("tiers", |value| tiers(value, "the list of tiers is empty"));
    let of_ports = section.read("ports", ports);
    let buffer_bytes = section.read("buffer", buffer_size);
    let (egress, queue) = (section.read("egress_threshold", threshold), section.read("queue", room));
    let control = section.table("flow_control", "switch.override.flow_control", false);
    let (xoff, xon_offset_bytes) = (control.read("xoff", xoff), control.size("xon"));
    let headroom_bytes = control.read("headroom", headroom);
    control.finish();
    let own_marking = optional(section, "marking", marking, |it| _ = it.table("marking", "switch.marking", true));
    let own_scheduler =
        optional(section, "scheduler", scheduler, |it| _ = it.table("scheduler", "switch.scheduler", true));
    section.finish();
    let of_switches = section.has("switches") || section.has("tiers");
    if !of_switches && !section.has("ports") {
        let help = "write switches = [\"S1\"], tiers = [1] or ports = [\"S1:3\"]".to_owned();
        section.fail("", format!("`{}` lists no switches", section.name), Some(help));
        return None;
    }
    if section.has("ports") {
        let help = || Some("write an entry of its own for ports, with marking or scheduler".to_owned());
        if of_switches {
            section.fail("ports", "an entry is about switches or about ports", help());
            return None;
        }
        let of_whole = ["buffer", "egress_threshold", "queue", "flow_control"];
        if let Some(key) = of_whole.into_iter().find(|key| section.has(key)) {
            section.fail(key, format!("`{key}` is one of a whole switch, not of a port"), help());
            return None;
        }
    }
    let is_empty = section.has("flow_control") && !["xoff", "xon", "headroom"].iter().any(|key| control.has(key));
    if is_empty || !WHAT.iter().any(|key| section.has(key)) {
        let help = "write marking = { kind = \"ecn\", ... }, a scheduler, buffer, egress or queue, or thresholds of \
                    flow control, flow_control = { xoff = \"100KB\" }"
            .to_owned();
        section.fail("", format!("`{}` overrides nothing", section.name), Some(help));
        return None;
    }
    // An entry with a written but invalid value is invalid. The error of this value is already reported.
    let wrong = |key: &str, read: bool| section.has(key) && !read;
    let wrong_here = wrong("switches", named.is_some())
        || wrong("tiers", of_tiers.is_some())
        || wrong("ports", of_ports.is_some())
        || wrong("buffer", buffer_bytes.is_some())
        || wrong("egress_threshold", egress.is_some())
        || wrong("queue", queue.is_some());
    (!wrong_here).then_some(())?;
    Some(OverridePlan {
        switches: named.unwrap_or_default(),
        tiers: of_tiers.unwrap_or(0),
        ports: of_ports.unwrap_or_default(),
        what: SwitchOverride {
            switches: Vec::new(),
            ports: Vec::new(),
            buffer_bytes,
            egress,
            queue,
            xoff,
            xon_offset_bytes,
            headroom_bytes,
            marking: own_marking?,
            scheduler: own_scheduler?,
        },
    })
}

/// Checks that the parameters of each override are compatible with the buffer type and flow control in `[switch]`.
pub(crate) fn check(context: &Context<'_>, switch: &SwitchParameters, plans: &[OverridePlan]) {
    for (at, OverridePlan { what, .. }) in plans.iter().enumerate() {
        let fail = |key: &str, message: &str, help: &str| {
            context.fail(&format!("switch.override.{at}.{key}"), message, Some(help.to_owned()));
        };
        let shared = matches!(switch.buffer, Buffer::Shared { .. });
        let own_queues = "the switches have queues of their own size, and no shared buffer";
        if what.buffer_bytes.is_some() && !shared {
            fail("buffer", own_queues, "write queue, or remove switch.queue");
        }
        if what.egress.is_some() && !shared {
            fail("egress_threshold", own_queues, "write queue, or remove switch.queue");
        }
        if what.buffer_bytes == Some(0) {
            fail("buffer", "a switch without buffer forwards nothing", "write \"16MB\"");
        }
        if what.queue.is_some() && shared {
            fail(
                "queue",
                "the switches share one buffer among their queues",
                "write buffer, or a switch.queue for all",
            );
        }
        let thresholds = [
            ("xoff", what.xoff.is_some()),
            ("xon", what.xon_offset_bytes.is_some()),
            ("headroom", what.headroom_bytes.is_some()),
        ];
        if let Some((key, _)) = thresholds.iter().find(|it| it.1)
            && switch.flow_control.pause().is_none()
        {
            let message = "thresholds are those of PAUSE and PFC, and flow control is neither";
            fail(
                &format!("flow_control.{key}"),
                message,
                "write flow_control = \"pause\" for all switches, or remove this",
            );
        }
        if !shared && matches!(what.xoff, Some(Threshold::Dynamic { .. })) {
            let message = "a dynamic XOFF needs a shared buffer";
            fail("flow_control.xoff", message, "write a size: xoff = \"100KB\", less than the queue");
        }
    }
}

/// Reads `key` if it is written: `Some(None)` if it is absent, `None` after an error.
fn optional<T>(
    section: &Section<'_, '_>,
    key: &str,
    read: impl Fn(&Section<'_, '_>) -> Option<T>,
    skip: impl Fn(&Section<'_, '_>),
) -> Option<Option<T>> {
    if section.has(key) {
        return read(section).map(Some);
    }
    skip(section);
    Some(None)
}

/// Resolves the switches and ports of all overrides; `None` if the fabric lacks one.
pub(crate) fn lower(plans: &[OverridePlan], context: &Context<'_>, fabric: &Fabric) -> Option<Vec<SwitchOverride>> {
    let lowered: Vec<Option<SwitchOverride>> = plans
        .iter()
        .enumerate()
        .map(|(at, plan)| {
            let key = format!("switch.override.{at}");
            let named: Vec<Option<NodeId>> = (0..)
                .zip(&plan.switches)
                .map(|(name_at, name)| switch(context, fabric, &format!("{key}.switches.{name_at}"), name))
                .collect();
            let tier = |node: &NodeId| fabric.node(*node).tier.min(7);
            let of_tiers = fabric.switches().filter(|node| plan.tiers >> tier(node) & 1 == 1);
            let switches: BTreeSet<NodeId> = named.into_iter().chain(of_tiers.map(Some)).collect::<Option<_>>()?;
            let ports = lower_ports(plan, context, fabric, &key)?;
            if switches.is_empty() && ports.is_empty() {
                let mut known: Vec<u8> = fabric.switches().map(|node| tier(&node)).collect();
                known.sort_unstable();
                known.dedup();
                let help = format!("this fabric has switches in the tiers {known:?}");
                context.fail(&key, "this concerns no switch", Some(help));
                return None;
            }
            Some(SwitchOverride { switches: switches.into_iter().collect(), ports, ..plan.what.clone() })
        })
        .collect();
    lowered.into_iter().collect()
}

/// Returns the ports that an entry names, ascending.
fn lower_ports(
    plan: &OverridePlan,
    context: &Context<'_>,
    fabric: &Fabric,
    key: &str,
) -> Option<Vec<(NodeId, PortIndex)>> {
    let mut ports = BTreeSet::new();
    for (at, name) in plan.ports.iter().enumerate() {
        let fail = |message: String, help: Option<String>| context.fail(&format!("{key}.ports.{at}"), message, help);
        match find_port(fabric, name) {
            Ok((node, _)) if fabric.host_index(node).is_some() => {
                fail(format!("`{name}` is a port of a host, not of a switch"), None);
                return None;
            }
            Ok((node, Some(port))) => _ = ports.insert((node, port)),
            Ok((node, None)) => {
                let name = fabric.name(node);
                fail(format!("`{name}` is a whole switch"), Some(format!("write switches = [\"{name}\"]")));
                return None;
            }
            Err((message, help)) => {
                fail(message, help);
                return None;
            }
        }
    }
    Some(ports.into_iter().collect())
}
