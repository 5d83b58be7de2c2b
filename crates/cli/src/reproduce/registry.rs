//! Every experiment, and every scenario that one of them runs.

use super::trial::Trial;
use super::{bg, deadlock, florax, pabo, physics, tagger, trim, trim_overload};
use crate::failure::Failure;

/// A scenario that is part of the program.
#[derive(Debug)]
pub struct Source {
    /// Its file, as errors call it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// What the source of an experiment leaves open, and what else it could be.
#[derive(Debug)]
pub struct Choice {
    /// The scenario that states our choice.
    pub source: &'static Source,
    /// Its key there.
    pub key: &'static str,
    /// Other values.
    pub alternatives: &'static [&'static str],
}

/// One experiment.
#[derive(Debug)]
pub struct Experiment {
    /// `paper/experiment`.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// What it takes on one core of 2024, in s.
    pub seconds: u32,
    /// What it takes with `--quick`.
    pub quick_seconds: u32,
    /// What its source leaves open.
    pub choices: &'static [Choice],
    /// Runs it.
    pub run: fn(&mut Trial) -> Result<(), Failure>,
}

macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        $($(#[$doc])* pub static $name: Source = Source {
            name: concat!("experiments/", $path),
            text: include_str!(concat!("../../../../experiments/", $path)),
        };)*
        /// All of them.
        #[cfg(test)]
        pub static SCENARIOS: &[&Source] = &[$(&$name),*];
    };
}

scenarios! {
    /// Goodput over load.
    GOODPUT = "bg/fig1.1-goodput.toml";
    /// Reno over a link that loses one frame in a thousand.
    RENO = "bg/fig1.1-reno.toml";
    /// Congestion spreads, and blocks whom it does not concern.
    SPREADING = "bg/fig1.2.toml";
    /// One account fills while nothing drains.
    HEADROOM = "bg/fig1.4.toml";
    /// A long cable under credits.
    CREDITS = "bg/fig1.7.toml";
    /// Seven into one, and a bystander.
    INCAST = "bg/incast.toml";
    /// Poisson arrivals at a deterministic server.
    MD1 = "physics/md1.toml";
    /// One flow, two hosts.
    LONE_FLOW = "physics/lone-flow.toml";
    /// Flows into one host under PFC.
    MAX_MIN = "physics/max-min.toml";
    /// TCP flows over one bottleneck.
    MAX_MIN_TCP = "physics/max-min-tcp.toml";
    /// Four switches that wait for each other.
    RING = "deadlock/ring.toml";
    /// Bursts of three senders meet at the last switch.
    PABO_TREE = "pabo/tree.toml";
    /// Two flows meet at a switch in the middle.
    PABO_EXAMPLE = "pabo/fig1.toml";
    /// Frames that go to and fro.
    TAGGER_FIG4 = "tagger/fig4.toml";
    /// A tag that changes on the way.
    TAGGER_FIG8 = "tagger/fig8.toml";
    /// Two flows that bounce.
    TAGGER_FIG10 = "tagger/fig10.toml";
    /// A routing loop.
    TAGGER_FIG11 = "tagger/fig11.toml";
    /// A shuffle of which two flows bounce.
    TAGGER_FIG12 = "tagger/fig12.toml";
    /// Servers of many ToRs send to one, where links have failed.
    TAGGER_TABLE6 = "tagger/table6.toml";
    /// Three servers reply to a client on the tree.
    PABO_TREE_TCP = "pabo/tree-tcp.toml";
    /// Servers reply to a client on a fat-tree.
    PABO_FAT_TREE = "pabo/fat-tree.toml";
    /// Servers reply to two clients.
    PABO_MANY = "pabo/many-to-many.toml";
    /// Incasts begin at a switch that trims.
    TRIM_START = "trim/start.toml";
    /// The same with NDP.
    TRIM_NDP = "trim/ndp.toml";
    /// A ping beside transfers.
    TRIM_PING = "trim/fig13.toml";
    /// Three flows over three spines.
    TRIM_ECMP = "trim/ecmp.toml";
    /// Flows that begin one after the other.
    TRIM_HARDWARE = "trim/hardware.toml";
    /// Senders at line rate into one port that trims.
    TRIM_OVERLOAD = "trim/overload.toml";
    /// An aggressive flow beside modest ones.
    FLORAX_FIG1 = "florax/fig1.toml";
    /// Agreed rates.
    FLORAX_FIG2 = "florax/fig2.toml";
    /// Five switches.
    FLORAX_FIG3 = "florax/fig3.toml";
    /// A source that does not stop.
    FLORAX_NONCONF = "florax/nonconf.toml";
    /// Many flows through one port.
    FLORAX_STATE = "florax/state.toml";
}

/// Fabrics that scenarios name as files beside them.
const FABRICS: &[(&str, &str)] = &[
    ("fig1.json", include_str!("../../../../experiments/florax/fig1.json")),
    ("fig2.json", include_str!("../../../../experiments/florax/fig2.json")),
    ("fig3.json", include_str!("../../../../experiments/florax/fig3.json")),
    ("fig3-equal.json", include_str!("../../../../experiments/florax/fig3-equal.json")),
];

/// The files that scenarios of the program name, which are part of it too.
///
/// # Errors
/// A file that is not.
pub fn load(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let known = FABRICS.iter().find(|(name, _)| std::path::Path::new(name) == path);
    known.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}

/// In the order in which they run.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "bg/fig1.1",
        title: "goodput over load, lossy and lossless; Reno at one loss in a thousand",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.1 (after Tanenbaum and Wetherall, 2011); Lakshman and Madhow, 1997",
        seconds: 10,
        quick_seconds: 3,
        choices: bg::GOODPUT_CHOICES,
        run: bg::goodput,
    },
    Experiment {
        id: "bg/fig1.2",
        title: "PFC spreads congestion from the congested port to every sender",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.2",
        seconds: 1,
        quick_seconds: 1,
        choices: bg::SPREADING_CHOICES,
        run: bg::spreading,
    },
    Experiment {
        id: "bg/fig1.3",
        title: "PFC blocks a flow whose own path is free",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.3",
        seconds: 1,
        quick_seconds: 1,
        choices: bg::SPREADING_CHOICES,
        run: bg::blocking,
    },
    Experiment {
        id: "bg/fig1.4",
        title: "PFC headroom over cable length: none lost with it, some with less",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.4; IEEE 802.1Qbb annex O",
        seconds: 1,
        quick_seconds: 1,
        choices: bg::HEADROOM_CHOICES,
        run: bg::headroom,
    },
    Experiment {
        id: "bg/fig1.7",
        title: "credits fill a link exactly when they cover rate x round trip, and nothing is lost",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), figure 1.7; Katevenis, 1997",
        seconds: 10,
        quick_seconds: 3,
        choices: bg::CREDITS_CHOICES,
        run: bg::credits,
    },
    Experiment {
        id: "bg/family",
        title: "flow controls side by side: figure 1.3's bystander, and an incast",
        source: "Bahnasy, Lossless Ethernet and its applications (thesis, 2018), section 1.1.1.1",
        seconds: 2,
        quick_seconds: 2,
        choices: bg::FAMILY_CHOICES,
        run: bg::family,
    },
    Experiment {
        id: "pabo/drop",
        title: "drop rates without PABO under three severities of congestion",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, section V-B",
        seconds: 1,
        quick_seconds: 1,
        choices: pabo::DROP_CHOICES,
        run: pabo::drop_rates,
    },
    Experiment {
        id: "pabo/table1",
        title: "how far packets are bounced",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, table I",
        seconds: 2,
        quick_seconds: 1,
        choices: pabo::TABLE_CHOICES,
        run: pabo::table,
    },
    Experiment {
        id: "pabo/fig1",
        title: "congestion on one link, packets bounced to both sides, and further",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 1",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: pabo::example,
    },
    Experiment {
        id: "pabo/fig3",
        title: "the bounce function",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 3, equation 4",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: pabo::bounce_function,
    },
    Experiment {
        id: "pabo/fig7a",
        title: "bounces at each switch",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 7(a)",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: pabo::per_switch,
    },
    Experiment {
        id: "pabo/fig7b",
        title: "how many switches packets cross",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 7(b)",
        seconds: 2,
        quick_seconds: 1,
        choices: pabo::TABLE_CHOICES,
        run: pabo::total_hops,
    },
    Experiment {
        id: "pabo/fig8",
        title: "utilisation of the queues over a peak",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 8",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: pabo::peaks,
    },
    Experiment {
        id: "pabo/fig9a",
        title: "the share of packets that are bounced over theta",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 9(a)",
        seconds: 3,
        quick_seconds: 1,
        choices: &[],
        run: pabo::theta,
    },
    Experiment {
        id: "pabo/fig9b",
        title: "the hops of packets over lambda",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 9(b)",
        seconds: 5,
        quick_seconds: 1,
        choices: &[],
        run: pabo::lambda,
    },
    Experiment {
        id: "pabo/fig5",
        title: "reorder entropy over theta and lambda, with TCP",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 5",
        seconds: 8,
        quick_seconds: 2,
        choices: pabo::ORDER_CHOICES,
        run: pabo::grid,
    },
    Experiment {
        id: "pabo/fig6",
        title: "what theta and lambda do to queues and to the order of packets",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 6",
        seconds: 4,
        quick_seconds: 4,
        choices: pabo::ORDER_CHOICES,
        run: pabo::separately,
    },
    Experiment {
        id: "pabo/fig11",
        title: "three to twelve servers reply to one client: bounces, where, and what Reno loses",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 11, table II, section VI-C",
        seconds: 4,
        quick_seconds: 3,
        choices: pabo::FAT_TREE_CHOICES,
        run: pabo::many_to_one,
    },
    Experiment {
        id: "pabo/fig12",
        title: "how far packets of twelve servers come out of order",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 12",
        seconds: 1,
        quick_seconds: 1,
        choices: pabo::FAT_TREE_CHOICES,
        run: pabo::displacement,
    },
    Experiment {
        id: "pabo/fig13",
        title: "delay of packets and its deviation, with PABO and with Reno",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 13",
        seconds: 2,
        quick_seconds: 2,
        choices: pabo::FAT_TREE_CHOICES,
        run: pabo::delays,
    },
    Experiment {
        id: "pabo/fig14",
        title: "completion of replies, with PABO and with Reno",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 14",
        seconds: 2,
        quick_seconds: 2,
        choices: pabo::FAT_TREE_CHOICES,
        run: pabo::completions,
    },
    Experiment {
        id: "pabo/m2m",
        title: "two times three servers reply to two clients",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, section VI-D",
        seconds: 1,
        quick_seconds: 1,
        choices: pabo::MANY_CHOICES,
        run: pabo::many_to_many,
    },
    Experiment {
        id: "pabo/fig15",
        title: "order, delay and completion over theta, many to many",
        source: "Shi et al., PABO: Mitigating Congestion via Packet Bounce in Data Center Networks, figure 15",
        seconds: 15,
        quick_seconds: 3,
        choices: pabo::MANY_CHOICES,
        run: pabo::over_theta,
    },
    Experiment {
        id: "trim/overload",
        title: "what a port that trims gives under overload, and when headers begin to be lost",
        source: "closed forms: headers and frames on one line",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: trim_overload::overload,
    },
    Experiment {
        id: "physics/md1",
        title: "mean wait of M/D/1 at loads 0.5, 0.8 and 0.95",
        source: "Pollaczek and Khinchine",
        seconds: 60,
        quick_seconds: 4,
        choices: &[],
        run: physics::md1,
    },
    Experiment {
        id: "physics/lone-flow",
        title: "completion time of a lone flow over 1 to 6 hops, to the picosecond",
        source: "serialisation, propagation, store and forward",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: physics::lone_flow,
    },
    Experiment {
        id: "physics/max-min",
        title: "max-min shares of a bottleneck",
        source: "Bertsekas and Gallager, Data Networks, 6.5.2",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: physics::max_min,
    },
    Experiment {
        id: "physics/little",
        title: "Little's law in every queue",
        source: "Little, 1961",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: physics::little,
    },
    Experiment {
        id: "deadlock/ring",
        title: "four switches in a ring lock up under PFC, and only then",
        source: "Dally and Seitz, 1987: a cycle of waiting buffers",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: deadlock::ring,
    },
    Experiment {
        id: "tagger/fig3",
        title: "two paths that bounce once close a cycle of four buffers",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 3",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::fig3,
    },
    Experiment {
        id: "tagger/fig4",
        title: "k bounces stay lossless with k + 1 queues",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 4",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::fig4,
    },
    Experiment {
        id: "tagger/opt",
        title: "k bounces deadlock with k queues",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), section 4.4",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::opt,
    },
    Experiment {
        id: "tagger/fig8",
        title: "without its third step a switch loses lossless frames",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 8",
        seconds: 1,
        quick_seconds: 1,
        choices: tagger::FIG8_CHOICES,
        run: tagger::fig8,
    },
    Experiment {
        id: "tagger/fig10",
        title: "one-bounce paths deadlock without tags, and not with them",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 10",
        seconds: 1,
        quick_seconds: 1,
        choices: tagger::FIG10_CHOICES,
        run: tagger::fig10,
    },
    Experiment {
        id: "tagger/fig11",
        title: "a routing loop deadlocks without tags, and not with them",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 11",
        seconds: 1,
        quick_seconds: 1,
        choices: tagger::FIG11_CHOICES,
        run: tagger::fig11,
    },
    Experiment {
        id: "tagger/fig12",
        title: "pauses of a deadlock spread to every flow, and do not with tags",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 12",
        seconds: 1,
        quick_seconds: 1,
        choices: tagger::FIG12_CHOICES,
        run: tagger::fig12,
    },
    Experiment {
        id: "tagger/fig14",
        title: "how many flows bounce where links have failed",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 14",
        seconds: 60,
        quick_seconds: 5,
        choices: &[],
        run: tagger::fig14,
    },
    Experiment {
        id: "tagger/table6",
        title: "what the lossy queue loses where links have failed",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), table 6",
        seconds: 100,
        quick_seconds: 6,
        choices: tagger::TABLE6_CHOICES,
        run: tagger::table6,
    },
    Experiment {
        id: "tagger/table1",
        title: "a probe of 100 packets measures how often packets are rerouted",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), table 1",
        seconds: 60,
        quick_seconds: 6,
        choices: &[],
        run: tagger::table1,
    },
    Experiment {
        id: "tagger/table3",
        title: "the rules of one tag a hop",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), table 3",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::table3,
    },
    Experiment {
        id: "tagger/table4",
        title: "the rules of merged tags",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), table 4",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::table4,
    },
    Experiment {
        id: "tagger/fig5",
        title: "two tags suffice for twelve paths in a triangle",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 5",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::fig5,
    },
    Experiment {
        id: "tagger/fig6",
        title: "merging takes three tags for one bounce, where two suffice",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 6",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::fig6,
    },
    Experiment {
        id: "tagger/fig9",
        title: "rules that differ in their ingress port share a TCAM entry",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 9",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::fig9,
    },
    Experiment {
        id: "tagger/table5",
        title: "tags and rules of random fabrics",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), table 5",
        seconds: 120,
        quick_seconds: 120,
        choices: &[],
        run: tagger::table5,
    },
    Experiment {
        id: "tagger/table5-k16",
        title: "tags and rules of a random fabric with 16 shortest paths a pair",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), section 8.2",
        seconds: 10,
        quick_seconds: 10,
        choices: &[],
        run: tagger::table5_k16,
    },
    Experiment {
        id: "tagger/bcube",
        title: "a tag a level of a BCube",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), section 8.2",
        seconds: 120,
        quick_seconds: 5,
        choices: &[],
        run: tagger::bcube_tags,
    },
    Experiment {
        id: "tagger/f10",
        title: "two tags for an F10 with one bounce",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), section 8.2",
        seconds: 10,
        quick_seconds: 2,
        choices: &[],
        run: tagger::f10_tags,
    },
    Experiment {
        id: "tagger/classes",
        title: "classes share tags",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), section 6",
        seconds: 1,
        quick_seconds: 1,
        choices: &[],
        run: tagger::classes,
    },
    Experiment {
        id: "tagger/fig13",
        title: "how the time to find rules grows",
        source: "Hu et al., Tagger: practical PFC deadlock prevention in data center networks (CoNEXT 2017), figure 13",
        seconds: 200,
        quick_seconds: 5,
        choices: &[],
        run: tagger::fig13,
    },
    Experiment {
        id: "trim/fig2",
        title: "what comes to recirculation ports without feedback",
        source: "Popa et al., Implementing packet trimming support in hardware, sections 3 and 6.3, figure 2",
        seconds: 2,
        quick_seconds: 2,
        choices: trim::START_CHOICES,
        run: trim::worst_case,
    },
    Experiment {
        id: "trim/fig5a",
        title: "headers of 64 senders to one receiver, by kind of switch",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.1, figure 5a",
        seconds: 4,
        quick_seconds: 4,
        choices: trim::START_CHOICES,
        run: trim::to_one,
    },
    Experiment {
        id: "trim/fig5b",
        title: "headers of 64 senders to four and to eight receivers, by kind of switch",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.1, figure 5b",
        seconds: 8,
        quick_seconds: 8,
        choices: trim::START_CHOICES,
        run: trim::to_few,
    },
    Experiment {
        id: "trim/fig5c",
        title: "headers of 64 senders to sixteen receivers, by kind of switch",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.1, figure 5c",
        seconds: 4,
        quick_seconds: 4,
        choices: trim::START_CHOICES,
        run: trim::to_many,
    },
    Experiment {
        id: "trim/fig6a",
        title: "goodput of 1 to 64 senders, Tofino beside Ideal",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2, figure 6a",
        seconds: 30,
        quick_seconds: 3,
        choices: trim::NDP_CHOICES,
        run: trim::goodput,
    },
    Experiment {
        id: "trim/fig6b",
        title: "trims of 1 to 64 senders, Tofino beside Ideal",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2, figure 6b",
        seconds: 30,
        quick_seconds: 3,
        choices: trim::NDP_CHOICES,
        run: trim::trims,
    },
    Experiment {
        id: "trim/fig7a",
        title: "18 senders: who is pessimistic, and for how long",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2, figure 7a",
        seconds: 1,
        quick_seconds: 1,
        choices: trim::NDP_CHOICES,
        run: trim::eighteen,
    },
    Experiment {
        id: "trim/fig7b",
        title: "32 senders: who is pessimistic, and for how long",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2, figure 7b",
        seconds: 1,
        quick_seconds: 1,
        choices: trim::NDP_CHOICES,
        run: trim::thirty_two,
    },
    Experiment {
        id: "trim/fig7c",
        title: "64 senders: who is pessimistic, and for how long",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2, figure 7c",
        seconds: 1,
        quick_seconds: 1,
        choices: trim::NDP_CHOICES,
        run: trim::sixty_four,
    },
    Experiment {
        id: "trim/fig8a",
        title: "32 senders: what the length of the response does",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 8a",
        seconds: 10,
        quick_seconds: 2,
        choices: trim::NDP_CHOICES,
        run: trim::response_of_32,
    },
    Experiment {
        id: "trim/fig8b",
        title: "64 senders: what the length of the response does",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 8b",
        seconds: 15,
        quick_seconds: 3,
        choices: trim::NDP_CHOICES,
        run: trim::response_of_64,
    },
    Experiment {
        id: "trim/fig8c",
        title: "the longest recirculation queue over the length of the response",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 8c",
        seconds: 25,
        quick_seconds: 4,
        choices: trim::NDP_CHOICES,
        run: trim::queue_by_response,
    },
    Experiment {
        id: "trim/fig9a",
        title: "pessimistic mode without half mode",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 9a",
        seconds: 10,
        quick_seconds: 2,
        choices: trim::NDP_CHOICES,
        run: trim::without_half,
    },
    Experiment {
        id: "trim/fig9b",
        title: "only the pipeline of a deflected packet hears of it",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 9b",
        seconds: 25,
        quick_seconds: 4,
        choices: trim::NDP_CHOICES,
        run: trim::one_pipeline,
    },
    Experiment {
        id: "trim/fig9c",
        title: "every packet trimmed in the response",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.3, figure 9c",
        seconds: 25,
        quick_seconds: 4,
        choices: trim::NDP_CHOICES,
        run: trim::trim_all,
    },
    Experiment {
        id: "trim/fig11",
        title: "flows that begin one after the other share a port",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.4, figure 11",
        seconds: 2,
        quick_seconds: 2,
        choices: trim::HARDWARE_CHOICES,
        run: trim::sharing,
    },
    Experiment {
        id: "trim/table-trims",
        title: "how many packets are trimmed at ingress, and how many after a full queue",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.4",
        seconds: 1,
        quick_seconds: 1,
        choices: trim::TABLE_CHOICES,
        run: trim::who_trims,
    },
    Experiment {
        id: "trim/fig12",
        title: "the first microseconds of a second flow",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.4, figure 12",
        seconds: 1,
        quick_seconds: 1,
        choices: trim::HARDWARE_CHOICES,
        run: trim::second_flow,
    },
    Experiment {
        id: "trim/fig13",
        title: "what transfers add to a ping, with tail drop and with trimming",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.5, figure 13",
        seconds: 5,
        quick_seconds: 5,
        choices: trim::PING_CHOICES,
        run: trim::ping,
    },
    Experiment {
        id: "trim/ecmp",
        title: "three flows over three spines, by flow and by packet",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.5",
        seconds: 5,
        quick_seconds: 2,
        choices: trim::ECMP_CHOICES,
        run: trim::spreading,
    },
    Experiment {
        id: "trim/maxdod",
        title: "the longest recirculation queue, and what it depends on",
        source: "Popa et al., Implementing packet trimming support in hardware, section 6.2",
        seconds: 10,
        quick_seconds: 4,
        choices: trim::START_CHOICES,
        run: trim::longest_queue,
    },
    Experiment {
        id: "trim/speeds",
        title: "which recirculation each kind of switch needs at 100, 400 and 800 Gbps",
        source: "question of this project, after Popa et al., Implementing packet trimming support in hardware",
        seconds: 40,
        quick_seconds: 4,
        choices: &[],
        run: trim::speeds,
    },
    Experiment {
        id: "florax/fig1",
        title: "who is stopped for a flow at a very high rate: by flow, by destination, by link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 1 and section 4.1.1",
        seconds: 2,
        quick_seconds: 1,
        choices: florax::FIG1_CHOICES,
        run: florax::fig1,
    },
    Experiment {
        id: "florax/fig2",
        title: "agreed rates decide who is too fast",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 2 and section 4.1.2",
        seconds: 1,
        quick_seconds: 1,
        choices: florax::FIG2_CHOICES,
        run: florax::fig2,
    },
    Experiment {
        id: "florax/fig4",
        title: "flow 1, on a slow link, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 4",
        seconds: 5,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig4,
    },
    Experiment {
        id: "florax/fig5",
        title: "flow 2, on a slow link, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 5",
        seconds: 5,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig5,
    },
    Experiment {
        id: "florax/fig6",
        title: "flow 3, on a fast link, over time; losses",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 6",
        seconds: 5,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig6,
    },
    Experiment {
        id: "florax/fig7",
        title: "flow 4, TCP beside a UDP stream, over time",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 7",
        seconds: 8,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig7,
    },
    Experiment {
        id: "florax/fig8",
        title: "drop-tail: the UDP stream takes the link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 8",
        seconds: 8,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig8,
    },
    Experiment {
        id: "florax/fig9",
        title: "simple: TCP and UDP share the link",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 9",
        seconds: 8,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig9,
    },
    Experiment {
        id: "florax/fig10",
        title: "per flow: TCP and UDP share the link, with a ripple",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 10",
        seconds: 8,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig10,
    },
    Experiment {
        id: "florax/fig11",
        title: "how long the files take, and how busy the link between D and E is",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, figure 11",
        seconds: 20,
        quick_seconds: 2,
        choices: florax::CHOICES,
        run: florax::fig11,
    },
    Experiment {
        id: "florax/nonconf",
        title: "a source that does not stop harms itself alone",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, section 4.1.3",
        seconds: 1,
        quick_seconds: 1,
        choices: florax::NONCONF_CHOICES,
        run: florax::nonconf,
    },
    Experiment {
        id: "florax/state-cost",
        title: "memory and control frames as flows through one port grow",
        source: "Lee, Coleri, Dong, Ergen, FLORAX: Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x, section 4.2.1, which expects them to be manageable",
        seconds: 120,
        quick_seconds: 2,
        choices: florax::STATE_CHOICES,
        run: florax::state_cost,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_choices_name_keys_of_their_scenarios() {
        for (at, experiment) in EXPERIMENTS.iter().enumerate() {
            assert!(experiment.id.split_once('/').is_some());
            assert!(EXPERIMENTS[at + 1..].iter().all(|other| other.id != experiment.id));
            assert!(experiment.quick_seconds <= experiment.seconds);
            for choice in experiment.choices {
                for value in choice.alternatives {
                    let overrides = [(choice.key.to_owned(), (*value).to_owned())];
                    let (text, name, load) = (choice.source.text, choice.source.name, Box::new(load));
                    let read = scenario::Scenario::parse_with(text, name, "".as_ref(), &overrides, None, load);
                    assert!(read.is_ok(), "{} = {value}: {}", choice.key, read.unwrap_err());
                }
            }
        }
    }
}
