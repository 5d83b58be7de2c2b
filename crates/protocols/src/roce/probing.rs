//! A sender (requester) whose rate control probes the path: probes that are due are sent before data, and are not
//! paced at the data rate. The wrapper is a separate type, so that flows without probes have no overhead.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::eccp::ProbeSender;
use crate::endpoint::{Ctx, FlowStart, Offer, Segment, Sender, SenderStatistics};
use crate::frame::Frame;
use crate::roce::control::ControlParameters;
use crate::roce::parameters::RoceParameters;
use std::sync::Arc;
use units::{Rate, Time};

/// A paced sender with either loss recovery, which can be wrapped to add probes.
pub trait Paced: Sender {
    /// Returns whether bytes remain to be sent or retransmitted.
    fn has_more(&self) -> bool;
    /// Returns the sending rate at `now`, which counts wire bytes (with preamble and inter-frame gap).
    fn pace_rate(&mut self, now: Time) -> Rate;
}

/// Sender of one flow with probes.
#[derive(Clone, Debug)]
pub struct ProbingSender<S> {
    parameters: Arc<RoceParameters>,
    roce: S,
    probes: ProbeSender,
}

impl<S: Paced> ProbingSender<S> {
    /// Wraps the sender `roce` of `flow`; `None` if the rate control does not probe.
    pub fn new(parameters: &Arc<RoceParameters>, flow: &FlowStart, roce: S) -> Option<Self> {
        let ControlParameters::Eccp(eccp) = &parameters.control else { return None };
        let probes = ProbeSender::new(eccp, flow.line_rate, flow.start);
        Some(ProbingSender { parameters: Arc::clone(parameters), roce, probes })
    }
}

impl<S: Paced> Sender for ProbingSender<S> {
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
        // Probes are sent only while there is data to send, because otherwise the estimate is not used.
        if self.roce.has_more()
            && let ControlParameters::Eccp(parameters) = &self.parameters.control
        {
            let rate = self.roce.pace_rate(ctx.now);
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

    fn on_returned(&mut self, ctx: &mut Ctx<'_>, returns: &mut BouncedFlow, every: u32) -> bool {
        self.roce.on_returned(ctx, returns, every)
    }

    fn extend(&mut self, now: Time, bytes: u64) -> bool {
        self.roce.extend(now, bytes)
    }

    fn acknowledged(&self) -> u64 {
        self.roce.acknowledged()
    }

    fn control_state(&self, now: Time) -> ControlState {
        self.roce.control_state(now)
    }

    fn statistics(&self) -> SenderStatistics {
        self.roce.statistics()
    }
    #[cfg(test)]
    fn pace_bps(&mut self, now: Time) -> u64 {
        self.roce.pace_rate(now).as_bps()
    }
}
