//! `[fabric]`: reading and building.

use crate::error::ScenarioError;
use crate::files::Files;
use crate::names::names;
use crate::recognise::{KnownFormat, known_format};
use crate::section::{Context, Section, list, text, whole};
use fabric::files as formats;
use fabric::files::{Format, NamePattern, Options, Roles};
use fabric::generate::{self, TierLinks};
use fabric::{Fabric, FabricError, LinkSpec};
use units::{Rate, Time};

/// Maximum link delay: a longer delay is a typing error, and sums of longer delays would overflow.
const MAX_DELAY: Time = Time::from_s(10);

/// Contents of `[fabric]`.
#[derive(Clone, Debug)]
pub(crate) enum FabricPlan {
    FatTree { k: u32, hosts_per_edge: Option<u32>, links: TierLinks },
    F10 { k: u32, links: TierLinks },
    LeafSpine { leaves: u32, spines: u32, hosts_per_leaf: u32, links_per_pair: u32, links: TierLinks },
    Clos { pods: u32, tors: u32, leaves: u32, spines: u32, hosts: u32, links: TierLinks },
    Dumbbell { left: u32, right: u32, links: TierLinks },
    Tree { arity: Vec<u32>, hosts_per_leaf: u32, root_hosts: u32, links: TierLinks },
    Star { arms: u32, hosts_per_arm: u32, hub_hosts: u32, links: TierLinks },
    Jellyfish { switches: u32, degree: u32, hosts: u32, seed: u64, links: TierLinks },
    BCube { n: u32, levels: u32, links: TierLinks },
    SingleSwitch { hosts: u32, links: TierLinks },
    Row { closed: bool, switches: u32, hosts: u32, links: TierLinks },
    File(FilePlan),
}

/// A topology file, and the parameters of the scenario for reading it.
#[derive(Clone, Debug)]
pub(crate) struct FilePlan {
    file: String,
    format: Option<Format>,
    link: Option<LinkSpec>,
    hosts_per_switch: u16,
    roles: Roles,
    relay: bool,
    default_loss: f64,
}

const KINDS: [&str; 13] = [
    "fat-tree",
    "f10",
    "leaf-spine",
    "clos",
    "dumbbell",
    "tree",
    "star",
    "jellyfish",
    "bcube",
    "single-switch",
    "line",
    "ring",
    "file",
];

/// Keys that assign the roles host, switch or ignored to nodes of a topology file.
const ROLES: [&str; 4] = ["ignore", "host", "switch", "hosts_on"];

impl FabricPlan {
    /// Returns the fabric, and the loss probability of MAC control frames.
    pub fn read(root: &Section<'_, '_>) -> Option<(FabricPlan, f64)> {
        if !root.has("fabric") {
            let help =
                "write [fabric] with kind = \"fat-tree\", k = 4 and link = { rate = \"100Gbps\", delay = \"500ns\" }";
            root.context.fail("", "[fabric] is missing", Some(help.to_owned()));
        }
        let section = root.table("fabric", "fabric", false);
        if !root.has("fabric") {
            return None;
        }
        let plan = section.kind("kind of fabric", &KINDS).and_then(|kind| Self::read_kind(kind, &section));
        let control_loss = section.probability("control_loss");
        section.finish();
        plan.map(|plan| (plan, control_loss.unwrap_or(0.0)))
    }

    fn read_kind(kind: &'static str, section: &Section<'_, '_>) -> Option<FabricPlan> {
        let count = |key| section.count(key);
        // Every key is read before `?` returns, so that all errors are reported.
        Some(match kind {
            "fat-tree" => {
                let (k, hosts_per_edge, links) = (count("k"), count("hosts_per_edge"), tiers(section, kind));
                FabricPlan::FatTree { k: k?, hosts_per_edge, links: links? }
            }
            "f10" => {
                let (k, links) = (count("k"), tiers(section, kind));
                FabricPlan::F10 { k: k?, links: links? }
            }
            "leaf-spine" => {
                let (leaves, spines, hosts) = (count("leaves"), count("spines"), count("hosts_per_leaf"));
                let (parallel, links) = (count("links_per_pair"), tiers(section, kind));
                FabricPlan::LeafSpine {
                    leaves: leaves?,
                    spines: spines?,
                    hosts_per_leaf: hosts?,
                    links_per_pair: parallel?,
                    links: links?,
                }
            }
            "clos" => {
                let (pods, tors, leaves) = (count("pods"), count("tors_per_pod"), count("leaves_per_pod"));
                let (spines, hosts, links) = (count("spines"), count("hosts_per_tor"), tiers(section, kind));
                let (pods, tors, leaves) = (pods?, tors?, leaves?);
                FabricPlan::Clos { pods, tors, leaves, spines: spines?, hosts: hosts?, links: links? }
            }
            "dumbbell" => {
                let (left, right, links) = (count("left"), count("right"), tiers(section, kind));
                FabricPlan::Dumbbell { left: left?, right: right?, links: links? }
            }
            "tree" => {
                let arity = section.read("arity", |value| {
                    let items = list(value, "[3, 1]")?;
                    let arity = items.iter().map(|item| whole(&item.value, 1..=60_000).map(|(count, _)| count as u32));
                    let arity = arity.collect::<Result<Vec<u32>, _>>()?;
                    Ok((arity.clone(), format!("{arity:?}")))
                });
                let (hosts, root_hosts, links) = (count("hosts_per_leaf"), count("root_hosts"), tiers(section, kind));
                FabricPlan::Tree { arity: arity?, hosts_per_leaf: hosts?, root_hosts: root_hosts?, links: links? }
            }
            "star" => {
                let (arms, hosts, hub_hosts) = (count("arms"), count("hosts_per_arm"), count("hub_hosts"));
                let links = tiers(section, kind);
                FabricPlan::Star { arms: arms?, hosts_per_arm: hosts?, hub_hosts: hub_hosts?, links: links? }
            }
            "jellyfish" => {
                let (switches, degree, hosts) = (count("switches"), count("degree"), count("hosts_per_switch"));
                let (seed, links) = (section.whole("seed", 0..=u64::MAX), tiers(section, kind));
                let (switches, degree) = (switches?, degree?);
                FabricPlan::Jellyfish { switches, degree, hosts: hosts?, seed: seed?, links: links? }
            }
            "bcube" => {
                let (n, levels, links) = (count("n"), count("levels"), tiers(section, kind));
                FabricPlan::BCube { n: n?, levels: levels?, links: links? }
            }
            "single-switch" => {
                let (hosts, links) = (count("hosts"), tiers(section, kind));
                FabricPlan::SingleSwitch { hosts: hosts?, links: links? }
            }
            "line" | "ring" => {
                let (switches, hosts, links) = (count("switches"), count("hosts_per_switch"), tiers(section, kind));
                FabricPlan::Row { closed: kind == "ring", switches: switches?, hosts: hosts?, links: links? }
            }
            _ => {
                let file = section.text("file");
                let mut names = vec!["auto"];
                names.extend(Format::ALL.map(Format::name));
                let format = section.word("format", &names);
                let (hosts, relay) = (section.whole("hosts_per_switch", 0..=60_000), section.flag("relay"));
                let default_loss = section.probability("default_loss");
                let roles = Roles {
                    ignore: patterns(section, "ignore"),
                    host: patterns(section, "host"),
                    switch: patterns(section, "switch"),
                    hosts_on: patterns(section, "hosts_on"),
                };
                let given = section.has("link");
                let link = section.read("link", |_| Ok(((), "as given".to_owned())));
                let link = if given { link.and_then(|()| one_link(section)) } else { None };
                let format = Format::named(format?);
                FabricPlan::File(FilePlan {
                    file: file?,
                    format,
                    link,
                    hosts_per_switch: hosts? as u16,
                    roles,
                    relay: relay?,
                    default_loss: default_loss?,
                })
            }
        })
    }

    /// Builds and checks the fabric; errors go to the context.
    pub fn build(&self, context: &Context<'_>, files: &Files<'_>) -> Option<Fabric> {
        let built = match self {
            FabricPlan::FatTree { k, hosts_per_edge: None, links } => generate::fat_tree(*k, *links),
            FabricPlan::FatTree { k, hosts_per_edge: Some(hosts), links } => {
                generate::fat_tree_oversubscribed(*k, *hosts, *links)
            }
            FabricPlan::F10 { k, links } => generate::f10(*k, *links),
            FabricPlan::LeafSpine { leaves, spines, hosts_per_leaf, links_per_pair, links } => {
                generate::leaf_spine(*leaves, *spines, *hosts_per_leaf, *links_per_pair, *links)
            }
            FabricPlan::Clos { pods, tors, leaves, spines, hosts, links } => {
                generate::clos(*pods, *tors, *leaves, *spines, *hosts, *links)
            }
            FabricPlan::Dumbbell { left, right, links } => generate::dumbbell(*left, *right, links.host, links.edge),
            FabricPlan::Tree { arity, hosts_per_leaf, root_hosts, links } => {
                generate::tree(arity, *hosts_per_leaf, *root_hosts, *links)
            }
            FabricPlan::Star { arms, hosts_per_arm, hub_hosts, links } => {
                generate::star(*arms, *hosts_per_arm, *hub_hosts, *links)
            }
            FabricPlan::Jellyfish { switches, degree, hosts, seed, links } => {
                generate::jellyfish(*switches, *degree, *hosts, *seed, links.host, links.edge)
            }
            FabricPlan::BCube { n, levels, links } => generate::bcube(*n, *levels, links.host),
            FabricPlan::SingleSwitch { hosts, links } => generate::single_switch(*hosts, links.host),
            FabricPlan::Row { closed: false, switches, hosts, links } => {
                generate::line(*switches, *hosts, links.host, links.edge)
            }
            FabricPlan::Row { closed: true, switches, hosts, links } => {
                generate::ring(*switches, *hosts, links.host, links.edge)
            }
            FabricPlan::File(plan) => {
                let content = files.load(context, &plan.file, "fabric.file")?;
                return read_file(context, &files.shown(&plan.file), &content, plan);
            }
        };
        match built.and_then(|fabric| fabric.check().map(|()| fabric)) {
            Ok(fabric) => Some(fabric),
            Err(FabricError::Parameter { parameter, value, expected, .. }) => {
                // Some parameter names of the generators differ from the scenario keys.
                let key = match parameter {
                    "k" if matches!(self, FabricPlan::BCube { .. }) => "levels",
                    "hosts_each" => "hosts_per_switch",
                    other => other,
                };
                context.fail(&format!("fabric.{key}"), format!("`{key}` = {value} does not work"), Some(expected));
                None
            }
            Err(error) => {
                context.fail("fabric", error.to_string(), None);
                None
            }
        }
    }
}

/// Reads patterns of node names, in which `*` matches any text: a list, or one text separated by commas.
fn patterns(section: &Section<'_, '_>, key: &'static str) -> Vec<NamePattern> {
    let read = section.read(key, |value| {
        if let Ok(text) = text(value, "names of nodes") {
            return Ok((text.split(',').map(|name| name.trim().to_owned()).collect(), text));
        }
        names(value, "[\"leaf*\", \"ufm\"]")
    });
    read.unwrap_or_default().into_iter().map(NamePattern::new).collect()
}

/// Warns of `hosts_per_switch` and of keys of `fabric.link` without effect, because the topology file states hosts or
/// link properties. A key of `fabric.link` has no effect if no link changes when the file is read with another value of
/// this key.
fn warn_of_idle(context: &Context<'_>, plan: &FilePlan, fabric: &Fabric, read: impl Fn(&Options) -> Option<Fabric>) {
    if plan.link.is_none() && plan.hosts_per_switch == 0 || fabric.links().is_empty() {
        return;
    }
    let unlike = |spec: LinkSpec| LinkSpec {
        rate: Rate::from_bps(spec.rate.as_bps() + 1).unwrap_or(Rate::MIN),
        delay: spec.delay + Time::from_ps(1),
        loss: if spec.loss > 0.5 { spec.loss / 2.0 } else { spec.loss + 0.25 },
        ..spec
    };
    let link = plan.link.unwrap_or(LinkSpec::new(Rate::MIN, Time::from_ps(1)));
    let roles = Roles { hosts_on: Vec::new(), ..plan.roles.clone() };
    let Some(other) = read(&Options { roles, ..Options::new(unlike(link)) }) else { return };
    if plan.hosts_per_switch > 0 {
        let message = "`hosts_per_switch` has no effect: the file has hosts";
        context.warn("fabric.hosts_per_switch", message);
    }
    let links = || fabric.links().iter().zip(other.links());
    let section = context.root().table("fabric", "fabric", false);
    let written = section.table("link", "fabric.link", false);
    for (key, differs) in [
        ("rate", links().any(|(link, other)| link.rate != other.rate)),
        ("delay", links().any(|(link, other)| link.delay != other.delay)),
        ("loss", links().any(|(link, other)| link.loss != other.loss)),
    ] {
        if written.has(key) && !differs {
            let message = format!("`{key}` has no effect: every link of the file states its own");
            context.warn(&format!("fabric.link.{key}"), message);
        }
    }
}

fn read_file(context: &Context<'_>, file: &str, content: &[u8], plan: &FilePlan) -> Option<Fabric> {
    let &FilePlan { format, link, hosts_per_switch, relay, default_loss, .. } = plan;
    let roles = plan.roles.clone();
    let in_file = |line: u64, message: String| {
        let (path, key) = (file.to_owned(), "fabric.file".to_owned());
        context.push(ScenarioError { path, line, column: 0, span: 0..0, key, message, help: None });
    };
    if content.len() as u64 > crate::files::MAX_TREE_BYTES {
        in_file(0, format!("longer than {}", units::Bytes(crate::files::MAX_TREE_BYTES)));
        return None;
    }
    let content = match formats::text_of(content) {
        Ok(content) => content,
        Err(fault) => {
            in_file(fault.line as u64, fault.to_string());
            return None;
        }
    };
    if let Some(known) = known_format(content.as_bytes()).filter(|known| !matches!(known, KnownFormat::Topology(_))) {
        in_file(1, format!("this is {known}, not a topology"));
        return None;
    }
    // If neither the file nor the scenario states a link, its delay is 0, which is refused below.
    let options = Options { link: link.unwrap_or(Options::NONE.link), hosts_per_switch, roles, ..Options::NONE };
    let read = match format {
        None => formats::read(file, content, &options),
        Some(format) => format.read(content, &options),
    };
    if let Ok(fabric) = &read {
        fabric.decisions().iter().for_each(|decision| context.warn("fabric.file", decision.line()));
        warn_of_idle(context, plan, fabric, |other| match format {
            None => formats::read(file, content, other).ok(),
            Some(format) => format.read(content, other).ok(),
        });
    }
    let read = read.map(|fabric| if relay { fabric.with_relaying_hosts() } else { fabric });
    match read.map(|fabric| fabric.with_default_loss(default_loss)) {
        Ok(fabric) => {
            let long = fabric.links().iter().find(|link| link.delay > MAX_DELAY);
            let fast = fabric.links().iter().find(|link| link.rate.as_bps() > 1_000_000_000_000_000);
            if let Some(link) = long.or(fast) {
                let (a, b) = (fabric.name(link.a.node), fabric.name(link.b.node));
                in_file(0, format!("the link between `{a}` and `{b}` is longer than 10s or faster than 1000Tbps"));
                return None;
            }
            let rateless = fabric.links().iter().find(|spec| link.is_none() && spec.rate == Rate::MIN);
            if let Some(link) = rateless {
                let (a, b) = (fabric.name(link.a.node), fabric.name(link.b.node));
                let help = "write fabric.link = { rate = \"100Gbps\", delay = \"500ns\" }".to_owned();
                let message = format!("the file states no rate for the link between `{a}` and `{b}`");
                context.fail("fabric.file", message, Some(help));
                return None;
            }
            Some(fabric)
        }
        Err(formats::FileError::Line { line, message }) => {
            in_file(line as u64, message);
            None
        }
        Err(formats::FileError::Element { location, message }) if ROLES.contains(&location.as_str()) => {
            context.fail(&format!("fabric.{location}"), message, None);
            None
        }
        Err(error @ formats::FileError::Fabric(FabricError::ZeroDelay { .. })) if link.is_none() => {
            let help = "write fabric.link = { rate = \"100Gbps\", delay = \"500ns\" }".to_owned();
            context.fail("fabric.file", format!("{file}: {error}"), Some(help));
            None
        }
        Err(error) => {
            in_file(0, error.to_string());
            None
        }
    }
}

/// Properties in one link table (`fabric.link` or the table of a tier); all are optional.
#[derive(Clone, Copy, Default)]
struct Partial {
    rate: Option<Rate>,
    delay: Option<Time>,
    loss: Option<f64>,
    bit_error_rate: Option<f64>,
    /// Whether the rate or the delay is invalid; its error was already reported.
    wrong: bool,
}

fn partial(section: &Section<'_, '_>) -> Partial {
    let delay = section.read("delay", |value| {
        let (delay, text) = crate::section::quantity::<Time>(value, "a time")?;
        if delay == Time::ZERO {
            return Err(("every link needs a delay above zero".to_owned(), Some("1ns is a cable of 20 cm".to_owned())));
        }
        if delay > MAX_DELAY {
            return Err((format!("`{text}` is too long for a link"), Some("at most 10s".to_owned())));
        }
        Ok((delay, text))
    });
    let (rate, loss, bit_error_rate) =
        (section.rate("rate"), section.probability("loss"), section.probability("bit_error_rate"));
    let wrong = (section.has("delay") && delay.is_none()) || (section.has("rate") && rate.is_none());
    Partial { rate, delay, loss, bit_error_rate, wrong }
}

/// Builds a link from the properties of its tier, falling back to those of all links.
fn complete(section: &Section<'_, '_>, tier: &str, base: &Partial, own: &Partial) -> Option<LinkSpec> {
    let (rate, delay) = (own.rate.or(base.rate), own.delay.or(base.delay));
    for (name, missing, example) in [("rate", rate.is_none(), "100Gbps"), ("delay", delay.is_none(), "500ns")] {
        if missing && !base.wrong && !own.wrong {
            let help = format!("write fabric.link.{name} = \"{example}\", or fabric.link.{tier}.{name}");
            section.fail("link", format!("the links of `{tier}` have no {name}"), Some(help));
        }
    }
    let (loss, errors) = (own.loss.or(base.loss), own.bit_error_rate.or(base.bit_error_rate));
    Some(LinkSpec { rate: rate?, delay: delay?, loss: loss.unwrap_or(0.0), bit_error_rate: errors.unwrap_or(0.0) })
}

fn tiers(section: &Section<'_, '_>, kind: &'static str) -> Option<TierLinks> {
    if !section.has("link") {
        let help = "write link = { rate = \"100Gbps\", delay = \"500ns\" }".to_owned();
        section.fail("", "`fabric` needs `link`", Some(help));
        section.table("link", "fabric.link", false);
        return None;
    }
    let table = section.table("link", "fabric.link", false);
    table.tag(kind);
    let base = partial(&table);
    let names: &[&'static str] = match kind {
        "bcube" | "single-switch" => &["host"],
        "fat-tree" | "f10" | "clos" | "tree" => &["host", "edge", "core"],
        _ => &["host", "edge"],
    };
    let links: Vec<Option<LinkSpec>> = names
        .iter()
        .map(|name| {
            if !table.has(name) {
                table.table(name, "fabric.link.tier", false);
                return complete(section, name, &base, &Partial::default());
            }
            let tier = table.table(name, "fabric.link.tier", false);
            let own = partial(&tier);
            tier.finish();
            complete(section, name, &base, &own)
        })
        .collect();
    table.finish();
    let link = |at: usize| links.get(at).copied().unwrap_or(links[0]);
    let (host, edge, core) = (link(0), link(1), link(2));
    Some(TierLinks { host: host?, edge: edge?, core: core? })
}

/// Reads `fabric.link`, the properties of all links for which the topology file states none.
fn one_link(section: &Section<'_, '_>) -> Option<LinkSpec> {
    let table = section.table("link", "fabric.link", false);
    table.tag("file");
    let base = partial(&table);
    table.finish();
    complete(section, "file", &base, &Partial::default())
}
