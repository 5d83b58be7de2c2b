"""The sending side of a port: pauses, own control frames, the class scheduler, the wire."""

from collections import deque

from .network import ARRIVAL


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


class Port:
    """One port of a node. The node keeps the frames; `waiting_classes` and `take` are its part."""

    def __init__(self, node, index, wire, peer):
        self.node, self.index, self.wire, self.peer = node, index, wire, peer
        self.free_ps = 0
        self.controls = deque()
        self.pauses = [Pause() for _ in range(8)]
        self.scheduler = scheduler(node.network.scenario.switch)
        self.reaction_ps = self.sent_bytes = 0

    def wake(self, time_ps):
        self.node.departures_due(self, max(time_ps, self.free_ps))

    def ready(self, now, waiting):
        return [cls for cls in waiting if not self.pauses[cls].stopped(now)]

    def idle_for(self, now, cls):
        """Whether a frame of the class that arrives may start at once."""
        return (self.free_ps <= now and not self.controls and not self.pauses[cls].stopped(now)
                and not self.ready(now, self.node.waiting_classes(self)))

    def depart(self, now):
        if self.free_ps > now:
            self.wake(self.free_ps)
            return
        if self.controls:
            self.start(now, self.controls.popleft())
        else:
            self.node.serve(now, self)
        waiting = self.node.waiting_classes(self)
        if self.free_ps > now:
            if self.controls or waiting:
                self.wake(self.free_ps)
        elif waiting:
            stopped = [self.pauses[cls] for cls in waiting if self.pauses[cls].stopped(now)]
            if stopped:
                self.wake(min(pause.next_change_ps(now) for pause in stopped))

    def start(self, now, frame):
        """Puts the frame on the wire."""
        self.free_ps = now + self.wire.busy_ps(frame.size)
        network = self.node.network
        if frame.record is not None and frame.kind == "data" and not self.node.is_host:  # [HPCC2]
            frame.record.append((now, self.wire.rate_bps, sum(self.node.queue_bytes[self.index]), self.sent_bytes))
        self.sent_bytes += frame.size
        if frame.flow is not None:
            network.note(now, self.node, "started", frame, self.index)
        network.push(now + self.wire.arrival_ps(frame.size), self.wire.receiver, ARRIVAL, self.wire.in_port, frame)

    def send_control(self, now, frame):
        self.controls.append(frame)
        self.wake(now)

    def obey(self, now, classes, duration_ps):
        """A pause of that length for the classes, or with 0 a resume, has just been received."""
        if 0 < duration_ps <= self.reaction_ps:
            return  # [PFC5]
        effect = now + self.reaction_ps
        for cls in classes:
            self.pauses[cls].commands.append((effect, now + duration_ps if duration_ps else effect))
        self.wake(effect)
