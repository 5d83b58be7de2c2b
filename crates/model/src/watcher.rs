//! Who looks on while a network runs.

use crate::trace::selection::CapturedFrame;
use engine::Clock;
use fabric::NodeId;
use stats::control::ControlSample;
use stats::flows::FlowRecord;
use stats::histogram::Histogram;
use stats::trace::TraceRow;
use std::sync::Arc;
use units::Time;

/// One look at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// When.
    pub at: Time,
    /// The switch.
    pub node: NodeId,
    /// Its egress port.
    pub port: u16,
    /// The class.
    pub class: u8,
    /// Whether it is the queue of frames that were bounced before.
    pub bounced: bool,
    /// Bytes that wait.
    pub bytes: u64,
    /// Frames that wait.
    pub frames: u64,
    /// Whether the class is stopped at this port.
    pub paused: bool,
}

/// Who wants to see a run while it goes on. Everything arrives in an order that depends on the setup
/// alone.
pub trait Watcher {
    /// A flow has ended, or is unfinished at the end of the run (`delivered_ps` is `None` then).
    fn flow(&mut self, _flow: &FlowRecord) {}
    /// A look at a queue that holds something or is paused.
    fn queue(&mut self, _sample: QueueSample) {}
    /// `bytes` left `node` by `port` since the last look, which is `span` ago; `share` of the link's rate.
    fn link(&mut self, _at: Time, _node: NodeId, _port: u16, _bytes: u64, _share: f64) {}
    /// `bytes` of payload arrived for `traffic` since the last look.
    fn throughput(&mut self, _at: Time, _traffic: u8, _bytes: u64) {}
    /// A look at the congestion control of a flow that is under way.
    fn control(&mut self, _sample: &ControlSample) {}
    /// A node heard a pause or resume.
    fn pause(&mut self, _at: Time, _node: NodeId, _port: u16, _classes: u8, _pause: bool) {}
    /// Something happened to a traced frame or, in a run with a trace, to a port.
    fn trace(&mut self, _row: &TraceRow) {}
    /// A frame passed a captured port.
    fn captured(&mut self, _frame: &CapturedFrame) {}
    /// `frames` of `of` data frames arrived `displacement` places later than they were sent (earlier where it is
    /// negative), by ascending displacement, once at the end of a run that measures it.
    fn reordering(&mut self, _displacement: i64, _frames: u64, _of: u64) {}
    /// The delays of frames from host to host in the measured window, in ps, once at the end of a run.
    fn delays(&mut self, _delays: &Histogram) {}
    /// The run begins; `clock` tells any thread how far it is.
    fn begins(&mut self, _clock: &Arc<Clock>) {}
    /// The run has reached `now` after `hops` packet-hops; false stops it. Asked at instants that depend on the setup
    /// alone, about a thousand times a run: where it stops is then part of the result.
    fn progress(&mut self, _now: Time, _hops: u64) -> bool {
        true
    }
    /// Whether there is no point in going on. Asked whenever something was looked at.
    fn has_failed(&self) -> bool {
        false
    }
}

/// Watches nothing.
pub struct Unwatched;
impl Watcher for Unwatched {}
