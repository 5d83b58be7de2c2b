//! What the engine runs: a switch or a host.

use crate::account::Ledger;
use crate::host::Host;
use crate::switch::Switch;
use engine::{Message, Node, Window};
use protocols::frame::Frame;
use units::Time;

/// A frame on a link, or a notification between hosts, as the engine sees it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct OnWire(pub Frame);

impl Message for OnWire {
    #[inline]
    fn at(&self) -> Time {
        self.0.at
    }
}

/// A node of the fabric.
#[derive(Debug)]
pub(crate) enum Machine {
    Switch(Box<Switch>),
    Host(Box<Host>),
}

impl Machine {
    pub fn ledger(&self) -> &Ledger {
        match self {
            Machine::Switch(switch) => &switch.ledger,
            Machine::Host(host) => &host.ledger,
        }
    }
}

impl Node for Machine {
    type Message = OnWire;
    fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        match self {
            Machine::Switch(switch) => switch.run(window),
            Machine::Host(host) => host.run(window),
        }
    }

    fn approach(&self, turns: usize) {
        match (self, turns) {
            (Machine::Switch(switch), 3) => engine::prefetch(&**switch),
            (Machine::Switch(switch), turns) => switch.approach(turns),
            (Machine::Host(host), 3) => engine::prefetch(&**host),
            (Machine::Host(host), turns) => host.approach(turns),
        }
    }
}
