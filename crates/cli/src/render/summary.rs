//! The summary of a run as text.

use crate::output::{Style, styled};
use record::Coverage;
use record::collectives::{CollectiveSummary, CollectiveTime};
use record::flows::{FlowSummary, LabelledSummary, SizeBin, TrafficSummary};
use record::requests::RequestSummary;
use record::storms::{PauseStorms, PortPauseStorms};
use record::summary::{Backpressure, Distribution, Lengths, OutputXoffs, PortLengths, PortLoad, Reordering, Summary};
use record::timing::Timing;
use record::trims::{PortTrims, TrimSummary};
use std::fmt::Write as _;
use text::numbers::{counted, grouped, percent, rate, size, span, span_ps};
use text::{Layout, table};

/// Width of the margin with labels, in characters.
const INDENT: usize = 14;
/// Maximum number of ports in a table; `summary.json` lists more.
const PORTS: usize = 5;

/// Properties of a run that its summary does not contain.
pub struct RunFacts<'a> {
    /// Description of the run's purpose.
    pub description: Option<&'a str>,
    /// One-line description of the fabric.
    pub fabric: &'a str,
    /// One line per traffic entry.
    pub traffic: &'a [String],
    /// Command that reproduces the result.
    pub command: &'a str,
    /// Output folder, if files were written.
    pub folder: Option<String>,
}

/// Returns the summary as text.
pub fn text(summary: &Summary, timing: &Timing, about: &RunFacts<'_>) -> String {
    let mut page = Page::default();
    page.head(summary, about);
    page.packets(summary);
    page.flows(summary);
    page.pauses(summary);
    page.links(summary);
    page.deadlock(summary);
    page.checks(summary);
    page.foot(summary, timing, about);
    page.0
}

/// Text page whose parts have a label before their first line.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, label: &str, text: &str) {
        let label = format!("{label:<INDENT$}");
        let line = format!("{}{text}", styled(&label, Style::Strong));
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    fn gap(&mut self) {
        self.0.push('\n');
    }

    fn table(&mut self, header: &[&str], rows: &[Vec<String>], left: usize) {
        self.0.push_str(&table(header, rows, left, Layout::Fitting, INDENT));
    }

    fn head(&mut self, summary: &Summary, about: &RunFacts<'_>) {
        let identity = &summary.scenario;
        let hash = identity.hash.get(..12).unwrap_or(&identity.hash);
        let who = format!("scenario {hash}, seed {}, tidegate {}", identity.seed, identity.version);
        let _ = writeln!(self.0, "{}  {}", styled(&identity.name, Style::Strong), styled(&who, Style::Faint));
        if let Some(description) = about.description {
            self.line("", description);
        }
        self.line("fabric", about.fabric);
        for (at, traffic) in about.traffic.iter().enumerate() {
            self.line(if at == 0 { "traffic" } else { "" }, traffic);
        }
        let window = &summary.window;
        let measured = match window.start_ps {
            0 => String::new(),
            start => format!(", measured from {} to {}", span_ps(start), span_ps(window.end_ps)),
        };
        let hops = grouped(summary.packet_hops);
        self.line("simulated", &format!("{}{measured}; {hops} packet-hops", span_ps(summary.simulated_ps)));
        if summary.partial {
            let text = "PARTIAL: the run was stopped; everything holds up to the simulated time";
            self.line("", &styled(text, Style::Caution));
        }
        self.gap();
    }

    fn packets(&mut self, summary: &Summary) {
        let packets = &summary.packets;
        let mut parts = vec![
            (packets.delivered_whole, "delivered"),
            (packets.delivered_trimmed, "delivered as headers"),
            (packets.returned_to_source, "returned"),
            (packets.consumed, "consumed"),
            (packets.dropped_total(), "dropped"),
            (packets.in_flight, "in flight"),
        ];
        parts.retain(|(count, what)| *count > 0 || matches!(*what, "delivered" | "dropped"));
        let ended: Vec<String> = parts.iter().map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
        let made = match packets.created_in_network {
            0 => String::new(),
            count => format!(" + {} made in the network", grouped(count)),
        };
        let sign = if packets.closed { "=" } else { "does not equal" };
        self.line("packets", &format!("{} sent{made} {sign} {}", grouped(packets.injected), ended.join(" + ")));
        if packets.dropped_total() > 0 {
            let causes = packets.dropped.iter().map(|(cause, count)| format!("{cause} {}", grouped(*count)));
            let causes: Vec<String> = causes.collect();
            self.line("drops", &styled(&causes.join(", "), Style::Caution));
        }
        let bytes = &summary.bytes;
        self.line("bytes", &format!("{} sent, {} delivered", size(bytes.injected), size(bytes.delivered)));
        let goodput = &summary.goodput;
        if goodput.payload_bytes > 0 {
            let span = format!("from {} to {}", span_ps(goodput.start_ps), span_ps(goodput.end_ps));
            self.line("goodput", &format!("{} of payload {span}: {}", size(goodput.payload_bytes), rate(goodput.bps)));
        }
        let event_counts = &summary.event_counts;
        let counts = [
            (event_counts.marks, "marked"),
            (event_counts.retransmissions, "retransmitted"),
            (event_counts.bounces, "bounced"),
            (event_counts.trims, "trimmed"),
            (summary.flows.timeouts, "timed out"),
            (event_counts.detours, "detoured"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
        if !counts.is_empty() {
            self.line("on the way", &counts.join(", "));
        }
        if let Some(trims) = summary.trims.as_ref().filter(|trims| trims.trims > 0) {
            self.trims(trims);
        }
        let inside = summary.pipelines.iter().flat_map(super::pipelines::lines).enumerate();
        inside.for_each(|(at, text)| self.line(if at == 0 { "pipelines" } else { "" }, &text));
        if let Some(delay) = &summary.delay_ns {
            self.line("delay", &distribution(delay));
        }
        if let Some(reordering) = &summary.reordering {
            self.line("reordering", &displacement(reordering));
        }
        for (kind, counters) in &summary.mechanisms {
            let shown: Vec<String> =
                counters.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
            self.line(kind, &shown.join(", "));
        }
        if let Some(load) = &summary.queue_utilisation {
            let text = format!(
                "{} full on average, variance {:.3e}; above {} for {} of the time in {} of {}",
                percent(load.mean),
                load.variance,
                percent(load.threshold),
                percent(load.time_ratio),
                grouped(load.queues_used),
                counted(load.queues, "queue")
            );
            self.line("queues", &text);
        }
        if let Some(found) = &summary.queue_lengths {
            let lengths_text = |lengths: &Lengths| {
                let Lengths { mean_bytes, p50_bytes, p99_bytes, max_bytes, .. } = *lengths;
                let [mean, p50, p99, max] = [mean_bytes as u64, p50_bytes, p99_bytes, max_bytes].map(size);
                format!("mean {mean}, p50 {p50}, p99 {p99}, max {max}")
            };
            let samples = format!("{} samples of {}", grouped(found.samples), counted(found.ports, "port"));
            self.line("queue length", &format!("{samples}: {}", lengths_text(&found.all)));
            if let Some(PortLengths { node, port, peer, lengths }) = &found.longest {
                self.line("", &format!("longest at {node} port {port} to {peer}: {}", lengths_text(lengths)));
            }
        }
        self.gap();
    }

    fn trims(&mut self, trims: &TrimSummary) {
        let mut text = format!("{} of payload cut; {} delivered", size(trims.trimmed_bytes), rate(trims.payload_bps));
        let _ = write!(text, " without headers, and {} of headers", size(trims.header_bytes));
        if trims.spurious > 0 {
            let _ = write!(text, "; {} for packets that had arrived already", grouped(trims.spurious));
        }
        self.line("trims", &text);
        if let Some(PortTrims { node, port, peer, trims, returned, .. }) = trims.ports.first() {
            let back = if *returned > 0 { format!(", {} sent back", grouped(*returned)) } else { String::new() };
            self.line("", &format!("most at {node} port {port} to {peer}: {}{back}", grouped(*trims)));
        }
    }

    fn flows(&mut self, summary: &Summary) {
        let flows = &summary.flows;
        let text = match flows.started {
            0 => "none started in the measured window".to_owned(),
            started => {
                let awaiting = match flows.unacknowledged {
                    0 => String::new(),
                    count => format!(", {} of them not yet acknowledged", grouped(count)),
                };
                format!("{} of {} completed{awaiting}", grouped(flows.completed), counted(started, "flow"))
            }
        };
        self.line("flows", &text);
        if let Some(fct) = &flows.fct_ns {
            self.line("completion", &covered(flows.coverage(), distribution(fct)));
            if let Some(unfinished) = &flows.unfinished {
                let sizes = match unfinished.size_p25_bytes {
                    0 => String::new(),
                    bytes => format!(", mostly above {}", size(bytes)),
                };
                let text = format!(
                    "{} unfinished{sizes}: completion times and slowdowns cover completed flows only and are \
                     biased low",
                    counted(unfinished.count, "flow")
                );
                self.line("", &styled(&text, Style::Caution));
            }
        }
        if let Some(slowdown) = &flows.slowdown {
            let number = |value: f64| format!("{value:.2}");
            let row = |name: String, bin: &SizeBin, unfinished: u64| {
                let count = match &flows.unfinished {
                    None => grouped(bin.count),
                    Some(_) => format!("{}/{}", grouped(bin.count), grouped(bin.count + unfinished)),
                };
                // Percentiles of a single value are not meaningful.
                let at = |value: f64| if bin.count > 1 { number(value) } else { "-".to_owned() };
                vec![name, count, number(bin.mean), at(bin.p50), at(bin.p95), at(bin.p99)]
            };
            let unfinished = |bin: &SizeBin| {
                let found =
                    flows.unfinished.as_ref().and_then(|of| of.by_decade.iter().find(|of| of.to_bytes == bin.to_bytes));
                found.map_or(0, |of| of.count)
            };
            let mut rows: Vec<Vec<String>> =
                slowdown.by_decade.iter().map(|bin| row(bound(bin.to_bytes), bin, unfinished(bin))).collect();
            if rows.len() != 1 {
                let count = slowdown.by_decade.iter().map(|bin| bin.count).sum();
                let record::flows::SlowdownSummary { mean, p50, p95, p99, .. } = *slowdown;
                let all = SizeBin { from_bytes: 0, to_bytes: 0, count, mean, p50, p95, p99 };
                rows.push(row("all".to_owned(), &all, flows.coverage().unfinished()));
            }
            let about = "completion time over that of the flow alone on its path".to_owned();
            self.line("slowdown", &covered(flows.coverage(), about));
            let head = if flows.unfinished.is_some() { "completed/started" } else { "flows" };
            self.table(&["size up to", head, "mean", "p50", "p95", "p99"], &rows, 0);
            self.few_values(slowdown.by_decade.iter().map(|bin| bin.count));
        }
        self.labels(flows);
        summary.requests.iter().for_each(|requests| self.requests(&flows.name(requests.traffic), requests));
        self.collectives(&summary.collectives);
        for entry in &summary.jitter {
            let (most, mean) = (span_ps(entry.jitter_ps), span_ps(entry.mean_jitter_ps.round() as u64));
            let (name, flows) = (flows.name(entry.traffic), counted(entry.flows, "flow"));
            self.line("jitter", &format!("of {name}, {flows}: {most} at most, {mean} on average"));
        }
        self.gap();
    }

    /// Prints a table of the labelled traffic entries if there are several.
    fn labels(&mut self, flows: &FlowSummary) {
        let labelled = flows.by_traffic.iter().filter_map(|entry| Some((entry, entry.labelled.as_ref()?)));
        // Omit the table if no entry has data, as in a deadlock.
        let labelled = labelled.filter(|_| flows.by_traffic.iter().any(|entry| entry.has_something()));
        let row = |(entry, labelled): (&TrafficSummary, &LabelledSummary)| {
            let fct = |value: fn(&Distribution) -> f64, least: u64| {
                entry.fct_ns.as_ref().filter(|of| of.count >= least).map(|of| span(value(of)))
            };
            // Percentiles of a single value are not meaningful.
            let slowdown = labelled.slowdown.filter(|_| entry.completed > 1).map(|of| format!("{:.2}", of.p99));
            let started = grouped(entry.started);
            let cells = [fct(|of| of.mean, 1), fct(|of| of.p99, 2), slowdown]
                .map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            let first = [labelled.label.clone(), started, grouped(entry.completed)];
            first.into_iter().chain(cells).chain([rate(labelled.goodput_bps)]).collect()
        };
        let rows: Vec<Vec<String>> = labelled.map(row).collect();
        if rows.len() > 1 {
            self.line("by label", "flows, completion times and what arrived, by entry of the traffic");
            self.table(&["label", "flows", "completed", "mean", "p99", "slowdown p99", "goodput"], &rows, 1);
            self.few_values(flows.by_traffic.iter().filter(|of| of.labelled.is_some()).map(|of| of.completed));
        }
    }

    /// Prints a note that p95 and p99 equal the maximum, if a row of the preceding table has few values. `counts` has
    /// the number of values of each row.
    fn few_values(&mut self, mut counts: impl Iterator<Item = u64>) {
        if counts.any(|count| (2..100).contains(&count)) {
            self.line("", "p99 of fewer than 100 values, and p95 of fewer than 20, is the maximum");
        }
    }

    fn requests(&mut self, name: &str, requests: &RequestSummary) {
        let RequestSummary { started: asked, completed: answered, .. } = *requests;
        let mut text = format!("{} of {} of {name} answered", grouped(answered), counted(asked, "request"));
        if let Some(per_second) = requests.per_second {
            let took = span_ps(requests.last_ps - requests.first_ps);
            let _ = write!(text, " in {took}, {} a second", grouped(per_second.round() as u64));
        }
        let connections =
            if requests.persistent_connection { "one connection for all" } else { "a connection for each message" };
        let _ = write!(text, "; {connections}");
        self.line("requests", &text);
        if let Some(latency) = &requests.latency_ns {
            let text = format!("to the last byte of the reply: {}", distribution(latency));
            self.line("", &covered(requests.coverage(), text));
        }
    }

    fn collectives(&mut self, all: &[CollectiveSummary]) {
        let row = |of: &CollectiveSummary| {
            let time =
                |value: fn(&CollectiveTime) -> f64| of.time_ns.as_ref().map_or("-".to_owned(), |t| span(value(t)));
            let rate = |bps: Option<f64>| bps.map_or("-".to_owned(), |bps| format!("{:.3}", bps / 8e9));
            let (what, ranks) = (format!("{}, {}", of.operation, of.algorithm), of.ranks.to_string());
            let connections = of.qps_per_connection.map_or("each message".to_owned(), |count| count.to_string());
            let done = format!("{} of {}", of.completed, of.coverage().started);
            let times = [time(|t| t.mean), time(|t| t.min), time(|t| t.max)];
            let rates = [rate(of.algorithm_bps), rate(of.bus_bps)];
            [what, ranks, connections, size(of.size_bytes), done].into_iter().chain(times).chain(rates).collect()
        };
        if !all.is_empty() {
            self.line(
                "collectives",
                "an iteration: from its first flow to its last byte; bandwidths in GB/s as nccl-tests prints them; \
                 QPs: connections from one host to another",
            );
            let head = ["operation", "ranks", "QPs", "size", "done", "time", "least", "most", "algbw", "busbw"];
            self.table(&head, &all.iter().map(row).collect::<Vec<_>>(), 0);
        }
    }

    fn pauses(&mut self, summary: &Summary) {
        let pauses = &summary.pauses;
        if pauses.count == 0 && !summary.checks.iter().any(|check| check.name == "pauses") {
            return;
        }
        let text = match pauses.count {
            0 => "none".to_owned(),
            count => format!(
                "{}, {}; stopped for {} over all ports and classes, {} at most",
                counted(count, "pause"),
                counted(pauses.resumes, "resume"),
                span_ps(pauses.total_ps),
                span_ps(pauses.max_ps)
            ),
        };
        let ignored = match pauses.ignored {
            0 => String::new(),
            count => format!("; {} heard and ignored", counted(count, "call")),
        };
        self.line("pauses", &format!("{text}{ignored}"));
        self.pause_storms(summary);
        let Some(pressure) = &summary.backpressure else { return };
        let Backpressure { xoffs, changes, xons, expiries, .. } = *pressure;
        let text = format!(
            "{} XOFF, {} new rates, {} XON, {} expired; {} of control frames; at most {} at a port, {}",
            grouped(xoffs),
            grouped(changes),
            grouped(xons),
            grouped(expiries),
            size(pressure.control_bytes),
            counted(pressure.max_table_flows, "flow"),
            size(pressure.table_bytes)
        );
        self.line("outputs", &text);
        for output in pressure.outputs.iter().take(PORTS) {
            let OutputXoffs { node, port, peer, xoffs } = output;
            self.line("", &format!("{node} port {port} to {peer}: {} XOFF", grouped(*xoffs)));
        }
    }

    fn pause_storms(&mut self, summary: &Summary) {
        let Some(storms) = summary.pause_storms.as_ref().filter(|found| found.storms > 0) else { return };
        let PauseStorms { storms: begun, restored: over, dropped_packets, total_ps, ref ports } = *storms;
        let text = format!(
            "{}, {} over; {} over all ports and classes; {} dropped",
            counted(begun, "pause storm"),
            grouped(over),
            span_ps(total_ps),
            counted(dropped_packets, "frame")
        );
        self.line("watchdogs", &text);
        for PortPauseStorms { node, port, peer, class, storm_ps, .. } in ports.iter().take(PORTS) {
            self.line("", &format!("{node} port {port} to {peer}, class {class}: {} in storms", span_ps(*storm_ps)));
        }
    }

    fn links(&mut self, summary: &Summary) {
        let links = &summary.links;
        self.line("links", &format!("{} busy on average", percent(links.mean_utilisation)));
        let row = |load: &PortLoad| {
            let port = format!("{} port {} to {}", load.node, load.port, load.peer);
            let paused = if load.paused_ps > 0 { span_ps(load.paused_ps) } else { "-".to_owned() };
            vec![port, percent(load.utilisation), size(load.tx_bytes), size(load.max_queue_bytes), paused]
        };
        let mut ports = |title: &str, loads: &[PortLoad]| {
            if !loads.is_empty() {
                let rows: Vec<Vec<String>> = loads.iter().take(PORTS).map(row).collect();
                self.table(&[title, "busy", "sent", "longest queue", "paused"], &rows, 1);
            }
        };
        ports("busiest", &links.busiest);
        ports("longest queues", &links.longest_queues);
        self.gap();
    }

    fn deadlock(&mut self, summary: &Summary) {
        let Some(deadlock) = &summary.deadlock else { return };
        let expected = summary.checks.iter().find(|check| check.name == "deadlock").is_some_and(|check| check.pass);
        let style = if expected { Style::Caution } else { Style::Bad };
        self.line("deadlock", &styled(&format!("closed at {}", span_ps(deadlock.closed_ps)), style));
        for (at, edge) in deadlock.cycle.iter().enumerate() {
            let next = deadlock.cycle.get(at + 1).or(deadlock.cycle.first());
            let waits = next.map_or(String::new(), |next| format!(", which waits at its port {}", next.port));
            let (node, port, class, peer) = (&edge.node, edge.port, edge.class, &edge.peer);
            self.line("", &format!("{node} port {port} class {class} is paused by {peer}{waits}"));
        }
        self.gap();
    }

    fn checks(&mut self, summary: &Summary) {
        let rows = summary.checks.iter().map(|check| {
            let mark = match (check.pass, check.applicable) {
                (false, _) => styled("FAIL", Style::Bad),
                (true, true) => styled("ok  ", Style::Good),
                (true, false) => "-   ".to_owned(),
            };
            // The deadlock section lists the ports of the cycle: omit this part of the detail, after the first `;`.
            let detail = match (check.name.as_str(), &summary.deadlock) {
                ("deadlock", Some(_)) => check.detail.split(';').next().unwrap_or_default(),
                _ => &check.detail,
            };
            format!("{mark}  {:<17} {detail}", check.name)
        });
        for (at, row) in rows.enumerate() {
            self.line(if at == 0 { "checks" } else { "" }, &row);
        }
        for (at, warning) in summary.warnings.iter().enumerate() {
            self.line(if at == 0 { "warnings" } else { "" }, &styled(warning, Style::Caution));
        }
        self.gap();
    }

    fn foot(&mut self, summary: &Summary, timing: &Timing, about: &RunFacts<'_>) {
        let of = if about.folder.is_some() { "all files" } else { "the summary; --out writes files" };
        self.line("results", &format!("sha256 {} of {of}", summary.results_hash));
        let mut speed = match timing.packet_hops_per_cpu_s {
            Some(rate) => format!("{:.1} M packet-hops per CPU second; ", rate / 1e6),
            None => String::new(),
        };
        let _ = write!(speed, "{:.2} s on {}", timing.wall_s, threads(timing));
        if let Some(memory) = timing.max_rss_bytes {
            let _ = write!(speed, ", {} of memory", size(memory));
        }
        self.line("speed", &speed);
        if let Some(folder) = &about.folder {
            self.line("files", folder);
        }
        self.line("again", about.command);
    }
}

/// Returns the number of threads that executed the simulation, and the reason if it is lower than the requested number.
fn threads(timing: &Timing) -> String {
    let Timing { threads, max_threads, shared_work, .. } = *timing;
    let allowed = counted(threads.into(), "thread");
    let most = if max_threads < threads { format!("{max_threads} of {allowed}") } else { allowed.clone() };
    match threads {
        0 | 1 => allowed,
        // `shared_work` is above 0 even if one thread is fastest, because the engine periodically tests whether more
        // threads are faster.
        _ if shared_work < 0.05 => format!("1 of {allowed}: more would not be faster here"),
        _ if shared_work < 0.95 => {
            format!("{most}, which shared {} of the work; the rest is as fast on fewer", percent(shared_work))
        }
        _ => most,
    }
}

fn distribution(values: &Distribution) -> String {
    let Distribution { count, mean, p50, p99, p999, max, .. } = *values;
    let [mean, p50, p99, p999, max] = [mean, p50, p99, p999, max].map(span);
    match count {
        0 | 1 => format!("{mean}, the only one"),
        2..100 => format!("mean {mean}, p50 {p50}, max {max} (p99 of {count} values is the maximum)"),
        100..1000 => format!("mean {mean}, p50 {p50}, p99 {p99}, max {max} (p99.9 of {count} values is the maximum)"),
        _ => format!("mean {mean}, p50 {p50}, p99 {p99}, p99.9 {p999}, max {max}"),
    }
}

/// Prefixes a statistic with the number of flows or requests that it covers, unless it covers all.
fn covered(coverage: Coverage, text: String) -> String {
    if coverage.is_whole() { text } else { format!("of {coverage} completed: {text}") }
}

fn displacement(found: &Reordering) -> String {
    if found.displaced == 0 {
        return format!("none in {} frames", grouped(found.packets));
    }
    let share = percent(found.displaced as f64 / found.packets.max(1) as f64);
    let Reordering { earliest_packets, latest_packets, entropy_nats, mean_displacement_packets, .. } = *found;
    format!(
        "{share} of {} frames out of turn, up to {earliest_packets} early and {latest_packets} late, \
         {mean_displacement_packets:.2} on average; entropy {entropy_nats:.3}",
        grouped(found.packets)
    )
}

fn bound(bytes: u64) -> String {
    if bytes == u64::MAX { "any".to_owned() } else { size(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_states_the_number_of_threads() {
        let of = |threads, max_threads, shared_work| {
            super::threads(&Timing { threads, max_threads, shared_work, ..Timing::default() })
        };
        assert_eq!(of(1, 1, 0.0), "1 thread");
        assert_eq!(of(2, 2, 1.0), "2 threads");
        assert_eq!(of(8, 2, 0.99), "2 of 8 threads");
        assert_eq!(of(8, 2, 0.01), "1 of 8 threads: more would not be faster here");
        assert_eq!(of(4, 4, 0.5), "4 threads, which shared 50.0 % of the work; the rest is as fast on fewer");
    }
}
