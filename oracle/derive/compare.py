"""Comparison of what a run tells with what its files determine."""

from collections import Counter

from .values import Alternatives, AnyOrder, Maybe, OneOf, Range, Underived, Within


class Comparison:
    """Differences, and what was compared or could not be derived."""

    def __init__(self):
        self.differences, self.compared, self.underived, self.paths = [], 0, {}, set()

    def report(self, path, reported, derived):
        self.differences.append(f"{path}: reported {reported!r}, derived {derived!r}")

    def values(self, path, reported, derived):
        """Compares one value; `derived` may be a number within bounds, or underived."""
        if isinstance(derived, Underived):
            self.underived[derived.name] = self.underived.get(derived.name, 0) + 1
            if not derived.holds(reported):
                self.report(path, reported, plain(derived))
            return
        if isinstance(derived, dict):
            self.tables(path, reported, derived)
        elif isinstance(derived, AnyOrder):
            self.sets(path, reported, derived)
        elif isinstance(derived, list) and not isinstance(derived, OneOf):
            self.lists(path, reported, derived)
        else:
            self.compared += 1
            self.paths.add(path)
            if isinstance(derived, (OneOf, Within, Range)):
                held = not isinstance(reported, bool) and reported is not None and derived.holds(reported)
                if not held:
                    self.report(path, reported, plain(derived))
            elif type(reported) is bool or type(derived) is bool:
                if reported is not derived:
                    self.report(path, reported, derived)
            elif reported != derived:
                self.report(path, reported, derived)

    def tables(self, path, reported, derived):
        if not isinstance(reported, dict):
            self.report(path, reported, derived)
            return
        for key in reported:
            if key not in derived:
                self.report(f"{path}.{key}", reported[key], "no such key")
        for key, value in derived.items():
            if key.startswith("_"):
                continue
            if key not in reported:
                self.report(f"{path}.{key}", "no such key", plain(value))
                continue
            self.values(f"{path}.{key}" if path else key, reported[key], value)

    def sets(self, path, reported, derived):
        """Compares texts in any order."""
        known = set()
        for text in derived:
            self.compared += 1
            self.paths.add(path)
            texts = text if isinstance(text, Alternatives) else [text]
            known.update(texts)
            if not isinstance(text, Maybe) and not any(one in reported for one in texts):
                self.report(path, "no such text", texts[0])
        for text, count in Counter(reported).items():
            if text not in known:
                self.report(path, text, "no such text")
            elif count > 1:
                self.report(path, f"{text} ({count} times)", text)

    def lists(self, path, reported, derived):
        if not isinstance(reported, list) or len(reported) != len(derived):
            self.report(path, reported, plain(derived))
            return
        for at, (one, other) in enumerate(zip(reported, derived)):
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
