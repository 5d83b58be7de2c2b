//! Definition of an experiment, and all scenarios that the experiments run.

use super::trial::Trial;
use crate::failure::Failure;

/// Scenario file compiled into the program.
#[derive(Debug)]
pub struct Source {
    /// File name, for error messages.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

/// Parameter that the source of an experiment does not specify, with alternative values.
#[derive(Debug)]
pub struct Choice {
    /// Scenario that contains the parameter with its default value.
    pub source: &'static Source,
    /// Key of the parameter in that scenario.
    pub key: &'static str,
    /// Alternative values in TOML syntax.
    pub alternatives: &'static [&'static str],
}

/// One experiment.
#[derive(Debug)]
pub struct Experiment {
    /// `paper/experiment`.
    pub id: &'static str,
    /// Claim that the experiment checks.
    pub title: &'static str,
    /// Citation of the source.
    pub source: &'static str,
    /// Duration of the full run on one core of a 2024 machine, in s.
    pub seconds: u32,
    /// Duration of a run with `--quick`, in s.
    pub quick_seconds: u32,
    /// Parameters that the source does not specify.
    pub choices: &'static [Choice],
    /// Function that runs the experiment and adds its checks to the trial.
    pub run: fn(&mut Trial) -> Result<(), Failure>,
}

macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        $($(#[$doc])* pub static $name: Source = Source {
            name: concat!("experiments/", $path),
            text: include_str!(concat!("../experiments/", $path)),
        };)*
        /// All scenarios.
        #[cfg(test)]
        pub static SCENARIOS: &[&Source] = &[$(&$name),*];
    };
}

scenarios! {
    /// Goodput as a function of offered load.
    GOODPUT = "bg/fig1.1-goodput.toml";
    /// Reno over a link with a loss probability of 1/1000.
    RENO = "bg/fig1.1-reno.toml";
    /// Congestion spreading, with victim flows that do not cross the congested link.
    SPREADING = "bg/fig1.2.toml";
    /// An ingress account that fills while its frames cannot be forwarded.
    HEADROOM = "bg/fig1.4.toml";
    /// A long link with credit-based flow control.
    CREDITS = "bg/fig1.7.toml";
    /// A QCN congestion point with a growing queue.
    SAMPLES = "bg/fig1.6.toml";
    /// One Vegas flow.
    VEGAS = "bg/fig1.9.toml";
    /// One TIMELY flow.
    TIMELY_RTT = "bg/fig1.10.toml";
    /// A seven-to-one incast and a victim flow.
    INCAST = "bg/incast.toml";
    /// Poisson arrivals at a deterministic server.
    MD1 = "physics/md1.toml";
    /// One flow between two hosts.
    LONE_FLOW = "physics/lone-flow.toml";
    /// Flows to one host with PFC.
    MAX_MIN = "physics/max-min.toml";
    /// TCP flows over one bottleneck.
    MAX_MIN_TCP = "physics/max-min-tcp.toml";
    /// Four switches in a ring with a cyclic buffer dependency.
    RING = "deadlock/ring.toml";
    /// Bursts of three senders that collide at the last switch.
    PABO_TREE = "pabo/tree.toml";
    /// Two flows that share the switch in the middle of a chain.
    PABO_EXAMPLE = "pabo/fig1.toml";
    /// Frames that bounce repeatedly.
    TAGGER_FIG4 = "tagger/fig4.toml";
    /// A tag that changes along the path.
    TAGGER_FIG8 = "tagger/fig8.toml";
    /// Two flows that bounce.
    TAGGER_FIG10 = "tagger/fig10.toml";
    /// A routing loop.
    TAGGER_FIG11 = "tagger/fig11.toml";
    /// A shuffle with two bouncing flows.
    TAGGER_FIG12 = "tagger/fig12.toml";
    /// Servers of many ToRs send to one server, with failed links.
    TAGGER_TABLE6 = "tagger/table6.toml";
    /// Three servers reply to a client in a tree.
    PABO_TREE_TCP = "pabo/tree-tcp.toml";
    /// Servers reply to a client in a fat-tree.
    PABO_FAT_TREE = "pabo/fat-tree.toml";
    /// Servers reply to two clients in a fat-tree.
    PABO_MANY = "pabo/many-to-many.toml";
    /// Start of an incast at a switch with packet trimming.
    TRIM_START = "trim/start.toml";
    /// Start of an incast with NDP.
    TRIM_NDP = "trim/ndp.toml";
    /// A ping concurrent with bulk transfers.
    TRIM_PING = "trim/fig13.toml";
    /// A closed loop of requests concurrent with bulk transfers.
    TRIM_MEMCACHED = "trim/fig14.toml";
    /// Three flows over three spines (ECMP).
    TRIM_ECMP = "trim/ecmp.toml";
    /// Four flows with staggered starts to one port.
    TRIM_TABLE = "trim/table.toml";
    /// Flows with staggered starts.
    TRIM_HARDWARE = "trim/hardware.toml";
    /// NDP in a fat-tree.
    TRIM_FABRIC = "trim/fabric.toml";
    /// DCTCP in the same fabric as [`TRIM_FABRIC`].
    TRIM_FABRIC_DCTCP = "trim/fabric-dctcp.toml";
    /// TCP in the same fabric as [`TRIM_FABRIC`].
    TRIM_FABRIC_TCP = "trim/fabric-tcp.toml";
    /// DCQCN with PFC in the same fabric as [`TRIM_FABRIC`].
    TRIM_FABRIC_DCQCN = "trim/fabric-dcqcn.toml";
    /// Senders at line rate to one port with trimming.
    TRIM_OVERLOAD = "trim/overload.toml";
    /// An aggressive flow and moderate flows.
    FLORAX_FIG1 = "florax/fig1.toml";
    /// Flows with committed rates.
    FLORAX_FIG2 = "florax/fig2.toml";
    /// Five flows over five switches.
    FLORAX_FIG3 = "florax/fig3.toml";
    /// A source that ignores pauses.
    FLORAX_NONCONF = "florax/nonconf.toml";
    /// Many flows through one port.
    FLORAX_STATE = "florax/state.toml";
    /// Four flows under ECCP over one bottleneck.
    ECCP_DUMBBELL = "eccp/dumbbell.toml";
    /// Probe trains with constant-rate cross traffic.
    ECCP_PROBES = "eccp/probes.toml";
    /// Two flows with limited demand.
    ECCP_DEMANDS = "eccp/demands.toml";
    /// Rate-based congestion controls at one bottleneck.
    HETFLOW_DUMBBELL = "hetflow/dumbbell.toml";
    /// Rate-based congestion controls over paths with different RTTs.
    HETFLOW_RTTS = "hetflow/rtts.toml";
    /// Flows of the web search distribution in a fat-tree.
    IRN = "irn/fat-tree.toml";
    /// CPRI streams with data traffic.
    FRONTHAUL = "dtscoe/fronthaul.toml";
    /// CPRI streams alone, with phases that cause queueing.
    DTSCOE_WITNESS = "dtscoe/witness.toml";
    /// Consecutive slots of CPRI streams.
    DTSCOE_DRIFT = "dtscoe/drift.toml";
    /// CPRI streams with flows.
    DTSCOE_PRICE = "dtscoe/price.toml";
    /// DCQCN flows to one port.
    FLUID_DCQCN = "fluid/dcqcn.toml";
}

/// Fluid model of the scenario [`FLUID_DCQCN`].
pub static FLUID_DCQCN_MODEL: Source =
    Source { name: "experiments/fluid/model.toml", text: include_str!("../experiments/fluid/model.toml") };

/// Fabric files that the scenarios reference.
const FABRICS: &[(&str, &str)] = &[
    ("fig1.json", include_str!("../experiments/florax/fig1.json")),
    ("fig1-fast.json", include_str!("../experiments/florax/fig1-fast.json")),
    ("fig2.json", include_str!("../experiments/florax/fig2.json")),
    ("fig3.json", include_str!("../experiments/florax/fig3.json")),
    ("fig3-access.json", include_str!("../experiments/florax/fig3-access.json")),
    ("fig3-100us.json", include_str!("../experiments/florax/fig3-100us.json")),
    ("fig3-300us.json", include_str!("../experiments/florax/fig3-300us.json")),
    ("fig3-1ms.json", include_str!("../experiments/florax/fig3-1ms.json")),
    ("rtts.json", include_str!("../experiments/hetflow/rtts.json")),
    ("fronthaul.json", include_str!("../experiments/dtscoe/fronthaul.json")),
    ("slots.json", include_str!("../experiments/dtscoe/slots.json")),
    ("fig3-equal.json", include_str!("../experiments/florax/fig3-equal.json")),
];

/// Returns the compiled-in copy of a file that a compiled-in scenario references.
///
/// # Errors
/// `NotFound` for any other file.
pub fn load(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let known = FABRICS.iter().find(|(name, _)| std::path::Path::new(name) == path);
    known.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}
