//! The mechanisms of a port ([`protocols::port`]). The switch calls the hooks of frames; the port calls the hook that
//! blocks classes.

use crate::network::Network;
use fabric::{NodeId, PortIndex};
use protocols::cyclic::CyclicQueues;
use protocols::gates::PortGates;
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
    /// Creates the mechanisms of the port `at`, which has a link of `rate`. Only switches have marking and cyclic
    /// queuing. The order of the mechanisms follows the path of a frame: cyclic queuing selects the queue that the
    /// others observe, and the shaper is in front of the gates (802.1Q-2022, figure 8-14).
    pub fn new(network: &Network, at: (NodeId, PortIndex), rate: Rate) -> PortMechanisms {
        let classes = network.classes.iter().fold(0, |classes, class| classes | 1 << class);
        let is_switch = network.fabric.host_index(at.0).is_none();
        let (clock, preemption) = (network.node_clock(at.0), network.preemption_at(at.0));
        let port = PortSpec { rate, queues: network.queues_per_port(), classes, clock, preemption };
        let marking = if is_switch { network.port_of(at.0, at.1).marking.at(&port) } else { None };
        let cycles = network.timing.cycles.get(&at).map(|cycles| CyclicQueues::new(cycles, &port));
        let shaper = network.timing.shaping.get(&at).map(|slopes| PortShaper::new(slopes, &port));
        let gates = network.gates(at.0, at.1).map(|list| PortGates::new(&list, &port));
        let timed = shaper.map(AnyPortMechanism::from).into_iter().chain(gates.map(From::from));
        let all = cycles.map(From::from).into_iter().chain(marking).chain(timed);
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
        blocking(&self.0)
    }

    /// Updates to `now` the mechanisms that charge transmissions (shapers), with `waiting` classes since the last
    /// update.
    pub fn settle(&mut self, now: Time, waiting: u8) {
        let mut rest = &mut self.0[..];
        while let Some((it, behind)) = rest.split_first_mut() {
            if it.hooks.meet(Hooks::CHARGE) {
                it.mechanism.settle(now, waiting, |class, from, to| open_between(behind, from, to, class));
            }
            rest = behind;
        }
    }

    /// Handles the start of a frame of `class` that occupies the wire for `busy`.
    pub fn start(&mut self, now: Time, class: u8, busy: Time) {
        self.with_mut(Hooks::CHARGE).for_each(|it| it.start(now, class, busy));
    }

    /// Handles the preemption of a frame of `class`: the wire becomes free at `end`.
    pub fn interrupt(&mut self, class: u8, end: Time) {
        self.with_mut(Hooks::CHARGE).for_each(|it| it.interrupt(class, end));
    }

    /// Returns `now` if a frame of `class` that occupies the wire for `busy` may start now. Otherwise returns a later
    /// lower bound of its start; [`Time::MAX`] for never. Each mechanism is evaluated from `now` on.
    pub fn starts_at(&self, now: Time, class: u8, busy: Time) -> Time {
        self.blocking().map(|it| it.starts_at(now, class, busy)).max().unwrap_or(now)
    }

    /// Like [`starts_at`](Self::starts_at), but each mechanism is evaluated from the start that the previous ones
    /// allow.
    pub fn could_start_at(&self, from: Time, class: u8, busy: Time) -> Time {
        let later = |at, it: &AnyPortMechanism| if at == Time::MAX { at } else { it.starts_at(at, class, busy) };
        self.blocking().fold(from, later)
    }

    /// Like [`could_start_at`](Self::could_start_at), for the rest of a preempted frame.
    pub fn resumes_at(&self, from: Time, class: u8, busy: Time) -> Time {
        let later = |at, it: &AnyPortMechanism| if at == Time::MAX { at } else { it.resumes_at(at, class, busy) };
        self.blocking().fold(from, later)
    }

    /// Returns the start of the next hold of preemptable frames (802.1Qbu); `now` during a hold, [`Time::MAX`] for
    /// none.
    pub fn holds_at(&self, now: Time) -> Time {
        self.blocking().map(|it| it.holds_at(now)).min().unwrap_or(Time::MAX)
    }

    /// Returns how long frames of `class` were available between two times: gate open and no hold.
    pub fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        let each = self.blocking().map(|it| it.available_between(from, to, class));
        each.min().unwrap_or(to.saturating_sub(from))
    }
}

/// Returns the mechanisms among `all` that block classes.
fn blocking(all: &[Installed]) -> impl Iterator<Item = &AnyPortMechanism> {
    all.iter().filter(|it| it.hooks.meet(Hooks::BLOCK)).map(|it| &it.mechanism)
}

/// Returns how long the gates of `class` among `all` were open between two times.
fn open_between(all: &[Installed], from: Time, to: Time, class: u8) -> Time {
    let each = blocking(all).map(|it| it.open_between(from, to, class));
    each.min().unwrap_or(to.saturating_sub(from))
}
