//! `tidegate fabric check --pfc`: searches for cyclic buffer dependencies.

use super::heading;
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, Found};
use crate::failure::Failure;
use crate::names::port_shown;
use crate::output::{self, Style, styled};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, LinkId};
use serde_json::{Value, json};
use std::path::PathBuf;
use text::numbers::{counted, counted_as};
use verify::{PathList, PfcVerdict, Traffic, check_pfc, find_link};

/// Maximum number of destinations that a line names.
const NAMED: usize = 4;

/// Routes of frames.
#[derive(Clone, Debug, clap::Args)]
pub struct PfcFlags {
    /// Check that the fabric cannot deadlock when all lossless traffic shares one PFC priority.
    #[arg(long, help_heading = "Deadlock")]
    pfc: bool,
    /// Routing of frames between all pairs of hosts.
    #[arg(long, requires = "pfc", value_name = "MODE", help_heading = "Deadlock")]
    routing: Option<RoutingName>,
    /// Failed link that routing avoids: `--fail L1-T1`, or `--fail L1:2-T1` for one of several parallel links; may be
    /// repeated.
    #[arg(long, requires = "pfc", value_name = "A-B", help_heading = "Deadlock")]
    fail: Vec<String>,
    /// Maximum number of times a frame may find all ports towards its destination failed and take a detour.
    #[arg(long, requires = "pfc", value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u8).range(..=16))]
    #[arg(help_heading = "Deadlock")]
    bounces: u8,
    /// Restrict frames to the paths of this list: one path per line, node names from source to destination.
    #[arg(long, requires = "pfc", value_name = "FILE", conflicts_with_all = ["routing", "fail", "bounces"])]
    #[arg(help_heading = "Deadlock")]
    paths: Option<PathBuf>,
}

impl PfcFlags {
    /// Returns whether the check is requested.
    pub fn is_requested(&self) -> bool {
        self.pfc
    }
}

/// A kind of routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RoutingName {
    /// All shortest paths (default)
    Shortest,
    /// Up-down routing: never up again after a step down
    UpDown,
    /// Fat-tree tables: one path per destination
    TwoLevel,
}

impl RoutingName {
    fn mode(self) -> Mode {
        match self {
            RoutingName::Shortest => Mode::ShortestPath,
            RoutingName::UpDown => Mode::UpDown { root: None },
            RoutingName::TwoLevel => Mode::TwoLevel,
        }
    }
    fn name(self) -> &'static str {
        match self {
            RoutingName::Shortest => "shortest paths",
            RoutingName::UpDown => "up-down routing",
            RoutingName::TwoLevel => "two-level tables",
        }
    }
}

/// Checks the fabric for deadlocks and prints the verdict.
///
/// # Errors
/// Invalid input.
pub fn check(source: &str, flags: &FabricFlags, pfc: &PfcFlags, json: bool) -> Result<Exit, Failure> {
    let found = fabric_source::find(source, flags, None)?;
    let fabric = &found.fabric;
    if pfc.paths.is_none() {
        fabric_source::require_traffic(source, fabric)?;
    }
    let (verdict, cut_off) = match &pfc.paths {
        Some(path) => {
            let list = scenario::read_at_most(path, scenario::MAX_TREE_BYTES);
            let list = list.map_err(|error| Failure::unreadable(path, &error))?;
            let verdict = check_pfc(fabric, Traffic::Paths(&list));
            let verdict = verdict.map_err(|error| Failure::of_verifier(path, &error))?;
            if let Ok(None) = PathList::new(fabric, list.as_slice()).next_path() {
                return Err(Failure::no_path(path));
            }
            (verdict, None)
        }
        None => under_routes(fabric, pfc)?,
    };
    if json {
        output::print(&format!("{:#}\n", as_json(&found, source, pfc, &verdict, cut_off.as_deref())))?;
    } else {
        output::show(&as_text(source, &found, pfc, &verdict, cut_off.as_deref()))?;
    }
    Ok(if verdict.deadlock_free { Exit::Done } else { Exit::CheckFailed })
}

/// Returns the verdict for the routes of `pfc`, and a sentence if link failures disconnect hosts.
fn under_routes(fabric: &Fabric, pfc: &PfcFlags) -> Result<(PfcVerdict, Option<String>), Failure> {
    let failed: Vec<LinkId> = pfc
        .fail
        .iter()
        .map(|text| {
            find_link(fabric, text)
                .map_err(|error| Failure::Input { message: format!("--fail {text}: {error}"), help: None })
        })
        .collect::<Result<_, _>>()?;
    let routing = pfc.routing.unwrap_or(RoutingName::Shortest);
    let refused = |error: fabric::routing::RoutingError| Failure::Input { message: error.to_string(), help: None };
    let healthy = Forwarding::build(fabric, routing.mode()).map_err(refused)?;
    let routes =
        if failed.is_empty() { healthy } else { healthy.recompute_without(fabric, &failed).map_err(refused)? };
    let cut_off = routes.verify(fabric).err().map(|error| error.to_string());
    let traffic = Traffic::Routes { routes: &routes, failed: &failed, bounces: pfc.bounces };
    let verdict =
        check_pfc(fabric, traffic).map_err(|error| Failure::Input { message: error.to_string(), help: None })?;
    Ok((verdict, cut_off))
}

fn as_json(found: &Found, source: &str, pfc: &PfcFlags, verdict: &PfcVerdict, cut_off: Option<&str>) -> Value {
    let routing = pfc.routing.unwrap_or(RoutingName::Shortest);
    json!({
        "source": source,
        "routing": if pfc.paths.is_some() {
            None
        } else {
            clap::ValueEnum::to_possible_value(&routing).map(|value| value.get_name().to_owned())
        },
        "paths": pfc.paths, "failed": pfc.fail, "bounces": pfc.bounces, "cut_off": cut_off,
        "deadlock_free": verdict.deadlock_free, "queues": verdict.queues, "dependencies": verdict.dependencies,
        "cycle": if verdict.deadlock_free { None } else { Some(&verdict.cycle) }, "shortest": verdict.shortest,
        "tunnels_checked": fabric_source::tunnels_checked(&found.fabric),
    })
}

fn as_text(source: &str, found: &Found, pfc: &PfcFlags, verdict: &PfcVerdict, cut_off: Option<&str>) -> String {
    let mut text = heading(source, found);
    let mut traffic = match &pfc.paths {
        Some(path) => format!("paths of {}", path.display()),
        None => pfc.routing.unwrap_or(RoutingName::Shortest).name().to_owned(),
    };
    if !pfc.fail.is_empty() {
        traffic += &format!(" around {}", pfc.fail.join(", "));
    }
    if pfc.bounces > 0 {
        traffic += &format!(", up to {}", counted(pfc.bounces.into(), "bounce"));
    }
    let size = format!(
        "{traffic}: {} with {}",
        counted(verdict.queues, "lossless queue"),
        counted_as(verdict.dependencies, "dependency", "dependencies")
    );
    text += &format!("  {}\n", styled(&size, Style::Faint));
    if let Some(cut_off) = cut_off {
        text += &format!("  {}  {cut_off}\n", styled("hint", Style::Caution));
    }
    if found.fabric.has_shared_ports() {
        let tunnels = "the tunnels between the ToRs of a pair are not judged: fabric check --running DIR";
        text += &format!("  {}  {tunnels}\n", styled("hint", Style::Caution));
    }
    if verdict.deadlock_free {
        text += &format!(
            "  {}  it cannot deadlock under PFC: no queues wait for each other in a circle\n",
            styled("ok  ", Style::Good)
        );
        return text;
    }
    let count = counted(verdict.cycle.len() as u64, "queue");
    let which = if verdict.shortest { "no circle is shorter than this" } else { "a short circle, of many" };
    text += &format!(
        "  {}  it can deadlock under PFC: {count} wait for each other in a circle ({which})\n",
        styled("FAIL", Style::Bad)
    );
    let end = |name: &str, port: u16| {
        let node = found.fabric.find(name);
        format!("{name}:{}", node.map_or(port.to_string(), |node| port_shown(&found.fabric, node, port)))
    };
    let link =
        |link: &verify::TaggedLink| format!("{} -> {}", end(&link.from, link.from_port), end(&link.to, link.to_port));
    let links: Vec<String> = verdict.cycle.iter().map(|dependency| link(&dependency.link)).collect();
    let width = links.iter().map(|link| link.chars().count()).max().unwrap_or(0);
    for (index, (link, dependency)) in links.iter().zip(&verdict.cycle).enumerate() {
        let next = &verdict.cycle[(index + 1) % links.len()].link;
        text += &format!(
            "        {link:width$}  waits for {} -> {}: frames for {}\n",
            next.from,
            next.to,
            some_of(&dependency.destinations)
        );
    }
    text
}

/// Returns the first [`NAMED`] names, and the number of the others.
fn some_of(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
