//! Parameters of RoCE's reliable connection, to which rate controls add their own parameters.

use crate::describe::{Mechanism, extended};
use crate::parameters::parameters;
use units::{Rate, Time};

/// Packets that are retransmitted after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// All packets from the first missing packet on (InfiniBand specification, 9.7).
    GoBackN,
    /// Only missing packets (IRN, sec. 3.1), see [`crate::roce::selective`].
    Selective,
}

/// Maximum bytes in flight, from the first unacknowledged byte to the last sent byte (IRN, sec. 3.2: BDP-FC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlightCap {
    /// The bandwidth-delay product of the flow's path.
    Path,
    /// A number of bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

parameters! {
    /// Parameters of a reliable connection, without those of its rate control.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ConnectionParameters: Transport "roce" {
        title: "RoCEv2 reliable connection at a set rate: go-back-N, or IRN's selective repeat";
        source: "InfiniBand specification, 9.7 and annex A17 (RoCEv2); HPCC's ns-3 fork; IRN, SIGCOMM 2018";
        over: none;
        /// Payload of a full packet, in bytes.
        payload_bytes: u16 = "payload" frame_bytes, default "1000B",
            "payload of a full packet, from 1 B up to a frame of 65535 B",
            "HPCC's ns-3 fork: Mtu";
        /// Standard deviation of the payload of a packet, in bytes; 0 for a constant payload.
        payload_deviation_bytes: u16 = "payload_deviation" frame_bytes, default "0B",
            "go-back-n: standard deviation of normally distributed payloads with mean `payload`, before they are \
             limited to min_payload and max_payload; 0B: constant payload",
            "Bahnasy's thesis, table 2.1 and section 3.5.2: frames of N(1000, 150) and N(600, 150) bytes";
        /// Lower bound of a random payload, in bytes.
        min_payload_bytes: u16 = "min_payload" frame_bytes, default "138B",
            "with payload_deviation: least payload, 1 B up to `payload`",
            "Bahnasy's thesis, table 2.1: frames of at least 200 B";
        /// Upper bound of a random payload, in bytes.
        max_payload_bytes: u16 = "max_payload" frame_bytes, default "1438B",
            "with payload_deviation: greatest payload, from `payload` up to a frame of 65535 B",
            "Bahnasy's thesis, table 2.1: frames of at most 1500 B";
        /// Header and trailer bytes of a data frame: frame size minus payload.
        header_bytes: u16 = "header" frame_bytes, default "62B",
            "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4",
            "InfiniBand specification, annex A17";
        /// Frame size of an acknowledgement, in bytes.
        ack_bytes: u16 = "ack" frame_bytes, default "66B",
            "length of an acknowledgement: a header with the 4 bytes of an AETH; at least 64 B on the wire",
            "InfiniBand specification, 9.3 and annex A17";
        /// Packets per acknowledgement.
        ack_every: u32 = "ack_every" count, default "1",
            "packets per acknowledgement, at least 1; the flow's last packet is always acknowledged, and with a \
             window one acknowledgement covers at most half of it",
            "InfiniBand specification, 9.7.5 (coalesced acknowledgements); HPCC's ns-3 fork: L2AckInterval";
        /// Maximum unacknowledged bytes.
        window_bytes: Option<u64> = "window" bytes_or["unlimited"], default "unlimited",
            "a packet may start while less than this is unacknowledged; unlimited: only the rate limits a flow",
            "HPCC's ns-3 fork: win";
        /// Whether the window is multiplied by the current rate over the maximum rate.
        variable_window: bool = "variable_window" switch, default "false",
            "the window shrinks with the rate: `window` times the rate over the maximum rate of the flow; then every \
             packet is acknowledged",
            "HPCC's ns-3 fork: VAR_WIN";
        /// Maximum rate of a flow; `None`: the line rate.
        rate: Option<Rate> = "rate" rate_or["line"], default "line",
            "maximum rate of a flow, counted on the wire with preamble and gap (20 B a frame); line: the port's rate",
            "RoCE starts at line rate (DCQCN, sec. 3.1)";
        /// Retransmission timeout of go-back-N; `None`: no timer.
        timeout: Option<Time> = "timeout" time_or["never"], default "67.108864ms",
            "go-back-n: time without progress after which all unacknowledged packets are retransmitted; never: no \
             timer",
            "InfiniBand specification, 9.7.6.1.3: 4.096us * 2^14, the usual local ACK timeout";
        /// Minimum time between two NAKs for the same missing packet, for go-back-N.
        nak_interval: Time = "nak_interval" time, default "500us",
            "go-back-n: one NAK per missing packet, repeated after this time",
            "HPCC's ns-3 fork: NACK Generation Interval";
        /// Packets that are retransmitted after a loss.
        loss_recovery: LossRecovery = "loss_recovery"
            word["go-back-n" = LossRecovery::GoBackN, "selective" = LossRecovery::Selective],
            default "go-back-n",
            "retransmission: go-back-n, all packets from the missing one on; selective, missing packets only: the \
             receiver keeps out-of-order packets and acknowledges every packet",
            "InfiniBand specification, 9.7; selective: IRN (Mittal et al., SIGCOMM 2018), sec. 3.1";
        /// Maximum bytes in flight; for selective repeat only.
        flight_cap: FlightCap = "flight_cap"
            either["path" = FlightCap::Path, "unlimited" = FlightCap::Unlimited, bytes = FlightCap::Bytes],
            default "path",
            "selective: upper bound of the bytes between the oldest missing and the newest sent byte; path: the \
             bandwidth-delay product of the flow's idle path, in whole packets; unlimited",
            "IRN, sec. 3.2: BDP-FC, of the longest path of the network";
        /// Retransmission timeout with fewer than `rto_low_packets` packets in flight; for selective repeat only.
        rto_low: Time = "rto_low" time, default "100us",
            "selective: the timeout with few packets in flight, longer than a round trip",
            "IRN, sec. 4.1";
        /// Retransmission timeout with at least `rto_low_packets` packets in flight; for selective repeat only.
        rto_high: Time = "rto_high" time, default "320us",
            "selective: the timeout with more packets in flight, at least rto_low",
            "IRN, sec. 4.1: a round trip with the queue of one congested link";
        /// Number of packets in flight from which `rto_high` applies.
        rto_low_packets: u32 = "rto_low_packets" count, default "3",
            "selective: below this number of packets between the oldest missing and the newest, rto_low applies",
            "IRN, sec. 3.1 and 4.1: N";
        /// Whether packets carry the ECT codepoint.
        ecn: bool = "ecn" switch, default "false",
            "packets are ECN-capable",
            "InfiniBand specification, annex A17.9";
    }
}

/// Description of RoCE at a fixed rate, without `variable_window`, since the rate does not vary. The table of
/// [`ConnectionParameters`] has all parameters.
pub const FIXED_RATE: Mechanism = Mechanism {
    parameters: &extended::<{ MECHANISM.parameters.len() - 1 }>(MECHANISM.parameters, &["variable_window"], &[], &[]),
    ..MECHANISM
};

/// Description and source of `initial_rate`, a parameter of several rate controls.
pub(crate) const INITIAL_RATE: [&str; 2] =
    ["rate of a new flow; line: the maximum rate of the flow", "RoCE starts at line rate (DCQCN, sec. 3.1)"];
