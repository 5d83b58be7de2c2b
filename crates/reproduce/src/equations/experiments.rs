//! Experiments on fluid models.

use super::dumbbell::dumbbell;
use super::eccp::{lemma_2_1, lemma_2_2, phase};
use super::eccp_rates::rates;
use super::hetflow::{cubic, means, portrait};
use super::hetflow_lemmas::{lemma_3_1, lemma_3_2, lemma_3_3};
use super::hetflow_packets::{beside, drift, testbed};
use super::packets::dcqcn;
use crate::failure::Failure;
use crate::registry::{Choice, Experiment, HETFLOW_DUMBBELL};
use crate::trial::Trial;

const NONE: &[Choice] = &[];
/// Alternative frame sizes for the packet-level simulation: the thesis specifies only the mean frame size.
const FRAMES: &[Choice] =
    &[Choice { source: &HETFLOW_DUMBBELL, key: "host.transport.payload", alternatives: &["138B", "1438B"] }];

const fn of(
    id: &'static str,
    title: &'static str,
    source: &'static str,
    run: fn(&mut Trial) -> Result<(), Failure>,
) -> Experiment {
    Experiment { id, title, source, seconds: 2, quick_seconds: 2, choices: NONE, run }
}

/// Experiments in run order.
pub static EXPERIMENTS: &[Experiment] = &[
    of(
        "eccp/lemma2.1",
        "ECCP's decrease: the limit of the delay, as printed and as it follows",
        "thesis, lemma 2.1 and appendix I",
        lemma_2_1,
    ),
    of("eccp/lemma2.2", "ECCP: the least byte counter", "thesis, lemma 2.2 and appendix III", lemma_2_2),
    of(
        "eccp/fig2.8",
        "ECCP as a fluid: rates over time and its phase portrait",
        "thesis, figure 2.8 and section 2.6",
        phase,
    ),
    of("eccp/fig2.17", "ECCP: bounds of the rates of four equal flows", "thesis, figure 2.17", rates),
    of("eccp/fluid", "ECCP as a fluid over the delays of figure 2.10", "thesis, figure 2.10", dumbbell),
    of(
        "hetflow/fig3.5",
        "HetFlow: a cut, the cubic way back, and beyond",
        "thesis, figure 3.5 and equation 3.6",
        cubic,
    ),
    of(
        "hetflow/fig3.6",
        "HetFlow as a fluid and in packets: mean rates of 2, 5 and 10 flows",
        "thesis, figure 3.6",
        means,
    ),
    of("hetflow/fig3.7", "HetFlow: where its slope crosses 0", "thesis, figure 3.7", portrait),
    of(
        "hetflow/lemma3.1",
        "HetFlow: its fixed point, and whether flows come to it",
        "thesis, lemmas 3.1 and 3.2",
        lemma_3_1,
    ),
    of(
        "hetflow/lemma3.2",
        "HetFlow: whether its fixed point is stable",
        "thesis, lemma 3.2, equations 3.17 and 3.18",
        lemma_3_2,
    ),
    of("hetflow/lemma3.3", "HetFlow: the required buffer", "thesis, lemma 3.3, equations 3.20 to 3.22", lemma_3_3),
    Experiment {
        id: "fluid/dcqcn",
        title: "DCQCN as a fluid beside its packets: 2, 10 and 50 flows",
        source: "Zhu et al., SIGCOMM 2015, section 5; ECN or Delay, CoNEXT 2016, section 3",
        seconds: 10,
        quick_seconds: 3,
        choices: NONE,
        run: dcqcn,
    },
    Experiment {
        id: "fluid/hetflow",
        title: "HetFlow as a fluid beside its packets: 2, 10 and 50 flows",
        source: "thesis, sections 3.4 and 3.5",
        seconds: 4,
        quick_seconds: 2,
        choices: FRAMES,
        run: beside,
    },
    of("hetflow/fig3.15", "HetFlow on a testbed: two hosts that want 6 Gbps each", "thesis, figure 3.15", testbed),
    of("hetflow/drift", "HetFlow with clocks that are off and drift", "thesis, section 3.9", drift),
];
