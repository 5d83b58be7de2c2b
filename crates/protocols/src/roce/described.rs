//! Descriptions of the parameters of RoCE, shared by all mechanisms on top of it.

use crate::describe::Default::Value;
use crate::describe::{Parameter, Syntax};

pub(crate) const PAYLOAD: Parameter = Parameter {
    key: "payload",
    syntax: Syntax::TEXT,
    default: Value("1000B"),
    meaning: "payload of a full packet, from 1 B up to a frame of 65535 B",
    source: "HPCC's ns-3 fork: Mtu",
};
pub(crate) const HEADER: Parameter = Parameter {
    key: "header",
    syntax: Syntax::TEXT,
    default: Value("62B"),
    meaning: "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4",
    source: "InfiniBand specification, annex A17",
};
pub(crate) const ACK_BYTES: Parameter = Parameter {
    key: "ack",
    syntax: Syntax::TEXT,
    default: Value("66B"),
    meaning: "length of an acknowledgement: a header with the 4 bytes of an AETH; at least 64 B on the wire",
    source: "InfiniBand specification, 9.3 and annex A17",
};
pub(crate) const ACK_EVERY: Parameter = Parameter {
    key: "ack_every",
    syntax: Syntax::TEXT,
    default: Value("1"),
    meaning: "packets per acknowledgement, at least 1; the flow's last packet is always acknowledged, and with a \
              window one acknowledgement covers at most half of it",
    source: "InfiniBand specification, 9.7.5 (coalesced acknowledgements); HPCC's ns-3 fork: L2AckInterval",
};
pub(crate) const WINDOW: Parameter = Parameter {
    key: "window",
    syntax: Syntax::TEXT,
    default: Value("unlimited"),
    meaning: "a packet may start while less than this is unacknowledged; unlimited: only the rate limits a flow",
    source: "HPCC's ns-3 fork: win",
};
pub(crate) const VARIABLE_WINDOW: Parameter = Parameter {
    key: "variable_window",
    syntax: Syntax::TEXT,
    default: Value("false"),
    meaning: "the window shrinks with the rate: `window` times the rate over the maximum rate of the flow; then every \
              packet is acknowledged",
    source: "HPCC's ns-3 fork: VAR_WIN",
};
pub(crate) const RATE: Parameter = Parameter {
    key: "rate",
    syntax: Syntax::TEXT,
    default: Value("line"),
    meaning: "maximum rate of a flow, counted on the wire with preamble and gap (20 B a frame); line: the port's rate",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const INITIAL_RATE: Parameter = Parameter {
    key: "initial_rate",
    syntax: Syntax::TEXT,
    default: Value("line"),
    meaning: "rate of a new flow; line: the maximum rate of the flow",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const TIMEOUT: Parameter = Parameter {
    key: "timeout",
    syntax: Syntax::TEXT,
    default: Value("67.108864ms"),
    meaning: "go-back-n: time without progress after which all unacknowledged packets are retransmitted; never: no \
              timer",
    source: "InfiniBand specification, 9.7.6.1.3: 4.096us * 2^14, the usual local ACK timeout",
};
pub(crate) const NAK_INTERVAL: Parameter = Parameter {
    key: "nak_interval",
    syntax: Syntax::TEXT,
    default: Value("500us"),
    meaning: "go-back-n: one NAK per missing packet, repeated after this time",
    source: "HPCC's ns-3 fork: NACK Generation Interval",
};
pub(crate) const ECN: Parameter = Parameter {
    key: "ecn",
    syntax: Syntax::TEXT,
    default: Value("false"),
    meaning: "packets are ECN-capable",
    source: "InfiniBand specification, annex A17.9",
};
pub(crate) const LOSS_RECOVERY: Parameter = Parameter {
    key: "loss_recovery",
    syntax: Syntax::TEXT,
    default: Value("go-back-n"),
    meaning: "retransmission: go-back-n, all packets from the missing one on; selective, missing packets only: the \
              receiver keeps out-of-order packets and acknowledges every packet",
    source: "InfiniBand specification, 9.7; selective: IRN (Mittal et al., SIGCOMM 2018), sec. 3.1",
};
pub(crate) const FLIGHT_CAP: Parameter = Parameter {
    key: "flight_cap",
    syntax: Syntax::TEXT,
    default: Value("path"),
    meaning: "selective: upper bound of the bytes between the oldest missing and the newest sent byte; path: the \
              bandwidth-delay product of the flow's idle path, in whole packets; unlimited",
    source: "IRN, sec. 3.2: BDP-FC, of the longest path of the network",
};
pub(crate) const RTO_LOW: Parameter = Parameter {
    key: "rto_low",
    syntax: Syntax::TEXT,
    default: Value("100us"),
    meaning: "selective: the timeout with few packets in flight, longer than a round trip",
    source: "IRN, sec. 4.1",
};
pub(crate) const RTO_HIGH: Parameter = Parameter {
    key: "rto_high",
    syntax: Syntax::TEXT,
    default: Value("320us"),
    meaning: "selective: the timeout with more packets in flight, at least rto_low",
    source: "IRN, sec. 4.1: a round trip with the queue of one congested link",
};
pub(crate) const RTO_LOW_PACKETS: Parameter = Parameter {
    key: "rto_low_packets",
    syntax: Syntax::TEXT,
    default: Value("3"),
    meaning: "selective: below this number of packets between the oldest missing and the newest, rto_low applies",
    source: "IRN, sec. 3.1 and 4.1: N",
};
