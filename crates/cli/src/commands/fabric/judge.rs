//! Findings of `tidegate fabric check`. The file readers have already rejected invalid networks: links without delay,
//! hosts without links, disconnected parts.

use crate::output::{Style, styled};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, NodeKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use text::numbers::{counted, grouped};
use units::{Rate, Time};

/// Link delay above which a hint is given: longer than any cable within a site.
const LONG: Time = Time::from_us(100);

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A check passed.
    Good,
    /// Unusual, but valid.
    Hint,
    /// The network does not work.
    Wrong,
}

/// One statement about a fabric.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Severity of the finding.
    pub weight: Severity,
    /// The statement in words.
    pub text: String,
}

impl Finding {
    /// Returns the four-letter label of the severity.
    pub fn mark(&self) -> String {
        match self.weight {
            Severity::Good => styled("ok  ", Style::Good),
            Severity::Hint => styled("hint", Style::Caution),
            Severity::Wrong => styled("FAIL", Style::Bad),
        }
    }
}

/// All findings about a fabric.
pub struct Verdict {
    /// Findings in the order of the checks.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Returns whether traffic can be sent: no finding is [`Severity::Wrong`].
    pub fn usable(&self) -> bool {
        self.findings.iter().all(|finding| finding.weight != Severity::Wrong)
    }

    /// Returns the findings as a JSON object.
    pub fn json(&self, source: &str) -> Value {
        let finding = |finding: &Finding| {
            let weight = match finding.weight {
                Severity::Good => "ok",
                Severity::Hint => "hint",
                Severity::Wrong => "fail",
            };
            json!({ "result": weight, "text": finding.text })
        };
        json!({
            "source": source, "usable": self.usable(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }

    fn add(&mut self, weight: Severity, text: impl Into<String>) {
        self.findings.push(Finding { weight, text: text.into() });
    }
}

/// Executes all checks.
pub fn judge(fabric: &Fabric) -> Verdict {
    let mut verdict = Verdict { findings: Vec::new() };
    match fabric.check() {
        Ok(()) => verdict.add(Severity::Good, "connected; every host has a link, every link a delay"),
        Err(error) => verdict.add(Severity::Wrong, error.to_string()),
    }
    routing(fabric, &mut verdict);
    links(fabric, &mut verdict);
    nodes(fabric, &mut verdict);
    verdict
}

fn routing(fabric: &Fabric, verdict: &mut Verdict) {
    let built = |mode| Forwarding::build(fabric, mode).and_then(|routes| routes.verify(fabric).map(|()| routes));
    match built(Mode::ShortestPath) {
        Ok(routes) => {
            let size = units::Bytes(routes.memory_bytes() as u64);
            verdict.add(
                Severity::Good,
                format!("shortest paths lead from every host to every other ({size:.1} of tables)"),
            );
        }
        Err(error) => verdict.add(Severity::Wrong, format!("shortest paths: {error}")),
    }
    match built(Mode::UpDown { root: None }) {
        Ok(_) => verdict
            .add(Severity::Good, "up-down routing, under which no cycle of pauses can close, reaches every host too"),
        Err(error) => verdict.add(Severity::Hint, format!("up-down routing does not: {error}")),
    }
    match built(Mode::TwoLevel) {
        Ok(_) => verdict.add(Severity::Good, "two-level tables reach every host too"),
        // Two-level tables exist only for fat-trees: for other fabrics, their absence is not a finding.
        Err(_) if !matches!(fabric.kind(), "fat-tree" | "f10") => {}
        Err(error) => verdict.add(Severity::Hint, error.to_string()),
    }
}

fn links(fabric: &Fabric, verdict: &mut Verdict) {
    let mut between: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for link in fabric.links() {
        let (a, b) = (link.a.node.0, link.b.node.0);
        *between.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    let mut parallel = between.iter().filter(|(_, count)| **count > 1);
    if let Some(((a, b), count)) = parallel.next() {
        let (a, b) = (fabric.name(fabric::NodeId(*a)), fabric.name(fabric::NodeId(*b)));
        let more = parallel.count() as u64;
        let others = if more > 0 { format!(", and {} more", counted(more, "pair")) } else { String::new() };
        verdict.add(
            Severity::Hint,
            format!("`{a}` and `{b}` are joined by {count} links{others}: meant, or written twice?"),
        );
    }
    let lossy = fabric.links().iter().filter(|link| link.loss > 0.0 || link.bit_error_rate > 0.0).count() as u64;
    if lossy > 0 {
        verdict.add(
            Severity::Hint,
            format!("{} may lose frames: flow control cannot prevent that", counted(lossy, "link")),
        );
    }
    if let Some(link) = fabric.links().iter().find(|link| link.delay > LONG) {
        let (a, b, delay) = (fabric.name(link.a.node), fabric.name(link.b.node), link.delay);
        // Light in fibre travels 200,000 km per second: convert the delay to a length.
        let km = delay.as_secs_f64() * 2e5;
        verdict.add(
            Severity::Hint,
            format!("`{a}` to `{b}` takes {delay}, as {km:.0} km of fibre: headroom grows with it"),
        );
    }
}

fn nodes(fabric: &Fabric, verdict: &mut Verdict) {
    let mut rates: BTreeMap<Rate, u64> = BTreeMap::new();
    for &host in fabric.hosts() {
        for port in fabric.ports(host) {
            *rates.entry(fabric.link(port.link).rate).or_default() += 1;
        }
    }
    if rates.len() > 1 {
        let rates: Vec<String> = rates.iter().map(|(rate, count)| format!("{} at {rate}", grouped(*count))).collect();
        verdict.add(Severity::Hint, format!("links of hosts differ: {}", rates.join(", ")));
    }
    let many = fabric.hosts().iter().filter(|&&host| fabric.ports(host).len() > 1 && !fabric.node(host).relay).count();
    if many > 0 {
        verdict.add(Severity::Hint, {
            let (have, do_not) = if many == 1 { ("has", "does not") } else { ("have", "do not") };
            let mesh = fabric.switches().next().is_none();
            let key = if mesh { "; with relay = true of [fabric], here --relay true, all hosts do" } else { "" };
            format!("{} {have} several links but {do_not} forward{key}", counted(many as u64, "host"))
        });
    }
    let dead = |node: &fabric::NodeId| fabric.node(*node).kind == NodeKind::Switch && fabric.ports(*node).len() == 1;
    if let Some(end) = fabric.node_ids().find(dead) {
        let name = fabric.name(end);
        verdict.add(Severity::Hint, format!("switch `{name}` has one link: nothing ever passes it. Is it a host?"));
    }
    for tier in fabric::show::summary(fabric).tiers {
        if let Some(ratio) = tier.oversubscription.filter(|&ratio| ratio > 1.0) {
            verdict.add(Severity::Hint, format!("tier {} is oversubscribed {ratio:.2} to 1", tier.tier));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};

    fn texts(fabric: &Fabric) -> String {
        judge(fabric).findings.iter().map(|finding| format!("{:?} {}\n", finding.weight, finding.text)).collect()
    }

    #[test]
    fn only_suspicious_input_is_reported() {
        let spec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        let plain = fabric::generate::fat_tree(4, fabric::generate::TierLinks::uniform(spec)).unwrap();
        assert!(!texts(&plain).contains("Hint"), "{}", texts(&plain));

        let mut builder = FabricBuilder::new("test");
        let (a, b) = (builder.add_host("a"), builder.add_host("b"));
        let (s, t) = (builder.add_switch("s", 1), builder.add_switch("t", 1));
        builder.connect(a, s, spec);
        builder.connect(b, s, LinkSpec { rate: Rate::from_gbps(25), loss: 0.01, ..spec });
        builder.connect(b, s, LinkSpec { delay: Time::from_ms(1), ..spec });
        builder.connect(s, t, spec);
        let text = texts(&builder.build().unwrap());
        for expected in [
            "`b` and `s` are joined by 2 links: meant",
            "1 link may lose frames",
            "takes 1ms, as 200 km of fibre",
            "links of hosts differ: 1 at 25Gbps, 2 at 100Gbps",
            "1 host has several links but does not forward",
            "switch `t` has one link",
        ] {
            assert!(text.contains(expected), "{expected} is missing in:\n{text}");
        }
        assert!(judge(&plain).usable());
    }
}
