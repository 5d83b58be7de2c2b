//! Compiled forwarding tables, which every frame looks up.

use super::distances::Distances;
use super::error::RoutingError;
use super::hash::{node_salt, seed_salt};
use super::net::{Attachment, FailedLinks, NONE, RouterGraph, Rows};
use super::table::{Table, TableBuilder};
use super::up_down::{Descending, Order};
use super::{shortest, two_level, up_down};
use crate::{Fabric, LinkId, NodeId, PortIndex};

/// Method of route computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// All shortest paths; a switch selects among ports of equal distance (ECMP).
    ShortestPath,
    /// Two-level fat-tree tables: by destination prefix downwards and by host suffix upwards. One path per pair of
    /// hosts.
    TwoLevel,
    /// Valley-free (up*/down*): after its first downward hop, a frame never goes up.
    UpDown {
        /// Root of a breadth-first tree that defines "up". If `None`, the tiers of the fabric define it, or a
        /// breadth-first tree from the first switch if all switches have the same tier.
        root: Option<NodeId>,
    },
}

/// Next hops for every node and destination of one fabric. The [module](super) documents the layout.
#[derive(Clone, Debug)]
pub struct Forwarding {
    mode: Mode,
    pub(crate) rows: Rows,
    table: Table,
    descending: Option<Descending>,
    distances: Distances,
    port_base: Vec<u32>,
    /// See [`seed_hashes`](Self::seed_hashes).
    seed_salt: u32,
}

impl Forwarding {
    /// Sets the seed of the ECMP choices of all nodes. Tables without a seed use 0.
    pub fn seed_hashes(&mut self, seed: u64) {
        self.seed_salt = seed_salt(seed);
    }

    /// Returns the ECMP hash salt of `node`, which [`select`](super::select) combines with a frame's entropy.
    #[inline]
    pub fn salt(&self, node: NodeId) -> u32 {
        node_salt(node) ^ self.seed_salt
    }

    /// Compiles the routes of a fabric without failures.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`] with the first pair of hosts without a route,
    /// [`RoutingError::NotTwoLevel`] or [`RoutingError::BadRoot`] if the mode does not fit the fabric,
    /// [`RoutingError::TooLarge`] if the tables would have more than half a billion entries.
    pub fn build(fabric: &Fabric, mode: Mode) -> Result<Forwarding, RoutingError> {
        let forwarding = Self::without(fabric, mode, &[], None)?;
        forwarding.verify(fabric)?;
        Ok(forwarding)
    }

    /// Computes routes of the same mode without some links: the state after a routing protocol has converged.
    /// Unreachable destinations get empty ECMP groups; [`verify`](Self::verify) reports them.
    ///
    /// # Errors
    /// Like [`build`](Self::build), except for unreachable hosts.
    pub fn recompute_without(&self, fabric: &Fabric, links: &[LinkId]) -> Result<Forwarding, RoutingError> {
        Ok(Forwarding { seed_salt: self.seed_salt, ..Self::without(fabric, self.mode, links, None)? })
    }

    /// Like [`recompute_without`](Self::recompute_without), but guarantees only routes to `hosts`; routes to other
    /// hosts may be missing. With [`Mode::ShortestPath`] the cost is proportional to the number of `hosts`.
    ///
    /// # Errors
    /// Like [`recompute_without`](Self::recompute_without).
    pub fn recompute_towards(
        &self,
        fabric: &Fabric,
        links: &[LinkId],
        hosts: &[u32],
    ) -> Result<Forwarding, RoutingError> {
        Ok(Forwarding { seed_salt: self.seed_salt, ..Self::without(fabric, self.mode, links, Some(hosts))? })
    }

    fn without(
        fabric: &Fabric,
        mode: Mode,
        links: &[LinkId],
        hosts: Option<&[u32]>,
    ) -> Result<Forwarding, RoutingError> {
        let dead = FailedLinks::new(fabric, links);
        let net = RouterGraph::new(fabric, &dead);
        let shared = Rows::aggregated(fabric, &dead);
        let (rows, table, descending) = match mode {
            Mode::ShortestPath => {
                let mut wanted = vec![hosts.is_none(); shared.len()];
                hosts.into_iter().flatten().for_each(|&host| wanted[shared.attach[host as usize].row as usize] = true);
                let table = shortest::build(&net, &shared, |row| wanted[row])?;
                (shared.clone(), table, None)
            }
            Mode::TwoLevel => {
                let (table, rows) = two_level::build(fabric, &net, &shared)?;
                (rows, table, None)
            }
            Mode::UpDown { root } => {
                let order = Order::new(fabric, &net, root)?;
                let (table, descending) = up_down::build(fabric, &net, &shared, &order)?;
                (shared.clone(), table, Some(descending))
            }
        };
        let distances = Distances::new(shared, dead);
        let port_base = fabric.port_base.clone();
        Ok(Forwarding { mode, rows, table, descending, distances, port_base, seed_salt: 0 })
    }

    /// Returns the mode with which these routes were computed.
    pub fn mode(&self) -> Mode {
        self.mode
    }
    /// Returns the row of a destination host.
    #[inline]
    pub fn row(&self, host: u32) -> u32 {
        self.rows.attach[host as usize].row
    }
    /// Returns the row of a destination host, and the port by which the row's switch delivers to it.
    #[inline]
    pub fn attachment(&self, host: u32) -> Attachment {
        self.rows.attach[host as usize]
    }
    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }
    /// Returns the switch that delivers a row through the host's own port; `None` if the table also has the port of the
    /// last hop.
    #[inline]
    pub fn row_switch(&self, row: u32) -> Option<NodeId> {
        let switch = self.rows.row_switch[row as usize];
        (switch != NONE).then_some(NodeId(switch))
    }
    /// Returns the port by which the row's switch delivers to a host.
    #[inline]
    pub fn local_port(&self, host: u32) -> PortIndex {
        self.rows.attach[host as usize].port
    }
    /// Returns the ports towards a row at a node other than the row's switch, ascending; empty if there is no route.
    /// For a host with a single link the result is always port 0.
    #[inline]
    pub fn ports(&self, node: NodeId, row: u32) -> &[PortIndex] {
        self.table.ports(node, row)
    }
    /// Returns the ports by which a frame for `host` may leave `node`, independent of the ingress port: the port of
    /// local delivery or [`ports`](Self::ports). In up-down mode the result is valid only for frames that did not
    /// arrive from a higher node.
    #[inline]
    pub fn lookup(&self, node: NodeId, host: u32) -> &[PortIndex] {
        let row = self.rows.attach[host as usize].row;
        if self.rows.row_switch[row as usize] == node.0 {
            std::slice::from_ref(&self.rows.attach[host as usize].port)
        } else {
            self.table.ports(node, row)
        }
    }
    /// Like [`lookup`](Self::lookup), for a frame that arrived at port `ingress`: in up-down mode a frame from a higher
    /// node gets only downward ports. A port number that the node does not have means that the frame originates at this
    /// node, such as a header that a switch returns to its source.
    #[inline]
    pub fn lookup_from(&self, node: NodeId, host: u32, ingress: PortIndex) -> &[PortIndex] {
        if let Some(descending) = &self.descending
            && usize::from(ingress) < (self.port_base[node.index() + 1] - self.port_base[node.index()]) as usize
            && descending.upward[self.port_base[node.index()] as usize + usize::from(ingress)]
        {
            let row = self.rows.attach[host as usize].row;
            if self.rows.row_switch[row as usize] != node.0 {
                return descending.table.ports(node, row);
            }
        }
        self.lookup(node, host)
    }
    /// Returns the number of links from a node to the edge of a destination when these routes were computed. The edge
    /// is the host's switch, or the host itself if it has several links. Returns [`super::UNREACHABLE`] if there is no
    /// path, and `None` if `node` is a host with a single link. The first call for a destination searches `fabric`,
    /// which must be the fabric of these routes.
    pub fn distance(&self, fabric: &Fabric, node: NodeId, host: u32) -> Option<u16> {
        self.distances.get(fabric, node, host)
    }
    pub(crate) fn distances(&self) -> &Distances {
        &self.distances
    }
    /// Returns the memory size of the tables in bytes.
    pub fn memory_bytes(&self) -> usize {
        let descending = self.descending.as_ref().map_or(0, |d| d.table.memory_bytes() + d.upward.len());
        self.table.memory_bytes()
            + descending
            + self.distances.memory_bytes()
            + size_of_val(&*self.rows.attach)
            + self.rows.target.len() * 8
            + self.port_base.len() * 4
    }

    /// Checks that every host has a route to every other host. Routes computed by a [`Mode`] are loop-free; routes
    /// changed by [`set_ports`](Self::set_ports) may loop, which [`path`](Self::path) detects.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`] with the first pair that has no route.
    pub fn verify(&self, fabric: &Fabric) -> Result<(), RoutingError> {
        let mut sources: Vec<(u32, NodeId)> = Vec::new();
        for (host, &node) in fabric.hosts().iter().enumerate() {
            let start = match fabric.ports(node) {
                [only] if fabric.node(only.peer).forwards() && !fabric.node(node).relay => only.peer,
                _ => node,
            };
            // Routes from all single-homed hosts of a switch start at that switch, so one check covers them.
            if sources.last().is_none_or(|&(_, last)| last != start) {
                sources.push((host as u32, start));
            }
        }
        let reached = self.rows_reached(fabric);
        for (destination, &Attachment { row, .. }) in self.rows.attach.iter().enumerate() {
            let fail = |from: u32| RoutingError::Unreachable {
                from: fabric.name(fabric.host_node(from)).to_owned(),
                to: fabric.name(fabric.host_node(destination as u32)).to_owned(),
            };
            // The hosts of a row have the same routes except for the last port.
            let first_of_row = destination == 0 || self.rows.attach[destination - 1].row != row;
            if !first_of_row {
                continue;
            }
            for &(from, start) in &sources {
                let arrives = from == destination as u32
                    || match self.mode {
                        Mode::TwoLevel => reached(start, destination as u32),
                        _ => !self.lookup(start, destination as u32).is_empty(),
                    };
                if !arrives {
                    return Err(fail(from));
                }
            }
        }
        Ok(())
    }

    /// Follows the single path of two-level tables. After a failure it may lead upwards to a switch without a path
    /// down.
    fn rows_reached<'a>(&'a self, fabric: &'a Fabric) -> impl Fn(NodeId, u32) -> bool + 'a {
        move |start, host| {
            let mut at = start;
            // Maximum number of hops: twice the number of possible tiers (256).
            for _ in 0..512 {
                if at == fabric.host_node(host) {
                    return true;
                }
                let Some(&port) = self.lookup(at, host).first() else { return false };
                at = fabric.ports(at)[usize::from(port)].peer;
            }
            false
        }
    }

    /// Replaces the next hops of one destination at one node, for routes that no mode computes (for example, to
    /// simulate a misconfigured switch that causes a routing loop). Routes to other hosts are unchanged: if the host
    /// shares a row, it gets its own row. The new ports also apply to frames from higher nodes. A host with a single
    /// link continues to use that link. The function copies the tables, so it is intended for set-up and not for the
    /// hot path.
    ///
    /// # Errors
    /// [`RoutingError::NoSuchPort`]; [`RoutingError::TooLarge`] if the table cannot hold another row.
    pub fn set_ports(
        &mut self,
        fabric: &Fabric,
        node: NodeId,
        host: u32,
        ports: &[PortIndex],
    ) -> Result<(), RoutingError> {
        let count = fabric.ports(node).len();
        if let Some(&port) = ports.iter().find(|&&port| usize::from(port) >= count) {
            return Err(RoutingError::NoSuchPort { node: fabric.name(node).to_owned(), port, ports: count });
        }
        let mut ports = ports.to_vec();
        ports.sort_unstable();
        ports.dedup();
        let row = self.rows.attach[host as usize].row;
        // Hosts share a row only if a switch delivers it (`row_switch`).
        let own = self.rows.row_switch[row as usize] == NONE;
        let new_row = if own { row } else { self.rows.len() as u32 };
        let net = RouterGraph::new(fabric, &FailedLinks::new(fabric, &[]));
        let with_row = |old: &Table| -> Result<Table, RoutingError> {
            let mut table = TableBuilder::new(net.len(), self.rows.len() + usize::from(!own))?;
            for other in (0..self.rows.len() as u32).filter(|&other| other != new_row) {
                (0..).zip(&net.routers).for_each(|(slot, &at)| table.set(slot, old.ports(at, other)));
                table.end_row(other as usize)?;
            }
            for (slot, &at) in (0..).zip(&net.routers) {
                let entry = if at == node {
                    &ports
                } else if self.rows.row_switch[row as usize] == at.0 {
                    self.lookup(at, host)
                } else {
                    old.ports(at, row)
                };
                table.set(slot, entry);
            }
            table.end_row(new_row as usize)?;
            Ok(table.finish(&net))
        };
        let table = with_row(&self.table)?;
        if let Some(descending) = &self.descending {
            let below = with_row(&descending.table)?;
            self.descending = Some(Descending { table: below, upward: descending.upward.clone() });
        }
        self.table = table;
        if !own {
            self.rows.attach[host as usize].row = new_row;
            self.rows.row_switch.push(NONE);
            self.rows.target.push(fabric.host_node(host));
        }
        Ok(())
    }
}
