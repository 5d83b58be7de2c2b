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
use units::random::{Stream, purpose};
use units::{Rate, Time};

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
        assert!(case.settled, "{control:?}: {case:?}");
        let name = &self.problem.streams[case.stream].name;
        let (delay, jitter) = self.simulated(case, control)[case.stream];
        assert_eq!((delay, jitter), (case.delay.as_ps(), case.jitter.as_ps()), "{name}, {control:?}: {case:?}");
        assert!(case.delay <= case.bound, "{name}, {control:?}: {case:?}");
        // Each separation of simultaneous arrivals costs a few picoseconds.
        assert!(!case.exact || case.bound - case.delay <= Time::from_ns(1), "{name}, {control:?}: {case:?}");
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
    // Exact beside data: a data frame of 120 ns at two switches, or a gap of 0.96 ns.
    for (control, jitter_ps, exact) in
        [(Control::Strict, 624_000, 6), (Control::Preemption, 406_880, 0), (Control::IdealPreemption, 385_920, 6)]
    {
        let worst = case.worst(control);
        assert_eq!(worst.len(), 8);
        for one in &worst {
            case.meets(one, control);
        }
        let most = worst.iter().map(|one| one.jitter_bound().as_ps()).max().unwrap();
        assert_eq!(most, jitter_ps, "{control:?}");
        assert!(worst.iter().filter(|one| one.exact).count() >= exact, "{control:?}");
        // Under 802.3br 84 bytes twice: a frame that has just begun is cut behind its least fragment.
        let witness = worst.iter().map(|one| one.jitter).max().unwrap();
        assert!(control != Control::Preemption || witness > Time::from_ps(397_400), "{witness}");
    }
}

/// Frames of h5 are 64 ns apart behind their slow link, and the next link idles. Those of h1, which arrive one after
/// the other at s1, fit into this time.
#[test]
fn idle_time_behind_a_slow_link_is_not_lost_twice() {
    let nodes = ["s1", "s3", "h0", "h1", "h3", "h5"].map(|name| {
        let kind = if name.starts_with('s') { "switch" } else { "host" };
        format!(r#"{{"id":"{name}","kind":"{kind}","tier":0}}"#)
    });
    let links = [("h1", "s1", 100), ("h3", "s1", 100), ("h5", "s3", 40), ("s3", "s1", 100), ("s1", "h0", 40)];
    let links = links
        .map(|(from, to, gbps)| format!(r#"{{"source":"{from}","target":"{to}","rate":"{gbps}Gbps","delay":"50ns"}}"#));
    let fabric = format!(
        r#"{{"directed": false, "multigraph": false, "graph": {{}}, "nodes": [{}], "links": [{}]}}"#,
        nodes.join(","),
        links.join(",")
    );
    let mut streams = String::new();
    for (name, from, frame) in
        [("a1", "h1", 730), ("a2", "h1", 730), ("b", "h3", 64), ("c1", "h5", 300), ("c2", "h5", 300)]
    {
        let _ = writeln!(
            streams,
            "[[stream]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"h0\"\nperiod = \"8us\"\n\
             frame = \"{frame}B\""
        );
    }
    let case = Case::new(fabric, &streams);
    let worst = case.worst(Control::Strict);
    for one in &worst {
        case.meets(one, Control::Strict);
    }
    // Two frames of 150 ns, one of 16.8 and one of 64.
    assert_eq!(worst[3].jitter_bound(), Time::from_ps(380_800));
    assert!(worst[3].exact && worst[4].exact, "{worst:?}");
}

/// Returns a random tree of switches with 2 to 6 hosts that send, with frames of several sizes on links of several
/// rates. With `data` hosts have one or two streams, half of them of a lower class.
fn random(seed: u64, data: bool) -> Case {
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
    let rates = [[100, 100], [100, 40], [70, 31]][random.below(if data { 3 } else { 2 }) as usize];
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
        let many = if data { 1 + random.below(2) } else { 1 };
        for number in 0..many {
            // Some streams leave the tree before its root.
            let to = if random.below(4) == 0 { 1 + (host as u64) % count } else { 0 };
            let period = [4_000, 8_000, 16_000][random.below(3) as usize];
            let frame = [64, 123, 300, 580, 730, 1480][random.below(6) as usize];
            let class = if data && (host, number) != (1, 0) && random.below(2) == 0 { 0 } else { 7 };
            let _ = writeln!(
                streams,
                "[[stream]]\nname = \"c{host}.{number}\"\nfrom = \"{name}\"\nto = \"{}\"\nperiod = \"{period}ns\"\n\
                 frame = \"{frame}B\"\nclass = {class}",
                hosts[to as usize]
            );
        }
    }
    let head = "{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": [";
    Case::new(format!("{head}{nodes}], \"links\": [{links}]}}"), &streams)
}

/// Simulates random phases of random fabrics `seeds`, and the witnesses. Returns the numbers of exact worst cases and
/// of streams.
fn compare(seeds: std::ops::Range<u64>, data: bool, control: Control) -> (usize, usize) {
    let (mut exact, mut all) = (0, 0);
    for seed in seeds {
        let case = random(seed, data);
        let worst = case.worst(control);
        for one in &worst {
            case.meets(one, control);
        }
        exact += worst.iter().filter(|one| one.exact).count();
        all += worst.len();
        let mut random = Stream::new(seed, 1, purpose("small fabrics"));
        let count = case.problem.streams.len();
        let mut most = vec![0; count];
        // Releases near each other in steps of a quarter of the shortest frame, then at random.
        for at in 0..40_u64 {
            let mut phases = worst[0].clone();
            phases.replayed = Time::from_us(32);
            for (stream, spec) in case.problem.streams.iter().enumerate() {
                let phase = match at {
                    0..20 => Time::from_ps(random.below(40) * 12_000),
                    _ => Time::from_ps(random.below(spec.period.as_ps())),
                };
                phases.witness[stream] = phase;
            }
            for (most, seen) in most.iter_mut().zip(case.simulated(&phases, control)) {
                *most = seen.0.max(*most);
            }
        }
        for one in &worst {
            let most = most[one.stream];
            assert!(most <= one.bound.as_ps(), "fabric {seed}, {control:?}: {most} ps, {one:?}");
        }
    }
    println!("{control:?}, data {data}: {exact} of {all} streams have an exact worst case");
    (exact, all)
}

#[test]
fn no_phases_exceed_the_bounds_of_small_fabrics() {
    let (exact, all) = compare(1..50, false, Control::Strict);
    assert!(exact * 10 > all * 9, "{exact} of {all}");
}

#[test]
fn nor_beside_data_under_any_control() {
    for (control, tenths) in [(Control::Strict, 4), (Control::Preemption, 2), (Control::IdealPreemption, 4)] {
        let (exact, all) = compare(1..20, true, control);
        assert!(exact * 10 > all * tenths, "{exact} of {all}, {control:?}");
    }
}
