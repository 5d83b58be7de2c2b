//! Tests of sender and receiver of every transport: throughput compared with closed forms. [`random_events`] has the
//! tests of robustness against random events.

mod random_events;

use crate::pipe::Pipe;
use crate::tcp::{InitialWindow, TcpParameters};
use crate::transport::{SenderState, TransportParameters};
use units::{Rate, Time};

fn build(kind: &str, settings: &[(&str, &str)]) -> TransportParameters {
    TransportParameters::build(kind, settings.iter().copied()).unwrap()
}

fn selective(kind: &str, more: &[(&str, &str)]) -> TransportParameters {
    build(kind, &[&[("loss_recovery", "selective")], more].concat())
}

/// Mean window of 1.22 / sqrt(p) segments per RTT (Mathis et al., 1997), for one loss per 1/p segments.
#[test]
fn reno_and_newreno_reach_the_mathis_throughput() {
    for (control, every) in [("reno", 400), ("reno", 1000), ("newreno", 1000), ("newreno", 2500)] {
        let settings =
            [("congestion_control", control), ("delayed_ack", "false"), ("min_rto", "10ms"), ("initial_rto", "10ms")];
        let pipe = Pipe {
            delay: Time::from_ms(1),
            lose_every: Some(every),
            until: Time::from_s(40),
            line: Rate::from_gbps(100),
            bottleneck: Rate::from_gbps(100),
            ..Pipe::default()
        };
        let outcome = pipe.run(&build("tcp", &settings), u64::MAX, |_, _| {});
        let rounds = 40.0 / 2.0e-3;
        let segments = outcome.delivered_bytes as f64 / 1460.0 / rounds;
        let mathis = 1.22 * (every as f64).sqrt();
        assert!((segments / mathis - 1.0).abs() < 0.15, "{control} 1/{every}: {segments} for {mathis}");
        assert_eq!(outcome.statistics.timeouts, 0, "single losses are repaired without a timeout");
    }
}

/// The square-root law for independent random losses. Its constant depends on the loss pattern, for large windows:
/// 1.22 for evenly spaced losses (Mathis et al., 1997), 1.31 for independent losses (Ott, Kemperman and Mathis,
/// 1996). With windows of about 40 segments, each recovery takes one RTT more than in the law, in which half a window
/// is sent, so that the throughput is between the two laws. With 2,000 cuts the standard error of the mean is about 1
/// %; the tolerance is three standard errors beyond either law.
#[test]
fn random_losses_follow_the_square_root_law() {
    for sack in ["false", "true"] {
        let settings = [("sack", sack), ("delayed_ack", "false"), ("min_rto", "10ms"), ("initial_rto", "10ms")];
        let pipe = Pipe {
            line: Rate::from_gbps(100),
            bottleneck: Rate::from_gbps(100),
            delay: Time::from_ms(1),
            loss: 1e-3,
            until: Time::from_s(100),
            ..Pipe::default()
        };
        let outcome = pipe.run(&build("tcp", &settings), u64::MAX, |_, _| {});
        let segments = outcome.delivered_bytes as f64 / 1460.0 / (100.0 / 2.0e-3);
        let law = |constant: f64| constant / pipe.loss.sqrt();
        let between = law(1.22) * 0.97..law(1.31) * 1.03;
        assert!(between.contains(&segments), "sack {sack}: {segments} not in {between:?}");
        // The loss probability of 1e-3 also applies to the 2,000 retransmissions: about two are lost, each of which
        // causes a timeout.
        assert!(outcome.statistics.timeouts < 10, "sack {sack}: {}", outcome.statistics.timeouts);
    }
}

/// Four segments of a window of 99 segments are lost, with an RTT of 10 ms. With SACK the flow takes 15 ms plus
/// serialisation delays: half an RTT for the window, one for the retransmissions, and half for their last
/// acknowledgement. NewReno retransmits one segment per RTT.
#[test]
fn selective_acknowledgements_repair_a_window_of_losses_in_one_round_trip() {
    let run = |kind: &str, control: &str, sack: &str| {
        let settings = [
            ("congestion_control", control),
            ("sack", sack),
            ("delayed_ack", "false"),
            ("initial_window", "99KB"),
            ("mss", "1000B"),
        ];
        let pipe = Pipe { lose_every: Some(20), delay: Time::from_ms(5), ..Pipe::default() };
        let outcome = pipe.run(&build(kind, &settings), 99_000, |_, _| {});
        assert_eq!((outcome.lost, outcome.delivered_bytes, outcome.statistics.timeouts), (4, 99_000, 0));
        // The four lost segments are retransmitted; with SACK also the last segment (rescue retransmission), because
        // no new data is left.
        assert_eq!(outcome.statistics.retransmitted_bytes, if sack == "true" { 5000 } else { 4000 });
        outcome.completed_at.unwrap()
    };
    let links = Time::from_us(200);
    for (kind, control) in [("tcp", "newreno"), ("tcp", "cubic"), ("tcp", "vegas"), ("dctcp", "newreno")] {
        let (sack, newreno) = (run(kind, control, "true"), run(kind, control, "false"));
        let least = Time::from_ms(15);
        assert!((least..least + links).contains(&sack), "{kind} {control}: {sack}");
        // NewReno takes three RTTs of 10 ms more than SACK, one for each further lost segment.
        let least = Time::from_ms(45);
        assert!((least..least + links).contains(&newreno), "{kind} {control}: {newreno}");
    }
}

/// The last segment of a window and an earlier one are lost: the rescue retransmission of SACK avoids the timeout.
#[test]
fn the_rescue_retransmission_spares_a_timeout() {
    let run = |sack: &str| {
        let settings = [("sack", sack), ("delayed_ack", "false"), ("initial_window", "40KB"), ("mss", "1000B")];
        let pipe = Pipe { lose_every: Some(20), delay: Time::from_ms(1), ..Pipe::default() };
        pipe.run(&build("tcp", &settings), 40_000, |_, _| {})
    };
    let (with, without) = (run("true"), run("false"));
    assert_eq!((with.lost, with.delivered_bytes, with.statistics.timeouts), (2, 40_000, 0));
    assert_eq!((without.lost, without.statistics.timeouts), (2, 0), "NewReno's partial acknowledgement finds it too");
}

/// PABO's flows, without congestion avoidance: slow start fills the window of 45535 B, 84 segments of 536 B.
#[test]
fn a_fixed_window_carries_one_window_a_round_trip() {
    let settings = [
        ("congestion_control", "none"),
        ("mss", "536B"),
        ("advertised_window", "45535B"),
        ("initial_window", "536B"),
        ("fast_retransmit", "false"),
        ("rto", "240s"),
        ("delayed_ack", "false"),
    ];
    let pipe = Pipe { delay: Time::from_ms(5), until: Time::from_s(1), ..Pipe::default() };
    let mut in_flight = 0;
    let outcome = pipe.run(&build("tcp", &settings), u64::MAX, |_, sender| {
        let SenderState::Tcp(sender) = sender else { unreachable!() };
        in_flight = in_flight.max(sender.congestion_window_bytes());
    });
    // The flow sends 1 + 2 + ... + 64 segments in the first seven of about 100 RTTs (slightly longer than 10 ms),
    // then 84 segments per RTT.
    let segments = outcome.delivered_bytes / 536;
    assert!((84 * 90..=84 * 99).contains(&segments), "{segments}");
    assert!((45_535..45_535 + 536).contains(&in_flight));
    assert_eq!(outcome.statistics.timeouts, 0);
}

#[test]
fn slow_start_doubles_every_round_trip() {
    let mut parameters = TcpParameters { delayed_ack: false, ..TcpParameters::default() };
    parameters.initial_window = InitialWindow::Bytes(1460);
    let transport = TransportParameters::tcp(parameters).unwrap();
    let pipe = Pipe { delay: Time::from_ms(50), until: Time::from_ms(850), ..Pipe::default() };
    let mut windows = Vec::new();
    pipe.run(&transport, u64::MAX, |now, sender| {
        let SenderState::Tcp(sender) = sender else { unreachable!() };
        let round = (now.as_ps() / 100_000_000_000) as usize;
        windows.resize(round + 1, 0);
        windows[round] = sender.congestion_window_bytes() / 1460;
    });
    assert_eq!(windows, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
}

/// Without loss there are no retransmissions, and every byte is delivered once. With delayed acknowledgements there
/// are half as many acknowledgements as segments.
#[test]
fn delayed_acknowledgements_are_half_as_many() {
    let pipe = Pipe::default();
    let every = pipe.run(&build("tcp", &[("delayed_ack", "false")]), 1460 * 1000, |_, _| {});
    let second = pipe.run(&build("tcp", &[]), 1460 * 1000, |_, _| {});
    assert_eq!((every.replies, second.replies), (1000, 500));
    for outcome in [every, second] {
        assert_eq!((outcome.delivered_bytes, outcome.completions, outcome.sent), (1_460_000, 1, 1000));
        assert_eq!(outcome.statistics.delivered, outcome.completed_at);
    }
}

/// Three segments of one window are lost: NewReno retransmits one per RTT, Reno needs the retransmission timer.
#[test]
fn newreno_survives_what_makes_reno_time_out() {
    let run = |control| {
        let settings =
            [("congestion_control", control), ("delayed_ack", "false"), ("initial_window", "14600B"), ("mss", "1000B")];
        // Segments 4, 8 and 12 of the initial window of 14 segments are lost; there are no later new segments.
        let pipe = Pipe { lose_every: Some(4), ..Pipe::default() };
        pipe.run(&build("tcp", &settings), 14_000, |_, _| {})
    };
    let (reno, newreno) = (run("reno"), run("newreno"));
    assert_eq!((reno.delivered_bytes, newreno.delivered_bytes), (14_000, 14_000));
    assert_eq!(newreno.statistics.timeouts, 0);
    assert!(reno.statistics.timeouts > 0);
    assert_eq!(newreno.statistics.retransmitted_bytes, 3000);
}

/// All acknowledgements are lost: the timer expires at 1, 3, 7, 15, 31 and 63 s (binary exponential back-off), and
/// each time retransmits one segment.
#[test]
fn the_retransmission_timer_backs_off() {
    let pipe = Pipe { reply_loss: 1.0, until: Time::from_s(70), ..Pipe::default() };
    let outcome = pipe.run(&build("tcp", &[]), 1000, |_, _| {});
    assert_eq!((outcome.statistics.timeouts, outcome.sent), (6, 7));
}

#[test]
fn without_retransmissions_nothing_is_sent_twice() {
    let pipe = Pipe { loss: 0.1, until: Time::from_s(5), ..Pipe::default() };
    let outcome = pipe.run(&build("tcp", &[("retransmissions", "false")]), 1_000_000, |_, _| {});
    assert!(outcome.lost > 0);
    assert_eq!((outcome.statistics.retransmitted_bytes, outcome.completions), (0, 0));
}

/// With an ECN marking threshold of K = 30 kB, the queue of a DCTCP flow stays below 70 kB, the link is fully
/// utilised, and no frame is lost. Classic ECN halves the window per mark and has a lower throughput at the same K.
#[test]
fn dctcp_keeps_the_queue_short_and_the_link_full() {
    // The bandwidth-delay product of 10 Gbps and 40 us is 50 kB; K = 30 kB is more than 1/7 of it, as RFC 8257
    // requires.
    let pipe = Pipe {
        line: Rate::from_gbps(40),
        delay: Time::from_us(20),
        mark_above_bytes: 30_000,
        until: Time::from_ms(200),
        ..Pipe::default()
    };
    let run = |kind, ecn: &[(&str, &str)]| pipe.run(&build(kind, ecn), u64::MAX, |_, _| {});
    let dctcp = run("dctcp", &[("initial_ssthresh", "60KB")]);
    let full = 10e9 / 8.0 * 0.2 * 1460.0 / 1538.0;
    assert!(dctcp.delivered_bytes as f64 > 0.97 * full, "{} of {full}", dctcp.delivered_bytes);
    assert!(dctcp.most_queued_bytes < 70_000, "{}", dctcp.most_queued_bytes);
    assert_eq!(dctcp.lost, 0);
    assert!(dctcp.marked > 0);
    let classic = run("tcp", &[("ecn", "true"), ("initial_ssthresh", "60KB")]);
    assert!(classic.delivered_bytes as f64 > 0.7 * full);
    assert!(classic.delivered_bytes < dctcp.delivered_bytes);
}

/// A Vegas flow keeps two to four segments in the queue of the bottleneck without loss; NewReno fills the queue until
/// segments are lost.
#[test]
fn vegas_leaves_the_queue_almost_empty() {
    let pipe = Pipe {
        line: Rate::from_gbps(10),
        bottleneck: Rate::from_gbps(1),
        delay: Time::from_us(500),
        buffer_bytes: 400_000,
        until: Time::from_s(2),
        ..Pipe::default()
    };
    let mut late = 0;
    let settings = |control| [("congestion_control", control), ("delayed_ack", "false"), ("min_rto", "10ms")];
    let run = |control| pipe.run(&build("tcp", &settings(control)), u64::MAX, |_, _| {});
    let (vegas, reno) = (run("vegas"), run("newreno"));
    let watched = pipe.run(&build("tcp", &settings("vegas")), u64::MAX, |now, sender| {
        if let (SenderState::Tcp(sender), true) = (sender, now > Time::from_s(1)) {
            late = sender.congestion_window_bytes();
        }
    });
    assert_eq!(watched.delivered_bytes, vegas.delivered_bytes);
    // The bandwidth-delay product, 1 ms at 1 Gbps, is 81.3 segments of 1538 B on the wire; the rest of the window is
    // in the queue.
    let waiting = late as f64 / 1460.0 - 81.3;
    assert!((1.0..=5.0).contains(&waiting), "{waiting} segments wait");
    assert_eq!(vegas.lost, 0);
    assert!(reno.lost > 0 && reno.most_queued_bytes > 390_000);
    let full = 1e9 / 8.0 * 2.0 * 1460.0 / 1538.0;
    assert!(vegas.delivered_bytes as f64 > 0.97 * full, "{} of {full}", vegas.delivered_bytes);
}

/// With an RTT of 100 ms and one loss per 20,000 segments, the throughput of CUBIC is at least 1.3 times that of
/// NewReno.
#[test]
fn cubic_fills_a_long_pipe_better_than_newreno() {
    let pipe = Pipe {
        line: Rate::from_gbps(1),
        bottleneck: Rate::from_gbps(1),
        delay: Time::from_ms(50),
        lose_every: Some(20_000),
        until: Time::from_s(60),
        ..Pipe::default()
    };
    let run = |control| {
        let settings = [("congestion_control", control), ("advertised_window", "64MB"), ("initial_ssthresh", "500KB")];
        pipe.run(&build("tcp", &settings), u64::MAX, |_, _| {}).delivered_bytes as f64
    };
    let (cubic, newreno) = (run("cubic"), run("newreno"));
    assert!(cubic > 1.3 * newreno, "{cubic} and {newreno}");
    // RFC 9438, 5.1: the mean window of CUBIC is (C (3 + b) / (4 (1 - b)))^(1/4) (RTT / p)^(3/4) segments, with C =
    // 0.4, b = 0.7 and the loss probability p: 1.054 RTT^(3/4) / p^(3/4).
    let window = libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(0.1 * 20_000.0, 0.75);
    let law = window * 1460.0 / 0.1 * 60.0;
    assert!((cubic / law - 1.0).abs() < 0.15, "{cubic} beside the law's {law}");
}

/// A DCQCN flow sends from a port of 40 Gbps to a bottleneck of 10 Gbps: CNPs reduce its rate below 10 Gbps, and its
/// goodput is at least 80 % of the bottleneck's capacity.
#[test]
fn dcqcn_settles_at_the_bottleneck() {
    let pipe = Pipe {
        line: Rate::from_gbps(40),
        delay: Time::from_us(5),
        mark_above_bytes: 100_000,
        until: Time::from_ms(50),
        ..Pipe::default()
    };
    let mut slowest = Rate::from_gbps(40);
    let outcome = pipe.run(&build("dcqcn", &[]), u64::MAX, |now, sender| {
        let SenderState::Roce(sender) = sender else { unreachable!() };
        slowest = slowest.min(sender.rate(now));
    });
    assert!(outcome.cnps > 3 && outcome.cnps <= 50_000 / 50, "{}", outcome.cnps);
    assert!(slowest < Rate::from_gbps(10), "{slowest}");
    let full = 10e9 / 8.0 * 0.05 * 1000.0 / 1082.0;
    assert!(outcome.delivered_bytes as f64 > 0.8 * full, "{} of {full}", outcome.delivered_bytes);
    assert!(outcome.most_queued_bytes < 3_000_000, "{}", outcome.most_queued_bytes);
    assert_eq!(outcome.statistics.retransmitted_bytes, 0);
}

/// A TIMELY flow sends from a port of 40 Gbps to a bottleneck of 10 Gbps: from 8 Gbps its rate rises to a mean of 10
/// Gbps, within 5 %.
#[test]
fn timely_settles_at_the_bottleneck() {
    let pipe =
        Pipe { line: Rate::from_gbps(40), delay: Time::from_us(5), until: Time::from_ms(100), ..Pipe::default() };
    let (mut late, mut samples) = (0.0, 0.0);
    let transport = build("timely", &[("initial_rate", "8Gbps")]);
    let outcome = pipe.run(&transport, u64::MAX, |now, sender| {
        let SenderState::Roce(sender) = sender else { unreachable!() };
        if now > Time::from_ms(50) {
            (late, samples) = (late + sender.rate(now).as_bps() as f64, samples + 1.0);
        }
    });
    assert!((late / samples / 10e9 - 1.0).abs() < 0.05, "{}", late / samples);
    let full = 10e9 / 8.0 * 0.1 * 1000.0 / 1082.0;
    assert!(outcome.delivered_bytes as f64 > 0.9 * full, "{} of {full}", outcome.delivered_bytes);
    // One acknowledgement per 16 packets.
    assert!(outcome.replies * 16 <= outcome.sent);
    assert_eq!(outcome.statistics.retransmitted_bytes, 0);
}

/// A HetFlow flow starts at 8 Gbps to a bottleneck of 10 Gbps: it cuts its rate whenever the queue begins to grow, so
/// that the link is utilised and the queue short, also if 30 % of the notifications are lost.
#[test]
fn hetflow_keeps_the_queue_short_and_the_link_full() {
    for lost in [0.0, 0.3] {
        let pipe = Pipe {
            line: Rate::from_gbps(40),
            delay: Time::from_us(10),
            until: Time::from_ms(200),
            reply_loss: lost,
            ..Pipe::default()
        };
        let transport = build("hetflow", &[("initial_rate", "8Gbps"), ("timeout", "never")]);
        let outcome = pipe.run(&transport, u64::MAX, |_, _| {});
        let full = 10e9 / 8.0 * 0.2 * 1000.0 / 1082.0;
        assert!(outcome.delivered_bytes as f64 > 0.9 * full, "{} of {full}", outcome.delivered_bytes);
        assert!(outcome.most_queued_bytes < 150_000, "{lost}: {}", outcome.most_queued_bytes);
        assert_eq!(outcome.statistics.retransmitted_bytes, 0);
    }
}

/// An ECCP flow starts at 8 Gbps to a bottleneck of 10 Gbps: its mean rate stays between 80 and 100 % of the
/// capacity, since it leaves some bandwidth available, also if 30 % of the notifications are lost.
#[test]
fn eccp_leaves_a_share_of_the_bottleneck() {
    for lost in [0.0, 0.3] {
        let pipe = Pipe {
            line: Rate::from_gbps(10),
            delay: Time::from_us(40),
            until: Time::from_ms(500),
            reply_loss: lost,
            ..Pipe::default()
        };
        let (mut late, mut samples) = (0.0, 0.0);
        let transport = build("eccp", &[("initial_rate", "8Gbps"), ("timeout", "never")]);
        let outcome = pipe.run(&transport, u64::MAX, |now, sender| {
            let SenderState::Custom(sender) = sender else { unreachable!() };
            if now > Time::from_ms(100) {
                (late, samples) = (late + sender.pace_bps(now) as f64, samples + 1.0);
            }
        });
        let share = late / samples / 10e9;
        assert!((0.8..=1.0).contains(&share), "{lost}: {share}");
        assert!(
            outcome.delivered_bytes as f64 > 0.75 * 10e9 / 8.0 * 0.5 * 1000.0 / 1082.0,
            "{}",
            outcome.delivered_bytes
        );
        assert_eq!(outcome.statistics.retransmitted_bytes, 0);
    }
}

/// A RoCE flow with a fixed rate sends at exactly this rate on the wire; at line rate there is no gap between frames.
#[test]
fn roce_paces_on_the_wire() {
    let exact = |settings: &[(&str, &str)], wire_ps: u64| {
        let outcome = Pipe::default().run(&build("roce", settings), 1_000_000, |_, _| {});
        let completed = outcome.completed_at.unwrap();
        // Flow completion: the start at 1 us, 999 packet intervals, the serialisation of the last frame on two links
        // of 10 Gbps, and the one-way delay of 10 us.
        let expected = Time::from_us(1) + Time::from_ps(999 * wire_ps + 2 * 865_600) + Time::from_us(10);
        assert_eq!(completed, expected);
        assert_eq!((outcome.completions, outcome.sent), (1, 1000));
    };
    exact(&[], 865_600);
    exact(&[("rate", "1Gbps")], 8_656_000);
    // Coalesced acknowledgements: one per 16 packets, and one for the last packet.
    let outcome = Pipe::default().run(&build("roce", &[("ack_every", "16")]), 1_000_000, |_, _| {});
    assert_eq!(outcome.replies, 1000 / 16 + 1);
    // Window-limited: a window of 10 packets and an RTT of about 22 us, so that 1000 packets take about 100 RTTs.
    let windowed = build("roce", &[("window", "10KB"), ("ack_every", "16")]);
    let outcome = Pipe::default().run(&windowed, 1_000_000, |_, _| {});
    let seconds = outcome.completed_at.unwrap().as_secs_f64();
    assert!((1.9e-3..3.6e-3).contains(&seconds), "{seconds}");
    assert_eq!(outcome.statistics.timeouts, 0);
}

/// One lost packet causes one NAK and the retransmission of the packets in flight, but no timeout.
#[test]
fn go_back_n_repairs_a_loss_in_a_round_trip() {
    let pipe = Pipe { lose_every: Some(600), ..Pipe::default() };
    let outcome = pipe.run(&build("roce", &[]), 1_000_000, |_, _| {});
    assert_eq!((outcome.completions, outcome.delivered_bytes, outcome.lost), (1, 1_000_000, 1));
    assert_eq!(outcome.statistics.timeouts, 0);
    let again = outcome.statistics.retransmitted_bytes;
    assert!((20_000..30_000).contains(&again), "{again}");
    // The last packet is lost, so that there is no NAK: the retransmission timer detects the loss.
    let pipe = Pipe { lose_every: Some(1000), ..Pipe::default() };
    let outcome = pipe.run(&build("roce", &[]), 1_000_000, |_, _| {});
    assert_eq!((outcome.completions, outcome.statistics.timeouts), (1, 1));
    assert_eq!(outcome.statistics.retransmitted_bytes, 1000);
}

/// IRN, sec. 3.1: without reordering, the retransmitted bytes equal the lost bytes, whereas go-back-N retransmits
/// more. A lost retransmission is detected by a timeout.
#[test]
fn selective_repeat_sends_again_what_was_lost_and_nothing_else() {
    for (seed, loss) in [(1, 0.001), (2, 0.01), (3, 0.05), (4, 0.2)] {
        for kind in ["roce", "dcqcn", "timely", "hpcc", "swift"] {
            let pipe = Pipe { loss, seed, ..Pipe::default() };
            let again = |transport: &TransportParameters| {
                let outcome = pipe.run(transport, 2_000_000, |_, _| {});
                assert_eq!((outcome.completions, outcome.delivered_bytes), (1, 2_000_000), "{kind} {loss}");
                (outcome.statistics.retransmitted_bytes, outcome.lost * 1000)
            };
            let (sent_again, lost) = again(&selective(kind, &[]));
            assert!(lost > 0 || loss < 0.01);
            assert_eq!(sent_again, lost, "{kind} {loss}");
            let (sent_again, lost) = again(&build(kind, &[("timeout", "1ms")]));
            assert!(sent_again > lost, "{kind} {loss}: go-back-N sends {sent_again} B again for {lost} B");
        }
    }
}

/// The number of timer calls does not grow with the number of acknowledgements: at most one call per timeout
/// interval.
#[test]
fn acknowledgements_move_no_timer() {
    for kind in ["roce", "tcp", "dctcp", "dcqcn"] {
        let outcome = Pipe::default().run(&build(kind, &[]), 50_000_000, |_, _| {});
        assert_eq!(outcome.completions, 1);
        assert!(outcome.timer_calls <= 6, "{kind}: {} calls in {}", outcome.timer_calls, outcome.ended);
    }
}
