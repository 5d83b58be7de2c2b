"""Command line: `python3 -m oracle fuzz` and `python3 -m oracle compare FILE...`."""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time

from .compare import PROGRAM, compare
from .generate import FEATURES, generate, write
from .scenario import Refused
from .shrink import shrink

COLUMNS = ("scenarios", "equal", "skipped", "different", "comparisons")


def check(job):
    """Compares a generated scenario: the job, its features, the outcome, a message, the number of comparisons."""
    case, compared = generate(*job), 0
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        write(case, os.path.join(folder, "case.toml"))
        try:
            message, compared = compare(os.path.join(folder, "case.toml"))
            outcome = "different" if message else "equal"
        except Refused as refusal:
            outcome, message = "skipped", str(refusal)
    return job, case["features"], outcome, message, compared


def fuzz(arguments):
    started = time.monotonic()
    table = {feature: dict.fromkeys(COLUMNS, 0) for feature in FEATURES}
    totals, found = dict.fromkeys(COLUMNS, 0), []
    jobs = [(arguments.seed + i, arguments.feature or FEATURES[i % len(FEATURES)]) for i in range(arguments.count)]
    with multiprocessing.Pool() as pool:
        for job, features, outcome, message, compared in pool.imap_unordered(check, jobs):
            for row in [totals] + [table[feature] for feature in features]:
                row["scenarios"] += 1
                row[outcome] += 1
                row["comparisons"] += compared
            if outcome == "different":
                found.append(job)
            if message:
                print(f"seed {job[0]}, feature {job[1]}, {outcome}: {message}", flush=True)
    for seed, feature in sorted(found)[:arguments.shrink]:
        write_reduced(seed, feature, arguments.out)
    print(f"{'feature':<14}" + "".join(f"{column:>13}" for column in COLUMNS))
    for feature, row in table.items():
        print(f"{feature:<14}" + "".join(f"{row[column]:>13}" for column in COLUMNS))
    empty = {feature for _, feature in jobs if not table[feature]["comparisons"]}
    if empty:
        print("error: nothing was compared for", *sorted(empty))
    failed, seconds = totals["different"] + len(empty), time.monotonic() - started
    print(f"{arguments.count} scenarios in {seconds:.0f} s, {totals['skipped']} skipped, program {PROGRAM}")
    print(f"{totals['equal']} passed, {failed} failed")
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
        try:
            difference, compared = compare(path)
            print(f"{path}: {difference or 'equal'} ({compared} comparisons)")
            status = max(status, 1 if difference else 0)
        except Refused as refusal:
            print(f"{path}: refused: {refusal}")
            status = 2
    return status


def main():
    parser = argparse.ArgumentParser(prog="oracle", description="Compares the simulator with the reference model.")
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("fuzz", help="compare random scenarios")
    action.add_argument("--count", type=int, default=300, help="scenarios (default 300)")
    action.add_argument("--seed", type=int, default=1, help="seed of the first scenario (default 1)")
    action.add_argument("--feature", choices=FEATURES, help="only scenarios with this feature")
    action.add_argument("--shrink", type=int, default=3, help="differences that are reduced (default 3)")
    action.add_argument("--out", default="target/oracle", help="folder for reduced scenarios (default target/oracle)")
    action.set_defaults(run=fuzz)
    action = actions.add_parser("compare", help="compare scenario files; exit code 2 if one is not covered")
    action.add_argument("files", nargs="+")
    action.set_defaults(run=compare_files)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
