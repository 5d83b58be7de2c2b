"""A switch: routes, the buffer, marks, and ingress accounts under PAUSE and PFC."""

from collections import deque

from .network import Frame, Node, mix32, seed_salt
from .streams import SWITCH, Stream
from .values import BIT_PS, CONTROL_BYTES, OVERHEAD_BYTES, Refused, ceil_div

# docs/model.md, "How soon a neighbour stops": IEEE 802.3, annex 31B.3.7.
REACTION_QUANTA = {10**8: 1, 10**9: 2, 10 * 10**9: 67, 25 * 10**9: 80, 40 * 10**9: 118, 50 * 10**9: 147,
                   100 * 10**9: 394, 200 * 10**9: 453, 400 * 10**9: 905, 800 * 10**9: 905}


def reaction_ps(reaction, rate_bps):
    if reaction == "standard":
        if rate_bps not in REACTION_QUANTA:
            raise Refused(f"switch.flow_control.reaction: standard at {rate_bps} bit/s is not covered")
        return ceil_div(REACTION_QUANTA[rate_bps] * 512 * BIT_PS, rate_bps)
    unit, amount = reaction
    return amount if unit == "ps" else ceil_div(amount * BIT_PS, rate_bps)


class Account:
    """What came in by a port in a lossless class and still waits (docs/mechanisms/pfc.md)."""

    def __init__(self, port, cls, headroom_bytes):
        self.port, self.cls, self.headroom_bytes = port, cls, headroom_bytes
        self.shared = self.in_headroom = 0
        self.stopped = False
        self.serial = 0

    @property
    def total(self):
        return self.shared + self.in_headroom


class Switch(Node):
    is_host = False

    def __init__(self, network, number, name):
        super().__init__(network, number, name)
        self.queues, self.queue_bytes = [], []
        self.used_bytes = 0
        self.stream = Stream(network.scenario.seed, number, SWITCH)  # [M18]
        self.salt = mix32(number + 0x9E3779B9) ^ seed_salt(network.scenario.hash_seed)

    def prepare(self):
        """Called when all ports are there."""
        scenario = self.network.scenario
        self.settings = settings = scenario.switch
        self.queues = [[deque() for _ in range(8)] for _ in self.ports]
        self.queue_bytes = [[0] * 8 for _ in self.ports]
        self.lossless = [cls for cls in settings.priorities if cls in scenario.used_classes]
        self.accounts = [{} for _ in self.ports]
        headroom_sum = 0
        for port in self.ports if settings.flow_control != "none" else ():
            headroom = port.credit_bytes if settings.flow_control == "cbfc" else self.headroom_bytes(port)
            if settings.flow_control == "pause":
                account = Account(port, None, headroom)
                self.accounts[port.index] = {cls: account for cls in range(8)}
            else:
                self.accounts[port.index] = {cls: Account(port, cls, headroom) for cls in self.lossless}
            headroom_sum += headroom * (1 if settings.flow_control == "pause" else len(self.lossless))
        self.shared_bytes = settings.buffer - headroom_sum
        if settings.queue is None and self.shared_bytes <= 0:
            raise Refused("switch.buffer: smaller than the headroom")

    def headroom_bytes(self, port):
        """docs/model.md, Headroom."""
        settings, mtu = self.settings, self.network.scenario.mtu_bytes
        if settings.headroom != "auto":
            return settings.headroom
        rate, delay = port.wire.rate_bps, port.wire.delay_ps
        in_flight = ceil_div(2 * delay * rate, 8 * BIT_PS)
        control = (CONTROL_BYTES + OVERHEAD_BYTES) * (1 if settings.flow_control == "pause" else len(self.lossless))
        reaction = ceil_div(reaction_ps(settings.reaction, rate) * rate, 8 * BIT_PS)
        wire = in_flight + control + reaction + mtu + OVERHEAD_BYTES
        return ceil_div(wire * mtu, mtu + OVERHEAD_BYTES) + 2 * mtu

    # --- frames -----------------------------------------------------------------------------------

    def waiting_classes(self, port):
        return [cls for cls in range(8) if self.queues[port.index][cls]]

    def arrive(self, now, in_port, frame):
        if self.lost(now, in_port, frame) or self.obey(now, in_port, frame):
            return
        port = self.ports[in_port]
        if frame.cls in port.credits:
            port.credits[frame.cls].received += frame.size
        frame.in_port = in_port
        self.forward(now, frame)
        port.look(now, frame.cls)

    def forward(self, now, frame):
        """[M35]"""
        out = self.route(frame.dst, frame.entropy)
        if out is None:
            self.drop(now, frame, None, "no route")
            return
        self.network.note(now, self, "arrived", frame, frame.in_port)
        if out.idle_for(now, frame):
            out.start(now, frame)
        elif not self.admit(frame, out) and not self.trim(now, frame, out):
            self.drop(now, frame, out.index, "lossless queue full" if frame.cls in self.lossless else "queue full")
        else:
            self.enqueue(now, frame, out)

    def trim(self, now, frame, out):
        """Cuts the payload of a data frame that found no room: docs/mechanisms/trim.md. False if it stays whole."""
        trim = self.settings.trim
        if trim is None or frame.kind != "data" or not frame.payload or frame.size <= trim.size \
                or frame.cls in self.lossless:
            return False
        self.network.note(now, self, "trimmed", frame, out.index)
        frame.payload, frame.size, frame.cls = 0, trim.size, trim.header_class
        if not self.admit(frame, out):
            raise Refused("switch.overload: a header that finds no room is not covered")
        self.network.count("trims")
        return True

    def drop(self, now, frame, port, cause):
        self.network.note(now, self, "dropped", frame, port, value=cause)
        self.network.count("dropped " + cause)

    def fail(self, now, port):
        """[M56]"""
        super().fail(now, port)
        for cls, queue in enumerate(self.queues[port.index]):
            while queue:
                frame = queue.popleft()
                self.queue_bytes[port.index][cls] -= frame.size
                self.release(now, frame)
                self.drop(now, frame, port.index, "link down")

    def next_due_ps(self):
        return None

    def held_bytes(self, port, cls):
        return self.accounts[port.index][cls].total

    def head_bytes(self, port, cls):
        return self.queues[port.index][cls][0].size

    def healthy_route(self, dst, entropy):
        return self.ports[self.select(self.network.routes[self.number][dst], entropy)]

    def route(self, dst, entropy):
        """The port that a frame takes, or None. [M57]"""
        port = self.healthy_route(dst, entropy)
        if port.link.down:
            live = [index for index in self.network.routes[self.number][dst] if not self.ports[index].link.down]
            return self.ports[self.select(live, entropy)] if live else None
        return port

    def select(self, equal, entropy):
        return equal[mix32(entropy ^ self.salt) * len(equal) >> 32]  # [M29]

    def threshold(self, limit):
        kind, value = limit
        free = self.shared_bytes - self.used_bytes
        return value if kind == "bytes" else free * value.numerator // value.denominator  # [BUF2]

    def admit(self, frame, out):
        """Charges the buffer and the ingress account; False where there is no room."""
        queue, trim = self.settings.queue, self.settings.trim
        if queue is not None and trim and frame.cls == trim.header_class:
            queue = trim.header_queue
        account = self.accounts[frame.in_port].get(frame.cls)
        if queue is not None:
            kind, limit = queue
            held = len(self.queues[out.index][frame.cls]) + 1 if kind == "packets" else \
                self.queue_bytes[out.index][frame.cls] + frame.size
            if held > limit:
                return False
        elif account is None:
            if self.queue_bytes[out.index][frame.cls] + frame.size > self.threshold(self.settings.egress) \
                    or self.used_bytes + frame.size > self.shared_bytes:
                return False
            self.used_bytes += frame.size
        if account is not None:
            if queue is not None:  # there is no headroom [BUF7]
                account.shared += frame.size
            elif self.settings.flow_control != "cbfc" \
                    and account.total + frame.size <= self.threshold(self.settings.xoff) \
                    and self.used_bytes + frame.size <= self.shared_bytes:  # [BUF4]
                account.shared += frame.size
                self.used_bytes += frame.size
            elif account.in_headroom + frame.size <= account.headroom_bytes:
                account.in_headroom += frame.size
            else:
                return False
        return True

    def enqueue(self, now, frame, out):
        bytes_ahead = self.queue_bytes[out.index][frame.cls]
        marking = self.settings.marking
        self.network.note(now, self, "queued", frame, out.index, value=bytes_ahead)
        if marking and marking.at == "enqueue":
            self.mark(now, frame, out, bytes_ahead)
        self.queues[out.index][frame.cls].append(frame)
        self.queue_bytes[out.index][frame.cls] += frame.size
        out.wake(now)
        account = self.accounts[frame.in_port].get(frame.cls)
        if account and not account.stopped and self.settings.flow_control != "cbfc" \
                and account.total > self.threshold(self.settings.xoff):  # [PFC1]
            account.stopped = True
            account.serial += 1
            self.stop_neighbour(now, account, "stop")

    def mark(self, now, frame, out, queue_bytes):
        if frame.ecn and not frame.marked and self.over_threshold(queue_bytes):
            frame.marked = True
            self.network.note(now, self, "marked", frame, out.index)
            self.network.count("marks")

    def over_threshold(self, queue_bytes):
        """[ECN3], [ECN4]"""
        marking = self.settings.marking
        if queue_bytes <= marking.k_min or queue_bytes > marking.k_max:
            return queue_bytes > marking.k_max
        chance = min(int(marking.p_max * 2**64), 2**64 - 1)
        drawn = self.stream.next() + 1
        return drawn * (marking.k_max - marking.k_min) <= chance * (queue_bytes - marking.k_min)

    def serve(self, now, port):
        """The wire of the port is free: sends the next frame, if there is one."""
        ready = port.ready(now)
        if not ready:
            return
        cls = port.scheduler.pick(ready)
        frame = self.queues[port.index][cls].popleft()
        port.scheduler.charge(cls, frame.size + OVERHEAD_BYTES)
        self.queue_bytes[port.index][cls] -= frame.size
        marking = self.settings.marking
        if marking and marking.at == "dequeue":
            self.mark(now, frame, port, self.queue_bytes[port.index][cls])
        self.release(now, frame)
        port.start(now, frame)

    def release(self, now, frame):
        """Gives the room back, that in headroom first, and lets the neighbour go on."""
        account = self.accounts[frame.in_port].get(frame.cls)
        shared = frame.size
        if account is not None:
            from_headroom = min(frame.size, account.in_headroom)
            account.in_headroom -= from_headroom
            shared -= from_headroom
            account.shared -= shared
        if self.settings.queue is None:
            self.used_bytes -= shared
        if account is not None:
            account.port.look(now, frame.cls)
        if account is not None and account.stopped and not account.in_headroom:
            if account.total <= self.threshold(self.settings.xoff) - self.settings.xon \
                    or not account.total:
                account.stopped = False
                account.serial += 1
                self.network.count("resumes")
                self.send_pause(now, account, 0, "go")

    # --- pauses -----------------------------------------------------------------------------------

    def stop_neighbour(self, now, account, event):
        """Sends a pause, and renews it at half its length for as long as the account stays up."""
        length_ps = ceil_div(self.settings.quanta * 512 * BIT_PS, account.port.wire.rate_bps)
        if event == "stop":
            self.network.count("pauses")
        self.send_pause(now, account, length_ps, event)
        serial = account.serial

        def renew(then):
            if account.stopped and account.serial == serial:
                self.stop_neighbour(then, account, "renew")
        self.timer(now + max(1, length_ps // 2), renew, (1,))  # [PFC4], [M26]

    def send_pause(self, now, account, length_ps, event):
        self.network.note(now, self, event, None, account.port.index, cls=account.cls, value=account.total)
        frame = Frame("pause", None, 1 if length_ps else 0, 0, CONTROL_BYTES, account.cls, None, None, 0)
        frame.detail = length_ps
        account.port.send_control(now, frame)
