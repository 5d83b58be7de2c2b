//! Description of trimming in pipelines.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter};
use crate::trim::{HEADER_CLASS, HEADER_FULL, HEADER_QUEUE, PRIORITIES, SIZE};

/// A switch that trims in its pipelines.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "pipeline-trim",
    family: Family::Overload,
    title: "trimming with what a programmable switch has: meters in ingress pipelines, deflect or mirror on drop",
    source: "Popa et al., Implementing packet trimming support in hardware",
    parameters: &[
        SIZE,
        HEADER_CLASS,
        HEADER_QUEUE,
        HEADER_FULL,
        PRIORITIES,
        Parameter {
            key: "model",
            default: Value("tofino"),
            meaning: "what the switch is made of: three meters, deflection and signals (tofino); two meters and a \
                      stamp of 32 bits (switch-p4); meters deaf to signals (dod); headers mirrored on drop, no meters \
                      (mod); a look at the queue at ingress, deflection (tofino2)",
            source: "Popa et al., sections 3, 5 and 6.1",
        },
        Parameter {
            key: "pipelines",
            default: Value("4"),
            meaning: "ingress pipelines of a switch, 1 to 64, at most as many as it has ports",
            source: "Popa et al., section 3: four; eight for Tofino 2",
        },
        Parameter {
            key: "ports_per_pipeline",
            default: Absent("as many as share the ports evenly"),
            meaning: "consecutive ports of a pipeline, at least 1; ports beyond the last pipeline begin again with the \
                      first",
            source: "Popa et al., section 3: sixteen",
        },
        Parameter {
            key: "recirculation_rate",
            default: Value("100Gbps"),
            meaning: "rate of the recirculation port of each pipeline",
            source: "Popa et al., sections 3 and 6.1",
        },
        Parameter {
            key: "recirculation_latency",
            default: Value("1us"),
            meaning: "from the last bit on that port to the ingress of the same pipeline",
            source: "Popa et al., section 6.2",
        },
        Parameter {
            key: "recirculation_queue",
            default: Absent("no limit: its longest is measured"),
            meaning: "room before each recirculation port; beyond it frames are lost as `deflect queue full`",
            source: "not given",
        },
        Parameter {
            key: "pessimistic",
            default: Value("6us"),
            meaning: "for how long after a signal a pipeline lets only its share of a port's rate through (T0): \
                      tofino, switch-p4",
            source: "Popa et al., section 6.2",
        },
        Parameter {
            key: "half",
            default: Value("18us"),
            meaning: "for how long after that it lets half of the rate through (T1 - T0): tofino, switch-p4",
            source: "Popa et al., section 6.2; section 4 says 6 us",
        },
        Parameter {
            key: "half_share",
            default: Value("1/2"),
            meaning: "the part of the rate that is let through then, above 0, at most 1",
            source: "Popa et al., section 4",
        },
        Parameter {
            key: "pessimistic_share",
            default: Absent("1 of as many as there are pipelines"),
            meaning: "the part that a pessimistic pipeline lets through, above 0, at most 1",
            source: "Popa et al., section 4: 25 of 100 Gbps with four pipelines",
        },
        Parameter {
            key: "meter_burst",
            default: Value("12160B"),
            meaning: "what the bucket of each meter holds, in bytes on the wire, at least a frame, at most 2MB",
            source: "not given; 8 frames of 1500 B and 20 B of preamble and gap",
        },
        Parameter {
            key: "response",
            default: Value("meter"),
            meaning: "what a pessimistic pipeline does: meter to its share (meter), trim all (all), or instead of any \
                      time trim the next packets after each signal (next): tofino",
            source: "Popa et al., section 4; all and next: what its authors rejected",
        },
        Parameter {
            key: "trim_next",
            default: Value("12"),
            meaning: "response next: how many packets each signal has trimmed, at least 1",
            source: "Popa et al., section 4: a recirculation port can be overloaded 12 times",
        },
        Parameter {
            key: "notify",
            default: Value("all"),
            meaning: "which pipelines hear of a deflected packet: all, or the one by which it came (origin)",
            source: "Popa et al., section 4",
        },
        Parameter {
            key: "signal_delay",
            default: Absent("as recirculation_latency"),
            meaning: "from the moment when a packet leaves the queue of the recirculation port until pipelines act on \
                      it",
            source: "Popa et al., section 6.2: at dequeue, to all at once; ndp.p4 goes round twice (section 5)",
        },
        Parameter {
            key: "timestamp",
            default: Value("wrapping"),
            meaning: "how stamps of 32 bits are compared: by their difference (wrapping), or as the paper lists it \
                      (as-listed), which fails when the clock wraps: switch-p4",
            source: "Popa et al., section 5",
        },
        Parameter {
            key: "clock",
            default: Value("0"),
            meaning: "what the clock of 1 ns shows at time zero, 0 to 4294967295: switch-p4",
            source: "choice of this project, to bring a wrap into a run",
        },
        Parameter {
            key: "stages",
            default: Value("4"),
            meaning: "stages between the look at the queue and the queue, 0 to 64: tofino2",
            source: "Popa et al., section 3",
        },
        Parameter {
            key: "cycle",
            default: Value("1ns"),
            meaning: "time of a stage; a pipeline takes one packet a cycle: tofino2",
            source: "not given: a pipeline that takes 1000 million packets a second",
        },
    ],
};
