"""Nodes, links, routes and the order of events.

Nodes meet only through links, each of which has a delay above zero. So the events of one node and
one instant can be handled together: departures by port, arrivals, timers, and again in further passes
while the instant has work (ARCHITECTURE.md, Ties)."""

import heapq

from .values import BIT_PS, GAP_BYTES, OVERHEAD_BYTES, ceil_div

DEPARTURE, ARRIVAL, TIMER = 0, 1, 2
MASK = 0xFFFFFFFF


def mix32(x):
    """Finaliser of a 32-bit hash with the constants of Wellons' lowbias32."""
    x &= MASK
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK
    x ^= x >> 15
    x = x * 0x846CA68B & MASK
    return x ^ x >> 16


def flow_hash(src, dst, flow):
    return mix32(mix32(mix32(src + 0x85EBCA6B) ^ dst) + flow)


def seed_salt(seed):
    return mix32(seed & MASK ^ mix32(seed >> 32))


class Frame:
    """A frame. `kind` is data, ack, nak, cnp or a MAC control frame: pause, credit."""

    __slots__ = ("kind", "flow", "seq", "payload", "size", "cls", "src", "dst", "entropy", "ecn", "marked",
                 "in_port", "detail", "record", "started_ps")

    def __init__(self, kind, flow, seq, payload, size, cls, src, dst, entropy):
        self.kind, self.flow, self.seq, self.payload, self.size, self.cls = kind, flow, seq, payload, size, cls
        self.src, self.dst, self.entropy = src, dst, entropy
        self.ecn = self.marked = False
        self.in_port = self.detail = self.record = None


class Wire:
    """One direction of a link."""

    def __init__(self, network, link, receiver, in_port):
        self.network, self.link, self.receiver, self.in_port = network, link, receiver, in_port
        self.rate_bps, self.delay_ps = link.rate_bps, link.delay_ps

    def busy_ps(self, size):
        return ceil_div((size + OVERHEAD_BYTES) * 8 * BIT_PS, self.rate_bps)

    def arrival_ps(self, size):
        """From the first bit of the preamble to the last bit of the frame at the other end."""
        return ceil_div((size + OVERHEAD_BYTES - GAP_BYTES) * 8 * BIT_PS, self.rate_bps) + self.delay_ps


class Node:
    """A host or switch: its ports and its timers."""

    def __init__(self, network, number, name):
        self.network, self.number, self.name = network, number, name
        self.ports = []
        self.instants = 0

    def timer(self, time_ps, action, rank=(0,)):
        """Calls `action(now)` then; of one instant in the order of rank, at hosts of creation. [M25], [M26]"""
        if self.is_host:
            rank = ()
        self.network.push(time_ps, self.number, TIMER, (rank, next(self.network.ids)), action)

    def plan_failures(self):
        """Failures and repairs are timers of both ends. [M55]"""
        for links, at, until in self.network.scenario.failures:
            for port in self.ports:
                if port.link.index in links:
                    self.timer(at, lambda now, port=port: self.fail(now, port), (0, port.index))
                    if until is not None:
                        self.timer(until, lambda now, port=port: self.repair(now, port), (0, port.index))

    def fail(self, now, port):
        port.link.down, port.link.failed_ps = True, now
        self.network.note(now, self, "link down", None, port.index)
        port.controls.clear()
        port.owed.clear()

    def repair(self, now, port):
        port.link.down = False
        self.network.note(now, self, "link up", None, port.index)
        port.owe(now, port.credits)  # [M59]

    def lost(self, now, in_port, frame):
        """Whether the link lost the frame that arrives. [M60]"""
        link = self.ports[in_port].link
        if not link.down and link.failed_ps < frame.started_ps:
            return False
        if frame.flow is not None:
            self.network.note(now, self, "dropped", frame, value="link down")
            self.network.count("dropped link down")
        return True

    def obey(self, now, in_port, frame):
        """Whether the frame is a MAC control frame, which takes effect and ends here."""
        port = self.ports[in_port]
        if frame.kind == "pause":
            self.network.note(now, self, "paused" if frame.seq else "resumed", None, in_port, cls=frame.cls)
            port.obey(now, range(8) if frame.cls is None else [frame.cls], frame.detail)
        elif frame.kind == "credit":
            port.credited(now, frame)
        return frame.flow is None

    def departures_due(self, port, time_ps):
        self.network.push(time_ps, self.number, DEPARTURE, port.index, None)

    def handle_arrivals(self, now, arrivals):
        arrivals.sort(key=lambda arrival: arrival[0])  # [M22]
        first = mix32(self.instants) % len(arrivals)
        self.instants += 1  # [M21]
        for in_port, frame in arrivals[first:] + arrivals[:first]:
            self.arrive(now, in_port, frame)


class Network:
    """The event queue and what the run records."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.events = []
        self.ids = iter(range(1 << 62))
        self.trace = []
        self.counts = {}
        self.nodes = []

    def push(self, time_ps, node, kind, key, what):
        heapq.heappush(self.events, (time_ps, node, next(self.ids), kind, key, what))

    def count(self, name, amount=1):
        self.counts[name] = self.counts.get(name, 0) + amount

    def note(self, now, node, event, frame=None, port=None, **more):
        """A row of the trace: docs/results.md, trace.parquet."""
        flow = kind = seq = size = cls = None
        if frame is not None:
            flow, kind, seq, size, cls = frame.flow.number, frame.kind, frame.seq, frame.size, frame.cls
        self.trace.append((now, node.number, event, port, flow, kind, seq, size, more.get("cls", cls),
                           more.get("value")))

    def path(self, src, dst, entropy):
        """The wires that a frame takes."""
        port, wires = self.nodes[src].ports[0], []
        while True:
            wires.append(port.wire)
            if port.peer == dst:
                return wires
            port = self.nodes[port.peer].healthy_route(dst, entropy)

    def base_rtt_ps(self, flow, packet_bytes, ack_bytes):
        """The round trip of a packet on the idle path of its flow. [HPCC4]"""
        wires = self.path(flow.src, flow.dst, flow_hash(flow.src, flow.dst, flow.number))
        return sum(wire.arrival_ps(packet_bytes) + wire.arrival_ps(ack_bytes) for wire in wires) \
            + max(wire.busy_ps(ack_bytes) for wire in wires)

    def run(self):
        while self.events and self.events[0][0] < self.scenario.duration_ps:  # [M61]
            now, number = self.events[0][:2]
            self.run_instant(now, number)

    def run_instant(self, now, number):
        """All events of a node at one instant: the next is chosen anew after each step. [M20]"""
        node, events = self.nodes[number], self.events
        departures, arrivals, timers = [], [], []
        while True:
            while events and events[0][0] == now and events[0][1] == number:
                kind, key, what = heapq.heappop(events)[3:]
                if kind == DEPARTURE:
                    departures.append(key)
                elif kind == ARRIVAL:
                    arrivals.append((key, what))
                else:
                    timers.append((key, what))
            if departures:
                port = min(departures)
                departures = [other for other in departures if other != port]
                node.ports[port].depart(now)
            elif arrivals:
                node.handle_arrivals(now, arrivals)
                arrivals = []
            elif timers:
                timers.sort(key=lambda timer: timer[0])
                due, timers = (timers[:1], timers[1:]) if node.is_host else (timers, [])  # [M25], [M26]
                for _, action in due:
                    action(now)
            else:
                return


def equal_cost_ports(scenario, ports_of):
    """For each switch and host the ports on shortest paths, ascending."""
    hosts, count = len(scenario.hosts), len(scenario.hosts) + len(scenario.switches)
    routes = [[[] for _ in range(hosts)] for _ in range(count)]
    for host in range(hosts):
        distance, frontier = {host: 0}, [host]
        while frontier:
            following = []
            for node in frontier:
                if node < hosts and node != host:
                    continue  # nothing passes through a host
                for port in ports_of[node]:
                    if port.peer not in distance:
                        distance[port.peer] = distance[node] + 1
                        following.append(port.peer)
            frontier = following
        for node in range(count):
            if node in distance:
                routes[node][host] = [p.index for p in ports_of[node] if distance.get(p.peer) == distance[node] - 1
                                      and (p.peer >= hosts or p.peer == host)]
    return routes
