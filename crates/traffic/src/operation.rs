//! Collective operations and their algorithms.

/// Collective operation. Sizes and bandwidth factors are defined as in nccl-tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every host ends with the sum of the data of all hosts.
    AllReduce,
    /// Every host ends with its part of the sum of the data of all hosts.
    ReduceScatter,
    /// Every host ends with the parts of all hosts.
    AllGather,
    /// Every host ends with the data of the root.
    Broadcast {
        /// Host index of the root; `None` for the first host.
        root: Option<u32>,
    },
    /// The root ends with the sum of all hosts' data.
    Reduce {
        /// Host index of the root; `None` for the first host.
        root: Option<u32>,
    },
    /// Every host ends with the parts of the other hosts' data that are addressed to it.
    AllToAll,
}

impl Operation {
    /// Returns the name of the operation in scenarios.
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

    /// Returns the ratio of bus bandwidth to algorithm bandwidth for `ranks` hosts: the minimum number of bytes in
    /// the busier direction of a host's link, divided by the data size of the operation.
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
    /// Each host sends to the next host in a ring (Patarasuk and Yuan, 2009). For operations with a root it is a
    /// chain that starts or ends at the root.
    Ring,
    /// Double binary trees, each with half of the data; an inner node of one tree is a leaf of the other (Sanders,
    /// Speck and Träff, 2009).
    Tree,
    /// Recursive halving and doubling: exchanges with a partner at a distance of half, a quarter, an eighth of all
    /// hosts, and back (Thakur, Rabenseifner and Gropp, 2005); the number of hosts is a power of two.
    HalvingDoubling,
    /// Rings within groups of consecutive hosts of the list, and rings across groups, of the hosts with equal index
    /// in their groups.
    Hierarchical {
        /// Hosts per group: more than one, and a divisor of the number of hosts.
        group: u32,
    },
    /// Each host sends directly to every other host: in round r to the host r positions further in the list.
    Direct {
        /// Maximum number of rounds that a host has in flight, at least 1.
        window: u32,
    },
}

impl Algorithm {
    /// Returns the name of the algorithm in scenarios.
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
