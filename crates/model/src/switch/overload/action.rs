//! The interface of overload actions: they decide, and [`Core::carry_out`] executes.

use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use check::conservation::Cause;
use protocols::frame::Frame;

/// The decision about a frame that found its wire occupied. Room in a queue is reserved already.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decision {
    /// The frame joins the queue at `index` of its egress port.
    Queue { index: usize },
    /// The frame leaves by `port` instead: at once, or from the queue at `index`.
    Redirect { port: u16, index: Option<usize>, detour: bool },
    /// The frame was trimmed: its header is forwarded on the changed path.
    Forward,
    /// The youngest frame of the queue was removed and trimmed: its header is forwarded on its path, unless it is lost.
    /// Then the frame is admitted, or refused again.
    Displace { tail: Option<(Crossing, Frame)> },
    /// A pipeline of the switch holds the frame.
    Hold,
    /// The frame is lost; `is_header` if only its header is.
    Drop { cause: Cause, is_header: bool },
}

impl Decision {
    /// The frame is lost.
    pub const fn drop(cause: Cause) -> Decision {
        Decision::Drop { cause, is_header: false }
    }
}

/// An overload action. It owns its state and receives the core of the switch. It may change path and content of the
/// frame that it decides about.
pub(crate) trait Action {
    /// Decides about a frame of a class in [`Steps::overload_classes`](crate::switch::core::Steps::overload_classes),
    /// before admission.
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &mut Frame) -> Decision;

    /// Decides about a frame that was not admitted to its queue. `may_displace`: whether the youngest frame of the
    /// queue may be trimmed instead.
    fn refuse(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &mut Frame, may_displace: bool) -> Decision;
}
