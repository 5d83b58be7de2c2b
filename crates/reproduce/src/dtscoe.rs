//! DTSCoE: slots reserved hop by hop, on a small network of messages. What needs gates or preemption in the simulator
//! is listed, and not judged.

use super::check::{Check, Relation};
use super::registry::{Choice, Experiment};
use super::trial::Trial;
use crate::failure::Failure;
use schedule::protocol::network::{Clock, Faults, Network, What, Wire};
use schedule::protocol::{Ask, Config, WireCost};
use text::{Layout, table};
use units::random::{Stream, purpose};
use units::{Rate, Time};
use wire::ReservationKind::{self, Ready, Request, Update};

const NONE: &[Choice] = &[];

const fn of(
    id: &'static str,
    title: &'static str,
    source: &'static str,
    run: fn(&mut Trial) -> Result<(), Failure>,
) -> Experiment {
    Experiment { id, title, source, seconds: 1, quick_seconds: 1, choices: NONE, run }
}

/// The experiments on DTSCoE.
pub static EXPERIMENTS: &[Experiment] = &[
    of("dtscoe/fig4.2a", "DTSCoE: a slot is taken at the second switch, and moves", "thesis, figure 4.2a", trace),
    of("dtscoe/fig4.2b", "DTSCoE: Ts between clocks that do not agree", "thesis, figure 4.2b", translation),
    of("dtscoe/fig4.3b", "DTSCoE: one-way delay of CPRI", "thesis, figure 4.3b and table 4.1", delay),
    of("dtscoe/fig4.3c", "DTSCoE: jitter of CPRI", "thesis, figure 4.3c and table 4.1", jitter),
];

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Slots are as long as frames, as the thesis counts.
fn exact() -> Config {
    Config { wire: WireCost::FrameOnly, ..Config::new() }
}

fn wires(ends: &[[usize; 2]]) -> Vec<Wire> {
    ends.iter().map(|&ends| Wire { ends, rate: Rate::from_gbps(100), delay: ns(50) }).collect()
}

/// Sources 0 and 1, switches 2 and 3, receiver 4.
const LINE: [[usize; 2]; 4] = [[0, 2], [1, 3], [2, 3], [3, 4]];

fn trace(trial: &mut Trial) -> Result<(), Failure> {
    let clocks = [9, 5, 1, 8, 3].map(|us| Clock { offset: Time::from_us(us), drift_ppb: 0 });
    let mut network = Network::new(&clocks, &wires(&LINE), exact(), Faults::default(), 1);
    let ask = |stream, start| Ask { stream, destination: 4, frame_bytes: 600, window: ns(1920), start };
    // One wire later, so that both would be at the second switch at once.
    network.ask(1, ask(1, ns(5000 + 98)));
    network.run_until(Time::from_us(20));
    network.keeps_messages = true;
    network.ask(0, ask(2, ns(9000)));
    network.run_until(Time::from_us(40));
    let names = ["source", "other source", "switch 1", "switch 2", "receiver"];
    let (mut rows, mut order) = (Vec::new(), Vec::new());
    for event in &network.events {
        let What::Sent(to, message) = &event.what else { continue };
        order.push((event.node, *to, message.kind));
        let kind = format!("{:?}", message.kind).to_lowercase();
        let moved = Time::from_ps(message.shift_ps).to_string();
        rows.push(vec![event.at.to_string(), names[event.node].into(), names[*to].into(), kind, moved]);
    }
    trial.show(&table(&["at", "from", "to", "message", "sum of dTs"], &rows, 1, Layout::Fixed, 2));
    let drawn: [(usize, usize, ReservationKind); 8] = [
        (0, 2, Request),
        (2, 3, Request),
        (3, 2, Update),
        (3, 4, Request),
        (2, 0, Update),
        (4, 3, Ready),
        (3, 2, Ready),
        (2, 0, Ready),
    ];
    let as_drawn = order.iter().zip(&drawn).take_while(|(ours, theirs)| ours == theirs).count();
    let unit = "messages";
    trial.check(Check::exact("messages", unit, order.len() as f64, Relation::Equal, 8.0));
    trial.check(Check::exact("of them in the order of the figure", unit, as_drawn as f64, Relation::Equal, 8.0));
    let last = network.events.last().map(|event| &event.what);
    let moved = if let Some(What::Started(2, _, shift)) = last { shift.as_ps() as f64 } else { f64::NAN };
    trial.check(Check::exact("the source starts last, moved by the other's slot", "ps", moved, Relation::Equal, 48e3));
    let meet = u8::from(network.collision(Time::from_us(40)).is_some());
    trial.check(Check::exact("frames that meet", "frames", meet.into(), Relation::Equal, 0.0));
    Ok(())
}

fn translation(trial: &mut Trial) -> Result<(), Failure> {
    let (mut farthest, mut followed) = (0, 0);
    for seed in 0..200 {
        let mut random = Stream::new(seed, 0, purpose("clocks"));
        let clocks: Vec<Clock> =
            (0..5).map(|_| Clock { offset: Time::from_ps(random.below(1 << 50)), drift_ppb: 0 }).collect();
        let faults = Faults { processing: Time::from_us(30), ..Faults::default() };
        let mut network = Network::new(&clocks, &wires(&LINE), exact(), faults, seed);
        let start = Time::from_ps(random.below(1 << 40));
        network.ask(0, Ask { stream: 1, destination: 4, frame_bytes: 600, window: ns(1920), start });
        network.run_until(Time::from_us(500));
        for passage in network.passages(ns(1920)) {
            let shown = network.clock(passage.node).shows(passage.start) % ns(1920);
            let slots: Vec<_> = network.node(passage.node).slots().collect();
            let Some((.., slot)) = slots.iter().find(|&&(_, port, _)| port == passage.port) else { continue };
            let off = (shown + ns(1920) - slot.start()) % ns(1920);
            farthest = farthest.max(off.min(ns(1920) - off).as_ps());
            followed += 1;
        }
    }
    trial.show("  200 networks with clocks up to 18 minutes apart; nodes take up to 30 us over a request\n");
    trial.check(Check::exact(
        "nodes that a frame was followed to",
        "nodes",
        f64::from(followed),
        Relation::Equal,
        600.0,
    ));
    let name = "farthest that a frame is from the slot of a node";
    trial.check(Check::exact(name, "ps", farthest as f64, Relation::Equal, 0.0));
    Ok(())
}

/// Table 4.1: frame in bytes and gap in ns, of the four sources at each of two switches.
const TABLE: [(u16, u64); 4] = [(600, 640), (600, 1920), (750, 960), (600, 1920)];

/// Sources 0 to 7, switches 8 to 11, the pool 12 of figure 4.3a; clocks as they come, all sources in phase.
fn fronthaul(seed: u64) -> Network {
    let mut ends: Vec<[usize; 2]> = (0..8).map(|source| [source, 8 + source / 4]).collect();
    ends.extend([[8, 10], [9, 10], [10, 11], [11, 12]]);
    let mut random = Stream::new(seed, 1, purpose("clocks"));
    let clocks: Vec<Clock> =
        (0..13).map(|_| Clock { offset: Time::from_ps(random.below(1 << 50)), drift_ppb: 0 }).collect();
    let faults = Faults { processing: Time::from_us(3), ..Faults::default() };
    let mut network = Network::new(&clocks, &wires(&ends), exact(), faults, seed);
    let mut order: Vec<usize> = (0..8).collect();
    random.shuffle(&mut order);
    for source in order {
        let (frame_bytes, gap) = TABLE[source % 4];
        let start = clocks[source].shows(Time::ZERO);
        network.ask(source, Ask { stream: source as u64, destination: 12, frame_bytes, window: ns(gap), start });
    }
    network.run_until(Time::from_ms(100));
    network
}

/// Streams that started, frames on a wire at once with another's, and frames that were followed, over ten seeds.
fn ten() -> (u64, u64, u64) {
    let (mut started, mut meet, mut frames) = (0, 0, 0);
    for seed in 0..10 {
        let network = fronthaul(seed);
        started += (0..8).filter(|&source| network.node(source).active(source as u64).is_some()).count() as u64;
        meet += u64::from(network.collision(Time::from_us(100)).is_some());
        frames += network.passages(Time::from_us(100)).len() as u64;
    }
    (started, meet, frames)
}

const NO_GATES: &str =
    "not measured yet: no run has data traffic beside CPRI, and the simulator has neither gates nor preemption";

fn delay(trial: &mut Trial) -> Result<(), Failure> {
    let network = fronthaul(0);
    let row = |source: usize| {
        let delay = network.latency(source as u64).unwrap_or(Time::ZERO);
        vec![source.to_string(), format!("{} B", TABLE[source % 4].0), delay.to_string(), "0ps".into()]
    };
    let rows: Vec<Vec<String>> = (0..8).map(row).collect();
    trial.show(&table(&["flow", "frame", "one-way delay", "deviation"], &rows, 1, Layout::Fixed, 2));
    let (started, meet, frames) = ten();
    trial.show(&format!("  {frames} transmissions of CPRI frames followed over 10 seeds\n"));
    trial.check(Check::exact("streams with slots over 10 seeds", "streams", started as f64, Relation::Equal, 80.0));
    trial.check(Check::exact("DTSCoE: seeds in which a frame waits", "seeds", meet as f64, Relation::Equal, 0.0));
    // Which of them is above the other is what the figure shows; it has no numbers in the text.
    for name in ["preemption: flows with less delay than with DTSCoE", "strict priority: less than with preemption"] {
        trial.check(Check::unmeasured(name, "flows", Relation::Equal, 0.0, NO_GATES));
    }
    Ok(())
}

fn jitter(trial: &mut Trial) -> Result<(), Failure> {
    let (_, meet, _) = ten();
    let name = "DTSCoE: jitter beside other CPRI, in seeds that have any";
    trial.check(Check::exact(name, "seeds", meet as f64, Relation::Equal, 0.0));
    for (name, most) in [
        ("DTSCoE: jitter beside data traffic", 0.0),
        ("preemption: the highest jitter", 360.0),
        ("strict priority: the highest jitter", 480.0),
    ] {
        trial.check(Check::unmeasured(name, "ns", Relation::Equal, most, NO_GATES));
    }
    Ok(())
}
