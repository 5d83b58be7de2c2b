//! Real packets through routers and bridges in this machine's kernel that run the exported rules: a single node with an
//! arbitrary table, and a Clos of ten switches. Requires root, `ip`, `tc`, `bridge`, `nft` and `python3`. If one of
//! them is missing, the test prints a message and passes, unless TIDEGATE_REQUIRE_NAMESPACES is set.
//!
//! ```text
//!   [host 0] ── p0 ┐
//!   [host 1] ── p1 ┼ router or bridge, with nftables and HTB
//!   [host 2] ── p2 ┘
//! ```

#[path = "nftables/clos.rs"]
mod clos;
#[path = "nftables/machine.rs"]
mod machine;
#[path = "nftables/routes.rs"]
mod routes;

use clos::{C_TAG, Clos, KEPT, Kind, PRIORITY_TAG, S_AND_C_TAG, S_TAG, UNTAGGED, Upper};
use fabric::PortIndex;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tagger::export::nftables::{Family, queues, ruleset};
use tagger::export::{Marks, PortView, SwitchView};
use tagger::rules::Tag;
use units::{Rate, Time};

const HOSTS: u16 = 3;
const TAGS: [Tag; 3] = [1, 2, 3];
/// DSCP that no tag uses.
const UNMARKED: u8 = 48;
const OTHER: u8 = 20;

/// Receiver that prints "text tos" for every datagram until no datagram arrives for 5 seconds.
const RECEIVER: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.bind(('', 7000))
print('ready', flush=True)
for _ in range(int(sys.argv[1])):
    s.settimeout(5)
    try:
        data, more, _, _ = s.recvmsg(64, 64)
    except TimeoutError:
        break
    print(data.decode(), more[0][2][0], flush=True)
";
/// Sender of one datagram per argument `address,dscp,text`.
const SENDER: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for one in sys.argv[1:]:
    address, dscp, text = one.split(',')
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(dscp) << 2)
    s.sendto(text.encode(), (address, 7000))
";

/// Returns the new tag of an arbitrary table in which, depending on the ports, every tag is rewritten to every tag or
/// becomes lossy.
fn new_tag(tag: Tag, ingress: PortIndex, egress: PortIndex) -> Option<Tag> {
    let mixed = (u16::from(tag) * 7 + ingress * 3 + egress * 5) % 4;
    (mixed != 0).then_some(mixed as Tag)
}

fn switch(rate: Rate) -> SwitchView {
    let port = |at: u16| PortView {
        interface: format!("p{at}"),
        peer: format!("host{at}"),
        peer_port: 0,
        to_host: true,
        rate,
        delay: Time::from_ns(5),
        headroom_bytes: 0,
    };
    let all = TAGS.into_iter().flat_map(|tag| (0..HOSTS).flat_map(move |i| (0..HOSTS).map(move |e| (tag, i, e))));
    let rules = all.filter_map(|(tag, i, e)| new_tag(tag, i, e).map(|new| (tag, i, e, new)));
    SwitchView::new("box", (0..HOSTS).map(port).collect(), rules).unwrap()
}

/// Network namespaces of this test, which are removed when it ends.
struct Lab {
    prefix: String,
}

impl Lab {
    /// Creates a namespace for every host and one for the switch. The error names the missing prerequisite.
    fn new(kind: &str) -> Result<Lab, String> {
        machine::check()?;
        let lab = Lab { prefix: format!("tg{}{kind}", std::process::id()) };
        let names: Vec<String> = (0..HOSTS).map(|host| host.to_string()).chain(["box".to_owned()]).collect();
        for name in names {
            machine::run(&["ip", "netns", "add", &lab.name(&name)], "")
                .map_err(|error| format!("no namespaces: {error}"))?;
        }
        Ok(lab)
    }

    fn name(&self, node: &str) -> String {
        format!("{}{node}", self.prefix)
    }

    fn command(&self, node: &str, command: &[&str]) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.name(node)]).args(command);
        inside
    }

    fn run(&self, node: &str, command: &[&str]) -> String {
        self.feed(node, command, "")
    }

    fn feed(&self, node: &str, command: &[&str], text: &str) -> String {
        let name = self.name(node);
        let all: Vec<&str> = ["ip", "netns", "exec", &name].iter().chain(command).copied().collect();
        machine::run(&all, text).unwrap_or_else(|error| panic!("in {node}: {error}\n{text}"))
    }

    /// Connects `p0`.. of the switch to `eth0` of the hosts, and sets addresses.
    fn cable(&self, family: Family) {
        let quiet =
            "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6";
        for node in (0..HOSTS).map(|host| host.to_string()).chain(["box".to_owned()]) {
            // The command fails if the kernel has no IPv6, in which case IPv6 need not be disabled.
            let _ = self.command(&node, &["sh", "-c", quiet]).output();
        }
        if family == Family::Bridge {
            self.run("box", &["ip", "link", "add", "br0", "type", "bridge"]);
            self.run("box", &["ip", "link", "set", "br0", "up"]);
        }
        for host in 0..HOSTS {
            let (node, port) = (host.to_string(), format!("p{host}"));
            let (inside, outside) = (self.name("box"), self.name(&node));
            let cable = ["ip", "link", "add", &port, "netns", &inside, "type", "veth", "peer", "name", "eth0", "netns"];
            machine::run(&[&cable[..], &[&outside]].concat(), "").expect("a cable");
            self.run("box", &["ip", "link", "set", &port, "up"]);
            self.run(&node, &["ip", "link", "set", "eth0", "up"]);
            self.run(
                &node,
                &["ip", "address", "add", &format!("{}/{}", address(family, host), prefix(family)), "dev", "eth0"],
            );
            if family == Family::Bridge {
                self.run("box", &["ip", "link", "set", &port, "master", "br0"]);
            } else {
                self.run("box", &["ip", "address", "add", &format!("10.0.{host}.1/24"), "dev", &port]);
                self.run(&node, &["ip", "route", "add", "default", "via", &format!("10.0.{host}.1")]);
            }
        }
        if family == Family::Inet {
            self.run("box", &["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
        }
    }

    /// Returns a counter of the HTB class of a queue at `p<port>`: word number `at` after a label.
    fn counted(&self, port: u16, queue: u8, label: &str, at: usize) -> u64 {
        let text = self.run("box", &["tc", "-s", "class", "show", "dev", &format!("p{port}")]);
        let class = format!("class htb 1:{:x} ", queue + 1);
        let after = text.split(&class).nth(1).unwrap_or_else(|| panic!("{class}: {text}"));
        let counted = after.split(label).nth(1).and_then(|sent| sent.split_whitespace().nth(at)).expect("a count");
        counted.parse().expect("a number")
    }

    /// Returns the number of packets that left `p<port>` through a queue.
    fn sent(&self, port: u16, queue: u8) -> u64 {
        self.counted(port, queue, "Sent ", 2)
    }

    /// Returns the number of packets that left `p<port>` through a queue in excess of its guaranteed rate (HTB
    /// "borrowed").
    fn borrowed(&self, port: u16, queue: u8) -> u64 {
        self.counted(port, queue, "borrowed: ", 0)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for node in (0..HOSTS).map(|host| host.to_string()).chain(["box".to_owned()]) {
            let _ = machine::run(&["ip", "netns", "del", &self.name(&node)], "");
        }
    }
}

fn address(family: Family, host: u16) -> String {
    if family == Family::Bridge { format!("10.0.0.{}", 2 + host) } else { format!("10.0.{host}.2") }
}

fn prefix(family: Family) -> u8 {
    if family == Family::Bridge { 24 } else { 30 }
}

fn receive(lab: &Lab, host: u16, count: usize) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = lab.command(&host.to_string(), &["python3", "-c", RECEIVER, &count.to_string()]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("python3 starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ready = String::new();
    lines.read_line(&mut ready).expect("a line");
    assert_eq!(ready, "ready\n");
    (child, lines)
}

/// Sends packets with every tag, and untagged packets, from every host to every other host.
fn packets_follow_the_rules(family: Family, kind: &str) {
    let Some(lab) = machine::or_skipped(Lab::new(kind)) else { return };
    lab.cable(family);
    let (view, marks) = (switch(Rate::from_gbps(1)), Marks::usual(&TAGS).unwrap());
    lab.feed("box", &["nft", "-f", "-"], &ruleset(&view, &marks, family).unwrap());
    // Loaded twice, as in an update: the second load must replace the table, not duplicate it.
    lab.feed("box", &["nft", "-f", "-"], &ruleset(&view, &marks, family).unwrap());
    lab.feed("box", &["tc", "-batch", "-"], &queues(&view, &marks).unwrap());

    let dscps: Vec<u8> = TAGS.iter().map(|&tag| marks.dscp(Some(tag))).chain([UNMARKED]).collect();
    for to in 0..HOSTS {
        let from: Vec<u16> = (0..HOSTS).filter(|&from| from != to).collect();
        let before: Vec<u64> = TAGS.iter().map(|&tag| lab.sent(to, marks.priority(tag))).collect();
        let (mut child, lines) = receive(&lab, to, from.len() * dscps.len());
        for &from in &from {
            let one = |dscp: &u8| format!("{},{dscp},{from}:{dscp}", address(family, to));
            let all: Vec<String> = dscps.iter().map(one).collect();
            let mut command = vec!["python3", "-c", SENDER];
            command.extend(all.iter().map(String::as_str));
            lab.run(&from.to_string(), &command);
        }
        let mut got: Vec<String> = lines.lines().map(|line| line.expect("text")).collect();
        child.wait().expect("an end");
        got.sort();
        let shown = |from: u16, dscp: u8| match marks.tag_of(dscp) {
            Some(tag) => marks.dscp(new_tag(tag, from, to)),
            None => dscp,
        };
        let line = |from: u16, dscp: &u8| format!("{from}:{dscp} {}", shown(from, *dscp) << 2);
        let mut expected: Vec<String> =
            from.iter().flat_map(|&from| dscps.iter().map(move |dscp| line(from, dscp))).collect();
        expected.sort();
        assert_eq!(got, expected, "to host {to}");
        for (&tag, before) in TAGS.iter().zip(before) {
            let becomes = |&from: &u16| TAGS.iter().filter(|&&old| new_tag(old, from, to) == Some(tag)).count() as u64;
            let expected: u64 = from.iter().map(becomes).sum();
            assert_eq!(lab.sent(to, marks.priority(tag)) - before, expected, "queue of tag {tag} at p{to}");
        }
    }
}

#[test]
fn a_router_rewrites_and_queues_real_packets_by_the_rules() {
    packets_follow_the_rules(Family::Inet, "1r");
}

#[test]
fn a_bridge_rewrites_and_queues_real_packets_by_the_rules() {
    packets_follow_the_rules(Family::Bridge, "1b");
}

/// The HTB scheduler is work-conserving: a backlogged queue uses the shares of idle queues. If its class were a child
/// of the root qdisc, it could not borrow and would get only its own share.
#[test]
fn a_busy_queue_borrows_the_shares_of_idle_ones() {
    let Some(lab) = machine::or_skipped(Lab::new("1q")) else { return };
    lab.cable(Family::Inet);
    let (view, marks) = (switch(Rate::from_bps(40_000_000).unwrap()), Marks::usual(&TAGS).unwrap());
    lab.feed("box", &["nft", "-f", "-"], &ruleset(&view, &marks, Family::Inet).unwrap());
    // Loaded twice, as in an update.
    for _ in 0..2 {
        lab.feed("box", &["tc", "-batch", "-"], &queues(&view, &marks).unwrap());
    }
    let (tag, from, to) = (1, 0, 2);
    let queue = marks.priority(new_tag(tag, from, to).expect("a lossless tag"));
    // Together the datagrams have ten times the burst size of an HTB class.
    let one = format!("{},{},{}", address(Family::Inet, to), marks.dscp(Some(tag)), "x".repeat(1_400));
    let mut command = vec!["python3", "-c", SENDER];
    command.extend((0..450).map(|_| one.as_str()));
    lab.run(&from.to_string(), &command);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (sent, borrowed) = (lab.sent(to, queue), lab.borrowed(to, queue));
    assert!(sent > 200 && borrowed > sent / 2, "{borrowed} of {sent} packets beyond the share of the queue");
}

/// Returns the VLAN tag combinations to test, each with both IP versions: all combinations for a bridge, or those that
/// a router accepts at its ports or their upper interfaces.
fn kinds(family: Family, upper: Option<Upper>) -> Vec<Kind> {
    let tags: &[&'static [(u16, u16)]] = match (family, upper) {
        (Family::Bridge, _) => &[UNTAGGED, C_TAG, S_TAG, S_AND_C_TAG],
        (Family::Inet, None) => &[UNTAGGED, PRIORITY_TAG],
        (Family::Inet, Some(Upper::Macvlan)) => &[UNTAGGED],
        (Family::Inet, Some(Upper::Vlan(0x8100, _))) => &[C_TAG],
        (Family::Inet, Some(Upper::Vlan(..))) => &[S_TAG],
    };
    let of_others = if upper.is_some() { tags[0] } else { UNTAGGED };
    let both = tags.iter().flat_map(|&tags| [false, true].map(|six| Kind { six, tags, dscp: 26 }));
    // DSCPs that no tag uses: one with its own queue, and one without.
    let others = [KEPT.dscp, OTHER].into_iter().flat_map(|dscp| [false, true].map(|six| (six, dscp)));
    both.chain(others.map(|(six, dscp)| Kind { six, tags: of_others, dscp })).collect()
}

/// Tests one of `every` of the listed paths and of the paths around two failed links. Prints the number of hops; each
/// hop must have the expected tag.
fn a_clos_follows_the_rules(family: Family, kind: &str, upper: Option<Upper>, hosts_per_tor: u32, every: usize) {
    if matches!(upper, Some(Upper::Vlan(..))) && !machine::has_vlan_interfaces() {
        return;
    }
    let Some(lab) = machine::or_skipped(Clos::new(kind, family, hosts_per_tor, upper)) else { return };
    let (listed, around) = (routes::listed(&lab.fabric), routes::around_two_failures(&lab.fabric));
    let suits = |route: &routes::Route| match family {
        Family::Bridge => route.suits_bridge(&lab.fabric),
        Family::Inet => route.suits_router(&lab.fabric),
    };
    let mut all: Vec<routes::Route> = listed.iter().chain(&around).filter(|route| suits(route)).cloned().collect();
    all.sort_unstable();
    all.dedup();
    println!(
        "{} listed paths, {} around two failed links; {} different ones that a table by destination can lead",
        listed.len(),
        around.len(),
        all.len()
    );
    let chosen: Vec<routes::Route> = all.into_iter().step_by(every).collect();
    let count = lab.send(&chosen, &kinds(family, upper)).expect("commands that work here");
    println!(
        "{kind}: {} paths, {} packets, {} hops, {} rewrites, {} wrong",
        chosen.len(),
        count.packets,
        count.hops,
        count.rewrites,
        count.wrong.len()
    );
    assert!(count.hops > 1000 && count.rewrites > 0);
    assert!(
        count.wrong.is_empty(),
        "{} wrong, such as {:#?}",
        count.wrong.len(),
        &count.wrong[..count.wrong.len().min(9)]
    );
}

#[test]
fn a_clos_of_routers_follows_the_rules_hop_by_hop_with_ipv4_and_ipv6() {
    a_clos_follows_the_rules(Family::Inet, "r", None, 1, 8);
}

#[test]
fn a_clos_of_bridges_follows_the_rules_hop_by_hop_with_vlan_tags() {
    a_clos_follows_the_rules(Family::Bridge, "b", None, 1, 8);
}

/// VLAN interfaces with a C-tag (802.1Q) and an S-tag (802.1ad), as in [`C_TAG`] and [`S_TAG`].
const C_VLAN: Upper = Upper::Vlan(0x8100, 5);
const S_VLAN: Upper = Upper::Vlan(0x88a8, 7);

/// The rules match upper interfaces (macvlan) on the ports instead of the ports.
#[test]
fn a_clos_of_routers_follows_the_rules_between_upper_interfaces() {
    a_clos_follows_the_rules(Family::Inet, "m", Some(Upper::Macvlan), 1, 8);
}

/// The Clos test with VLAN interfaces for 802.1Q and for 802.1ad.
#[test]
fn a_clos_of_routers_follows_the_rules_between_vlan_interfaces() {
    a_clos_follows_the_rules(Family::Inet, "q", Some(C_VLAN), 1, 8);
    a_clos_follows_the_rules(Family::Inet, "s", Some(S_VLAN), 1, 8);
}

/// `cargo test -p tidegate-tagger --test nftables -- --ignored --nocapture`
#[test]
#[ignore = "a minute: all paths, 100,000 hops and more"]
fn all_paths_of_a_clos_100_000_hops() {
    a_clos_follows_the_rules(Family::Inet, "R", None, 2, 1);
    a_clos_follows_the_rules(Family::Inet, "M", Some(Upper::Macvlan), 2, 1);
    a_clos_follows_the_rules(Family::Inet, "Q", Some(C_VLAN), 2, 1);
    a_clos_follows_the_rules(Family::Inet, "S", Some(S_VLAN), 2, 1);
    a_clos_follows_the_rules(Family::Bridge, "B", None, 2, 1);
}
