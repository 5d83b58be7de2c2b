#!/usr/bin/env python3
"""Two commands in turn, and the ratio of the CPU time they take: what docs/peers.md compares simulators with.

    benches/alternate.py [-n PAIRS] [--work-a N --work-b N] [--names A B] COMMAND_A COMMAND_B

Each pair runs both commands one after the other, and every second pair the other way round, so that a machine that
others use slows both alike. What counts are CPU seconds, user and system, of the command and of all that it starts and
waits for. The ratio is B's seconds over A's: how many times faster A is. --work-a and --work-b say how much work a run
of each does, in packet-hops, say. Then it prints, too, millions of units a second, and the ratio of B's seconds for one
unit to A's.

A command is one argument, split as a shell would, but no shell runs it: for pipes and redirections, write
"sh -c '...'". What it prints is thrown away; the end of its errors is shown if it fails, and then nothing is compared.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile


def positive(kind):
    """A number above zero, for argparse."""

    def parse(text):
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    # What argparse calls the type where the text is no number at all.
    parse.__name__ = "whole number" if kind is int else "number"
    return parse


def command(text):
    """The words of a command, for argparse."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}")
    if not words:
        raise argparse.ArgumentTypeError("an empty command")
    return words


def cpu_seconds(words):
    """CPU seconds of one run, user and system."""
    with tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        except OSError as error:
            sys.exit(f"alternate.py: {shlex.join(words)} does not start: {error.strerror}")
        # Not getrusage of all children: this is exactly the one waited for, with those that it waited for.
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip()[-500:]
            by = f"signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
            sys.exit(f"alternate.py: {shlex.join(words)} ended with {by}" + (f":\n{last}" if last else ""))
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="COMMAND_A", type=command)
    parser.add_argument("b", metavar="COMMAND_B", type=command)
    parser.add_argument("-n", "--pairs", type=positive(int), default=5, help="pairs of runs (default 5)")
    parser.add_argument("--work-a", type=positive(float), help="units of work in a run of A")
    parser.add_argument("--work-b", type=positive(float), help="units of work in a run of B")
    parser.add_argument("--names", nargs=2, metavar=("A", "B"), default=["A", "B"], help="what to call them")
    options = parser.parse_args()
    if (options.work_a is None) != (options.work_b is None):
        parser.error("--work-a and --work-b go together")
    if options.names[0] == options.names[1]:
        parser.error("--names are of two that differ")

    commands, names = [options.a, options.b], options.names
    work = [options.work_a, options.work_b] if options.work_a else None
    rows = []
    for pair in range(options.pairs):
        seconds = [0.0, 0.0]
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[side] = cpu_seconds(commands[side])
            if seconds[side] == 0:
                sys.exit(f"alternate.py: {shlex.join(commands[side])} took no CPU time that the system counts")
        row = {f"{name}, s": value for name, value in zip(names, seconds)}
        row["ratio"] = seconds[1] / seconds[0]
        if work:
            row |= {f"{name}, M/s": amount / value / 1e6 for name, amount, value in zip(names, work, seconds)}
            row["ratio a unit"] = row["ratio"] * work[0] / work[1]
        rows.append(row)
        if pair == 0:
            print("pair" + "".join(f"  {column:>12}" for column in row))
        print(f"{pair + 1:4}" + "".join(f"  {row[name]:{max(12, len(name))}.3f}" for name in row), flush=True)
    width = max(map(len, rows[0]))
    for column in rows[0]:
        values = [row[column] for row in rows]
        figures = [("min", min(values)), ("median", statistics.median(values)), ("max", max(values))]
        print(f"{column:{width}}  " + ", ".join(f"{what} {value:.3f}" for what, value in figures))


if __name__ == "__main__":
    main()
