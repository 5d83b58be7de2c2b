//! Who sends to whom, once: permutation, all-to-all, incast, random and listed pairs.

use crate::{DatagramSource, ENDLESS, Entry, Load, PlanBuilder, Sizes, TrafficError};
use units::random::Stream;

/// Pairs of hosts and what flows between each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// What each pair carries.
    pub workload: Workload,
}

/// Who sends to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every host sends to one other and receives from one other: a random derangement.
    Permutation,
    /// Every host to every other.
    AllToAll,
    /// Some to one.
    Incast {
        /// How many send: distinct, drawn at random among the others.
        fan_in: u32,
        /// Who receives; `None` draws one of the hosts.
        receiver: Option<u32>,
    },
    /// Pairs drawn independently; a pair may come twice.
    Random {
        /// How many.
        pairs: u32,
    },
    /// Host `i` of the list to host `i + stride`, modulo the number of hosts.
    Stride {
        /// Not a multiple of the number of hosts.
        stride: u32,
    },
    /// These (source, destination).
    List(Vec<(u32, u32)>),
}

/// What a pair carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One transfer.
    Bulk(Sizes),
    /// One transfer without end.
    Endless,
    /// Frames without a transport, until `size_bytes` are sent or the source stops.
    Datagrams {
        /// When frames leave.
        source: DatagramSource,
        /// Total of the frame lengths; `None` for no limit.
        size_bytes: Option<u64>,
    },
}

/// Appends one flow per pair. Random choices come from the entry's own streams: pattern, sizes and jitter do
/// not disturb each other.
///
/// # Errors
/// Too few hosts for the pattern, a stride that leads back, hosts that appear twice, an impossible size or
/// source, more flows than a plan holds.
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

    /// How many pairs among this many hosts.
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
                // By shift, not by source: flows that start together then meet at different receivers.
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
                // The first places of a Fisher-Yates shuffle.
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

/// That the list has enough hosts, each once.
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

/// A uniformly random order of `0..len` that leaves nothing in its place; `len` is at least 2. Shuffles until
/// one fits: 2.7 times on average, since nearly one order in e does.
fn derangement(stream: &mut Stream, len: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    loop {
        stream.shuffle(&mut order);
        if order.iter().enumerate().all(|(at, to)| at != *to as usize) {
            return order;
        }
    }
}
