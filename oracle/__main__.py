"""Command line: `python3 -m oracle fuzz` and `python3 -m oracle compare FILE...`."""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time

from .compare import Failed, compare, program
from .generate import FEATURES, generate, write
from .values import Refused
from .shrink import shrink


def check(job):
    """Compares one generated scenario: its features, the outcome, what to say, how much was compared."""
    seed, feature = job
    case = generate(seed, feature)
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        path = os.path.join(folder, "case.toml")
        write(case, path)
        try:
            result = compare(path)
        except (Refused, Failed) as refusal:
            return job, case["features"], "skipped", str(refusal).strip(), 0
        outcome = "different" if result.difference else "equal"
        return job, case["features"], outcome, result.difference, result.compared


def jobs(arguments):
    for index in range(arguments.count):
        yield arguments.seed + index, arguments.feature or FEATURES[index % len(FEATURES)]


def fuzz(arguments):
    started = time.monotonic()
    table = {feature: dict(scenarios=0, equal=0, skipped=0, different=0, comparisons=0) for feature in FEATURES}
    totals, found = dict(equal=0, skipped=0, different=0), []
    with multiprocessing.Pool(arguments.workers) as pool:
        for job, features, outcome, message, compared in pool.imap_unordered(check, jobs(arguments)):
            totals[outcome] += 1
            for feature in features:
                row = table[feature]
                row["scenarios"] += 1
                row[outcome] += 1
                row["comparisons"] += compared
            if outcome == "different":
                found.append((job, message))
                print(f"seed {job[0]}, feature {job[1]}: {message}", flush=True)
            elif outcome == "skipped" and arguments.verbose:
                print(f"seed {job[0]}, feature {job[1]}: skipped: {message}", flush=True)
    for job, message in sorted(found)[:arguments.shrink]:
        keep(job, arguments.out)
    print(f"{'feature':<14}{'scenarios':>10}{'equal':>8}{'skipped':>9}{'different':>11}{'comparisons':>13}")
    for feature, row in table.items():
        print(f"{feature:<14}{row['scenarios']:>10}{row['equal']:>8}{row['skipped']:>9}{row['different']:>11}"
              f"{row['comparisons']:>13}")
    wanted = [arguments.feature] if arguments.feature else FEATURES[:arguments.count]
    empty = [feature for feature in wanted if not table[feature]["comparisons"]]
    for feature in empty:
        print(f"error: nothing was compared for {feature}")
    print(f"{arguments.count} scenarios in {time.monotonic() - started:.0f} s, {totals['skipped']} skipped, program {program()}")
    print(f"{totals['equal']} passed, {totals['different'] + len(empty)} failed")
    return 1 if totals["different"] or empty else 0


def keep(job, folder):
    """Writes the shrunk scenario of a difference."""
    seed, feature = job
    case, message = shrink(generate(seed, feature))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{feature}-{seed}.toml")
    case["comment"] = f"Seed {seed}, feature {feature}. First difference:\n{message}"
    write(case, path)
    print(f"shrunk: {path}: {message}")


def compare_files(arguments):
    status = 0
    for path in arguments.files:
        try:
            result = compare(path)
        except Refused as refusal:
            print(f"{path}: refused: {refusal}")
            status = 2
            continue
        except Failed as failure:
            print(f"{path}: the simulator refused it: {str(failure).strip()}")
            status = 2
            continue
        print(f"{path}: {result.difference or 'equal'} ({result.compared} comparisons)")
        if result.difference:
            status = max(status, 1)
    return status


def main():
    parser = argparse.ArgumentParser(prog="oracle", description="Compares the simulator with the reference model.")
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("fuzz", help="compare random scenarios")
    action.add_argument("--count", type=int, default=300, help="scenarios (default 300)")
    action.add_argument("--seed", type=int, default=1, help="seed of the first scenario (default 1)")
    action.add_argument("--feature", choices=FEATURES, help="only scenarios with this feature")
    action.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    action.add_argument("--shrink", type=int, default=3, help="differences that are reduced (default 3)")
    action.add_argument("--out", default="target/oracle", help="folder for reduced scenarios (default target/oracle)")
    action.add_argument("--verbose", action="store_true", help="print why scenarios were skipped")
    action.set_defaults(run=fuzz)
    action = actions.add_parser("compare", help="compare scenario files; exit code 2 if one is not covered")
    action.add_argument("files", nargs="+")
    action.set_defaults(run=compare_files)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
