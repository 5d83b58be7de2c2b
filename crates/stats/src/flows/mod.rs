//! Flows: one record each, gathered into completion times and slowdowns.

mod slowdown;
mod statistics;
mod unfinished;

pub use slowdown::{SizeBin, SlowdownSamples, SlowdownTable};
pub use statistics::{
    FctOfSize, FlowStatistics, FlowSummary, LabelledSummary, SIZE_BOUNDS_BYTES, SlowdownOfLabel, SlowdownSummary,
    TrafficSummary,
};
pub use unfinished::{ENDLESS_BYTES, Unfinished, UnfinishedOfSize};

pub(crate) use slowdown::decade_bounds;

/// What is known of one flow (a message, a request, a file) at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// The flow's number: that of the plan, in the order of the scenario; flows drawn during the run follow, by host in
    /// turn. It does not depend on when the flow ends.
    pub flow: u64,
    /// Which of the scenario's traffic entries it belongs to, counted from 0.
    pub traffic: u32,
    /// Sending host.
    pub src_host: u32,
    /// Receiving host.
    pub dst_host: u32,
    /// The flow's port at the sender, as in its UDP or TCP header.
    pub src_port: u16,
    /// The flow's port at the receiver.
    pub dst_port: u16,
    /// Its priority, 0..=7.
    pub class: u8,
    /// Payload to be carried.
    pub size_bytes: u64,
    /// When the sender was given it.
    pub start_ps: u64,
    /// When the last byte had reached the receiver, whether or not the sender knew by the end; `None` if it had not.
    pub delivered_ps: Option<u64>,
    /// When the sender knew; `None` if it did not by the end or never does (no acknowledgements).
    pub acked_ps: Option<u64>,
    /// Whether it was delivered and its sender, which acknowledgements tell, did not know by the end. `flows.parquet`
    /// does not hold it.
    pub awaits_ack: bool,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// The completion time, start to last byte delivered, that the flow would have alone in the network:
    /// the denominator of the slowdown. 0 if unknown.
    pub alone_ps: u64,
    /// What `fct.txt` calls the standalone time: base RTT + (size + packets * header) * 8 / bottleneck
    /// rate, in ns.
    pub fct_txt_standalone_ns: u64,
}

impl FlowRecord {
    /// Completion time, from the start until the last byte is delivered.
    pub fn fct_ps(&self) -> Option<u64> {
        self.delivered_ps.map(|delivered| delivered.saturating_sub(self.start_ps))
    }

    /// max(1, completion time / time alone); `None` while incomplete or if the time alone is unknown.
    pub fn slowdown(&self) -> Option<f64> {
        let fct = self.fct_ps()?;
        (self.alone_ps > 0).then(|| (fct as f64 / self.alone_ps as f64).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowdown_is_never_below_one_and_needs_a_baseline() {
        let mut flow = FlowRecord { start_ps: 100, delivered_ps: Some(400), alone_ps: 200, ..FlowRecord::default() };
        assert_eq!((flow.fct_ps(), flow.slowdown()), (Some(300), Some(1.5)));
        flow.alone_ps = 301;
        assert_eq!(flow.slowdown(), Some(1.0));
        flow.alone_ps = 0;
        assert_eq!(flow.slowdown(), None);
        flow.delivered_ps = None;
        assert_eq!((flow.fct_ps(), flow.slowdown()), (None, None));
    }
}
