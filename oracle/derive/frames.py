"""Statistics of frames: the accounts, losses, delays, jitter, reordering, trims, bounces."""

import math
from collections import Counter, defaultdict

from .values import Within, distribution, share
from .run import quantity

LISTED_LOSSES = 32
# In the order of the documentation, by which equal counts are listed.
CAUSES = ["queue full", "lossless queue full", "header queue full", "pause storm", "link down", "link loss", "bit error",
          "ttl expired", "no route", "host buffer full", "bounce queue full", "bounce limit", "nonconforming",
          "recirculation queue full", "outside flow control", "queue management"]
# Losses on the link or before a frame is taken in: there is no row `arrived`.
ENDS = ("delivered", "consumed", "dropped")


def in_order(messages, seqs):
    """Returns the messages of a connection in their order: that of their starts, and of equal starts the one whose successor
    begins where a frame does.
    """
    found, rest, start = [], list(messages), 0
    while rest:
        equal = [flow for flow in rest if flow["start_ps"] == rest[0]["start_ps"]]
        message = next((flow for flow in equal if start + flow["size_bytes"] in seqs), equal[0])
        found.append(message)
        rest.remove(message)
        start += message["size_bytes"]
    return found


def position(messages, payload, seq):
    """Returns the position of the byte `seq` of a connection, whose messages are divided into pieces of `payload` bytes."""
    start = before = 0
    for flow in messages[:-1]:
        if seq < start + flow["size_bytes"]:
            break
        start += flow["size_bytes"]
        before += -(-flow["size_bytes"] // payload)
    return before + (seq - start) // payload


class Frames:
    """What happened to frames, from one pass over the trace."""

    def __init__(self, run):
        self.run = run
        self.count = Counter()
        self.hops = 0
        self.marks, self.bounces_at, self.trims_at, self.returns_at = 0, Counter(), Counter(), Counter()
        self.cut_at, self.trimmed_bytes, self.cut_by_port = Counter(), 0, Counter()
        self.header_losses, self.bounced_bytes, self.detoured = [], 0, 0
        self.metered, self.signals = Counter(), Counter()
        self.follow()
        packets = run.packets.values()
        self.data = [packet for packet in packets if packet.kind == "data"]
        self.whole = [packet for packet in self.data if packet.end == "delivered" and not packet.trimmed]
        self.headers = [packet for packet in self.data if packet.end == "delivered" and packet.trimmed]
        self.lost = [packet for packet in packets if packet.end == "dropped"]

    def follow(self):
        """Counts events, hops, and the bounces of each frame."""
        run, before = self.run, {}
        for row in run.events:
            event, number, node = row["event"], row["packet"], row["node"]
            self.count[event] += 1
            if event == "signalled":
                self.signals[node, row["port"]] += 1
            if number is None:
                continue
            packet = run.packets[number]
            at_end_of_link = before.get(number) == "started" and (event == "arrived" or event == "dropped")
            if at_end_of_link:
                self.hops += 1
                packet.hops += node not in run.is_host
            if event in ("bounced", "detoured"):
                packet.bounces += 1
                packet.distance += event == "bounced"
                packet.furthest = max(packet.furthest, packet.distance)
                self.bounces_at[node, row["other_port"]] += 1
            elif event == "trimmed":
                self.trims_at[node, row["port"]] += 1
                self.trimmed_bytes += row["bytes"]
                self.cut_by_port[node, row["port"]] += row["bytes"]
                packet.size -= row["bytes"]
            elif event == "returned":
                packet.returned = True
                self.returns_at[node, row["other_port"]] += 1
            elif event == "dropped" and row["cause"] == "header queue full":
                self.header_losses.append((row["time_ps"], node))
            if event in ("queued", "started") and before.get(number) == "arrived":
                packet.distance = max(0, packet.distance - 1)
            before[number] = event

    def outcome(self, packet):
        """Returns the place of a frame in the account of packets."""
        if packet.end == "dropped":
            return packet.cause
        if packet.end == "delivered":
            return "delivered_trimmed" if packet.trimmed else "delivered_whole"
        if packet.end == "consumed":
            return "returned_to_source" if packet.returned else "consumed"
        return "in_flight"

    def packets(self):
        run = self.run
        ends = Counter(self.outcome(packet) for packet in run.packets.values())
        made = [packet.source in run.is_host for packet in run.packets.values()]
        reported = {"injected": sum(made), "created_in_network": len(made) - sum(made)}
        for name in ("delivered_whole", "delivered_trimmed", "returned_to_source", "consumed"):
            reported[name] = ends[name]
        return reported | {"dropped": dict(Counter(packet.cause for packet in self.lost)), "in_flight": ends["in_flight"],
                       "closed": True}

    def bytes(self):
        run, sums = self.run, Counter()
        for packet in run.packets.values():
            if packet.source in run.is_host:
                sums["injected"] += packet.whole
            sums["all"] += packet.whole
            outcome = self.outcome(packet)
            sums["dropped" if packet.end == "dropped" else outcome] += packet.size
            if packet.retransmission:
                sums["retransmitted"] += packet.payload
        self.all_bytes = sums["all"]
        return {"injected": sums["injected"], "delivered": sums["delivered_whole"], "dropped": sums["dropped"],
                "retransmitted": sums["retransmitted"], "consumed": sums["consumed"]}

    def losses(self):
        places = Counter((packet.end_node, packet.cause) for packet in self.lost)
        ordered = sorted(places, key=lambda place: (-places[place], place[0], CAUSES.index(place[1])))
        return [{"node": self.run.name(node), "cause": cause, "packets": places[node, cause]}
                for node, cause in ordered[:LISTED_LOSSES]]

    def lossless_losses(self, lossless):
        """`lossless` are the lossless classes."""
        found = defaultdict(lambda: [0, 0])
        for packet in self.lost:
            if packet.dropped_class in lossless:
                entry = found[packet.dropped_class, packet.cause]
                entry[0], entry[1] = entry[0] + 1, entry[1] + packet.size
        ordered = sorted(found, key=lambda key: (CAUSES.index(key[1]), key[0]))
        return [{"class": klass, "cause": cause, "packets": found[klass, cause][0], "bytes": found[klass, cause][1]}
                for klass, cause in ordered]

    def event_counts(self):
        count = self.count
        again = sum(bool(packet.retransmission) for packet in self.run.packets.values())
        return {"bounces": count["bounced"], "marks": count["marked"], "trims": count["trimmed"],
                "detours": count["detoured"], "retransmissions": again}

    def delays(self):
        """Yields the frame and the delay of each whole data frame that arrived in the window."""
        since = self.available()
        for packet in self.whole:
            if self.run.in_window(packet.end_at):
                yield packet, packet.end_at - since[packet.number]

    def available(self):
        """Returns when the payload of each frame was available."""
        if not hasattr(self, "_since"):
            self._since = {row["packet"]: row["since_ps"] for row in self.run.events if row["event"] == "created"}
        return self._since

    def delay(self):
        return distribution([delay for _, delay in self.delays()])

    def jitter(self):
        run = self.run
        measured = run.scenario.get("measure", {}).get("jitter", False)
        entries = defaultdict(lambda: defaultdict(list))
        for packet, delay in self.delays():
            entry = run.entry_of_flow[packet.flow]
            if measured or run.traffic[entry].get("process") == "periodic":
                entries[entry][packet.flow].append(delay)
        reported = []
        for entry, flows in sorted(entries.items()):
            delays = [delay for flow in flows.values() for delay in flow]
            frames = len(delays)
            means = {number: sum(flow) / len(flow) for number, flow in flows.items()}
            squares = sum((delay - means[number]) ** 2 for number, flow in flows.items() for delay in flow)
            offsets = sum(delay - min(flow) for flow in flows.values() for delay in flow)
            reported.append({
                "traffic": entry, "flows": len(flows), "frames": frames, "min_delay_ps": min(delays),
                "mean_delay_ps": Within(sum(delays) / frames, 1e-9), "max_delay_ps": max(delays),
                "standard_deviation_ps": Within(math.sqrt(squares / frames), 1e-6, 0.01),
                "jitter_ps": max(max(flow) - min(flow) for flow in flows.values()),
                "mean_jitter_ps": Within(offsets / frames, 1e-6, 0.01),
            })
        return reported

    # Reordering.

    def density(self):
        """Returns displacements, lost, too early, ignored, and the evaluated arrivals, by RFC 5236.

        Duplicates of a flow that is complete do not count. A frame counts when its displacement is known.
        """
        run = self.run
        threshold = run.scenario["measure"].get("reordering_threshold", 100)
        sent, place, payload = Counter(), {}, Counter()
        for packet in self.data:
            payload[packet.flow] = max(payload[packet.flow], packet.payload)
        messages = {first: in_order(flows, {packet.seq for packet in self.data if packet.flow == first})
                    for first, flows in self.messages().items() if len(flows) > 1}
        for packet in sorted(self.data, key=lambda packet: packet.number):
            key = packet.flow, packet.seq
            if key in place:
                continue
            if packet.flow in messages:
                place[key] = position(messages[packet.flow], payload[packet.flow], packet.seq)
            else:
                place[key] = sent[packet.flow]
                sent[packet.flow] += 1
        done = self.completions()
        arrivals = defaultdict(list)
        for packet in sorted(self.whole, key=lambda packet: self.arrival_order[packet.number]):
            if packet.end_at < run.window_end and packet.end_at <= done.get(packet.flow, packet.end_at):
                arrivals[packet.flow].append((place[packet.flow, packet.seq], packet.end_at >= run.window_start))
        found, lost, early, ignored = Counter(), 0, 0, 0
        for flow, order in arrivals.items():
            displaced = displacements(order, threshold, done.get(flow, run.window_start) >= run.window_start)
            found.update(displaced[0])
            lost, early, ignored = lost + displaced[1], early + displaced[2], ignored + displaced[3]
        return found, lost, early, ignored

    def messages(self):
        """Returns the flows of each connection, by its first flow."""
        connections = defaultdict(list)
        for flow in sorted(self.run.flows, key=lambda flow: (flow["start_ps"], flow["flow"])):
            connections[flow["src_port"], flow["src_host"], flow["dst_host"], flow["traffic"]].append(flow)
        return {flows[0]["flow"]: flows for flows in connections.values()}

    def completions(self):
        """Returns the time at which each flow was complete, a connection with its last message; by its first flow."""
        return {first: max(flow["delivered_ps"] for flow in flows) for first, flows in self.messages().items()
                if self.has_all_messages(flows) and all(flow["delivered_ps"] is not None for flow in flows)}

    def has_all_messages(self, flows):
        """Returns whether these are all messages of their connection."""
        entry = flows[0]["traffic"]
        traffic = self.run.traffic[entry]
        if traffic["kind"] == "request-reply":
            session = self.run.transport(entry)["kind"] not in ("datagram", "ndp", "eqds")
            return not session or len(flows) == traffic.get("requests", 1)
        if traffic["kind"] == "collective":
            ranks, count = len(self.run.hosts), traffic.get("iterations", 1) * traffic.get("chunks", 1)
            steps = (2 if traffic["operation"] == "all-reduce" else 1) * (ranks - 1)
            return sum(flow["traffic"] == entry for flow in self.run.flows) == steps * ranks * count
        return True

    @property
    def arrival_order(self):
        if not hasattr(self, "_order"):
            ends = (row["packet"] for row in self.run.events if row["event"] in ENDS)
            self._order = {number: place for place, number in enumerate(ends)}
        return self._order

    def reordering(self):
        run = self.run
        if not run.scenario.get("measure", {}).get("reordering"):
            return None
        found, lost, early, ignored = self.density()
        total = sum(found.values())
        shares = [count / total for count in found.values()] if total else []
        return {
            "threshold_packets": run.scenario["measure"].get("reordering_threshold", 100), "packets": total,
            "displaced": total - found[0],
            "entropy_nats": Within(-sum(share * math.log(share) for share in shares) if shares else 0.0, 1e-9, 1e-12),
            "mean_displacement_packets": share(sum(abs(by) * count for by, count in found.items()), total),
            "earliest_packets": max([-by for by in found if by < 0], default=0),
            "latest_packets": max([by for by in found if by > 0], default=0),
            "lost": lost, "too_early": early, "ignored": ignored,
        }

    # Trims, bounces, detours.

    def trims(self, flows):
        run = self.run
        kind = run.overload
        if kind not in ("trim", "cut-payload", "sfc", "pipeline-trim"):
            return None
        switches = Counter()
        for (node, _), count in self.trims_at.items():
            switches[node] += count
        ports = sorted(((-count, key) for key, count in self.trims_at.items()))
        first = min(self.header_losses, default=None)
        payload = sum(run.throughput["delivered_bytes"])
        return {
            "trims": self.count["trimmed"], "trimmed_bytes": self.trimmed_bytes,
            "spurious": self.spurious(),
            "header_bytes": sum(packet.size for packet in self.headers),
            "payload_bytes": payload,
            "payload_bps": Within(payload * 8e12 / run.end_of_run, 1e-9),
            "lost_headers": len(self.header_losses),
            "first_header_loss": first and {"at_ps": first[0], "node": run.name(first[1])},
            "switches": [{"node": run.name(node), "trims": count} for node, count in sorted(switches.items())],
            "ports": [{"node": run.name(node), "port": port, "peer": run.name(run.ports[node, port].peer),
                       "trims": -count, "trimmed_bytes": self.cut_by_port[node, port],
                       "returned": self.returns_at[node, port]} for count, (node, port) in ports[:10]],
        }

    def spurious(self):
        """Headers whose payload had arrived in another copy. Go-back-N discards payload out of order."""
        had, edge, found = set(), Counter(), 0
        ends = sorted(self.whole + self.headers, key=lambda packet: self.arrival_order[packet.number])
        for packet in ends:
            key = packet.flow, packet.seq
            if packet.trimmed:
                found += packet.seq < edge[packet.flow] if self.in_order_only(packet.flow) else key in had
            else:
                had.add(key)
                if packet.seq <= edge[packet.flow]:
                    edge[packet.flow] = max(edge[packet.flow], packet.seq + packet.payload)
        return found

    def in_order_only(self, flow):
        """Returns whether the receiver of a flow accepts data in order only (go-back-N)."""
        transport = self.run.transport(self.run.entry_of_flow[flow])
        selective = transport.get("loss_recovery") == "selective"
        return not selective and transport["kind"] not in ("tcp", "dctcp", "ndp", "eqds", "datagram", "swift")

    def bounces(self, hops):
        """Bounces and detours, from the frames that took them."""
        run = self.run
        if run.overload not in ("bounce", "detour"):
            return None
        made = self.count["bounced"] + self.count["detoured"]
        arrived = [packet for packet in self.whole if run.in_window(packet.end_at)]
        replies = [packet for packet in run.packets.values()
                   if packet.kind != "data" and packet.end == "consumed" and run.in_window(packet.end_at)]
        switches = Counter()
        for (node, _), count in self.bounces_at.items():
            switches[node] += count
        ports = sorted((-count, key) for key, count in self.bounces_at.items())
        spent = sum(row["size_bytes"] for row in run.events if row["event"] in ("bounced", "detoured"))
        home = sum(row["event"] == "arrived" and row["node"] == run.packets[row["packet"]].source
                   for row in run.events)
        return {
            "delivered": len(arrived), "bounced_share": share(sum(p.bounces > 0 for p in arrived), len(arrived)),
            "mean_total_hops": share(sum(packet.hops for packet in arrived), len(arrived)),
            "by_total_hops": tally(packet.hops for packet in arrived),
            "by_max_distance": tally(packet.furthest for packet in arrived),
            "by_bounces": tally(packet.bounces for packet in arrived),
            "replies_by_bounces": tally(packet.bounces for packet in replies),
            "returned_to_source": home, "rate_reductions": 0, "overhead_bytes": 2 * spent,
            "overhead_share_of_hops": share(2 * made, hops) if isinstance(hops, int) else hops,
            "switches": [{"node": run.name(node), "bounces": count} for node, count in sorted(switches.items())],
            "ports": [{"node": run.name(node), "port": port, "peer": run.name(run.ports[node, port].peer),
                       "bounces": -count} for count, (node, port) in ports[:10]],
            "storm": self.storm(),
        }

    def storm(self):
        """Returns the longest span of bad samples: more bounces than `ratio` times the frames that hosts received."""
        run = self.run
        reported = run.scenario.get("check", {}).get("bounce_storm", {})
        every = quantity(reported["every"]) if "every" in reported else max(run.duration // 1000, 20 * 10**6)
        turned, received = Counter(), Counter()
        for row in run.events:
            # Samples see the events before their instant.
            if row["event"] in ("bounced", "detoured"):
                turned[row["time_ps"] // every] += 1
            elif row["event"] in ("delivered", "consumed"):
                received[row["time_ps"] // every] += 1
        longest, current = None, []
        for interval in range(-(-run.end_of_run // every)):
            if turned[interval] > reported.get("ratio", 1) * received[interval]:
                current.append(interval)
            else:
                current = []
            if len(current) >= reported.get("samples", 10) and (longest is None or len(current) > len(longest)):
                longest = list(current)
        if longest is None:
            return None
        return {"start_ps": longest[0] * every, "end_ps": min((longest[-1] + 1) * every, run.end_of_run),
                "bounced": sum(turned[interval] for interval in longest),
                "received": sum(received[interval] for interval in longest)}


def tally(values):
    """Returns how often 0, 1, 2, ... occur, without zeros at the end."""
    counts = Counter(values)
    return [counts[at] for at in range(max(counts, default=-1) + 1)]


def displacements(order, threshold, ends_in_window):
    """Returns displacements, lost, too early and ignored frames of one flow.

    `order` has the place in sending order of each arrival and whether it is in the window; `ends_in_window` is false for
    a flow that was complete before. A frame is lost if it is not
    among the arrivals from the next position on to `threshold` positions after it.
    """
    waiting, ignored, lost, early = [], 0, 0, 0
    found, turn, kept, counting = Counter(), 0, set(), True

    def judge():
        nonlocal turn, early
        while waiting and (turn in kept or turn in waiting):
            place = waiting.pop(0)
            if abs(turn - place) > threshold:
                early += counting
                continue
            if counting:
                found[turn - place] += 1
            if place > turn:
                kept.add(place)
            kept.discard(turn)
            turn += 1

    for place, counts in order:
        counting = counts
        if place < turn or place in kept or place in waiting:
            ignored += counts
            continue
        waiting.append(place)
        judge()
        while len(waiting) > threshold:
            lost, turn = lost + counting, turn + 1
            judge()
    counting = ends_in_window
    while waiting:
        lost, turn = lost + counting, turn + 1
        judge()
    return found, lost, early, ignored
