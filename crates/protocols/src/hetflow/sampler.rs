//! Receiver: samples the one-way delay of data frames and sends notifications (thesis, algorithm 3, with resets that
//! the thesis omits).

use super::{HetFlowParameters, MAX_FEEDBACK};
use crate::endpoint::{Ctx, Reply};
use crate::frame::{CongestionMessage, Detail, Frame, Kind, MIN_FRAME_BYTES};
use units::Time;

/// Sampler of the one-way delay of one flow.
///
/// A delay sample is the receive timestamp minus the sender's timestamp. It includes the offset between the two
/// clocks and may be negative. Since only differences of delays are used, only the clock drift matters: a drift of 10
/// us/s adds 1e-5 to a gradient.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// End time of the last sample; `None` before the first frame.
    since: Option<Time>,
    /// Bytes received since `since`.
    bytes: u64,
    /// State of the current sample: arrival time of its first frame, number of frames, sum of their delays in
    /// picoseconds.
    began: Time,
    frames: u32,
    sum_ps: i128,
    /// EWMA of the mean delays of samples, in picoseconds relative to `base_ps`, the first delay of the flow.
    mean_ps: Option<f64>,
    base_ps: i128,
}

/// Returns the one-way delay of the frame in picoseconds: receive time minus `stamp`, by two different clocks.
fn delay_ps(now: Time, frame: &Frame) -> i128 {
    i128::from(now.as_ps()) - i128::from(frame.stamp.as_ps())
}

impl Sampler {
    /// Handles a data frame: adds it to the current sample if one is due, and sends a notification at the end of the
    /// sample.
    pub(crate) fn on_data(&mut self, parameters: &HetFlowParameters, ctx: &mut Ctx<'_>, frame: &Frame) {
        let now = ctx.now;
        let Some(since) = self.since else {
            self.base_ps = delay_ps(now, frame);
            return self.start_over(now);
        };
        self.bytes += u64::from(frame.size_bytes);
        let due = self.bytes > parameters.byte_counter_bytes || now >= since.saturating_add(parameters.timer);
        if self.frames == 0 {
            if !due {
                return;
            }
            self.began = now;
        }
        self.frames += 1;
        self.sum_ps += delay_ps(now, frame) - self.base_ps;
        if now.saturating_sub(self.began) > parameters.timer * 2 {
            // The sample took too long, so that its delays are not comparable: discards it and the moving average.
            self.mean_ps = None;
            return self.start_over(now);
        }
        if self.frames < parameters.sample {
            return;
        }
        let mean_ps = self.sum_ps as f64 / f64::from(self.frames);
        let feedback = match self.mean_ps {
            // A gradient needs a positive time between two samples: `now > since`.
            Some(before_ps) if now > since => feedback(parameters, mean_ps - before_ps, now - since),
            _ => 0,
        };
        self.mean_ps = Some(match self.mean_ps {
            Some(before_ps) => parameters.ewma * mean_ps + (1.0 - parameters.ewma) * before_ps,
            None => mean_ps,
        });
        self.start_over(now);
        if feedback > 0 {
            ctx.replies.push(Reply {
                kind: Kind::Cnm,
                stamp: frame.stamp,
                detail: Detail::congestion_message(CongestionMessage { feedback, ..CongestionMessage::default() }),
                size_bytes: parameters.cnm_bytes.max(MIN_FRAME_BYTES),
                ..Reply::default()
            });
        }
    }

    /// Moving average of the one-way delay in picoseconds, with the offset between the two clocks.
    pub(crate) fn delay_ps(&self) -> Option<i64> {
        let mean_ps = self.mean_ps?;
        i64::try_from(self.base_ps + mean_ps as i128).ok()
    }

    fn start_over(&mut self, now: Time) {
        (self.since, self.bytes, self.frames, self.sum_ps) = (Some(now), 0, 0, 0);
    }
}

/// Returns the feedback for a delay that rose by `rise_ps` within `eta` (thesis, eq. 3.3 and 3.4), rounded down to a
/// whole number as in QCN. With fractional feedback, noise would cause small notifications, which prevent the
/// recovery of the rate because its height is proportional to the last feedback.
fn feedback(parameters: &HetFlowParameters, rise_ps: f64, eta: Time) -> u8 {
    let feedback = parameters.scaling * rise_ps / eta.as_ps() as f64;
    feedback.clamp(0.0, f64::from(MAX_FEEDBACK)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Runs a sampler over frames given as (arrival, delay), with the receiver's clock `ahead` of the sender's.
    /// Returns the feedback of all notifications.
    fn replies_of(parameters: &HetFlowParameters, ahead: Time, frames: impl Iterator<Item = (Time, Time)>) -> Vec<u8> {
        let (mut sampler, mut random, mut replies) = (Sampler::default(), Stream::new(1, 0, 0), Vec::new());
        for (at, delay) in frames {
            let frame = Frame { size_bytes: 1000, stamp: at - delay, ..Frame::default() };
            sampler.on_data(parameters, &mut Ctx::new(at + ahead, &mut random, &mut replies), &frame);
        }
        replies
            .iter()
            .map(|reply| Frame { kind: reply.kind, detail: reply.detail, ..Frame::default() })
            .map(|frame| frame.congestion_message().feedback)
            .collect()
    }

    /// One frame per microsecond from 1 ms on. The delay starts at 100 us and grows by `growth_ps` per frame.
    fn ramp(frames: u64, growth_ps: u64) -> impl Iterator<Item = (Time, Time)> {
        (0..frames).map(move |at| (Time::from_us(1000 + at), Time::from_us(100) + Time::from_ps(growth_ps * at)))
    }

    /// Fb = KC * gradient. A delay that grows by s ps per microsecond has the gradient s / 10^6, for any sample
    /// length.
    #[test]
    fn feedback_is_the_slope_times_its_scaling() {
        let p = HetFlowParameters::default();
        for (growth_ps, expected) in
            [(0, None), (600, None), (700, Some(1)), (10_000, Some(15)), (42_000, Some(63)), (90_000, Some(64))]
        {
            let replies_of = replies_of(&p, Time::ZERO, ramp(2000, growth_ps));
            // The 2000 frames yield 15 samples, one per 100 + 32 frames; the first sample has no predecessor and
            // gives no feedback.
            let expected: Vec<u8> = expected.into_iter().flat_map(|feedback| [feedback; 14]).collect();
            assert_eq!(replies_of, expected, "{growth_ps}");
        }
    }

    /// With KC = 1500 the feedback saturates at 64, a gradient of 64 / 1500 = 4.27 %.
    #[test]
    fn feedback_saturates_above_64_in_1500() {
        let p = HetFlowParameters::default();
        let eta = Time::from_us(80);
        let of = |share: f64| feedback(&p, 80e6 * share, eta);
        assert_eq!((of(0.0426), of(0.0427), of(1.0), of(-0.5)), (63, 64, 64, 0));
    }

    #[test]
    fn clocks_that_differ_change_nothing() {
        let p = HetFlowParameters::default();
        let exact = replies_of(&p, Time::ZERO, ramp(3000, 10_000));
        assert_eq!(replies_of(&p, Time::from_s(3), ramp(3000, 10_000)), exact);
        // The receiver's clock is 900 us behind the sender's, so that delays are negative.
        let behind = ramp(3000, 10_000).map(|(at, delay)| (at, delay, Time::from_us(900)));
        let (mut sampler, mut random, mut replies) = (Sampler::default(), Stream::new(1, 0, 0), Vec::new());
        for (at, delay, behind) in behind {
            let frame = Frame { size_bytes: 1000, stamp: at - delay, ..Frame::default() };
            sampler.on_data(&p, &mut Ctx::new(at - behind, &mut random, &mut replies), &frame);
        }
        assert_eq!(replies.len(), exact.len());
    }

    #[test]
    fn the_timer_takes_samples_of_slow_flows_and_gives_up_on_slower_ones() {
        let p = HetFlowParameters { sample: 4, ..HetFlowParameters::default() };
        // One frame of 1000 bytes per 500 us does not fill the byte counter of 100 kB in 3 ms, so that the timer
        // starts a sample of 4 frames.
        let every = |us: u64| (0..100).map(move |at| (Time::from_us(10_000 + us * at), Time::from_us(1000 + 10 * at)));
        assert!(!replies_of(&p, Time::ZERO, every(500)).is_empty());
        // At one frame per 2.5 ms, four frames take more than twice the timer of 3 ms, so that the sample is
        // discarded.
        assert!(replies_of(&p, Time::ZERO, every(2500)).is_empty());
    }

    /// Random frames and timestamps: the mean delay is finite, and there is at most one notification per sample.
    #[test]
    fn the_sampler_keeps_its_bounds_for_any_input() {
        let mut replies_of = 0;
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let p = HetFlowParameters {
                sample: 1 + random.below(40) as u32,
                byte_counter_bytes: 1 + random.below(50_000),
                timer: Time::from_us(1 + random.below(2000)),
                ewma: 0.5,
                scaling: 1e9,
                ..HetFlowParameters::default()
            };
            let (mut sampler, mut replies, mut now) = (Sampler::default(), Vec::new(), Time::ZERO);
            let mut host = Stream::new(seed, 1, 0);
            for _ in 0..20_000 {
                now += Time::from_ns(random.below(3000));
                let stamp = Time::from_ps(if random.below(10) == 0 {
                    random.next_u64()
                } else {
                    random.below(now.as_ps() + 1)
                });
                let frame = Frame { size_bytes: 64 + random.below(1400) as u16, stamp, ..Frame::default() };
                sampler.on_data(&p, &mut Ctx::new(now, &mut host, &mut replies), &frame);
                assert!(sampler.mean_ps.is_none_or(f64::is_finite));
                assert!(sampler.frames < p.sample);
            }
            assert!(replies.len() as u32 <= 20_000 / p.sample);
            replies_of += replies.len();
        }
        assert!(replies_of > 1000, "{replies_of}");
    }
}
