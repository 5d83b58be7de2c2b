//! `[[switch.override]]`: what some switches do otherwise, by name or tier.

use crate::egress_part::{marking, scheduler};
use crate::partial_part::{names, switch};
use crate::section::{Context, Section};
use crate::values::tiers;
use fabric::{Fabric, NodeId};
use model::parameters::{Marking, Scheduler, SwitchOverride};
use std::collections::BTreeSet;

/// One entry, as it is written.
#[derive(Clone, Debug)]
pub(crate) struct OverridePlan {
    switches: Vec<String>,
    /// A bit each.
    tiers: u8,
    pub marking: Option<Marking>,
    scheduler: Option<Scheduler>,
}

/// Every entry; `None` if one is wrong.
pub(crate) fn read(section: &Section<'_, '_>) -> Option<Vec<OverridePlan>> {
    // Every mistake is told before one of them ends this.
    let entries: Vec<Option<OverridePlan>> = section.tables("override", "switch.override").iter().map(entry).collect();
    entries.into_iter().collect()
}

fn entry(section: &Section<'_, '_>) -> Option<OverridePlan> {
    let named = section.read("switches", names);
    let of_tiers = section.read("tiers", |value| tiers(value, "the list of tiers is empty"));
    let own_marking = optional(section, "marking", marking, |it| _ = it.table("marking", "switch.marking", true));
    let own_scheduler =
        optional(section, "scheduler", scheduler, |it| _ = it.table("scheduler", "switch.scheduler", true));
    section.finish();
    if !section.has("switches") && !section.has("tiers") {
        let help = "write switches = [\"S1\"], or tiers = [1]".to_owned();
        section.fail("", format!("`{}` does not say which switches", section.name), Some(help));
        return None;
    }
    if !section.has("marking") && !section.has("scheduler") {
        let help = "write marking = { kind = \"ecn\", ... }, or a scheduler".to_owned();
        section.fail("", format!("`{}` does not say what its switches do otherwise", section.name), Some(help));
        return None;
    }
    let wrong = (section.has("switches") && named.is_none()) || (section.has("tiers") && of_tiers.is_none());
    (!wrong).then_some(())?;
    Some(OverridePlan {
        switches: named.unwrap_or_default(),
        tiers: of_tiers.unwrap_or(0),
        marking: own_marking?,
        scheduler: own_scheduler?,
    })
}

/// What stands at `key`, if anything does; the outer `None` is for what is wrong.
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

/// The entries with the switches of this fabric; `None` if one names a switch that it does not have.
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
            if switches.is_empty() {
                let mut known: Vec<u8> = fabric.switches().map(|node| tier(&node)).collect();
                known.sort_unstable();
                known.dedup();
                let help = format!("the switches of this fabric stand in the tiers {known:?}");
                context.fail(&key, "this concerns no switch", Some(help));
                return None;
            }
            let (marking, scheduler) = (plan.marking, plan.scheduler);
            Some(SwitchOverride { switches: switches.into_iter().collect(), marking, scheduler })
        })
        .collect();
    lowered.into_iter().collect()
}
