//! `tidegate fabric headroom`: computes the thresholds, headroom and credits of ports, and the buffer that a switch
//! needs.

mod published;

use super::counts;
use crate::commands::tagger::headroom::{HeadroomArgs, Terms};
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, Switches};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use fabric::{Fabric, LinkSpec, NodeId};
use protocols::cbfc::sufficient_credits;
use protocols::headroom::Headroom;
use protocols::reaction::Reaction;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use text::numbers::counted;
use text::{Layout, table};
use units::{Bytes, Rate, Time};

/// Inputs beside the links.
#[derive(Clone, Debug, clap::Args)]
pub struct ThresholdFlags {
    #[command(flatten)]
    headroom: HeadroomArgs,
    /// Cable length at 5 ns per metre, instead of --delay: `300m` or `10km`; with a fabric, of all cables.
    #[arg(long, value_name = "LENGTH", value_parser = units::cable_delay, help_heading = "Headroom")]
    length: Option<Time>,
    /// Number of lossless classes, 1 for 802.3x PAUSE; default: that of the scenario, or 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Headroom")]
    classes: Option<u8>,
    /// Number of equal ports of a single link's switch; default: 1.
    #[arg(long, value_name = "N", conflicts_with = "source", value_parser = clap::value_parser!(u16).range(1..))]
    #[arg(help_heading = "Headroom")]
    ports: Option<u16>,
    /// Buffer of a switch; default: that of the scenario, or 16MB.
    #[arg(long, value_name = "SIZE", help_heading = "Headroom")]
    buffer: Option<Bytes>,
    /// Print the result of SONiC's own formula for equal inputs beside each term of headroom, with the reason of a
    /// difference.
    #[arg(long, help_heading = "Headroom")]
    sonic: bool,
    /// Print headroom by speed and cable beside the published medians of SONiC platforms; without a fabric or link.
    #[arg(long, conflicts_with_all = ["source", "length", "ports", "buffer", "sonic"], help_heading = "Headroom")]
    published: bool,
}

impl ThresholdFlags {
    /// Buffer of a switch if neither the command line nor a scenario states it.
    const BUFFER: Bytes = Bytes(16_000_000);

    fn classes(&self) -> u8 {
        self.classes.unwrap_or(1)
    }

    fn buffer(&self) -> Bytes {
        self.buffer.unwrap_or(Self::BUFFER)
    }

    /// Takes the values that the command line does not state from a scenario.
    fn filled_by(&self, switches: &Switches) -> ThresholdFlags {
        let headroom = HeadroomArgs {
            mtu: self.headroom.mtu.or(Some(switches.mtu)),
            reaction: self.headroom.reaction.or(switches.reaction),
            ..self.headroom
        };
        ThresholdFlags {
            headroom,
            buffer: self.buffer.or(switches.buffer),
            classes: self.classes.or(Some(switches.lossless_classes)),
            ..self.clone()
        }
    }
}

/// Maximum number of kinds of ports that the text explains term by term; JSON has all kinds.
const KINDS: usize = 4;

/// Bytes that a lossless class needs at one kind of port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    rate: Rate,
    delay: Time,
    /// Headroom: bytes that may still arrive after XOFF.
    headroom: u64,
    /// Headroom in the fluid approximation, without the three terms of one MTU each for whole frames.
    without_frames: u64,
    /// Lowest XON at which the port always has frames to send until new frames arrive after the resume.
    xon: u64,
    xoff: u64,
    credits: u64,
}

impl Need {
    fn of(link: &LinkSpec, flags: &ThresholdFlags) -> Need {
        let (rate, delay, mtu) = (link.rate, link.delay, flags.headroom.mtu().get());
        let headroom = Headroom::of(rate, delay, &flags.headroom.conditions(flags.classes().into())).bytes;
        // Like a pause, a resume may wait for a frame in transmission, and the first frame after it must arrive
        // completely.
        let xon = headroom - mtu;
        let credits = sufficient_credits(rate, delay, mtu, mtu);
        // Headroom contains three whole frames: the frame that delays the pause frame, the frame that exceeds XOFF, and
        // the last frame that the neighbour starts before it stops.
        Need { rate, delay, headroom, without_frames: headroom - 3 * mtu, xon, xoff: xon + 2 * mtu, credits }
    }

    fn terms(&self, flags: &ThresholdFlags) -> Terms {
        Terms::of(self.rate, self.delay, flags.classes(), &flags.headroom)
    }

    /// Returns the buffer that a lossless class needs under PFC: XOFF plus headroom.
    fn with_pfc(&self) -> u64 {
        self.xoff + self.headroom
    }

    fn json(&self, ports: u64, flags: &ThresholdFlags) -> Value {
        let mut headroom_json = json!({
            "rate_bps": self.rate.as_bps(), "delay_ps": self.delay.as_ps(), "ports": ports,
            "xoff_bytes": self.xoff, "xon_bytes": self.xon, "headroom_bytes": self.headroom,
            "headroom_without_frames_bytes": self.without_frames, "credits_bytes": self.credits,
            "reaction_ps": flags.headroom.reaction().on(self.rate).as_ps(),
        });
        let Value::Object(terms) = self.terms(flags).json(flags.sonic) else { return headroom_json };
        for (key, value) in terms.into_iter().filter(|(_, value)| !value.is_null()) {
            headroom_json[key] = value;
        }
        headroom_json
    }
}

/// A group of switches with equal needs: number of switches, name of the first, buffer, and ports by kind.
struct SwitchGroup {
    count: u64,
    name: String,
    buffer: Bytes,
    ports: Vec<(Need, u64)>,
}

impl SwitchGroup {
    fn sum(&self, flags: &ThresholdFlags, of: impl Fn(&Need) -> u64) -> u64 {
        self.ports.iter().map(|(need, ports)| of(need) * ports).sum::<u64>() * u64::from(flags.classes())
    }
}

/// Runs the command. The exit code is 1 if the buffer of a switch is smaller than its ports need.
///
/// # Errors
/// Bad input.
pub fn command(
    source: Option<&str>,
    flags: &FabricFlags,
    thresholds: &ThresholdFlags,
    json: bool,
) -> Result<Exit, Failure> {
    if thresholds.published {
        // Refuses flags of a fabric; `--rate` with `--delay` is invalid here, too.
        if flags.lone_link(None)?.is_some() {
            let help = "it has rates and cables of its own";
            return Err(Failure::input("--published goes with no --rate and --delay", help));
        }
        let (args, classes) = (&thresholds.headroom, thresholds.classes());
        let text = match json {
            true => format!("{:#}\n", published::as_json(args, classes)),
            false => published::as_text(args, classes),
        };
        output::print(&text)?;
        return Ok(Exit::Done);
    }
    let (headroom_json, mut thresholds) = (thresholds.buffer, thresholds.clone());
    let (heading, alike) = match source {
        Some(source) => {
            let flags =
                thresholds.length.map(|delay| flags.with_cables(source, delay)).transpose()?.unwrap_or(flags.clone());
            let found = fabric_source::find(source, &flags, None)?.stated()?;
            let outside = found.switches.as_ref().map_or(&[][..], |switches| &switches.outside);
            if let Some(switches) = &found.switches {
                thresholds = thresholds.filled_by(switches);
            }
            let mut heading = format!("{}: {}", styled(source, Style::Strong), counts(&found.fabric));
            if !outside.is_empty() {
                let names: Vec<&str> = outside.iter().map(|&switch| found.fabric.name(switch)).collect();
                heading += &format!("; without part in flow control: {}", names.join(", "));
            }
            let own = found.switches.as_ref().filter(|_| headroom_json.is_none()).map(|switches| &switches.buffers);
            let buffer = |node: NodeId| own.and_then(|own| own.get(&node).copied()).unwrap_or(thresholds.buffer());
            (heading, of_fabric(&found.fabric, outside, buffer, &thresholds))
        }
        None => of_link(flags, &thresholds)?,
    };
    let thresholds = &thresholds;
    let fits = |alike: &SwitchGroup| alike.sum(thresholds, Need::with_pfc) <= alike.buffer.get();
    let all_fit = alike.iter().all(fits);
    if json {
        let switches: Vec<Value> = alike
            .iter()
            .map(|alike| {
                json!({
                    "first": alike.name, "switches": alike.count,
                    "ports": alike.ports.iter().map(|(need, ports)| need.json(*ports, thresholds)).collect::<Value>(),
                    "headroom_bytes": alike.sum(thresholds, |need| need.headroom),
                    "pfc_bytes": alike.sum(thresholds, Need::with_pfc),
                    "cbfc_bytes": alike.sum(thresholds, |need| need.credits), "buffer_bytes": alike.buffer.get(),
                    "fits": fits(alike),
                })
            })
            .collect();
        let (mtu, reaction) = (thresholds.headroom.mtu().get(), thresholds.headroom.reaction());
        let whole = json!({
            "mtu_bytes": mtu, "reaction": reaction.to_string(), "classes": thresholds.classes(),
            "buffer_bytes": thresholds.buffer().get(), "switches": switches,
        });
        output::print(&format!("{whole:#}\n"))?;
    } else {
        output::show(&as_text(&heading, &alike, thresholds))?;
    }
    Ok(if all_fit { Exit::Done } else { Exit::CheckFailed })
}

fn of_link(flags: &FabricFlags, thresholds: &ThresholdFlags) -> Result<(String, Vec<SwitchGroup>), Failure> {
    let help = || "write --rate 100Gbps and --length 300m or --delay 1500ns, or name a fabric".to_owned();
    let link = flags.lone_link(thresholds.length)?;
    let Some(link) = link else { return Err(Failure::input("a link needs its rate, and its length or delay", help())) };
    let ports = u64::from(thresholds.ports.unwrap_or(1));
    let buffer = thresholds.buffer();
    let alike = SwitchGroup {
        count: 1,
        name: "the switch".to_owned(),
        buffer,
        ports: vec![(Need::of(&link, thresholds), ports)],
    };
    Ok((format!("{} of {} and {}", counted(ports, "port"), link.rate, link.delay), vec![alike]))
}

/// A kind of port of a switch: rate in bit/s and delay in ps of the link, and the number of such ports.
type Ports = (u64, u64, u64);

/// Returns the needs of all switches with flow control (those not in `outside`), grouped by equal needs.
fn of_fabric(
    fabric: &Fabric,
    outside: &[NodeId],
    buffer: impl Fn(NodeId) -> Bytes,
    thresholds: &ThresholdFlags,
) -> Vec<SwitchGroup> {
    let mut found: BTreeMap<(Vec<Ports>, Bytes), (u64, NodeId)> = BTreeMap::new();
    for switch in fabric.switches().filter(|switch| !outside.contains(switch)) {
        let mut kinds: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for port in fabric.ports(switch) {
            let link = fabric.link(port.link);
            let delay = thresholds.length.unwrap_or(link.delay);
            *kinds.entry((link.rate.as_bps(), delay.as_ps())).or_default() += 1;
        }
        let kinds = kinds.into_iter().map(|((rate, delay), ports)| (rate, delay, ports)).collect();
        found.entry((kinds, buffer(switch))).or_insert((0, switch)).0 += 1;
    }
    let mut all: Vec<(NodeId, SwitchGroup)> = found
        .into_iter()
        .map(|((kinds, buffer), (count, first))| {
            let need = |&(bps, ps, ports): &Ports| {
                let link = LinkSpec::new(Rate::from_bps(bps).unwrap_or(Rate::MIN), Time::from_ps(ps));
                (Need::of(&link, thresholds), ports)
            };
            let ports = kinds.iter().map(need).collect();
            (first, SwitchGroup { count, name: fabric.name(first).to_owned(), buffer, ports })
        })
        .collect();
    all.sort_by_key(|alike| alike.0);
    all.into_iter().map(|alike| alike.1).collect()
}

fn as_text(heading: &str, alike: &[SwitchGroup], flags: &ThresholdFlags) -> String {
    let mut text = format!("{heading}\n");
    let basis = format!(
        "frames up to {}, {}, {} of buffer, {}",
        flags.headroom.mtu(),
        match flags.headroom.reaction() {
            Reaction::Standard => "the standard's reaction".to_owned(),
            Reaction::Stated(time) => format!("{time} of reaction"),
        },
        flags.buffer(),
        counted(flags.classes().into(), "lossless class").replace("classs", "classes"),
    );
    text += &format!("  {}\n", styled(&basis, Style::Faint));
    let mut rows = Vec::new();
    for alike in alike {
        for (need, ports) in &alike.ports {
            let bytes = |bytes: u64| Bytes(bytes).to_string();
            rows.push(vec![
                alike.name.clone(),
                need.rate.to_string(),
                need.delay.to_string(),
                ports.to_string(),
                bytes(need.xoff),
                bytes(need.xon),
                bytes(need.headroom),
                bytes(need.without_frames),
                bytes(need.credits),
            ]);
        }
    }
    let header = ["switch", "rate", "delay", "ports", "XOFF", "XON", "headroom", "without frames", "credits"];
    text += &table(&header, &rows, 1, Layout::Fitting, 2);
    for alike in alike {
        let buffer = alike.buffer.get();
        let (pfc, credits) = (alike.sum(flags, Need::with_pfc), alike.sum(flags, |need| need.credits));
        let headroom = alike.sum(flags, |need| need.headroom);
        let share = |bytes: u64| format!("{} ({:.1} %)", Bytes(bytes), 100.0 * bytes as f64 / buffer.max(1) as f64);
        let who =
            if alike.count == 1 { alike.name.clone() } else { format!("{} and {} alike", alike.name, alike.count - 1) };
        let mark = if pfc <= buffer { styled("ok  ", Style::Good) } else { styled("FAIL", Style::Bad) };
        text += &format!(
            "  {mark}  {who}: PFC {}, of which headroom {}; credits {}\n",
            share(pfc),
            share(headroom),
            share(credits)
        );
    }
    let kinds: BTreeMap<(Rate, Time), &Need> =
        alike.iter().flat_map(|alike| &alike.ports).map(|(need, _)| ((need.rate, need.delay), need)).collect();
    for need in kinds.values().take(KINDS) {
        text += &format!("\n{}", need.terms(flags).text(flags.sonic));
    }
    if let Some(more) = kinds.len().checked_sub(KINDS + 1) {
        text += &format!(
            "\n  and {}: --json has their terms\n",
            counted(more as u64 + 1, "kind of ports").replace("portss", "ports")
        );
    }
    text
}
