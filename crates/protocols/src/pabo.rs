//! PABO: a packet whose output port is congested bounces back and waits in upstream buffers.
//!
//! Each packet counts its bounces (`bounces`, never decreases), its distance in hops from the furthest switch that it
//! has reached (`distance`), and the maximum of this distance (`max_distance`). A switch that would enqueue the
//! packet computes the utilisation of the sub-queue, draws a random number, and either enqueues the packet or bounces
//! it towards its source. Bounced packets have priority over others.

use crate::frame::Frame;
use crate::parameters::{Parameters, parameters};
use crate::settings::require;
use units::random::Stream;

/// Route of a bounced packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReturnRoute {
    /// The port at which the packet arrived on its forward path.
    #[default]
    ArrivalPort,
    /// The switch's own route to the source of the packet.
    SourceLookup,
}

/// Utilisation that determines the bounce probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Utilisation {
    /// Utilisation of the sub-queue that the packet would enter.
    #[default]
    SubQueue,
    /// Utilisation of the fuller of the port's two sub-queues.
    Fuller,
}

parameters! {
    /// Parameters of a switch that bounces packets.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BounceParameters: Overload "bounce" {
        title: "PABO: back towards the source, with a probability that rises with the queue";
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks";
        /// Utilisation up to which no packet bounces, 0 to 1.
        theta: f64 = "theta" share, default "0.8",
            "utilisation of a sub-queue, 0 to 1, up to which no packet is bounced; 1: only a full sub-queue bounces",
            "PABO, section V-B; 0.95 in its section VI";
        /// Steepness of the bounce probability, at least 0.
        lambda: f64 = "lambda" number, default "50",
            "slope with which the bounce probability rises above theta and falls with each bounce, at least 0; 0 is \
             linear",
            "PABO, section V-B";
        /// Route of a bounced packet.
        back: ReturnRoute = "return"
            word["arrival-port" = ReturnRoute::ArrivalPort, "source-lookup" = ReturnRoute::SourceLookup],
            default "arrival-port",
            "egress of bounced packets: its ingress port (arrival-port), or the switch's route to the source \
             (source-lookup)",
            "PABO, section II-C; equal on a tree; with several equal paths only the first retraces the path, and the \
             second is that of the authors' published simulator";
        /// Utilisation that is compared with theta.
        utilisation: Utilisation = "utilisation"
            word["sub-queue" = Utilisation::SubQueue, "fuller" = Utilisation::Fuller],
            default "sub-queue",
            "utilisation that is compared with theta: of the packet's sub-queue (sub-queue), or of the fuller of the \
             port's two (fuller)",
            "sub-queue reproduces PABO's table I and the bounce sites of its section VI; fuller: section III has one \
             value per output port";
        /// Maximum bounces per packet, at least 1.
        limit: Option<u8> = "limit" count[1, 255], absent "none",
            "limit of bounces per packet, 1 to 255: after that it is queued if there is buffer space, and otherwise \
             lost as `bounce limit`",
            "choice of this project: PABO has none";
        /// Bitmask of the classes that bounce.
        classes: u8 = "priorities" classes, absent "all lossy classes" = 0xff,
            "the bounced classes, 0 to 7",
            "choice of this project; PABO, section II-E, has queues for every service class";
    }
    check(parameters) {
        let wanted = "a number of at least 0, like 50: a negative one would make frames bounce less the fuller their \
            queue is; 0 makes the probability linear";
        [require(parameters.lambda >= 0.0, "lambda", wanted)]
    }
}

impl Default for BounceParameters {
    fn default() -> Self {
        Self::read(&[]).expect("the declared defaults are valid")
    }
}

/// The bounce function (PABO, eq. 4), with precomputed terms that depend only on the packet's number of bounces.
#[derive(Clone, Debug)]
pub struct BounceFunction {
    theta: f64,
    lambda: f64,
    /// `expm1(lambda * (theta - 1) / (n + 1))`, indexed by the number of bounces n.
    denominators: Box<[f64; 256]>,
}

impl BounceFunction {
    /// Creates the bounce function for `theta` (clamped to 0..=1) and `lambda` (clamped to finite values of at least
    /// 0).
    pub fn new(theta: f64, lambda: f64) -> Self {
        let (theta, lambda) = (theta.clamp(0.0, 1.0), lambda.clamp(0.0, f64::MAX));
        let mut denominators = Box::new([0.0; 256]);
        for (bounces, denominator) in denominators.iter_mut().enumerate() {
            *denominator = libm::expm1(lambda * (theta - 1.0) / (bounces as f64 + 1.0));
        }
        BounceFunction { theta, lambda, denominators }
    }

    /// Returns the bounce probability of a packet that has bounced n = `bounces` times and would enter a sub-queue of
    /// utilisation u: 0 up to theta, 1 if full, and in between `(exp(lambda (theta - u) / (n + 1)) - 1) / (exp(lambda
    /// (theta - 1) / (n + 1)) - 1)`. In the limit of lambda -> 0 or n -> infinity this is the straight line from
    /// (theta, 0) to (1, 1).
    pub fn probability(&self, utilisation: f64, bounces: u8) -> f64 {
        if utilisation >= 1.0 {
            return 1.0;
        }
        if utilisation <= self.theta {
            return 0.0;
        }
        let denominator = self.denominators[usize::from(bounces)];
        if denominator == 0.0 {
            return (utilisation - self.theta) / (1.0 - self.theta);
        }
        libm::expm1(self.lambda * (self.theta - utilisation) / (f64::from(bounces) + 1.0)) / denominator
    }

    /// Decides at random whether a packet bounces that would enter a sub-queue with `held` of its `capacity`
    /// occupied.
    #[inline]
    pub fn bounces(&self, held: u64, capacity: u64, bounces: u8, random: &mut Stream) -> bool {
        if held >= capacity {
            return true;
        }
        let utilisation = held as f64 / capacity as f64;
        utilisation > self.theta && random.unit() < self.probability(utilisation, bounces)
    }
}

/// Updates the counters of a packet that bounces: it travels one hop back.
#[inline]
pub fn turn_back(frame: &mut Frame) {
    frame.bounces = frame.bounces.saturating_add(1);
    frame.distance = frame.distance.saturating_add(1);
    frame.max_distance = frame.max_distance.max(frame.distance);
}

/// Updates the counters of a packet that is forwarded one hop towards its destination.
#[inline]
pub fn go_on(frame: &mut Frame) {
    frame.distance = frame.distance.saturating_sub(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, tolerance: f64) {
        assert!((ours - expected).abs() <= tolerance, "{ours} is not {expected}");
    }

    /// theta = 0.8, lambda = 50: compares with values computed by hand for packets with zero, one and two bounces.
    #[test]
    fn agrees_with_values_computed_by_hand() {
        let function = BounceFunction::new(0.8, 50.0);
        let known = [[0.632, 0.918, 0.993], [0.396, 0.718, 0.924], [0.294, 0.586, 0.841]];
        for (bounces, row) in known.iter().enumerate() {
            for (utilisation, expected) in [0.82, 0.85, 0.9].into_iter().zip(row) {
                close(function.probability(utilisation, bounces as u8), *expected, 5e-4);
            }
        }
    }

    /// Equations 2 and 3 of PABO, `alpha P_b^-u + beta`, are equivalent to equation 4.
    #[test]
    fn agrees_with_the_form_with_two_constants() {
        for (theta, lambda) in [(0.5, 5.0), (0.5, 15.0), (0.8, 50.0), (0.0, 1.0)] {
            let function = BounceFunction::new(theta, lambda);
            for bounces in [0u8, 1, 2, 7] {
                let base = libm::exp(lambda / (f64::from(bounces) + 1.0));
                let alpha = libm::pow(base, theta) / (libm::pow(base, theta - 1.0) - 1.0);
                let beta = 1.0 / (1.0 - libm::pow(base, theta - 1.0));
                for step in 1..100 {
                    let utilisation = theta + (1.0 - theta) * f64::from(step) / 100.0;
                    let expected = alpha * libm::pow(base, -utilisation) + beta;
                    close(function.probability(utilisation, bounces), expected, 1e-13);
                }
            }
        }
    }

    #[test]
    fn rises_with_utilisation_and_lambda_and_falls_with_bounces() {
        for step in 1..100 {
            let utilisation = 0.5 + f64::from(step) / 200.0;
            let at = |lambda, bounces| BounceFunction::new(0.5, lambda).probability(utilisation, bounces);
            assert!(at(5.0, 0) > at(5.0, 1) && at(5.0, 1) > at(5.0, 2), "at {utilisation}");
            assert!(at(5.0, 0) < at(15.0, 0) && at(15.0, 0) < at(25.0, 0), "at {utilisation}");
            // The function is concave, above the straight line; the line is the limit for lambda -> 0 and for many
            // bounces.
            assert!(at(5.0, 255) > at(0.0, 0) && at(0.0, 0) == at(0.0, 9));
            assert!(BounceFunction::new(0.5, 5.0).probability(utilisation - 1e-3, 0) < at(5.0, 0));
        }
    }

    #[test]
    fn both_limits_are_the_straight_line() {
        for theta in [0.0, 0.5, 0.8] {
            for step in 1..50 {
                let utilisation = theta + (1.0 - theta) * f64::from(step) / 50.0;
                let line = (utilisation - theta) / (1.0 - theta);
                for lambda in [0.0, 1e-300, 1e-12] {
                    close(BounceFunction::new(theta, lambda).probability(utilisation, 0), line, 1e-11);
                }
                close(BounceFunction::new(theta, 1e-3).probability(utilisation, 255), line, 1e-5);
            }
        }
    }

    #[test]
    fn the_ends_are_certain() {
        let mut random = Stream::new(1, 2, 3);
        for theta in [0.0, 0.3, 1.0] {
            for lambda in [0.0, 50.0, 1e300] {
                let function = BounceFunction::new(theta, lambda);
                for bounces in [0, 3, 255] {
                    assert_eq!(function.probability(theta * 0.999, bounces), 0.0);
                    assert_eq!(function.probability(1.0, bounces), 1.0);
                    assert!(function.bounces(500, 500, bounces, &mut random), "full is full");
                    assert!(!function.bounces(0, 500, bounces, &mut random), "an empty queue takes everything");
                }
            }
        }
        let only_when_full = BounceFunction::new(1.0, 50.0);
        assert!((0..500).all(|held| !only_when_full.bounces(held, 500, 0, &mut random)));
    }

    #[test]
    fn draws_with_the_probability() {
        let function = BounceFunction::new(0.8, 50.0);
        let mut random = Stream::new(5, 0, 0);
        let hits = (0..100_000).filter(|_| function.bounces(410, 500, 0, &mut random)).count() as f64 / 1e5;
        close(hits, function.probability(0.82, 0), 0.005);
    }

    /// Random sequences of bounces and forward hops: distance <= max_distance <= bounces always holds.
    #[test]
    fn counters_agree_on_any_walk() {
        let mut random = Stream::new(9, 0, 0);
        for _ in 0..200 {
            let mut frame = Frame::default();
            let (mut position, mut furthest) = (0i32, 0i32);
            for _ in 0..random.below(600) {
                if random.below(2) == 0 && position > 0 {
                    turn_back(&mut frame);
                    position -= 1;
                } else {
                    go_on(&mut frame);
                    position += 1;
                }
                furthest = furthest.max(position);
                assert!(frame.distance <= frame.max_distance && frame.max_distance <= frame.bounces);
                if frame.distance < 255 && furthest - position < 255 {
                    assert_eq!(i32::from(frame.distance), furthest - position);
                }
            }
        }
    }
}
