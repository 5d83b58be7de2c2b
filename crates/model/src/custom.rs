//! User-defined mechanisms of switches: actions for frames that cannot start transmission at once, and XOFF and XON of
//! ingress accounts. They have no cost if the setup does not use them.
//!
//! ```text
//!  Setup::overload_rule ──at──▶ Box<dyn OverloadState>, per switch ◀────Waiting────── a frame whose wire is occupied
//!                                                                  ──OverloadDecision─▶ queue, drop, or another port
//!  Setup::pause_rule ◀──Account── a frame entered or left the buffer
//!                    ──bytes────▶ XOFF and XON, sent as PAUSE or PFC
//! ```

use fabric::{NodeId, PortIndex};
use protocols::frame::Frame;
use std::fmt::Debug;
use std::sync::Arc;
use units::Time;
use units::random::Stream;

/// An overload action, in place of [`crate::parameters::SwitchParameters::overload`].
pub trait OverloadRule: Debug + Send + Sync {
    /// Returns the bitmask of classes that the rule handles. Lossless classes are always queued, regardless of the
    /// rule.
    fn classes(&self) -> u8 {
        0xff
    }
    /// Creates the state of the switch `node`.
    fn at(&self, node: NodeId) -> Box<dyn OverloadState>;
}

/// State of an [`OverloadRule`] at one switch.
pub trait OverloadState: Debug + Send {
    /// Returns the decision about a frame that cannot start transmission at once, before the frame is queued. `random`
    /// is a random stream of the switch for this purpose.
    fn decide(&mut self, waiting: &Waiting<'_>, frame: &Frame, random: &mut Stream) -> OverloadDecision;
}

/// Decision about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverloadDecision {
    /// Enqueue the frame. The frame is dropped if its queue has no room.
    Wait,
    /// Drop the frame.
    Drop,
    /// Detour the frame by another port of this switch. The frame is dropped if the queue of that port has no room. An
    /// invalid port, or the egress port itself, is treated as `Wait`.
    Detour(PortIndex),
}

/// Input of an [`OverloadState`].
#[derive(Debug)]
pub struct Waiting<'s> {
    /// Current time.
    pub now: Time,
    /// Ingress port.
    pub ingress: PortIndex,
    /// Egress port.
    pub egress: PortIndex,
    /// Class of the egress queue.
    pub class: u8,
    /// Whether the egress queue has room for the frame.
    pub has_room: bool,
    /// Live ports towards other switches except `egress`, ascending.
    pub others: &'s [PortIndex],
    /// Backlog of each port in bytes, over all classes.
    pub waiting_bytes: &'s [u64],
}

/// XOFF and XON thresholds of ingress accounts, which replace the thresholds of PAUSE or PFC. XOFF and XON are still
/// PAUSE or PFC frames.
pub trait PauseRule: Debug + Send + Sync {
    /// Returns the threshold in bytes above which the account sends XOFF. Bytes above it use headroom.
    fn xoff_bytes(&self, account: &Account) -> u64;
    /// Returns the XON threshold in bytes: the account sends XON at or below it. Limited to the XOFF threshold.
    fn xon_bytes(&self, account: &Account) -> u64;
}

/// State of an ingress account, for a [`PauseRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Switch of the account.
    pub node: NodeId,
    /// Ingress port.
    pub port: PortIndex,
    /// Class, or 0 if whole ports are paused.
    pub class: u8,
    /// Bytes in the switch that arrived by this port and class.
    pub bytes: u64,
    /// Free bytes of the shared buffer.
    pub free_bytes: u64,
    /// Number of accounts of the switch that currently pause a neighbour.
    pub pausing_accounts: u32,
}

/// An [`OverloadRule`] for all switches.
#[derive(Clone, Debug)]
pub struct CustomOverload(pub(crate) Arc<dyn OverloadRule>);

impl CustomOverload {
    /// Wraps `rule`.
    pub fn new(rule: impl OverloadRule + 'static) -> Self {
        CustomOverload(Arc::new(rule))
    }
}

/// A [`PauseRule`] for all switches.
#[derive(Clone, Debug)]
pub struct CustomPause(pub(crate) Arc<dyn PauseRule>);

impl CustomPause {
    /// Wraps `rule`.
    pub fn new(rule: impl PauseRule + 'static) -> Self {
        CustomPause(Arc::new(rule))
    }
}
