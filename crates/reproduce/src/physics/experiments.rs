//! Experiments with known analytical results.

use crate::registry::Experiment;

/// Experiments in run order.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "physics/md1",
        title: "mean wait of M/D/1 at loads 0.5, 0.8 and 0.95",
        source: "Pollaczek and Khinchine",
        seconds: 60,
        quick_seconds: 4,
        choices: &[],
        run: super::md1,
    },
    Experiment {
        id: "physics/lone-flow",
        title: "completion time of a lone flow over 1 to 6 hops, to the picosecond",
        source: "serialisation, propagation, store and forward",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: super::lone_flow,
    },
    Experiment {
        id: "physics/max-min",
        title: "max-min shares of a bottleneck",
        source: "Bertsekas and Gallager, Data Networks, 6.5.2",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: super::max_min,
    },
    Experiment {
        id: "physics/little",
        title: "Little's law in every queue",
        source: "Little, 1961",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: super::little,
    },
];
