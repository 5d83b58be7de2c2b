//! Decision of an ingress pipeline to pass or trim the packets for one egress port.

use super::meter::{Bucket, Color, TwoRateMeter};
use super::state::{Mode, SignalState, StampState, Wrap};
use units::{Rate, Time};

/// Trimming rule of an ingress pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// No meters: a frame whose egress queue is full is deflected, or its header is mirrored, depending on the switch
    /// model.
    None,
    /// One meter at the line rate; congestion signals have no effect.
    Meter,
    /// Three meters: line rate, half of it, and the pipeline's share. The mode of the port selects the meter
    /// (`ndp.p4`).
    ThreeMeters,
    /// Two two-rate meters and a 32-bit timestamp (`switch.p4`).
    TwoMeters {
        /// Comparison of timestamps with the clock.
        wrap: Wrap,
        /// Value of the 1 ns clock at time zero.
        clock_ns: u32,
    },
    /// Like [`Control::ThreeMeters`], but in pessimistic mode every packet is trimmed.
    TrimAll,
    /// One meter at the line rate; in addition, every congestion signal causes the trimming of a number of packets.
    TrimNext {
        /// Number of packets to trim per signal.
        packets: u32,
    },
}

/// The parameters of a [`TrimMeter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlParameters {
    /// The trimming rule.
    pub control: Control,
    /// T0: duration of the pessimistic mode after a congestion signal.
    pub pessimistic: Time,
    /// T1: time from a congestion signal to the optimistic mode; between T0 and T1 the half mode applies. At least
    /// T0.
    pub until_optimistic: Time,
    /// Burst size of each meter in wire bytes: at least a packet, otherwise all packets are trimmed.
    pub burst_bytes: u32,
    /// Share of the line rate that passes in half mode, as numerator and denominator, both positive.
    pub half: (u32, u32),
    /// Share of the line rate that passes in pessimistic mode; 1/n for n pipelines, so that all pipelines together
    /// fill the link.
    pub share: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
enum Meters {
    None,
    One(Bucket),
    Three { line: Bucket, half: Bucket, share: Bucket },
    Two { optimistic: TwoRateMeter, pessimistic: TwoRateMeter },
}

/// Trimming state of one ingress pipeline for one egress port.
#[derive(Clone, Copy, Debug)]
pub struct TrimMeter {
    meters: Meters,
    signals: SignalState,
    stamp: StampState,
    /// Number of packets that must still be trimmed because of congestion signals.
    owed: u64,
}

impl TrimMeter {
    /// Creates the state for an egress port with the rate `line`.
    pub fn new(parameters: &ControlParameters, line: Rate) -> Self {
        let burst = parameters.burst_bytes;
        let part = |(numerator, denominator): (u32, u32)| line.scale(u64::from(numerator), u64::from(denominator));
        let (half, share) = (part(parameters.half), part(parameters.share));
        let meters = match parameters.control {
            Control::None => Meters::None,
            Control::Meter | Control::TrimNext { .. } => Meters::One(Bucket::new(line, burst)),
            Control::ThreeMeters | Control::TrimAll => Meters::Three {
                line: Bucket::new(line, burst),
                half: Bucket::new(half, burst),
                share: Bucket::new(share, burst),
            },
            Control::TwoMeters { .. } => Meters::Two {
                optimistic: TwoRateMeter::new(line, half, burst),
                pessimistic: TwoRateMeter::new(share, share, burst),
            },
        };
        TrimMeter { meters, signals: SignalState::default(), stamp: StampState::default(), owed: 0 }
    }

    /// Handles a congestion signal for the egress port.
    pub fn signal(&mut self, parameters: &ControlParameters, now: Time) {
        match parameters.control {
            Control::None | Control::Meter => {}
            Control::TrimNext { packets } => self.owed += u64::from(packets),
            Control::ThreeMeters | Control::TrimAll | Control::TwoMeters { .. } => {
                self.signals.signal(now, parameters.pessimistic, parameters.until_optimistic);
                if let Control::TwoMeters { clock_ns, .. } = parameters.control
                    && self.signals.signals() > 0
                {
                    self.stamp.signal(clock(now, clock_ns));
                }
            }
        }
    }

    /// Returns whether a packet of `bytes` wire bytes is trimmed. Every meter counts every packet, even if another
    /// meter determines the result.
    #[inline]
    pub fn trims(&mut self, parameters: &ControlParameters, now: Time, bytes: u32) -> bool {
        match &mut self.meters {
            Meters::None => false,
            Meters::One(line) => {
                let red = !line.take(now, bytes);
                let owes = self.owed > 0;
                self.owed -= u64::from(owes);
                red || owes
            }
            Meters::Three { line, half, share } => {
                let reds = [!line.take(now, bytes), !half.take(now, bytes), !share.take(now, bytes)];
                match self.signals.mode(now) {
                    Mode::Optimistic => reds[0],
                    Mode::Half => reds[1],
                    Mode::Pessimistic => reds[2] || parameters.control == Control::TrimAll,
                }
            }
            Meters::Two { optimistic, pessimistic } => {
                let (optimistic, pessimistic) = (optimistic.color(now, bytes), pessimistic.color(now, bytes));
                let Control::TwoMeters { wrap, clock_ns } = parameters.control else { return false };
                let ns = |span: Time| u32::try_from(span.as_ps() / 1_000).unwrap_or(u32::MAX);
                let (t0, t1) = (ns(parameters.pessimistic), ns(parameters.until_optimistic));
                match self.stamp.mode(clock(now, clock_ns), t0, t1, wrap) {
                    Mode::Optimistic => optimistic == Color::Red,
                    Mode::Half => optimistic != Color::Green,
                    Mode::Pessimistic => pessimistic != Color::Green,
                }
            }
        }
    }

    /// Returns the state that counts the congestion signals and the total times in pessimistic and half mode.
    pub fn signals(&self) -> &SignalState {
        &self.signals
    }
}

/// Returns the low 32 bits of a 1 ns clock that had the value `start_ns` at time zero.
fn clock(now: Time, start_ns: u32) -> u32 {
    ((now.as_ps() / 1_000) as u32).wrapping_add(start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const FRAME: u32 = 1520;
    const LINE: Rate = Rate::from_gbps(100);

    fn parameters(control: Control) -> ControlParameters {
        ControlParameters {
            control,
            pessimistic: Time::from_us(6),
            until_optimistic: Time::from_us(24),
            burst_bytes: 8 * FRAME,
            half: (1, 2),
            share: (1, 4),
        }
    }

    fn gap() -> Time {
        LINE.serialise(u64::from(FRAME))
    }

    /// Sends packets back to back from `from` to `until`. Returns the number of trimmed packets and the number of all
    /// packets.
    fn trimmed(trim_meter: &mut TrimMeter, parameters: &ControlParameters, from: Time, until: Time) -> (u64, u64) {
        let (mut now, mut all, mut trims) = (from, 0, 0);
        while now < until {
            all += 1;
            trims += u64::from(trim_meter.trims(parameters, now, FRAME));
            now += gap();
        }
        (trims, all)
    }

    const METERED: [Control; 2] =
        [Control::ThreeMeters, Control::TwoMeters { wrap: Wrap::Handled, clock_ns: 4_294_900_000 }];

    /// Packets arrive at the line rate, so that all buckets are empty. After one signal, three of four packets are
    /// trimmed for 6 us (pessimistic), then every second one for 18 us (half), and none before and after.
    #[test]
    fn a_signal_trims_three_quarters_then_half_then_nothing() {
        for control in METERED {
            let parameters = parameters(control);
            let mut trim_meter = TrimMeter::new(&parameters, LINE);
            let us = Time::from_us;
            let (before, _) = trimmed(&mut trim_meter, &parameters, Time::ZERO, us(60));
            trim_meter.signal(&parameters, us(60));
            let (first, of_first) = trimmed(&mut trim_meter, &parameters, us(60), us(66));
            let (then, of_then) = trimmed(&mut trim_meter, &parameters, us(66) + Time::from_ps(1), us(84));
            let (after, _) = trimmed(&mut trim_meter, &parameters, us(84) + Time::from_ns(1), us(160));
            assert_eq!((before, after), (0, 0), "{control:?}");
            assert!(first.abs_diff(of_first * 3 / 4) <= 1, "{control:?}: {first} of {of_first}");
            assert!(then.abs_diff(of_then / 2) <= 1, "{control:?}: {then} of {of_then}");
        }
    }

    #[test]
    fn the_line_itself_is_never_exceeded() {
        // Sixteen senders at the line rate: the packets that pass have the line rate, with and without signals.
        for control in [Control::Meter, Control::ThreeMeters, Control::TrimNext { packets: 12 }] {
            let parameters = parameters(control);
            let mut trim_meter = TrimMeter::new(&parameters, LINE);
            let mut passed = 0;
            for round in 0..1_000u64 {
                passed += (0..16).filter(|_| !trim_meter.trims(&parameters, gap() * round, FRAME)).count();
            }
            assert_eq!(passed, 8 + 999, "{control:?}: the burst, then one a round");
        }
    }

    #[test]
    fn trim_next_trims_as_many_as_requested_at_any_delay() {
        let parameters = parameters(Control::TrimNext { packets: 12 });
        let mut trim_meter = TrimMeter::new(&parameters, LINE);
        for _ in 0..3 {
            trim_meter.signal(&parameters, Time::ZERO);
        }
        // Signals of [`Control::TrimNext`] do not expire: after three signals 36 packets are trimmed, even a second
        // later and without congestion.
        let later = Time::from_s(1);
        let trims = (0..100).filter(|&step| trim_meter.trims(&parameters, later + gap() * step, FRAME)).count();
        assert_eq!(trims, 36);
    }

    #[test]
    fn trim_all_leaves_nothing_for_6_us() {
        let parameters = parameters(Control::TrimAll);
        let mut trim_meter = TrimMeter::new(&parameters, LINE);
        trim_meter.signal(&parameters, Time::from_us(10));
        let (trims, all) = trimmed(&mut trim_meter, &parameters, Time::from_us(10), Time::from_us(16));
        assert_eq!(trims, all);
    }

    /// The paper's timestamp comparison if the clock wraps: a signal has no effect, and ports trim packets without a
    /// signal.
    #[test]
    fn an_unhandled_wrap_is_seen_in_what_is_trimmed() {
        let run = |wrap| {
            // The clock wraps after 50 us.
            let parameters = parameters(Control::TwoMeters { wrap, clock_ns: u32::MAX - 50_000 + 1 });
            let mut trim_meter = TrimMeter::new(&parameters, LINE);
            let (_, _) = trimmed(&mut trim_meter, &parameters, Time::ZERO, Time::from_us(46));
            trim_meter.signal(&parameters, Time::from_us(46));
            let before = trimmed(&mut trim_meter, &parameters, Time::from_us(46), Time::from_us(50)).0;
            let quiet = TrimMeter::new(&parameters, LINE);
            let mut quiet = quiet;
            let (_, _) = trimmed(&mut quiet, &parameters, Time::ZERO, Time::from_us(50));
            let unsignalled = trimmed(&mut quiet, &parameters, Time::from_us(50), Time::from_us(90)).0;
            (before, unsignalled)
        };
        let (before, unsignalled) = run(Wrap::Handled);
        assert!(before >= 22 && unsignalled == 0, "{before} and {unsignalled}");
        let (before, unsignalled) = run(Wrap::AsListed);
        assert!(before == 0 && unsignalled > 80, "{before} and {unsignalled}");
    }

    /// Random packets and signals: every rule passes at most the line rate plus the burst size; late and spurious
    /// calls have no effect.
    #[test]
    fn random_operations_keep_the_bounds() {
        let controls = [
            Control::None,
            Control::Meter,
            Control::ThreeMeters,
            Control::TwoMeters { wrap: Wrap::Handled, clock_ns: u32::MAX - 1_000 },
            Control::TwoMeters { wrap: Wrap::AsListed, clock_ns: u32::MAX - 1_000 },
            Control::TrimAll,
            Control::TrimNext { packets: 3 },
        ];
        for (seed, control) in controls.into_iter().enumerate() {
            let parameters = parameters(control);
            let mut trim_meter = TrimMeter::new(&parameters, LINE);
            let mut stream = Stream::new(seed as u64, 0, 0);
            let (mut now, mut passed) = (Time::ZERO, 0u64);
            for _ in 0..50_000 {
                now += Time::from_ps(stream.below(200_000));
                match stream.below(20) {
                    0 => trim_meter.signal(&parameters, now),
                    1 => trim_meter.signal(&parameters, now.saturating_sub(Time::from_us(1))),
                    _ => {
                        let bytes = 84 + stream.below(1_437) as u32;
                        passed += if trim_meter.trims(&parameters, now, bytes) { 0 } else { u64::from(bytes) };
                    }
                }
                let (pessimistic, half) = trim_meter.signals().times(now);
                assert!(pessimistic + half <= now);
            }
            if control != Control::None {
                assert!(passed <= LINE.bytes_in(now) + u64::from(8 * FRAME), "{control:?}");
            }
        }
    }
}
