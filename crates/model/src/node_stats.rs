//! Records of a node: counters, pause events, and trace events if the node is traced.

use crate::account::Counters;
use crate::network::Network;
use crate::trace::Tracer;
use check::LateStart;
use check::conservation::Cause;
use fabric::NodeId;
use protocols::frame::Frame;
use std::sync::Arc;
use units::Time;

/// A received pause or resume, or the start or end of a credit stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseEvent {
    /// Time of the event.
    pub at: Time,
    /// Port of the event.
    pub port: u16,
    /// Bitmask of classes.
    pub classes: u8,
    /// Whether a pause or credit stall starts (`true`) or ends.
    pub pause: bool,
}

/// Records of one node.
#[derive(Debug)]
#[repr(C)] // see [`crate::switch::Core`]
pub(crate) struct NodeStats {
    pub counters: Counters,
    pub node: NodeId,
    pub pause_events: Vec<PauseEvent>,
    network: Arc<Network>,
    /// Trace events, if the node is traced.
    pub tracer: Option<Box<Tracer>>,
}

impl NodeStats {
    pub fn new(network: &Arc<Network>, node: NodeId) -> NodeStats {
        NodeStats {
            node,
            counters: Counters::default(),
            pause_events: Vec::new(),
            network: Arc::clone(network),
            tracer: Tracer::new(network, node),
        }
    }

    /// Counts the loss of a frame that arrived by `in_port` in `in_class`.
    #[cold]
    pub fn lose(&mut self, in_port: u16, in_class: u8, frame: &Frame, cause: Cause) {
        self.count_loss(&Frame { in_port, in_class, ..*frame }, cause);
    }

    /// Counts the loss of a frame whose fields `in_port` and `in_class` are set.
    #[cold]
    pub fn count_loss(&mut self, frame: &Frame, cause: Cause) {
        if frame.is_mac_control() {
            self.counters.control_lost += 1;
            return;
        }
        self.counters.lose(self.node.0, frame, cause, self.network.switch.flow_control.lossless());
        if let (Some(telemetry), Some(record)) = (&self.network.telemetry, frame.record()) {
            telemetry.close(record);
        }
    }

    /// Records a pause or resume, or the start or end of a credit stall.
    pub fn note_pause(&mut self, event: PauseEvent) {
        if self.network.measurement.record_pauses {
            self.pause_events.push(event);
        }
    }

    /// Records that a frame of `class` (`None`: MAC control), eligible since `eligible_at` at `port`, starts
    /// transmission at `at`, or has not started when the run ends at `at`.
    #[inline]
    pub fn note_start(&mut self, eligible_at: Time, at: Time, port: u16, class: Option<u8>) {
        self.counters.work.observe(LateStart { eligible_at, at, node: self.node.0, port, class });
    }

    /// Records the start (`waits`) or end of a credit stall of a class at `port`.
    #[cold]
    pub fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        self.note_pause(PauseEvent { at: now, port, classes: 1 << class, pause: waits });
        if let Some(tracer) = &mut self.tracer {
            tracer.note_wait(now, port, class, waits);
        }
    }
}

units::pack_fields!(PauseEvent { at, port, classes, pause });
