//! FLORAX (per-flow backpressure), and the schemes with which its paper compares it.

mod experiments;
mod five_switches;
mod merging;
mod robustness;
mod series;
mod state;

pub use experiments::EXPERIMENTS;
use five_switches::{CHOICES, fig4, fig5, fig6, fig7, fig8, fig9, fig10, fig11};
use merging::{FIG1_CHOICES, FIG2_CHOICES, NONCONF_CHOICES, fig1, fig2, nonconf};
use robustness::{cables, xon_loss};
use state::{STATE_CHOICES, state_cost};
