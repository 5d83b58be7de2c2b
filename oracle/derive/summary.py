"""summary.json as the files of a run determine it."""

import hashlib
from collections import Counter, defaultdict

from .flows import Flows
from .frames import Frames
from .values import Range, Underived, Within
from .ports import OVERHEAD_BYTES, Ports
from .run import quantity, serialise
from .sentences import Sentences


class Derived:
    """All parts of one run."""

    def __init__(self, run):
        self.run = run
        self.frames, self.flows, self.ports = Frames(run), Flows(run), Ports(run)

    def summary(self):
        run, frames, flows, ports = self.run, self.frames, self.flows, self.ports
        self.deadlock = ports.deadlock()
        goodput = flows.goodput()
        reported = {
            "scenario": {"name": run.scenario["name"], "hash": run.metadata["tidegate.scenario_hash"],
                         "seed": run.scenario["seed"], "version": run.metadata["tidegate.version"]},
            "partial": False,
            "window": {"start_ps": run.window_start, "end_ps": run.window_end},
            "simulated_ps": run.end_of_run,
            "events": self.hops(), "packet_hops": self.hops(),
            "packets": frames.packets(),
            "losses": frames.losses(),
            "event_counts": frames.event_counts() | {"marks": ports.known(frames.count["marked"])},
            "bytes": frames.bytes(),
            "flows": flows.summary(goodput),
            "goodput": goodput,
            "delay_ns": frames.delay(),
            "pauses": ports.pauses(frames.count, self.backpressure()),
            "links": ports.link_summary(),
            "deadlock": self.deadlock, "bounces": frames.bounces(self.hops()), "pipelines": self.pipelines(),
            "results_hash": self.results_hash(),
        }
        optional = {"lossless_losses": frames.lossless_losses(self.lossless()), "requests": flows.requests(),
                    "collectives": flows.collectives(), "jitter": frames.jitter(), "reordering": frames.reordering(),
                    "queue_utilisation": ports.utilisation(), "queue_lengths": ports.queue_lengths(),
                    "trims": frames.trims(flows), "backpressure": self.backpressure(),
                    "mechanisms": self.mechanisms(), "pause_storms": self.pause_storms()}
        reported |= {key: value for key, value in optional.items() if value}
        sentences = Sentences(self)
        return reported | {"checks": sentences.checks(), "warnings": sentences.warnings()}

    def lossless(self):
        """Returns the lossless classes."""
        kind = self.run.control.get("kind", "none")
        if kind in ("pfc", "cbfc"):
            return set(self.run.control["priorities"])
        return set() if kind == "none" else set(range(8))

    def hops(self):
        """Frames forwarded over one link, MAC control frames included."""
        if self.run.control.get("kind") == "cbfc":
            return Underived("credit messages in flight")
        count = self.frames.count
        hops = self.frames.hops + sum(count[event] for event in ("paused", "resumed", "held", "released"))
        ignored = self.ports.ignored()
        return hops + ignored if isinstance(ignored, int) else Range(hops + ignored.lowest, hops + ignored.highest)

    def results_hash(self):
        """SHA-256 over names and contents, each after its length; the summary without its own hash."""
        digest = hashlib.sha256()
        for path in sorted(self.run.folder.iterdir(), key=lambda path: path.name.encode()):
            if path.name in ("timing.json", "tidegate.sha256"):
                continue
            content = path.read_bytes()
            if path.name == "summary.json":
                before, key, after = content.partition(b'"results_hash": "')
                content = before + key + after[after.index(b'"'):]
            for part in (path.name.encode(), content):
                digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()

    def mechanisms(self):
        run, marking = self.run, self.run.switch.get("marking", {}).get("kind")
        reported = {}
        if marking == "afd":
            reported["afd"] = {"dropped": sum(packet.cause == "queue management" for packet in self.frames.lost),
                           "marked": self.frames.count["marked"]}
        for cyclic in run.scenario.get("cyclic", []):
            reported["cyclic"] = self.cyclic(cyclic)
        return reported

    def cyclic(self, cyclic):
        """Frames that left in the cyclic classes, and those that missed the cycle after that of their arrival."""
        run, cycle, frames, missed = self.run, quantity(cyclic["cycle"]), 0, 0
        for row in run.events:
            if row["event"] == "started" and row["node"] not in run.is_host and row["class"] in cyclic["classes"]:
                frames += 1
                missed += row["time_ps"] // cycle > row["since_ps"] // cycle + 1
        return {"frames": frames, "missed": missed}

    def backpressure(self):
        """Counters of outputs from the rows `xoff` and `xon`: one for each neighbour that was reported."""
        run, kind = self.run, self.run.control.get("kind")
        if kind not in ("florax", "destination", "pause-at-output"):
            return None
        active, reported, changed, released, most = {}, Counter(), set(), set(), 0
        frames = 0
        for row in run.events:
            if row["event"] not in ("xoff", "xon"):
                continue
            frames += 1
            output = row["node"], row["other_port"]
            key = output + (row["src_node"], row["dst_node"])
            if row["event"] == "xon":
                if key in active:
                    released.add((key, row["time_ps"]))
                    del active[key]
                continue
            if key not in active:
                reported[output] += 1
                active[key] = {}
                most = max(most, sum(other[:2] == output for other in active))
            # A renewal repeats the rate.
            if active[key].get(row["port"], row["rate_bps"]) != row["rate_bps"]:
                changed.add((key, row["time_ps"]))
            active[key][row["port"]] = row["rate_bps"]
        table = Underived("flow tables of outputs")
        outputs = sorted(reported, key=lambda output: (-reported[output], output))
        return {"xoffs": sum(reported.values()), "changes": len(changed), "xons": len(released), "expiries": 0,
                "control_packets": frames, "control_bytes": frames * 84, "max_table_flows": table, "table_bytes": table,
                "max_stopped_flows": most, "untracked_packets": 0,
                "outputs": [{"node": run.name(node), "port": port, "peer": run.name(run.ports[node, port].peer),
                             "xoffs": reported[node, port]} for node, port in outputs[:32]]}

    def pause_storms(self):
        run = self.run
        if "watchdog" not in run.switch:
            return None
        spans, begun = defaultdict(list), {}
        for row in run.events:
            key = row["node"], row["port"], row["class"]
            if row["event"] == "pause storm":
                begun[key] = row["time_ps"]
            elif row["event"] == "pause storm over":
                spans[key].append((begun.pop(key), row["time_ps"]))
        over = {key: len(found) for key, found in spans.items()}
        for key, at in begun.items():
            spans[key].append((at, run.end_of_run))
        lengths = {key: sum(end - start for start, end in found) for key, found in spans.items()}
        ordered = sorted(lengths, key=lambda key: (-lengths[key], key))
        return {"storms": sum(map(len, spans.values())), "restored": sum(over.values()),
                "dropped_packets": sum(packet.cause == "pause storm" for packet in self.frames.lost),
                "total_ps": sum(lengths.values()),
                "ports": [{"node": run.name(node), "port": port, "peer": run.name(run.ports[node, port].peer),
                           "class": klass, "storms": len(spans[node, port, klass]),
                           "restored": over.get((node, port, klass), 0), "storm_ps": lengths[node, port, klass]}
                          for node, port, klass in ordered[:32]]}

    def bound_of(self, flows):
        """Lower bound of an iteration: bytes of its connections on the wire at a port, over the port's rate."""
        run, sums, ports_of, shape, firsts = self.run, Counter(), defaultdict(set), {}, {}
        for row in run.events:
            if row["event"] == "started" and row["kind"] == "data" and not run.packets[row["packet"]].returned:
                ports_of[row["flow"]].add((row["node"], row["port"]))
        entry = flows[0]["traffic"]
        data = [packet for packet in self.frames.data if run.entry_of_flow[packet.flow] == entry]
        most = max(packet.payload for packet in data)
        headers = max(packet.size - packet.payload for packet in data if packet.payload == most and not packet.trimmed)
        for flow in self.flows.all:
            key = flow["src_port"], flow["src_host"], flow["dst_host"], flow["traffic"]
            firsts[key] = min(firsts.get(key, flow["flow"]), flow["flow"])
        for flow in flows:
            full, rest = divmod(flow["size_bytes"], most)
            size = full * (most + headers + OVERHEAD_BYTES)
            size += max(64, rest + headers) + OVERHEAD_BYTES if rest else 0
            first = firsts[flow["src_port"], flow["src_host"], flow["dst_host"], flow["traffic"]]
            for key in ports_of[first]:
                if self.one_path() or run.ports[key].of_host:
                    sums[key] += size
        return max(serialise(size - OVERHEAD_BYTES, run.ports[key].rate) for key, size in sums.items())

    def one_path(self):
        """Returns whether each connection has one path."""
        run = self.run
        return (run.scenario.get("routing", {}).get("spread", "flow") == "flow" and "fail" not in run.scenario
                and run.overload not in ("bounce", "detour"))

    def pipelines(self):
        run, overload = self.run, self.run.switch.get("overload", {})
        if run.overload != "pipeline-trim":
            return None
        count = overload["pipelines"]
        reported, found, waiting = [], defaultdict(Counter), {}
        first = {}
        for row in run.events:
            if row["event"] == "metered":
                found[row["node"], row["other_port"]]["ingress_trims"] += 1
            elif row["event"] in ("deflected", "mirrored"):
                key = row["node"], row["other_port"]
                found[key]["recirculated"] += 1
                found[key]["recirculated_bytes"] += row["size_bytes"]
                first.setdefault(key, row["time_ps"])
                if row["frames"] > waiting.get(key, (0, 0))[0]:
                    waiting[key] = row["frames"], row["time_ps"]
        signals = Counter(row["node"] for row in run.events if row["event"] == "signalled")
        for node in sorted(run.names):
            numbers = [found[node, at] for at in range(count)]
            if not any(number["ingress_trims"] + number["recirculated"] for number in numbers):
                continue
            pipes = [{"pipeline": at, "ingress_trims": number["ingress_trims"], "recirculated": number["recirculated"],
                      "recirculated_bytes": number["recirculated_bytes"],
                      "max_waiting": waiting.get((node, at), (0, 0))[0],
                      "max_waiting_at_ps": waiting.get((node, at), (0, 0))[1],
                      "first_recirculated_ps": first.get((node, at)), "signals_received": signals[node]}
                     for at, number in enumerate(numbers)]
            reported.append({"node": run.name(node), "pipelines": pipes, "ports": self.modes(node, count)})
        every = [pipe for switch in reported for pipe in switch["pipelines"]]
        return {"ingress_trims": sum(pipe["ingress_trims"] for pipe in every),
                "recirculated": sum(pipe["recirculated"] for pipe in every),
                "max_waiting": max((pipe["max_waiting"] for pipe in every), default=0), "switches": reported}

    def modes(self, node, pipelines):
        """Signals of each port, and the shares of the run for 6 us after each and for 18 us after that."""
        run, by_port = self.run, defaultdict(list)
        for row in run.events:
            if row["event"] == "signalled" and row["node"] == node:
                by_port[row["port"]].append(row["time_ps"])
        reported = []
        for port, times in sorted(by_port.items()):
            pessimistic = half = 0
            for at, following in zip(times, times[1:] + [run.end_of_run]):
                pessimistic += min(following, at + 6 * 10**6) - at
                half += max(0, min(following, at + 24 * 10**6) - at - 6 * 10**6)
            reported.append({"port": port, "peer": run.name(run.ports[node, port].peer),
                         "signals": pipelines * len(times),
                         "pessimistic_share": Within(pessimistic / run.end_of_run, 1e-9),
                         "half_share": Within(half / run.end_of_run, 1e-9, 1e-12)})
        return reported
