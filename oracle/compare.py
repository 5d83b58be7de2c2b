"""Runs the simulator and the model, and finds the first difference in time."""

import csv
import io
import json
import os
import subprocess
import tempfile
from collections import Counter

from .host import Host
from .network import Network, Port, equal_cost_ports
from .scenario import Refused, Scenario
from .switch import Switch, reaction_ps

PROGRAM = os.environ.get("TIDEGATE", "target/release/tidegate")
FLOW_COLUMNS = ("start_ps", "delivered_ps", "acked_ps", "retransmitted_bytes", "timeouts")
# Of each event the columns of the port and the value that are compared, beside what it says of the frame.
EVENTS = dict.fromkeys(("started", "marked", "trimmed", "link down", "link up", "resumed"), ("port", None)) | {
    "arrived": ("in_port", None), "delivered": (None, None), "consumed": (None, None), "dropped": ("port", "cause"),
    "paused": ("port", "until_ps")} | dict.fromkeys(("queued", "pause sent", "resume sent", "pause renewed"), ("port", "bytes"))
WAITS = {"paused", "resumed", "pause sent", "resume sent", "pause renewed"}  # under credits the simulator notes waits with these


def run(path):
    """The network after the run: its trace, its counts, and flows with what became of them."""
    scenario = Scenario(path)
    network, control = Network(scenario), scenario.switch.flow_control
    hosts, count = len(scenario.hosts), len(scenario.hosts) + len(scenario.switches)
    nodes = network.nodes = [(Host if number < hosts else Switch)(network, number) for number in range(count)]
    for link in scenario.links:
        a, b = link.ends
        port_a, port_b = len(nodes[a].ports), len(nodes[b].ports)
        nodes[a].ports.append(Port(nodes[a], port_a, link, b, port_b))
        nodes[b].ports.append(Port(nodes[b], port_b, link, a, port_a))
    if any(len(node.ports) != 1 for node in nodes[:hosts]):
        raise Refused("fabric: only hosts with one link are covered")
    network.routes = equal_cost_ports(scenario, [node.ports for node in nodes])
    for flow in scenario.flows:
        if not network.routes[flow.src][flow.dst]:
            raise Refused(f"traffic.{flow.traffic}: no route")
        nodes[flow.src].plan.append(flow)
    for node in nodes:
        node.lossless = [cls for cls in control.priorities if cls in scenario.used_classes]
        for port in node.ports:
            if control.kind in ("pause", "pfc"):
                port.reaction_ps = reaction_ps(control.reaction, port.link.rate_bps)
            elif control.kind == "cbfc":
                port.prepare_credits(control, node.lossless, scenario.mtu_bytes)
        node.prepare()
        if control.kind == "cbfc":
            node.plan_regrants(control.regrant)
        node.plan_failures()  # [M25]
    network.run()
    return network


def call(*arguments, accepted=(0,)):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        raise Refused("by the simulator: " + done.stderr.strip())
    return done.stdout


def simulate(path, setting, *names):
    """The summary and the tables of that name of a run."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        out = os.path.join(folder, "out")
        summary = json.loads(call("run", path, "--out", out, "--json", "--set", setting, accepted=(0, 1)))
        return summary, *(list(csv.DictReader(io.StringIO(call("table", out, name)))) for name in names)


def cell(row, column):
    value = row[column] if column else None
    return int(value) if value and value.isdigit() else value or None


def trace_rows(rows, scenario):
    for row in rows:
        time_ps, node, event = cell(row, "time_ps"), cell(row, "node"), row["event"]
        if event not in EVENTS or event == "queued" and node < len(scenario.hosts) \
                or event in WAITS and scenario.switch.flow_control.kind == "cbfc":
            continue
        port, value = EVENTS[event]
        yield time_ps, node, event, cell(row, port), *(
            cell(row, column) for column in ("flow", "kind", "seq", "size_bytes", "class")), cell(row, value)


def in_order(rows):
    return sorted(rows, key=lambda row: [(item is not None, item or 0) for item in row[:9]] + [str(row[9])])


def compare_trace(network, rows):
    ours, theirs = in_order(network.trace), in_order(trace_rows(rows, network.scenario))
    for index in range(max(len(ours), len(theirs))):
        yield (f"trace row {index} (time_ps, node, event, port, flow, kind, seq, size, class, value)",
               ours[index] if index < len(ours) else None, theirs[index] if index < len(theirs) else None)


def compare_flows(network, rows):
    """Of a flow with several rows the one with a delivery counts."""
    found = {cell(row, "flow"): row for row in sorted(rows, key=lambda row: bool(row["delivered_ps"]))}
    values = [(f"flow {number}, {column}", network.scenario.flows[number][column], cell(row, column))
              for number, row in found.items() for column in FLOW_COLUMNS]
    return sorted(values, key=lambda value: min([item for item in value[1:] if item is not None], default=0))


def compare_counts(network, summary):
    events, event_counts, pauses = Counter(row[2] for row in network.trace), summary["event_counts"], summary["pauses"]
    yield ("dropped", Counter(row[9] for row in network.trace if row[2] == "dropped"),
           {cause: count for cause, count in summary["packets"]["dropped"].items() if count})
    yield "marks", events["marked"], event_counts["marks"]
    yield "trims", events["trimmed"], event_counts["trims"]
    if network.scenario.switch.flow_control.kind != "cbfc":
        yield "pauses", events["pause sent"], pauses["count"]
        yield "resumes", events["resume sent"], pauses["resumes"]


def comparisons(path):
    """With and without a trace, since a trace makes switches step by step."""
    call("run", path, "--explain")  # what the simulator refuses need not be computed
    network = run(path)
    _, flows, trace = simulate(path, "record.trace={}", "flows", "trace")
    yield from compare_trace(network, trace)
    yield from compare_flows(network, flows)
    summary, flows = simulate(path, "record.flows=true", "flows")
    yield from compare_flows(network, flows)
    yield from compare_counts(network, summary)


def compare(path):
    """`equal`, `different` or `refused`; the difference or the refusal; the numbers of comparisons and of events."""
    counts = Counter()
    try:
        for name, ours, theirs in comparisons(path):
            counts["comparisons"] += 1
            if ours != theirs:
                return "different", f"{name}: model {ours}, simulator {theirs}", counts
            counts[ours[2] if name.startswith("trace") else ""] += 1
    except Refused as refusal:
        return "refused", str(refusal), counts
    return "equal", None, counts
