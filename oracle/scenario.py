"""Reads a scenario. Every key, kind or value that the model does not cover is refused by name."""

import os
import tomllib
from fractions import Fraction

from .values import (TIME_PS, Refused, Settings, Table, boolean, by_class, classes, number, one_of, or_word, rate_bps,
                     reaction, room, share, size_bytes, size_or_share, time_ps, whole)

ROCE = dict(
    payload=(size_bytes, 1000), header=(size_bytes, 62), ack=(size_bytes, 66), ack_every=(whole, 1),
    window=(or_word(["unlimited"], size_bytes), "unlimited"), rate=(or_word(["line"], rate_bps), "line"),
    timeout=(or_word(["never"], time_ps), 67108864000), nak_interval=(time_ps, 500 * 10**6),
    loss_recovery=(one_of("go-back-n"), "go-back-n"), ecn=(boolean, False))
RATE_CONTROLLED = dict(ROCE, variable_window=(one_of(False), False), initial_rate=(or_word(["line"], rate_bps), "line"))
RATE_CONTROLLED.pop("ack_every")
US = TIME_PS["us"]
TRANSPORTS = {
    "ndp": dict(
        payload=(size_bytes, 1436), header=(size_bytes, 64), control=(size_bytes, 64),
        initial_window=(or_word(["bdp"], whole), "bdp"), early_pulls=(one_of("count"), "count"),
        pulls=(one_of("apart"), "apart"), timeout=(or_word(["never"], time_ps), 1000 * US)),
    "datagram": dict(
        frame=(size_bytes, 1518), header=(size_bytes, 46), arrival=(one_of("constant"), "constant"),
        gap=(or_word(["from_rate"], time_ps), "from_rate"), rate=(or_word(["line"], rate_bps), "line"),
        ecn=(boolean, False)),
    "roce": ROCE,
    "timely": dict(
        RATE_CONTROLLED, segment=(size_bytes, 16000), measure=(one_of("segment"), "segment"), ewma=(number, 0.875),
        beta=(number, 0.8), additive_increase=(rate_bps, 10**7), t_low=(time_ps, 50 * US), t_high=(time_ps, 500 * US),
        min_rtt=(time_ps, 20 * US), hyper_after=(whole, 5), hyper_factor=(whole, 5), min_rate=(rate_bps, 10**7)),
    "dcqcn": dict(
        ROCE, variable_window=(one_of(False), False), ecn=(boolean, True), gain=(number, 0.00390625),
        initial_alpha=(number, 1.0), alpha_timer=(time_ps, 55 * US), alpha_sample=(one_of("cut", "timer"), "cut"),
        decrease_interval=(time_ps, 4 * US), cnp_interval=(time_ps, 50 * US), cnp=(size_bytes, 78),
        clamp_target=(boolean, True), byte_counter=(size_bytes, 10**7), increase_timer=(time_ps, 55 * US),
        recovery_stages=(whole, 5), additive_increase=(rate_bps, 4 * 10**7), hyper_increase=(rate_bps, 4 * 10**8),
        min_rate=(rate_bps, 10**8)),
    "hpcc": dict(
        RATE_CONTROLLED, window=(one_of("unlimited"), "unlimited"), base_rtt=(or_word(["path"], time_ps), "path"),
        target_utilisation=(number, 0.95), max_stage=(whole, 5), additive_increase=(rate_bps, 4 * 10**7),
        fast_reaction=(boolean, True), min_rate=(rate_bps, 10**8), telemetry=(size_bytes, 42)),
}


def transport(value, name):
    table = Table(value, name)
    kind = table.take("kind", one_of(*TRANSPORTS), "roce")
    keys = TRANSPORTS[kind]
    settings = Settings({key: table.take(key, parse, default) for key, (parse, default) in keys.items()})
    table.finish()
    settings["kind"] = kind
    return settings


def largest_frame_bytes(settings):
    if settings.kind == "datagram":
        return settings.frame
    telemetry = settings.get("telemetry", 0)
    answer = settings.control if settings.kind == "ndp" else settings.ack + telemetry
    return max(64, settings.payload + settings.header + telemetry, answer, settings.get("cnp", 0))


class Link:
    def __init__(self, a, b, rate, delay):
        self.ends, self.rate_bps, self.delay_ps = (a, b), rate, delay
        self.down, self.failed_ps = False, -1


class Scenario:
    """The fabric, and what its switches, hosts and traffic do."""

    def __init__(self, path):
        with open(path, "rb") as file:
            top = Table(tomllib.load(file), "")
        self.folder = os.path.dirname(os.path.abspath(path))
        for key in ("name", "description", "threads"):
            top.take(key, lambda v: v, None)
        self.duration_ps = top.take("duration", time_ps)
        self.seed = top.take("seed", whole, 1)
        self.links = []
        self.read_fabric(top.table("fabric"))
        self.read_routing(top.table("routing"))
        self.read_switch(top.table("switch"))
        self.read_host(top.table("host"))
        self.read_traffic(top.values.pop("traffic", []))
        for index, link in enumerate(self.links):
            link.index = index
        self.read_failures(top.values.pop("fail", []))
        record = top.table("record")
        for key in ("trace", "pauses", "flows"):
            record.take(key, lambda v: v, None)
        record.finish()
        check = top.table("check")
        for key in ("deadlock", "storm"):
            check.take(key, lambda v: v, None)
        check.finish()
        top.finish()

    # --- fabric -----------------------------------------------------------------------------------

    def read_fabric(self, table):
        kind = table.take("kind", one_of("file", "single-switch"))
        if kind == "file":
            self.read_topology(table.take("file", str))
        else:
            link = table.table("link")
            rate, delay = link.take("rate", rate_bps, None), link.take("delay", time_ps, None)
            tier = link.table("host")
            rate, delay = tier.take("rate", rate_bps, rate), tier.take("delay", time_ps, delay)
            tier.finish()
            link.finish()
            count = table.take("hosts", whole)
            self.hosts, self.switches = [f"H{i + 1}" for i in range(count)], ["S1"]
            self.links = [Link(host, count, rate, delay) for host in range(count)]
        table.finish()

    def read_topology(self, name):
        """A topology in the format of the HPCC simulator: docs/guide/fabric.md, Formats."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip()]
        nodes, switch_count, link_count = map(int, lines[0])
        switches = [int(i) for i in lines[1]] if switch_count else []
        if switches != list(range(nodes - switch_count, nodes)):
            raise Refused("fabric.file: only topologies whose last nodes are the switches are covered")
        self.hosts = [f"h{i}" for i in range(nodes - switch_count)]
        self.switches = [f"s{i}" for i in switches]
        for a, b, rate, delay, loss in lines[2:2 + link_count]:
            if Fraction(loss):
                raise Refused("fabric.file: loss is not covered")
            self.links.append(Link(int(a), int(b), rate_bps(rate), time_ps(delay)))

    def node(self, name):
        names = self.hosts + self.switches
        if isinstance(name, int) and not isinstance(name, bool) and name < len(self.hosts):
            return name
        if name not in names:
            raise ValueError(f"no node {name!r}")
        return names.index(name)

    # --- switches and hosts -----------------------------------------------------------------------

    def read_routing(self, table):
        table.take("mode", one_of("shortest"), None)
        table.take("spread", one_of("flow"), None)
        table.take("reroute", one_of("none"), None)
        self.hash_seed = table.take("hash_seed", whole, self.seed)
        table.finish()

    def read_switch(self, table):
        switch = self.switch = Settings()
        switch["queue"] = table.take("queue", room, None)
        switch["buffer"] = table.take("buffer", size_bytes, 16 * 10**6)
        switch["egress"] = table.take("egress", size_or_share, ("share", Fraction(1)))
        flow_control = table.table("flow_control")
        kind = flow_control.take("kind", one_of("none", "pause", "pfc", "cbfc"), "none")
        switch["flow_control"] = kind
        if kind in ("pause", "pfc"):
            priorities = list(range(8)) if kind == "pause" else flow_control.take("priorities", classes)
            switch.update(
                priorities=priorities,
                xoff=flow_control.take("xoff", or_word(["auto"], size_or_share), "auto"),
                xon=flow_control.take("xon", size_bytes, 3000),
                headroom=flow_control.take("headroom", or_word(["auto"], size_bytes), "auto"),
                quanta=flow_control.take("quanta", whole, 65535),
                reaction=flow_control.take("reaction", or_word(["standard"], reaction), "standard"))
            if switch.xoff == "auto":
                switch["xoff"] = ("share", Fraction(1, 8))
        elif kind == "cbfc":
            switch.update(
                priorities=flow_control.take("priorities", classes),
                credits=flow_control.take("credits", or_word(["auto"], size_bytes), "auto"),
                grant=flow_control.take("update", or_word(["auto"], size_bytes), "auto"),
                regrant=flow_control.take("regrant", time_ps, 100 * US))
        else:
            switch["priorities"] = []
        flow_control.finish()
        overload = table.table("overload")
        switch["trim"] = None
        if overload.take("kind", one_of("drop", "trim"), "drop") == "trim":
            switch["trim"] = Settings(
                size=overload.take("size", size_bytes, 64), header_class=overload.take("header_class", whole, 7),
                header_queue=overload.take("header_queue", room, ("bytes", 10**6)))
            overload.take("victim", one_of("arriving"), None)
        overload.finish()
        self.read_marking(table.table("marking"))
        if switch.trim and switch.marking:
            raise Refused("switch.marking: marks beside trimming are not covered")
        self.read_scheduler(table.table("scheduler"))
        tags = table.table("tags")
        tags.take("kind", one_of("none"), None)
        tags.finish()
        table.finish()

    def read_marking(self, table):
        kind = table.take("kind", one_of("none", "ecn"), "none")
        if kind == "none":
            self.switch["marking"] = None
        else:
            k_min = table.take("k_min", size_bytes)
            self.switch["marking"] = Settings(
                k_min=k_min, k_max=table.take("k_max", size_bytes, k_min), p_max=table.take("p_max", share, Fraction(1)),
                at=table.take("at", one_of("enqueue", "dequeue"), "enqueue"))
        table.finish()

    def read_scheduler(self, table):
        kind = table.take("kind", one_of("strict", "wrr", "drr"), "strict")
        self.switch["scheduler"] = kind
        if kind == "wrr":
            self.switch["weights"] = table.take("weights", by_class(whole, 1))
        elif kind == "drr":
            self.switch["quanta_bytes"] = table.take("quanta", by_class(size_bytes, 1518))
        table.finish()

    def read_host(self, table):
        self.reply_class = table.take("reply_class", whole, None)
        table.take("obeys_pause", one_of(True), None)
        self.transport_value = table.values.pop("transport", "roce")
        table.finish()

    # --- traffic and failures ---------------------------------------------------------------------

    def read_traffic(self, entries):
        self.flows = []
        for index, values in enumerate(entries):
            table = Table(values, f"traffic.{index}")
            table.take("kind", one_of("pairs"))
            table.take("label", str, None)
            flow = dict(
                traffic=index, cls=table.take("class", whole, 3), start_ps=table.take("start", time_ps, 0),
                size_bytes=table.take("size", size_bytes),
                transport=transport(table.values.pop("transport", self.transport_value), table.name + ".transport"))
            pairs = table.take("pairs", lambda v: [(self.node(a), self.node(b)) for a, b in v])
            table.finish()
            for source, destination in pairs:
                self.flows.append(Settings(flow, number=len(self.flows), src=source, dst=destination))
        for flow in self.flows:
            if self.switch.trim and flow.transport.kind not in ("ndp", "datagram"):
                raise Refused(f"switch.overload.kind: trim under the transport {flow.transport.kind} is not covered")
        self.mtu_bytes = max(largest_frame_bytes(flow.transport) for flow in self.flows)
        self.used_classes = set()
        for flow in self.flows:
            self.used_classes.add(flow.cls)
            if flow.transport.kind != "datagram" or self.reply_class is not None:
                self.used_classes.add(flow.cls if self.reply_class is None else self.reply_class)

    def read_failures(self, entries):
        self.failures = []
        for index, values in enumerate(entries):
            table = Table(values, f"fail.{index}")
            ends = table.take("link", lambda v: tuple(self.node(n) for n in v))
            at, until = table.take("at", time_ps, 0), table.take("until", time_ps, None)
            table.finish()
            links = [i for i, link in enumerate(self.links) if set(link.ends) == set(ends)]
            self.failures.append((links, at, until))
