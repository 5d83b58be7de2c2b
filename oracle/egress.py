"""The sending side of a port: pauses, own control frames, the class scheduler, the wire."""

from collections import deque

from .network import ARRIVAL, Frame
from .values import BIT_PS, CONTROL_BYTES, OVERHEAD_BYTES


class Strict:
    """IEEE 802.1Q, 8.6.8.1: the highest class first."""

    def pick(self, ready):
        return max(ready)

    def charge(self, cls, size_on_wire):
        pass


class RoundRobin:
    """WRR and DRR (surplus round robin): classes take turns and gain a credit with each turn.

    The credit counts frames (WRR) or bytes on the wire (DRR). [WRR1] to [WRR8], [DRR1] to [DRR3]"""

    def __init__(self, gains, counts_bytes):
        self.gains, self.counts_bytes = gains, counts_bytes
        self.current, self.credit = 0, [0] * 8

    def pick(self, ready):
        while self.current not in ready or self.credit[self.current] <= 0:
            self.current = (self.current + 1) % 8
            saved = min(self.credit[self.current], 0)  # nothing is saved up; a debt stays
            self.credit[self.current] = saved + (self.gains[self.current] if self.current in ready else 0)
        return self.current

    def charge(self, cls, size_on_wire):
        self.credit[cls] -= size_on_wire if self.counts_bytes else 1


def scheduler(switch):
    if switch.scheduler == "wrr":
        return RoundRobin(switch.weights, False)
    if switch.scheduler == "drr":
        return RoundRobin(switch.quanta_bytes, True)
    return Strict()


class Pause:
    """What a class of a port was told: commands take effect one reaction time after their reception."""

    def __init__(self):
        self.until_ps, self.commands = 0, deque()

    def stopped(self, now):
        while self.commands and self.commands[0][0] <= now:
            self.until_ps = self.commands.popleft()[1]
        return self.until_ps > now

    def next_change_ps(self, now):
        """The next instant at which a stopped class may go on; asked while it is stopped."""
        return min([self.until_ps] + [effect for effect, _ in self.commands])


class Credits:
    """Absolute counts of bytes of a class in both directions of a link. [CBFC1]"""

    def __init__(self, credit_bytes):
        self.sent = self.received = 0
        self.limit = self.granted = credit_bytes


class Port:
    """One port of a node. The node keeps the frames; `waiting_classes`, `head_bytes` and `serve` are its part."""

    def __init__(self, node, index, wire, peer):
        self.node, self.index, self.wire, self.peer = node, index, wire, peer
        self.free_ps = 0
        self.link = wire.link
        self.controls = deque()
        self.credits, self.owed = {}, set()
        self.pauses = [Pause() for _ in range(8)]
        self.scheduler = scheduler(node.network.scenario.switch)
        self.reaction_ps = self.sent_bytes = 0

    def wake(self, time_ps):
        self.node.departures_due(self, max(time_ps, self.free_ps))

    def may_start(self, now, cls, size):
        """[M36]"""
        return not self.pauses[cls].stopped(now) and (
            cls not in self.credits or self.credits[cls].sent + size <= self.credits[cls].limit)

    def ready(self, now):
        """The classes of which a frame waits that may start."""
        node = self.node
        return [cls for cls in node.waiting_classes(self) if self.may_start(now, cls, node.head_bytes(self, cls))]

    def idle_for(self, now, frame):
        """Whether a frame that arrives may start at once. [M37]"""
        return (self.free_ps <= now and not self.controls and not self.owed
                and self.may_start(now, frame.cls, frame.size) and not self.ready(now)
                and frame.cls not in self.node.waiting_classes(self))  # no smaller frame overtakes [CBFC2]

    def depart(self, now):
        if self.link.down:
            return  # [M57], [M58]
        if self.free_ps > now:
            self.wake(self.free_ps)
            return
        if self.controls:
            self.start(now, self.controls.popleft())
        elif self.owed:
            self.start(now, self.credit_message(min(self.owed)))  # [CBFC5]
        else:
            self.node.serve(now, self)
        due = self.node.next_due_ps()
        if due is not None:
            self.wake(due)
        waiting = self.node.waiting_classes(self)
        if self.free_ps > now:
            if self.controls or self.owed or waiting:
                self.wake(self.free_ps)
        else:
            stopped = [self.pauses[cls] for cls in waiting if self.pauses[cls].stopped(now)]
            if stopped:
                self.wake(min(pause.next_change_ps(now) for pause in stopped))

    def start(self, now, frame):
        """Puts the frame on the wire."""
        self.free_ps = now + self.wire.busy_ps(frame.size)
        network = self.node.network
        if frame.flow is not None and frame.cls in self.credits:
            self.credits[frame.cls].sent += frame.size  # [CBFC2]
        frame.started_ps = now
        if frame.record is not None and frame.kind == "data" and not self.node.is_host:  # [HPCC2]
            frame.record.append((now, self.wire.rate_bps, sum(self.node.queue_bytes[self.index]), self.sent_bytes))
        self.sent_bytes += frame.size
        if frame.flow is not None:
            network.note(now, self.node, "started", frame, self.index)
        network.push(now + self.wire.arrival_ps(frame.size), self.wire.receiver, ARRIVAL, self.wire.in_port, frame)

    def send_control(self, now, frame):
        """[M40]"""
        if not self.link.down:
            self.controls.append(frame)
            self.depart(now)

    def owe(self, now, classes):
        self.owed.update(classes)
        self.depart(now)

    def look(self, now, cls):
        """Whether the neighbour has to be granted room of the class. [CBFC4]"""
        if cls not in self.credits:
            return
        credits, mtu = self.credits[cls], self.node.network.scenario.mtu_bytes
        free = credits.received + self.credit_bytes - self.node.held_bytes(self, cls) - credits.granted
        if free >= self.update_bytes or free > 0 and credits.granted - credits.received < mtu:
            self.owe(now, [cls])

    def credit_message(self, cls):
        """[CBFC6]"""
        self.owed.remove(cls)
        credits = self.credits[cls]
        credits.granted = max(credits.granted, credits.received + self.credit_bytes - self.node.held_bytes(self, cls))
        frame = Frame("credit", None, 0, 0, CONTROL_BYTES, cls, None, None, 0)
        frame.detail = credits.sent, credits.granted
        return frame

    def credited(self, now, frame):
        """A message has arrived. [CBFC7]"""
        credits, (sent, limit) = self.credits[frame.cls], frame.detail
        credits.received, credits.limit = max(credits.received, sent), max(credits.limit, limit)
        self.look(now, frame.cls)
        self.wake(now)

    def prepare_credits(self, settings, classes, mtu):
        """[CBFC8]"""
        self.update_bytes = mtu if settings.grant == "auto" else settings.grant
        self.credit_bytes = settings.credits
        if self.credit_bytes == "auto":
            self.credit_bytes = 2 * self.wire.delay_ps * self.wire.rate_bps // (8 * BIT_PS) + 1 + CONTROL_BYTES \
                + OVERHEAD_BYTES + 3 * (mtu + OVERHEAD_BYTES) + self.update_bytes
        self.credits = {cls: Credits(self.credit_bytes) for cls in classes}

    def obey(self, now, classes, duration_ps):
        """A pause of that length for the classes, or with 0 a resume, has just been received."""
        if 0 < duration_ps <= self.reaction_ps:
            return  # [PFC5]
        effect = now + self.reaction_ps
        for cls in classes:
            self.pauses[cls].commands.append((effect, now + duration_ps if duration_ps else effect))
        self.wake(effect)
