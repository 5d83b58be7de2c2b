//! Flow records, and their completion times and slowdowns.

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

/// State of one flow (a message, a request, a file) at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// The flow's number, independent of the order of completion: first the planned flows in the order of the scenario,
    /// then the flows drawn during the run, round robin over the hosts.
    pub flow: u64,
    /// Index of the flow's traffic entry in the scenario, from 0.
    pub traffic: u32,
    /// Sending host.
    pub src_host: u32,
    /// Receiving host.
    pub dst_host: u32,
    /// The flow's port at the sender, as in its UDP or TCP header.
    pub src_port: u16,
    /// The flow's port at the receiver.
    pub dst_port: u16,
    /// Priority of the flow, 0..=7.
    pub class: u8,
    /// Payload to be carried, in bytes.
    pub size_bytes: u64,
    /// Start of the flow: time at which its payload became available at the sender, in ps.
    pub start_ps: u64,
    /// Time at which the last byte arrived at the receiver, in ps, acknowledged or not; `None` if it had not arrived
    /// by the end of the run.
    pub delivered_ps: Option<u64>,
    /// Time at which the sender received the last acknowledgement, in ps; `None` if it had not by the end of the run,
    /// or if the transport sends no acknowledgements.
    pub acked_ps: Option<u64>,
    /// Whether the flow was delivered, but its last acknowledgement had not reached the sender by the end of the run.
    /// Not in `flows.parquet`.
    pub awaits_ack: bool,
    /// Bytes of payload retransmitted.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Baseline FCT: the FCT of the flow alone in an idle network, in ps. It is the denominator of the slowdown. 0 if
    /// not computed.
    pub baseline_fct_ps: u64,
    /// Standalone FCT for `fct.txt`: base RTT + (size + packets * header) * 8 / bottleneck rate, in ns.
    pub fct_txt_standalone_ns: u64,
}

impl FlowRecord {
    /// Returns the FCT, from the start to the delivery of the last byte, in ps; `None` if the flow has not completed.
    pub fn fct_ps(&self) -> Option<u64> {
        self.delivered_ps.map(|delivered| delivered.saturating_sub(self.start_ps))
    }

    /// Returns the slowdown: max(1, FCT / baseline FCT). `None` if the flow has not completed or has no baseline.
    pub fn slowdown(&self) -> Option<f64> {
        let fct = self.fct_ps()?;
        (self.baseline_fct_ps > 0).then(|| (fct as f64 / self.baseline_fct_ps as f64).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowdown_is_never_below_one_and_needs_a_baseline() {
        let mut flow =
            FlowRecord { start_ps: 100, delivered_ps: Some(400), baseline_fct_ps: 200, ..FlowRecord::default() };
        assert_eq!((flow.fct_ps(), flow.slowdown()), (Some(300), Some(1.5)));
        flow.baseline_fct_ps = 301;
        assert_eq!(flow.slowdown(), Some(1.0));
        flow.baseline_fct_ps = 0;
        assert_eq!(flow.slowdown(), None);
        flow.delivered_ps = None;
        assert_eq!((flow.fct_ps(), flow.slowdown()), (None, None));
    }
}
