"""RoCE with go-back-N: docs/mechanisms/roce.md. Rate controls are in rate_controls.py."""

from . import rate_controls
from .network import Frame, flow_hash
from .values import BIT_PS, OVERHEAD_BYTES, ceil_div


class Answer:
    """What an acknowledgement carries beside the next byte expected."""

    def __init__(self, started_ps, delivered_ps, record):
        self.started_ps, self.delivered_ps, self.record = started_ps, delivered_ps, record


class RoceSender:
    paced = True  # [M44]

    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport
        self.in_ring = self.ended = False
        self.snd_una = self.snd_nxt = self.snd_max = 0
        self.last_start_ps = self.last_size = self.due_ps = None
        self.deadline_ps = self.timer_ps = None
        line = host.port.wire.rate_bps
        most = line if self.settings.rate == "line" else min(line, self.settings.rate)  # [ROCE1]
        self.control = rate_controls.make(self, most)

    def next_start_ps(self, now):
        """When the next packet may start, or its rate changes. [ROCE2], [ROCE3]"""
        if self.last_start_ps is None:
            return now
        bits = (self.last_size + OVERHEAD_BYTES) * 8
        start = self.last_start_ps + ceil_div(bits * BIT_PS, self.control.rate(now))
        change = self.control.next_change_ps()
        return start if change is None or start <= now else min(start, change)

    def poll(self, now):
        if self.ended:
            return "done"
        flow, settings = self.flow, self.settings
        window = self.control.window_bytes(now)
        if self.snd_nxt >= flow.size_bytes or window is not None and self.snd_nxt - self.snd_una >= window:  # [ROCE4]
            return None
        if self.next_start_ps(now) > now:
            return self.next_start_ps(now)
        payload = min(settings.payload, flow.size_bytes - self.snd_nxt)
        size = max(64, payload + settings.header + self.control.telemetry_bytes)
        frame = Frame("data", flow, self.snd_nxt, payload, size, flow.cls, flow.src, flow.dst,
                      flow_hash(flow.src, flow.dst, flow.number))
        frame.ecn = settings.ecn
        frame.detail = now
        if self.control.telemetry_bytes:
            frame.record = []
        if self.snd_nxt < self.snd_max:
            flow["retransmitted_bytes"] += min(payload, self.snd_max - self.snd_nxt)
        self.snd_nxt += payload
        self.snd_max = max(self.snd_max, self.snd_nxt)
        self.last_start_ps, self.last_size = now, size
        if self.deadline_ps is None:
            self.restart_timer(now)  # [ROCE7]
        self.due_ps = self.next_start_ps(now)  # before the byte counter counts this packet
        self.control.sent(now, size)
        return frame

    def restart_timer(self, now):
        if self.settings.timeout == "never":
            return
        if self.snd_una >= self.snd_max:
            self.deadline_ps = None
            return
        self.deadline_ps = now + self.settings.timeout
        if self.timer_ps is None:
            self.create_timer(self.deadline_ps)

    def create_timer(self, time_ps):
        self.timer_ps = time_ps
        self.host.timer(time_ps, self.fire)

    def fire(self, now):
        self.timer_ps = None
        if self.ended or self.deadline_ps is None:
            return
        if now < self.deadline_ps:
            self.create_timer(self.deadline_ps)  # [M25]
        else:
            self.flow["timeouts"] += 1
            self.snd_nxt = self.snd_una
            self.restart_timer(now)
        self.host.join(now, self)

    def receive(self, now, frame):
        if self.ended:
            return
        if frame.kind == "cnp":
            self.control.notified(now)
        elif frame.detail.delivered_ps is not None:  # [ROCE8]
            self.flow["acked_ps"] = now
            self.host.end(self)
        else:
            self.acknowledged(now, frame)
        if not self.ended:  # a flow that has ended takes no turn
            self.host.join(now, self)  # [M47]

    def acknowledged(self, now, frame):
        expected = frame.seq
        if expected < self.snd_una or expected > self.snd_max:  # [ROCE5]
            return
        progress = expected > self.snd_una
        if progress:
            self.snd_una = expected
            self.snd_nxt = max(self.snd_nxt, expected)
            self.control.acknowledged(now, frame)
        if frame.kind == "nak":
            self.snd_nxt = self.snd_una  # [ROCE6]
        if progress or frame.kind == "nak":
            self.restart_timer(now)


class RoceReceiver:
    def __init__(self, host, flow):
        self.host, self.flow, self.settings = host, flow, flow.transport
        self.expected = self.count = 0
        self.last_nak_ps = self.last_cnp_ps = None
        self.delivered_ps = None
        self.packets_per_ack = rate_controls.packets_per_ack(self.settings)

    def data(self, now, frame):
        settings = self.settings
        if frame.marked and settings.kind == "dcqcn" and self.delivered_ps is None:  # [ROCE12]
            if self.last_cnp_ps is None or now - self.last_cnp_ps >= settings.cnp_interval:  # [DCQCN1]
                self.last_cnp_ps = now
                self.answer(now, "cnp", settings.cnp, frame)
        ack_bytes = settings.ack + settings.get("telemetry", 0)
        if frame.seq > self.expected:  # [ROCE9]
            if self.last_nak_ps is None or now - self.last_nak_ps >= settings.nak_interval:
                self.last_nak_ps, self.count = now, 0
                self.answer(now, "nak", ack_bytes, frame)
            return
        if frame.seq == self.expected:
            self.expected += frame.payload
            self.last_nak_ps = None
            if self.expected == self.flow.size_bytes:
                self.delivered_ps = self.flow["delivered_ps"] = now
        self.count += 1  # [ROCE10]
        complete = self.delivered_ps is not None
        if complete or self.count >= self.packets_per_ack or frame.seq + frame.payload == self.flow.size_bytes:
            self.count = 0
            self.answer(now, "ack", ack_bytes, frame)

    def answer(self, now, kind, size, frame):
        flow = self.flow
        reply_class = self.host.network.scenario.reply_class
        reply = Frame(kind, flow, self.expected, 0, max(64, size), frame.cls if reply_class is None else reply_class,
                      flow.dst, flow.src, flow_hash(flow.dst, flow.src, flow.number))
        record = frame.record if self.delivered_ps is None else None  # [HPCC3]
        reply.detail = Answer(frame.detail, self.delivered_ps if kind != "cnp" else None, record)
        self.host.reply(now, reply)  # [M49]
