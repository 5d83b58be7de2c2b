"""Runs the simulator and the model, and finds the first difference in time."""

import csv
import io
import json
import os
import shutil
import subprocess
import tempfile

from . import model

FLOW_COLUMNS = ("start_ps", "delivered_ps", "acked_ps", "retransmitted_bytes", "timeouts")
# Of each event the port column and the value that are compared, beside what it says of the frame.
PORT_OF = {"arrived": "in_port", "started": "port", "queued": "port", "marked": "port", "trimmed": "port", "dropped": "port",
           "link down": "port", "link up": "port", "paused": "port", "resumed": "port", "stop": "port", "go": "port", "renew": "port"}
VALUE_OF = {"queued": "bytes", "dropped": "cause", "stop": "bytes", "go": "bytes", "renew": "bytes"}
PAUSES = {"paused", "resumed", "stop", "go", "renew"}
EVENTS = set(PORT_OF) | {"delivered", "consumed"}


class Failed(Exception):
    """The simulator refused the scenario."""


def program():
    return os.environ.get("TIDEGATE", "target/release/tidegate")


def call(*arguments):
    return subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)


def table(folder, name):
    done = call("table", folder, name)
    if done.returncode:
        raise Failed(done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def simulate(path, trace):
    """Summary, flows and, with `trace`, the trace of the simulator."""
    folder = tempfile.mkdtemp(prefix="oracle-")
    try:
        out = os.path.join(folder, "out")
        more = ["--set", "record.trace={}"] if trace else ["--set", "record.flows=true"]
        done = call("run", path, "--out", out, "--json", *more)
        if done.returncode not in (0, 1):
            raise Failed(done.stderr)
        return json.loads(done.stdout), table(out, "flows"), table(out, "trace") if trace else None
    finally:
        shutil.rmtree(folder)


def whole(text):
    return int(text) if text not in ("", None) else None


def trace_rows(rows, scenario):
    result = []
    for row in rows:
        event = row["event"]
        if event not in EVENTS or event == "queued" and int(row["node"]) < len(scenario.hosts):
            continue
        if event in PAUSES and scenario.switch.flow_control == "cbfc":
            continue  # under credits these events tell of waits, which the model does not note
        value = row[VALUE_OF[event]] if event in VALUE_OF else None
        result.append((int(row["time_ps"]), int(row["node"]), event,
                       whole(row[PORT_OF[event]]) if event in PORT_OF else None, whole(row["flow"]),
                       row["kind"] or None, whole(row["seq"]), whole(row["size_bytes"]), whole(row["class"]),
                       int(value) if value and value.isdigit() else value))
    return result


def order(row):
    return tuple((item is not None, item if item is not None else 0) if not isinstance(item, str)
                 else (True, item) for item in row)


class Result:
    """Equal, or the first difference; and how many values were compared."""

    def __init__(self):
        self.compared, self.difference = 0, None

    def check(self, name, expected, actual):
        self.compared += 1
        if expected != actual and self.difference is None:
            self.difference = f"{name}: model {expected}, simulator {actual}"


def compare_trace(result, expected, actual):
    expected, actual = sorted(expected, key=order), sorted(actual, key=order)
    for index in range(max(len(expected), len(actual))):
        ours = expected[index] if index < len(expected) else None
        theirs = actual[index] if index < len(actual) else None
        result.check(f"trace row {index} (time_ps, node, event, port, flow, kind, seq, size, class, value)", ours, theirs)
        if result.difference:
            return


def compare_flows(result, network, rows):
    expected = {flow.number: flow for flow in network.scenario.flows}
    differences = []
    found = {}
    for row in rows:
        number = int(row["flow"])
        if number not in found or row["delivered_ps"]:
            found[number] = row
    for number, row in found.items():
        flow = expected[number]
        for column in FLOW_COLUMNS:
            result.compared += 1
            if flow[column] != whole(row[column]):
                times = [t for t in (flow[column], whole(row[column])) if t is not None]
                differences.append((min(times), f"flow {flow.number}, {column}: model {flow[column]}, "
                                    f"simulator {whole(row[column])}"))
    if differences and result.difference is None:
        result.difference = min(differences)[1]


def compare_counts(result, network, summary):
    dropped = {cause: count for cause, count in summary["packets"]["dropped"].items() if count}
    ours = {name[8:]: count for name, count in network.counts.items() if name.startswith("dropped ")}
    result.check("dropped", ours, dropped)
    result.check("marks", network.counts.get("marks", 0), summary["happened"]["marks"])
    result.check("trims", network.counts.get("trims", 0), summary["happened"]["trims"])
    if network.scenario.switch.flow_control == "cbfc":
        return
    result.check("pauses", network.counts.get("pauses", 0), summary["pauses"]["count"])
    result.check("resumes", network.counts.get("resumes", 0), summary["pauses"]["resumes"])


def compare(path):
    """Compares a scenario with and without a trace, since a trace makes switches step by step."""
    result = Result()
    network = model.run(path)
    _, flows, trace = simulate(path, True)
    compare_trace(result, network.trace, trace_rows(trace, network.scenario))
    compare_flows(result, network, flows)
    summary, flows, _ = simulate(path, False)
    compare_flows(result, network, flows)
    compare_counts(result, network, summary)
    return result
