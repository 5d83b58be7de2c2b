"""Statistics by their definitions, and the form in which the terminal prints numbers."""

import math
from fractions import Fraction


class Underived:
    """A value that the files of a run do not determine; `name` is an entry of the list of these. It is there, and no
    number in it is negative.
    """

    def __init__(self, name):
        self.name = name

    @classmethod
    def holds(cls, reported):
        if isinstance(reported, (list, dict)):
            return all(map(cls.holds, reported.values() if isinstance(reported, dict) else reported))
        return isinstance(reported, (str, bool)) or isinstance(reported, (int, float)) and reported >= 0


class Within:
    """A number that is known up to `relative` of itself and `absolute`."""

    def __init__(self, value, relative=0.0, absolute=0.0):
        self.value, self.relative, self.absolute = value, relative, absolute

    def holds(self, reported):
        return abs(reported - self.value) <= self.relative * abs(self.value) + self.absolute


class OneOf(list):
    """Texts of which one is right: the files do not determine which."""

    def holds(self, reported):
        return reported in self


class Maybe(str):
    """A text that may be there or not: the files do not determine it."""


class Alternatives(list):
    """Texts of which one must be there: of places that are equal, the files do not determine the first."""


class AnyOrder(list):
    """Texts in any order."""


class Range:
    """A whole number of which the files determine the bounds only."""

    def __init__(self, lowest, highest):
        self.lowest, self.highest = lowest, highest

    def holds(self, reported):
        return self.lowest <= reported <= self.highest


def nearest_rank(ordered, share):
    """Returns the quantile of rank ceil(share * n); `share` is a text, so that it is exact."""
    rank = max(1, math.ceil(Fraction(share) * len(ordered)))
    return ordered[rank - 1]


def quantile(ordered, share, scale=1.0):
    """Quantiles of distributions are within 0.4 %; ranks 1 and n are exact."""
    rank = max(1, math.ceil(Fraction(share) * len(ordered)))
    exact = rank in (1, len(ordered))
    return Within(ordered[rank - 1] / scale, 1e-12 if exact else 0.004, 0.5 / scale if not exact else 0.0)


def distribution(values_ps):
    """Returns a distribution in ns of times in ps; None without values."""
    if not values_ps:
        return None
    ordered = sorted(values_ps)
    mean = Within(sum(ordered) / len(ordered) / 1000, 1e-12)
    reported = {"count": len(ordered), "mean": mean, "min": ordered[0] / 1000}
    for name, share in (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("p999", "0.999")):
        reported[name] = quantile(ordered, share, 1000)
    return reported | {"max": ordered[-1] / 1000}


def share(part, whole):
    return Within(part / whole, 1e-9) if whole else 0.0


# The terminal.


def half_up(value, digits):
    """Rounds a non-negative fraction half up to `digits` decimals, as a text without trailing zeros."""
    scaled = math.floor(Fraction(value) * 10**digits + Fraction(1, 2))
    whole, part = divmod(scaled, 10**digits)
    text = f"{whole}.{part:0{digits}d}".rstrip("0").rstrip(".")
    return text


def grouped(number):
    return f"{number:,}"


def counted(number, what):
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def time_text(ps):
    """A time as the scenario and details have it: exact, in its largest unit."""
    for unit, name in ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns")):
        if ps >= unit:
            whole, part = divmod(ps, unit)
            text = f"{whole}.{part:0{len(str(unit)) - 1}d}".rstrip("0").rstrip(".")
            return text + name
    return f"{ps}ps" if ps else "0s"
