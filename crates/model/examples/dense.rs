//! The dense case of `docs/performance.md`: a fat-tree at 80 % permutation load.
//!
//! ```text
//! cargo run --release -p tidegate-model --example dense -- [k] [duration_us] [threads] [datagram|dcqcn]
//! ```

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use fabric::LinkSpec;
use fabric::generate::TierLinks;
use model::parameters::*;
use model::{NullWatcher, Simulation};
use protocols::reaction::Reaction;
use protocols::transport::TransportParameters;
use traffic::{DatagramSource, Entry, Pairs, Pattern, PlanBuilder, Process, Workload};
use units::{LinkTime, Rate, Time};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (k, duration, threads) = (number(0, 16) as u32, Time::from_us(number(1, 100)), number(2, 1) as usize);
    let dcqcn = arguments.get(3).is_some_and(|kind| kind == "dcqcn");
    let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
    let fabric = fabric::generate::fat_tree(k, links).unwrap();
    let hosts: Vec<u32> = (0..fabric.hosts().len() as u32).collect();
    let mut plan = PlanBuilder::new();
    let process = Process::Constant { rate: Rate::from_gbps(80) };
    let source = DatagramSource { process, frame_bytes: 1000, lengths: Default::default(), stop: None };
    let workload = if dcqcn { Workload::Endless } else { Workload::Datagrams { source, size_bytes: None } };
    let pairs = Pairs { pattern: Pattern::Permutation, workload };
    let entry = Entry { jitter: Time::from_ns(100), ..Entry::new(1, 0) };
    traffic::pairs(&pairs, &hosts, &entry, &mut plan).unwrap();
    let transport = if dcqcn { "dcqcn" } else { "datagram" };
    let pause = PauseParameters {
        classes: 1 << 3,
        xoff: Threshold::Dynamic { alpha: (1, 8) },
        xon_offset_bytes: 3000,
        headroom_bytes: None,
        quanta: 65535,
        reaction: Reaction::Stated(LinkTime::BitTimes(3_840)),
        watchdog: None,
    };
    let setup = Setup {
        spread: Spread::PerPacket,
        switch: SwitchParameters {
            flow_control: if dcqcn { FlowControl::Pfc(pause) } else { FlowControl::None },
            marking: if dcqcn {
                Marking::Ecn(EcnParameters {
                    k_min_bytes: 100_000,
                    k_max_bytes: Some(400_000),
                    p_max: 0.2,
                    of_rate: None,
                    at: MarkEvent::Enqueue,
                })
            } else {
                Marking::None
            },
            ..SwitchParameters::default()
        },
        host: HostParameters {
            reply_class: Some(6),
            mtu_bytes: 1100,
            ..HostParameters::of(TransportParameters::build(transport, []).unwrap())
        },
        duration,
        measure_end: duration,
        threads,
        deadlock_every: Some(Time::from_us(100)),
        ..Setup::new(fabric, plan.build(hosts.len() as u32).unwrap()).unwrap()
    };
    let mut simulation = Simulation::new(setup).unwrap();
    let start = std::time::Instant::now();
    simulation.run(&mut NullWatcher);
    let wall = start.elapsed().as_secs_f64();
    let summary = simulation.finish(&mut NullWatcher, false);
    println!(
        "{} hops, {:.2} s, {:.2} M hops a wall second, delivered {}, checks {}",
        summary.packet_hops,
        wall,
        summary.packet_hops as f64 / wall / 1e6,
        summary.packets.delivered_whole,
        summary.checks.iter().all(|check| check.pass),
    );
    for check in &summary.checks {
        println!("  {} {}: {}", if check.pass { "ok  " } else { "FAIL" }, check.name, check.detail);
    }
}
