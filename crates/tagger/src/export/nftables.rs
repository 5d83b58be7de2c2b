//! Export to nftables, for Tagger on a Linux router or bridge. Linux has no PFC in software: the export contains the
//! rewriting and the choice of a queue, for which `tc` sets the share.
//!
//! For each DSCP, a map from ingress port leads to the group of packets that are treated equally at all egress ports.
//! In the group, sets of egress ports lead to the new tag. A map from (ingress port, egress port, DSCP) would do this
//! in one step, but with one element per rule: the square of the ports.
//!
//! One rule per DSCP, without concatenation of port and DSCP: nft 1.0.6 loads the two bytes that contain `ip6 dscp`,
//! and masks and shifts them in the byte order of the machine. On a little-endian machine `iifname . ip6 dscp` never
//! matches.

use super::dialect::Dialect;
use super::factorise::{UnsupportedSwitch, groups};
use super::marks::Marks;
use super::view::SwitchView;
use fabric::PortIndex;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Port names per line.
const NAMES_A_LINE: usize = 6;
/// Elements per line of a map from port to group.
const ELEMENTS_A_LINE: usize = 3;

/// Kind of forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A router: tables of family inet.
    Inet,
    /// A bridge.
    Bridge,
}

/// Returns the minor number of the HTB class of a queue; 0 would be the qdisc itself.
fn class(queue: u8) -> u8 {
    queue + 1
}

/// Returns a file for `nft -f`, which replaces the table `tagger` atomically.
///
/// # Errors
/// [`UnsupportedSwitch::Name`] if a name is invalid for a network device.
pub fn ruleset(view: &SwitchView, marks: &Marks, family: Family) -> Result<String, UnsupportedSwitch> {
    UnsupportedSwitch::of_names(view, Dialect::Linux)?;
    let (table, hook) = match family {
        Family::Inet => ("inet", "priority mangle"),
        // The bridge family has no name such as `mangle` for this priority; -250 is before the bridge filters.
        Family::Bridge => ("bridge", "priority -250"),
    };
    let mut text = String::new();
    let mut line = |content: &str| {
        text.push_str(content);
        text.push('\n');
    };
    line(&format!("# Tagger rules of {}: {} rules, then lossy.", view.name(), view.rule_count()));
    line(&format!("table {table} tagger"));
    line(&format!("delete table {table} tagger"));
    line(&format!("table {table} tagger {{"));
    for mark in marks.lossless() {
        chain(&mut line, &format!("to_tag_{}", mark.tag), mark.dscp, mark.priority);
    }
    chain(&mut line, "to_lossy", marks.lossy().dscp, marks.lossy().queue);
    // Kept traffic is not remarked and has its own queue.
    for kept in marks.kept() {
        line(&format!("\tchain keep_{} {{", kept.dscp));
        line(&format!("\t\tmeta priority set 1:{:x}", class(kept.queue)));
        line("\t}");
    }
    let mut arrivals: BTreeMap<u8, Vec<(PortIndex, usize)>> = BTreeMap::new();
    for (group, number) in groups(view, marks).iter().zip(1..) {
        for &(tag, ingress) in &group.members {
            arrivals.entry(marks.dscp(Some(tag))).or_default().push((ingress, number));
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
    for (dscp, arrivals) in &mut arrivals {
        arrivals.sort_unstable();
        line(&format!("\tmap arrivals_{dscp} {{"));
        line("\t\ttype ifname : verdict");
        let element =
            |&(port, group): &(PortIndex, usize)| format!("\"{}\" : goto group_{group}", view.interface(port));
        let elements: Vec<String> = arrivals.iter().map(element).collect();
        let elements: Vec<String> = elements.chunks(ELEMENTS_A_LINE).map(|elements| elements.join(", ")).collect();
        line(&format!("\t\telements = {{ {} }}", elements.join(",\n\t\t             ")));
        line("\t}");
    }
    line("\tchain rewrite {");
    line(&format!("\t\ttype filter hook forward {hook}; policy accept;"));
    let dscps: Vec<String> = marks.lossless().iter().map(|mark| mark.dscp.to_string()).collect();
    for ip in ["ip", "ip6"] {
        for dscp in arrivals.keys() {
            line(&format!("\t\t{ip} dscp {dscp} iifname vmap @arrivals_{dscp}"));
        }
        line(&format!("\t\t{ip} dscp {{ {} }} goto to_lossy", dscps.join(", ")));
        for kept in marks.kept() {
            line(&format!("\t\t{ip} dscp {} goto keep_{}", kept.dscp, kept.dscp));
        }
    }
    // A bridge also forwards packets that it does not recognise as IP: behind a second VLAN tag or an MPLS label the
    // DSCP cannot be read.
    if family == Family::Bridge {
        line(&format!("\t\tmeta protocol != {{ ip, ip6 }} meta priority set 1:{:x}", class(marks.lossy().queue)));
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

/// Minor number of the HTB class that has the rate of the whole port.
const WHOLE_PORT: &str = "ffff";

/// Returns a file for `tc -batch`: one HTB class per queue on every port, each with an equal guaranteed share, which
/// may borrow the rest. The classes borrow from a parent class with the port's rate, because classes of the root cannot
/// borrow (tc-htb(8)).
///
/// # Errors
/// Like [`ruleset`].
pub fn queues(view: &SwitchView, marks: &Marks) -> Result<String, UnsupportedSwitch> {
    UnsupportedSwitch::of_names(view, Dialect::Linux)?;
    let queues = marks.queues();
    let mut text = String::new();
    for port in view.ports() {
        let (interface, rate) = (&port.interface, port.rate.as_bps());
        let share = (rate / queues.len() as u64).max(8);
        let lossy = class(marks.lossy().queue);
        // HTB cannot be replaced by itself, nor can a class be moved, so an earlier export is removed first. Writing to
        // a string cannot fail.
        let _ = writeln!(text, "qdisc replace dev {interface} root handle 2: pfifo");
        let _ = writeln!(text, "qdisc replace dev {interface} root handle 1: htb default {lossy:x}");
        let rates = |share: u64| format!("htb rate {share}bit ceil {rate}bit burst 64k cburst 64k quantum 60000");
        let _ = writeln!(text, "class replace dev {interface} parent 1: classid 1:{WHOLE_PORT} {}", rates(rate));
        for &queue in &queues {
            let minor = class(queue);
            let _ = writeln!(
                text,
                "class replace dev {interface} parent 1:{WHOLE_PORT} classid 1:{minor:x} {}",
                rates(share)
            );
        }
    }
    Ok(text)
}

/// Returns notes for loading the files, with the limits of this kind of forwarding.
pub fn notes(marks: &Marks, family: Family) -> Vec<String> {
    let dscps: Vec<String> = marks.lossless().iter().map(|mark| mark.dscp.to_string()).collect();
    let mut notes = vec![
        "Linux forwards without PFC: this rewrites tags and chooses queues. Load with nft -f and tc -batch.".to_owned(),
        format!(
            "The rules are for forwarded IPv4 and IPv6 packets with DSCP {}. Packets that the machine itself sends \
             pass another hook and keep their DSCP. Flows that a flowtable or switch hardware forwards (switchdev) \
             pass no hook at all: do not offload them.",
            dscps.join(", ")
        ),
    ];
    notes.extend(match family {
        Family::Inet => [
            "802.1Q and 802.1ad on a router: a tagged frame is received by the VLAN interface of its port (swp1.100), \
             which is an interface of its own. Lossless packets of an interface that the rules do not name turn lossy. \
             Name the VLAN interface in place of the port with --interfaces. A frame with VLAN ID 0 is received as an \
             untagged one, and sent without the tag.",
            "A router reads no DSCP below MPLS labels, and forwards no frames that are not IP by these rules.",
        ]
        .map(str::to_owned),
        Family::Bridge => [
            "802.1Q and 802.1ad on a bridge: with one tag of either kind the DSCP of the IP packet is read and \
             rewritten, and the tag is kept.",
            "Behind two tags (802.1ad and 802.1Q), MPLS labels, PPPoE or any other header before IP no DSCP can be \
             read or rewritten: such frames go to the lossy queue with the DSCP that they have. A neighbour that reads \
             it takes it for lossless: do not send lossless traffic so.",
        ]
        .map(str::to_owned),
    });
    notes
}
