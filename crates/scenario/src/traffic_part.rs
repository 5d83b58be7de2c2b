//! `[[traffic]]` as written; [`crate::traffic_lower`] turns it into flows.

use crate::collective_part;
use crate::document::{Item, Value};
use crate::names::{HostName, host, hosts_list};
use crate::replay::{self, ReplayPlan};
use crate::run_part;
use crate::section::{Read, Section, Wrong, list, positive, quantity, share, show, text, whole};
use protocols::transport::TransportParameters;
use traffic::{BuiltIn, Collective, LengthDistribution, Rounds, Service};
use units::{Bytes, Rate, Time};

/// Maximum number of entries: a flow stores the index of its entry in 8 bits.
const MAX_ENTRIES: usize = 256;

/// One `[[traffic]]` entry as written.
#[derive(Clone, Debug)]
pub(crate) struct TrafficPlan {
    pub label: String,
    /// `true` if the scenario gives the label.
    pub labelled: bool,
    pub class: u8,
    pub dst_port: u16,
    pub start: Time,
    pub jitter: Time,
    pub hosts: Option<Vec<HostName>>,
    /// Transport of the entry with its name, if it differs from the host transport.
    pub transport: Option<(&'static str, TransportParameters)>,
    pub what: TrafficKind,
}

impl TrafficPlan {
    /// Returns `true` for datagram sources, which send frames without a transport.
    pub fn makes_frames(&self) -> bool {
        matches!(self.what, TrafficKind::Pairs { load: LoadPlan::Frames { .. }, .. })
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TrafficKind {
    Pairs {
        pattern: PatternPlan,
        path: Option<String>,
        load: LoadPlan,
    },
    Poisson {
        how: ArrivalIntensity,
        sizes: SizesPlan,
        destinations: Option<Vec<HostName>>,
        stop: Option<Time>,
        flows: Option<u64>,
    },
    RequestReply {
        client: HostName,
        servers: ServersPlan,
        request_bytes: u64,
        reply_bytes: u64,
        connections: u32,
        requests: u32,
        think: Time,
        service: Service,
        rounds: Rounds,
        /// `None` if absent: then connections persist if the transport has connections.
        persistent_connection: Option<bool>,
    },
    Collective {
        what: Collective,
        /// Root host of a broadcast or a reduce.
        root: Option<HostName>,
    },
    Replay(ReplayPlan),
}

impl TrafficKind {
    /// Returns the default label of an entry if it is more specific than the entry's `kind`.
    fn own_name(&self) -> Option<&'static str> {
        match self {
            TrafficKind::Collective { what, .. } => Some(what.operation.name()),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum PatternPlan {
    Incast { fan_in: u32, receiver: Option<HostName> },
    Permutation,
    AllToAll,
    Random { pairs: u32 },
    Stride { stride: u32 },
    Pairs { pairs: Option<Vec<(HostName, HostName)>>, paths: Option<Vec<String>> },
}

#[derive(Clone, Debug)]
pub(crate) enum LoadPlan {
    Transfer(SizesPlan),
    Endless,
    Frames {
        process: ProcessPlan,
        frame_bytes: u16,
        lengths: LengthDistribution,
        size_bytes: Option<u64>,
        stop: Option<Time>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ProcessPlan {
    Constant(RatePlan),
    Poisson(RatePlan),
    OnOff { rate: RatePlan, mean_on: Time, mean_off: Time },
    Bursts { frame_gap: Time, frames_per_burst: u32, pause: Time },
    Periodic { period: Time, phase: Option<Time> },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RatePlan {
    Rate(Rate),
    /// Share of the sending host's link rate.
    Share(f64),
}

#[derive(Clone, Debug)]
pub(crate) enum ArrivalIntensity {
    Load(f64),
    MeanGap(Time),
}

#[derive(Clone, Debug)]
pub(crate) enum SizesPlan {
    Fixed(u64),
    Uniform(u64, u64),
    BuiltIn(&'static str),
    File(String),
}

#[derive(Clone, Debug)]
pub(crate) enum ServersPlan {
    List(Vec<HostName>),
    Random(u32),
}

const KINDS: [&str; 10] = [
    "incast",
    "permutation",
    "all-to-all",
    "random",
    "stride",
    "pairs",
    "poisson",
    "request-reply",
    "collective",
    "replay",
];

/// Reads every entry; the element of an invalid entry is `None`.
pub(crate) fn read(root: &Section<'_, '_>) -> Vec<Option<TrafficPlan>> {
    let sections = root.tables("traffic", "traffic");
    let listed = |entry: &Item| !matches!(&entry.value, Value::Array(items) if items.is_empty());
    if !root.entries().any(|(key, entry, _)| key == "traffic" && listed(entry)) {
        let help = "write [[traffic]] with kind = \"permutation\" and size = \"1MB\"".to_owned();
        root.context.fail("", "[[traffic]] is missing: no frame would be sent", Some(help));
    }
    if let Some(section) = sections.get(MAX_ENTRIES) {
        section.fail("", format!("more than {MAX_ENTRIES} traffic entries"), None);
        return Vec::new();
    }
    sections.iter().map(entry).collect()
}

fn entry(section: &Section<'_, '_>) -> Option<TrafficPlan> {
    let kind = section.kind("kind of traffic", &KINDS);
    let plan = kind.and_then(|kind| known_entry(section, kind));
    section.finish();
    plan
}

fn known_entry(section: &Section<'_, '_>, kind: &'static str) -> Option<TrafficPlan> {
    let label = section.text("label");
    let dst_port = section.whole("dst_port", 0..=65_535);
    let replay = kind == "replay";
    let class = section.class("class");
    let (mut start, mut jitter, mut hosts) = (Some(Time::ZERO), Some(Time::ZERO), None);
    if !replay {
        (start, jitter) = (section.time("start"), section.time("jitter"));
        hosts = if kind == "pairs" { None } else { section.read("hosts", hosts_list) };
    }
    let transport = transport(section);
    let what = match kind {
        "poisson" => poisson(section),
        "request-reply" => request_reply(section),
        "collective" => collective_part::read(section).map(|(what, root)| TrafficKind::Collective { what, root }),
        "replay" => replay::read(section).map(TrafficKind::Replay),
        _ => pairs(section, kind),
    };
    Some(TrafficPlan {
        labelled: label.is_some(),
        label: label.unwrap_or_else(|| what.as_ref().and_then(TrafficKind::own_name).unwrap_or(kind).to_owned()),
        class: class?,
        dst_port: dst_port? as u16,
        start: start?,
        jitter: jitter?,
        hosts,
        transport: transport?,
        what: what?,
    })
}

/// Reads the entry's own transport: `Some(None)` if the entry has none, `None` after an error.
fn transport(section: &Section<'_, '_>) -> Option<Option<(&'static str, TransportParameters)>> {
    if !section.has("transport") {
        _ = section.table("transport", "host.transport", true);
        return Some(None);
    }
    let transport = run_part::transport(section).map(Some);
    if section.has("process") {
        let message = "an entry with a `process` sends frames of its own, which no transport carries";
        section.fail("transport", message, Some("remove transport or process".to_owned()));
    }
    transport
}

fn pairs(section: &Section<'_, '_>, kind: &'static str) -> Option<TrafficKind> {
    let pattern = match kind {
        "incast" => {
            let (fan_in, receiver) = (section.whole("fan_in", 1..=u64::from(u32::MAX)), section.read("receiver", host));
            fan_in.map(|fan_in| PatternPlan::Incast { fan_in: fan_in as u32, receiver })
        }
        "permutation" => Some(PatternPlan::Permutation),
        "all-to-all" => Some(PatternPlan::AllToAll),
        "random" => section.count("count").map(|pairs| PatternPlan::Random { pairs }),
        "stride" => section.count("stride").map(|stride| PatternPlan::Stride { stride }),
        _ => listed(section),
    };
    // A [[path]] has one source and one destination host, so `path` is allowed only for the kinds of traffic that can
    // have a single pair of hosts.
    let path = if matches!(kind, "incast" | "random" | "pairs") { section.text("path") } else { None };
    if path.is_some() && section.has("paths") {
        section.fail("path", "`path` and `paths` exclude each other", None);
    }
    let load = load(section);
    Some(TrafficKind::Pairs { pattern: pattern?, path, load: load? })
}

fn listed(section: &Section<'_, '_>) -> Option<PatternPlan> {
    let pairs = section.read("pairs", |value| {
        let pair = |item: &Item| match list(&item.value, "[[\"H1\", \"H2\"]]")? {
            [from, to] => Ok((host(&from.value)?.0, host(&to.value)?.0)),
            _ => Err(("a pair has a source and a destination".to_owned(), Some("write [[\"H1\", \"H2\"]]".to_owned()))),
        };
        let pairs = list(value, "[[\"H1\", \"H2\"]]")?.iter().map(pair).collect::<Result<Vec<_>, Wrong>>()?;
        let text = pairs.iter().map(|(from, to)| format!("{from}>{to}")).collect::<Vec<_>>().join(" ");
        Ok((pairs, text))
    });
    let paths = path_names(section);
    // If any of these keys is written, its value is invalid and the error is already reported.
    if !section.has("pairs") && !section.has("paths") && !section.has("path") {
        let help = "write pairs = [[\"H1\", \"H2\"]], or paths = [...] with names of [[path]] entries".to_owned();
        section.fail("", format!("`{}` needs `pairs` or `paths`", section.name), Some(help));
        return None;
    }
    if (section.has("pairs") && pairs.is_none()) || (section.has("paths") && paths.is_none()) {
        return None;
    }
    if let (Some(pairs), Some(paths)) = (&pairs, &paths)
        && pairs.len() != paths.len()
    {
        section.fail("paths", format!("{} paths for {} pairs", paths.len(), pairs.len()), Some("one each".to_owned()));
        return None;
    }
    Some(PatternPlan::Pairs { pairs, paths })
}

fn load(section: &Section<'_, '_>) -> Option<LoadPlan> {
    let process = section.word("process", &["constant", "poisson", "on-off", "bursts", "periodic"]);
    if process.is_none() && section.has("process") {
        // The variant of the table is undetermined: errors about keys of a transfer would mislead.
        section.undecide();
        return None;
    }
    let Some(process) = process else {
        section.tag("transfer");
        let size = section.read("size", |value| match value.text().as_deref() {
            Some("endless") => Ok((None, "endless".to_owned())),
            _ => quantity::<Bytes>(value, "a size").map(|(bytes, text)| (Some(bytes.get()), text)),
        });
        let sizes = section.read("sizes", sizes);
        return match (size, sizes) {
            (Some(_), Some(_)) => {
                section.fail("sizes", "`size` and `sizes` exclude each other", None);
                None
            }
            (Some(None), None) => Some(LoadPlan::Endless),
            (Some(Some(bytes)), None) => Some(LoadPlan::Transfer(SizesPlan::Fixed(bytes))),
            (None, Some(sizes)) => Some(LoadPlan::Transfer(sizes)),
            (None, None) => {
                if !section.has("size") && !section.has("sizes") {
                    let help = "write size = \"1MB\", sizes = \"web-search\", or process = \"poisson\" for frames \
                        without a transport";
                    section.fail("", format!("`{}` has no size", section.name), Some(help.to_owned()));
                }
                None
            }
        };
    };
    section.tag(match process {
        "constant" => "constant frames",
        "poisson" => "poisson frames",
        "on-off" => "on-off frames",
        "periodic" => "periodic frames",
        _ => "bursts of frames",
    });
    if process == "periodic" {
        return periodic(section);
    }
    let frame_bytes = section.read("frame", frame_length);
    let lengths = lengths(section, frame_bytes);
    let (size_bytes, stop) = (section.size("size"), section.time("stop"));
    let rate = if process == "bursts" { None } else { rate_plan(section) };
    let process = match process {
        "constant" => rate.map(ProcessPlan::Constant),
        "poisson" => rate.map(ProcessPlan::Poisson),
        "on-off" => {
            let (on, off) = (section.read("mean_on", positive), section.time("mean_off"));
            rate.zip(on).zip(off).map(|((rate, mean_on), mean_off)| ProcessPlan::OnOff { rate, mean_on, mean_off })
        }
        _ => {
            let (gap, pause) = (section.time("frame_gap"), section.time("pause"));
            let frames = section.whole("frames_per_burst", 1..=u64::from(u32::MAX));
            gap.zip(pause).zip(frames).map(|((frame_gap, pause), frames)| ProcessPlan::Bursts {
                frame_gap,
                frames_per_burst: frames as u32,
                pause,
            })
        }
    };
    Some(LoadPlan::Frames { process: process?, frame_bytes: frame_bytes?, lengths: lengths?, size_bytes, stop })
}

fn frame_length(value: &Value) -> Read<u16> {
    let (Bytes(bytes), text) = quantity::<Bytes>(value, "a size")?;
    match u16::try_from(bytes) {
        Ok(frame) if frame >= protocols::frame::MIN_FRAME_BYTES => Ok((frame, text)),
        _ => Err((format!("`{text}` is not a frame length"), Some("write 64B to 65535B".to_owned()))),
    }
}

/// Reads the distribution of frame lengths around `frame_bytes`.
fn lengths(section: &Section<'_, '_>, frame_bytes: Option<u16>) -> Option<LengthDistribution> {
    let deviation = section.read("frame_deviation", |value| {
        let (Bytes(bytes), text) = quantity::<Bytes>(value, "a size")?;
        u16::try_from(bytes)
            .map(|bytes| (bytes, text.clone()))
            .map_err(|_| (format!("`{text}` is more than any frame"), Some("write 0B to 65535B".to_owned())))
    });
    let longest = section.read("frame_max", frame_length);
    if section.has("frame_max") && longest.is_none() {
        return None;
    }
    let (deviation_bytes, mean) = (deviation?, frame_bytes?);
    section.refuse_idle("frame_max", deviation_bytes > 0, "a frame_deviation");
    // Default of `frame_max`: at least as far above the mean as the minimum frame length is below the mean, and at
    // least 1518 B.
    let least = protocols::frame::MIN_FRAME_BYTES;
    let longest_bytes = longest.unwrap_or(mean.saturating_add(mean.saturating_sub(least)).max(1518));
    if longest_bytes < mean {
        let message = format!("`frame_max` = {longest_bytes}B is below the mean `frame` = {mean}B");
        section.fail("frame_max", message, Some(format!("write {mean}B or more")));
        return None;
    }
    if deviation_bytes > 0 && (longest_bytes == mean || mean == least) {
        let message = format!(
            "lengths cannot vary by {deviation_bytes}B around a mean of {mean}B between {least}B and {longest_bytes}B"
        );
        let key = if mean == least { "frame" } else { "frame_max" };
        section.fail(key, message, Some("the mean must lie between 64B and the longest frame".to_owned()));
        return None;
    }
    Some(if deviation_bytes == 0 {
        LengthDistribution::Equal
    } else {
        LengthDistribution::Normal { deviation_bytes, longest_bytes }
    })
}

/// Reads a source that sends one frame per period. The frame has a fixed length, or carries the bytes that a stream of
/// a fixed rate generates per period.
fn periodic(section: &Section<'_, '_>) -> Option<LoadPlan> {
    let (period, phase) = (section.read("period", positive), section.time("phase"));
    let frame = section.read("frame", frame_length);
    let (rate, header) = (section.rate("rate"), section.size("header"));
    let (size_bytes, stop) = (section.size("size"), section.time("stop"));
    let of_rate = rate.zip(header).zip(period).map(|((rate, header), period)| {
        let bits_ps = u128::from(rate.as_bps()) * u128::from(period.as_ps());
        let payload = bits_ps.div_ceil(8_000_000_000_000);
        let bytes = (payload + u128::from(header)).max(protocols::frame::MIN_FRAME_BYTES.into());
        u16::try_from(bytes).map_err(|_| bytes)
    });
    let of_rate = match of_rate {
        Some(Err(bytes)) => {
            let message = format!("a period yields a frame of {bytes} bytes; the maximum is 65535");
            section.fail("rate", message, Some("shorten the period, or lower the rate".to_owned()));
            return None;
        }
        Some(Ok(bytes)) => Some(bytes),
        None => None,
    };
    section.refuse_idle("header", section.has("rate"), "rate, of which a frame is made");
    let frame_bytes = one_of(section, [("frame", frame), ("rate", of_rate)]);
    let process = ProcessPlan::Periodic { period: period?, phase };
    Some(LoadPlan::Frames { process, frame_bytes: frame_bytes?, lengths: LengthDistribution::Equal, size_bytes, stop })
}

fn rate_plan(section: &Section<'_, '_>) -> Option<RatePlan> {
    let load = section.read("load", |value| {
        let (load, text) = share(value, 1000.0)?;
        if load < 1e-9 {
            return Err((format!("`{text}` sends nothing"), Some("write a share like 0.8".to_owned())));
        }
        Ok((load, text))
    });
    let rate = section.rate("rate");
    one_of(section, [("load", load.map(RatePlan::Share)), ("rate", rate.map(RatePlan::Rate))])
}

/// Reads exactly one of two keys: reports an error if both or neither are written.
fn one_of<T>(section: &Section<'_, '_>, keys: [(&'static str, Option<T>); 2]) -> Option<T> {
    let [(first, a), (second, b)] = keys;
    match (section.has(first), section.has(second)) {
        (true, true) => {
            section.fail(second, format!("`{first}` and `{second}` exclude each other"), None);
            None
        }
        (false, false) => {
            section.fail("", format!("`{}` needs `{first}` or `{second}`", section.name), None);
            None
        }
        _ => a.or(b),
    }
}

fn sizes(value: &Value) -> Read<SizesPlan> {
    let help = || {
        let known = traffic::BUILT_IN.map(|built_in| built_in.name).join(", ");
        Some(format!("write {known}, a size, {{ file = \"...\" }} or {{ uniform = [\"1KB\", \"1MB\"] }}"))
    };
    let size = |value: &Value| quantity::<Bytes>(value, "a size").map(|(bytes, _)| bytes.get());
    match value {
        Value::Text(name) => match BuiltIn::named(name) {
            Some(built_in) => Ok((SizesPlan::BuiltIn(built_in.name), name.clone())),
            None if name.starts_with(|c: char| c.is_ascii_digit()) => {
                let bytes = size(value)?;
                Ok((SizesPlan::Fixed(bytes), Bytes(bytes).to_string()))
            }
            None => {
                let known = traffic::BUILT_IN.map(|built_in| built_in.name);
                let near = crate::suggest::nearest(name, known).map(|near| format!("did you mean `{near}`?"));
                Err((format!("`{name}` is not a distribution of sizes"), near.or_else(help)))
            }
        },
        Value::Table(table) => match &table.entries[..] {
            [entry] if entry.key == "file" => {
                let file = text(&entry.item.value, "the name of a file")?;
                Ok((SizesPlan::File(file.clone()), file))
            }
            [entry] if entry.key == "uniform" => match list(&entry.item.value, "[\"1KB\", \"1MB\"]")? {
                [least, most] => {
                    let (least, most) = (size(&least.value)?, size(&most.value)?);
                    Ok((SizesPlan::Uniform(least, most), format!("{} to {}", Bytes(least), Bytes(most))))
                }
                _ => Err(("uniform sizes have a least and a largest".to_owned(), help())),
            },
            _ => Err(("a table of sizes has one key: file or uniform".to_owned(), help())),
        },
        other => Err((format!("{} is not a distribution of sizes", show(other)), help())),
    }
}

fn poisson(section: &Section<'_, '_>) -> Option<TrafficKind> {
    let load = section.read("load", |value| share(value, 1000.0));
    let gap = section.read("mean_gap", positive);
    let how =
        one_of(section, [("load", load.map(ArrivalIntensity::Load)), ("mean_gap", gap.map(ArrivalIntensity::MeanGap))]);
    let (sizes, destinations) = (section.read("sizes", sizes), section.read("destinations", hosts_list));
    let (stop, flows) = (section.time("stop"), section.whole("flows_per_host", 1..=u64::MAX));
    if section.has("destinations") && destinations.is_none() {
        return None;
    }
    Some(TrafficKind::Poisson { how: how?, sizes: sizes?, destinations, stop, flows })
}

fn request_reply(section: &Section<'_, '_>) -> Option<TrafficKind> {
    let client = section.read("client", host);
    let servers = section.read("servers", |value| match value {
        Value::Integer(_) => {
            whole(value, 1..=u64::from(u32::MAX)).map(|(count, text)| (ServersPlan::Random(count as u32), text))
        }
        _ => hosts_list(value).map(|(hosts, text)| (ServersPlan::List(hosts), text)),
    });
    let (request, reply) = (section.size("request_size"), section.size("reply_size"));
    let requests = section.whole("requests", 1..=u64::from(u32::MAX));
    let connections = section.count("connections");
    let (think, service) = (section.time("think_time"), section.read("service_time", service));
    let rounds = section.word("rounds", &["independent", "barrier"]);
    let written = section.flag("persistent_connection");
    let persistent_connection = if section.has("persistent_connection") { written.map(Some) } else { Some(None) };
    section.warn_idle("think_time", requests != Some(1), "more than one of requests");
    section.warn_idle("rounds", requests != Some(1), "more than one of requests");
    let drawn = !matches!(servers, Some(ServersPlan::List(_)));
    section.refuse_idle("hosts", drawn, "servers = a number");
    Some(TrafficKind::RequestReply {
        client: client?,
        servers: servers?,
        request_bytes: request?,
        reply_bytes: reply?,
        connections: connections?,
        requests: requests? as u32,
        think: think?,
        service: service?,
        rounds: if rounds? == "barrier" { Rounds::Barrier } else { Rounds::Independent },
        persistent_connection: persistent_connection?,
    })
}

fn service(value: &Value) -> Read<Service> {
    let Value::Table(table) = value else {
        return quantity::<Time>(value, "a time").map(|(time, text)| (Service::Constant(time), text));
    };
    match &table.entries[..] {
        [entry] if entry.key == "exponential" => {
            let (mean, text) = positive(&entry.item.value)?;
            Ok((Service::Exponential(mean), format!("exponential, {text} on average")))
        }
        _ => {
            let help = "write a time like \"10us\", or { exponential = \"10us\" } for a mean";
            Err(("a table of service times has one key: exponential".to_owned(), Some(help.to_owned())))
        }
    }
}

/// Reads the names in `paths`.
pub(crate) fn path_names(section: &Section<'_, '_>) -> Option<Vec<String>> {
    section.read("paths", |value| {
        let names = list(value, "[\"a\", \"b\"]")?.iter().map(|item| text(&item.value, "the name of a path"));
        let names = names.collect::<Result<Vec<String>, _>>()?;
        Ok((names.clone(), names.join(" ")))
    })
}
