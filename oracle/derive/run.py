"""One run as its files tell it: scenario, tables, trace. Nothing here reads summary.json."""

import re
import tomllib
from fractions import Fraction

import pyarrow.parquet as parquet

UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "bps": 1, "Kbps": 10**3, "Mbps": 10**6,
         "Gbps": 10**9, "Tbps": 10**12, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20}
NEVER = 2**63 - 1


def quantity(text):
    """Returns a time in ps, a rate in bit/s, or a size in bytes."""
    number, unit = re.fullmatch(r"([0-9.e-]+)\s*([A-Za-z]+)", text).groups()
    return int(Fraction(number) * UNITS[unit])


def serialise(size, rate):
    """The time of `size` bytes at `rate` bit/s, rounded up to a picosecond [M2]."""
    return -(-size * 8 * 10**12 // rate)


class Table(dict):
    """Columns by name."""

    def __init__(self, path):
        table = parquet.read_table(path)
        super().__init__((name, table.column(name).to_pylist()) for name in table.column_names)
        self.metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
        self.rows = table.num_rows

    def __iter__(self):
        """Yields rows as dictionaries."""
        names = list(self.keys())
        for row in zip(*(self[name] for name in names)):
            yield dict(zip(names, row))


class Packet:
    """A frame from its creation to its end."""

    __slots__ = ("number", "flow", "kind", "seq", "payload", "size", "klass", "retransmission", "created", "source",
                 "end", "end_at", "end_node", "cause", "dropped_class", "trimmed", "bounces", "distance", "furthest",
                 "hops", "returned", "whole")

    def __init__(self, row):
        self.number, self.flow, self.kind, self.seq = row["packet"], row["flow"], row["kind"], row["seq"]
        self.payload, self.size, self.klass = row["payload_bytes"], row["size_bytes"], row["class"]
        self.retransmission, self.created, self.source = row["retransmission"], row["time_ps"], row["node"]
        self.end = self.end_at = self.end_node = self.cause = self.dropped_class = None
        self.whole = self.size
        self.trimmed = self.returned = False
        self.bounces = self.distance = self.furthest = self.hops = 0


class Port:
    """A port of the fabric."""

    def __init__(self, row):
        self.node, self.port, self.peer, self.peer_port = row["node"], row["port"], row["peer"], row["peer_port"]
        self.rate, self.delay, self.of_host = row["rate_bps"], row["delay_ps"], row["host"]


class Run:
    """Scenario and tables of a result folder."""

    def __init__(self, folder, text):
        self.folder, self.scenario = folder, tomllib.loads(text)
        self.flows = Table(folder / "flows.parquet")
        self.links = Table(folder / "links.parquet")
        self.throughput = Table(folder / "throughput.parquet")
        self.queues = Table(folder / "queues.parquet")
        self.names, self.ports, self.hosts = {}, {}, []
        for row in Table(folder / "ports.parquet"):
            self.ports[row["node"], row["port"]] = Port(row)
            if row["host"] and row["node"] not in self.names:
                self.hosts.append(row["node"])
            self.names[row["node"]] = row["name"]
        self.is_host = set(self.hosts)
        trace = Table(folder / "trace.parquet")
        self.metadata = trace.metadata
        self.events = list(trace)
        self.read_packets()
        self.read_scenario()

    def read_packets(self):
        """Follows every frame through the trace."""
        self.packets = {}
        for row in self.events:
            number, event = row["packet"], row["event"]
            if number is None:
                continue
            if event == "created":
                self.packets[number] = Packet(row)
                continue
            packet = self.packets[number]
            if event in ("delivered", "consumed", "dropped"):
                packet.end, packet.end_at, packet.end_node = event, row["time_ps"], row["node"]
                packet.cause, packet.dropped_class = row["cause"], row["class"]
            elif event == "trimmed":
                packet.trimmed = True

    def read_scenario(self):
        """Reads the keys that statistics depend on."""
        top, measure = self.scenario, self.scenario.get("measure", {})
        self.duration = quantity(top["duration"])
        self.warm_up = quantity(measure.get("warm_up", "0s"))
        self.traffic = top["traffic"]
        self.switch = top.get("switch", {})
        self.control = self.switch.get("flow_control", {})
        self.overload = self.switch.get("overload", {}).get("kind", "drop")
        self.every = {key: quantity(top["record"][key]["every"]) for key in ("links", "throughput", "queues")}
        # The last row of `throughput` is at the end of the run.
        self.end_of_run = max(self.throughput["time_ps"], default=self.duration)
        self.window_end = min(quantity(measure["end"]) if "end" in measure else self.end_of_run, self.end_of_run)
        self.window_start = min(self.warm_up, self.end_of_run)
        self.measures_all = self.window_start == 0 and self.window_end == self.end_of_run
        self.span = self.window_end - self.window_start
        # The flow of a frame in the trace is the first of its connection.
        self.entry_of_flow = dict(zip(self.flows["flow"], self.flows["traffic"]))

    def transport(self, entry):
        """Returns the parameters of an entry's transport; a process sends datagrams."""
        traffic = self.traffic[entry]
        if "process" in traffic:
            return {"kind": "datagram"}
        found = traffic.get("transport", self.scenario.get("host", {}).get("transport", "roce"))
        return {"kind": found} if isinstance(found, str) else found

    def in_window(self, at):
        return self.window_start <= at < self.window_end

    def flow_in_window(self, start):
        return self.window_start <= start and (start < self.window_end or self.measures_all)

    def name(self, node):
        return self.names[node]
