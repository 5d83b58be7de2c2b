//! A transport of a library user's own, beside those that are built in: a host calls it through a table of functions,
//! and everybody else's hot path knows nothing of it.
//!
//! ```text
//!  TransportParameters::Custom(CustomTransport) ──sender──▶  Box<dyn AnySender>
//!                                               ──receiver─▶ Box<dyn AnyReceiver>
//! ```

use crate::endpoint::{Ctx, Receipt, Receiver, Reply, Sender};
use crate::frame::{Detail, Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::transport::FlowStart;
use std::fmt::Debug;
use std::sync::Arc;
use units::Time;

/// A [`Sender`] that a host can keep without knowing its type; whatever is `Clone`, `Debug` and `Send` is one.
pub trait AnySender: Sender + Debug + Send {
    /// A copy of it.
    fn copy(&self) -> Box<dyn AnySender>;
}

impl<S: Sender + Debug + Clone + Send + 'static> AnySender for S {
    fn copy(&self) -> Box<dyn AnySender> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnySender> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// A [`Receiver`] that a host can keep without knowing its type; whatever is `Clone`, `Debug` and `Send` is one.
pub trait AnyReceiver: Receiver + Debug + Send {
    /// A copy of it.
    fn copy(&self) -> Box<dyn AnyReceiver>;
}

impl<R: Receiver + Debug + Clone + Send + 'static> AnyReceiver for R {
    fn copy(&self) -> Box<dyn AnyReceiver> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyReceiver> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// What makes the two ends of each flow, and what a host must know of them beforehand.
pub trait Transport: Debug + Send + Sync {
    /// The sending end of `flow`.
    fn sender(&self, flow: &FlowStart) -> Box<dyn AnySender>;
    /// The receiving end of a flow.
    fn receiver(&self) -> Box<dyn AnyReceiver>;
    /// The receiving end of a flow of `size_bytes` that have all arrived, the last one at `completed` on the host's
    /// clock: it answers a sender that missed the last acknowledgement. By default each duplicate is answered with an
    /// acknowledgement of all bytes in a frame of 64 B.
    fn complete_receiver(&self, size_bytes: u64, completed: Time) -> Box<dyn AnyReceiver> {
        Box::new(CompleteReceiver { size_bytes, completed })
    }
    /// Payload of every data frame of a flow but the last.
    fn payload_bytes(&self) -> u16;
    /// What of a data frame is no payload, FCS included.
    fn header_bytes(&self) -> u16;
    /// The longest time after which a sender that hears nothing repeats itself; zero if none does.
    fn max_rto(&self) -> Time {
        Time::ZERO
    }
    /// A bit for each class in which segments or control frames leave that is not the flow's own.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether segments name their path's entropy: a flow's frames may then overtake each other.
    fn chooses_paths(&self) -> bool {
        false
    }
    /// Whether segments collect telemetry on their way.
    fn collects(&self) -> bool {
        false
    }
}

/// Acknowledges a complete flow with every duplicate.
#[derive(Clone, Debug)]
struct CompleteReceiver {
    size_bytes: u64,
    completed: Time,
}

impl Receiver for CompleteReceiver {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: self.size_bytes,
            stamp: frame.stamp,
            detail: Detail::arrival(self.completed),
            flags: flags::COMPLETE,
            size_bytes: MIN_FRAME_BYTES,
            ..Reply::default()
        });
        Receipt::default()
    }
    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_timer(&self) -> Time {
        Time::MAX
    }
    fn next_expected(&self) -> u64 {
        self.size_bytes
    }
}

/// A [`Transport`], shared by all its flows; equal to itself alone.
#[derive(Clone, Debug)]
pub struct CustomTransport(Arc<dyn Transport>);

impl CustomTransport {
    /// Lets flows use `transport`.
    pub fn new(transport: impl Transport + 'static) -> Self {
        CustomTransport(Arc::new(transport))
    }
}

impl std::ops::Deref for CustomTransport {
    type Target = dyn Transport;
    fn deref(&self) -> &(dyn Transport + 'static) {
        &*self.0
    }
}

impl PartialEq for CustomTransport {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
