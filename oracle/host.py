"""A host: its flows of a class in turn, replies ahead of data, and the receivers."""

import heapq
from collections import deque

from . import transports
from .ndp import PullQueue
from .network import Node
from .values import OVERHEAD_BYTES


class Host(Node):
    is_host = True

    def __init__(self, network, number, name):
        super().__init__(network, number, name)
        self.replies = [deque() for _ in range(8)]
        self.rings = [deque() for _ in range(8)]
        self.delayed = []
        self.senders, self.receivers = {}, {}
        self.plan = []
        self.places, self.free_places = 0, []

    def prepare(self):
        self.port = self.ports[0]
        self.pulls = PullQueue(self)
        self.plan.sort(key=lambda flow: (-flow.start_ps, -flow.number))
        self.plan_start()

    def plan_start(self):
        """The timer of the next start is created when the flow before starts. [M25]"""
        if self.plan:
            flow = self.plan.pop()
            self.timer(flow.start_ps, lambda now: self.start(now, flow))

    def start(self, now, flow):
        self.plan_start()
        sender = self.senders[flow.number] = transports.sender(self, flow)
        if self.free_places:  # [M46]
            sender.place = self.free_places.pop()
        else:
            sender.place = self.places
            self.places += 1
        self.join(now, sender)

    def end(self, sender):
        """The flow is sent: its place in the table is free."""
        if not sender.ended:
            sender.ended = True
            self.free_places.append(sender.place)

    def join(self, now, sender):
        """A flow that may have something to send enters the ring of its class, once. [M43], [M47]"""
        if not sender.in_ring:
            sender.in_ring = True
            self.rings[sender.flow.cls].append(sender)
        self.port.depart(now)

    def delay(self, sender, due_ps):
        sender.in_ring = True
        heapq.heappush(self.delayed, (due_ps, sender.place, sender))

    def reply(self, now, frame):
        self.replies[frame.cls].append(frame)
        self.port.depart(now)

    def waiting_classes(self, port):
        return [cls for cls in range(8) if self.replies[cls] or self.rings[cls]]

    def serve(self, now, port):
        while self.delayed and self.delayed[0][0] <= now:
            sender = heapq.heappop(self.delayed)[2]
            self.rings[sender.flow.cls].append(sender)
        while True:
            ready = port.ready(now)
            if not ready:
                return
            cls = port.scheduler.pick(ready)
            frame = self.replies[cls].popleft() if self.replies[cls] else self.ask(now, self.rings[cls])
            if frame is not None:  # else the choice is made again [M42]
                port.scheduler.charge(cls, frame.size + OVERHEAD_BYTES)
                port.start(now, frame)
                return

    def next_due_ps(self):
        """When the next flow that waits for a time enters its ring."""
        return self.delayed[0][0] if self.delayed else None

    def ask(self, now, ring):
        """What the first flow of the ring sends, or None; where the flow goes says [M44] to [M47]."""
        sender = ring.popleft()
        sender.in_ring = False
        answer = sender.poll(now)
        if answer is None:
            return None
        if answer == "done":
            self.end(sender)
            return None
        if isinstance(answer, int):
            self.delay(sender, answer)
            return None
        if sender.paced and sender.due_ps > now + self.port.wire.busy_ps(answer.size):
            self.delay(sender, sender.due_ps)
        else:
            sender.in_ring = True
            ring.append(sender)
        return answer

    def arrive(self, now, in_port, frame):
        network, port = self.network, self.port
        if self.lost(now, in_port, frame) or self.obey(now, in_port, frame):
            return
        if frame.cls in port.credits:
            port.credits[frame.cls].received += frame.size
            port.look(now, frame.cls)  # before the reply is made
        network.note(now, self, "arrived", frame, in_port)
        if frame.kind == "data":
            network.note(now, self, "delivered", frame)
            receiver = self.receivers.get(frame.flow.number)
            if receiver is None:
                receiver = self.receivers[frame.flow.number] = transports.receiver(self, frame.flow)
            receiver.data(now, frame)
        else:
            network.note(now, self, "consumed", frame)
            self.senders[frame.flow.number].receive(now, frame)

    def held_bytes(self, port, cls):
        return 0  # [M50]

    def head_bytes(self, port, cls):
        """[M48]"""
        return self.replies[cls][0].size if self.replies[cls] else self.network.scenario.mtu_bytes
