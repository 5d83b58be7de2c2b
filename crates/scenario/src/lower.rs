//! Lowers a checked scenario to the setup of a run.

use crate::agreements;
use crate::backpressure_part;
use crate::bounds::Bounds;
use crate::credits;
use crate::error::{Explained, ScenarioErrors, Warning};
use crate::files::Files;
use crate::headroom_check::LosslessBuffers;
use crate::idle;
use crate::names::near_node;
use crate::overload_part;
use crate::override_part;
use crate::partial_part::FlowControlScope;
use crate::parts::Parts;
use crate::run_part::{NamedFailure, RoutingMode};
use crate::scenario::Scenario;
use crate::section::Context;
use crate::static_routes;
use crate::tags;
use crate::traffic_lower::{self, LoweringContext, host_rate};
use crate::traffic_part::{LoadPlan, TrafficKind, TrafficPlan};
use crate::trim_part;
use crate::validity_warnings;
use crate::{cyclic_part, gates_part, gates_warn, shaping_part};
use fabric::routing::{Failure, Forwarding, Mode, RoutingError};
use fabric::{Fabric, NodeKind};
use model::largest_frame_bytes;
use model::parameters::{Buffer, HostParameters, Overload, PauseReaction, PauseStorm, Reroute, Setup, Timing};
use protocols::port::Hooks;
use protocols::rate_control::SwitchSupport;
use protocols::transport::TransportParameters;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use traffic::{ENDLESS, LengthDistribution, Load, Plan};
use units::{Bytes, Rate, Time};

/// A scenario that can run.
#[derive(Debug)]
pub struct Lowered {
    /// Setup of the run.
    pub setup: Setup,
    /// Name in results.
    pub name: String,
    /// Purpose of the scenario.
    pub description: Option<String>,
    /// SHA-256 of all that results depend on except the seed: written values, default values and contents of files.
    /// Names, descriptions and the number of threads are left out.
    pub hash: String,
    /// Every value with its origin.
    pub explain: Vec<Explained>,
    /// Derived values: largest frame, headroom.
    pub derived: Vec<(String, String)>,
    /// Warnings about valid settings.
    pub warnings: Vec<Warning>,
    /// The fabric in one line.
    pub fabric_text: String,
    /// One line per traffic entry.
    pub traffic_text: Vec<String>,
    /// Names of traffic entries in results, by index; unique.
    pub traffic_names: Vec<String>,
    /// Whether the names are informative: there are several entries, or the scenario labels its entry.
    pub labelled: bool,
    /// Measurement interval: from the first instant up to, but not including, the second.
    pub window: (Time, Time),
    /// Whether the results have a row for every flow.
    pub record_flows: bool,
    /// Whether the run fails unless it deadlocks.
    pub expect_deadlock: bool,
}

impl Lowered {
    /// Returns the names of traffic entries if they are informative; else empty.
    pub fn labels(&self) -> &[String] {
        if self.labelled { &self.traffic_names } else { &[] }
    }
}

/// Returns the largest frame in bytes of all traffic entries: data, acknowledgements and CNPs.
fn mtu_bytes(parts: &Parts) -> u16 {
    let frames = |entry: &TrafficPlan| match &entry.what {
        TrafficKind::Pairs { load: LoadPlan::Frames { frame_bytes, lengths, .. }, .. } => Some(match lengths {
            LengthDistribution::Equal => *frame_bytes,
            LengthDistribution::Normal { longest_bytes, .. } => *longest_bytes,
        }),
        _ => None,
    };
    let of_transports = parts.transports().into_iter().map(|(.., transport)| largest_frame_bytes(transport));
    let largest = parts.traffic.iter().filter_map(frames).chain(of_transports).max();
    // Without traffic, use the largest frame that the transport could send.
    largest.unwrap_or_else(|| largest_frame_bytes(&parts.host.transport)).max(protocols::frame::MIN_FRAME_BYTES)
}

/// Refuses a mix of different receiver-driven transports. A receiver paces its requests at its link rate with one
/// pacer, which counts packets of one transport.
fn check_receiver_driven(context: &Context<'_>, parts: &Parts) {
    let driven: Vec<_> =
        parts.transports().into_iter().filter(|(.., transport)| transport.receiver_driven().is_some()).collect();
    if let Some((key, kind, _)) = driven.iter().find(|(.., transport)| *transport != driven[0].2) {
        let message =
            format!("`{kind}` here and `{}` in `{}` would both pace requests on one link", driven[0].1, driven[0].0);
        let help = "of ndp and eqds, use one in a scenario, with one set of parameters".to_owned();
        context.fail(key, message, Some(help));
    }
}

/// Refuses random payloads together with outputs that number packets by multiples of the payload.
fn check_payload_lengths(context: &Context<'_>, parts: &Parts) {
    let random = |transport: &TransportParameters| match transport {
        TransportParameters::Roce(parameters) => parameters.has_random_payloads(),
        _ => false,
    };
    if let Some(output) = parts.watch.record.packet_numbers()
        && let Some((key, ..)) = parts.transports().iter().find(|(.., transport)| random(transport))
    {
        let message = format!("`{output}` numbers packets of equal payloads, but payloads are random");
        let help = format!("remove `{output}`, or set payload_deviation = \"0B\"");
        context.fail(&format!("{key}.payload_deviation"), message, Some(help));
    }
}

/// Refuses sessions over transports that close the connection after each message.
fn check_sessions(context: &Context<'_>, parts: &Parts) {
    for (at, entry) in parts.traffic.iter().enumerate() {
        let (kind, transport) = match &entry.transport {
            Some((kind, transport)) => (*kind, transport),
            None => (parts.host.transport_kind, &parts.host.transport),
        };
        if matches!(entry.what, TrafficKind::RequestReply { persistent_connection: Some(true), .. })
            && !transport.has_connections()
        {
            let message = format!("`{kind}` has no connections between messages: none can be shared");
            let help = "use tcp or dctcp, or RoCE with a rate control of its own (roce, dcqcn, hpcc, timely, swift, \
                        hetflow, eccp, qcn, dctcp-rate), or remove persistent_connection";
            context.fail(&format!("traffic.{at}.persistent_connection"), message, Some(help.to_owned()));
        }
    }
}

/// Returns the transports of traffic entries that have their own.
fn own_transports(parts: &Parts) -> BTreeMap<u8, TransportParameters> {
    let own = (0..).zip(&parts.traffic).filter_map(|(at, entry)| Some((at, entry.transport.as_ref()?.1.clone())));
    own.collect()
}

/// Resolves the host with the pause-storm fault; warns if no switch obeys its pauses.
fn pause_storm(context: &Context<'_>, reach: FlowControlScope<'_>, parts: &Parts) -> Option<PauseStorm> {
    const KEY: &str = "host.pause_storm.host";
    let fabric = reach.fabric;
    let (name, at, until) = parts.host.pause_storm.clone()?;
    let Some(node) = fabric.find(&name).filter(|&node| fabric.host_index(node).is_some()) else {
        context.fail(KEY, format!("the fabric has no host `{name}`"), near_node(fabric, &name));
        return None;
    };
    if parts.switch.flow_control.pause().is_none() {
        context.warn("host.pause_storm", "no switch listens to pauses: flow control is neither pause nor pfc");
    } else if reach.fabric.ports(node).iter().all(|port| !reach.takes_part(port.peer)) {
        context.warn("host.pause_storm", "the host's switch has no flow control and ignores pauses");
    }
    Some(PauseStorm { node, at, until })
}

fn forwarding(context: &Context<'_>, fabric: &Fabric, parts: &Parts) -> Option<Forwarding> {
    let mode = match parts.routing.mode {
        RoutingMode::Shortest | RoutingMode::Explicit => Mode::ShortestPath,
        RoutingMode::TwoLevel => Mode::TwoLevel,
        RoutingMode::UpDown => match &parts.routing.root {
            None => Mode::UpDown { root: None },
            Some(name) => match fabric.find(name) {
                Some(node) => Mode::UpDown { root: Some(node) },
                None => {
                    context.fail(
                        "routing.root",
                        format!("the fabric has no node `{name}`"),
                        context.help(|| near_node(fabric, name)),
                    );
                    return None;
                }
            },
        },
    };
    match Forwarding::build(fabric, mode) {
        Ok(mut forwarding) => {
            forwarding.seed_hashes(parts.routing.hash_seed.unwrap_or(parts.seed));
            Some(forwarding)
        }
        Err(error) => {
            let key = match error {
                RoutingError::BadRoot { .. } => "routing.root",
                RoutingError::Unreachable { .. } | RoutingError::TooLarge { .. } => "fabric",
                _ => "routing.mode",
            };
            let no_switch = fabric.switches().next().is_none() && key == "fabric";
            let help = "the file has no switch, and hosts do not forward for others unless relay = true of [fabric]";
            context.fail(key, error.to_string(), no_switch.then(|| help.to_owned()));
            None
        }
    }
}

fn failures(context: &Context<'_>, fabric: &Fabric, named: &[NamedFailure]) -> Option<Vec<Failure>> {
    let found = named.iter().enumerate().map(|(at, failure)| {
        let key = format!("fail.{at}.link");
        let ends = failure.ends.each_ref().map(|name| {
            let node = fabric.find(name);
            if node.is_none() {
                context.fail(&key, format!("the fabric has no node `{name}`"), near_node(fabric, name));
            }
            node
        });
        let (a, b) = (ends[0]?, ends[1]?);
        let Some(link) = fabric.link_between(a, b) else {
            let names: Vec<&str> = fabric.ports(a).iter().take(16).map(|port| fabric.name(port.peer)).collect();
            let help = format!("`{}` is linked to {}", fabric.name(a), names.join(", "));
            context.fail(&key, format!("no link joins `{}` and `{}`", fabric.name(a), fabric.name(b)), Some(help));
            return None;
        };
        Some(Failure { link, down_at: failure.at, up_at: failure.until })
    });
    let found: Vec<Option<Failure>> = found.collect();
    found.into_iter().collect()
}

/// Refuses links that are down for the whole run if they leave a host unreachable.
fn check_reachable(context: &Context<'_>, fabric: &Fabric, forwarding: &Forwarding, failures: &[Failure]) {
    let dead = failures.iter().filter(|failure| failure.down_at == Time::ZERO && failure.up_at.is_none());
    let dead: Vec<_> = dead.map(|failure| failure.link).collect();
    if dead.is_empty() {
        return;
    }
    let result = forwarding.recompute_without(fabric, &dead).and_then(|routes| routes.verify(fabric));
    if let Err(error @ RoutingError::Unreachable { .. }) = result {
        let help = "let it fail later, end the failure with `until`, or keep another path".to_owned();
        context.fail("fail", format!("without the links that never work, {error}"), Some(help));
    }
}

fn plural(count: usize, one: &str) -> String {
    let many = if let Some(stem) = one.strip_suffix("ch") { format!("{stem}ches") } else { format!("{one}s") };
    format!("{count} {}", if count == 1 { one } else { &many })
}

fn fabric_text(fabric: &Fabric) -> String {
    let switches = fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch).count();
    let mut rates: BTreeMap<Rate, usize> = BTreeMap::new();
    for link in fabric.links() {
        *rates.entry(link.rate).or_default() += 1;
    }
    let links = rates.iter().rev().map(|(rate, count)| format!("{} of {rate}", plural(*count, "link")));
    let links: Vec<String> = links.collect();
    let hosts = plural(fabric.hosts().len(), "host");
    format!("{}: {hosts}, {}, {}", fabric.kind(), plural(switches, "switch"), links.join(", "))
}

/// Returns one line per traffic entry with its number of flows and bytes.
fn traffic_text(names: &[String], plan: &Plan) -> Vec<String> {
    let mut totals = vec![(0usize, 0u128, false, 0usize); names.len()];
    for flow in &plan.flows {
        let total = &mut totals[usize::from(flow.traffic)];
        total.0 += 1;
        if flow.size_bytes == ENDLESS { total.2 = true } else { total.1 += u128::from(flow.size_bytes) }
    }
    for arrivals in &plan.arrivals {
        totals[usize::from(arrivals.traffic)].3 += 1;
    }
    let line = |(name, (flows, bytes, endless, sources)): (&String, &(usize, u128, bool, usize))| {
        let mut text = format!("{name}:");
        if *flows > 0 || *sources == 0 {
            let _ = write!(text, " {}", plural(*flows, "flow"));
            let bytes = Bytes(u64::try_from(*bytes).unwrap_or(u64::MAX));
            if bytes.get() > 0 {
                let _ = write!(text, ", {bytes:.1}");
            }
            if *endless {
                text.push_str(", endless");
            }
        }
        if *sources > 0 {
            let _ = write!(text, " flows arriving at {}", plural(*sources, "host"));
        }
        text
    };
    names.iter().zip(&totals).map(line).collect()
}

/// Returns the labels of the traffic entries; a label that occurs more than once is extended by the index of the entry.
fn unique_names(entries: &[TrafficPlan]) -> Vec<String> {
    let count = |label: &str| entries.iter().filter(|entry| entry.label == label).count();
    let name = |(at, entry): (usize, &TrafficPlan)| {
        if count(&entry.label) > 1 { format!("{} {at}", entry.label) } else { entry.label.clone() }
    };
    entries.iter().enumerate().map(name).collect()
}

/// Sorts and removes duplicates.
fn sorted(mut hosts: Vec<u32>) -> Vec<u32> {
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

impl Scenario {
    /// Builds only the fabric: routes of a large fabric take more time and memory than the fabric itself.
    ///
    /// # Errors
    /// Fabric parameters out of range, invalid files.
    pub fn fabric(&self) -> Result<Fabric, ScenarioErrors> {
        let files = Files {
            directory: self.directory.clone(),
            load: self.load.as_ref(),
            digests: std::cell::RefCell::default(),
        };
        let context = Context::new(&self.document);
        let fabric = self.parts.fabric.build(&context, &files);
        let (errors, ..) = context.finish();
        fabric.filter(|_| errors.is_empty()).ok_or(ScenarioErrors { errors })
    }

    /// Builds fabric, routes and traffic.
    ///
    /// # Errors
    /// All inconsistencies: names that the fabric does not have, hosts out of range, a buffer smaller than its
    /// headroom, invalid files.
    pub fn lower(&self) -> Result<Lowered, ScenarioErrors> {
        let files = Files {
            directory: self.directory.clone(),
            load: self.load.as_ref(),
            digests: std::cell::RefCell::default(),
        };
        let context = Context::new(&self.document);
        let lowered = self.lower_parts(&context, &files);
        let (errors, _, warnings) = context.finish();
        match lowered {
            Some(mut lowered) if errors.is_empty() => {
                lowered.warnings = self.warnings.iter().cloned().chain(warnings).collect();
                lowered.hash = self.hash(&files.digests.borrow());
                Ok(lowered)
            }
            _ if errors.is_empty() => {
                // A part returned `None` without an error: this is a bug in Tidegate, so lowering must fail.
                let message = "this scenario cannot be lowered".to_owned();
                Err(ScenarioErrors { errors: vec![self.document.error(&self.document.locate(""), "", message, None)] })
            }
            _ => Err(ScenarioErrors { errors }),
        }
    }

    fn lower_parts(&self, context: &Context<'_>, files: &Files<'_>) -> Option<Lowered> {
        let parts = &self.parts;
        let fabric = parts.fabric.build(context, files)?;
        let mtu = mtu_bytes(parts);
        check_receiver_driven(context, parts);
        check_sessions(context, parts);
        check_payload_lengths(context, parts);
        let mut derived = vec![("largest frame".to_owned(), Bytes(mtu.into()).to_string())];
        let control = &parts.switch.flow_control;
        let forwarding = forwarding(context, &fabric, parts);
        let paths = traffic_lower::paths(context, &fabric, &parts.paths);
        let failures = failures(context, &fabric, &parts.failures);
        if let (Some(forwarding), Some(failures)) = (&forwarding, &failures) {
            check_reachable(context, &fabric, forwarding, failures);
            if !failures.is_empty() && parts.routing.reroute == Reroute::None {
                let message = "links fail and nothing reroutes: a switch without another equal port drops";
                context.warn("routing.reroute", message);
            }
        }
        let overrides = override_part::lower(&parts.overrides, context, &fabric);
        let outside = parts.partial.lower(context, &fabric, &mut derived);
        let reach = FlowControlScope { fabric: &fabric, outside: outside.as_deref().unwrap_or_default() };
        let tags = tags::lower(context, &fabric, files, parts);
        let gates = gates_part::lower(&parts.gates, context, &fabric, files, parts.preemption);
        let shaping = shaping_part::lower(&parts.shaping, context, &fabric);
        let cycles = gates
            .as_ref()
            .and_then(|gates| cyclic_part::lower(&parts.cyclic, context, &fabric, gates, &parts.switch.flow_control));
        let switch_clocks = parts.switch_clocks.lower(context, &fabric);
        let (table, known) = paths?;
        let rates = (0..fabric.hosts().len() as u32).map(|host| host_rate(&fabric, host));
        let slowest = rates.clone().min().unwrap_or(Rate::MIN);
        let ground = LoweringContext {
            context,
            fabric: &fabric,
            paths: &known,
            files,
            seed: parts.seed,
            duration: parts.top.duration,
            host_rates: (slowest, rates.max().unwrap_or(Rate::MIN)),
            transport: &parts.host.transport,
        };
        let static_routes = static_routes::lower(&ground, &parts.static_routes);
        let agreements = agreements::lower(&ground, &parts.agreements, control);
        let clocks = parts.host.clocks.lower(|hosts, key| ground.hosts(hosts, key));
        let ignore_pause = ground.hosts(&parts.host.ignore_pause, "host.ignore_pause");
        let plan = ground.lower(&parts.traffic);
        // If traffic could not be lowered, use the classes of its entries, so that other errors do not hide a buffer
        // that is too small.
        let entries = || parts.traffic.iter().fold(0, |used, entry| used | 1 << entry.class);
        let used = plan.as_ref().map_or_else(entries, Plan::classes);
        let used = used | parts.host.reply_class.map_or(0, |class| 1 << class);
        // Tags are classes: frames can have every lossless tag, and class 0 when they become lossy.
        let used = used | tags.as_ref().and_then(|tags| tags.as_ref()).map_or(0, |tags| tags.lossless() | 1);
        override_part::check(context, &parts.switch, &parts.overrides);
        let room =
            LosslessBuffers { reach, switch: &parts.switch, overrides: overrides.as_deref().unwrap_or_default() };
        room.check(context, mtu, used, &mut derived);
        room.check_frame(context, mtu);
        credits::check(context, reach, &parts.switch, mtu, used, &mut derived);
        overload_part::check(context, parts, &fabric, used);
        trim_part::check(context, parts, &fabric, plan.as_ref().map_or_else(entries, Plan::classes), mtu);
        backpressure_part::check(context, parts, reach, mtu, used);
        let plan = plan?;
        if parts.routing.mode == RoutingMode::Explicit {
            let pathless = plan.flows.iter().find(|flow| flow.path.is_none()).map(|flow| flow.traffic);
            if let Some(traffic) = pathless.or(plan.arrivals.first().map(|arrivals| arrivals.traffic)) {
                let help = "write path or paths, or another routing.mode".to_owned();
                context.fail(&format!("traffic.{traffic}"), "explicit routing needs a path for every flow", Some(help));
            }
        }
        if control.lossless() != 0 && control.lossless() & plan.classes() == 0 {
            let message = "no traffic uses a lossless class: frames of every class may be lost";
            context.warn("switch.flow_control.priorities", message);
        }
        let sends = plan.flows.iter().any(|flow| flow.load == Load::Transport) || !plan.arrivals.is_empty();
        let rates = (0..fabric.hosts().len() as u32).map(|host| host_rate(&fabric, host));
        let (slowest, fastest) = (rates.clone().min(), rates.max());
        for (key, kind, transport) in parts.transports().into_iter().filter(|_| sends) {
            if let (Some((parameter, least)), Some(slowest)) = (transport.least_line_rate(), slowest)
                && least > slowest
            {
                let message = format!("{least} is more than the {slowest} of a host's port");
                context.fail(&format!("{key}.{parameter}"), message, Some(format!("write {slowest} or less")));
            }
            if let (Some((parameter, initial)), Some(fastest)) = (transport.needs_lower_start(), fastest)
                && initial >= fastest
            {
                let message = format!("no effect: flows start at {initial}, and no port of a host is faster");
                context.fail(
                    &format!("{key}.{parameter}"),
                    message,
                    Some(format!("write an initial_rate below {fastest}")),
                );
            }
            match transport.needs() {
                SwitchSupport::Marks if !parts.marks() => {
                    context.warn("switch.marking", format!("{kind} reacts to marks, but no switch marks"));
                }
                SwitchSupport::CongestionPoints if !parts.has_congestion_points() => {
                    let message =
                        format!("{kind} reacts to notifications of switches, but none has a congestion point");
                    context.warn("switch.marking", message);
                }
                _ => {}
            }
        }
        let at_transmission = parts.markings().find(|marking| marking.hooks().meet(Hooks::TRANSMIT));
        if let (Some(_), Some(marking)) = (parts.switch.overload.pipelines(), at_transmission) {
            let message = format!("`{}` and pipelines inside a switch are not supported together", marking.kind());
            context.fail("switch.marking", message, Some("write marking = { kind = \"ecn\", ... }".to_owned()));
        }
        if cycles.as_ref().is_some_and(|cycles| !cycles.is_empty()) {
            refuse_cycles(context, parts);
        }
        overload_part::warn(context, parts, &plan);
        validity_warnings::warn(context, parts, &fabric, &plan);
        idle::warn(context, parts, &plan);
        if let Some(forwarding) = &forwarding {
            Bounds { context, parts, fabric: &fabric, forwarding, plan: &plan, mtu_bytes: mtu }.warn();
        }
        tags::warn(context, parts, &fabric, overrides.as_deref().unwrap_or_default());
        let (gates, cycles, preemption) = (gates?, cycles?, parts.preemption);
        let timing = Timing { gates, cycles, shaping: shaping?, preemption, clocks: switch_clocks? };
        shaping_part::warn(context, &timing.shaping, &plan, parts.host.reply_class);
        let gates = cyclic_part::with_gates(&timing.cycles, &timing.gates);
        if let Some(forwarding) = &forwarding {
            let paths = gates_warn::FramePaths { fabric: &fabric, forwarding, paths: &table };
            gates_warn::warn(context, &paths, (&gates, preemption), &plan, mtu);
        }
        let (planned, drawn) = (plan.flows.len() as u64, !plan.arrivals.is_empty());
        let record = parts.watch.record.lower(context, &fabric, planned, drawn);
        parts.watch.record.check_rows(context, &fabric, parts.top.duration, [parts.traffic.len(), plan.flows.len()]);
        if parts.watch.record.every.utilisation.is_some() && matches!(parts.switch.buffer, Buffer::Shared { .. }) {
            let message = "queues of a shared buffer have no capacity: utilisation is undefined";
            context.fail("measure.queue_utilisation", message, Some("write switch.queue = \"500 packets\"".to_owned()));
        }
        let ends = |flow: &traffic::Flow| flow.size_bytes != traffic::ENDLESS;
        if parts.top.ends_with_flows && !drawn && !plan.flows.iter().any(ends) {
            let message = "all flows of this run are endless: none has a size or a number";
            context.fail("until", message, Some("remove it: the run ends with its duration".to_owned()));
        } else if parts.top.ends_with_flows && !plan.arrivals.iter().all(|one| one.ends_before(parts.top.duration)) {
            let message = "flows are generated until the end of the run, so it lasts its full duration: write `stop` \
                           or `flows_per_host` for their traffic";
            context.warn("until", message);
        }
        let traffic_names = unique_names(&parts.traffic);
        let pause_storm = pause_storm(context, reach, parts);
        let host = HostParameters {
            transport: parts.host.transport.clone(),
            transports: own_transports(parts),
            clocks: clocks?,
            reply_class: parts.host.reply_class,
            obeys_pause: parts.host.obeys_pause,
            trim_aware: parts.host.trim_aware,
            pause_storm,
            on_bounce: parts.host.on_bounce,
            stopping: PauseReaction { ignore_pause: sorted(ignore_pause?), halves_rate: parts.host.halves },
            ttl: parts.host.ttl,
            mtu_bytes: mtu,
        };
        Some(Lowered {
            name: self.name(),
            description: parts.top.description.clone(),
            hash: String::new(),
            explain: self.explained.clone(),
            derived,
            warnings: Vec::new(),
            fabric_text: fabric_text(&fabric),
            traffic_text: traffic_text(&traffic_names, &plan),
            traffic_names,
            labelled: parts.traffic.len() > 1 || parts.traffic.iter().any(|entry| entry.labelled),
            window: (parts.watch.warm_up, parts.watch.measure_end.unwrap_or(parts.top.duration)),
            record_flows: parts.watch.record.flows,
            expect_deadlock: parts.watch.expect_deadlock,
            setup: Setup {
                forwarding: forwarding?,
                paths: table,
                static_routes: static_routes?,
                tags: tags?,
                spread: parts.routing.spread,
                failures: failures?,
                reroute: parts.routing.reroute,
                switch: parts.switch,
                overrides: overrides?,
                overload_rule: None,
                pause_rule: None,
                without_flow_control: outside?,
                timing,
                committed_rates: agreements?,
                host,
                traffic: plan,
                notification_delay: parts.host.notification_delay,
                duration: parts.top.duration,
                ends_with_flows: parts.top.ends_with_flows,
                warm_up: parts.watch.warm_up,
                measure_end: parts.watch.measure_end.unwrap_or(parts.top.duration),
                seed: parts.seed,
                threads: parts.top.threads,
                deadlock_every: parts.watch.deadlock_every,
                storm: parts.watch.storm,
                record: record?,
                control_loss: parts.control_loss,
                fabric,
            },
        })
    }
}

/// Refuses cyclic queuing with mechanisms that select a queue by the class of the frame, because frames would leave the
/// queue of their cycle.
fn refuse_cycles(context: &Context<'_>, parts: &Parts) {
    let overload = match parts.switch.overload {
        Overload::Bounce { .. } => Some("bounces"),
        Overload::Detour => Some("detours"),
        Overload::Trim { trim, .. } if trim.watermark.is_some() => Some("trimming above a watermark"),
        Overload::Trim { .. } if parts.switch.overload.pipelines().is_some() => Some("pipelines inside a switch"),
        Overload::Drop | Overload::Trim { .. } => None,
    };
    let control = parts.switch.flow_control.backpressure().map(|_| "flow control decided at outputs");
    for (key, other) in [("switch.overload", overload), ("switch.flow_control", control)] {
        if let Some(other) = other {
            let message = format!("cyclic queuing and {other} are not supported together");
            context.fail(key, message, Some("remove [[cyclic]], or this mechanism".to_owned()));
        }
    }
}
