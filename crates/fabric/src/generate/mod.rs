//! Fabrics by formula.
//!
//! Hosts come first in every generated fabric, so that host indices equal node numbers, as files of the
//! ns-3 forks have it. Names count from 1 and follow the papers: hosts `H1`.., other names stand at each
//! generator.

mod bcube;
mod clos;
mod fat_tree;
mod jellyfish;
mod simple;
mod tree;

pub use bcube::bcube;
pub use clos::{clos, leaf_spine};
pub use fat_tree::{f10, fat_tree, fat_tree_oversubscribed};
pub use jellyfish::jellyfish;
pub use simple::{dumbbell, line, ring, single_switch};
pub use tree::{star, tree};

use crate::builder::MAX_ELEMENTS;
use crate::{FabricBuilder, FabricError, LinkSpec, NodeId};

/// Links by height: each tier may have its own rate and cable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TierLinks {
    /// Host to edge switch.
    pub host: LinkSpec,
    /// Edge to aggregation switch (ToR to leaf, leaf to spine where there are two tiers of switches).
    pub edge: LinkSpec,
    /// Aggregation to core switch.
    pub core: LinkSpec,
}

impl TierLinks {
    /// The same link everywhere.
    pub const fn uniform(link: LinkSpec) -> Self {
        TierLinks { host: link, edge: link, core: link }
    }
}

/// Refuses an argument outside `range`.
fn within(
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

/// Refuses a product of counts that would fill the memory.
fn affordable(what: &'static str, counts: &[u64]) -> Result<(), FabricError> {
    let total = counts.iter().try_fold(1u64, |product, &count| product.checked_mul(count));
    match total {
        Some(total) if total <= MAX_ELEMENTS => Ok(()),
        _ => Err(FabricError::TooLarge { what, limit: MAX_ELEMENTS }),
    }
}

/// Hosts `H1`..`Hn`.
fn add_hosts(builder: &mut FabricBuilder, count: u32) -> Vec<NodeId> {
    (1..=count).map(|number| builder.add_host(format!("H{number}"))).collect()
}

/// Switches `<prefix><first>`.. on one tier.
fn add_switches(builder: &mut FabricBuilder, prefix: &str, first: u32, count: u32, tier: u8) -> Vec<NodeId> {
    (first..first + count).map(|number| builder.add_switch(format!("{prefix}{number}"), tier)).collect()
}

#[cfg(test)]
mod tests;
