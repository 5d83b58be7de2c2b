//! Approximate Fair Dropping: a port drops or marks frames of flows that send more than the fair share, in proportion
//! to the excess, without a queue for each flow.
//!
//! ```text
//!   arrival --1 of `sample`--> shadow buffer: the last `shadow` sampled bytes; M = bytes of the flow in it
//!           --> drop with probability 1 - m_fair / M, if M > m_fair
//!   every `interval`: m_fair += alpha (Q_old - target) - beta (Q - target)
//! ```
//!
//! M is proportional to the arrival rate of a flow. m_fair is the M of a flow with the fair rate: a PI controller
//! adjusts it so that the queue stays at `target`.
//!
//! Stability: with n flows above the fair share, arrivals at rate R and a shadow buffer of b bytes, an increase of
//! m_fair by x admits x g more bytes per interval T, g = n R T / b. The queue's characteristic equation is
//! z^2 + (g beta - 2) z + 1 - g alpha = 0. Its roots lie in the unit circle for g (alpha + beta) < 4: with the default
//! gains for b > 0.88 n R T.

use crate::describe::Mechanism;
use crate::frame::{Frame, Kind};
use crate::parameters::parameters;
use crate::port::{Admit, Counter, Hooks, PortMechanism, PortSpec, PortView};
use crate::settings::require;
use std::collections::{BTreeMap, VecDeque};
use units::Time;
use units::random::Stream;

parameters! {
    /// Parameters of Approximate Fair Dropping.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AfdParameters: Marking "afd" {
        title: "drops or marks flows above their fair share, without a queue per flow (AFD)";
        source: "Pan, Breslau, Prabhakar and Shenker, Approximate Fairness through Differential Dropping, ACM CCR \
            33(2), 2003";
        /// Target queue length of the controller, in bytes, at least 1.
        target_bytes: u64 = "target" bytes, required,
            "queue length at which the controller keeps a congested queue, at least 1 B",
            "required: depends on rate and round trip (AFD: target queue)";
        /// Mean number of arriving frames per sampled frame, at least 1.
        sample: u32 = "sample" count[1, 4_294_967_295], default "5",
            "arrivals for each one that is sampled, on average, at least 1",
            "AFD: sampling into the shadow buffer; the number is a choice of this project";
        /// Size of the shadow buffer in bytes, at least 1; `None` for the bytes that the port sends in
        /// [`SHADOW_INTERVALS`] intervals.
        shadow_bytes: Option<u64> = "shadow" bytes, absent "what the port sends in 20 intervals",
            "bytes of sampled frames that a port remembers, at least 1 B. The queue is stable if this exceeds twice \
             the bytes that arrive in an interval, times the flows above the fair share",
            "AFD: shadow buffer; condition and number are choices of this project";
        /// Time between two updates of the fair share, above zero.
        interval: Time = "interval" time, default "20us",
            "time between two updates of the fair share, above 0; of the order of a round trip",
            "AFD: update of the fair share; the number is a choice of this project for data centers";
        /// Gain of the controller for the queue length at the previous update, above 0.
        alpha: f64 = "alpha" positive, default "1.7",
            "gain of the queue length at the update before, above 0",
            "AFD: PI controller, after Hollot et al., INFOCOM 2001; the number is a choice of this project";
        /// Gain of the controller for the current queue length, above `alpha`.
        beta: f64 = "beta" positive, default "1.8",
            "gain of the present queue length, above alpha",
            "AFD: PI controller, after Hollot et al., INFOCOM 2001; the number is a choice of this project";
        /// Action on a frame that is selected by the drop probability of its flow.
        action: AfdAction = "action" word["drop" = AfdAction::Drop, "mark" = AfdAction::Mark], default "drop",
            "treatment of a frame above the fair share: drop, or mark by ECN; frames that cannot be marked are \
             dropped, those of lossless classes never",
            "AFD drops; mark: choice of this project, for DCTCP and DCQCN";
    }
    check(parameters) {
        let wanted = "more than alpha: the difference makes the fair share fall while the queue is above its target";
        [
            require(parameters.target_bytes > 0, "target", "at least 1B"),
            require(parameters.shadow_bytes != Some(0), "shadow", "at least 1B"),
            require(parameters.interval > Time::ZERO, "interval", "at least 1ps"),
            require(parameters.beta > parameters.alpha, "beta", wanted),
        ]
    }
}

/// Default size of the shadow buffer: this number of intervals times the bytes that the port sends in an interval.
pub const SHADOW_INTERVALS: u64 = 20;

/// Action on a frame that is selected by the drop probability of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfdAction {
    /// Drop the frame.
    Drop,
    /// Mark the frame with ECN if it can be marked, else drop it.
    Mark,
}

/// Approximate Fair Dropping at one port: the state of each of its queues.
#[derive(Clone, Debug)]
pub struct Afd {
    /// Boxed, because most ports do not use AFD.
    parameters: Box<AfdParameters>,
    /// Size of the shadow buffer, in bytes.
    shadow_bytes: u64,
    queues: Box<[Option<FairShare>]>,
    /// Number of dropped frames, and number of marked frames.
    counts: [u64; 2],
}

/// Arrival rate estimates and m_fair of one queue.
#[derive(Clone, Debug)]
struct FairShare {
    /// Sampled frames, oldest first: flow and bytes.
    shadow: VecDeque<(u32, u32)>,
    /// Bytes of each flow in `shadow`.
    of_flow_bytes: BTreeMap<u32, u64>,
    shadow_bytes: u64,
    /// m_fair, compared with the bytes of a flow in `shadow`.
    fair_bytes: f64,
    /// Queue length in bytes at the last update.
    queue_bytes: u64,
    updated: Time,
}

impl FairShare {
    /// Creates the state of a queue without samples; `most_bytes` is the size of the shadow buffer.
    fn new(most_bytes: u64, now: Time) -> FairShare {
        FairShare {
            shadow: VecDeque::new(),
            of_flow_bytes: BTreeMap::new(),
            shadow_bytes: 0,
            fair_bytes: most_bytes as f64,
            queue_bytes: 0,
            updated: now,
        }
    }

    /// Adds a sampled frame, and removes the oldest ones that exceed the size of the shadow buffer.
    fn sample(&mut self, most_bytes: u64, flow: u32, bytes: u32) {
        self.shadow.push_back((flow, bytes));
        *self.of_flow_bytes.entry(flow).or_default() += u64::from(bytes);
        self.shadow_bytes += u64::from(bytes);
        while self.shadow_bytes > most_bytes
            && let Some((oldest, bytes)) = self.shadow.pop_front()
        {
            self.shadow_bytes -= u64::from(bytes);
            let left = self.of_flow_bytes.entry(oldest).or_default();
            *left -= u64::from(bytes);
            if *left == 0 {
                self.of_flow_bytes.remove(&oldest);
            }
        }
    }

    /// Updates m_fair for all intervals that have ended by `now`, at a current queue length of `queue_bytes`.
    fn update(&mut self, parameters: &AfdParameters, most_bytes: u64, now: Time, queue_bytes: u64) {
        let AfdParameters { target_bytes, interval, alpha, beta, .. } = *parameters;
        let intervals = (now - self.updated).as_ps() / interval.as_ps();
        if intervals == 0 {
            return;
        }
        self.updated += interval * intervals;
        let target = target_bytes as f64;
        let (old, new) = (self.queue_bytes as f64 - target, queue_bytes as f64 - target);
        // The queue length is known only when a frame arrives, so that all intervals after the first use the current
        // queue length.
        let rest = (intervals - 1) as f64 * (alpha - beta) * new;
        self.fair_bytes = (self.fair_bytes + alpha * old - beta * new + rest).clamp(1.0, most_bytes as f64);
        self.queue_bytes = queue_bytes;
    }

    /// Returns the probability with which a frame of `flow` is dropped or marked.
    fn drop_probability(&self, flow: u32) -> f64 {
        let bytes = self.of_flow_bytes.get(&flow).copied().unwrap_or(0) as f64;
        if bytes > self.fair_bytes { 1.0 - self.fair_bytes / bytes } else { 0.0 }
    }
}

impl PortMechanism for Afd {
    type Parameters = AfdParameters;
    const MECHANISM: &'static Mechanism = &MECHANISM;
    const RANDOM: Option<&'static str> = Some("approximate fair dropping");
    const COUNTERS: &'static [Counter] = &[
        Counter { name: "dropped", meaning: "frames dropped above the fair share" },
        Counter { name: "marked", meaning: "frames marked above the fair share" },
    ];

    fn marks_frames(parameters: &AfdParameters) -> bool {
        parameters.action == AfdAction::Mark
    }

    fn new(parameters: &AfdParameters, port: &PortSpec) -> Afd {
        let default_bytes = port.rate.bytes_in(parameters.interval).saturating_mul(SHADOW_INTERVALS).max(1);
        Afd {
            parameters: Box::new(*parameters),
            shadow_bytes: parameters.shadow_bytes.unwrap_or(default_bytes),
            queues: vec![None; port.queues].into(),
            counts: [0; 2],
        }
    }

    fn hooks(&self) -> Hooks {
        Hooks::ADMIT
    }

    fn admit(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> Admit {
        if frame.kind != Kind::Data {
            return Admit::Pass;
        }
        let (parameters, most_bytes) = (&self.parameters, self.shadow_bytes);
        let Some(slot) = self.queues.get_mut(port.queue()) else { return Admit::Pass };
        let queue = slot.get_or_insert_with(|| FairShare::new(most_bytes, port.now()));
        queue.update(parameters, most_bytes, port.now(), port.queue_bytes());
        if random.below(u64::from(parameters.sample)) == 0 {
            queue.sample(most_bytes, frame.flow, frame.size_bytes.into());
        }
        let probability = queue.drop_probability(frame.flow);
        if probability == 0.0 || random.unit() >= probability {
            return Admit::Pass;
        }
        let marks = parameters.action == AfdAction::Mark && frame.can_be_marked();
        if !marks && port.is_lossless() {
            return Admit::Pass;
        }
        self.counts[usize::from(marks)] += 1;
        if marks { Admit::Mark } else { Admit::Drop }
    }

    fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::flags;

    /// A port with a queue of `queue_bytes`.
    struct Port {
        now: Time,
        queue_bytes: u64,
        lossless: bool,
    }

    impl PortView for Port {
        fn now(&self) -> Time {
            self.now
        }
        fn local(&self, at: Time) -> Time {
            at
        }
        fn queue(&self) -> usize {
            0
        }
        fn queue_bytes(&self) -> u64 {
            self.queue_bytes
        }
        fn waiting_bytes(&self) -> u64 {
            self.queue_bytes
        }
        fn sent_bytes(&self) -> u64 {
            0
        }
        fn is_lossless(&self) -> bool {
            self.lossless
        }
    }

    const SPEC: PortSpec =
        PortSpec { rate: units::Rate::from_gbps(10), queues: 1, classes: 1, clock: None, preemption: None };

    fn parameters(settings: &[(&str, &str)]) -> AfdParameters {
        let all: Vec<_> = [("target", "30KB")].iter().chain(settings).copied().collect();
        crate::parameters::Parameters::build(&all).unwrap()
    }

    fn data(flow: u32) -> Frame {
        Frame { kind: Kind::Data, flow, size_bytes: 1000, ..Frame::default() }
    }

    /// Fluid model of one link: flows send frames of 1000 bytes at constant rates (bytes per us), the link drains 1250
    /// bytes per us (10 Gbps). Returns the share of each flow's frames that passed in the second half of `ms`, and the
    /// mean queue length in that half.
    fn shares(rates: &[f64], action: &str, ms: u64) -> (Vec<f64>, f64) {
        let settings = parameters(&[("action", action)]);
        let mut afd = Afd::new(&settings, &SPEC);
        let mut random = Stream::new(5, 0, 0);
        let mut credit = vec![0.0; rates.len()];
        let (mut queue, mut sum, mut steps) = (0.0f64, 0.0, 0u64);
        let (mut sent, mut passed) = (vec![0u64; rates.len()], vec![0u64; rates.len()]);
        for us in 0..ms * 1000 {
            let measured = us >= ms * 500;
            queue = (queue - 1250.0).max(0.0);
            for (flow, rate) in rates.iter().enumerate() {
                credit[flow] += rate;
                while credit[flow] >= 1000.0 {
                    credit[flow] -= 1000.0;
                    let port = Port { now: Time::from_us(us), queue_bytes: queue as u64, lossless: false };
                    let passes = afd.admit(&port, &data(flow as u32), &mut random) != Admit::Drop;
                    queue += if passes { 1000.0 } else { 0.0 };
                    sent[flow] += u64::from(measured);
                    passed[flow] += u64::from(measured && passes);
                }
            }
            if measured {
                (sum, steps) = (sum + queue, steps + 1);
            }
        }
        let share = |flow: usize| passed[flow] as f64 / sent[flow] as f64;
        ((0..rates.len()).map(share).collect(), sum / steps as f64)
    }

    /// Four flows of constant 2, 4, 8 and 16 Gbps over a link of 10 Gbps: their throughputs must be the max-min fair
    /// rates, 2, 2.67, 2.67 and 2.67 Gbps.
    #[test]
    fn throughputs_are_max_min_fair() {
        let (shares, queue) = shares(&[250.0, 500.0, 1000.0, 2000.0], "drop", 400);
        let rates: Vec<f64> = shares.iter().zip([2.0, 4.0, 8.0, 16.0]).map(|(share, rate)| share * rate).collect();
        assert!(rates[0] > 1.9, "{rates:?}");
        for rate in &rates[1..] {
            assert!((rate / (8.0 / 3.0) - 1.0).abs() < 0.1, "{rates:?}");
        }
        assert!((20e3..40e3).contains(&queue), "{queue}");
    }

    /// Flows of 2 and 7.2 Gbps over a link of 10 Gbps: the queue stays below its target, so that no frame is dropped.
    #[test]
    fn nothing_is_dropped_below_the_target() {
        let (shares, queue) = shares(&[250.0, 900.0], "drop", 50);
        assert_eq!((shares, queue < 2000.0), (vec![1.0, 1.0], true));
    }

    /// For random flows and frame sizes, the bytes per flow equal the sums over the frames of the shadow buffer.
    #[test]
    fn the_shadow_buffer_counts_its_frames() {
        let mut random = Stream::new(3, 0, 0);
        let mut queue = FairShare::new(20_000, Time::ZERO);
        for _ in 0..20_000 {
            queue.sample(20_000, random.below(6) as u32, 64 + random.below(1455) as u32);
            let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
            for &(flow, bytes) in &queue.shadow {
                *counted.entry(flow).or_default() += u64::from(bytes);
            }
            assert_eq!((&counted, counted.values().sum()), (&queue.of_flow_bytes, queue.shadow_bytes));
            assert!(queue.shadow_bytes <= 20_000);
        }
    }

    /// One update after several intervals must change m_fair as much as one update after each interval.
    #[test]
    fn skipped_intervals_count() {
        let parameters = parameters(&[]);
        let mut random = Stream::new(9, 0, 0);
        for _ in 0..1000 {
            let mut at_once = FairShare::new(500_000, Time::ZERO);
            (at_once.fair_bytes, at_once.queue_bytes) = (125e3, 30_000);
            let mut stepwise = at_once.clone();
            // The queue length is close to its target, so that m_fair does not reach its lower or upper bound.
            let (count, bytes) = (1 + random.below(20), 29_000 + random.below(2000));
            at_once.update(&parameters, 500_000, parameters.interval * count, bytes);
            (1..=count).for_each(|step| stepwise.update(&parameters, 500_000, parameters.interval * step, bytes));
            assert!((at_once.fair_bytes - stepwise.fair_bytes).abs() < 1e-6);
        }
    }

    #[test]
    fn marks_replace_drops_where_possible() {
        let mut random = Stream::new(1, 0, 0);
        let mut decide = |action, flags, lossless| {
            let mut afd = Afd::new(&parameters(&[("action", action), ("sample", "1")]), &SPEC);
            let port = Port { now: Time::ZERO, queue_bytes: 0, lossless };
            afd.admit(&port, &data(1), &mut random);
            afd.queues[0].as_mut().unwrap().fair_bytes = 1.0;
            let all: Vec<Admit> = (0..50).map(|_| afd.admit(&port, &Frame { flags, ..data(1) }, &mut random)).collect();
            (all.contains(&Admit::Drop), all.contains(&Admit::Mark), afd.counts.map(|count| count > 0))
        };
        assert_eq!(decide("drop", flags::ECT, false), (true, false, [true, false]));
        assert_eq!(decide("mark", flags::ECT, false), (false, true, [false, true]));
        assert_eq!(decide("mark", 0, false), (true, false, [true, false]));
        assert_eq!(decide("drop", 0, true), (false, false, [false, false]));
    }

    #[test]
    fn a_gain_that_cannot_work_is_refused() {
        let build = |settings: &[(&str, &str)]| <AfdParameters as crate::parameters::Parameters>::build(settings);
        assert!(build(&[]).unwrap_err().to_string().contains("needs `target`"));
        let error = build(&[("target", "30KB"), ("beta", "1.5")]).unwrap_err();
        assert!(error.to_string().contains("`beta`: more than alpha"), "{error}");
        assert!(build(&[("target", "30KB"), ("thing", "1")]).unwrap_err().to_string().contains("no parameter `thing`"));
    }
}
