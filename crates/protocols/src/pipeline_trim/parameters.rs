//! Description of trimming in pipelines.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter, Syntax, extended};
use crate::trim;

/// A switch that trims in its pipelines.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "pipeline-trim",
    family: Family::Overload,
    title: "trimming by features of programmable switches: meters in ingress pipelines, deflect or mirror on drop",
    source: "Popa et al., Implementing packet trimming support in hardware",
    parameters: &{
        const OWN: &[Parameter] = &[
            Parameter {
                key: "model",
                syntax: Syntax::word(
                    &["tofino", "switch-p4", "dod", "mod", "tofino2"],
                    "tofino, switch-p4, dod, mod or tofino2",
                    "\"tofino\"",
                ),
                default: Value("tofino"),
                meaning: "model of the switch: three meters, deflection and signals (tofino); two meters and a \
                          timestamp of 32 bits (switch-p4); meters without signals (dod); headers mirrored on drop, \
                          no meters (mod); queue length read at ingress, deflection (tofino2)",
                source: "Popa et al., sections 3, 5 and 6.1",
            },
            Parameter {
                key: "pipelines",
                syntax: Syntax::COUNT,
                default: Value("4"),
                meaning: "ingress pipelines of a switch, 1 to 64, at most its number of ports",
                source: "Popa et al., section 3: four; eight for Tofino 2",
            },
            Parameter {
                key: "ports_per_pipeline",
                syntax: Syntax::COUNT,
                default: Absent("the largest number that shares the ports evenly"),
                meaning: "consecutive ports of a pipeline, at least 1; ports beyond the last pipeline begin again \
                          with the first",
                source: "Popa et al., section 3: sixteen",
            },
            Parameter {
                key: "recirculation_rate",
                syntax: Syntax::RATE,
                default: Value("100Gbps"),
                meaning: "rate of the recirculation port of each pipeline",
                source: "Popa et al., sections 3 and 6.1",
            },
            Parameter {
                key: "recirculation_latency",
                syntax: Syntax::TIME,
                default: Value("1us"),
                meaning: "from the last bit on that port to the ingress of the same pipeline",
                source: "Popa et al., section 6.2",
            },
            Parameter {
                key: "recirculation_queue",
                syntax: Syntax::QUEUE_LIMIT,
                default: Absent("no limit: its maximum is measured"),
                meaning: "queue of each recirculation port; beyond it frames are lost as `recirculation queue full`",
                source: "not given",
            },
            Parameter {
                key: "pessimistic",
                syntax: Syntax::TIME,
                default: Value("6us"),
                meaning: "time after a signal in which a pipeline passes only its share of a port's rate (T0): \
                          tofino, switch-p4",
                source: "Popa et al., section 6.2",
            },
            Parameter {
                key: "half",
                syntax: Syntax::TIME,
                default: Value("18us"),
                meaning: "time after that in which it passes half of the rate (T1 - T0): tofino, switch-p4",
                source: "Popa et al., section 6.2; section 4 says 6 us",
            },
            Parameter {
                key: "half_share",
                syntax: Syntax::FRACTION,
                default: Value("1/2"),
                meaning: "share of the rate that passes then, above 0, at most 1",
                source: "Popa et al., section 4",
            },
            Parameter {
                key: "pessimistic_share",
                syntax: Syntax::FRACTION,
                default: Absent("one over the number of pipelines"),
                meaning: "share that a pessimistic pipeline passes, above 0, at most 1",
                source: "Popa et al., section 4: 25 of 100 Gbps with four pipelines",
            },
            Parameter {
                key: "meter_burst",
                syntax: Syntax::SIZE,
                default: Value("12160B"),
                meaning: "bucket size of each meter, in bytes on the wire, at least a frame, at most 2MB",
                source: "not given; 8 frames of 1500 B and 20 B of preamble and gap",
            },
            Parameter {
                key: "response",
                syntax: Syntax::word(&["meter", "all", "next"], "meter, all or next", "\"all\""),
                default: Value("meter"),
                meaning: "action of a pessimistic pipeline: meter to its share (meter), trim all packets (all), or \
                          trim a number of packets after each signal, independent of time (next): tofino",
                source: "Popa et al., section 4; all and next: rejected by its authors",
            },
            Parameter {
                key: "trim_next",
                syntax: Syntax::COUNT,
                default: Value("12"),
                meaning: "response next: packets trimmed per signal, at least 1",
                source: "Popa et al., section 4: a recirculation port can be overloaded 12 times",
            },
            Parameter {
                key: "notify",
                syntax: Syntax::word(&["all", "origin"], "all or origin", "\"origin\""),
                default: Value("all"),
                meaning: "pipelines that receive the signal of a deflected packet: all, or its ingress pipeline \
                          (origin)",
                source: "Popa et al., section 4",
            },
            Parameter {
                key: "signal_delay",
                syntax: Syntax::TIME,
                default: Absent("as recirculation_latency"),
                meaning: "time from the departure of a packet from the queue of the recirculation port to the \
                          reaction of the pipelines",
                source: "Popa et al., section 6.2: at dequeue, to all at once; ndp.p4 recirculates twice (section 5)",
            },
            Parameter {
                key: "timestamp",
                syntax: Syntax::word(&["wrapping", "as-listed"], "wrapping or as-listed", "\"wrapping\""),
                default: Value("wrapping"),
                meaning: "comparison of timestamps of 32 bits: by their difference (wrapping), or as the paper lists \
                          it (as-listed), which fails when the clock wraps: switch-p4",
                source: "Popa et al., section 5",
            },
            Parameter {
                key: "clock",
                syntax: Syntax::COUNT,
                default: Value("0"),
                meaning: "value of the 1 ns clock at time zero, 0 to 4294967295: switch-p4",
                source: "choice of this project, to include a wrap in a run",
            },
            Parameter {
                key: "stages",
                syntax: Syntax::COUNT,
                default: Value("4"),
                meaning: "stages between the read of the queue length and the queue, 0 to 64: tofino2",
                source: "Popa et al., section 3",
            },
            Parameter {
                key: "cycle",
                syntax: Syntax::TIME,
                default: Value("1ns"),
                meaning: "time of a stage; a pipeline takes one packet a cycle: tofino2",
                source: "not given: a pipeline that takes 1000 million packets a second",
            },
        ];
        let without = ["victim", "watermark", "tiers"];
        extended::<{ trim::MECHANISM.parameters.len() - 3 + OWN.len() }>(trim::MECHANISM.parameters, &without, &[], OWN)
    },
};
