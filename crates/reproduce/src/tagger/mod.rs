//! Tagger (Hu et al., CoNEXT 2017): deadlocks with and without tags, loss in the lossy queue, and numbers of tags and
//! rules.

mod bounces;
mod bound;
mod deadlock;
mod experiments;
mod loss;
mod rules;
mod series;
mod walk;

use bounces::{fig14, table1};
use bound::{bound, expansion};
use deadlock::{FIG8_CHOICES, FIG10_CHOICES, FIG11_CHOICES, FIG12_CHOICES};
use deadlock::{fig3, fig4, fig8, fig10, fig11, fig12, opt};
pub use experiments::EXPERIMENTS;
use loss::{TABLE6_CHOICES, table6};
use rules::{bcube_tags, classes, f10_tags, fig5, fig6, fig9, fig13, table3, table4, table5, table5_k16};
