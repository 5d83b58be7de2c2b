//! What sets a RoCE sender's rate. A rate control is a [`RateController`] in a file of its own and one line in the list
//! at the end of this one.

use crate::dcqcn::Dcqcn;
use crate::describe::Mechanism;
use crate::eccp::Eccp;
use crate::frame::{CongestionMessage, Frame};
use crate::hetflow::HetFlow;
use crate::qcn::Qcn;
use crate::roce::RoceParameters;
use crate::settings::ParameterError;
use crate::timely::Timely;
use units::{Rate, Time};

/// The parameters of a rate control, beside those of RoCE.
pub trait ControlSettings: Default {
    /// The table that describes them, with those of RoCE.
    const MECHANISM: &'static Mechanism;
    /// What it is told by switches.
    const NEEDS: Needs = Needs::Nothing;
    /// Sets the parameter `key` from a scenario's text.
    ///
    /// # Errors
    /// If there is no such parameter or the text is none of its values.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError>;
    /// Whether the values go together, and with those of the transport beneath.
    ///
    /// # Errors
    /// If they do not.
    fn check(&self, roce: &RoceParameters) -> Result<(), ParameterError>;
    /// Bytes that one acknowledgement shall answer for, where the control says so instead of `ack_every`.
    fn acknowledged_bytes(&self) -> Option<u64> {
        None
    }
    /// Length of the longest frame that it adds to data and acknowledgements.
    fn largest_frame_bytes(&self) -> u16 {
        0
    }
    /// A bit for each class of frames of its own that is not the flow's.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether frames of its own collect telemetry.
    fn collects(&self) -> bool {
        false
    }
    /// The least rate of a port that it can work on, and the parameter that says so.
    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        None
    }
}

/// What switches must do for a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// They mark packets, which take part in ECN.
    Marks,
    /// Their queues are congestion points ([`crate::qcn`]).
    CongestionPoints,
}

/// What bounds the rate of a flow, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// The most that the flow may send.
    pub most: Rate,
    /// The rate of its port.
    pub line: Rate,
    /// When it starts.
    pub start: Time,
}

/// A rate control: told what happens to its flow, asked for the rate. Defaults ignore an event.
///
/// Time reaches it by [`RateController::rate`], which is asked at [`RateController::next_change`] while a
/// frame waits for its turn, so an idle flow costs no event.
pub trait RateController {
    /// Its parameters, shared by all flows.
    type Parameters: ControlSettings;
    /// The control of a flow within `limits`.
    fn new(parameters: &Self::Parameters, limits: FlowLimits) -> Self;
    /// The rate at `now`, preamble and gap included; never zero, never above the line's.
    fn rate(&mut self, parameters: &Self::Parameters, now: Time) -> Rate;
    /// When time alone will change the rate next; [`Time::MAX`] for never.
    fn next_change(&self) -> Time {
        Time::MAX
    }
    /// A data frame of `bytes` left.
    fn on_sent(&mut self, _parameters: &Self::Parameters, _now: Time, _bytes: u64) {}
    /// A congestion notification arrived.
    fn on_cnp(&mut self, _parameters: &Self::Parameters, _now: Time, _frame: &Frame) {}
    /// A congestion notification message arrived.
    fn on_cnm(&mut self, _parameters: &Self::Parameters, _now: Time, _message: CongestionMessage) {}
    /// An acknowledgement of bytes that had not been acknowledged arrived, `rtt` after the frame of `wire_bytes` that
    /// caused it started to leave; `ece` if that one was marked.
    fn on_ack(&mut self, _parameters: &Self::Parameters, _now: Time, _ack: Acknowledged) {}
    /// Frames came back, bounced: halves the rate. Whether it fell.
    fn halve(&mut self, _parameters: &Self::Parameters, _now: Time) -> bool {
        false
    }
}

/// What an acknowledgement tells a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// From when the data frame that caused it started to leave.
    pub rtt: Time,
    /// What that frame took on the wire, preamble and gap included.
    pub wire_bytes: u64,
    /// Whether a frame that it answers for was marked.
    pub ece: bool,
}

/// The two enums over all rate controls, and the calls that go to whichever it is.
macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident($state:ty)),+ $(,)?) => {
        /// Which rate control, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ControlParameters {
            /// Always the same rate.
            Fixed,
            $($(#[$doc])* $name(<$state as RateController>::Parameters),)+
        }

        impl ControlParameters {
            /// The control that scenarios call `kind`, with its defaults.
            pub(crate) fn of_kind(kind: &str) -> Option<ControlParameters> {
                $(if kind == <$state as RateController>::Parameters::MECHANISM.kind {
                    return Some(ControlParameters::$name(Default::default()));
                })+
                None
            }

            /// The table that describes it, unless the rate is fixed.
            pub(crate) fn mechanism(&self) -> Option<&'static Mechanism> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(_) => Some(<$state as RateController>::Parameters::MECHANISM),)+
                }
            }

            /// What switches must do for it.
            pub fn needs(&self) -> Needs {
                match self {
                    ControlParameters::Fixed => Needs::Nothing,
                    $(ControlParameters::$name(_) => <$state as RateController>::Parameters::NEEDS,)+
                }
            }

            /// See [`ControlSettings::set`]; `None` if the rate is fixed.
            pub(crate) fn set(&mut self, key: &str, text: &str) -> Option<Result<(), ParameterError>> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => Some(parameters.set(key, text)),)+
                }
            }

            /// See [`ControlSettings::check`].
            pub(crate) fn check(&self, roce: &RoceParameters) -> Result<(), ParameterError> {
                match self {
                    ControlParameters::Fixed => Ok(()),
                    $(ControlParameters::$name(parameters) => parameters.check(roce),)+
                }
            }

            /// See [`ControlSettings::acknowledged_bytes`].
            pub(crate) fn acknowledged_bytes(&self) -> Option<u64> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => parameters.acknowledged_bytes(),)+
                }
            }

            /// See [`ControlSettings::largest_frame_bytes`].
            pub fn largest_frame_bytes(&self) -> u16 {
                match self {
                    ControlParameters::Fixed => 0,
                    $(ControlParameters::$name(parameters) => parameters.largest_frame_bytes(),)+
                }
            }

            /// See [`ControlSettings::classes`].
            pub(crate) fn classes(&self) -> u8 {
                match self {
                    ControlParameters::Fixed => 0,
                    $(ControlParameters::$name(parameters) => parameters.classes(),)+
                }
            }

            /// See [`ControlSettings::collects`].
            pub(crate) fn collects(&self) -> bool {
                match self {
                    ControlParameters::Fixed => false,
                    $(ControlParameters::$name(parameters) => parameters.collects(),)+
                }
            }

            /// See [`ControlSettings::least_line_rate`].
            pub(crate) fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => parameters.least_line_rate(),)+
                }
            }
        }

        /// The rate control of one flow.
        #[derive(Clone, Debug)]
        pub enum RateControl {
            /// This rate.
            Fixed(Rate),
            $($(#[$doc])* $name($state),)+
        }

        impl RateControl {
            /// The control of a flow within `limits`.
            pub fn new(parameters: &ControlParameters, limits: FlowLimits) -> Self {
                match parameters {
                    ControlParameters::Fixed => RateControl::Fixed(limits.most),
                    $(ControlParameters::$name(parameters) => {
                        RateControl::$name(RateController::new(parameters, limits))
                    })+
                }
            }

            /// The rate at `now`.
            #[inline]
            pub fn rate(&mut self, parameters: &ControlParameters, now: Time) -> Rate {
                match (self, parameters) {
                    (RateControl::Fixed(rate), _) => *rate,
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.rate(parameters, now)
                    })+
                    _ => unreachable!("made from the same parameters"),
                }
            }

            /// See [`RateController::next_change`].
            #[inline]
            pub fn next_change(&self) -> Time {
                match self {
                    RateControl::Fixed(_) => Time::MAX,
                    $(RateControl::$name(control) => control.next_change(),)+
                }
            }

            /// See [`RateController::on_sent`].
            #[inline]
            pub fn on_sent(&mut self, parameters: &ControlParameters, now: Time, bytes: u64) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_sent(parameters, now, bytes)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::on_cnp`].
            pub fn on_cnp(&mut self, parameters: &ControlParameters, now: Time, frame: &Frame) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_cnp(parameters, now, frame)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::on_cnm`].
            pub fn on_cnm(&mut self, parameters: &ControlParameters, now: Time, message: CongestionMessage) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_cnm(parameters, now, message)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, parameters: &ControlParameters, now: Time, ack: Acknowledged) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_ack(parameters, now, ack)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::halve`].
            pub fn halve(&mut self, parameters: &ControlParameters, now: Time) -> bool {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.halve(parameters, now)
                    })+
                    _ => false,
                }
            }
        }
    };
}

controls! {
    /// See [`crate::dcqcn`].
    Dcqcn(Dcqcn),
    /// See [`crate::timely`].
    Timely(Timely),
    /// See [`crate::hetflow`].
    HetFlow(HetFlow),
    /// See [`crate::qcn`].
    Qcn(Qcn),
    /// See [`crate::eccp`].
    Eccp(Eccp),
}
