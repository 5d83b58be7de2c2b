"""Both ends of each transport."""

from .network import Frame, flow_hash
from .ndp import NdpReceiver, NdpSender
from .roce import RoceReceiver, RoceSender
from .values import BIT_PS, OVERHEAD_BYTES


def sender(host, flow):
    return SENDERS[flow.transport.kind](host, flow)


def receiver(host, flow):
    return RECEIVERS[flow.transport.kind](host, flow)


class DatagramSender:
    """Frames at a given spacing; what is due while the wire is busy waits, and its stamp does not move."""

    paced = False  # a datagram flow leaves the ring only when it is asked too early

    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport
        self.in_ring = self.ended = False
        self.sent = self.offset = 0
        self.payload = self.settings.frame - self.settings.header
        self.rate_bps = host.port.wire.rate_bps if self.settings.rate == "line" else self.settings.rate

    def due_ps(self):
        if self.settings.gap != "from_rate":
            return self.flow.start_ps + self.sent * self.settings.gap
        bits = (self.settings.frame + OVERHEAD_BYTES) * 8
        return self.flow.start_ps + self.sent * bits * BIT_PS // self.rate_bps

    def poll(self, now):
        flow = self.flow
        if self.offset >= flow.size_bytes:
            return "done"  # [M53]
        if self.due_ps() > now:
            return self.due_ps()
        payload = min(self.payload, flow.size_bytes - self.offset)
        frame = Frame("data", flow, self.offset, payload, max(64, payload + self.settings.header), flow.cls,
                      flow.src, flow.dst, flow_hash(flow.src, flow.dst, flow.number))
        frame.ecn = self.settings.ecn
        self.offset += payload
        self.sent += 1
        return frame


class DatagramReceiver:
    def __init__(self, host, flow):
        self.flow, self.received = flow, 0

    def data(self, now, frame):
        self.received += frame.payload
        if self.received == self.flow.size_bytes:
            self.flow["delivered_ps"] = now


SENDERS = {"datagram": DatagramSender, "ndp": NdpSender}
RECEIVERS = {"datagram": DatagramReceiver, "ndp": NdpReceiver}
for kind in ("roce", "timely", "dcqcn", "hpcc"):
    SENDERS[kind], RECEIVERS[kind] = RoceSender, RoceReceiver
