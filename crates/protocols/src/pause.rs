//! State machines of 802.3x PAUSE and 802.1Qbb PFC: the ingress account that sends pauses, and the paused egress
//! port.
//!
//! ```text
//!  ingress account > XOFF  --- pause(quanta) ---->  PauseState: blocked from (reception + reaction)
//!          |  renewed at half the quanta            until the quanta expire, counted from reception,
//!  account <= XON          --- pause(0) --------->  or until the resume takes effect
//! ```
//!
//! 802.3x PAUSE is PFC with one account per port, where all classes are paused together.

use crate::describe::{Mechanism, extended};
use crate::limits::Threshold;
use crate::parameters::parameters;
use crate::partial::{EXCEPT, TIERS};
use crate::reaction::Reaction;
use crate::watchdog::WatchdogParameters;
use units::{Rate, Time};

/// Value of `xoff = "auto"`: an eighth of the free shared buffer.
pub const AUTO_XOFF: Threshold = Threshold::Dynamic { alpha: (1, 8) };

parameters! {
    /// Parameters of PAUSE and PFC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PauseParameters: FlowControl "pfc" {
        title: "priority flow control: pauses one class of a link";
        source: "IEEE 802.1Q-2018 clause 36 (802.1Qbb)";
        /// Bitmask of lossless classes. All bits are set for 802.3x.
        classes: u8 = "priorities" classes, required,
            "the lossless classes, 0 to 7",
            "required: which traffic must not be lost is the operator's choice";
        /// Threshold of an ingress account, above which XOFF is sent.
        xoff: Threshold = "xoff" either["auto" = AUTO_XOFF, threshold = From::from], default "auto",
            "an ingress account above this stops the neighbour: bytes, or a share (alpha) of the free shared buffer; \
             auto is alpha 1/8",
            "alpha: the HPCC ns-3 fork's default shift of 3";
        /// XON threshold, as the distance below XOFF in bytes. An empty account also sends XON.
        xon_offset_bytes: u64 = "xon" bytes, default "3KB",
            "distance below XOFF to which an account must fall to resume",
            "the HPCC ns-3 fork";
        /// Buffer of each lossless account above XOFF, in bytes, for frames in flight. `None` computes it per port
        /// ([`crate::headroom`]).
        headroom_bytes: Option<u64> = "headroom" bytes_or["auto"], default "auto",
            "headroom of each lossless account above XOFF; auto: the bytes received in 2 x delay + reaction + the \
             pause frames + one frame that delays them, plus 2 MTU",
            "802.1Qbb annex O; plus one MTU, since the frame that crosses XOFF counts against it";
        /// Duration of a pause without renewal, in units of 512 bit times of the link, 1 to 65535.
        quanta: u16 = "quanta" count[1, 65_535], default "65535",
            "duration of a pause after its reception, in units of 512 bit times, 1 to 65535; it is renewed at half \
             time",
            "IEEE 802.3 annex 31B.2";
        /// Delay between the arrival of a pause and its effect. Computed headroom covers this delay.
        reaction: Reaction = "reaction" reaction, default "standard",
            "time from the arrival of a pause to its effect, also assumed in computed headroom; standard, or a time, \
             also in bits, `3840 bit times`, or quanta",
            "IEEE 802.3 annex 31B.3.7: the maximum for the rate";
    }
    also [EXCEPT, TIERS]
    beside {
        /// Watchdog of switches that ends long pauses.
        watchdog: Option<WatchdogParameters> = None;
    }
}

/// Description of 802.1Qbb PFC.
pub const PFC: Mechanism = MECHANISM;

/// Description of 802.3x PAUSE: all classes are lossless.
pub const PAUSE: Mechanism = Mechanism {
    kind: "pause",
    title: "link flow control: pauses a whole link",
    source: "IEEE 802.3-2018 annex 31B (802.3x)",
    parameters: &extended::<{ MECHANISM.parameters.len() - 1 }>(MECHANISM.parameters, &["priorities"], &[], &[]),
    ..MECHANISM
};

/// Setting that 802.3x PAUSE adds to those of a scenario: all classes are lossless.
pub const ALL_CLASSES: (&str, &str) = ("priorities", "[0, 1, 2, 3, 4, 5, 6, 7]");

/// Duration of a pause of `quanta` units of 512 bit times on a link of `rate`.
pub fn quanta_time(quanta: u16, rate: Rate) -> Time {
    rate.serialise(u64::from(quanta) * 64)
}

/// Ingress account of a (port, class), or of a port with 802.3x: counts its queued bytes. The bytes of a frame are
/// removed when its transmission starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngressAccount {
    /// Queued bytes. 32 bits suffice, since no switch has a buffer of 4 GiB.
    pub bytes: u32,
    /// Part of `bytes` that occupies the account's headroom instead of the shared buffer.
    pub headroom_bytes: u32,
    /// Maximum of `headroom_bytes` so far.
    pub headroom_max_bytes: u32,
    /// Whether the neighbour is paused.
    pub paused: bool,
}

impl IngressAccount {
    /// Updates the state after an increase of `bytes`. Returns true if XOFF must be sent now.
    #[inline]
    pub fn must_pause(&mut self, xoff_bytes: u64) -> bool {
        let now = !self.paused && u64::from(self.bytes) > xoff_bytes;
        self.paused |= now;
        now
    }

    /// Updates the state after a decrease of `bytes`. Returns true if XON must be sent now. No XON is sent while
    /// bytes occupy headroom, because a dynamic threshold may rise above the account, and the next pause needs the
    /// whole headroom. An empty account always sends XON, so that a threshold of zero cannot block forever.
    #[inline]
    pub fn may_resume(&mut self, xon_bytes: u64) -> bool {
        let drained = u64::from(self.bytes) <= xon_bytes && self.headroom_bytes == 0;
        let now = self.paused && (drained || self.bytes == 0);
        self.paused &= !now;
        now
    }
}

/// A received PAUSE, PFC or resume that has not taken effect yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PendingPause {
    effect: Time,
    classes: u8,
    /// End of the pause; `None` for a resume.
    until: Option<Time>,
}

/// Pause state of an egress port. `None` until the first pause, to save memory: a large fabric has hundreds of
/// thousands of ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseState(Option<Box<PortPauses>>);

/// Pause state of an egress port that has received a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PortPauses {
    /// Bitmask of the paused classes.
    stopped: u8,
    /// Received pauses and resumes that have not taken effect, in the order in which they take effect. They are few,
    /// because all were received within the last reaction time.
    pending: Vec<PendingPause>,
    stops: ClassPauses,
}

/// Start, end and total duration of pauses, per class of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ClassPauses {
    from: [Time; 8],
    until: [Time; 8],
    /// Start of the last uninterrupted pause period: one pause, or several pauses without a gap.
    stopped_from: [Time; 8],
    /// End of the last completed pause of each class.
    ended_at: [Time; 8],
    /// End of the pause before `stopped_from`: the class was not paused from this time to `stopped_from`.
    free_from: [Time; 8],
    /// Total duration of all completed pauses.
    ended: [Time; 8],
    /// Start of the last period in which at least one class was paused, and total duration of all earlier such
    /// periods.
    port_from: Time,
    port_ended: Time,
    /// Duration of the longest completed pause.
    longest: Time,
    begun: u64,
    resumed: u64,
    /// Number of pauses that expired.
    expiries: u64,
}

impl PauseState {
    /// Handles a pause (`span` above zero) or resume (`span` zero) received at `now`, for the classes in the bitmask
    /// `classes`. It takes effect after `reaction`, which must be equal in all calls. The span counts from `now`
    /// (IEEE 802.3, annex 31B.3.3: the timer is set when the frame is received), so that a span of at most the
    /// reaction time has no effect.
    pub fn on_pause(&mut self, now: Time, classes: u8, span: Time, reaction: Time) {
        let pauses = self.0.get_or_insert_default();
        pauses.settle(now);
        let until = (span > Time::ZERO).then(|| now.saturating_add(span));
        pauses.pending.push(PendingPause { effect: now.saturating_add(reaction), classes, until });
    }

    /// Bitmask of the classes that are paused at `now`, so that none of their frames may start.
    #[inline]
    pub fn blocked(&mut self, now: Time) -> u8 {
        let Some(pauses) = &mut self.0 else { return 0 };
        if !pauses.is_clear() {
            pauses.settle(now);
        }
        pauses.stopped
    }

    /// Whether no pause is in force or pending, in the state of the last call with a time.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.0.as_ref().is_none_or(|pauses| pauses.is_clear())
    }

    /// Time of the next possible state change of the classes in `classes` if no further pause or resume is received.
    pub fn ask_again_at(&self, classes: u8) -> Time {
        let Some(PortPauses { stopped, pending, stops }) = self.0.as_deref() else { return Time::MAX };
        let expiry = (0..8).filter(|&class| stopped & classes & 1 << class != 0).map(|class| stops.until[class]).min();
        let change = pending.iter().filter(|pause| pause.classes & classes != 0).map(|pause| pause.effect).min();
        expiry.unwrap_or(Time::MAX).min(change.unwrap_or(Time::MAX))
    }

    /// Earliest time, not before `from`, at which `class` was not paused, in the state of the last call with a time;
    /// [`Time::MAX`] if it has been paused since `from`. Only the last pause period and the gap before it are stored:
    /// before this gap, the class counts as paused.
    pub fn free_at(&self, class: u8, from: Time) -> Time {
        let Some(PortPauses { stopped, stops, .. }) = self.0.as_deref() else { return from };
        let index = usize::from(class);
        let free = from.max(stops.free_from[index]);
        if free < stops.stopped_from[index] {
            return free;
        }
        if stopped & 1 << class != 0 { Time::MAX } else { from.max(stops.ended_at[index]) }
    }

    /// Advances the state to `now`, like every call with a time.
    pub fn settle(&mut self, now: Time) {
        if let Some(pauses) = &mut self.0 {
            pauses.settle(now);
        }
    }

    /// End of the last completed pause of `class`, in the state of the last call with a time; zero if there was none.
    pub fn ended_at(&self, class: u8) -> Time {
        self.0.as_ref().map_or(Time::ZERO, |pauses| pauses.stops.ended_at[usize::from(class)])
    }

    /// Start of the current pause of `class`, in the state of the last call with a time; `None` if it is not paused.
    pub fn stopped_since(&self, class: u8) -> Option<Time> {
        self.0.as_ref()?.stopped_since(class)
    }

    /// Start of the pause of `class` in force at `now`; `None` if it is not paused.
    pub fn stopped_since_at(&self, now: Time, class: u8) -> Option<Time> {
        self.0.as_ref().filter(|pauses| !pauses.is_clear())?.settled(now).stopped_since(class)
    }

    /// Sum of the paused times of all classes, up to `now`.
    pub fn total_stopped(&self, now: Time) -> Time {
        let Some(pauses) = &self.0 else { return Time::ZERO };
        let then = pauses.settled(now);
        (0..8).map(|class| then.time(now, class)).sum()
    }

    /// Total time up to `now` in which at least one class was paused.
    pub fn port_stopped_time(&self, now: Time) -> Time {
        let Some(pauses) = &self.0 else { return Time::ZERO };
        let PortPauses { stopped, stops, .. } = pauses.settled(now);
        let running = if stopped == 0 { Time::ZERO } else { now.saturating_sub(stops.port_from) };
        stops.port_ended + running
    }

    /// Numbers of pauses: begun, ended by a resume, expired, and in force at `now`.
    pub fn counts(&self, now: Time) -> (u64, u64, u64, u64) {
        let Some(pauses) = &self.0 else { return (0, 0, 0, 0) };
        let PortPauses { stopped, stops, .. } = pauses.settled(now);
        (stops.begun, stops.resumed, stops.expiries, u64::from(stopped.count_ones()))
    }

    /// Total paused time of `class`, up to `now`.
    pub fn stopped_time(&self, now: Time, class: u8) -> Time {
        self.0.as_ref().map_or(Time::ZERO, |pauses| pauses.settled(now).time(now, class))
    }

    /// Duration of the longest pause of any class, up to `now`.
    pub fn longest_stop(&self, now: Time) -> Time {
        let Some(pauses) = &self.0 else { return Time::ZERO };
        let then = pauses.settled(now);
        let running = (0..8).filter_map(|class| then.stopped_since(class)).map(|from| now.saturating_sub(from));
        running.fold(then.stops.longest, Time::max)
    }
}

impl PortPauses {
    fn is_clear(&self) -> bool {
        self.stopped == 0 && self.pending.is_empty()
    }

    fn stopped_since(&self, class: u8) -> Option<Time> {
        (self.stopped & 1 << class != 0).then(|| self.stops.from[usize::from(class)])
    }

    /// Applies the pauses and resumes that take effect up to `now`, and ends expired pauses.
    fn settle(&mut self, now: Time) {
        let PortPauses { stopped, pending, stops } = self;
        while let Some(&PendingPause { effect, classes, until }) = pending.first().filter(|pause| pause.effect <= now) {
            pending.remove(0);
            // A pause that expired before this pause or resume took effect must count as expired, not as resumed or
            // renewed.
            stops.expire(stopped, effect);
            for class in (0..8).filter(|class| classes & 1 << class != 0) {
                let running = *stopped & 1 << class != 0;
                match until {
                    None if running => {
                        stops.resumed += 1;
                        stops.end(stopped, class, effect);
                    }
                    Some(until) if until > effect => {
                        if *stopped == 0 {
                            stops.port_from = effect;
                        }
                        if !running {
                            stops.begin(class, effect);
                        }
                        *stopped |= 1 << class;
                        stops.until[class] = until;
                    }
                    // The new pause replaced the pause in force, and expired within its own reaction time.
                    Some(_) if running => {
                        stops.expiries += 1;
                        stops.end(stopped, class, effect);
                    }
                    _ => {}
                }
            }
        }
        stops.expire(stopped, now);
    }

    /// Returns a copy of the state, advanced to `now`. The state of an idle port is not advanced, so that received
    /// pauses may still be pending.
    fn settled(&self, now: Time) -> PortPauses {
        let mut then = self.clone();
        then.settle(now);
        then
    }

    /// Total paused time of `class`, if the state has been advanced to `now`.
    fn time(&self, now: Time, class: u8) -> Time {
        let running = self.stopped_since(class).map_or(Time::ZERO, |from| now.saturating_sub(from));
        self.stops.ended[usize::from(class)] + running
    }
}

impl ClassPauses {
    /// Ends the pauses of the classes in `stopped` that have expired by `now`.
    fn expire(&mut self, stopped: &mut u8, now: Time) {
        for class in 0..8 {
            if *stopped & 1 << class != 0 && self.until[class] <= now {
                self.expiries += 1;
                self.end(stopped, class, self.until[class]);
            }
        }
    }

    fn begin(&mut self, class: usize, at: Time) {
        self.begun += 1;
        self.from[class] = at;
        // A pause that starts when another pause of the class ends extends the pause period.
        if self.ended_at[class] != at {
            (self.free_from[class], self.stopped_from[class]) = (self.ended_at[class], at);
        }
    }

    fn end(&mut self, stopped: &mut u8, class: usize, at: Time) {
        *stopped &= !(1 << class);
        self.ended_at[class] = at;
        if *stopped == 0 {
            // Several pauses may have expired since the last call. They are ended in the order of class numbers, so
            // that the pause ended last here may have expired before others.
            let last = self.ended_at.iter().copied().fold(at, Time::max);
            self.port_ended += last.saturating_sub(self.port_from);
        }
        let lasted = at - self.from[class];
        self.ended[class] += lasted;
        self.longest = self.longest.max(lasted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const REACTION_NS: u64 = 38;

    fn hear(state: &mut PauseState, now_ns: u64, classes: u8, span_ns: u64) {
        state.on_pause(Time::from_ns(now_ns), classes, Time::from_ns(span_ns), Time::from_ns(REACTION_NS));
    }

    /// Random pauses of several classes: a port counts as paused while at least one class is paused, even if pauses
    /// expire in another order than that of their classes.
    #[test]
    fn a_port_is_stopped_while_any_class_is() {
        let mut random = Stream::new(4, 0, 0);
        for _ in 0..200 {
            let (mut port, mut classes) = (PauseState::default(), [(); 8].map(|()| PauseState::default()));
            let (mut now_ns, mut stopped_ns, mut most) = (0, 0, 0);
            for _ in 0..40 {
                let (called, span_ns) = (random.below(256) as u8, [0, 50, 100, 300][random.below(4) as usize]);
                hear(&mut port, now_ns, called, span_ns);
                for class in (0..8).filter(|class| called & 1 << class != 0) {
                    hear(&mut classes[class], now_ns, 1 << class, span_ns);
                }
                for _ in 0..random.below(150) {
                    let at = Time::from_ns(now_ns);
                    // On copies, because advancing the state every nanosecond would hide errors with pauses that
                    // expire between calls.
                    let any = (0..8).any(|class| classes[class].clone().blocked(at) != 0);
                    (now_ns, stopped_ns) = (now_ns + 1, stopped_ns + u64::from(any));
                }
                most = most.max(port.total_stopped(Time::from_ns(now_ns)).as_ps());
                assert_eq!(port.port_stopped_time(Time::from_ns(now_ns)), Time::from_ns(stopped_ns));
            }
            assert!(most > 1000 * now_ns || stopped_ns < now_ns, "several classes at a time");
        }
    }

    #[test]
    fn a_pause_takes_effect_after_the_reaction_time_and_expires() {
        let mut state = PauseState::default();
        hear(&mut state, 100, 0b1000, 1000);
        assert_eq!(state.blocked(Time::from_ns(137)), 0);
        assert_eq!(state.blocked(Time::from_ns(138)), 0b1000);
        assert_eq!(state.ask_again_at(0xff), Time::from_ns(1100));
        assert_eq!(state.stopped_since(3), Some(Time::from_ns(138)));
        assert_eq!(state.blocked(Time::from_ns(1099)), 0b1000);
        assert_eq!(state.blocked(Time::from_ns(1100)), 0);
        assert_eq!(state.stopped_time(Time::from_ns(2000), 3), Time::from_ns(962));
        assert_eq!(
            (state.longest_stop(Time::from_ns(2000)), state.counts(Time::from_ns(2000))),
            (Time::from_ns(962), (1, 0, 1, 0))
        );
    }

    /// Quanta count from reception (IEEE 802.3, annex 31B): a pause of 38 ns, the reaction time, has no effect; a
    /// pause of 39 ns lasts 1 ns.
    // [PFC5] [PFC7]
    #[test]
    fn quanta_count_from_reception() {
        let mut state = PauseState::default();
        hear(&mut state, 100, 1, REACTION_NS);
        assert_eq!([137, 138, 139].map(|ns| state.blocked(Time::from_ns(ns))), [0; 3]);
        assert_eq!(state.counts(Time::from_ns(200)), (0, 0, 0, 0));
        hear(&mut state, 300, 1, REACTION_NS + 1);
        assert_eq!([337, 338, 339].map(|ns| state.blocked(Time::from_ns(ns))), [0, 1, 0]);
        assert_eq!(state.counts(Time::from_ns(400)), (1, 0, 1, 0));
        // The last received pause replaces the earlier one: a short pause ends a long pause early.
        hear(&mut state, 500, 1, 1000);
        hear(&mut state, 600, 1, 10);
        assert_eq!([637, 638].map(|ns| state.blocked(Time::from_ns(ns))), [1, 0]);
        assert_eq!(state.counts(Time::from_ns(700)), (2, 0, 2, 0));
    }

    /// Paused times and longest pause are correct although the idle port never calls `blocked`.
    #[test]
    fn pauses_received_by_an_idle_port_count() {
        let mut state = PauseState::default();
        hear(&mut state, 0, 0b1000, 10_000);
        hear(&mut state, 500, 0b1000, 0);
        let end = Time::from_ns(5_000);
        assert_eq!((state.stopped_time(end, 3), state.longest_stop(end)), (Time::from_ns(500), Time::from_ns(500)));
        assert_eq!(state.total_stopped(end), Time::from_ns(500));
        hear(&mut state, 6_000, 0b1000, 10_000);
        let end = Time::from_ns(7_000 + REACTION_NS);
        assert_eq!((state.stopped_time(end, 3), state.longest_stop(end)), (Time::from_ns(1_500), Time::from_ns(1_000)));
    }

    // [PFC6]
    #[test]
    fn a_renewal_extends_and_a_resume_ends() {
        let mut state = PauseState::default();
        hear(&mut state, 0, 0b11, 1000);
        hear(&mut state, 500, 0b01, 1000);
        hear(&mut state, 600, 0b10, 0);
        assert_eq!(state.blocked(Time::from_ns(637)), 0b11);
        assert_eq!(state.blocked(Time::from_ns(638)), 0b01);
        assert_eq!(state.blocked(Time::from_ns(1499)), 0b01);
        assert_eq!(state.blocked(Time::from_ns(1500)), 0);
        // A resume also takes effect after the reaction time: a resume 10 ns after its pause leaves a pause of 10 ns.
        hear(&mut state, 2000, 0b1, 1000);
        hear(&mut state, 2010, 0b1, 0);
        assert_eq!([2037, 2038, 2047, 2048].map(|ns| state.blocked(Time::from_ns(ns))), [0, 1, 1, 0]);
        assert_eq!(state.counts(Time::from_ns(2100)), (3, 2, 1, 0));
    }

    /// Random pauses: compares `free_at` with the recorded state of every nanosecond, back to the gap before the last
    /// pause.
    #[test]
    fn a_class_is_free_from_the_end_of_its_last_stop_or_in_the_gap_before_it() {
        for seed in 0..200 {
            let mut stream = Stream::new(seed, 1, 0);
            let mut state = PauseState::default();
            let mut stopped_at: Vec<bool> = Vec::new();
            for now in 0..2_000u64 {
                if stream.below(60) == 0 {
                    let span = if stream.below(2) == 0 { 0 } else { 1 + stream.below(200) };
                    hear(&mut state, now, 1, span);
                }
                stopped_at.push(state.blocked(Time::from_ns(now)) != 0);
                let from = stream.below(now + 1);
                // Search backwards through the time since the last pause, the last pause, and the gap before it.
                let mut first = now + 1;
                let mut at = now as usize;
                while at > 0 && !stopped_at[at] {
                    at -= 1;
                }
                while at > 0 && stopped_at[at] {
                    at -= 1;
                }
                while at > 0 && !stopped_at[at - 1] {
                    at -= 1;
                }
                for instant in (at.max(from as usize)..=now as usize).rev() {
                    first = if stopped_at[instant] { first } else { instant as u64 };
                }
                let expected = if first > now { Time::MAX } else { Time::from_ns(first) };
                assert_eq!(state.free_at(0, Time::from_ns(from)), expected, "seed {seed}, from {from} at {now}");
            }
        }
    }

    /// Random pauses and resumes: compares the blocked state at every nanosecond with a list of the commands in
    /// effect.
    // [PFC5] [PFC6] [PFC7]
    #[test]
    fn agrees_with_a_list_of_commands() {
        for seed in 0..200 {
            let mut stream = Stream::new(seed, 0, 0);
            let mut state = PauseState::default();
            // (effective at, end) in the order of reception: the last command that has taken effect determines the
            // state.
            let mut commands: Vec<(u64, u64)> = Vec::new();
            let mut next_command = stream.below(50);
            for now in 0..3_000u64 {
                if now == next_command {
                    let span = if stream.below(2) == 0 { 0 } else { 1 + stream.below(300) };
                    hear(&mut state, now, 1, span);
                    commands.push((now + REACTION_NS, now + span));
                    next_command = now + 1 + stream.below(200);
                }
                let decided = commands.iter().rev().find(|c| c.0 <= now);
                let expected = u8::from(decided.is_some_and(|c| now < c.1));
                assert_eq!(state.blocked(Time::from_ns(now)), expected, "seed {seed} at {now}");
            }
        }
    }

    #[test]
    fn an_account_pauses_once_and_resumes_once() {
        let mut account = IngressAccount { bytes: 10, ..IngressAccount::default() };
        assert!(!account.must_pause(10));
        account.bytes = 11;
        assert!(account.must_pause(10));
        assert!(!account.must_pause(10));
        account.bytes = 8;
        assert!(!account.may_resume(7));
        account.bytes = 7;
        assert!(account.may_resume(7));
        assert!(!account.may_resume(7));
    }
}
