//! Rate recovery after a cut, as in QCN and DCQCN (IEEE 802.1Qau, 30.2; Zhu et al., DCQCN, SIGCOMM 2015, sec. 3.1). A
//! byte counter and a timer count stages. Until one of these counters has completed `stages` stages, each stage
//! halves the distance of the rate to the target rate (fast recovery). Afterwards each stage also raises the target
//! rate: by a small step (additive increase), or by a large step if both active counters have completed more than
//! `stages` stages (hyper increase). `additive_after` and `hyper_after` shift these two conditions.
//!
//! No timer events are needed: [`RateRecovery::advance`] applies all timer stages since the last call. At the maximum
//! rate there are no stages.

use units::{Rate, Time};

/// Parameters of fast recovery, additive increase and hyper increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryParameters {
    /// Bytes per stage of the byte counter; 0 disables it.
    pub byte_counter_bytes: u64,
    /// Duration of a timer stage; zero disables the timer.
    pub timer: Time,
    /// Number of stages of fast recovery.
    pub stages: u32,
    /// Stages after fast recovery from which additive increase begins, counted by the counter with more stages.
    pub additive_after: u32,
    /// Stages after fast recovery from which hyper increase begins, counted by the counter with fewer stages.
    pub hyper_after: u32,
    /// Whether a flow that starts below the maximum rate rises in stages before its first cut.
    pub increase_before_cut: bool,
    /// Step of the target rate per stage of additive increase.
    pub additive_increase: Rate,
    /// Step of the target rate per stage of hyper increase.
    pub hyper_increase: Rate,
    /// 802.1Qau: the step of the target rate is `i * hyper_increase` in stage i of hyper increase.
    pub hyper_by_stage: bool,
    /// 802.1Qau: after fast recovery the stage lengths of both counters are halved.
    pub half_after_recovery: bool,
    /// Lower bound of the rate.
    pub min_rate: Rate,
}

/// Rate of one flow, and its recovery to the maximum rate `line`.
#[derive(Clone, Debug)]
pub struct RateRecovery {
    current: Rate,
    target: Rate,
    line: Rate,
    /// Bytes sent in the current stage of the byte counter.
    bytes: u64,
    /// End of the current timer stage; [`Time::MAX`] at the maximum rate.
    stage_end: Time,
    byte_stage: u32,
    /// Completed stages of the timer, or [`UNCUT`].
    timer_stage: u32,
}

/// Value of `timer_stage` before the first cut of a flow that rises only after a cut.
const UNCUT: u32 = u32::MAX;

impl RateRecovery {
    /// Maximum rate of the flow.
    pub fn most(&self) -> Rate {
        self.line
    }

    /// Creates the state of a flow that starts at the rate `line`, with an inactive rate limiter.
    pub fn new(line: Rate) -> Self {
        Self { current: line, target: line, line, bytes: 0, stage_end: Time::MAX, byte_stage: 0, timer_stage: 0 }
    }

    /// Creates the state of a flow that starts at time `at` with rate `initial`, at most `line`. If the rate is below
    /// `line`, it rises in stages, as after a cut, unless `increase_before_cut` is `false`.
    pub fn starting(parameters: &RecoveryParameters, initial: Rate, line: Rate, at: Time) -> Self {
        let increases = parameters.increase_before_cut;
        let by_timer = increases && initial < line && parameters.timer > Time::ZERO;
        let stage_end = if by_timer { at.saturating_add(parameters.timer) } else { Time::MAX };
        let timer_stage = if increases { 0 } else { UNCUT };
        Self { current: initial, target: initial, stage_end, timer_stage, ..Self::new(line) }
    }

    /// Current rate.
    #[inline]
    pub fn current(&self) -> Rate {
        self.current
    }

    /// Target rate of the recovery.
    pub fn target(&self) -> Rate {
        self.target
    }

    /// Next time at which the rate changes without an event; [`Time::MAX`] at the maximum rate.
    #[inline]
    pub fn next_change(&self) -> Time {
        self.stage_end
    }

    /// Multiplies the rate by `factor` (0 to 1) and starts fast recovery towards the rate before the cut. With
    /// `keep_target`, a cut before the end of the first stage keeps the target rate of the previous cut.
    /// [`RateRecovery::advance`] must be called before.
    pub fn cut(&mut self, parameters: &RecoveryParameters, now: Time, factor: f64, keep_target: bool) {
        if !(keep_target && self.byte_stage == 0 && matches!(self.timer_stage, 0 | UNCUT)) {
            self.target = self.current;
        }
        // One correctly rounded multiplication, so that results are equal on every machine.
        let cut = (self.current.as_bps() as f64 * factor.clamp(0.0, 1.0)) as u64;
        let floor = parameters.min_rate.min(self.line);
        self.current = Rate::from_bps(cut).unwrap_or(Rate::MIN).clamp(floor, self.line);
        (self.bytes, self.byte_stage, self.timer_stage) = (0, 0, 0);
        self.stage_end = Time::MAX;
        if self.current < self.line && parameters.timer > Time::ZERO {
            self.stage_end = now.saturating_add(parameters.timer);
        }
    }

    /// Applies all timer stages that have ended by `now`.
    #[inline]
    pub fn advance(&mut self, parameters: &RecoveryParameters, now: Time) {
        while self.stage_end <= now && self.stage_end != Time::MAX {
            self.timer_stage = (self.timer_stage + 1).min(UNCUT - 1);
            let end = self.stage_end;
            self.increase(parameters);
            if self.stage_end != Time::MAX {
                let halved = parameters.half_after_recovery && self.timer_stage >= parameters.stages;
                let length = if halved { (parameters.timer / 2).max(Time::from_ps(1)) } else { parameters.timer };
                // The next stage starts at the end of the last stage, not at `now`, so that late calls yield equal
                // results.
                self.stage_end = end.saturating_add(length);
            }
        }
    }

    /// Counts `bytes` sent. [`RateRecovery::advance`] must be called before.
    #[inline]
    pub fn on_sent(&mut self, parameters: &RecoveryParameters, bytes: u64) {
        // At the maximum rate, stages have no effect, and the next cut resets them.
        if self.current == self.line || parameters.byte_counter_bytes == 0 || self.timer_stage == UNCUT {
            return;
        }
        self.bytes += bytes;
        // One frame may complete several stages.
        while self.current != self.line {
            let halved = parameters.half_after_recovery && self.byte_stage >= parameters.stages;
            let length =
                if halved { (parameters.byte_counter_bytes / 2).max(1) } else { parameters.byte_counter_bytes };
            if self.bytes < length {
                return;
            }
            self.bytes -= length;
            self.byte_stage = self.byte_stage.saturating_add(1);
            self.increase(parameters);
        }
    }

    /// Applies the increase at the end of a stage; the numbers of completed stages determine the phase (DCQCN, fig.
    /// 7).
    fn increase(&mut self, parameters: &RecoveryParameters) {
        let most = self.byte_stage.max(self.timer_stage);
        // A disabled counter does not prevent hyper increase.
        let least = match (parameters.byte_counter_bytes, parameters.timer) {
            (0, _) => self.timer_stage,
            (_, Time::ZERO) => self.byte_stage,
            _ => self.byte_stage.min(self.timer_stage),
        };
        let after = |stages: u32| parameters.stages.saturating_add(stages);
        let step = if least >= after(parameters.hyper_after) {
            let stage = if parameters.hyper_by_stage { u64::from(least - parameters.stages) } else { 1 };
            parameters.hyper_increase.as_bps().saturating_mul(stage)
        } else if most >= after(parameters.additive_after) {
            parameters.additive_increase.as_bps()
        } else {
            0
        };
        let target = self.target.as_bps().saturating_add(step).min(self.line.as_bps());
        // Rounded up, so that the rate reaches the target rate after finitely many stages.
        let current = self.current.as_bps() + (target - self.current.as_bps().min(target)).div_ceil(2);
        self.target = Rate::from_bps(target).unwrap_or(Rate::MIN);
        self.current = Rate::from_bps(current).unwrap_or(Rate::MIN).min(self.line);
        if self.current == self.line {
            // At the maximum rate, the rate limiter and its timer stop.
            self.stage_end = Time::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBPS: u64 = 1_000_000_000;

    fn parameters() -> RecoveryParameters {
        RecoveryParameters {
            byte_counter_bytes: 10_000_000,
            timer: Time::from_us(55),
            stages: 5,
            additive_after: 0,
            hyper_after: 1,
            increase_before_cut: true,
            additive_increase: Rate::from_mbps(40),
            hyper_increase: Rate::from_mbps(400),
            hyper_by_stage: false,
            half_after_recovery: false,
            min_rate: Rate::from_mbps(100),
        }
    }

    /// One stage per `byte_counter_bytes` sent bytes, also if a frame is longer than a stage.
    #[test]
    fn a_byte_counter_below_a_frame_climbs_as_often_as_its_bytes_say() {
        let p = RecoveryParameters { byte_counter_bytes: 100, timer: Time::ZERO, ..parameters() };
        let climb = |frame_bytes: u64| {
            let mut flow = RateRecovery::new(Rate::from_gbps(40));
            flow.cut(&p, Time::ZERO, 0.01, false);
            (0..3000 / frame_bytes).for_each(|_| flow.on_sent(&p, frame_bytes));
            (flow.current(), flow.target(), flow.bytes)
        };
        assert_eq!(climb(1000), climb(100));
        assert_eq!(climb(1500), climb(50));
    }

    // [DCQCN7]
    #[test]
    fn a_counter_that_is_off_does_not_keep_the_other_from_hyper_increase() {
        let by_timer = RecoveryParameters { byte_counter_bytes: 0, ..parameters() };
        let by_bytes = RecoveryParameters { timer: Time::ZERO, ..parameters() };
        for p in [by_timer, by_bytes] {
            let mut flow = RateRecovery::new(Rate::from_gbps(40));
            flow.cut(&p, Time::ZERO, 0.5, false);
            flow.cut(&p, Time::ZERO, 0.5, false);
            let mut targets = Vec::new();
            for stage in 1..=7 {
                flow.advance(&p, Time::from_us(55 * stage));
                flow.on_sent(&p, p.byte_counter_bytes);
                targets.push(flow.target().as_bps() - 20 * GBPS);
            }
            assert_eq!(targets, [0, 0, 0, 0, 40_000_000, 440_000_000, 840_000_000]);
        }
    }

    #[test]
    fn fast_recovery_halves_the_distance_and_then_steps_additively() {
        let p = parameters();
        let mut flow = RateRecovery::new(Rate::from_gbps(40));
        flow.cut(&p, Time::ZERO, 0.5, false);
        // After a second cut, the target rate is below the line rate, so that all three phases occur.
        flow.cut(&p, Time::ZERO, 0.5, false);
        let mut seen = Vec::new();
        for stage in 1..=7 {
            assert_eq!(flow.next_change(), Time::from_us(55 * stage));
            flow.advance(&p, Time::from_us(55 * stage));
            seen.push(flow.current().as_bps());
        }
        // From 10 Gbps to the target rate of 20 Gbps: four stages of fast recovery, then target rates of 20.04, 20.08
        // and 20.12 Gbps.
        let golden =
            [15 * GBPS, 17_500_000_000, 18_750_000_000, 19_375_000_000, 19_707_500_000, 19_893_750_000, 20_006_875_000];
        assert_eq!(seen, golden);
        assert_eq!(flow.target().as_bps(), 20_120_000_000);
    }

    // [DCQCN7]
    #[test]
    fn hyper_increase_needs_both_counters_and_late_calls_change_nothing() {
        let p = parameters();
        let mut prompt = RateRecovery::new(Rate::from_gbps(100));
        (0..3).for_each(|_| prompt.cut(&p, Time::ZERO, 0.5, false));
        let mut late = prompt.clone();
        for stage in 1..=10 {
            prompt.advance(&p, Time::from_us(55 * stage));
        }
        late.advance(&p, Time::from_us(559));
        assert_eq!(prompt.current(), late.current());
        assert_eq!(prompt.target().as_bps(), 25 * GBPS + 6 * 40_000_000);
        for _ in 0..6 {
            prompt.on_sent(&p, 10_000_000);
        }
        // The timer has completed 10 stages. Byte counter stages 1 to 5 are still additive increase, because min(5,
        // 10) is not above 5; stage 6 is hyper increase.
        assert_eq!(prompt.target().as_bps(), 25 * GBPS + 11 * 40_000_000 + 400_000_000);
    }

    /// Both counters complete a stage in turn, the timer first. Steps of the target by the text of the thesis (both
    /// conditions from the fifth stage), as in QCN (hyper increase from the sixth), and by its algorithm 2 (both from
    /// the sixth), in Mbps.
    #[test]
    fn the_stages_of_both_increases_can_be_shifted() {
        let steps = |additive_after, hyper_after| {
            let p = RecoveryParameters { additive_after, hyper_after, ..parameters() };
            let mut flow = RateRecovery::new(Rate::from_gbps(100));
            (0..3).for_each(|_| flow.cut(&p, Time::ZERO, 0.5, false));
            let (mut before, mut steps) = (flow.target().as_bps(), Vec::new());
            for stage in 1..=6 {
                let mut step = |flow: &RateRecovery| {
                    steps.push((flow.target().as_bps() - before) / 1_000_000);
                    before = flow.target().as_bps();
                };
                flow.advance(&p, Time::from_us(55 * stage));
                step(&flow);
                flow.on_sent(&p, p.byte_counter_bytes);
                step(&flow);
            }
            steps.split_off(8) // from the fifth stage of the timer on
        };
        assert_eq!(steps(0, 0), [40, 400, 400, 400]);
        assert_eq!(steps(0, 1), [40, 40, 40, 400]);
        assert_eq!(steps(1, 1), [0, 0, 40, 400]);
    }

    /// From 2 of 10 Gbps, three stages of the timer and two of the byte counter: the target stays at 2 Gbps. After a
    /// cut to 1 Gbps, one stage of each leads to 1.5 and 1.75 Gbps.
    #[test]
    fn a_flow_increases_before_its_first_cut_only_if_set() {
        let run = |increase_before_cut| {
            let p = RecoveryParameters { increase_before_cut, stages: 1, ..parameters() };
            let (initial, line) = (Rate::from_gbps(2), Rate::from_gbps(10));
            let mut flow = RateRecovery::starting(&p, initial, line, Time::ZERO);
            flow.advance(&p, Time::from_us(3 * 55));
            (0..2).for_each(|_| flow.on_sent(&p, p.byte_counter_bytes));
            let before = (flow.current(), flow.next_change());
            let p = RecoveryParameters { stages: 5, ..p };
            flow.cut(&p, Time::from_us(200), 1e9 / before.0.as_bps() as f64, false);
            flow.advance(&p, Time::from_us(255));
            flow.on_sent(&p, p.byte_counter_bytes);
            (before, flow.current(), flow.target())
        };
        let (before, after, target) = run(false);
        assert_eq!(before, (Rate::from_gbps(2), Time::MAX));
        assert_eq!((after, target), (Rate::from_mbps(1750), Rate::from_gbps(2)));
        assert!(run(true).0.0 > Rate::from_gbps(2));
    }

    #[test]
    fn a_cut_starts_over() {
        let p = parameters();
        let mut flow = RateRecovery::new(Rate::from_gbps(40));
        (0..2).for_each(|_| flow.cut(&p, Time::ZERO, 0.5, false));
        flow.on_sent(&p, 9_999_999);
        flow.advance(&p, Time::from_us(6 * 55));
        flow.cut(&p, Time::from_us(6 * 55), 0.5, false);
        let target = flow.target();
        flow.on_sent(&p, 1);
        flow.advance(&p, Time::from_us(10 * 55));
        assert_eq!(flow.target(), target, "four stages of fast recovery leave the target alone");
        flow.advance(&p, Time::from_us(11 * 55));
        assert_eq!(flow.target().as_bps(), target.as_bps() + 40_000_000);
    }

    #[test]
    fn a_kept_target_moves_only_after_a_stage() {
        let p = parameters();
        let targets = |keep: bool| {
            let mut flow = RateRecovery::new(Rate::from_gbps(40));
            flow.cut(&p, Time::ZERO, 0.5, keep);
            flow.cut(&p, Time::from_us(50), 0.5, keep);
            let early = flow.target();
            flow.advance(&p, Time::from_us(105));
            flow.cut(&p, Time::from_us(105), 0.5, keep);
            [early, flow.target()].map(|rate| rate.as_bps() / GBPS)
        };
        // At 10 Gbps after two cuts, one stage leads to 25 Gbps with the old target rate of 40 Gbps, and to 15 Gbps
        // with the new target rate of 20 Gbps.
        assert_eq!((targets(true), targets(false)), ([40, 25], [20, 15]));
    }

    #[test]
    fn qcn_runs_its_second_half_at_double_speed_and_grows_by_stage() {
        let p = RecoveryParameters { hyper_by_stage: true, half_after_recovery: true, ..parameters() };
        let mut flow = RateRecovery::new(Rate::from_gbps(100));
        (0..3).for_each(|_| flow.cut(&p, Time::ZERO, 0.5, false));
        flow.advance(&p, Time::from_us(5 * 55));
        assert_eq!(flow.next_change(), Time::from_us(5 * 55) + Time::from_ns(27_500));
        (0..9).for_each(|_| flow.on_sent(&p, 5_000_000));
        (0..5).for_each(|_| flow.on_sent(&p, 5_000_000));
        flow.advance(&p, Time::from_us(7 * 55));
        assert!(flow.target() > Rate::from_gbps(25));
    }

    #[test]
    fn full_rate_is_reached_and_costs_nothing() {
        let p = parameters();
        let mut flow = RateRecovery::new(Rate::from_gbps(40));
        flow.cut(&p, Time::ZERO, 0.0, false);
        assert_eq!(flow.current(), p.min_rate);
        flow.advance(&p, Time::from_s(1));
        assert_eq!((flow.current(), flow.next_change()), (Rate::from_gbps(40), Time::MAX));
    }
}
