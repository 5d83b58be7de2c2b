//! Node (host or switch): its registrations and message handling.

use super::config::{Concurrency, Config};
use super::source::Source;
use super::table::{Entry, Table, from_wire, to_wire};
use crate::search::{Field, SlotStrategy};
use crate::slot::{ConflictInterval, Slot};
use std::collections::{BTreeMap, VecDeque};
use units::random::Stream;
use units::{Rate, Time};
use wire::ReservationKind::{self, Fail, Ready, Release, Request, Update, Withdraw};
use wire::{MacAddress, Reservation};

/// Stream number, unique in the network.
pub type StreamId = u64;

/// Port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Rate of its link, which determines slot lengths.
    pub rate: Rate,
}

/// Message whose Ts is computed at its departure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departing {
    destination: u32,
    source: u32,
    message: Reservation,
    /// Start of the slot by the sending node's clock.
    start: Time,
    /// Maximum length with occupied intervals.
    most_bytes: u16,
}

impl Departing {
    /// Returns the message kind.
    pub fn kind(&self) -> ReservationKind {
        self.message.kind
    }
    /// Returns the message without Ts.
    pub fn message(&self) -> &Reservation {
        &self.message
    }
    /// Returns the frame for a transmission that starts at `departure` by the sending node's clock (eq. 4.2).
    pub fn frame(&self, departure: Time) -> Vec<u8> {
        let window = Time::from_ps(self.message.window_ps);
        let start_ps = ((self.start % window + window - departure % window) % window).as_ps();
        let mut frame = Vec::new();
        let message = Reservation { start_ps, ..self.message.clone() };
        message.emit(mac(self.destination), mac(self.source), self.most_bytes, &mut frame);
        frame
    }
}

/// Action requested by a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this as soon as the port is free.
    Send {
        /// Port.
        port: u16,
        /// Message.
        message: Departing,
    },
    /// The source of this stream may send in this slot. From its next instance on, the previous slot is invalid.
    Started {
        /// Stream.
        stream: StreamId,
        /// Slot by the clock of the source.
        slot: Slot,
        /// Sum of all ΔTs of this request.
        shift: Time,
    },
    /// The source must stop sending.
    Stopped {
        /// Stream.
        stream: StreamId,
    },
    /// The source gives up: no attempt found a slot.
    Failed {
        /// Stream.
        stream: StreamId,
    },
}

/// Reason that a node rejects a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Not a valid reservation message.
    Bytes(wire::Error),
    /// Address that is not of this network's nodes.
    Address(MacAddress),
}

/// Request with Ts converted to this node's clock.
#[derive(Clone, Debug)]
pub(super) struct ReceivedRequest {
    pub message: Reservation,
    pub source: u32,
    pub destination: u32,
    pub ingress: Option<u16>,
    /// Ts by this node's clock (eq. 4.1).
    pub start: Time,
    pub arrived: Time,
}

/// Node. Times are by its own clock, which must not go backwards.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) address: u32,
    pub(super) ports: Vec<Port>,
    /// Port towards each destination.
    pub(super) routes: BTreeMap<u32, u16>,
    pub(super) config: Config,
    pub(super) table: Table,
    pub(super) sources: BTreeMap<StreamId, Source>,
    /// Last sequence number of each stream of which this node has been the source.
    pub(super) sequences: BTreeMap<StreamId, u32>,
    /// Newest sequence number seen of each stream, and its expiry time. It prevents a late duplicate from being handled
    /// as a new request.
    newest: BTreeMap<StreamId, (u32, Time)>,
    /// Requests that wait for pending ones, in order of arrival.
    waiting: VecDeque<ReceivedRequest>,
    /// Random backoff after failures.
    pub(super) random: Stream,
}

/// Returns a locally administered address.
pub(super) fn mac(address: u32) -> MacAddress {
    let [a, b, c, d] = address.to_be_bytes();
    MacAddress::new([2, 0, a, b, c, d])
}

fn address(mac: MacAddress) -> Result<u32, Refused> {
    match mac.octets() {
        [2, 0, a, b, c, d] => Ok(u32::from_be_bytes([a, b, c, d])),
        _ => Err(Refused::Address(mac)),
    }
}

impl Node {
    /// Creates a node without registrations. `routes` has the port towards each reachable destination.
    pub fn new(address: u32, ports: Vec<Port>, routes: BTreeMap<u32, u16>, config: Config, random: Stream) -> Node {
        let (table, sources, sequences) = (Table::default(), BTreeMap::new(), BTreeMap::new());
        let (newest, waiting) = (BTreeMap::new(), VecDeque::new());
        Node { address, ports, routes, config, table, sources, sequences, newest, waiting, random }
    }

    /// Returns the reserved slots at all ports: stream, port, slot.
    pub fn slots(&self) -> impl Iterator<Item = (StreamId, u16, Slot)> + '_ {
        self.table.all().iter().map(|entry| (entry.stream, entry.egress, entry.slot))
    }

    /// Handles a frame that arrived completely at `now`.
    ///
    /// # Errors
    /// If it is not a message of this protocol; the node is then unchanged.
    pub fn receive(&mut self, now: Time, port: u16, frame: &[u8], out: &mut Vec<Output>) -> Result<(), Refused> {
        let (to, from, message) = Reservation::parse(frame).map_err(Refused::Bytes)?;
        let (destination, source) = (address(to)?, address(from)?);
        self.forget(now);
        let (stream, sequence) = (message.stream, message.sequence);
        match message.kind {
            Request => {
                // A request longer than a frame of the stream arrives later than the frame by the difference of their
                // transmissions.
                let window = Time::from_ps(message.window_ps);
                let rate = self.ports.get(usize::from(port)).map(|port| port.rate);
                let takes = |bytes: u64| rate.map_or(Time::ZERO, |rate| self.config.wire.transmission(rate, bytes));
                let late = takes(frame.len() as u64).saturating_sub(takes(message.frame_bytes.into()));
                let start = Time::from_ps(message.start_ps) + now + (window - late % window);
                let asked = ReceivedRequest { message, source, destination, ingress: Some(port), start, arrived: now };
                self.request(asked, out);
            }
            Update => self.move_back(now, &message, out),
            Ready => self.ready(now, &message, out),
            Fail => {
                if let Some(entry) = self.table.remove(stream, sequence) {
                    self.backward(now, entry, message, out);
                }
            }
            Withdraw | Release => {
                self.drop_slots(&message);
                self.remember(&message, now);
                self.forward(message, source, destination, out);
            }
        }
        self.serve_waiting(now, out);
        Ok(())
    }

    fn drop_slots(&mut self, message: &Reservation) {
        // A release ends all attempts up to its sequence number, a withdraw only the attempt with its sequence number.
        let gone = |sequence: u32| match message.kind {
            Release => sequence <= message.sequence,
            _ => sequence == message.sequence,
        };
        self.table.retain(|entry| entry.stream != message.stream || !gone(entry.sequence));
        self.waiting.retain(|asked| asked.message.stream != message.stream || !gone(asked.message.sequence));
    }

    /// Records the sequence number. Returns `true` if it is newer than all sequence numbers seen of the stream.
    fn remember(&mut self, message: &Reservation, now: Time) -> bool {
        let known = self.newest.get(&message.stream).map_or(0, |&(sequence, _)| sequence);
        let until = now + self.config.lifetime + self.config.lifetime;
        self.newest.insert(message.stream, (known.max(message.sequence), until));
        message.sequence > known
    }

    pub(super) fn request(&mut self, asked: ReceivedRequest, out: &mut Vec<Output>) {
        if !self.remember(&asked.message, asked.arrived) {
            return;
        }
        // The receiver needs no slot, so the request is ready.
        if asked.destination == self.address {
            let ready = Reservation { kind: Ready, occupied: Vec::new(), ..asked.message };
            if let Some(port) = asked.ingress {
                out.push(self.send(port, ready, asked.destination, asked.source, Time::ZERO));
            }
            return;
        }
        // A new request replaces a waiting one of its stream.
        self.waiting.retain(|other| other.message.stream != asked.message.stream);
        let unsettled = |port: &u16| self.table.is_unsettled(*port, asked.message.stream);
        let waits = self.config.concurrency == Concurrency::Serialise
            && self.routes.get(&asked.destination).is_some_and(unsettled);
        if waits { self.waiting.push_back(asked) } else { self.serve(asked.arrived, asked, out) }
    }

    /// Finds a slot for a request and forwards it (thesis, section 4.5.1 ii to v).
    fn serve(&mut self, now: Time, asked: ReceivedRequest, out: &mut Vec<Output>) {
        let ReceivedRequest { message, source, destination, ingress, start, arrived } = asked;
        let (stream, sequence, active) = (message.stream, message.sequence, message.active);
        // The slot in use must remain until the source switches to the new one.
        self.table.retain(|entry| entry.stream != stream || entry.sequence == active);
        let window = Time::from_ps(message.window_ps);
        let shift = Time::from_ps(message.shift_ps);
        let egress = self.routes.get(&destination).copied();
        let port = egress.and_then(|egress| self.ports.get(usize::from(egress)));
        let mut blocked = from_wire(&message.occupied, window);
        let found = port.zip(egress).and_then(|(port, egress)| {
            let length = self.config.wire.slot(port.rate, message.frame_bytes.into());
            let slot = Slot::new(start, length, window);
            if length + self.config.guard > window {
                return None;
            }
            let here = self.table.blocked(stream, egress, slot, self.config.guard);
            let upstream = blocked.clone();
            blocked.extend(&here);
            blocked.sort_unstable();
            blocked.dedup();
            // A refreshed stream keeps its start time if possible.
            let search = if active > 0 { SlotStrategy::Earliest } else { self.config.search };
            let field = Field { length: length + self.config.guard, here: &here, upstream: &upstream, walls: &[] };
            let by = search.shift(field, self.config.grid, window)?;
            Some((egress, by, Slot::new(slot.start() + by, length, window)))
        });
        let Some((egress, by, slot)) = found else {
            let occupied = to_wire(&blocked, window);
            let fail = Reservation { kind: Fail, occupied, ..message };
            self.answer(now, ingress, fail, (destination, source), start, out);
            return;
        };
        let shift = shift + by;
        self.table.insert(Entry {
            stream,
            sequence,
            source,
            destination,
            ingress,
            egress,
            slot,
            shift,
            ready: false,
            measured: arrived,
        });
        let message = Reservation { shift_ps: shift.as_ps(), ..message };
        if by > Time::ZERO && ingress.is_some() {
            let update = Reservation { kind: Update, occupied: Vec::new(), ..message.clone() };
            self.answer(now, ingress, update, (destination, source), Time::ZERO, out);
        }
        // Occupied shifts in messages are relative to the slot, which has moved by `by`.
        let rebased: Vec<ConflictInterval> = blocked.iter().map(|interval| interval.rebased(by.as_ps())).collect();
        let request = Reservation { occupied: to_wire(&rebased, window), ..message };
        out.push(self.send(egress, request, source, destination, slot.start()));
    }

    /// Handles an update: moves the slot as nodes downstream moved it (section 4.5.1 vi).
    fn move_back(&mut self, now: Time, message: &Reservation, out: &mut Vec<Output>) {
        let (stream, sequence, shift) = (message.stream, message.sequence, Time::from_ps(message.shift_ps));
        // A duplicate, or an update that a later one overtook.
        let Some(entry) = self.table.find(stream, sequence).filter(|entry| shift > entry.shift) else { return };
        let entry = *entry;
        if self.table.move_to(stream, sequence, shift, self.config.guard) {
            self.backward(now, entry, message.clone(), out);
        } else {
            self.collide(now, entry, message, out);
        }
    }

    /// Handles a ready message: all nodes downstream have the slot.
    fn ready(&mut self, now: Time, message: &Reservation, out: &mut Vec<Output>) {
        let (stream, sequence, shift) = (message.stream, message.sequence, Time::from_ps(message.shift_ps));
        // For this request, a sum of ΔTs below that of this node's entry is impossible.
        let Some(entry) = self.table.find(stream, sequence).filter(|entry| shift >= entry.shift) else { return };
        let entry = *entry;
        if !self.table.move_to(stream, sequence, shift, self.config.guard) {
            self.collide(now, entry, message, out);
            return;
        }
        if let Some(mut entry) = self.table.remove(stream, sequence) {
            entry.ready = true;
            self.table.insert(entry);
            self.backward(now, entry, message.clone(), out);
        }
    }

    /// Fails a request because its slot, as moved by nodes downstream, is occupied.
    fn collide(&mut self, now: Time, entry: Entry, message: &Reservation, out: &mut Vec<Output>) {
        let (stream, sequence) = (entry.stream, entry.sequence);
        self.table.remove(stream, sequence);
        let blocked = self.table.blocked(stream, entry.egress, entry.slot, self.config.guard);
        let occupied = to_wire(&blocked, entry.slot.period());
        let fail = Reservation { kind: Fail, shift_ps: entry.shift.as_ps(), occupied, ..message.clone() };
        let withdraw = Reservation { kind: Withdraw, occupied: Vec::new(), ..message.clone() };
        self.forward(withdraw, entry.source, entry.destination, out);
        self.backward(now, entry, fail, out);
    }

    /// Sends an answer back towards the source of `entry`, or handles it as the source.
    fn backward(&mut self, now: Time, entry: Entry, message: Reservation, out: &mut Vec<Output>) {
        // The shifts in a fail message are relative to the slot at the node that sent it, which may be shifted further
        // than the slot at this node.
        let further = Time::from_ps(message.shift_ps).saturating_sub(entry.shift);
        let (ends, start) = ((entry.destination, entry.source), entry.slot.start() + further);
        self.answer(now, entry.ingress, message, ends, start, out);
    }

    fn answer(
        &mut self,
        now: Time,
        ingress: Option<u16>,
        message: Reservation,
        (from, to): (u32, u32),
        start: Time,
        out: &mut Vec<Output>,
    ) {
        match ingress {
            Some(port) => out.push(self.send(port, message, from, to, Time::ZERO)),
            None => self.own(now, &message, start, out),
        }
    }

    /// Forwards a message towards the receiver.
    pub(super) fn forward(&self, message: Reservation, source: u32, destination: u32, out: &mut Vec<Output>) {
        if destination == self.address {
            return;
        }
        if let Some(&port) = self.routes.get(&destination) {
            out.push(self.send(port, message, source, destination, Time::ZERO));
        }
    }

    pub(super) fn send(&self, port: u16, message: Reservation, source: u32, destination: u32, start: Time) -> Output {
        Output::Send {
            port,
            message: Departing { destination, source, message, start, most_bytes: self.config.message_bytes },
        }
    }

    /// Serves waiting requests in order of arrival, at ports without pending requests.
    fn serve_waiting(&mut self, now: Time, out: &mut Vec<Output>) {
        let mut at = 0;
        while let Some(asked) = self.waiting.get(at) {
            let egress = self.routes.get(&asked.destination);
            if egress.is_some_and(|&egress| self.table.is_unsettled(egress, asked.message.stream)) {
                at += 1;
                continue;
            }
            if let Some(asked) = self.waiting.remove(at) {
                self.serve(now, asked, out);
            }
            at = 0;
        }
    }

    /// Removes everything that has expired by `now`.
    fn forget(&mut self, now: Time) {
        let config = self.config;
        self.table.retain(|entry| entry.until(&config) > now);
        self.waiting.retain(|asked| asked.arrived + config.pending_lifetime > now);
        self.newest.retain(|_, &mut (_, until)| until > now);
    }

    /// Handles all timers due at `now`.
    pub fn tick(&mut self, now: Time, out: &mut Vec<Output>) {
        self.forget(now);
        self.tick_sources(now, out);
        self.serve_waiting(now, out);
    }

    /// Returns the time of the next timer; an earlier call of [`Node::tick`] has no effect.
    pub fn next(&self) -> Option<Time> {
        let entries = self.table.all().iter().map(|entry| entry.until(&self.config));
        let waiting = self.waiting.iter().map(|asked| asked.arrived + self.config.pending_lifetime);
        entries.chain(waiting).chain(self.sources.values().filter_map(Source::next)).min()
    }
}
