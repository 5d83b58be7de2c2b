//! PFC watchdog: detects pauses of a queue that last too long (a pause storm), and ends their effect.
//!
//! ```text
//!              paused for `detection_time` without a break
//!   healthy  ------------------------------------>  storm: its frames are dropped, or sent despite the pause
//!            <------------------------------------
//!              not paused for `restoration_time`
//! ```
//!
//! Without a watchdog, a faulty network adapter or a deadlock could pause a queue forever, and the congestion would
//! spread.

use crate::parameters::parameters;
use crate::settings::require;
use units::Time;

/// Number of traffic classes of a port.
const CLASSES: usize = 8;

/// Treatment of the frames of a queue in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StormAction {
    /// The frames of the queue are dropped.
    Drop,
    /// The frames of the queue are sent despite the pause.
    Forward,
}

const ABOVE_ZERO: &str = "a time above zero, such as \"200ms\"";

parameters! {
    /// Parameters of the watchdog: conditions for start and end of a storm, and treatment of frames in a storm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WatchdogParameters: Watchdog "watchdog" {
        title: "PFC watchdog: drops or forwards frames of a queue paused for too long";
        source: "SONiC, PFC watchdog";
        /// Duration of an uninterrupted pause after which a storm begins; above zero.
        detection_time: Time = "detection_time" time, default "200ms",
            "a queue stopped this long without a break is in a storm, above zero",
            "SONiC: the usual detection time";
        /// Time without a pause after which a storm ends; above zero.
        restoration_time: Time = "restoration_time" time, default "200ms",
            "the storm is over when no pause was in force for this long, above zero",
            "SONiC: the usual restoration time";
        /// Treatment of the frames of a queue in a storm.
        action: StormAction = "action"
            word["drop" = StormAction::Drop, "forward" = StormAction::Forward], default "drop",
            "action for the queue's frames in a storm: drop, or forward despite the pauses",
            "SONiC: drop is the default";
    }
    check(parameters) {
        [
            require(parameters.detection_time > Time::ZERO, "detection_time", ABOVE_ZERO),
            require(parameters.restoration_time > Time::ZERO, "restoration_time", ABOVE_ZERO),
        ]
    }
}

/// Result of [`Watchdog::update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormUpdate {
    /// Bitmask of the classes whose storm began.
    pub begun: u8,
    /// Bitmask of the classes whose storm ended.
    pub ended: u8,
    /// Time of the next necessary call if no pause arrives before; [`Time::MAX`] if none is necessary.
    pub again: Time,
}

/// Counters of the storms of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStorms {
    /// Number of storms that began.
    pub begun: u64,
    /// Number of storms that ended.
    pub restored: u64,
    /// Total duration of the storms that have ended.
    ended: Time,
    /// Start of the last storm.
    since: Time,
}

impl ClassStorms {
    /// Total time in storms, up to `now`.
    pub fn time(&self, now: Time) -> Time {
        let running = if self.begun > self.restored { now.saturating_sub(self.since) } else { Time::ZERO };
        self.ended + running
    }
}

/// Watchdog of one port. Its state is boxed, because most ports never receive a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watchdog {
    stormed: u8,
    /// `None` before the first pause.
    memory: Option<Box<Memory>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Memory {
    /// Expiry of the last pause of each class.
    paused_until: [Time; CLASSES],
    storms: [ClassStorms; CLASSES],
}

impl Watchdog {
    /// Bitmask of the classes that are in a storm.
    #[inline]
    pub fn stormed(&self) -> u8 {
        self.stormed
    }

    /// Start of the current storm of `class`; `None` if it is not in a storm.
    pub fn stormed_since(&self, class: u8) -> Option<Time> {
        let memory = self.memory.as_ref().filter(|_| self.stormed & 1 << class != 0)?;
        Some(memory.storms[usize::from(class)].since)
    }

    /// Counters of each class that has had a storm.
    pub fn storms(&self) -> impl Iterator<Item = (u8, ClassStorms)> + '_ {
        let all = self.memory.iter().flat_map(|memory| (0..).zip(memory.storms));
        all.filter(|(_, storms)| storms.begun > 0)
    }

    /// Records a pause of the bitmask `classes` that expires at `until`; for a resume, `until` is the current time.
    pub fn on_pause(&mut self, classes: u8, until: Time) {
        let memory = self.memory.get_or_insert_default();
        for class in (0..CLASSES).filter(|class| classes & 1 << class != 0) {
            memory.paused_until[class] = until;
        }
    }

    /// Updates the storms at `now`. `stopped` is the start of the uninterrupted pause of each class; `None` for
    /// classes that are not paused.
    pub fn update(
        &mut self,
        now: Time,
        parameters: &WatchdogParameters,
        stopped: [Option<Time>; CLASSES],
    ) -> StormUpdate {
        let mut update = StormUpdate { begun: 0, ended: 0, again: Time::MAX };
        let Memory { paused_until, storms } = &mut **self.memory.get_or_insert_default();
        for (class, stopped) in stopped.into_iter().enumerate() {
            let bit = 1 << class;
            if self.stormed & bit != 0 {
                let over = paused_until[class].saturating_add(parameters.restoration_time);
                if over > now {
                    update.again = update.again.min(over);
                    continue;
                }
                self.stormed &= !bit;
                update.ended |= bit;
                let storms = &mut storms[class];
                storms.restored += 1;
                storms.ended += now.saturating_sub(storms.since);
            }
            let Some(since) = stopped else { continue };
            let begins = since.saturating_add(parameters.detection_time);
            // A storm that ends in this call does not begin again in the same call.
            if begins <= now && update.ended & bit == 0 {
                self.stormed |= bit;
                update.begun |= bit;
                let storms = &mut storms[class];
                storms.begun += 1;
                storms.since = now;
                update.again =
                    update.again.min(paused_until[class].saturating_add(parameters.restoration_time).max(now));
            } else if begins > now {
                update.again = update.again.min(begins);
            }
        }
        update
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const PARAMETERS: WatchdogParameters = WatchdogParameters {
        detection_time: Time::from_us(200),
        restoration_time: Time::from_us(300),
        action: StormAction::Drop,
    };

    fn stopped(class: usize, since_us: u64) -> [Option<Time>; CLASSES] {
        let mut stopped = [None; CLASSES];
        stopped[class] = Some(Time::from_us(since_us));
        stopped
    }

    #[test]
    fn a_storm_begins_after_detect_and_ends_restore_after_the_last_pause() {
        let mut dog = Watchdog::default();
        dog.on_pause(1 << 3, Time::from_us(10));
        let early = dog.update(Time::from_us(209), &PARAMETERS, stopped(3, 10));
        assert_eq!(early, StormUpdate { begun: 0, ended: 0, again: Time::from_us(210) });
        let begins = dog.update(Time::from_us(210), &PARAMETERS, stopped(3, 10));
        assert_eq!(begins, StormUpdate { begun: 1 << 3, ended: 0, again: Time::from_us(310) });
        dog.on_pause(1 << 3, Time::from_us(250));
        let goes_on = dog.update(Time::from_us(310), &PARAMETERS, stopped(3, 10));
        assert_eq!(goes_on, StormUpdate { begun: 0, ended: 0, again: Time::from_us(550) });
        let over = dog.update(Time::from_us(550), &PARAMETERS, [None; CLASSES]);
        assert_eq!((over, dog.stormed()), (StormUpdate { begun: 0, ended: 1 << 3, again: Time::MAX }, 0));
        let storms: Vec<_> = dog.storms().map(|(class, storms)| (class, storms.begun, storms.restored)).collect();
        assert_eq!(storms, [(3, 1, 1)]);
        assert!(dog.storms().all(|(_, storms)| storms.time(Time::MAX) == Time::from_us(550 - 210)));
    }

    /// Random pauses of one class: a storm begins only after at least 200 us (`detection_time`) of uninterrupted
    /// pause, and ends at least 300 us (`restoration_time`) and less than 500 us after the last pause frame. Starts
    /// and ends of storms alternate, and the total time in storms is exact.
    #[test]
    fn agrees_with_the_definition() {
        for seed in 0..100 {
            let mut stream = Stream::new(seed, 0, 0);
            let mut dog = Watchdog::default();
            let (mut since, mut last_pause_us): (Option<u64>, u64) = (None, 0);
            let (mut next_update, mut storm) = (Time::MAX, false);
            let mut stormy_us = 0;
            for us in 1..20_000u64 {
                let now = Time::from_us(us);
                match stream.below(400) {
                    0 if since.is_some() => since = None,
                    1 | 2 => {
                        dog.on_pause(1 << 5, now);
                        last_pause_us = us;
                        since = since.or(Some(us));
                        next_update = next_update.min(now + PARAMETERS.detection_time);
                    }
                    _ => {}
                }
                if next_update <= now {
                    let mut all = [None; CLASSES];
                    all[5] = since.map(Time::from_us);
                    let update = dog.update(now, &PARAMETERS, all);
                    assert!(update.again > now, "seed {seed}: a update that leads to a update at once");
                    next_update = update.again;
                    assert!(update.begun == 0 || !storm);
                    assert!(update.ended == 0 || storm);
                    assert!(update.begun == 0 || since.is_some_and(|since| us - since >= 200));
                    assert!(update.ended == 0 || us - last_pause_us >= 300);
                    storm = dog.stormed() != 0;
                }
                assert!(!storm || us - last_pause_us < 300 + 200, "seed {seed}: a storm that does not end");
                let counted: Time = dog.storms().map(|(_, storms)| storms.time(now)).sum();
                assert_eq!(counted, Time::from_us(stormy_us), "seed {seed}: time in storms");
                stormy_us += u64::from(storm);
            }
        }
    }
}
