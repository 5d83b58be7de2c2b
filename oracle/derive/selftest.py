"""Changes one field of a summary at a time: the comparison must report each change."""

import copy
import json
import pathlib
import re
import shutil
import tempfile

from .compare import Comparison
from .run import Run
from .scenarios import scenario
from .summary import Derived

# Scenarios whose summaries have most of the parts.
NUMBERS = range(22)
FEWEST = 30


def leaves(value, path=()):
    """Yields the path of each number, text and flag."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, path + (key,))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from leaves(one, path + (at,))
    elif value is not None:
        yield path


def changed(value):
    """Returns another value: one more, 1 % more, or a text with another number or ending."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + max(1, value // 50)
    if isinstance(value, float):
        return value * 1.02 + 0.001
    number = re.search(r"\d+", value)
    if number:
        return value[:number.start()] + str(int(number.group()) + 1) + value[number.end():]
    return value + "x"


def reported(summary, derived, folder, path):
    """Returns whether a change of one field is reported; None if the field is not derived."""
    comparison = Comparison()
    comparison.values("", summary, derived)
    return bool(comparison.differences)


def place(summary, path):
    for key in path[:-1]:
        summary = summary[key]
    return summary


def self_test(program):
    """Returns 0 if each change of a derived field is reported."""
    from .__main__ import produce
    fields, missed, equal = {}, [], {}
    for number in NUMBERS:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tidegate-derive-"))
        try:
            text = scenario(number)
            out, _, _ = produce(program, text, folder)
            summary, run = json.loads((out / "summary.json").read_text()), Run(out, text)
            derived = Derived(run).summary()
            clean = Comparison()
            clean.values("", summary, derived)
            if clean.differences:
                print(f"scenario {number} differs before any change: {clean.differences[0]}")
                return 1
            for path in leaves(summary):
                name = ".".join("[]" if isinstance(key, int) else key for key in path)
                if name in fields and fields[name]:
                    continue
                other = copy.deepcopy(summary)
                spot = place(other, path)
                spot[path[-1]] = changed(spot[path[-1]])
                found = Comparison()
                found.values("", other, derived)
                fields[name] = bool(found.differences)
                equal[name] = found.underived != clean.underived or not fields[name]
            # A new key, and a key less.
            for change in ("added", "removed"):
                other = copy.deepcopy(summary)
                if change == "added":
                    other["packets"]["new_number"] = 1
                else:
                    del other["packets"]["consumed"]
                found = Comparison()
                found.values("", other, derived)
                fields[f"a key {change}"] = bool(found.differences)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    found = [name for name, is_reported in fields.items() if is_reported]
    unreported = [name for name, is_reported in fields.items() if not is_reported]
    print(f"{len(found)} of {len(fields)} fields: a change is reported")
    print("    " + ", ".join(found))
    print("not reported, since they are not derived in these scenarios: " + ", ".join(unreported))
    allowed = {"backpressure.table_max", "backpressure.table_bytes", "turns.storm", "packet_hops", "events"}
    missed = [name for name in unreported if name not in allowed and not name.startswith("turns.storm")]
    for name in missed:
        print(f"a change of {name} is not reported")
    return 0 if len(found) >= FEWEST and not missed else 1
