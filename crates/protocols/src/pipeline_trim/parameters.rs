//! Parameters of packet trimming in ingress pipelines.

use super::{MAX_BURST_BYTES, Wrap};
use crate::describe::{Mechanism, extended};
use crate::limits::QueueLimit;
use crate::parameters::parameters;
use crate::settings::require;
use crate::trim;
use units::{Bytes, Rate, Time};

parameters! {
    /// Parameters that trimming in ingress pipelines adds to those of [`trim::TrimParameters`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PipelineSettings: Overload "pipeline-trim" {
        title: "trimming by features of programmable switches: meters in ingress pipelines, deflect or mirror on drop";
        source: "Popa et al., Implementing packet trimming support in hardware";
        /// Name of the switch model.
        model: &'static str = "model" word["tofino", "switch-p4", "dod", "mod", "tofino2"],
            default "tofino",
            "model of the switch: three meters, deflection and signals (tofino); two meters and a timestamp of 32 bits \
             (switch-p4); meters without signals (dod); headers mirrored on drop, no meters (mod); queue length read \
             at ingress, deflection (tofino2)",
            "Popa et al., sections 3, 5 and 6.1";
        /// Number of ingress pipelines, 1 to 64.
        pipelines: u16 = "pipelines" count[1, 64], default "4",
            "ingress pipelines of a switch, 1 to 64, at most its number of ports",
            "Popa et al., section 3: four; eight for Tofino 2";
        /// Number of consecutive ports per pipeline, at least 1. `None`: an equal number for all pipelines.
        ports_per_pipeline: Option<u16> = "ports_per_pipeline" count[1, 65_535],
            absent "the largest number that shares the ports evenly",
            "consecutive ports of a pipeline, at least 1; ports beyond the last pipeline begin again with the first",
            "Popa et al., section 3: sixteen";
        /// Rate of the recirculation port of each pipeline.
        recirculation_rate: Rate = "recirculation_rate" rate, default "100Gbps",
            "rate of the recirculation port of each pipeline",
            "Popa et al., sections 3 and 6.1";
        /// Latency from the last bit on the recirculation port to the ingress of the same pipeline.
        recirculation_latency: Time = "recirculation_latency" time, default "1us",
            "from the last bit on that port to the ingress of the same pipeline",
            "Popa et al., section 6.2";
        /// Limit of the queue of each recirculation port; `None`: unlimited.
        deflect_queue: Option<QueueLimit> = "recirculation_queue" queue_limit,
            absent "no limit: its maximum is measured",
            "queue of each recirculation port; beyond it frames are lost as `recirculation queue full`",
            "not given";
        /// T0: duration of the pessimistic mode after a congestion signal.
        pessimistic: Time = "pessimistic" time, default "6us",
            "time after a signal in which a pipeline passes only its share of a port's rate (T0): tofino, switch-p4",
            "Popa et al., section 6.2";
        /// T1 - T0: duration of the half mode, which follows the pessimistic mode.
        half: Time = "half" time, default "18us",
            "time after that in which it passes half of the rate (T1 - T0): tofino, switch-p4",
            "Popa et al., section 6.2; section 4 says 6 us";
        /// Share of the line rate that an ingress pipeline passes in half mode.
        half_share: (u32, u32) = "half_share" fraction, default "1/2",
            "share of the rate that passes then, above 0, at most 1",
            "Popa et al., section 4";
        /// Share of the line rate that an ingress pipeline passes in pessimistic mode; `None`: one over the number of
        /// pipelines.
        pessimistic_share: Option<(u32, u32)> = "pessimistic_share" fraction,
            absent "one over the number of pipelines",
            "share that a pessimistic pipeline passes, above 0, at most 1",
            "Popa et al., section 4: 25 of 100 Gbps with four pipelines";
        /// Burst size of each meter in wire bytes, 1 to [`MAX_BURST_BYTES`].
        burst_bytes: u64 = "meter_burst" bytes, default "12160B",
            "bucket size of each meter, in bytes on the wire, at least a frame, at most 2MB",
            "not given; 8 frames of 1500 B and 20 B of preamble and gap";
        /// Frames that meters count.
        metered: Metered = "metered" word["data" = Metered::Data, "all" = Metered::All], default "data",
            "frames that meters count: those that can be trimmed (data), or every frame, of which only those are \
             trimmed (all)",
            "not given in the paper; the authors' P4 program meters every IPv4 packet";
        /// Action of a pipeline in pessimistic mode.
        response: &'static str = "response" word["meter", "all", "next"], default "meter",
            "action of a pessimistic pipeline: meter to its share (meter), trim all packets (all), or trim a number of \
             packets after each signal, independent of time (next): tofino",
            "Popa et al., section 4; all and next: rejected by its authors";
        /// Number of packets trimmed per signal if the response is `next`, at least 1.
        trim_next: u32 = "trim_next" count[1, 1_000_000], default "12",
            "response next: packets trimmed per signal, at least 1",
            "Popa et al., section 4: a recirculation port can be overloaded 12 times";
        /// Pipelines that receive the congestion signal of a deflected packet.
        notified: SignalScope = "notify" word["all" = SignalScope::All, "origin" = SignalScope::Origin], default "all",
            "pipelines that receive the signal of a deflected packet: all, or its ingress pipeline (origin)",
            "Popa et al., section 4";
        /// Recirculation ports carry the messages of a congestion signal.
        signal_load: SignalLoad = "signal_load" word["none" = SignalLoad::None,
            "recirculation" = SignalLoad::Recirculation], default "none",
            "load of signals on recirculation ports: none, or for each deflected packet an UPDATE of 64 B on the port \
             of its pipeline and a NOTIFY of 64 B on that of each notified pipeline, ahead of packets (recirculation)",
            "Popa et al., section 5, figure 4; the size is not given: a minimum frame";
        /// Delay from the dequeue of a deflected frame at the recirculation port to the effect of its congestion
        /// signal in the pipelines; `None`: the recirculation latency.
        signal_delay: Option<Time> = "signal_delay" time, absent "as recirculation_latency",
            "time from the departure of a packet from the queue of the recirculation port to the reaction of the \
             pipelines",
            "Popa et al., section 6.2: at dequeue, to all at once; ndp.p4 recirculates twice (section 5)";
        /// Comparison of 32-bit timestamps.
        wrap: Wrap = "timestamp" word["wrapping" = Wrap::Handled, "as-listed" = Wrap::AsListed], default "wrapping",
            "comparison of timestamps of 32 bits: by their difference (wrapping), or as the paper lists it \
             (as-listed), which fails when the clock wraps: switch-p4",
            "Popa et al., section 5";
        /// Value of the 1 ns clock at time zero.
        clock_ns: u32 = "clock" count, default "0",
            "value of the 1 ns clock at time zero, 0 to 4294967295: switch-p4",
            "choice of this project, to include a wrap in a run";
        /// Number of pipeline stages between the sample of the queue length at ingress and the queue, 0 to 64.
        stages: u32 = "stages" count[0, 64], default "4",
            "stages between the read of the queue length and the queue, 0 to 64: tofino2",
            "Popa et al., section 3";
        /// Duration of a pipeline stage.
        cycle: Time = "cycle" time, default "1ns",
            "time of a stage; a pipeline takes one packet a cycle: tofino2",
            "not given: a pipeline that takes 1000 million packets a second";
    }
    check(parameters) {
        let most_bytes = u64::from(MAX_BURST_BYTES);
        let wanted = format!("a size up to {}, like \"12160B\"", Bytes(most_bytes));
        [require((1..=most_bytes).contains(&parameters.burst_bytes), "meter_burst", wanted)]
    }
}

/// Description of trimming in ingress pipelines, including the applicable parameters of trimming.
pub const PIPELINE_TRIM: Mechanism = Mechanism {
    parameters: &{
        const BASE: usize = trim::MECHANISM.parameters.len();
        let without = ["victim", "watermark", "tiers"];
        let own = MECHANISM.parameters;
        extended::<{ BASE - 3 + MECHANISM.parameters.len() }>(trim::MECHANISM.parameters, &without, &[], own)
    },
    ..MECHANISM
};

/// Pipelines that receive the congestion signal of a deflected frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalScope {
    /// All pipelines.
    All,
    /// Only the ingress pipeline of the frame.
    Origin,
}

impl SignalScope {
    /// Returns whether a signal from pipeline `origin` is delivered to `pipeline`.
    #[inline]
    pub fn includes(self, origin: usize, pipeline: usize) -> bool {
        self == SignalScope::All || origin == pipeline
    }
}

/// Load of congestion signals on the recirculation ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalLoad {
    /// Signals occupy no port.
    None,
    /// An UPDATE occupies the recirculation port of the frame's pipeline, and a NOTIFY that of each notified pipeline.
    /// Both have [`SIGNAL_BYTES`] and are sent ahead of frames.
    Recirculation,
}

/// Size of an UPDATE or NOTIFY message in bytes, FCS included: a minimum frame. The paper does not give it.
pub const SIGNAL_BYTES: u64 = 64;

/// Frames that the meters of a pipeline count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metered {
    /// Frames that can be trimmed.
    Data,
    /// All frames. Those that cannot be trimmed take tokens and pass.
    All,
}
