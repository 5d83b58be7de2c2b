//! Trace events of pauses, credits, XOFF and XON received at a node's ports.

use super::tracer::Tracer;
use fabric::Fabric;
use protocols::florax::HostPair;
use protocols::frame::{ANY_SOURCE, Frame, Kind, XoffMessage};
use stats::trace::{TraceEvent, TrafficSelector};
use units::Time;

/// Returns the traffic selected by an XOFF or XON, with node numbers as in results.
pub(crate) fn traffic(fabric: &Fabric, pair: HostPair) -> TrafficSelector {
    let named = |host: u32| (host != ANY_SOURCE).then(|| fabric.host_node(host).0);
    TrafficSelector { src: named(pair.src), dst: named(pair.dst) }
}

impl Tracer {
    /// Traces the start (`waits`) or end of a credit stall of a class at `port`.
    #[cold]
    pub fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        let (class, from) = (Some(class), now);
        let begins = TraceEvent::Paused { port, class, from, until: Time::MAX };
        self.note_port(now, if waits { begins } else { TraceEvent::Resumed { port, class, from } });
    }

    /// Traces a pause or resume received by `port`.
    #[cold]
    pub fn note_pause(&mut self, now: Time, port: u16, frame: &Frame, reaction: Time, span: Time) {
        let from = now + reaction;
        let mut note = |class: Option<u8>| {
            let until = now.saturating_add(span).max(from);
            let paused = TraceEvent::Paused { port, class, from, until };
            let event = if span > Time::ZERO { paused } else { TraceEvent::Resumed { port, class, from } };
            self.note_port(now, event);
        };
        if frame.kind == Kind::Pfc {
            let classes = frame.pause_message().classes;
            (0..8).filter(|class| classes & 1 << class != 0).for_each(|class| note(Some(class)));
        } else {
            note(None);
        }
    }

    /// Traces an XOFF or XON received by `port`.
    #[cold]
    pub fn trace_xoff_received(&mut self, fabric: &Fabric, port: u16, frame: &Frame) {
        let of = traffic(fabric, HostPair { src: frame.src, dst: frame.dst });
        let event = if frame.kind == Kind::Xoff {
            let XoffMessage { rate_bps, expiry } = frame.xoff_message();
            TraceEvent::Held { port, of, rate_bps, until: frame.at.saturating_add(expiry) }
        } else {
            TraceEvent::Released { port, of }
        };
        self.note_port(frame.at, event);
    }
}
