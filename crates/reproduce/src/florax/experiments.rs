//! FLORAX experiments.

use crate::registry::Experiment;

/// Experiments in run order.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "florax/fig1",
        title: "who is stopped for a flow at a very high rate: by flow, by destination, by link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 1 and section 4.1.1",
        seconds: 2,
        quick_seconds: 1,
        choices: super::FIG1_CHOICES,
        run: super::fig1,
    },
    Experiment {
        id: "florax/fig2",
        title: "agreed rates decide who is too fast",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 2 and section 4.1.2",
        seconds: 1,
        quick_seconds: 1,
        choices: super::FIG2_CHOICES,
        run: super::fig2,
    },
    Experiment {
        id: "florax/fig4",
        title: "flow 1, on a slow link, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 4",
        seconds: 5,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig4,
    },
    Experiment {
        id: "florax/fig5",
        title: "flow 2, on a slow link, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 5",
        seconds: 5,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig5,
    },
    Experiment {
        id: "florax/fig6",
        title: "flow 3, on a fast link, over time; losses",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 6",
        seconds: 5,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig6,
    },
    Experiment {
        id: "florax/fig7",
        title: "flow 4, TCP beside a UDP stream, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 7",
        seconds: 8,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig7,
    },
    Experiment {
        id: "florax/fig8",
        title: "drop-tail: the UDP stream takes the link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 8",
        seconds: 8,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig8,
    },
    Experiment {
        id: "florax/fig9",
        title: "simple: TCP and UDP share the link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 9",
        seconds: 8,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig9,
    },
    Experiment {
        id: "florax/fig10",
        title: "per flow: TCP and UDP share the link, with a ripple",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 10",
        seconds: 8,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig10,
    },
    Experiment {
        id: "florax/fig11",
        title: "how long the files take, and how busy the link between D and E is",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            figure 11",
        seconds: 20,
        quick_seconds: 2,
        choices: super::CHOICES,
        run: super::fig11,
    },
    Experiment {
        id: "florax/cables",
        title: "per flow over longer cables: losses",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            section 5",
        seconds: 8,
        quick_seconds: 3,
        choices: super::CHOICES,
        run: super::cables,
    },
    Experiment {
        id: "florax/xon-loss",
        title: "expiry restores flows when control frames are lost",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            section 4.2.2",
        seconds: 10,
        quick_seconds: 10,
        choices: &[],
        run: super::xon_loss,
    },
    Experiment {
        id: "florax/nonconf",
        title: "a source that does not stop harms itself alone",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            section 4.1.3",
        seconds: 1,
        quick_seconds: 1,
        choices: super::NONCONF_CHOICES,
        run: super::nonconf,
    },
    Experiment {
        id: "florax/state-cost",
        title: "memory and control frames as flows through one port grow",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, \
            section 4.2.1, which expects them to be manageable",
        seconds: 60,
        quick_seconds: 2,
        choices: super::STATE_CHOICES,
        run: super::state_cost,
    },
];
