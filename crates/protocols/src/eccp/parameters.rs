//! Parameters of ECCP, with their description.

use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::parameters;
use crate::rate_control::ControlSettings;
use crate::rate_recovery::RecoveryParameters;
use crate::roce::connection::INITIAL_RATE;
use crate::settings::{ParameterError, require};
use units::{Rate, Time};

/// Source of the available bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandwidthSource {
    /// The strain of probe trains.
    Trains,
    /// The load of links, from telemetry of switches: without estimation error.
    Measured,
}

/// Variance with which the filter weighs the mean strain of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrainVariance {
    /// The variance of the mean: that of the pairs, divided by their number.
    Mean,
    /// The variance of the pairs.
    Pairs,
}

parameters! {
    /// The parameters that ECCP adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EccpParameters: Transport "eccp" {
        title: "RoCE with a rate that keeps a share of the path's bandwidth available, measured by probes";
        source: "Bahnasy, Lossless Ethernet and its Applications, thesis, ETS Montreal, 2018, \
            chapter 2";
        over: crate::roce::connection::MECHANISM;
        /// Initial rate of a flow; `None` for the maximum rate of the flow.
        initial_rate: Option<Rate> = "initial_rate" rate_or["line"], default "line",
            INITIAL_RATE[0],
            INITIAL_RATE[1];
        /// AvT: the available bandwidth to be left on the path, as a share of the flow's rate.
        share: f64 = "availability" share, default "0.1",
            "share AvT of the rate that stays available on the path, above 0, up to 1: the fastest train",
            "thesis, table 2.1";
        /// A_eq: value of the ratio A_r = available bandwidth / (AvT rate) at equilibrium, where the rate is
        /// constant.
        equilibrium: f64 = "equilibrium" share, default "0.5",
            "part A_eq of that share in equilibrium, 0 to 1",
            "thesis, table 2.1";
        /// w: weight of the change of the ratio A_r in the feedback.
        weight: f64 = "weight" positive, default "2",
            "weight w of the change of that part, above 0",
            "thesis, section 2.4.1.4, as in QCN";
        /// Gd: relative rate reduction per unit of feedback.
        gain: f64 = "gain" share, default "0.78125",
            "share Gd of the rate that a unit of feedback removes, above 0, up to 1; a cut removes at most half",
            "thesis, table 2.1: 100/128";
        /// Source of the available bandwidth.
        estimate: BandwidthSource = "estimate"
            word["trains" = BandwidthSource::Trains, "measured" = BandwidthSource::Measured],
            default "trains",
            "source of the available bandwidth: trains, from their strain; measured, from the load of the links, \
             reported by their switches every train_interval",
            "thesis, section 2.4.1.3 (trains) and section 2.6, for its figures (measured)";
        /// Whether probes of other flows count as load of a link.
        count_probes: bool = "count_probes" switch, default "true",
            "measured: probes of other flows are part of the load of a link; false: data only",
            "choice of this project, with which equilibria are those of figure 2.21; thesis, eq. 2.9: data only";
        /// N: number of frames per train, at least 2.
        train_frames: u32 = "train_frames" count, default "33",
            "probes N of a train, at least 2",
            "thesis, table 2.1";
        /// Time between the starts of two trains, or between two telemetry samples.
        train_interval: Time = "train_interval" time, default "1ms",
            "from the start of a train to that of the next, or to the end of a train that lasts longer",
            "thesis, table 2.1";
        /// Length of a probe in bytes.
        probe_bytes: u16 = "probe" frame_bytes, default "1500B",
            "length of a probe; at least 64 B on the wire",
            "thesis, table 2.1";
        /// Class of probes; `None` for the flow's class.
        probe_class: Option<u8> = "probe_class" class, absent "that of the flow's data",
            "class of probes, 0 to 7; they measure the queue of their class: with a higher priority than the data \
             they do not measure the data's queue",
            "choice of this project: a host does not pace probes in any class";
        /// Rate of the slowest train.
        min_probe_rate: Rate = "min_probe_rate" rate, default "50Mbps",
            "rate of the slowest train, no more than that of the sender's port",
            "thesis, table 2.1";
        /// eps_t: a train with a smaller strain counts as unstrained.
        strain_threshold: f64 = "strain_threshold" share, default "0.002",
            "mean strain eps_t below which a train is not strained, 0 to 1",
            "choice of this project: a train that is too fast by a share x of the link's rate has a strain of x, and \
             the margin of four flows is 0.025 of it";
        /// Number of trains over which the fastest unstrained train is determined; 0: all trains.
        best_trains: u32 = "best_trains" count, default "0",
            "trains: last trains among which the fastest unstrained one is the available bandwidth; 0: all since the \
             start of the flow",
            "thesis, eq. 2.4: max over trains, without a range";
        /// Variance R of the strain of a train.
        strain_variance: StrainVariance = "strain_variance"
            word["mean" = StrainVariance::Mean, "pairs" = StrainVariance::Pairs],
            default "mean",
            "variance R of a train's strain: mean, that of the mean of its pairs; pairs, that of its pairs",
            "choice of this project; thesis, section 2.4.1.3: the average and its variance";
        /// Process noise Q: variance that the slope of the strain line (1/Gbps) gains with each train.
        noise_slope: f64 = "noise_slope" positive, default "0.00001",
            "variance that the slope of strain per Gbps gains with each train, above 0",
            "thesis, table 2.1: Q";
        /// Process noise Q: variance that the offset of the strain line gains with each train.
        noise_offset: f64 = "noise_offset" positive, default "0.01",
            "variance that the offset of strain gains with each train, above 0",
            "thesis, table 2.1: Q";
        /// P: initial variance of the slope of the strain line.
        initial_slope_variance: f64 = "initial_slope_variance" positive, default "1",
            "variance of the slope before the first strained train, above 0; the slope starts at one over the rate of \
             the sender's port",
            "thesis, table 2.1: P; start value: choice of this project";
        /// P: initial variance of the offset of the strain line.
        initial_offset_variance: f64 = "initial_offset_variance" positive, default "100",
            "variance of the offset before the first train that is strained, above 0",
            "thesis, table 2.1: P";
        /// Length of a notification in bytes.
        cnp_bytes: u16 = "cnp" frame_bytes, default "78B",
            "length of a notification",
            "InfiniBand specification, annex A17.9";
    }
    /// Parameters of the rate recovery.
    group recovery: RecoveryParameters { hyper_by_stage: false, half_after_recovery: true } {
        increase_before_cut = "increase_before_cut" switch, default "true",
            "a flow that starts below its maximum rate increases its rate in stages before its first cut",
            "choice of this project; thesis, algorithms 1 and 2: false (SelfIncreaseStarted)";
        byte_counter_bytes = "byte_counter" bytes, default "750KB",
            "bytes sent (frames without preamble and gap) per stage of the byte counter, half of it after fast \
             recovery; 0B disables it",
            "thesis, table 2.1: BC";
        timer = "increase_timer" time, default "5ms",
            "length of a stage of the timer, half of it after fast recovery; 0us disables it",
            "thesis, table 2.1: T of the rate controller";
        stages = "recovery_stages" count, default "5",
            "stages of fast recovery",
            "thesis, section 2.4.1.4, as in QCN";
        additive_after = "additive_after" count, default "0",
            "stages that the counter with more stages completes after fast recovery before the target rises",
            "thesis, section 2.4.1.4: 0; algorithm 2: 1 (> 5)";
        hyper_after = "hyper_after" count, default "1",
            "stages that both counters complete after fast recovery before the target rises by hyper_increase",
            "as in QCN, and thesis, algorithm 2 (> 5): 1; section 2.4.1.4: 0";
        additive_increase = "additive_increase" rate, default "5Mbps",
            "step R_AI of the target when one counter is past fast recovery",
            "thesis, table 2.1; its algorithm 2 exchanges the two steps";
        hyper_increase = "hyper_increase" rate, default "50Mbps",
            "step R_HAI of the target when all enabled counters are past fast recovery",
            "thesis, table 2.1";
        min_rate = "min_rate" rate, default "50Mbps",
            "lower bound of the rate",
            "choice of this project: that of the slowest train";
    }
}

impl EccpParameters {
    /// Returns whether the available bandwidth is computed from telemetry.
    pub(super) fn measures(&self) -> bool {
        self.estimate == BandwidthSource::Measured
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
            "strain_threshold"
                | "noise_slope"
                | "noise_offset"
                | "initial_slope_variance"
                | "initial_offset_variance"
                | "best_trains"
                | "strain_variance"
        );
        match key {
            _ if of_trains && self.measures() => Some("estimate = \"trains\""),
            "count_probes" if !self.measures() => Some("estimate = \"measured\""),
            "increase_before_cut" if self.initial_rate.is_none() => Some("an initial_rate below that of the port"),
            _ => None,
        }
    }

    fn needs_lower_start(&self) -> Option<(&'static str, Rate)> {
        let initial = self.initial_rate.filter(|_| !self.recovery.increase_before_cut)?;
        Some(("increase_before_cut", initial))
    }

    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        Some(("min_probe_rate", self.min_probe_rate))
    }
}
