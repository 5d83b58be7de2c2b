"""Command line: runs scenarios and recomputes their summaries. See ../README.md."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from multiprocessing import Pool

from .compare import Comparison
from .run import Run
from .scenarios import SWITCHES, scenario
from .summary import Derived
from .terminal import compare_terminal
from .underived import UNDERIVED

# From so many scenarios on, an entry of the list of underived values that does not occur is an error.
MANY = 100
SHOWN = 6
# Shares by the last part of their key; all must be in [0, 1].
SHARES = ("utilisation", "share", "jain", "time_ratio", "threshold", "mean_utilisation", "bounced_share",
          "pessimistic_share", "half_share", "overhead_share_of_hops")


def shares(value, path=""):
    """Yields path and number of every share in a summary."""
    if isinstance(value, dict):
        for key, one in value.items():
            of_queues = path == "queue_utilisation" and key == "mean"
            if (key in SHARES or key.endswith("_share") or of_queues) and isinstance(one, (int, float)):
                yield f"{path}.{key}", one
            yield from shares(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from shares(one, f"{path}[{at}]")


def compare(run, summary, text, derived=None):
    """Returns the comparison of a summary and of the terminal's lines, if given, with the files of a run."""
    comparison = Comparison()
    comparison.values("", summary, derived if derived is not None else Derived(run).summary())
    for path, share in shares(summary):
        comparison.compared += 1
        if not 0 <= share <= 1:
            comparison.report(path, share, "a share of 0 to 1")
    for name in comparison.underived:
        if name not in UNDERIVED:
            comparison.report("list of underived values", name, "no entry")
    if text is not None:
        compare_terminal(comparison, summary, text)
    return comparison


def produce(program, text, folder):
    """Runs a scenario; returns its folder and the terminal's text."""
    path = folder / "scenario.toml"
    path.write_text(text)
    out = folder / "out"
    done = subprocess.run([program, "run", path, "--out", out], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-500:]}")
    return out, done.stdout, done.returncode


def examine(job):
    """Runs and compares the scenario of a number."""
    program, number = job
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tidegate-derive-"))
    try:
        text = scenario(number)
        out, shown, code = produce(program, text, folder)
        run, summary = Run(out, text), json.loads((out / "summary.json").read_text())
        found = compare(run, summary, shown)
        if (code == 0) != all(check["pass"] for check in summary["checks"]):
            found.report("exit code", code, "1 if a check failed, else 0")
        return number, found.differences, found.compared, found.underived, len(run.events)
    except Exception:
        return number, [traceback.format_exc()], 0, {}, 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stale(count, underived):
    """Returns the entries of the list that did not occur."""
    return [name for name in UNDERIVED if count >= MANY and not underived[name]]


def derive(arguments):
    numbers = range(arguments.first, arguments.first + arguments.count)
    began, failed, compared, events = time.monotonic(), [], 0, 0
    underived, kinds = Counter(), Counter()
    with Pool(arguments.jobs) as pool:
        jobs = ((arguments.program, number) for number in numbers)
        for number, differences, values, names, rows in pool.imap(examine, jobs, chunksize=1):
            compared, events = compared + values, events + rows
            underived.update(names)
            kinds[SWITCHES[number % len(SWITCHES)]] += values
            if differences:
                failed.append(number)
                print(f"scenario {number} ({SWITCHES[number % len(SWITCHES)]}; --from {number} --count 1):")
                for difference in differences[:SHOWN]:
                    print(f"    {difference[:600]}")
                if len(differences) > SHOWN:
                    print(f"    and {len(differences) - SHOWN} more")
    print("values by kind of switch: " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items())))
    print("not derived:")
    for name, reason in UNDERIVED.items():
        print(f"    {name}, {underived[name]} times: {reason}")
    unused = stale(arguments.count, underived)
    for name in unused:
        print(f"stale: `{name}` did not occur in {arguments.count} scenarios: derive it, or remove the entry")
    print(f"{arguments.count} scenarios, {events:,} trace rows: {compared:,} numbers and sentences compared, "
          f"{arguments.count - len(failed)} scenarios equal, {len(failed)} differ; {time.monotonic() - began:.0f} s")
    return 1 if failed or unused else 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/derive.sh", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of scenarios")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first scenario")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--self-test", action="store_true", help="change one field of a summary at a time")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print a scenario")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(os.environ.get("TIDEGATE", "target/release/tidegate"))
    if arguments.show is not None:
        print(scenario(arguments.show), end="")
        return 0
    if not os.access(arguments.program, os.X_OK):
        print(f"no program {arguments.program}: cargo build --release, or set TIDEGATE", file=sys.stderr)
        return 2
    if arguments.self_test:
        from .selftest import self_test
        return self_test(arguments.program)
    if arguments.count < 1:
        print("--count: write 1 or more", file=sys.stderr)
        return 2
    return derive(arguments)


if __name__ == "__main__":
    sys.exit(main())
