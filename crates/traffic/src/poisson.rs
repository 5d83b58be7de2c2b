//! Poisson flow arrivals at every host.

use crate::arrivals::Arrivals;
use crate::arrivals::{Shared, mean_gap};
use crate::entry::Entry;
use crate::error::TrafficError;
use crate::pairs::require_hosts;
use crate::plan::PlanBuilder;
use crate::sizes::Sizes;
use std::sync::Arc;
use units::{Rate, Time};

/// Poisson arrivals of flows, at each host independently.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// Arrival rate at each host.
    pub intensity: ArrivalRate,
    /// Flow sizes.
    pub sizes: Sizes,
    /// Destinations, of which one is drawn uniformly for each flow, never the sender itself; `None`: the sending
    /// hosts.
    pub destinations: Option<Vec<u32>>,
    /// Time from which no flow starts; `None`: the end of the run.
    pub stop: Option<Time>,
    /// Maximum number of flows of each host; `None`: no limit.
    pub flows_per_host: Option<u64>,
}

/// Arrival rate at each host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalRate {
    /// Given by the load, a share of the host's link rate: mean gap = mean size * 8 / (rate * load).
    Load {
        /// Rate of the host's link.
        rate: Rate,
        /// Load as a share of `rate`, counting payload only, at least 1e-9; above 1 it exceeds the capacity of the
        /// host's link.
        load: f64,
    },
    /// Given by the mean time between flows, above zero.
    MeanGap(Time),
}

/// Appends one [`Arrivals`] per host, from which flows are drawn during the run.
///
/// # Errors
/// If there are no hosts, a host has no other destination, a host occurs twice, or sizes, load or gap are out of
/// range.
pub fn poisson(
    parameters: &Poisson,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "Poisson traffic";
    parameters.sizes.check()?;
    require_hosts(WHAT, hosts, 1)?;
    let mean_gap = match parameters.intensity {
        ArrivalRate::MeanGap(Time::ZERO) => return Err(TrafficError::parameter("mean_gap", "it must be above 0")),
        ArrivalRate::MeanGap(gap) => gap,
        ArrivalRate::Load { rate, load } => mean_gap(parameters.sizes.mean(), rate, load).ok_or_else(|| {
            let why = format!("{load} of {rate} is out of range: a share of the link such as 0.8");
            TrafficError::parameter("load", why)
        })?,
    };
    let destinations: Arc<[u32]> = parameters.destinations.as_deref().unwrap_or(hosts).into();
    require_hosts(WHAT, &destinations, 1)?;
    // Index of each host in the list of destinations, sorted by host for binary search.
    let mut positions: Vec<(u32, u32)> = destinations.iter().copied().zip(0..).collect();
    positions.sort_unstable();
    let stop = parameters.stop.unwrap_or(Time::MAX);
    let count = parameters.flows_per_host.unwrap_or(u64::MAX);
    let shared = Shared {
        entry,
        destinations: &destinations,
        largest_destination: positions.last().map_or(0, |(host, _)| *host),
        sizes: &parameters.sizes,
        mean_gap,
        stop,
        count,
    };
    for &src in hosts {
        let own = positions.binary_search_by_key(&src, |(host, _)| *host).ok().map(|at| positions[at].1);
        if own.is_some() && destinations.len() < 2 {
            let why = format!("host {src} has no destination except itself");
            return Err(TrafficError::parameter("destinations", why));
        }
        builder.arrivals(Arrivals::new(&shared, src, own));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrival, BuiltIn, Mean, Plan};

    fn plan(parameters: &Poisson, hosts: u32) -> Plan {
        let (list, mut builder) = ((0..hosts).collect::<Vec<_>>(), PlanBuilder::new());
        poisson(parameters, &list, &Entry::new(7, 0), &mut builder).unwrap();
        builder.build(hosts).unwrap()
    }

    #[test]
    fn the_mean_gap_is_that_of_hpcc() {
        let gap = |bytes, rate, load| mean_gap(Mean { numerator: bytes, denominator: 1 }, rate, load);
        // 1,711,250 bytes at 100 Gbps take 136.9 us; at a load of one half, the mean gap is 273.8 us.
        assert_eq!(gap(1_711_250, Rate::from_gbps(100), 0.5), Some(Time::from_ns(273_800)));
        assert_eq!(gap(1000, Rate::from_gbps(1), 1.0), Some(Time::from_us(8)));
        assert_eq!(gap(1000, Rate::from_gbps(1), 0.3), Some(Time::from_ps(26_666_667)));
        assert_eq!(gap(1000, Rate::from_gbps(1), 0.0), None);
        assert_eq!(gap(1000, Rate::from_gbps(1), -1.0), None);
        assert_eq!(gap(1000, Rate::from_gbps(1), f64::NAN), None);
        assert_eq!(gap(u128::MAX, Rate::MIN, 1e-9), None);
    }

    #[test]
    fn offers_its_load_to_everybody_alike() {
        let (rate, load, stop) = (Rate::from_gbps(100), 0.8, Time::from_ms(400));
        let parameters = Poisson {
            intensity: ArrivalRate::Load { rate, load },
            sizes: Sizes::Empirical(BuiltIn::named("web-search").unwrap().cdf()),
            destinations: None,
            stop: Some(stop),
            flows_per_host: None,
        };
        const HOSTS: u32 = 16;
        let (mut bytes, mut flows, mut received) = (0u128, 0u32, [0u32; HOSTS as usize]);
        for mut arrivals in plan(&parameters, HOSTS).arrivals {
            let mut last = Time::ZERO;
            while let Some(arrival) = arrivals.next() {
                assert!(arrival.at >= last && arrival.at < stop && arrival.dst != arrivals.src);
                last = arrival.at;
                bytes += u128::from(arrival.size_bytes);
                flows += 1;
                received[arrival.dst as usize] += 1;
            }
            assert_eq!(arrivals.next(), None, "for good");
        }
        // 37,400 flows with a coefficient of variation of about 2.4: the standard error is 1.4 %.
        let offered = bytes as f64 * 8.0 / (rate.as_bps() as f64 * stop.as_secs_f64() * f64::from(HOSTS));
        assert!((offered / load - 1.0).abs() < 0.05, "{offered}");
        // Chi-square test with 15 degrees of freedom: the 99.9 % quantile is 37.7.
        let mean = f64::from(flows) / f64::from(HOSTS);
        let chi: f64 = received.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum();
        assert!(chi < 37.7, "{chi}");
    }

    #[test]
    fn an_additional_host_shifts_no_other() {
        let parameters = Poisson {
            intensity: ArrivalRate::MeanGap(Time::from_us(10)),
            sizes: Sizes::Uniform { min_bytes: 1, max_bytes: 10_000 },
            destinations: Some(vec![5, 6, 7]),
            stop: None,
            flows_per_host: Some(50),
        };
        let draw = |hosts: &[u32]| {
            let mut builder = PlanBuilder::new();
            poisson(&parameters, hosts, &Entry::new(7, 3), &mut builder).unwrap();
            let mut plan = builder.build(8).unwrap();
            std::iter::from_fn(|| plan.arrivals[0].next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(&[2]), draw(&[2, 6]));
        assert_eq!(draw(&[2]).len(), 50);
        assert_ne!(draw(&[2]), draw(&[1]));
        assert!(draw(&[6]).iter().all(|arrival| [5, 7].contains(&arrival.dst)));
    }

    /// Regression test with recorded draws: a change of any draw would change all results.
    #[test]
    fn known_answers() {
        let parameters = Poisson {
            intensity: ArrivalRate::Load { rate: Rate::from_gbps(100), load: 0.5 },
            sizes: Sizes::Empirical(BuiltIn::named("web-search").unwrap().cdf()),
            destinations: None,
            stop: None,
            flows_per_host: None,
        };
        let mut arrivals = plan(&parameters, 16).arrivals.remove(3);
        let drawn: Vec<_> = std::iter::from_fn(|| arrivals.next()).take(3).collect();
        let arrival = |ps, dst, size_bytes| Arrival { at: Time::from_ps(ps), dst, size_bytes };
        assert_eq!(
            drawn,
            [arrival(691_457_030, 8, 214_209), arrival(1_541_778_917, 12, 424_393), arrival(1_771_081_942, 9, 32_448),]
        );
    }

    #[test]
    fn sources_are_small_and_checked_against_the_fabric() {
        assert!(size_of::<Arrivals>() <= 128, "{}", size_of::<Arrivals>());
        let parameters = Poisson {
            intensity: ArrivalRate::MeanGap(Time::from_us(10)),
            sizes: Sizes::Fixed(1),
            destinations: Some(vec![9, 2]),
            stop: None,
            flows_per_host: None,
        };
        let build = |hosts, class| {
            let mut builder = PlanBuilder::new();
            let entry = Entry { class, ..Entry::new(1, 0) };
            poisson(&parameters, &[0, 1], &entry, &mut builder).unwrap();
            builder.build(hosts).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(build(10, 7), Ok(()));
        assert_eq!(build(9, 7), Err("arrivals at host 0: there is no host 9: use 0 to 8".into()));
        assert!(build(10, 8).unwrap_err().contains("0 to 7"));
    }

    #[test]
    fn refuses_what_cannot_be_drawn() {
        let good = Poisson {
            intensity: ArrivalRate::MeanGap(Time::from_us(10)),
            sizes: Sizes::Fixed(1),
            destinations: None,
            stop: None,
            flows_per_host: None,
        };
        let fails = |parameters: &Poisson, hosts: &[u32]| {
            poisson(parameters, hosts, &Entry::new(1, 0), &mut PlanBuilder::new()).unwrap_err().to_string()
        };
        assert!(fails(&good, &[]).contains("at least 1 host,"));
        assert!(fails(&good, &[4]).contains("no destination except itself"));
        assert!(fails(&good, &[4, 5, 4]).contains("host 4 appears twice"));
        let zero = Poisson { sizes: Sizes::Fixed(0), ..good.clone() };
        assert!(fails(&zero, &[1, 2]).contains("at least 1 byte"));
        let still = Poisson { intensity: ArrivalRate::MeanGap(Time::ZERO), ..good.clone() };
        assert!(fails(&still, &[1, 2]).contains("above 0"));
        let idle = Poisson { intensity: ArrivalRate::Load { rate: Rate::MIN, load: 0.0 }, ..good };
        assert!(fails(&idle, &[1, 2]).contains("such as 0.8"));
    }
}
