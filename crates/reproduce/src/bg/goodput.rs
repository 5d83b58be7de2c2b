//! Figure 1.1: goodput as a function of offered load, with and without losses, and utilisation of TCP Reno at a packet
//! loss rate of 0.1 %.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{Choice, GOODPUT, RENO};
use crate::trial::Trial;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Figure 1.1 specifies neither buffer nor transport. The publication that the source cites for Reno specifies neither
/// timeouts nor acknowledgements.
pub const CHOICES: &[Choice] = &[
    Choice { source: &GOODPUT, key: "switch.egress_threshold", alternatives: &["30KB", "1MB"] },
    Choice { source: &GOODPUT, key: "host.transport.nak_interval", alternatives: &["1us", "500us"] },
    Choice { source: &RENO, key: "host.transport.min_rto", alternatives: &["1s"] },
    Choice { source: &RENO, key: "host.transport.delayed_ack", alternatives: &["true"] },
];

/// Number of senders in the scenario.
const SENDERS: f64 = 8.0;
/// Offered loads, relative to the receiver's link rate.
const LOADS: [f64; 12] = [0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0];

/// Runs the experiment `bg/fig1.1`.
pub fn goodput(trial: &mut Trial) -> Result<(), Failure> {
    over_load(trial)?;
    reno(trial)
}

/// Runs one point of the figure. Returns the goodput in Gbps and the number of frames dropped by full queues.
fn point(trial: &Trial, load: f64, lossless: bool, duration_ms: u64) -> Result<(f64, u64), Failure> {
    let rate = (load * 10e9 / SENDERS).round();
    let mut changes =
        vec![("host.transport.rate", format!("\"{rate}bps\"")), ("duration", format!("\"{duration_ms}ms\""))];
    if lossless {
        changes.push((
            "switch.flow_control",
            "{ kind = \"pfc\", priorities = [3], xoff = \"100KB\", reaction = \"3840 bit times\" }".to_owned(),
        ));
    }
    let result = trial.run(&GOODPUT, &changes)?;
    // Goodput of traffic entry 0 only, which excludes the background traffic.
    Ok((result.goodput(0) / 1e9, result.overflowed()))
}

fn over_load(trial: &mut Trial) -> Result<(), Failure> {
    const FIGURE: &str = "the figure has no scale: the other side is measured";
    let duration_ms = trial.shorten("simulated ms per load", 60, 20);
    let mut rows = Vec::new();
    let (mut lossy, mut lossless) = (Vec::new(), Vec::new());
    let (mut lost, mut lost_lossless) = (0, 0);
    for load in LOADS {
        let (with, dropped) = point(trial, load, true, duration_ms)?;
        lost_lossless += dropped;
        let (without, dropped) = point(trial, load, false, duration_ms)?;
        lost += dropped;
        rows.push((format!("{load:.2}"), vec![with, without]));
        lossless.push(with);
        lossy.push(without);
    }
    trial.show("  goodput at the receiver in Gbps over offered load, a share of its 10 Gbps link\n");
    trial.show(&bars("load", &["lossless (PFC)", "lossy (drop)"], 10.0, &rows));
    let at = |load: f64| LOADS.iter().position(|&known| known == load).unwrap_or(0);
    // Ratio of payload to wire bytes: 1000 bytes per frame of 1062 bytes plus 20 bytes of preamble and gap. The
    // background traffic takes 0.2 Gbps.
    let payload = 1000.0 / (1062.0 + WIRE_OVERHEAD_BYTES as f64);
    let capacity = (10.0 - 0.2) * payload;
    for load in [0.4, 0.8, 0.95] {
        let name = format!("lossless: goodput at load {load} is what is offered");
        let offered = load * 10.0 * payload;
        trial.check(Check::new(name, "Gbps", lossless[at(load)], Relation::Equal, offered, 0.01 * offered));
    }
    for load in [1.05, 1.2, 2.0] {
        let name = format!("lossless: goodput at load {load} is the link's capacity");
        let check = Check::new(name, "Gbps", lossless[at(load)], Relation::Equal, capacity, 0.01 * capacity);
        trial.check(check.note("capacity: the payload's share of what the background leaves of 10 Gbps, computed"));
    }
    trial.check(Check::exact("lossless: frames lost", "frames", lost_lossless as f64, Relation::Equal, 0.0));
    trial.check(Check::exact("lossy: frames lost", "frames", lost as f64, Relation::Above, 0.0).consistency());
    for load in [0.4, 0.95] {
        let name = format!("lossy: goodput at load {load} is that of the lossless network");
        let other = lossless[at(load)];
        trial.check(Check::new(name, "Gbps", lossy[at(load)], Relation::Equal, other, 0.01 * other).note(FIGURE));
    }
    let before = lossy[at(0.95)];
    let name = "lossy: goodput at load 1.2 has fallen below that at 0.95";
    trial.check(Check::new(name, "Gbps", lossy[at(1.2)], Relation::Below, before, 0.0).note(FIGURE));
    let name = "lossy: goodput at load 2 has fallen below half of that";
    let dramatic = "the figure has no scale: half is what we take \"dramatically\" to mean";
    trial.check(Check::new(name, "Gbps", lossy[at(2.0)], Relation::Below, 0.5 * before, 0.0).note(dramatic));
    let name = "negative control: at load 2 flow control makes the difference";
    trial.check(
        Check::new(name, "Gbps", lossless[at(2.0)], Relation::Above, lossy[at(2.0)], 0.0).consistency().note(FIGURE),
    );
    Ok(())
}

/// Returns the link utilisation of Reno if the bandwidth-delay product is `bdp` segments.
fn utilisation(trial: &Trial, bdp: u64, seconds: u64, loss: f64) -> Result<f64, Failure> {
    // A segment of 1518 bytes takes 1230.4 us at 10 Mbps, including preamble and gap. The delay of the access links is
    // approximated by 50 us.
    let round_trip = Time::from_ps(1_230_400_000 * bdp);
    let delay = (round_trip.saturating_sub(Time::from_ps(1_230_400_000 + 50_000_000))) / 2;
    let changes = [
        ("fabric.link.edge.delay", format!("\"{}ns\"", delay.as_ps() / 1000)),
        ("fabric.link.edge.loss", format!("{loss:?}")),
        ("duration", format!("\"{seconds}s\"")),
    ];
    let result = trial.run(&RENO, &changes)?;
    // Goodput converted from payload bytes to wire bytes of full frames, as a share of 10 Mbps.
    Ok(result.total_goodput() * (1518 + WIRE_OVERHEAD_BYTES) as f64 / 1460.0 / 1e7)
}

fn reno(trial: &mut Trial) -> Result<(), Failure> {
    const PRODUCTS: [u64; 9] = [10, 20, 40, 60, 80, 100, 120, 160, 320];
    const CITED: f64 = 37.9;
    let seconds = trial.shorten("simulated s per bandwidth-delay product", 2000, 400);
    let mut points = Vec::new();
    for product in PRODUCTS {
        points.push((product as f64, 100.0 * utilisation(trial, product, seconds, 1e-3)?));
    }
    let rows: Vec<(String, Vec<f64>)> = points.iter().map(|&(x, y)| (format!("{x:.0}"), vec![y])).collect();
    trial.show("\n  Reno's utilisation in % over the bandwidth-delay product in packets, one frame in 1000 lost\n");
    trial.show(&bars("product", &["utilisation"], 100.0, &rows));
    // sqrt(3 / 2p) segments: mean congestion window if it grows by one segment per RTT and is halved every 1 / p
    // packets.
    let window = (1.5f64 / 1e-3).sqrt();
    let crossing = points.windows(2).find(|pair| pair[0].1 >= CITED && pair[1].1 < CITED);
    let product = crossing.map_or(f64::NAN, |pair| {
        let share = (pair[0].1 - CITED) / (pair[0].1 - pair[1].1);
        pair[0].0 + share * (pair[1].0 - pair[0].0)
    });
    trial.show(&format!("  {CITED} % is reached at {product:.0} packets\n"));
    let note = "the citation gives neither rate nor round trip: utilisation is the mean window, sqrt(3 / 2p) = 38.7 \
        packets, over the bandwidth-delay product, so 37.9 % is a product near 102 packets; a shorter one is full, a \
        longer one idle";
    let expected = window / (CITED / 100.0);
    let name = "Reno at p = 1e-3 uses 37.9 % at a product of";
    trial.check(Check::new(name, "packets", product, Relation::Equal, expected, 0.15 * expected).note(note));
    let at = |product: f64| points.iter().find(|point| point.0 == product).map_or(f64::NAN, |point| point.1);
    let name = "Reno at p = 1e-3 and a product of 100 packets";
    trial.check(Check::new(name, "%", at(100.0), Relation::Equal, CITED, 6.0).note(note));
    trial.check(
        Check::new(
            "a short path is full in spite of the losses: 10 packets",
            "%",
            at(10.0),
            Relation::AtLeast,
            90.0,
            0.0,
        )
        .consistency(),
    );
    let name = "utilisation is inversely proportional to the product: 320 over 160 packets";
    trial.check(Check::new(name, "ratio", at(320.0) / at(160.0), Relation::Equal, 0.5, 0.1));
    let healthy = 100.0 * utilisation(trial, 100, seconds / 4, 0.0)?;
    let name = "negative control: without loss, 100 packets";
    trial.check(Check::new(name, "%", healthy, Relation::AtLeast, 95.0, 0.0).consistency());
    Ok(())
}
