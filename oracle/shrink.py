"""Reduces a scenario that differs to a small one that differs in the same way."""

import copy
import os
import re
import tempfile

from .compare import compare
from .generate import write


def kind_of(message):
    """What a difference is about, without times and numbers."""
    return re.findall(r"[a-z_ ]{3,}|None", message)


def paths(table, path):
    """The path of each key that may have a default."""
    for key, value in table.items():
        if key not in ("kind", "pairs", "size"):
            yield (*path, key)
        if isinstance(value, dict):
            yield from paths(value, (*path, key))


class Shrinker:
    def __init__(self, case, folder, runs):
        self.path, self.runs = os.path.join(folder, "shrink.toml"), runs
        flows = [dict(entry, pairs=[pair]) for entry in case["traffic"] for pair in entry["pairs"]]
        self.case, self.message = {**case, "traffic": flows}, None
        self.accept(self.case)

    def accept(self, smaller):
        """Keeps a smaller scenario that differs in the same way."""
        if self.runs == 0:
            return False
        self.runs -= 1
        write(smaller, self.path)
        outcome, found, _ = compare(self.path)
        if outcome != "different" or self.message and kind_of(found) != kind_of(self.message):
            return False
        self.case, self.message = smaller, found
        return True

    def drop_items(self, key, is_needed=lambda item: False):
        """Drops halves of a list, then ever shorter parts, at last single items."""
        length = (len(self.case[key]) + 1) // 2
        while length:
            first = 0
            while first < len(self.case[key]):
                items, end = self.case[key], first + length
                kept = items[:first] + [item for item in items[first:end] if is_needed(item)] + items[end:]
                if kept == items or not self.accept({**self.case, key: kept}):
                    first = end
            length //= 2

    def drop_keys(self):
        """Drops features, then single keys."""
        found = [*paths(self.case["switch"], ("switch",)), *paths(self.case["host"], ("host",))]
        for index, entry in enumerate(self.case["traffic"]):
            found += paths(entry, ("traffic", index))
        for *tables, key in sorted(found, key=len):
            smaller = table = copy.deepcopy(self.case)
            for name in tables:
                table = table[name] if isinstance(name, int) else table.get(name, {})
            if table.pop(key, None) is not None:
                self.accept(smaller)

    def shorten(self):
        for index in range(len(self.case["traffic"])):
            for share in (0.25, 0.5, 0.75):
                size = int(self.case["traffic"][index]["size"].removesuffix("B"))
                while size := int(size * share):
                    smaller = copy.deepcopy(self.case)
                    smaller["traffic"][index]["size"] = f"{size}B"
                    if not self.accept(smaller):
                        break


def shrink(case, runs=250):
    """The least scenario found, and how it differs."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        shrinker, before = Shrinker(case, folder, runs), None
        while shrinker.message and shrinker.runs > 0 and shrinker.case != before:
            before = shrinker.case
            shrinker.drop_items("traffic")
            shrinker.drop_items("fail")
            shrinker.drop_keys()
            shrinker.drop_items("links", lambda link: min(link[:2]) < case["hosts"])
            shrinker.shorten()
        return shrinker.case, shrinker.message
