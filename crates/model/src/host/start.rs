//! Start of flows: planned, random, or after other flows.

use super::Host;
use super::timers::Event;
use crate::numbering::DRAWN;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::{Frame, Kind};
use traffic::{FlowEvent, JOIN, Load, Start};
use units::Time;

impl Host {
    pub(super) fn schedule_first_starts(&mut self) {
        self.schedule_next_planned();
        for source in 0..self.flow_schedule.arrivals.len() {
            self.schedule_next_arrival(source);
        }
    }

    fn schedule_next_planned(&mut self) {
        if let Some(&(at, flow)) = self.flow_schedule.planned.get(self.flow_schedule.next_planned) {
            self.flow_schedule.next_planned += 1;
            self.schedule(at, Event::Start(flow));
        }
    }

    fn schedule_next_arrival(&mut self, source: usize) {
        let (arrivals, next) = &mut self.flow_schedule.arrivals[source];
        *next = arrivals.next();
        if let Some(arrival) = next {
            let at = arrival.at;
            self.schedule(at, Event::Arrival(source as u32));
        }
    }

    pub(super) fn start_planned(&mut self, now: Time, flow: u32, window: &mut Window<'_, OnWire>) {
        // Each planned start with a fixed time schedules the next one. Starts that depend on other flows do not.
        if matches!(self.network.traffic.flows[flow as usize].start, Start::At(_)) {
            self.schedule_next_planned();
        }
        self.start(now, flow, window);
    }

    pub(super) fn start_arrival(&mut self, now: Time, source: u32, window: &mut Window<'_, OnWire>) {
        let (arrivals, next) = &self.flow_schedule.arrivals[source as usize];
        let (class, traffic, dst_port) = (arrivals.class, arrivals.traffic, arrivals.dst_port);
        if let Some(arrival) = *next {
            let number = DRAWN | self.flow_schedule.drawn_flows;
            self.flow_schedule.drawn_flows = (self.flow_schedule.drawn_flows + 1) & !DRAWN;
            let flow = traffic::Flow {
                src: self.identity.index,
                dst: arrival.dst,
                size_bytes: arrival.size_bytes,
                start: Start::At(now),
                class,
                traffic,
                dst_port,
                path: None,
                load: Load::Transport,
            };
            self.schedule_next_arrival(source as usize);
            self.open(now, number, &flow, window);
        }
    }

    fn start(&mut self, now: Time, number: u32, window: &mut Window<'_, OnWire>) {
        let network = std::sync::Arc::clone(&self.network);
        self.open(now, number, &network.traffic.flows[number as usize], window);
    }

    /// Notifies the flows and joins that wait for this event of `flow`.
    pub(super) fn notify(&mut self, now: Time, flow: u32, when: FlowEvent, window: &mut Window<'_, OnWire>) {
        if flow & DRAWN != 0 {
            return;
        }
        let network = std::sync::Arc::clone(&self.network);
        for notification in network.traffic.notifications.of(flow) {
            if notification.when != when {
                continue;
            }
            let host = network.host_of(notification.target);
            if host == self.identity.index {
                self.notified(now, notification.target);
            } else if let Ok(wire) = self.flow_schedule.notified_hosts.binary_search_by_key(&host, |entry| entry.0) {
                let port = self.flow_schedule.notified_hosts[wire].1;
                let at = now + network.hosts.notification_delay;
                window.send(
                    port,
                    OnWire(Frame { at, kind: Kind::Trigger, flow: notification.target, ..Frame::default() }),
                );
            }
        }
    }

    /// Counts one of the events for which `target` (a flow or a join) waits. The last event starts the delay of
    /// `target`.
    pub(super) fn notified(&mut self, now: Time, target: u32) {
        let Some(left) = self.flow_schedule.missing_notifications.get_mut(&target) else { return };
        *left -= 1;
        if *left > 0 {
            return;
        }
        self.flow_schedule.missing_notifications.remove(&target);
        if target & JOIN != 0 {
            let delay = self.network.traffic.joins[(target & !JOIN) as usize].delay;
            self.schedule(now.saturating_add(delay), Event::Joined(target & !JOIN));
        } else if let Start::After { delay, .. } = self.network.traffic.flows[target as usize].start {
            self.schedule(now.saturating_add(delay), Event::Start(target));
        }
    }

    /// Counts the completion of a join as an event for each flow that waits for it. All these flows start at this host.
    pub(super) fn joined(&mut self, now: Time, join: u32) {
        let network = std::sync::Arc::clone(&self.network);
        for &flow in &network.traffic.joins[join as usize].flows {
            self.notified(now, flow);
        }
    }
}
