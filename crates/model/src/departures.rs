//! Policy for the time at which departures are applied. The steps of a frame are generic over it.

/// The policy of departures. It is a type parameter, so that each step is compiled for both policies.
pub(crate) trait Departures {
    /// Whether departures are applied in batches, see [`crate::switch::lazy`]: counters may include frames that have
    /// left, and no port is blocked, has accounting or measures its utilisation.
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
