//! Lowers traffic entries to flows: resolves host names, and converts shares of the link rate to rates.

use crate::error::ScenarioError;
use crate::files::Files;
use crate::names::{HostName, near_node};
use crate::recognise::{KnownFormat, known_format};
use crate::section::Context;
use crate::suggest;
use crate::traffic_part::{
    ArrivalIntensity, LoadPlan, PatternPlan, ProcessPlan, RatePlan, ServersPlan, SizesPlan, TrafficKind, TrafficPlan,
};
use fabric::routing::PathTable;
use fabric::{Fabric, NodeId};
use protocols::transport::TransportParameters;
use std::io::Cursor;
use traffic::{
    ArrivalRate, BuiltIn, Cdf, DatagramSource, Entry, FileError, Load, Operation, Pairs, Pattern, Plan, PlanBuilder,
    Poisson, Process, RequestReply, Servers, Sizes, TrafficError, Workload,
};
use units::{Rate, Time};

/// A `[[path]]` entry that traffic entries may refer to.
pub(crate) struct KnownPath {
    pub name: String,
    pub from: NodeId,
    pub to: NodeId,
}

/// Inputs for lowering traffic entries.
pub(crate) struct LoweringContext<'a, 'd> {
    pub context: &'a Context<'d>,
    pub fabric: &'a Fabric,
    /// Paths by [`fabric::routing::PathId`].
    pub paths: &'a [KnownPath],
    pub files: &'a Files<'a>,
    pub seed: u64,
    pub duration: Time,
    /// Rates of the slowest and the fastest host link.
    pub host_rates: (Rate, Rate),
    /// Transport of entries without their own.
    pub transport: &'a TransportParameters,
}

/// Paths and rates that are assigned to the flows of a traffic entry after the flows have been generated.
#[derive(Default)]
pub(crate) struct FlowOptions {
    /// Path numbers of the entry's flows, one per flow in order; with `one_path`, one number for all flows.
    pub paths: Vec<u32>,
    pub one_path: bool,
    /// Rate of each datagram source, as a share of the link rate of its host.
    pub share: Option<f64>,
}

/// Returns the rate of the first link of a host.
pub(crate) fn host_rate(fabric: &Fabric, host: u32) -> Rate {
    let port = fabric.ports(fabric.host_node(host)).first();
    port.map_or(Rate::MIN, |port| fabric.link(port.link).rate)
}

/// Returns a share of a rate, in integer arithmetic; shares have nine decimals.
fn share_of(rate: Rate, share: f64) -> Rate {
    let parts = nearest(share * 1e9);
    let bps = u128::from(rate.as_bps()) * parts / 1_000_000_000;
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX)).unwrap_or(Rate::MIN)
}

/// Rounds a positive value below 2^50 to the nearest integer.
fn nearest(value: f64) -> u128 {
    (value + 0.5) as u128
}

impl LoweringContext<'_, '_> {
    pub(crate) fn host(&self, host: &HostName, key: &str) -> Option<u32> {
        let hosts = self.fabric.hosts().len() as u64;
        let message = match host {
            HostName::Number(number) if *number < hosts => return Some(*number as u32),
            HostName::Number(number) => {
                let help = format!("there are {hosts} hosts, 0 to {}", hosts.saturating_sub(1));
                self.context.fail(key, format!("host {number} does not exist"), Some(help));
                return None;
            }
            HostName::Range(..) => format!("`{host}` is not one host"),
            HostName::Name(name) => match self.fabric.find(name).map(|node| self.fabric.host_index(node)) {
                Some(Some(index)) => return Some(index),
                Some(None) => format!("`{name}` is a switch, not a host"),
                None => format!("the fabric has no host `{name}`"),
            },
        };
        let known = || self.fabric.hosts().iter().take(10_000).map(|&node| self.fabric.name(node));
        let near = self.context.help(|| suggest::nearest(&host.to_string(), known()));
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let names = || {
            let first = self.fabric.name(self.fabric.host_node(0));
            let last = self.fabric.name(self.fabric.host_node(hosts as u32 - 1));
            Some(format!("hosts are `{first}` to `{last}`, or 0 to {}", hosts - 1))
        };
        self.context.fail(key, message, near.or_else(names));
        None
    }

    pub(crate) fn hosts(&self, names: &[HostName], key: &str) -> Option<Vec<u32>> {
        let mut hosts = Vec::new();
        let mut right = true;
        for (at, name) in names.iter().enumerate() {
            let key = format!("{key}.{at}");
            match name {
                HostName::Range(from, to) => {
                    let count = self.fabric.hosts().len() as u64;
                    if from > to || *to >= count {
                        let help = format!("there are {count} hosts, 0 to {}", count.saturating_sub(1));
                        self.context.fail(&key, format!("`{name}` is not a range of hosts"), Some(help));
                        right = false;
                    } else {
                        hosts.extend(*from as u32..=*to as u32);
                    }
                }
                one => match self.host(one, &key) {
                    Some(host) => hosts.push(host),
                    None => right = false,
                },
            }
        }
        right.then_some(hosts)
    }

    /// Returns the hosts in the entry's `hosts`, or all hosts if the entry has none.
    fn entry_hosts(&self, plan: &TrafficPlan, key: &str) -> Option<Vec<u32>> {
        match &plan.hosts {
            None => Some((0..self.fabric.hosts().len() as u32).collect()),
            Some(names) => self.hosts(names, &format!("{key}.hosts")),
        }
    }

    fn sizes(&self, sizes: &SizesPlan, key: &str) -> Option<Sizes> {
        Some(match sizes {
            SizesPlan::Fixed(bytes) => Sizes::Fixed(*bytes),
            SizesPlan::Uniform(min_bytes, max_bytes) => Sizes::Uniform { min_bytes: *min_bytes, max_bytes: *max_bytes },
            SizesPlan::BuiltIn(name) => Sizes::Empirical(BuiltIn::named(name)?.cdf()),
            SizesPlan::File(file) => {
                let key = format!("{key}.sizes");
                let content = self.files.load(self.context, file, &key)?;
                let path = self.files.shown(file);
                if let Some(known) = known_format(&content).filter(|known| *known != KnownFormat::Sizes) {
                    self.refuse_known(path, &key, known, "a distribution of sizes");
                    return None;
                }
                match Cdf::read(Cursor::new(content), &path) {
                    Ok(cdf) => Sizes::Empirical(cdf.into()),
                    Err(error) => {
                        self.file_error(error, &key);
                        return None;
                    }
                }
            }
        })
    }

    pub(crate) fn file_error(&self, error: FileError, key: &str) {
        let (path, line, message) = match error {
            FileError::Line { file, line, format, problem } => (file, line, format!("{problem} ({format})")),
            FileError::Read { file, source } => (file, 0, source.to_string()),
        };
        let key = key.to_owned();
        self.context.push(ScenarioError { path, line, column: 0, span: 0..0, key, message, help: None });
    }

    pub(crate) fn traffic_error(&self, error: TrafficError, key: &str, fallback: &str) {
        let (key, message) = match error {
            TrafficError::BadParameter { key: parameter, why } => {
                let parameter = if parameter == "source" { "process" } else { parameter };
                (format!("{key}.{parameter}"), format!("{parameter}: {why}"))
            }
            other => (format!("{key}.{fallback}"), other.to_string()),
        };
        self.context.fail(&key, message, None);
    }

    pub(crate) fn path(&self, name: &str, key: &str) -> Option<u32> {
        let found = self.paths.iter().position(|path| path.name == name);
        if found.is_none() {
            let known = || self.paths.iter().take(100).map(|path| path.name.as_str());
            let help = self.context.help(|| suggest::help(name, known()));
            let help = help.or_else(|| Some("write [[path]] with name and nodes".to_owned()));
            self.context.fail(key, format!("`{name}` is not a path"), help);
        }
        found.map(|at| at as u32)
    }

    fn process(&self, process: &ProcessPlan, after: &mut FlowOptions) -> Process {
        let mut rate = |plan: &RatePlan| match plan {
            RatePlan::Rate(rate) => *rate,
            RatePlan::Share(share) => {
                after.share = Some(*share);
                // Check the rate of the slowest host link, where the time per frame is longest. After flow generation,
                // each flow gets the share of the link rate of its own host.
                share_of(self.host_rates.0, *share)
            }
        };
        match process {
            ProcessPlan::Constant(plan) => Process::Constant { rate: rate(plan) },
            ProcessPlan::Poisson(plan) => Process::Poisson { rate: rate(plan) },
            ProcessPlan::OnOff { rate: plan, mean_on, mean_off } => {
                Process::OnOff { rate: rate(plan), mean_on: *mean_on, mean_off: *mean_off }
            }
            ProcessPlan::Bursts { frame_gap, frames_per_burst, pause } => {
                Process::Bursts { frame_gap: *frame_gap, frames_per_burst: *frames_per_burst, pause: *pause }
            }
            ProcessPlan::Periodic { period, phase } => Process::Periodic { period: *period, phase: *phase },
        }
    }

    fn pattern(&self, pattern: &PatternPlan, key: &str, after: &mut FlowOptions) -> Option<Pattern> {
        Some(match pattern {
            PatternPlan::Incast { fan_in, receiver } => {
                let receiver = match receiver {
                    None => None,
                    Some(name) => Some(self.host(name, &format!("{key}.receiver"))?),
                };
                Pattern::Incast { fan_in: *fan_in, receiver }
            }
            PatternPlan::Permutation => Pattern::Permutation,
            PatternPlan::AllToAll => Pattern::AllToAll,
            PatternPlan::Random { pairs } => Pattern::Random { pairs: *pairs },
            PatternPlan::Stride { stride } => Pattern::Stride { stride: *stride },
            PatternPlan::Pairs { pairs, paths } => {
                let paths = paths.iter().flatten().enumerate();
                let found: Vec<_> = paths.map(|(at, name)| self.path(name, &format!("{key}.paths.{at}"))).collect();
                after.paths.extend(found.into_iter().collect::<Option<Vec<u32>>>()?);
                match pairs {
                    None => {
                        let list = after.paths.iter().map(|path| self.ends(*path, key));
                        Pattern::List(list.collect::<Option<Vec<_>>>()?)
                    }
                    Some(pairs) => {
                        let ends = pairs.iter().enumerate().map(|(at, (from, to))| {
                            let (src, dst) = (
                                self.host(from, &format!("{key}.pairs.{at}")),
                                self.host(to, &format!("{key}.pairs.{at}")),
                            );
                            if src.is_some() && src == dst {
                                let message = format!("host `{from}` would send to itself");
                                self.context.fail(&format!("{key}.pairs.{at}"), message, None);
                                return None;
                            }
                            src.zip(dst)
                        });
                        let ends: Vec<Option<(u32, u32)>> = ends.collect();
                        Pattern::List(ends.into_iter().collect::<Option<Vec<_>>>()?)
                    }
                }
            }
        })
    }

    /// Warns of loads above 1: the backlog at the senders grows throughout the run, so that the measurements are not of
    /// a steady state.
    fn warn_of_load(&self, load: f64, key: &str) {
        if load > 1.0 {
            let message = format!(
                "the load is {load} times the rate of a host's link: the backlog at the senders grows as long as they \
                 send. Write shares as 0.6, not 60"
            );
            self.context.warn(&format!("{key}.load"), message);
        }
    }

    /// Returns the source and destination host of a path.
    fn ends(&self, path: u32, key: &str) -> Option<(u32, u32)> {
        let path = &self.paths[path as usize];
        let ends = self.fabric.host_index(path.from).zip(self.fabric.host_index(path.to));
        if ends.is_none_or(|(from, to)| from == to) {
            let message = format!("path `{}` does not lead from one host to another", path.name);
            self.context.fail(&format!("{key}.paths"), message, None);
            return None;
        }
        ends
    }

    fn entry(&self, at: usize, plan: &TrafficPlan, builder: &mut PlanBuilder) -> Option<FlowOptions> {
        let key = format!("traffic.{at}");
        if plan.start >= self.duration && plan.start > Time::ZERO {
            let message = format!("traffic begins at {}, but the run ends at {}", plan.start, self.duration);
            self.context.fail(&format!("{key}.start"), message, None);
            return None;
        }
        let hosts = self.entry_hosts(plan, &key)?;
        let mut after = FlowOptions::default();
        let entry = Entry {
            seed: self.seed,
            traffic: at as u8,
            class: plan.class,
            dst_port: plan.dst_port,
            start: plan.start,
            jitter: plan.jitter,
        };
        let (made, fallback) = match &plan.what {
            TrafficKind::Pairs { pattern, path, load } => {
                if let Some(name) = path {
                    after.paths.push(self.path(name, &format!("{key}.path"))?);
                    after.one_path = true;
                }
                let fallback = match pattern {
                    PatternPlan::Incast { .. } => "fan_in",
                    PatternPlan::Random { .. } => "count",
                    _ => "hosts",
                };
                let pattern = self.pattern(pattern, &key, &mut after)?;
                let workload = match load {
                    LoadPlan::Transfer(sizes) => Workload::Bulk(self.sizes(sizes, &key)?),
                    LoadPlan::Endless => Workload::Endless,
                    LoadPlan::Frames { process, frame_bytes, lengths, size_bytes, stop } => {
                        if let ProcessPlan::Constant(RatePlan::Share(load))
                        | ProcessPlan::Poisson(RatePlan::Share(load)) = process
                        {
                            self.warn_of_load(*load, &key);
                        }
                        let process = self.process(process, &mut after);
                        let source =
                            DatagramSource { process, frame_bytes: *frame_bytes, lengths: *lengths, stop: *stop };
                        Workload::Datagrams { source, size_bytes: *size_bytes }
                    }
                };
                (traffic::pairs(&Pairs { pattern, workload }, &hosts, &entry, builder), fallback)
            }
            TrafficKind::Poisson { how, sizes, destinations, stop, flows } => {
                let destinations = match destinations {
                    None => hosts.clone(),
                    Some(names) => self.hosts(names, &format!("{key}.destinations"))?,
                };
                let sizes = self.sizes(sizes, &key)?;
                if let ArrivalIntensity::Load(load) = how {
                    self.warn_of_load(*load, &key);
                }
                let mut made = if hosts.is_empty() {
                    Err(TrafficError::TooFewHosts { what: "Poisson traffic", needed: 1, hosts: 0 })
                } else {
                    Ok(())
                };
                // Consecutive hosts with equal link rates share the lists of arrivals; the order of hosts is kept.
                for group in hosts.chunk_by(|a, b| host_rate(self.fabric, *a) == host_rate(self.fabric, *b)) {
                    let rate = host_rate(self.fabric, group[0]);
                    let intensity = match how {
                        ArrivalIntensity::Load(load) => ArrivalRate::Load { rate, load: *load },
                        ArrivalIntensity::MeanGap(gap) => ArrivalRate::MeanGap(*gap),
                    };
                    let (sizes, destinations) = (sizes.clone(), Some(destinations.clone()));
                    let poisson = Poisson { intensity, sizes, destinations, stop: *stop, flows_per_host: *flows };
                    made = made.and_then(|()| traffic::poisson(&poisson, group, &entry, builder));
                }
                (made, "hosts")
            }
            TrafficKind::RequestReply {
                client,
                servers,
                request_bytes,
                reply_bytes,
                connections,
                requests,
                think,
                service,
                rounds,
                persistent_connection,
            } => {
                let client = self.host(client, &format!("{key}.client"));
                let servers = match servers {
                    ServersPlan::Random(count) => Some(Servers::Random(*count)),
                    ServersPlan::List(names) => self.hosts(names, &format!("{key}.servers")).map(Servers::List),
                };
                let transport = plan.transport.as_ref().map_or(self.transport, |(_, transport)| transport);
                let request_reply = RequestReply {
                    client: client?,
                    servers: servers?,
                    request_bytes: *request_bytes,
                    reply_bytes: *reply_bytes,
                    connections: *connections,
                    requests: *requests,
                    think: *think,
                    service: *service,
                    rounds: *rounds,
                    persistent_connection: persistent_connection.unwrap_or_else(|| transport.has_connections()),
                };
                (traffic::request_reply(&request_reply, &hosts, &entry, builder), "servers")
            }
            TrafficKind::Collective { what, root } => {
                let mut what = *what;
                if let Some(root) = root {
                    let root = Some(self.host(root, &format!("{key}.root"))?);
                    what.operation = match what.operation {
                        Operation::Reduce { .. } => Operation::Reduce { root },
                        _ => Operation::Broadcast { root },
                    };
                }
                (traffic::collective(&what, &hosts, &entry, builder), "hosts")
            }
            TrafficKind::Replay(replay) => {
                return self.replay(at, plan, replay, builder);
            }
        };
        match made {
            Ok(()) => Some(after),
            Err(error) => {
                self.traffic_error(error, &key, fallback);
                None
            }
        }
    }

    /// Lowers all entries; `None` if any was wrong.
    pub fn lower(&self, plans: &[TrafficPlan]) -> Option<Plan> {
        let mut builder = PlanBuilder::new();
        let afters = plans.iter().enumerate().map(|(at, plan)| self.entry(at, plan, &mut builder));
        let afters: Vec<Option<FlowOptions>> = afters.collect();
        let afters = afters.into_iter().collect::<Option<Vec<FlowOptions>>>()?;
        let mut plan = match builder.build(self.fabric.hosts().len() as u32) {
            Ok(plan) => plan,
            Err(error) => {
                self.context.fail("traffic", error.to_string(), None);
                return None;
            }
        };
        for (at, after) in afters.iter().enumerate() {
            if after.share.is_some_and(|share| share_of(self.host_rates.1, share).as_bps() > 1_000_000_000_000_000) {
                self.context.fail(&format!("traffic.{at}.load"), "frames at more than 1000Tbps", None);
                return None;
            }
        }
        let mut counts = vec![0usize; afters.len()];
        let mut right = true;
        for flow in &mut plan.flows {
            let at = usize::from(flow.traffic);
            let (after, count) = (&afters[at], counts[at]);
            counts[at] += 1;
            let path = if after.one_path { after.paths.first() } else { after.paths.get(count) };
            if let Some(&path) = path {
                let known = &self.paths[path as usize];
                let ends = (self.fabric.host_node(flow.src), self.fabric.host_node(flow.dst));
                if (known.from, known.to) != ends && right {
                    let (from, to) = (self.fabric.name(ends.0), self.fabric.name(ends.1));
                    let (start, end) = (self.fabric.name(known.from), self.fabric.name(known.to));
                    let message =
                        format!("path `{}` is from `{start}` to `{end}`, the flow from `{from}` to `{to}`", known.name);
                    let key = if after.one_path { "path" } else { "paths" };
                    self.context.fail(&format!("traffic.{at}.{key}"), message, None);
                    right = false;
                }
                flow.path = Some(path);
            }
            if let (Some(share), Load::Datagrams(source)) = (after.share, &mut flow.load) {
                let own = share_of(host_rate(self.fabric, flow.src), share);
                match &mut source.process {
                    Process::Constant { rate } | Process::Poisson { rate } | Process::OnOff { rate, .. } => *rate = own,
                    Process::Bursts { .. } | Process::Periodic { .. } => {}
                }
            }
        }
        right.then_some(plan)
    }
}

/// Compiles the `[[path]]` entries to port lists. Errors name the path and the node.
pub(crate) fn paths(
    context: &Context<'_>,
    fabric: &Fabric,
    named: &[crate::run_part::NamedPath],
) -> Option<(PathTable, Vec<KnownPath>)> {
    let (mut table, mut known) = (PathTable::new(), Vec::new());
    let mut right = true;
    for (at, path) in named.iter().enumerate() {
        let key = format!("path.{at}.nodes");
        match table.push_names(fabric, &path.nodes) {
            Ok(_) => {
                let end = |name: Option<&String>| name.and_then(|name| fabric.find(name));
                let (from, to) = end(path.nodes.first()).zip(end(path.nodes.last()))?;
                known.push(KnownPath { name: path.name.clone(), from, to });
            }
            Err(error) => {
                let help = match &error {
                    fabric::routing::RoutingError::UnknownName { name, .. } => context.help(|| near_node(fabric, name)),
                    _ => None,
                };
                context.fail(&key, format!("path `{}`: {error}", path.name), help);
                right = false;
            }
        }
    }
    right.then_some((table, known))
}

/// Returns the numbers that flow files use for the switches of this fabric: see [`traffic::FlowFileOptions::switches`].
pub fn flow_ids_of_switches(fabric: &Fabric) -> Vec<u32> {
    if fabric.numbers_nodes() { fabric.switches().map(|switch| switch.0).collect() } else { Vec::new() }
}
