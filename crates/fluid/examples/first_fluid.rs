//! Fluid model of two HetFlow senders on one link of 10 Gbps: both rates converge to the fair share, 5 Gbps.
//!
//! ```text
//!   r1, r2 ---> [ q: 8 Mbit ] ---> 10 Gbps        dq/dt = r1 + r2 - 10 Gbps, fed back after a round trip
//! ```
use fluid::models::hetflow::Parameters;
use fluid::models::{Bottleneck, Flows, HetFlow};
use fluid::solver::{Options, solve};

pub(crate) fn main() -> Result<(), fluid::solver::SolveError> {
    let (gain, scaling, timer, byte_counter) = (1.0 / 128.0, 1500.0, 3e-3, 8e5);
    let control =
        Parameters { gain, scaling, timer, byte_counter, recovery: 10e-3, quantum: 1.0, slope_age: 1.0, min_rate: 1e7 };
    let flows = vec![Flows { count: 2, start: 0.0, rtt: 10e-6, rate: 4e9 }];
    let mut model = HetFlow::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, control);
    let mut last = 0.0;
    solve(&mut model, 0.1, 1e-3, &Options::default(), |_time, state| last = state[0])?;
    println!("{:.3} Gbps each after 100 ms", last / 1e9);
    assert!((last / 5e9 - 1.0).abs() < 0.1);
    Ok(())
}
