//! User-defined overload action in one file, as described in ARCHITECTURE.md: a frame that does not fit the queue is
//! detoured through the port to a switch with the smallest backlog.

use crate::bench::*;
use fabric::NodeId;
use fabric::generate::{TierLinks, leaf_spine};
use model::custom::{CustomOverload, OverloadDecision, OverloadRule, OverloadState, Waiting};
use model::parameters::*;
use protocols::frame::Frame;
use units::Time;
use units::random::Stream;

/// Maximum number of detours per frame.
#[derive(Clone, Copy, Debug)]
struct LeastWaiting(u8);

impl OverloadRule for LeastWaiting {
    fn at(&self, _node: NodeId) -> Box<dyn OverloadState> {
        Box::new(*self)
    }
}

impl OverloadState for LeastWaiting {
    fn decide(&mut self, waiting: &Waiting<'_>, frame: &Frame, _random: &mut Stream) -> OverloadDecision {
        let least = waiting.others.iter().copied().min_by_key(|&port| waiting.waiting_bytes[usize::from(port)]);
        match least {
            Some(port) if !waiting.has_room && frame.bounces < self.0 => OverloadDecision::Detour(port),
            _ => OverloadDecision::Wait,
        }
    }
}

/// 12 hosts at four leaves; six hosts send to one.
fn setup_with(rule: Option<LeastWaiting>, threads: usize) -> Setup {
    let links = TierLinks { host: link(10, 500), edge: link(10, 500), core: link(10, 500) };
    let flows = (3..9).map(|src| flow(src, 0, 200_000));
    let base = setup(leaf_spine(4, 2, 3, 1, links).unwrap(), plan(12, flows));
    let buffer = Buffer::PerQueue { limit: QueueLimit::Packets(20) };
    let host = HostParameters { transport: transport("tcp", &[]), ..base.host };
    Setup {
        switch: SwitchParameters { buffer, ..base.switch },
        overload_rule: rule.map(CustomOverload::new),
        host,
        threads,
        duration: Time::from_ms(40),
        ..base
    }
}

#[test]
fn frames_go_where_least_waits_and_fewer_are_lost() {
    let (plain, toy) = (run(setup_with(None, 1)), run(setup_with(Some(LeastWaiting(8)), 1)));
    let detours = toy.summary.event_counts.detours;
    assert!(detours > 100, "{detours}");
    assert!(toy.dropped("queue full") * 2 < plain.dropped("queue full"), "{:?}", toy.summary.packets);
    toy.all_hold();
}

#[test]
fn one_that_lets_every_frame_wait_is_drop() {
    let results = |rule| {
        let results = run(setup_with(rule, 1));
        format!("{:?} {:?}", results.flows, results.summary.packets)
    };
    assert_eq!(results(Some(LeastWaiting(0))), results(None));
}

#[test]
fn the_same_on_any_number_of_threads() {
    let results = |threads| format!("{:?}", run(setup_with(Some(LeastWaiting(8)), threads)).flows);
    assert_eq!(results(2), results(1));
}
