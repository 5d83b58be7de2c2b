//! What happens inside a switch with time: stations pass frames on, and signals reach pipelines.

use super::{ENTERING, Passing, ROUND, SIGNALS, STAGED, STATIONS, Signal, WAITING, wire_bytes};
use crate::node::OnWire;
use crate::queue::Queue;
use crate::switch::Switch;
use engine::Window;
use protocols::frame::Frame;
use units::{GAP_BYTES, Time};

impl Switch {
    /// Everything inside that is due `now`.
    #[cold]
    #[inline(never)]
    pub(in crate::switch) fn run_inside(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        while let Some(inside) = self.inside.as_deref_mut().filter(|inside| inside.next() == now) {
            let place = inside.agenda.port();
            if place == SIGNALS {
                self.hear_signal(now);
                continue;
            }
            let (pipeline, station) = (usize::from(place - 1) / STATIONS, usize::from(place - 1) % STATIONS);
            match station {
                ENTERING => self.read_depth(pipeline, now),
                STAGED => self.leave_stages(pipeline, now, window),
                WAITING => self.serve(pipeline, now),
                _ => self.come_round(pipeline, now, window),
            }
        }
    }

    /// The recirculation port of `pipeline` is free: its oldest frame goes, and the pipelines are told of it.
    pub(super) fn serve(&mut self, pipeline: usize, now: Time) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let parameters = inside.parameters;
        let line = &mut inside.pipelines[pipeline];
        let length = line.waiting.len() as u64;
        if let Some(first) = line.waiting.pop() {
            line.area.on_change(now, length);
            line.area.on_departure(first.at, now);
            line.waiting_bytes -= u64::from(first.frame.size_bytes);
            let (rate, bytes) = (parameters.recirculation_rate, u64::from(wire_bytes(&first.frame)));
            line.busy_until = now + rate.serialise(bytes);
            // The gap keeps the port, not the frame.
            let last_bit = now + rate.serialise(bytes - GAP_BYTES);
            line.round.push(Passing { at: last_bit + parameters.recirculation_latency, ..first });
            if parameters.listens() {
                let at = now + parameters.signal_delay;
                inside.signals.push(Signal { at, origin: pipeline as u16, egress: first.egress });
                let next = inside.signals.front().map_or(Time::MAX, |signal| signal.at);
                inside.agenda.set(SIGNALS, next);
            }
        }
        inside.plan(pipeline, WAITING);
        inside.plan(pipeline, ROUND);
    }

    /// A signal reaches the pipelines that it is for.
    fn hear_signal(&mut self, now: Time) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let Some(signal) = inside.signals.pop() else { return };
        inside.agenda.set(SIGNALS, inside.signals.front().map_or(Time::MAX, |signal| signal.at));
        let (control, notified, ports) = (inside.parameters.control, inside.parameters.notified, inside.ports);
        for (pipeline, line) in inside.pipelines.iter_mut().enumerate() {
            if notified.includes(usize::from(signal.origin), pipeline) {
                line.told.notified += 1;
                inside.governors[pipeline * ports + usize::from(signal.egress)].signal(&control, now);
            }
        }
        self.note_signal(now, signal.origin, signal.egress);
    }

    /// A frame came round the recirculation port: what was not cut is cut now, and the header goes to its queue.
    fn come_round(&mut self, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].round.pop();
        inside.plan(pipeline, ROUND);
        let Some(Passing { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        self.begin_note();
        if self.trimmer.as_ref().is_some_and(|trimmer| trimmer.can_cut(&frame)) {
            self.cut(egress, frame.in_port, frame.in_class, &frame, window);
        } else {
            self.place(egress, frame.in_port, (frame.in_class, frame.class), &frame, window);
        }
    }

    /// A frame's clock cycle: it looks at its queue, and is cut if that is full.
    fn read_depth(&mut self, pipeline: usize, now: Time) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].entering.pop();
        inside.plan(pipeline, ENTERING);
        let Some(mut passing) = passing else { return };
        passing.frame.at = now;
        let index = self.queue_index(passing.egress, passing.frame.class);
        let full = self.is_full(&self.queues[index], passing.frame.size_bytes);
        if full {
            self.note_metered(passing.egress, pipeline as u16, passing.frame.in_port, &passing.frame);
            passing.frame = self.header_of(passing.egress, passing.frame.in_port, &passing.frame);
        }
        let Some(inside) = self.inside.as_deref_mut() else { return };
        inside.pipelines[pipeline].told.ingress_trims += u64::from(full);
        let lag = inside.parameters.cycle * u64::from(inside.parameters.stages.unwrap_or(0));
        passing.at = now + lag;
        inside.pipelines[pipeline].staged.push(passing);
        inside.plan(pipeline, STAGED);
    }

    fn is_full(&self, queue: &Queue, size_bytes: u16) -> bool {
        match self.queue_limit {
            Some(limit) => !limit.fits(queue.len(), u64::from(queue.bytes), size_bytes),
            None => {
                let free = self.shared_bytes - self.shared_used;
                u64::from(size_bytes) > free
                    || u64::from(queue.bytes) + u64::from(size_bytes) > self.egress_limit.bytes(free)
            }
        }
    }

    /// A frame, or its header, leaves the stages for the traffic manager.
    fn leave_stages(&mut self, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].staged.pop();
        inside.plan(pipeline, STAGED);
        let Some(Passing { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        self.begin_note();
        self.place(egress, frame.in_port, (frame.in_class, frame.class), &frame, window);
    }
}
