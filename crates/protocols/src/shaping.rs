//! Credit-based shaper (IEEE 802.1Qav; 802.1Q-2022, 8.6.8.2 and annex L): a frame of a class may start only while the
//! credit of the class is not negative.
//!
//! ```text
//!   credit        /|                    grows by the idle slope while a frame of the class waits, or while negative
//!            ____/ |      __________    falls by port rate less idle slope while the class is on the wire
//!   0 ------      \|  ___/              is reset to zero if positive and no frame of the class waits
//!                  |_/                  is constant while the gate of the class is closed
//!          waits   sends   waits for credit
//! ```
//!
//! Preamble and inter-frame gap count as time on the wire, so that an idle slope is a rate of wire bytes
//! (802.1Q-2022, 34.4).

use crate::describe::Default::Absent;
use crate::describe::{Mechanism, Parameter};
use crate::gates;
use crate::parameters::parameters;
use crate::port::{Hooks, PortMechanism, PortSpec};
use crate::settings::require;
use units::{Rate, Time};

/// Number of traffic classes of a port.
const CLASSES: usize = 8;
/// Factor of the unit of credit: with credit in bits times this factor, 1 bit/s adds one unit per picosecond.
const PS_PER_S: u64 = 1_000_000_000_000;

const NODE: Parameter = Parameter { default: Absent("every switch"), source: TO.source, ..gates::NODE };
const TO: Parameter = Parameter { source: "802.1Q-2022, 8.6.8.2", ..gates::TO };

parameters! {
    /// Idle slopes of one port.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct IdleSlopes: Shaping "shaping" {
        title: "credit-based shaper: a class sends only with credit";
        source: "IEEE 802.1Qav (802.1Q-2022, 8.6.8.2 and annex L)";
        /// Rate by class; `None` for unshaped classes.
        by_class: [Option<Rate>; CLASSES] = "idle_slopes" slopes, required,
            "rate at which the credit of each class grows, its share of the wire, preamble and gap included. The sum \
             at a port is at most its rate",
            "802.1Q-2022, 8.6.8.2 (idleSlope)";
    }
    also [NODE, TO]
    check(slopes) {
        [require(slopes.classes() != 0, "idle_slopes", "the rate of at least one class, like { 6 = \"300Mbps\" }")]
    }
}

impl IdleSlopes {
    /// Sum of all idle slopes in bits per second.
    pub fn total_bps(&self) -> u128 {
        self.by_class.iter().flatten().map(|slope| u128::from(slope.as_bps())).sum()
    }

    /// Bitmask of the shaped classes.
    pub fn classes(&self) -> u8 {
        (0..CLASSES).filter(|&class| self.by_class[class].is_some()).fold(0, |classes, class| classes | 1 << class)
    }
}

/// Credit of one traffic class at one port.
#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    /// Credit in bits times [`PS_PER_S`], at the time `at`.
    value: i128,
    /// Time of the last update. While a frame of the class is on the wire, it is the end of this frame.
    at: Time,
}

/// Credit-based shaper of one port.
#[derive(Clone, Debug)]
pub struct CreditShaper {
    slopes: IdleSlopes,
    rate: Rate,
    credits: [Credit; CLASSES],
    /// Bitmask of the classes with a waiting frame at the last update.
    waiting: u8,
}

impl CreditShaper {
    /// Creates the shaper of a port of `rate`, with credits of zero.
    pub fn new(slopes: IdleSlopes, rate: Rate) -> CreditShaper {
        CreditShaper { slopes, rate, credits: Default::default(), waiting: 0 }
    }

    /// Bitmask of the shaped classes.
    pub fn classes(&self) -> u8 {
        self.slopes.classes()
    }

    /// Updates all credits to `now`. `waiting` is the bitmask of the classes with a waiting frame; a class that was
    /// not in the bitmask of the last update starts waiting only now. `open(class, from, to)` returns the time for
    /// which the gate of the class was open.
    pub fn settle(&mut self, now: Time, waiting: u8, open: impl Fn(u8, Time, Time) -> Time) {
        for class in 0..CLASSES as u8 {
            let Some(slope) = self.slopes.by_class[usize::from(class)] else { continue };
            let credit = &mut self.credits[usize::from(class)];
            // A frame of the class is on the wire until `at`, and has been charged until then.
            if credit.at > now {
                continue;
            }
            let waited = if credit.at == now { waiting } else { self.waiting & waiting };
            let growth = i128::from(slope.as_bps()) * i128::from(open(class, credit.at, now).as_ps());
            credit.at = now;
            let grown = credit.value + growth;
            // Without a waiting frame, positive credit is reset to zero, and negative credit grows up to zero.
            credit.value = if waited & 1 << class != 0 { grown } else { grown.min(0) };
        }
        self.waiting = waiting;
    }

    /// Whether the credit of `class` permits the start of a frame, in the state of the last [`settle`](Self::settle).
    pub fn may_start(&self, class: u8) -> bool {
        self.slopes.by_class[usize::from(class)].is_none() || self.credits[usize::from(class)].value >= 0
    }

    /// Earliest start of a frame of `class` if its gate stays open: the time at which its credit is no longer
    /// negative.
    pub fn starts_at(&self, class: u8) -> Time {
        let credit = self.credits[usize::from(class)];
        match self.slopes.by_class[usize::from(class)] {
            Some(slope) if credit.value < 0 => {
                let wait = (-credit.value).unsigned_abs().div_ceil(u128::from(slope.as_bps().max(1)));
                credit.at.saturating_add(Time::from_ps(u64::try_from(wait).unwrap_or(u64::MAX)))
            }
            _ => credit.at,
        }
    }

    /// Time, past or future, at which the credit of `class` reaches zero, in the state of the last
    /// [`settle`](Self::settle) and with an open gate, rounded up to whole picoseconds; zero for a class without
    /// shaping.
    pub fn sufficient_at(&self, class: u8) -> Time {
        let Some(slope) = self.slopes.by_class[usize::from(class)] else { return Time::ZERO };
        let credit = self.credits[usize::from(class)];
        if credit.value < 0 {
            return self.starts_at(class);
        }
        let surplus = credit.value.unsigned_abs() / u128::from(slope.as_bps().max(1));
        credit.at.saturating_sub(Time::from_ps(u64::try_from(surplus).unwrap_or(u64::MAX)))
    }

    /// Earliest time, not before `from`, at which the credit of `class` is not negative; see
    /// [`sufficient_at`](Self::sufficient_at).
    pub fn starts_from(&self, from: Time, class: u8) -> Time {
        let credit = self.credits[usize::from(class)];
        // In the most frequent case no division is needed.
        if credit.value >= 0 && credit.at <= from { from } else { from.max(self.sufficient_at(class)) }
    }

    /// Charges `class` for a frame, or the rest of an interrupted frame, that starts now and occupies the wire for
    /// `busy`.
    pub fn start(&mut self, now: Time, class: u8, busy: Time) {
        let send_slope = self.send_slope(class);
        if let Some(send_slope) = send_slope {
            let credit = &mut self.credits[usize::from(class)];
            credit.value -= send_slope * i128::from(busy.as_ps());
            credit.at = now + busy;
            self.waiting &= !(1 << class);
        }
    }

    /// Handles the interruption of the frame of `class`: the wire is idle from `end` on, and the rest of the frame
    /// waits.
    pub fn interrupt(&mut self, class: u8, end: Time) {
        if let Some(send_slope) = self.send_slope(class) {
            let credit = &mut self.credits[usize::from(class)];
            credit.value += send_slope * i128::from(credit.at.saturating_sub(end).as_ps());
            credit.at = end;
            self.waiting |= 1 << class;
        }
    }

    /// Negated send slope: credit that a class loses per picosecond on the wire, the port rate minus the idle slope;
    /// `None` for a class without shaping.
    fn send_slope(&self, class: u8) -> Option<i128> {
        let slope = self.slopes.by_class[usize::from(class)]?;
        Some(i128::from(self.rate.as_bps()) - i128::from(slope.as_bps()))
    }

    /// Credit of `class` in bits, rounded down, at the last update.
    pub fn credit_bits(&self, class: u8) -> i64 {
        self.credits[usize::from(class)].value.div_euclid(i128::from(PS_PER_S)) as i64
    }
}

/// Shaper of one port. Boxed, because most ports have none.
#[derive(Clone, Debug)]
pub struct PortShaper(Box<CreditShaper>);

impl PortMechanism for PortShaper {
    type Parameters = IdleSlopes;
    const MECHANISM: &'static Mechanism = &MECHANISM;

    fn new(slopes: &IdleSlopes, port: &PortSpec) -> PortShaper {
        PortShaper(Box::new(CreditShaper::new(*slopes, port.rate)))
    }

    fn hooks(&self) -> Hooks {
        Hooks::BLOCK.with(Hooks::CHARGE)
    }

    fn starts_at(&self, from: Time, class: u8, _busy: Time) -> Time {
        self.0.starts_from(from, class)
    }

    fn settle(&mut self, now: Time, waiting: u8, open: impl Fn(u8, Time, Time) -> Time) {
        self.0.settle(now, waiting, open);
    }

    fn start(&mut self, now: Time, class: u8, busy: Time) {
        self.0.start(now, class, busy);
    }

    fn interrupt(&mut self, class: u8, end: Time) {
        self.0.interrupt(class, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const RATE: Rate = Rate::from_gbps(1);
    const fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    fn shaper(class: usize, slope: Rate) -> CreditShaper {
        let mut slopes = IdleSlopes::default();
        slopes.by_class[class] = Some(slope);
        CreditShaper::new(slopes, RATE)
    }

    fn all_open(_: u8, from: Time, to: Time) -> Time {
        to - from
    }

    /// With an idle slope of a quarter of the port rate, each frame of 800 ns is followed by 2400 ns without
    /// transmission, in which the credit recovers.
    #[test]
    fn a_class_sends_at_its_idle_slope() {
        let mut shaper = shaper(6, Rate::from_mbps(250));
        let mut now = Time::ZERO;
        for _ in 0..10 {
            shaper.settle(now, 1 << 6, all_open);
            assert!(shaper.may_start(6) && shaper.starts_at(6) == now);
            shaper.start(now, 6, ns(800));
            shaper.settle(now + ns(800), 1 << 6, all_open);
            assert!(!shaper.may_start(6));
            assert_eq!(shaper.credit_bits(6), -600);
            assert_eq!(shaper.starts_at(6), now + ns(3200));
            shaper.settle(now + ns(3199), 1 << 6, all_open);
            assert!(!shaper.may_start(6));
            now += ns(3200);
        }
        assert!(shaper.may_start(3) && shaper.classes() == 1 << 6);
    }

    #[test]
    fn credit_is_lost_when_nothing_waits() {
        let mut shaper = shaper(6, Rate::from_mbps(500));
        shaper.settle(ns(100), 1 << 6, all_open);
        // The frame waits from 100 ns on, and the credit grows from that time on: 500 bits in 1 us at 500 Mbps.
        shaper.settle(ns(1100), 1 << 6, all_open);
        assert_eq!(shaper.credit_bits(6), 500);
        shaper.start(ns(1100), 6, ns(400));
        // After 399 ns of transmission, 300 bits of credit are left, and no frame waits.
        shaper.settle(ns(1499), 0, all_open);
        assert_eq!(shaper.credit_bits(6), 300);
        shaper.settle(ns(1500), 0, all_open);
        assert_eq!(shaper.credit_bits(6), 0);
        // Without a waiting frame, negative credit grows only up to zero.
        shaper.start(ns(1501), 6, ns(400));
        shaper.settle(ns(2001), 0, all_open);
        assert_eq!(shaper.credit_bits(6), -150);
        shaper.settle(ns(9000), 1 << 6, all_open);
        assert_eq!(shaper.credit_bits(6), 0);
    }

    #[test]
    fn credit_is_frozen_while_the_gate_is_closed() {
        let mut shaper = shaper(6, Rate::from_mbps(500));
        shaper.settle(ns(1), 1 << 6, |_, _, _| Time::ZERO);
        shaper.settle(ns(1001), 1 << 6, |_, _, _| Time::ZERO);
        assert_eq!(shaper.credit_bits(6), 0);
        shaper.settle(ns(2001), 1 << 6, |_, _, _| ns(200));
        assert_eq!(shaper.credit_bits(6), 100);
    }

    /// An interrupted frame is charged only for the time it has occupied the wire.
    #[test]
    fn an_interrupted_frame_pays_for_the_time_it_had() {
        let mut shaper = shaper(2, Rate::from_mbps(400));
        shaper.settle(ns(10), 1 << 2, all_open);
        shaper.start(ns(10), 2, ns(1000));
        shaper.interrupt(2, ns(510));
        assert_eq!(shaper.credit_bits(2), -300);
        // The rest of the frame starts 500 ns after the interruption.
        shaper.settle(ns(1010), 1 << 2, all_open);
        assert_eq!(shaper.credit_bits(2), -100);
        shaper.start(ns(1010), 2, ns(500));
        assert_eq!(shaper.credit_bits(2), -400);
    }

    /// For random operations, compares the credits with a simulation in steps of one nanosecond.
    #[test]
    fn credits_are_those_of_the_definition_at_every_instant() {
        let mut random = Stream::new(11, 0, 0);
        for _ in 0..200 {
            let mbps = 1 + random.below(1000);
            let mut shaper = shaper(5, Rate::from_mbps(mbps));
            // Credit in thousandths of a bit: 1 Mbps adds one unit per nanosecond.
            let (mut walk, mut queue, mut sends_until, mut open) = (0i64, 0u32, 0u64, true);
            let mut was_open = vec![];
            for step in 0..3000u64 {
                if random.below(300) == 0 {
                    queue += 1 + random.below(3) as u32;
                }
                if random.below(200) == 0 {
                    open = !open;
                }
                // `walk` is the credit at the time `step`.
                if sends_until <= step && queue == 0 && walk > 0 {
                    walk = 0;
                }
                let seen = &was_open;
                let opened = |_: u8, from: Time, to: Time| {
                    let (from, to) = ((from.as_ps() / 1000) as usize, (to.as_ps() / 1000) as usize);
                    ns(seen[from..to].iter().filter(|&&open| open).count() as u64)
                };
                if sends_until <= step {
                    shaper.settle(ns(step), if queue > 0 { 1 << 5 } else { 0 }, opened);
                    assert_eq!(shaper.credit_bits(5), walk.div_euclid(1000), "{mbps} {step}");
                    assert_eq!(shaper.may_start(5), walk >= 0);
                    if queue > 0 && open && walk >= 0 && random.below(4) != 0 {
                        let busy = 1 + random.below(60);
                        shaper.start(ns(step), 5, ns(busy));
                        (sends_until, queue) = (step + busy, queue - 1);
                    }
                }
                walk += if sends_until > step {
                    mbps as i64 - 1000
                } else if !open {
                    0
                } else if queue > 0 {
                    mbps as i64
                } else {
                    (mbps as i64).min((-walk).max(0))
                };
                was_open.push(open);
            }
        }
    }
}
