//! Descriptions of the parameters of RoCE, shared by all mechanisms on top of it.

use crate::describe::Default::Value;
use crate::describe::Parameter;

pub(crate) const PAYLOAD: Parameter = Parameter {
    key: "payload",
    default: Value("1000B"),
    meaning: "payload of a full packet, 1 B up to what a frame of 65535 B holds",
    source: "HPCC's ns-3 fork: Mtu",
};
pub(crate) const HEADER: Parameter = Parameter {
    key: "header",
    default: Value("62B"),
    meaning: "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4",
    source: "InfiniBand specification, annex A17",
};
pub(crate) const ACK_BYTES: Parameter = Parameter {
    key: "ack",
    default: Value("66B"),
    meaning: "length of an acknowledgement: a header with the 4 bytes of an AETH; at least 64 B on the wire",
    source: "InfiniBand specification, 9.3 and annex A17",
};
pub(crate) const ACK_EVERY: Parameter = Parameter {
    key: "ack_every",
    default: Value("1"),
    meaning: "packets per acknowledgement, at least 1; the flow's last is always acknowledged, and a window never \
        waits for more than half of its packets",
    source: "InfiniBand specification, 9.7.5 (coalesced acknowledgements); HPCC's ns-3 fork: L2AckInterval",
};
pub(crate) const WINDOW: Parameter = Parameter {
    key: "window",
    default: Value("unlimited"),
    meaning: "a packet may start while less than this is unacknowledged; unlimited: only the rate counts",
    source: "HPCC's ns-3 fork: win",
};
pub(crate) const VARIABLE_WINDOW: Parameter = Parameter {
    key: "variable_window",
    default: Value("false"),
    meaning: "whether the window shrinks with the rate: `window` times the rate over the most that the flow may send; \
        then every packet is acknowledged",
    source: "HPCC's ns-3 fork: VAR_WIN",
};
pub(crate) const RATE: Parameter = Parameter {
    key: "rate",
    default: Value("line"),
    meaning: "the most a flow sends, counted on the wire with preamble and gap (20 B a frame); line: the port's rate",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const INITIAL_RATE: Parameter = Parameter {
    key: "initial_rate",
    default: Value("line"),
    meaning: "the rate of a new flow; line: the most that it may send",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const TIMEOUT: Parameter = Parameter {
    key: "timeout",
    default: Value("67.108864ms"),
    meaning: "go-back-n: time without progress after which everything unacknowledged is sent again; never: no such \
        timer",
    source: "InfiniBand specification, 9.7.6.1.3: 4.096us * 2^14, the usual local ACK timeout",
};
pub(crate) const NAK_INTERVAL: Parameter = Parameter {
    key: "nak_interval",
    default: Value("500us"),
    meaning: "go-back-n: a missing packet is asked for once, and again after this time without it",
    source: "HPCC's ns-3 fork: NACK Generation Interval",
};
pub(crate) const ECN: Parameter = Parameter {
    key: "ecn",
    default: Value("false"),
    meaning: "whether packets say that they take part in ECN",
    source: "InfiniBand specification, annex A17.9",
};
pub(crate) const LOSS_RECOVERY: Parameter = Parameter {
    key: "loss_recovery",
    default: Value("go-back-n"),
    meaning: "what is sent again: go-back-n, everything from the missing packet on; selective, what is missing, and \
        the receiver keeps what comes out of order and acknowledges every packet",
    source: "InfiniBand specification, 9.7; selective: IRN (Mittal et al., SIGCOMM 2018), sec. 3.1",
};
pub(crate) const FLIGHT_CAP: Parameter = Parameter {
    key: "flight_cap",
    default: Value("path"),
    meaning: "selective: a new packet may start while less than this lies between the oldest missing byte and the \
        newest sent; path: what the line carries in the round trip of the flow's idle path, in whole packets; \
        unlimited",
    source: "IRN, sec. 3.2: BDP-FC, there of the longest path of the network",
};
pub(crate) const RTO_LOW: Parameter = Parameter {
    key: "rto_low",
    default: Value("100us"),
    meaning: "selective: the timeout while few packets are on their way, longer than a round trip",
    source: "IRN, sec. 4.1",
};
pub(crate) const RTO_HIGH: Parameter = Parameter {
    key: "rto_high",
    default: Value("320us"),
    meaning: "selective: the timeout otherwise, at least rto_low",
    source: "IRN, sec. 4.1: a round trip with the queue of one congested link",
};
pub(crate) const RTO_LOW_PACKETS: Parameter = Parameter {
    key: "rto_low_packets",
    default: Value("3"),
    meaning: "selective: with fewer packets than this between the oldest missing and the newest, rto_low counts",
    source: "IRN, sec. 3.1 and 4.1: N",
};
