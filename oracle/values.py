"""Values of scenarios, tables that refuse what is not taken, and constants of Ethernet."""

import re
from fractions import Fraction

TIME_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
RATE_BPS = {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
SIZE_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
PREAMBLE_BYTES = 8  # IEEE 802.3, 3.1.1: preamble and start frame delimiter
GAP_BYTES = 12  # IEEE 802.3, 4.4.2: interpacket gap of 96 bits
OVERHEAD_BYTES = PREAMBLE_BYTES + GAP_BYTES
CONTROL_BYTES = 64  # IEEE 802.3, 31.4: MAC control frames have the least length
BIT_PS = 10**12


class Refused(Exception):
    """The scenario uses something that the model does not cover."""


def ceil_div(a, b):
    return -(-a // b)


def quantity(units):
    def parse(value):
        match = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]+)", value) if isinstance(value, str) else None
        if not match or match[2] not in units:
            raise ValueError(f"{value!r} is not covered")
        number = Fraction(match[1]) * units[match[2]]
        if number.denominator != 1:
            raise ValueError(f"{value!r} is not a whole number of the least unit")
        return int(number)
    return parse


time_ps = quantity(TIME_PS)
rate_bps = quantity(RATE_BPS)
size_bytes = quantity(SIZE_BYTES)


def share(value):
    """A share of the free buffer: a fraction."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Fraction(str(value))
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(/[0-9]+)?|[0-9]*\.[0-9]+", value):
        return Fraction(value)
    raise ValueError(f"{value!r} is not covered")


def size_or_share(value):
    try:
        return ("bytes", size_bytes(value))
    except ValueError:
        return ("share", share(value))


def room(value):
    """Room of a queue: bytes or packets."""
    if isinstance(value, str) and value.endswith("packets"):
        return ("packets", int(value.split()[0]))
    return ("bytes", size_bytes(value))


def whole(value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def boolean(value):
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not covered")
    return value


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not covered")
    return float(value)


def classes(value):
    return sorted({whole(v) for v in value})


def or_word(words, parse):
    """One of `words`, or what `parse` makes of the value."""
    return lambda value: value if isinstance(value, str) and value in words else parse(value)


def one_of(*words):
    def parse(value):
        if value not in words:
            raise ValueError(f"{value!r} is not covered (only {', '.join(map(repr, words))})")
        return value
    return parse


def by_class(parse, default):
    """Eight values, or a table of class and value."""
    def read(value):
        if isinstance(value, list):
            return [parse(v) for v in value]
        return [parse(value[str(c)]) if str(c) in value else default for c in range(8)]
    return read


REQUIRED = object()


class Table:
    """A table of the scenario of which each key is taken once; `finish` refuses the rest."""

    def __init__(self, values, name):
        if isinstance(values, str):
            values = {"kind": values}
        if not isinstance(values, dict):
            raise Refused(f"{name}: {values!r} is not covered")
        self.values, self.name = dict(values), name

    def take(self, key, parse, default=REQUIRED):
        if key not in self.values:
            if default is REQUIRED:
                raise Refused(f"{self.name}.{key}: missing")
            return default
        try:
            return parse(self.values.pop(key))
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(f"{self.name}.{key}: {error}") from None

    def table(self, key):
        return Table(self.values.pop(key, {}), f"{self.name}.{key}".lstrip("."))

    def finish(self):
        for key in self.values:
            raise Refused(f"{self.name}.{key}: not covered".lstrip("."))


class Settings(dict):
    """Values by attribute."""

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None


def reaction(value):
    """A time, or a number of bit times or quanta of the link."""
    match = re.fullmatch(r"([0-9]+) (bit times|quanta)", value)
    if match:
        return ("bits", int(match[1]) * (1 if match[2] == "bit times" else 512))
    return ("ps", time_ps(value))
