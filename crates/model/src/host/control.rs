//! Congestion control state of a host's flows.

use super::Host;
use super::flows::FlowSource;
use crate::clock::local;
use protocols::endpoint::{Receiver, Sender};
use stats::control::ControlSample;
use units::{Rate, Time};

impl Host {
    /// Returns flow, destination and a sample of the congestion control for each active flow with congestion control.
    /// All events before `at` must have been handled. Values that the receiver measures are `None`.
    pub fn controls(&self, at: Time) -> impl Iterator<Item = (u32, u32, ControlSample)> + '_ {
        let now = local(self.identity.clock.as_ref(), at);
        self.senders.flows.iter().filter(|flow| flow.active).filter_map(move |flow| {
            let FlowSource::Transport(sender) = &flow.source else { return None };
            let carried = flow.outbox.as_ref().map_or(Some(flow.flow), |outbox| outbox.carried())?;
            let state = sender.control_state(now);
            let sample = ControlSample {
                at,
                flow: self.network.measurement.numbering.of(self.identity.index, carried),
                traffic: u32::from(flow.traffic),
                rate_bps: state.rate.map(Rate::as_bps),
                target_bps: state.target.map(Rate::as_bps),
                window_bytes: state.window_bytes,
                flight_bytes: state.flight_bytes,
                rtt_ps: state.rtt.map(Time::as_ps),
                delay_ps: None,
                alpha: state.alpha,
                available_bps: state.available_bps,
            };
            (!state.is_empty()).then_some((flow.flow, flow.dst, sample))
        })
    }

    /// Returns the mean delay in ps that the receiver of `flow` of host `src` uses, if it measures one.
    pub fn delay_ps(&self, src: u32, flow: u32) -> Option<i64> {
        let &slot = self.receivers.by_source.get(&(src, flow))?;
        self.receivers.flows[slot as usize].receiver.delay_ps()
    }
}
