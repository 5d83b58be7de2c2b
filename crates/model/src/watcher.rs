//! Observer of a running simulation.

use crate::trace::selection::CapturedFrame;
use engine::Clock;
use fabric::NodeId;
use stats::control::ControlSample;
use stats::flows::FlowRecord;
use stats::histogram::Histogram;
use stats::trace::TraceRow;
use std::sync::Arc;
use units::Time;

/// One sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Time of the sample.
    pub at: Time,
    /// Switch of the queue.
    pub node: NodeId,
    /// Egress port.
    pub port: u16,
    /// Class.
    pub class: u8,
    /// Whether this is the bounce queue.
    pub bounced: bool,
    /// Queued bytes.
    pub bytes: u64,
    /// Queued frames.
    pub frames: u64,
    /// Whether the class is paused at this port.
    pub paused: bool,
}

/// Observer of a run. The order of all calls depends only on the setup.
pub trait Watcher {
    /// Reports a flow that ended, or is unfinished at the end of the run (then `delivered_ps` is `None`).
    fn flow(&mut self, _flow: &FlowRecord) {}
    /// Reports a sample of a queue that is not empty or is paused.
    fn queue(&mut self, _sample: QueueSample) {}
    /// Reports the bytes that `node` sent by `port` since the last sample, and the utilisation of the link (0 to 1).
    fn link(&mut self, _at: Time, _node: NodeId, _port: u16, _bytes: u64, _share: f64) {}
    /// Reports the payload bytes delivered for the entry `traffic` since the last sample.
    fn throughput(&mut self, _at: Time, _traffic: u8, _bytes: u64) {}
    /// Reports a sample of the congestion control of a flow in progress.
    fn control(&mut self, _sample: &ControlSample) {}
    /// Reports a pause or resume that a node received.
    fn pause(&mut self, _at: Time, _node: NodeId, _port: u16, _classes: u8, _pause: bool) {}
    /// Reports a trace event of a frame or of a port.
    fn trace(&mut self, _row: &TraceRow) {}
    /// Reports a frame at a captured port.
    fn captured(&mut self, _frame: &CapturedFrame) {}
    /// Reports the reordering density: `frames` of `of` data frames arrived `displacement` positions late (negative:
    /// early). Called in ascending order of displacement, at the end of a run that measures reordering.
    fn reordering(&mut self, _displacement: i64, _frames: u64, _of: u64) {}
    /// Reports the end-to-end delays of frames in the measurement window, in picoseconds, at the end of a run.
    fn delays(&mut self, _delays: &Histogram) {}
    /// Reports the start of the run. Any thread may read the progress of the run from `clock`.
    fn started(&mut self, _clock: &Arc<Clock>) {}
    /// Reports progress: the run has reached `now` after `hops` packet-hops. The run ends if the result is false.
    /// Called about a thousand times per run, at instants that depend only on the setup, so that an early stop is
    /// reproducible.
    fn progress(&mut self, _now: Time, _hops: u64) -> bool {
        true
    }
    /// Returns whether the run should end, for example after an output error. Called after each observation time of the
    /// run.
    fn should_abort(&self) -> bool {
        false
    }
}

/// An observer that ignores all reports.
pub struct NullWatcher;
impl Watcher for NullWatcher {}
