"""Statistics of flows: completion times, slowdowns, goodput, requests, collective operations."""

from collections import Counter, defaultdict

from .values import Within, distribution, nearest_rank, quantile
from .ports import OVERHEAD_BYTES
from .run import quantity, serialise

SIZES = [10**4, 10**5, 10**6, 10**7, 2**64 - 1]
DECADES = [step * 10**power for power in range(3, 10) for step in (1, 3)] + [10**10, 2**64 - 1]
EQUAL_BINS = 20


def rounded(value):
    """Slowdowns have four decimals, of numbers with seven digits."""
    return Within(value, 1e-6, 6e-5)


def bin_of(flows, lowest, highest):
    """Returns a bin of (size, slowdown) pairs."""
    slowdowns = sorted(slowdown for _, slowdown in flows)
    reported = {"from_bytes": lowest, "to_bytes": highest, "count": len(flows),
            "mean": rounded(sum(slowdowns) / len(slowdowns))}
    for name, part in (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")):
        reported[name] = rounded(nearest_rank(slowdowns, part))
    return reported


class Flows:
    """The flows of the measured window."""

    def __init__(self, run):
        self.run = run
        self.all = list(run.flows)
        self.measured = [flow for flow in self.all if run.flow_in_window(flow["start_ps"])]
        self.done = [flow for flow in self.measured if flow["delivered_ps"] is not None]
        self.unfinished = [flow for flow in self.measured
                           if flow["delivered_ps"] is None and flow["size_bytes"] is not None]

    def slow(self, flows):
        """Returns size and slowdown of those with a baseline."""
        pairs = []
        for flow in flows:
            if flow["baseline_fct_ps"] > 0:
                fct = flow["delivered_ps"] - flow["start_ps"]
                pairs.append((flow["size_bytes"], max(1.0, fct / flow["baseline_fct_ps"])))
        return pairs

    def times(self, flows):
        return [flow["delivered_ps"] - flow["start_ps"] for flow in flows]

    def unfinished_summary(self):
        bounds = Counter(next(to for to in DECADES if flow["size_bytes"] <= to) for flow in self.unfinished)
        count = len(self.unfinished)
        mostly = max((to for to in DECADES if 4 * sum(n for bound, n in bounds.items() if bound > to) >= 3 * count),
                     default=0)
        return {"count": count, "size_p25_bytes": mostly,
                "by_decade": [{"to_bytes": to, "count": bounds[to]} for to in sorted(bounds)]}

    def slowdown(self, pairs):
        if not pairs:
            return None
        slowdowns = sorted(slowdown for _, slowdown in pairs)
        whole = bin_of(pairs, 0, 0)
        reported = {name: whole[name] for name in ("mean", "p50", "p95", "p99")} | {"max": rounded(slowdowns[-1])}
        # In order of size, then of slowdown.
        ordered, bins = sorted(pairs), min(EQUAL_BINS, len(pairs))
        by_size = []
        for index in range(bins):
            part = ordered[index * len(ordered) // bins:(index + 1) * len(ordered) // bins]
            by_size.append(bin_of(part, part[0][0], part[-1][0]))
        by_decade, lowest = [], 0
        for to in DECADES:
            part = [pair for pair in ordered if lowest <= pair[0] <= to]
            if part:
                by_decade.append(bin_of(part, lowest, to))
            lowest = to + 1
        return reported | {"by_size": by_size, "by_decade": by_decade}

    def summary(self, goodput):
        run = self.run
        reported = {"started": len(self.measured), "completed": len(self.done)}
        waiting = sum(flow["acked_ps"] is None and run.transport(flow["traffic"])["kind"] != "datagram"
                      for flow in self.done)
        if waiting:
            reported["unacknowledged"] = waiting
        if self.unfinished:
            reported["unfinished"] = self.unfinished_summary()
        reported["fct_ns"] = distribution(self.times(self.done))
        reported["fct_by_size"] = []
        lowest = 0
        for to in SIZES:
            part = sorted(self.times(flow for flow in self.done if lowest <= flow["size_bytes"] <= to))
            if part:
                reported["fct_by_size"].append({"to_bytes": to, "count": len(part),
                                            "mean_ns": Within(sum(part) / len(part) / 1000, 1e-12),
                                            "p99_ns": quantile(part, "0.99", 1000)})
            lowest = to + 1
        pairs = self.slow(self.done)
        reported["slowdown"] = self.slowdown(pairs)
        rates = [1 / slowdown for _, slowdown in pairs]
        squares = sum(rate * rate for rate in rates)
        reported["jain"] = Within(sum(rates) ** 2 / (len(rates) * squares), 1e-9) if rates else None
        reported["timeouts"] = sum(flow["timeouts"] for flow in self.measured)
        reported["by_traffic"] = self.by_traffic(goodput)
        return reported

    def labels(self):
        """Returns the names of the entries; none for a single entry without a label."""
        traffic = self.run.traffic
        if len(traffic) == 1 and "label" not in traffic[0]:
            return []
        names = [entry.get("label", entry.get("operation", entry["kind"])) for entry in traffic]
        return [f"{name} {at}" if names.count(name) > 1 else name for at, name in enumerate(names)]

    def by_traffic(self, goodput):
        labels, reported = self.labels(), []
        for entry in range(len(self.run.traffic)):
            flows = [flow for flow in self.measured if flow["traffic"] == entry]
            if not flows and not labels:
                continue
            done = [flow for flow in flows if flow["delivered_ps"] is not None]
            unfinished = sum(flow["traffic"] == entry for flow in self.unfinished)
            item = {"traffic": entry, "started": len(flows), "completed": len(done)}
            if unfinished:
                item["unfinished"] = unfinished
            item["completed_bytes"] = sum(flow["size_bytes"] for flow in done)
            item["fct_ns"] = distribution(self.times(done))
            if labels:
                payload = goodput["payload_bytes_by_traffic"][entry]
                item |= {"label": labels[entry], "slowdown": self.label_slowdown(done), "payload_bytes": payload,
                         "goodput_bps": self.bps(payload, goodput),
                         "retransmitted_bytes": sum(flow["retransmitted_bytes"] for flow in flows),
                         "timeouts": sum(flow["timeouts"] for flow in flows)}
            reported.append(item)
        return reported

    def label_slowdown(self, done):
        slowdowns = sorted(slowdown for _, slowdown in self.slow(done))
        if not slowdowns:
            return None
        reported = {"mean": rounded(sum(slowdowns) / len(slowdowns))}
        for name, part in (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")):
            reported[name] = Within(nearest_rank(slowdowns, part), 0.004, 6e-5)
        return reported | {"max": rounded(slowdowns[-1])}

    @staticmethod
    def bps(payload, goodput):
        span = goodput["end_ps"] - goodput["start_ps"]
        return Within(payload * 8e12 / span, 1e-9) if span else 0.0

    def goodput(self):
        """The window ends at the last arrival of payload if a flow was delivered in it, and every flow was delivered or
        consists of datagrams that have all left their host.
        """
        run = self.run
        all_complete = all(flow["delivered_ps"] is not None or self.all_left(flow) for flow in self.all)
        last = max((flow["delivered_ps"] for flow in self.all if flow["delivered_ps"] is not None), default=0)
        all_complete = all_complete and last > run.window_start
        for flow in self.all:
            if flow["delivered_ps"] is None:
                ends = [packet.end_at for packet in self.frames_by_flow.get(flow["flow"], [])
                        if packet.end == "delivered" and not packet.trimmed]
                last = max([last] + [at for at in ends if at < run.window_end])
        end = min(last, run.window_end) if all_complete and last > run.window_start else run.window_end
        payload = [0] * len(run.traffic)
        for at, entry, count in zip(*(run.throughput[name] for name in ("time_ps", "traffic", "delivered_bytes"))):
            if run.window_start < at <= run.window_end:
                payload[entry] += count
        reported = {"start_ps": run.window_start, "end_ps": end, "payload_bytes": sum(payload)}
        reported["bps"] = self.bps(sum(payload), reported)
        return reported | {"payload_bytes_by_traffic": payload}

    def lost_only(self, flow):
        """Returns whether all frames of a flow of datagrams were sent, and those that did not arrive were lost."""
        if self.run.transport(flow["traffic"])["kind"] != "datagram" or flow["size_bytes"] is None:
            return False
        frames = self.frames_by_flow.get(flow["flow"], [])
        return self.all_sent(flow) and all(packet.end is not None for packet in frames)

    def all_sent(self, flow):
        """Returns whether a flow of datagrams has sent all its frames."""
        if self.run.transport(flow["traffic"])["kind"] != "datagram" or flow["size_bytes"] is None:
            return False
        frames, traffic = self.frames_by_flow.get(flow["flow"], []), self.run.traffic[flow["traffic"]]
        if "process" in traffic:
            # The size is the length of frames of the mean length, rounded up to whole frames.
            return len(frames) >= -(-flow["size_bytes"] // quantity(traffic.get("frame", "1518B")))
        return sum(packet.payload for packet in frames) >= flow["size_bytes"]

    def all_left(self, flow):
        """Returns whether a flow of datagrams has sent all its frames, and none is on the wire of its host at the end."""
        run = self.run

        def leaves_at(packet):
            return packet.created + serialise(packet.whole + OVERHEAD_BYTES, run.ports[packet.source, 0].rate)
        return self.all_sent(flow) and all(leaves_at(packet) <= run.end_of_run
                                           for packet in self.frames_by_flow.get(flow["flow"], []))

    @property
    def frames_by_flow(self):
        if not hasattr(self, "_frames"):
            self._frames = defaultdict(list)
            for packet in self.run.packets.values():
                if packet.kind == "data":
                    self._frames[packet.flow].append(packet)
        return self._frames

    # Requests.

    def requests(self):
        run, reported = self.run, []
        for entry, traffic in enumerate(run.traffic):
            if traffic["kind"] != "request-reply":
                continue
            reported.append(self.requests_of(entry, traffic))
        return reported

    def requests_of(self, entry, traffic):
        """Pairs requests with replies by their numbers."""
        run = self.run
        asker = [run.name(node) for node in run.hosts].index(traffic["client"])
        ordered = sorted((flow for flow in self.all if flow["traffic"] == entry), key=lambda flow: flow["flow"])
        by_number = {flow["flow"]: flow for flow in ordered}
        # Of each round all requests are planned, and then their replies.
        loops = len(traffic["servers"]) * traffic.get("connections", 1)
        asked, latencies, firsts, lasts = 0, [], [], []
        for flow in ordered:
            if flow["src_host"] != asker or not run.flow_in_window(flow["start_ps"]):
                continue
            asked += 1
            reply = by_number.get(flow["flow"] + loops)
            if reply is not None and reply["delivered_ps"] is not None:
                latencies.append(reply["delivered_ps"] - flow["start_ps"])
                firsts.append(flow["start_ps"])
                lasts.append(reply["delivered_ps"])
        reported = {"traffic": entry,
                "persistent_connection": run.transport(entry)["kind"] not in ("datagram", "ndp", "eqds", "external"),
                "started": asked, "completed": len(latencies), "latency_ns": distribution(latencies),
                "first_ps": min(firsts, default=0), "last_ps": max(lasts, default=0), "per_second": None}
        if latencies:
            reported["per_second"] = Within(len(latencies) * 1e12 / (reported["last_ps"] - reported["first_ps"]), 1e-9)
        return reported

    # Collective operations.

    def iterations(self, entry):
        """Returns the flows of each iteration that began in the window, in order of the plan."""
        run, traffic = self.run, self.run.traffic[entry]
        count, ranks = traffic.get("iterations", 1), len(run.hosts)
        messages = (2 if traffic["operation"] == "all-reduce" else 1) * (ranks - 1) * ranks * traffic.get("chunks", 1)
        first = self.first_flow(entry)
        found = [[] for _ in range(count)]
        for flow in self.all:
            if flow["traffic"] == entry:
                found[(flow["flow"] - first) // messages].append(flow)
        return found, messages

    def first_flow(self, entry):
        """Returns the number of the first flow of an entry of planned flows."""
        return min(flow["flow"] for flow in self.all if flow["traffic"] == entry)

    def collectives(self):
        run, reported = self.run, []
        self.completed_iterations = []
        for entry, traffic in enumerate(run.traffic):
            if traffic["kind"] != "collective":
                continue
            ranks, operation = len(run.hosts), traffic["operation"]
            started = any(flow["traffic"] == entry for flow in self.all)
            iterations, messages = self.iterations(entry) if started else ([], 0)
            times = []
            # Iterations of which no flow began belong to the population, too.
            measured = 0 if started else traffic.get("iterations", 1)
            for flows in iterations:
                start = min((flow["start_ps"] for flow in flows), default=None)
                measured += start is None or run.flow_in_window(start)
                whole = len(flows) == messages and all(flow["delivered_ps"] is not None for flow in flows)
                if whole and run.flow_in_window(start):
                    times.append(max(flow["delivered_ps"] for flow in flows) - start)
                    self.completed_iterations.append((times[-1], flows))
            size = quantity(traffic["size"])
            own = traffic.get("connection_per_message", False)
            item = {"traffic": entry, "operation": operation, "algorithm": traffic.get("algorithm", "ring"),
                    "ranks": ranks, "size_bytes": size,
                    "qps_per_connection": None if own else traffic.get("qps_per_connection", 1),
                    "iterations": traffic.get("iterations", 1), "measured": measured, "completed": len(times),
                    "time_ns": None, "algorithm_bps": None, "bus_bps": None}
            if times:
                mean = sum(times) / len(times)
                factor = (2 if operation == "all-reduce" else 1) * (ranks - 1) / ranks
                item |= {"time_ns": {"mean": Within(mean / 1000, 1e-9), "min": min(times) / 1000,
                                     "max": max(times) / 1000},
                         "algorithm_bps": Within(size * 8e12 / mean, 1e-9),
                         "bus_bps": Within(size * 8e12 / mean * factor, 1e-9)}
            reported.append(item)
        return reported
