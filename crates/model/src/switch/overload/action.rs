//! What an action on overload is.

use crate::on_wire::OnWire;
use crate::switch::core::Core;
use crate::switch::outcome::{Crossing, Outcome};
use engine::Window;
use protocols::frame::Frame;

/// An action on overload: what it remembers is its own, and of the switch it is handed the core.
pub(crate) trait Action {
    /// A frame of one of the classes [`Core::early`] found its wire occupied, and was not admitted yet.
    fn decide(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome;

    /// A frame found no room in its queue.
    fn refuse(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome;
}
