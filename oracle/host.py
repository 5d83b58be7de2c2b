"""A host: its flows of a class in turn, replies ahead of data, and the receivers."""

import heapq
from collections import deque

from . import roce, transports
from .network import Frame, Node

ENDS = {"datagram": (transports.DatagramSender, transports.DatagramReceiver),
        "ndp": (transports.NdpSender, transports.NdpReceiver)}
ENDS |= {kind: (roce.RoceSender, roce.RoceReceiver) for kind in ("roce", "timely", "dcqcn", "hpcc")}


class Host(Node):
    is_host = True

    def prepare(self):
        self.replies, self.rings = [deque() for _ in range(8)], [deque() for _ in range(8)]
        self.senders, self.receivers = {}, {}
        self.delayed, self.free_places = [], []
        self.port, self.pulls = self.ports[0], transports.PullQueue(self)
        self.plan.sort(key=lambda flow: (-flow.start_ps, -flow.number))
        self.plan_start()

    def plan_start(self):
        """The timer of the next start is created when the flow before starts. [M25]"""
        if self.plan:
            flow = self.plan.pop()
            self.timer(flow.start_ps, lambda now: self.start(now, flow))

    def start(self, now, flow):
        self.plan_start()
        sender = ENDS[flow.transport.kind][0](self, flow)
        active = sum(not other.ended for other in self.senders.values())
        sender.place = self.free_places.pop() if self.free_places else active  # [M46]
        self.senders[flow.number] = sender
        self.join(now, sender)

    def end(self, sender):
        """The flow is sent: its place in the table is free."""
        if not sender.ended:
            sender.ended = True
            self.free_places.append(sender.place)

    def join(self, now, sender):
        """A flow that may have something to send enters the ring of its class, once. [M43], [M47]"""
        self.put(sender)
        self.port.depart(now)

    def put(self, sender):
        if not sender.in_ring:
            sender.in_ring = True
            self.rings[sender.flow.cls].append(sender)

    def reply(self, now, frame):
        self.replies[frame.cls].append(frame)
        self.port.depart(now)

    def waiting_classes(self, port):
        return [cls for cls in range(8) if self.replies[cls] or self.rings[cls]]

    def held_bytes(self, port, cls):
        return 0  # [M50]

    def head_bytes(self, port, cls):  # [M48]
        return self.replies[cls][0].size if self.replies[cls] else self.scenario.mtu_bytes

    def admit_due(self, now):  # [M46]
        while self.delayed and self.delayed[0][0] <= now:
            sender = heapq.heappop(self.delayed)[2]
            self.rings[sender.flow.cls].append(sender)

    def serve(self, now, port):
        frame = None
        while frame is None:  # without a frame the choice is made again [M42]
            ready = port.ready(now)
            if not ready:
                return
            cls = port.scheduler.pick(ready)
            frame = self.replies[cls].popleft() if self.replies[cls] else self.poll(now, self.rings[cls].popleft())
        port.scheduler.charge(cls, frame.size)
        port.start(now, frame)

    def poll(self, now, sender):
        """The frame that the flow sends, or None; where the flow goes: [M44] to [M47]."""
        sender.in_ring = False
        answer, due_ps = "done" if sender.ended else sender.poll(now), None
        if answer == "done":
            self.end(sender)
        elif isinstance(answer, int):
            due_ps = answer
        elif answer is not None:
            if sender.paced and sender.due_ps > now + self.port.busy_ps(answer.size):
                due_ps = sender.due_ps
            else:
                self.put(sender)
        if due_ps is not None:  # the flow waits for that time
            sender.in_ring = True
            heapq.heappush(self.delayed, (due_ps, sender.place, sender))
        return answer if isinstance(answer, Frame) else None

    def accept(self, now, port, frame):
        port.update_grant(now, frame.cls)  # before the reply is made
        self.note(now, "arrived", frame, port.index)
        flow = frame.flow
        if frame.kind == "data":
            self.note(now, "delivered", frame)
            if flow.number not in self.receivers:
                self.receivers[flow.number] = ENDS[flow.transport.kind][1](self, flow)
            self.receivers[flow.number].data(now, frame)
        else:
            self.note(now, "consumed", frame)
            if not self.senders[flow.number].ended:
                self.senders[flow.number].receive(now, frame)
