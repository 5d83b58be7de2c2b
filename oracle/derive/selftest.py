"""Changes one field of a summary, or one line of the terminal, at a time: the comparison must report each change."""

import copy
import json
import pathlib
import re
import shutil
import tempfile
from collections import Counter

from .compare import Comparison
from .run import Run
from .scenarios import SWITCHES, scenario
from .summary import Derived
from .terminal import compare_terminal, kept
from .underived import UNDERIVED

FEWEST = 250
# Fields that are not derived, in these scenarios too.
NOT_DERIVED = {"backpressure.max_table_flows", "backpressure.table_bytes"}


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
    """Returns another value: 2 % more, at least 1 if it is whole, or a text with another number or ending."""
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


def replace(summary, path):
    """Returns a copy with another value at a path."""
    other = copy.deepcopy(summary)
    spot = other
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = changed(spot[path[-1]])
    return other


def differs(summary, derived):
    comparison = Comparison()
    comparison.values("", summary, derived)
    return comparison.differences


def differing_lines(summary, text):
    """Returns the number of lines with a number, and those of which a change is not reported."""
    lines, missed, count = text.splitlines(), [], 0
    for at in list(kept(lines)):
        line = lines[at]
        if re.search(r"\d", line[14:]):
            other = lines[:at] + [line[:14] + changed(line[14:])] + lines[at + 1:]
            comparison = Comparison()
            compare_terminal(comparison, summary, "\n".join(other))
            count += 1
            if not comparison.differences:
                missed.append(line)
    return count, missed


def self_test(program):
    """Returns 0 if each change of a derived field and of a line is reported."""
    from .__main__ import produce, shares, stale
    fields, faults, lines = {}, [], 0
    # One scenario of each kind of switch.
    for number in range(len(SWITCHES)):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tidegate-derive-"))
        try:
            text = scenario(number)
            out, shown, _ = produce(program, text, folder)
            summary = json.loads((out / "summary.json").read_text())
            derived = Derived(Run(out, text)).summary()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if differs(summary, derived):
            print(f"scenario {number} differs before any change: {differs(summary, derived)[0]}")
            return 1
        for path in leaves(summary):
            name = ".".join("[]" if isinstance(key, int) else key for key in path)
            if not fields.get(name):
                fields[name] = bool(differs(replace(summary, path), derived))
        added, removed = copy.deepcopy(summary), copy.deepcopy(summary)
        added["packets"]["new_number"] = 1
        del removed["packets"]["consumed"]
        changes = [("a key more", added), ("a key less", removed)]
        if summary["warnings"]:
            doubled = copy.deepcopy(summary)
            doubled["warnings"].append(doubled["warnings"][0])
            changes.append(("a warning more", doubled))
        for name, other in changes:
            if not differs(other, derived):
                faults.append(f"{name} is not reported")
        count, missed = differing_lines(summary, shown)
        lines += count
        faults += [f"a change of a line is not reported: {line}" for line in missed]
    found = [name for name, is_reported in fields.items() if is_reported]
    faults += [f"a change of {name} is not reported" for name in fields if name not in found and name not in NOT_DERIVED]
    faults += [f"{name} is derived" for name in NOT_DERIVED if fields.get(name)]
    if stale(100, Counter()) != list(UNDERIVED):
        faults.append("entries of the list of underived values that do not occur are not reported")
    if [share for _, share in shares({"links": {"busiest": [{"utilisation": 1.5}]}})] != [1.5]:
        faults.append("a share above 1 is not found")
    print("a change is reported of " + ", ".join(found))
    print("not derived: " + ", ".join(sorted(NOT_DERIVED)))
    for fault in faults:
        print(fault)
    print(f"{len(found)} of {len(fields)} fields and {lines} lines of the terminal: each change is reported" if not faults
          else f"{len(faults)} faults")
    return 0 if len(found) >= FEWEST and not faults else 1
