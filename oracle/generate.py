"""Random scenarios, each determined by its seed."""

import random

FEATURES = ("datagram", "shared-buffer", "pause", "pfc", "wrr", "drr", "ecn", "roce", "timely", "dcqcn", "hpcc", "cbfc", "failure", "ndp")
TRANSPORTS = ("roce", "timely", "dcqcn", "hpcc", "ndp")
RATES = ("1Gbps", "10Gbps", "25Gbps", "40Gbps", "100Gbps")
DELAYS = ("50ns", "500ns", "1us", "1234ns", "2us", "5us")


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def write(case, path):
    """Writes the scenario, and its topology beside it."""
    topology = path.removesuffix(".toml") + ".topology.txt"
    hosts, switches = case["hosts"], case["switches"]
    with open(topology, "w", encoding="utf-8") as file:
        file.write(f"{hosts + switches} {switches} {len(case['links'])}\n")
        file.write(" ".join(str(hosts + i) for i in range(switches)) + "\n")
        for a, b, rate, delay in case["links"]:
            file.write(f"{a} {b} {rate} {delay} 0\n")
    with open(path, "w", encoding="utf-8") as file:
        for line in case.get("comment", "").splitlines():
            file.write(f"# {line}\n")
        file.write(f"duration = {toml(case['duration'])}\nseed = {case['seed']}\n")
        name = topology.rsplit("/", 1)[-1]
        file.write(f'\n[fabric]\nkind = "file"\nfile = "{name}"\n')
        for section in ("routing", "switch", "host", "check"):
            if case.get(section):
                file.write(f"\n[{section}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in case[section].items()))
        for section in ("fail", "traffic"):
            for entry in case.get(section, []):
                file.write(f"\n[[{section}]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in entry.items()))


class Generator:
    def __init__(self, seed, feature=None):
        self.random = random.Random(seed)
        self.features = {feature or self.random.choice(FEATURES)}
        self.case = {"seed": self.random.choice([1, 2, seed % 1000 + 3]), "switch": {}, "host": {},
                     "check": {"deadlock": False}}

    def chance(self, share):
        return self.random.random() < share

    def has(self, feature, share=0.0):
        """Whether the scenario has the feature; draws it in with this probability."""
        if feature not in self.features and self.chance(share):
            self.features.add(feature)
        return feature in self.features

    def combine(self):
        """Draws further features, at most one of each group that excludes each other."""
        groups = [(0.3, ["pfc", "pause", "cbfc"]), (0.3, ["wrr", "drr"]), (0.2, ["ecn"]), (0.2, ["failure"]),
                  (0.6, list(TRANSPORTS)), (0.3, list(TRANSPORTS)), (0.3, ["datagram"])]
        for share, group in groups:
            if self.has("ndp"):  # its switches trim, without flow control
                group = [feature for feature in group if feature not in ("pfc", "pause", "cbfc", "wrr", "drr",
                                                                          "ecn", "roce", "timely", "dcqcn", "hpcc")]
            elif self.features - {"datagram", "failure"}:
                group = [feature for feature in group if feature != "ndp"]
            alone = group[:1] if group and group[0] in ("pfc", "wrr") else []
            if group and not (alone and self.features & set(group)) and self.chance(share):
                self.features.add(self.random.choice(group))

    def make(self):
        self.combine()
        self.fabric()
        # The class of trimmed headers, 7, goes ahead of all data.
        self.classes = self.random.sample(range(7 if self.has("ndp") else 8), self.random.choice([3, 3, 3, 4, 5]))
        self.buffer()
        self.scheduler()
        if self.has("ecn") or self.has("dcqcn"):
            self.features.add("ecn")
            k_min = self.random.randint(0, 12) * 500
            marking = {"kind": "ecn", "k_min": f"{k_min}B", "at": self.random.choice(["enqueue", "dequeue"])}
            if self.chance(0.5):
                marking.update(k_max=f"{k_min + self.random.randint(1, 20) * 1000}B",
                               p_max=self.random.choice([1, 0.2, 0.7]))
            self.case["switch"]["marking"] = marking
        if self.chance(0.5):
            self.case["host"]["reply_class"] = self.random.choice(self.classes + [7])
        if self.has("ndp"):
            self.case["host"]["transport"] = {"kind": "ndp", "payload": self.random.choice(["500B", "1436B"]), **self.ndp()}
        self.traffic()
        if self.has("failure"):
            self.failures()
        self.case["features"] = sorted(self.features)
        return self.case

    def fabric(self):
        pick = self.random.choice
        hosts, switches = self.random.randint(2, 8), self.random.randint(1, 4)
        # Few rates and delays in a scenario make instants at which frames meet frequent.
        rates, delays = [pick(RATES) for _ in range(2)], [pick(DELAYS) for _ in range(2)]
        link = lambda a, b: (a, b, pick(rates), pick(delays))
        links = [link(host, hosts + (host if host < switches else self.random.randrange(switches)) % switches)
                 for host in range(hosts)]
        links += [link(hosts + self.random.randrange(i), hosts + i) for i in range(1, switches)]
        for _ in range(self.random.randint(0, 3) if switches > 1 else 0):
            a, b = self.random.sample(range(switches), 2)
            links.append(link(hosts + a, hosts + b))
        self.case.update(hosts=hosts, switches=switches, links=links)

    def buffer(self):
        switch, draw = self.case["switch"], self.random
        if self.has("ndp"):
            switch["queue"] = draw.choice([f"{draw.randint(2, 20)} packets", f"{draw.randint(4, 30)}KB"])
            if self.chance(0.8):
                switch["overload"] = {"kind": "trim", "header_class": 7}
            return
        if self.has("cbfc"):
            self.features.add("shared-buffer")
            control = {"kind": "cbfc", "priorities": sorted(draw.sample(self.classes, draw.randint(1, 3)))}
            if self.chance(0.5):
                control["credits"] = f"{draw.randint(2, 20)}KB"
            if self.chance(0.3):
                control["update"] = draw.choice(["64B", "1KB", "5KB"])
            control["regrant"] = draw.choice(["7us", "30us", "100us"])
            switch.update(flow_control=control, buffer="16MB", egress=draw.choice(["1/8", 1, "20KB"]))
            return
        lossless = self.has("pfc") or self.has("pause")
        if not self.has("shared-buffer", 0.5 if not lossless else 1):
            switch["queue"] = draw.choice([f"{draw.randint(1, 20)} packets", f"{draw.randint(2, 30)}KB"])
            return
        if not lossless:
            switch["buffer"] = f"{draw.randint(5, 60)}KB"
            switch["egress"] = draw.choice(["1/8", "1/4", "1/2", 1, 2, 8, f"{draw.randint(3, 20)}KB"])
            return
        control = {"kind": "pfc" if self.has("pfc") else "pause"}
        if control["kind"] == "pfc":
            control["priorities"] = sorted(draw.sample(self.classes, draw.randint(1, 3)))
        control["xoff"] = draw.choice([f"{draw.randint(2, 20)}KB", f"{draw.randint(2, 20)}KB", "1/8", "1/32", "1/64"])
        control["xon"] = draw.choice(["1KB", "2KB", "2KB"])
        control["reaction"] = draw.choice(["standard", "100ns", "500ns", "3840 bit times", "10 quanta"])
        if self.chance(0.4):
            control["quanta"] = draw.choice([50, 200, 1000, 5000])
        if self.chance(0.3):
            control["headroom"] = f"{draw.randint(5, 40)}KB"
        switch["flow_control"] = control
        switch["buffer"] = draw.choice(["1MB", "2MB", "16MB"])
        switch["egress"] = draw.choice(["1/8", 1, "20KB"])

    def scheduler(self):
        draw = self.random
        if self.has("wrr"):
            self.case["switch"]["scheduler"] = {
                "kind": "wrr", "weights": {str(c): draw.randint(1, 4) for c in draw.sample(self.classes, 2)}}
        elif self.has("drr"):
            self.case["switch"]["scheduler"] = {
                "kind": "drr", "quanta": {str(c): f"{draw.choice([300, 1000, 1518, 4000])}B"
                                          for c in draw.sample(self.classes, 2)}}

    def failures(self):
        draw, hosts = self.random, self.case["hosts"]
        name = lambda node: f"h{node}" if node < hosts else f"s{node}"
        links, pairs = self.case["links"], [sorted(link[:2]) for link in self.case["links"]]
        entries = []
        for a, b, *_ in draw.sample(links, min(len(links), draw.choice([1, 1, 2]))):
            at = draw.randint(0, 80)
            entry = {"link": [name(a), name(b)], "at": f"{at}us"}
            if self.chance(0.7):
                entry["until"] = f"{at + draw.randint(1, 100)}us"
            if pairs.count(sorted([a, b])) == 1:  # of parallel links the scenario cannot name one
                entries.append(entry)
        self.case["fail"] = entries

    def traffic(self):
        draw, hosts = self.random, self.case["hosts"]
        frames = [draw.choice([64, 200, 1000, 1518]) for _ in range(2)]
        hot = draw.randrange(hosts)
        entries, latest_us = [], draw.choice([0, 5, 20, 50])
        for index in range(draw.randint(4, 9)):
            pairs = []
            for _ in range(draw.choice([1, 1, 2, 3])):
                dst = hot if self.chance(0.6) else draw.randrange(hosts)
                src = draw.choice([host for host in range(hosts) if host != dst])
                pairs.append([f"h{src}", f"h{dst}"])
            entry = {"kind": "pairs", "pairs": pairs,
                     "class": self.classes[index] if index < 3 else draw.choice(self.classes),
                     "start": f"{draw.randint(0, latest_us * 10) * 100}ns"}
            self.transport(entry, draw.choice(frames))
            entries.append(entry)
        self.case["traffic"] = entries
        self.case["duration"] = draw.choice(["200us", "5ms", "5ms"])

    def transport(self, entry, frame):
        draw = self.random
        kinds = [kind for kind in ("datagram",) + TRANSPORTS if self.has(kind)]
        kind = draw.choice(kinds or ["datagram"])
        self.features.add(kind)
        if kind == "ndp":
            payload, settings = 1000, None
        elif kind == "datagram":
            settings, payload = {"kind": kind, "frame": f"{frame}B"}, max(1, frame - 46)
            if self.chance(0.5):
                settings["rate"] = draw.choice(["700Mbps", "1Gbps", "3Gbps", "9Gbps", "30Gbps"])
            elif self.chance(0.2):
                settings["gap"] = draw.choice(["1us", "1700ns", "10us"])
            if self.has("ecn") and self.chance(0.7):
                settings["ecn"] = True
        else:
            settings, payload = getattr(self, kind)(), draw.choice([200, 1000, 1000])
            settings.update(kind=kind, payload=f"{payload}B")
        if kind not in ("datagram", "ndp"):
            if self.chance(0.3):
                settings["rate"] = draw.choice(["900Mbps", "3Gbps", "9Gbps", "30Gbps"])
            if self.chance(0.7):
                settings["timeout"] = draw.choice(["50us", "100us", "333us"])
            if self.chance(0.5):
                settings["nak_interval"] = draw.choice(["5us", "40us"])
        entry["size"] = f"{draw.randint(1, 40 if frame > 500 else 100) * payload + draw.choice([0, 0, 7])}B"
        if settings:
            entry["transport"] = settings

    def window(self, settings):
        if self.chance(0.5):
            settings["window"] = self.random.choice(["1000B", "3KB", "8KB", "20KB"])
        return settings

    def roce(self):
        settings = self.window({"ack_every": self.random.choice([1, 1, 2, 4])})
        if self.has("ecn") and self.chance(0.5):
            settings["ecn"] = True
        return settings

    def timely(self):
        draw = self.random
        return self.window({"segment": draw.choice(["1KB", "4KB", "16KB"]), "t_low": draw.choice(["2us", "10us"]),
                            "t_high": draw.choice(["30us", "100us"]), "min_rtt": draw.choice(["3us", "20us"]),
                            "additive_increase": draw.choice(["10Mbps", "300Mbps"])})

    def dcqcn(self):
        draw = self.random
        settings = self.window({"cnp_interval": draw.choice(["5us", "20us"]), "increase_timer": draw.choice(
            ["7us", "20us", "0us"]), "byte_counter": draw.choice(["5KB", "20KB", "10MB"]),
            "alpha_timer": draw.choice(["3us", "20us"]), "alpha_sample": draw.choice(["cut", "timer"]),
            "gain": draw.choice([0.00390625, 0.0625]), "clamp_target": draw.choice([True, False]),
            "recovery_stages": draw.choice([1, 2, 5])})
        settings["ack_every"] = draw.choice([1, 1, 3])
        return settings

    def hpcc(self):
        draw = self.random
        return {"max_stage": draw.choice([0, 2, 5]), "fast_reaction": draw.choice([True, True, False]),
                "additive_increase": draw.choice(["40Mbps", "500Mbps"])}


    def ndp(self):
        draw = self.random
        settings = {"timeout": draw.choice(["50us", "200us", "1ms"])}
        if self.chance(0.5):
            settings["initial_window"] = draw.choice([1, 3, 10, 30])
        return settings


def generate(seed, feature=None):
    return Generator(seed, feature).make()
