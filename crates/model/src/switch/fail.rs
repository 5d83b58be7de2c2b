//! Link failures and repairs at a switch.

use super::Switch;
use crate::on_wire::OnWire;
use check::conservation::Cause;
use engine::Window;
use stats::trace::TraceEvent;
use units::Time;

impl Switch {
    /// Applies the next failure or repair of a link.
    pub(super) fn change(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some((_, port, fails)) = self.link_changes.pop() else { return };
        let core = &mut self.core;
        let node = core.node();
        core.failures.change(&mut core.routing, &core.network, node, port, fails);
        if let Some(tracer) = &mut core.stats.tracer {
            tracer.note_port(now, if fails { TraceEvent::LinkDown { port } } else { TraceEvent::LinkUp { port } });
        }
        if !fails {
            core.egress.repair(now, port);
            return core.grant_all(now, port, window);
        }
        // Frames queued for the failed link are lost. Their ingress accounts shrink, so paused neighbours may resume.
        core.egress.fail(now, port, &mut core.stats);
        core.egress.cell_mut(port).waiting = 0;
        core.lose_kept(now, port);
        for index in core.buffer.queues_of(port) {
            core.drop_queue(now, (port, index), Cause::LinkDown, window);
        }
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.lose_held(core, now, port, window);
        }
        core.egress.due.set(port, Time::MAX);
    }
}
