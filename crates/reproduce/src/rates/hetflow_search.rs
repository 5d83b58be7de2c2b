//! Joint search over the unspecified parameters of chapter 3 of the thesis, judged by figures 3.9 to 3.13 and table
//! 3.3.

use super::hetflow_judge::{CLAIMED, Claim};
use super::hetflow_peers::{of_many, of_round_trips, of_sizes};
use super::peers::{Case, Compared, Peer};
use crate::failure::Failure;
use crate::registry::HETFLOW_DUMBBELL;
use crate::search::{self, Alternative, Judged, OpenChoice, Setting, Space};
use crate::trial::Trial;

/// Measurement interval of a run, in ms; the full experiments measure up to 1000 ms.
const WINDOW_MS: [u64; 2] = [400, 700];
const DEMAND: &str = "desired rate of a flow";

const fn one(label: &'static str, changes: &'static [(&'static str, &'static str)]) -> Alternative {
    Alternative { label, changes }
}

/// Parameter space. A key `hetflow` or `timely` is a parameter of this congestion control only, and `all` one of every
/// congestion control.
pub static SPACE: Space = Space {
    paper: "hetflow",
    choices: &[
        OpenChoice {
            name: "starts of the flows",
            source: "not given",
            alternatives: &[
                one("within 1 ms, 38 flows within 100 ms", &[]),
                one("within 1 ms", &[("traffic.0.jitter", "\"1ms\"")]),
                one("within 100 ms", &[("traffic.0.jitter", "\"100ms\"")]),
                one("within 300 ms", &[("traffic.0.jitter", "\"300ms\"")]),
            ],
        },
        OpenChoice {
            name: DEMAND,
            source: "sections 3.5.2 and 3.6.2: rates rise until the link is saturated",
            alternatives: &[
                one("the link", &[]),
                one("1.06 equal shares", &[]),
                one("1.2 equal shares", &[]),
                one("2 equal shares", &[]),
            ],
        },
        OpenChoice {
            name: "update of a rising rate",
            source: "algorithm 5: at each timeout; table 3.2: 3 ms",
            alternatives: &[one("each 100 us", &[]), one("each 3 ms", &[("hetflow", "update = \"3ms\"")])],
        },
        OpenChoice {
            name: "weight of the average delay",
            source: "algorithm 3; equation 3.7 has none",
            alternatives: &[
                one("1", &[]),
                one("0.5", &[("hetflow", "ewma = 0.5")]),
                one("0.125", &[("hetflow", "ewma = 0.125")]),
            ],
        },
        OpenChoice {
            name: "segment of TIMELY",
            source: "section 3.3 cites 16 to 64 KB",
            alternatives: &[
                one("16 KB", &[]),
                one("64 KB", &[("timely", "segment = \"64KB\"")]),
                one("a frame", &[("timely", super::hetflow_peers::SEGMENT_FRAME)]),
            ],
        },
        OpenChoice {
            name: "additive increase of TIMELY",
            source: "not given; 10 Mbps in its publication",
            alternatives: &[
                one("10 Mbps", &[]),
                one("50 Mbps", &[("timely", "additive_increase = \"50Mbps\"")]),
                one("100 Mbps", &[("timely", "additive_increase = \"100Mbps\"")]),
            ],
        },
        OpenChoice {
            name: "cable of a host",
            source: "not given but for figure 3.12",
            alternatives: &[
                one("3 us", &[]),
                one("1 us", &[("fabric.link.edge.delay", "\"1us\"")]),
                one("20 us", &[("fabric.link.edge.delay", "\"20us\"")]),
            ],
        },
        OpenChoice {
            name: "buffer",
            source: "not given",
            alternatives: &[
                one("1 MB", &[]),
                one("2 MB", &[("switch.buffer", "\"2MB\""), ("switch.egress_threshold", "\"2MB\"")]),
            ],
        },
        OpenChoice {
            name: "least rate of HetFlow",
            source: "not given",
            alternatives: &[
                one("10 Mbps", &[]),
                one("1 Mbps", &[("hetflow", "min_rate = \"1Mbps\"")]),
                one("100 Mbps", &[("hetflow", "min_rate = \"100Mbps\"")]),
            ],
        },
        OpenChoice {
            name: "notifications",
            source: "not given: class of control frames",
            alternatives: &[one("ahead of data", &[]), one("in the class of data", &[("host.reply_class", "3")])],
        },
        OpenChoice {
            name: "frame lengths",
            source: "section 3.5.2: N(600, 150) B",
            alternatives: &[
                one("the mean", &[]),
                one("deviation of 150 B", &[("all", "payload_deviation = \"150B\"")]),
            ],
        },
        OpenChoice {
            name: "seed",
            source: "not given",
            alternatives: &[one("1", &[("seed", "1")]), one("2", &[("seed", "2")]), one("3", &[("seed", "3")])],
        },
    ],
    judged_together: None,
    starts: &[
        &[(DEMAND, "1.06 equal shares")],
        &[("starts of the flows", "within 300 ms"), ("additive increase of TIMELY", "100 Mbps")],
        &[("segment of TIMELY", "a frame")],
    ],
    revision: 1,
    dismissal: "",
    judge,
};

/// Judges the claims of figures 3.9 to 3.13 at one setting of the parameters.
fn judge(setting: &Setting) -> Result<Vec<Judged>, Failure> {
    let mut claims = Vec::new();
    let mut judge_case = |figure: &'static str, of: &str, case: Case, judge: fn(&Claim, &mut Trial)| {
        let mut trial = Trial::new(false, None);
        let compared = measure(&trial, case, setting)?;
        judge(&Claim { compared: &compared, of }, &mut trial);
        claims.extend(trial.checks.into_iter().map(|check| search::Claim { figure, check }));
        Ok::<(), Failure>(())
    };
    judge_case("figure 3.9", "4 flows", Case::of(4), |claim, trial| claim.few(trial))?;
    judge_case("figure 3.9", "10 flows", Case::of(10), |claim, trial| claim.few(trial))?;
    judge_case("figure 3.10", "38 flows, 10 Gbps", of_many(10), |claim, trial| claim.thirty_eight(trial))?;
    judge_case("figure 3.11", "38 flows, 100 Gbps", of_many(100), |claim, trial| claim.hundred(trial))?;
    judge_case("figure 3.12", "RTTs of 60 to 180 us", of_round_trips(), |claim, trial| claim.round_trips(trial))?;
    judge_case("figure 3.13", "frames of 200 to 1400 B", of_sizes(), |claim, trial| claim.sizes(trial))?;
    Ok(vec![Judged { alternative: 0, claims }])
}

/// Runs `case` at this setting with the congestion controls that the thesis compares.
fn measure(trial: &Trial, case: Case, setting: &Setting) -> Result<Compared, Failure> {
    let case = changed(case, setting.label(DEMAND), setting.changes())?;
    let of_peer = |&peer: &Peer| Ok((peer, vec![case.measure(trial, peer, 1, WINDOW_MS)?.1]));
    Ok(Compared(CLAIMED.iter().map(of_peer).collect::<Result<_, Failure>>()?))
}

/// Returns `case` with this demand and these changes of keys.
fn changed(mut case: Case, demand: &str, changes: Vec<(&'static str, String)>) -> Result<Case, Failure> {
    let equal_mbps = 1000 * case.gbps / u64::from(case.flows);
    case.desired_mbps = match demand {
        "the link" => None,
        "1.06 equal shares" => Some(equal_mbps * 106 / 100),
        "1.2 equal shares" => Some(equal_mbps * 120 / 100),
        "2 equal shares" => Some(equal_mbps * 2),
        other => return Err(Failure::input(format!("`{other}` is no {DEMAND}"), "see the space of the search")),
    };
    for (key, value) in changes {
        match key {
            "hetflow" => case.parameters.push((Peer::HetFlow, value)),
            "timely" => case.parameters.push((Peer::Timely, value)),
            "all" => case.parameters.extend(CLAIMED.iter().map(|&peer| (peer, value.clone()))),
            // The cables of figure 3.12 are given.
            "fabric.link.edge.delay" if case.source.name != HETFLOW_DUMBBELL.name => {}
            _ => case.changes.push((key, value)),
        }
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the setups of all cases and congestion controls as text.
    fn setups(demand: &str, changes: &[(&'static str, String)]) -> String {
        let trial = Trial::new(false, None);
        let mut text = String::new();
        for case in [Case::of(4), of_many(10), of_many(100), of_round_trips(), of_sizes()] {
            let case = changed(case, demand, changes.to_vec()).unwrap();
            for &peer in CLAIMED {
                text += &format!("{:?}", case.setup(&trial, peer, 1, WINDOW_MS).unwrap());
            }
        }
        text
    }

    /// Each alternative is valid in every case, in combination with the first alternatives of the other choices, and
    /// has an effect.
    #[test]
    fn alternatives_are_valid_and_have_an_effect() {
        let first = setups("the link", &[]);
        for choice in SPACE.choices {
            for alternative in &choice.alternatives[1..] {
                let demand = if choice.name == DEMAND { alternative.label } else { "the link" };
                let changes: Vec<_> = alternative.changes.iter().map(|&(key, it)| (key, it.to_owned())).collect();
                assert!(first != setups(demand, &changes), "{}: {}", choice.name, alternative.label);
            }
        }
    }
}
