//! Tagger (Hu et al., CoNEXT 2017): deadlocks with and without tags, losses of the lossy queue, tags and rules needed.

mod bounces;
mod deadlock;
mod series;
mod walk;

pub use bounces::{fig14, table1};
pub use deadlock::{FIG8_CHOICES, FIG10_CHOICES, FIG11_CHOICES, FIG12_CHOICES};
pub use deadlock::{fig3, fig4, fig8, fig10, fig11, fig12, opt};
