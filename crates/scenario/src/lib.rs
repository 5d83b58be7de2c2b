//! Reads a scenario file and lowers it once into a validated setup.
//!
//! ```text
//!   text + overrides ── Document ── Section ──> Scenario ── lower() ──> Lowered { setup, hash, explain, .. }
//!     (TOML, spans)     (values)    (keys::*)   (each value               (fabric, routes, flows:
//!                                               checked by itself)         all checked together)
//! ```
//!
//! Every unknown key is an error with its position, and all errors of a file are reported at once. [`Lowered::explain`]
//! has every value with its source, defaults included.
//!
//! ```
//! let text = r#"
//! duration = "1ms"
//! [fabric]
//! kind = "fat-tree"
//! k = 4
//! link = { rate = "100Gbps", delay = "500ns" }
//! [[traffic]]
//! kind = "incast"
//! fan_in = 8
//! size = "1MB"
//! "#;
//! let scenario = scenario::Scenario::parse(text, "incast.toml", "".as_ref(), &[], None)?;
//! let lowered = scenario.lower()?;
//! assert_eq!(lowered.setup.traffic.flows.len(), 8);
//! # Ok::<(), scenario::ScenarioErrors>(())
//! ```

mod agreements;
mod backpressure_part;
mod bounds;
mod clock_part;
mod collective_part;
mod comments;
mod credits;
mod cyclic_part;
mod document;
mod error;
mod fabric_part;
mod files;
mod fluid_control;
mod fluid_file;
mod former;
pub mod fuzz;
mod gates_part;
mod gates_warn;
mod headroom_check;
mod idle;
pub mod import;
pub mod keys;
mod lower;
mod mechanism;
mod names;
mod overload_part;
mod override_part;
mod override_plan;
mod partial_part;
mod parts;
mod pipeline_part;
mod recognise;
mod record_part;
mod replay;
mod run_part;
mod scenario;
mod section;
mod shaping_part;
mod static_routes;
mod suggest;
mod validity_warnings;
pub use comments::commented;
pub use suggest::help as suggest_word;
mod sweep;
mod switch_part;
mod tags;
mod templates;
mod traffic_lower;
mod traffic_part;
mod trim_part;
mod values;

pub use error::{Explained, Origin, ScenarioError, ScenarioErrors, Warning};
pub use files::{Load, MAX_TREE_BYTES, MAX_WRITTEN_BYTES, from_disk, open, read_at_most};
pub use fluid_file::FluidFile;
pub use former::{former_names, present_key};
pub use lower::Lowered;
pub use recognise::{KnownFormat, known_format};
pub use scenario::Scenario;
pub use sweep::{Choice, SweepFile, parse_seeds};
pub use templates::{TEMPLATES, Template};
pub use traffic_lower::flow_ids_of_switches;
