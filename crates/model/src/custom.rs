//! Mechanisms of switches that a library user brings along, beside those that are built in: what becomes of frames that
//! cannot leave at once, and when an ingress account stops its neighbour. Where there are none, nobody asks.
//!
//! ```text
//!  Setup::overload_rule ──at──▶ Box<dyn OverloadState>, one a switch ◀──Waiting── a frame whose wire is occupied
//!                                                                    ──Verdict─▶ it waits, is lost, or turns aside
//!  Setup::stop_rule ◀──Account── a frame came into the buffer, or left it
//!                   ──bytes────▶ XOFF and XON, sent as PAUSE or PFC
//! ```

use fabric::{NodeId, PortIndex};
use protocols::frame::Frame;
use std::fmt::Debug;
use std::sync::Arc;
use units::Time;
use units::random::Stream;

/// An action on overload, in place of [`crate::parameters::SwitchParameters::overload`].
pub trait OverloadRule: Debug + Send + Sync {
    /// Classes about whose frames it is asked, a bit each. Lossless classes among them wait, whatever it says.
    fn classes(&self) -> u8 {
        0xff
    }
    /// What the switch `node` remembers.
    fn at(&self, node: NodeId) -> Box<dyn OverloadState>;
}

/// The part of an [`OverloadRule`] that a switch owns.
pub trait OverloadState: Debug + Send {
    /// A frame found its wire occupied, and waits nowhere yet. `random` is the switch's own stream for this.
    fn judge(&mut self, waiting: &Waiting<'_>, frame: &Frame, random: &mut Stream) -> Verdict;
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits for its wire, and is lost if there is no room.
    Wait,
    /// It is lost.
    Drop,
    /// It leaves by another port of this switch, and is lost if there is no room. It counts as a detour.
    By(PortIndex),
}

/// What an [`OverloadState`] may know.
#[derive(Debug)]
pub struct Waiting<'s> {
    /// When.
    pub now: Time,
    /// By which port it came.
    pub ingress: PortIndex,
    /// By which it is to leave.
    pub egress: PortIndex,
    /// The class in whose queue it would wait.
    pub class: u8,
    /// Whether that queue has room for it.
    pub has_room: bool,
    /// Live ports towards other switches but `egress`, ascending.
    pub others: &'s [PortIndex],
    /// Bytes that wait at each port, of all classes.
    pub waiting_bytes: &'s [u64],
}

/// When ingress accounts stop their neighbours, in place of XOFF and XON of PAUSE or PFC, whose frames it is told in.
pub trait StopRule: Debug + Send + Sync {
    /// Above so many bytes an account stops its neighbour, and what comes beyond them is headroom's.
    fn xoff_bytes(&self, account: &Account) -> u64;
    /// Down to so many bytes it must fall to let the neighbour go on; no more than XOFF.
    fn xon_bytes(&self, account: &Account) -> u64;
}

/// An ingress account, as a [`StopRule`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The switch.
    pub node: NodeId,
    /// The ingress port.
    pub port: PortIndex,
    /// The class; 0 where whole ports are stopped.
    pub class: u8,
    /// What waits in the switch of what came by it.
    pub bytes: u64,
    /// What is free of the shared buffer.
    pub free_bytes: u64,
    /// Accounts of the switch that stop a neighbour now.
    pub stopping: u32,
}

/// An [`OverloadRule`], shared by all switches.
#[derive(Clone, Debug)]
pub struct CustomOverload(pub(crate) Arc<dyn OverloadRule>);

impl CustomOverload {
    /// Lets switches do as `rule` says.
    pub fn new(rule: impl OverloadRule + 'static) -> Self {
        CustomOverload(Arc::new(rule))
    }
}

/// A [`StopRule`], shared by all switches.
#[derive(Clone, Debug)]
pub struct CustomStop(pub(crate) Arc<dyn StopRule>);

impl CustomStop {
    /// Lets switches stop their neighbours as `rule` says.
    pub fn new(rule: impl StopRule + 'static) -> Self {
        CustomStop(Arc::new(rule))
    }
}
