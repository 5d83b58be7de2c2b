//! Hops and bounces of received frames, if switches bounce frames.

/// Number of counters per field: the fields of frames saturate at 255.
const VALUES: usize = 256;

/// Hops and bounces of received frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopCounts {
    /// Data frames by number of switches crossed, in either direction.
    pub hops: Vec<u64>,
    /// Data frames by their maximum bounce distance: hops back from the furthest switch that the frame had reached.
    pub max_distance: Vec<u64>,
    /// Data frames by number of bounces and detours.
    pub bounces: Vec<u64>,
    /// Acknowledgements and notifications by number of bounces and detours.
    pub reply_bounces: Vec<u64>,
}

impl Default for HopCounts {
    fn default() -> Self {
        let none = || vec![0; VALUES];
        HopCounts { hops: none(), max_distance: none(), bounces: none(), reply_bounces: none() }
    }
}

impl HopCounts {
    /// Adds the counts of another host.
    pub fn merge(&mut self, other: &HopCounts) {
        let add = |mine: &mut Vec<u64>, other: &[u64]| mine.iter_mut().zip(other).for_each(|(mine, n)| *mine += n);
        add(&mut self.hops, &other.hops);
        add(&mut self.max_distance, &other.max_distance);
        add(&mut self.bounces, &other.bounces);
        add(&mut self.reply_bounces, &other.reply_bounces);
    }
}

units::pack_fields!(HopCounts { hops, max_distance, bounces, reply_bounces });
