//! User-defined transports. Hosts call them by dynamic dispatch, so that they add no cost to built-in transports.
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

/// A [`Sender`] as a trait object; implemented for every sender that is `Clone`, `Debug` and `Send`.
pub trait AnySender: Sender + Debug + Send {
    /// Returns a boxed clone.
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

/// A [`Receiver`] as a trait object; implemented for every receiver that is `Clone`, `Debug` and `Send`.
pub trait AnyReceiver: Receiver + Debug + Send {
    /// Returns a boxed clone.
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

/// Factory of the sender and the receiver of each flow, with the properties of the transport that a host needs in
/// advance.
pub trait Transport: Debug + Send + Sync {
    /// Creates the sender of `flow`.
    fn sender(&self, flow: &FlowStart) -> Box<dyn AnySender>;
    /// Creates the receiver of a flow.
    fn receiver(&self) -> Box<dyn AnyReceiver>;
    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed` on the host's
    /// clock. The host needs it for a sender whose last acknowledgement was lost. The default one acknowledges all
    /// bytes for each duplicate, in a frame of 64 bytes.
    fn complete_receiver(&self, size_bytes: u64, completed: Time) -> Box<dyn AnyReceiver> {
        Box::new(CompleteReceiver { size_bytes, completed })
    }
    /// Payload bytes of every data frame of a flow, except for the last one.
    fn payload_bytes(&self) -> u16;
    /// Header bytes of a data frame, FCS included.
    fn header_bytes(&self) -> u16;
    /// Longest retransmission timeout; zero if the transport never retransmits.
    fn max_rto(&self) -> Time {
        Time::ZERO
    }
    /// Bitmask of the traffic classes of segments and control frames, without the class of the flow.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether senders set the path entropy of segments, so that frames of a flow may arrive out of order.
    fn chooses_paths(&self) -> bool {
        false
    }
    /// Whether data frames collect telemetry.
    fn collects(&self) -> bool {
        false
    }
}

/// Receiver of a complete flow: acknowledges all bytes for every duplicate.
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

/// A user-defined [`Transport`], shared by all its flows. Two values are equal only if they share one object.
#[derive(Clone, Debug)]
pub struct CustomTransport(Arc<dyn Transport>);

impl CustomTransport {
    /// Wraps `transport`.
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
