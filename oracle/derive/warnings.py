"""Warnings: those about the scenario, and those about the run."""

from collections import Counter, defaultdict

from .values import Alternatives, Maybe, half_up, time_text
from .run import quantity, serialise

REACTS_TO_MARKS = ("dctcp", "dctcp-rate", "dcqcn")
IN_ORDER_ONLY = ("roce", "dcqcn", "timely", "hpcc", "dctcp-rate", "hetflow", "qcn", "eccp")
LOSS_REASONS = {
    "outside flow control": "outside flow control: at switches without it, or from neighbours without it",
    "link down": "with links that had failed",
    "no route": "because no port with a live link leads to their destination",
    "link loss": "by the configured loss of links: flow control cannot prevent that",
    "bit error": "to bit errors: flow control cannot prevent that",
    "ttl expired": "at their hop limit: routes are longer than host.ttl, or close a loop",
    "nonconforming": "as nonconforming: their senders exceeded the allowed rate",
    "host buffer full": "at full host buffers",
}


class Warnings:
    """All warnings of a run, in any order."""

    def __init__(self, derived):
        self.derived, self.run = derived, derived.run
        self.scenario, self.switch = self.run.scenario, self.run.switch
        self.entries = range(len(self.run.traffic))
        # Entries with a process have no transport.
        self.sending = [at for at in self.entries if "process" not in self.run.traffic[at]]
        self.kinds = {self.run.transport(at)["kind"] for at in self.sending}

    def all(self):
        return self.of_scenario() + self.of_run()

    def of_scenario(self):
        found, scenario = [], self.scenario
        host = scenario.get("host", {})
        reported = host.get("transport", "roce")
        main = reported if isinstance(reported, str) else reported["kind"]
        trims = self.run.overload in ("trim", "cut-payload", "sfc", "pipeline-trim")
        if main == "ndp" and self.sending and not trims:
            found.append("host.transport: NDP's receivers detect losses by trimmed headers, but no switch trims: each loss "
                         'waits for a timeout. Write switch.overload = "trim"')
        spread = scenario.get("routing", {}).get("spread", "flow")
        selective = isinstance(reported, dict) and reported.get("loss_recovery") == "selective"
        if spread != "flow" and main in IN_ORDER_ONLY and not selective and self.sending and self.has_choice():
            found.append(f"routing.spread: {main} treats out-of-order packets as losses and retransmits all following "
                         f'packets (go-back-N): with routing.spread = "{spread}" many packets are sent twice. Write '
                         '"flow", or use a transport that tolerates reordering')
        marking = self.switch.get("marking", {}).get("kind")
        if main in REACTS_TO_MARKS and self.sending and marking in (None, "congestion-point") or \
                main in REACTS_TO_MARKS and marking == "afd" and self.switch["marking"].get("action") != "mark":
            found.append(f"switch.marking: {main} reacts to marks, but no switch marks")
        if "fail" in scenario and scenario.get("routing", {}).get("reroute", "none") == "none":
            found.append("routing.reroute: links fail and nothing reroutes: a switch without another equal port drops")
        datagrams = all(self.run.transport(at)["kind"] == "datagram" for at in self.entries)
        if "reply_class" in host and datagrams and marking != "congestion-point":
            found.append("host.reply_class: `host.reply_class` has no effect: all flows are datagrams, which have no "
                         "replies")
        header = self.switch.get("overload", {}).get("header_class", 7)
        if self.run.overload in ("trim", "sfc", "pipeline-trim") and not datagrams and "reply_class" not in host:
            found.append("host.reply_class: acknowledgements share the queues of data and are lost when these are full: "
                         f"host.reply_class = {header} moves them to the class of headers")
        found += self.about_classes() + self.about_time() + self.about_load() + self.about_room()
        return found

    def has_choice(self):
        """Returns whether some switch has two ports to switches of its own or a higher tier."""
        return self.scenario["fabric"]["kind"] in ("leaf-spine", "fat-tree", "ring", "line")\
            and any(count > 1 for count in self.onward().values())

    def onward(self):
        run, tiers, counts = self.run, self.tiers(), Counter()
        for port in run.ports.values():
            if not port.of_host and port.peer not in run.is_host and tiers[port.peer] >= tiers[port.node]:
                counts[port.node] += 1
        return counts

    def tiers(self):
        """Tiers by distance from hosts: 1 beside hosts."""
        run, tiers, level = self.run, {}, 1
        edge = {port.node for port in run.ports.values() if not port.of_host and port.peer in run.is_host}
        while edge:
            tiers.update({node: level for node in edge})
            level += 1
            edge = {port.peer for port in run.ports.values() if port.node in edge and port.peer not in run.is_host
                    and port.peer not in tiers}
        return tiers

    def about_classes(self):
        control = self.run.control
        if control.get("kind") not in ("pfc", "cbfc") or set(control["priorities"]) & set(self.derived.ports.classes):
            return []
        return ["switch.flow_control.priorities: no traffic uses a lossless class: frames of every class may be lost"]

    def about_time(self):
        found, run = [], self.run
        endless = [at for at in self.entries if run.traffic[at]["kind"] == "poisson" and "stop" not in run.traffic[at]]
        if self.scenario.get("until") and endless:
            found.append("until: flows are generated until the end of the run, so it lasts its full duration: write `stop` "
                         "or `flows_per_host` for their traffic")
        if len(self.sending) == len(run.traffic) and all(run.traffic[at]["kind"] != "poisson" for at in self.entries):
            rate = next(port.rate for port in run.ports.values() if port.of_host)
            ends = []
            for at in self.entries:
                entry = run.traffic[at]
                if entry["kind"] in ("request-reply", "collective"):
                    return found
                if entry.get("size") != "endless":
                    ends.append(quantity(entry.get("start", "0s")) + serialise(quantity(entry["size"]), rate))
            if ends and min(ends) >= run.duration:
                found.append("duration: no flow can complete: the earliest completion at the rate of its hosts' links is "
                             f"{one_decimal(min(ends))}, and the run ends at {time_text(run.duration)}")
        return found

    def about_load(self):
        """Load of links between switches by flows drawn at a rate, split evenly over equal ports."""
        run, loads, drawing = self.run, defaultdict(float), []
        peers = defaultdict(list)
        for (node, number), port in sorted(run.ports.items()):
            if not port.of_host and port.peer not in run.is_host:
                peers[node].append(port)
        edge = {port.node: port.peer for port in run.ports.values() if port.of_host}
        rate = next(port.rate for port in run.ports.values() if port.of_host)
        for at in self.entries:
            entry = run.traffic[at]
            if entry["kind"] == "poisson":
                drawing.append(at)
                each = rate * entry["load"] / (len(run.hosts) - 1)
                for destination in set(edge.values()):
                    distance = distances(peers, destination)
                    flow = Counter()
                    for source in run.hosts:
                        if edge[source] != destination:
                            flow[edge[source]] += each * sum(edge[host] == destination for host in run.hosts)
                    for node in sorted(distance, key=lambda node: -distance[node]):
                        ports = [port for port in peers[node] if distance[port.peer] < distance[node]]
                        for port in ports:
                            part = flow[node] / len(ports)
                            loads[port.node, port.port] += part
                            flow[port.peer] += part
        if not drawing:
            return []
        tiers, groups = self.tiers(), defaultdict(list)
        for key, port in sorted(run.ports.items()):
            if not port.of_host and port.peer not in run.is_host:
                groups[tiers[port.node], tiers[port.peer]].append((loads[key], port))
        worst, texts = 0, Alternatives()
        key = f"traffic.{drawing[0]}.load" if len(drawing) == 1 else "traffic"
        for (low, high), links in sorted(groups.items()):
            mean = sum(load for load, _ in links) / sum(port.rate for _, port in links)
            for load, port in links:
                busiest = load / port.rate
                if busiest < worst - 1e-9:
                    continue
                if busiest > worst + 1e-9:
                    worst, texts = busiest, Alternatives()
                texts.append(
                    f"{key}: the expected load is {round(mean * 100)} % of the links from tier {low} to tier {high}, and "
                    f"{round(busiest * 100)} % of the busiest, `{run.name(port.node)}` to `{run.name(port.peer)}`: the "
                    f"backlog grows as long as flows arrive. Divide the load by {busiest:.2f} or more")
        return [texts] if worst > 1.005 else []

    def about_room(self):
        """Room above `upper` of outputs that stop senders, and gates that no frame fits."""
        run, found = self.run, []
        kind, most = run.control.get("kind"), max(self.largest_frame(at) for at in self.entries)
        # Under PAUSE at the output, scenarios here have more room than any headroom.
        if kind in ("florax", "destination"):
            limit = self.derived.ports.limit[0]
            room, worst = limit - int(limit * run.control["upper"]), (0, None)
            for node in sorted(set(run.names) - run.is_host):
                each = [port.rate * 2 * port.delay // (8 * 10**12) + 3 * (most + 20)
                        for port in run.ports.values() if port.node == node]
                worst = max(worst, (sum(each) - min(each), node), key=lambda item: item[0])
            if worst[0] > room:
                found.append(f"switch.flow_control.upper: above `upper` a port has {size_text(room)} left, and the neighbours "
                             f"of `{run.name(worst[1])}` may send {size_text(worst[0])} before they stop: frames may be lost. "
                             "Write a longer switch.queue, a lower upper, or shorter cables")
        for cyclic in self.scenario.get("cyclic", []):
            for klass in cyclic["classes"]:
                texts = Alternatives()
                sizes = [self.largest_frame(at) for at in self.entries if run.traffic[at].get("class", 3) == klass]
                for node, number in self.derived.ports.switch_ports:
                    port = run.ports[node, number]
                    longest = quantity(cyclic["cycle"]) - port.delay
                    if sizes and serialise(max(sizes) + 20, port.rate) > longest:
                        texts.append(f"gates: frames of class {klass} have up to {max(sizes)} bytes and need "
                                     f"{time_text(serialise(max(sizes) + 20, port.rate))} at port {number} of "
                                     f"`{run.name(node)}`, but its gate there is open for at most {time_text(longest)} at a "
                                     "time: they are never sent")
                found += [texts] if texts else []
        return found

    def largest_frame(self, entry):
        """Returns the length of the largest frame of an entry: its own, or that of its transport in `explain.txt`."""
        traffic = self.run.traffic[entry]
        if "process" in traffic:
            frame = quantity(traffic.get("frame", "1518B"))
            return max(1518, 2 * frame - 64) if "frame_deviation" in traffic else frame
        explained = dict(line.split()[:2] for line in (self.run.folder / "explain.txt").read_text().splitlines()
                         if line.startswith("host.transport."))
        payload = explained.get("host.transport.payload") or explained.get("host.transport.mss") or "1472B"
        return quantity(payload) + quantity(explained.get("host.transport.header", "46B"))

    def of_run(self):
        run, found = self.run, []
        flows = self.derived.flows
        done, finite = len(flows.done), flows.unfinished
        open_flows = [flow for flow in finite if not flows.lost_only(flow) and not flows.all_sent(flow)]
        if 0 < done < len(finite):
            # Whether the sender of datagrams that were all sent has noticed that is in no table.
            kind = str if done < len(open_flows) else Maybe
            found.append(kind(f"only {done} of {done + len(finite)} flows completed: completion times and slowdowns cover only "
                         "these and are biased towards fast flows; run longer, or set an earlier measure.end"))
        lossless = self.derived.lossless()
        lost = Counter(packet.cause for packet in self.derived.frames.lost if packet.dropped_class in lossless)
        storms = (self.derived.pause_storms() or {}).get("storms", 0)
        them = "1 pause storm" if storms == 1 else f"{storms} pause storms"
        for cause, count in lost.items():
            if cause in LOSS_REASONS:
                found.append(f"{count} frames of lossless classes were lost {LOSS_REASONS[cause]}")
            elif cause == "pause storm":
                found.append(f"watchdogs found {them} and dropped {count} frames of lossless classes that waited in "
                             + ("it" if storms == 1 else "them"))
            elif cause not in ("queue full", "lossless queue full"):
                found.append(f"{count} frames of lossless classes were lost ({cause})")
        if storms and not lost["pause storm"]:
            found.append(f"watchdogs found {them} and dropped no frame")
        headers = [row for row in run.events if row["event"] == "dropped" and row["cause"] == "header queue full"]
        if headers:
            found.append(f"{len(headers)} headers of trimmed frames were lost, the first at {time_text(headers[0]['time_ps'])} "
                         f"at {run.name(headers[0]['node'])} (ingress port {headers[0]['in_port']}): these frames are only "
                         "recovered by a timeout")
        storm = self.derived.frames.storm() if run.overload in ("bounce", "detour") else None
        if storm:
            span = time_text(storm["end_ps"] - storm["start_ps"])
            found.append(f"bounce storm: for {span} from {time_text(storm['start_ps'])} on switches bounced "
                         f"{storm['bounced']} frames while hosts received {storm['received']}: the load exceeds the capacity "
                         "for bounces; slow the senders down, or limit bounces")
        cyclic = self.derived.mechanisms().get("cyclic")
        if cyclic and cyclic["missed"]:
            found.append(f"{cyclic['missed']} of {cyclic['frames']} frames missed the cycle after their arrival: the cycle "
                         "is too short for the load of a port, or clocks are too far apart")
        return found


def size_text(count):
    """Bytes as a scenario has them: exact, in their largest unit."""
    for unit, name in ((10**6, "MB"), (10**3, "KB")):
        if count >= unit:
            whole, part = divmod(count, unit)
            text = f"{whole}.{part:0{len(str(unit)) - 1}d}".rstrip("0").rstrip(".")
            return text + name
    return f"{count}B"


def distances(peers, destination):
    """Returns the distance of each switch in links."""
    found, frontier = {destination: 0}, [destination]
    while frontier:
        following = [port.peer for node in frontier for port in peers[node] if port.peer not in found]
        found.update({node: found[frontier[0]] + 1 for node in following})
        frontier = list(dict.fromkeys(following))
    return found


def one_decimal(ps):
    """A time with one decimal of its unit, cut."""
    for unit, name in ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns")):
        if ps >= unit:
            tenths = ps * 10 // unit
            return half_up(tenths / 10, 1) + name
    return f"{ps}ps"
