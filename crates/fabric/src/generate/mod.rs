//! Generators of fabrics.
//!
//! Hosts are the first nodes of every generated fabric, so that host indices equal node numbers, as in files of the
//! ns-3 forks. Numbers in names start at 1, and names follow the papers: hosts are `H1`..; each generator documents the
//! names of its switches.

mod bcube;
mod clos;
mod fat_tree;
mod jellyfish;
mod parts;
mod simple;
mod tree;

pub use bcube::bcube;
pub use clos::{clos, leaf_spine};
pub use fat_tree::{f10, fat_tree, fat_tree_oversubscribed};
pub use jellyfish::jellyfish;
pub use parts::TierLinks;
pub use simple::{dumbbell, line, ring, single_switch};
pub use tree::{star, tree};

#[cfg(test)]
mod tests;
