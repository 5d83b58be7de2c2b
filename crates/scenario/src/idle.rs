//! Warns of keys that have no effect with the mechanisms chosen in other tables. They are not refused, because
//! comparisons of mechanisms keep them in all variants.

use crate::parts::Parts;
use crate::section::Context;
use model::parameters::{FlowControl, Overload};
use protocols::rate_control::SwitchSupport;
use traffic::{Plan, Start};

/// Warns of each written key without effect, and of each flag without effect whose value is not its default.
pub(crate) fn warn(context: &Context<'_>, parts: &Parts, plan: &Plan) {
    let (host, switch) = (&parts.host, &parts.switch);
    let section = context.root();
    let hosts = section.table("host", "host", false);
    let warn_unless = |key: &str, acts: bool, why: &str| {
        if !acts {
            context.warn(key, format!("`{key}` has no effect: {why}"));
        }
    };
    let stops = !matches!(switch.flow_control, FlowControl::None | FlowControl::Credit(_));
    let unstopped = "switch.flow_control has nothing that stops a host: pause, pfc, florax, destination or \
                     pause-at-output";
    warn_unless("host.obeys_pause", host.obeys_pause || stops, unstopped);
    warn_unless("host.ignore_pause", host.ignore_pause.is_empty() || stops, unstopped);
    warn_unless("host.on_pause", !host.halves || stops, unstopped);
    let controlled = !matches!(switch.flow_control, FlowControl::None);
    warn_unless("fabric.control_loss", parts.control_loss == 0.0 || controlled, "no switch sends control frames");
    let trims = matches!(switch.overload, Overload::Trim { .. });
    warn_unless("host.trim_aware", host.trim_aware || trims, "switch.overload does not trim");
    let bounces = matches!(switch.overload, Overload::Bounce { .. });
    let check = section.table("check", "check", false);
    let storms = check.has("bounce_storm") && !check.is_flag("bounce_storm");
    warn_unless("check.bounce_storm", !storms || bounces, "switch.overload does not bounce");
    let ordered = plan.flows.iter().any(|flow| matches!(flow.start, Start::After { .. }));
    warn_unless(
        "host.notification_delay",
        !hosts.has("notification_delay") || ordered,
        "no flow waits for another flow",
    );
    let replies = parts.acknowledges() || parts.has_congestion_points();
    warn_unless(
        "host.reply_class",
        host.reply_class.is_none() || replies,
        "all flows are datagrams, which have no replies",
    );
    // Transports that require ECN marks are excluded here, because they have a separate warning.
    for (key, _, transport) in parts.transports() {
        let waits = transport.is_ecn_capable() && transport.needs() != SwitchSupport::Marks;
        warn_unless(&format!("{key}.ecn"), !waits || parts.marks(), "no switch marks");
    }
    for (number, failure) in parts.failures.iter().enumerate() {
        let is_late = failure.at >= parts.top.duration;
        warn_unless(&format!("fail.{number}"), !is_late, "the run ends before the link fails");
    }
    if let Some(preemption) = parts.preemption {
        let used = plan.classes() | host.reply_class.map_or(0, |class| 1 << class);
        let (express, others) = (used & preemption.express, used & !preemption.express);
        warn_unless("switch.preemption", express != 0 || !parts.gates.is_empty(), "no express class has traffic");
        warn_unless("switch.preemption", others != 0, "all traffic is express: no frame can be interrupted");
    }
    let switches = section.table("switch", "switch", false);
    let timed = !parts.gates.is_empty() || !parts.cyclic.is_empty();
    for key in ["clock", "clocks"] {
        let full = format!("switch.{key}");
        warn_unless(&full, !switches.has(key) || timed, "no switch has gates or cycles, the only users of its clock");
    }
}
