//! `switch.overload` of the kinds that trim packets: parameters, and requirements on other tables.

use crate::mechanism;
use crate::parts::Parts;
use crate::pipeline_part;
use crate::section::{Context, Section};
use crate::values::{room, tiers};
use fabric::Fabric;
use model::parameters::{FlowControl, Overload, QueueLimit, Scheduler};
use protocols::pipeline_trim;
use protocols::trim::{self, HeaderDestination, HeaderFull, TrimParameters};
use units::Bytes;

const KIND: &str = "switch.overload.kind";
const SIZE: &str = "switch.overload.size";
const HEADER_CLASS: &str = "switch.overload.header_class";

/// Default limit of header queues.
const HEADER_QUEUE: QueueLimit = QueueLimit::Bytes(1_000_000);

/// Reads the parameters of trimming; `kind` is trim, cut-payload, sfc or pipeline-trim.
pub(crate) fn read(
    kind: &str,
    switch: &Section<'_, '_>,
    table: &Section<'_, '_>,
    limit: Option<QueueLimit>,
    flow_control: Option<&FlowControl>,
) -> Option<Overload> {
    let mechanism = match kind {
        "cut-payload" => &trim::CUT_PAYLOAD,
        "sfc" => &trim::SFC,
        "pipeline-trim" => &pipeline_trim::PIPELINE_TRIM,
        _ => &trim::TRIM,
    };
    let inside = if kind == "pipeline-trim" { Some(pipeline_part::read(table)) } else { None };
    let lossless = flow_control.map_or(0, FlowControl::lossless);
    let trim: Option<TrimParameters> = mechanism::build(table, mechanism, &[]);
    let header_queue = table.read("header_queue", room);
    // With pipeline models, every switch trims.
    let tiers = if inside.is_none() {
        table.read("tiers", |value| tiers(value, "the list of tiers that trim is empty"))
    } else {
        Some(0xff)
    };
    let own = trim.filter(|_| table.has("priorities")).map(|trim| trim.classes);
    if header_queue.is_some() && !switch.has("queue") {
        let message = "`header_queue` and a shared buffer exclude each other: there, switch.egress_threshold also \
                       limits header queues";
        table.fail("header_queue", message, Some("remove header_queue, or write switch.queue".to_owned()));
    }
    if let Some(both) = own.map(|own| own & lossless).filter(|both| *both != 0) {
        let message = format!(
            "class {} is lossless: its senders stop before the buffer is full, so that none of its frames would be \
             trimmed",
            both.trailing_zeros()
        );
        let help = "name classes that are not in switch.flow_control.priorities".to_owned();
        table.fail("priorities", message, Some(help));
    }
    let header_class = trim.filter(|_| kind != "cut-payload").map(|trim| trim.header_class);
    if let Some(watermark) = trim.and_then(|trim| trim.watermark) {
        check_watermark(switch, table, watermark, limit);
    }
    if let Some(class) = header_class.filter(|class| lossless & (1 << class) != 0) {
        let message = format!("headers would wait in class {class}, which is lossless: headers need a lossy class");
        table.fail("header_class", message, Some("write a class that no flow control owns".to_owned()));
    }
    let mut trim = TrimParameters { tiers: tiers.unwrap_or(0xff), ..trim? };
    (trim.scheme, trim.full) = match kind {
        "cut-payload" => (HeaderDestination::SameQueue, HeaderFull::Drop),
        "sfc" => (HeaderDestination::Source, HeaderFull::Return),
        _ => (HeaderDestination::OwnQueue, trim.full),
    };
    let all = if trim.scheme == HeaderDestination::SameQueue { 0xff } else { !(1 << trim.header_class) };
    trim.classes = own.unwrap_or(all) & !lossless;
    let inside = match inside {
        None => None,
        Some(inside) => Some(inside?),
    };
    let other = matches!(flow_control, Some(FlowControl::Credit(_)))
        || flow_control.is_some_and(|by| by.backpressure().is_some());
    if inside.is_some() && other {
        let message = "credits, or backpressure per flow, prevent full queues, so that pipelines would never trim";
        table.fail("kind", message, Some("write flow_control = \"none\", or overload = \"trim\"".to_owned()));
    }
    Some(Overload::Trim { trim, header_queue: header_queue.unwrap_or(HEADER_QUEUE), inside })
}

/// Reports an error for a watermark above the limit of the queue.
fn check_watermark(
    switch: &Section<'_, '_>,
    table: &Section<'_, '_>,
    watermark: QueueLimit,
    limit: Option<QueueLimit>,
) {
    let beyond = match (watermark, limit) {
        (QueueLimit::Packets(mark), Some(QueueLimit::Packets(most))) => mark > most,
        (QueueLimit::Bytes(mark), Some(QueueLimit::Bytes(most))) => mark > most,
        _ => false,
    };
    if beyond && switch.has("queue") {
        let message = "the watermark exceeds the queue limit: frames would be trimmed at a full queue";
        let help = "write less than switch.queue, or remove watermark".to_owned();
        table.fail("watermark", message, Some(help));
    }
}

/// Checks trimming against fabric, hosts and traffic. `data` is a bit mask of the classes of data, `mtu_bytes` the
/// largest frame.
pub(crate) fn check(context: &Context<'_>, parts: &Parts, fabric: &Fabric, data: u8, mtu_bytes: u16) {
    let Overload::Trim { trim, inside, .. } = parts.switch.overload else { return };
    let fail = |key: &str, message: String, help: &str| context.fail(key, message, Some(help.to_owned()));
    if let Some(Err((key, message, help))) = inside.map(|inside| pipeline_part::check(&inside, fabric, mtu_bytes)) {
        fail(&format!("switch.overload.{key}"), message, &help);
    }
    if trim.size_bytes >= mtu_bytes {
        let message = format!(
            "frames are trimmed to {}, but none is longer than {}: nothing would be cut",
            Bytes(trim.size_bytes.into()),
            Bytes(mtu_bytes.into())
        );
        fail(SIZE, message, "write size = \"64B\", or let the transport send longer frames");
    }
    let headers = parts.transports().into_iter().map(|(.., transport)| transport.header_bytes());
    let header_bytes = headers.max().unwrap_or_else(|| parts.host.transport.header_bytes());
    if trim.size_bytes < header_bytes {
        let message = format!(
            "trimmed size {} is smaller than the headers ({})",
            Bytes(trim.size_bytes.into()),
            Bytes(header_bytes.into())
        );
        fail(SIZE, message, &format!("write size = \"{header_bytes}B\" or more"));
    }
    // If headers and data share a queue, the header class is not used and needs no check.
    let own_queue = trim.scheme != HeaderDestination::SameQueue;
    if own_queue && data & (1 << trim.header_class) != 0 {
        let message =
            format!("headers would wait in class {}, behind the data that they must overtake", trim.header_class);
        fail(HEADER_CLASS, message, "write a separate class for headers, or kind = \"cut-payload\"");
    } else if trim.classes & data == 0 {
        let message = "no class of the traffic is trimmed: each is lossless, or not in switch.overload.priorities";
        fail(KIND, message.to_owned(), "use another class for some traffic, or write overload = \"drop\"");
    } else if own_queue
        && parts.switch.scheduler == Scheduler::Strict
        && u32::from(trim.header_class) < (trim.classes & data).ilog2()
    {
        let message = format!("headers in class {} wait for all data of a higher class", trim.header_class);
        context.warn(HEADER_CLASS, message);
    }
    let tier = |node| fabric.node(node).tier.min(7);
    if !fabric.switches().any(|node| trim.tiers >> tier(node) & 1 == 1) {
        let mut known: Vec<u8> = fabric.switches().map(tier).collect();
        known.sort_unstable();
        known.dedup();
        let help = format!("this fabric has switches in the tiers {known:?}");
        fail("switch.overload.tiers", "no switch is in a tier that trims".to_owned(), &help);
    }
    if trim.scheme != HeaderDestination::SameQueue && parts.host.reply_class.is_none() && parts.acknowledges() {
        let message = format!(
            "acknowledgements share the queues of data and are lost when these are full: host.reply_class = {} moves \
             them to the class of headers",
            trim.header_class
        );
        context.warn("host.reply_class", message);
    }
}
