"""Named random streams: docs/model.md, [M13] to [M17]. The generator is Blackman and Vigna's xoshiro256++."""

MASK = (1 << 64) - 1
SWITCH = 0xA5A87AC5B0B379B1  # [M14]


class SplitMix:
    """[M13]"""

    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        z = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31


def rotate(x, bits):
    return (x << bits | x >> 64 - bits) & MASK


class Stream:
    """The stream of (seed, component, purpose). [M15]"""

    def __init__(self, seed, component, purpose):
        source = SplitMix(SplitMix(SplitMix(seed & MASK).next() ^ component).next() ^ purpose)
        self.state = [source.next() for _ in range(4)]

    def next(self):
        a, b, c, d = self.state
        result = rotate(a + d & MASK, 23) + a & MASK
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ b << 17 & MASK, rotate(d, 45)]
        return result
