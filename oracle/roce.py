"""RoCE with go-back-N (docs/mechanisms/roce.md), and the controls of its rate (whole bit/s) and window."""

from .network import BIT_PS, OVERHEAD_BYTES, ceil_div
from .scenario import Settings
from .transports import End


class RoceSender(End):
    paced = True  # [M44]

    def __init__(self, host, flow):
        super().__init__(host, flow)
        self.snd_una = self.snd_nxt = self.snd_max = 0
        self.last_start_ps = self.last_size = self.due_ps = self.deadline_ps = None
        self.has_timer, line = False, host.port.link.rate_bps
        most = line if self.settings.rate == "line" else min(line, self.settings.rate)  # [ROCE1]
        self.control = CONTROLS[self.settings.kind](self, most)

    def next_start_ps(self, now):
        """When the next packet may start at the present rate. [ROCE2]"""
        if self.last_start_ps is None:
            return now
        bits = (self.last_size + OVERHEAD_BYTES) * 8
        return self.last_start_ps + ceil_div(bits * BIT_PS, self.control.rate(now))

    def poll(self, now):
        flow, settings, window = self.flow, self.settings, self.control.window_bytes()
        if self.snd_nxt >= flow.size_bytes or window is not None and self.snd_nxt - self.snd_una >= window:  # [ROCE4]
            return None
        start_ps = self.next_start_ps(now)
        if start_ps > now:
            return min(start_ps, self.control.stage_end_ps or start_ps)  # [ROCE3]
        telemetry = self.control.telemetry_bytes
        frame = self.data_frame(self.snd_nxt, settings.payload, settings.header + telemetry, detail=now,
                                record=[] if telemetry else None, ecn=settings.ecn)
        flow.retransmitted_bytes += max(0, min(frame.payload, self.snd_max - self.snd_nxt))
        self.snd_nxt += frame.payload
        self.snd_max = max(self.snd_max, self.snd_nxt)
        self.last_start_ps, self.last_size = now, frame.size
        if self.deadline_ps is None:
            self.restart_timer(now)  # [ROCE7]
        start_ps = self.next_start_ps(now)  # before the byte counter counts this packet, which may stop the timer
        self.control.sent(now, frame.size)
        self.due_ps = min(start_ps, self.control.stage_end_ps or start_ps)  # [DCQCN6]
        return frame

    def restart_timer(self, now):
        if self.settings.timeout != "never":
            self.deadline_ps = now + self.settings.timeout if self.snd_una < self.snd_max else None
            self.create_timer()

    def create_timer(self):
        if self.deadline_ps is not None and not self.has_timer:
            self.has_timer = True
            self.host.timer(self.deadline_ps, self.fire)

    def fire(self, now):
        self.has_timer = False
        if self.ended or self.deadline_ps is None:
            return
        if now < self.deadline_ps:
            self.create_timer()  # [M25]
        else:
            self.flow.timeouts += 1
            self.snd_nxt = self.snd_una
            self.restart_timer(now)
        self.host.join(now, self)

    def receive(self, now, frame):
        if frame.kind == "cnp":
            self.control.notified(now)
        elif frame.detail.delivered_ps is not None:  # [ROCE8]
            self.flow.acked_ps = now
            self.host.end(self)
        elif self.snd_una <= frame.seq <= self.snd_max:  # [ROCE5]
            progress, lost = frame.seq > self.snd_una, frame.kind == "nak"
            if progress:
                self.snd_una, self.snd_nxt = frame.seq, max(self.snd_nxt, frame.seq)
                self.control.acknowledged(now, frame)
            if lost:
                self.snd_nxt = self.snd_una  # [ROCE6]
            if progress or lost:
                self.restart_timer(now)
        if not self.ended:
            self.host.join(now, self)  # [M47]


class RoceReceiver(End):
    def __init__(self, host, flow):
        super().__init__(host, flow)
        settings, self.delivered_ps = self.settings, None
        self.expected = self.count = self.next_nak_ps = self.next_cnp_ps = 0
        count = settings.segment // settings.payload if settings.kind == "timely" else settings.get("ack_every", 1)
        if settings.window != "unlimited":
            count = min(count, settings.window // settings.payload // 2)
        self.packets_per_ack = max(1, count)  # [ROCE11], [TIMELY1]

    def data(self, now, frame):
        settings = self.settings
        notifies = frame.marked and settings.kind == "dcqcn" and self.delivered_ps is None  # [ROCE12]
        if notifies and now >= self.next_cnp_ps:  # [DCQCN1]
            self.next_cnp_ps = now + settings.cnp_interval
            self.answer(now, "cnp", settings.cnp, frame)
        ack_bytes = settings.ack + settings.get("telemetry", 0)
        if frame.seq > self.expected:  # [ROCE9]
            if now >= self.next_nak_ps:
                self.next_nak_ps, self.count = now + settings.nak_interval, 0
                self.answer(now, "nak", ack_bytes, frame)
            return
        if frame.seq == self.expected:
            self.expected += frame.payload
            self.next_nak_ps = 0
            if self.expected == self.flow.size_bytes:
                self.delivered_ps = self.flow.delivered_ps = now
        self.count += 1  # [ROCE10]
        ends_flow = frame.seq + frame.payload == self.flow.size_bytes
        if self.delivered_ps is not None or ends_flow or self.count >= self.packets_per_ack:
            self.count = 0
            self.answer(now, "ack", ack_bytes, frame)

    def answer(self, now, kind, size, frame):
        record = frame.record if self.delivered_ps is None else None  # [HPCC3]
        detail = Settings(started_ps=frame.detail, delivered_ps=self.delivered_ps)
        self.reply(now, kind, self.expected, max(64, size), frame.cls, detail, record)


class Fixed:
    """A set rate and window."""
    telemetry_bytes, stage_end_ps = 0, None

    def __init__(self, sender, most_bps):
        self.sender, self.settings, self.most_bps = sender, sender.settings, most_bps
        initial = self.settings.get("initial_rate", "line")
        self.rate_bps = most_bps if initial == "line" else min(initial, most_bps)

    def rate(self, now):
        return self.rate_bps

    def window_bytes(self):
        return None if self.settings.window == "unlimited" else self.settings.window

    def ignore(self, *event):
        pass

    sent = acknowledged = notified = ignore

    def limit(self, rate_bps):
        return min(self.most_bps, max(self.settings.min_rate, rate_bps))


class Timely(Fixed):
    """Mittal et al., SIGCOMM 2015, algorithm 1."""
    difference_ps, last_rtt_ps, calm = 0.0, None, 0

    def acknowledged(self, now, frame):
        settings, line_bps = self.settings, self.sender.host.port.link.rate_bps
        on_wire = settings.payload + settings.header + OVERHEAD_BYTES
        rtt = max(0, now - frame.detail.started_ps - ceil_div(on_wire * 8 * BIT_PS, line_bps))  # [TIMELY2]
        new = 0 if self.last_rtt_ps is None else rtt - self.last_rtt_ps
        self.last_rtt_ps = rtt
        self.difference_ps = (1 - settings.ewma) * self.difference_ps + settings.ewma * new  # [TIMELY3]
        gradient = self.difference_ps / settings.min_rtt
        self.calm = self.calm + 1 if settings.t_low <= rtt <= settings.t_high and gradient <= 0 else 0  # [TIMELY5]
        if rtt < settings.t_low or self.calm:
            factor = settings.hyper_factor if self.calm and self.calm >= settings.hyper_after else 1
            self.rate_bps = min(self.most_bps, self.rate_bps + settings.additive_increase * factor)
        else:
            excess = 1 - settings.t_high / rtt if rtt > settings.t_high else gradient
            self.rate_bps = self.limit(int(self.rate_bps * max(0.0, 1 - settings.beta * excess)))  # [TIMELY4]


def power(base, exponent):
    """By squaring, from the lowest bit of the exponent. [DCQCN3]"""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


class Dcqcn(Fixed):
    """Zhu et al., SIGCOMM 2015; the recovery is that of IEEE 802.1Qau."""
    last_cut_ps = last_notified_ps = sample_ps = None
    timer_stages = byte_stages = bytes = 0
    noticed = False

    def __init__(self, sender, most_bps):
        super().__init__(sender, most_bps)
        self.target_bps, self.alpha = self.rate_bps, self.settings.initial_alpha

    def rate(self, now):
        while self.stage_end_ps is not None and self.stage_end_ps <= now:  # [DCQCN8]
            self.stage_end_ps += self.settings.increase_timer
            self.timer_stages += 1
            self.rise()
        return self.rate_bps

    def rise(self):
        """The end of a stage. [DCQCN7]"""
        settings = self.settings
        on = [stages for stages, length in ((self.timer_stages, settings.increase_timer),
                                            (self.byte_stages, settings.byte_counter)) if length]
        if max(self.timer_stages, self.byte_stages) >= settings.recovery_stages:
            is_hyper = min(on) > settings.recovery_stages
            self.target_bps += settings.hyper_increase if is_hyper else settings.additive_increase
        self.target_bps = min(self.most_bps, self.target_bps)
        self.rate_bps += ceil_div(self.target_bps - self.rate_bps, 2)
        if self.rate_bps == self.most_bps:
            self.stage_end_ps = None

    def sent(self, now, size):  # [DCQCN6]
        counter = self.settings.byte_counter
        if counter and self.rate(now) < self.most_bps:
            self.bytes += size
            while self.bytes >= counter and self.rate_bps < self.most_bps:
                self.bytes -= counter
                self.byte_stages += 1
                self.rise()

    def notified(self, now):
        settings, gain = self.settings, self.settings.gain
        self.rate(now)
        if settings.alpha_sample == "cut":
            periods = 0 if self.last_notified_ps is None else (now - self.last_notified_ps) // settings.alpha_timer
            self.alpha *= power(1 - gain, periods)  # [DCQCN3]
        else:
            self.sample(now)
        self.last_notified_ps = now
        if self.last_cut_ps is not None and now - self.last_cut_ps < settings.decrease_interval:
            return
        if settings.clamp_target or self.last_cut_ps is None or self.timer_stages or self.byte_stages:  # [DCQCN4]
            self.target_bps = self.rate_bps
        self.last_cut_ps = now
        self.rate_bps = max(settings.min_rate, int(self.rate_bps * (1 - self.alpha / 2)))
        self.timer_stages = self.byte_stages = self.bytes = 0
        runs = settings.increase_timer and self.rate_bps < self.most_bps
        self.stage_end_ps = now + settings.increase_timer if runs else None
        if settings.alpha_sample == "cut":
            self.alpha = (1 - gain) * self.alpha + gain

    def sample(self, now):  # [DCQCN5]
        gain = self.settings.gain
        if self.sample_ps is None:
            self.sample_ps = now
            return
        periods = (now - self.sample_ps) // self.settings.alpha_timer
        if periods:
            self.sample_ps += periods * self.settings.alpha_timer
            self.alpha = (1 - gain) * self.alpha + (gain if self.noticed else 0.0)
            self.alpha *= power(1 - gain, periods - 1)
        self.noticed = True


class Hpcc(Fixed):
    """Li et al., SIGCOMM 2019, algorithm 1."""
    utilisation, steps, mark, kept = 1.0, 0, 0, None

    def __init__(self, sender, most_bps):
        super().__init__(sender, most_bps)
        settings = self.settings
        self.telemetry_bytes, self.reference_bps = settings.telemetry, self.rate_bps
        self.base_rtt_ps = settings.base_rtt
        if settings.base_rtt == "path":
            self.base_rtt_ps = sender.host.network.base_rtt_ps(
                sender.flow, settings.payload + settings.header + settings.telemetry,
                max(64, settings.ack + settings.telemetry))

    def window_bytes(self):
        return max(1, self.rate_bps * (self.base_rtt_ps // 1000) // 8000000000)  # [HPCC10]

    def acknowledged(self, now, frame):
        settings, record = self.settings, frame.record
        ends_round = self.kept is None or frame.seq > self.mark  # [HPCC5]
        if frame.seq > self.mark:
            self.mark = max(self.mark, self.sender.snd_nxt)
        if record is None or not ends_round and not settings.fast_reaction:
            return
        kept, self.kept = self.kept, record
        if kept is None or len(kept) != len(record) or any(
                new[0] < old[0] or new[3] < old[3] for old, new in zip(kept, record)):  # [HPCC6]
            return
        links = []
        for index, ((old_ps, _, old_queue, old_bytes), (new_ps, rate, queue, sent)) in enumerate(zip(kept, record)):
            if new_ps <= old_ps:
                record[index] = kept[index]
            else:
                used = (sent - old_bytes) * 8e12 / (new_ps - old_ps) / rate \
                    + min(old_queue, queue) * 8 * 1e12 / (rate * self.base_rtt_ps)  # [HPCC7]
                links.append((used, new_ps - old_ps))
        if not links:
            return
        greatest, span_ps = max(links, key=lambda link: link[0])
        weight = min(span_ps, self.base_rtt_ps) / self.base_rtt_ps
        self.utilisation = (1 - weight) * self.utilisation + weight * greatest
        excess = self.utilisation / settings.target_utilisation  # [HPCC8]
        if excess >= 1 or self.steps >= settings.max_stage:
            base, steps = min(self.most_bps, int(self.reference_bps * (1 / excess))), 0
        else:
            base, steps = self.reference_bps, self.steps + 1
        self.rate_bps = self.limit(base + settings.additive_increase)
        if ends_round:  # [HPCC9]
            self.reference_bps, self.steps = self.rate_bps, steps


CONTROLS = {"roce": Fixed, "timely": Timely, "dcqcn": Dcqcn, "hpcc": Hpcc}
