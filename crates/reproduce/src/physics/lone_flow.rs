//! Flow completion time of a single flow in an otherwise idle network.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::LONE_FLOW;
use crate::trial::{Trial, TrialResult};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, FabricBuilder, LinkSpec};
use text::{Layout, table};
use units::{Rate, Time};

/// Rates in Gbps and delays in ns of the links. At some of these rates a byte takes a whole number of picoseconds, at
/// others it does not.
const LINKS: [(u64, u64); 6] = [(100, 500), (40, 1_000), (3, 17), (25, 50_000), (7, 5), (400, 2_000)];

fn chain(links: &[(u64, u64)]) -> Option<(Fabric, Forwarding)> {
    let mut builder = FabricBuilder::new("chain");
    let mut at = builder.add_host("H1");
    for (index, &(gbps, delay_ns)) in links.iter().enumerate() {
        let last = index + 1 == links.len();
        let next = if last { builder.add_host("H2") } else { builder.add_switch(format!("S{}", index + 1), 1) };
        builder.connect(at, next, LinkSpec::new(Rate::from_gbps(gbps), Time::from_ns(delay_ns)));
        at = next;
    }
    let fabric = builder.build().ok()?;
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).ok()?;
    Some((fabric, forwarding))
}

/// Returns the arrival time of the last frame, computed by a recurrence over frames and links. Each frame is preceded
/// by 8 bytes of preamble and followed by a gap of 12 bytes, which delays only the next frame.
fn recurrence(links: &[(u64, u64)], frames: &[u64]) -> Time {
    let mut free = vec![Time::ZERO; links.len()];
    let mut done = Time::ZERO;
    for &bytes in frames {
        let mut arrival = Time::ZERO;
        for (free, &(gbps, delay_ns)) in free.iter_mut().zip(links) {
            let (start, rate) = (arrival.max(*free), Rate::from_gbps(gbps));
            *free = start + rate.serialise(8 + bytes + 12);
            arrival = start + rate.serialise(8 + bytes) + Time::from_ns(delay_ns);
        }
        done = arrival;
    }
    done
}

/// Runs the experiment `physics/lone-flow`.
pub fn lone_flow(trial: &mut Trial) -> Result<(), Failure> {
    // 123 frames of 1000 + 62 bytes and one frame of 456 + 62 bytes.
    let mut frames = vec![1062; 123];
    frames.push(518);
    let mut rows = Vec::new();
    for hops in 1..=LINKS.len() {
        let links = &LINKS[..hops];
        let mut setup = trial.setup(&LONE_FLOW, &[])?;
        if let Some((fabric, forwarding)) = chain(links) {
            (setup.fabric, setup.forwarding) = (fabric, forwarding);
        }
        let result = TrialResult::of(setup, &LONE_FLOW)?;
        let measured = result.flows.first().and_then(|flow| flow.fct_ps()).map_or(f64::NAN, |ps| ps as f64);
        let stated = result.flows.first().map_or(f64::NAN, |flow| flow.baseline_fct_ps as f64);
        let expected = recurrence(links, &frames).as_ps() as f64;
        rows.push(vec![hops.to_string(), format!("{measured:.0}"), format!("{expected:.0}")]);
        let name = format!("{hops} hops: completion time");
        trial.check(Check::exact(name, "ps", measured, Relation::Equal, expected));
        let name = format!("{hops} hops: the baseline that slowdowns are measured against");
        trial.check(Check::exact(name, "ps", stated, Relation::Equal, expected).consistency());
    }
    trial.show("  completion time of 123,456 bytes in ps, measured and by the recurrence\n");
    trial.show(&table(&["hops", "measured", "expected"], &rows, 0, Layout::Fixed, 2));
    // Negative control: if a second flow shares the link, the FCT must exceed that of a single flow.
    let result = trial.run(&LONE_FLOW, &[("traffic.0.pairs", "[[\"H1\", \"H2\"], [\"H1\", \"H2\"]]".to_owned())])?;
    let slowest = result.flows.iter().filter_map(|flow| flow.fct_ps()).max().map_or(f64::NAN, |ps| ps as f64);
    let alone = result.flows.first().map_or(f64::NAN, |flow| flow.baseline_fct_ps as f64);
    let name = "negative control: with a second flow on the same link it takes longer";
    trial.check(Check::exact(name, "ps", slowest, Relation::Above, alone).consistency());
    Ok(())
}
