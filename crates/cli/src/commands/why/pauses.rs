//! Who stopped whom, when, and the congested port behind it.

use super::story::{Story, plural};
use super::trace::{PortId, Trace};
use record::trace::{Load, PortRow, TraceEvent, TraceRow};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Time};

/// An egress port, or a class of it, stood still.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Who stood still.
    pub port: PortId,
    /// The class; `None` for all.
    pub class: Option<u8>,
    /// Since when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// The run ended first.
    pub at_end: bool,
    /// Which account wanted it: index into the decisions.
    cause: Option<usize>,
}

/// An ingress account told its neighbour to stop.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The account's port.
    pub port: PortId,
    /// Its class.
    pub class: Option<u8>,
    /// When.
    pub at: Time,
    /// When it told to go on.
    pub go: Option<Time>,
    account_bytes: u64,
    limit_bytes: u64,
    /// Egress port, class and what of the account waits there; the most first.
    behind: Vec<(u16, u8, Load)>,
}

/// All stops of a trace.
#[derive(Debug, Default)]
pub struct Pauses {
    /// By the time at which they began.
    pub stops: Vec<Stop>,
    /// By time.
    pub decisions: Vec<Decision>,
    /// Places in `stops`, by port.
    by_port: BTreeMap<PortId, Vec<usize>>,
}

type Account = (PortId, Option<u8>);

impl Pauses {
    /// Puts stops together from pauses, renewals and resumes.
    pub fn new(rows: &[TraceRow], ports: &BTreeMap<PortId, PortRow>, end: Time) -> Pauses {
        let mut pauses = Pauses::default();
        // The last decision of each account, and the last stop of each port.
        let mut accounts: BTreeMap<Account, usize> = BTreeMap::new();
        let mut open: BTreeMap<Account, usize> = BTreeMap::new();
        for row in rows {
            let at_port = |port: u16| (row.node, port);
            match &row.event {
                TraceEvent::Stop { port, class, account_bytes, limit_bytes, renewal: false } => {
                    accounts.insert((at_port(*port), *class), pauses.decisions.len());
                    pauses.decisions.push(Decision {
                        port: at_port(*port),
                        class: *class,
                        at: row.at,
                        go: None,
                        account_bytes: *account_bytes,
                        limit_bytes: *limit_bytes,
                        behind: Vec::new(),
                    });
                }
                TraceEvent::Behind { port, class, egress, egress_class, load } => {
                    let decision = accounts.get(&(at_port(*port), *class)).map(|&index| &mut pauses.decisions[index]);
                    // What a renewal says of later is not why it began.
                    if let Some(decision) = decision.filter(|decision| decision.at == row.at) {
                        decision.behind.push((*egress, *egress_class, *load));
                    }
                }
                TraceEvent::Go { port, class, .. } => {
                    if let Some(&index) = accounts.get(&(at_port(*port), *class)) {
                        pauses.decisions[index].go.get_or_insert(row.at);
                    }
                }
                TraceEvent::Paused { port, class, from, until } => {
                    let key = (at_port(*port), *class);
                    let last = open.get(&key).map(|&index| &mut pauses.stops[index]);
                    if let Some(stop) = last.filter(|stop| stop.until >= *from) {
                        stop.until = *until;
                        continue;
                    }
                    let peer = ports.get(&key.0).map(|port| (port.peer, port.peer_port));
                    let cause = peer.and_then(|peer| accounts.get(&(peer, *class)).copied());
                    open.insert(key, pauses.stops.len());
                    let (from, until) = (*from, *until);
                    pauses.stops.push(Stop { port: key.0, class: *class, from, until, at_end: false, cause });
                }
                TraceEvent::Resumed { port, class, from } => {
                    if let Some(&index) = open.get(&(at_port(*port), *class)) {
                        let stop = &mut pauses.stops[index];
                        stop.until = stop.until.min(*from);
                        open.remove(&(at_port(*port), *class));
                    }
                }
                _ => {}
            }
        }
        pauses.stops.retain(|stop| stop.from < stop.until && stop.from < end);
        for stop in &mut pauses.stops {
            stop.at_end = stop.until > end;
            stop.until = stop.until.min(end);
        }
        pauses.stops.sort_by_key(|stop| (stop.from, stop.port, stop.class));
        for (index, stop) in pauses.stops.iter().enumerate() {
            pauses.by_port.entry(stop.port).or_default().push(index);
        }
        pauses
    }

    /// The stops of a class of a port that overlap a span.
    pub fn of(&self, port: PortId, class: u8, from: Time, until: Time) -> impl Iterator<Item = &Stop> {
        let of_port = self.by_port.get(&port).into_iter().flatten().map(|&index| &self.stops[index]);
        of_port.filter(move |stop| stop.class.is_none_or(|of| of == class) && stop.from < until && stop.until > from)
    }

    /// Who wanted a stop.
    pub fn cause(&self, stop: &Stop) -> Option<&Decision> {
        self.decisions.get(stop.cause?)
    }
}

/// " class 3", or nothing for all classes.
pub fn class_words(class: Option<u8>) -> String {
    class.map(|class| format!(" (class {class})")).unwrap_or_default()
}

/// Appends why `stop` happened: from account to congested port, switch by switch, to the root.
pub fn tell(story: &mut Story, trace: &Trace, stop: &Stop) {
    let mut stop = stop;
    let mut seen: BTreeSet<(PortId, Option<u8>)> = BTreeSet::new();
    loop {
        seen.insert((stop.port, stop.class));
        let Some(cause) = trace.pauses.cause(stop) else {
            let peer = trace.port(stop.port).map_or("its neighbour", |port| trace.node(port.peer));
            story.because(format!("{peer} wanted it before the trace began"));
            return;
        };
        let node = cause.port.0;
        story.because(format!(
            "{} told it to stop at {}: what had come in by {}{} held {}, over its limit of {}",
            trace.node(node),
            cause.at,
            trace.port_name(cause.port),
            class_words(cause.class),
            Bytes(cause.account_bytes),
            Bytes(cause.limit_bytes),
        ));
        let Some(&(egress, egress_class, load)) = cause.behind.first() else {
            story.because(format!("nothing of it waited in {} any more", trace.node(node)));
            return;
        };
        let frames: u64 = cause.behind.iter().map(|(.., load)| load.frames).sum();
        let congested = (node, egress);
        let which =
            if load.frames == frames { plural(frames, "frame") } else { format!("{} of {frames} frames", load.frames) };
        let waited = format!("{which} of it waited for {}", trace.port_towards(congested));
        let until = cause.go.unwrap_or(stop.until).max(cause.at);
        match trace.pauses.of(congested, egress_class, cause.at, until.max(cause.at + Time::from_ps(1))).next() {
            None => {
                story.because(format!("{waited}, which nobody stopped: that is the congested port"));
                return;
            }
            Some(next) if seen.contains(&(next.port, next.class)) => {
                story.because(format!(
                    "{waited}, which is stopped by what it stops: a circle, and a deadlock unless it drains"
                ));
                return;
            }
            Some(next) => {
                let how = if next.from <= cause.at {
                    "which was itself stopped"
                } else {
                    "busy then, and later itself stopped,"
                };
                story.because(format!("{waited}, {how} from {} to {}", next.from, next.until));
                stop = next;
            }
        }
    }
}
