//! Parameters that have an effect only if another parameter has a certain value. Scenarios that set such a parameter
//! without that value are refused.

use crate::datagram::{ArrivalProcess, DatagramParameters};
use crate::roce::RoceParameters;
use crate::tcp::{CongestionControl, EcnMode, TcpParameters};
use crate::transport::TransportParameters;

/// Returns the setting that parameter `key` requires, if the transport has another setting; `None` if `key` has an
/// effect.
pub(crate) fn needs(transport: &TransportParameters, key: &str) -> Option<&'static str> {
    match transport {
        TransportParameters::Datagram(parameters) => of_datagram(parameters, key),
        TransportParameters::Tcp(parameters) => of_tcp(parameters, key),
        TransportParameters::Roce(parameters) => of_roce(parameters, key),
        TransportParameters::Ndp(_) | TransportParameters::Custom(_) => None,
    }
}

fn of_datagram(parameters: &DatagramParameters, key: &str) -> Option<&'static str> {
    match key {
        "mean_on" | "mean_off" if parameters.arrival != ArrivalProcess::OnOff => Some("arrival = \"on_off\""),
        "rate" if parameters.gap.is_some() => Some("gap = \"from_rate\""),
        _ => None,
    }
}

fn of_tcp(parameters: &TcpParameters, key: &str) -> Option<&'static str> {
    let control = parameters.congestion_control;
    let measured = matches!(key, "initial_rto" | "min_rto" | "max_rto" | "clock_granularity");
    match key {
        "cubic_scale" | "cubic_beta" if control != CongestionControl::Cubic => Some("congestion_control = \"cubic\""),
        "vegas_alpha" | "vegas_beta" | "vegas_gamma" if control != CongestionControl::Vegas => {
            Some("congestion_control = \"vegas\"")
        }
        "gain" | "initial_alpha"
            if matches!(parameters.ecn, EcnMode::Dctcp(_)) && control == CongestionControl::Fixed =>
        {
            Some("a congestion_control other than \"none\"")
        }
        "rto" | "fast_retransmit" | "dupack_threshold" if !parameters.retransmissions => Some("retransmissions = true"),
        _ if measured && !parameters.retransmissions => Some("retransmissions = true"),
        _ if measured && parameters.fixed_rto.is_some() => Some("rto = \"measured\""),
        // With SACK the duplicate-ACK threshold also marks segments as lost during the recovery after a timeout.
        "dupack_threshold" if !parameters.fast_retransmit && !parameters.sack => Some("fast_retransmit = true"),
        "delayed_ack_timeout" if !parameters.delayed_ack => Some("delayed_ack = true"),
        _ => None,
    }
}

fn of_roce(parameters: &RoceParameters, key: &str) -> Option<&'static str> {
    match key {
        "min_payload" | "max_payload" if !parameters.has_random_payloads() => Some("a payload_deviation"),
        "timeout" | "nak_interval" if parameters.is_selective() => Some("loss_recovery = \"go-back-n\""),
        "flight_cap" | "rto_low" | "rto_high" | "rto_low_packets" if !parameters.is_selective() => {
            Some("loss_recovery = \"selective\"")
        }
        "ack_every" if parameters.is_selective() => {
            Some("loss_recovery = \"go-back-n\": selective acknowledges every packet")
        }
        "ack_every" if parameters.variable_window => {
            Some("variable_window = false: such a window has every packet acknowledged")
        }
        "reset_after" if !parameters.is_selective() && parameters.timeout.is_none() => {
            Some("a timeout, which is \"never\"")
        }
        _ if starts_at_own_rate(parameters, key) => Some("an initial_rate below rate"),
        _ => parameters.control.idle(key),
    }
}

/// Returns whether `key` has an effect only on flows that start below their maximum rate, and flows start at theirs.
fn starts_at_own_rate(parameters: &RoceParameters, key: &str) -> bool {
    let Some((parameter, initial)) = parameters.control.needs_lower_start() else { return false };
    parameter == key && parameters.connection.rate.is_some_and(|rate| initial >= rate)
}
