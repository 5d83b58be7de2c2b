//! Common parts of the generators: links by tier, groups of nodes, and argument limits.

use crate::builder::MAX_ELEMENTS;
use crate::{FabricBuilder, FabricError, LinkSpec, NodeId};

/// Link properties by tier.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TierLinks {
    /// Host to edge switch.
    pub host: LinkSpec,
    /// Edge to aggregation switch (ToR to leaf in a three-tier Clos; leaf to spine in a leaf-spine fabric).
    pub edge: LinkSpec,
    /// Aggregation to core switch.
    pub core: LinkSpec,
}

impl TierLinks {
    /// Returns the same link properties for all tiers.
    pub const fn uniform(link: LinkSpec) -> Self {
        TierLinks { host: link, edge: link, core: link }
    }
}

/// Rejects an argument outside `range`.
pub(crate) fn within(
    generator: &'static str,
    parameter: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<(), FabricError> {
    if range.contains(&value) {
        return Ok(());
    }
    let expected = format!("it must be between {} and {}", range.start(), range.end());
    Err(FabricError::Parameter { generator, parameter, value: value.into(), expected })
}

/// Rejects counts whose product exceeds [`MAX_ELEMENTS`].
pub(crate) fn affordable(what: &'static str, counts: &[u64]) -> Result<(), FabricError> {
    let total = counts.iter().try_fold(1u64, |product, &count| product.checked_mul(count));
    match total {
        Some(total) if total <= MAX_ELEMENTS => Ok(()),
        _ => Err(FabricError::TooLarge { what, limit: MAX_ELEMENTS }),
    }
}

/// Adds hosts `H1`..`Hn`.
pub(crate) fn add_hosts(builder: &mut FabricBuilder, count: u32) -> Vec<NodeId> {
    (1..=count).map(|number| builder.add_host(format!("H{number}"))).collect()
}

/// Adds `count` switches `<prefix><first>`.. on one tier.
pub(crate) fn add_switches(builder: &mut FabricBuilder, prefix: &str, first: u32, count: u32, tier: u8) -> Vec<NodeId> {
    (first..first + count).map(|number| builder.add_switch(format!("{prefix}{number}"), tier)).collect()
}
