//! `[switch.tags]`: tag-rewriting rules, from a file or generated for the fabric; QoS maps from a file.

use crate::files::Files;
use crate::mechanism;
use crate::parts::Parts;
use crate::run_part::RoutingMode;
use crate::section::{Context, Section};
use fabric::tags::{MapsFile, QosMaps};
use fabric::{Fabric, NodeId};
use model::parameters::{FlowControl, Overload, Scheduler, SwitchOverride, TagRules};
use protocols::Parameters;
use protocols::qos_maps::QosMapsParameters;
use protocols::tagger::TaggerParameters;
use std::collections::BTreeSet;
use tagger::paths::{PathSource, TreeRoots};
use tagger::rules::{RuleTable, Tag};
use tagger::{Algorithm, Request, clos_rule, generate};

const KEY: &str = "switch.tags";

/// Source of the tag-rewriting rules.
#[derive(Clone, Debug)]
enum Rules {
    File(String),
    Clos {
        bounces: u8,
        classes: u8,
    },
    Paths {
        algorithm: Algorithm,
        paths: PathSource,
        classes: u8,
    },
    /// A file of QoS maps.
    Maps(String),
}

/// Contents of `[switch.tags]`.
#[derive(Clone, Debug)]
pub(crate) struct TagsPlan {
    rules: Rules,
    /// The egress queue is selected by the new tag instead of the arriving tag.
    by_new_tag: bool,
}

impl TagsPlan {
    /// Reads the tags; `None` after an error, `Some(None)` without tags.
    #[expect(clippy::option_option, reason = "wrong, absent, or there, as every part is read")]
    pub fn read(switch: &Section<'_, '_>) -> Option<Option<TagsPlan>> {
        let table = switch.table("tags", KEY, true);
        let kind = table.kind("kind of tags", &["none", "tagger", "qos-maps"]);
        let plan = match kind {
            Some("tagger") => Some(read_tagger(&table)),
            Some("qos-maps") => Some(
                mechanism::build(&table, QosMapsParameters::MECHANISM, &[])
                    .map(|QosMapsParameters { maps }| TagsPlan { rules: Rules::Maps(maps), by_new_tag: true }),
            ),
            _ => None,
        };
        table.finish();
        match (kind?, plan) {
            (_, Some(plan)) => plan.map(Some),
            _ => Some(None),
        }
    }
}

fn read_tagger(table: &Section<'_, '_>) -> Option<TagsPlan> {
    let parameters: Option<TaggerParameters> = mechanism::build(table, TaggerParameters::MECHANISM, &[]);
    let both = table.has("rules") && table.has("algorithm");
    if both || !(table.has("rules") || table.has("algorithm")) {
        let what = if both { "both `rules` and `algorithm`" } else { "neither `rules` nor `algorithm`" };
        let help = "write rules = \"rules.json\", a file for this fabric, or algorithm = \"clos\"".to_owned();
        table.fail(if both { "algorithm" } else { "" }, format!("`{KEY}` has {what}"), Some(help));
        return None;
    }
    for key in ["paths", "bounces", "classes"] {
        if table.has("rules") && table.has(key) {
            let help = "remove it: the file defines the lossless tags".to_owned();
            table.fail(key, format!("`{key}` belongs to `algorithm`"), Some(help));
        }
    }
    let TaggerParameters { rules: file, algorithm, paths, bounces, classes, by_new_tag } = parameters?;
    let clos = algorithm == Some("clos");
    if clos && table.has("paths") {
        let help = "remove it: the rules of a Clos fabric cover its up-down paths".to_owned();
        table.fail("paths", "`paths` belongs to the algorithms merge and one-per-hop", Some(help));
    }
    let bounces_apply = clos || paths == "up-down" || algorithm.is_none();
    table.refuse_idle("bounces", bounces_apply, "algorithm = \"clos\", or paths = \"up-down\"");
    if clos && bounces + classes > 7 {
        let message = format!("{bounces} bounces and {classes} classes need {} tags", bounces + classes);
        let help = "frames have classes 0 to 7, and 0 is the lossy one: bounces + classes is at most 7".to_owned();
        table.fail(if table.has("classes") { "classes" } else { "bounces" }, message, Some(help));
        return None;
    }
    let rules = match (file, algorithm) {
        (Some(file), _) => Rules::File(file),
        (None, Some("clos")) => Rules::Clos { bounces, classes },
        (None, Some(algorithm)) => {
            let algorithm = if algorithm == "merge" { Algorithm::Merge } else { Algorithm::OnePerHop };
            let paths = match paths {
                "shortest" => PathSource::AllShortest { limit: None },
                "up-down" => PathSource::UpDown { bounces },
                _ => PathSource::Trees { roots: TreeRoots::Switches, seed: None },
            };
            Rules::Paths { algorithm, paths, classes }
        }
        (None, None) => return None,
    };
    Some(TagsPlan { rules, by_new_tag })
}

/// Makes the tag-rewriting rules for the fabric; `None` after an error, `Some(None)` without tags.
#[expect(clippy::option_option, reason = "wrong, absent, or there, as every part is lowered")]
pub(crate) fn lower(
    context: &Context<'_>,
    fabric: &Fabric,
    files: &Files<'_>,
    parts: &Parts,
) -> Option<Option<TagRules>> {
    let Some(plan) = &parts.tags else { return Some(None) };
    let (key, table) = match &plan.rules {
        Rules::Maps(file) => return lower_maps(context, fabric, files, parts, file).map(Some),
        Rules::File(file) => {
            let key = format!("{KEY}.rules");
            let content = files.load(context, file, &key)?;
            let read = String::from_utf8(content).map_err(|_| "not UTF-8 text".to_owned());
            let read = read.and_then(|text| RuleTable::read(fabric, &text).map_err(|error| error.to_string()));
            match read {
                Ok(table) => (key, table),
                Err(error) => {
                    context.fail(&key, format!("`{}`: {error}", files.shown(file)), None);
                    return None;
                }
            }
        }
        generated => {
            let made = match generated {
                Rules::Paths { algorithm, paths, classes } => {
                    let request =
                        Request { algorithm: *algorithm, classes: names(*classes), ..Request::new(paths.clone()) };
                    generate(fabric, &request).map(|generated| generated.table)
                }
                Rules::Clos { bounces, classes } => clos_rule(fabric, *bounces, &names(*classes)),
                Rules::File(_) | Rules::Maps(_) => return None,
            };
            let key = format!("{KEY}.algorithm");
            match made {
                Ok(table) => (key, table),
                Err(error) => {
                    context.fail(&key, error.to_string(), None);
                    return None;
                }
            }
        }
    };
    let rules = match TagRules::new(fabric, &table.lossless_tags, table.switches(), plan.by_new_tag) {
        Ok(rules) => rules,
        Err(error) => {
            context.fail(&key, error.to_string(), None);
            return None;
        }
    };
    check_classes(context, parts, &table, rules.lossless())?;
    Some(Some(rules))
}

/// Reads the QoS maps of a file; `None` after an error.
fn lower_maps(
    context: &Context<'_>,
    fabric: &Fabric,
    files: &Files<'_>,
    parts: &Parts,
    file: &str,
) -> Option<TagRules> {
    let key = format!("{KEY}.maps");
    let content = files.load(context, file, &key)?;
    let read = String::from_utf8(content).map_err(|_| "not UTF-8 text".to_owned());
    let maps = read.and_then(|text| QosMaps::new(fabric, &MapsFile::read(&text)?));
    let maps = match maps {
        Ok(maps) => maps,
        Err(error) => {
            context.fail(&key, format!("`{}`: {error}", files.shown(file)), None);
            return None;
        }
    };
    let classes = list(maps.lossless());
    let FlowControl::Pfc(pfc) = &parts.switch.flow_control else {
        let help = format!("write switch.flow_control = {{ kind = \"pfc\", priorities = {classes:?} }}");
        context.fail(KEY, "QoS maps name the queues that PFC stops, but PFC is off", Some(help));
        return None;
    };
    if pfc.classes != maps.lossless() {
        let message = format!("accounts {classes:?} of the maps are lossless, and PFC has {:?}", list(pfc.classes));
        let help = format!("write priorities = {classes:?}");
        context.fail("switch.flow_control.priorities", message, Some(help));
        return None;
    }
    if parts.switch.overload != Overload::Drop {
        let message = "QoS maps do not cover bounced, detoured or trimmed frames";
        context.fail("switch.overload", message, Some("write overload = \"drop\", or no maps".to_owned()));
        return None;
    }
    if parts.acknowledges() {
        let message = "the maps do not have the class of an acknowledgement";
        context.fail("host.transport", message, Some("write transport = \"datagram\"".to_owned()));
        return None;
    }
    if fabric.nodes().iter().any(|node| node.relay) {
        context.fail(
            KEY,
            "hosts that forward have no QoS maps",
            Some("a fabric whose hosts forward nothing".to_owned()),
        );
        return None;
    }
    warn_of_switches_without_maps(context, fabric, parts, &maps);
    Some(TagRules::of_maps(maps))
}

/// Warns of switches that frames may cross but that have no entry in the QoS maps: at these switches all frames are
/// lossy.
fn warn_of_switches_without_maps(context: &Context<'_>, fabric: &Fabric, parts: &Parts, maps: &QosMaps) {
    let explicit = parts.routing.mode == RoutingMode::Explicit;
    let on_path: BTreeSet<&str> = parts.paths.iter().flat_map(|path| &path.nodes).map(String::as_str).collect();
    let crossed = |node: &NodeId| !explicit || on_path.contains(fabric.name(*node));
    let without = fabric.switches().filter(|node| !maps.treats(*node)).filter(crossed);
    let without: Vec<String> = without.map(|node| format!("`{}`", fabric.name(node))).collect();
    if let Some((first, others)) = without.split_first() {
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let message = format!(
            "{first}{more}: switches without `frames` in the maps; frames have account, queue and class 0 there"
        );
        context.warn(&format!("{KEY}.maps"), message);
    }
}

/// Checks that PFC covers the lossless tags, and that traffic starts with the initial tag of a class.
fn check_classes(context: &Context<'_>, parts: &Parts, table: &RuleTable, lossless: u8) -> Option<()> {
    let tags = &table.lossless_tags;
    let FlowControl::Pfc(pfc) = &parts.switch.flow_control else {
        let help = format!("write switch.flow_control = {{ kind = \"pfc\", priorities = {tags:?} }}");
        context.fail(KEY, "tags select classes of PFC, but PFC is off", Some(help));
        return None;
    };
    if parts.switch.overload != Overload::Drop {
        let message = "tags do not cover bounced, detoured or trimmed frames";
        context.fail("switch.overload", message, Some("write overload = \"drop\", or no tags".to_owned()));
        return None;
    }
    if lossless & !pfc.classes != 0 {
        let message = format!("tags {tags:?} are lossless, but PFC stops only {:?}", list(pfc.classes));
        let help = format!("a frame's class is its tag: write priorities = {tags:?}");
        context.fail("switch.flow_control.priorities", message, Some(help));
        return None;
    }
    if pfc.classes & !lossless != 0 {
        let message =
            format!("classes {:?} are lossless but no tags: they may deadlock", list(pfc.classes & !lossless));
        context.warn("switch.flow_control.priorities", message);
    }
    for (at, entry) in parts.traffic.iter().enumerate() {
        let class = entry.class;
        if lossless & (1 << class) != 0 && table.classes.iter().all(|known| known.first_tag != class) {
            let first: Vec<Tag> = table.classes.iter().map(|class| class.first_tag).collect();
            let message =
                format!("frames of class {class} enter with a tag that no class starts with: those do with {first:?}");
            context.warn(&format!("traffic.{at}.class"), message);
        }
    }
    let lossless_traffic = parts.traffic.iter().any(|entry| lossless & (1 << entry.class) != 0);
    if parts.host.reply_class.is_none() && parts.acknowledges() && lossless_traffic {
        let message = "an acknowledgement would start with the tag that its data arrived with";
        context.fail("host", message, Some(format!("write host.reply_class = {}", tags.first().unwrap_or(&0))));
        return None;
    }
    Some(())
}

/// Warns of switches that do not satisfy the assumptions of Tagger's deadlock-freedom proof.
pub(crate) fn warn(context: &Context<'_>, parts: &Parts, fabric: &Fabric, overrides: &[SwitchOverride]) {
    let Some(plan) = parts.tags.as_ref().filter(|plan| !matches!(plan.rules, Rules::Maps(_))) else { return };
    let links_switches = |link: &fabric::Link| [link.a, link.b].into_iter().all(|end| fabric.node(end.node).forwards());
    if !plan.by_new_tag && fabric.links().iter().any(links_switches) {
        let message = "\"arriving-tag\" lets any loop of links deadlock, with or without rules, and loses lossless \
                       frames: a frame waits in the queue of its old tag, which a pause of its new tag does not hold. \
                       Write egress = \"new-tag\"";
        context.warn(&format!("{KEY}.egress"), message);
    }
    let own = SwitchOverride::resolve(overrides, &parts.switch);
    let is_strict = |node: &NodeId| own.get(node).unwrap_or(&parts.switch).scheduler == Scheduler::Strict;
    if let Some(node) = fabric.switches().find(is_strict) {
        let message = format!(
            "under strict priority other classes can starve class 0 at `{}`: a frame that becomes lossy waits there \
             and is charged to the account of its lossless ingress class, which may stay paused forever. Give class 0 \
             a share, such as scheduler = {{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }}",
            fabric.name(node),
        );
        context.warn("switch.scheduler", message);
    }
}

/// Returns the default names of Tagger's traffic classes: `class 1`, `class 2` and so on.
fn names(classes: u8) -> Vec<String> {
    (1..=classes).map(|class| format!("class {class}")).collect()
}

fn list(classes: u8) -> Vec<u8> {
    (0..8).filter(|class| classes & (1 << class) != 0).collect()
}
