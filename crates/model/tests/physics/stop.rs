//! Runs that are stopped: they end soon, at any time, and conserve frames.

use crate::bench::*;
use crate::conservation::network;
use model::{Clock, QueueSample, Simulation, Watcher};
use stats::flows::FlowRecord;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use traffic::{ENDLESS, Process};
use units::random::Stream;
use units::{Rate, Time};

/// Random networks stopped at any time, even between the nodes of a window: all frames are accounted for, and all
/// checks that apply at the end pass.
#[test]
fn random_networks_that_are_stopped_anywhere_keep_their_books() {
    let (mut cut, mut stopped) = (0, 0);
    for seed in 0..60 {
        for threads in [1, 2] {
            let (setup, may_lock) = network(seed, threads);
            let duration = setup.duration;
            let short_quanta = setup.switch.flow_control.pause().is_some_and(|pause| pause.quanta < 1000);
            let fails = setup.fabric.links().iter().any(|link| link.loss > 0.0 || link.bit_error_rate > 0.0)
                || !setup.failures.is_empty();
            let mut simulation = Simulation::new(setup).unwrap();
            if threads > 1 {
                simulation.randomise_threads(seed);
            }
            let stop = Arc::new(AtomicBool::new(false));
            simulation.set_stop_flag(Arc::clone(&stop));
            let wait = Duration::from_micros(Stream::new(seed, threads as u64, 9).below(3_000));
            let stopper = std::thread::spawn(move || {
                std::thread::sleep(wait);
                stop.store(true, Ordering::Relaxed);
            });
            let mut results = Results::default();
            let whole = simulation.run(&mut results);
            stopper.join().unwrap();
            stopped += u32::from(!whole);
            cut += u32::from(!whole && simulation.now() > Time::ZERO);
            let summary = simulation.finish(&mut results, false);
            assert_eq!(summary.partial, !whole, "seed {seed}");
            assert!(summary.simulated_ps <= duration.as_ps());
            assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
            for check in &summary.checks {
                let excused = match check.name.as_str() {
                    "deadlock" => may_lock,
                    "lossless" => fails || short_quanta,
                    _ => false,
                };
                assert!(check.pass || excused, "seed {seed}, {threads} threads, at {}: {check:?}", simulation.now());
            }
        }
    }
    assert!(stopped > 20 && cut > 10, "{stopped} were stopped, {cut} of them under way");
}

/// A watcher that sets the stop flag at the `left`-th throughput sample, and counts later samples.
struct Fuse {
    left: u32,
    samples_after_stop: u32,
    stop: Arc<AtomicBool>,
}

impl Watcher for Fuse {
    fn throughput(&mut self, _at: Time, _traffic: u8, _bytes: u64) {
        if self.left == 0 {
            self.samples_after_stop += 1;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn queue(&mut self, _sample: QueueSample) {}
}

#[test]
fn a_run_that_samples_every_picosecond_ends_at_the_next_sample() {
    let mut setup = network(3, 1).0;
    setup.traffic = plan(2, [datagrams(0, 1, Process::Poisson { rate: Rate::from_gbps(5) }, 500, ENDLESS)]);
    setup.duration = Time::from_s(100);
    setup.record.queues_every = Some(Time::from_ps(1));
    setup.record.throughput_every = Some(Time::from_ps(1));
    let mut simulation = Simulation::new(setup).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    simulation.set_stop_flag(Arc::clone(&stop));
    let mut fuse = Fuse { left: 5_000, samples_after_stop: 0, stop };
    assert!(!simulation.run(&mut fuse));
    assert_eq!((fuse.samples_after_stop, simulation.now()), (0, Time::from_ps(5_000)));
}

/// Records of completed flows reach the watcher within a bounded number of frames, even in a long run.
#[test]
fn ended_flows_are_collected_often_also_in_a_long_run() {
    #[derive(Default)]
    struct First(Option<Time>, Option<Arc<Clock>>, AtomicU64);
    impl Watcher for First {
        fn started(&mut self, clock: &Arc<Clock>) {
            self.1 = Some(Arc::clone(clock));
        }
        fn flow(&mut self, _flow: &FlowRecord) {
            self.2.fetch_add(1, Ordering::Relaxed);
        }
        fn progress(&mut self, now: Time, _hops: u64) -> bool {
            self.0 = Some(now);
            assert_eq!(self.1.as_ref().map(|clock| clock.now()), Some(now), "the clock goes with the run");
            false
        }
    }
    let mut setup = network(3, 1).0;
    setup.traffic = plan(2, [datagrams(0, 1, Process::Constant { rate: Rate::from_gbps(1) }, 500, 50_000)]);
    setup.duration = Time::from_s(100_000);
    setup.failures.clear();
    let total: u64 = setup.fabric.links().iter().map(|link| 2 * link.rate.as_bps()).sum();
    let mut simulation = Simulation::new(setup).unwrap();
    let mut first = First::default();
    assert!(!simulation.run(&mut first));
    let waited = first.0.expect("progress").as_secs_f64();
    assert!(waited * total as f64 / 672.0 <= (1 << 24) as f64, "{waited} s at {total} bps");
    assert!(waited < 100.0, "a thousandth of the run");
    assert_eq!(first.2.into_inner(), 1);
}
