//! Validation of a fabric before it is used.

use crate::{Fabric, Link, LinkSpec, NameFault, NodeId, NodeKind};
use std::sync::Arc;
use units::{Rate, Time};

/// Structural error in the nodes and links of a fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// Two nodes share a name.
    #[error("two nodes are called `{name}`: names must be unique")]
    DuplicateName {
        /// Repeated name.
        name: String,
    },
    /// A name that cannot be displayed and written unchanged.
    #[error("{of}: {fault}")]
    Name {
        /// Node or port that has the name; the name is escaped.
        of: String,
        /// Rule that the name violates.
        fault: NameFault,
    },
    /// A link names a node that was never added.
    #[error("link {link} names node {node}, which does not exist")]
    UnknownNode {
        /// The node number.
        node: u32,
        /// The link number.
        link: u32,
    },
    /// Two links are connected to the same port.
    #[error("port `{port}` of `{node}` has two links: a port takes one cable")]
    PortTwice {
        /// The node.
        node: String,
        /// The port's name.
        port: String,
    },
    /// A node has more ports than a port number can represent.
    #[error("node `{node}` has more than 65,535 links")]
    TooManyPorts {
        /// The node.
        node: String,
    },
    /// The fabric has more nodes or links than the limit.
    #[error("the fabric has more than {limit} {what}")]
    TooLarge {
        /// "nodes" or "links".
        what: &'static str,
        /// Limit.
        limit: u64,
    },
    /// No host at all.
    #[error("the fabric has no host: nothing could send or receive")]
    NoHosts,
    /// A host without links.
    #[error("host `{host}` has no link: connect it to a switch")]
    HostWithoutLink {
        /// The host.
        host: String,
    },
    /// A link from a node to itself.
    #[error("link {link} connects `{node}` with itself")]
    SelfLoop {
        /// The link number.
        link: u32,
        /// The node.
        node: String,
    },
    /// A link without propagation delay.
    #[error(
        "link {link} between `{a}` and `{b}` has no delay: every link needs one above zero, 1ns is a cable of 20 cm"
    )]
    ZeroDelay {
        /// The link number.
        link: u32,
        /// Node at one end of the link.
        a: String,
        /// Node at the other end of the link.
        b: String,
    },
    /// A probability outside 0..=1.
    #[error("link {link} between `{a}` and `{b}`: {what} {value} is not a probability between 0 and 1")]
    NotAProbability {
        /// The link number.
        link: u32,
        /// Node at one end of the link.
        a: String,
        /// Node at the other end of the link.
        b: String,
        /// "loss" or "bit error rate".
        what: &'static str,
        /// Value.
        value: f64,
    },
    /// Two nodes without a path between them.
    #[error("the fabric is not connected: no path leads from `{from}` to `{to}`")]
    Disconnected {
        /// The first node.
        from: String,
        /// First node (in node order) that is unreachable from `from`.
        to: String,
    },
    /// A generator's argument outside its range.
    #[error("{generator}: {parameter} = {value} does not work: {expected}")]
    Parameter {
        /// The kind of fabric.
        generator: &'static str,
        /// The name of the argument.
        parameter: &'static str,
        /// Value.
        value: u64,
        /// Valid values.
        expected: String,
    },
}

impl Fabric {
    /// Checks that this is a network: there is a host, every host has a link, no link connects a node to itself
    /// (parallel links are valid), every delay is above zero, loss and bit error rate are probabilities, and the graph
    /// is connected.
    ///
    /// # Errors
    /// The first violation in that order, with the names of the elements.
    pub fn check(&self) -> Result<(), FabricError> {
        if self.hosts.is_empty() {
            return Err(FabricError::NoHosts);
        }
        if let Some(&host) = self.hosts.iter().find(|&&host| self.ports(host).is_empty()) {
            return Err(FabricError::HostWithoutLink { host: self.name(host).to_owned() });
        }
        for (index, link) in self.links.iter().enumerate() {
            self.check_link(index as u32, link)?;
        }
        self.check_connected()
    }

    fn check_link(&self, link: u32, spec: &Link) -> Result<(), FabricError> {
        let (a, b) = (self.name(spec.a.node), self.name(spec.b.node));
        if spec.a.node == spec.b.node {
            return Err(FabricError::SelfLoop { link, node: a.to_owned() });
        }
        if spec.delay == Time::ZERO {
            return Err(FabricError::ZeroDelay { link, a: a.to_owned(), b: b.to_owned() });
        }
        for (what, value) in [("loss", spec.loss), ("bit error rate", spec.bit_error_rate)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(FabricError::NotAProbability { link, a: a.to_owned(), b: b.to_owned(), what, value });
            }
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), FabricError> {
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![NodeId(0)];
        reached[0] = true;
        while let Some(node) = open.pop() {
            for port in self.ports(node) {
                if !std::mem::replace(&mut reached[port.peer.index()], true) {
                    open.push(port.peer);
                }
            }
        }
        match reached.iter().position(|&reached| !reached) {
            None => Ok(()),
            Some(lost) => {
                Err(FabricError::Disconnected { from: self.nodes[0].name.clone(), to: self.nodes[lost].name.clone() })
            }
        }
    }

    /// Returns the fabric with every host forwarding frames: meshes and rings of accelerators have no switches.
    #[must_use]
    pub fn with_relaying_hosts(mut self) -> Fabric {
        self.nodes.iter_mut().for_each(|node| node.relay = node.kind == NodeKind::Host);
        self
    }

    /// Returns the fabric with this frame loss probability set on links whose own loss is zero.
    #[must_use]
    pub fn with_default_loss(mut self, loss: f64) -> Fabric {
        let mut previous = Arc::new(LinkSpec::new(Rate::MIN, Time::ZERO));
        for link in self.links.iter_mut().filter(|link| link.loss == 0.0) {
            let spec = LinkSpec { loss, ..link.spec() };
            // Adjacent links usually have equal properties and then share one `LinkSpec`.
            if *previous != spec {
                previous = Arc::new(spec);
            }
            link.spec = Arc::clone(&previous);
        }
        self
    }

    /// Returns `true` if some host forwards frames of other hosts.
    pub fn has_relays(&self) -> bool {
        self.nodes.iter().any(|node| node.relay && node.kind == NodeKind::Host)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FabricBuilder, FabricError, LinkSpec, NodeId};
    use units::{Rate, Time};

    const SPEC: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));

    fn pair() -> (FabricBuilder, NodeId, NodeId) {
        let mut builder = FabricBuilder::new("test");
        let (host, switch) = (builder.add_host("h"), builder.add_switch("s", 1));
        (builder, host, switch)
    }

    #[test]
    fn ports_number_in_order_of_connection() {
        let (mut builder, host, switch) = pair();
        let other = builder.add_host("g");
        let first = builder.connect(switch, other, SPEC);
        let second = builder.connect(host, switch, SPEC);
        builder.connect(host, switch, SPEC);
        let fabric = builder.build().unwrap();
        assert_eq!(fabric.check(), Ok(()));
        assert_eq!(fabric.ports(switch).iter().map(|p| p.peer).collect::<Vec<_>>(), [other, host, host]);
        assert_eq!(fabric.ports(switch)[1].link, second);
        assert_eq!(fabric.ports(host)[1].peer_port, 2);
        assert_eq!(fabric.link_between(other, switch), Some(first));
        assert_eq!(fabric.port_towards(switch, host), Some(1));
        assert_eq!((fabric.find("g"), fabric.find("x")), (Some(other), None));
        assert_eq!(fabric.hosts(), [host, other]);
        assert_eq!((fabric.host_index(other), fabric.host_index(switch)), (Some(1), None));
        assert_eq!(fabric.host_node(1), other);
    }

    #[test]
    fn each_violation_names_its_element() {
        let check = |builder: FabricBuilder| builder.build().and_then(|f| f.check()).unwrap_err();
        let (mut b, host, switch) = pair();
        b.connect(host, switch, SPEC);
        b.connect(switch, switch, SPEC);
        assert_eq!(check(b), FabricError::SelfLoop { link: 1, node: "s".into() });

        let (mut b, host, switch) = pair();
        b.connect(host, switch, LinkSpec { delay: Time::ZERO, ..SPEC });
        assert!(check(b).to_string().contains("between `h` and `s` has no delay"));

        for loss in [-0.1, 1.5, f64::NAN] {
            let (mut b, host, switch) = pair();
            b.connect(host, switch, LinkSpec { loss, ..SPEC });
            assert!(check(b).to_string().contains("not a probability"));
        }
        let (b, ..) = pair();
        assert_eq!(check(b), FabricError::HostWithoutLink { host: "h".into() });

        let (mut b, host, switch) = pair();
        b.connect(host, switch, SPEC);
        b.add_switch("far", 1);
        assert_eq!(check(b), FabricError::Disconnected { from: "h".into(), to: "far".into() });

        let (mut b, ..) = pair();
        b.add_host("h");
        assert_eq!(check(b), FabricError::DuplicateName { name: "h".into() });

        let (mut b, host, _) = pair();
        b.connect(host, NodeId(9), SPEC);
        assert_eq!(check(b), FabricError::UnknownNode { node: 9, link: 0 });

        let mut b = FabricBuilder::new("test");
        b.add_switch("s", 1);
        assert_eq!(check(b), FabricError::NoHosts);
    }

    #[test]
    fn a_node_with_more_than_65535_links_is_refused() {
        let (mut b, host, switch) = pair();
        for _ in 0..65_537 {
            b.connect(host, switch, SPEC);
        }
        assert_eq!(b.build().unwrap_err(), FabricError::TooManyPorts { node: "h".into() });
    }
}
