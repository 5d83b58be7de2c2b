//! Experiments on background mechanisms.

use crate::registry::Experiment;

/// Experiments in run order.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "bg/fig1.1",
        title: "goodput over load, lossy and lossless; Reno at one loss in a thousand",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.1 (after Tanenbaum and \
            Wetherall, 2011); Lakshman and Madhow, 1997",
        seconds: 10,
        quick_seconds: 3,
        choices: super::GOODPUT_CHOICES,
        run: super::goodput,
    },
    Experiment {
        id: "bg/fig1.2",
        title: "PFC spreads congestion from the congested port to every sender",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.2",
        seconds: 1,
        quick_seconds: 1,
        choices: super::SPREADING_CHOICES,
        run: super::spreading,
    },
    Experiment {
        id: "bg/fig1.3",
        title: "PFC blocks a flow whose own path is free",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.3",
        seconds: 1,
        quick_seconds: 1,
        choices: super::SPREADING_CHOICES,
        run: super::blocking,
    },
    Experiment {
        id: "bg/fig1.4",
        title: "PFC headroom over cable length: none lost with it, some with less",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.4; IEEE 802.1Qbb annex O",
        seconds: 1,
        quick_seconds: 1,
        choices: super::HEADROOM_CHOICES,
        run: super::headroom,
    },
    Experiment {
        id: "bg/fig1.6",
        title: "QCN samples the more frames the stronger the feedback: 1 % to 10 %",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.6; Alizadeh et al., 2008",
        seconds: 2,
        quick_seconds: 1,
        choices: super::SAMPLES_CHOICES,
        run: super::samples,
    },
    Experiment {
        id: "bg/fig1.7",
        title: "credits fill a link exactly when they cover rate x round trip, and nothing is lost",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.7; Katevenis, 1997",
        seconds: 10,
        quick_seconds: 3,
        choices: super::CREDITS_CHOICES,
        run: super::credits,
    },
    Experiment {
        id: "bg/fig1.9",
        title: "TCP Vegas: the window grows, stays or falls by how much waits, and comes to hover",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.9; Brakmo et al., 1994",
        seconds: 1,
        quick_seconds: 1,
        choices: super::VEGAS_CHOICES,
        run: super::vegas,
    },
    Experiment {
        id: "bg/fig1.10",
        title: "TIMELY's round trip: completion less serialisation",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.10; Mittal et al., 2015",
        seconds: 1,
        quick_seconds: 1,
        choices: super::RTT_CHOICES,
        run: super::round_trip,
    },
    Experiment {
        id: "bg/family",
        title: "flow controls side by side: figure 1.3's bystander, and an incast",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), section 1.1.1.1",
        seconds: 2,
        quick_seconds: 2,
        choices: super::FAMILY_CHOICES,
        run: super::family,
    },
];
