//! A fabric for people: a summary as a table or JSON, and a drawing.

mod layout;
mod summary;
mod svg;

pub use summary::{LinkGroup, PathCount, Summary, TierSummary, summary};
pub use svg::svg;
