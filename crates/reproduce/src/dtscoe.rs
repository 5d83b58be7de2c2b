//! DTSCoE: a message-level simulation of hop-by-hop slot reservation in small networks, and a packet-level simulation
//! of CPRI streams with data traffic, under gates that are computed from these slots, frame preemption or strict
//! priority.

mod distribution;
mod drift;
mod price;
mod witness;

use super::check::{Check, Relation};
use super::registry::{Choice, Experiment, FRONTHAUL};
use super::trial::Trial;
use crate::failure::Failure;
use schedule::protocol::network::{Clock, EventKind, Faults, Network, Wire};
use schedule::protocol::{Config, SlotRequest, WireCost};
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

/// DTSCoE experiments.
pub static EXPERIMENTS: &[Experiment] = &[
    of("dtscoe/fig4.2a", "DTSCoE: a slot is taken at the second switch, and moves", "thesis, figure 4.2a", trace),
    of("dtscoe/fig4.2b", "DTSCoE: Ts between clocks that do not agree", "thesis, figure 4.2b", translation),
    of("dtscoe/fig4.3b", "DTSCoE: one-way delay of CPRI", "thesis, figure 4.3b and table 4.1", delay),
    of("dtscoe/fig4.3c", "DTSCoE: jitter of CPRI", "thesis, figure 4.3c and table 4.1", jitter),
    Experiment {
        id: "dtscoe/price",
        title: "DTSCoE: cost for concurrent flows",
        source: "thesis, section 4.6; no figure",
        seconds: 12,
        quick_seconds: 3,
        choices: NONE,
        run: price::run,
    },
    of("dtscoe/drift", "DTSCoE: slots on clocks that drift", "thesis, section 4.5.2; no figure", drift::run),
    Experiment {
        id: "dtscoe/distribution",
        title: "DTSCoE: cost of distribution",
        source: "thesis, section 4.5; no figure",
        seconds: 60,
        quick_seconds: 10,
        choices: NONE,
        run: distribution::run,
    },
];

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Returns the configuration with slots as long as frames, as in the thesis.
fn exact() -> Config {
    Config { wire: WireCost::FrameOnly, ..Config::new() }
}

fn wires(ends: &[[usize; 2]]) -> Vec<Wire> {
    ends.iter().map(|&ends| Wire { ends, rate: Rate::from_gbps(100), delay: ns(50) }).collect()
}

/// Links: sources 0 and 1, switches 2 and 3, receiver 4.
const LINE: [[usize; 2]; 4] = [[0, 2], [1, 3], [2, 3], [3, 4]];

fn trace(trial: &mut Trial) -> Result<(), Failure> {
    let clocks = [9, 5, 1, 8, 3].map(|us| Clock { offset: Time::from_us(us), drift_ppb: 0 });
    let mut network = Network::new(&clocks, &wires(&LINE), exact(), Faults::default(), 1);
    let ask = |stream, start| SlotRequest { stream, destination: 4, frame_bytes: 600, window: ns(1920), start };
    // Stream 1 starts 98 ns (48 ns transmission, 50 ns propagation) later than stream 2, so that frames of both streams
    // would reach the second switch simultaneously.
    network.ask(1, ask(1, ns(5000 + 98)));
    network.run_until(Time::from_us(20));
    network.keeps_messages = true;
    network.ask(0, ask(2, ns(9000)));
    network.run_until(Time::from_us(40));
    let names = ["source", "other source", "switch 1", "switch 2", "receiver"];
    let (mut rows, mut order) = (Vec::new(), Vec::new());
    for event in &network.events {
        let EventKind::Sent(to, message) = &event.what else { continue };
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
    let moved = if let Some(EventKind::Started(2, _, shift)) = last { shift.as_ps() as f64 } else { f64::NAN };
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
        network.ask(0, SlotRequest { stream: 1, destination: 4, frame_bytes: 600, window: ns(1920), start });
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
    trial.check(
        Check::exact("nodes that a frame was followed to", "nodes", f64::from(followed), Relation::Equal, 600.0)
            .consistency(),
    );
    let name = "farthest that a frame is from the slot of a node";
    trial.check(Check::exact(name, "ps", farthest as f64, Relation::Equal, 0.0));
    Ok(())
}

/// Table 4.1: frame in bytes and period in ns of the four sources at each of the first two switches.
const TABLE: [(u16, u64); 4] = [(600, 640), (600, 1920), (750, 960), (600, 1920)];

/// Simulates the slot reservations of figure 4.3a: sources 0 to 7, switches 8 to 11, pool 12. Clock offsets are random;
/// all sources request the same start time.
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
        network
            .ask(source, SlotRequest { stream: source as u64, destination: 12, frame_bytes, window: ns(gap), start });
    }
    network.run_until(Time::from_ms(100));
    network
}

/// Returns the totals over ten seeds: number of streams that started, of runs in which two frames overlap on a link,
/// and of checked frame transmissions.
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

/// Mechanism that limits the queueing delay of CPRI frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    /// Reserved slots, enforced by gates.
    Gates,
    /// The thesis's preemption without overhead.
    Ideal,
    /// Preemption of IEEE 802.3br.
    Standard,
    /// Strict priority only.
    Strict,
}

impl Control {
    const ALL: [Control; 4] = [Control::Gates, Control::Ideal, Control::Standard, Control::Strict];

    /// Returns the value of `switch.preemption.fragments` for this mechanism; `None` without preemption.
    fn fragments(self) -> Option<&'static str> {
        match self {
            Control::Ideal => Some("ideal"),
            Control::Standard => Some("standard"),
            Control::Gates | Control::Strict => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Control::Gates => "DTSCoE",
            Control::Ideal => "preemption, ideal",
            Control::Standard => "preemption, 802.3br",
            Control::Strict => "strict priority",
        }
    }
}

/// Start phases of the CPRI sources for mechanisms without reserved slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starts {
    Together,
    /// Name and start phases in ps.
    At(&'static str, [u64; 8]),
}

impl Starts {
    fn name(self) -> &'static str {
        match self {
            Starts::Together => "together",
            Starts::At(name, _) => name,
        }
    }
}

/// Returns, for each CPRI flow, the mean over seeds of its mean delay, and the maximum over seeds of its jitter, in ns.
fn beside_data(trial: &Trial, control: Control, starts: Starts, seeds: u64) -> Result<[(f64, f64); 8], Failure> {
    let mut all = [(0.0_f64, 0.0_f64); 8];
    for seed in 1..=seeds {
        let mut changes = vec![("seed", seed.to_string())];
        let phases: Vec<(String, String)> = (0..8)
            .map(|flow| {
                let phase = match starts {
                    Starts::Together => 0,
                    Starts::At(_, phases_ps) => phases_ps[flow],
                };
                (format!("traffic.{flow}.phase"), format!("\"{phase}ps\""))
            })
            .collect();
        if control != Control::Gates {
            changes.push(("gates", "[]".to_owned()));
            changes.extend(phases.iter().map(|(key, value)| (key.as_str(), value.clone())));
        }
        if let Some(fragments) = control.fragments() {
            changes.push(("switch.preemption", format!("{{ express = [7], fragments = \"{fragments}\" }}")));
        }
        let result = trial.run(&FRONTHAUL, &changes)?;
        for (flow, seen) in all.iter_mut().zip(result.summary.jitter.iter().filter(|seen| seen.traffic < 8)) {
            flow.0 += seen.mean_delay_ps / 1000.0 / seeds as f64;
            flow.1 = flow.1.max(seen.jitter_ps as f64 / 1000.0);
        }
    }
    Ok(all)
}

fn seeds(trial: &mut Trial) -> u64 {
    trial.shorten("seeds of the data traffic", 10, 2)
}

fn greatest(flows: &[(f64, f64); 8]) -> f64 {
    flows.iter().map(|flow| flow.1).fold(0.0, f64::max)
}

fn delay(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let mut means = Vec::new();
    for control in Control::ALL {
        means.push(beside_data(trial, control, Starts::Together, seeds)?);
    }
    let row = |flow: usize| {
        let mut cells = vec![flow.to_string(), format!("{} B", TABLE[flow % 4].0)];
        cells.extend(means.iter().map(|flows| format!("{:.1}", flows[flow].0)));
        cells
    };
    let rows: Vec<Vec<String>> = (0..8).map(row).collect();
    let names = Control::ALL.map(Control::name);
    trial.show("  mean one-way delay, ns; where no slots say it, all sources begin together\n");
    trial.show(&table(&[&["flow", "frame"][..], &names].concat(), &rows, 1, Layout::Fixed, 2));
    let (started, meet, frames) = ten();
    trial.show(&format!("  {frames} transmissions of CPRI frames followed through the reservations of 10 seeds\n"));
    trial.check(Check::exact("streams with slots over 10 seeds", "streams", started as f64, Relation::Equal, 80.0));
    trial.check(Check::exact("DTSCoE: seeds in which a frame waits", "seeds", meet as f64, Relation::Equal, 0.0));
    let less = |one: usize, other: usize| (0..8).filter(|&flow| means[one][flow].0 < means[other][flow].0).count();
    let mut none = |name: &str, flows: usize| {
        trial.check(Check::exact(name, "flows", flows as f64, Relation::Equal, 0.0));
    };
    none("preemption: flows with less mean delay than with DTSCoE", less(1, 0));
    none("strict priority: flows with less mean delay than with preemption", less(3, 1));
    Ok(())
}

/// Tolerance of the thesis's jitter in ns: it prints multiples of 10 ns. Seeds move the highest jitter by less.
const PRINTED_NS: f64 = 5.0;

fn jitter(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let (_, meet, _) = ten();
    let name = "DTSCoE: jitter beside other CPRI, in seeds that have any";
    trial.check(Check::exact(name, "seeds", meet as f64, Relation::Equal, 0.0));
    let mut rows = Vec::new();
    let mut worst = |trial: &Trial, control: Control, starts: Starts| {
        let flows = beside_data(trial, control, starts, seeds)?;
        let mut cells = vec![control.name().to_owned(), starts.name().to_owned()];
        cells.extend(flows.iter().map(|flow| format!("{:.1}", flow.1)));
        rows.push(cells);
        Ok::<f64, Failure>(greatest(&flows))
    };
    let gates = worst(trial, Control::Gates, Starts::Together)?;
    let ideal = worst(trial, Control::Ideal, Starts::Together)?;
    let standard = worst(trial, Control::Standard, Starts::Together)?;
    let strict = worst(trial, Control::Strict, Starts::Together)?;
    let phases = witness::shown();
    let beside = [worst(trial, Control::Ideal, phases)?, worst(trial, Control::Strict, phases)?];
    let heading = ["control", "starts", "0", "1", "2", "3", "4", "5", "6", "7"];
    trial.show("  greatest jitter of a flow over all seeds, ns\n");
    trial.show(&table(&heading, &rows, 2, Layout::Fixed, 2));
    trial.check(Check::exact("DTSCoE: jitter beside data traffic", "ns", gates, Relation::Equal, 0.0));
    let together = "sources that begin together: slots of all seven others may come first";
    for (name, ours, most) in
        [("preemption: the highest jitter", ideal, 360.0), ("strict priority: the highest jitter", strict, 480.0)]
    {
        trial.check(Check::new(name, "ns", ours, Relation::Equal, most, PRINTED_NS).note(together));
        trial.check(Check::exact(format!("{name}, at most"), "ns", ours, Relation::AtMost, most));
    }
    witness::check(trial, beside)?;
    trial.check(
        Check::exact("802.3br: the highest jitter, above ideal's", "ns", standard, Relation::Above, ideal)
            .consistency(),
    );
    Ok(())
}
