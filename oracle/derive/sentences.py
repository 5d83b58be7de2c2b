"""Sentences of the checks and of the warnings."""

from collections import Counter

from .values import AnyOrder, OneOf, Underived, time_text
from .run import quantity
from .warnings import Warnings

ROOM = ("lossless queue full", "queue full")
NO_NEIGHBOUR = "not applicable: "


def check(name, detail, passes=True):
    judged = not (isinstance(detail, str) and detail.startswith(NO_NEIGHBOUR))
    return {"name": name, "pass": passes, "applicable": judged, "detail": detail}


class Sentences:
    """Checks and warnings of one run."""

    def __init__(self, derived):
        self.derived, self.run = derived, derived.run
        self.kind = self.run.control.get("kind", "none")
        lossless = derived.lossless()
        self.promised = bool(lossless & set(derived.ports.classes))
        self.lost = [packet for packet in derived.frames.lost if packet.dropped_class in lossless]

    # Checks.

    def checks(self):
        run, frames = self.run, self.derived.frames
        found = [self.conservation()]
        if self.kind != "none":
            found += [self.lossless(), self.pauses()]
        if run.overload in ("bounce", "detour"):
            found.append(self.bounces())
        if self.keeps_order():
            whole = len(frames.whole)
            detail = f"{0} of {whole} frames out of order" if whole else "not applicable: no data frame arrived"
            found.append(check("order", detail))
        found += [self.buffer(), self.little(), self.work()]
        if self.kind in ("pfc", "pause", "cbfc"):
            found.append(self.deadlock())
        if self.kind != "none":
            found.append(self.stall())
        if run.scenario.get("measure", {}).get("reordering"):
            displaced, _, early, ignored = frames.density()
            count = sum(displaced.values()) + early + ignored
            found.append(check("reorder", f"{count} frames evaluated, each once" if count else
                               "not applicable: no data frame arrived"))
        if self.derived.ports.threshold is not None:
            found.append(self.load())
        if any(entry["kind"] == "collective" for entry in run.traffic):
            found.append(self.collectives())
        return found

    def conservation(self):
        count, size = len(self.run.packets), self.derived.frames.all_bytes
        return check("conservation", f"{count} frames, {size} bytes accounted for" if count else
                     "not applicable: no frame was sent")

    def keeps_order(self):
        """Flow-hash routing without failures, bounces, detours or trims, and one queue for each class."""
        run = self.run
        return (run.scenario.get("routing", {}).get("spread", "flow") == "flow" and "fail" not in run.scenario
                and run.overload not in ("bounce", "detour") and "cyclic" not in run.scenario)

    def losses(self):
        """Returns the part of the sentence on losses of lossless classes for other causes than room."""
        from .frames import CAUSES
        counts = Counter((packet.cause, packet.dropped_class) for packet in self.lost if packet.cause not in ROOM)
        parts = []
        for cause in CAUSES:
            classes = sorted(klass for other, klass in counts if other == cause)
            total = sum(counts[cause, klass] for klass in classes)
            if len(classes) == 1:
                parts.append(f"{cause} {total} (class {classes[0]})")
            elif classes:
                by_class = ", ".join(f"class {klass}: {counts[cause, klass]}" for klass in classes)
                parts.append(f"{cause} {total} ({by_class})")
        total = sum(counts.values())
        return f"{total} of lossless classes lost for other causes: {', '.join(parts)}" if parts else None

    def lossless(self):
        full = [packet for packet in self.lost if packet.cause in ROOM]
        otherwise = self.losses()
        if not full and not self.promised:
            tail = f"; {otherwise}" if otherwise else ""
            return check("lossless", f"not applicable: no traffic in a lossless class{tail}")
        if full:
            first = next(row for row in self.run.events if row["event"] == "dropped" and row["cause"] in ROOM
                         and row["class"] in self.derived.lossless())
            parts = [f"{len(full)} lossless frames ({sum(packet.size for packet in full)} bytes) dropped at a full buffer",
                     f"first at {time_text(first['time_ps'])} at {self.run.name(first['node'])}, ingress port "
                     f"{first['in_port']}, class {first['class']}"]
        elif not otherwise:
            parts = ["no lossless frame dropped"]
        elif not any(packet.cause == "outside flow control" for packet in self.lost):
            parts = ["no loss at a full buffer"]
        else:
            parts = ["no loss at a full buffer within flow control"]
        return check("lossless", "; ".join(parts + [otherwise] * bool(otherwise)), not full)

    def pauses(self):
        begun, resumed, expired, standing = self.derived.ports.pause_counts()
        count = self.derived.frames.count
        if not begun and not any(count[event] for event in ("pause sent", "xoff")) and not self.derived.ports.credits_sent():
            return check("pauses", "not applicable: no pause frames sent")
        return check("pauses", f"{begun} pauses = {resumed} resumes + {expired} expiries + {standing} still paused")

    def bounces(self):
        frames = self.derived.frames
        made = frames.count["bounced"] + frames.count["detoured"]
        open_bounces = sum(packet.bounces for packet in self.run.packets.values() if packet.end is None)
        return check("bounces", f"{made} bounces, {open_bounces} of frames in flight" if made else
                     "not applicable: no frame was bounced")

    def limited(self):
        """Returns the number of buffers, queues and accounts with a limit."""
        run, ports = self.run, self.derived.ports
        switches = len(run.names) - len(run.hosts)
        queues = len(ports.switch_ports) * len(ports.classes)
        if ports.limit is not None:
            by_output = self.kind in ("florax", "destination", "pause-at-output")
            return queues * (2 if run.overload == "bounce" else 1) + len(ports.switch_ports) * by_output
        lossless = self.derived.lossless()
        count, static = switches, isinstance(run.switch.get("egress_threshold", 1), str)
        for node, _ in ports.switch_ports:
            covered = lossless if self.takes_part(node) else set()
            accounts = 1 if self.kind == "pause" and covered else len(covered & set(ports.classes))
            count += accounts
            if static:
                count += len(set(ports.classes) - covered)
        return count

    def takes_part(self, node):
        """Returns whether a switch has flow control."""
        control, run = self.run.control, self.run
        if run.name(node) in control.get("except", []):
            return False
        tiers = control.get("tiers", "all")
        at_host = any(port.node == node and port.peer in run.is_host for port in run.ports.values())
        return tiers == "all" or (1 in tiers) == at_host

    def buffer(self):
        count = self.limited()
        them, whose = ("buffer or queue", "its limit") if count == 1 else ("buffers and queues", "their limits")
        return check("buffer", f"{count} {them} within {whose}")

    def little(self):
        ports = self.derived.ports
        watched = len(ports.switch_ports) * len(ports.classes) * (2 if self.run.overload == "bounce" else 1)
        used = sum(queue.waited for queue in ports.queues.values())
        if self.kind in ("florax", "destination", "pause-at-output"):
            watched += len(ports.switch_ports)
        if self.run.overload == "pipeline-trim":
            pipelines = self.run.switch["overload"]["pipelines"]
            watched += (len(self.run.names) - len(self.run.hosts)) * pipelines
            used += len(ports.recirculating)
        if self.derived.ports.holds():
            return check("little's law", Underived("queues beside held flows"))
        if not used:
            return check("little's law", "not applicable: no frame waited in a queue")
        rest = "" if used == watched else "; no frame waited in the others"
        return check("little's law", f"exact to the picosecond in {used} of {watched} queues{rest}")

    def work(self):
        """Ports that started a frame, MAC control frames included."""
        count = self.derived.ports.used_ports()
        if not count:
            return check("work conservation", "not applicable: no port sent a frame")
        plural = "" if count == 1 else "s"
        return check("work conservation", f"no wire of {count} port{plural} idle with an eligible frame")

    def deadlock(self):
        reported = self.run.scenario.get("check", {}).get("deadlock", {})
        every = quantity(reported.get("every", "10us")) if reported is not False else None
        if every is None or every > self.run.end_of_run:
            return check("deadlock", "not applicable: the detector was off or never ran")
        found = self.derived.deadlock
        if found is None:
            return check("deadlock", "none")
        return check("deadlock", Underived("size of the stuck set"), False)

    def stall(self):
        if not self.promised:
            return check("stall", "not applicable: no traffic in a lossless class")
        standing, hosts = self.derived.ports.stopped_at_end()
        if self.derived.deadlock is not None:
            return check("stall", Underived("size of the stuck set"))
        if self.derived.ports.may_starve(self.derived.lossless()):
            reported = check("stall", Underived("size of the stuck set"))
            return reported | {"pass": Underived("size of the stuck set")}
        # Whether a stopped host has something to send is in no table.
        return check("stall", OneOf([self.stopped(standing + more) for more in range(hosts + 1)]))

    @staticmethod
    def stopped(count):
        detail = {0: "no queue stopped at the end", 1: "1 queue stopped at the end, waiting for a queue that drains"}
        return detail.get(count, f"{count} queues stopped at the end, each waiting for a queue that drains")

    def load(self):
        ports = self.derived.ports
        if self.derived.ports.holds():
            return check("load", Underived("queues beside held flows"))
        if not any(queue.area for queue in ports.queues.values()):
            return check("load", "not applicable: no frame waited in a queue")
        count = ports.utilisation()["queues"]
        return check("load", f"utilisation of {count} queues agrees with their lengths")

    def collectives(self):
        """Each iteration beside the bytes of its connections at a port over the port's rate."""
        found = self.derived.flows.completed_iterations
        if not found:
            return check("collectives", "not applicable: no iteration of a collective operation is complete")
        times = [(took / bound, took, bound) for took, bound in
                 ((took, self.derived.bound_of(flows)) for took, flows in found)]
        _, took, bound = min(times, key=lambda item: item[0])
        count = len(found)
        them = "1 iteration" if count == 1 else f"{count} iterations, each"
        return check("collectives", f"{them} at least as long as its links require; the closest {time_text(took)}, "
                                    f"lower bound {time_text(bound)}")

    # Warnings.

    def warnings(self):
        return AnyOrder(Warnings(self.derived).all())
