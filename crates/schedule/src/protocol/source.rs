//! Source of a stream: requests, retries, refreshes and release.

use super::node::{Node, Output, ReceivedRequest, StreamId};
use crate::slot::Slot;
use units::Time;
use wire::ReservationKind::{Fail, Ready, Release, Request, Withdraw};
use wire::{OccupiedShifts, Reservation};

/// Request parameters of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRequest {
    /// Stream.
    pub stream: StreamId,
    /// Address of the receiver.
    pub destination: u32,
    /// Longest frame, from destination address to FCS; at least 64 bytes.
    pub frame_bytes: u16,
    /// TW, the window with one frame; above zero and at most [`Reservation::MAX_WINDOW_PS`].
    pub window: Time,
    /// Preferred start within the window, by the clock of the source.
    pub start: Time,
}

/// Slot in use.
#[derive(Clone, Copy, Debug)]
struct Active {
    sequence: u32,
    slot: Slot,
    until: Time,
}

/// Pending request.
#[derive(Clone, Copy, Debug)]
struct Pending {
    sequence: u32,
    measured: Time,
    until: Time,
}

/// Stream of this node.
#[derive(Clone, Debug)]
pub struct Source {
    ask: SlotRequest,
    sequence: u32,
    active: Option<Active>,
    pending: Option<Pending>,
    /// Time of the next request, while none is pending.
    again: Option<Time>,
    /// Consecutive failed requests.
    failures: u32,
    /// Shifts learned to be occupied.
    known: Vec<OccupiedShifts>,
}

impl Source {
    /// Returns the time of the next timer.
    pub fn next(&self) -> Option<Time> {
        let pending = self.pending.map(|pending| pending.until);
        [pending, self.again, self.active.map(|active| active.until)].into_iter().flatten().min()
    }
}

impl Node {
    /// Requests a slot. An existing stream is released first, because its window or receiver may differ.
    ///
    /// # Panics
    /// If the window is zero or too long, or the frame is shorter than Ethernet's minimum.
    pub fn ask(&mut self, now: Time, ask: SlotRequest, out: &mut Vec<Output>) {
        assert!((1..=Reservation::MAX_WINDOW_PS).contains(&ask.window.as_ps()), "a window of 1 ps to 281 s");
        assert!(ask.frame_bytes >= 64, "a frame of 64 bytes and more");
        self.release(now, ask.stream, out);
        let sequence = self.sequences.get(&ask.stream).copied().unwrap_or(0);
        let (active, pending, again) = (None, None, None);
        let source = Source { ask, sequence, active, pending, again, failures: 0, known: Vec::new() };
        self.sources.insert(ask.stream, source);
        self.attempt(now, ask.stream, out);
    }

    /// Ends a stream and releases its slots.
    pub fn release(&mut self, now: Time, stream: StreamId, out: &mut Vec<Output>) {
        let Some(source) = self.sources.remove(&stream) else { return };
        if source.active.is_some() {
            out.push(Output::Stopped { stream });
        }
        self.table.retain(|entry| entry.stream != stream);
        let message = message(&source, source.sequence, Release);
        self.forward(message, self.address, source.ask.destination, out);
        self.tick(now, out);
    }

    fn attempt(&mut self, now: Time, stream: StreamId, out: &mut Vec<Output>) {
        let answer = self.config.answer;
        let Some(source) = self.sources.get_mut(&stream) else { return };
        source.sequence += 1;
        self.sequences.insert(stream, source.sequence);
        source.again = None;
        source.pending = Some(Pending { sequence: source.sequence, measured: now, until: now + answer });
        let occupied = std::mem::take(&mut source.known);
        let request = Reservation { occupied, ..message(source, source.sequence, Request) };
        let (destination, start) = (source.ask.destination, source.ask.start);
        let address = self.address;
        self.request(
            ReceivedRequest { message: request, source: address, destination, ingress: None, start, arrived: now },
            out,
        );
    }

    /// Handles the answer to a reservation request at the source of the request.
    pub(super) fn own(&mut self, now: Time, answer: &Reservation, start: Time, out: &mut Vec<Output>) {
        let (stream, sequence) = (answer.stream, answer.sequence);
        let Some(source) = self.sources.get(&stream) else { return };
        let Some(pending) = source.pending.filter(|pending| pending.sequence == sequence) else {
            // The answer is a duplicate of the one in use, or it arrived after its timeout; in the second case it is
            // withdrawn.
            if answer.kind == Ready && source.active.is_none_or(|active| active.sequence != sequence) {
                self.withdraw(stream, sequence, out);
            }
            return;
        };
        match answer.kind {
            Ready => self.start(now, answer, pending, out),
            Fail => {
                let known = Some((start, answer.occupied.clone()));
                self.failed(now, stream, known, out);
            }
            _ => {}
        }
    }

    fn start(&mut self, now: Time, answer: &Reservation, pending: Pending, out: &mut Vec<Output>) {
        let (stream, sequence, refresh) = (answer.stream, answer.sequence, self.config.refresh);
        let until = pending.measured + self.config.source_lifetime();
        let Some(entry) = self.table.find(stream, sequence) else { return };
        let slot = entry.slot;
        self.table.retain(|entry| entry.stream != stream || entry.sequence == sequence);
        let Some(source) = self.sources.get_mut(&stream) else { return };
        source.active = Some(Active { sequence, slot, until });
        (source.pending, source.failures, source.again) = (None, 0, Some(pending.measured + refresh));
        // A refresh requests the current slot first.
        source.ask.start = slot.start();
        if now >= until {
            // The answer arrived after the lifetime of its slot.
            source.active = None;
            source.again = Some(now);
            return;
        }
        out.push(Output::Started { stream, slot, shift: Time::from_ps(answer.shift_ps) });
    }

    /// Handles a failed request: retries later or gives up.
    fn failed(
        &mut self,
        now: Time,
        stream: StreamId,
        known: Option<(Time, Vec<OccupiedShifts>)>,
        out: &mut Vec<Output>,
    ) {
        let Some(source) = self.sources.get_mut(&stream) else { return };
        source.pending = None;
        source.failures += 1;
        if source.failures >= self.config.attempts && source.active.is_none() {
            self.sources.remove(&stream);
            out.push(Output::Failed { stream });
            return;
        }
        // The learned shifts are relative to `start`, so both must be used together.
        if let Some((start, occupied)) = known {
            (source.ask.start, source.known) = (start, occupied);
        }
        // Truncated binary exponential backoff: the range doubles per failure, up to 16 answer times, so that the
        // retries of conflicting sources do not stay synchronised.
        let spread = self.config.answer.as_ps() << source.failures.min(4);
        source.again = Some(now + Time::from_ps(1 + self.random.below(spread.max(1))));
    }

    fn withdraw(&mut self, stream: StreamId, sequence: u32, out: &mut Vec<Output>) {
        self.table.remove(stream, sequence);
        let Some(source) = self.sources.get(&stream) else { return };
        let message = message(source, sequence, Withdraw);
        self.forward(message, self.address, source.ask.destination, out);
    }

    pub(super) fn tick_sources(&mut self, now: Time, out: &mut Vec<Output>) {
        let due: Vec<StreamId> = self.sources.keys().copied().collect();
        for stream in due {
            let Some(source) = self.sources.get_mut(&stream) else { continue };
            if source.active.is_some_and(|active| active.until <= now) {
                source.active = None;
                out.push(Output::Stopped { stream });
            }
            // A late answer is withdrawn by `own`, because no request is pending then.
            if let Some(pending) = source.pending.filter(|pending| pending.until <= now) {
                self.withdraw(stream, pending.sequence, out);
                self.failed(now, stream, None, out);
            }
            if self.sources.get(&stream).is_some_and(|source| source.again.is_some_and(|again| again <= now)) {
                self.attempt(now, stream, out);
            }
        }
    }

    /// Returns the slot of an active stream of this node, and the time before which the last frame must start without a
    /// refresh.
    pub fn active(&self, stream: StreamId) -> Option<(Slot, Time)> {
        self.sources.get(&stream)?.active.map(|active| (active.slot, active.until))
    }
}

fn message(source: &Source, sequence: u32, kind: wire::ReservationKind) -> Reservation {
    Reservation {
        kind,
        stream: source.ask.stream,
        sequence,
        active: source.active.map_or(0, |active| active.sequence),
        frame_bytes: source.ask.frame_bytes,
        window_ps: source.ask.window.as_ps(),
        start_ps: 0,
        shift_ps: 0,
        occupied: Vec::new(),
    }
}
