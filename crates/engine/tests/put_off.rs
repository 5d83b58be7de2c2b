//! Events that are put off before they happen, as a sender's time-out is by each acknowledgement, among so many nodes
//! that most are asleep in most windows.

use engine::{Engine, Message, Node, Window, WireSpec};
use units::Time;
use units::random::Stream;

/// How long a watch waits for the next beat until it gives alarm.
const PATIENCE: Time = Time::from_ns(900);

const LOOKAHEAD: Time = Time::from_ns(40);

#[derive(Clone, Copy, Default)]
struct Beat(Time);

impl Message for Beat {
    fn at(&self) -> Time {
        self.0
    }
}

/// Sends beats at times of its own, or gives alarm where none has come for a while.
enum Player {
    Heart {
        /// The latest first.
        beats: Vec<Time>,
    },
    Watch {
        alarm_at: Time,
        alarms: Vec<Time>,
        runs: u64,
    },
}

impl Node for Player {
    type Message = Beat;
    fn run(&mut self, window: &mut Window<'_, Beat>) -> Time {
        match self {
            Player::Heart { beats } => {
                while let Some(&at) = beats.last() {
                    if at >= window.end() {
                        return at;
                    }
                    window.send(0, Beat(at + LOOKAHEAD));
                    beats.pop();
                }
                Time::MAX
            }
            Player::Watch { alarm_at, alarms, runs } => {
                *runs += 1;
                loop {
                    let arrival = window.next_arrival();
                    if (*alarm_at).min(arrival) >= window.end() {
                        return *alarm_at;
                    }
                    if arrival <= *alarm_at {
                        window.take();
                        *alarm_at = arrival + PATIENCE;
                    } else {
                        alarms.push(*alarm_at);
                        *alarm_at = Time::MAX;
                    }
                }
            }
        }
    }
}

/// When the watch of such a heart gives alarm: where no beat comes for as long as it is patient.
fn alarms_of(beats: &[Time]) -> Vec<Time> {
    let arrivals: Vec<Time> = beats.iter().map(|&at| at + LOOKAHEAD).collect();
    let next = arrivals.iter().skip(1).copied().chain([Time::MAX]);
    arrivals
        .iter()
        .zip(next)
        .map(|(&at, next)| (at + PATIENCE, next))
        .filter(|(alarm, next)| next > alarm)
        .map(|it| it.0)
        .collect()
}

#[test]
fn an_event_that_is_put_off_comes_at_its_last_time_and_no_sooner() {
    const PAIRS: usize = if cfg!(miri) { 20 } else { 100 };
    const BEATS: usize = if cfg!(miri) { 10 } else { 200 };
    let mut random = Stream::new(23, 0, 0);
    // A gap is mostly short, so that alarms are put off again and again, and sometimes longer than a watch waits.
    let mut gap = || Time::from_ns(1 + if random.below(20) == 0 { random.below(3_000) } else { random.below(150) });
    let beats: Vec<Vec<Time>> = (0..PAIRS)
        .map(|_| {
            let mut now = Time::ZERO;
            (0..BEATS)
                .map(|_| {
                    now += gap();
                    now
                })
                .collect()
        })
        .collect();
    let expected: Vec<Vec<Time>> = beats.iter().map(|beats| alarms_of(beats)).collect();
    assert!(expected.iter().all(|alarms| !alarms.is_empty()), "at least after the last beat");
    assert!(cfg!(miri) || expected.iter().map(Vec::len).sum::<usize>() > 5 * PAIRS);
    let wires: Vec<Vec<WireSpec>> = (0..PAIRS as u32)
        .flat_map(|pair| [vec![WireSpec { node: 2 * pair + 1, port: 0, lookahead: LOOKAHEAD }], Vec::new()])
        .collect();
    for threads in 1..4 {
        let players: Vec<Player> = beats
            .iter()
            .flat_map(|beats| {
                let heart = Player::Heart { beats: beats.iter().rev().copied().collect() };
                [heart, Player::Watch { alarm_at: Time::MAX, alarms: Vec::new(), runs: 0 }]
            })
            .collect();
        let mut engine = Engine::new(players, &wires, threads).unwrap();
        engine.draw_threads(threads as u64);
        for us in 1..1_000 {
            engine.run_until(Time::from_us(us));
        }
        assert_eq!(engine.next_event(), Time::MAX);
        for (pair, expected) in expected.iter().enumerate() {
            let Player::Watch { alarms, runs, .. } = engine.node(2 * pair + 1) else { panic!("a watch") };
            assert_eq!(alarms, expected, "pair {pair}, {threads} threads");
            // Once at the beginning, and then for beats and alarms alone: what was put off wakes nobody.
            assert!(*runs <= (1 + BEATS + expected.len()) as u64, "{runs} runs");
        }
    }
}
