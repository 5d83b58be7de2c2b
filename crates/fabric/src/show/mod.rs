//! Presentation of a fabric: summary as table or JSON, nodes by name, and a drawing.

mod layout;
mod nodes;
mod summary;
mod svg;

pub use nodes::{ListedEnd, ListedLink, ListedNode, link_list, names, node_list};
pub use summary::{LinkGroup, PathCount, Summary, TierSummary, summary};
pub use svg::svg;
