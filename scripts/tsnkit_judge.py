"""Lets tsnkit judge the time slots of `tidegate schedule`, and schedule the same streams: see tsnkit.sh.

Its simulator (tsnkit.simulation.tas) queues every frame at every port, opens gates as the tables say, and notes when
frames are released and received. A schedule is accepted if no two windows of a link overlap, every frame is received, each
by its deadline, and all frames of a stream are equally long on their way.
"""

import contextlib
import io
import itertools
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import pandas
from tsnkit.core import T_PROC
from tsnkit.data.generator import DatasetGenerator
from tsnkit.simulation.tas import simulation

TIDEGATE = sys.argv[1]
CYCLES = 2
# Its schedulers that need no commercial solver: list scheduling (three kinds) and satisfiability (z3).
THEIRS = ["ls", "ls_tb", "ls_pl", "smt_wa"]
SECONDS = 10
OURS = ["central", "dtscoe", "dtscoe-tightest"]
SPEED_NS_PER_BYTE = 8


def windows_overlap(gates):
    """Whether two windows of a link overlap: one frame would be on the wire in the other's slot."""
    for _, rows in gates.groupby("link"):
        rows = rows.sort_values("start")
        if (rows["start"].values[1:] < rows["end"].values[:-1]).any():
            return True
    return False


def judged(task, prefix):
    """What is wrong with the tables that begin with this prefix, by the simulator; None if nothing is."""
    offsets = pandas.read_csv(f"{prefix}-OFFSET.csv").set_index("stream")["offset"]
    if windows_overlap(pandas.read_csv(f"{prefix}-GCL.csv")):
        return "windows overlap"
    with contextlib.redirect_stdout(io.StringIO()):
        log = simulation(str(task), f"{prefix}-", it=CYCLES, draw_results=False, disable_pbar=True)
    streams = pandas.read_csv(task)
    end = int(numpy.lcm.reduce(streams["period"])) * CYCLES
    for stream, row in streams.iterrows():
        released = range(int(offsets[stream]), end, int(row["period"]))
        received = log[stream][1]
        due = [at for at in released if at + row["deadline"] + T_PROC < end]
        if len(received) < len(due):
            return f"stream {stream}: {len(received)} frames received of {len(due)} that are due"
        delays = {at - since for at, since in zip(received, released)}
        if max(delays) > row["deadline"]:
            return f"stream {stream}: {max(delays)} ns, and its deadline is {row['deadline']} ns"
        if len(delays) > 1:
            return f"stream {stream}: jitter of {max(delays) - min(delays)} ns"
    return None


def scheduled(folder, task, network, by):
    """Tables by `tidegate schedule`, of the streams that have slots: how many, the prefix, and a task of them alone."""
    out = folder / by
    words = [TIDEGATE, "schedule", task, "--tsnkit-network", network, "--grid", "100ns", "--algorithm", by]
    ran = subprocess.run([*words, "--to", "tsnkit", "--out", out, "--force"], capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        sys.exit(f"{task}: tidegate schedule: {ran.stderr}")
    # The simulator numbers streams by their rows, so those without slots leave no gap.
    with_slots = sorted(set(pandas.read_csv(out / "tidegate-OFFSET.csv")["stream"]))
    number = {stream: row for row, stream in enumerate(with_slots)}
    for table in ["OFFSET", "ROUTE", "QUEUE"]:
        rows = pandas.read_csv(out / f"tidegate-{table}.csv")
        rows["stream"] = rows["stream"].map(number)
        rows.to_csv(out / f"dense-{table}.csv", index=False)
    (out / "dense-GCL.csv").write_bytes((out / "tidegate-GCL.csv").read_bytes())
    rows = pandas.read_csv(task).iloc[with_slots]
    rows.to_csv(out / "task.csv", index=False)
    return len(with_slots), out / "dense", out / "task.csv"


def theirs(folder, task, network, method):
    """The prefix of the tables by a scheduler of tsnkit; None if it has none within the time."""
    out = folder / method
    out.mkdir()
    words = [sys.executable, "-m", f"tsnkit.algorithms.{method}", task, network, f"{out}/", "1", "theirs"]
    try:
        subprocess.run(words, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    found = list(out.glob("theirs-GCL.csv"))
    return out / "theirs" if found else None


def random_instance(folder, seed):
    """A tree of switches with a few links more, hosts at them, and streams whose number grows with the seed."""
    draw = random.Random(seed)
    switches = draw.randint(3, 8)
    hosts = draw.randint(switches, 3 * switches)
    ends = {(node, draw.randrange(node)) for node in range(1, switches)}
    for _ in range(draw.randint(0, 3)):
        a, b = draw.sample(range(switches), 2)
        ends.add((max(a, b), min(a, b)))
    ends |= {(switches + host, draw.randrange(switches)) for host in range(hosts)}
    # A switch that has one neighbour would be a host.
    names = itertools.count(switches + hosts)
    for switch in range(switches):
        while sum(switch in end for end in ends) < 2:
            ends.add((next(names), switch))
    network = folder / "network.csv"
    lines = [f'"({a}, {b})",8,1,{T_PROC},0\n"({b}, {a})",8,1,{T_PROC},0\n' for a, b in sorted(ends)]
    network.write_text("link,q_num,rate,t_proc,t_prop\n" + "".join(lines))
    task = folder / "task.csv"
    rows = []
    for stream in range(6 + 6 * (seed % 8)):
        source, receiver = draw.sample(range(switches, switches + hosts), 2)
        size, period = 25 * draw.randint(3, 60), 1000 * draw.choice([100, 200, 250, 400, 500, 1000])
        rows.append(f"{stream},{source},[{receiver}],{size},{period},{period},{period}\n")
    task.write_text("stream,src,dst,size,period,deadline,jitter\n" + "".join(rows))
    return task, network


def damaged(prefix):
    """The same tables with one window 100 ns too short for its frame."""
    gates = pandas.read_csv(f"{prefix}-GCL.csv")
    gates.loc[len(gates) // 2, "end"] -= 100
    other = prefix.with_name("damaged")
    for table in ["OFFSET", "ROUTE", "QUEUE"]:
        other.with_name(f"damaged-{table}.csv").write_bytes(Path(f"{prefix}-{table}.csv").read_bytes())
    gates.to_csv(f"{other}-GCL.csv", index=False)
    return other


def random_instances(folder, count):
    """Random instances, by each of our schedulers; returns how many schedules were refused."""
    refused, caught = 0, 0
    asked, slots = 0, {by: 0 for by in OURS}
    for seed in range(count):
        place = folder / f"random{seed}"
        place.mkdir()
        task, network = random_instance(place, seed)
        asked += len(pandas.read_csv(task))
        for by in OURS:
            number, prefix, reduced = scheduled(place, task, network, by)
            slots[by] += number
            fault = judged(reduced, prefix)
            if fault:
                refused += 1
                print(f"refused: random instance {seed}, {by}: {fault}")
        caught += judged(reduced, damaged(prefix)) is not None
    for by in OURS:
        print(f"{count} random instances, {by}: {slots[by]} of {asked} streams have slots")
    print(f"the simulator accepts {len(OURS) * count - refused} of {len(OURS) * count} schedules")
    print(f"negative control: with one window 100 ns too short, it refuses {caught} of {count}")
    return refused + count - caught


def benchmark(folder):
    """Instances of tsnkit's generator, ours beside theirs; returns how many of our schedules were refused."""
    numpy.random.seed(1)
    place = folder / "benchmark"
    place.mkdir()
    streams, topologies = [8, 16, 32, 64], ["line", "ring", "tree", "mesh"]
    with contextlib.redirect_stderr(io.StringIO()):
        DatasetGenerator(1, streams, 8, 4, 3, 1, list(range(4))).run(f"{place}/")
    refused = 0
    print("streams  topology  " + "  ".join(f"{name:>{max(9, len(name))}}" for name in OURS + THEIRS))
    whole = {name: 0 for name in OURS + THEIRS}
    for number, (count, topology) in enumerate(itertools.product(streams, topologies), 1):
        task, network = place / f"{number}_task.csv", place / f"{number}_topo.csv"
        here = place / str(number)
        here.mkdir()
        cells = []
        for by in OURS:
            found, prefix, reduced = scheduled(here, task, network, by)
            fault = judged(reduced, prefix)
            if fault:
                refused += 1
                print(f"refused: instance {number}, {by}: {fault}")
            whole[by] += found == count
            cells.append(str(found) if found < count else "all")
        for method in THEIRS:
            prefix = theirs(here, task, network, method)
            fault = judged(task, prefix) if prefix else None
            whole[method] += prefix is not None and fault is None
            cells.append("-" if prefix is None else "refused" if fault else "all")
            if fault:
                print(f"refused: instance {number}, {method}: {fault}")
        print(f"{count:>7}  {topology:<8}  " + "  ".join(f"{cell:>{max(9, len(name))}}" for cell, name in zip(cells, OURS + THEIRS)), flush=True)
    print("all streams, and accepted: " + ", ".join(f"{name} {n}" for name, n in whole.items()))
    return refused


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        refused = random_instances(folder, 24)
        refused += benchmark(folder)
    sys.exit(1 if refused else 0)


main()
