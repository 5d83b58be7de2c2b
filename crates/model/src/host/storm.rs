//! Pause-storm fault: a network card that pauses its switch continuously.

use super::Host;
use super::timers::Event;
use crate::on_wire::OnWire;
use crate::parameters::FlowControl;
use engine::Window;
use protocols::frame::Frame;
use protocols::pause::quanta_time;
use units::Time;

impl Host {
    /// Sends a pause of maximum duration by every port, and schedules its renewal.
    pub(super) fn storm(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(storm) = self.network.host.pause_storm else { return };
        if storm.until.is_some_and(|until| until <= now) {
            return;
        }
        let frame = match self.network.switch.flow_control {
            FlowControl::Pfc(pfc) => Frame::pfc(pfc.classes, u16::MAX),
            _ => Frame::pause(u16::MAX),
        };
        let mut again = Time::MAX;
        for port in 0..self.egress.len() as u16 {
            let link = &self.egress.state(port).link;
            again = again.min(now + quanta_time(u16::MAX, link.rate) / 2);
            if link.down {
                continue;
            }
            self.judge_before_control(now, port);
            self.egress.send_control(now, port, frame, &mut self.stats, window);
        }
        self.schedule(again, Event::Storm);
    }
}
