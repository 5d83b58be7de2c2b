//! Worst cases of `schedule::worst` against the simulator: it meets each witness to the picosecond, and no phases on a
//! grid or at random exceed a bound.

use fabric::LinkSpec;
use fabric::files::Options;
use scenario::Scenario;
use schedule::Problem;
use schedule::protocol::WireCost;
use schedule::streams::{Listed, links, on_fabric, parse_with_classes};
use schedule::worst::{Control, WorstCase, summary, worst_cases};
use std::fmt::Write as _;
use std::path::Path;
use units::{Rate, Time};
use units::random::{Stream, purpose};

/// Streams on a fabric, given as node-link JSON.
struct Case {
    fabric: String,
    problem: Problem,
    classes: Vec<u8>,
    ends: Vec<(String, String)>,
}

impl Case {
    fn new(fabric: String, streams: &str) -> Case {
        let options = Options::new(LinkSpec::new(Rate::from_gbps(100), Time::ZERO));
        let read = fabric::files::read("fabric.json", &fabric, &options).unwrap();
        let listed = parse_with_classes(streams).unwrap();
        let problem = Problem {
            links: links(&read),
            streams: on_fabric(&read, &listed).unwrap(),
            wire: WireCost::Ethernet,
            processing: Time::ZERO,
            grid: Time::from_ps(1),
            max_cycle: Time::MAX,
        };
        let ends = |stream: &Listed| (stream.nodes[0].clone(), stream.nodes[1].clone());
        Case {
            fabric,
            problem,
            classes: listed.iter().map(|stream| stream.class.unwrap_or(7)).collect(),
            ends: listed.iter().map(ends).collect(),
        }
    }

    fn worst(&self, control: Control) -> Vec<WorstCase> {
        worst_cases(&self.problem, &self.classes, control).unwrap()
    }

    /// Returns delay and jitter of each stream in the simulator at the phases of `case`, in ps.
    fn simulated(&self, case: &WorstCase, control: Control) -> Vec<(u64, u64)> {
        let text = summary::scenario(&self.problem, &self.classes, &self.ends, case, control, "fabric.json");
        let fabric = self.fabric.clone();
        let load = move |_: &Path| Ok(fabric.clone().into_bytes());
        let scenario = Scenario::parse_with(&text, "witness.toml", Path::new(""), &[], None, Box::new(load));
        let setup = scenario.and_then(|scenario| scenario.lower()).unwrap().setup;
        let mut simulation = model::Simulation::new(setup).unwrap();
        simulation.run(&mut model::NullWatcher);
        let outcome = simulation.finish(&mut model::NullWatcher, false);
        outcome.jitter.iter().map(|seen| (seen.max_delay_ps, seen.jitter_ps)).collect()
    }

    /// Checks that the simulator meets the witness of `case`.
    fn meets(&self, case: &WorstCase, control: Control) {
        let name = &self.problem.streams[case.stream].name;
        let (delay, jitter) = self.simulated(case, control)[case.stream];
        assert_eq!((delay, jitter), (case.delay.as_ps(), case.jitter.as_ps()), "{name}, {control:?}: {case:?}");
        assert!(case.delay <= case.bound, "{name}, {control:?}: {case:?}");
        if case.exact {
            // Each separation of simultaneous arrivals costs at most one picosecond a stream and hop.
            let most = self.problem.streams.len() as u64 * 8;
            assert!((case.bound - case.delay).as_ps() <= most, "{name}, {control:?}: {case:?}");
        }
    }
}

/// CPRI streams of the thesis, alone or beside data frames of 1500 bytes with preamble and gap.
fn thesis(data: bool) -> Case {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/dtscoe");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let mut streams = read("streams.toml");
    for source in (0..8).filter(|_| data) {
        let _ = write!(
            streams,
            "\n[[stream]]\nname = \"data{source}\"\nfrom = \"data{source}\"\nto = \"dc\"\nperiod = \"19200ns\"\n\
             frame = \"1480B\"\nclass = 0\n"
        );
    }
    Case::new(read("fronthaul.json"), &streams)
}

#[test]
fn the_worst_case_of_the_thesis_is_exact_and_the_simulator_meets_it() {
    let case = thesis(false);
    let worst = case.worst(Control::Strict);
    assert_eq!(worst.len(), 8);
    for one in &worst {
        assert!(one.exact, "{one:?}");
        case.meets(one, Control::Strict);
    }
    // Seven slots, and 12 ns twice behind a longer frame, less the separation of simultaneous arrivals.
    assert_eq!(worst[4].jitter_bound(), Time::from_ns(384));
    assert!(worst[4].jitter > Time::from_ps(383_900) && worst[4].jitter_exact, "{:?}", worst[4]);
}

#[test]
fn beside_data_the_simulator_meets_the_witness_under_every_control() {
    let case = thesis(true);
    for (control, reached) in
        [(Control::Strict, 480_000), (Control::Preemption, 383_000), (Control::IdealPreemption, 383_000)]
    {
        let worst = case.worst(control);
        assert_eq!(worst.len(), 8);
        for one in &worst {
            case.meets(one, control);
        }
        let most = worst.iter().map(|one| one.jitter.as_ps()).max().unwrap();
        assert!(most > reached, "{control:?}: {most}");
    }
}

/// Returns a random tree of switches with 2 to 6 streams, whose frames have several sizes, on links of several rates.
fn random(seed: u64) -> Case {
    let mut random = Stream::new(seed, 0, purpose("small fabrics"));
    let switches = 1 + random.below(4);
    let count = 2 + random.below(5);
    let (mut nodes, mut links, mut streams) = (String::new(), String::new(), String::new());
    let mut link = |from: &str, to: &str, gbps: u64| {
        let comma = if links.is_empty() { "" } else { "," };
        let _ = write!(
            links,
            "{comma}{{\"source\":\"{from}\",\"target\":\"{to}\",\"rate\":\"{gbps}Gbps\",\"delay\":\"50ns\"}}"
        );
    };
    let rates = if random.below(2) == 0 { [100, 100] } else { [100, 40] };
    let rate = |random: &mut Stream| rates[random.below(2) as usize];
    let hosts: Vec<String> = (0..=count).map(|host| format!("h{host}")).collect();
    let all = (0..switches).map(|switch| (format!("s{switch}"), "switch"));
    for (at, (name, kind)) in all.chain(hosts.iter().map(|host| (host.clone(), "host"))).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(nodes, "{comma}{{\"id\":\"{name}\",\"kind\":\"{kind}\",\"tier\":0}}");
    }
    for switch in 1..switches {
        let above = random.below(switch);
        link(&format!("s{switch}"), &format!("s{above}"), rate(&mut random));
    }
    link("h0", "s0", rate(&mut random));
    for (host, name) in hosts.iter().enumerate().skip(1) {
        link(name, &format!("s{}", random.below(switches)), rate(&mut random));
        // Some streams leave the tree before its root.
        let to = if random.below(4) == 0 { 1 + (host as u64) % count } else { 0 };
        let period = [2_000, 4_000, 8_000][random.below(3) as usize];
        let frame = [64, 300, 580, 730, 1480][random.below(5) as usize];
        let _ = writeln!(
            streams,
            "[[stream]]\nname = \"c{host}\"\nfrom = \"{name}\"\nto = \"{}\"\nperiod = \"{period}ns\"\n\
             frame = \"{frame}B\"",
            hosts[to as usize]
        );
    }
    let head = "{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": [";
    Case::new(format!("{head}{nodes}], \"links\": [{links}]}}"), &streams)
}

#[test]
fn no_phases_exceed_the_bounds_of_small_fabrics() {
    let (mut exact, mut all) = (0, 0);
    for seed in 1..=50 {
        let case = random(seed);
        let worst = case.worst(Control::Strict);
        for one in &worst {
            case.meets(one, Control::Strict);
        }
        exact += worst.iter().filter(|one| one.exact).count();
        all += worst.len();
        let mut random = Stream::new(seed, 1, purpose("small fabrics"));
        let count = case.problem.streams.len();
        let mut most = vec![0; count];
        // A grid: the releases near each other in steps of a quarter of the shortest frame, then at random.
        for at in 0..60_u64 {
            let mut phases = worst[0].clone();
            phases.replayed = Time::from_us(32);
            for (stream, spec) in case.problem.streams.iter().enumerate() {
                let phase = match at {
                    0..30 => Time::from_ps(random.below(40) * 12_000),
                    _ => Time::from_ps(random.below(spec.period.as_ps())),
                };
                phases.witness[stream] = phase;
            }
            for (most, seen) in most.iter_mut().zip(case.simulated(&phases, Control::Strict)) {
                *most = seen.0.max(*most);
            }
        }
        for (one, &most) in worst.iter().zip(&most) {
            assert!(most <= one.bound.as_ps(), "fabric {seed}: {most} ps, {one:?}");
            assert!(!one.exact || most <= one.delay.as_ps() + 100, "fabric {seed}: {most} ps, {one:?}");
        }
    }
    println!("{exact} of {all} streams have an exact worst case");
    assert!(exact * 2 > all, "{exact} of {all}");
}
