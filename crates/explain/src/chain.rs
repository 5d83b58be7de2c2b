//! Root cause of a pause, followed from ingress account to egress queue, switch by switch, to the congested port.

use super::explanation::{Explanation, plural};
use super::pauses::{Decision, PauseInterval, class_words};
use super::trace::{PortId, Trace};
use record::trace::Load;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// One hop of the chain of causes: the decision that caused a pause, the egress port with most of the blocked frames,
/// and the pause of that port.
#[derive(Clone, Copy, Debug)]
pub struct Step<'t> {
    /// The decision of the ingress account or output port.
    pub cause: &'t Decision,
    /// The egress port with most of the frames of the account.
    pub egress: PortId,
    /// Load that the account has queued at this egress port.
    load: Load,
    /// Pause of this egress port, which may begin after the decision; `None` if the port is not paused.
    pub next: Option<&'t PauseInterval>,
}

/// Root cause of a pause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RootCause {
    /// A congested egress port that is not paused itself.
    Congested(PortId),
    /// A cyclic buffer dependency: ports that wait for each other, sorted by number.
    Cycle(Vec<PortId>),
    /// A host that sends pause frames: a pause-storm fault, because the buffer of a host never fills.
    Host(u32),
    /// Credits that arrived late at this port, or that are fewer than rate x RTT of its link.
    Credits(PortId),
    /// A node that requested the pause although no frame of the account was queued.
    Drained(u32),
    /// A node that requested the pause before the start of the trace.
    Before(u32),
}

/// Follows a pause to its root cause.
pub fn chain<'t>(trace: &'t Trace, stop: &'t PauseInterval) -> (Vec<Step<'t>>, RootCause) {
    let mut stop = stop;
    let mut steps: Vec<Step<'t>> = Vec::new();
    // For each pause on the chain: the number of steps between the first pause and this pause.
    let mut seen = BTreeMap::new();
    loop {
        seen.insert((stop.port, stop.class, stop.of), steps.len());
        let Some(cause) = trace.pauses.cause(stop) else {
            let peer = trace.port(stop.port).map_or(stop.port.0, |port| port.peer);
            let root = match stop.credit {
                true => RootCause::Credits(stop.port),
                false if trace.is_host(peer) => RootCause::Host(peer),
                false => RootCause::Before(peer),
            };
            return (steps, root);
        };
        let node = cause.port.0;
        let Some(&(egress, egress_class, load)) = cause.behind.first() else {
            return (steps, RootCause::Drained(node));
        };
        let egress = (node, egress);
        let until = cause.go.unwrap_or(stop.until).max(cause.at + Time::from_ps(1));
        let below = cause.of.and_then(|of| trace.pauses.filled_by(egress, of, cause.at, until));
        let next = below.or_else(|| trace.pauses.of(egress, egress_class, cause.at, until).next());
        steps.push(Step { cause, egress, load, next });
        let Some(next) = next else { return (steps, RootCause::Congested(egress)) };
        if let Some(&before) = seen.get(&(next.port, next.class, next.of)) {
            // Steps before the cycle are not part of it, even if they cross one of its ports for another flow.
            let mut circle: Vec<PortId> = steps[before..].iter().map(|step| step.egress).collect();
            circle.sort_unstable();
            circle.dedup();
            return (steps, RootCause::Cycle(circle));
        }
        stop = next;
    }
}

/// Appends the causes of `stop`, from the ingress account to the congested port, switch by switch, up to the root
/// cause.
pub fn explain(explanation: &mut Explanation, trace: &Trace, stop: &PauseInterval) {
    let (steps, root) = chain(trace, stop);
    for (at, step) in steps.iter().enumerate() {
        decided(explanation, trace, step.cause, stop.credit);
        let port = trace.port_towards(step.egress);
        let waited = match step.cause.of {
            Some(_) => format!("its output {port} was too full"),
            None => {
                let frames = step.cause.behind.iter().fold(0, |sum: u64, (.., load)| sum.saturating_add(load.frames));
                let which = match step.load.frames == frames {
                    true => plural(frames, "frame"),
                    false => format!("{} of {frames} frames", step.load.frames),
                };
                format!("{which} of it waited for {port}")
            }
        };
        match (step.next, &root) {
            (None, _) => explanation.cause_line(format!("{waited}, which was not stopped: that is the congested port")),
            (Some(_), RootCause::Cycle(_)) if at + 1 == steps.len() => {
                explanation.cause_line(format!("{waited}, which closes a cycle of stops: a deadlock unless it drains"));
            }
            (Some(next), _) => {
                let how = if next.from <= step.cause.at {
                    "which was itself stopped"
                } else {
                    "which was busy then and itself stopped later,"
                };
                explanation.cause_line(format!("{waited}, {how} from {} to {}", next.from, next.until));
            }
        }
    }
    match root {
        RootCause::Congested(_) | RootCause::Cycle(_) => {}
        RootCause::Host(host) => {
            explanation.cause_line(format!("{} requested it: a host, at which the chain ends", trace.node(host)))
        }
        // The trace does not contain the number of credits, so late credits and too few credits cannot be
        // distinguished.
        RootCause::Credits(port) => explanation.cause_line(format!(
            "the other end had too little backlog to be the cause: the credits of {} were late, behind a frame of the \
             other direction, or do not cover rate x round trip",
            trace.port_name(port)
        )),
        RootCause::Before(node) => {
            explanation.cause_line(format!("{} requested it before the start of the trace", trace.node(node)))
        }
        RootCause::Drained(node) => {
            let last = steps.last().and_then(|step| step.next).unwrap_or(stop);
            if let Some(cause) = trace.pauses.cause(last) {
                decided(explanation, trace, cause, last.credit);
            }
            explanation.cause_line(format!("no frame of it was left in {}", trace.node(node)));
        }
    }
}

/// Appends a sentence about the decision that caused a pause.
fn decided(explanation: &mut Explanation, trace: &Trace, cause: &Decision, credit: bool) {
    let node = trace.node(cause.port.0);
    let account = format!("{}{}", trace.port_name(cause.port), class_words(cause.class));
    let (held, limit) = (Bytes(cause.held), Bytes(cause.limit_bytes));
    explanation.cause_line(match cause.of {
        Some(_) => {
            format!("{node} stopped it at {} with {} queued (in the unit of switch.queue)", cause.at, cause.held)
        }
        None if credit => {
            format!(
                "{node} had too few credits to grant from {} on: frames received at {account} occupied {held} of \
                 {limit}",
                cause.at
            )
        }
        None => format!(
            "{node} stopped it at {}: frames received at {account} occupied {held}, above the limit of {limit}",
            cause.at
        ),
    });
}
