//! Collective operations of distributed training: ring all-reduce and all-to-all exchange.

use crate::entry::Entry;
use crate::error::TrafficError;
use crate::pairs::require_hosts;
use crate::plan::{PlanBuilder, Start, When};
use crate::sizes::ENDLESS;
use units::Time;

/// All-reduce over a ring: the hosts in the order given, each sending to the next, the last to the first
/// (Patarasuk and Yuan, 2009).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingAllReduce {
    /// What each host holds and all reduce; at least one byte per host.
    pub total_bytes: u64,
    /// From the arrival of a chunk at a host to its next send: the reduction, or the software.
    pub step_delay: Time,
}

/// Appends `2 (n - 1) n` flows, step by step in the order of the hosts. In step s, host h sends chunk
/// (h - s) mod n to host h + 1, once that chunk arrived there in step s - 1; n - 1 steps reduce, n - 1 gather.
/// Chunks are `total_bytes / n`, the first `total_bytes mod n` of them a byte larger.
///
/// # Errors
/// Fewer than two hosts, hosts twice, fewer bytes than hosts, more flows than a plan holds.
pub fn ring_all_reduce(
    parameters: &RingAllReduce,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "ring all-reduce";
    require_hosts(WHAT, hosts, 2)?;
    let count = hosts.len();
    if parameters.total_bytes < count as u64 || parameters.total_bytes == ENDLESS {
        let why = format!("each of the {count} hosts sends chunks of total / {count}: give at least {count} bytes");
        return Err(TrafficError::parameter("size", why));
    }
    let steps = 2 * (count as u128 - 1);
    builder.reserve(WHAT, steps * count as u128, (steps - 1) * count as u128)?;
    let chunk_bytes = |chunk: usize| {
        let (whole, rest) = (parameters.total_bytes / count as u64, parameters.total_bytes % count as u64);
        whole + u64::from((chunk as u64) < rest)
    };
    let mut jitter = entry.jitter_stream();
    let mut previous = 0;
    for step in 0..steps as usize {
        let first = builder.len() as u32;
        for at in 0..count {
            let start = match step {
                0 => entry.start_at(&mut jitter),
                _ => Start::After { waits_for: 0, delay: parameters.step_delay },
            };
            // Two whole turns keep the difference positive: there are fewer than 2 n steps.
            let bytes = chunk_bytes((at + 2 * count - step) % count);
            let flow = builder.flow(entry.flow(hosts[at], hosts[(at + 1) % count], bytes, start));
            if step > 0 {
                let from_left = previous + ((at + count - 1) % count) as u32;
                builder.notify(from_left, When::Delivered, flow);
            }
        }
        previous = first;
    }
    Ok(())
}

/// All-to-all exchange in rounds of shifts: in round r, host h sends to host h + r, for r = 1 to n - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllToAll {
    /// From each host to each other.
    pub pair_bytes: u64,
    /// How many rounds a host has under way at a time, at least 1; `n - 1` or more starts all at once.
    pub window: u32,
    /// From the end of one send of a host to the send that it makes way for.
    pub round_delay: Time,
}

/// Appends `n (n - 1)` flows, round by round in the order of the hosts. The send of a host in round r waits
/// until its own send of round `r - window` is done; hosts do not wait for each other.
///
/// # Errors
/// Fewer than two hosts, hosts twice, no bytes, no window, more flows than a plan holds.
pub fn all_to_all(
    parameters: &AllToAll,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "all-to-all";
    require_hosts(WHAT, hosts, 2)?;
    if parameters.pair_bytes == 0 || parameters.pair_bytes == ENDLESS {
        return Err(TrafficError::parameter("size", "it must be at least 1 byte, and end"));
    }
    if parameters.window == 0 {
        return Err(TrafficError::parameter("window", "at least 1 round must be under way"));
    }
    let (count, window) = (hosts.len(), parameters.window as usize);
    let waiting = count.saturating_sub(1).saturating_sub(window);
    builder.reserve(WHAT, count as u128 * (count as u128 - 1), waiting as u128 * count as u128)?;
    let mut jitter = entry.jitter_stream();
    let first = builder.len();
    for round in 1..count {
        for at in 0..count {
            let start = if round > window {
                Start::After { waits_for: 0, delay: parameters.round_delay }
            } else {
                entry.start_at(&mut jitter)
            };
            let to = hosts[(at + round) % count];
            let flow = builder.flow(entry.flow(hosts[at], to, parameters.pair_bytes, start));
            if round > window {
                let before = first + (round - window - 1) * count + at;
                builder.notify(before as u32, When::Sent, flow);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::testing::finish_times;
    use proptest::prelude::*;

    fn ring(hosts: &[u32], total_bytes: u64) -> Plan {
        let mut builder = PlanBuilder::new();
        let parameters = RingAllReduce { total_bytes, step_delay: Time::from_ns(100) };
        // An entry before it: indices must not assume that the plan was empty.
        all_to_all(
            &AllToAll { pair_bytes: 1, window: 1, round_delay: Time::ZERO },
            &[0, 1],
            &Entry::new(1, 0),
            &mut builder,
        )
        .unwrap();
        ring_all_reduce(&parameters, hosts, &Entry::new(1, 1), &mut builder).unwrap();
        builder.build(64).unwrap()
    }

    #[test]
    fn the_critical_path_of_a_ring_is_all_its_steps() {
        let hosts = [4, 2, 9, 0, 7];
        let plan = ring(&hosts, 1_000_003);
        let flows = &plan.flows[2..];
        assert_eq!(flows.len(), 2 * 4 * 5);
        let finished = finish_times(&plan, |_| Time::from_us(1));
        let expected = Time::from_us(8) + Time::from_ns(700);
        assert_eq!(finished.iter().max(), Some(&expected), "eight steps, seven delays");
        // Each host sends all but two of 2n chunks: 2 (n - 1) / n of the total, the bandwidth optimum.
        for &host in &hosts {
            let sent: u64 = flows.iter().filter(|flow| flow.src == host).map(|flow| flow.size_bytes).sum();
            assert!((1_600_000..1_600_010).contains(&sent), "{sent}");
        }
    }

    proptest! {
        /// The algorithm itself, run on sets: after all steps every host holds every chunk reduced over all.
        #[test]
        fn a_ring_reduces_everything(count in 2usize..12, spare in 0u64..30) {
            let hosts: Vec<u32> = (0..count as u32).map(|host| host * 3 + 1).collect();
            let total = count as u64 + spare;
            let plan = ring(&hosts, total);
            // contributions[host][chunk]: whose values are summed there, as a bit set.
            let mut held: Vec<Vec<u32>> = (0..count).map(|at| vec![1 << at; count]).collect();
            for (step, flows) in plan.flows[2..].chunks(count).enumerate() {
                let before = held.clone();
                for (at, flow) in flows.iter().enumerate() {
                    let chunk = (at + 2 * count - step) % count;
                    let size = total / count as u64 + u64::from((chunk as u64) < total % count as u64);
                    prop_assert_eq!(flow.size_bytes, size);
                    held[(at + 1) % count][chunk] |= before[at][chunk];
                }
            }
            prop_assert!(held.iter().flatten().all(|set| *set == (1 << count) - 1));
            // A trigger is an arrival at the host that then sends.
            for (index, flow) in plan.flows.iter().enumerate().skip(2) {
                for notification in plan.notifications.of(index as u32) {
                    prop_assert_eq!(plan.flows[notification.target as usize].src, flow.dst);
                }
            }
        }

        #[test]
        fn an_exchange_reaches_everybody_once_within_its_window(count in 2u32..20, window in 1u32..25) {
            let hosts: Vec<u32> = (0..count).collect();
            let mut builder = PlanBuilder::new();
            let parameters = AllToAll { pair_bytes: 10, window, round_delay: Time::ZERO };
            all_to_all(&parameters, &hosts, &Entry::new(1, 0), &mut builder).unwrap();
            let plan = builder.build(count).unwrap();
            let mut pairs: Vec<_> = plan.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            prop_assert_eq!(pairs.len() as u32, count * (count - 1));
            let finished = finish_times(&plan, |_| Time::from_us(1));
            let expected = u64::from((count - 1).div_ceil(window));
            prop_assert_eq!(finished.into_iter().max(), Some(Time::from_us(expected)));
        }
    }

    #[test]
    fn refuses_what_cannot_run() {
        let entry = Entry::new(1, 0);
        let ring = |total_bytes, hosts: &[u32]| {
            let parameters = RingAllReduce { total_bytes, step_delay: Time::ZERO };
            ring_all_reduce(&parameters, hosts, &entry, &mut PlanBuilder::new()).unwrap_err().to_string()
        };
        assert!(ring(100, &[1]).contains("at least 2 hosts"));
        assert!(ring(2, &[1, 2, 3]).contains("at least 3 bytes"));
        assert!(ring(100, &[1, 2, 1]).contains("twice"));
        let exchange = |pair_bytes, window| {
            let parameters = AllToAll { pair_bytes, window, round_delay: Time::ZERO };
            all_to_all(&parameters, &[1, 2], &entry, &mut PlanBuilder::new()).unwrap_err().to_string()
        };
        assert!(exchange(0, 1).contains("size"));
        assert!(exchange(1, 0).contains("window"));
        let many: Vec<u32> = (0..10_000).collect();
        let huge = AllToAll { pair_bytes: 1, window: 1, round_delay: Time::ZERO };
        let error = all_to_all(&huge, &many, &entry, &mut PlanBuilder::new()).unwrap_err();
        assert!(error.to_string().contains("99990000 flows"), "{error}");
    }
}
