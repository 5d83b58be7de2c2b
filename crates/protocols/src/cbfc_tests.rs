use super::*;
use std::collections::VecDeque;
use units::random::Stream;

const CLASS: u8 = 3;

fn port(credits: u64, update: u64) -> CreditPort {
    CreditPort::new(1 << CLASS, credits, update, 1518)
}

// [CBFC1] [CBFC2] [CBFC7]
#[test]
fn a_frame_leaves_only_with_room_for_the_whole_of_it() {
    let mut port = port(3000, 1500);
    assert!(port.fits(CLASS, 3000) && !port.fits(CLASS, 3001));
    port.spend(CLASS, 1500);
    assert!(port.fits_or_waits(Time::from_ns(1), CLASS, 1500));
    port.spend(CLASS, 1500);
    assert!(!port.fits_or_waits(Time::from_ns(2), CLASS, 64));
    assert!(!port.fits_or_waits(Time::from_ns(5), CLASS, 64));
    assert!(port.fits_or_waits(Time::from_ns(5), 4, 1_000_000), "a class without credits needs none");
    assert!(!port.on_message(Time::from_ns(8), CLASS, 0, 3063), "a byte short");
    assert!(port.on_message(Time::from_ns(9), CLASS, 0, 3064));
    let asked = Time::from_ns(50);
    assert_eq!(
        (port.total_waited(asked), port.short_time(asked), port.counts()),
        (Time::from_ns(7), Time::from_ns(7), (1, 1, 0))
    );
}

// [CBFC3] [CBFC4] [CBFC6] [CBFC7] [CBFC11]
#[test]
fn room_is_granted_in_steps_and_an_old_message_takes_nothing_back() {
    let mut port = port(9000, 3000);
    port.receive(CLASS, 4000);
    assert!(!port.note_room(CLASS, 4000), "nothing came free");
    assert!(!port.note_room(CLASS, 1001), "2999 bytes did");
    assert!(port.note_room(CLASS, 1000) && !port.note_room(CLASS, 500), "owed once");
    assert_eq!(port.next_owed(), Some(CLASS));
    assert_eq!(port.message(CLASS, 500), (0, 12_500), "the newest room, not that of the decision");
    assert_eq!(port.next_owed(), None);
    port.on_message(Time::ZERO, CLASS, 0, 20_000);
    port.on_message(Time::ZERO, CLASS, 0, 15_000);
    assert!(port.fits(CLASS, 20_000));
}

/// Of 9000 granted bytes 7518 have arrived: the remaining 1482 are less than a full frame of 1518 bytes, so that a
/// single freed byte makes a credit message due at once.
// [CBFC4]
#[test]
fn hosts_that_may_lack_credits_are_notified_at_once() {
    let mut port = port(9000, 3000);
    port.receive(CLASS, 7482);
    assert!(!port.note_room(CLASS, 7000), "a full frame is left");
    port.receive(CLASS, 36);
    assert!(!port.note_room(CLASS, 7518), "no room");
    assert!(port.note_room(CLASS, 7517));
    assert_eq!(port.message(CLASS, 7517), (0, 9001));
}

/// A frame or credit message in flight on the link.
#[derive(Clone, Copy)]
enum Flying {
    /// Frame length in bytes.
    Frame(u64),
    Message((u64, u64)),
}

/// Two ports on a link that loses frames and credit messages at random, with buffers that drain at random: no buffer
/// overflows, every wait for credits ends, and all credits are returned after all frames have been forwarded.
#[test]
fn any_losses_only_delay_and_never_overflow() {
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 0, 0);
        let mtu = 100 + stream.below(400);
        let credits = mtu + stream.below(2_000);
        let step = 1 + stream.below(2 * credits);
        let end = || CreditPort::new(1 << CLASS, credits, step, mtu);
        let (mut one, mut other) = (end(), end());
        let lossy = seed % 3 != 0;
        let mut forth: VecDeque<(u64, Flying)> = VecDeque::new();
        let mut back: VecDeque<(u64, (u64, u64))> = VecDeque::new();
        let (mut held, mut delivered, mut sent) = (VecDeque::new(), 0u64, 0u64);
        let mut next_frame = 1 + stream.below(mtu);
        let until = 20_000;
        for now in 0..until + 3_000 {
            let time = Time::from_ns(now);
            let (lossless_tail, delay) = (now >= until, 5);
            let lost = |stream: &mut Stream| lossy && !lossless_tail && stream.below(8) == 0;
            if now < until && stream.below(2) == 0 && one.fits_or_waits(time, CLASS, next_frame) {
                one.forget_wait(time, CLASS);
                one.spend(CLASS, next_frame);
                if !lost(&mut stream) {
                    forth.push_back((now + delay, Flying::Frame(next_frame)));
                }
                sent += 1;
                next_frame = 1 + stream.below(mtu);
            }
            if now % 40 == 0 {
                one.owe_all();
                other.owe_all();
            }
            if one.next_owed().is_some() {
                let message = one.message(CLASS, 0);
                if !lost(&mut stream) {
                    forth.push_back((now + delay, Flying::Message(message)));
                }
            }
            while let Some(&(_, what)) = forth.front().filter(|flying| flying.0 <= now) {
                forth.pop_front();
                match what {
                    Flying::Frame(size) => {
                        other.receive(CLASS, size);
                        held.push_back(size);
                    }
                    Flying::Message((sent, limit)) => _ = other.on_message(time, CLASS, sent, limit),
                }
            }
            let occupied: u64 = held.iter().sum();
            assert!(occupied <= credits, "seed {seed}: {occupied} of {credits} bytes at {now}");
            if stream.below(3) == 0 || now >= until {
                delivered += u64::from(held.pop_front().is_some());
            }
            other.note_room(CLASS, held.iter().sum());
            if other.next_owed().is_some() {
                let message = other.message(CLASS, held.iter().sum());
                if !lost(&mut stream) {
                    back.push_back((now + delay, message));
                }
            }
            while let Some(&(_, (sent, limit))) = back.front().filter(|flying| flying.0 <= now) {
                back.pop_front();
                one.on_message(time, CLASS, sent, limit);
            }
        }
        assert!(lossy || delivered == sent, "seed {seed}");
        assert!(sent > 500, "seed {seed}: {sent} frames, somebody waited for ever");
        assert!(one.fits(CLASS, credits) && !one.fits(CLASS, credits + 1), "seed {seed}: all credits are back");
        assert_eq!(one.short(), 0);
    }
}

// [CBFC8]
#[test]
fn sufficient_credits_are_the_bytes_of_a_round_trip_and_four_frames() {
    // For 100 Gbps and 500 ns: 12,500 bytes for the propagation in both directions, 1 for rounding, 84 for the credit
    // message, 3 frames of 1538, and 1518 for the update threshold.
    let computed = sufficient_credits(Rate::from_gbps(100), Time::from_ns(500), 1518, 1518);
    assert_eq!(computed, 12_500 + 1 + 84 + 3 * 1538 + 1518);
}
