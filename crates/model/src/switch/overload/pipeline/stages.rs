//! Timed events in the pipeline model: movement of frames between stations, and delivery of congestion signals.

use super::{
    ENTERING, PipelineFrame, Pipelines, RECIRCULATING, SIGNALS, STAGED, STATIONS, Signal, WAITING, wire_bytes,
};
use crate::on_wire::OnWire;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use crate::switch::overload::action::Decision;
use crate::switch::overload::trim::Trimming;
use engine::Window;
use protocols::frame::Frame;
use protocols::pipeline_trim::SignalLoad;
use stats::trace::TraceEvent;
use units::{GAP_BYTES, Time};

impl Trimming {
    /// Handles all pipeline events that are due at `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_pipelines(&mut self, core: &mut Core, now: Time, window: &mut Window<'_, OnWire>) {
        while let Some(pipes) = self.pipelines.as_deref_mut().filter(|pipes| pipes.next() == now) {
            let location = pipes.due.earliest_port();
            if location == SIGNALS {
                self.on_signal(core, now);
                continue;
            }
            let (pipeline, station) = (usize::from(location - 1) / STATIONS, usize::from(location - 1) % STATIONS);
            match station {
                ENTERING => self.read_depth(core, pipeline, now),
                STAGED => self.leave_stages(core, pipeline, now, window),
                WAITING => pipes.serve(pipeline, now),
                _ => self.after_recirculation(core, pipeline, now, window),
            }
        }
    }

    /// Delivers a congestion signal to the pipelines that are notified.
    fn on_signal(&mut self, core: &mut Core, now: Time) {
        let Some(pipes) = self.pipelines.as_deref_mut() else { return };
        let Some(signal) = pipes.signals.pop() else { return };
        pipes.due.set(SIGNALS, pipes.signals.front().map_or(Time::MAX, |signal| signal.at));
        let (parameters, ports) = (pipes.parameters, pipes.ports);
        for pipeline in 0..pipes.pipelines.len() {
            if parameters.notified.includes(usize::from(signal.origin), pipeline) {
                let line = &mut pipes.pipelines[pipeline];
                line.counts.notified += 1;
                pipes.trim_meters[pipeline * ports + usize::from(signal.egress)].signal(&parameters.control, now);
                if parameters.signal_load == SignalLoad::Recirculation {
                    line.send_message(now, parameters.recirculation_rate);
                    pipes.update_station(pipeline, WAITING);
                }
            }
        }
        if let Some(tracer) = &mut core.stats.tracer {
            tracer.note_port(now, TraceEvent::Signalled { port: signal.egress, pipeline: signal.origin });
        }
    }

    /// Handles a frame after recirculation: trims the frame if it is not yet trimmed, and forwards the header to its
    /// queue.
    fn after_recirculation(&mut self, core: &mut Core, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(pipes) = self.pipelines.as_deref_mut() else { return };
        let passing = pipes.pipelines[pipeline].round.pop();
        pipes.update_station(pipeline, RECIRCULATING);
        let Some(PipelineFrame { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        let mut crossing = Crossing { in_port: frame.in_port, egress, in_class: frame.in_class, class: frame.class };
        let decision = if self.trim.can_cut(&frame) {
            self.cut(core, &mut crossing, &frame)
        } else {
            Decision::Forward { header: frame }
        };
        core.carry_out(self, &crossing, &frame, decision, window);
    }

    /// Handles the clock cycle of a frame: reads the depth of its egress queue, and trims the frame if the queue is
    /// full.
    fn read_depth(&mut self, core: &mut Core, pipeline: usize, now: Time) {
        let Some(pipes) = self.pipelines.as_deref_mut() else { return };
        let passing = pipes.pipelines[pipeline].entering.pop();
        pipes.update_station(pipeline, ENTERING);
        let Some(mut passing) = passing else { return };
        passing.frame.at = now;
        let Frame { in_port, in_class, class, size_bytes, .. } = passing.frame;
        let crossing = Crossing { in_port, egress: passing.egress, in_class, class };
        let full = core.buffer.is_full(core.buffer.queue_index(passing.egress, class), size_bytes);
        if full {
            core.note_metered(crossing, pipeline as u16, &passing.frame);
            passing.frame = self.header_of(core, crossing, &passing.frame);
        }
        let Some(pipes) = self.pipelines.as_deref_mut() else { return };
        pipes.pipelines[pipeline].counts.ingress_trims += u64::from(full);
        let lag = pipes.parameters.cycle * u64::from(pipes.parameters.stages.unwrap_or(0));
        passing.at = now + lag;
        pipes.pipelines[pipeline].staged.push(passing);
        pipes.update_station(pipeline, STAGED);
    }

    /// Passes a frame or its header from the stages to the traffic manager.
    fn leave_stages(&mut self, core: &mut Core, pipeline: usize, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(pipes) = self.pipelines.as_deref_mut() else { return };
        let passing = pipes.pipelines[pipeline].staged.pop();
        pipes.update_station(pipeline, STAGED);
        let Some(PipelineFrame { egress, frame, .. }) = passing else { return };
        let frame = Frame { at: now, ..frame };
        let crossing = Crossing { in_port: frame.in_port, egress, in_class: frame.in_class, class: frame.class };
        core.carry_out(self, &crossing, &frame, Decision::Forward { header: frame }, window);
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
            // The inter-packet gap occupies the port, but does not delay the frame.
            let last_bit = now + rate.serialise(bytes - GAP_BYTES);
            line.round.push(PipelineFrame { at: last_bit + parameters.recirculation_latency, ..first });
            if parameters.uses_signals() {
                if parameters.signal_load == SignalLoad::Recirculation {
                    line.send_message(now, rate);
                }
                let at = now + parameters.signal_delay;
                self.signals.push(Signal { at, origin: pipeline as u16, egress: first.egress });
                let next = self.signals.front().map_or(Time::MAX, |signal| signal.at);
                self.due.set(SIGNALS, next);
            }
        }
        self.update_station(pipeline, WAITING);
        self.update_station(pipeline, RECIRCULATING);
    }
}
