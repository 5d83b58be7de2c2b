//! Output backpressure: FLORAX, per-destination backpressure, and IEEE 802.3x PAUSE triggered by the output queue.

use crate::mechanism;
use crate::partial_part::FlowControlScope;
use crate::parts::Parts;
use crate::section::{Context, Section};
use fabric::NodeId;
use model::parameters::{Buffer, FlowControl, Overload, QueueLimit};
use protocols::florax::{self, FloraxParameters, PauseAtOutputParameters};
use protocols::pause::quanta_time;
use units::{Bytes, Rate, WIRE_OVERHEAD_BYTES};

/// Reads the parameters of `kind`: `florax`, `destination` or `pause-at-output`.
pub(crate) fn read(kind: &str, table: &Section<'_, '_>, buffer: Option<&Buffer>) -> Option<FlowControl> {
    let (limit, unit) = match buffer {
        Some(Buffer::PerQueue { limit: QueueLimit::Packets(most) }) => (u64::from(*most), "packets"),
        Some(Buffer::PerQueue { limit: QueueLimit::Bytes(most) }) => (*most, "bytes"),
        Some(Buffer::Shared { .. }) => {
            let message = format!("{kind} needs a buffer per output, not a shared buffer");
            table.fail("kind", message, Some("write switch.queue = \"100 packets\"".to_owned()));
            (1, "packets")
        }
        None => (1, "packets"),
    };
    let (control, lower) = if kind == "pause-at-output" {
        let pause: PauseAtOutputParameters = mechanism::build(table, &florax::PAUSE_AT_OUTPUT, &[])?;
        (FlowControl::PauseAtOutput(pause.per_port(limit), pause.reaction), pause.lower)
    } else if kind == "florax" {
        let florax: FloraxParameters = mechanism::build(table, &florax::FLORAX, &[])?;
        if florax.max_upper < florax.upper {
            let message = format!("`max_upper` = {} is below `upper` = {}", florax.max_upper, florax.upper);
            table.fail("max_upper", message, Some("lower < upper <= max_upper, such as 0.25, 0.5 and 0.8".to_owned()));
        }
        (FlowControl::Florax(florax.per_flow(limit)), florax.lower)
    } else {
        let florax: FloraxParameters = mechanism::build(table, &florax::DESTINATION, &[])?;
        (FlowControl::Destination(florax.per_destination(limit)), florax.lower)
    };
    if !matches!(buffer?, Buffer::PerQueue { .. }) {
        return None;
    }
    if control.backpressure().is_some_and(|backpressure| backpressure.lower == 0) {
        let message = format!("`lower` = {lower} of the buffer is 0 {unit}: stopped senders would never resume");
        table.fail("lower", message, Some("write a share that is at least one packet".to_owned()));
    }
    Some(control)
}

/// Checks output backpressure against the overload action, the link rates and the queue limit. `mtu_bytes` is the
/// largest frame, `used` a bit mask of the classes in use.
pub(crate) fn check(context: &Context<'_>, parts: &Parts, reach: FlowControlScope<'_>, mtu_bytes: u16, used: u8) {
    let fabric = reach.fabric;
    let control = &parts.switch.flow_control;
    let Some(backpressure) = control.backpressure() else { return };
    if parts.switch.overload != Overload::Drop {
        let message = "outputs that stop senders before they are full need no overload action";
        context.fail("switch.overload.kind", message, Some("remove switch.overload".to_owned()));
    }
    if let FlowControl::PauseAtOutput(..) = control {
        let fastest = fabric.links().iter().map(|link| link.rate).max().unwrap_or(Rate::MIN);
        let longest = quanta_time(u16::MAX, fastest);
        if backpressure.expiry > longest && !backpressure.renewed {
            let message = format!(
                "a pause of {} is too long for a link of {fastest}: the limit is 65535 quanta",
                backpressure.expiry
            );
            context.fail("switch.flow_control.expiry", message, Some(format!("write \"auto\", or {longest} or less")));
        }
    }
    room_above_upper(context, parts, reach, mtu_bytes, used);
}

/// Warns if a queue has less room above the XOFF threshold `upper` than the bytes that can arrive after XOFF.
fn room_above_upper(context: &Context<'_>, parts: &Parts, reach: FlowControlScope<'_>, mtu_bytes: u16, used: u8) {
    let (control, fabric) = (&parts.switch.flow_control, reach.fabric);
    let (Some(backpressure), Buffer::PerQueue { limit }) = (control.backpressure(), &parts.switch.buffer) else {
        return;
    };
    // FLORAX admits conforming flows up to `max_upper`, but at no more than the drain rate: they need no headroom above
    // `upper`.
    let (room, in_unit): (u64, fn(u64, u64) -> u64) = match *limit {
        QueueLimit::Packets(most) => (u64::from(most) - backpressure.upper, |bytes, mtu| bytes.div_ceil(mtu)),
        QueueLimit::Bytes(most) => (most - backpressure.upper, |bytes, _| bytes),
    };
    // No headroom can be computed for an XOFF of single flows (not of the port), because it takes effect on arrival:
    // count twice the link's propagation delay and three frames instead.
    let on_its_way = |link: &fabric::Link| {
        let computed = control.computed_headroom(link.rate, link.delay, mtu_bytes, used);
        computed.map_or_else(
            || link.rate.bytes_in(link.delay * 2).saturating_add(3 * (u64::from(mtu_bytes) + WIRE_OVERHEAD_BYTES)),
            |headroom| headroom.bytes,
        )
    };
    let needs = |switch: NodeId| {
        let links = fabric.ports(switch).iter().map(|port| fabric.link(port.link));
        let each: Vec<u64> = links.map(|link| in_unit(on_its_way(link), mtu_bytes.into())).collect();
        // The switch never sends a frame back to its ingress port, so that all other ports feed an output queue. The
        // worst case is the queue of the port with the smallest requirement.
        (each.iter().sum::<u64>() - each.iter().min().copied().unwrap_or(0), switch)
    };
    let most = reach.switches().map(needs).reduce(|most, next| if next.0 > most.0 { next } else { most });
    if let Some((needed, switch)) = most.filter(|most| most.0 > room) {
        let amount = |amount: u64| match limit {
            QueueLimit::Packets(_) => format!("{amount} packets"),
            QueueLimit::Bytes(_) => Bytes(amount).to_string(),
        };
        let message = format!(
            "above `upper` a port has {} left, and the neighbours of `{}` may send {} before they stop: frames may be \
             lost. Write a longer switch.queue, a lower upper, or shorter cables",
            amount(room),
            fabric.name(switch),
            amount(needed),
        );
        context.warn("switch.flow_control.upper", message);
    }
}
