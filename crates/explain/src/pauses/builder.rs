//! Builds pauses and decisions from trace events.

use super::super::trace::PortId;
use super::{Account, Decision, Flow, PauseInterval, Pauses, Storm};
use record::trace::{Load, PortRow, TraceEvent, TraceRow, TrafficSelector};
use std::collections::BTreeMap;
use units::{PREAMBLE_BYTES, Rate, Time};

/// Bytes of a credit message on the wire: the minimum frame with preamble.
const MESSAGE_BYTES: u64 = 64 + PREAMBLE_BYTES;

/// Builds [`Pauses`] from the events of a trace, which must be passed in order.
pub struct Builder<'p> {
    ports: &'p BTreeMap<PortId, PortRow>,
    pauses: Pauses,
    /// Index of the last decision of each ingress account; under output backpressure, of the last XOFF that applies to
    /// all frames of a neighbour.
    accounts: BTreeMap<Account, usize>,
    /// Index of the last XOFF decision by output, neighbour port and flow; and by neighbour port and flow.
    outputs: BTreeMap<(PortId, u16, TrafficSelector), usize>,
    calls: BTreeMap<Flow, usize>,
    /// Index of the last pause of each port and class, and of the last hold of each port and flow.
    open: BTreeMap<Account, usize>,
    open_holds: BTreeMap<Flow, usize>,
    open_storms: BTreeMap<(PortId, u8), usize>,
}

impl<'p> Builder<'p> {
    /// Creates a builder for a fabric of these ports.
    pub fn new(ports: &'p BTreeMap<PortId, PortRow>) -> Builder<'p> {
        Builder {
            ports,
            pauses: Pauses::default(),
            accounts: BTreeMap::new(),
            outputs: BTreeMap::new(),
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            open_holds: BTreeMap::new(),
            open_storms: BTreeMap::new(),
        }
    }

    fn peer(&self, port: PortId) -> Option<PortId> {
        self.ports.get(&port).map(|port| (port.peer, port.peer_port))
    }

    /// Processes the next event.
    pub fn take(&mut self, row: &TraceRow) {
        let at_port = |port: u16| (row.node, port);
        match row.event {
            TraceEvent::PauseSent { port, class, account_bytes, limit_bytes, renewal: false } => {
                let index = self.decide(row, port, class, None, (account_bytes, limit_bytes));
                self.accounts.insert((at_port(port), class), index);
            }
            TraceEvent::AccountQueue { port, class, egress, egress_class, load } => {
                let index = self.accounts.get(&(at_port(port), class));
                let decision = index.map(|&index| &mut self.pauses.decisions[index]);
                // Skip the queues of a renewal: they do not explain the start of the pause.
                if let Some(decision) = decision.filter(|decision| decision.at == row.at) {
                    decision.behind.push((egress, egress_class, load));
                }
            }
            TraceEvent::ResumeSent { port, class, .. } => {
                if let Some(&index) = self.accounts.get(&(at_port(port), class)) {
                    self.pauses.decisions[index].go.get_or_insert(row.at);
                }
            }
            TraceEvent::Xoff { port, egress, of, waiting, .. } => {
                let index = self.decide(row, port, None, Some(of), (waiting, 0));
                self.pauses.decisions[index].behind.push((egress, 0, Load::default()));
                self.outputs.insert((at_port(port), egress, of), index);
                self.calls.insert((at_port(port), of), index);
                // An XOFF that applies to all frames is sent as a PAUSE frame.
                if of == TrafficSelector::default() {
                    self.accounts.insert((at_port(port), None), index);
                }
            }
            TraceEvent::Xon { port, egress, of, .. } => {
                if let Some(&index) = self.outputs.get(&(at_port(port), egress, of)) {
                    self.pauses.decisions[index].go.get_or_insert(row.at);
                }
            }
            TraceEvent::Paused { port, class, from, until } => self.stop(at_port(port), class, from, until),
            TraceEvent::Resumed { port, class, from } => self.go_on(at_port(port), class, from),
            TraceEvent::Held { port, of, rate_bps, until } => self.hold(at_port(port), of, rate_bps, row.at, until),
            TraceEvent::Released { port, of } => {
                if let Some(index) = self.open_holds.remove(&(at_port(port), of)) {
                    let hold = &mut self.pauses.holds[index];
                    hold.until = hold.until.min(row.at);
                }
            }
            TraceEvent::LinkDown { port } => {
                // Frames held at a failed link are dropped, so all holds at this port end.
                for (_, &index) in self.open_holds.range((at_port(port), TrafficSelector::default())..) {
                    let hold = &mut self.pauses.holds[index];
                    if hold.port != at_port(port) {
                        break;
                    }
                    hold.until = hold.until.min(row.at);
                }
            }
            TraceEvent::StormBegun { port, class } => {
                self.open_storms.insert((at_port(port), class), self.pauses.storms.len());
                self.pauses.storms.push(Storm { port: at_port(port), class, from: row.at, until: None });
            }
            TraceEvent::StormOver { port, class } => {
                if let Some(index) = self.open_storms.remove(&(at_port(port), class)) {
                    self.pauses.storms[index].until = Some(row.at);
                }
            }
            _ => {}
        }
    }

    fn decide(
        &mut self,
        row: &TraceRow,
        port: u16,
        class: Option<u8>,
        of: Option<TrafficSelector>,
        (held, limit_bytes): (u64, u64),
    ) -> usize {
        let port = (row.node, port);
        let decision = Decision { port, class, of, at: row.at, go: None, held, limit_bytes, behind: Vec::new() };
        self.pauses.decisions.push(decision);
        self.pauses.decisions.len() - 1
    }

    fn stop(&mut self, port: PortId, class: Option<u8>, from: Time, until: Time) {
        let key = (port, class);
        let last = self.open.get(&key).map(|&index| &mut self.pauses.stops[index]);
        if let Some(stop) = last.filter(|stop| stop.until >= from) {
            stop.until = until;
            return;
        }
        // A pause without expiry is a wait for credits; its cause is determined when the wait ends.
        let credit = until == Time::MAX;
        let cause = self.peer(port).filter(|_| !credit).and_then(|peer| self.accounts.get(&(peer, class)).copied());
        self.open.insert(key, self.pauses.stops.len());
        let (of, at_end, rate_bps) = (None, false, 0);
        self.pauses.stops.push(PauseInterval { port, class, of, from, until, at_end, credit, rate_bps, cause });
    }

    fn go_on(&mut self, port: PortId, class: Option<u8>, from: Time) {
        let Some(index) = self.open.remove(&(port, class)) else { return };
        self.find_credits(index);
        let stop = &mut self.pauses.stops[index];
        stop.until = stop.until.min(from);
    }

    /// Sets the cause of a wait for credits to the ingress account at the other end of the link, unless this account
    /// had granted credits that arrived before the wait began.
    fn find_credits(&mut self, index: usize) {
        let PauseInterval { port, class, from, credit, .. } = self.pauses.stops[index];
        let Some(link) = self.ports.get(&port).filter(|_| credit) else { return };
        let account = self.accounts.get(&((link.peer, link.peer_port), class)).copied();
        // Serialisation delay of a credit message on the link.
        let wire = Rate::from_bps(link.rate_bps).map_or(Time::ZERO, |rate| rate.serialise(MESSAGE_BYTES));
        let arrival_of = |go: Time| go.saturating_add(Time::from_ps(link.delay_ps)).saturating_add(wire);
        let kept = |&index: &usize| self.pauses.decisions[index].go.is_none_or(|go| arrival_of(go) >= from);
        if let Some(account) = account.filter(kept) {
            self.pauses.stops[index].cause = Some(account);
        }
    }

    fn hold(&mut self, port: PortId, of: TrafficSelector, rate_bps: u64, from: Time, until: Time) {
        let last = self.open_holds.get(&(port, of)).map(|&index| &mut self.pauses.holds[index]);
        if let Some(hold) = last.filter(|hold| hold.until > from) {
            hold.until = until;
            hold.rate_bps = hold.rate_bps.min(rate_bps);
            return;
        }
        let cause = self.peer(port).and_then(|peer| self.calls.get(&(peer, of)).copied());
        self.open_holds.insert((port, of), self.pauses.holds.len());
        let (class, of, at_end, credit) = (None, Some(of), false, false);
        self.pauses.holds.push(PauseInterval { port, class, of, from, until, at_end, credit, rate_bps, cause });
    }

    /// Returns all pauses of a run that ended at `end`.
    pub fn finish(mut self, end: Time) -> Pauses {
        let open: Vec<usize> = self.open.values().copied().collect();
        open.into_iter().for_each(|index| self.find_credits(index));
        let mut pauses = self.pauses;
        for all in [&mut pauses.stops, &mut pauses.holds] {
            all.retain(|stop| stop.from < stop.until && stop.from < end);
            for stop in all.iter_mut() {
                stop.at_end = stop.until > end;
                stop.until = stop.until.min(end);
            }
            all.sort_by_key(|stop| (stop.from, stop.port, stop.class, stop.of));
        }
        for (index, stop) in pauses.stops.iter().enumerate() {
            pauses.by_class.entry((stop.port, stop.class)).or_default().push(index);
        }
        for (index, hold) in pauses.holds.iter().enumerate() {
            pauses.by_flow.entry((hold.port, hold.of.unwrap_or_default())).or_default().push(index);
        }
        pauses
    }
}
