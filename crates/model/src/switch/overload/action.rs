//! The interface of overload actions.

use crate::on_wire::OnWire;
use crate::switch::core::Core;
use crate::switch::outcome::{Crossing, FrameFate};
use engine::Window;
use protocols::frame::Frame;

/// An overload action. It owns its state and receives the core of the switch.
pub(crate) trait Action {
    /// Handles a frame of a class in [`Core::overload_classes`] that found its wire occupied, before admission.
    fn decide(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate;

    /// Handles a frame that was not admitted to its queue.
    fn refuse(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate;
}
