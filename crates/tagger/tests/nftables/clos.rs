//! A Clos of network namespaces: each switch runs its exported files, links are veth pairs, and all hosts are ends of
//! veth pairs in one namespace. Packets follow given routes, which a router's table selects by ingress port and
//! destination and a bridge's table by destination. At each hop, the packet that arrives at the next node is compared
//! with the rule table.

use super::machine::{self, run};
use super::routes::Route;
use fabric::generate::{TierLinks, clos};
use fabric::{Fabric, LinkSpec, NodeId, NodeKind, PortIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;
use tagger::clos_rule;
use tagger::export::nftables::{Family, queues, ruleset};
use tagger::export::{Cable, Dialect, Interfaces, Kept, Marks, SwitchView, USUAL_CLASSES};
use tagger::rules::{LOSSY_TAG, RuleTable, Tag};
use units::{Rate, Time};

/// Maximum number of polls until all interfaces of a namespace have a carrier: half a minute in total.
const MOST_ATTEMPTS: u32 = 1_500;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

const DRIVER: &str = include_str!("drive.py");

/// VLAN tags of a frame, between the MAC addresses and the IP header, as (EtherType, VLAN ID).
pub const UNTAGGED: &[(u16, u16)] = &[];
pub const PRIORITY_TAG: &[(u16, u16)] = &[(0x8100, 0)];
pub const C_TAG: &[(u16, u16)] = &[(0x8100, 5)];
pub const S_TAG: &[(u16, u16)] = &[(0x88a8, 7)];
pub const S_AND_C_TAG: &[(u16, u16)] = &[(0x88a8, 7), (0x8100, 5)];

/// DSCP that no tag uses, with its own queue.
pub const KEPT: Kept = Kept { dscp: 48, queue: 7 };

/// An upper interface on the end of a link, which receives the frames of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upper {
    /// A VLAN interface, with EtherType and VLAN ID of its VLAN tag.
    Vlan(u16, u16),
    /// A macvlan interface, for untagged frames; all kernels on which the test runs support it.
    Macvlan,
}

impl Upper {
    /// Returns the arguments of `ip link add ... type`.
    fn kind(self) -> String {
        match self {
            Upper::Vlan(0x8100, id) => format!("vlan proto 802.1Q id {id}"),
            Upper::Vlan(_, id) => format!("vlan proto 802.1ad id {id}"),
            Upper::Macvlan => "macvlan mode passthru".to_owned(),
        }
    }
}

/// Kind of packet that is sent along each route.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub six: bool,
    pub tags: &'static [(u16, u16)],
    pub dscp: u8,
}

/// Counts of a run.
#[derive(Debug, Default)]
pub struct Count {
    pub packets: usize,
    pub hops: usize,
    pub rewrites: usize,
    pub wrong: Vec<String>,
}

pub struct Clos {
    pub fabric: Fabric,
    rules: RuleTable,
    marks: Marks,
    views: BTreeMap<NodeId, SwitchView>,
    family: Family,
    /// Upper interfaces, which the rules match instead of the ends of the links.
    upper: Option<Upper>,
    prefix: String,
}

fn mac(node: NodeId, port: PortIndex) -> String {
    format!("02:00:00:{:02x}:{:02x}:00", node.index(), port)
}

fn bytes(mac: &str) -> Vec<u8> {
    mac.split(':').map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect()
}

fn destination(six: bool, route: usize) -> String {
    if six { format!("fd00::1:{:x}", route + 1) } else { format!("10.1.{}.{}", (route + 1) >> 8, (route + 1) & 255) }
}

impl Clos {
    /// Creates namespaces, links, and switches with their exported rules. If `upper` is given, the rules match these
    /// interfaces.
    ///
    /// # Errors
    /// If this machine does not permit one of the steps.
    pub fn new(kind: &str, family: Family, hosts_per_tor: u32, upper: Option<Upper>) -> Result<Clos, String> {
        machine::check()?;
        let link = LinkSpec::new(Rate::from_gbps(1), Time::from_ns(500));
        let fabric = clos(2, 2, 2, 2, hosts_per_tor, TierLinks::uniform(link)).expect("a fabric");
        let rules = clos_rule(&fabric, 1, &["default".to_owned()]).expect("rules");
        let usual = Marks::usual(&rules.lossless_tags).expect("marks");
        let (lossless, lossy) = (usual.lossless().to_vec(), usual.lossy());
        let marks = Marks::new(&rules.lossless_tags, lossless, lossy, vec![KEPT], USUAL_CLASSES).expect("marks");
        let cable = |link: &fabric::Link| Cable { rate: link.rate, delay: link.delay, headroom_bytes: 0 };
        let pattern = if upper.is_some() { "swp{port+1}.5" } else { "swp{port+1}" };
        let names = Interfaces::of_fabric(Dialect::Linux).with_pattern(pattern).expect("a pattern");
        let views = SwitchView::all(&fabric, &rules, &names, cable).map(|view| view.expect("a view"));
        let views = views.map(|view| (fabric.find(view.name()).expect("a switch"), view.trusting_hosts_with(&[1])));
        let views = views.collect();
        let prefix = format!("tg{}{kind}", std::process::id());
        let lab = Clos { fabric, rules, marks, views, family, upper, prefix };
        for name in lab.namespaces() {
            run(&["ip", "netns", "add", &name], "").map_err(|error| format!("no namespaces: {error}"))?;
        }
        lab.cable()?;
        for &node in lab.views.keys() {
            lab.set_up(node)?;
        }
        lab.wait_for_carrier()?;
        Ok(lab)
    }

    /// Waits until the kernel has activated every interface. The kernel does so some time after the links are created,
    /// and drops frames before.
    fn wait_for_carrier(&self) -> Result<(), String> {
        for name in self.namespaces() {
            let is_down = || {
                let links = run(&["ip", "-n", &name, "-o", "link", "show", "type", "veth"], "")?;
                Ok::<bool, String>(links.lines().any(|line| line.contains("state DOWN") || line.contains("NO-CARRIER")))
            };
            let mut attempts = 0;
            while is_down()? {
                attempts += 1;
                if attempts > MOST_ATTEMPTS {
                    return Err(format!("in {name} an interface has no carrier after {MOST_ATTEMPTS} attempts"));
                }
                std::thread::sleep(BETWEEN_ATTEMPTS);
            }
        }
        Ok(())
    }

    fn namespaces(&self) -> Vec<String> {
        let switches = self.fabric.switches().map(|node| format!("{}{}", self.prefix, self.fabric.name(node)));
        std::iter::once(format!("{}hosts", self.prefix)).chain(switches).collect()
    }

    fn namespace(&self, node: NodeId) -> String {
        let is_host = self.fabric.node(node).kind != NodeKind::Switch;
        format!("{}{}", self.prefix, if is_host { "hosts" } else { self.fabric.name(node) })
    }

    fn interface(&self, node: NodeId, port: PortIndex) -> String {
        match self.views.get(&node) {
            Some(view) => view.interface(port).to_owned(),
            None => format!("h{}", node.index()),
        }
    }

    /// Returns the device at the end of a link: the name of the upper interface without its suffix.
    fn device(&self, node: NodeId, port: PortIndex) -> String {
        self.interface(node, port).split('.').next().unwrap_or_default().to_owned()
    }

    fn within(&self, node: NodeId, command: &[&str], input: &str) -> Result<String, String> {
        let name = self.namespace(node);
        let all: Vec<&str> = ["ip", "netns", "exec", &name].iter().chain(command).copied().collect();
        run(&all, input)
    }

    /// Creates veth pairs, and sets the names and addresses of both ends.
    fn cable(&self) -> Result<(), String> {
        let mut text = String::new();
        for link in self.fabric.links() {
            let end = |end: &fabric::End| {
                (self.device(end.node, end.port), self.namespace(end.node), mac(end.node, end.port))
            };
            let ((a, a_in, a_mac), (b, b_in, b_mac)) = (end(&link.a), end(&link.b));
            let _ = writeln!(
                text,
                "link add {a} netns {a_in} address {a_mac} type veth peer name {b} netns {b_in} address {b_mac}"
            );
        }
        run(&["ip", "-batch", "-"], &text)?;
        let mut hosts = String::from("echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6\n");
        for &host in self.fabric.hosts() {
            let _ = writeln!(hosts, "ip link set h{} up", host.index());
        }
        self.within(self.fabric.hosts()[0], &["sh", "-e"], &hosts).map(|_| ())
    }

    fn set_up(&self, node: NodeId) -> Result<(), String> {
        let view = &self.views[&node];
        let mut script = match self.family {
            Family::Bridge => "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6\nip link add br0 type bridge\n\
                 ip link set br0 up\n"
                .to_owned(),
            Family::Inet => {
                "ip link set lo up\ncd /proc/sys/net\necho 1 > ipv4/ip_forward\necho 1 > ipv6/conf/all/forwarding\n\
                 echo 0 > ipv4/conf/all/rp_filter\necho 0 > ipv4/conf/default/rp_filter\n\
                 echo 0 > ipv4/conf/all/send_redirects\necho 0 > ipv4/conf/default/send_redirects\n"
                    .to_owned()
            }
        };
        for port in view.port_numbers() {
            let (name, peer) = (view.interface(port), self.fabric.ports(node)[usize::from(port)]);
            let peer_mac = mac(peer.peer, peer.peer_port);
            if let Some(upper) = self.upper {
                let (device, kind) = (self.device(node, port), upper.kind());
                let _ = write!(script, "ip link set {device} up\nip link add link {device} name {name} type {kind}\n");
            }
            let _ = match self.family {
                Family::Bridge => write!(
                    script,
                    "ip link set {name} master br0\nip link set {name} type bridge_slave flood off mcast_flood off \
                     bcast_flood off learning off\nip link set {name} up\n"
                ),
                Family::Inet => write!(
                    script,
                    "echo 0 > ipv4/conf/{name}/rp_filter\necho 0 > ipv4/conf/{name}/send_redirects\n\
                     ip link set {name} up\n\
                     ip neigh replace 169.254.1.1 lladdr {peer_mac} dev {name} nud permanent\n\
                     ip -6 neigh replace fe80::1 lladdr {peer_mac} dev {name} nud permanent\n\
                     ip rule add iif {name} lookup {table} pref {table}\nip -6 rule add iif {name} lookup {table} \
                     pref {table}\n",
                    table = 100 + port
                ),
            };
        }
        self.within(node, &["sh", "-e"], &script)?;
        let rules = ruleset(view, &self.marks, self.family).expect("rules");
        self.within(node, &["nft", "-f", "-"], &rules)?;
        self.within(node, &["tc", "-batch", "-"], &queues(view, &self.marks).expect("queues")).map(|_| ())
    }

    /// Installs forwarding tables for the routes.
    fn steer(&self, routes: &[Route]) -> Result<(), String> {
        let mut texts: BTreeMap<NodeId, [String; 2]> = BTreeMap::new();
        for (number, route) in routes.iter().enumerate() {
            for (node, ingress, egress) in route.hops(&self.fabric) {
                let (out, table) = (self.interface(node, egress), 100 + ingress);
                let [first, second] = texts.entry(node).or_default();
                let _ = match self.family {
                    Family::Bridge => writeln!(first, "fdb add {} dev {out} master static", path_mac(number)),
                    Family::Inet => {
                        let (four, six) = (destination(false, number), destination(true, number));
                        let _ = writeln!(first, "route add {four}/32 via 169.254.1.1 dev {out} onlink table {table}");
                        writeln!(second, "route add {six}/128 via fe80::1 dev {out} table {table}")
                    }
                };
            }
        }
        for (&node, [first, second]) in &texts {
            match self.family {
                Family::Bridge => self.within(node, &["bridge", "-batch", "-"], first)?,
                Family::Inet => {
                    self.within(node, &["ip", "-batch", "-"], first)?;
                    self.within(node, &["ip", "-6", "-batch", "-"], second)?
                }
            };
        }
        Ok(())
    }

    fn frame(&self, kind: Kind, number: usize, route: &Route, id: u32) -> Vec<u8> {
        let first = self.fabric.ports(route.source)[0];
        let to = if self.family == Family::Bridge { path_mac(number) } else { mac(first.peer, first.peer_port) };
        let mut frame = [bytes(&to), bytes(&mac(route.source, 0))].concat();
        for (kind, number) in kind.tags {
            frame.extend([kind.to_be_bytes(), number.to_be_bytes()].concat());
        }
        const UDP: [u8; 16] = [0x1b, 0x58, 0x12, 0xb7, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let number = number as u16 + 1;
        if kind.six {
            frame.extend([0x86, 0xdd, 0x60 | kind.dscp >> 2, (kind.dscp & 3) << 6, 0, 0, 0, 20, 17, 64]);
            frame.extend([
                0xfd, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            ]);
            frame.extend(number.to_be_bytes());
        } else {
            let mut head = vec![0x45, kind.dscp << 2, 0, 40, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 10, 1];
            head.extend(number.to_be_bytes());
            let sum: u32 = head.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
            let sum = (sum & 0xffff) + (sum >> 16);
            head[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
            frame.extend([8, 0].into_iter().chain(head));
        }
        frame.extend(UDP[..16].iter().copied().chain(id.to_be_bytes()));
        frame
    }

    /// Returns the new tag according to the rule table, independent of the exporter.
    fn new_tag(&self, tag: Tag, (node, ingress, egress): (NodeId, PortIndex, PortIndex)) -> Tag {
        let rules = self.rules.rules_of(node).iter();
        let mut found = rules.filter(|rule| {
            rule.tag == tag
                && rule.in_ports.iter().any(|port| port == ingress)
                && rule.out_ports.iter().any(|port| port == egress)
        });
        found.next().map_or(LOSSY_TAG, |rule| rule.new_tag)
    }

    fn dscp(&self, tag: Tag) -> u8 {
        self.marks.dscp((tag != LOSSY_TAG).then_some(tag))
    }

    /// Sends a packet of each kind along each route. Checks the DSCP, VLAN tags and checksum at each node, and the
    /// counters of the queues.
    pub fn send(&self, routes: &[Route], kinds: &[Kind]) -> Result<Count, String> {
        self.steer(routes)?;
        let mut count = Count::default();
        let (mut expected, mut packets) = (BTreeMap::new(), String::new());
        let mut queued: BTreeMap<(NodeId, PortIndex, u8), u64> = BTreeMap::new();
        for (number, route) in routes.iter().enumerate() {
            for &kind in kinds {
                let id = count.packets as u32;
                count.packets += 1;
                let frame: String =
                    (self.frame(kind, number, route, id).iter()).fold(String::new(), |mut text, byte| {
                        let _ = write!(text, "{byte:02x}");
                        text
                    });
                let _ = writeln!(packets, "{id} h{} {frame}", route.source.index());
                // A bridge cannot read the DSCP behind two VLAN tags; a router removes a VLAN tag with VLAN ID 0
                // (priority tag).
                let unread = self.family == Family::Bridge && kind.tags.len() > 1;
                let mut dscp = kind.dscp;
                let arrives = |node, at_host: bool, tags: &[(u16, u16)]| {
                    // A VLAN interface removes the VLAN tag on arrival and adds it on departure.
                    let gone = match self.upper {
                        Some(_) => !at_host,
                        None => self.family == Family::Inet && node != 0,
                    };
                    let tags = tags.iter().filter(|_| !gone).map(|(kind, id)| format!("{kind:04x}.{id}/"));
                    let tags: String = tags.collect();
                    if tags.is_empty() { "-".to_owned() } else { tags }
                };
                for (hop, at) in route.hops(&self.fabric).into_iter().enumerate() {
                    let location = (id, self.namespace(at.0), self.interface(at.0, at.1));
                    expected.insert(location, format!("{dscp} {} ok", arrives(hop, false, kind.tags)));
                    let tag = self.marks.tag_of(dscp).map(|tag| self.new_tag(tag, at));
                    let after = tag.filter(|_| !unread).map_or(dscp, |tag| self.dscp(tag));
                    count.hops += 1;
                    count.rewrites += usize::from(after != dscp);
                    dscp = after;
                    let queue = match tag.filter(|_| !unread) {
                        Some(LOSSY_TAG) => self.marks.lossy().queue,
                        Some(tag) => self.marks.priority(tag),
                        None if dscp == KEPT.dscp && !unread => KEPT.queue,
                        None => self.marks.lossy().queue,
                    };
                    *queued.entry((at.0, at.2, queue)).or_default() += 1;
                }
                let mut at = route.source;
                let mut by = (at, 0);
                for &out in &route.out_ports {
                    let port = self.fabric.ports(at)[usize::from(out)];
                    (at, by) = (port.peer, (port.peer, port.peer_port));
                }
                let location = (id, self.namespace(by.0), self.interface(by.0, by.1));
                expected.insert(location, format!("{dscp} {} ok", arrives(1, true, kind.tags)));
            }
        }
        let before = self.sent()?;
        let names = self.namespaces();
        let mut command = vec!["python3", "-c", DRIVER];
        command.extend(names.iter().map(String::as_str));
        let output = run(&command, &packets)?;
        let mut arrived = BTreeSet::new();
        for line in output.lines() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            let location = (words[0].parse().expect("a number"), words[1].to_owned(), words[2].to_owned());
            // A frame is captured first at the end of the link, then at the upper interface.
            if self.upper.is_some() && words[2].starts_with("swp") && !words[2].contains('.') {
                continue;
            }
            match expected.get(&location) {
                Some(right) if right == words[3] => _ = arrived.insert(location),
                right => count.wrong.push(format!("{line}, expected {right:?}")),
            }
        }
        let lost = expected.keys().filter(|location| !arrived.contains(*location));
        count.wrong.extend(lost.map(|location| format!("{location:?} did not come")));
        let after = self.sent()?;
        for (location, &now) in &after {
            let (sent, right) = (now - before.get(location).unwrap_or(&0), queued.get(location).copied().unwrap_or(0));
            // The namespaces themselves send some frames (MLD), which use the lossy queue.
            let own = location.2 == self.marks.lossy().queue && sent > right;
            if sent != right && !own {
                count.wrong.push(format!("queue {location:?} sent {sent}, expected {right}"));
            }
        }
        if let Some(location) = queued.keys().find(|location| !after.contains_key(location)) {
            count.wrong.push(format!("no queue {location:?}"));
        }
        Ok(count)
    }

    /// Returns the number of packets sent by each switch, port and queue.
    fn sent(&self) -> Result<BTreeMap<(NodeId, PortIndex, u8), u64>, String> {
        let mut found = BTreeMap::new();
        for (&node, view) in &self.views {
            for port in view.port_numbers() {
                let text = self.within(node, &["tc", "-s", "class", "show", "dev", view.interface(port)], "")?;
                for queue in self.marks.queues() {
                    let class = format!("class htb 1:{:x} ", queue + 1);
                    let after = text.split(&class).nth(1).and_then(|after| after.split("Sent ").nth(1));
                    let sent = after.and_then(|after| after.split_whitespace().nth(2)?.parse().ok());
                    found.insert((node, port, queue), sent.ok_or_else(|| format!("{class}: {text}"))?);
                }
            }
        }
        Ok(found)
    }
}

fn path_mac(route: usize) -> String {
    format!("02:01:00:00:{:02x}:{:02x}", (route + 1) >> 8, (route + 1) & 255)
}

impl Drop for Clos {
    fn drop(&mut self) {
        for name in self.namespaces() {
            let _ = run(&["ip", "netns", "del", &name], "");
        }
    }
}
