//! Root cause of a pause: from ingress account to egress queue, switch by switch, to the congested port.

use super::pauses::{Decision, Stop, class_words};
use super::story::{Story, plural};
use super::trace::{PortId, Trace};
use record::trace::Load;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// One hop of the chain: the decision that caused a stop, the egress port with most of the blocked frames, and that
/// port's own stop.
#[derive(Clone, Copy, Debug)]
pub struct Step<'t> {
    /// The decision of the account or output.
    pub cause: &'t Decision,
    /// The egress port with most of its frames.
    pub egress: PortId,
    /// Load of the account at that port.
    load: Load,
    /// Pause of that port, which may begin later.
    pub next: Option<&'t Stop>,
}

/// Root cause of a pause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// A congested port that is not paused itself.
    Congested(PortId),
    /// A cycle of ports that wait for each other, in order of their numbers.
    Circle(Vec<PortId>),
    /// A host. It has no buffer that fills, so this is the pause-storm fault.
    Host(u32),
    /// Credits that were late, or do not cover rate x round trip of the link of this port.
    Credits(PortId),
    /// A node that requested the pause with no frame of the account left in the queues.
    Drained(u32),
    /// A node that requested the pause before the trace began.
    Before(u32),
}

/// Follows a pause to its root cause.
pub fn chain<'t>(trace: &'t Trace, stop: &'t Stop) -> (Vec<Step<'t>>, Root) {
    let mut stop = stop;
    let mut steps: Vec<Step<'t>> = Vec::new();
    // Number of steps before each pause.
    let mut seen = BTreeMap::new();
    loop {
        seen.insert((stop.port, stop.class, stop.of), steps.len());
        let Some(cause) = trace.pauses.cause(stop) else {
            let peer = trace.port(stop.port).map_or(stop.port.0, |port| port.peer);
            let root = match stop.credit {
                true => Root::Credits(stop.port),
                false if trace.is_host(peer) => Root::Host(peer),
                false => Root::Before(peer),
            };
            return (steps, root);
        };
        let node = cause.port.0;
        let Some(&(egress, egress_class, load)) = cause.behind.first() else { return (steps, Root::Drained(node)) };
        let egress = (node, egress);
        let until = cause.go.unwrap_or(stop.until).max(cause.at + Time::from_ps(1));
        let below = cause.of.and_then(|of| trace.pauses.filled_by(egress, of, cause.at, until));
        let next = below.or_else(|| trace.pauses.of(egress, egress_class, cause.at, until).next());
        steps.push(Step { cause, egress, load, next });
        let Some(next) = next else { return (steps, Root::Congested(egress)) };
        if let Some(&before) = seen.get(&(next.port, next.class, next.of)) {
            // Steps before the cycle are not part of it, even through one of its ports for another flow.
            let mut circle: Vec<PortId> = steps[before..].iter().map(|step| step.egress).collect();
            circle.sort_unstable();
            circle.dedup();
            return (steps, Root::Circle(circle));
        }
        stop = next;
    }
}

/// Appends the causes of `stop`: from account to congested port, switch by switch, to the root.
pub fn tell(story: &mut Story, trace: &Trace, stop: &Stop) {
    let (steps, root) = chain(trace, stop);
    for (at, step) in steps.iter().enumerate() {
        decided(story, trace, step.cause, stop.credit);
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
            (None, _) => story.because(format!("{waited}, which was not stopped: that is the congested port")),
            (Some(_), Root::Circle(_)) if at + 1 == steps.len() => {
                story.because(format!("{waited}, which closes a cycle of stops: a deadlock unless it drains"));
            }
            (Some(next), _) => {
                let how = if next.from <= step.cause.at {
                    "which was itself stopped"
                } else {
                    "which was busy then and itself stopped later,"
                };
                story.because(format!("{waited}, {how} from {} to {}", next.from, next.until));
            }
        }
    }
    match root {
        Root::Congested(_) | Root::Circle(_) => {}
        Root::Host(host) => {
            story.because(format!("{} requested it: a host, at which the chain ends", trace.node(host)))
        }
        // The trace lacks the number of credits, so the two causes are indistinguishable.
        Root::Credits(port) => story.because(format!(
            "the other end had too little backlog to be the cause: the credits of {} were late, behind a frame of the \
             other direction, or do not cover rate x round trip",
            trace.port_name(port)
        )),
        Root::Before(node) => story.because(format!("{} requested it before the start of the trace", trace.node(node))),
        Root::Drained(node) => {
            let last = steps.last().and_then(|step| step.next).unwrap_or(stop);
            if let Some(cause) = trace.pauses.cause(last) {
                decided(story, trace, cause, last.credit);
            }
            story.because(format!("no frame of it was left in {}", trace.node(node)));
        }
    }
}

/// Appends the decision that caused a pause, as a sentence.
fn decided(story: &mut Story, trace: &Trace, cause: &Decision, credit: bool) {
    let node = trace.node(cause.port.0);
    let account = format!("{}{}", trace.port_name(cause.port), class_words(cause.class));
    let (held, limit) = (Bytes(cause.held), Bytes(cause.limit_bytes));
    story.because(match cause.of {
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
