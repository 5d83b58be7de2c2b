//! What an experiment is, and every scenario that one of them runs.

use super::trial::Trial;
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
            text: include_str!(concat!("../experiments/", $path)),
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
    /// A congestion point whose queue grows.
    SAMPLES = "bg/fig1.6.toml";
    /// One flow of Vegas.
    VEGAS = "bg/fig1.9.toml";
    /// One flow of TIMELY.
    TIMELY_RTT = "bg/fig1.10.toml";
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
    /// A closed loop of requests beside transfers.
    TRIM_MEMCACHED = "trim/fig14.toml";
    /// Three flows over three spines.
    TRIM_ECMP = "trim/ecmp.toml";
    /// Four flows into one port, each a while after the last.
    TRIM_TABLE = "trim/table.toml";
    /// Flows that begin one after the other.
    TRIM_HARDWARE = "trim/hardware.toml";
    /// NDP over a fabric.
    TRIM_FABRIC = "trim/fabric.toml";
    /// DCTCP over it.
    TRIM_FABRIC_DCTCP = "trim/fabric-dctcp.toml";
    /// TCP over it.
    TRIM_FABRIC_TCP = "trim/fabric-tcp.toml";
    /// DCQCN and PFC over it.
    TRIM_FABRIC_DCQCN = "trim/fabric-dcqcn.toml";
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
    /// Four flows under ECCP over one bottleneck.
    ECCP_DUMBBELL = "eccp/dumbbell.toml";
    /// Probes beside a constant rate.
    ECCP_PROBES = "eccp/probes.toml";
    /// Two flows that want so much, and no more.
    ECCP_DEMANDS = "eccp/demands.toml";
    /// Rate controls over one bottleneck.
    HETFLOW_DUMBBELL = "hetflow/dumbbell.toml";
    /// The same over ways of different length.
    HETFLOW_RTTS = "hetflow/rtts.toml";
    /// Flows of web search over a fat-tree.
    IRN = "irn/fat-tree.toml";
    /// CPRI beside data.
    FRONTHAUL = "dtscoe/fronthaul.toml";
    /// CPRI alone, at phases that make it wait.
    DTSCOE_WITNESS = "dtscoe/witness.toml";
    /// Slots one behind the other.
    DTSCOE_DRIFT = "dtscoe/drift.toml";
    /// CPRI beside flows.
    DTSCOE_PRICE = "dtscoe/price.toml";
    /// DCQCN flows into one port.
    FLUID_DCQCN = "fluid/dcqcn.toml";
}

/// The same as a fluid model's file.
pub static FLUID_DCQCN_MODEL: Source =
    Source { name: "experiments/fluid/model.toml", text: include_str!("../experiments/fluid/model.toml") };

/// Fabrics that scenarios name as files beside them.
const FABRICS: &[(&str, &str)] = &[
    ("fig1.json", include_str!("../experiments/florax/fig1.json")),
    ("fig1-fast.json", include_str!("../experiments/florax/fig1-fast.json")),
    ("fig2.json", include_str!("../experiments/florax/fig2.json")),
    ("fig3.json", include_str!("../experiments/florax/fig3.json")),
    ("fig3-access.json", include_str!("../experiments/florax/fig3-access.json")),
    ("rtts.json", include_str!("../experiments/hetflow/rtts.json")),
    ("fronthaul.json", include_str!("../experiments/dtscoe/fronthaul.json")),
    ("slots.json", include_str!("../experiments/dtscoe/slots.json")),
    ("fig3-equal.json", include_str!("../experiments/florax/fig3-equal.json")),
];

/// The files that scenarios of the program name, which are part of it too.
///
/// # Errors
/// A file that is not.
pub fn load(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let known = FABRICS.iter().find(|(name, _)| std::path::Path::new(name) == path);
    known.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}
