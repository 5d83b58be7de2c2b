//! Timed events in the pipeline model: frames move from station to station, and signals reach pipelines.

use super::{ENTERING, Passing, Pipelines, ROUND, SIGNALS, STAGED, STATIONS, Signal, WAITING, wire_bytes};
use crate::on_wire::OnWire;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use crate::switch::overload::trim::Trimming;
use engine::Window;
use protocols::frame::Frame;
use stats::trace::TraceEvent;
use units::{GAP_BYTES, Time};

impl Trimming {
    /// Handles all pipeline events that are due at `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_inside(&mut self, core: &mut Core, now: Time, window: &mut Window<'_, OnWire>) {
        while let Some(inside) = self.inside.as_deref_mut().filter(|inside| inside.next() == now) {
            let place = inside.due.port();
            if place == SIGNALS {
                self.on_signal(core, now);
                continue;
            }
            let (pipeline, station) = (usize::from(place - 1) / STATIONS, usize::from(place - 1) % STATIONS);
            match station {
                ENTERING => self.read_depth(core, pipeline, now),
                STAGED => self.leave_stages(core, pipeline, now, window),
                WAITING => inside.serve(pipeline, now),
                _ => self.come_round(core, pipeline, now, window),
            }
        }
    }

    /// Delivers a congestion signal to the pipelines that are notified.
    fn on_signal(&mut self, core: &mut Core, now: Time) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let Some(signal) = inside.signals.pop() else { return };
        inside.due.set(SIGNALS, inside.signals.front().map_or(Time::MAX, |signal| signal.at));
        let (control, notified, ports) = (inside.parameters.control, inside.parameters.notified, inside.ports);
        for (pipeline, line) in inside.pipelines.iter_mut().enumerate() {
            if notified.includes(usize::from(signal.origin), pipeline) {
                line.told.notified += 1;
                inside.trim_meters[pipeline * ports + usize::from(signal.egress)].signal(&control, now);
            }
        }
        if let Some(tracer) = &mut core.books.tracer {
            tracer.note_port(now, TraceEvent::Signalled { port: signal.egress, pipeline: signal.origin });
        }
    }

    /// Handles a frame after recirculation: cuts it if that has not happened, and sends the header to its queue.
    fn come_round(&mut self, core: &mut Core, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].round.pop();
        inside.plan(pipeline, ROUND);
        let Some(Passing { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        let crossing = Crossing { in_port: frame.in_port, egress, in_class: frame.in_class, class: frame.class };
        if self.trim.can_cut(&frame) {
            self.cut(core, crossing, &frame, window);
        } else {
            self.place(core, crossing, &frame, window);
        }
    }

    /// Handles the clock cycle of a frame: reads the depth of its queue, and cuts the frame if that is full.
    fn read_depth(&mut self, core: &mut Core, pipeline: usize, now: Time) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].entering.pop();
        inside.plan(pipeline, ENTERING);
        let Some(mut passing) = passing else { return };
        passing.frame.at = now;
        let Frame { in_port, in_class, class, size_bytes, .. } = passing.frame;
        let crossing = Crossing { in_port, egress: passing.egress, in_class, class };
        let full = core.buffer.is_full(core.buffer.queue_index(passing.egress, class), size_bytes);
        if full {
            core.note_metered(crossing, pipeline as u16, &passing.frame);
            passing.frame = self.header_of(core, crossing, &passing.frame);
        }
        let Some(inside) = self.inside.as_deref_mut() else { return };
        inside.pipelines[pipeline].told.ingress_trims += u64::from(full);
        let lag = inside.parameters.cycle * u64::from(inside.parameters.stages.unwrap_or(0));
        passing.at = now + lag;
        inside.pipelines[pipeline].staged.push(passing);
        inside.plan(pipeline, STAGED);
    }

    /// Passes a frame or its header from the stages to the traffic manager.
    fn leave_stages(&mut self, core: &mut Core, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(inside) = self.inside.as_deref_mut() else { return };
        let passing = inside.pipelines[pipeline].staged.pop();
        inside.plan(pipeline, STAGED);
        let Some(Passing { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        let crossing = Crossing { in_port: frame.in_port, egress, in_class: frame.in_class, class: frame.class };
        self.place(core, crossing, &frame, window);
    }
}

impl Pipelines {
    /// Transmits the oldest frame of the idle recirculation port of `pipeline`, and signals the congestion.
    pub(super) fn serve(&mut self, pipeline: usize, now: Time) {
        let parameters = self.parameters;
        let line = &mut self.pipelines[pipeline];
        let length = line.waiting.len() as u64;
        if let Some(first) = line.waiting.pop() {
            line.area.on_change(now, length);
            line.area.on_departure(first.at, now);
            line.waiting_bytes -= u64::from(first.frame.size_bytes);
            let (rate, bytes) = (parameters.recirculation_rate, u64::from(wire_bytes(&first.frame)));
            line.busy_until = now + rate.serialise(bytes);
            // The gap occupies the port, but does not delay the frame.
            let last_bit = now + rate.serialise(bytes - GAP_BYTES);
            line.round.push(Passing { at: last_bit + parameters.recirculation_latency, ..first });
            if parameters.listens() {
                let at = now + parameters.signal_delay;
                self.signals.push(Signal { at, origin: pipeline as u16, egress: first.egress });
                let next = self.signals.front().map_or(Time::MAX, |signal| signal.at);
                self.due.set(SIGNALS, next);
            }
        }
        self.plan(pipeline, WAITING);
        self.plan(pipeline, ROUND);
    }
}
