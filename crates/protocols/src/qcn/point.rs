//! Congestion point: one queue of a switch, sampled more often the stronger its last congestion was.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter};
use crate::frame::CongestionMessage;
use units::random::Stream;

/// Steps of quantized feedback: 6 bits.
const STEPS: u8 = 64;

/// Description of congestion points.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "congestion-point",
    family: Family::Marking,
    title: "queues that notify the sources of sampled frames (QCN)",
    source: "IEEE 802.1Qau-2010, now 802.1Q clauses 30 to 33; Alizadeh et al., Allerton 2008",
    parameters: &[
        Parameter {
            key: "set_point",
            default: Value("26KB"),
            meaning: "target queue length Q_eq, at least 1 B",
            source: "IEEE 802.1Q, cpQueueSizeSetPoint; Bahnasy's thesis, sec. 3.7: 20 % of the buffer",
        },
        Parameter {
            key: "weight",
            default: Value("2"),
            meaning: "weight w of the queue's change beside its offset from the set point, 0 to 64",
            source: "IEEE 802.1Q, cpW",
        },
        Parameter {
            key: "sample",
            default: Value("150KB"),
            meaning: "bytes that arrive at a queue between two samples while there is no congestion",
            source: "IEEE 802.1Q, cpSampleBase; a frame of 1500 B is then sampled with 1 % probability",
        },
        Parameter {
            key: "sample_min",
            default: Value("15KB"),
            meaning: "bytes between two samples after the strongest feedback, at least 1 B, up to `sample`; between \
                the two the probability rises linearly with the last feedback",
            source: "Alizadeh et al., Allerton 2008: 10 %",
        },
        Parameter {
            key: "jitter",
            default: Value("0.15"),
            meaning: "each distance is drawn from this share below to this share above, 0 to less than 1",
            source: "IEEE 802.1Q, clause 32.8: 0.85 to 1.15",
        },
        Parameter {
            key: "cnm",
            default: Value("64B"),
            meaning: "length of a notification",
            source: "IEEE 802.1Q, clause 33: with priority tag 46 B, and no frame is shorter than 64",
        },
        Parameter {
            key: "cnm_class",
            default: Value("6"),
            meaning: "class of notifications, 0 to 7",
            source: "IEEE 802.1Q, cngCnmTransmitPriority",
        },
        Parameter {
            key: "priorities",
            default: Absent("all but cnm_class"),
            meaning: "classes whose queues are congestion points",
            source: "IEEE 802.1Q, congestion notification priority values",
        },
    ],
};

/// The parameters of congestion points; [`MECHANISM`] describes each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointParameters {
    /// Q_eq, at least 1.
    pub set_point_bytes: u64,
    /// w.
    pub weight: u8,
    /// Bytes between two samples without congestion.
    pub sample_bytes: u64,
    /// Bytes between two samples after the strongest feedback, 1 to `sample_bytes`.
    pub sample_min_bytes: u64,
    /// Largest random share by which a distance differs, 0 to less than 1.
    pub jitter: f64,
    /// Length of a notification in bytes, at least 64.
    pub cnm_bytes: u16,
    /// Class of notifications.
    pub cnm_class: u8,
    /// Bitmask of the classes with congestion points.
    pub classes: u8,
}

impl PointParameters {
    /// Message of a queue of `queue_bytes` that held `old_bytes` at the last sample; `None` without congestion.
    ///
    /// Fb = -((Q - Q_eq) + w (Q - Q_old)). Only negative values are sent; 0 to Q_eq (1 + 2 w) is quantized to 0 to 63
    /// (802.1Q clause 32; Bahnasy's thesis, eq. 1.1).
    pub fn message(&self, queue_bytes: u64, old_bytes: u64) -> Option<CongestionMessage> {
        let queue = i128::from(queue_bytes);
        let (offset, delta) = (queue - i128::from(self.set_point_bytes), queue - i128::from(old_bytes));
        let weight = i128::from(self.weight);
        let congestion = offset + weight * delta;
        let most = i128::from(self.set_point_bytes) * (1 + 2 * weight);
        let steps = i128::from(STEPS);
        let feedback = (congestion * steps / most.max(1)).clamp(0, steps - 1) as u8;
        let units = |bytes: i128| (bytes / 64).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        (feedback > 0).then(|| CongestionMessage { feedback, offset: units(offset), delta: units(delta) })
    }

    /// Bytes until the next sample after `feedback`, before jitter: the sampling probability is linear in the feedback.
    pub fn distance_bytes(&self, feedback: u8) -> u64 {
        let (most, feedback) = (u128::from(STEPS - 1), u128::from(feedback.min(STEPS - 1)));
        let (far, near) = (u128::from(self.sample_bytes), u128::from(self.sample_min_bytes));
        // 1 / distance is interpolated linearly between 1 / far and 1 / near.
        let distance = far * near * most / (near * most + far.saturating_sub(near) * feedback).max(1);
        u64::try_from(distance).unwrap_or(u64::MAX)
    }
}

/// State of a congestion point.
#[derive(Clone, Copy, Debug, Default)]
pub struct CongestionPoint {
    /// Bytes until the next sample.
    left_bytes: u64,
    /// Bytes in the queue at the last sample.
    old_bytes: u64,
    /// Whether the first distance has been drawn.
    counts: bool,
}

impl CongestionPoint {
    /// Handles a frame of `size_bytes` that joined the queue, which now has `queue_bytes`. Returns the message for its
    /// source if the frame is sampled and the queue is congested.
    pub fn on_arrival(
        &mut self,
        parameters: &PointParameters,
        size_bytes: u64,
        queue_bytes: u64,
        random: &mut Stream,
    ) -> Option<CongestionMessage> {
        if !self.passes(parameters, size_bytes, random) {
            return None;
        }
        let message = parameters.message(queue_bytes, self.old_bytes);
        self.old_bytes = queue_bytes;
        self.draw(parameters, message.map_or(0, |message| message.feedback), random);
        message
    }

    /// Counts `bytes` that passed the empty queue. A sample among them finds an empty queue.
    pub fn on_idle(&mut self, parameters: &PointParameters, bytes: u64, random: &mut Stream) {
        if self.passes(parameters, bytes, random) {
            self.old_bytes = 0;
            self.draw(parameters, 0, random);
        }
    }

    /// Counts `bytes` down. Returns true if a sample is due.
    fn passes(&mut self, parameters: &PointParameters, bytes: u64, random: &mut Stream) -> bool {
        if !self.counts {
            self.counts = true;
            self.draw(parameters, 0, random);
        }
        let due = bytes >= self.left_bytes;
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
        due
    }

    fn draw(&mut self, parameters: &PointParameters, feedback: u8, random: &mut Stream) {
        let factor = 1.0 + parameters.jitter * (2.0 * random.unit() - 1.0);
        self.left_bytes = ((parameters.distance_bytes(feedback) as f64 * factor) as u64).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: PointParameters = PointParameters {
        set_point_bytes: 200_000,
        weight: 2,
        sample_bytes: 150_000,
        sample_min_bytes: 15_000,
        jitter: 0.15,
        cnm_bytes: 64,
        cnm_class: 6,
        classes: 0b1000,
    };

    /// Fb in steps of 5 Q_eq / 64 = 15625 bytes.
    #[test]
    fn feedback_is_quantized_to_six_bits() {
        let feedback = |queue, old| P.message(queue, old).map(|message| message.feedback);
        assert_eq!(feedback(200_000, 200_000), None, "at its set point");
        assert_eq!((feedback(215_624, 215_624), feedback(215_625, 215_625)), (None, Some(1)));
        assert_eq!((feedback(231_249, 231_249), feedback(231_250, 231_250)), (Some(1), Some(2)));
        // 100 KB above, and 50 KB more than before: 200 KB.
        assert_eq!(feedback(300_000, 250_000), Some(12));
        // A queue that falls fast enough is not congested; one that grows below its set point is.
        assert_eq!(feedback(300_000, 350_000), None);
        assert_eq!(feedback(150_000, 0), Some(16));
        assert_eq!(feedback(1_000_000, 900_000), Some(63), "no more than 6 bits hold");
        assert_eq!(feedback(u64::MAX, 0), Some(63));
    }

    #[test]
    fn messages_say_where_the_queue_is_in_units_of_64_bytes() {
        let told = P.message(300_000, 310_000).unwrap();
        assert_eq!((told.offset, told.delta), (1562, -156));
        let far = P.message(1 << 40, 0).unwrap();
        assert_eq!((far.offset, far.delta), (i16::MAX, i16::MAX));
    }

    /// Figure 1.6 of the thesis: 1 % of frames of 1500 bytes without congestion, 10 % at the strongest, linear in
    /// between.
    #[test]
    fn the_probability_of_a_sample_is_linear_in_the_last_feedback() {
        for feedback in 0..=70u8 {
            let share = 1500.0 / P.distance_bytes(feedback) as f64;
            let line = 0.01 + 0.09 * f64::from(feedback.min(63)) / 63.0;
            assert!((share / line - 1.0).abs() < 1e-3, "{feedback}: {share} {line}");
        }
    }

    /// The measured mean distance of samples, with jitter, at a queue of constant length.
    #[test]
    fn samples_come_as_often_as_they_shall() {
        for (queue, feedback) in [(100_000, 0), (700_000, 32), (2_000_000, 63)] {
            let (mut point, mut random) = (CongestionPoint::default(), Stream::new(1, 0, 0));
            let (mut frames, mut told) = (0u64, 0u64);
            point.old_bytes = queue;
            while frames < 300_000 {
                frames += 1;
                let before = point.old_bytes;
                let left = point.left_bytes;
                if let Some(message) = point.on_arrival(&P, 1000, queue, &mut random) {
                    assert_eq!((message.feedback, before, left <= 1000), (feedback, queue, true));
                    told += 1;
                }
            }
            let expected = if feedback == 0 { 0.0 } else { frames as f64 * 1000.0 / P.distance_bytes(feedback) as f64 };
            // Whole frames are sampled: on average half a frame late.
            let late = 1.0 + 500.0 / P.distance_bytes(feedback) as f64;
            assert!((told as f64 * late - expected).abs() <= 0.01 * expected, "{told} for {expected}");
        }
    }

    #[test]
    fn what_passes_an_empty_queue_is_sampled_too() {
        let (mut point, mut random) = (CongestionPoint::default(), Stream::new(1, 0, 0));
        while point.on_arrival(&P, 1000, 700_000, &mut random).is_none() {}
        assert_eq!(point.old_bytes, 700_000);
        point.on_idle(&P, 1_000_000, &mut random);
        assert_eq!(point.old_bytes, 0);
        assert!(point.left_bytes >= 127_500, "as without congestion");
    }
}
