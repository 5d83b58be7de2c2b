"""Comparison of what a run tells with what its files determine."""

from collections import Counter

from .values import Alternatives, AnyOrder, Maybe, OneOf, Range, Underived, Within


class Comparison:
    """Differences, and what was compared or could not be derived."""

    def __init__(self):
        self.differences, self.compared, self.underived, self.paths = [], 0, {}, set()

    def report(self, path, told, derived):
        self.differences.append(f"{path}: told {told!r}, derived {derived!r}")

    def values(self, path, told, derived):
        """Compares one value; `derived` may be a number within bounds, or underived."""
        if isinstance(derived, Underived):
            self.underived[derived.name] = self.underived.get(derived.name, 0) + 1
            if not derived.holds(told):
                self.report(path, told, plain(derived))
            return
        if isinstance(derived, dict):
            self.tables(path, told, derived)
        elif isinstance(derived, AnyOrder):
            self.sets(path, told, derived)
        elif isinstance(derived, list) and not isinstance(derived, OneOf):
            self.lists(path, told, derived)
        else:
            self.compared += 1
            self.paths.add(path)
            if isinstance(derived, (OneOf, Within, Range)):
                held = not isinstance(told, bool) and told is not None and derived.holds(told)
                if not held:
                    self.report(path, told, plain(derived))
            elif type(told) is bool or type(derived) is bool:
                if told is not derived:
                    self.report(path, told, derived)
            elif told != derived:
                self.report(path, told, derived)

    def tables(self, path, told, derived):
        if not isinstance(told, dict):
            self.report(path, told, derived)
            return
        for key in told:
            if key not in derived:
                self.report(f"{path}.{key}", told[key], "no such key")
        for key, value in derived.items():
            if key.startswith("_"):
                continue
            if key not in told:
                self.report(f"{path}.{key}", "no such key", plain(value))
                continue
            self.values(f"{path}.{key}" if path else key, told[key], value)

    def sets(self, path, told, derived):
        """Compares texts in any order."""
        known = set()
        for text in derived:
            self.compared += 1
            self.paths.add(path)
            texts = text if isinstance(text, Alternatives) else [text]
            known.update(texts)
            if not isinstance(text, Maybe) and not any(one in told for one in texts):
                self.report(path, "no such text", texts[0])
        for text, count in Counter(told).items():
            if text not in known:
                self.report(path, text, "no such text")
            elif count > 1:
                self.report(path, f"{text} ({count} times)", text)

    def lists(self, path, told, derived):
        if not isinstance(told, list) or len(told) != len(derived):
            self.report(path, told, plain(derived))
            return
        for at, (one, other) in enumerate(zip(told, derived)):
            self.values(f"{path}[{at}]", one, other)


def plain(value):
    """Returns a derived value without bounds, to be printed."""
    if isinstance(value, Within):
        return value.value
    if isinstance(value, Range):
        return f"{value.lowest} to {value.highest}"
    if isinstance(value, Underived):
        return "?"
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value
