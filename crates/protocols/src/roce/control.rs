//! What sets a RoCE sender's rate.

use crate::dcqcn::{Dcqcn, DcqcnParameters};
use units::{Rate, Time};

/// A rate control: told what happens to its flow, asked for the rate. Defaults ignore an event.
///
/// Time reaches it by [`RateController::rate`], which is asked at [`RateController::next_change`] while a
/// frame waits for its turn, so an idle flow costs no event.
pub trait RateController {
    /// Its parameters, shared by all flows.
    type Parameters;
    /// The rate at `now`, preamble and gap included; never zero, never above the line's.
    fn rate(&mut self, parameters: &Self::Parameters, now: Time) -> Rate;
    /// When time alone will change the rate next; [`Time::MAX`] for never.
    fn next_change(&self) -> Time {
        Time::MAX
    }
    /// A data frame of `bytes` left.
    fn on_sent(&mut self, _parameters: &Self::Parameters, _now: Time, _bytes: u64) {}
    /// A congestion notification arrived.
    fn on_cnp(&mut self, _parameters: &Self::Parameters, _now: Time) {}
    /// An acknowledgement arrived, `rtt` after the frame that caused it was made; `ece` if that one was
    /// marked.
    fn on_ack(&mut self, _parameters: &Self::Parameters, _now: Time, _rtt: Time, _ece: bool) {}
    /// Frames came back, bounced: halves the rate. Whether it fell.
    fn halve(&mut self, _parameters: &Self::Parameters, _now: Time) -> bool {
        false
    }
}

/// Which rate control, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlParameters {
    /// Always the same rate.
    Fixed,
    /// See [`crate::dcqcn`].
    Dcqcn(DcqcnParameters),
}

/// The rate control of one flow.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// This rate.
    Fixed(Rate),
    /// See [`crate::dcqcn`].
    Dcqcn(Dcqcn),
}

impl RateControl {
    /// The control of a flow that may send at `limit`.
    pub fn new(parameters: &ControlParameters, limit: Rate) -> Self {
        match parameters {
            ControlParameters::Fixed => RateControl::Fixed(limit),
            ControlParameters::Dcqcn(parameters) => RateControl::Dcqcn(Dcqcn::new(parameters, limit)),
        }
    }
}

impl RateController for RateControl {
    type Parameters = ControlParameters;

    #[inline]
    fn rate(&mut self, parameters: &ControlParameters, now: Time) -> Rate {
        match (self, parameters) {
            (RateControl::Dcqcn(control), ControlParameters::Dcqcn(parameters)) => control.rate(parameters, now),
            (RateControl::Fixed(rate), _) => *rate,
            (RateControl::Dcqcn(_), _) => unreachable!("made from the same parameters"),
        }
    }

    #[inline]
    fn next_change(&self) -> Time {
        match self {
            RateControl::Fixed(_) => Time::MAX,
            RateControl::Dcqcn(control) => control.next_change(),
        }
    }

    #[inline]
    fn on_sent(&mut self, parameters: &ControlParameters, now: Time, bytes: u64) {
        if let (RateControl::Dcqcn(control), ControlParameters::Dcqcn(parameters)) = (self, parameters) {
            control.on_sent(parameters, now, bytes);
        }
    }

    fn on_cnp(&mut self, parameters: &ControlParameters, now: Time) {
        if let (RateControl::Dcqcn(control), ControlParameters::Dcqcn(parameters)) = (self, parameters) {
            control.on_cnp(parameters, now);
        }
    }

    #[inline]
    fn on_ack(&mut self, parameters: &ControlParameters, now: Time, rtt: Time, ece: bool) {
        if let (RateControl::Dcqcn(control), ControlParameters::Dcqcn(parameters)) = (self, parameters) {
            control.on_ack(parameters, now, rtt, ece);
        }
    }

    fn halve(&mut self, parameters: &ControlParameters, now: Time) -> bool {
        match (self, parameters) {
            (RateControl::Dcqcn(control), ControlParameters::Dcqcn(parameters)) => control.halve(parameters, now),
            _ => false,
        }
    }
}
