//! Collective operations and their algorithms.

/// A collective operation. Sizes and factors are those of nccl-tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every host ends with the sum of all hosts' data.
    AllReduce,
    /// Every host ends with its part of that sum.
    ReduceScatter,
    /// Every host ends with the parts of all hosts.
    AllGather,
    /// Every host ends with the data of the root.
    Broadcast {
        /// The root, by host index; `None` for the first.
        root: Option<u32>,
    },
    /// The root ends with the sum of all hosts' data.
    Reduce {
        /// The root, by host index; `None` for the first.
        root: Option<u32>,
    },
    /// Every host ends with the parts that the others have for it.
    AllToAll,
}

impl Operation {
    /// Returns the name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Operation::AllReduce => "all-reduce",
            Operation::ReduceScatter => "reduce-scatter",
            Operation::AllGather => "all-gather",
            Operation::Broadcast { .. } => "broadcast",
            Operation::Reduce { .. } => "reduce",
            Operation::AllToAll => "all-to-all",
        }
    }

    /// Returns bus bandwidth over algorithm bandwidth among `ranks` hosts: the minimum number of bytes on the busiest
    /// direction of a host's link, divided by the operation's bytes.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let others = f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        match self {
            Operation::AllReduce => 2.0 * others,
            Operation::ReduceScatter | Operation::AllGather | Operation::AllToAll => others,
            Operation::Broadcast { .. } | Operation::Reduce { .. } => 1.0,
        }
    }
}

/// Algorithm of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Each host sends to the next, the last to the first (Patarasuk and Yuan, 2009). With a root: a chain that
    /// begins or ends at the root.
    Ring,
    /// Two binary trees with half of the data each; an inner node of one is a leaf of the other (Sanders, Speck and
    /// Träff, 2009).
    Tree,
    /// Exchanges with a partner half, a quarter, an eighth of all hosts away, and back (Thakur, Rabenseifner and Gropp,
    /// 2005); the number of hosts is a power of two.
    HalvingDoubling,
    /// Rings within groups of hosts that are adjacent in the list, and rings of the hosts with equal index in their
    /// groups.
    Hierarchical {
        /// Hosts per group: more than one, and a divisor of all.
        group: u32,
    },
    /// Each host sends to each other, in rounds: in round r to the host r positions further.
    Direct {
        /// Rounds that a host has in flight, at least 1.
        window: u32,
    },
}

impl Algorithm {
    /// Returns the name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Ring => "ring",
            Algorithm::Tree => "tree",
            Algorithm::HalvingDoubling => "halving-doubling",
            Algorithm::Hierarchical { .. } => "hierarchical",
            Algorithm::Direct { .. } => "direct",
        }
    }
}
