"""Reduces a scenario that differs to a small one that still differs."""

import copy
import os
import re
import tempfile

from .compare import Failed, compare
from .generate import write
from .values import Refused


def difference(case, folder):
    path = os.path.join(folder, "shrink.toml")
    write(case, path)
    try:
        return compare(path).difference
    except (Refused, Failed):
        return None


def words(message):
    """What a difference is about, without times and numbers: a smaller scenario has to differ in the same way."""
    return re.findall(r"[a-z_ ]{3,}|None", message)


def flow_drops(case):
    """Scenarios with fewer flows: without a run of them, long runs first."""
    flows = [(entry, pair) for entry, values in enumerate(case["traffic"]) for pair in range(len(values["pairs"]))]
    length = len(flows) // 2
    while length:
        for first in range(0, len(flows), length):
            dropped = set(flows[first:first + length])
            smaller = copy.deepcopy(case)
            for entry, values in enumerate(smaller["traffic"]):
                values["pairs"] = [pair for index, pair in enumerate(values["pairs"]) if (entry, index) not in dropped]
            smaller["traffic"] = [values for values in smaller["traffic"] if values["pairs"]]
            if smaller["traffic"]:
                yield smaller
        length //= 2


def places(values):
    """Every table of the scenario and each of its keys."""
    for key, value in list(values.items()):
        yield values, key
        if isinstance(value, dict):
            yield from places(value)


def key_drops(case):
    """Scenarios without a key that has a default."""
    sections = [lambda c: c["switch"], lambda c: c["host"]]
    sections += [lambda c, i=i: c["traffic"][i]["transport"] for i in range(len(case["traffic"]))]
    for section in sections:
        for index in range(len(list(places(section(case))))):
            smaller = copy.deepcopy(case)
            table, key = list(places(section(smaller)))[index]
            if key != "kind":
                del table[key]
                yield smaller
    for index in range(len(case.get("fail", []))):
        smaller = copy.deepcopy(case)
        del smaller["fail"][index]
        yield smaller


def shorter(case):
    """Scenarios with shorter flows, fewer links or a common start."""
    for index, entry in enumerate(case["traffic"]):
        size = int(re.match(r"\d+", entry["size"])[0])
        for length in (size // 4, size // 2, size * 3 // 4):
            if length:
                smaller = copy.deepcopy(case)
                smaller["traffic"][index]["size"] = f"{length}B"
                yield smaller
        if entry["start"] != "0ns":
            smaller = copy.deepcopy(case)
            smaller["traffic"][index]["start"] = "0ns"
            yield smaller
    for index in range(len(case["links"])):
        smaller = copy.deepcopy(case)
        a, b = smaller["links"].pop(index)[:2]
        if a >= case["hosts"] and b >= case["hosts"]:
            yield smaller


def shrink(case, attempts=250):
    """The least scenario found, and how it differs."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        best = difference(case, folder)
        improved = True
        while improved and attempts > 0:
            improved = False
            for step in (flow_drops, shorter, key_drops):
                candidates = step(case)
                while attempts > 0:
                    smaller = next(candidates, None)
                    if smaller is None:
                        break
                    attempts -= 1
                    found = difference(smaller, folder)
                    if found and best and words(found) == words(best):
                        case, best, improved = smaller, found, True
                        candidates = step(case)
        return case, best
