//! Duration of a closed loop of requests to a loaded server: figure 14.

use super::bench::{Changes, join, tail_drop};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::TRIM_MEMCACHED;
use crate::trial::{Trial, finish, simulation};
use model::Watcher;
use model::parameters::Setup;
use record::flows::FlowRecord;
use text::numbers::counted;
use traffic::{Flow, Start};
use units::Time;

/// Numbers of emulated clients (OPEN: the paper does not specify a number).
const CLIENTS: [u32; 3] = [1, 4, 16];

/// Watcher that stops the run after the last reply.
struct Loop {
    left: u64,
}

impl Watcher for Loop {
    fn flow(&mut self, flow: &FlowRecord) {
        if flow.traffic == 0 && flow.delivered_ps.is_some() {
            self.left = self.left.saturating_sub(1);
        }
    }
    fn progress(&mut self, _now: Time, _hops: u64) -> bool {
        self.left > 0
    }
}

/// Results of one benchmark run, from the start to the last reply.
struct Took {
    /// Number of requests without reply plus failed invariant checks.
    wrong: u64,
    seconds: f64,
    /// Mean latency of a request, in ms.
    latency_ms: f64,
    /// Mean service time, in us.
    service_us: f64,
    /// Delay of a single-segment TCP request and its reply in an idle network, in us.
    alone_us: f64,
}

/// TCP, Ethernet and IPv4 headers, in bytes.
const HEADER_BYTES: u64 = 58;

/// Returns the mean service time of the first traffic entry, and the total delay of one request and its reply in an
/// idle network, in us.
fn closed_form(setup: &Setup) -> (f64, f64) {
    let flows: Vec<&Flow> = setup.traffic.flows.iter().filter(|flow| flow.traffic == 0).collect();
    let Some(link) = setup.fabric.links().first() else { return (f64::NAN, f64::NAN) };
    let us = |time: Time| time.as_ps() as f64 * 1e-6;
    let one_way_us = |flow: &Flow| {
        let frame_bytes = (flow.size_bytes + HEADER_BYTES).max(64);
        2.0 * us(link.rate.serialise(frame_bytes + units::PREAMBLE_BYTES) + link.delay)
    };
    // Clients have no think time, so that the delay before the start of a reply is the service time.
    let service = |flow: &&Flow| match flow.start {
        Start::After { delay, .. } => us(delay),
        Start::At(_) => 0.0,
    };
    let replies = flows.len() as f64 / 2.0;
    let ends = [flows.first(), flows.last()].into_iter().flatten();
    (flows.iter().map(service).sum::<f64>() / replies, ends.map(|flow| one_way_us(flow)).sum())
}

/// Runs the benchmark, with bulk transfers if `busy` is set.
fn took(trial: &Trial, clients: u32, requests: u64, busy: bool, changes: &Changes) -> Result<Took, Failure> {
    let own = vec![
        ("traffic.0.connections", clients.to_string()),
        ("traffic.0.requests", requests.to_string()),
        // Upper bound of the duration: the run stops after the last reply.
        ("duration", "200s".to_owned()),
    ];
    let mut setup = trial.setup(&TRIM_MEMCACHED, &join(&[own, changes.clone()]))?;
    if !busy {
        setup.traffic.flows.retain(|flow| flow.traffic == 0);
    }
    let (service_us, alone_us) = closed_form(&setup);
    // Each request consists of two flows: request and reply.
    let mut watch = Loop { left: 2 * u64::from(clients) * requests };
    let mut simulation = simulation(setup, &TRIM_MEMCACHED)?;
    simulation.run(&mut watch);
    let summary = finish(&mut simulation, &mut watch);
    let result = summary.requests.first().copied().unwrap_or_default();
    let failed = summary.checks.iter().filter(|check| !check.pass).count() as u64;
    Ok(Took {
        wrong: failed + u64::from(clients) * requests - result.completed,
        seconds: (result.last_ps - result.first_ps) as f64 * 1e-12,
        latency_ms: result.latency_ns.map_or(f64::NAN, |latency| latency.mean * 1e-6),
        service_us,
        alone_us,
    })
}

/// Returns the overrides for TCP hosts and for switches with a single class and drop-tail queues of 200 packets.
fn tcp(least_timeout: &str) -> Changes {
    let own = vec![("host.reply_class", "3".to_owned()), ("traffic.0.persistent_connection", "true".to_owned())];
    join(&[tail_drop("8936B", least_timeout, "1s"), own])
}

/// Reason for the tolerance by which the measured latency in an idle network may exceed the closed form.
const NEXT_REQUEST: &str =
    "0.1 us: a request may wait for the acknowledgement of the reply before, 84 B or 0.03 us a link";

/// Minimum RTO of Linux (TCP_RTO_MIN).
const LINUX: &str = "200ms";

/// Runs the experiment `trim/fig14`.
pub fn closed_loop(trial: &mut Trial) -> Result<(), Failure> {
    let requests = trial.shorten("requests of a client", 1000, 100);
    let (none, linux) = (Vec::new(), tcp(LINUX));
    let (mut rows, mut wrong) = (Vec::new(), 0);
    let most_clients = trial.shorten("emulated clients, at most", 16, 4);
    for clients in CLIENTS.into_iter().filter(|&clients| u64::from(clients) <= most_clients) {
        let idle = took(trial, clients, requests, false, &linux)?;
        let dropped = took(trial, clients, requests, true, &linux)?;
        let quiet = took(trial, clients, requests, false, &none)?;
        let trimmed = took(trial, clients, requests, true, &none)?;
        let of = |what: &str| format!("{}: {what}", counted(clients.into(), "client"));
        if clients == 1 {
            let name = of("idle: what the network takes of a request, beside a lone frame each way");
            let ours = idle.latency_ms * 1e3 - idle.service_us;
            trial.check(
                Check::new(name, "us", ours, Relation::Equal, idle.alone_us, 0.1).consistency().note(NEXT_REQUEST),
            );
        }
        let baseline = dropped.seconds / idle.seconds;
        trial.check(Check::new(of("tail drop, busy over idle"), "x", baseline, Relation::Above, 10.0, 0.0));
        let name = of("trimming, busy over idle: above 1 by at most a tenth of what tail drop is");
        let (above, most) = (trimmed.seconds / quiet.seconds - 1.0, (baseline - 1.0) / 10.0);
        let note = "the paper: much smaller; the other side is measured";
        trial.check(Check::new(name, "x", above, Relation::AtMost, most, 0.0).note(note));
        wrong += [&idle, &dropped, &quiet, &trimmed].map(|run| run.wrong).iter().sum::<u64>();
        rows.push((clients.to_string(), [&idle, &dropped, &quiet, &trimmed].map(|run| run.seconds).to_vec()));
    }
    let most = rows.iter().map(|row| row.1[1]).fold(0.0, f64::max);
    trial.show(&format!("  {requests} requests of each client, s: from the first request to the last reply\n"));
    let names = ["idle, TCP", "busy, tail drop", "idle, EQDS", "busy, trimming"];
    trial.show(&bars("clients", &names, most, &rows));
    // Negative control: a queue of the same length as with trimming (12 packets), but with tail drop.
    let short = join(&[linux.clone(), vec![("switch.queue", "12 packets".to_owned())]]);
    let [dropped, idle] = [took(trial, 4, requests, true, &short)?, took(trial, 4, requests, false, &short)?];
    let name = "negative control: 12 packets without trimming, 4 clients, busy over idle";
    trial.check(Check::new(name, "x", dropped.seconds / idle.seconds, Relation::Above, 10.0, 0.0).consistency());
    wrong += dropped.wrong + idle.wrong + sensitivity(trial, requests)?;
    let name = "requests without a reply, checks of the runs failed";
    trial.check(Check::exact(name, "", wrong as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}

/// Sensitivity analysis: shows the mean request latency with other values of the parameters that the paper does not
/// specify. Returns the number of requests without a reply plus failed invariant checks.
fn sensitivity(trial: &mut Trial, requests: u64) -> Result<u64, Failure> {
    let ndp = vec![("host.transport", "{ kind = \"ndp\", payload = \"8936B\" }".to_owned())];
    let (mut rows, mut wrong) = (Vec::new(), 0);
    let settings = [
        ("as above", Vec::new(), LINUX),
        ("service 10 us", vec![("traffic.0.service_time", "10us".to_owned())], LINUX),
        ("exponential", vec![("traffic.0.service_time", "{ exponential = \"1ms\" }".to_owned())], LINUX),
        ("RTO >= 1 ms", Vec::new(), "1ms"),
    ];
    for (name, changes, least_timeout) in settings {
        let mut latency = |base: Changes, busy: bool| {
            let run = took(trial, 4, requests, busy, &join(&[base, changes.clone()]))?;
            wrong += run.wrong;
            Ok::<f64, Failure>(run.latency_ms)
        };
        let idle = latency(tcp(least_timeout), false)?;
        let busy = [latency(tcp(least_timeout), true)?, latency(Vec::new(), true)?, latency(ndp.clone(), true)?];
        rows.push((name.to_owned(), [idle].into_iter().chain(busy).collect::<Vec<f64>>()));
    }
    trial.show("  mean latency of a request of four clients, ms\n");
    let most = rows.iter().map(|row| row.1[1]).fold(0.0, f64::max);
    trial.show(&bars("", &["idle, TCP", "tail drop", "trimming, EQDS", "trimming, NDP"], most, &rows));
    Ok(wrong)
}
