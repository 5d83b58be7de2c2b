//! Congestion point: one queue of a switch. The higher the feedback of its last sample, the shorter its sampling
//! interval.

use crate::describe::Mechanism;
use crate::frame::{CongestionMessage, Detail, Frame, Kind, MIN_FRAME_BYTES};
use crate::parameters::parameters;
use crate::port::{Hooks, PortMechanism, PortSpec, PortView};
use crate::settings::require;
use units::Bytes;
use units::random::Stream;

/// Number of levels of quantised feedback: 6 bits.
const STEPS: u8 = 64;

parameters! {
    /// Parameters of congestion points.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PointParameters: Marking "congestion-point" {
        title: "queues that notify the sources of sampled frames (QCN)";
        source: "IEEE 802.1Qau-2010, now 802.1Q clauses 30 to 33; Alizadeh et al., Allerton 2008";
        /// Equilibrium queue length Q_eq, at least 1.
        set_point_bytes: u64 = "set_point" bytes, default "26KB",
            "target queue length Q_eq, at least 1 B",
            "IEEE 802.1Q, cpQueueSizeSetPoint; Bahnasy's thesis, sec. 3.7: 20 % of the buffer";
        /// Weight w of the change of the queue length in the feedback, 0 to 64.
        weight: u32 = "weight" count[0, 64], default "2",
            "weight w of the queue's change beside its offset from the set point, 0 to 64",
            "IEEE 802.1Q, cpW";
        /// Number of bytes between two samples without congestion.
        sample_bytes: u64 = "sample" bytes, default "150KB",
            "bytes that arrive at a queue between two samples while there is no congestion",
            "IEEE 802.1Q, cpSampleBase; a frame of 1500 B is then sampled with 1 % probability";
        /// Number of bytes between two samples after the maximum feedback, 1 to `sample_bytes`.
        sample_min_bytes: u64 = "sample_min" bytes, default "15KB",
            "bytes between two samples after the strongest feedback, at least 1 B, up to `sample`; between the two the \
             probability rises linearly with the last feedback",
            "Alizadeh et al., Allerton 2008: 10 %";
        /// Jitter of the number of bytes between two samples: maximum random deviation as a share, 0 to less than 1.
        jitter: f64 = "jitter" share, default "0.15",
            "each distance is drawn from this share below to this share above, 0 to less than 1",
            "IEEE 802.1Q, clause 32.8: 0.85 to 1.15";
        /// Frame length of a notification message in bytes; at least 64 are sent.
        cnm_bytes: u16 = "cnm" frame_bytes, default "64B",
            "length of a notification",
            "IEEE 802.1Q, clause 33: with priority tag 46 B, and no frame is shorter than 64";
        /// Traffic class of notification messages.
        cnm_class: u8 = "cnm_class" class, default "6",
            "class of notifications, 0 to 7",
            "IEEE 802.1Q, cngCnmTransmitPriority";
        /// Bitmask of the classes with congestion points; `None` for all classes except `cnm_class`.
        classes: Option<u8> = "priorities" classes, absent "all but cnm_class",
            "classes whose queues are congestion points",
            "IEEE 802.1Q, congestion notification priority values";
    }
    check(parameters) {
        let far = Bytes(parameters.sample_bytes);
        let wanted = || format!("at most `sample` = {far}: stronger feedback shortens the sampling distance");
        [
            require(parameters.set_point_bytes > 0, "set_point", "at least 1B"),
            require(parameters.sample_min_bytes > 0, "sample_min", "at least 1B"),
            require(parameters.sample_min_bytes <= parameters.sample_bytes, "sample_min", wanted()),
            require(parameters.jitter < 1.0, "jitter", "less than 1: a jitter of 1 could draw a distance of zero"),
        ]
    }
}

impl PointParameters {
    /// Bitmask of the classes with congestion points.
    pub fn sampled_classes(&self) -> u8 {
        self.classes.unwrap_or(!(1 << self.cnm_class))
    }

    /// Returns the notification message for a queue of `queue_bytes` that held `old_bytes` at the previous sample;
    /// `None` if there is no congestion.
    ///
    /// Fb = -((Q - Q_eq) + w (Q - Q_old)). Only negative values are sent; the range from 0 to -Q_eq (1 + 2 w) is
    /// quantised to 0 to 63 (802.1Q clause 32; Bahnasy's thesis, eq. 1.1).
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

    /// Returns the number of bytes until the next sample after `feedback`, without jitter: the sampling probability
    /// is linear in the feedback.
    pub fn distance_bytes(&self, feedback: u8) -> u64 {
        let (most, feedback) = (u128::from(STEPS - 1), u128::from(feedback.min(STEPS - 1)));
        let (far, near) = (u128::from(self.sample_bytes), u128::from(self.sample_min_bytes));
        // 1 / distance is linear in the feedback, from 1 / far without congestion to 1 / near at the maximum
        // feedback.
        let distance = far * near * most / (near * most + far.saturating_sub(near) * feedback).max(1);
        u64::try_from(distance).unwrap_or(u64::MAX)
    }
}

/// State of the congestion point at one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct CongestionPoint {
    /// Number of bytes until the next sample.
    left_bytes: u64,
    /// Queue length in bytes at the last sample.
    old_bytes: u64,
    /// Whether the number of bytes until the first sample has been drawn.
    counts: bool,
}

impl CongestionPoint {
    /// Handles a frame of `size_bytes` that was enqueued, after which the queue has `queue_bytes`. Returns the
    /// notification message for the frame's source if the frame is sampled and the queue is congested.
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

    /// Counts `bytes` that were sent without queueing while the queue was empty. A sample within these bytes observes
    /// an empty queue.
    pub fn on_idle(&mut self, parameters: &PointParameters, bytes: u64, random: &mut Stream) {
        if self.passes(parameters, bytes, random) {
            self.old_bytes = 0;
            self.draw(parameters, 0, random);
        }
    }

    /// Subtracts `bytes` from the bytes until the next sample. Returns true if a sample is due.
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

/// Congestion points of one port.
#[derive(Clone, Debug)]
pub struct SampledPort {
    /// Boxed, because most ports have no congestion points.
    parameters: Box<PointParameters>,
    /// Congestion point of each queue of the port.
    queues: Vec<SampledQueue>,
    /// Total bytes enqueued, per class. Counted only if more than one class is in use.
    waited_bytes: Option<Box<[u64; 8]>>,
}

/// Congestion point of one queue, with the byte counts of its last sample.
#[derive(Clone, Copy, Debug, Default)]
struct SampledQueue {
    point: CongestionPoint,
    /// At the last sample: total bytes offered to the port, and total bytes enqueued in other classes.
    seen_bytes: u64,
    other_bytes: u64,
}

impl SampledQueue {
    /// Returns the bytes offered to the port since the last sample, without the bytes enqueued in other classes. Both
    /// arguments are totals since the start of the run. Frames of other classes that were sent without queueing are
    /// still included.
    fn passed_bytes(&mut self, came_bytes: u64, other_bytes: u64) -> u64 {
        let came = came_bytes.saturating_sub(self.seen_bytes);
        let others = other_bytes.saturating_sub(self.other_bytes);
        (self.seen_bytes, self.other_bytes) = (came_bytes, other_bytes);
        came.saturating_sub(others)
    }
}

impl PortMechanism for SampledPort {
    type Parameters = PointParameters;
    const MECHANISM: &'static Mechanism = &MECHANISM;
    const RANDOM: Option<&'static str> = Some("congestion points");
    const NOTIFIES: bool = true;

    fn new(parameters: &PointParameters, port: &PortSpec) -> SampledPort {
        SampledPort {
            parameters: Box::new(*parameters),
            queues: vec![SampledQueue::default(); port.queues],
            waited_bytes: (port.classes.count_ones() > 1).then(Box::default),
        }
    }

    fn hooks(&self) -> Hooks {
        Hooks::QUEUED
    }

    fn own_classes(parameters: &PointParameters) -> u8 {
        1 << parameters.cnm_class
    }

    fn queued_classes(&self) -> u8 {
        // With several classes, the bytes enqueued in the other classes must be counted too.
        if self.waited_bytes.is_none() { self.parameters.sampled_classes() } else { u8::MAX }
    }

    fn queued(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> Option<Frame> {
        let class = usize::from(frame.class & 7);
        let mut others_bytes = 0;
        if let Some(waited) = &mut self.waited_bytes {
            waited[class] += u64::from(frame.size_bytes);
            others_bytes = waited.iter().sum::<u64>() - waited[class];
        }
        if frame.kind != Kind::Data || self.parameters.sampled_classes() & (1 << frame.class) == 0 {
            return None;
        }
        let (size_bytes, queue_bytes) = (u64::from(frame.size_bytes), port.queue_bytes());
        // Frames that found the wire idle were not sampled, but are included in the bytes that the port has sent.
        // Bytes enqueued in other classes must be subtracted.
        let came_bytes = port.sent_bytes() + port.waiting_bytes();
        let sampled = self.queues.get_mut(port.queue())?;
        let passed_bytes = sampled.passed_bytes(came_bytes, others_bytes).saturating_sub(size_bytes);
        // Before this frame the queue was empty.
        if queue_bytes == size_bytes {
            sampled.point.on_idle(&self.parameters, passed_bytes, random);
        }
        let message = sampled.point.on_arrival(&self.parameters, size_bytes, queue_bytes, random)?;
        let class = self.parameters.cnm_class;
        Some(Frame {
            detail: Detail::congestion_message(message),
            size_bytes: self.parameters.cnm_bytes.max(MIN_FRAME_BYTES),
            kind: Kind::Cnm,
            class,
            in_class: class,
            ..Frame::default()
        })
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
        classes: Some(0b1000),
    };

    /// A level of feedback is 5 Q_eq / 64 = 15625 bytes, with Q_eq = 200 KB and w = 2.
    #[test]
    fn feedback_is_quantized_to_six_bits() {
        let feedback = |queue, old| P.message(queue, old).map(|message| message.feedback);
        assert_eq!(feedback(200_000, 200_000), None, "at its set point");
        assert_eq!((feedback(215_624, 215_624), feedback(215_625, 215_625)), (None, Some(1)));
        assert_eq!((feedback(231_249, 231_249), feedback(231_250, 231_250)), (Some(1), Some(2)));
        // The queue is 100 KB above Q_eq and 50 KB longer than at the last sample: 100 KB + 2 * 50 KB = 200 KB, 12
        // levels.
        assert_eq!(feedback(300_000, 250_000), Some(12));
        // A queue above Q_eq that shrinks fast is not congested; a queue below Q_eq that grows fast is.
        assert_eq!(feedback(300_000, 350_000), None);
        assert_eq!(feedback(150_000, 0), Some(16));
        assert_eq!(feedback(1_000_000, 900_000), Some(63), "no more than 6 bits hold");
        assert_eq!(feedback(u64::MAX, 0), Some(63));
    }

    #[test]
    fn messages_say_where_the_queue_is_in_units_of_64_bytes() {
        let notified = P.message(300_000, 310_000).unwrap();
        assert_eq!((notified.offset, notified.delta), (1562, -156));
        let far = P.message(1 << 40, 0).unwrap();
        assert_eq!((far.offset, far.delta), (i16::MAX, i16::MAX));
    }

    /// Figure 1.6 of the thesis: a frame of 1500 bytes is sampled with 1 % probability without congestion and with 10
    /// % at the maximum feedback; in between the probability is linear in the feedback.
    #[test]
    fn the_probability_of_a_sample_is_linear_in_the_last_feedback() {
        for feedback in 0..=70u8 {
            let share = 1500.0 / P.distance_bytes(feedback) as f64;
            let line = 0.01 + 0.09 * f64::from(feedback.min(63)) / 63.0;
            assert!((share / line - 1.0).abs() < 1e-3, "{feedback}: {share} {line}");
        }
    }

    /// For a queue of constant length, compares the mean number of bytes between samples, with jitter, with its
    /// configured value.
    #[test]
    fn samples_come_as_often_as_they_shall() {
        for (queue, feedback) in [(100_000, 0), (700_000, 32), (2_000_000, 63)] {
            let (mut point, mut random) = (CongestionPoint::default(), Stream::new(1, 0, 0));
            let (mut frames, mut notified) = (0u64, 0u64);
            point.old_bytes = queue;
            while frames < 300_000 {
                frames += 1;
                let before = point.old_bytes;
                let left = point.left_bytes;
                if let Some(message) = point.on_arrival(&P, 1000, queue, &mut random) {
                    assert_eq!((message.feedback, before, left <= 1000), (feedback, queue, true));
                    notified += 1;
                }
            }
            let expected = if feedback == 0 { 0.0 } else { frames as f64 * 1000.0 / P.distance_bytes(feedback) as f64 };
            // A sample is taken at the end of a frame: on average, half a frame (500 bytes) late.
            let late = 1.0 + 500.0 / P.distance_bytes(feedback) as f64;
            assert!((notified as f64 * late - expected).abs() <= 0.01 * expected, "{notified} for {expected}");
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

    /// The bytes of a busy second class do not count as bytes that were sent while the queue was empty.
    #[test]
    fn frames_of_other_classes_do_not_pass_the_queue() {
        let mut sampled = SampledQueue::default();
        assert_eq!(sampled.passed_bytes(10_000, 0), 10_000);
        assert_eq!(sampled.passed_bytes(110_000, 97_000), 3_000);
        assert_eq!(sampled.passed_bytes(111_000, 97_000), 1_000);
    }
}
