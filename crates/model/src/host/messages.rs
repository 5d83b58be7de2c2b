//! Connections that carry several messages. One sender and one receiver transfer a byte stream that contains all
//! messages one after the other, so that window, rate, order and path are common to all messages of the connection.
//!
//! ```text
//!  message may start -> waiting_messages -> Outbox, in order -> Sender::extend after the previous message is sent
//!  frames carry the number of the connection (its first message) and positions in its stream
//!  in-order data up to the end of a message -> Inbox -> message delivered; acknowledged up to its end -> message sent
//! ```
//!
//! Sender and receiver take the order and the sizes of the messages from the traffic plan.

use super::flows::{Delivery, FlowEnd, FlowReport, FlowSource, FlowState, Outgoing};
use super::{Host, HostIdentity};
use crate::clock::local;
use crate::network::Network;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::endpoint::{Receiver, Segment, Sender, SenderStatistics};
use protocols::frame::flags;
use std::collections::VecDeque;
use std::sync::Arc;
use traffic::FlowEvent;
use units::Time;

/// The messages of a connection at its sender.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The first message that is not fully acknowledged, and the offset of its end in the byte stream.
    current: u32,
    end: u64,
    /// Start times of the messages from `current` to `last`.
    starts: VecDeque<Time>,
    last: u32,
    /// The last message passed to the sender, and the number of `starts` passed to the sender.
    sending: u32,
    passed: usize,
    /// Whether all bytes passed to the sender have been sent at least once.
    is_sent: bool,
    /// Statistics of the messages before `current`.
    before: SenderStatistics,
}

impl Outbox {
    /// Creates the outbox of a connection opened at `now` by its first message.
    pub fn new(network: &Network, first: u32, now: Time) -> Outbox {
        Outbox {
            current: first,
            end: bytes_of(network, first),
            starts: VecDeque::from([now]),
            last: first,
            sending: first,
            passed: 1,
            is_sent: false,
            before: SenderStatistics::default(),
        }
    }

    /// Returns the message in transfer; `None` between messages.
    pub fn carried(&self) -> Option<u32> {
        (!self.starts.is_empty()).then_some(self.current)
    }

    /// Returns the messages that have started but are not acknowledged, with their start times.
    pub fn messages<'a>(&'a self, network: &'a Network) -> impl Iterator<Item = (u32, Time)> + 'a {
        let numbers = std::iter::successors(Some(self.current), |&flow| network.traffic.connections.next(flow));
        numbers.zip(self.starts.iter().copied())
    }
}

/// The messages of a connection at its receiver: the message in transfer, and the offset of its end in the byte stream.
#[derive(Debug)]
pub(super) struct Inbox {
    current: u32,
    end: u64,
}

impl Inbox {
    pub fn new(network: &Network, first: u32) -> Inbox {
        Inbox { current: first, end: bytes_of(network, first) }
    }
}

fn bytes_of(network: &Network, flow: u32) -> u64 {
    network.traffic.flows[flow as usize].size_bytes.max(1)
}

/// Returns the record of an active `message` that started at `start`, with the `statistics` of this message only.
fn message_end(network: &Network, (message, start): (u32, Time), statistics: SenderStatistics) -> FlowEnd {
    let flow = &network.traffic.flows[message as usize];
    FlowEnd {
        flow: message,
        src: flow.src,
        dst: flow.dst,
        traffic: flow.traffic,
        class: flow.class,
        dst_port: flow.dst_port,
        size_bytes: flow.size_bytes,
        start,
        delivered: None,
        acked: None,
        open: true,
        retransmitted_bytes: statistics.retransmitted_bytes,
        timeouts: statistics.timeouts,
    }
}

impl Outgoing {
    /// Returns the records of the started and not acknowledged messages, if this is a connection.
    pub fn open_messages(&self, network: &Network) -> Vec<FlowEnd> {
        let (Some(outbox), FlowSource::Transport(sender)) = (&self.outbox, &self.source) else { return Vec::new() };
        let mut own = since(sender.statistics(), &outbox.before);
        let end = |message| message_end(network, message, std::mem::take(&mut own));
        outbox.messages(network).map(end).collect()
    }
}

fn since(now: SenderStatistics, before: &SenderStatistics) -> SenderStatistics {
    SenderStatistics {
        retransmitted_bytes: now.retransmitted_bytes - before.retransmitted_bytes,
        timeouts: now.timeouts - before.timeouts,
        delivered: None,
    }
}

impl Host {
    /// Queues the message `number`, which may start at `now`, on its connection. If it is the first message, does
    /// nothing and returns false: the caller must open the connection.
    pub(super) fn enqueue_message(&mut self, now: Time, number: u32, window: &mut Window<'_, OnWire>) -> bool {
        let connection = self.network.traffic.connections.of(number);
        if connection == number {
            return false;
        }
        self.senders.waiting_messages.insert(number, now);
        if let Some(&slot) = self.senders.by_flow.get(&connection) {
            self.start_waiting_messages(now, slot, window);
        }
        true
    }

    /// Returns the messages that may start, but wait for an earlier message of their connection that may not start yet.
    pub(super) fn waiting_messages(&self) -> impl Iterator<Item = FlowEnd> + '_ {
        let waiting = self.senders.waiting_messages.iter().map(|(&flow, &start)| (flow, start));
        waiting.map(|message| message_end(&self.network, message, SenderStatistics::default()))
    }

    /// Moves messages from `waiting_messages` to the connection in `slot`, in order, up to the first message that may
    /// not start.
    pub(super) fn start_waiting_messages(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let Host { senders, network, .. } = self;
        let Some(outbox) = &mut senders.flows[slot as usize].outbox else { return };
        while let Some(next) = network.traffic.connections.next(outbox.last)
            && let Some(start) = senders.waiting_messages.remove(&next)
        {
            outbox.last = next;
            outbox.starts.push_back(start);
        }
        if outbox.is_sent {
            self.extend_sender(now, slot, window);
        }
    }

    /// Passes the next message to the sender in `slot`, which has sent all previous messages.
    pub(super) fn extend_sender(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let Host { senders, network, identity: HostIdentity { clock, .. }, .. } = self;
        let flow = &mut senders.flows[slot as usize];
        let (Some(outbox), FlowSource::Transport(sender)) = (&mut flow.outbox, &mut flow.source) else { return };
        if outbox.passed == outbox.starts.len() {
            return;
        }
        let Some(next) = network.traffic.connections.next(outbox.sending) else { return };
        (outbox.sending, outbox.is_sent) = (next, false);
        outbox.passed += 1;
        let extends = sender.extend(local(clock.as_ref(), now), bytes_of(network, next));
        assert!(extends, "this transport has connections");
        if flow.state == FlowState::Idle {
            self.update_sender_timer(slot);
            self.resume_flow(now, slot, window);
        }
    }

    /// Handles the last segment of a message of the connection in `slot`. Unless it is the last message, replaces the
    /// flag `LAST` by `PUSH`, because the flow ends only with the last message.
    #[cold]
    pub(super) fn end_message(&mut self, slot: u32, segment: &mut Segment) {
        let Some(outbox) = &mut self.senders.flows[slot as usize].outbox else { return };
        outbox.is_sent = true;
        if self.network.traffic.connections.next(outbox.sending).is_some() {
            segment.flags = segment.flags & !flags::LAST | flags::PUSH;
        }
    }

    /// Ends the acknowledged messages of the connection in `slot`, and closes the connection after its last message.
    pub(super) fn finish_messages(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let network = Arc::clone(&self.network);
        let connections = &network.traffic.connections;
        let flow = &mut self.senders.flows[slot as usize];
        let (Some(mut outbox), FlowSource::Transport(sender)) = (flow.outbox.take(), &flow.source) else { return };
        let (acknowledged, statistics) = (sender.acknowledged(), sender.statistics());
        let mut ended = Vec::new();
        let mut is_last = false;
        while !is_last
            && acknowledged >= outbox.end
            && let Some(start) = outbox.starts.pop_front()
        {
            let (number, own) = (outbox.current, since(statistics, &outbox.before));
            (outbox.before, outbox.passed) = (statistics, outbox.passed - 1);
            let end = message_end(&network, (number, start), own);
            self.scratch.completed_flows.push(FlowReport::Sender(FlowEnd { acked: Some(now), open: false, ..end }));
            ended.push(number);
            match connections.next(number) {
                Some(next) => {
                    (outbox.current, outbox.end) = (next, outbox.end.saturating_add(bytes_of(&network, next)));
                }
                None => is_last = true,
            }
        }
        flow.outbox = Some(outbox);
        self.senders.finished += ended.len() as u64;
        if is_last {
            self.close(slot);
        }
        for number in ended {
            self.notify(now, number, FlowEvent::Sent, window);
        }
    }

    /// Delivers the messages that are complete after an arrival of data in `slot`.
    #[cold]
    pub(super) fn deliver_messages(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let network = Arc::clone(&self.network);
        let incoming = &mut self.receivers.flows[slot as usize];
        let (expected, src) = (incoming.receiver.next_expected(), incoming.src);
        while let Some(inbox) = &mut self.receivers.flows[slot as usize].inbox
            && expected >= inbox.end
        {
            let flow = inbox.current;
            match network.traffic.connections.next(flow) {
                Some(next) => {
                    let end = inbox.end.saturating_add(bytes_of(&network, next));
                    **inbox = Inbox { current: next, end };
                }
                None => self.receivers.flows[slot as usize].inbox = None,
            }
            let delivery = Delivery { src, flow, at: now, size_bytes: network.traffic.flows[flow as usize].size_bytes };
            self.scratch.completed_flows.push(FlowReport::Receiver(delivery));
            self.receivers.expired_deliveries.insert((src, flow), delivery);
            self.notify(now, flow, FlowEvent::Delivered, window);
        }
    }
}
