"""Statistics of ports: links, queues, pauses, storms, backpressure, deadlock, pipelines."""

import bisect
import math
from collections import Counter, defaultdict

from ..network import stream
from .values import Range, Underived, Within, quantile, share
from .run import quantity, serialise

LISTED_PORTS = 10
CONTROL_BYTES = 64
OVERHEAD_BYTES = 20


class Draws:
    """A random stream by the name of its purpose [M14], [M17]."""

    def __init__(self, seed, component, purpose):
        number = 0xCBF29CE484222325
        for byte in purpose.encode():
            number = (number ^ byte) * 0x100000001B3 % 2**64
        self.numbers = stream(seed, component, number)

    def below(self, limit):
        while True:
            product = next(self.numbers) * limit
            if product % 2**64 >= 2**64 % limit:
                return product >> 64


class Queue:
    """Length of a queue over time, in the window."""

    def __init__(self, run):
        self.run = run
        self.frames = self.bytes = self.most = 0
        self.since = self.changed = 0
        self.area = self.square = self.above = 0
        self.waited = False
        self.history = []

    def advance(self, now, length, watched):
        """Integrates a length up to `now`, over the window only."""
        start, end = max(self.since, self.run.window_start), min(now, self.run.window_end)
        if now > self.since and self.frames:
            self.waited = True
        if end > start:
            self.area += (end - start) * length
            self.square += (end - start) * length * length
            self.above += (end - start) * watched
            self.most = max(self.most, self.bytes)
        elif now == self.run.window_start > self.since and "cyclic" in self.run.scenario:
            # Cycles begin after the window does.
            self.most = max(self.most, self.bytes)
        self.since = now


class Ports:
    """Queues of switches by (node, port, class), rebuilt from the trace, and everything that ports tell."""

    def __init__(self, run):
        self.run = run
        self.switch_ports = [key for key, port in sorted(run.ports.items()) if not port.of_host]
        self.classes = self.classes_in_use()
        self.limit = self.queue_limit()
        self.queues = defaultdict(lambda: Queue(run))
        self.port_bytes, self.port_queues = Counter(), defaultdict(lambda: Queue(run))
        self.sent, self.started, self.starts = Counter(), set(), defaultdict(list)
        self.offered = set()
        self.follow()

    def classes_in_use(self):
        """Classes of traffic, of replies, of headers and notifications."""
        run = self.run
        used = {entry.get("class", 3) for entry in run.traffic}
        host = run.scenario.get("host", {})
        if "reply_class" in host:
            used.add(host["reply_class"])
        if run.overload in ("trim", "sfc", "pipeline-trim"):
            used.add(run.switch["overload"].get("header_class", 7))
        if run.switch.get("marking", {}).get("kind") == "congestion-point":
            used.add(run.switch["marking"].get("cnm_class", 6))
        for cyclic in run.scenario.get("cyclic", []):
            used |= set(cyclic["classes"])
        return sorted(used)

    def queue_limit(self):
        """Returns the limit of `switch.queue` as (number, unit); None with a shared buffer."""
        limit = self.run.switch.get("queue")
        if limit is None:
            return None
        if limit.endswith("packets"):
            return int(limit.split()[0]), "packets"
        return quantity(limit), "bytes"

    def queue_of(self, row, packet, bounced):
        """Returns the queue that a frame joins; cyclic ports use the class of the cycle of its arrival."""
        klass = row["class"]
        for cyclic in self.run.scenario.get("cyclic", []):
            if klass in cyclic["classes"]:
                klass = cyclic["classes"][row["time_ps"] // quantity(cyclic["cycle"]) % 2]
        return row["node"], row["port"], klass, bounced

    def follow(self):
        run, where, bounces, arrived = self.run, {}, Counter(), set()
        measure = run.scenario.get("measure", {})
        self.threshold = measure.get("queue_utilisation")
        pairs = run.overload == "bounce"
        for row in run.events:
            event, number, node, now = row["event"], row["packet"], row["node"], row["time_ps"]
            if number is None:
                continue
            if event in ("queued", "bounced") and bounces[number] and number in arrived and run.in_window(now):
                # A frame that had bounced before met an occupied wire.
                port = row["port"] if event == "queued" else row["other_port"]
                self.offered.add((node, port, row["class"], True))
            bounces[number] += event == "bounced"
            if event == "arrived" and node not in run.is_host:
                arrived.add(number)
            else:
                arrived.discard(number)
            if event == "started":
                key = node, row["port"]
                self.starts[key].append((now, row["size_bytes"]))
                if run.in_window(now):
                    self.started.add(key)
                    self.sent[key] += row["size_bytes"]
            if node in run.is_host:
                continue
            if event == "queued":
                if number in where:
                    self.leave(where.pop(number), now)
                key = self.queue_of(row, number, pairs and bounces[number] > 0)
                where[number] = key, row["size_bytes"]
                self.change(key, now, 1, row["size_bytes"])
            elif event in ("started", "dropped", "trimmed") and number in where and where[number][0][0] == node:
                self.leave(where.pop(number), now)
        for queue in list(self.queues.values()):
            self.integrate(queue, run.end_of_run)
        for key, queue in self.port_queues.items():
            queue.advance(run.end_of_run, queue.bytes, 0)
        self.left_in_queues = where
        self.recirculating = {(row["node"], row["other_port"]) for row in run.events
                              if row["event"] in ("deflected", "mirrored") and row["frames"]}

    def integrate(self, queue, now):
        length = queue.bytes if self.limit is None or self.limit[1] == "bytes" else queue.frames
        watched = (self.threshold is not None and self.limit is not None
                   and length / self.limit[0] > self.threshold)
        queue.advance(now, length, watched)

    def change(self, key, now, frames, size):
        queue, port = self.queues[key], self.port_queues[key[:2]]
        self.integrate(queue, now)
        port.advance(now, port.bytes, 0)
        queue.changed = now
        queue.frames, queue.bytes, port.bytes = queue.frames + frames, queue.bytes + size, port.bytes + size
        port.history.append((now, port.bytes))
        if self.run.window_start <= now < self.run.window_end:
            queue.most, port.most = max(queue.most, queue.bytes), max(port.most, port.bytes)

    def leave(self, place, now):
        key, size = place
        self.change(key, now, -1, -size)

    # Links.

    def busy(self):
        """Returns the time in the window in which each port's wire was occupied, in ps, from `links`."""
        run, busy = self.run, Counter()
        times = sorted(set(range(run.every["links"], run.end_of_run + 1, run.every["links"])) | {run.end_of_run})
        before = dict(zip(times, [0] + times))
        rows = zip(*(run.links[name] for name in ("time_ps", "node", "port", "utilisation")))
        for at, node, port, part in rows:
            if run.window_start < at <= run.window_end:
                busy[node, port] += round(part * (at - before[at]))
        return busy

    def link_summary(self):
        run, busy, longest = self.run, self.busy(), Counter()
        for (node, port, _, _), queue in self.queues.items():
            longest[node, port] = max(longest[node, port], queue.most)
        held = self.held_times()

        def load(key):
            node, port = key
            return {"node": run.name(node), "port": port, "peer": run.name(run.ports[key].peer),
                    "tx_bytes": self.sent_bytes(key),
                    "utilisation": share(busy[key], run.span), "max_queue_bytes": self.known(longest[key]),
                    "paused_ps": held.get(key, 0)}

        def sent_some(key):
            return self.sent[key] or self.control_frames(key, run.window_end) > self.control_frames(key, run.window_start)

        sent = sorted((-busy[key], key) for key in run.ports if sent_some(key))
        full = sorted((-longest[key], key) for key in self.switch_ports if longest[key] > 0)
        longest_queues = self.known([load(key) for _, key in full[:LISTED_PORTS]])
        return {"mean_utilisation": Within(sum(busy.values()) / run.span / len(run.ports), 1e-7, 1e-12),
                "busiest": [load(key) for _, key in sent[:LISTED_PORTS]],
                "longest_queues": longest_queues}

    def sent_bytes(self, key):
        """Returns the bytes of frames that started in the window. MAC control frames are what `links` has beyond the trace:
        cumulative bytes on the wire up to a sample, less those of frames, are whole control frames and a part of one.
        """
        start, end = self.run.window_start, self.run.window_end
        # Bytes of samples are whole: of a credit message of which less is on the wire, the files tell nothing.
        least = 0.5 if self.run.control.get("kind") == "cbfc" else 2
        lowest = self.control_frames(key, end) - self.control_frames(key, start, least)
        highest = self.control_frames(key, end, least) - self.control_frames(key, start)
        if lowest == highest:
            return self.sent[key] + CONTROL_BYTES * lowest
        return Range(self.sent[key] + CONTROL_BYTES * lowest, self.sent[key] + CONTROL_BYTES * highest)

    def control_frames(self, key, at, least=2):
        """Returns the number of MAC control frames of which a port had sent `least` bytes before `at`, a sample or the
        start.
        """
        extra = self.wire_bytes(key, at) - self.frame_bytes(key, at) - least
        return max(0, math.ceil(extra / (CONTROL_BYTES + OVERHEAD_BYTES)))

    def wire_bytes(self, key, at):
        if not hasattr(self, "_wire"):
            self._wire = defaultdict(list)
            rows = zip(*(self.run.links[name] for name in ("time_ps", "node", "port", "tx_bytes")))
            for time, node, port, count in rows:
                self._wire[node, port].append((time, count))
        return sum(count for time, count in self._wire[key] if time <= at)

    def frame_bytes(self, key, at):
        """Returns the bytes on the wire before `at` of the frames in the trace, as a fraction."""
        rate, total = self.run.ports[key].rate, 0.0
        for start, size in self.starts[key]:
            if start < at:
                whole = serialise(size + OVERHEAD_BYTES, rate)
                total += (size + OVERHEAD_BYTES) * min(1.0, (at - start) / whole)
        return total

    # Pauses, from what ports received.

    def stops(self):
        """Yields the stops of each (node, port, class): class, from, until, how it ended."""
        if hasattr(self, "_stops"):
            return self._stops
        found, open_stops = [], {}
        for row in self.run.events:
            if row["event"] == "paused":
                key = row["node"], row["port"], row["class"]
                stop = open_stops.get(key)
                if stop and stop["until"] >= row["since_ps"]:
                    stop["until"] = row["until_ps"]
                    continue
                if stop:
                    found.append(stop | {"ended": "expired"})
                open_stops[key] = {"key": key, "from": row["since_ps"], "until": row["until_ps"]}
            elif row["event"] == "resumed":
                key = row["node"], row["port"], row["class"]
                # A resume that takes effect after the end leaves the stop in force.
                stop = open_stops.pop(key, None) if row["since_ps"] <= self.run.end_of_run else None
                if stop:
                    stop["resumed"] = row["since_ps"]
                    ended = "resumed" if row["since_ps"] <= stop["until"] else "expired"
                    found.append(stop | {"until": min(row["since_ps"], stop["until"]), "ended": ended})
        end = self.run.end_of_run
        for stop in open_stops.values():
            expired = stop["until"] <= end
            found.append(stop | {"until": min(stop["until"], end), "ended": "expired" if expired else None})
        self._stops = [stop for stop in found if stop["from"] < end]
        return self._stops

    def holds(self):
        """Returns the times for which flows, destinations or outputs were held, by (node, port)."""
        if hasattr(self, "_holds"):
            return self._holds
        found, active = [], {}
        for row in self.run.events:
            if row["event"] in ("held", "released"):
                key = row["node"], row["port"], row["src_node"], row["dst_node"]
                if row["event"] == "held":
                    active.setdefault(key, row["time_ps"])
                elif key in active:
                    found.append((key[:2], active.pop(key), row["time_ps"]))
        self._holds = found + [(key[:2], start, self.run.end_of_run) for key, start in active.items()]
        return self._holds

    def known(self, value):
        """Returns a value about queues of switches; frames of held flows leave these without a row."""
        if any(key[0] not in self.run.is_host for key, _, _ in self.holds()):
            return Underived("queues beside held flows")
        return value

    def held_times(self):
        """Returns the time in the window in which a port or a class of it was stopped."""
        run, spans = self.run, defaultdict(list)
        for stop in self.stops():
            spans[stop["key"][:2]].append((max(stop["from"], run.window_start), min(stop["until"], run.window_end)))
        return {key: union(found) for key, found in spans.items()}

    def pauses(self, count, backpressure):
        run, stops = self.run, self.stops()
        kind = run.control.get("kind", "none")
        lengths = [max(0, stop["until"] - stop["from"]) for stop in stops]
        lengths += [end - start for _, start, end in self.holds()]
        begun, ended = count["pause sent"], count["resume sent"]
        if kind == "cbfc":
            begun, ended = len(stops), sum(stop["ended"] == "resumed" for stop in stops)
        elif kind in ("florax", "destination", "pause-at-output"):
            begun, ended = backpressure["xoffs"], backpressure["xons"]
        reported = {"count": begun, "resumes": ended, "total_ps": sum(lengths), "max_ps": max(lengths, default=0)}
        ignored = self.ignored()
        return reported | ({"ignored": ignored} if ignored != 0 else {})

    def control_total(self, at):
        return sum(self.control_frames(key, at) for key in self.run.ports)

    def credits_sent(self):
        return self.control_total(self.run.end_of_run) if self.run.control.get("kind") == "cbfc" else 0

    def used_ports(self):
        """Returns the number of ports that started a frame, in the whole run."""
        end = self.run.end_of_run
        return sum(bool(self.starts[key]) or self.control_frames(key, end) > 0 for key in self.run.ports)

    def ignored(self):
        """Returns the pauses and resumes that arrived at hosts which ignore them, or bounds of their number."""
        run = self.run
        deaf = run.scenario.get("host", {}).get("ignore_pause", [])
        deaf = {node for node in run.hosts if run.name(node) in deaf}
        lowest = highest = 0
        for row in run.events:
            if row["event"] in ("pause sent", "pause renewed", "resume sent", "xoff", "xon"):
                port = run.ports[row["node"], row["port"]]
                if port.peer in deaf:
                    # It may wait for the longest frame on the wire.
                    soonest = row["time_ps"] + serialise(CONTROL_BYTES + 8, port.rate) + port.delay
                    latest = soonest + serialise(1600, port.rate)
                    lowest += latest < run.end_of_run
                    highest += soonest < run.end_of_run
        return lowest if lowest == highest else Range(lowest, highest)

    def stopped_at_end(self):
        """Returns the number of stopped queues of switches at the end that hold frames, and of stopped classes of hosts."""
        switches = hosts = 0
        waiting = {key[:3] for key, _ in self.left_in_queues.values()}
        if self.run.control.get("kind") in ("pfc", "pause", "cbfc"):
            for stop in self.stops():
                if stop["ended"] is None:
                    node, port, klass = stop["key"]
                    classes = self.classes if klass is None else [klass]
                    if node in self.run.is_host:
                        hosts += len(classes)
                    else:
                        switches += sum((node, port, one) in waiting for one in classes)
        return switches, hosts

    def may_starve(self, lossless):
        """Returns whether a lossless queue, which nothing stops, stood still for as long as its port needs for a buffer."""
        run = self.run
        stopped = [stop["key"] for stop in self.stops() if stop["ended"] is None]
        limit = quantity(run.switch["buffer"]) if self.limit is None else self.limit[0] * (
            64 if self.limit[1] == "packets" else 1)
        return any(queue.bytes and key[2] in lossless and key[:3] not in stopped and (*key[:2], None) not in stopped
                   and run.end_of_run - queue.changed > serialise(limit, run.ports[key[:2]].rate)
                   for key, queue in self.queues.items())

    def deadlock(self):
        """Returns the cycle of stopped queues at the end, if there is one; each waits for the next."""
        run = self.run
        if run.control.get("kind") not in ("pfc", "pause", "cbfc"):
            return None
        reported = run.scenario.get("check", {}).get("deadlock", {})
        if reported is False:
            return None
        stopped = {stop["key"]: stop for stop in self.stops() if stop["ended"] is None}
        # Where the frames wait that an ingress account holds.
        arrived, held_in = {}, defaultdict(Counter)
        for row in run.events:
            if row["event"] == "arrived":
                arrived[row["packet"]] = row["in_port"]
        for number, (key, size) in self.left_in_queues.items():
            held_in[key[0], arrived.get(number)][key[:3]] += size
        def stuck(of):
            """Returns the greatest set of stopped queues whose accounts keep more than XON in queues of the set."""
            before = None
            while before != of:
                before = of
                of = {key for key in of if sum(held_in[account(key)][queue] for queue in of) > self.xon()}
            return of

        def account(key):
            port = run.ports[key[:2]]
            return port.peer, port.peer_port

        filled = {key[:3] for key, _ in self.left_in_queues.values()}
        found = stuck({key for key in stopped if key[0] not in run.is_host and key in filled})
        for start in sorted(found):
            path = [start]
            while True:
                following = sorted(queue for queue in held_in[account(path[-1])] if queue in found)
                if not following:
                    break
                if following[0] in path:
                    cycle = path[path.index(following[0]):]
                    least = cycle.index(min(cycle))
                    cycle = cycle[least:] + cycle[:least]
                    closed = max(stopped[key]["from"] for key in cycle)
                    return {"closed_ps": closed,
                            "cycle": [{"node": run.name(node), "port": port, "class": klass,
                                       "peer": run.name(run.ports[node, port].peer)} for node, port, klass in cycle]}
                path.append(following[0])
        return None

    def xon(self):
        """Returns the level at which an account resumes: `xon` below a static XOFF."""
        control = self.run.control
        return quantity(control["xoff"]) - quantity(control.get("xon", "3KB")) if "xoff" in control else 0

    def pause_counts(self):
        """Returns the numbers of the check "pauses"."""
        holds = self.holds()
        if holds and self.run.control["kind"] != "pause-at-output":
            standing = sum(end == self.run.end_of_run for _, _, end in holds)
            return len(holds), len(holds) - standing, 0, standing
        factor = 8 if self.run.control.get("kind") in ("pause", "pause-at-output") else 1
        ends = Counter(stop["ended"] for stop in self.stops())
        return factor * len(self.stops()), factor * ends["resumed"], factor * ends["expired"], factor * ends[None]

    # Queues.

    def queue_lengths(self):
        run = self.run
        reported = run.scenario.get("measure", {}).get("queues")
        if not reported:
            return None
        every = quantity(reported["every"])
        instants = self.sample_instants(every)
        queues = {key: queue for key, queue in self.port_queues.items() if queue.area or queue.most}

        def lengths(mean, most, keys, ports):
            found = sorted(length for key in keys for length in self.sampled(key, instants))
            found = [0] * (ports * len(instants) - len(found)) + found
            reported = {"mean_bytes": Within(mean, 1e-9)}
            for name, part in (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")):
                reported[f"{name}_bytes"] = quantile(found, part) if found else 0
            return reported | {"max_bytes": most}

        if isinstance(self.known(0), Underived):
            return {"every_ps": every, "samples": len(instants), "ports": len(self.switch_ports), "all": self.known(0),
                    "longest": self.known(0)}
        area = sum(queue.area for queue in queues.values())
        most = max((queue.most for queue in queues.values()), default=0)
        count, samples = len(self.switch_ports), len(instants)
        longest = min(queues, key=lambda key: (-queues[key].area, key), default=None)
        if longest is not None:
            queue = queues[longest]
            longest = {"node": run.name(longest[0]), "port": longest[1],
                       "peer": run.name(run.ports[longest].peer)} | lengths(queue.area / run.span, queue.most, [longest], 1)
        return {"every_ps": every, "samples": samples, "ports": count,
                "all": lengths(area / run.span / count, most, list(queues), count), "longest": longest}

    def sample_instants(self, every):
        """Returns the random instants of samples in the window: one in each interval, drawn one by one."""
        draw, instants, interval = Draws(self.run.scenario["seed"], 0, "queue samples"), [], 0
        while interval < self.run.window_end:
            at = interval + 1 + draw.below(every)
            if self.run.window_start < at <= self.run.window_end:
                instants.append(at)
            interval += every
        return instants

    def sampled(self, key, instants):
        """Returns the lengths above 0 of a port's queue before the events of each instant."""
        history = self.port_queues[key].history
        times = [at for at, _ in history]
        for instant in instants:
            place = bisect.bisect_left(times, instant)
            if place and history[place - 1][1]:
                yield history[place - 1][1]

    def utilisation(self):
        """Utilisation of queues against `switch.queue`."""
        if self.threshold is None:
            return None
        run, capacity = self.run, self.limit[0]
        both = (False, True) if run.overload == "bounce" else (False,)
        keys = [(node, port, klass, bounced) for node, port in self.switch_ports for klass in self.classes
                for bounced in both]
        used = [key for key in keys if self.is_used(key)]
        span = run.span
        means = [self.queues[key].area / span / capacity for key in keys]
        squares = [self.queues[key].square / span / capacity**2 for key in keys]
        mean = sum(means) / len(means)
        ratio = sum(self.queues[key].above for key in used) / span / max(1, len(used))
        derived = {"mean": Within(mean, 1e-9), "variance": Within(sum(squares) / len(keys) - mean**2, 1e-6, 1e-15),
                   "variance_of_means": Within(sum(m * m for m in means) / len(keys) - mean**2, 1e-6, 1e-15),
                   "time_ratio": Within(ratio, 1e-9)}
        derived = {name: self.known(value) for name, value in derived.items()}
        return {"threshold": self.threshold, "queues": len(keys), "queues_used": len(used)} | derived

    def is_used(self, key):
        """A queue of bounced frames is used if a frame was routed to it, others if their port sent a frame."""
        if key[3]:
            return key in self.offered
        own = self.control_frames(key[:2], self.run.window_end) - self.control_frames(key[:2], self.run.window_start)
        return key[:2] in self.started or own > 0


def union(spans):
    """Returns the length of the union of spans."""
    total, reached = 0, 0
    for start, end in sorted(spans):
        start = max(start, reached)
        if end > start:
            total, reached = total + end - start, end
    return total
