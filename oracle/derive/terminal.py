"""The terminal summary: its lines from the numbers of summary.json, which are compared with the files elsewhere."""

from fractions import Fraction
from math import floor

from .values import counted, grouped

SHOWN_PORTS = 5
ANY = 2**64 - 1


def trimmed(number, digits=2):
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".")


def span_ps(ps):
    """A span, rounded half up to two decimals of its unit."""
    for unit, name in ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns")):
        if ps >= unit:
            hundredths = (2 * ps * 100 + unit) // (2 * unit)
            if hundredths >= 100_000 and name != "s":
                return span_ps(hundredths * unit // 100)
            return trimmed(hundredths / 100) + name
    return f"{ps}ps"


def span(ns):
    return span_ps(floor(Fraction(ns) * 1000 + Fraction(1, 2)))


def size(count):
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB")):
        if count >= unit:
            return trimmed(count * 100 // unit / 100) + name
    return f"{count}B"


def percent(share):
    return f"{share * 100:.1f} %"


def rate(bps):
    for unit, name in ((1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "Kbps")):
        if bps >= unit:
            return f"{bps / unit:.2f} {name}"
    return f"{bps:.0f} bps"


def distribution(of):
    mean, p50, p99, p999, most = (span(of[key]) for key in ("mean", "p50", "p99", "p999", "max"))
    count = of["count"]
    if count < 2:
        return f"{mean}, the only one"
    if count < 100:
        return f"mean {mean}, p50 {p50}, max {most} (p99 of {count} values is the maximum)"
    if count < 1000:
        return f"mean {mean}, p50 {p50}, p99 {p99}, max {most} (p99.9 of {count} values is the maximum)"
    return f"mean {mean}, p50 {p50}, p99 {p99}, p99.9 {p999}, max {most}"


def covered(completed, started, text):
    return text if completed >= started else f"of {completed} of {started} completed: {text}"


class Page:
    """The lines, without spaces for alignment."""

    def __init__(self, summary):
        self.summary, self.lines = summary, []
        for part in (self.head, self.packets, self.measured, self.flows, self.labels, self.requests, self.collectives,
                     self.jitter, self.pauses, self.links, self.deadlock, self.checks):
            part()

    def line(self, *words):
        self.lines.append(" ".join(" ".join(words).split()))

    def name(self, entry):
        found = [one for one in self.summary["flows"]["by_traffic"] if one["traffic"] == entry and "label" in one]
        return found[0]["label"] if found else f"entry {entry}"

    def head(self):
        of, window = self.summary["scenario"], self.summary["window"]
        self.line(f"{of['name']} scenario {of['hash'][:12]}, seed {of['seed']}, tidegate {of['version']}")
        measured = ""
        if window["start_ps"]:
            measured = f", measured from {span_ps(window['start_ps'])} to {span_ps(window['end_ps'])}"
        self.line(f"simulated {span_ps(self.summary['simulated_ps'])}{measured}; "
                  f"{grouped(self.summary['packet_hops'])} packet-hops")

    def packets(self):
        packets, lost = self.summary["packets"], self.summary["packets"]["dropped"]
        total = sum(lost.values())
        parts = [(packets["delivered_whole"], "delivered"), (packets["delivered_trimmed"], "delivered as headers"),
                 (packets["returned_to_source"], "returned"), (packets["consumed"], "consumed"), (total, "dropped"),
                 (packets["in_flight"], "in flight")]
        ends = " + ".join(f"{grouped(count)} {what}" for count, what in parts
                          if count or what in ("delivered", "dropped"))
        made = packets["created_in_network"]
        made = f" + {grouped(made)} made in the network" if made else ""
        sign = "=" if packets["closed"] else "does not equal"
        self.line(f"packets {grouped(packets['injected'])} sent{made} {sign} {ends}")
        if total:
            self.line("drops " + ", ".join(f"{cause} {grouped(count)}" for cause, count in lost.items()))
        moved, goodput = self.summary["bytes"], self.summary["goodput"]
        self.line(f"bytes {size(moved['injected'])} sent, {size(moved['delivered'])} delivered")
        if goodput["payload_bytes"]:
            self.line(f"goodput {size(goodput['payload_bytes'])} of payload from {span_ps(goodput['start_ps'])} to "
                      f"{span_ps(goodput['end_ps'])}: {rate(goodput['bps'])}")
        event_counts = self.summary["event_counts"]
        counts = [(event_counts["marks"], "marked"), (event_counts["retransmissions"], "retransmitted"),
                  (event_counts["bounces"], "bounced"), (event_counts["trims"], "trimmed"),
                  (self.summary["flows"]["timeouts"], "timed out"), (event_counts["detours"], "detoured")]
        reported = ", ".join(f"{grouped(count)} {what}" for count, what in counts if count)
        if reported:
            self.line(f"on the way {reported}")

    def measured(self):
        summary = self.summary
        trims = summary.get("trims")
        if trims and trims["trims"]:
            text = (f"trims {size(trims['trimmed_bytes'])} of payload cut; {rate(trims['payload_bps'])} delivered without "
                    f"headers, and {size(trims['header_bytes'])} of headers")
            if trims["spurious"]:
                text += f"; {grouped(trims['spurious'])} for packets that had arrived already"
            self.line(text)
            for port in trims["ports"][:1]:
                back = f", {grouped(port['returned'])} sent back" if port["returned"] else ""
                self.line(f"most at {port['node']} port {port['port']} to {port['peer']}: {grouped(port['trims'])}{back}")
        if summary["pipelines"]:
            self.pipelines(summary["pipelines"])
        if summary["delay_ns"]:
            self.line("delay", distribution(summary["delay_ns"]))
        if "reordering" in summary:
            of = summary["reordering"]
            if not of["displaced"]:
                self.line(f"reordering none in {grouped(of['packets'])} frames")
            else:
                self.line(f"reordering {percent(of['displaced'] / of['packets'])} of {grouped(of['packets'])} frames out of "
                          f"turn, up to {of['earliest_packets']} early and {of['latest_packets']} late, "
                          f"{of['mean_displacement_packets']:.2f} on average; entropy {of['entropy_nats']:.3f}")
        for kind, counters in summary.get("mechanisms", {}).items():
            self.line(kind, ", ".join(f"{name} {grouped(count)}" for name, count in counters.items()))
        if "queue_utilisation" in summary:
            of = summary["queue_utilisation"]
            mantissa, exponent = f"{of['variance']:.3e}".split("e")
            self.line(f"queues {percent(of['mean'])} full on average, variance {mantissa}e{int(exponent)}; above "
                      f"{percent(of['threshold'])} for {percent(of['time_ratio'])} of the time in "
                      f"{grouped(of['queues_used'])} of {counted(of['queues'], 'queue')}")
        if "queue_lengths" in summary:
            of = summary["queue_lengths"]
            self.line(f"queue length {grouped(of['samples'])} samples of {counted(of['ports'], 'port')}: {lengths(of['all'])}")
            if of["longest"]:
                at = of["longest"]
                self.line(f"longest at {at['node']} port {at['port']} to {at['peer']}: {lengths(at)}")

    def pipelines(self, of):
        self.line(f"pipelines {grouped(of['ingress_trims'])} trimmed at ingress, {grouped(of['recirculated'])} went round a "
                  "recirculation port")
        pipes = [(switch, pipe) for switch in of["switches"] for pipe in switch["pipelines"]]
        if any(pipe["max_waiting"] for _, pipe in pipes):
            switch, pipe = max(pipes, key=lambda item: item[1]["max_waiting"])
            self.line(f"longest queue for one: {counted(pipe['max_waiting'], 'frame')}, {switch['node']} pipeline "
                      f"{pipe['pipeline']} at {span_ps(pipe['max_waiting_at_ps'])}")
        heard = sum(pipe["signals_received"] for _, pipe in pipes)
        if heard:
            ports = sum(len(switch["ports"]) for switch in of["switches"])
            self.line(f"{counted(heard, 'signal')} heard, about {counted(ports, 'port')}")

    def flows(self):
        flows = self.summary["flows"]
        unfinished = flows.get("unfinished", {"count": 0, "by_decade": []})
        started = flows["completed"] + unfinished["count"]
        if not flows["started"]:
            self.line("flows none started in the measured window")
        else:
            waiting = flows.get("unacknowledged")
            waiting = f", {grouped(waiting)} of them not yet acknowledged" if waiting else ""
            self.line(f"flows {grouped(flows['completed'])} of {counted(flows['started'], 'flow')} completed{waiting}")
        if flows["fct_ns"]:
            self.line("completion", covered(flows["completed"], started, distribution(flows["fct_ns"])))
            if unfinished["count"]:
                above = unfinished["size_p25_bytes"]
                above = f", mostly above {size(above)}" if above else ""
                self.line(f"{counted(unfinished['count'], 'flow')} unfinished{above}: completion times and slowdowns cover "
                          "completed flows only and are biased low")
        if not flows["slowdown"]:
            return
        about = "completion time over that of the flow alone on its path"
        self.line("slowdown", covered(flows["completed"], started, about))
        head = "completed/started" if unfinished["count"] else "flows"
        self.line(f"size up to {head} mean p50 p95 p99")
        late = {of["to_bytes"]: of["count"] for of in unfinished["by_decade"]}
        rows = [(("any" if of["to_bytes"] == ANY else size(of["to_bytes"])), of, late.get(of["to_bytes"], 0))
                for of in flows["slowdown"]["by_decade"]]
        if len(rows) != 1:
            total = sum(of["count"] for _, of, _ in rows)
            rows.append(("all", flows["slowdown"] | {"count": total}, unfinished["count"]))
        for name, of, more in rows:
            count = f"{grouped(of['count'])}/{grouped(of['count'] + more)}" if unfinished["count"] else grouped(of["count"])
            cells = [f"{of[key]:.2f}" if of["count"] > 1 else "-" for key in ("p50", "p95", "p99")]
            self.line(name, count, f"{of['mean']:.2f}", *cells)
        self.few(of["count"] for of in flows["slowdown"]["by_decade"])

    def few(self, counts):
        if any(2 <= count < 100 for count in counts):
            self.line("p99 of fewer than 100 values, and p95 of fewer than 20, is the maximum")

    def labels(self):
        entries = [one for one in self.summary["flows"]["by_traffic"] if "label" in one]
        some = any(one["started"] or one.get("payload_bytes") for one in self.summary["flows"]["by_traffic"])
        if len(entries) < 2 or not some:
            return
        self.line("by label flows, completion times and what arrived, by entry of the traffic")
        self.line("label flows completed mean p99 slowdown p99 goodput")
        for of in entries:
            fct, slowdown = of["fct_ns"], of["slowdown"]
            self.line(of["label"], grouped(of["started"]), grouped(of["completed"]), span(fct["mean"]) if fct else "-",
                      span(fct["p99"]) if fct and fct["count"] > 1 else "-",
                      f"{slowdown['p99']:.2f}" if slowdown and of["completed"] > 1 else "-", rate(of["goodput_bps"]))
        self.few(of["completed"] for of in entries)

    def requests(self):
        for of in self.summary.get("requests", []):
            text = f"requests {grouped(of['completed'])} of {counted(of['started'], 'request')} of {self.name(of['traffic'])} answered"
            if of["per_second"] is not None:
                took = span_ps(of["last_ps"] - of["first_ps"])
                text += f" in {took}, {grouped(floor(of['per_second'] + 0.5))} a second"
            self.line(text + ("; one connection for all" if of["persistent_connection"] else "; a connection for each message"))
            if of["latency_ns"]:
                reported = f"to the last byte of the reply: {distribution(of['latency_ns'])}"
                self.line(covered(of["completed"], of["started"], reported))

    def collectives(self):
        found = self.summary.get("collectives", [])
        if found:
            self.line("collectives an iteration: from its first flow to its last byte; bandwidths in GB/s as nccl-tests "
                      "prints them; QPs: connections from one host to another")
            self.line("operation ranks QPs size done time least most algbw busbw")
        for of in found:
            times = [span(of["time_ns"][key]) if of["time_ns"] else "-" for key in ("mean", "min", "max")]
            rates = [f"{of[key] / 8e9:.3f}" if of[key] is not None else "-" for key in ("algorithm_bps", "bus_bps")]
            own = of["qps_per_connection"]
            self.line(f"{of['operation']}, {of['algorithm']}", str(of["ranks"]),
                      "each message" if own is None else str(own), size(of["size_bytes"]),
                      f"{of['completed']} of {of['measured']}", *times, *rates)

    def jitter(self):
        for of in self.summary.get("jitter", []):
            mean = span_ps(floor(of["mean_jitter_ps"] + 0.5))
            self.line(f"jitter of {self.name(of['traffic'])}, {counted(of['flows'], 'flow')}: {span_ps(of['jitter_ps'])} at "
                      f"most, {mean} on average")

    def pauses(self):
        pauses, checks = self.summary["pauses"], self.summary["checks"]
        if not pauses["count"] and all(one["name"] != "pauses" for one in checks):
            return
        text = "none"
        if pauses["count"]:
            text = (f"{counted(pauses['count'], 'pause')}, {counted(pauses['resumes'], 'resume')}; stopped for "
                    f"{span_ps(pauses['total_ps'])} over all ports and classes, {span_ps(pauses['max_ps'])} at most")
        if pauses.get("ignored"):
            text += f"; {counted(pauses['ignored'], 'call')} heard and ignored"
        self.line("pauses", text)
        storms = self.summary.get("pause_storms")
        if storms and storms["storms"]:
            self.line(f"watchdogs {counted(storms['storms'], 'pause storm')}, {grouped(storms['restored'])} over; "
                      f"{span_ps(storms['total_ps'])} over all ports and classes; "
                      f"{counted(storms['dropped_packets'], 'frame')} dropped")
            for at in storms["ports"][:SHOWN_PORTS]:
                self.line(f"{at['node']} port {at['port']} to {at['peer']}, class {at['class']}: {span_ps(at['storm_ps'])} in "
                          "storms")
        of = self.summary.get("backpressure")
        if of:
            self.line(f"outputs {grouped(of['xoffs'])} XOFF, {grouped(of['changes'])} new rates, {grouped(of['xons'])} XON, "
                      f"{grouped(of['expiries'])} expired; {size(of['control_bytes'])} of control frames; at most "
                      f"{counted(of['max_table_flows'], 'flow')} at a port, {size(of['table_bytes'])}")
            for at in of["outputs"][:SHOWN_PORTS]:
                self.line(f"{at['node']} port {at['port']} to {at['peer']}: {grouped(at['xoffs'])} XOFF")

    def links(self):
        links = self.summary["links"]
        self.line(f"links {percent(links['mean_utilisation'])} busy on average")
        for key, title in (("busiest", "busiest"), ("longest_queues", "longest queues")):
            if links[key]:
                self.line(f"{title} busy sent longest queue paused")
            for at in links[key][:SHOWN_PORTS]:
                paused = span_ps(at["paused_ps"]) if at["paused_ps"] else "-"
                self.line(f"{at['node']} port {at['port']} to {at['peer']}", percent(at["utilisation"]),
                          size(at["tx_bytes"]), size(at["max_queue_bytes"]), paused)

    def deadlock(self):
        found = self.summary["deadlock"]
        if not found:
            return
        self.line(f"deadlock closed at {span_ps(found['closed_ps'])}")
        for at, edge in enumerate(found["cycle"]):
            following = found["cycle"][(at + 1) % len(found["cycle"])]
            self.line(f"{edge['node']} port {edge['port']} class {edge['class']} is paused by {edge['peer']}, which waits at "
                      f"its port {following['port']}")

    def checks(self):
        for at, one in enumerate(self.summary["checks"]):
            mark = "FAIL" if not one["pass"] else "ok" if one["applicable"] else "-"
            detail = one["detail"]
            if one["name"] == "deadlock" and self.summary["deadlock"]:
                detail = detail.split(";")[0]
            self.line("checks" if at == 0 else "", mark, one["name"], detail)
        for at, text in enumerate(self.summary["warnings"]):
            self.line("warnings" if at == 0 else "", text)


def lengths(of):
    mean, p50, p99, most = (size(int(of[key])) for key in ("mean_bytes", "p50_bytes", "p99_bytes", "max_bytes"))
    return f"mean {mean}, p50 {p50}, p99 {p99}, max {most}"


def kept(lines):
    """Yields the indices of the lines that are not about the scenario and the machine."""
    skipping = False
    for at, line in enumerate(lines):
        label = line[:14].strip()
        if label:
            skipping = label in ("fabric", "traffic", "speed", "files", "again", "results")
        if line.strip() and not skipping:
            yield at


def compare_terminal(comparison, summary, text):
    """Compares the lines on the terminal with those of the summary."""
    lines = text.splitlines()
    reported, derived = [" ".join(lines[at].split()) for at in kept(lines)], Page(summary).lines
    for one, other in zip(reported, derived):
        comparison.compared += 1
        if one != other:
            comparison.report("terminal", one, other)
            return
    if len(reported) != len(derived):
        comparison.report("terminal", reported[len(derived):], derived[len(reported):])
