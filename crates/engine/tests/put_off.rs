//! Events postponed before they fire, like a retransmit timer at each acknowledgement, among so many nodes that most
//! are idle in most windows.

use engine::{Engine, Message, Node, Window, WireSpec};
use units::Time;
use units::random::Stream;

/// Timeout of the watchdog: a longer gap between heartbeats raises an alarm.
const PATIENCE: Time = Time::from_ns(900);

const LOOKAHEAD: Time = Time::from_ns(40);

#[derive(Clone, Copy, Default)]
struct Beat(Time);

impl Message for Beat {
    fn at(&self) -> Time {
        self.0
    }
}

/// Sends beats at given times, or raises an alarm after a gap.
enum Player {
    Heart {
        /// Times of the beats, latest first.
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

/// Returns the alarms of a watch that receives the beats of `hearts`: one after each gap longer than `PATIENCE`.
fn alarms_of(hearts: &[Vec<Time>]) -> Vec<Time> {
    let mut arrivals: Vec<Time> = hearts.iter().flatten().map(|&at| at + LOOKAHEAD).collect();
    arrivals.sort_unstable();
    let next = arrivals.iter().skip(1).copied().chain([Time::MAX]);
    let alarms = arrivals.iter().zip(next).map(|(&at, next)| (at + PATIENCE, next));
    alarms.filter(|(alarm, next)| next > alarm).map(|it| it.0).collect()
}

#[test]
fn an_event_that_is_put_off_comes_at_its_last_time_and_no_sooner() {
    const WATCHES: usize = if cfg!(miri) { 8 } else { 70 };
    const BEATS: usize = if cfg!(miri) { 8 } else { 200 };
    let mut random = Stream::new(23, 0, 0);
    // Most gaps are short, so that alarms are postponed many times; some exceed `PATIENCE`.
    let mut gap = || Time::from_ns(1 + if random.below(20) == 0 { random.below(9_000) } else { random.below(150) });
    let mut heart = || {
        let mut now = Time::ZERO;
        let mut beat = || {
            now += gap();
            now
        };
        (0..BEATS).map(|_| beat()).collect::<Vec<Time>>()
    };
    // Two hearts, then their watch, so that some nodes have two ingress ports and some none.
    let hearts: Vec<[Vec<Time>; 2]> = (0..WATCHES).map(|_| [heart(), heart()]).collect();
    let expected: Vec<Vec<Time>> = hearts.iter().map(|two| alarms_of(two)).collect();
    assert!(expected.iter().all(|alarms| !alarms.is_empty()), "at least after the last beat");
    assert!(cfg!(miri) || expected.iter().map(Vec::len).sum::<usize>() > 3 * WATCHES);
    let wires: Vec<Vec<WireSpec>> = (0..WATCHES as u32)
        .flat_map(|number| {
            let wire = |port| vec![WireSpec { node: 3 * number + 2, port, lookahead: LOOKAHEAD }];
            [wire(0), wire(1), Vec::new()]
        })
        .collect();
    for threads in 1..4 {
        let player = |beats: &Vec<Time>| Player::Heart { beats: beats.iter().rev().copied().collect() };
        let watch = || Player::Watch { alarm_at: Time::MAX, alarms: Vec::new(), runs: 0 };
        let players = hearts.iter().flat_map(|[one, other]| [player(one), player(other), watch()]).collect();
        let mut engine = Engine::new(players, &wires, threads).unwrap();
        engine.randomise_threads(threads as u64);
        let mut until = Time::ZERO;
        while engine.next_event() < Time::MAX {
            until += Time::from_us(1);
            engine.run_until(until);
        }
        for (number, expected) in expected.iter().enumerate() {
            let Player::Watch { alarms, runs, .. } = engine.node(3 * number + 2) else { panic!("a watch") };
            assert_eq!(alarms, expected, "watch {number}, {threads} threads");
            // One run at the beginning, then only for beats and alarms: a postponed event causes no run.
            assert!(*runs <= (1 + 2 * BEATS + expected.len()) as u64, "{runs} runs");
        }
    }
}
