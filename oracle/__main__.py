"""Command line: `python3 -m oracle fuzz` and `python3 -m oracle compare FILE...`."""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter

from .compare import PROGRAM, compare
from .generate import FEATURES, generate, write
from .shrink import shrink

COLUMNS = ("scenarios", "equal", "refused", "different", "comparisons", "pause sent", "paused", "marked", "dropped")
DESCRIPTION = ("Compares the simulator with the reference model; TIDEGATE names the program. Exit codes: 0 equal; "
               "1 different, or nothing was compared; 2 a file is refused, or an error.")
EXIT_CODES = {"equal": 0, "different": 1, "refused": 2}


def check(job):
    """Compares a generated scenario: the job, its features, and what `compare` returns."""
    case = generate(*job)
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        write(case, os.path.join(folder, "case.toml"))
        return job, case["features"], *compare(os.path.join(folder, "case.toml"))


def fuzz(arguments):
    started, table, totals, found = time.monotonic(), {feature: Counter() for feature in FEATURES}, Counter(), []
    jobs = [(arguments.seed + i, arguments.feature or FEATURES[i % len(FEATURES)]) for i in range(arguments.count)]
    with multiprocessing.Pool(arguments.jobs) as pool:
        for (seed, feature), features, outcome, message, counts in pool.imap_unordered(check, jobs):
            for row in [totals] + [table[feature] for feature in features]:
                row.update(("scenarios", outcome))
                row.update(counts)
            if outcome == "different":
                found.append((seed, feature))
            if message:
                print(f"--count 1 --seed {seed} --feature {feature}: {outcome}: {message}", flush=True)
    for seed, feature in sorted(found)[:arguments.shrink]:
        write_reduced(seed, feature, arguments.out)
    for feature, row in ("feature", {column: column for column in COLUMNS}), *table.items(), ("all", totals):
        print(f"{feature:<14}" + "".join(f"{row[column]:>13}" for column in COLUMNS))
    empty = {feature for _, feature in jobs if not table[feature]["comparisons"]}
    if empty:
        print("error: nothing was compared for", *sorted(empty))
    failed = totals["different"] + len(empty)
    print(f"{arguments.count} scenarios in {time.monotonic() - started:.0f} s, {totals['refused']} refused, "
          f"program {PROGRAM}\n{totals['equal']} passed, {failed} failed")
    return 1 if failed else 0


def write_reduced(seed, feature, folder):
    case, message = shrink(generate(seed, feature))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{feature}-{seed}.toml")
    case["comment"] = f"Seed {seed}, feature {feature}. First difference:\n{message}"
    write(case, path)
    print(f"reduced to {sum(len(entry['pairs']) for entry in case['traffic'])} flows: {path}: {message}")


def compare_files(arguments):
    status = 0
    for path in arguments.files:
        outcome, message, counts = compare(path)
        print(f"{path}: {outcome}{f': {message}' if message else ''} ({counts['comparisons']} comparisons)")
        status = max(status, EXIT_CODES[outcome])
    return status


def main():
    parser = argparse.ArgumentParser(prog="oracle", description=DESCRIPTION)
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("fuzz", help="compare random scenarios")
    action.add_argument("--count", type=int, default=300, help="scenarios (default 300)")
    action.add_argument("--seed", type=int, default=1, help="seed of the first scenario (default 1)")
    action.add_argument("--jobs", type=int, help="scenarios at a time (default: one for each core)")
    action.add_argument("--feature", choices=FEATURES, help="only scenarios with this feature")
    action.add_argument("--shrink", type=int, default=3, help="differences that are reduced (default 3)")
    action.add_argument("--out", default="target/oracle", help="folder for reduced scenarios (default target/oracle)")
    action.set_defaults(run=fuzz)
    action = actions.add_parser("compare", help="compare scenario files")
    action.add_argument("files", nargs="+")
    action.set_defaults(run=compare_files)
    arguments = parser.parse_args()
    if getattr(arguments, "count", 1) < 1:
        parser.error("--count is at least 1")
    try:
        return arguments.run(arguments)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
