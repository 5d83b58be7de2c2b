"""A switch: routes, the buffer, marks, and ingress accounts under PAUSE and PFC."""

from collections import deque

from .network import BIT_PS, CONTROL_BYTES, OVERHEAD_BYTES, SWITCH, Frame, Node, ceil_div, mix32, stream
from .scenario import Refused

# docs/model.md, "How soon a neighbour stops": IEEE 802.3, annex 31B.3.7. Quanta by Gbit/s.
REACTION_QUANTA = {0.1: 1, 1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}


def reaction_ps(reaction, rate_bps):
    if reaction == "standard":
        if rate_bps / 1e9 not in REACTION_QUANTA:
            raise Refused(f"switch.flow_control.reaction: standard at {rate_bps} bit/s is not covered")
        reaction = "bits", REACTION_QUANTA[rate_bps / 1e9] * 512
    unit, amount = reaction
    return amount if unit == "ps" else ceil_div(amount * BIT_PS, rate_bps)


class Account:
    """The bytes that came in by a port in a lossless class and still wait (docs/mechanisms/pfc.md)."""
    def __init__(self, port, cls, headroom_bytes):
        self.port, self.cls, self.headroom_bytes = port, cls, headroom_bytes
        self.shared = self.in_headroom = self.serial = 0
        self.stopped = False

    @property
    def total(self):
        return self.shared + self.in_headroom


class Switch(Node):
    is_host, delayed = False, ()

    def prepare(self):
        self.settings, seed = self.scenario.switch, self.scenario.hash_seed
        self.stream = stream(self.scenario.seed, self.number, SWITCH)  # [M18]
        self.salt = mix32(self.number + 0x9E3779B9) ^ mix32(seed ^ mix32(seed >> 32))
        self.control, self.marking = self.settings.flow_control, self.settings.marking
        self.trimming, self.accounts = self.settings.overload, [{} for _ in self.ports]
        self.queues = [[deque() for _ in range(8)] for _ in self.ports]
        self.queue_bytes = [[0] * 8 for _ in self.ports]
        self.shared_bytes, self.used_bytes = self.settings.buffer, 0
        self.accounts_per_port = 1 if self.control.kind == "pause" else len(self.lossless)
        for port in self.ports if self.control.kind != "none" else ():
            headroom = port.credit_bytes if self.control.kind == "cbfc" else self.headroom_bytes(port)
            if self.control.kind == "pause":
                self.accounts[port.index] = dict.fromkeys(range(8), Account(port, None, headroom))
            else:
                self.accounts[port.index] = {cls: Account(port, cls, headroom) for cls in self.lossless}
            self.shared_bytes -= headroom * self.accounts_per_port
        if self.settings.queue is None and self.shared_bytes <= 0:
            raise Refused("switch.buffer: smaller than the headroom")

    def headroom_bytes(self, port):
        """docs/model.md, Headroom."""
        if self.control.headroom != "auto":
            return self.control.headroom
        mtu, rate, delay_ps = self.scenario.mtu_bytes, port.link.rate_bps, port.link.delay_ps
        in_flight = ceil_div(2 * delay_ps * rate, 8 * BIT_PS) + ceil_div(port.reaction_ps * rate, 8 * BIT_PS)
        wire = in_flight + (CONTROL_BYTES + OVERHEAD_BYTES) * self.accounts_per_port + mtu + OVERHEAD_BYTES
        return ceil_div(wire * mtu, mtu + OVERHEAD_BYTES) + 2 * mtu

    def waiting_classes(self, port):
        return [cls for cls in range(8) if self.queues[port.index][cls]]

    def held_bytes(self, port, cls):
        return self.accounts[port.index][cls].total

    def head_bytes(self, port, cls):
        return self.queues[port.index][cls][0].size

    def accept(self, now, port, frame):  # [M35]
        frame.in_port, out = port.index, self.route(frame.dst, frame.entropy)
        if out is not None:
            self.note(now, "arrived", frame, frame.in_port)
        if out is None:
            self.drop(now, frame, None, "no route")
        elif out.idle_for(now, frame):
            out.start(now, frame)
        elif self.admit(frame, out) or self.trim(now, frame, out):
            self.enqueue(now, frame, out)
        else:
            self.drop(now, frame, out.index, "lossless queue full" if frame.cls in self.lossless else "queue full")
        port.update_grant(now, frame.cls)

    def trim(self, now, frame, out):
        """Cuts the payload of a data frame that found no room: docs/mechanisms/trim.md. False if it stays whole."""
        trim = self.trimming
        if trim.kind != "trim" or frame.kind != "data" or not frame.payload or frame.size <= trim.size \
                or frame.cls in self.lossless:
            return False
        self.note(now, "trimmed", frame, out.index)
        frame.payload, frame.size, frame.cls = 0, trim.size, trim.header_class
        if not self.admit(frame, out):
            raise Refused("switch.overload: a header that finds no room is not covered")
        return True

    def fail(self, now, port):  # [M56]
        super().fail(now, port)
        for cls, queue in enumerate(self.queues[port.index]):
            while queue:
                frame = queue.popleft()
                self.queue_bytes[port.index][cls] -= frame.size
                self.release(now, frame)
                self.drop(now, frame, port.index, "link down")

    def route(self, dst, entropy, is_healthy=False):
        """The port that a frame takes, or None; with `is_healthy` as if all links were up. [M57]"""
        equal = self.network.routes[self.number][dst]
        for ports in (equal, [port for port in equal if not port.down]):
            port = ports[mix32(entropy ^ self.salt) * len(ports) >> 32] if ports else None  # [M29]
            if is_healthy or port is None or not port.down:
                return port

    def threshold(self, limit):
        kind, value = limit
        free = self.shared_bytes - self.used_bytes
        return value if kind == "bytes" else free * value.numerator // value.denominator  # [BUF2]

    def admit(self, frame, out):
        """Charges the buffer and the ingress account; False where there is no room."""
        queue, size, account = self.settings.queue, frame.size, self.accounts[frame.in_port].get(frame.cls)
        queue_bytes = self.queue_bytes[out.index][frame.cls] + size
        fits_shared = self.used_bytes + size <= self.shared_bytes
        if queue is not None:
            if frame.cls == self.trimming.get("header_class"):
                queue = self.trimming.header_queue
            kind, limit = queue
            if (len(self.queues[out.index][frame.cls]) + 1 if kind == "packets" else queue_bytes) > limit:
                return False
            if account is not None:  # there is no headroom [BUF7]
                account.shared += size
        elif account is None:
            if queue_bytes > self.threshold(self.settings.egress_threshold) or not fits_shared:
                return False
            self.used_bytes += size
        elif self.control.kind != "cbfc" and fits_shared \
                and account.total + size <= self.threshold(self.control.xoff):  # [BUF4]
            account.shared += size
            self.used_bytes += size
        elif account.in_headroom + size <= account.headroom_bytes:
            account.in_headroom += size
        else:
            return False
        return True

    def enqueue(self, now, frame, out):
        bytes_ahead = self.queue_bytes[out.index][frame.cls]
        self.note(now, "queued", frame, out.index, value=bytes_ahead)
        self.mark(now, "enqueue", frame, out, bytes_ahead)
        self.queues[out.index][frame.cls].append(frame)
        self.queue_bytes[out.index][frame.cls] += frame.size
        out.wake(now)
        account = self.accounts[frame.in_port].get(frame.cls)
        if account and not account.stopped and self.control.kind != "cbfc" \
                and account.total > self.threshold(self.control.xoff):  # [PFC1]
            account.stopped, account.serial = True, account.serial + 1
            self.stop_neighbour(now, account, "pause sent")

    def mark(self, now, place, frame, out, queue_bytes):
        if self.marking.get("at") == place and frame.ecn and not frame.marked and self.over_threshold(queue_bytes):
            frame.marked = True
            self.note(now, "marked", frame, out.index)

    def over_threshold(self, queue_bytes):  # [ECN3], [ECN4]
        marking = self.marking
        if queue_bytes <= marking.k_min or queue_bytes > marking.k_max:
            return queue_bytes > marking.k_max
        chance = min(int(marking.p_max * 2**64), 2**64 - 1)
        return (next(self.stream) + 1) * (marking.k_max - marking.k_min) <= chance * (queue_bytes - marking.k_min)

    def serve(self, now, port):
        ready = port.ready(now)
        if not ready:
            return
        cls = port.scheduler.pick(ready)
        frame = self.queues[port.index][cls].popleft()
        port.scheduler.charge(cls, frame.size)
        self.queue_bytes[port.index][cls] -= frame.size
        self.mark(now, "dequeue", frame, port, self.queue_bytes[port.index][cls])
        self.release(now, frame)
        port.start(now, frame)

    def release(self, now, frame):
        """Gives the room back, that in headroom first, and lets the neighbour go on."""
        account = self.accounts[frame.in_port].get(frame.cls)
        from_headroom = min(frame.size, account.in_headroom) if account else 0
        shared = frame.size - from_headroom
        if self.settings.queue is None:
            self.used_bytes -= shared
        if account is None:
            return
        account.in_headroom -= from_headroom
        account.shared -= shared
        account.port.update_grant(now, frame.cls)
        if account.stopped and not account.in_headroom and (
                not account.total or account.total <= self.threshold(self.control.xoff) - self.control.xon):
            account.stopped, account.serial = False, account.serial + 1
            self.send_pause(now, account, 0, "resume sent")

    def stop_neighbour(self, now, account, event):
        """Sends a pause, and renews it at half its length for as long as the account stays up."""
        length_ps, serial = ceil_div(self.control.quanta * 512 * BIT_PS, account.port.link.rate_bps), account.serial
        self.send_pause(now, account, length_ps, event)

        def renew(then):
            if account.stopped and account.serial == serial:
                self.stop_neighbour(then, account, "pause renewed")
        self.timer(now + max(1, length_ps // 2), renew, (1,))  # [PFC4], [M26]

    def send_pause(self, now, account, length_ps, event):
        self.note(now, event, None, account.port.index, account.cls, account.total)
        frame = Frame("pause", None, 1 if length_ps else 0, 0, CONTROL_BYTES, account.cls, length_ps)
        account.port.send_control(now, frame)
