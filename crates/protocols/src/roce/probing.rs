//! A requester whose rate control probes the way: probes leave when they are due, ahead of data and not paced by its
//! rate. A wrapper, so that other flows pay nothing for it.

use crate::bounce_reaction::Returns;
use crate::control_state::ControlState;
use crate::eccp::ProbeSender;
use crate::endpoint::{Ctx, FlowStart, Offer, Segment, Sender, SenderStatistics};
use crate::frame::Frame;
use crate::roce::control::ControlParameters;
use crate::roce::parameters::RoceParameters;
use crate::roce::sender::RoceSender;
use std::sync::Arc;
use units::Time;

/// The sending end of one flow under such a control.
#[derive(Clone, Debug)]
pub struct ProbingSender {
    parameters: Arc<RoceParameters>,
    roce: RoceSender,
    probes: ProbeSender,
}

impl ProbingSender {
    /// The sender of `flow`; `None` where its control does not probe.
    pub fn new(parameters: &Arc<RoceParameters>, flow: &FlowStart) -> Option<Self> {
        let ControlParameters::Eccp(eccp) = &parameters.control else { return None };
        let probes = ProbeSender::new(eccp, flow.line_rate, flow.start);
        Some(ProbingSender { parameters: Arc::clone(parameters), roce: RoceSender::new(parameters, flow), probes })
    }
}

impl Sender for ProbingSender {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        self.roce.on_frame(ctx, frame);
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        self.roce.on_timer(ctx);
    }

    fn next_timer(&self) -> Time {
        self.roce.next_timer()
    }

    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        // Who has nothing more to send has nothing more to ask.
        if self.roce.has_more()
            && let ControlParameters::Eccp(parameters) = &self.parameters.control
        {
            let rate = self.roce.rate(ctx.now);
            if let Some(probe) = self.probes.poll(parameters, ctx, rate) {
                return Offer::Send(probe);
            }
        }
        let next_probe = if self.roce.has_more() { self.probes.next() } else { Time::MAX };
        match self.roce.poll(ctx) {
            Offer::Send(segment) => Offer::Send(Segment { next: segment.next.min(next_probe), ..segment }),
            Offer::At(at) => Offer::At(at.min(next_probe)),
            Offer::Blocked if next_probe < Time::MAX => Offer::At(next_probe),
            other => other,
        }
    }

    fn on_returned(&mut self, ctx: &mut Ctx<'_>, returns: &mut Returns, every: u32) -> bool {
        self.roce.on_returned(ctx, returns, every)
    }

    fn control_state(&self, now: Time) -> ControlState {
        self.roce.control_state(now)
    }

    fn statistics(&self) -> SenderStatistics {
        self.roce.statistics()
    }
    #[cfg(test)]
    fn pace_bps(&mut self, now: Time) -> u64 {
        self.roce.rate(now).as_bps()
    }
}
