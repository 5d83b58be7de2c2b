"""Both ends of a flow; datagrams; NDP (docs/mechanisms/ndp.md; Handley et al., SIGCOMM 2017)."""

from collections import deque

from .network import BIT_PS, OVERHEAD_BYTES, Frame, ceil_div


class End:
    """An end of a flow: its sender or its receiver."""
    paced = False  # leaves the ring only when it is polled too early [M44]
    in_ring = ended = False

    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport

    def data_frame(self, offset, limit, header, **more):
        """The packet at that offset of the flow, whose payload has at most `limit` bytes."""
        payload = min(limit, self.flow.size_bytes - offset)
        return Frame("data", self.flow, offset, payload, max(64, payload + header), self.flow.cls, **more)

    def reply(self, now, kind, seq, size, cls, detail, record):
        frame = Frame(kind, self.flow, seq, 0, size, self.host.scenario.class_of_reply(cls), detail, record)
        self.host.reply(now, frame)  # [M49]


class DatagramSender(End):
    """Frames at a given spacing; what is due while the wire is busy waits, and its stamp does not move."""
    sent = offset = 0

    def poll(self, now):
        flow, settings = self.flow, self.settings
        if self.offset >= flow.size_bytes:
            return "done"  # [M53]
        due_ps = flow.start_ps
        if settings.gap == "from_rate":
            rate_bps = self.host.port.link.rate_bps if settings.rate == "line" else settings.rate
            due_ps += self.sent * (settings.frame + OVERHEAD_BYTES) * 8 * BIT_PS // rate_bps
        else:
            due_ps += self.sent * settings.gap
        if due_ps > now:
            return due_ps
        frame = self.data_frame(self.offset, settings.frame - settings.header, settings.header, ecn=settings.ecn)
        self.offset += frame.payload
        self.sent += 1
        return frame


class DatagramReceiver(End):
    received = 0

    def data(self, now, frame):
        self.received += frame.payload
        if self.received == self.flow.size_bytes:
            self.flow.delivered_ps = now


class NdpEnd(End):
    def __init__(self, host, flow):
        super().__init__(host, flow)
        settings, sender = self.settings, host.network.nodes[flow.src]
        self.packets = ceil_div(flow.size_bytes, settings.payload)
        self.packet_ps, self.window = host.port.busy_ps(settings.payload + settings.header), settings.initial_window
        if self.window == "bdp":  # [NDP1]
            round_trip_ps = host.network.base_rtt_ps(flow, settings.payload + settings.header, settings.control)
            packet_ps = sender.port.busy_ps(settings.payload + settings.header)
            self.window = min(32768, max(1, ceil_div(round_trip_ps, packet_ps)))
        self.window = min(self.window, self.packets)

    def plan_tick(self, now):  # [NDP9]
        if self.settings.timeout != "never":
            self.host.timer(now + self.settings.timeout, self.tick)


class NdpSender(NdpEnd):
    def __init__(self, host, flow):
        super().__init__(host, flow)
        self.allowed, self.most_ahead = self.window, max(64, 1 << (2 * self.window - 1).bit_length())
        self.next_new = self.oldest = self.pulled = 0
        self.acknowledged, self.again, self.under_way = set(), set(), {}
        self.plan_tick(flow.start_ps)

    def poll(self, now):
        number = min(self.again, default=self.next_new)  # [NDP2]
        if not self.allowed or number >= self.packets or number - self.oldest >= self.most_ahead:
            return None
        self.allowed -= 1
        self.again.discard(number)
        frame = self.data_frame(number * self.settings.payload, self.settings.payload, self.settings.header)
        if number == self.next_new:
            self.next_new += 1
        else:
            self.flow.retransmitted_bytes += frame.payload
        self.under_way[number] = 0
        return frame

    def receive(self, now, frame):
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
            self.flow.acked_ps = now
            self.host.end(self)
        else:
            self.host.join(now, self)

    def acknowledge(self, number):
        self.acknowledged.add(number)
        self.again.discard(number)
        self.under_way.pop(number, None)

    def tick(self, now):
        if self.ended:
            return
        self.plan_tick(now)
        lost = {number for number, ticks in self.under_way.items() if ticks}
        self.again |= lost
        self.allowed += len(lost)
        self.under_way = dict.fromkeys(self.under_way.keys() - lost, 1)
        self.flow.timeouts += bool(lost)
        self.host.join(now, self)


class NdpReceiver(NdpEnd):
    def __init__(self, host, flow):
        super().__init__(host, flow)
        self.whole, self.arrived, self.cut, self.pulled, self.missing = set(), 0, 0, 0, 0
        self.knows_end, self.news, self.cls = False, True, None

    def data(self, now, frame):
        if self.cls is None:
            self.cls = frame.cls  # of the first frame [M49]
            self.plan_tick(now)
        self.news = True
        number = frame.seq // self.settings.payload
        is_copy = number in self.whole
        is_cut = not frame.payload and not is_copy
        self.arrived += not (is_copy and frame.payload)
        self.cut += is_cut
        if frame.payload:
            self.whole.add(number)
        self.knows_end = self.knows_end or number == self.packets - 1
        while self.missing in self.whole:
            self.missing += 1
        if self.complete() and self.flow.delivered_ps is None:
            self.flow.delivered_ps = now
        self.answer(now, "nak" if is_cut else "ack", frame.seq)  # [NDP5]
        pulls = self.host.pulls
        if self.wants() and self not in pulls.flows:  # [NDP7]
            pulls.flows.append(self)
        pulls.serve(now)  # [NDP8]

    def complete(self):
        return len(self.whole) == self.packets

    def wants(self):  # [NDP6]
        wanted = self.arrived - self.pulled
        if self.knows_end:
            wanted = min(wanted, self.packets + self.cut - self.window - self.pulled)
        return 0 if self.complete() else max(0, wanted)

    def answer(self, now, kind, seq):
        self.reply(now, kind, seq, self.settings.control, self.cls, (self.pulled, self.missing), self.complete())

    def tick(self, now):
        if self.complete():
            return
        self.plan_tick(now)
        if not self.news and not self.wants() and self.pulled:
            self.answer(now, "control", self.pulled)
        self.news = False


class PullQueue:
    """The flows that want packets at a port of a host; one pull in the time of a full packet. [NDP7], [NDP8]"""
    def __init__(self, host):
        self.host, self.flows, self.next_ps, self.planned = host, deque(), 0, False

    def serve(self, now):
        while self.flows and self.next_ps <= now:
            receiver = self.flows.popleft()
            if receiver.wants():
                self.next_ps = now + receiver.packet_ps
                receiver.pulled, receiver.news = receiver.pulled + 1, True
                receiver.answer(now, "control", receiver.pulled)
                if receiver.wants():
                    self.flows.append(receiver)
        if self.flows and not self.planned:
            self.planned = True
            self.host.timer(self.next_ps, self.turn)

    def turn(self, now):
        self.planned = False
        self.serve(now)
