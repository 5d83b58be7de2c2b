//! What a node writes down of its run: what it counts, what it heard of its neighbours, and, where it is watched,
//! notes.

use crate::account::Ledger;
use crate::network::Network;
use crate::trace::Tracer;
use check::LateStart;
use check::conservation::Cause;
use fabric::NodeId;
use protocols::frame::Frame;
use std::sync::Arc;
use units::Time;

/// A pause or resume that a node received, or the beginning or end of a wait for credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseEvent {
    /// When.
    pub at: Time,
    /// By which of its ports.
    pub port: u16,
    /// The classes, a bit each.
    pub classes: u8,
    /// Whether it must stop.
    pub pause: bool,
}

/// One node's books.
#[derive(Debug)]
#[repr(C)] // see [`crate::switch::Core`]
pub(crate) struct Books {
    pub ledger: Ledger,
    pub node: NodeId,
    pub pause_events: Vec<PauseEvent>,
    network: Arc<Network>,
    /// Where the node is watched.
    pub tracer: Option<Box<Tracer>>,
}

impl Books {
    pub fn new(network: &Arc<Network>, node: NodeId) -> Books {
        Books {
            node,
            ledger: Ledger::default(),
            pause_events: Vec::new(),
            network: Arc::clone(network),
            tracer: Tracer::new(network, node),
        }
    }

    /// A frame that came by `in_port` in `in_class` is gone.
    #[cold]
    pub fn lose(&mut self, in_port: u16, in_class: u8, frame: &Frame, cause: Cause) {
        self.lose_here(&Frame { in_port, in_class, ..*frame }, cause);
    }

    /// A frame that says itself by which port it came, and in which class, is gone.
    #[cold]
    pub fn lose_here(&mut self, frame: &Frame, cause: Cause) {
        if frame.is_mac_control() {
            self.ledger.control_lost += 1;
            return;
        }
        self.ledger.lose(self.node.0, frame, cause, self.network.switch.flow_control.lossless());
        if let (Some(telemetry), Some(record)) = (&self.network.telemetry, frame.record()) {
            telemetry.close(record);
        }
    }

    /// A pause or resume came, or a wait for credits began or ended.
    pub fn note_pause(&mut self, event: PauseEvent) {
        if self.network.record_pauses {
            self.pause_events.push(event);
        }
    }

    /// A frame of `class`, or a MAC control frame, that could start at `eligible_at` by `port` starts at `at`, or has
    /// not started when the run ends then.
    #[inline]
    pub fn note_start(&mut self, eligible_at: Time, at: Time, port: u16, class: Option<u8>) {
        self.ledger.work.observe(LateStart { eligible_at, at, node: self.node.0, port, class });
    }

    /// A class begins, or ceases, to wait for credits at `port`.
    #[cold]
    pub fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        self.note_pause(PauseEvent { at: now, port, classes: 1 << class, pause: waits });
        if let Some(tracer) = &mut self.tracer {
            tracer.note_wait(now, port, class, waits);
        }
    }
}

units::pack_fields!(PauseEvent { at, port, classes, pause });
