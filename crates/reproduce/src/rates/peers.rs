//! Comparison of congestion controls at one bottleneck over several seeds.

use super::bench::{Bench, deviation, jain, mean};
use crate::failure::Failure;
use crate::registry::{HETFLOW_DUMBBELL, Source};
use crate::trial::Trial;
use lab::statistics::{self, Confidence, Interval};
use model::parameters::Setup;
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};
use units::Time;

/// Congestion controls of chapter 3 of the thesis, and the data centre congestion controls that the chapter cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    HetFlow,
    Qcn,
    Timely,
    Dcqcn,
    Dctcp,
}

/// Congestion controls in the order of the tables.
pub const PEERS: [Peer; 5] = [Peer::HetFlow, Peer::Qcn, Peer::Timely, Peer::Dcqcn, Peer::Dctcp];

/// Parameters of a comparison.
#[derive(Clone, Debug)]
pub struct Case {
    /// Scenario, which is a dumbbell.
    pub source: &'static Source,
    /// Number of flows.
    pub flows: u32,
    /// Rate of every link, in Gbps.
    pub gbps: u64,
    /// Payload bytes per frame of each flow; the last value applies to all further flows.
    pub payload_bytes: Vec<u16>,
    /// Length of the interval in which flows start at random times.
    pub starts: &'static str,
    /// HetFlow's BC_r (sampling interval in bytes).
    pub sampling: &'static str,
    /// Further parameters of a congestion control, which the thesis does not specify, in TOML syntax; `{payload}`
    /// stands for the payload bytes of a frame.
    pub parameters: Vec<(Peer, String)>,
    /// Demand of each flow in Mbps; `None` for the link rate.
    pub desired_mbps: Option<u64>,
    /// Number of seeds in full runs: at most 10, or 30.
    pub seeds: u64,
    /// Congestion controls to run.
    pub peers: &'static [Peer],
    /// Further overrides of the scenario.
    pub changes: Vec<(&'static str, String)>,
}

impl Case {
    /// Returns the case with `flows` flows on the dumbbell of figure 3.8, at 10 Gbps.
    pub fn of(flows: u32) -> Case {
        let payload_bytes = vec![538];
        let (sampling, starts, source) = ("100KB", "1ms", &HETFLOW_DUMBBELL);
        let (parameters, desired_mbps, seeds, peers) = (Vec::new(), None, 10, &PEERS[..]);
        let (gbps, changes) = (10, Vec::new());
        Case { source, flows, gbps, payload_bytes, starts, sampling, parameters, desired_mbps, seeds, peers, changes }
    }

    /// Returns the transport of a flow with congestion control `peer`. Its parameters are those of table 3.1, or the
    /// defaults for DCQCN and DCTCP.
    fn transport(&self, peer: Peer, payload: u16) -> String {
        let desired = self.desired_mbps.map(|mbps| format!(", rate = \"{mbps}Mbps\"")).unwrap_or_default();
        let begin = format!("initial_rate = \"{}Mbps\"{desired}", 800 * self.gbps / u64::from(self.flows));
        let own = self.parameters.iter().filter(|(of, _)| *of == peer);
        let own: String = own.map(|(_, parameter)| format!(", {parameter}")).collect();
        let own = own.replace("{payload}", &payload.to_string());
        let roce = format!("payload = \"{payload}B\", ack_every = 16");
        match peer {
            Peer::HetFlow => {
                format!("{{ kind = \"hetflow\", {roce}, {begin}, sampling_bytes = \"{}\"{own} }}", self.sampling)
            }
            Peer::Qcn => format!("{{ kind = \"qcn\", {roce}, {begin}{own} }}"),
            Peer::Timely => {
                let t_high = if self.gbps > 10 { 250 } else { 500 };
                format!("{{ kind = \"timely\", payload = \"{payload}B\", {begin}, t_high = \"{t_high}us\"{own} }}")
            }
            Peer::Dcqcn => format!("{{ kind = \"dcqcn\", {roce}{own} }}"),
            Peer::Dctcp => format!("{{ kind = \"dctcp\", mss = \"{payload}B\"{own} }}"),
        }
    }

    /// Returns the switch marking for `peer`. QCN's set point is 20 % of the buffer, or 50 % at 100 Gbps (table 3.1).
    /// DCTCP's marking threshold is 65 packets of 1500 B, or three times as many at 100 Gbps. DCQCN's thresholds depend
    /// on the link rate as in HPCC's code.
    fn marking(&self, peer: Peer) -> String {
        let fast = self.gbps > 10;
        let ecn = |least: u32, most: u32, p: f64| {
            format!("{{ kind = \"ecn\", k_min = \"{least}KB\", k_max = \"{most}KB\", p_max = {p} }}")
        };
        match peer {
            Peer::HetFlow | Peer::Timely => "{ kind = \"none\" }".to_owned(),
            Peer::Qcn => {
                let set_point = if fast { 500 } else { 200 };
                format!("{{ kind = \"congestion-point\", set_point = \"{set_point}KB\", priorities = [3] }}")
            }
            Peer::Dctcp if fast => ecn(300, 300, 1.0),
            Peer::Dctcp => ecn(100, 100, 1.0),
            Peer::Dcqcn if fast => ecn(100, 400, 0.2),
            Peer::Dcqcn => ecn(40, 160, 0.2),
        }
    }

    /// Returns the setup for a seed, with one traffic entry per flow.
    ///
    /// # Errors
    /// If the scenario is invalid.
    pub fn setup(&self, trial: &Trial, peer: Peer, seed: u64, window_ms: [u64; 2]) -> Result<Setup, Failure> {
        let pair = |flow: u32| format!("[\"H{}\", \"H{}\"]", flow + 1, flow + 1 + self.flows);
        let pairs = (0..self.flows).map(pair).collect::<Vec<_>>().join(", ");
        let mut changes = vec![
            ("host.transport", self.transport(peer, self.payload_bytes[0])),
            ("switch.marking", self.marking(peer)),
            ("traffic.0.pairs", format!("[{pairs}]")),
            ("traffic.0.jitter", format!("\"{}\"", self.starts)),
            ("measure.warm_up", format!("\"{}ms\"", window_ms[0])),
            ("duration", format!("\"{}ms\"", window_ms[1])),
            ("seed", seed.to_string()),
        ];
        if self.source.name == HETFLOW_DUMBBELL.name {
            changes.push(("fabric.left", self.flows.to_string()));
            changes.push(("fabric.right", self.flows.to_string()));
            changes.push(("fabric.link.rate", format!("\"{}Gbps\"", self.gbps)));
        }
        changes.extend(self.changes.iter().cloned());
        let mut setup = trial.setup(self.source, &changes)?;
        for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
            flow.traffic = at as u8;
            if let Some(&payload) = self.payload_bytes.get(at).filter(|_| at > 0) {
                let mut of_flow = changes.clone();
                of_flow[0] = ("host.transport", self.transport(peer, payload));
                setup.host.transports.insert(at as u8, trial.setup(self.source, &of_flow)?.host.transport);
            }
        }
        Ok(setup)
    }

    /// Runs the case with one congestion control and one seed. The statistics are those of the interval from
    /// `window_ms[0]` to `window_ms[1]`, the end of the run, in ms.
    ///
    /// # Errors
    /// If the scenario is invalid or does not run.
    pub fn measure(
        &self,
        trial: &Trial,
        peer: Peer,
        seed: u64,
        window_ms: [u64; 2],
    ) -> Result<(Bench, PeerResult), Failure> {
        let bench = Bench::of(self.setup(trial, peer, seed, window_ms)?, self.source)?;
        let queue: Vec<f64> = bench.queue_bytes().into_iter().map(|bytes| bytes / 1e3).collect();
        let result = PeerResult {
            jain: jain(&bench.flow_gbps()),
            jain_over_time: bench.jain_over_time(10),
            used: mean(&bench.cross_gbps()) / self.gbps as f64,
            queue_kb: mean(&queue),
            queue_deviation_kb: deviation(&queue),
            lost: bench.lost(),
        };
        Ok((bench, result))
    }
}

/// Statistics of the run with one seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerResult {
    /// Jain's index of the flows' mean rates on the wire.
    pub jain: f64,
    /// Mean of Jain's index over intervals of 10 ms: the fairness that is visible in a plot of rates over time.
    pub jain_over_time: f64,
    /// Share of the link rate used by data frames.
    pub used: f64,
    /// Mean and standard deviation of the queue length, in KB.
    pub queue_kb: f64,
    pub queue_deviation_kb: f64,
    /// Number of frames lost.
    pub lost: f64,
}

/// Returns the 95 % confidence interval of the mean of `pick` over seeds.
pub fn interval(result: &[PeerResult], pick: impl Fn(&PeerResult) -> f64) -> Interval {
    statistics::interval(&result.iter().map(pick).collect::<Vec<f64>>(), Confidence::P95)
}

/// Results of all congestion controls of a case with all seeds.
pub struct Compared(pub Vec<(Peer, Vec<PeerResult>)>);

impl Compared {
    /// Runs `case`, and shows a table and, for each congestion control, a plot of the run with the first seed. `file`
    /// and `title` are for the plots.
    pub fn run(trial: &mut Trial, case: &Case, file: &str, title: &str) -> Result<Compared, Failure> {
        let seeds = trial.shorten("seeds", case.seeds, 1);
        let end_ms = trial.shorten("simulated ms", 1000, 250);
        let window_ms = [if trial.quick { 150 } else { 400 }, end_ms];
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for &peer in case.peers {
            let mut result = Vec::new();
            // Three seeds are enough for congestion controls about which the thesis makes no claim.
            let seeds = if matches!(peer, Peer::Dcqcn | Peer::Dctcp) { seeds.min(3) } else { seeds };
            for seed in 1..=seeds {
                let (bench, of_seed) = case.measure(trial, peer, seed, window_ms)?;
                if seed == 1 {
                    let name = format!("hetflow-{file}-{peer:?}").to_lowercase();
                    trial.plots.push((name, picture(&bench, case, &format!("{title}: {peer:?}"))));
                }
                result.push(of_seed);
            }
            let picks: [fn(&PeerResult) -> f64; 6] =
                [|t| t.jain, |t| t.jain_over_time, |t| t.used, |t| t.queue_kb, |t| t.queue_deviation_kb, |t| t.lost];
            let cell = |pick: fn(&PeerResult) -> f64| {
                let Interval { mean, half } = interval(&result, pick);
                if half.is_finite() { format!("{mean:.3} ± {half:.3}") } else { format!("{mean:.3}") }
            };
            let mut row = vec![title.to_owned(), format!("{peer:?}")];
            row.extend(picks.map(cell));
            rows.push(row);
            all.push((peer, result));
        }
        trial.show(
            "  Jain's index of mean rates and of those over 10 ms, share of the link, mean queue and deviation in KB, \
             frames lost; over seeds, with 95 %\n",
        );
        let columns = ["", "", "Jain", "over time", "used", "queue", "deviation", "lost"];
        trial.show(&table(&columns, &rows, 2, Layout::Fixed, 2));
        Ok(Compared(all))
    }

    /// Returns the results, with those of the congestion controls in `other` replaced by the results in `other`.
    pub fn with(&self, other: Compared) -> Compared {
        let kept = self.0.iter().filter(|(peer, _)| other.0.iter().all(|(new, _)| new != peer)).cloned();
        Compared(kept.chain(other.0.iter().cloned()).collect())
    }

    /// Returns the results of `peer`.
    pub fn of(&self, peer: Peer) -> &[PeerResult] {
        self.0.iter().find(|(of, _)| *of == peer).map_or(&[], |(_, result)| result)
    }

    /// Returns the mean of `pick` over the seeds of `peer`.
    pub fn mean(&self, peer: Peer, pick: impl Fn(&PeerResult) -> f64) -> f64 {
        interval(self.of(peer), pick).mean
    }

    /// Returns the lower limit of the 95 % confidence interval of the mean difference of `pick` between `a` and `b`,
    /// paired by seed. With a single seed, returns the difference.
    pub fn surely_above(&self, a: Peer, b: Peer, pick: impl Fn(&PeerResult) -> f64) -> f64 {
        let pairs = self.of(a).iter().zip(self.of(b));
        let differences: Vec<PeerResult> =
            pairs.map(|(a, b)| PeerResult { jain: pick(a) - pick(b), ..PeerResult::default() }).collect();
        let Interval { mean, half } = interval(&differences, |result| result.jain);
        if half.is_finite() { mean - half } else { mean }
    }
}

/// Plots the flows' rates, the cross traffic and the queue length over time.
fn picture(bench: &Bench, case: &Case, title: &str) -> String {
    let rows = bench.arrived_gbps(Time::ZERO);
    // Means over 10 ms filter out single frames and rate cuts, so that the plot shows fairness.
    let smooth = |pick: &dyn Fn(&[f64]) -> f64| -> Vec<(f64, f64)> {
        let point =
            |part: &[(f64, Vec<f64>)]| (part[0].0, mean(&part.iter().map(|row| pick(&row.1)).collect::<Vec<_>>()));
        rows.chunks(10).map(point).collect()
    };
    let shown = 4.min(case.flows as usize);
    let flow = |at: usize| Line::curve(format!("flow {at}"), smooth(&move |row: &[f64]| row[at]));
    let queue = bench.queue_from(Time::ZERO).into_iter().map(|(at, bytes)| (at, bytes / 1e3)).collect();
    let (x, scale) = ("time, ms", Scale::Linear);
    let panels = [
        Panel { x, y: "rate, Gbps", scale, lines: (0..shown).map(flow).collect() },
        Panel { x, y: "cross traffic, Gbps", scale, lines: vec![Line::curve("all", smooth(&|row| row.iter().sum()))] },
        Panel { x, y: "queue, KB", scale, lines: vec![Line::curve("queue", queue)] },
    ];
    svg(title, &panels)
}
