//! The mechanisms of a port ([`protocols::port`]). The hooks of frames are called by the switch, the hook that blocks
//! classes by the port.

use crate::network::Network;
use fabric::{NodeId, PortIndex};
use protocols::port::{Hooks, PortMechanism, PortSpec};
use protocols::port_mechanisms::AnyPortMechanism;
use protocols::shaping::PortShaper;
use units::{Rate, Time};

/// One mechanism of a port.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub mechanism: AnyPortMechanism,
    /// Hooks of the mechanism, which are constant.
    pub hooks: Hooks,
}

/// The mechanisms of one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortMechanisms(Box<[Installed]>);

impl PortMechanisms {
    /// Creates the mechanisms of the port `at`, which has a link of `rate`. Marking and cycles are those of switches.
    pub fn new(network: &Network, at: (NodeId, PortIndex), rate: Rate) -> PortMechanisms {
        let classes = network.classes.iter().fold(0, |classes, class| classes | 1 << class);
        let is_switch = network.fabric.host_index(at.0).is_none();
        let port = PortSpec { rate, queues: network.queues_per_port(), classes };
        let marking = if is_switch { network.port_of(at.0, at.1).marking.at(&port) } else { None };
        let cycles = network.timing.cycles.get(&at).map(|cycles| protocols::cyclic::CyclicQueues::new(cycles, &port));
        let shaper = network.timing.shaping.get(&at).map(|slopes| PortShaper::new(slopes, &port));
        // Cyclic queuing comes first: its admission hook selects the queue that the other mechanisms observe.
        let all = cycles.map(AnyPortMechanism::from).into_iter().chain(marking).chain(shaper.map(From::from));
        PortMechanisms(all.map(|mechanism| Installed { hooks: mechanism.hooks(), mechanism }).collect())
    }

    /// Returns the hooks of all mechanisms.
    pub fn hooks(&self) -> Hooks {
        self.0.iter().fold(Hooks::NONE, |hooks, it| hooks.with(it.hooks))
    }

    pub fn iter(&self) -> impl Iterator<Item = &AnyPortMechanism> {
        self.0.iter().map(|it| &it.mechanism)
    }

    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Installed> {
        self.0.iter_mut()
    }

    /// Returns the mechanisms with one of these `hooks`.
    #[inline]
    pub fn with_mut(&mut self, hooks: Hooks) -> impl Iterator<Item = &mut AnyPortMechanism> {
        self.0.iter_mut().filter(move |it| it.hooks.meet(hooks)).map(|it| &mut it.mechanism)
    }

    /// Returns the queue length in bytes from which a mechanism acts on a frame that joins a queue; `u32::MAX` for
    /// none.
    pub fn enqueue_from_bytes(&self) -> u32 {
        let acting = self.0.iter().filter(|it| it.hooks.meet(Hooks::ENQUEUE));
        let least = acting.map(|it| it.mechanism.enqueue_from_bytes()).min().unwrap_or(u64::MAX);
        u32::try_from(least).unwrap_or(u32::MAX)
    }

    /// Returns the mechanisms that block classes.
    fn blocking(&self) -> impl Iterator<Item = &AnyPortMechanism> {
        self.0.iter().filter(|it| it.hooks.meet(Hooks::BLOCK)).map(|it| &it.mechanism)
    }

    /// Handles the start of a frame of `class` that occupies the wire for `busy`.
    pub fn start(&mut self, now: Time, class: u8, busy: Time) {
        self.with_mut(Hooks::BLOCK).for_each(|it| it.start(now, class, busy));
    }

    /// Handles the interruption of the frame of `class`: the wire is free at `end`.
    pub fn interrupt(&mut self, class: u8, end: Time) {
        self.with_mut(Hooks::BLOCK).for_each(|it| it.interrupt(class, end));
    }

    /// Returns whether `class` may start a frame.
    pub fn may_start(&self, class: u8) -> bool {
        self.blocking().all(|it| it.may_start(class))
    }

    /// Returns the earliest start of a frame of `class`, if its gate stays open.
    pub fn starts_at(&self, class: u8) -> Time {
        self.blocking().map(|it| it.starts_at(class)).max().unwrap_or(Time::ZERO)
    }

    /// Returns the time, past or future, since which `class` may start a frame.
    pub fn unblocked_at(&self, class: u8) -> Time {
        self.blocking().map(|it| it.unblocked_at(class)).max().unwrap_or(Time::ZERO)
    }
}
