//! When departures are applied: the policy over which the steps of a frame are generic.

/// The policy of departures, a type so that each step is compiled for both.
pub(crate) trait Departures {
    /// Whether departures are applied in batches, see [`crate::switch::lazy`]: counters may include frames that have
    /// left, and no port is held, has accounting or measures its load.
    const LAZY: bool;
}

/// Every departure is applied at its time.
pub(crate) struct Exact;

impl Departures for Exact {
    const LAZY: bool = false;
}

/// Departures are applied in batches.
pub(crate) struct Lazy;

impl Departures for Lazy {
    const LAZY: bool = true;
}
