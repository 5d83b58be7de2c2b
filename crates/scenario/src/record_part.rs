//! `[record]`: output files of a run besides its summary.

use crate::document::Value;
use crate::names::near_node;
use crate::section::{Context, Read, Section, list, show};
use fabric::{Fabric, NodeId, PortIndex};
use model::parameters::{CaptureParameters, RecordParameters, TraceParameters};
use units::Time;

/// `[record]`, with unresolved port names.
#[derive(Clone, Debug)]
pub(crate) struct RecordPart {
    pub every: RecordParameters,
    pub flows: bool,
    trace: Option<TracePlan>,
    captures: Vec<CapturePlan>,
}

#[derive(Clone, Debug)]
struct TracePlan {
    flows: Option<Vec<FlowRange>>,
    ports: Option<Vec<String>>,
    from: Time,
    until: Option<Time>,
}

/// First and last flow number of a range, both included.
type FlowRange = (u64, u64);

#[derive(Clone, Debug)]
struct CapturePlan {
    port: String,
    inbound: bool,
    outbound: bool,
    from: Time,
    until: Option<Time>,
}

/// Maximum number of rows of a series, which is tens of gigabytes.
const MOST_ROWS: u64 = 10_000_000_000;

/// Maximum number of flows in a list of ranges, because the number of each flow is stored.
const MOST_FLOWS: u64 = 1 << 20;

fn flows(value: &Value) -> Read<Vec<FlowRange>> {
    const EXAMPLE: &str = "[0, 7, \"10-19\"]";
    let mut ranges = Vec::new();
    let mut texts = Vec::new();
    for item in list(value, EXAMPLE)? {
        let text = item.value.text().unwrap_or_default();
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let range = match text.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
            None => number(&text).map(|one| (one, one)),
        };
        let Some(range) = range else {
            return Err((
                format!("{} is not a flow", show(&item.value)),
                Some(format!("write numbers like {EXAMPLE}")),
            ));
        };
        ranges.push(range);
        texts.push(text);
    }
    let named = ranges.iter().fold(0u64, |sum, (first, last)| sum.saturating_add((last - first).saturating_add(1)));
    if ranges.is_empty() || named > MOST_FLOWS {
        let help = format!("write 1 to {MOST_FLOWS} flows, or remove `flows` for all");
        return Err((format!("{named} flows are not a valid selection"), Some(help)));
    }
    Ok((ranges, texts.join(" ")))
}

pub(crate) fn ports(value: &Value) -> Read<Vec<String>> {
    const EXAMPLE: &str = "[\"S1:3\", \"H2\"]";
    let items = list(value, EXAMPLE)?.iter().map(|item| crate::section::text(&item.value, "a port"));
    let ports = items.collect::<Result<Vec<String>, _>>()?;
    if ports.is_empty() {
        return Err(("no port is chosen".to_owned(), Some(format!("write ports like {EXAMPLE}, or remove it"))));
    }
    Ok((ports.clone(), ports.join(" ")))
}

/// Reads `from` and `until`; refuses an empty interval.
fn span(section: &Section<'_, '_>) -> (Time, Option<Time>) {
    let (from, until) = (section.time("from").unwrap_or_default(), section.time("until"));
    if let Some(until) = until.filter(|&until| until <= from) {
        let message = format!("nothing lies between {from} and {until}");
        section.fail("until", message, Some(format!("write a time above {from}, or remove `until`")));
    }
    (from, until)
}

fn trace(record: &Section<'_, '_>) -> Option<TracePlan> {
    if !record.has("trace") {
        record.read("trace", |_| Ok(((), String::new())));
        return None;
    }
    let section = record.table("trace", "record.trace", false);
    let (flows, ports) = (section.read("flows", flows), section.read("ports", ports));
    let (from, until) = span(&section);
    section.finish();
    Some(TracePlan { flows, ports, from, until })
}

fn captures(record: &Section<'_, '_>) -> Vec<CapturePlan> {
    if !record.has("capture") {
        record.read("capture", |_| Ok(((), String::new())));
        return Vec::new();
    }
    let captures = record.tables("capture", "record.capture").into_iter().filter_map(|section| {
        let port = section.text("port");
        let direction = section.word("direction", &["in", "out", "both"]);
        let (from, until) = span(&section);
        section.finish();
        let direction = direction?;
        let (inbound, outbound) = (direction != "out", direction != "in");
        Some(CapturePlan { port: port?, inbound, outbound, from, until })
    });
    captures.collect()
}

/// Reads `[record]`.
pub(crate) fn read(root: &Section<'_, '_>) -> Option<RecordPart> {
    let record = root.table("record", "record", false);
    let (queues_every, links_every) = (record.every("queues"), record.every("links"));
    let (throughput_every, control_every) = (record.every("throughput"), record.every("control"));
    let (pauses, flows) = (record.flag("pauses"), record.flag("flows"));
    let (trace, captures) = (trace(&record), captures(&record));
    record.finish();
    let every = RecordParameters {
        queues_every,
        links_every,
        throughput_every,
        control_every,
        pauses: pauses?,
        ..RecordParameters::default()
    };
    Some(RecordPart { every, flows: flows?, trace, captures })
}

impl RecordPart {
    /// Refuses sampling intervals at which a series would exceed [`MOST_ROWS`] in `duration`. The last parameter has
    /// the number of traffic entries and the number of planned flows.
    pub fn check_rows(&self, context: &Context<'_>, fabric: &Fabric, duration: Time, [entries, flows]: [usize; 2]) {
        let ports = |nodes: &mut dyn Iterator<Item = NodeId>| nodes.map(|node| fabric.ports(node).len()).sum::<usize>();
        let every = &self.every;
        for (key, every, what, count) in [
            ("record.queues", every.queues_every, "switch ports", ports(&mut fabric.switches())),
            ("record.links", every.links_every, "ports", ports(&mut fabric.node_ids())),
            ("record.throughput", every.throughput_every, "traffic entries", entries),
            ("record.control", every.control_every, "flows", flows),
        ] {
            let Some(every) = every else { continue };
            let (samples, count) = (duration / every, count.max(1) as u64);
            if samples.saturating_mul(count) > MOST_ROWS {
                let least = Time::from_ps(duration.as_ps().div_ceil((MOST_ROWS / count).max(1)));
                let message =
                    format!("{samples} samples of {count} {what} make up to {} rows", samples.saturating_mul(count));
                let help = format!("the limit of a series is {MOST_ROWS} rows: sample every {least} or less often");
                context.fail(key, message, Some(help));
            }
        }
    }

    /// Returns the key of the first output that computes packet numbers from byte offsets, if any.
    pub fn packet_numbers(&self) -> Option<&'static str> {
        match (self.captures.is_empty(), self.every.reordering) {
            (false, _) => Some("record.capture"),
            (true, Some(_)) => Some("measure.reordering"),
            (true, None) => None,
        }
    }

    /// Resolves port names. `flows` is the number of planned flows; `drawn` is `true` if further flows arrive at
    /// random.
    pub fn lower(&self, context: &Context<'_>, fabric: &Fabric, flows: u64, drawn: bool) -> Option<RecordParameters> {
        let trace = self.trace.as_ref().map(|trace| trace.lower(context, fabric, flows, drawn));
        let captures: Vec<Option<CaptureParameters>> =
            self.captures.iter().enumerate().map(|(at, capture)| capture.lower(context, fabric, at)).collect();
        let captures: Option<Vec<CaptureParameters>> = captures.into_iter().collect();
        if let Some(captures) = &captures {
            for (at, capture) in captures.iter().enumerate() {
                if captures[..at].iter().any(|other| (other.node, other.port) == (capture.node, capture.port)) {
                    let name = &self.captures[at].port;
                    let help = "name each port once; direction = \"both\" is the default".to_owned();
                    context.fail(&format!("record.capture.{at}.port"), format!("{name} is captured twice"), Some(help));
                }
            }
        }
        let trace = match trace {
            Some(trace) => Some(trace?),
            None => None,
        };
        Some(RecordParameters { trace, capture: captures?, ..self.every.clone() })
    }
}

impl TracePlan {
    fn lower(&self, context: &Context<'_>, fabric: &Fabric, planned: u64, drawn: bool) -> Option<TraceParameters> {
        let mut right = true;
        let mut flows = Vec::new();
        for (at, &(first, last)) in self.flows.iter().flatten().enumerate() {
            if last >= planned && !drawn {
                let help = match planned {
                    0 => "no flow is planned".to_owned(),
                    _ => format!("there are {planned} flows, 0 to {}", planned - 1),
                };
                context.fail(&format!("record.trace.flows.{at}"), format!("flow {last} does not exist"), Some(help));
                right = false;
            }
            flows.extend(first..=last);
        }
        let mut ports = Vec::new();
        for (at, name) in self.ports.iter().flatten().enumerate() {
            match find_port(fabric, name) {
                Ok((node, Some(port))) => ports.push((node, port)),
                Ok((node, None)) => ports.extend((0..fabric.ports(node).len() as PortIndex).map(|port| (node, port))),
                Err((message, help)) => {
                    context.fail(&format!("record.trace.ports.{at}"), message, help);
                    right = false;
                }
            }
        }
        let until = self.until.unwrap_or(Time::MAX);
        right.then_some(TraceParameters { flows, ports, from: self.from, until })
    }
}

impl CapturePlan {
    fn lower(&self, context: &Context<'_>, fabric: &Fabric, at: usize) -> Option<CaptureParameters> {
        let wrong = |(message, help): (String, Option<String>)| {
            context.fail(&format!("record.capture.{at}.port"), message, help);
        };
        let (node, port) = match find_port(fabric, &self.port) {
            Ok((node, Some(port))) => (node, port),
            Ok((node, None)) if fabric.ports(node).len() == 1 => (node, 0),
            Ok((node, None)) => {
                wrong((format!("`{}` has several ports", self.port), port_help(fabric, node)));
                return None;
            }
            Err(error) => {
                wrong(error);
                return None;
            }
        };
        let CapturePlan { inbound, outbound, from, until, .. } = *self;
        Some(CaptureParameters { node, port, inbound, outbound, from, until: until.unwrap_or(Time::MAX) })
    }
}

fn port_help(fabric: &Fabric, node: NodeId) -> Option<String> {
    let (name, ports) = (fabric.name(node), fabric.ports(node));
    let peers: Vec<String> = ports
        .iter()
        .take(8)
        .enumerate()
        .map(|(at, port)| format!("{name}:{at} to {}", fabric.name(port.peer)))
        .collect();
    let more = if ports.len() > 8 { ", ..." } else { "" };
    Some(format!("its ports are {}{more}", peers.join(", ")))
}

/// Finds a port: `S1:3` is port 3 of S1, `S1:H2` the port of S1 towards H2, `S1` all ports of S1.
pub(crate) fn find_port(fabric: &Fabric, name: &str) -> Result<(NodeId, Option<PortIndex>), (String, Option<String>)> {
    if let Some(node) = fabric.find(name) {
        return Ok((node, None));
    }
    let (node_name, port_name) = name.rsplit_once(':').unwrap_or((name, ""));
    let Some(node) = fabric.find(node_name) else {
        return Err((format!("the fabric has no node `{node_name}`"), near_node(fabric, node_name)));
    };
    let by_number = port_name.parse::<PortIndex>().ok().filter(|&port| usize::from(port) < fabric.ports(node).len());
    let by_peer = || fabric.find(port_name).and_then(|peer| fabric.port_towards(node, peer));
    match by_number.or_else(by_peer) {
        Some(port) => Ok((node, Some(port))),
        None => Err((format!("`{node_name}` has no port `{port_name}`"), port_help(fabric, node))),
    }
}
