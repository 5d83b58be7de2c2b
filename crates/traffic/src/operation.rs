//! What hosts do together, and how.

/// What hosts do together. Sizes and factors are those that nccl-tests prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Everybody ends with the sum of what all hold.
    AllReduce,
    /// Everybody ends with its part of that sum.
    ReduceScatter,
    /// Everybody ends with the parts of all.
    AllGather,
    /// Everybody ends with what a host, by its index, holds.
    Broadcast {
        /// That host; `None` for the first.
        root: Option<u32>,
    },
    /// A host, by its index, ends with the sum of what all hold.
    Reduce {
        /// That host; `None` for the first.
        root: Option<u32>,
    },
    /// Everybody ends with the part that each other has for it.
    AllToAll,
}

impl Operation {
    /// Its name in scenarios.
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

    /// Bus bandwidth over algorithm bandwidth among `ranks` hosts: what the busiest direction of a host's link must
    /// carry at least, over the bytes that the operation is about.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let others = f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        match self {
            Operation::AllReduce => 2.0 * others,
            Operation::ReduceScatter | Operation::AllGather | Operation::AllToAll => others,
            Operation::Broadcast { .. } | Operation::Reduce { .. } => 1.0,
        }
    }
}

/// How they do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Each sends to the next, the last to the first (Patarasuk and Yuan, 2009). One root: a chain that begins or ends
    /// there.
    Ring,
    /// Two binary trees with half of the data each; whoever is inside the one is a leaf of the other (Sanders, Speck
    /// and Träff, 2009).
    Tree,
    /// Exchange with a partner half, a quarter, an eighth of all hosts away, and back (Thakur, Rabenseifner and Gropp,
    /// 2005); the hosts are a power of two.
    HalvingDoubling,
    /// Rings within groups of neighbours in the list, and rings of those that have the same place in their groups.
    Hierarchical {
        /// Hosts of each group: more than one, and a divisor of all.
        group: u32,
    },
    /// Each sends to each other, in rounds of shifts: in round r to the host r places further.
    Direct {
        /// How many rounds a host has under way at a time, at least 1.
        window: u32,
    },
}

impl Algorithm {
    /// Its name in scenarios.
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
