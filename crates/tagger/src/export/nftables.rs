//! nftables: Tagger on a Linux router or bridge. Linux has no PFC in software: this carries the rewriting and the
//! choice of a queue, which `tc` gives its share.
//!
//! A map from (ingress port, DSCP) leads to the group of what leaves alike whatever the egress port, and there sets of
//! egress ports lead to the new tag. A map from (ingress port, egress port, DSCP) would say the same in one step, and
//! have as many elements as there are rules: the square of the ports.

use super::dialect::Dialect;
use super::factorise::{Misfit, groups};
use super::marks::Marks;
use super::view::SwitchView;
use fabric::PortIndex;
use std::fmt::Write;

/// How many names of ports stand on a line.
const NAMES_A_LINE: usize = 6;

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
    let mut arrivals: Vec<Vec<String>> = vec![Vec::new(); view.ports().len()];
    for (group, number) in groups(view, marks).iter().zip(1..) {
        for &(tag, ingress) in &group.members {
            let (from, dscp) = (view.interface(ingress), marks.dscp(Some(tag)));
            arrivals[usize::from(ingress)].push(format!("\"{from}\" . {dscp} : goto group_{number}"));
        }
        line(&format!("\tchain group_{number} {{"));
        for mark in marks.lossless() {
            let leave = |egress: &PortIndex| group.row[usize::from(*egress)] == Some(mark.tag);
            let names: Vec<String> =
                view.port_numbers().filter(leave).map(|egress| format!("\"{}\"", view.interface(egress))).collect();
            if !names.is_empty() {
                let names: Vec<String> = names.chunks(NAMES_A_LINE).map(|names| names.join(", ")).collect();
                line(&format!("\t\toifname {{ {} }} goto to_tag_{}", names.join(",\n\t\t          "), mark.tag));
            }
        }
        line("\t\tgoto to_lossy");
        line("\t}");
    }
    line("\tmap arrivals {");
    line("\t\ttype ifname . dscp : verdict");
    let elements: Vec<String> =
        arrivals.iter().filter(|of_port| !of_port.is_empty()).map(|of_port| of_port.join(", ")).collect();
    if !elements.is_empty() {
        line(&format!("\t\telements = {{ {} }}", elements.join(",\n\t\t             ")));
    }
    line("\t}");
    line("\tchain rewrite {");
    line(&format!("\t\ttype filter hook forward {hook}; policy accept;"));
    let dscps: Vec<String> = marks.lossless().iter().map(|mark| mark.dscp.to_string()).collect();
    for ip in ["ip", "ip6"] {
        line(&format!("\t\tiifname . {ip} dscp vmap @arrivals"));
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
    let queues = marks.queues();
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
