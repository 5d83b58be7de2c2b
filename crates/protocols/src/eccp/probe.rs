//! Probe sender: trains of probes at random rates, each probe stamped with its departure time.

use super::parameters::{BandwidthSource, EccpParameters};
use crate::endpoint::{Ctx, Segment};
use crate::frame::{Detail, Kind, MIN_FRAME_BYTES, flags};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Probe sender of one flow.
#[derive(Clone, Debug)]
pub struct ProbeSender {
    /// Rate of the sender's port.
    line: Rate,
    /// Number of trains begun, number of unsent probes of the current train, and the time between two probes of it.
    trains: u64,
    left: u32,
    spacing: Time,
    /// Start of the current train, and earliest departure of the next probe.
    began: Time,
    next: Time,
    /// Time of the next telemetry sample; [`Time::MAX`] if bandwidth is estimated from trains.
    next_sample: Time,
}

impl ProbeSender {
    /// Creates the probe sender of a flow that starts at `start` on a port of rate `line`.
    pub(crate) fn new(parameters: &EccpParameters, line: Rate, start: Time) -> ProbeSender {
        let next_sample = if parameters.estimate == BandwidthSource::Measured { start } else { Time::MAX };
        ProbeSender { line, trains: 0, left: 0, spacing: Time::ZERO, began: start, next: start, next_sample }
    }

    /// Earliest time of the next probe.
    pub(crate) fn next(&self) -> Time {
        self.next.min(self.next_sample)
    }

    /// Returns the probe that is due, if any. Called when the port is idle; `rate` is the flow's current rate of
    /// data.
    pub(crate) fn poll(&mut self, parameters: &EccpParameters, ctx: &mut Ctx<'_>, rate: Rate) -> Option<Segment> {
        let now = ctx.now;
        let probe = Segment { kind: Kind::Probe, stamp: now, class: parameters.probe_class, ..Segment::default() };
        if now >= self.next_sample {
            self.next_sample = later(self.next_sample, parameters.train_interval, now);
            return Some(Segment { size_bytes: MIN_FRAME_BYTES, flags: flags::COLLECTS, ..probe });
        }
        if now < self.next {
            return None;
        }
        let wire_bytes = u64::from(parameters.probe_bytes) + WIRE_OVERHEAD_BYTES;
        if self.left == 0 {
            let most_bps = (rate.as_bps() as f64 * parameters.share) as u64;
            let least_bps = parameters.min_probe_rate.as_bps();
            let draw = ctx.random.below(most_bps.saturating_sub(least_bps).saturating_add(1));
            self.spacing = Rate::from_bps(least_bps + draw).unwrap_or(Rate::MIN).min(self.line).serialise(wire_bytes);
            self.left = parameters.train_frames;
            self.trains += 1;
            self.began = now;
        }
        let frames = u64::from(parameters.train_frames);
        // The receiver computes the number of the train and the index of the probe from `seq`.
        let seq = self.trains * frames + (frames - u64::from(self.left));
        self.left -= 1;
        self.next = now.saturating_add(self.spacing);
        if self.left == 0 {
            // The next train starts one train interval after the start of this train, or right after its end if it
            // takes longer.
            self.next = self.next.max(self.began.saturating_add(parameters.train_interval));
        }
        let detail = Detail::number(self.line.as_bps());
        Some(Segment { seq, size_bytes: parameters.probe_bytes.max(MIN_FRAME_BYTES), detail, ..probe })
    }
}

/// Returns the earliest time after `now` that is `before` plus a multiple of `interval`.
fn later(before: Time, interval: Time, now: Time) -> Time {
    let missed = (now - before).as_ps() / interval.as_ps().max(1);
    before.saturating_add(Time::from_ps(interval.as_ps().saturating_mul(missed + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Returns all probes until `span` of a sender that is polled exactly when a probe is due.
    fn probes(parameters: &EccpParameters, rate: Rate, span: Time) -> Vec<Segment> {
        let mut sender = ProbeSender::new(parameters, Rate::from_gbps(10), Time::ZERO);
        let (mut random, mut replies, mut sent) = (Stream::new(5, 0, 0), Vec::new(), Vec::new());
        while sender.next() < span {
            let now = sender.next();
            sent.extend(sender.poll(parameters, &mut Ctx::new(now, &mut random, &mut replies), rate));
        }
        sent
    }

    /// At 10 Gbps, the train rates are uniform from 50 Mbps to 1 Gbps (a tenth of the flow's rate), with a mean of
    /// 525 Mbps; trains of 33 probes do not overlap.
    #[test]
    fn trains_go_at_random_rates_one_after_the_other() {
        let p = EccpParameters::default();
        let sent = probes(&p, Rate::from_gbps(10), Time::from_s(2));
        let trains: Vec<&[Segment]> = sent.chunks_exact(33).collect();
        let mut rates = Vec::new();
        for (number, train) in trains.iter().enumerate() {
            assert!(
                train.iter().enumerate().all(|(index, probe)| probe.seq == (number as u64 + 1) * 33 + index as u64)
            );
            let gaps: Vec<Time> = train.windows(2).map(|pair| pair[1].stamp - pair[0].stamp).collect();
            assert!(gaps.iter().all(|gap| *gap == gaps[0]), "a train keeps its rate");
            rates.push(1520.0 * 8.0 / gaps[0].as_secs_f64() / 1e6);
        }
        assert!(rates.iter().all(|mbps| (49.9..=1000.1).contains(mbps)));
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        assert!((mean / 525.0 - 1.0).abs() < 0.1, "{mean}");
        let starts: Vec<Time> = trains.iter().map(|train| train[0].stamp).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= p.train_interval));
    }

    /// Equation 2.1: the mean rate of trains is half of a tenth of the flow's rate. If trains follow each other
    /// without a gap, probes use less than this twentieth.
    #[test]
    fn probes_cost_a_twentieth_of_the_rate() {
        let p = EccpParameters { train_interval: Time::from_us(1), ..EccpParameters::default() };
        let rate = Rate::from_gbps(10);
        let sent = probes(&p, rate, Time::from_s(2));
        let share = sent.len() as f64 * 1520.0 * 8.0 / 2.0 / rate.as_bps() as f64;
        // Slow trains last longer, so that the mean over time is the harmonic mean of the train rates, which is below
        // their arithmetic mean.
        let (least, most) = (0.05_f64, 1.0_f64);
        let harmonic = (most - least) / (most / least).ln() / 10.0;
        assert!((share / harmonic - 1.0).abs() < 0.1 && share < 0.05, "{share} for {harmonic}");
    }

    #[test]
    fn the_load_is_sampled_at_its_interval() {
        let p = EccpParameters { estimate: BandwidthSource::Measured, ..EccpParameters::default() };
        let sent = probes(&p, Rate::from_gbps(1), Time::from_ms(100));
        let samples: Vec<&Segment> = sent.iter().filter(|probe| probe.flags & flags::COLLECTS != 0).collect();
        assert_eq!(samples.len(), 100);
        assert!(samples.iter().enumerate().all(|(at, probe)| probe.stamp == Time::from_ms(at as u64)));
    }

    /// With late and with unnecessary polls, no probe is missing and none is sent twice.
    #[test]
    fn late_and_needless_questions_do_no_harm() {
        let p = EccpParameters { estimate: BandwidthSource::Measured, ..EccpParameters::default() };
        let mut sender = ProbeSender::new(&p, Rate::from_gbps(10), Time::ZERO);
        let (mut random, mut replies, mut now) = (Stream::new(5, 0, 0), Vec::new(), Time::ZERO);
        let mut draws = Stream::new(6, 0, 0);
        let mut last = 32;
        for _ in 0..20_000 {
            now += Time::from_ns(draws.below(100_000));
            let rate = Rate::from_bps(1 + draws.below(10_000_000_000)).unwrap();
            match sender.poll(&p, &mut Ctx::new(now, &mut random, &mut replies), rate) {
                Some(probe) if probe.flags & flags::COLLECTS != 0 => {}
                Some(probe) => {
                    assert_eq!(probe.seq, last + 1);
                    last = probe.seq;
                }
                None => assert!(sender.next() > now),
            }
        }
    }
}
