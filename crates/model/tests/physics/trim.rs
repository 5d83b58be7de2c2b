//! Switches that trim: closed forms of a burst, and the books of random networks.

use crate::bench::*;
use crate::conservation::network;
use fabric::generate::single_switch;
use model::parameters::*;
use protocols::trim::{HeaderFull, TrimParameters, Victim};
use traffic::Process;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Headers of 64 bytes in class 6.
pub fn trim() -> TrimParameters {
    TrimParameters {
        size_bytes: 64,
        header_class: 6,
        victim: Victim::Arriving,
        full: HeaderFull::Return,
        classes: 1 << 3,
    }
}

/// Queues of so many frames, and header queues of so many headers.
pub fn trimming(trim: TrimParameters, packets: u32, headers: u32) -> SwitchParameters {
    SwitchParameters {
        buffer: Buffer::PerQueue { limit: QueueLimit::Packets(packets) },
        flow_control: FlowControl::None,
        overload: Overload::Trim { trim, header_queue: QueueLimit::Packets(headers), inside: None },
        marking: Marking::None,
        scheduler: Scheduler::Strict,
    }
}

/// `senders` hosts each send `frames` frames of 1518 bytes at line rate to the last host, from time zero.
fn burst(senders: u32, frames: u64, switch: SwitchParameters) -> Told {
    let fabric = single_switch(senders + 1, link(100, 100)).unwrap();
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let flows = (0..senders).map(|src| datagrams(src, senders, process, 1518, frames * 1460));
    let mut setup = setup(fabric, plan(senders + 1, flows));
    setup.switch = switch;
    run(setup)
}

/// Of n frames that come at one instant one goes at once and `room` wait. Until the next n come the wire has
/// finished one frame.
#[test]
fn of_a_burst_exactly_what_has_no_room_is_trimmed() {
    for (senders, frames, room) in [(4u64, 1u64, 2u64), (10, 1, 5), (4, 3, 2), (16, 10, 8)] {
        let told = burst(senders as u32, frames, trimming(trim(), room as u32, 1000));
        told.all_hold();
        let (mut waiting, mut cut) = (0u64, 0);
        for round in 0..frames {
            // The wire became free at this very instant, and headers go first.
            let headers = cut.min(1);
            let on_wire = u64::from(round == 0 || headers == 0);
            waiting += senders - on_wire;
            let over = waiting.saturating_sub(room);
            (waiting, cut) = (waiting - over, cut + over);
        }
        let packets = &told.summary.packets;
        if frames == 1 {
            assert_eq!(told.summary.happened.trims, cut);
        }
        assert_eq!(packets.delivered_whole + packets.delivered_trimmed, senders * frames);
        assert_eq!(packets.delivered_trimmed, told.summary.happened.trims);
        assert_eq!(packets.dropped.len(), 0);
    }
}

/// A header queue of h headers: what finds it full goes back, or is lost; nothing else.
#[test]
fn headers_without_room_go_back_or_are_lost() {
    for (full, returned, lost) in [(HeaderFull::Return, 7, 0), (HeaderFull::Drop, 0, 7)] {
        // 16 at once: one on the wire, 2 wait, 13 are cut, 6 of them find room as headers.
        let told = burst(16, 1, trimming(TrimParameters { full, ..trim() }, 2, 6));
        told.all_hold();
        let packets = &told.summary.packets;
        assert_eq!((packets.delivered_whole, packets.delivered_trimmed), (3, 6));
        assert_eq!((packets.returned_to_source, told.dropped("header queue full")), (returned, lost));
        assert_eq!(told.summary.happened.trims, 13);
    }
}

/// The tail's place goes to the frame that arrives; as many are cut either way.
#[test]
fn the_tail_makes_room_for_the_last_to_come() {
    let with = |victim| burst(8, 1, trimming(TrimParameters { victim, ..trim() }, 3, 100));
    let (arriving, tail, coin) = (with(Victim::Arriving), with(Victim::Tail), with(Victim::Coin));
    for told in [&arriving, &tail, &coin] {
        told.all_hold();
        assert_eq!((told.summary.packets.delivered_whole, told.summary.happened.trims), (4, 4));
    }
    let whole = |told: &Told| {
        told.flows.iter().filter(|flow| flow.delivered_ps.is_some()).map(|flow| flow.src_host).collect::<Vec<_>>()
    };
    let (first, last) = (whole(&arriving), whole(&tail));
    assert_eq!((first.len(), last.len()), (4, 4));
    // The one on the wire and two that nobody displaced are the same; the place of the youngest is not.
    assert_eq!(first.iter().filter(|src| last.contains(src)).count(), 3);
}

/// Random networks with failures, lossy links and everything else: every frame is delivered whole, trimmed, returned
/// or lost by a cause, in packets and bytes, on any number of threads.
#[test]
fn random_networks_that_trim_keep_their_books() {
    let (mut trims, mut returned, mut spurious) = (0, 0, 0);
    for seed in 0..24 {
        let with = |threads| {
            let (mut setup, _) = network(seed, threads);
            let mut random = Stream::new(seed, 1, purpose("random trims"));
            let trim = TrimParameters {
                size_bytes: 64 + random.below(3) as u16 * 64,
                header_class: [1, 6, 7][random.below(3) as usize],
                victim: [Victim::Arriving, Victim::Tail, Victim::Coin][random.below(3) as usize],
                full: [HeaderFull::Return, HeaderFull::Drop][random.below(2) as usize],
                classes: !setup.switch.flow_control.lossless(),
            };
            if random.below(4) != 0 {
                setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(1 + random.below(4) as u32) };
            }
            let room = 1 + random.below(3) as u32;
            let header_queue = [QueueLimit::Packets(room), QueueLimit::Bytes(200)][random.below(2) as usize];
            setup.switch.overload = Overload::Trim { trim, header_queue, inside: None };
            setup
        };
        let told = run(with(1));
        let summary = &told.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        for name in ["conservation", "buffer", "little's law"] {
            assert!(told.passes(name), "seed {seed}: {name}: {:?}", summary.checks);
        }
        trims += summary.happened.trims;
        returned += summary.packets.returned_to_source;
        spurious += u64::from(summary.happened.trims > summary.packets.delivered_trimmed);
        for threads in [2, 3] {
            let other = run(with(threads));
            assert_eq!(format!("{told:?}"), format!("{other:?}"), "seed {seed} on {threads} threads");
        }
    }
    assert!(trims > 1000 && returned > 10 && spurious > 0, "{trims} {returned} {spurious}");
}

/// Without trimming the same burst is lost: the control.
#[test]
fn without_trimming_the_burst_is_lost() {
    let mut switch = trimming(trim(), 2, 6);
    switch.overload = Overload::Drop;
    let told = burst(16, 1, switch);
    assert_eq!((told.dropped("queue full"), told.summary.happened.trims), (13, 0));
    assert_eq!(told.summary.simulated_ps, Time::from_ms(1).as_ps());
}
