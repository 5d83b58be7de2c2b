//! Hops and bounces of received frames, if switches bounce frames.

/// Number of counters per field: the fields of frames saturate at 255.
const VALUES: usize = 256;

/// Hops and bounces of received frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Travel {
    /// Data frames by number of switches crossed, in either direction.
    pub hops: Vec<u64>,
    /// Data frames by their greatest distance, in hops, from the furthest switch reached.
    pub max_distance: Vec<u64>,
    /// Data frames by number of bounces and detours.
    pub turns: Vec<u64>,
    /// Acknowledgements and notifications by number of bounces and detours.
    pub reply_turns: Vec<u64>,
}

impl Default for Travel {
    fn default() -> Self {
        let none = || vec![0; VALUES];
        Travel { hops: none(), max_distance: none(), turns: none(), reply_turns: none() }
    }
}

impl Travel {
    /// Adds the counts of another host.
    pub fn merge(&mut self, other: &Travel) {
        let add = |mine: &mut Vec<u64>, other: &[u64]| mine.iter_mut().zip(other).for_each(|(mine, n)| *mine += n);
        add(&mut self.hops, &other.hops);
        add(&mut self.max_distance, &other.max_distance);
        add(&mut self.turns, &other.turns);
        add(&mut self.reply_turns, &other.reply_turns);
    }
}

units::pack_fields!(Travel { hops, max_distance, turns, reply_turns });
