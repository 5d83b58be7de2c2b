//! PABO: switches bounce packets back towards the source instead of dropping them at full queues.

mod bounces;
mod choices;
mod correlation;
mod dibs;
mod experiments;
mod fat_tree;
mod hop_by_hop;
mod order;
mod sweeps;
mod times;

use bounces::{displacement, many_to_many, many_to_one};
use choices::choices;
use dibs::beside_dibs;
pub use experiments::EXPERIMENTS;
use fat_tree::{CHOICES as FAT_TREE_CHOICES, MANY_CHOICES};
use hop_by_hop::{DROP_CHOICES, TABLE_CHOICES, drop_rates, example, peaks, per_switch, table, total_hops};
use order::{CHOICES as ORDER_CHOICES, grid, separately};
use sweeps::{bounce_function, lambda, theta};
use times::{completions, delays, over_theta};
