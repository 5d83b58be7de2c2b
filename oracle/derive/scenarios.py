"""Random scenarios. Equal numbers give equal scenarios; consecutive numbers cover the features in turn."""

import random
import re

from .run import quantity

# Time of the grid on which windows and samples lie, by link rate: some dozens of frames.
GRID = {"1Gbps": 40_000, "3Gbps": 16_000, "10Gbps": 8_000, "100Gbps": 1_200}

# Kinds of switches in turn, so that some dozens of scenarios include each of them.
SWITCHES = ["drop", "packets", "shared", "pfc", "pause", "cbfc", "florax", "destination", "output", "trim", "cut", "sfc",
            "bounce", "detour", "pipeline", "watchdog", "outside", "congestion-point", "afd", "lossy", "ring", "cyclic"]

# Switches with one limit for each egress queue.
PER_QUEUE = ["drop", "packets", "florax", "destination", "output", "trim", "cut", "sfc", "bounce", "detour", "pipeline",
             "congestion-point", "afd", "cyclic"]
RELIABLE = ["tcp", "dctcp", "roce", "dcqcn", "timely", "hpcc", "swift", "dctcp-rate", "hetflow", "eccp", "selective"]
SPRAYED = ["ndp", "eqds", "tcp", "datagram", "selective"]


class Draw:
    """Draws of one scenario."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(f"derive {number}")
        self.kind = SWITCHES[number % len(SWITCHES)]

    def pick(self, *values):
        return values[self.random.randrange(len(values))]

    def chance(self, share):
        return self.random.random() < share


def time(ns):
    """Returns a time as a scenario has it; `ns` may have a fraction of thousandths."""
    return f"{round(ns * 1000)}ps"


def table(**keys):
    """Returns an inline table."""
    return "{ " + ", ".join(f"{key.replace('__', '.')} = {value}" for key, value in keys.items()) + " }"


def fabric(draw, rate):
    """Returns the lines of the fabric, and the numbers of its hosts and switches."""
    delay = draw.pick("100ns", "500ns", "1us", "3us")
    if draw.kind == "output":
        delay = draw.pick("100ns", "500ns")
    link = {"rate": f'"{rate}"', "delay": f'"{delay}"'}
    if draw.kind == "ring":
        lines, hosts, switches = ['kind = "ring"', "switches = 4", "hosts_per_switch = 1"], 4, 4
    elif draw.kind == "cyclic":
        lines, hosts, switches = ['kind = "line"', "switches = 2", "hosts_per_switch = 2"], 4, 2
    elif draw.kind == "outside":
        # Some switches take part in flow control, and others do not.
        lines, hosts, switches = draw.pick(
            (['kind = "dumbbell"', "left = 3", "right = 3"], 6, 2),
            (['kind = "line"', "switches = 3", "hosts_per_switch = 2"], 6, 3),
        )
    else:
        lines, hosts, switches = draw.pick(
            (['kind = "single-switch"', "hosts = 4"], 4, 1),
            (['kind = "dumbbell"', "left = 3", "right = 3"], 6, 2),
            (['kind = "leaf-spine"', "leaves = 2", "spines = 2", "hosts_per_leaf = 2"], 4, 4),
            (['kind = "leaf-spine"', "leaves = 3", "spines = 2", "hosts_per_leaf = 2"], 6, 5),
            (['kind = "fat-tree"', "k = 4", "hosts_per_edge = 1"], 8, 20),
            (['kind = "line"', "switches = 3", "hosts_per_switch = 2"], 6, 3),
        )
        if "dumbbell" in lines[0] and draw.chance(0.5):
            link["edge"] = table(rate='"40Gbps"')
    if draw.kind == "lossy":
        link[draw.pick("loss", "bit_error_rate")] = draw.pick("0.01", "0.002")
        if "bit_error_rate" in link:
            link["bit_error_rate"] = "1e-6"
    return lines + ["link = " + table(**link)], hosts, switches


def switch(draw, rate):
    """Returns the lines of the table `switch` and those of tables after it."""
    kind, after = draw.kind, []
    xoff = draw.pick("10KB", "20KB", "40KB")
    # Some pauses last long enough to be renewed.
    longest = round(GRID[rate] * draw.pick(8, 16) * 10**3 * quantity(rate) / (512 * 10**12))
    quanta = {"quanta": longest} if draw.chance(0.3) else {}
    keys = {
        "drop": [f'queue = "{draw.pick("12KB", "30KB", "100KB")}"'],
        "packets": [f'queue = "{draw.pick("8 packets", "20 packets", "100 packets")}"'],
        "shared": [f'buffer = "{draw.pick("60KB", "200KB", "2MB")}"', f"egress_threshold = {draw.pick('1', '0.125')}"],
        "lossy": ['buffer = "2MB"'],
        "pfc": ['buffer = "4MB"', "flow_control = " + table(
            kind='"pfc"', priorities="[3]", xoff=f'"{xoff}"', **quanta)],
        "ring": ['buffer = "4MB"', "flow_control = " + table(kind='"pfc"', priorities="[3]", xoff='"10KB"')],
        "pause": ['buffer = "4MB"', "flow_control = " + table(
            kind='"pause"', xoff=f'"{xoff}"', **quanta)],
        "cbfc": ['buffer = "4MB"', "flow_control = " + table(kind='"cbfc"', priorities="[3]")],
        "florax": ['queue = "200KB"', "flow_control = " + table(kind='"florax"', upper="0.3", lower="0.1")],
        "destination": ['queue = "200KB"', "flow_control = " + table(kind='"destination"', upper="0.3", lower="0.1")],
        "output": ['queue = "200KB"', "flow_control = " + table(kind='"pause-at-output"', upper="0.3", lower="0.1")],
        "trim": [f'queue = "{draw.pick("8 packets", "20KB")}"', "overload = " + table(
            kind='"trim"', victim=f'"{draw.pick("arriving", "tail", "coin")}"',
            header_queue=f'"{draw.pick("300B", "2KB", "20KB")}"',
            header_full=f'"{draw.pick("return", "drop")}"')],
        "cut": [f'queue = "{draw.pick("8 packets", "20KB")}"', 'overload = { kind = "cut-payload" }'],
        "sfc": [f'queue = "{draw.pick("8 packets", "20KB")}"', 'overload = { kind = "sfc" }'],
        "bounce": [f'queue = "{draw.pick("10 packets", "20 packets")}"', 'overload = { kind = "bounce" }'],
        "detour": [f'queue = "{draw.pick("8 packets", "20KB")}"', 'overload = { kind = "detour" }'],
        "pipeline": ['queue = "20KB"', "overload = " + table(
            kind='"pipeline-trim"', pipelines=draw.pick("1", "2"), model=f'"{draw.pick("tofino", "dod", "mod")}"')],
        "watchdog": ['buffer = "4MB"', "flow_control = " + table(kind='"pfc"', priorities="[3]", xoff='"10KB"'),
                     "watchdog = " + table(detection_time='"20us"', restoration_time='"20us"',
                                           action=f'"{draw.pick("drop", "forward")}"')],
        "outside": ['buffer = "4MB"', 'egress_threshold = "20KB"', "flow_control = " + table(
            kind=f'"{draw.pick("pfc", "cbfc")}"', priorities="[3]", tiers="[1]")],
        "congestion-point": ['queue = "100KB"', "marking = " + table(
            kind='"congestion-point"', set_point='"10KB"', sample='"8KB"', sample_min='"3KB"')],
        "afd": ['queue = "60KB"', "marking = " + table(
            kind='"afd"', target='"10KB"', sample="1", action=f'"{draw.pick("drop", "mark")}"')],
        "cyclic": ['queue = "100KB"'],
    }[kind]
    if kind == "outside":
        keys[2] = keys[2].replace(", tiers = [1]", draw.pick(', except = ["S1"]', ""))
    marks = kind not in ("congestion-point", "afd") and draw.chance(0.6)
    if marks:
        marking = table(kind='"ecn"', k_min=f'"{draw.pick("5KB", "20KB")}"', k_max='"40KB"', p_max="0.3")
        phantom = table(kind='"phantom"', threshold='"6KB"')
        keys.append("marking = " + (phantom if kind in ("drop", "pfc") and draw.chance(0.3) else marking))
    if draw.chance(0.3) and kind != "cyclic":
        keys.append("scheduler = " + draw.pick('{ kind = "wrr", weights = { 3 = 2 } }',
                                               '{ kind = "drr", quanta = { 3 = "3KB" } }'))
    if kind == "cyclic":
        after += ["[[cyclic]]", f'cycle = "{draw.pick("10us", "25us")}"', "classes = [3, 4]"]
    return keys, after


def host(draw, spread):
    """Returns the lines of the table `host`."""
    kind = draw.kind
    names = list(RELIABLE + ["ndp", "eqds", "datagram"])
    if kind == "congestion-point":
        names = ["qcn"]
    elif kind in ("trim", "cut", "sfc"):
        names = ["ndp", "tcp", "roce", "datagram", "selective", "dctcp"]
    elif kind == "pipeline":
        names = ["ndp", "datagram", "roce"]
    elif kind in ("bounce", "detour"):
        names = ["tcp", "dctcp", "datagram"]
    elif spread != "flow":
        names = SPRAYED
    elif kind in ("florax", "destination", "output"):
        names = ["roce", "tcp", "datagram", "dcqcn"]
    name = draw.pick(*names)
    transport = {"selective": 'transport = { kind = "roce", loss_recovery = "selective" }',
                 "datagram": 'transport = { kind = "datagram" }'}.get(name, f'transport = "{name}"')
    lines = [transport]
    if kind in ("trim", "sfc") and draw.chance(0.7):
        lines.append("reply_class = 7")
    elif draw.chance(0.2) and kind not in ("cyclic", "cut"):
        lines.append("reply_class = 5")
    if kind in ("watchdog",):
        lines.append("pause_storm = " + table(host='"H2"', at='"10us"'))
    if kind in ("florax", "destination", "output", "pfc", "pause") and draw.chance(0.25):
        lines.append('ignore_pause = ["H1"]')
    return lines


def entries(draw, hosts, grid):
    """Returns the lines of the traffic entries."""
    def ends(count):
        pairs = []
        while len(pairs) < count:
            a, b = draw.random.randrange(hosts), draw.random.randrange(hosts)
            if a != b:
                pairs.append(f'["H{a + 1}", "H{b + 1}"]')
        return f"pairs = [{', '.join(pairs)}]"

    def size(*values):
        return f'size = "{draw.pick(*values)}"'

    if draw.kind == "ring" and draw.number // len(SWITCHES) % 2 == 0:
        # All flows go around the ring in one direction: most of these runs deadlock.
        lines = []
        for at in range(4):
            nodes = [f"H{at + 1}"] + [f"S{(at + step) % 4 + 1}" for step in range(3)] + [f"H{(at + 2) % 4 + 1}"]
            lines += ["[[path]]", f'name = "p{at}"', "nodes = [" + ", ".join(f'"{node}"' for node in nodes) + "]"]
        return lines + ["[[traffic]]", 'kind = "pairs"', 'paths = ["p0", "p1", "p2", "p3"]', 'size = "endless"']
    kinds = ["pairs", "pairs", "incast", "poisson", "permutation", "stride", "all-to-all", "random", "request",
             "collective", "periodic", "constant", "bursts", "poisson frames", "on-off", "endless"]
    if draw.kind == "ring":
        kinds = ["ring"]
    elif draw.kind in ("detour", "bounce"):
        kinds = ["incast", "pairs", "constant", "bursts"]
    chosen = [draw.pick(*kinds) for _ in range(1 + draw.random.randrange(3))]
    if draw.kind in ("pfc", "pause", "cbfc", "florax", "destination", "output", "trim", "cut", "sfc", "bounce", "detour",
                     "watchdog", "outside", "afd", "congestion-point", "pipeline"):
        chosen[0] = "incast"
    lines = []
    for kind in chosen:
        period, process = time(grid / 4), 'kind = "pairs"\n' + ends(1 + draw.random.randrange(2))
        frame = f'frame = "{draw.pick("200B", "800B", "1500B")}"'
        if draw.chance(0.5):
            frame = 'frame = "800B"\nframe_deviation = "300B"'
        sizes = draw.pick('"3KB"', '{ uniform = ["1KB", "9KB"] }')
        text = {
            "pairs": f'kind = "pairs"\n{ends(1 + draw.random.randrange(3))}\n{size("500B", "3KB", "20KB", "60KB")}',
            "endless": f'kind = "pairs"\n{ends(1)}\nsize = "endless"',
            "ring": 'kind = "pairs"\npairs = [["H1", "H3"], ["H2", "H4"], ["H3", "H1"], ["H4", "H2"]]\n'
                    f'{size("200KB", "endless")}',
            "incast": f'kind = "incast"\nreceiver = "H{hosts}"\nfan_in = 3\n{size("20KB", "60KB")}',
            "poisson": f'kind = "poisson"\nsizes = {sizes}\nload = {draw.pick("0.3", "0.7")}'
                       + draw.pick("", f'\njitter = "{time(grid)}"', f'\nstop = "{time(grid * 3)}"'),
            "permutation": f'kind = "permutation"\n{size("3KB", "20KB")}',
            "stride": f'kind = "stride"\nstride = 1\n{size("3KB", "12KB")}',
            "all-to-all": f'kind = "all-to-all"\nhosts = ["H1", "H2", "H3"]\n{size("3KB", "9KB")}',
            "random": f'kind = "random"\ncount = 4\n{size("3KB", "20KB")}',
            "request": 'kind = "request-reply"\nclient = "H1"\nservers = ["H2", "H3"]\n'
                       f'reply_size = "{draw.pick("2KB", "9KB")}"\nrequests = {draw.pick("2", "5", "30")}',
            "collective": f'kind = "collective"\noperation = "{draw.pick("all-reduce", "all-gather", "reduce-scatter")}"'
                          f'\nsize = "{draw.pick("8KB", "32KB")}"\niterations = {draw.pick("1", "2", "4")}'
                          + draw.pick("", "\nqps_per_connection = 2", "\nconnection_per_message = true", "\nchunks = 2"),
            "periodic": f'{process}\nprocess = "periodic"\nperiod = "{period}"\n'
                        f'frame = "{draw.pick("200B", "800B", "1500B")}"',
            "constant": f'{process}\nprocess = "constant"\nload = {draw.pick("0.3", "0.7", "1.0")}\n{frame}\n'
                        f'jitter = "{time(grid)}"',
            "bursts": f'{process}\nprocess = "bursts"\nframe_gap = "1ns"\nframes_per_burst = 10\n'
                      f'pause = "{time(grid)}"\n{size("20KB", "200KB")}\n{frame}',
            "poisson frames": f'{process}\nprocess = "poisson"\nload = {draw.pick("0.3", "0.7")}\n{frame}',
            "on-off": f'{process}\nprocess = "on-off"\nload = 0.8\nmean_on = "{time(grid)}"\n'
                      f'mean_off = "{time(grid)}"\n{frame}',
        }[kind]
        lines += ["[[traffic]]", text]
        if draw.chance(0.3):
            lines.append(f'label = "{draw.pick("web", "storage", "web")}"')
        if draw.kind not in ("cyclic", "congestion-point") and draw.chance(0.3):
            lines.append(f"class = {draw.pick(1, 2, 4)}")
        if draw.chance(0.3) and kind not in ("ring", "poisson"):
            lines.append(f'start = "{time(draw.random.randrange(1, 4) * grid / 3)}"')
    return lines


def scenario(number):
    """Returns the text of a scenario."""
    draw = Draw(number)
    rate = draw.pick("1Gbps", "3Gbps", "10Gbps", "10Gbps", "100Gbps")
    if draw.kind in ("watchdog", "ring", "pipeline"):
        rate = "10Gbps"
    grid = GRID[rate]
    fabric_lines, hosts, switches = fabric(draw, rate)
    switch_lines, after = switch(draw, rate)
    spread = draw.pick("flow", "flow", "packet", "path", "entropy")
    if draw.kind in ("ring", "bounce", "congestion-point"):
        spread = "flow"
    host_lines = host(draw, spread)
    steps = draw.pick(12, 16, 20)
    duration = steps * grid + draw.pick(0, 0, grid / 8)
    traffic = entries(draw, hosts, grid)
    ends = any(re.search(r'^(reply_)?size = "\d', text, re.MULTILINE) for text in traffic)
    until = ends and draw.kind not in ("florax", "watchdog", "ring") and draw.chance(0.2)
    if until:
        duration = max(duration * 6, 100_000)
    head = [f'name = "derived {number}"', f'duration = "{time(duration)}"', f"seed = {number}"]
    if until:
        head.append('until = "flows done"')
    measure = []
    if draw.chance(0.5):
        measure.append(f'warm_up = "{time(draw.pick(1, 3) * grid)}"')
    if draw.chance(0.3) and not until:
        measure.append(f'end = "{time(draw.pick(8, 10) * grid)}"')
    if draw.chance(0.5):
        measure.append("queues = " + table(every=f'"{time(grid / draw.pick(2, 8))}"'))
    if draw.kind in PER_QUEUE and draw.kind not in ("cut", "pipeline") and draw.chance(0.4):
        measure.append("queue_utilisation = 0.5")
    if draw.chance(0.3):
        measure.append("reordering = true")
        if draw.chance(0.5):
            measure.append("reordering_threshold = 3")
    if draw.chance(0.3):
        measure.append("jitter = true")
    every = [f'{key} = {{ every = "{time(grid / draw.pick(1, 2, 4))}" }}' for key in ("links", "throughput", "queues")]
    lines = head + ["[fabric]"] + fabric_lines + ["[routing]", f'spread = "{spread}"']
    lines += ["[switch]"] + switch_lines + ["[host]"] + host_lines + after
    lines += ["[measure]"] + measure + ["[record]", "trace = {}", "pauses = true"] + every
    if draw.kind == "bounce":
        lines += ["[check]", f'bounce_storm = {{ samples = 2, every = "{time(grid / 2)}", ratio = {draw.pick("0.2", "1")} }}']
    elif draw.kind != "ring" and draw.chance(0.2):
        lines += ["[check]", "deadlock = false"]
    if draw.chance(0.1) and switches > 1 and draw.kind not in ("watchdog",) and "leaf-spine" in fabric_lines[0]:
        lines += ["[[fail]]", 'link = ["L1", "S1"]', f'at = "{time(2 * grid)}"', f'until = "{time(5 * grid)}"']
    return "\n".join(lines + traffic) + "\n"
