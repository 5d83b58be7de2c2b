//! `[[committed_rate]]`: agreed rates between hosts, for FLORAX.

use crate::names::{HostName, host};
use crate::section::Section;
use crate::traffic_lower::{LoweringContext, host_rate};
use model::parameters::{CommittedRate, FlowControl};
use std::collections::BTreeSet;
use units::Rate;

/// An entry of `[[committed_rate]]` with unresolved host names.
#[derive(Clone, Debug)]
pub(crate) struct NamedAgreement {
    from: HostName,
    to: HostName,
    rate: Rate,
}

/// Reads `[[committed_rate]]`.
pub(crate) fn read(root: &Section<'_, '_>) -> Vec<NamedAgreement> {
    let mut agreements = Vec::new();
    for section in root.tables("committed_rate", "committed_rate") {
        let (from, to) = (section.read("from", host), section.read("to", host));
        let rate = section.rate("rate");
        section.finish();
        if let (Some(from), Some(to), Some(rate)) = (from, to, rate) {
            agreements.push(NamedAgreement { from, to, rate });
        }
    }
    agreements
}

/// Resolves the hosts of all committed rates. Reports an error if the two hosts are equal, if a pair has two entries,
/// if the rate exceeds the link rate of a host, or if flow control is not FLORAX.
pub(crate) fn lower(
    ground: &LoweringContext<'_, '_>,
    named: &[NamedAgreement],
    control: &FlowControl,
) -> Option<Vec<CommittedRate>> {
    let (context, fabric) = (ground.context, ground.fabric);
    let mut seen = BTreeSet::new();
    let mut one = |(at, named): (usize, &NamedAgreement)| {
        let key = |key: &str| format!("committed_rate.{at}.{key}");
        let (from, to) = (ground.host(&named.from, &key("from")), ground.host(&named.to, &key("to")));
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("`{}` sends nothing to itself", fabric.name(fabric.host_node(to)));
            context.fail(&key("to"), message, Some("write the destination of a flow".to_owned()));
            return None;
        }
        if !seen.insert((from, to)) {
            context.fail(&key("to"), "these two have an agreement already", Some("write one for a pair".to_owned()));
            return None;
        }
        let link = host_rate(fabric, from).min(host_rate(fabric, to));
        if named.rate > link {
            let message = format!("the agreed {} exceeds the {link} of a link of its path", named.rate);
            context.fail(&key("rate"), message, Some(format!("write {link} or less")));
            return None;
        }
        Some(CommittedRate { from, to, rate: named.rate })
    };
    let all: Vec<Option<CommittedRate>> = named.iter().enumerate().map(&mut one).collect();
    if !named.is_empty() && !matches!(control, FlowControl::Florax(_)) {
        let help = "write switch.flow_control = \"florax\", or remove the agreements".to_owned();
        context.fail("committed_rate.0", "agreed rates require flow_control = florax", Some(help));
    }
    all.into_iter().collect()
}
