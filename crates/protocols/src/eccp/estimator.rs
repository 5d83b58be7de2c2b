//! Receiver of probes: computes the strain of each train and estimates the available bandwidth from it (BART with
//! ECCP's strain threshold). Alternatively it computes the load of links from telemetry.

use super::fastest::FastestTrain;
use super::filter::Filter;
use super::parameters::{EccpParameters, StrainVariance};
use crate::endpoint::{Ctx, Reply};
use crate::frame::{Detail, Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::telemetry::Hop;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Lower bound of the variance of a strain, so that a train without noise does not have infinite weight.
const MIN_VARIANCE: f64 = 1e-8;

/// Bandwidth estimator of one flow.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    train: Train,
    /// Kalman filter; `None` before the first strained train.
    filter: Option<Filter>,
    best: FastestTrain,
    /// Telemetry at the last sample, and wire bytes of this flow's probes received since that sample.
    hops: Vec<Hop>,
    probe_wire_bytes: u64,
}

/// State of the train that is being received.
#[derive(Clone, Debug, Default)]
struct Train {
    number: u64,
    /// Last received frame of the train: index, departure time, arrival time.
    last: Option<(u64, Time, Time)>,
    pairs: u32,
    /// Sums over all pairs of consecutive frames: the departure interval, the strain and its square.
    sum_in: Time,
    strain: f64,
    squares: f64,
}

impl Train {
    /// Adds a frame of this train. A pair is skipped if one of its frames is lost or out of order.
    fn add(&mut self, index: u64, stamp: Time, at: Time) {
        if let Some((before, stamp_before, at_before)) = self.last
            && index == before + 1
            && stamp > stamp_before
        {
            let distance = stamp - stamp_before;
            let (sent_ps, came_ps) = (distance.as_ps() as f64, at.as_ps() as f64 - at_before.as_ps() as f64);
            let strain = (came_ps - sent_ps) / sent_ps;
            self.pairs += 1;
            self.sum_in = self.sum_in.saturating_add(distance);
            self.strain += strain;
            self.squares += strain * strain;
        }
        self.last = Some((index, stamp, at));
    }

    /// Returns the mean strain of the pairs, at least one, and its variance for the filter.
    fn mean_strain(&self, variance: StrainVariance) -> (f64, f64) {
        let pairs = f64::from(self.pairs);
        let strain = self.strain / pairs;
        let of_pairs = self.squares / pairs - strain * strain;
        let variance = match variance {
            StrainVariance::Mean => of_pairs / pairs,
            StrainVariance::Pairs => of_pairs,
        };
        (strain, variance.max(MIN_VARIANCE))
    }
}

impl Estimator {
    /// Handles a probe. `(frame_bytes, wire_bytes)` are the lengths of a full data frame of the flow, without and
    /// with preamble and gap.
    pub(crate) fn on_probe(
        &mut self,
        parameters: &EccpParameters,
        (frame_bytes, wire_bytes): (u64, u64),
        ctx: &mut Ctx<'_>,
        frame: &Frame,
    ) {
        if frame.has(flags::COLLECTS) {
            let own_bytes = std::mem::take(&mut self.probe_wire_bytes);
            if let Some(bps) =
                self.measured(parameters, ctx.telemetry, own_bytes, wire_bytes as f64 / frame_bytes as f64)
            {
                report(parameters, ctx, frame, bps);
            }
            return;
        }
        self.probe_wire_bytes += u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES;
        if parameters.measures() {
            return;
        }
        let frames = u64::from(parameters.train_frames);
        let (number, index) = (frame.seq / frames, frame.seq % frames);
        if number < self.train.number {
            return; // out of order: a later train has begun
        }
        if number > self.train.number {
            self.finish(parameters, ctx, frame);
            self.train = Train { number, ..Train::default() };
        }
        self.train.add(index, frame.stamp, ctx.now);
        if index + 1 == frames {
            self.finish(parameters, ctx, frame);
        }
    }

    /// Ends the current train and reports the estimated bandwidth, unless too many of its frames were lost.
    fn finish(&mut self, parameters: &EccpParameters, ctx: &mut Ctx<'_>, frame: &Frame) {
        let after = Train { number: self.train.number, ..Train::default() };
        let train = std::mem::replace(&mut self.train, after);
        // The mean of fewer than half of the pairs is unreliable.
        if train.pairs < parameters.train_frames / 2 || train.pairs == 0 {
            return;
        }
        let pairs = f64::from(train.pairs);
        let wire_bits = (f64::from(parameters.probe_bytes) + WIRE_OVERHEAD_BYTES as f64) * 8.0;
        let mu = wire_bits * pairs / train.sum_in.as_ps() as f64 * 1e3;
        let line = frame.number().max(1) as f64 / 1e9;
        let strain = train.mean_strain(parameters.strain_variance);
        let available = self.estimate(parameters, (train.number, mu), strain, 1.0 / line);
        report(parameters, ctx, frame, (available * 1e9) as u64);
    }

    /// Returns the estimated available bandwidth in Gbps after the train `number` at `mu` Gbps with this strain and its
    /// variance (thesis, eq. 2.4). `slope` initialises the filter at the first strained train.
    fn estimate(
        &mut self,
        parameters: &EccpParameters,
        (number, mu): (u64, f64),
        (strain, variance): (f64, f64),
        slope: f64,
    ) -> f64 {
        if strain < parameters.strain_threshold {
            self.best.add(number, mu, parameters.best_trains);
            return self.best.gbps(number, parameters.best_trains);
        }
        let best = self.best.gbps(number, parameters.best_trains);
        let filter = self.filter.get_or_insert_with(|| Filter::new(parameters, slope, best));
        filter.update(parameters, mu, strain, variance);
        filter.available()
    }

    /// Returns the minimum bandwidth over all links, in bits per second, that was available since the last sample:
    /// the link rate minus the load. The load is in wire bytes. It includes this flow's data but not its probes; those
    /// of other flows only with `count_probes`. `None` for the first sample and if the number of links has changed.
    fn measured(
        &mut self,
        parameters: &EccpParameters,
        hops: &[Hop],
        own_wire_bytes: u64,
        wire_per_byte: f64,
    ) -> Option<u64> {
        let before = std::mem::replace(&mut self.hops, hops.to_vec());
        let same = before.len() == hops.len() && !hops.is_empty();
        let of_hop = |(before, now): (&Hop, &Hop)| {
            let seconds = now.at.saturating_sub(before.at).as_secs_f64();
            let carried = now.sent_bytes.saturating_sub(before.sent_bytes);
            let load = if parameters.count_probes {
                carried as f64 * wire_per_byte - own_wire_bytes as f64
            } else {
                let probes = now.probe_bytes.saturating_sub(before.probe_bytes);
                carried.saturating_sub(probes) as f64 * wire_per_byte
            };
            let load_bps = load.max(0.0) * 8.0 / seconds.max(1e-12);
            (now.rate.as_bps() as f64 - load_bps).max(0.0) as u64
        };
        same.then(|| before.iter().zip(hops).map(of_hop).min()).flatten()
    }
}

/// Sends the available bandwidth to the flow's sender, in a CNP.
fn report(parameters: &EccpParameters, ctx: &mut Ctx<'_>, frame: &Frame, bps: u64) {
    ctx.replies.push(Reply {
        kind: Kind::Cnp,
        stamp: frame.stamp,
        detail: Detail::available(bps),
        size_bytes: parameters.cnp_bytes.max(MIN_FRAME_BYTES),
        ..Reply::default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;
    use units::random::Stream;

    /// Sends trains at random rates from 50 Mbps to `most` Gbps through a queue of 10 Gbps with an available
    /// bandwidth of `free` Gbps, to a receiver whose clock is 3 s ahead; `lost` is the loss probability of a probe.
    /// Returns the mean of the last 50 estimates in Gbps, and the number of notifications.
    fn through_a_queue(free: f64, most: f64, lost: f64) -> (f64, usize) {
        let p = EccpParameters::default();
        let (mut estimator, mut random, mut replies) = (Estimator::default(), Stream::new(1, 0, 0), Vec::new());
        let (mut draws, mut now_us) = (Stream::new(2, 0, 0), 1000.0);
        for train in 1..400u64 {
            let mu = 0.05 + draws.unit() * (most - 0.05);
            // Between two probes, the queue receives data at mu + (10 - free) Gbps and is served at 10 Gbps, so that
            // it grows if mu > free.
            let spacing_us = 1520.0 * 8.0 / mu / 1e3;
            let growth_us = spacing_us * ((mu - free) / 10.0).max(0.0);
            for index in 0..33u64 {
                let stamp = now_us + index as f64 * spacing_us;
                let at = stamp + 3_000_000.0 + 10.0 + index as f64 * growth_us + draws.unit() * 0.1;
                let time = |us: f64| Time::from_ps((us * 1e6) as u64);
                let (seq, detail) = (train * 33 + index, Detail::number(10_000_000_000));
                let frame =
                    Frame { kind: Kind::Probe, seq, stamp: time(stamp), detail, size_bytes: 1500, ..Frame::default() };
                if draws.unit() >= lost {
                    let mut ctx = Ctx::new(time(at), &mut random, &mut replies);
                    estimator.on_probe(&p, (1062, 1082), &mut ctx, &frame);
                }
            }
            now_us += 34.0 * spacing_us;
        }
        let reported =
            |reply: &Reply| Frame { kind: reply.kind, detail: reply.detail, ..Frame::default() }.available_bps();
        (replies.iter().rev().take(50).map(reported).sum::<u64>() as f64 / 50.0 / 1e9, replies.len())
    }

    #[test]
    fn trains_through_a_queue_find_what_is_free() {
        let (found, reported) = through_a_queue(0.4, 1.0, 0.0);
        assert!((found - 0.4).abs() < 0.04, "{found}");
        assert_eq!(reported, 399, "each train is answered once");
        // The available bandwidth of 5 Gbps exceeds the rate of every train (up to 1 Gbps): the estimate is the rate
        // of the fastest train.
        let (found, _) = through_a_queue(5.0, 1.0, 0.0);
        assert!((0.95..=1.01).contains(&found), "{found}");
    }

    #[test]
    fn lost_probes_cost_pairs_and_not_the_estimate() {
        let (found, reported) = through_a_queue(0.4, 1.0, 0.1);
        assert!((found - 0.4).abs() < 0.06, "{found}");
        assert!(reported > 350, "{reported}");
    }

    /// Four frames 10 us apart arrive 11, 11 and 14 us apart: strains 0.1, 0.1 and 0.4, with the mean 0.2 and the
    /// variance (0.01 + 0.01 + 0.04) / 3 = 0.02, a third of it for the mean.
    #[test]
    fn the_variance_is_of_the_mean_or_of_the_pairs() {
        let mut train = Train::default();
        for (index, (sent_us, came_us)) in [(0, 100), (10, 111), (20, 122), (30, 136)].into_iter().enumerate() {
            train.add(index as u64, Time::from_us(sent_us), Time::from_us(came_us));
        }
        for (choice, expected) in [(StrainVariance::Pairs, 0.02), (StrainVariance::Mean, 0.02 / 3.0)] {
            let (strain, variance) = train.mean_strain(choice);
            assert!((strain - 0.2).abs() < 1e-12 && (variance - expected).abs() < 1e-12, "{strain} {variance}");
        }
    }

    /// Unstrained trains at 0.9, 0.5 and 0.6 Gbps: of all trains the first is available, of the last two the third.
    #[test]
    fn the_best_estimate_fades_with_a_number_of_trains() {
        let available = |best_trains| {
            let p = EccpParameters { best_trains, ..EccpParameters::default() };
            let mut estimator = Estimator::default();
            let rates = [(1, 0.9), (2, 0.5), (3, 0.6)];
            rates.map(|train| estimator.estimate(&p, train, (0.0, MIN_VARIANCE), 0.1))
        };
        assert_eq!((available(0), available(2)), ([0.9; 3], [0.9, 0.9, 0.6]));
    }

    /// A link of 10 Gbps carried 0.9 Gbit of other traffic in 100 ms, and probes of the flow: only the other traffic
    /// counts. Of it, 0.12 Gbit are probes of other flows: without them 0.78 Gbit, or 7.8 Gbps, are left.
    #[test]
    fn a_measured_load_leaves_out_own_probes() {
        let p = EccpParameters::default();
        let mut estimator = Estimator::default();
        let hop = |ms: u64, rate: u64, sent_bytes: u64| Hop {
            at: Time::from_ms(ms),
            rate: Rate::from_gbps(rate),
            queue_bytes: 0,
            sent_bytes,
            probe_bytes: sent_bytes / 1000 * 1000 * 3 / 16,
        };
        let data = EccpParameters { count_probes: false, ..p.clone() };
        let mut of_data = Estimator::default();
        assert_eq!(estimator.measured(&p, &[hop(0, 40, 0), hop(0, 10, 500)], 0, 1.0), None);
        assert_eq!(of_data.measured(&data, &[hop(0, 40, 0), hop(0, 10, 500)], 0, 1.0), None);
        let hops = [hop(100, 40, 120_000_000), hop(100, 10, 500 + 120_000_000)];
        let own = 7_500_000;
        let available = estimator.measured(&p, &hops, own, 1.0).unwrap();
        assert_eq!(available, 10_000_000_000 - (960_000_000 - 60_000_000) * 10);
        // 120 MB, of which 3/16 are probes, 22.5 MB: 7.5 MB of this flow and 15 MB of others.
        let available = of_data.measured(&data, &hops, own, 1.0).unwrap();
        assert!(available.abs_diff(10_000_000_000 - 780_000_000 * 10) <= 1, "{available}, rounded");
        assert_eq!(estimator.measured(&p, &hops[..1], 0, 1.0), None, "another way");
    }

    /// Random probes in any order with any timestamps: estimates are finite, and there is at most one reply per
    /// train.
    #[test]
    fn the_estimator_keeps_its_bounds_for_any_input() {
        for seed in 0..20 {
            let p = EccpParameters { train_frames: 2 + seed as u32, ..EccpParameters::default() };
            let (mut draws, mut random) = (Stream::new(seed, 0, 0), Stream::new(seed, 1, 0));
            let (mut estimator, mut replies, mut now) = (Estimator::default(), Vec::new(), Time::ZERO);
            for step in 0..20_000u64 {
                now += Time::from_ns(draws.below(3000));
                let seq = match draws.below(20) {
                    0 => draws.next_u64(),
                    1 => step.saturating_sub(draws.below(100)),
                    _ => step,
                };
                let stamp = if draws.below(8) == 0 { Time::from_ps(draws.next_u64()) } else { now };
                let flags = if draws.below(50) == 0 { flags::COLLECTS } else { 0 };
                let frame = Frame { kind: Kind::Probe, seq, stamp, flags, size_bytes: 1500, ..Frame::default() };
                estimator.on_probe(&p, (1062, 1082), &mut Ctx::new(now, &mut random, &mut replies), &frame);
                assert!(
                    estimator.best.gbps(0, 0).is_finite()
                        && estimator.filter.is_none_or(|it| it.available().is_finite())
                );
            }
            assert!(replies.len() <= 20_000);
        }
    }
}
