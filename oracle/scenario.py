"""Reads a scenario. Every key, kind or value that the model does not cover is refused by name."""

import os
import re
import tomllib
from fractions import Fraction

TIME = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
RATE = {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
SIZE = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SHARE = {"": 1}


class Refused(Exception):
    """The scenario uses something that the model does not cover. The text begins with the key."""

class Settings(dict):
    """Values by attribute."""
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


def quantity(**kinds):
    """Parser of a number and a unit: the kind whose units have it, and the amount in the least unit of the kind.

    A parser returns a value or raises ValueError."""
    def parse(value):
        match = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?) *([A-Za-z ]*)|[0-9]+/[0-9]+", str(value))
        for kind, units in kinds.items() if match else ():
            if (match[2] or "") in units:
                amount = Fraction(match[1] or value) * units[match[2] or ""]
                if units is SHARE or amount.denominator == 1:
                    return kind, amount if units is SHARE else int(amount)
        raise ValueError(f"{value!r} is not covered")
    return parse


def amount_of(units):
    parse = quantity(amount=units)
    return lambda value: parse(value)[1]


def of_type(*types):
    def parse(value):
        if type(value) not in types:
            raise ValueError(f"{value!r} is not covered")
        return value
    return parse


def one_of(*words):
    def parse(value):
        if value not in words:
            raise ValueError(f"{value!r} is not covered (only {', '.join(map(repr, words))})")
        return value
    return parse


def word_or(word, parse):
    return lambda value: value if value == word else parse(value)


def by_class(parse, default):
    """Eight values, or a table of class and value."""
    return lambda value: [parse(v) for v in value] if isinstance(value, list) else [
        parse(value.get(str(c), default)) for c in range(8)]


time_ps, rate_bps, size_bytes, share = amount_of(TIME), amount_of(RATE), amount_of(SIZE), amount_of(SHARE)
size_or_share, room = quantity(bytes=SIZE, share=SHARE), quantity(bytes=SIZE, packets={"packets": 1})
reaction = quantity(ps=TIME, bits={"bit times": 1, "quanta": 512})
whole, boolean, text, number = of_type(int), of_type(bool), of_type(str), of_type(int, float)


def within(key, parse, value):
    """Parses the value of a key; a refusal names the key after those of all tables around it."""
    try:
        return parse(value)
    except Refused as refusal:
        raise Refused(f"{key}.{refusal}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{key}: {error}") from None


def keys(parse, **defaults):
    """Keys of a table: each with its parser and its default as a scenario has it; a key with ... is required."""
    return {key: (parse, default) for key, default in defaults.items()}


def only(**values):
    """Keys of which one value is covered, the default."""
    return {key: (one_of(value), value) for key, value in values.items()}


def table(spec):
    def parse(values):
        found = Settings()
        for key, (parse_value, default) in spec.items():
            value = values.get(key, default)
            if value is ...:
                raise Refused(f"{key}: missing")
            found[key] = None if value is None else within(key, parse_value, value)
        for key in sorted(values.keys() - spec.keys()):
            raise Refused(f"{key}: not covered")
        return found
    return parse


def by_kind(default, **kinds):
    """A table whose keys depend on its kind; the name of a kind stands for the table without further keys."""
    def parse(value):
        values = value if isinstance(value, dict) else {"kind": value}
        kind = within("kind", one_of(*kinds), values.get("kind", default))
        return table(keys(text, kind=kind) | kinds[kind])(values)
    return parse


def tables(spec):
    return lambda values: [within(index, table(spec), value) for index, value in enumerate(values)]


LINK = keys(rate_bps, rate=None) | keys(time_ps, delay=None)
LINE, AUTO, TIMEOUT = word_or("line", rate_bps), word_or("auto", size_bytes), word_or("never", time_ps)
CLASSES = keys(lambda value: sorted({whole(cls) for cls in value}), priorities=...)
ROCE = keys(size_bytes, payload="1000B", header="62B", ack="66B") | keys(LINE, rate="line") | keys(
    word_or("unlimited", size_bytes), window="unlimited") | keys(TIMEOUT, timeout="67108864ns") | keys(
    time_ps, nak_interval="500us") | only(loss_recovery="go-back-n") | keys(boolean, ecn=False)
ACK_EVERY, FIXED_WINDOW = keys(whole, ack_every=1), only(variable_window=False)
RATE_CONTROLLED = ROCE | FIXED_WINDOW | keys(LINE, initial_rate="line")
TRANSPORT = by_kind(
    "roce",
    ndp=keys(size_bytes, payload="1436B", header="64B", control="64B") | keys(
        word_or("bdp", whole), initial_window="bdp") | only(early_pulls="count", pulls="apart") | keys(
        TIMEOUT, timeout="1ms"),
    datagram=keys(size_bytes, frame="1518B", header="46B") | only(arrival="constant") | keys(
        LINE, rate="line") | keys(word_or("from_rate", time_ps), gap="from_rate") | keys(boolean, ecn=False),
    roce=ROCE | ACK_EVERY,
    timely=RATE_CONTROLLED | keys(size_bytes, segment="16000B") | only(measure="segment") | keys(
        number, ewma=0.875, beta=0.8) | keys(rate_bps, additive_increase="10Mbps", min_rate="10Mbps") | keys(
        time_ps, t_low="50us", t_high="500us", min_rtt="20us") | keys(whole, hyper_after=5, hyper_factor=5),
    dcqcn=ROCE | ACK_EVERY | FIXED_WINDOW | keys(boolean, ecn=True, clamp_target=True) | keys(
        number, gain=0.00390625, initial_alpha=1.0) | keys(one_of("cut", "timer"), alpha_sample="cut") | keys(
        time_ps, alpha_timer="55us", decrease_interval="4us", cnp_interval="50us", increase_timer="55us") | keys(
        size_bytes, cnp="78B", byte_counter="10MB") | keys(whole, recovery_stages=5) | keys(
        rate_bps, additive_increase="40Mbps", hyper_increase="400Mbps", min_rate="100Mbps"),
    hpcc=RATE_CONTROLLED | only(window="unlimited") | keys(word_or("path", time_ps), base_rtt="path") | keys(
        number, target_utilisation=0.95) | keys(whole, max_stage=5) | keys(boolean, fast_reaction=True) | keys(
        rate_bps, additive_increase="40Mbps", min_rate="100Mbps") | keys(size_bytes, telemetry="42B"))
PAUSE = keys(word_or("auto", size_or_share), xoff="1/8") | keys(size_bytes, xon="3000B") | keys(
    AUTO, headroom="auto") | keys(whole, quanta=65535) | keys(word_or("standard", reaction), reaction="standard")
FLOW_CONTROL = by_kind("none", none={}, pause=PAUSE, pfc=PAUSE | CLASSES, cbfc=CLASSES | keys(
    AUTO, credits="auto", update="auto") | keys(time_ps, regrant="100us"))
OVERLOAD = by_kind("drop", drop={}, trim=keys(size_bytes, size="64B") | keys(whole, header_class=7) | keys(
    room, header_queue="1MB") | only(victim="arriving"))
MARKING = by_kind("none", none={}, ecn=keys(size_bytes, k_min=..., k_max=None) | keys(share, p_max=1) | keys(
    one_of("enqueue", "dequeue"), at="enqueue"))
SCHEDULER = by_kind("strict", strict={}, wrr=keys(by_class(whole, 1), weights=...),
                    drr=keys(by_class(size_bytes, "1518B"), quanta=...))
SWITCH = table(
    keys(room, queue=None) | keys(size_bytes, buffer="16MB") | keys(size_or_share, egress_threshold=1) | keys(
        FLOW_CONTROL, flow_control="none") | keys(OVERLOAD, overload="drop") | keys(MARKING, marking="none") | keys(
        SCHEDULER, scheduler="strict") | keys(by_kind("none", none={}), tags="none"))
FABRIC = by_kind(None, **{"file": keys(text, file=...), "single-switch": keys(whole, hosts=...) | keys(
    table(LINK | keys(table(LINK), host={})), link={})})
FLOWS = only(kind="pairs") | keys(text, label=None) | keys(size_bytes, size=...) | keys(whole, **{"class": 3}) | keys(
    time_ps, start="0ps") | keys(TRANSPORT, transport=None) | keys(lambda ends: [(a, b) for a, b in ends], pairs=...)
SCENARIO = table(  # `str` takes any value, of keys that change nothing
    keys(str, name=None, description=None, threads=None) | keys(time_ps, duration=...) | keys(whole, seed=1)
    | keys(FABRIC, fabric=...) | keys(SWITCH, switch={}) | keys(tables(FLOWS), traffic=...)
    | keys(tables(keys(tuple, link=...) | keys(time_ps, at="0ps", until=None)), fail=[])
    | keys(table(only(mode="shortest", spread="flow", reroute="none") | keys(whole, hash_seed=None)), routing={})
    | keys(table(keys(whole, reply_class=None) | only(obeys_pause=True) | keys(TRANSPORT, transport="roce")), host={})
    | keys(table(keys(str, trace=None, pauses=None, flows=None)), record={})
    | keys(table(keys(str, deadlock=None, storm=None)), check={}))


def largest_frame_bytes(settings):
    if settings.kind == "datagram":
        return settings.frame
    telemetry = settings.get("telemetry", 0)
    answer = settings.control if settings.kind == "ndp" else settings.ack + telemetry
    return max(64, settings.payload + settings.header + telemetry, answer, settings.get("cnp", 0))


class Scenario:
    """The fabric, and what its switches, hosts and traffic do."""
    def __init__(self, path):
        with open(path, "rb") as file:
            top = SCENARIO(tomllib.load(file))
        self.folder = os.path.dirname(path)
        self.duration_ps, self.seed, self.reply_class = top.duration, top.seed, top.host.reply_class
        self.hash_seed = top.seed if top.routing.hash_seed is None else top.routing.hash_seed
        self.flows, self.failures = [], []
        if top.fabric.kind == "file":
            links = within("fabric.file", self.read_topology, top.fabric.file)
        else:
            link, count = top.fabric.link, top.fabric.hosts
            self.hosts, self.switches = [f"H{i + 1}" for i in range(count)], ["S1"]
            rate, delay = link.host.rate or link.rate, link.host.delay or link.delay
            links = [(host, count, rate, delay) for host in range(count)]
        self.links = [Settings(ends=(a, b), rate_bps=rate, delay_ps=delay) for a, b, rate, delay in links]
        self.read_switch(top.switch)
        for index, entry in enumerate(top.traffic):
            self.read_flows(index, entry, entry.transport or top.host.transport)
        if not self.flows:
            raise Refused("traffic: no flow")
        self.mtu_bytes = max(largest_frame_bytes(flow.transport) for flow in self.flows)
        self.used_classes = {flow.cls for flow in self.flows} | {
            self.class_of_reply(flow.cls) for flow in self.flows
            if flow.transport.kind != "datagram" or self.reply_class is not None}
        for index, entry in enumerate(top.fail):
            ends = {self.node(name, f"fail.{index}.link") for name in entry.link}
            links = [link for link in self.links if set(link.ends) == ends]
            self.failures.append((links, entry.at, entry.until))

    def read_topology(self, name):
        """A topology in the format of the HPCC simulator: docs/guide/fabric.md, Formats."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip()]
        nodes, switch_count, link_count = map(int, lines[0])
        switches = [int(i) for i in lines[1]] if switch_count else []
        if switches != list(range(nodes - switch_count, nodes)):
            raise ValueError("only topologies whose last nodes are the switches are covered")
        self.hosts, self.switches = [f"h{i}" for i in range(nodes - switch_count)], [f"s{i}" for i in switches]
        links = lines[2:2 + link_count]
        if any(Fraction(loss) for *_, loss in links):
            raise ValueError("loss is not covered")
        return [(int(a), int(b), rate_bps(rate), time_ps(delay)) for a, b, rate, delay, _ in links]

    def node(self, name, key):
        if type(name) is int and name < len(self.hosts):
            return name
        if name not in self.hosts + self.switches:
            raise Refused(f"{key}: no node {name!r}")
        return (self.hosts + self.switches).index(name)

    def read_switch(self, switch):
        self.switch, control, marking = switch, switch.flow_control, switch.marking
        control.setdefault("priorities", range(8) if control.kind == "pause" else [])
        if control.get("xoff") == "auto":
            control.xoff = ("share", Fraction(1, 8))
        if marking.kind == "ecn":
            marking.k_max = marking.k_min if marking.k_max is None else marking.k_max
            if switch.overload.kind == "trim":
                raise Refused("switch.marking: marks beside trimming are not covered")

    def read_flows(self, index, entry, transport):
        if self.switch.overload.kind == "trim" and transport.kind not in ("ndp", "datagram"):
            raise Refused(f"switch.overload.kind: trim under the transport {transport.kind} is not covered")
        for pair in entry.pairs:
            src, dst = (self.node(name, f"traffic.{index}.pairs") for name in pair)
            self.flows.append(Settings(
                number=len(self.flows), traffic=index, src=src, dst=dst, cls=entry["class"], start_ps=entry.start,
                size_bytes=entry.size, transport=transport, delivered_ps=None, acked_ps=None,
                retransmitted_bytes=0, timeouts=0))

    def class_of_reply(self, cls):
        return cls if self.reply_class is None else self.reply_class
