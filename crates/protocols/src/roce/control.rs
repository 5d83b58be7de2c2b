//! The rate controls of RoCE senders. Each rate control is a [`RateController`] in its own file, plus one line in the
//! list at the end of this file.

use crate::control_state::ControlState;
use crate::dcqcn::Dcqcn;
use crate::dctcp_rate::DctcpRate;
use crate::describe::Mechanism;
use crate::eccp::Eccp;
use crate::external::External;
use crate::frame::{CongestionMessage, Frame};
use crate::hetflow::HetFlow;
use crate::hpcc::Hpcc;
use crate::parameters::OwnParameters;
use crate::qcn::Qcn;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController, RateObservation, SwitchSupport};
use crate::roce::connection::FIXED_RATE;
use crate::settings::{ParameterError, unknown};
use crate::swift::Swift;
use crate::timely::Timely;
use units::{Rate, Time};

/// Defines the enums over the parameters and over the states of all rate controls, with methods that call the
/// selected one.
macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident($state:ty)),+ $(,)?) => {
        /// Parameters of the selected rate control.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum ControlParameters {
            /// Constant rate.
            #[default]
            Fixed,
            $($(#[$doc])* $name(<$state as RateController>::Parameters),)+
        }

        impl ControlParameters {
            /// Returns the defaults of the rate control named `kind` in scenarios; `None` if there is none.
            pub(crate) fn of_kind(kind: &str) -> Option<ControlParameters> {
                $(if kind == <$state as RateController>::Parameters::MECHANISM.kind {
                    return Some(ControlParameters::$name(Default::default()));
                })+
                None
            }

            /// Returns the description of the rate control; `None` for a constant rate.
            pub(crate) fn mechanism(&self) -> Option<&'static Mechanism> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(_) => Some(<$state as RateController>::Parameters::MECHANISM),)+
                }
            }

            /// Returns the switch feature that the rate control needs.
            pub fn needs(&self) -> SwitchSupport {
                match self {
                    ControlParameters::Fixed => SwitchSupport::Nothing,
                    $(ControlParameters::$name(_) => <$state as RateController>::Parameters::NEEDS,)+
                }
            }

            /// See [`OwnParameters::set`]; a fixed rate has no parameters.
            pub(crate) fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
                match self {
                    ControlParameters::Fixed => Err(unknown(&FIXED_RATE, key)),
                    $(ControlParameters::$name(parameters) => parameters.set(key, text),)+
                }
            }

            /// See [`ControlSettings::check`].
            pub(crate) fn check(&self, payload_bytes: u16) -> Result<(), ParameterError> {
                match self {
                    ControlParameters::Fixed => Ok(()),
                    $(ControlParameters::$name(parameters) => parameters.check(payload_bytes),)+
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

            /// See [`ControlSettings::telemetry_bytes`].
            pub(crate) fn telemetry_bytes(&self) -> Option<u16> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => parameters.telemetry_bytes(),)+
                }
            }

            /// See [`ControlSettings::wants_round_trip`].
            pub(crate) fn wants_round_trip(&self) -> bool {
                match self {
                    ControlParameters::Fixed => false,
                    $(ControlParameters::$name(parameters) => parameters.wants_round_trip(),)+
                }
            }

            /// See [`ControlSettings::has_window`].
            pub(crate) fn has_window(&self) -> bool {
                match self {
                    ControlParameters::Fixed => false,
                    $(ControlParameters::$name(parameters) => parameters.has_window(),)+
                }
            }

            /// See [`ControlSettings::idle`].
            pub(crate) fn idle(&self, key: &str) -> Option<&'static str> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => parameters.idle(key),)+
                }
            }

            /// See [`ControlSettings::needs_lower_start`].
            pub(crate) fn needs_lower_start(&self) -> Option<(&'static str, Rate)> {
                match self {
                    ControlParameters::Fixed => None,
                    $(ControlParameters::$name(parameters) => parameters.needs_lower_start(),)+
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

        /// State of the rate control of one flow.
        #[derive(Clone, Debug)]
        pub enum RateControl {
            /// Constant rate.
            Fixed(Rate),
            $($(#[$doc])* $name($state),)+
        }

        impl RateControl {
            /// Creates the rate control of a flow with these limits.
            pub fn new(parameters: &ControlParameters, limits: FlowLimits) -> Self {
                match parameters {
                    ControlParameters::Fixed => RateControl::Fixed(limits.most),
                    $(ControlParameters::$name(parameters) => {
                        RateControl::$name(RateController::new(parameters, limits))
                    })+
                }
            }

            /// Returns the rate at `now`.
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

            /// See [`RateController::most`].
            pub fn most(&self) -> Rate {
                match self {
                    RateControl::Fixed(rate) => *rate,
                    $(RateControl::$name(control) => control.most(),)+
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

            /// See [`RateController::on_sent`]. Returns the value of [`RateController::next_change`] afterwards,
            /// which the sender needs for every packet.
            #[inline]
            pub fn on_sent(&mut self, parameters: &ControlParameters, now: Time, bytes: u64) -> Time {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_sent(parameters, now, bytes);
                        control.next_change()
                    })+
                    _ => Time::MAX,
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
            pub fn on_ack(&mut self, parameters: &ControlParameters, now: Time, ack: AckInfo<'_>) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_ack(parameters, now, ack)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::on_loss`].
            #[cold]
            pub fn on_loss(&mut self, parameters: &ControlParameters, now: Time, timeout: bool) {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.on_loss(parameters, now, timeout)
                    })+
                    _ => {}
                }
            }

            /// See [`RateController::window_bytes`].
            #[inline]
            pub fn window_bytes(&self) -> u64 {
                match self {
                    RateControl::Fixed(_) => u64::MAX,
                    $(RateControl::$name(control) => control.window_bytes(),)+
                }
            }

            /// See [`RateController::control_state`].
            #[cold]
            pub fn control_state(&self, parameters: &ControlParameters, now: Time) -> ControlState {
                match (self.clone(), parameters) {
                    (RateControl::Fixed(rate), _) => {
                        ControlState { rate: Some(rate), ..ControlState::default() }
                    }
                    $((RateControl::$name(mut control), ControlParameters::$name(parameters)) => {
                        control.control_state(parameters, now)
                    })+
                    _ => unreachable!("made from the same parameters"),
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

            /// See [`RateController::set_share`].
            #[cold]
            pub fn set_share(&mut self, parameters: &ControlParameters, share: f64) -> bool {
                match (self, parameters) {
                    $((RateControl::$name(control), ControlParameters::$name(parameters)) => {
                        control.set_share(parameters, share)
                    })+
                    _ => false,
                }
            }

            /// See [`RateController::take_observation`].
            #[cold]
            pub fn take_observation(&mut self) -> Option<RateObservation> {
                match self {
                    RateControl::Fixed(_) => None,
                    $(RateControl::$name(control) => control.take_observation(),)+
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
    /// See [`crate::hpcc`].
    Hpcc(Hpcc),
    /// See [`crate::dctcp_rate`].
    DctcpRate(DctcpRate),
    /// See [`crate::swift`].
    Swift(Swift),
    /// See [`crate::external`].
    External(External),
}
