//! Compares worst cases of `schedule::worst` with the simulator: at the phases of each witness, simulated delay and
//! jitter equal the computed values to the picosecond, and with random phases no simulated delay exceeds its bound.

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

/// Streams on a fabric. The fabric is node-link JSON.
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

    /// Simulates the phases of `case`. Returns maximum delay and jitter of each stream, in ps.
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

    /// Checks that delay and jitter of the stream at the phases of the witness equal the computed values.
    fn meets(&self, case: &WorstCase, control: Control) {
        assert!(case.settled, "{control:?}: {case:?}");
        let name = &self.problem.streams[case.stream].name;
        let (delay, jitter) = self.simulated(case, control)[case.stream];
        assert_eq!((delay, jitter), (case.delay.as_ps(), case.jitter.as_ps()), "{name}, {control:?}: {case:?}");
        assert!(case.delay <= case.bound, "{name}, {control:?}: {case:?}");
        // In the witness, arrivals that would be simultaneous are a few picoseconds apart, which reduces the delay by
        // this amount.
        assert!(!case.exact || case.bound - case.delay <= Time::from_ns(1), "{name}, {control:?}: {case:?}");
    }
}

/// CPRI streams of the thesis, without data traffic or with data frames of 1500 bytes including preamble and gap.
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
    // Jitter bound: the frames of the seven other streams (5 x 48 ns + 2 x 60 ns), and twice 12 ns behind a longer
    // frame. The witness is shorter by the separation of simultaneous arrivals.
    assert_eq!(worst[4].jitter_bound(), Time::from_ns(384));
    assert!(worst[4].jitter > Time::from_ps(383_900) && worst[4].jitter_exact, "{:?}", worst[4]);
}

#[test]
fn beside_data_the_simulator_meets_the_witness_under_every_control() {
    let case = thesis(true);
    // Jitter bound: 384 ns as without data, plus the time for which a data frame blocks the port at each of two
    // switches: 120 ns under strict priority, 11.44 ns (143 B) under 802.3br, 0.96 ns (a gap) under ideal preemption.
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
        // Witness under 802.3br: at each of two switches, a data frame that has just begun blocks the port for 84 B,
        // because its first fragment has a minimum size: 384 ns + 2 x 6.72 ns = 397.44 ns.
        let witness = worst.iter().map(|one| one.jitter).max().unwrap();
        assert!(control != Control::Preemption || witness > Time::from_ps(397_400), "{witness}");
    }
}

/// Frames of h5 arrive 64 ns apart, because its link is slow, so that the next link is idle between them. Frames of h1,
/// which arrive at s1 back to back, fit into this idle time.
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
    // The jitter bound consists of two frames of 150 ns, one of 16.8 ns and one of 64 ns: 380.8 ns.
    assert_eq!(worst[3].jitter_bound(), Time::from_ps(380_800));
    assert!(worst[3].exact && worst[4].exact, "{worst:?}");
}

/// Makes a random tree of switches with 2 to 6 sending hosts, several frame sizes and several link rates. With `data`,
/// each host has one or two streams, half of them in a lower class.
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
            // Some streams have a receiver other than the host at the root of the tree.
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

/// Simulates random phases, and the phases of all witnesses, on the random fabrics `seeds`. Returns the number of
/// streams with an exact worst case and the number of all streams.
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
        // In the first 20 runs, phases are close together, in steps of 12 ns; in the other 20 runs, they are uniform
        // over the period.
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
