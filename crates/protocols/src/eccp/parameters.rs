//! Parameters of ECCP, with their description.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::OwnParameters;
use crate::rate_control::ControlSettings;
use crate::rate_recovery::RecoveryParameters;
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time};

/// Source of the available bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// The strain of probe trains.
    Trains,
    /// The load of links, from telemetry of switches: without estimation error.
    Measured,
}

/// The parameters of ECCP beside those of its transport; [`MECHANISM`] describes each.
#[derive(Clone, Debug, PartialEq)]
pub struct EccpParameters {
    /// Rate of a new flow; `None` for the highest rate of the flow.
    pub initial_rate: Option<Rate>,
    /// AvT: the share of the rate that should stay available.
    pub share: f64,
    /// A_eq: the ratio of available bandwidth to that share at which the rate is constant.
    pub equilibrium: f64,
    /// w: weight of the ratio's change.
    pub weight: f64,
    /// Gd: share of a cut per unit of feedback.
    pub gain: f64,
    /// Source of the available bandwidth.
    pub estimate: Estimate,
    /// N: frames of a train, at least 2.
    pub train_frames: u32,
    /// Time between the starts of two trains, or between two telemetry samples.
    pub train_interval: Time,
    /// Length of a probe in bytes.
    pub probe_bytes: u16,
    /// Class of probes; `None` for the flow's.
    pub probe_class: Option<u8>,
    /// Rate of the slowest train.
    pub min_probe_rate: Rate,
    /// eps_t: a train with less strain than this counts as unstrained.
    pub strain_threshold: f64,
    /// Q: variance that slope (1/Gbps) and offset of the line gain with each train.
    pub noise: [f64; 2],
    /// P: initial variances of these.
    pub initial_variance: [f64; 2],
    /// Length of a notification in bytes.
    pub cnp_bytes: u16,
    /// Parameters of the recovery.
    pub recovery: RecoveryParameters,
}

impl EccpParameters {
    /// Whether the load of links is measured.
    pub(super) fn measures(&self) -> bool {
        self.estimate == Estimate::Measured
    }
}

impl Default for EccpParameters {
    fn default() -> Self {
        EccpParameters {
            initial_rate: None,
            share: 0.1,
            equilibrium: 0.5,
            weight: 2.0,
            gain: 0.781_25,
            estimate: Estimate::Trains,
            train_frames: 33,
            train_interval: Time::from_ms(1),
            probe_bytes: 1500,
            probe_class: None,
            min_probe_rate: Rate::from_mbps(50),
            strain_threshold: 0.002,
            noise: [0.000_01, 0.01],
            initial_variance: [1.0, 100.0],
            cnp_bytes: 78,
            recovery: RecoveryParameters {
                byte_counter_bytes: 750_000,
                timer: Time::from_ms(5),
                stages: 5,
                additive_increase: Rate::from_mbps(5),
                hyper_increase: Rate::from_mbps(50),
                hyper_by_stage: false,
                half_after_recovery: true,
                min_rate: Rate::from_mbps(50),
            },
        }
    }
}

/// Description of ECCP; includes the parameters of [`crate::roce::MECHANISM`].
pub const MECHANISM: Mechanism = Mechanism {
    kind: "eccp",
    family: Family::Transport,
    title: "RoCE with a rate that keeps a share of the path's bandwidth available, measured by probes",
    source: "Bahnasy, Boughzala and Elbiaze, On Using Ethernet as a Lossless Fabric, thesis, ETS Montreal, chapter 2",
    parameters: &{
        use crate::roce::described::*;
        [
            PAYLOAD,
            HEADER,
            ACK_BYTES,
            ACK_EVERY,
            WINDOW,
            VARIABLE_WINDOW,
            RATE,
            INITIAL_RATE,
            TIMEOUT,
            NAK_INTERVAL,
            LOSS_RECOVERY,
            FLIGHT_CAP,
            RTO_LOW,
            RTO_HIGH,
            RTO_LOW_PACKETS,
            ECN,
            Parameter {
                key: "availability",
                syntax: Syntax::TEXT,
                default: Value("0.1"),
                meaning: "share AvT of the rate that stays available on the path, above 0, up to 1: the fastest train",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "equilibrium",
                syntax: Syntax::TEXT,
                default: Value("0.5"),
                meaning: "part A_eq of that share in equilibrium, 0 to 1",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "weight",
                syntax: Syntax::TEXT,
                default: Value("2"),
                meaning: "weight w of the change of that part, above 0",
                source: "thesis, section 2.4.1.4, as in QCN",
            },
            Parameter {
                key: "gain",
                syntax: Syntax::TEXT,
                default: Value("0.78125"),
                meaning: "share Gd of the rate that a unit of feedback removes, above 0, up to 1; a cut removes at \
                          most half",
                source: "thesis, table 2.1: 100/128",
            },
            Parameter {
                key: "estimate",
                syntax: Syntax::TEXT,
                default: Value("trains"),
                meaning: "source of the available bandwidth: trains, from their strain; measured, from the load of the \
                          links, reported by their switches every train_interval",
                source: "thesis, section 2.4.1.3 (trains) and section 2.6, for its figures (measured)",
            },
            Parameter {
                key: "train_frames",
                syntax: Syntax::TEXT,
                default: Value("33"),
                meaning: "probes N of a train, at least 2",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "train_interval",
                syntax: Syntax::TEXT,
                default: Value("1ms"),
                meaning: "from the start of a train to that of the next, or to the end of a train that lasts longer",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "probe",
                syntax: Syntax::TEXT,
                default: Value("1500B"),
                meaning: "length of a probe; at least 64 B on the wire",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "probe_class",
                syntax: Syntax::TEXT,
                default: Absent("that of the flow's data"),
                meaning: "class of probes, 0 to 7; they measure the queue of their class: with a higher priority than \
                          the data they do not measure the data's queue",
                source: "choice of this project: a host does not pace probes in any class",
            },
            Parameter {
                key: "min_probe_rate",
                syntax: Syntax::TEXT,
                default: Value("50Mbps"),
                meaning: "rate of the slowest train, no more than that of the sender's port",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "strain_threshold",
                syntax: Syntax::TEXT,
                default: Value("0.002"),
                meaning: "mean strain eps_t below which a train is not strained, 0 to 1",
                source: "choice of this project: a train that is too fast by a share x of the link's rate has a strain \
                         of x, and the margin of four flows is 0.025 of it",
            },
            Parameter {
                key: "noise_slope",
                syntax: Syntax::TEXT,
                default: Value("0.00001"),
                meaning: "variance that the slope of strain per Gbps gains with each train, above 0",
                source: "thesis, table 2.1: Q",
            },
            Parameter {
                key: "noise_offset",
                syntax: Syntax::TEXT,
                default: Value("0.01"),
                meaning: "variance that the offset of strain gains with each train, above 0",
                source: "thesis, table 2.1: Q",
            },
            Parameter {
                key: "initial_slope_variance",
                syntax: Syntax::TEXT,
                default: Value("1"),
                meaning: "variance of the slope before the first strained train, above 0; the slope starts at one over \
                          the rate of the sender's port",
                source: "thesis, table 2.1: P; start value: choice of this project",
            },
            Parameter {
                key: "initial_offset_variance",
                syntax: Syntax::TEXT,
                default: Value("100"),
                meaning: "variance of the offset before the first train that is strained, above 0",
                source: "thesis, table 2.1: P",
            },
            Parameter {
                key: "cnp",
                syntax: Syntax::TEXT,
                default: Value("78B"),
                meaning: "length of a notification",
                source: "InfiniBand specification, annex A17.9",
            },
            Parameter {
                key: "byte_counter",
                syntax: Syntax::TEXT,
                default: Value("750KB"),
                meaning: "bytes sent (frames without preamble and gap) per stage of the byte counter, half of it after \
                          fast recovery; 0B disables it",
                source: "thesis, table 2.1: BC",
            },
            Parameter {
                key: "increase_timer",
                syntax: Syntax::TEXT,
                default: Value("5ms"),
                meaning: "length of a stage of the timer, half of it after fast recovery; 0us disables it",
                source: "thesis, table 2.1: T of the rate controller",
            },
            Parameter {
                key: "recovery_stages",
                syntax: Syntax::TEXT,
                default: Value("5"),
                meaning: "stages of fast recovery",
                source: "thesis, section 2.4.1.4, as in QCN",
            },
            Parameter {
                key: "additive_increase",
                syntax: Syntax::TEXT,
                default: Value("5Mbps"),
                meaning: "step R_AI of the target when one counter is past fast recovery",
                source: "thesis, table 2.1; its algorithm 2 exchanges the two steps",
            },
            Parameter {
                key: "hyper_increase",
                syntax: Syntax::TEXT,
                default: Value("50Mbps"),
                meaning: "step R_HAI of the target when all enabled counters are past fast recovery",
                source: "thesis, table 2.1",
            },
            Parameter {
                key: "min_rate",
                syntax: Syntax::TEXT,
                default: Value("50Mbps"),
                meaning: "lower bound of the rate",
                source: "choice of this project: that of the slowest train",
            },
        ]
    },
};

impl OwnParameters for EccpParameters {
    const MECHANISM: &'static Mechanism = &MECHANISM;

    fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        let measured = [("trains", Estimate::Trains), ("measured", Estimate::Measured)];
        match key {
            "initial_rate" => self.initial_rate = settings::rate_or(key, text, "line")?,
            "availability" => self.share = settings::share(key, text)?,
            "equilibrium" => self.equilibrium = settings::share(key, text)?,
            "weight" => self.weight = settings::positive(key, text)?,
            "gain" => self.gain = settings::share(key, text)?,
            "estimate" => self.estimate = settings::word(key, text, &measured)?,
            "train_frames" => self.train_frames = settings::count(key, text)?,
            "train_interval" => self.train_interval = settings::time(key, text)?,
            "probe" => self.probe_bytes = settings::frame_bytes(key, text)?,
            "probe_class" => self.probe_class = settings::class_or(key, text, "that of the flow's data")?,
            "min_probe_rate" => self.min_probe_rate = settings::rate(key, text)?,
            "strain_threshold" => self.strain_threshold = settings::share(key, text)?,
            "noise_slope" => self.noise[0] = settings::positive(key, text)?,
            "noise_offset" => self.noise[1] = settings::positive(key, text)?,
            "initial_slope_variance" => self.initial_variance[0] = settings::positive(key, text)?,
            "initial_offset_variance" => self.initial_variance[1] = settings::positive(key, text)?,
            "cnp" => self.cnp_bytes = settings::frame_bytes(key, text)?,
            "byte_counter" => self.recovery.byte_counter_bytes = settings::bytes(key, text)?,
            "increase_timer" => self.recovery.timer = settings::time(key, text)?,
            "recovery_stages" => self.recovery.stages = settings::count(key, text)?,
            "additive_increase" => self.recovery.additive_increase = settings::rate(key, text)?,
            "hyper_increase" => self.recovery.hyper_increase = settings::rate(key, text)?,
            "min_rate" => self.recovery.min_rate = settings::rate(key, text)?,
            _ => return Err(settings::unknown(&MECHANISM, key)),
        }
        Ok(())
    }
}

impl ControlSettings for EccpParameters {
    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        require(self.share > 0.0, "availability", "a share above 0, up to 1")?;
        require(self.gain > 0.0, "gain", "a share above 0, up to 1")?;
        require(self.train_frames >= 2, "train_frames", "at least 2: strain is of pairs")?;
        require(self.train_interval > Time::ZERO, "train_interval", "trains follow each other: at least 1ps")?;
        let climbs = self.recovery.timer > Time::ZERO || self.recovery.byte_counter_bytes > 0;
        require(climbs, "increase_timer", "without timer and byte counter a rate never recovers")
    }

    fn largest_frame_bytes(&self) -> u16 {
        self.cnp_bytes.max(self.probe_bytes).max(MIN_FRAME_BYTES)
    }

    fn classes(&self) -> u8 {
        self.probe_class.map_or(0, |class| 1 << class)
    }

    fn collects(&self) -> bool {
        self.measures()
    }

    fn idle(&self, key: &str) -> Option<&'static str> {
        let of_trains = matches!(
            key,
            "strain_threshold" | "noise_slope" | "noise_offset" | "initial_slope_variance" | "initial_offset_variance"
        );
        (of_trains && self.measures()).then_some("estimate = \"trains\"")
    }

    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        Some(("min_probe_rate", self.min_probe_rate))
    }
}
