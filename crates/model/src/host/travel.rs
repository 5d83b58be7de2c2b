//! How frames that arrive had travelled, where switches turn frames around.

/// What frames carry up to, each count apart: their counters stay at 255.
const VALUES: usize = 256;

/// How frames that arrived had travelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Travel {
    /// Data frames by the switches that they crossed, in either direction.
    pub hops: Vec<u64>,
    /// Data frames by their greatest distance from the furthest switch that they had reached.
    pub max_distance: Vec<u64>,
    /// Data frames by how often they were turned around or sent another way.
    pub turns: Vec<u64>,
    /// Acknowledgements and notifications, by the same.
    pub reply_turns: Vec<u64>,
}

impl Default for Travel {
    fn default() -> Self {
        let none = || vec![0; VALUES];
        Travel { hops: none(), max_distance: none(), turns: none(), reply_turns: none() }
    }
}

impl Travel {
    /// Adds another host's counts.
    pub fn merge(&mut self, other: &Travel) {
        let add = |mine: &mut Vec<u64>, other: &[u64]| mine.iter_mut().zip(other).for_each(|(mine, n)| *mine += n);
        add(&mut self.hops, &other.hops);
        add(&mut self.max_distance, &other.max_distance);
        add(&mut self.turns, &other.turns);
        add(&mut self.reply_turns, &other.reply_turns);
    }
}

units::pack_fields!(Travel { hops, max_distance, turns, reply_turns });
