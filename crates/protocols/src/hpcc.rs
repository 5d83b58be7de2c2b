//! HPCC (Li et al., SIGCOMM 2019): each acknowledgement carries the telemetry of every egress port of the path. The
//! sender adjusts its rate so that the busiest link reaches a target utilisation.

use crate::ParameterError;
use crate::control_state::ControlState;
use crate::parameters::parameters;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController, RoundTrips, scaled};
use crate::settings::require;
use crate::telemetry::Hop;
use units::{Rate, Time};

parameters! {
    /// The parameters that HPCC adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HpccParameters: Transport "hpcc" {
        title: "RoCE whose window and rate follow telemetry of every hop";
        source: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019";
        over: crate::roce::connection::MECHANISM, without ["ack_every", "variable_window"];
        /// T, the round-trip time without queueing delay; `None`: computed for the flow's path.
        base_rtt: Option<Time> = "base_rtt" time_or["path"], default "path",
            "T, the round trip without queues, above 0; path: computed from the flow's path for a full \
             packet and its acknowledgement. The window is the rate times this",
            "HPCC, sec. 3.2; its ns-3 fork: GLOBAL_T 0 (GLOBAL_T 1: the longest of all paths)";
        /// Eta, the target utilisation of a link, above 0, up to 1.
        target_utilisation: f64 = "target_utilisation" share, default "0.95",
            "eta, target utilisation of the busiest link, above 0, up to 1",
            "HPCC, sec. 3.3 and 5.1";
        /// maxStage: number of consecutive additive increases after which the rate is set by the measured
        /// utilisation, even below the target.
        max_stage: u32 = "max_stage" count, default "5",
            "maxStage: additive increases in a row before the rate follows the measurement; 0: it always \
             follows it",
            "HPCC, algorithm 1 and sec. 5.1; its ns-3 fork: MI_THRESH 0";
        /// Additive increase of the rate: W_AI divided by T.
        additive_increase: Rate = "additive_increase" rate, default "40Mbps",
            "W_AI over T: the step by which a rate rises",
            "HPCC's ns-3 fork: RATE_AI at 100 Gbps; HPCC, sec. 3.3: at most (1 - eta) of the link over the \
             flows that share it";
        /// Whether the rate is also updated by acknowledgements within a round trip, not only at its end.
        fast_reaction: bool = "fast_reaction" switch, default "true",
            "acknowledgements within a round trip also change the rate, each from the rate at the start \
             of the round trip",
            "HPCC, sec. 3.2 (per-ACK and per-RTT reaction); its ns-3 fork: FAST_REACT";
        /// Lower bound of the rate.
        min_rate: Rate = "min_rate" rate, default "100Mbps",
            "lower bound of the rate",
            "HPCC's ns-3 fork: MIN_RATE";
        /// Bytes of telemetry in each data frame and each acknowledgement.
        telemetry_bytes: u16 = "telemetry" frame_bytes, default "42B",
            "telemetry in each data frame and each acknowledgement, for any number of hops",
            "HPCC, sec. 4.1: 2 B and 8 B a hop, for five hops";
    }
}

impl ControlSettings for HpccParameters {
    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        let positive = self.base_rtt != Some(Time::ZERO);
        require(positive, "base_rtt", "it must be above 0 (the averaging time of utilisations), or \"path\"")?;
        require(self.target_utilisation > 0.0, "target_utilisation", "a share above 0, up to 1")
    }

    fn collects(&self) -> bool {
        true
    }

    fn telemetry_bytes(&self) -> Option<u16> {
        Some(self.telemetry_bytes)
    }

    fn wants_round_trip(&self) -> bool {
        self.base_rtt.is_none()
    }

    fn has_window(&self) -> bool {
        true
    }
}

/// Rate and window control of one flow.
#[derive(Clone, Debug)]
pub struct Hpcc(Box<Control>);

/// State of [`Hpcc`]. Boxed, since it is larger than the state of other rate controls.
#[derive(Clone, Debug)]
struct Control {
    rate: Rate,
    /// Reference rate, updated once per round trip: W^c divided by T.
    reference: Rate,
    limit: Rate,
    base_rtt: Time,
    /// U, moving average of the inflight bytes over the bandwidth-delay product of the busiest link.
    utilisation: f64,
    /// Number of consecutive additive increases (incStage).
    stage: u32,
    rounds: RoundTrips,
    /// Telemetry of the previous acknowledgement.
    hops: Vec<Hop>,
}

impl Control {
    /// Stores `hops`. Returns whether they continue the telemetry stored before: the number of hops is equal, and no
    /// timestamp or byte count has decreased (a decrease indicates another path).
    fn keep(&mut self, hops: &[Hop]) -> bool {
        let continues = self.hops.len() == hops.len()
            && self.hops.iter().zip(hops).all(|(old, new)| old.at <= new.at && old.sent_bytes <= new.sent_bytes);
        if !continues {
            self.hops.clear();
            self.hops.extend_from_slice(hops);
        }
        continues
    }

    /// Updates and returns the utilisation U (HPCC, algorithm 1: MeasureInflight); `None` if `hops` do not continue the
    /// stored telemetry.
    fn measure(&mut self, hops: &[Hop]) -> Option<f64> {
        if !self.keep(hops) {
            return None;
        }
        let rtt_ps = self.base_rtt.as_ps() as f64;
        let (mut busiest, mut over) = (0.0, Time::ZERO);
        for (old, new) in self.hops.iter_mut().zip(hops) {
            let between = new.at - old.at;
            if between > Time::ZERO {
                let link_bps = new.rate.as_bps() as f64;
                let sent_bps = (new.sent_bytes - old.sent_bytes) as f64 * 8e12 / between.as_ps() as f64;
                // HPCC, algorithm 1: the minimum of two queue lengths ignores a short burst at one of the two
                // samples.
                let queue_bits = old.queue_bytes.min(new.queue_bytes) as f64 * 8.0;
                let used = sent_bps / link_bps + queue_bits * 1e12 / (link_bps * rtt_ps);
                if used > busiest {
                    (busiest, over) = (used, between);
                }
                *old = *new;
            }
        }
        let weight = over.min(self.base_rtt).as_ps() as f64 / rtt_ps;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * busiest;
        Some(self.utilisation)
    }

    /// Updates the rate by the measured utilisation (HPCC, algorithm 1: ComputeWind); `whole` marks the end of a
    /// round trip.
    fn react(&mut self, parameters: &HpccParameters, utilisation: f64, whole: bool) {
        let load = utilisation / parameters.target_utilisation;
        let (base, stage) = if load >= 1.0 || self.stage >= parameters.max_stage {
            (scaled(self.reference, load.recip(), Rate::MIN, self.limit), 0)
        } else {
            (self.reference, self.stage + 1)
        };
        let raised = base.as_bps().saturating_add(parameters.additive_increase.as_bps());
        let raised = Rate::from_bps(raised).unwrap_or(self.limit);
        self.rate = raised.clamp(parameters.min_rate.min(self.limit), self.limit);
        if whole {
            (self.reference, self.stage) = (self.rate, stage);
        }
    }
}

impl RateController for Hpcc {
    type Parameters = HpccParameters;

    fn new(parameters: &HpccParameters, limits: FlowLimits) -> Self {
        let FlowLimits { most: limit, round_trip, .. } = limits;
        // A flow without a path receives no acknowledgement, so that any RTT above zero is valid.
        let base_rtt = parameters.base_rtt.unwrap_or(round_trip).max(Time::from_ns(1));
        let (utilisation, stage, rounds) = (1.0, 0, RoundTrips::default());
        let (rate, reference) = (limit, limit);
        Hpcc(Box::new(Control { rate, reference, limit, base_rtt, utilisation, stage, rounds, hops: Vec::new() }))
    }

    fn most(&self) -> Rate {
        self.0.limit
    }

    #[inline]
    fn rate(&mut self, _parameters: &HpccParameters, _now: Time) -> Rate {
        self.0.rate
    }

    #[inline]
    fn window_bytes(&self) -> u64 {
        // Avoids overflow: the product fits 64 bits for RTTs below 1.8 s at 1 Tbps; if it saturates, the window is no
        // limit.
        let bits_us = self.0.rate.as_bps().saturating_mul(self.0.base_rtt.as_ps() / 1000);
        (bits_us / 8_000_000_000).max(1)
    }

    fn on_ack(&mut self, parameters: &HpccParameters, _now: Time, ack: AckInfo<'_>) {
        let control = &mut *self.0;
        if ack.hops.is_empty() {
            return;
        }
        let whole = control.rounds.ends(&ack);
        if !control.rounds.has_begun() {
            // The first acknowledgement has no previous telemetry for comparison.
            control.keep(ack.hops);
        } else if (whole || parameters.fast_reaction)
            && let Some(utilisation) = control.measure(ack.hops)
        {
            control.react(parameters, utilisation, whole);
        }
        if whole {
            control.rounds.begin(&ack);
        }
    }

    fn control_state(&mut self, _parameters: &HpccParameters, _now: Time) -> ControlState {
        let window_bytes = Some(self.window_bytes());
        ControlState {
            rate: Some(self.0.rate),
            target: Some(self.0.reference),
            window_bytes,
            ..ControlState::default()
        }
    }

    fn halve(&mut self, parameters: &HpccParameters, _now: Time) -> bool {
        let control = &mut *self.0;
        let before = control.rate;
        control.rate = scaled(control.rate, 0.5, parameters.min_rate, control.limit);
        control.reference = control.reference.min(control.rate);
        control.rate < before
    }
}

#[cfg(test)]
mod tests;
