"""Nodes, ports, routes, random streams and the order of events.

Nodes meet only through links with a delay above zero. So the events of one node and instant can be handled together:
departures by port, arrivals, timers, and again while the instant has work (ARCHITECTURE.md, Ties)."""

import heapq
from collections import deque
from functools import partial

from .scenario import Settings

PREAMBLE_BYTES = 8  # IEEE 802.3, 3.1.1: preamble and start frame delimiter
GAP_BYTES = 12  # IEEE 802.3, 4.4.2: interpacket gap of 96 bits
OVERHEAD_BYTES = PREAMBLE_BYTES + GAP_BYTES
CONTROL_BYTES = 64  # IEEE 802.3, 31.4: MAC control frames have the least length
BIT_PS = 10**12
DEPARTURE, ARRIVAL, TIMER = 0, 1, 2
MASK = (1 << 64) - 1
SWITCH = 0xA5A87AC5B0B379B1  # [M14]


def ceil_div(a, b):
    return -(-a // b)


def mix32(x):
    """Finaliser of a 32-bit hash with the constants of Wellons' lowbias32."""
    x &= 0xFFFFFFFF
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


def flow_hash(src, dst, flow):
    return mix32(mix32(mix32(src + 0x85EBCA6B) ^ dst) + flow)


def split_mix(state):  # [M13]
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def rotate(x, bits):
    return (x << bits | x >> 64 - bits) & MASK


def stream(seed, component, purpose):
    """The stream of (seed, component, purpose): Blackman and Vigna's xoshiro256++. [M15], [M17]"""
    source = split_mix(next(split_mix(next(split_mix(seed & MASK)) ^ component)) ^ purpose)
    a, b, c, d = (next(source) for _ in range(4))
    while True:
        yield rotate(a + d & MASK, 23) + a & MASK
        c, d = c ^ a, d ^ b
        a, b, c, d = a ^ d, b ^ c, c ^ b << 17 & MASK, rotate(d, 45)


class Frame:
    """A frame. `kind` is data, ack, nak, cnp, control (of NDP) or a MAC control frame: pause, credit."""
    def __init__(self, kind, flow, seq, payload, size, cls, detail=None, record=None, ecn=False):
        self.kind, self.flow, self.seq, self.payload, self.size, self.cls = kind, flow, seq, payload, size, cls
        self.detail, self.record, self.ecn, self.marked = detail, record, ecn, False
        if flow is not None:
            src, self.dst = (flow.src, flow.dst) if kind == "data" else (flow.dst, flow.src)
            self.entropy = flow_hash(src, self.dst, flow.number)


class Scheduler:
    """Strict: IEEE 802.1Q, 8.6.8.1. WRR and DRR (surplus round robin): classes take turns and gain a credit with each
    turn, which counts frames (WRR) or bytes on the wire (DRR). [WRR1] to [WRR8], [DRR1] to [DRR3]"""
    def __init__(self, settings):
        self.kind, self.gains = settings.kind, settings.get("weights", settings.get("quanta"))
        self.current, self.credit = 0, [0] * 8

    def pick(self, ready):
        if self.kind == "strict":
            return max(ready)
        while self.current not in ready or self.credit[self.current] <= 0:
            self.current = (self.current + 1) % 8
            saved = min(self.credit[self.current], 0)  # nothing is saved up; a debt stays
            self.credit[self.current] = saved + (self.gains[self.current] if self.current in ready else 0)
        return self.current

    def charge(self, cls, size):
        self.credit[cls] -= size + OVERHEAD_BYTES if self.kind == "drr" else 1


class Port:
    """One port of a node. The node keeps the frames: `waiting_classes`, `head_bytes`, `serve`."""
    def __init__(self, node, index, link, peer, peer_port):
        self.node, self.index, self.link, self.peer, self.peer_port = node, index, link, peer, peer_port
        self.controls, self.credits, self.owed = deque(), {}, set()
        self.scheduler, self.until_ps = Scheduler(node.scenario.switch.scheduler), [0] * 8
        self.commands = [deque() for _ in range(8)]  # pauses: when each takes effect, and until when it stops
        self.free_ps = self.reaction_ps = self.sent_bytes = 0
        self.down, self.failed_ps = False, -1

    def busy_ps(self, size):
        return ceil_div((size + OVERHEAD_BYTES) * 8 * BIT_PS, self.link.rate_bps)

    def arrival_ps(self, size):
        """From the first bit of the preamble to the last bit of the frame at the other end."""
        return ceil_div((size + PREAMBLE_BYTES) * 8 * BIT_PS, self.link.rate_bps) + self.link.delay_ps

    def wake(self, time_ps):
        self.node.network.push(max(time_ps, self.free_ps), self.node.number, DEPARTURE, self.index, None)

    def stopped(self, now, cls):
        while self.commands[cls] and self.commands[cls][0][0] <= now:
            self.until_ps[cls] = self.commands[cls].popleft()[1]
        return self.until_ps[cls] > now

    def may_start(self, now, cls, size):  # [M36]
        return not self.stopped(now, cls) and (
            cls not in self.credits or self.credits[cls].sent + size <= self.credits[cls].limit)

    def ready(self, now):
        """The classes of which a frame waits that may start."""
        node = self.node
        return [cls for cls in node.waiting_classes(self) if self.may_start(now, cls, node.head_bytes(self, cls))]

    def idle_for(self, now, frame):
        """Whether a frame that arrives may start at once. [M37], [CBFC2]"""
        return self.free_ps <= now and not self.controls and not self.owed and not self.ready(now) \
            and self.may_start(now, frame.cls, frame.size) and frame.cls not in self.node.waiting_classes(self)

    def depart(self, now):
        if self.down:
            return  # [M57], [M58]
        if self.free_ps > now:
            self.wake(self.free_ps)
            return
        if self.node.delayed:
            self.node.admit_due(now)
        if self.controls:
            self.start(now, self.controls.popleft())
        elif self.owed:
            self.start(now, self.credit_message(min(self.owed)))  # [CBFC5]
        else:
            self.node.serve(now, self)
        if self.node.delayed:
            self.wake(self.node.delayed[0][0])
        waiting = self.node.waiting_classes(self)
        stopped = [cls for cls in waiting if self.stopped(now, cls)]
        if self.free_ps > now and (self.controls or self.owed or waiting):
            self.wake(self.free_ps)
        elif self.free_ps <= now and stopped:
            changes = [time for cls in stopped for time, _ in self.commands[cls]]
            self.wake(min(changes + [self.until_ps[cls] for cls in stopped]))

    def start(self, now, frame):
        node, frame.started_ps = self.node, now
        self.free_ps = now + self.busy_ps(frame.size)
        if frame.record is not None and frame.kind == "data" and not node.is_host:  # [HPCC2]
            frame.record.append((now, self.link.rate_bps, sum(node.queue_bytes[self.index]), self.sent_bytes))
        self.sent_bytes += frame.size
        if frame.flow is not None:
            if frame.cls in self.credits:
                self.credits[frame.cls].sent += frame.size  # [CBFC2]
            node.note(now, "started", frame, self.index)
        node.network.push(now + self.arrival_ps(frame.size), self.peer, ARRIVAL, self.peer_port, frame)

    def send_control(self, now, frame):  # [M40]
        if not self.down:
            self.controls.append(frame)
            self.depart(now)

    def owe(self, now, classes):
        self.owed.update(classes)
        self.depart(now)

    def update_grant(self, now, cls):
        """Whether the neighbour has to be granted room of the class. [CBFC4]"""
        if cls in self.credits and cls not in self.owed:  # [CBFC11]
            granted, mtu = self.credits[cls].granted, self.node.scenario.mtu_bytes
            free = self.room(cls) - granted
            if free >= self.update_bytes or free > 0 and granted - self.credits[cls].received < mtu:
                self.owe(now, [cls])

    def room(self, cls):
        """The count up to which the neighbour may send."""
        return self.credits[cls].received + self.credit_bytes - self.node.held_bytes(self, cls)

    def credit_message(self, cls):  # [CBFC6]
        self.owed.remove(cls)
        credits = self.credits[cls]
        credits.granted = max(credits.granted, self.room(cls))
        return Frame("credit", None, 0, 0, CONTROL_BYTES, cls, (credits.sent, credits.granted))

    def credited(self, now, frame):
        """A message has arrived. [CBFC7]"""
        credits, (sent, limit) = self.credits[frame.cls], frame.detail
        credits.received, credits.limit = max(credits.received, sent), max(credits.limit, limit)
        self.update_grant(now, frame.cls)
        self.wake(now)

    def prepare_credits(self, settings, classes, mtu):
        """Absolute counts of bytes of a class in both directions of the link. [CBFC1], [CBFC8]"""
        self.update_bytes = mtu if settings["update"] == "auto" else settings["update"]
        self.credit_bytes = settings.credits
        if self.credit_bytes == "auto":
            in_flight = 2 * self.link.delay_ps * self.link.rate_bps // (8 * BIT_PS) + 1
            frames = CONTROL_BYTES + OVERHEAD_BYTES + 3 * (mtu + OVERHEAD_BYTES)
            self.credit_bytes = in_flight + frames + self.update_bytes
        for cls in classes:
            self.credits[cls] = Settings(sent=0, received=0, limit=self.credit_bytes, granted=self.credit_bytes)

    def obey(self, now, classes, duration_ps):
        """A pause of that length for the classes, or with 0 a resume, has just been received."""
        if 0 < duration_ps <= self.reaction_ps:
            return  # [PFC5]
        effect = now + self.reaction_ps
        for cls in classes:
            self.commands[cls].append((effect, now + duration_ps if duration_ps else effect))
        self.wake(effect)


class Node:
    """A host or switch: its ports and its timers."""
    def __init__(self, network, number):
        self.network, self.scenario, self.number = network, network.scenario, number
        self.ports, self.plan, self.instants = [], [], 0

    def timer(self, time_ps, action, rank=(0,)):
        """Calls `action(now)` then; of one instant in the order of rank, at hosts of creation. [M25], [M26]"""
        key = (() if self.is_host else rank, next(self.network.ids))
        self.network.push(time_ps, self.number, TIMER, key, action)

    def plan_failures(self):
        """Failures and repairs are timers of both ends. [M55]"""
        for port in self.ports:
            for links, at, until in self.scenario.failures:
                for time_ps, action in ((at, self.fail), (until, self.repair)) if port.link in links else ():
                    if time_ps is not None:
                        self.timer(time_ps, partial(action, port=port), (0, port.index))

    def plan_regrants(self, period_ps):
        """[CBFC9]; at a switch after links that change. [M26]"""
        def regrant(now):
            self.timer(now + period_ps, regrant, (1,))
            for port in self.ports:
                port.owe(now, port.credits)
        self.timer(period_ps, regrant, (1,))

    def fail(self, now, port):
        port.down, port.failed_ps = True, now
        self.note(now, "link down", None, port.index)
        port.controls.clear()
        port.owed.clear()

    def repair(self, now, port):
        port.down = False
        self.note(now, "link up", None, port.index)
        port.owe(now, port.credits)  # [M59]

    def arrive(self, now, port, frame):
        """A MAC control frame takes effect and ends here; another frame goes to `accept`."""
        if port.down or port.failed_ps >= frame.started_ps:  # the link lost the frame [M60]
            if frame.flow is not None:
                self.drop(now, frame, None, "link down")
        elif frame.kind == "pause":
            until_ps = now + max(frame.detail, port.reaction_ps) if frame.seq else None  # [PFC5]
            self.note(now, "paused" if frame.seq else "resumed", None, port.index, frame.cls, until_ps)
            port.obey(now, range(8) if frame.cls is None else [frame.cls], frame.detail)
        elif frame.kind == "credit":
            port.credited(now, frame)
        else:
            if frame.cls in port.credits:
                port.credits[frame.cls].received += frame.size
            self.accept(now, port, frame)

    def drop(self, now, frame, port, cause):
        self.note(now, "dropped", frame, port, value=cause)

    def note(self, now, event, frame=None, port=None, cls=None, value=None):
        """A row of the trace: docs/results.md, trace.parquet."""
        about = (None, None, None, None, cls) if frame is None else (
            frame.flow.number, frame.kind, frame.seq, frame.size, frame.cls)
        self.network.trace.append((now, self.number, event, port, *about, value))


class Network:
    """The event queue and what the run records."""
    def __init__(self, scenario):
        self.scenario, self.ids = scenario, iter(range(1 << 62))
        self.events, self.trace, self.nodes = [], [], []

    def push(self, time_ps, node, kind, key, what):
        heapq.heappush(self.events, (time_ps, node, next(self.ids), kind, key, what))

    def base_rtt_ps(self, flow, packet_bytes, ack_bytes):
        """The round trip of a packet on the idle path of its flow. [HPCC4]"""
        path = [self.nodes[flow.src].ports[0]]
        while path[-1].peer != flow.dst:
            entropy = flow_hash(flow.src, flow.dst, flow.number)
            path.append(self.nodes[path[-1].peer].route(flow.dst, entropy, is_healthy=True))
        return sum(port.arrival_ps(packet_bytes) + port.arrival_ps(ack_bytes) for port in path) \
            + max(port.busy_ps(ack_bytes) for port in path)

    def run(self):
        while self.events and self.events[0][0] < self.scenario.duration_ps:  # [M61]
            self.run_instant(*self.events[0][:2])

    def run_instant(self, now, number):
        """All events of a node at one instant: the next is chosen anew after each step. [M20]"""
        node, pending = self.nodes[number], {DEPARTURE: [], ARRIVAL: [], TIMER: []}
        while True:
            while self.events and self.events[0][:2] == (now, number):
                kind, key, what = heapq.heappop(self.events)[3:]
                pending[kind].append((key, what))
            if pending[DEPARTURE]:
                port, _ = min(pending[DEPARTURE])
                pending[DEPARTURE] = [other for other in pending[DEPARTURE] if other[0] != port]
                node.ports[port].depart(now)
            elif pending[ARRIVAL]:
                arrivals = sorted(pending[ARRIVAL], key=lambda arrival: arrival[0])  # [M22]
                first, pending[ARRIVAL] = mix32(node.instants) % len(arrivals), []
                node.instants += 1  # [M21]
                for in_port, frame in arrivals[first:] + arrivals[:first]:
                    node.arrive(now, node.ports[in_port], frame)
            elif pending[TIMER]:
                timers = sorted(pending[TIMER], key=lambda timer: timer[0])
                count = 1 if node.is_host else len(timers)  # [M25], [M26]
                pending[TIMER] = timers[count:]
                for _, action in timers[:count]:
                    action(now)
            else:
                return


def equal_cost_ports(scenario, ports_of):
    """For each node and host the ports on shortest paths, ascending."""
    hosts = len(scenario.hosts)
    routes = [[[] for _ in range(hosts)] for _ in ports_of]
    for host in range(hosts):
        distance, frontier = {host: 0}, [host]
        for node in frontier:
            if node >= hosts or node == host:  # nothing passes through a host
                reached = [port.peer for port in ports_of[node] if port.peer not in distance]
                distance |= dict.fromkeys(reached, distance[node] + 1)
                frontier += dict.fromkeys(reached)
        for node in distance:
            routes[node][host] = [port for port in ports_of[node] if distance.get(port.peer) == distance[node] - 1
                                  and (port.peer >= hosts or port.peer == host)]
    return routes
