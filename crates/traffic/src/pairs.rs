//! Traffic patterns of host pairs: permutation, all-to-all, incast, random pairs, stride, explicit list.

use crate::entry::Entry;
use crate::error::TrafficError;
use crate::plan::{Load, PlanBuilder};
use crate::process::DatagramSource;
use crate::sizes::{ENDLESS, Sizes};
use units::random::Stream;

/// Traffic between pairs of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// Selection of sources and destinations.
    pub pattern: Pattern,
    /// Traffic of each pair.
    pub workload: Workload,
}

/// Selection of sources and destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every host sends to one other host and receives from one other host: a random derangement.
    Permutation,
    /// Every host sends to every other host.
    AllToAll,
    /// Several hosts send to one receiver.
    Incast {
        /// Number of senders: distinct hosts, drawn at random without the receiver.
        fan_in: u32,
        /// Receiver; `None`: drawn at random.
        receiver: Option<u32>,
    },
    /// Pairs drawn independently of each other, so that a pair may occur more than once.
    Random {
        /// Number of pairs.
        pairs: u32,
    },
    /// Each host `i` of the list sends to host `i + stride`, modulo the number of hosts.
    Stride {
        /// Distance in the list; not a multiple of the number of hosts.
        stride: u32,
    },
    /// Explicit (source, destination) pairs.
    List(Vec<(u32, u32)>),
}

/// Traffic of one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One flow of finite size.
    Bulk(Sizes),
    /// One flow without end.
    Endless,
    /// Datagrams, until `size_bytes` have been sent or the source stops.
    Datagrams {
        /// The datagram source.
        source: DatagramSource,
        /// Total frame length in bytes; `None` for no limit.
        size_bytes: Option<u64>,
    },
}

/// Appends one flow per pair. Pattern, sizes and jitter use separate random streams of the entry.
///
/// # Errors
/// If there are too few hosts for the pattern, a stride yields the source itself, a host occurs twice, a size or
/// source is invalid, or the plan would exceed its limits.
pub fn pairs(parameters: &Pairs, hosts: &[u32], entry: &Entry, builder: &mut PlanBuilder) -> Result<(), TrafficError> {
    let what = parameters.pattern.name();
    let (mut sizes, mut jitter) = (entry.stream("flow sizes"), entry.jitter_stream());
    match &parameters.workload {
        Workload::Bulk(sizes) => sizes.check()?,
        Workload::Datagrams { source, .. } => {
            source.check().map_err(|why| TrafficError::parameter("source", why))?;
        }
        Workload::Endless => {}
    }
    builder.reserve(what, parameters.pattern.count(hosts.len()), 0)?;
    parameters.pattern.each(hosts, entry, |src, dst| {
        let (size_bytes, load) = match &parameters.workload {
            Workload::Bulk(distribution) => (distribution.draw(&mut sizes), Load::Transport),
            Workload::Endless => (ENDLESS, Load::Transport),
            Workload::Datagrams { source, size_bytes } => {
                (size_bytes.unwrap_or(ENDLESS), Load::Datagrams(Box::new(*source)))
            }
        };
        let start = entry.start_at(&mut jitter);
        let mut flow = entry.flow(src, dst, size_bytes, start);
        flow.load = load;
        builder.flow(flow);
    })
}

impl Pattern {
    fn name(&self) -> &'static str {
        match self {
            Pattern::Permutation => "permutation",
            Pattern::AllToAll => "all-to-all",
            Pattern::Incast { .. } => "incast",
            Pattern::Random { .. } => "random pairs",
            Pattern::Stride { .. } => "stride",
            Pattern::List(_) => "pairs",
        }
    }

    /// Returns the number of pairs for this number of hosts.
    fn count(&self, hosts: usize) -> u128 {
        let hosts = hosts as u128;
        match self {
            Pattern::Permutation | Pattern::Stride { .. } => hosts,
            Pattern::AllToAll => hosts * hosts.saturating_sub(1),
            Pattern::Incast { fan_in, .. } => u128::from(*fan_in),
            Pattern::Random { pairs } => u128::from(*pairs),
            Pattern::List(pairs) => pairs.len() as u128,
        }
    }

    fn each(&self, hosts: &[u32], entry: &Entry, mut pair: impl FnMut(u32, u32)) -> Result<(), TrafficError> {
        let what = self.name();
        let mut stream = entry.stream(what);
        let need = |needed| require_hosts(what, hosts, needed);
        match self {
            Pattern::Permutation => {
                need(2)?;
                let order = derangement(&mut stream, hosts.len());
                hosts.iter().zip(order).for_each(|(src, to)| pair(*src, hosts[to as usize]));
            }
            Pattern::AllToAll => {
                need(2)?;
                // Pairs are ordered by shift, not by source, so that flows that start at the same time have different
                // receivers.
                for shift in 1..hosts.len() {
                    (0..hosts.len()).for_each(|at| pair(hosts[at], hosts[(at + shift) % hosts.len()]));
                }
            }
            Pattern::Incast { fan_in, receiver } => {
                need(u64::from(*fan_in) + 1)?;
                if *fan_in == 0 {
                    return Err(TrafficError::parameter("fan_in", "at least 1 host must send"));
                }
                let receiver = receiver.unwrap_or_else(|| hosts[stream.below(hosts.len() as u64) as usize]);
                let mut others: Vec<u32> = hosts.iter().copied().filter(|host| *host != receiver).collect();
                // The first `fan_in` steps of a Fisher-Yates shuffle.
                for at in 0..*fan_in as usize {
                    let from = at + stream.below((others.len() - at) as u64) as usize;
                    others.swap(at, from);
                    pair(others[at], receiver);
                }
            }
            Pattern::Random { pairs } => {
                need(2)?;
                for _ in 0..*pairs {
                    let src = stream.below(hosts.len() as u64);
                    let dst = stream.below(hosts.len() as u64 - 1);
                    // Skips the source, so that all other hosts are equally likely.
                    let dst = dst + u64::from(dst >= src);
                    pair(hosts[src as usize], hosts[dst as usize]);
                }
            }
            Pattern::Stride { stride } => {
                need(2)?;
                let stride = *stride as usize % hosts.len();
                if stride == 0 {
                    let why = format!("a multiple of the {} hosts leads from each back to itself", hosts.len());
                    return Err(TrafficError::parameter("stride", why));
                }
                (0..hosts.len()).for_each(|at| pair(hosts[at], hosts[(at + stride) % hosts.len()]));
            }
            Pattern::List(pairs) => pairs.iter().for_each(|&(src, dst)| pair(src, dst)),
        }
        Ok(())
    }
}

/// Returns an error if there are fewer than `needed` hosts, or a host occurs twice.
pub(crate) fn require_hosts(what: &'static str, hosts: &[u32], needed: u64) -> Result<(), TrafficError> {
    if (hosts.len() as u64) < needed {
        return Err(TrafficError::TooFewHosts { what, needed, hosts: hosts.len() as u64 });
    }
    let mut sorted = hosts.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TrafficError::HostTwice { what, host: pair[0] }),
        None => Ok(()),
    }
}

/// Returns a uniformly distributed random permutation of `0..len` without fixed points; `len` is at least 2.
/// Rejection sampling: shuffles until the permutation has no fixed point, e = 2.7 times on average.
fn derangement(stream: &mut Stream, len: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    loop {
        stream.shuffle(&mut order);
        if order.iter().enumerate().all(|(at, to)| at != *to as usize) {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Process, Start};
    use proptest::prelude::*;
    use units::{Rate, Time};

    fn plan(pattern: Pattern, hosts: &[u32], seed: u64) -> Result<Plan, TrafficError> {
        let mut builder = PlanBuilder::new();
        let parameters = Pairs { pattern, workload: Workload::Bulk(Sizes::Fixed(1000)) };
        pairs(&parameters, hosts, &Entry::new(seed, 0), &mut builder)?;
        Ok(builder.build(1000).expect("a valid plan"))
    }
    fn ends(plan: &Plan) -> Vec<(u32, u32)> {
        plan.flows.iter().map(|flow| (flow.src, flow.dst)).collect()
    }

    proptest! {
        #[test]
        fn a_permutation_leaves_nobody_alone(count in 2u32..60, seed in 0u64..) {
            let hosts: Vec<u32> = (0..count).map(|at| at * 7 + 3).collect();
            let ends = ends(&plan(Pattern::Permutation, &hosts, seed).unwrap());
            prop_assert!(ends.iter().all(|(src, dst)| src != dst));
            prop_assert!(ends.iter().map(|(src, _)| *src).eq(hosts.iter().copied()));
            let mut receivers: Vec<u32> = ends.iter().map(|(_, dst)| *dst).collect();
            receivers.sort_unstable();
            prop_assert_eq!(receivers, hosts);
        }

        #[test]
        fn an_incast_has_its_fan_in(count in 2u32..60, fan_in in 1u32..60, seed in 0u64.., chosen in prop::bool::ANY) {
            prop_assume!(fan_in < count);
            let hosts: Vec<u32> = (0..count).collect();
            let receiver = chosen.then_some(count / 2);
            let ends = ends(&plan(Pattern::Incast { fan_in, receiver }, &hosts, seed).unwrap());
            let mut senders: Vec<u32> = ends.iter().map(|(src, _)| *src).collect();
            senders.sort_unstable();
            senders.dedup();
            prop_assert_eq!(senders.len() as u32, fan_in);
            prop_assert!(ends.iter().all(|(_, dst)| *dst == receiver.unwrap_or(ends[0].1)));
        }

        #[test]
        fn every_pattern_makes_a_valid_plan_or_says_why(count in 0u32..20, parameter in 0u32..40, seed in 0u64..) {
            let hosts: Vec<u32> = (0..count).collect();
            let incast = Pattern::Incast { fan_in: parameter, receiver: None };
            let others = [Pattern::Random { pairs: parameter }, Pattern::Stride { stride: parameter }];
            for pattern in [Pattern::Permutation, Pattern::AllToAll, incast].into_iter().chain(others) {
                let expected = pattern.count(hosts.len());
                if let Ok(plan) = plan(pattern, &hosts, seed) {
                    prop_assert_eq!(plan.flows.len() as u128, expected);
                }
            }
        }
    }

    /// All nine derangements of four elements are equally likely. Chi-square test with 8 degrees of freedom: the 99.9
    /// % quantile is 26.1.
    #[test]
    fn derangements_are_uniform() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..9000 {
            let ends = ends(&plan(Pattern::Permutation, &[0, 1, 2, 3], seed).unwrap());
            *counts.entry(ends).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 9);
        let chi: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 26.1, "{chi}");
    }

    // [M11]
    #[test]
    fn all_to_all_stride_and_list() {
        let all = ends(&plan(Pattern::AllToAll, &[5, 6, 7], 1).unwrap());
        assert_eq!(all, [(5, 6), (6, 7), (7, 5), (5, 7), (6, 5), (7, 6)]);
        assert_eq!(ends(&plan(Pattern::Stride { stride: 4 }, &[5, 6, 7], 1).unwrap()), [(5, 6), (6, 7), (7, 5)]);
        assert_eq!(ends(&plan(Pattern::List(vec![(9, 2), (2, 9)]), &[], 1).unwrap()), [(9, 2), (2, 9)]);
        // A receiver that is not in the list of hosts.
        let outside = Pattern::Incast { fan_in: 2, receiver: Some(9) };
        assert!(ends(&plan(outside, &[5, 6, 7], 1).unwrap()).iter().all(|(_, dst)| *dst == 9));
    }

    #[test]
    fn jitter_and_datagrams() {
        let rate = Rate::from_gbps(1);
        let source = DatagramSource {
            process: Process::Poisson { rate },
            frame_bytes: 1518,
            lengths: Default::default(),
            stop: None,
        };
        let workload = Workload::Datagrams { source, size_bytes: Some(3036) };
        let mut builder = PlanBuilder::new();
        let parameters = Pairs { pattern: Pattern::Permutation, workload };
        let entry = Entry { start: Time::from_ms(1), jitter: Time::from_us(5), ..Entry::new(1, 4) };
        let hosts: Vec<u32> = (0..100).collect();
        pairs(&parameters, &hosts, &entry, &mut builder).unwrap();
        let plan = builder.build(100).unwrap();
        let starts: Vec<Start> = plan.flows.iter().map(|flow| flow.start).collect();
        let within = Time::from_ms(1)..=Time::from_ms(1) + Time::from_us(5);
        assert!(starts.iter().all(|start| matches!(start, Start::At(at) if within.contains(at))));
        assert_ne!(starts[0], starts[1]);
        assert!(plan.flows.iter().all(|flow| flow.load == Load::Datagrams(Box::new(source)) && flow.traffic == 4));
    }

    #[test]
    fn refuses_what_cannot_be_made() {
        let fails = |pattern, hosts: &[u32]| plan(pattern, hosts, 1).unwrap_err().to_string();
        assert!(fails(Pattern::Permutation, &[1]).contains("permutation needs at least 2 hosts, but there is 1"));
        assert!(fails(Pattern::AllToAll, &[1, 2, 1]).contains("host 1 appears twice"));
        assert!(fails(Pattern::Incast { fan_in: 3, receiver: None }, &[1, 2, 3]).contains("at least 4 hosts"));
        assert!(fails(Pattern::Incast { fan_in: 0, receiver: None }, &[1, 2]).contains("fan_in"));
        assert!(fails(Pattern::Stride { stride: 4 }, &[1, 2]).contains("a multiple of the 2 hosts"));
        assert!(fails(Pattern::Random { pairs: u32::MAX }, &[1, 2]).contains("more than the"));
    }
}
