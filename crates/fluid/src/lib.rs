//! Fluid models of congestion controls, a solver for their delay differential equations, and stability analysis.
//!
//! ```text
//!   models (ECCP, HetFlow, DCQCN, TIMELY) ── System ──> solver: rates and queues over time
//!                                         └─ Model ───> stability: fixed point, roots, largest stable delay
//! ```
//!
//! ```
//! use fluid::models::{Bottleneck, Flows, HetFlow, Model, hetflow::Parameters};
//! use fluid::solver::{Options, solve};
//!
//! let control = Parameters {
//!     gain: 1.0 / 128.0, scaling: 1500.0, timer: 3e-3, byte_counter: 8e5, recovery: 10e-3,
//!     quantum: 1.0, slope_age: 1.0, min_rate: 1e7,
//! };
//! let flows = vec![Flows { count: 2, start: 0.0, rtt: 10e-6, rate: 4e9 }];
//! let mut model = HetFlow::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, control);
//! let mut last = 0.0;
//! solve(&mut model, 0.1, 1e-3, &Options::default(), |_time, state| last = state[0])?;
//! assert!((last / 5e9 - 1.0).abs() < 0.1, "each gets half of the link");
//!
//! // The difference between the rates of two flows is not fed back: the linearised equation has a root at 0.
//! let report = fluid::stability::report(&model).expect("it has a fixed point");
//! assert!(report.roots.iter().any(|root| root.re.abs() < 1.0 && root.im == 0.0));
//! # Ok::<(), fluid::solver::SolveError>(())
//! ```
//!
//! Units are s, bit/s and bits, as floats. Functions with results that differ between platforms come from `libm`.

pub mod models;
pub mod solver;
pub mod stability;
