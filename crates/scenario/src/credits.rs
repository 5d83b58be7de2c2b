//! Checks of credits: enough for one frame, enough for the link rate, and a buffer that holds them.

use crate::partial_part::FlowControlScope;
use crate::section::Context;
use fabric::Link;
use model::parameters::{Buffer, SwitchParameters};
use protocols::cbfc::sufficient_credits;
use units::{Bytes, Rate, WIRE_OVERHEAD_BYTES};

/// Computes the credits of each link for the classes in `used` (bit mask) and checks them against the buffer.
pub(crate) fn check(
    context: &Context<'_>,
    reach: FlowControlScope<'_>,
    switch: &SwitchParameters,
    mtu_bytes: u16,
    used: u8,
    derived: &mut Vec<(String, String)>,
) {
    const KEY: &str = "switch.flow_control.credits";
    let Some(parameters) = switch.flow_control.credit() else { return };
    let fabric = reach.fabric;
    let mtu = u64::from(mtu_bytes);
    if let Some(given) = parameters.credits_bytes.filter(|&given| given < mtu) {
        let message =
            format!("credits of {} are less than a frame of {}: it could never be sent", Bytes(given), Bytes(mtu));
        let help = format!("write credits = \"{}\" or more, or \"auto\"", Bytes(mtu));
        return context.fail(KEY, message, Some(help));
    }
    let credits = |link: &Link| parameters.on_link(link.rate, link.delay, mtu).0;
    let under_credits = |link: &&Link| reach.takes_part(link.a.node) && reach.takes_part(link.b.node);
    let links = reach.links().filter(under_credits);
    if let Some(longest) = links.max_by_key(|link| (least(link, mtu), std::cmp::Reverse(link.a.node))) {
        derived.push(("credits of the longest link".to_owned(), Bytes(credits(longest)).to_string()));
        if credits(longest) < least(longest, mtu) {
            let throughput = throughput(longest, credits(longest), mtu);
            let message = format!(
                "{} is less than rate x round trip of a link of {} and {}, {}: a class reaches about {throughput} \
                 there",
                Bytes(credits(longest)),
                longest.rate,
                longest.delay,
                Bytes(least(longest, mtu)),
            );
            context.warn(KEY, message);
        }
    }
    let Buffer::Shared { bytes, .. } = switch.buffer else { return };
    let classes = u64::from((parameters.classes & used).count_ones());
    let total = |switch| {
        let ports = fabric.ports(switch).iter();
        let sum = ports.map(|port| credits(fabric.link(port.link))).fold(0, u64::saturating_add);
        (sum.saturating_mul(classes), switch)
    };
    // `reduce` keeps the first of several switches with equal sums.
    let neediest = reach.switches().map(total).reduce(|most, next| if next.0 > most.0 { next } else { most });
    let Some((needed, neediest)) = neediest else { return };
    derived.push((format!("credits of all ports of {}", fabric.name(neediest)), Bytes(needed).to_string()));
    if needed >= bytes {
        let message = format!(
            "the buffer of {} is not larger than its credits: switch `{}` grants {} for {} ports and {classes} \
             lossless class{}",
            Bytes(bytes),
            fabric.name(neediest),
            Bytes(needed),
            fabric.ports(neediest).len(),
            if classes == 1 { "" } else { "es" },
        );
        let help = format!("write switch.buffer = \"{}\" or more", Bytes(needed.saturating_add(needed / 4 + 1)));
        context.fail("switch.buffer", message, Some(help));
    }
}

/// Returns the credits in bytes that full rate needs: the bandwidth-delay product in whole frames, if each frame is
/// granted separately and no other frame delays the grants.
fn least(link: &Link, mtu: u64) -> u64 {
    round_trip_bytes(link, mtu).div_ceil(mtu + WIRE_OVERHEAD_BYTES) * mtu
}

/// Returns the wire bytes that the link carries between the start of a full frame and the arrival of the grant that
/// returns its credits.
fn round_trip_bytes(link: &Link, mtu: u64) -> u64 {
    // `sufficient_credits` includes one frame that delays the grant, and one frame for rounding: subtract both.
    sufficient_credits(link.rate, link.delay, mtu, 0) - 1 - 2 * (mtu + WIRE_OVERHEAD_BYTES)
}

/// Returns the throughput on the wire with `credits` bytes per RTT, in whole frames.
fn throughput(link: &Link, credits: u64, mtu: u64) -> Rate {
    let wire = u128::from(credits / mtu * (mtu + WIRE_OVERHEAD_BYTES));
    let share = wire * u128::from(link.rate.as_bps()) / u128::from(round_trip_bytes(link, mtu));
    // Round down to four significant digits, because the value is approximate.
    let digits = 10u128.pow(share.max(1).ilog10().saturating_sub(3));
    Rate::from_bps(u64::try_from(share / digits * digits).unwrap_or(u64::MAX)).unwrap_or(Rate::MIN)
}
