//! The interface of overload actions: an action returns a decision, and [`Core::carry_out`] executes it.

use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use check::conservation::Cause;
use protocols::frame::Frame;
use protocols::port::Hooks;

/// The decision about a frame that cannot start transmission at once. Space in the selected queue is already reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decision {
    /// The frame joins the queue at `index` of its egress port. `changed` is its new content, if the action changed it.
    Queue { index: usize, changed: Option<Frame> },
    /// The frame is redirected to `port`: transmitted at once if `index` is `None`, otherwise appended to the queue at
    /// `index`.
    Redirect { port: u16, index: Option<usize>, frame: Frame, detour: bool },
    /// The frame was trimmed: its header is forwarded on the path that the action wrote to the `Crossing`.
    Forward { header: Frame },
    /// The youngest frame of the queue was removed and trimmed. `tail` is the path and header of that frame, or `None`
    /// if the header is lost. Then the arriving frame is admitted, or refused again.
    Displace { tail: Option<(Crossing, Frame)> },
    /// A pipeline of the switch keeps the frame.
    Hold,
    /// The frame is lost.
    Drop { cause: Cause },
    /// The frame was trimmed, and its header is lost.
    DropHeader { cause: Cause, header: Frame },
}

impl Decision {
    /// The frame joins the queue at `index`, unchanged.
    #[inline]
    pub const fn queue(index: usize) -> Decision {
        Decision::Queue { index, changed: None }
    }

    /// The frame is lost.
    pub const fn drop(cause: Cause) -> Decision {
        Decision::Drop { cause }
    }
}

/// An overload action at one switch: PABO, DIBS, trimming, or the rule of a library user. It owns its state and
/// receives the core of the switch. It may change the path of the frame that it decides about; changed content is part
/// of the decision. It is not a [`PortMechanism`](protocols::port::PortMechanism), because it reads and reserves buffer
/// space at several ports, which requires the core. The core is not part of `protocols`.
pub(crate) trait Action {
    /// Returns the hooks of the action: [`Hooks::DECIDE`], [`Hooks::REFUSE`] and [`Hooks::REDIRECT`].
    fn hooks(&self) -> Hooks;

    /// Returns the bitmask of the classes with [`Action::decide`].
    fn decided_classes(&self) -> u8;

    /// Returns, per port, the number of frames that were bounced or detoured because of the queue of that port. `None`
    /// if the action does not redirect frames.
    fn redirections(&self) -> Option<&[u64]> {
        None
    }

    /// Decides about a frame of a class in
    /// [`EnabledHooks::overload_classes`](crate::switch::core::EnabledHooks::overload_classes),
    /// before admission.
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        core.drop_without_room(*crossing, frame)
    }

    /// Decides about a frame that was not admitted to its queue. `may_displace`: whether the youngest frame of the
    /// queue may be trimmed instead.
    fn refuse(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame, _may_displace: bool) -> Decision {
        core.drop_without_room(*crossing, frame)
    }
}
