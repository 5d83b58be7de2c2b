//! Weighted max-min fair shares of one link; the weights are committed rates.

use super::table::HostPair;

/// The demand of one flow on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Source and destination of the flow.
    pub pair: HostPair,
    /// Current rate of the flow, in bits per second.
    pub rate_bps: u64,
    /// Committed rate of the flow in bits per second; 0 without a committed rate.
    pub committed_bps: u64,
}

/// Computes the weighted max-min fair shares of the link rate `link_bps`. Sorts `demands` by demand per weight, and
/// writes the share of each flow to `rates`, in the same order: its demand if that is less than its weighted part of
/// the remaining capacity, else this part. The weight of a flow is its committed rate; without one, it is the link
/// rate divided by the number of flows.
///
/// The example of the paper, section 4.1.2: demands of 90 and 30 Mbps on a link of 110 Mbps get 80 and 30 Mbps; with
/// committed rates of 100 and 10 Mbps they get 90 and 20 Mbps.
pub fn fair_rates(link_bps: u64, demands: &mut [Demand], rates: &mut Vec<u64>) {
    let ordinary = (link_bps / demands.len().max(1) as u64).max(1);
    let weight = |demand: &Demand| if demand.committed_bps > 0 { demand.committed_bps } else { ordinary };
    // Flows with the smallest demand per weight come first. Cross-multiplication compares the ratios without
    // division.
    demands.sort_by(|a, b| {
        let (left, right) =
            (u128::from(a.rate_bps) * u128::from(weight(b)), u128::from(b.rate_bps) * u128::from(weight(a)));
        left.cmp(&right).then(a.pair.cmp(&b.pair))
    });
    let mut left = u128::from(link_bps);
    let mut weights: u128 = demands.iter().map(|demand| u128::from(weight(demand))).sum();
    rates.clear();
    for demand in demands.iter() {
        let own = u128::from(weight(demand));
        let share = left * own / weights.max(1);
        let rate = share.min(u128::from(demand.rate_bps));
        (left, weights) = (left - rate, weights - own);
        rates.push(rate as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn demand(src: u32, rate_bps: u64, committed_bps: u64) -> Demand {
        Demand { pair: HostPair { src, dst: 0 }, rate_bps, committed_bps }
    }

    fn rates(link: u64, demands: &[Demand]) -> Vec<(u32, u64)> {
        let (mut demands, mut rates) = (demands.to_vec(), Vec::new());
        fair_rates(link, &mut demands, &mut rates);
        let mut all: Vec<(u32, u64)> = demands.iter().map(|demand| demand.pair.src).zip(rates).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_papers_example() {
        assert_eq!(rates(110, &[demand(1, 90, 0), demand(2, 30, 0)]), [(1, 80), (2, 30)]);
        assert_eq!(rates(110, &[demand(1, 90, 100), demand(2, 30, 10)]), [(1, 90), (2, 20)]);
        // On 110 Mbps, flow 1 demands 20 of its committed 100 Mbps. Flow 2 gets the rest, more than its committed 10
        // Mbps.
        assert_eq!(rates(110, &[demand(1, 20, 100), demand(2, 200, 10)]), [(1, 20), (2, 90)]);
        // Both demands exceed the link rate: the shares are proportional to the weights, the committed rates.
        assert_eq!(rates(110, &[demand(1, 200, 100), demand(2, 200, 10)]), [(1, 100), (2, 10)]);
    }

    /// Random demands. Properties of a max-min fair allocation: no rate exceeds its demand; the rates sum to the link
    /// rate or to the total demand; a flow with less than its demand has at least the rate per weight of every other
    /// flow.
    #[test]
    fn random_demands_are_shared_max_min() {
        let mut random = Stream::new(1, 0, 0);
        for _ in 0..2_000 {
            let link = 1 + random.below(1_000_000_000);
            let count = 1 + random.below(12);
            let agreed = |random: &mut Stream| if random.below(2) == 0 { 0 } else { 1 + random.below(link) };
            let demands: Vec<Demand> =
                (0..count as u32).map(|src| demand(src, random.below(2 * link), agreed(&mut random))).collect();
            let given = rates(link, &demands);
            let sum: u64 = given.iter().map(|(_, rate)| rate).sum();
            let demanded: u64 = demands.iter().map(|demand| demand.rate_bps).sum();
            assert!(sum <= link.min(demanded) && sum + count >= link.min(demanded), "{demands:?} {given:?}");
            let weight = |demand: &Demand| {
                if demand.committed_bps > 0 { demand.committed_bps } else { (link / count).max(1) }
            };
            for (short, (_, rate)) in demands.iter().zip(&given).filter(|(demand, (_, rate))| *rate < demand.rate_bps) {
                for (other, (_, more)) in demands.iter().zip(&given) {
                    let (less, most) = (
                        u128::from(rate + count) * u128::from(weight(other)),
                        u128::from(*more) * u128::from(weight(short)),
                    );
                    assert!(less + u128::from(weight(short)) * u128::from(count) >= most, "{demands:?} {given:?}");
                }
            }
        }
    }
}
