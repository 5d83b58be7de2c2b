//! Finds the information that a conversion loses, by reading the written file back.

use fabric::files::{self, Format};
use fabric::{Fabric, LinkSpec, NodeId, NodeKind};
use text::numbers::counted;
use units::{Rate, Time};

/// Lists the properties of `fabric` that are lost by writing it in this format and reading it back.
pub fn lost(fabric: &Fabric, to: Format) -> Vec<String> {
    // The link default is implausible, so that values that the file does not contain are noticed as differences.
    let unstated = LinkSpec::new(Rate::MIN, Time::from_ps(1));
    let again = to.write(fabric).and_then(|text| to.read(&text, &files::Options::new(unstated)));
    let Ok(again) = again else { return vec!["the file cannot be read again".to_owned()] };
    let mut lost = Vec::new();
    // If the format has no names, nodes correspond by their order.
    let named = fabric.nodes().iter().all(|node| again.find(&node.name).is_some());
    let same = |node: NodeId| if named { again.find(fabric.name(node)).unwrap_or(node) } else { node };
    if !named {
        let mut pairs = fabric.nodes().iter().zip(again.nodes()).filter(|(node, other)| node.name != other.name);
        if let Some((node, other)) = pairs.next() {
            let count = counted(1 + pairs.count() as u64, "name");
            lost.push(format!("{count} (`{}` becomes `{}`)", node.name, other.name));
        }
    }
    let other = |node: NodeId| again.node(same(node));
    let all = || fabric.node_ids().map(|id| (fabric.node(id), other(id)));
    if let Some((node, other)) = all().find(|(node, other)| node.kind != other.kind) {
        let is_host = |host| if host { "a host" } else { "a switch" };
        let (was, becomes) = (is_host(node.kind == NodeKind::Host), is_host(other.kind == NodeKind::Host));
        lost.push(format!("which nodes are hosts (`{}` was {was}, a reader takes it for {becomes})", node.name));
    }
    if let Some((node, _)) = all().find(|(node, other)| node.relay && !other.relay) {
        lost.push(format!("that hosts forward for others (`{}` did)", node.name));
    }
    if let Some((node, other)) = all().find(|(node, other)| node.tier != other.tier) {
        lost.push(format!("tiers (`{}` was on tier {}, a reader infers {})", node.name, node.tier, other.tier));
    }
    if fabric.kind() != again.kind() {
        lost.push(format!("the kind, {}", fabric.kind()));
    }
    if fabric.has_shared_ports() && !again.has_shared_ports() {
        lost.push("the Y cables of dual-ToR pairs: proofs of the new file do not know of their tunnels".to_owned());
    }
    // The two endpoints of a cable, the lower node number first, with the node numbers of the file read back.
    let ends = |a: NodeId, b: NodeId| (a.min(b), a.max(b));
    let mut before: Vec<((NodeId, NodeId), LinkSpec)> =
        fabric.links().iter().map(|link| (ends(same(link.a.node), same(link.b.node)), link.spec())).collect();
    let mut after: Vec<((NodeId, NodeId), LinkSpec)> =
        again.links().iter().map(|link| (ends(link.a.node, link.b.node), link.spec())).collect();
    before.sort_by_key(|link| link.0);
    after.sort_by_key(|link| link.0);
    if before.len() != after.len() || before.iter().zip(&after).any(|(a, b)| a.0 != b.0) {
        lost.push("links".to_owned());
        return lost;
    }
    let pairs = || before.iter().zip(&after).map(|(before, after)| (&before.1, &after.1));
    for (what, differ) in [
        ("rates", pairs().any(|(before, after)| before.rate != after.rate)),
        ("delays", pairs().any(|(before, after)| before.delay != after.delay)),
        ("probabilities of loss", pairs().any(|(before, after)| before.loss != after.loss)),
        ("bit error rates", pairs().any(|(before, after)| before.bit_error_rate != after.bit_error_rate)),
    ] {
        if differ {
            lost.push(format!("{what} of links"));
        }
    }
    if fabric.links() != again.links() && lost.is_empty() {
        lost.push("the order of nodes, links and ports".to_owned());
    }
    lost
}
