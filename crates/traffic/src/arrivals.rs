//! Flow arrivals that are drawn during the run, so that memory does not depend on the duration of the run.

use crate::error::PlanError;
use crate::random::{component, exponential};
use crate::sizes::{Mean, Sizes};
use std::sync::Arc;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Poisson process of flows at one host: exponential gaps, destinations uniform among the other hosts, sizes from a
/// distribution (the convention of HPCC's traffic generator). All sources of one traffic entry share the lists.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// Sending host.
    pub src: u32,
    /// Priority class of the flows, 0 to 7.
    pub class: u8,
    /// Index of the `[[traffic]]` entry.
    pub traffic: u8,
    /// Destination port of the flows.
    pub dst_port: u16,
    destinations: Arc<[u32]>,
    /// Maximum of `destinations`, computed once, so that the validation of each source need not search the list.
    largest_destination: u32,
    /// Index of `src` in `destinations`; `None` if it is not in the list.
    own_position: Option<u32>,
    sizes: Sizes,
    mean_gap: Time,
    last: Time,
    stop: Time,
    left: u64,
    stream: Stream,
}

/// An arriving flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Start time, not before that of the previous flow.
    pub at: Time,
    /// Receiving host.
    pub dst: u32,
    /// Flow size in bytes, at least 1.
    pub size_bytes: u64,
}

/// Parameters shared by the sources of one traffic entry.
pub(crate) struct Shared<'a> {
    pub entry: &'a crate::entry::Entry,
    pub destinations: &'a Arc<[u32]>,
    pub largest_destination: u32,
    pub sizes: &'a Sizes,
    pub mean_gap: Time,
    pub stop: Time,
    pub count: u64,
}

impl Arrivals {
    /// Creates the source at host `src`.
    pub(crate) fn new(shared: &Shared<'_>, src: u32, own_position: Option<u32>) -> Self {
        let entry = shared.entry;
        let component = component(entry.traffic, src);
        let start = entry.late_start(&mut Stream::new(entry.seed, component, purpose("start jitter")));
        Arrivals {
            src,
            class: entry.class,
            traffic: entry.traffic,
            dst_port: entry.dst_port,
            destinations: shared.destinations.clone(),
            largest_destination: shared.largest_destination,
            own_position,
            sizes: shared.sizes.clone(),
            mean_gap: shared.mean_gap,
            last: start,
            stop: shared.stop,
            left: shared.count,
            stream: Stream::new(entry.seed, component, purpose("flow arrivals")),
        }
    }

    /// Returns the next flow; `None` if the maximum number of flows or the stop time has been reached. All flows
    /// start before the stop time.
    #[allow(clippy::should_implement_trait, reason = "an `Iterator` would promise adaptors that clone the stream")]
    pub fn next(&mut self) -> Option<Arrival> {
        if self.left == 0 {
            return None;
        }
        let at = self.last.saturating_add(exponential(&mut self.stream, self.mean_gap));
        if at >= self.stop {
            self.left = 0;
            return None;
        }
        self.last = at;
        self.left -= u64::from(self.left != u64::MAX);
        let others = self.destinations.len() as u64 - u64::from(self.own_position.is_some());
        // Skips the sender's own position, so that all other destinations are equally likely.
        let mut at_list = self.stream.below(others);
        if self.own_position.is_some_and(|own| at_list >= u64::from(own)) {
            at_list += 1;
        }
        let dst = self.destinations[at_list as usize];
        Some(Arrival { at, dst, size_bytes: self.sizes.draw(&mut self.stream) })
    }

    /// Returns `true` if the number of flows is limited, or the stop time is before `time`.
    pub fn ends_before(&self, time: Time) -> bool {
        self.left != u64::MAX || self.stop < time
    }

    /// Returns the list of destinations. The sender may be in the list, but is never drawn.
    pub fn destinations(&self) -> &[u32] {
        &self.destinations
    }

    /// Returns the mean time between two flows of this host.
    pub fn mean_gap(&self) -> Time {
        self.mean_gap
    }

    /// Returns the mean flow size of this host in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.sizes.mean().as_f64()
    }

    pub(crate) fn check(&self, hosts: u32) -> Result<(), PlanError> {
        let host = self.src.max(self.largest_destination);
        if host >= hosts {
            let why = format!("there is no host {host}: use 0 to {}", hosts.saturating_sub(1));
            return Err(PlanError::BadArrivals { src: self.src, why });
        }
        if self.class > 7 {
            return Err(PlanError::BadArrivals { src: self.src, why: "a class is 0 to 7".into() });
        }
        Ok(())
    }
}

/// Returns the mean time between flows of this mean size for the given load of a link: mean size * 8 / (rate * load),
/// counting payload only (HPCC's convention), rounded to a picosecond. `load` is a share of the rate, at least 1e-9.
pub fn mean_gap(mean: Mean, rate: Rate, load: f64) -> Option<Time> {
    if !(1e-9..=1e6).contains(&load) {
        return None;
    }
    // Load in units of 1e-9, rounded, so that the remaining calculation is in integers.
    let load = libm::round(load * 1e9) as u128;
    let bits_ps = mean.numerator.checked_mul(8_000_000_000_000)?;
    let per = mean.denominator.checked_mul(u128::from(rate.as_bps()))?;
    // bits_ps / per is the gap in picoseconds for load 1. Quotient and remainder are multiplied by 1e9 separately, to
    // avoid an overflow.
    let (whole, rest) = (bits_ps / per, bits_ps % per);
    let scaled = whole.checked_mul(1_000_000_000)?.checked_add(rest.checked_mul(1_000_000_000)? / per)?;
    u64::try_from(scaled.checked_add(load / 2)? / load).ok().map(|ps| Time::from_ps(ps.max(1)))
}
