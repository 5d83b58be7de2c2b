//! What the engine runs: a switch or a host.

use crate::account::Ledger;
use crate::books::Books;
use crate::egress::Egress;
use crate::host::Host;
use crate::on_wire::OnWire;
use crate::switch::Switch;
use engine::{Node, Window};
use units::Time;

/// A node of the fabric.
#[derive(Debug)]
pub(crate) enum Machine {
    Switch(Box<Switch>),
    Host(Box<Host>),
}

impl Machine {
    pub fn ledger(&self) -> &Ledger {
        &self.books().ledger
    }

    pub fn books(&self) -> &Books {
        match self {
            Machine::Switch(switch) => &switch.core.books,
            Machine::Host(host) => &host.books,
        }
    }

    pub fn books_mut(&mut self) -> &mut Books {
        match self {
            Machine::Switch(switch) => &mut switch.core.books,
            Machine::Host(host) => &mut host.books,
        }
    }

    pub fn egress(&self) -> &Egress {
        match self {
            Machine::Switch(switch) => &switch.core.egress,
            Machine::Host(host) => &host.egress,
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

    fn prefetch(&self, turns: usize) {
        match (self, turns) {
            (Machine::Switch(switch), 3) => engine::prefetch(&**switch),
            (Machine::Switch(switch), turns) => switch.prefetch(turns),
            (Machine::Host(host), 3) => engine::prefetch(&**host),
            (Machine::Host(host), turns) => host.prefetch(turns),
        }
    }
}
