//! Joint search over the unspecified parameters of chapter 2 of the thesis, judged by figures 2.10 to 2.17.

use super::bench::{Bench, mean};
use super::eccp_dumbbell::{COUNTERS, DELAYS_US, Shown, edge_delay};
use super::eccp_judge;
use crate::failure::Failure;
use crate::registry::ECCP_DUMBBELL;
use crate::search::{Alternative, Claim, OpenChoice, Setting, Space};
use crate::trial::Trial;

/// Simulated time of a run in ms; the full experiments simulate 2 s.
const DURATION_MS: u64 = 600;
/// Warm-up before the measurement interval, in ms.
const WARM_UP_MS: u64 = 250;

const TAU: &str = "delay tau";
const INTERVAL: &str = "interval of the means";

const fn one(label: &'static str, changes: &'static [(&'static str, &'static str)]) -> Alternative {
    Alternative { label, changes }
}

/// Parameter space. It excludes alternatives that require another model of ECCP: probes that are not counted as data in
/// (2.9), a best estimate that decays in (2.4), and frames of random length.
pub static SPACE: Space = Space {
    paper: "eccp",
    choices: &[
        OpenChoice {
            name: "gain Gd",
            source: "table 2.1; the limit 1.482 T; section 2.4.1.4",
            alternatives: &[
                one("100/128", &[("host.transport.gain", "0.78125")]),
                one("1/100", &[("host.transport.gain", "0.01")]),
                one("1/20", &[("host.transport.gain", "0.05")]),
                one("1/10", &[("host.transport.gain", "0.1")]),
                one("1/5", &[("host.transport.gain", "0.2")]),
            ],
        },
        OpenChoice {
            name: TAU,
            source: "sections 2.6 and 2.7.4",
            alternatives: &[one("of the loop", &[]), one("one way", &[])],
        },
        OpenChoice {
            name: "initial rate",
            source: "section 2.7.3: 10 Gbps",
            alternatives: &[
                one("2 Gbps", &[("host.transport.initial_rate", "\"2Gbps\"")]),
                one("10 Gbps", &[("host.transport.initial_rate", "\"10Gbps\"")]),
                one("1 Gbps", &[("host.transport.initial_rate", "\"1Gbps\"")]),
            ],
        },
        OpenChoice {
            name: "buffer",
            source: "not given; figure 2.16 has 299 KB",
            alternatives: &[one("64 MB", &[]), one("300 KB", &[("switch.egress_threshold", "\"300KB\"")])],
        },
        OpenChoice {
            name: "probes per train",
            source: "table 2.1: 33; section 2.4.1.3",
            alternatives: &[
                one("33", &[("host.transport.train_frames", "33")]),
                one("2", &[("host.transport.train_frames", "2")]),
                one("8", &[("host.transport.train_frames", "8")]),
            ],
        },
        OpenChoice {
            name: "available bandwidth",
            source: "sections 2.4.1.3 and 2.6",
            alternatives: &[
                one("measured", &[("host.transport.estimate", "\"measured\"")]),
                one("estimated from trains", &[("host.transport.estimate", "\"trains\"")]),
            ],
        },
        OpenChoice {
            name: "interval of trains and measurements",
            source: "table 2.1: 1 ms; not given for the measurement",
            alternatives: &[
                one("1 ms", &[("host.transport.train_interval", "\"1ms\"")]),
                one("250 us", &[("host.transport.train_interval", "\"250us\"")]),
                one("5 ms", &[("host.transport.train_interval", "\"5ms\"")]),
            ],
        },
        OpenChoice {
            name: "frame length",
            source: "section 2.7: means of 1000 B and 600 B",
            alternatives: &[
                one("1000 B", &[("host.transport.payload", "\"938B\"")]),
                one("600 B", &[("host.transport.payload", "\"538B\"")]),
                one("1500 B", &[("host.transport.payload", "\"1438B\"")]),
            ],
        },
        OpenChoice {
            name: "starts",
            source: "not given",
            alternatives: &[
                one("within 1 ms", &[]),
                one(
                    "within 10 ms",
                    &[
                        ("traffic.0.jitter", "\"10ms\""),
                        ("traffic.1.jitter", "\"10ms\""),
                        ("traffic.2.jitter", "\"10ms\""),
                        ("traffic.3.jitter", "\"10ms\""),
                    ],
                ),
            ],
        },
        OpenChoice {
            name: "steps R_AI and R_HAI",
            source: "table 2.1; exchanged in algorithm 2",
            alternatives: &[
                one("5 and 50 Mbps", &[]),
                one(
                    "50 and 5 Mbps",
                    &[
                        ("host.transport.additive_increase", "\"50Mbps\""),
                        ("host.transport.hyper_increase", "\"5Mbps\""),
                    ],
                ),
            ],
        },
        OpenChoice {
            name: "least rate",
            source: "not given",
            alternatives: &[
                one("50 Mbps", &[("host.transport.min_rate", "\"50Mbps\"")]),
                one("1 Mbps", &[("host.transport.min_rate", "\"1Mbps\"")]),
            ],
        },
        OpenChoice {
            name: "acknowledgements",
            source: "not given",
            alternatives: &[
                one("every 16 frames", &[("host.transport.ack_every", "16")]),
                one("each frame", &[("host.transport.ack_every", "1")]),
            ],
        },
        OpenChoice {
            name: INTERVAL,
            source: "not given for figures 2.10 and 2.14",
            alternatives: &[one("1 ms", &[]), one("10 ms", &[]), one("50 ms", &[])],
        },
        OpenChoice {
            name: "seed",
            source: "not given",
            alternatives: &[one("1", &[("seed", "1")]), one("2", &[("seed", "2")]), one("3", &[("seed", "3")])],
        },
    ],
    judge,
};

/// Judges the claims of figures 2.10 to 2.17 at one setting of the parameters.
fn judge(setting: &Setting) -> Result<Vec<Claim>, Failure> {
    let mut trial = Trial::new(false, None);
    let runs = |edge: &dyn Fn(u64) -> (&'static str, String), values: &[u64]| {
        values.iter().map(|&value| Ok(vec![run(&trial, setting, edge(value))?])).collect::<Result<Vec<_>, Failure>>()
    };
    let one_way = |tau_us: u64| ("fabric.link.edge.delay", format!("\"{}us\"", tau_us - 2));
    let of_tau = |tau_us| if setting.label(TAU) == "one way" { one_way(tau_us) } else { edge_delay(tau_us) };
    let delays = runs(&of_tau, &DELAYS_US.map(|(tau_us, _)| tau_us))?;
    let of_counter = |kilobytes| ("host.transport.byte_counter", format!("\"{kilobytes}KB\""));
    let counters = runs(&of_counter, &COUNTERS.map(|(kilobytes, _)| kilobytes))?;
    eccp_judge::delays(&mut trial, "ECCP", &delays);
    let of_delays = trial.checks.len();
    eccp_judge::counters(&mut trial, "ECCP", &counters);
    let claims = trial.checks.into_iter().enumerate().map(|(at, check)| {
        let named = ["figure 2.12", "figure 2.13", "figure 2.16", "figure 2.17"];
        let own = named.into_iter().find(|figure| check.name.contains(figure));
        Claim { figure: own.unwrap_or(if at < of_delays { "figure 2.10" } else { "figure 2.14" }), check }
    });
    Ok(claims.collect())
}

fn run(trial: &Trial, setting: &Setting, varied: (&'static str, String)) -> Result<Shown, Failure> {
    let mut changes = setting.changes();
    changes.push(varied);
    changes.push(("duration", format!("\"{DURATION_MS}ms\"")));
    changes.push(("measure.warm_up", format!("\"{WARM_UP_MS}ms\"")));
    let mut shown = Shown::of(&Bench::run(trial, &ECCP_DUMBBELL, &changes)?);
    let interval = setting.label(INTERVAL);
    let milliseconds = interval.strip_suffix(" ms").and_then(|number| number.parse().ok());
    let milliseconds: usize = milliseconds
        .ok_or_else(|| Failure::input(format!("`{interval}` is no {INTERVAL}"), "its labels are milliseconds"))?;
    shown.cross = shown.cross.chunks_exact(milliseconds).map(mean).collect();
    Ok(shown)
}
