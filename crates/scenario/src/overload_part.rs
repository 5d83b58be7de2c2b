//! `switch.overload`: the action for a frame that does not fit the buffer, and its requirements on other tables.

use crate::mechanism;
use crate::parts::Parts;
use crate::run_part::RoutingMode;
use crate::section::{Context, Section};
use crate::trim_part;
use fabric::Fabric;
use model::parameters::{FlowControl, Overload, QueueLimit};
use protocols::Parameters;
use protocols::pabo::BounceParameters;

pub(crate) fn read(
    switch: &Section<'_, '_>,
    limit: Option<QueueLimit>,
    bounce_queue: Option<QueueLimit>,
    flow_control: Option<&FlowControl>,
) -> Option<Overload> {
    let table = switch.table("overload", "switch.overload", true);
    let kinds = ["drop", "bounce", "detour", "trim", "cut-payload", "sfc", "pipeline-trim"];
    let kind = table.kind("overload action", &kinds);
    let overload = match kind {
        Some("bounce") => bounce(switch, &table, bounce_queue, flow_control),
        Some("detour") => Some(Overload::Detour),
        Some(kind @ ("trim" | "cut-payload" | "sfc" | "pipeline-trim")) => {
            trim_part::read(kind, switch, &table, limit, flow_control)
        }
        Some(_) => Some(Overload::Drop),
        None => None,
    };
    table.finish();
    overload
}

fn bounce(
    switch: &Section<'_, '_>,
    table: &Section<'_, '_>,
    queue: Option<QueueLimit>,
    flow_control: Option<&FlowControl>,
) -> Option<Overload> {
    let pabo: Option<BounceParameters> = mechanism::build(table, BounceParameters::MECHANISM, &[]);
    let own = pabo.filter(|_| table.has("priorities")).map(|pabo| pabo.classes);
    let lossless = flow_control.map_or(0, FlowControl::lossless);
    if matches!(flow_control, Some(FlowControl::Pause(_))) {
        let message = "PAUSE stops whole ports before their queues are full: no class could bounce";
        let help = "use PFC for some classes and bounce the others, or one of the two alone".to_owned();
        table.fail("kind", message, Some(help));
    } else if let Some(both) = own.map(|own| own & lossless).filter(|both| *both != 0) {
        let message = format!(
            "class {} is lossless by PFC: its senders stop before the queue is full, so that no frame bounces, and a \
             bounced frame would arrive at a paused port",
            both.trailing_zeros()
        );
        let help = "name classes that are not in switch.flow_control.priorities".to_owned();
        table.fail("priorities", message, Some(help));
    }
    if !switch.has("queue") {
        let message = "bouncing depends on the utilisation of a queue, and queues of a shared buffer have no capacity";
        let help = "write switch.queue = { normal = \"500 packets\", bounce = \"500 packets\" }".to_owned();
        table.fail("kind", message, Some(help));
        return None;
    }
    let pabo = pabo?;
    let pabo = BounceParameters { classes: pabo.classes & !lossless, ..pabo };
    Some(Overload::Bounce { pabo, queue: queue? })
}

/// Warns if senders react to bounced frames but no switch bounces frames, or if datagram sources ignore them.
pub(crate) fn warn(context: &Context<'_>, parts: &Parts, plan: &traffic::Plan) {
    if parts.host.on_bounce.is_none() {
        return;
    }
    let is_source = |flow: &traffic::Flow| matches!(flow.load, traffic::Load::Datagrams(_));
    if !matches!(parts.switch.overload, Overload::Bounce { .. }) {
        context.warn("host.on_bounce", "senders would slow down for bounced frames, but no switch bounces any");
    } else if plan.flows.iter().any(is_source) {
        let message = "sources of datagrams do not slow down for bounced frames: only flows of host.transport do";
        context.warn("host.on_bounce", message);
    }
}

/// Checks the overload action against fabric, hosts and traffic. `used` is a bit mask of the classes in use.
pub(crate) fn check(context: &Context<'_>, parts: &Parts, fabric: &Fabric, used: u8) {
    let (what, classes) = match parts.switch.overload {
        Overload::Drop | Overload::Trim { .. } => return,
        Overload::Bounce { pabo, .. } => ("bounce", pabo.classes),
        Overload::Detour => ("detour", !parts.switch.flow_control.lossless()),
    };
    let fail = |key: &str, message: &str, help: &str| context.fail(key, message, Some(help.to_owned()));
    let kind = "switch.overload.kind";
    if classes & used == 0 {
        let owner =
            if parts.switch.flow_control.lossless() & used == 0 { "overload.priorities" } else { "flow_control" };
        let message = format!(
            "switch.{owner} excludes every class of the traffic: no frame would {what}, since a lossless class is \
             stopped before its queue is full"
        );
        fail(kind, &message, "use another class for some traffic, or remove the flow control or the overload action");
    }
    if parts.routing.mode == RoutingMode::UpDown {
        let message = format!("up-down routing depends on the ingress port, which a {what} changes");
        fail(kind, &message, "use routing.mode = \"shortest\" or \"two-level\"");
    }
    if parts.routing.mode == RoutingMode::Explicit || !parts.paths.is_empty() {
        let message = format!("explicit paths count hops, which a {what} makes wrong");
        fail(kind, &message, "remove [[path]] and use routing.mode");
    }
    if what != "bounce" {
        return;
    }
    if let Some(&host) = fabric.hosts().iter().find(|&&host| fabric.node(host).relay) {
        let message = format!(
            "hosts like `{}` forward frames of others, but only switches bounce: a frame bounced to such a host would \
             be lost",
            fabric.name(host)
        );
        fail(kind, &message, "use a fabric whose hosts do not forward");
    }
}
