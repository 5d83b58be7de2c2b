//! Receiver: sampler of data frames and generator of notifications (thesis, algorithm 3; resets that it omits are
//! added).

use super::{HetFlowParameters, MAX_FEEDBACK};
use crate::endpoint::{Ctx, Reply};
use crate::frame::{CongestionMessage, Detail, Frame, Kind, MIN_FRAME_BYTES};
use units::Time;

/// Delay samples of one flow.
///
/// A delay is the receive timestamp minus the sender's timestamp. It includes the offset of the two clocks and may be
/// negative. Only differences of delays are used, so that only the clock drift matters: 10 us/s adds 1e-5 to a
/// gradient.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// End of the last sample; `None` before the first frame.
    since: Option<Time>,
    /// Bytes received since `since`.
    bytes: u64,
    /// Arrival time of the first frame of the current sample, number of its frames, and sum of their delays in
    /// picoseconds.
    began: Time,
    frames: u32,
    sum_ps: i128,
    /// Moving average of the mean delays, in picoseconds above `base_ps`, the first delay of the flow.
    mean_ps: Option<f64>,
    base_ps: i128,
}

/// One-way delay of the frame in picoseconds: difference of the receiver's and the sender's clock.
fn delay_ps(now: Time, frame: &Frame) -> i128 {
    i128::from(now.as_ps()) - i128::from(frame.stamp.as_ps())
}

impl Sampler {
    /// Handles a data frame.
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
            // Delays of frames this far apart are not comparable.
            self.mean_ps = None;
            return self.start_over(now);
        }
        if self.frames < parameters.sample {
            return;
        }
        let mean_ps = self.sum_ps as f64 / f64::from(self.frames);
        let feedback = match self.mean_ps {
            // `now > since`: a gradient needs a positive time between samples.
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

    /// Moving average of the delay in picoseconds.
    pub(crate) fn delay_ps(&self) -> Option<i64> {
        let mean_ps = self.mean_ps?;
        i64::try_from(self.base_ps + mean_ps as i128).ok()
    }

    fn start_over(&mut self, now: Time) {
        (self.since, self.bytes, self.frames, self.sum_ps) = (Some(now), 0, 0, 0);
    }
}

/// Feedback for a delay that rose by `rise_ps` within `eta` (thesis, eq. 3.3 and 3.4), rounded down to a whole number,
/// as in QCN. With fractional feedback, noise would cause notifications and keep senders at their rate, since the
/// recovery scales with the last feedback.
fn feedback(parameters: &HetFlowParameters, rise_ps: f64, eta: Time) -> u8 {
    let feedback = parameters.scaling * rise_ps / eta.as_ps() as f64;
    feedback.clamp(0.0, f64::from(MAX_FEEDBACK)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Runs a sampler over `frames` of (arrival, delay), with the receiver's clock `ahead` of the sender's. Returns the
    /// feedback sent.
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

    /// One frame per microsecond from 1 ms on, with a delay that grows by `growth_ps` per frame from 100 us.
    fn ramp(frames: u64, growth_ps: u64) -> impl Iterator<Item = (Time, Time)> {
        (0..frames).map(move |at| (Time::from_us(1000 + at), Time::from_us(100) + Time::from_ps(growth_ps * at)))
    }

    /// Fb = KC * gradient: a delay that grows by s picoseconds per microsecond has the gradient s / 10^6, for any
    /// sample length.
    #[test]
    fn feedback_is_the_slope_times_its_scaling() {
        let p = HetFlowParameters::default();
        for (growth_ps, expected) in
            [(0, None), (600, None), (700, Some(1)), (10_000, Some(15)), (42_000, Some(63)), (90_000, Some(64))]
        {
            let replies_of = replies_of(&p, Time::ZERO, ramp(2000, growth_ps));
            // Samples end every 100 + 32 frames; the first sample has no predecessor and gives no feedback.
            let expected: Vec<u8> = expected.into_iter().flat_map(|feedback| [feedback; 14]).collect();
            assert_eq!(replies_of, expected, "{growth_ps}");
        }
    }

    /// With KC = 1500 the feedback saturates at an overload of 4.27 %.
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
        // The receiver's clock is behind: delays are negative.
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
        // One frame of 1000 bytes per 500 us does not fill the byte counter in 3 ms, so that the timer starts a sample
        // of 4 frames.
        let every = |us: u64| (0..100).map(move |at| (Time::from_us(10_000 + us * at), Time::from_us(1000 + 10 * at)));
        assert!(!replies_of(&p, Time::ZERO, every(500)).is_empty());
        // At one frame per 2.5 ms, four frames take more than twice the timer: no sample.
        assert!(replies_of(&p, Time::ZERO, every(2500)).is_empty());
    }

    /// Random frames and timestamps: feedback is finite and at most 64, with at most one notification per sample.
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
