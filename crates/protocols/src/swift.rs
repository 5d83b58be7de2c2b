//! Swift (Kumar et al., SIGCOMM 2020): the congestion window is controlled by the RTT of the path. Windows below one
//! packet are implemented by pacing.

use crate::ParameterError;
use crate::control_state::ControlState;
use crate::parameters::parameters;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController};
use crate::settings::require;
use units::{Rate, Time};

parameters! {
    /// The parameters that Swift adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SwiftParameters: Transport "swift" {
        title: "RoCE whose window follows the delay of its path, also below one packet";
        source: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM \
            2020";
        over: crate::roce::connection::MECHANISM, without ["ack_every", "variable_window"];
        /// Target RTT without switches, for a large window.
        base_target: Time = "base_target" time, default "20us",
            "target round trip without switches and small windows, above 0",
            "Swift, sec. 3.5; htsim: 20 us";
        /// Increase of the target RTT per switch on the path.
        hop_scaling: Time = "hop_scaling" time, default "3053ns",
            "addition to the target per switch on the path",
            "Swift, sec. 3.5.1; htsim: base_target / 6.55";
        /// Maximum increase of the target RTT for small windows.
        flow_scaling_range: Time = "flow_scaling_range" time, default "100us",
            "largest addition to the target for a small window, since many flows with such windows share \
             the queue",
            "Swift, sec. 3.5.2; htsim: 5 base_target";
        /// Window in packets up to which the maximum increase applies.
        flow_scaling_min: f64 = "flow_scaling_min" positive, default "0.1",
            "window in packets up to which the whole range is added",
            "Swift, sec. 3.5.2; htsim";
        /// Window in packets from which the target RTT is not increased.
        flow_scaling_max: f64 = "flow_scaling_max" positive, default "100",
            "window in packets from which nothing is added; above flow_scaling_min",
            "Swift, sec. 3.5.2; htsim";
        /// Increase of the window per RTT below the target, in packets.
        additive_increase: f64 = "additive_increase" positive, default "1",
            "packets by which the window grows in a round trip below the target (ai), above 0",
            "Swift, algorithm 1; htsim";
        /// Multiplicative decrease factor, above 0, up to 1.
        beta: f64 = "beta" share, default "0.8",
            "strength of a cut by the share of the round trip that is above the target, above 0, up to 1",
            "Swift, algorithm 1; htsim";
        /// Maximum share of the window that a single cut removes, above 0, below 1.
        max_decrease: f64 = "max_decrease" share, default "0.5",
            "largest share that a cut removes, also removed by a loss (max_mdf), above 0, below 1",
            "Swift, algorithm 1; htsim";
        /// Number of consecutive timeouts that reset the window to its minimum.
        timeouts: u32 = "reset_after" count, default "5",
            "timeouts in a row after which the window is min_window (RETX_RESET_THRESHOLD), at least 1",
            "Swift, algorithm 1; choice of this project";
        /// Initial window in packets.
        initial_window: f64 = "initial_window" positive, default "10",
            "the window of a new flow, in packets",
            "RFC 6928, as a choice of this project";
        /// Minimum window in packets.
        min_window: f64 = "min_window" positive, default "0.001",
            "lower bound of the window, in packets, above 0",
            "Swift, sec. 3.4, has one; choice of this project";
        /// Maximum window in packets.
        max_window: f64 = "max_window" positive, default "1000",
            "upper bound of the window, in packets, at least 1",
            "Swift, algorithm 1, has one; choice of this project";
    }
}

impl ControlSettings for SwiftParameters {
    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        require(self.base_target > Time::ZERO, "base_target", "a round trip above 0")?;
        let apart = self.flow_scaling_min < self.flow_scaling_max;
        require(apart, "flow_scaling_max", "above flow_scaling_min")?;
        require(self.beta > 0.0, "beta", "a share above 0, up to 1")?;
        let partial = self.max_decrease > 0.0 && self.max_decrease < 1.0;
        require(partial, "max_decrease", "a share above 0, below 1")?;
        require(self.timeouts > 0, "reset_after", "at least 1 timeout")?;
        require(self.min_window >= 1e-6, "min_window", "at least 0.000001 packets")?;
        require((1.0..=1e9).contains(&self.max_window), "max_window", "at least 1 packet, at most 1000000000")?;
        let between = self.min_window <= self.initial_window && self.initial_window <= self.max_window;
        require(between, "initial_window", "at least min_window, at most max_window")
    }

    fn has_window(&self) -> bool {
        true
    }
}

impl SwiftParameters {
    /// Returns the target RTT in picoseconds for a flow with `window` packets on a path of `switches` switches
    /// (Swift, sec. 3.5).
    fn target_ps(&self, window: f64, switches: u8) -> f64 {
        let root = |packets: f64| 1.0 / packets.sqrt();
        let range_ps = self.flow_scaling_range.as_ps() as f64;
        let slope_ps = range_ps / (root(self.flow_scaling_min) - root(self.flow_scaling_max));
        let scaled_ps = (slope_ps * (root(window) - root(self.flow_scaling_max))).clamp(0.0, range_ps);
        self.base_target.as_ps() as f64 + f64::from(switches) * self.hop_scaling.as_ps() as f64 + scaled_ps
    }
}

/// Congestion window and pacing rate of one flow.
#[derive(Clone, Debug)]
pub struct Swift {
    /// Congestion window in packets.
    window: f64,
    /// Pacing rate for windows below one packet: one packet per (RTT / window).
    rate: Rate,
    limit: Rate,
    payload_bytes: u16,
    timeouts: u16,
    /// Last RTT sample, and time of the last cut.
    rtt: Time,
    cut_at: Time,
    /// Wire bytes of a full packet.
    wire_bytes: u32,
}

impl Swift {
    fn may_cut(&self, now: Time) -> bool {
        self.cut_at == Time::MAX || now.saturating_sub(self.cut_at) >= self.rtt
    }

    /// Sets the congestion window at `now`, and the corresponding pacing rate.
    fn set_window(&mut self, parameters: &SwiftParameters, now: Time, window: f64) {
        let before = self.window;
        self.window = window.clamp(parameters.min_window, parameters.max_window);
        if self.window < before {
            self.cut_at = now;
        }
        self.rate = self.limit;
        if self.window < 1.0 && self.rtt > Time::ZERO {
            let bps = f64::from(self.wire_bytes) * 8e12 * self.window / self.rtt.as_ps() as f64;
            self.rate = Rate::from_bps(bps as u64).unwrap_or(Rate::MIN).min(self.limit);
        }
    }
}

impl RateController for Swift {
    type Parameters = SwiftParameters;

    fn new(parameters: &SwiftParameters, limits: FlowLimits) -> Self {
        let mut flow = Swift {
            window: parameters.initial_window,
            rate: limits.most,
            limit: limits.most,
            payload_bytes: limits.payload_bytes,
            timeouts: 0,
            // Before the first RTT sample, the pacing rate is computed with the target RTT.
            rtt: parameters.base_target,
            cut_at: Time::MAX,
            wire_bytes: u32::from(limits.payload_bytes),
        };
        flow.set_window(parameters, limits.start, parameters.initial_window);
        flow
    }

    fn most(&self) -> Rate {
        self.limit
    }

    #[inline]
    fn rate(&mut self, _parameters: &SwiftParameters, _now: Time) -> Rate {
        self.rate
    }

    fn window_bytes(&self) -> u64 {
        // Rounded down to whole packets, because a packet may start while fewer bytes than this are in flight.
        (self.window as u64).saturating_mul(self.payload_bytes.into()).max(1)
    }

    fn on_ack(&mut self, parameters: &SwiftParameters, now: Time, ack: AckInfo<'_>) {
        self.timeouts = 0;
        self.rtt = ack.rtt;
        self.wire_bytes = ack.wire_bytes as u32;
        let (rtt_ps, target_ps) = (ack.rtt.as_ps() as f64, parameters.target_ps(self.window, ack.switches));
        if rtt_ps < target_ps {
            let packets = ack.new_bytes as f64 / f64::from(self.payload_bytes.max(1));
            let step = parameters.additive_increase * packets / self.window.max(1.0);
            self.set_window(parameters, now, self.window + step);
        } else if self.may_cut(now) {
            let cut = (parameters.beta * (rtt_ps - target_ps) / rtt_ps).min(parameters.max_decrease);
            self.set_window(parameters, now, self.window * (1.0 - cut));
        } else {
            // The window does not change, but the pacing rate below one packet depends on the new RTT.
            self.set_window(parameters, now, self.window);
        }
    }

    fn on_loss(&mut self, parameters: &SwiftParameters, now: Time, timeout: bool) {
        if timeout {
            self.timeouts = self.timeouts.saturating_add(1);
            if u32::from(self.timeouts) >= parameters.timeouts {
                return self.set_window(parameters, now, parameters.min_window);
            }
        }
        if self.may_cut(now) {
            self.set_window(parameters, now, self.window * (1.0 - parameters.max_decrease));
        }
    }

    fn control_state(&mut self, _parameters: &SwiftParameters, _now: Time) -> ControlState {
        let window_bytes = (self.window * f64::from(self.payload_bytes)) as u64;
        let (rate, rtt) = (Some(self.rate), Some(self.rtt));
        ControlState { rate, rtt, window_bytes: Some(window_bytes), ..ControlState::default() }
    }

    fn halve(&mut self, parameters: &SwiftParameters, now: Time) -> bool {
        let before = self.window;
        self.set_window(parameters, now, self.window * 0.5);
        self.window < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const LINE: Rate = Rate::from_gbps(100);

    fn flow(parameters: &SwiftParameters) -> Swift {
        let limits =
            FlowLimits { most: LINE, line: LINE, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 };
        Swift::new(parameters, limits)
    }

    fn ack(rtt: Time, switches: u8) -> AckInfo<'static> {
        let (seq, new_bytes, next, hops) = (1000, 1000, 2000, &[][..]);
        AckInfo { rtt, wire_bytes: 1082, ece: false, seq, new_bytes, next, hops, switches }
    }

    /// The target RTT of a large window is the base target plus the increase per switch. Up to 0.1 packets the
    /// maximum increase is added; in between, the increase is linear in the inverse square root of the window (Swift,
    /// sec. 3.5.2).
    #[test]
    fn the_target_grows_with_switches_and_with_small_windows() {
        let p = SwiftParameters::default();
        let us = |window: f64, switches: u8| p.target_ps(window, switches) / 1e6;
        assert!((us(100.0, 0) - 20.0).abs() < 1e-9 && (us(1e6, 0) - 20.0).abs() < 1e-9);
        assert!((us(100.0, 5) - us(100.0, 0) - 5.0 * 3.053).abs() < 1e-9);
        assert!((us(0.1, 0) - 120.0).abs() < 1e-9 && (us(0.001, 0) - 120.0).abs() < 1e-9);
        let slope = 100.0 / (10.0_f64.sqrt() - 0.1);
        assert!((us(1.0, 0) - (20.0 + slope * 0.9)).abs() < 1e-9, "{}", us(1.0, 0));
    }

    /// Below the target RTT, a window of w packets grows by one packet in w acknowledgements. Above it, the window is
    /// cut at most once per RTT: by beta times the share of the RTT above the target, at most by half.
    #[test]
    fn it_grows_by_a_packet_a_round_trip_and_shrinks_once_in_one() {
        let p = SwiftParameters { initial_window: 100.0, ..SwiftParameters::default() };
        let mut flow = flow(&p);
        (0..100).for_each(|_| flow.on_ack(&p, Time::from_us(1), ack(Time::from_us(10), 0)));
        assert!((flow.window - 101.0).abs() < 0.01, "{}", flow.window);
        let before = flow.window;
        flow.on_ack(&p, Time::from_us(100), ack(Time::from_us(25), 0));
        assert!((flow.window - before * (1.0 - 0.8 * 0.2)).abs() < 1e-9, "{}", flow.window);
        let cut = flow.window;
        flow.on_ack(&p, Time::from_us(124), ack(Time::from_us(25), 0));
        assert_eq!(flow.window, cut, "24 us later is too early");
        flow.on_ack(&p, Time::from_ms(60), ack(Time::from_ms(25), 0));
        assert_eq!(flow.window, cut * 0.5);
    }

    /// With a window of a tenth of a packet, at most one packet is in flight, and one packet is sent every ten RTTs.
    #[test]
    fn below_a_packet_it_paces() {
        let p = SwiftParameters { initial_window: 0.2, ..SwiftParameters::default() };
        let mut flow = flow(&p);
        flow.on_ack(&p, Time::from_ms(1), ack(Time::from_ms(1), 0));
        assert_eq!((flow.window, flow.window_bytes()), (0.1, 1));
        let between = flow.rate.serialise(1082);
        assert!(between.as_ps().abs_diff(Time::from_ms(10).as_ps()) < 10_000_000, "{between}");
        let large = SwiftParameters { initial_window: 7.9, ..SwiftParameters::default() };
        let large = self::flow(&large);
        assert_eq!((large.window_bytes(), large.rate), (7000, LINE));
    }

    #[test]
    fn losses_cut_once_a_round_trip_and_timeouts_reset() {
        let p = SwiftParameters::default();
        let mut flow = flow(&p);
        flow.on_loss(&p, Time::from_us(1), false);
        flow.on_loss(&p, Time::from_us(2), false);
        assert_eq!(flow.window, 5.0);
        for ms in 1..=5 {
            flow.on_loss(&p, Time::from_ms(ms), true);
        }
        assert_eq!(flow.window, p.min_window);
    }

    #[test]
    fn the_window_keeps_its_bounds_for_any_measurement() {
        let p = SwiftParameters::default();
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let (mut flow, mut now) = (flow(&p), Time::ZERO);
            for _ in 0..10_000 {
                now = now.saturating_add(Time::from_ns(random.below(100_000)));
                let bits = 4 + random.below(36);
                let rtt = match random.below(8) {
                    0 => Time::ZERO,
                    1 => Time::from_ps(u64::MAX - 1),
                    _ => Time::from_ps(random.below(1 << bits)),
                };
                match random.below(20) {
                    0 => flow.on_loss(&p, now, random.below(2) == 0),
                    1 => _ = flow.halve(&p, now),
                    _ => flow.on_ack(&p, now, ack(rtt, random.below(256) as u8)),
                }
                assert!((p.min_window..=p.max_window).contains(&flow.window), "{flow:?}");
                assert!((Rate::MIN..=LINE).contains(&flow.rate) && flow.window_bytes() >= 1);
            }
        }
    }
}
