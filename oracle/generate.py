"""Random scenarios, each determined by its seed and feature."""

import json
import random

TRANSPORTS = ("roce", "timely", "dcqcn", "hpcc", "ndp")
FEATURES = ("datagram", "shared-buffer", "pause", "pfc", "wrr", "drr", "ecn", "roce", "timely", "dcqcn", "hpcc",
            "cbfc", "failure", "ndp")
RATES = ("1Gbps", "10Gbps", "25Gbps", "30Gbps", "40Gbps", "100Gbps")  # at 30 Gbps a byte takes 266.7 ps
DELAYS = ("50ns", "500ns", "1us", "1234ns", "2us", "5us")
# Keys of transports: a list of values, or the share of scenarios that have the key, and the list.
WINDOW = (0.5, ["1000B", "3KB", "8KB", "20KB"])
KEYS = {
    "roce": dict(ack_every=[1, 1, 2, 4], window=WINDOW),
    "timely": dict(segment=["1KB", "4KB", "16KB"], t_low=["2us", "10us"], t_high=["30us", "100us"],
                   min_rtt=["3us", "20us"], additive_increase=["10Mbps", "300Mbps"], window=WINDOW),
    "dcqcn": dict(cnp_interval=["5us", "20us"], increase_timer=["7us", "20us", "0us"],
                  byte_counter=["5KB", "20KB", "10MB"], alpha_timer=["3us", "20us"], alpha_sample=["cut", "timer"],
                  gain=[0.00390625, 0.0625], clamp_target=[True, False], recovery_stages=[1, 2, 5], window=WINDOW,
                  ack_every=[1, 1, 3]),
    "hpcc": dict(max_stage=[0, 2, 5], fast_reaction=[True, True, False], additive_increase=["40Mbps", "500Mbps"]),
    "ndp": dict(timeout=["50us", "200us", "1ms"], initial_window=(0.5, [1, 3, 10, 30])),
    "all": dict(rate=(0.3, ["900Mbps", "3Gbps", "9Gbps", "30Gbps"]), timeout=(0.7, ["50us", "100us", "333us"]),
                nak_interval=(0.5, ["5us", "40us"]))}


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def write(case, path):
    """Writes the scenario, and its topology beside it."""
    topology = path.removesuffix(".toml") + ".topology.txt"
    hosts, switches = case["hosts"], case["switches"]
    with open(topology, "w", encoding="utf-8") as file:
        file.write(f"{hosts + switches} {switches} {len(case['links'])}\n")
        file.write(" ".join(str(hosts + i) for i in range(switches)) + "\n")
        file.writelines(f"{a} {b} {rate} {delay} 0\n" for a, b, rate, delay in case["links"])
    tables = [("[fabric]", {"kind": "file", "file": topology.rsplit("/", 1)[-1]})]
    tables += [(f"[{name}]", case[name]) for name in ("switch", "host", "check") if case[name]]
    tables += [(f"[[{name}]]", entry) for name in ("fail", "traffic") for entry in case[name]]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"# {line}\n" for line in case.get("comment", "").splitlines())
        file.write(f"duration = {toml(case['duration'])}\nseed = {case['seed']}\n")
        for title, values in tables:
            file.write(f"\n{title}\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items()))


class Generator:
    def __init__(self, seed, feature):
        self.random = random.Random(seed)
        self.pick, self.between = self.random.choice, self.random.randint
        self.features = {feature}
        self.case = {"seed": self.pick([1, 2, seed % 1000 + 3]), "fail": [], "switch": {}, "host": {},
                     "check": {"deadlock": False}}

    def chance(self, share):
        return self.random.random() < share

    def has(self, feature, share=0.0):
        """Whether the scenario has the feature; draws it in with this probability."""
        if feature not in self.features and self.chance(share):
            self.features.add(feature)
        return feature in self.features

    def settings(self, keys):
        shares = {key: (1, values) if isinstance(values, list) else values for key, values in keys.items()}
        return {key: self.pick(values) for key, (share, values) in shares.items() if self.chance(share)}

    def combine(self):
        """Draws further features, at most one of each group that excludes each other."""
        groups = [(0.6 if self.has("failure") else 0.3, ["pfc", "pause", "cbfc"]), (0.3, ["wrr", "drr"]),
                  (0.2, ["ecn"]), (0.3, ["failure"]), (0.6, TRANSPORTS), (0.3, TRANSPORTS), (0.3, ["datagram"])]
        for share, group in groups:
            if self.has("ndp"):
                group = [feature for feature in group if feature in ("datagram", "failure", "ndp")]
            elif self.features - {"datagram", "failure"}:
                group = [feature for feature in group if feature != "ndp"]
            excludes = group and group[0] in ("pfc", "wrr")
            if group and not (excludes and self.features & set(group)) and self.chance(share):
                self.features.add(self.pick(group))

    def make(self):
        self.combine()
        self.fabric()
        # The class of trimmed headers, 7, goes ahead of all data.
        self.classes = self.random.sample(range(7 if self.has("ndp") else 8), self.pick([3, 3, 3, 4, 5]))
        switch, host = self.case["switch"], self.case["host"]
        self.buffer(switch)
        for kind, key, draw in (("wrr", "weights", lambda: self.between(1, 4)),
                                ("drr", "quanta", lambda: f"{self.pick([300, 1000, 1518, 4000])}B")):
            if "scheduler" not in switch and self.has(kind):
                by_class = {str(cls): draw() for cls in self.random.sample(self.classes, 2)}
                switch["scheduler"] = {"kind": kind, key: by_class}
        if self.has("ecn") or self.has("dcqcn"):
            self.features.add("ecn")
            k_min = self.between(0, 12) * 500
            switch["marking"] = {"kind": "ecn", "k_min": f"{k_min}B", "at": self.pick(["enqueue", "dequeue"])}
            if self.chance(0.5):
                switch["marking"].update(k_max=f"{k_min + self.between(1, 20) * 1000}B",
                                         p_max=self.pick([1, 0.2, 0.7]))
        if self.chance(0.5):
            host["reply_class"] = self.pick(self.classes + [7])
        if self.has("ndp"):
            host["transport"] = {"kind": "ndp", "payload": self.pick(["500B", "1436B"]), **self.settings(KEYS["ndp"])}
        self.traffic()
        if self.has("failure"):
            self.failures()
        self.case["features"] = sorted(self.features)
        return self.case

    def fabric(self):
        hosts, switches, spines = self.between(2, 8), self.between(1, 4), 0
        if self.chance(0.2):
            switches, spines = 5, 3  # three paths between two leaves
        # Few rates and delays in a scenario make instants at which frames meet frequent.
        rates, delays = [self.pick(RATES) for _ in range(2)], [self.pick(DELAYS) for _ in range(2)]
        if self.chance(0.3):  # many frames are on a link at once, and come from all hosts at once
            rates, delays = [self.pick(RATES[1:])], [self.pick(["5us", "20us"])]
        leaves = switches - spines
        ends = [(host, hosts + (host if host < leaves else self.random.randrange(leaves))) for host in range(hosts)]
        if spines:
            ends += [(hosts + leaf, hosts + spine) for leaf in range(leaves) for spine in range(leaves, switches)]
        else:
            ends += [(hosts + self.random.randrange(i), hosts + i) for i in range(1, switches)]
            for _ in range(self.between(0, 3) if switches > 1 else 0):
                ends.append(tuple(hosts + switch for switch in self.random.sample(range(switches), 2)))
        links = [(*pair, self.pick(rates), self.pick(delays)) for pair in ends]
        self.case.update(hosts=hosts, switches=switches, links=links)

    def buffer(self, switch):
        pick, between = self.pick, self.between
        if self.has("ndp"):
            switch["queue"] = pick([f"{between(2, 20)} packets", f"{between(4, 30)}KB"])
            if self.chance(0.8):
                switch["overload"] = {"kind": "trim", "header_class": 7}
        elif self.has("cbfc"):
            self.features.add("shared-buffer")
            control = {"kind": "cbfc", "priorities": sorted(self.random.sample(self.classes, between(1, 3)))}
            control |= self.settings(dict(
                credits=(0.5, [f"{between(2, 20)}KB"]), update=(0.3, ["64B", "1KB", "5KB"]),
                regrant=["7us", "30us", "100us"]))
            switch.update(flow_control=control, buffer="16MB", egress_threshold=pick(["1/8", 1, "20KB"]))
        elif not (lossless := self.has("pfc") or self.has("pause")) and not self.has("shared-buffer", 0.5):
            switch["queue"] = pick([f"{between(1, 20)} packets", f"{between(2, 30)}KB"])
        elif not lossless:
            # With about a multiple of a frame a share of what is free ends near the end of a frame.
            multiple = f"{pick([200, 1000, 1518]) * between(4, 40) - between(0, 3)}B"
            switch["buffer"] = pick([f"{between(5, 60)}KB"] * 2 + [multiple])
            switch["egress_threshold"] = pick(["1/8", "1/4", "1/2", 1, 2, 8, f"{between(3, 20)}KB"])
        else:
            self.has("shared-buffer", 1)
            control = {"kind": "pfc" if self.has("pfc") else "pause"}
            if control["kind"] == "pfc":
                control["priorities"] = sorted(self.random.sample(self.classes, between(1, 3)))
            # The standard names a reaction for some rates only.
            standard = [] if any(link[2] == "30Gbps" for link in self.case["links"]) else ["standard"]
            control |= self.settings(dict(
                xoff=[f"{between(2, 20)}KB", f"{between(2, 20)}KB", "1/8", "1/32", "1/64"], xon=["1KB", "2KB", "2KB"],
                reaction=standard + ["100ns", "500ns", "3840 bit times", "10 quanta"],
                quanta=(0.4, [8, 20, 50, 200, 1000, 5000]), headroom=(0.3, [f"{between(5, 40)}KB"])))
            switch.update(flow_control=control, buffer=pick(["1MB", "2MB", "16MB"]), egress_threshold=pick(["1/8", 1, "20KB"]))

    def failures(self):
        hosts, links = self.case["hosts"], self.case["links"]
        pairs = [sorted(link[:2]) for link in links]
        for a, b, *_ in self.random.sample(links, min(len(links), self.pick([1, 1, 2]))):
            at = self.between(0, 80)
            entry = {"link": [f"h{node}" if node < hosts else f"s{node}" for node in (a, b)], "at": f"{at}us"}
            if self.chance(0.7):
                entry["until"] = f"{at + self.pick([1, 2, self.between(1, 100)])}us"
            if pairs.count(sorted([a, b])) == 1:  # of parallel links the scenario cannot name one
                self.case["fail"].append(entry)

    def traffic(self):
        hosts, entries = range(self.case["hosts"]), []
        frames = [self.pick([64, 200, 1000, 1242, 1518]) for _ in range(2)]  # 1242: 1 us at 10 Gbps
        hot, latest_us = self.pick(hosts), self.pick([0, 5, 20, 50])
        unit_ns = self.pick([100, 100, 1000])  # failures and timers fall on whole microseconds
        for index in range(self.between(4, 9)):
            pairs = []
            for _ in range(self.pick([1, 1, 2, 3])):
                dst = hot if self.chance(0.6) else self.pick(hosts)
                src = self.pick([host for host in hosts if host != dst])
                pairs.append([f"h{src}", f"h{dst}"])
            entry = {"kind": "pairs", "pairs": pairs,
                     "class": self.classes[index] if index < 3 else self.pick(self.classes),
                     "start": f"{self.between(0, latest_us * 1000 // unit_ns) * unit_ns}ns"}
            self.transport(entry, self.pick(frames))
            entries.append(entry)
        self.case.update(traffic=entries, duration=self.pick(["200us", "5ms", "5ms"]))

    def transport(self, entry, frame):
        kinds = [kind for kind in ("datagram",) + TRANSPORTS if self.has(kind)]
        kind = self.pick(kinds or ["datagram"])
        self.features.add(kind)
        settings, payload = {}, 1000
        if kind == "datagram":
            settings, payload = {"kind": kind, "frame": f"{frame}B"}, max(1, frame - 46)
            if self.chance(0.5):
                settings["rate"] = self.pick(["700Mbps", "1Gbps", "3Gbps", "9Gbps", "30Gbps"])
            elif self.chance(0.2):
                settings["gap"] = self.pick(["1us", "1700ns", "10us"])
        elif kind != "ndp":
            settings = self.settings(KEYS[kind])
            payload = self.pick([200, 1000, 1000])
            settings |= {"kind": kind, "payload": f"{payload}B", **self.settings(KEYS["all"])}
        if kind in ("datagram", "roce") and self.has("ecn") and self.chance(0.6):
            settings["ecn"] = True
        entry["size"] = f"{self.between(1, 40 if frame > 500 else 100) * payload + self.pick([0, 0, 7])}B"
        if settings:
            entry["transport"] = settings


def generate(seed, feature):
    return Generator(seed, feature).make()
