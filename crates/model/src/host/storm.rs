//! The pause-storm fault: a network card that pauses its switch and never stops doing so.

use super::{Event, Host};
use crate::node::OnWire;
use crate::parameters::FlowControl;
use engine::Window;
use protocols::frame::Frame;
use protocols::pause::quanta_time;
use units::Time;

impl Host {
    /// Tells the switch at every port to stop for as long as a frame can, and again before that is over.
    pub(super) fn storm(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(storm) = self.network.host.pause_storm else { return };
        if storm.until.is_some_and(|until| until <= now) {
            return;
        }
        let mut again = Time::MAX;
        for port in 0..self.ports.len() as u16 {
            let state = &mut self.ports[usize::from(port)];
            again = again.min(now + quanta_time(u16::MAX, state.link.rate) / 2);
            state.storms = true;
            self.serve(now, port, window);
        }
        self.schedule(again, Event::Storm);
    }

    /// Puts the pause of a card with the fault on the free wire of a port.
    #[cold]
    pub(super) fn send_storm_pause(&mut self, now: Time, port_index: u16, window: &mut Window<'_, OnWire>) {
        self.ports[usize::from(port_index)].storms = false;
        let frame = match self.network.switch.flow_control {
            FlowControl::Pfc(pfc) => Frame::pfc(pfc.classes, u16::MAX),
            _ => Frame::pause(u16::MAX),
        };
        self.put_control(now, port_index, frame, window);
    }
}
