//! Parameters of HetFlow, with their description.

use super::MAX_FEEDBACK;
use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::frame::MIN_FRAME_BYTES;
use crate::rate_control::ControlSettings;
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time};

/// The parameters of HetFlow beside those of its transport; [`MECHANISM`] describes each.
#[derive(Clone, Debug, PartialEq)]
pub struct HetFlowParameters {
    /// Rate of a new flow; `None` for the highest rate of the flow.
    pub initial_rate: Option<Rate>,
    /// T: longest time between two samples, and the sender's time without notifications before its rate rises.
    pub timer: Time,
    /// BC_r: bytes received between two samples.
    pub byte_counter_bytes: u64,
    /// N_s: frames of a sample.
    pub sample: u32,
    /// KC: factor from the slope of the delay to feedback.
    pub scaling: f64,
    /// Weight of a new mean delay in the moving average, above 0, up to 1.
    pub ewma: f64,
    /// Gd: share of a cut per unit of feedback.
    pub gain: f64,
    /// sigma: time of recovery.
    pub recovery: Time,
    /// Time between two updates of a rising rate.
    pub update: Time,
    /// Length of a notification frame in bytes.
    pub cnm_bytes: u16,
    /// Lower bound of the rate.
    pub min_rate: Rate,
}

impl Default for HetFlowParameters {
    fn default() -> Self {
        HetFlowParameters {
            initial_rate: None,
            timer: Time::from_ms(3),
            byte_counter_bytes: 100_000,
            sample: 32,
            scaling: 1500.0,
            ewma: 1.0,
            gain: 0.007_812_5,
            recovery: Time::from_ms(10),
            update: Time::from_us(100),
            cnm_bytes: MIN_FRAME_BYTES,
            min_rate: Rate::from_mbps(10),
        }
    }
}

/// Description of HetFlow; includes the parameters of [`crate::roce::MECHANISM`].
pub const MECHANISM: Mechanism = Mechanism {
    kind: "hetflow",
    family: Family::Transport,
    title: "RoCE whose rate follows the slope of one-way delays",
    source: "Bahnasy, Boughzala and Elbiaze, On Using Ethernet as a Lossless Fabric, thesis, ETS Montreal, chapter 3",
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
                key: "timer",
                syntax: Syntax::TEXT,
                default: Value("3ms"),
                meaning: "longest time T between two samples, and without a notification before a rate rises",
                source: "thesis, table 3.2",
            },
            Parameter {
                key: "sampling_bytes",
                syntax: Syntax::TEXT,
                default: Value("100KB"),
                meaning: "bytes BC_r that a receiver counts before it takes a sample (frames without preamble and gap)",
                source: "thesis, table 3.2 (20KB in its section 3.6.2)",
            },
            Parameter {
                key: "sample",
                syntax: Syntax::TEXT,
                default: Value("32"),
                meaning: "frames N_s per sample, at least 1; no sample if they take more than twice the timer",
                source: "thesis, table 3.2",
            },
            Parameter {
                key: "scaling",
                syntax: Syntax::TEXT,
                default: Value("1500"),
                meaning: "KC, feedback per slope of the delay",
                source: "thesis, table 3.2",
            },
            Parameter {
                key: "ewma",
                syntax: Syntax::TEXT,
                default: Value("1"),
                meaning: "weight of a new mean in the reference delay of the next sample, above 0, up to 1; 1: the \
                          reference is the sample before",
                source: "thesis, eq. 3.7 (1); its algorithm 3 has an average of unstated weight",
            },
            Parameter {
                key: "gain",
                syntax: Syntax::TEXT,
                default: Value("0.0078125"),
                meaning: "share Gd of the rate that a unit of feedback removes, above 0, up to 1/64",
                source: "thesis, table 3.2: 1/128, so that feedback of 64 halves the rate",
            },
            Parameter {
                key: "recovery",
                syntax: Syntax::TEXT,
                default: Value("10ms"),
                meaning: "time sigma from a cut until the rate has recovered",
                source: "thesis, table 3.2",
            },
            Parameter {
                key: "update",
                syntax: Syntax::TEXT,
                default: Value("100us"),
                meaning: "update interval of a rising rate",
                source: "choice of this project: the table's 3ms is coarse against the time of recovery",
            },
            Parameter {
                key: "cnm",
                syntax: Syntax::TEXT,
                default: Value("64B"),
                meaning: "length of a notification",
                source: "IEEE 802.1Q, clause 33: with priority tag 46 B, and no frame is shorter than 64",
            },
            Parameter {
                key: "min_rate",
                syntax: Syntax::TEXT,
                default: Value("10Mbps"),
                meaning: "lower bound of the rate",
                source: "choice of this project",
            },
        ]
    },
};

impl ControlSettings for HetFlowParameters {
    const MECHANISM: &'static Mechanism = &MECHANISM;

    fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "initial_rate" => self.initial_rate = settings::rate_or(key, text, "line")?,
            "timer" => self.timer = settings::time(key, text)?,
            "sampling_bytes" => self.byte_counter_bytes = settings::bytes(key, text)?,
            "sample" => self.sample = settings::count(key, text)?,
            "scaling" => self.scaling = settings::positive(key, text)?,
            "ewma" => self.ewma = settings::share(key, text)?,
            "gain" => self.gain = settings::share(key, text)?,
            "recovery" => self.recovery = settings::time(key, text)?,
            "update" => self.update = settings::time(key, text)?,
            "cnm" => self.cnm_bytes = settings::frame_bytes(key, text)?,
            "min_rate" => self.min_rate = settings::rate(key, text)?,
            _ => return Err(settings::unknown(&MECHANISM, key)),
        }
        Ok(())
    }

    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        require(self.timer > Time::ZERO, "timer", "samples are taken at least this often: at least 1ps")?;
        require(self.byte_counter_bytes > 0, "sampling_bytes", "at least 1B")?;
        require(self.sample > 0, "sample", "at least 1 frame")?;
        require(self.ewma > 0.0 && self.ewma <= 1.0, "ewma", "a weight above 0, up to 1")?;
        let most = 1.0 / f64::from(MAX_FEEDBACK);
        require(self.gain > 0.0 && self.gain <= most, "gain", "a share above 0, up to 1/64 (0.015625)")?;
        require(self.recovery > Time::ZERO, "recovery", "at least 1ps")?;
        require(self.update > Time::ZERO, "update", "at least 1ps")
    }

    fn largest_frame_bytes(&self) -> u16 {
        self.cnm_bytes
    }
}
