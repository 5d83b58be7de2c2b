//! Parameters of HetFlow, with their description.

use super::MAX_FEEDBACK;
use crate::ParameterError;
use crate::parameters::parameters;
use crate::rate_control::ControlSettings;
use crate::roce::connection::INITIAL_RATE;
use crate::settings::require;
use units::{Rate, Time};

parameters! {
    /// The parameters that HetFlow adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HetFlowParameters: Transport "hetflow" {
        title: "RoCE whose rate follows the slope of one-way delays";
        source: "Bahnasy, Lossless Ethernet and its Applications, thesis, ETS Montreal, 2018, \
            chapter 3";
        over: crate::roce::connection::MECHANISM;
        /// Initial rate of a flow; `None` for the maximum rate of the flow.
        initial_rate: Option<Rate> = "initial_rate" rate_or["line"], default "line",
            INITIAL_RATE[0],
            INITIAL_RATE[1];
        /// T: maximum time between two samples at the receiver, and time without notifications before the sender's
        /// rate rises.
        timer: Time = "timer" time, default "3ms",
            "longest time T between two samples, and without a notification before a rate rises",
            "thesis, table 3.2";
        /// BC_r: bytes received between two samples.
        byte_counter_bytes: u64 = "sampling_bytes" bytes, default "100KB",
            "bytes BC_r that a receiver counts before it takes a sample (frames without preamble and gap)",
            "thesis, table 3.2 (20KB in its section 3.6.2)";
        /// N_s: number of frames per sample.
        sample: u32 = "sample" count, default "32",
            "frames N_s per sample, at least 1; no sample if they take more than twice the timer",
            "thesis, table 3.2";
        /// KC: feedback per unit of the gradient of the one-way delay.
        scaling: f64 = "scaling" positive, default "1500",
            "KC, feedback per slope of the delay",
            "thesis, table 3.2";
        /// Weight of a new mean delay in its moving average, above 0, up to 1.
        ewma: f64 = "ewma" share, default "1",
            "weight of a new mean in the reference delay of the next sample, above 0, up to 1; 1: the \
             reference is the sample before",
            "thesis, eq. 3.7 (1); its algorithm 3 has an average of unstated weight";
        /// Gd: relative rate reduction per unit of feedback.
        gain: f64 = "gain" share, default "0.0078125",
            "share Gd of the rate that a unit of feedback removes, above 0, up to 1/64",
            "thesis, table 3.2: 1/128, so that feedback of 64 halves the rate";
        /// sigma: duration of the recovery after a cut.
        recovery: Time = "recovery" time, default "10ms",
            "time sigma from a cut until the rate has recovered",
            "thesis, table 3.2";
        /// Time between two updates of the rate during the recovery.
        update: Time = "update" time, default "100us",
            "update interval of a rising rate",
            "choice of this project: the table's 3ms is coarse against the time of recovery";
        /// Length of a notification frame in bytes.
        cnm_bytes: u16 = "cnm" frame_bytes, default "64B",
            "length of a notification",
            "IEEE 802.1Q, clause 33: with priority tag 46 B, and no frame is shorter than 64";
        /// Lower bound of the rate.
        min_rate: Rate = "min_rate" rate, default "10Mbps",
            "lower bound of the rate",
            "choice of this project";
    }
}

impl ControlSettings for HetFlowParameters {
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
