"""What sets the rate and window of a RoCE flow. Rates are whole bits per second."""

from .values import BIT_PS, OVERHEAD_BYTES, ceil_div


def make(sender, most_bps):
    return {"roce": Fixed, "timely": Timely, "dcqcn": Dcqcn, "hpcc": Hpcc}[sender.settings.kind](sender, most_bps)


def packets_per_ack(settings):
    """[ROCE11], [TIMELY1]"""
    if settings.kind == "hpcc":
        return 1
    count = settings.segment // settings.payload if settings.kind == "timely" else settings.ack_every
    if settings.window != "unlimited":
        count = min(count, settings.window // settings.payload // 2)
    return max(1, count)


class Fixed:
    """A set rate and window."""

    telemetry_bytes = 0

    def __init__(self, sender, most_bps):
        self.sender, self.settings, self.most_bps, self.rate_bps = sender, sender.settings, most_bps, most_bps
        initial = self.settings.get("initial_rate", "line")
        if initial != "line":
            self.rate_bps = min(initial, most_bps)

    def rate(self, now):
        return self.rate_bps

    def next_change_ps(self):
        return None

    def window_bytes(self, now):
        return None if self.settings.window == "unlimited" else self.settings.window

    def sent(self, now, size):
        pass

    def acknowledged(self, now, frame):
        pass

    def notified(self, now):
        pass


class Timely(Fixed):
    """Mittal et al., SIGCOMM 2015, algorithm 1."""

    def __init__(self, sender, most_bps):
        super().__init__(sender, most_bps)
        self.difference_ps, self.last_rtt_ps, self.calm = 0.0, None, 0

    def acknowledged(self, now, frame):
        settings, line_bps = self.settings, self.sender.host.port.wire.rate_bps
        on_wire = settings.payload + settings.header + OVERHEAD_BYTES
        rtt = max(0, now - frame.detail.started_ps - ceil_div(on_wire * 8 * BIT_PS, line_bps))  # [TIMELY2]
        new = 0 if self.last_rtt_ps is None else rtt - self.last_rtt_ps
        self.last_rtt_ps = rtt
        self.difference_ps = (1 - settings.ewma) * self.difference_ps + settings.ewma * new  # [TIMELY3]
        gradient = self.difference_ps / settings.min_rtt
        calm, self.calm = self.calm, 0
        if rtt < settings.t_low:
            self.rise(settings.additive_increase)
        elif rtt > settings.t_high:
            self.fall(1 - settings.beta * (1 - settings.t_high / rtt))
        elif gradient <= 0:
            self.calm = calm + 1  # [TIMELY5]
            self.rise(settings.additive_increase * (settings.hyper_factor if self.calm >= settings.hyper_after else 1))
        else:
            self.fall(1 - settings.beta * gradient)

    def rise(self, step_bps):
        self.rate_bps = min(self.most_bps, self.rate_bps + step_bps)

    def fall(self, factor):
        """[TIMELY4]"""
        self.rate_bps = min(self.most_bps, max(self.settings.min_rate, int(self.rate_bps * max(0.0, factor))))


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

    def __init__(self, sender, most_bps):
        super().__init__(sender, most_bps)
        self.target_bps, self.alpha = self.rate_bps, self.settings.initial_alpha
        self.timer_stages = self.byte_stages = self.bytes = 0
        self.stage_end_ps = self.last_cut_ps = self.last_notified_ps = self.sample_ps = None
        self.noticed = False

    def rate(self, now):
        while self.stage_end_ps is not None and self.stage_end_ps <= now:  # [DCQCN8]
            self.stage_end_ps += self.settings.increase_timer
            self.timer_stages += 1
            self.rise()
        return self.rate_bps

    def next_change_ps(self):
        return self.stage_end_ps

    def rise(self):
        """The end of a stage. [DCQCN7]"""
        settings = self.settings
        first = settings.recovery_stages
        on = [stages for stages, length in ((self.timer_stages, settings.increase_timer),
                                            (self.byte_stages, settings.byte_counter)) if length]
        if max(self.timer_stages, self.byte_stages) < first:
            step = 0
        elif min(on) > first:
            step = settings.hyper_increase
        else:
            step = settings.additive_increase
        self.target_bps = min(self.most_bps, self.target_bps + step)
        self.rate_bps += ceil_div(self.target_bps - self.rate_bps, 2)
        if self.rate_bps == self.most_bps:
            self.stage_end_ps = None

    def sent(self, now, size):
        """[DCQCN6]"""
        self.rate(now)
        if not self.settings.byte_counter or self.rate_bps == self.most_bps:
            return
        self.bytes += size
        while self.bytes >= self.settings.byte_counter and self.rate_bps < self.most_bps:
            self.bytes -= self.settings.byte_counter
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

    def sample(self, now):
        """[DCQCN5]"""
        settings = self.settings
        if self.sample_ps is None:
            self.sample_ps = now
            return
        periods = (now - self.sample_ps) // settings.alpha_timer
        if periods:
            self.sample_ps += periods * settings.alpha_timer
            self.alpha = (1 - settings.gain) * self.alpha + (settings.gain if self.noticed else 0.0)
            self.alpha *= power(1 - settings.gain, periods - 1)
            self.noticed = False
        self.noticed = True


class Hpcc(Fixed):
    """Li et al., SIGCOMM 2019, algorithm 1."""

    def __init__(self, sender, most_bps):
        super().__init__(sender, most_bps)
        self.telemetry_bytes = self.settings.telemetry
        self.base_rtt_ps = self.settings.base_rtt
        if self.base_rtt_ps == "path":
            self.base_rtt_ps = sender.host.network.base_rtt_ps(
                sender.flow, self.settings.payload + self.settings.header + self.telemetry_bytes,
                max(64, self.settings.ack + self.telemetry_bytes))
        self.reference_bps, self.utilisation, self.steps = self.rate_bps, 1.0, 0
        self.mark, self.kept = 0, None

    def window_bytes(self, now):
        return max(1, self.rate_bps * (self.base_rtt_ps // 1000) // 8000000000)  # [HPCC10]

    def acknowledged(self, now, frame):
        settings, record = self.settings, frame.detail.record
        if record is None:
            return
        ends_round = self.kept is None or frame.seq > self.mark  # [HPCC5]
        if frame.seq > self.mark:
            self.mark = max(self.mark, self.sender.snd_nxt)
        if not ends_round and not settings.fast_reaction:
            return
        kept, self.kept = self.kept, record
        if kept is None or len(kept) != len(record) or any(
                new[0] < old[0] or new[3] < old[3] for old, new in zip(kept, record)):  # [HPCC6]
            return
        greatest, span_ps = None, 0
        for index, ((old_ps, _, old_queue, old_bytes), (new_ps, rate, queue, sent)) in enumerate(zip(kept, record)):
            between = new_ps - old_ps
            if between <= 0:
                record[index] = kept[index]
                continue
            used = (sent - old_bytes) * 8e12 / between / rate \
                + min(old_queue, queue) * 8 * 1e12 / (rate * self.base_rtt_ps)  # [HPCC7]
            if greatest is None or used > greatest:
                greatest, span_ps = used, between
        if greatest is None:
            return
        weight = min(span_ps, self.base_rtt_ps) / self.base_rtt_ps
        self.utilisation = (1 - weight) * self.utilisation + weight * greatest
        excess = self.utilisation / settings.target_utilisation  # [HPCC8]
        if excess >= 1 or self.steps >= settings.max_stage:
            base, steps = min(self.most_bps, int(self.reference_bps * (1 / excess))), 0
        else:
            base, steps = self.reference_bps, self.steps + 1
        self.rate_bps = min(self.most_bps, max(settings.min_rate, base + settings.additive_increase))
        if ends_round:  # [HPCC9]
            self.reference_bps, self.steps = self.rate_bps, steps
