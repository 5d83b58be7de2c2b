//! Tests of every transport under random loss, duplication, reordering, marks and invalid frames.

use super::{build, selective};
use crate::endpoint::Sender;
use crate::pipe::Pipe;
use crate::roce::RoceParameters;
use crate::tcp::{CongestionControl, EcnMode, TcpParameters};
use crate::transport::{SenderState, TransportParameters};
use units::{Rate, Time};

fn zoo() -> Vec<TransportParameters> {
    let quick = [("min_rto", "1ms"), ("initial_rto", "1ms"), ("max_rto", "5ms"), ("delayed_ack_timeout", "200us")];
    let with = |kind: &str, more: &[(&str, &str)]| {
        build(kind, &quick.iter().chain(more).copied().collect::<Vec<(&str, &str)>>())
    };
    let mut odd = TcpParameters { congestion_control: CongestionControl::NewReno, ..TcpParameters::default() };
    odd.ecn = EcnMode::Classic;
    odd.mss_bytes = 1;
    odd.advertised_window_bytes = 7;
    odd.min_rto = Time::from_us(100);
    odd.initial_rto = Time::from_us(100);
    odd.max_rto = Time::from_ms(1);
    let mut roce = RoceParameters::default();
    (roce.payload_bytes, roce.timeout) = (1, Some(Time::from_us(200)));
    vec![
        with("tcp", &[]),
        with("tcp", &[("congestion_control", "reno"), ("ecn", "true")]),
        with("tcp", &[("congestion_control", "none"), ("delayed_ack", "false")]),
        with("tcp", &[("congestion_control", "cubic"), ("ecn", "true"), ("cubic_scale", "1e9")]),
        with("tcp", &[("congestion_control", "vegas"), ("ecn", "true"), ("vegas_gamma", "0.5")]),
        with("tcp", &[("fast_retransmit", "false"), ("rto", "1ms")]),
        with("tcp", &[("sack", "true")]),
        with("tcp", &[("sack", "true"), ("congestion_control", "cubic"), ("mss", "100B"), ("delayed_ack", "false")]),
        with("tcp", &[("sack", "true"), ("congestion_control", "vegas"), ("dupack_threshold", "1")]),
        with("dctcp", &[("sack", "true"), ("advertised_window", "10KB")]),
        with("dctcp", &[]),
        with("dctcp", &[("mss", "100B"), ("congestion_control", "reno")]),
        build("roce", &[("timeout", "1ms"), ("nak_interval", "50us")]),
        build("roce", &[("timeout", "1ms"), ("window", "20KB"), ("ack_every", "100")]),
        build("dcqcn", &[("timeout", "1ms"), ("nak_interval", "0us"), ("min_rate", "1Mbps")]),
        build("dcqcn", &[("timeout", "500us"), ("clamp_target", "false"), ("increase_timer", "1us")]),
        build("timely", &[("timeout", "1ms"), ("segment", "4KB"), ("min_rate", "1Mbps")]),
        build("timely", &[("timeout", "1ms"), ("window", "20KB"), ("t_low", "1us"), ("min_rtt", "1us")]),
        build("timely", &[("timeout", "1ms"), ("measure", "round-trip"), ("t_low", "1us"), ("min_rtt", "1us")]),
        build("hpcc", &[("timeout", "1ms")]),
        build("hpcc", &[("timeout", "300us"), ("base_rtt", "20us"), ("payload", "100B"), ("window", "3KB")]),
        build("swift", &[("timeout", "1ms"), ("min_window", "1")]),
        build("swift", &[("timeout", "300us"), ("base_target", "1us"), ("payload", "100B"), ("min_window", "1")]),
        build("dctcp-rate", &[("timeout", "1ms"), ("window", "20KB"), ("variable_window", "true")]),
        build("dcqcn", &[("timeout", "1ms"), ("window", "20KB"), ("variable_window", "true"), ("min_rate", "1Mbps")]),
        build("external", &[("timeout", "1ms"), ("initial_rate", "3Gbps")]),
        build("hetflow", &[("timeout", "1ms"), ("sampling_bytes", "2KB"), ("sample", "4"), ("min_rate", "1Mbps")]),
        build("hetflow", &[("timeout", "1ms"), ("timer", "100us"), ("recovery", "1us"), ("update", "1us")]),
        build(
            "qcn",
            &[("timeout", "1ms"), ("increase_timer", "100us"), ("byte_counter", "10KB"), ("min_rate", "1Mbps")],
        ),
        build("eccp", &[("timeout", "1ms"), ("train_interval", "50us"), ("train_frames", "3")]),
        build("eccp", &[("timeout", "1ms"), ("estimate", "measured"), ("window", "20KB"), ("increase_timer", "50us")]),
        selective("roce", &[]),
        selective("roce", &[("rto_low", "1us"), ("rto_high", "1us"), ("flight_cap", "1B"), ("payload", "100B")]),
        selective("roce", &[("flight_cap", "unlimited"), ("rto_low_packets", "0"), ("window", "5KB")]),
        selective("dcqcn", &[("min_rate", "1Mbps")]),
        selective("timely", &[("segment", "4KB"), ("min_rate", "1Mbps")]),
        selective("hpcc", &[("base_rtt", "20us"), ("payload", "100B")]),
        selective("swift", &[("min_window", "1")]),
        selective("dctcp-rate", &[("window", "20KB"), ("variable_window", "true")]),
        selective("hetflow", &[("sampling_bytes", "2KB"), ("sample", "4"), ("min_rate", "1Mbps")]),
        selective("external", &[("initial_rate", "3Gbps")]),
        selective("qcn", &[("byte_counter", "10KB"), ("min_rate", "1Mbps")]),
        selective("eccp", &[("train_interval", "50us"), ("train_frames", "3")]),
        build("ndp", &[("timeout", "200us")]),
        build("ndp", &[("timeout", "500us"), ("initial_window", "1"), ("payload", "100B")]),
        build("eqds", &[("timeout", "300us"), ("quantum", "3")]),
        TransportParameters::tcp(odd).unwrap(),
        TransportParameters::roce(roce).unwrap(),
    ]
}

/// Returns whether sender and receiver of the transport handle trimmed frames.
fn trims(transport: &TransportParameters) -> bool {
    match transport {
        TransportParameters::Ndp(_) => true,
        TransportParameters::Roce(roce) => roce.is_selective(),
        _ => false,
    }
}

/// Random loss, duplication, reordering, ECN marks, bounced frames, stale and invalid frames, spurious timer calls.
/// Every transport keeps its window and rate in their ranges, delivers every byte once, and completes the flow after
/// the end of the disturbances.
#[test]
fn anything_may_happen_and_every_byte_arrives_once() {
    let mut halvings = [0, 0];
    for seed in 0..30 {
        let zoo = zoo();
        for (number, transport) in zoo.iter().enumerate() {
            let chaos = |step: u64| ((seed * 7 + step * 3) % 10) as f64 / 10.0;
            let pipe = Pipe {
                loss: chaos(1) * 0.3,
                reply_loss: chaos(2) * 0.4,
                duplication: chaos(3) * 0.3,
                marks: chaos(4) * 0.5,
                jitter: Time::from_us((seed % 4) * 15),
                nonsense: chaos(5) * 0.2,
                returned: chaos(6) * 0.3,
                halve_every: 1 + (seed % 4) as u32,
                heals_at: Time::from_ms(20),
                until: Time::from_s(5),
                buffer_bytes: 60_000,
                trims: trims(transport) && seed % 3 > 0,
                headers_returned: chaos(7) * 0.5,
                line: Rate::from_gbps(20),
                seed,
                ..Pipe::default()
            };
            let least = match transport {
                TransportParameters::Tcp(tcp) => u64::from(tcp.mss_bytes),
                _ => 0,
            };
            let size = [1, 1459, 10_001, 500_000][(seed % 4) as usize].min(if number + 2 >= zoo.len() {
                3000
            } else {
                u64::MAX
            });
            let outcome = pipe.run(transport, size, |now, sender| match sender {
                SenderState::Tcp(tcp) => assert!(tcp.congestion_window_bytes() >= least),
                SenderState::Roce(roce) => {
                    assert!((Rate::from_mbps(1)..=Rate::from_gbps(20)).contains(&roce.rate(now)));
                }
                SenderState::Custom(custom) => {
                    assert!((1_000_000..=20_000_000_000).contains(&custom.pace_bps(now)));
                }
                SenderState::Datagram(_) | SenderState::Ndp(_) => {}
            });
            let context = format!("seed {seed}, transport {number}: {outcome:?}");
            assert_eq!(outcome.completions, 1, "{context}");
            assert_eq!(outcome.delivered_bytes, size, "{context}");
            assert!(outcome.done, "{context}");
            assert_eq!(outcome.statistics.delivered, outcome.completed_at, "{context}");
            halvings[usize::from(transport.slows_down())] += outcome.halvings;
        }
    }
    assert!(halvings[0] == 0 && halvings[1] > 100, "{halvings:?}");
}

/// Swift with windows down to a thousandth of a packet, with random disturbances and either loss recovery: its rate
/// stays above zero and at most the line rate, and the flow completes.
#[test]
fn windows_below_a_packet_survive_anything() {
    for seed in 0..30 {
        for transport in [build("swift", &[("timeout", "1ms")]), selective("swift", &[("base_target", "1us")])] {
            let chaos = |step: u64| ((seed * 7 + step * 3) % 10) as f64 / 10.0;
            let pipe = Pipe {
                loss: chaos(1) * 0.3,
                reply_loss: chaos(2) * 0.4,
                duplication: chaos(3) * 0.3,
                jitter: Time::from_us((seed % 4) * 15),
                nonsense: chaos(5) * 0.2,
                returned: chaos(6) * 0.3,
                heals_at: Time::from_ms(20),
                until: Time::from_s(20),
                buffer_bytes: 60_000,
                line: Rate::from_gbps(20),
                seed,
                ..Pipe::default()
            };
            let mut slowest = u64::MAX;
            let outcome = pipe.run(&transport, 200_000, |now, sender| {
                let rate = sender.control_state(now).rate.map_or(0, Rate::as_bps);
                assert!((1..=20_000_000_000).contains(&rate));
                slowest = slowest.min(rate);
            });
            assert_eq!((outcome.completions, outcome.delivered_bytes, outcome.done), (1, 200_000, true), "{seed}");
            assert!(slowest < 1_000_000_000 || pipe.loss == 0.0, "{seed}: {slowest}");
        }
    }
}

/// A sender whose frames bounce halves its window or rate at most once per RTT, down to its lower bound.
#[test]
fn what_comes_back_halves_window_and_rate() {
    let pipe = Pipe { returned: 0.5, halve_every: 2, until: Time::from_ms(20), ..Pipe::default() };
    for (kind, settings) in [("dctcp", &[][..]), ("tcp", &[]), ("dcqcn", &[("min_rate", "500Mbps")])] {
        let free = Pipe { returned: 0.0, ..pipe.clone() }.run(&build(kind, settings), u64::MAX, |_, _| {});
        let held = pipe.run(&build(kind, settings), u64::MAX, |_, _| {});
        assert_eq!(free.halvings, 0);
        // There are at most 20 ms / 20 us halvings, since the RTT is at least 20 us, the propagation delay in both
        // directions.
        let rounds = pipe.until.as_ps() / Time::from_us(20).as_ps();
        assert!((10..=rounds).contains(&held.halvings), "{kind}: {held:?}");
        assert!(held.delivered_bytes * 2 < free.delivered_bytes, "{kind}: {held:?}, {free:?}");
        assert!(held.delivered_bytes > 100_000, "{kind}: {held:?}");
    }
    // Senders without a window or rate that can recover do not halve.
    for (kind, settings) in [("roce", &[][..]), ("tcp", &[("congestion_control", "none")]), ("datagram", &[])] {
        assert!(!build(kind, settings).slows_down());
        let held = pipe.run(&build(kind, settings), 30_000_000, |_, _| {});
        assert!(held.returned > 100 && held.halvings == 0, "{kind}: {held:?}");
    }
}

/// Datagrams with random disturbances: no retransmissions, and the delivered bytes are the sent bytes minus the lost
/// bytes.
#[test]
fn datagrams_count_what_arrives() {
    for seed in 0..10 {
        for arrival in ["constant", "poisson", "on_off"] {
            let transport = build("datagram", &[("arrival", arrival), ("rate", "7Gbps")]);
            let pipe =
                Pipe { loss: 0.1, jitter: Time::from_us(30), nonsense: 0.1, marks: 0.1, seed, ..Pipe::default() };
            let outcome = pipe.run(&transport, 1472 * 1000, |_, _| {});
            assert!(outcome.done);
            assert_eq!((outcome.sent, outcome.replies), (1000, 0));
            assert_eq!(outcome.delivered_bytes, (1000 - outcome.lost) * 1472);
            assert_eq!(outcome.completions, u32::from(outcome.lost == 0));
        }
    }
}
