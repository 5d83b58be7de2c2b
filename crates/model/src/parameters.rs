//! Input of a simulation: a scenario after parsing and validation.

use crate::custom::{CustomOverload, CustomPause};
use fabric::routing::{Failure, Forwarding, PathTable};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::bounce_reaction::HalveParameters;
use protocols::florax::BackpressureParameters;
use protocols::headroom::{Conditions, Headroom};
use protocols::pabo::BounceParameters;
use protocols::pipeline_trim::{Control, ControlParameters};
use protocols::reaction::Reaction;
use protocols::transport::TransportParameters;
use protocols::trim::TrimParameters;
use units::{Rate, Time};

use std::collections::BTreeMap;

mod overrides;
mod recording;
mod timing;

pub use crate::clock::{MAX_DRIFT_PPB, NodeClock, NodeClocks};
pub use crate::tags::{TagError, TagRules};
pub use overrides::SwitchOverride;
pub use protocols::cbfc::CreditParameters;
pub use protocols::ecn::{EcnParameters, MarkEvent};
pub use protocols::limits::{QueueLimit, Threshold};
pub use protocols::pause::PauseParameters;
pub use protocols::pipeline_trim::{Metered, SignalLoad, SignalScope};
pub use protocols::port_mechanisms::Marking;
pub use recording::{CaptureParameters, RecordParameters, StormParameters, TraceParameters};
pub use timing::Timing;

/// Number of traffic classes (802.1Q priorities).
pub const CLASSES: usize = 8;

/// Largest buffer of a switch and largest limit of a queue, in bytes. Queues and accounts use 32-bit counters, so that
/// a queue fits in one cache line. No switch has 4 GiB of packet buffer.
pub const MAX_BUFFER_BYTES: u64 = u32::MAX as u64;

/// Packet buffer of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// One buffer for all ports.
    Shared {
        /// Total size in bytes, including headroom.
        bytes: u64,
        /// Limit of each lossy egress queue.
        egress: Threshold,
    },
    /// A separate limit per egress queue.
    PerQueue {
        /// Limit of each queue.
        limit: QueueLimit,
    },
}

/// Flow control of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// None.
    None,
    /// 802.3x PAUSE, per port.
    Pause(PauseParameters),
    /// 802.1Qbb PFC, for the classes in `classes`.
    Pfc(PauseParameters),
    /// Credit-based: a neighbour sends only frames for which it has credits.
    Credit(CreditParameters),
    /// Output backpressure by flow (FLORAX). Requires [`Buffer::PerQueue`], whose limit then covers the backlog of a
    /// port.
    Florax(BackpressureParameters),
    /// Like `Florax`, but by destination.
    Destination(BackpressureParameters),
    /// Like `Florax`, but pauses whole ports with 802.3x PAUSE.
    PauseAtOutput(BackpressureParameters, Reaction),
}

/// Committed rate (service level) of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommittedRate {
    /// Host index of the source.
    pub from: u32,
    /// Host index of the destination.
    pub to: u32,
    /// Rate on the wire, including preamble and gap.
    pub rate: Rate,
}

impl FlowControl {
    /// Returns the parameters of the kinds that pause a neighbour by ingress account.
    pub fn pause(&self) -> Option<&PauseParameters> {
        match self {
            FlowControl::Pause(parameters) | FlowControl::Pfc(parameters) => Some(parameters),
            _ => None,
        }
    }

    /// Returns the parameters of output backpressure; `None` for other kinds of flow control.
    pub fn backpressure(&self) -> Option<&BackpressureParameters> {
        match self {
            FlowControl::Florax(backpressure)
            | FlowControl::Destination(backpressure)
            | FlowControl::PauseAtOutput(backpressure, _) => Some(backpressure),
            _ => None,
        }
    }

    /// Returns the delay between the arrival of a PAUSE or PFC frame and its effect. `None` for kinds without such
    /// frames.
    pub fn reaction(&self) -> Option<Reaction> {
        match self {
            FlowControl::Pause(parameters) | FlowControl::Pfc(parameters) => Some(parameters.reaction),
            FlowControl::PauseAtOutput(_, reaction) => Some(*reaction),
            _ => None,
        }
    }

    /// Returns the number of lossless accounts of a port whose pause frames may be sent together: one for 802.3x, one
    /// per lossless class in use for PFC. `used` is the bitmask of classes in use.
    pub fn lossless_accounts(&self, used: u8) -> u64 {
        match self {
            FlowControl::Pause(_) | FlowControl::PauseAtOutput(..) => 1,
            FlowControl::Pfc(parameters) => u64::from((parameters.classes & used).count_ones()),
            _ => 0,
        }
    }

    /// Returns the headroom of a lossless account of a port on a link of `rate` and `delay`, computed from the time
    /// between XOFF and the last frame of the neighbour. `None` without PAUSE or PFC.
    pub fn computed_headroom(&self, rate: Rate, delay: Time, mtu_bytes: u16, used: u8) -> Option<Headroom> {
        let conditions = Conditions::new(mtu_bytes.into(), self.reaction()?, self.lossless_accounts(used));
        Some(Headroom::of(rate, delay, &conditions))
    }

    /// Returns the parameters of credit-based flow control.
    pub fn credit(&self) -> Option<&CreditParameters> {
        if let FlowControl::Credit(parameters) = self { Some(parameters) } else { None }
    }

    /// Returns whether a backlog blocks neighbours until it drains. Only then can a cyclic buffer dependency deadlock:
    /// pauses by output backpressure always expire.
    pub fn can_deadlock(&self) -> bool {
        self.pause().is_some() || self.credit().is_some()
    }

    /// Returns the bitmask of lossless classes.
    pub fn lossless(&self) -> u8 {
        match self {
            FlowControl::None => 0,
            FlowControl::Pause(_)
            | FlowControl::Florax(_)
            | FlowControl::Destination(_)
            | FlowControl::PauseAtOutput(..) => 0xff,
            FlowControl::Pfc(parameters) => parameters.classes,
            FlowControl::Credit(parameters) => parameters.classes,
        }
    }
}

/// Action for a frame that its queue does not admit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overload {
    /// Drops the frame.
    Drop,
    /// Bounces the frame, with some probability before its queue is full (PABO). Each class of a port has two queues:
    /// `queue` limits the queue of bounced frames, [`Buffer::PerQueue`] limits the other queue.
    Bounce {
        /// Probability, direction and classes of bounces.
        pabo: BounceParameters,
        /// Limit of each bounce queue.
        queue: QueueLimit,
    },
    /// Detours the frame by another random port towards a switch (DIBS).
    Detour,
    /// Trims the payload. The header uses a separate queue (NDP).
    Trim {
        /// Size of the remainder, and destination and class of headers.
        trim: TrimParameters,
        /// Limit of the header queue under [`Buffer::PerQueue`]. A shared buffer treats it like any other queue.
        header_queue: QueueLimit,
        /// Pipelines of the switch. `None` trims in the egress queues.
        inside: Option<PipelineParameters>,
    },
}

impl Overload {
    /// Returns the pipelines of switches, if modelled.
    pub fn pipelines(&self) -> Option<&PipelineParameters> {
        match self {
            Overload::Trim { inside, .. } => inside.as_ref(),
            _ => None,
        }
    }
}

/// Internal structure of a switch that trims in its pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineParameters {
    /// Number of ingress pipelines, 1 to 64.
    pub pipelines: u16,
    /// Number of consecutive ports per pipeline. Ports beyond the last pipeline wrap to the first. `None` divides the
    /// ports evenly.
    pub ports_per_pipeline: Option<u16>,
    /// Action for a frame that its queue does not admit.
    pub overflow: Overflow,
    /// Trim control at ingress, before the queues.
    pub control: ControlParameters,
    /// Rate of the recirculation port of each pipeline.
    pub recirculation_rate: Rate,
    /// Delay between the last bit at the recirculation port and the ingress of the pipeline.
    pub recirculation_latency: Time,
    /// Limit of the queue of each recirculation port. `None` for no limit.
    pub deflect_queue: Option<QueueLimit>,
    /// Delay between the dequeue of a deflected frame and the reaction of the pipelines.
    pub signal_delay: Time,
    /// Pipelines that receive the signal.
    pub notified: SignalScope,
    /// Load of signals on the recirculation ports.
    pub signal_load: SignalLoad,
    /// Frames that the meters count.
    pub metered: Metered,
    /// Stages between the queue sample at ingress and the queue. `None` if ingress cannot sample queues.
    pub stages: Option<u32>,
    /// Duration of a stage. Also the interval between two frames of a pipeline that samples queues.
    pub cycle: Time,
}

impl PipelineParameters {
    /// Returns whether congestion signals have an effect.
    pub fn uses_signals(&self) -> bool {
        !matches!(self.control.control, Control::None | Control::Meter)
    }
}

/// Action of a full queue in a switch with pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Sends the whole frame to the recirculation port (deflect on drop).
    Deflect,
    /// Sends the header to the recirculation port (mirror on drop).
    Mirror,
}

/// Scheduler among the classes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Strict priority: the highest class that may send.
    Strict,
    /// Weighted round robin: `weights[class]` frames per round, each at least 1.
    Wrr {
        /// Frames per round.
        weights: [u16; CLASSES],
    },
    /// Deficit round robin (Shreedhar and Varghese, 1996).
    Drr {
        /// Bytes per round, each at least 1.
        quantum_bytes: [u32; CLASSES],
    },
}

/// Parameters of all switches of a fabric, except for overrides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchParameters {
    /// Packet buffer.
    pub buffer: Buffer,
    /// Flow control.
    pub flow_control: FlowControl,
    /// Action for frames that their queue does not admit.
    pub overload: Overload,
    /// Congestion marking.
    pub marking: Marking,
    /// Scheduler of each port. Hosts use it too.
    pub scheduler: Scheduler,
}

/// Parameters of hosts.
#[derive(Clone, Debug)]
pub struct HostParameters {
    /// Default transport of flows.
    pub transport: TransportParameters,
    /// Transports of single traffic entries, by entry. At most one transport of a run is receiver-driven.
    pub transports: BTreeMap<u8, TransportParameters>,
    /// Host clocks.
    pub clocks: NodeClocks,
    /// Class of acknowledgements and notifications. `None` uses the class of the data.
    pub reply_class: Option<u8>,
    /// Whether hosts obey PAUSE and PFC frames.
    pub obeys_pause: bool,
    /// Whether receivers report trimmed frames to their senders.
    pub trim_aware: bool,
    /// A host with the pause-storm fault: its network card pauses its switch continuously.
    pub pause_storm: Option<PauseStorm>,
    /// Reaction of senders to frames that switches bounced back to them; `None`: they only resend, as in PABO.
    pub on_bounce: Option<HalveParameters>,
    /// Reaction of hosts and senders to pauses.
    pub stopping: PauseReaction,
    /// TTL of new frames, 1 to 255.
    pub ttl: u8,
    /// Largest frame of all transports and datagram sources of the run, in bytes. Headroom depends on it.
    pub mtu_bytes: u16,
}

/// Reaction of hosts to pauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseReaction {
    /// Indices of hosts that ignore pauses, ascending.
    pub ignore_pause: Vec<u32>,
    /// Whether a sender halves its window or rate when its host is paused for it, at most once per round trip.
    pub halves_rate: bool,
}

/// A host that repeatedly pauses its switch regardless of load: all lossless classes, or the whole link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseStorm {
    /// Faulty host.
    pub node: NodeId,
    /// Start time.
    pub at: Time,
    /// End time. `None` for no end.
    pub until: Option<Time>,
}

/// Load balancing over equal-cost ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Per flow: the hash of the flow selects one path for all its frames.
    FlowHash,
    /// Per frame.
    PerPacket,
    /// The sender selects paths: data frames of a flow use all paths once per round, in random order. Replies are
    /// spread like [`Spread::PerPacket`].
    PerPath,
    /// Switches hash an entropy value in each data frame with the flow. A flow uses all its values once per round.
    /// Replies are spread like [`Spread::PerPacket`].
    PerEntropy {
        /// Entropy values per flow, a power of two from 1 to 65,536.
        values: u32,
    },
}

/// Action of a switch if all ports towards a destination are down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reroute {
    /// Drops the frame.
    None,
    /// Sends the frame to the live neighbours nearest to the destination in the fabric without failures.
    Local,
}

/// A manual route at one node, correct or not: models a misconfigured or half-converged switch. The first match
/// applies. Frames with an explicit path ignore it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// Node of the route.
    pub node: NodeId,
    /// Host index of the destination.
    pub to: u32,
    /// Host index of the source. `None` for all.
    pub from: Option<u32>,
    /// Equal-cost ports, ascending, at least one. Ports that are down are not used.
    pub ports: Vec<PortIndex>,
    /// Start time.
    pub at: Time,
    /// End time. `None` for no end.
    pub until: Option<Time>,
}

impl SwitchParameters {
    /// Returns whether any queue limit counts frames.
    pub fn counts_frames(&self) -> bool {
        let overload = match self.overload {
            Overload::Bounce { queue, .. } => Some(queue),
            Overload::Trim { header_queue, .. } => Some(header_queue),
            Overload::Drop | Overload::Detour => None,
        };
        let normal = if let Buffer::PerQueue { limit } = self.buffer { Some(limit) } else { None };
        [normal, overload].iter().any(|limit| matches!(limit, Some(QueueLimit::Packets(_))))
    }
}

/// Complete input of one run.
#[derive(Debug)]
pub struct Setup {
    /// Hosts, switches and links.
    pub fabric: Fabric,
    /// Routes of the fabric.
    pub forwarding: Forwarding,
    /// Explicit paths that flows may use.
    pub paths: PathTable,
    /// Manual routes, which take precedence over the routes of `forwarding`.
    pub static_routes: Vec<StaticRoute>,
    /// Tag rewriting at switches. `None` keeps the class of each frame.
    pub tags: Option<TagRules>,
    /// Load balancing over equal-cost ports.
    pub spread: Spread,
    /// Link failures.
    pub failures: Vec<Failure>,
    /// Rerouting by the switch next to a failed link.
    pub reroute: Reroute,
    /// Parameters of all switches.
    pub switch: SwitchParameters,
    /// Overrides for some switches. If several overrides set the same value of a switch, the last one applies.
    pub overrides: Vec<SwitchOverride>,
    /// User-defined overload action, which replaces that of `switch`.
    pub overload_rule: Option<CustomOverload>,
    /// User-defined rule for XOFF and XON of accounts under PAUSE or PFC.
    pub pause_rule: Option<CustomPause>,
    /// Switches outside flow control, ascending: they neither send nor obey its frames, and drop frames of any class
    /// that the buffer does not admit.
    pub without_flow_control: Vec<NodeId>,
    /// Gates of ports and clocks of switches.
    pub timing: Timing,
    /// Committed rates, for [`FlowControl::Florax`].
    pub committed_rates: Vec<CommittedRate>,
    /// Parameters of hosts.
    pub host: HostParameters,
    /// Flows and their sources.
    pub traffic: traffic::Plan,
    /// Delay of a notification between hosts. `None` for the least link delay.
    pub notification_delay: Option<Time>,
    /// End of the run.
    pub duration: Time,
    /// Whether the run ends before `duration`, as soon as all flows of finite size have ended.
    pub ends_with_flows: bool,
    /// End of the warm-up. Statistics exclude earlier events.
    pub warm_up: Time,
    /// End of the measurement, at most `duration`. Statistics exclude later events.
    pub measure_end: Time,
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Interval of deadlock checks. `None` for no checks.
    pub deadlock_every: Option<Time>,
    /// Definition of a bounce storm. `None` disables detection.
    pub storm: Option<StormParameters>,
    /// Time series, traces and captures to record.
    pub record: RecordParameters,
    /// Probability that a link loses a MAC control frame, in addition to the loss of the link, 0 to 1.
    pub control_loss: f64,
}
