"""NDP: docs/mechanisms/ndp.md; Handley et al., SIGCOMM 2017."""

from collections import deque

from .network import Frame, flow_hash
from .values import ceil_div


def packets(flow):
    return ceil_div(flow.size_bytes, flow.transport.payload)


def window(host, flow):
    """[NDP1]"""
    settings, wanted = flow.transport, flow.transport.initial_window
    if wanted == "bdp":
        round_trip_ps = host.network.base_rtt_ps(flow, settings.payload + settings.header, settings.control)
        wanted = min(32768, max(1, ceil_div(round_trip_ps, turn_ps(host, settings))))
    return min(wanted, packets(flow))


def turn_ps(host, settings):
    """What a full packet takes on the wire of the host's port."""
    return host.port.wire.busy_ps(settings.payload + settings.header)


class NdpSender:
    paced = False  # [M44]

    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport
        self.in_ring = self.ended = False
        self.packets, self.allowed = packets(flow), window(host, flow)
        self.most_ahead = 64
        while self.most_ahead < 2 * self.allowed:
            self.most_ahead *= 2
        self.next_new = self.oldest = self.pulled = 0
        self.acknowledged, self.again, self.under_way = set(), set(), {}
        if self.settings.timeout != "never":
            host.timer(flow.start_ps + self.settings.timeout, self.look)

    def poll(self, now):
        if self.ended:
            return "done"
        number = min(self.again, default=self.next_new)  # [NDP2]
        if not self.allowed or number >= self.packets or number - self.oldest >= self.most_ahead:
            return None
        self.allowed -= 1
        self.again.discard(number)
        flow, settings = self.flow, self.settings
        offset = number * settings.payload
        payload = min(settings.payload, flow.size_bytes - offset)
        if number == self.next_new:
            self.next_new += 1
        else:
            flow["retransmitted_bytes"] += payload
        self.under_way[number] = 0
        return Frame("data", flow, offset, payload, max(64, payload + settings.header), flow.cls, flow.src, flow.dst,
                     flow_hash(flow.src, flow.dst, flow.number))

    def receive(self, now, frame):
        if self.ended:
            return
        number = frame.seq // self.settings.payload
        if frame.kind == "control":
            pulled, missing = frame.detail  # [NDP4]
            self.allowed += max(0, pulled - self.pulled)
            self.pulled = max(self.pulled, pulled)
            for earlier in range(self.oldest, missing):
                self.acknowledge(earlier)
        elif frame.kind == "ack":
            self.acknowledge(number)
        elif number not in self.acknowledged:  # [NDP3]
            self.under_way.pop(number, None)
            self.again.add(number)
        while self.oldest in self.acknowledged:
            self.oldest += 1
        if frame.record or self.oldest == self.packets:
            self.flow["acked_ps"] = now
            self.host.end(self)
        else:
            self.host.join(now, self)

    def acknowledge(self, number):
        self.acknowledged.add(number)
        self.again.discard(number)
        self.under_way.pop(number, None)

    def look(self, now):
        """[NDP9]"""
        if self.ended:
            return
        self.host.timer(now + self.settings.timeout, self.look)
        lost = [number for number, looks in self.under_way.items() if looks]
        for number in lost:
            del self.under_way[number]
            self.again.add(number)
            self.allowed += 1
        self.under_way = dict.fromkeys(self.under_way, 1)
        self.flow["timeouts"] += bool(lost)
        self.host.join(now, self)


class NdpReceiver:
    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport
        self.packets, self.window = packets(flow), window(self.host.network.nodes[flow.src], flow)
        self.whole = set()
        self.arrived = self.cut = self.pulled = self.missing = 0
        self.knows_end = self.in_queue = False
        self.news = True
        self.reply_class = None  # that of the first frame [M49]

    def data(self, now, frame):
        if self.reply_class is None:
            self.reply_class = frame.cls if self.host.network.scenario.reply_class is None \
                else self.host.network.scenario.reply_class
            if self.settings.timeout != "never":
                self.host.timer(now + self.settings.timeout, self.look)
        self.news = True
        number = frame.seq // self.settings.payload
        is_copy = number in self.whole
        if not (is_copy and frame.payload):
            self.arrived += 1
        if not frame.payload and not is_copy:
            self.cut += 1
        elif frame.payload:
            self.whole.add(number)
        self.knows_end = self.knows_end or number == self.packets - 1
        while self.missing in self.whole:
            self.missing += 1
        if self.complete() and self.flow.delivered_ps is None:
            self.flow["delivered_ps"] = now
        self.answer(now, "nak" if not frame.payload and not is_copy else "ack", frame.seq)  # [NDP5]
        if self.wants() and not self.in_queue:  # [NDP7]
            self.in_queue = True
            self.host.pulls.join(now, self)

    def complete(self):
        return len(self.whole) == self.packets

    def wants(self):
        """[NDP6]"""
        if self.complete():
            return 0
        wanted = self.arrived - self.pulled
        if self.knows_end:
            wanted = min(wanted, self.packets + self.cut - self.window - self.pulled)
        return max(0, wanted)

    def answer(self, now, kind, seq):
        flow = self.flow
        reply = Frame(kind, flow, seq, 0, self.settings.control, self.reply_class, flow.dst, flow.src,
                      flow_hash(flow.dst, flow.src, flow.number))
        reply.detail, reply.record = (self.pulled, self.missing), self.complete()
        self.host.reply(now, reply)

    def pull(self, now):
        self.pulled += 1
        self.news = True
        self.repeat_pull(now)

    def repeat_pull(self, now):
        self.answer(now, "control", self.pulled)

    def look(self, now):
        """[NDP9]"""
        if self.complete():
            return
        self.host.timer(now + self.settings.timeout, self.look)
        if not self.news and not self.wants() and self.pulled:
            self.repeat_pull(now)
        self.news = False


class PullQueue:
    """The flows that want packets at a port of a host; one turn in the time of a full packet. [NDP7], [NDP8]"""

    def __init__(self, host):
        self.host, self.flows, self.next_ps = host, deque(), 0
        self.planned = False

    def join(self, now, receiver):
        self.flows.append(receiver)
        self.serve(now)

    def serve(self, now):
        while self.flows and self.next_ps <= now:
            receiver = self.flows.popleft()
            receiver.in_queue = False
            if receiver.wants():
                self.next_ps = now + turn_ps(self.host, receiver.settings)
                receiver.pull(now)
                if receiver.wants():
                    receiver.in_queue = True
                    self.flows.append(receiver)
        if self.flows and not self.planned:
            self.planned = True
            self.host.timer(self.next_ps, self.turn)

    def turn(self, now):
        self.planned = False
        self.serve(now)
