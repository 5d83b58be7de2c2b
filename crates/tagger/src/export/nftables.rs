//! nftables: Tagger on a Linux router or bridge. Linux has no PFC in software: this carries the rewriting and the
//! choice of a queue, which `tc` gives its share.

use super::dialect::Dialect;
use super::factorise::Misfit;
use super::marks::Marks;
use super::view::SwitchView;
use std::fmt::Write;

/// What forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A router: tables of family inet.
    Inet,
    /// A bridge.
    Bridge,
}

/// The minor number of the HTB class of a queue: 0 would stand for the qdisc itself.
fn class(queue: u8) -> u8 {
    queue + 1
}

/// A file for `nft -f`: replaces the table `tagger` in one step.
///
/// # Errors
/// [`Misfit::Name`] if a name is that of no network device.
pub fn ruleset(view: &SwitchView, marks: &Marks, family: Family) -> Result<String, Misfit> {
    Misfit::of_names(view, Dialect::Linux)?;
    let (family, hook) = match family {
        Family::Inet => ("inet", "priority mangle"),
        // Bridges know no name for this place: before their filters.
        Family::Bridge => ("bridge", "priority -250"),
    };
    let mut text = String::new();
    let mut line = |content: &str| {
        text.push_str(content);
        text.push('\n');
    };
    line(&format!("# Tagger rules of {}: {} rules, then lossy.", view.name(), view.rule_count()));
    line(&format!("table {family} tagger"));
    line(&format!("delete table {family} tagger"));
    line(&format!("table {family} tagger {{"));
    for mark in marks.lossless() {
        chain(&mut line, &format!("to_tag_{}", mark.tag), mark.dscp, mark.priority);
    }
    chain(&mut line, "to_lossy", marks.lossy().dscp, marks.lossy().queue);
    line("\tmap rules {");
    line("\t\ttype ifname . ifname . dscp : verdict");
    let rules: Vec<_> = view.rules().collect();
    for (index, &(tag, ingress, egress, _)) in rules.iter().enumerate() {
        let Some(shown) = view.shown_tag(marks, tag, ingress, egress) else { continue };
        let start = if index == 0 { "\t\telements = { " } else { "\t\t             " };
        let end = if index + 1 == rules.len() { " }" } else { "," };
        let (from, to) = (view.interface(ingress), view.interface(egress));
        let dscp = marks.dscp(Some(tag));
        line(&format!("{start}\"{from}\" . \"{to}\" . {dscp} : goto to_tag_{shown}{end}"));
    }
    line("\t}");
    line("\tchain rewrite {");
    line(&format!("\t\ttype filter hook forward {hook}; policy accept;"));
    let dscps: Vec<String> = marks.lossless().iter().map(|mark| mark.dscp.to_string()).collect();
    for ip in ["ip", "ip6"] {
        line(&format!("\t\tiifname . oifname . {ip} dscp vmap @rules"));
        line(&format!("\t\t{ip} dscp {{ {} }} goto to_lossy", dscps.join(", ")));
    }
    line("\t}");
    line("}");
    Ok(text)
}

fn chain(line: &mut impl FnMut(&str), name: &str, dscp: u8, queue: u8) {
    line(&format!("\tchain {name} {{"));
    line(&format!("\t\tip dscp set {dscp}"));
    line(&format!("\t\tip6 dscp set {dscp}"));
    line(&format!("\t\tmeta priority set 1:{:x}", class(queue)));
    line("\t}");
}

/// A file for `tc -batch`: one HTB class a queue on every port, each with an equal guaranteed share and the right to
/// borrow the rest.
///
/// # Errors
/// As [`ruleset`].
pub fn queues(view: &SwitchView, marks: &Marks) -> Result<String, Misfit> {
    Misfit::of_names(view, Dialect::Linux)?;
    let mut queues: Vec<u8> = marks.lossless().iter().map(|mark| mark.priority).collect();
    queues.push(marks.lossy().queue);
    queues.extend(marks.kept().iter().map(|kept| kept.queue));
    queues.sort_unstable();
    queues.dedup();
    let mut text = String::new();
    for port in view.ports() {
        let (interface, rate) = (&port.interface, port.rate.as_bps());
        let share = (rate / queues.len() as u64).max(8);
        let lossy = class(marks.lossy().queue);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "qdisc replace dev {interface} root handle 1: htb default {lossy:x}");
        for &queue in &queues {
            let minor = class(queue);
            let _ = writeln!(
                text,
                "class replace dev {interface} parent 1: classid 1:{minor:x} htb rate {share}bit ceil {rate}bit burst \
                 64k cburst 64k quantum 60000"
            );
        }
    }
    Ok(text)
}
