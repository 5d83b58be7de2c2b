//! What a simulation is made of, after a scenario has been read and checked.

use crate::custom::{CustomOverload, CustomStop};
use fabric::routing::{Failure, Forwarding, PathTable};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::bounce_reaction::OnBounce;
use protocols::cbfc;
use protocols::florax::BackpressureParameters;
use protocols::headroom::{Conditions, Headroom};
use protocols::pabo::BounceParameters;
use protocols::phantom::PhantomParameters;
use protocols::pipeline_trim::{Control, ControlParameters};
use protocols::qcn::PointParameters;
use protocols::reaction::Reaction;
use protocols::transport::TransportParameters;
use protocols::trim::TrimParameters;
use protocols::watchdog::WatchdogParameters;
use units::{Rate, Time};

use std::collections::BTreeMap;

mod overrides;
mod recording;
mod timing;

pub use crate::clock::{MAX_DRIFT_PPB, NodeClock, NodeClocks};
pub use crate::tags::{TagError, TagRules};
pub use overrides::SwitchOverride;
pub use recording::{CaptureParameters, RecordParameters, StormParameters, TraceParameters};
pub use timing::Timing;

/// Traffic classes (802.1Q priorities).
pub const CLASSES: usize = 8;

/// A limit that is fixed or follows what is left of the shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// This many bytes.
    Static {
        /// Bytes.
        bytes: u64,
    },
    /// `alpha` times the free part of the shared buffer (Choudhury and Hahne, 1998).
    Dynamic {
        /// Numerator and denominator of alpha, both positive.
        alpha: (u32, u32),
    },
}

/// The largest buffer of a switch and the largest room of a queue, in bytes: queues and accounts count in 32 bits, so
/// that a queue fits one cache line. No switch has 4 GiB of packet buffer.
pub const MOST_BUFFER_BYTES: u64 = u32::MAX as u64;

/// How much a switch can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// One buffer for all ports; `egress` limits each lossy egress queue.
    Shared {
        /// Bytes in all, headroom included.
        bytes: u64,
        /// The most that a lossy queue may hold.
        egress: Threshold,
    },
    /// Every egress queue has room of its own.
    PerQueue {
        /// The most that a queue may hold.
        limit: QueueLimit,
    },
}

/// A queue's room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// In bytes of frames.
    Bytes(u64),
    /// In frames.
    Packets(u32),
}

impl QueueLimit {
    /// Whether a frame of `size_bytes` fits beside `frames` frames of `bytes` together.
    #[inline]
    pub fn fits(&self, frames: usize, bytes: u64, size_bytes: u16) -> bool {
        match *self {
            QueueLimit::Bytes(most) => bytes + u64::from(size_bytes) <= most,
            QueueLimit::Packets(most) => frames < most as usize,
        }
    }
}

/// When a switch stops its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// Never.
    None,
    /// 802.3x: the whole port.
    Pause(PauseParameters),
    /// 802.1Qbb: the classes of `classes`.
    Pfc(PauseParameters),
    /// Credits: a neighbour sends only what there is room for.
    Credit(CreditParameters),
    /// The output decides, by flow. Takes [`Buffer::PerQueue`], whose limit then holds for all that waits at a port.
    Florax(BackpressureParameters),
    /// The output decides, by destination; as above.
    Destination(BackpressureParameters),
    /// The output decides, and stops whole ports by 802.3x; as above.
    PauseAtOutput(BackpressureParameters, Reaction),
}

/// An agreed rate (service level) of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Host index of its source.
    pub from: u32,
    /// Host index of its destination.
    pub to: u32,
    /// On the wire.
    pub rate: Rate,
}

impl FlowControl {
    /// The parameters of those kinds that stop by ingress account.
    pub fn pause(&self) -> Option<&PauseParameters> {
        match self {
            FlowControl::Pause(parameters) | FlowControl::Pfc(parameters) => Some(parameters),
            _ => None,
        }
    }

    /// The parameters of those kinds where the output decides.
    pub fn backpressure(&self) -> Option<&BackpressureParameters> {
        match self {
            FlowControl::Florax(backpressure)
            | FlowControl::Destination(backpressure)
            | FlowControl::PauseAtOutput(backpressure, _) => Some(backpressure),
            _ => None,
        }
    }

    /// From the arrival of a PAUSE or PFC frame to its effect, where there are such.
    pub fn reaction(&self) -> Option<Reaction> {
        match self {
            FlowControl::Pause(parameters) | FlowControl::Pfc(parameters) => Some(parameters.reaction),
            FlowControl::PauseAtOutput(_, reaction) => Some(*reaction),
            _ => None,
        }
    }

    /// Lossless accounts of a port whose pause frames may leave together, where `used` has a bit for each class in use:
    /// one of 802.3x, one for each lossless class of PFC.
    pub fn pausing_accounts(&self, used: u8) -> u64 {
        match self {
            FlowControl::Pause(_) | FlowControl::PauseAtOutput(..) => 1,
            FlowControl::Pfc(parameters) => u64::from((parameters.classes & used).count_ones()),
            _ => 0,
        }
    }

    /// Headroom of a lossless account of a port on a link of `rate` and `delay`, as computed from what neighbours may
    /// take to stop; `None` where nobody is stopped by PAUSE or PFC.
    pub fn computed_headroom(&self, rate: Rate, delay: Time, mtu_bytes: u16, used: u8) -> Option<Headroom> {
        let conditions = Conditions::new(mtu_bytes.into(), self.reaction()?, self.pausing_accounts(used));
        Some(Headroom::of(rate, delay, &conditions))
    }

    /// The parameters of credits.
    pub fn credit(&self) -> Option<&CreditParameters> {
        if let FlowControl::Credit(parameters) = self { Some(parameters) } else { None }
    }

    /// Whether what waits in a switch stops its neighbours until it leaves: only then a cycle of buffers can lock up.
    /// Where the output decides, every stop ends by itself.
    pub fn may_lock(&self) -> bool {
        self.pause().is_some() || self.credit().is_some()
    }

    /// The classes that must not lose frames, a bit each.
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

/// PAUSE and PFC have the same clockwork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseParameters {
    /// The lossless classes, a bit each; all for 802.3x.
    pub classes: u8,
    /// An ingress account above this sends XOFF.
    pub xoff: Threshold,
    /// An ingress account this much below XOFF, or empty, sends XON.
    pub xon_offset_bytes: u64,
    /// Room of each lossless account beyond XOFF, for what is still on its way; `None` computes it per
    /// port (see [`FlowControl::computed_headroom`]).
    pub headroom_bytes: Option<u64>,
    /// How long a pause lasts unless renewed, in units of 512 bit times of the link, 1 to 65535.
    pub quanta: u16,
    /// From the arrival of a pause to its effect, and what computed headroom reserves for that.
    pub reaction: Reaction,
    /// What ends pauses that last too long, at switches.
    pub watchdog: Option<WatchdogParameters>,
}

/// Credit-based flow control, see [`protocols::cbfc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditParameters {
    /// The lossless classes, a bit each.
    pub classes: u8,
    /// Room for each class at the far end of each link, at least the largest frame; `None` computes it per link.
    pub credits_bytes: Option<u64>,
    /// How much room must have come free before it is granted; `None` for the largest frame.
    pub update_bytes: Option<u64>,
    /// Each port sends the credits of all its classes at every multiple of this time, above zero.
    pub regrant: Time,
}

impl CreditParameters {
    /// Room for a class at the far end of a link of `rate` and one-way `delay`, and how much of it is worth a message.
    pub fn on_link(&self, rate: Rate, delay: Time, mtu_bytes: u64) -> (u64, u64) {
        let update = self.update_bytes.unwrap_or(mtu_bytes);
        let credits = self.credits_bytes.unwrap_or_else(|| cbfc::sufficient_credits(rate, delay, mtu_bytes, update));
        (credits, update)
    }
}

/// What becomes of a frame that finds no room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overload {
    /// It is lost.
    Drop,
    /// It turns around, and does so with some probability before its queue is full (PABO). Every queue is a pair:
    /// `queue` is the room of that for frames which were bounced before, [`Buffer::PerQueue`] of the other.
    Bounce {
        /// When, which way, which classes.
        pabo: BounceParameters,
        /// Room of each bounce queue.
        queue: QueueLimit,
    },
    /// It leaves by a random other port towards a switch (DIBS).
    Detour,
    /// It loses its payload, and its header goes on in a queue of its own (NDP).
    Trim {
        /// What is cut, and where headers go.
        trim: TrimParameters,
        /// Room of the queue of headers beside [`Buffer::PerQueue`]; a shared buffer treats it as any other.
        header_queue: QueueLimit,
        /// What of the switch's inside decides; `None` for a switch that cuts in its queues.
        inside: Option<PipelineParameters>,
    },
}

impl Overload {
    /// The inside of switches, where it is modelled.
    pub fn inside(&self) -> Option<&PipelineParameters> {
        match self {
            Overload::Trim { inside, .. } => inside.as_ref(),
            _ => None,
        }
    }
}

/// The inside of a switch that trims with what its pipelines offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineParameters {
    /// Ingress pipelines, 1 to 64.
    pub pipelines: u16,
    /// Consecutive ports of each; ports beyond the last pipeline begin again with the first. `None` shares the ports of
    /// a switch evenly.
    pub ports_per_pipeline: Option<u16>,
    /// What becomes of a frame that its queue refuses.
    pub overflow: Overflow,
    /// What ingress pipelines do before any queue.
    pub control: ControlParameters,
    /// Rate of the recirculation port of each pipeline.
    pub recirculation_rate: Rate,
    /// From the last bit on that port to the ingress of the same pipeline.
    pub recirculation_latency: Time,
    /// Room before each recirculation port; `None` for no limit.
    pub deflect_queue: Option<QueueLimit>,
    /// From the moment when a frame leaves that queue until pipelines act on it.
    pub signal_delay: Time,
    /// Which pipelines do.
    pub notified: Notified,
    /// Stages between a look at the queue, at ingress, and the queue; `None` where ingress cannot look.
    pub stages: Option<u32>,
    /// Time of a stage, and between two frames of a pipeline that looks.
    pub cycle: Time,
}

impl PipelineParameters {
    /// Whether congestion signals change anything.
    pub fn listens(&self) -> bool {
        !matches!(self.control.control, Control::None | Control::Meter)
    }
}

/// What a full queue does with a frame, in a switch whose inside is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The whole frame goes to the recirculation port (deflect on drop).
    Deflect,
    /// Its header does (mirror on drop).
    Mirror,
}

/// Which pipelines hear of a deflected frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// All.
    All,
    /// That by which the frame came.
    Origin,
}

/// How a switch marks frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// Not at all.
    None,
    /// Congestion experienced, by the length of the egress queue that the frame enters or leaves: never up to
    /// `k_min_bytes`, always above `k_max_bytes`, between them with a probability that rises linearly to
    /// `p_max` (RED without averaging, as DCQCN uses it). Equal thresholds make DCTCP's step.
    Ecn {
        /// Where marking begins.
        k_min_bytes: u64,
        /// Where every frame is marked, at least `k_min_bytes`.
        k_max_bytes: u64,
        /// The probability just below `k_max_bytes`, 0 to 1.
        p_max: f64,
        /// The rate of the ports that the thresholds are for; ports of other rates have them in proportion. Without it
        /// all ports have the same.
        of_rate: Option<Rate>,
        /// When the queue is looked at.
        at: MarkAt,
    },
    /// Congestion experienced, by a counter beside each port of what would wait if its link were slower (HULL).
    Phantom(PhantomParameters),
    /// Not at all: queues are congestion points, which notify the sources of sampled frames (QCN).
    CongestionPoint(PointParameters),
}

impl Marking {
    /// The parameters of congestion points, if that is what it is.
    pub fn congestion_point(&self) -> Option<&PointParameters> {
        if let Marking::CongestionPoint(parameters) = self { Some(parameters) } else { None }
    }
}

/// When a switch decides whether a frame is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// As it joins its queue, by what is before it.
    Enqueue,
    /// As its transmission starts, by what is left behind it.
    Dequeue,
}

/// Which class a port serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The highest class that may send.
    Strict,
    /// `weights[class]` frames a round, each at least 1.
    Wrr {
        /// Frames a round.
        weights: [u16; CLASSES],
    },
    /// Deficit round robin (Shreedhar and Varghese, 1996).
    Drr {
        /// Bytes a round, each at least 1.
        quantum_bytes: [u32; CLASSES],
    },
}

/// One kind of switch; all switches of a fabric are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchParameters {
    /// Its memory.
    pub buffer: Buffer,
    /// When it stops its neighbours.
    pub flow_control: FlowControl,
    /// What it does without room.
    pub overload: Overload,
    /// How it marks.
    pub marking: Marking,
    /// How a port chooses among classes; hosts use the same.
    pub scheduler: Scheduler,
}

/// How the two ends of the fabric behave.
#[derive(Clone, Debug)]
pub struct HostParameters {
    /// What carries flows.
    pub transport: TransportParameters,
    /// What carries those of some traffic entries instead, by entry. No more than one transport of a run is driven by
    /// its receivers.
    pub transports: BTreeMap<u8, TransportParameters>,
    /// What hosts take for the time.
    pub clocks: NodeClocks,
    /// The class of acknowledgements and notifications; `None` uses the class of the data.
    pub reply_class: Option<u8>,
    /// Whether hosts stop when a PAUSE or PFC frame tells them to.
    pub obeys_pause: bool,
    /// Whether receivers tell their senders of trimmed frames.
    pub hears_trims: bool,
    /// A host with the pause-storm fault: its network card pauses its switch without end.
    pub pause_storm: Option<PauseStorm>,
    /// What senders do about frames of their own that switches bounced back to them.
    pub on_bounce: OnBounce,
    /// Who does not stop, and what senders do when their host is stopped.
    pub stopping: Stopping,
    /// TTL of new frames, 1 to 255.
    pub ttl: u8,
    /// The largest frame that any transport or datagram source of the run makes, for headroom.
    pub mtu_bytes: u16,
}

/// How hosts take being stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopping {
    /// Host indices of those that go on whatever they are told, ascending.
    pub disobedient: Vec<u32>,
    /// Whether a sender halves its window or rate, at most once a round trip, when its host is told to stop it.
    pub halves: bool,
}

/// A host that tells its switch to stop, again and again, whatever happens: all lossless classes, or its whole link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseStorm {
    /// The host.
    pub node: NodeId,
    /// From when.
    pub at: Time,
    /// Until when; `None`: for ever.
    pub until: Option<Time>,
}

/// How a switch chooses among equal-cost ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// By the flow's hash: every frame of a flow takes the same path.
    FlowHash,
    /// Every frame for itself.
    PerPacket,
    /// By the sender: data frames of a flow take all paths in random order, then all again. Replies go as with
    /// [`Spread::PerPacket`].
    PerPath,
    /// By an entropy value in each data frame, which switches hash with the flow. A flow takes all its values, then
    /// all again. Replies go as with [`Spread::PerPacket`].
    PerEntropy {
        /// Entropy values of a flow, a power of two from 1 to 65,536.
        values: u32,
    },
}

/// What a switch does when every port towards a destination is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reroute {
    /// It drops the frame.
    None,
    /// It sends it to the live neighbours nearest to the destination in the healthy fabric.
    Local,
}

/// A route set by hand at one node, good or bad: a misconfigured or half-converged switch. The first that
/// matches decides; frames with an explicit path keep that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The switch.
    pub node: NodeId,
    /// Host index of the destination.
    pub to: u32,
    /// Host index of the source; `None`: all.
    pub from: Option<u32>,
    /// Equal ports, ascending, at least one. A frame never goes by one that is dead.
    pub ports: Vec<PortIndex>,
    /// From when.
    pub at: Time,
    /// Until when; `None`: for ever.
    pub until: Option<Time>,
}

impl SwitchParameters {
    /// Whether any queue is limited in frames.
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

/// Everything about one run.
#[derive(Debug)]
pub struct Setup {
    /// Hosts, switches, links.
    pub fabric: Fabric,
    /// Its routes.
    pub forwarding: Forwarding,
    /// Explicit paths that flows may name.
    pub paths: PathTable,
    /// Routes set by hand, against the ordinary ones.
    pub pins: Vec<Pin>,
    /// How switches rewrite tags; `None` where frames keep their class.
    pub tags: Option<TagRules>,
    /// How equal-cost ports are chosen.
    pub spread: Spread,
    /// Links that fail.
    pub failures: Vec<Failure>,
    /// What happens next to a failed link.
    pub reroute: Reroute,
    /// The switches.
    pub switch: SwitchParameters,
    /// What some switches do otherwise; of several that concern one, the last decides.
    pub overrides: Vec<SwitchOverride>,
    /// An action on overload of a program's own, in place of that of `switch`.
    pub overload_rule: Option<CustomOverload>,
    /// When accounts stop their neighbours by a program's own rule, in place of XOFF and XON of PAUSE or PFC.
    pub stop_rule: Option<CustomStop>,
    /// Switches that take no part in its flow control, ascending: they neither send nor obey its frames, and drop
    /// frames of every class that find no room.
    pub outside: Vec<NodeId>,
    /// Gates of ports, and clocks of switches.
    pub timing: Timing,
    /// Agreed rates, for [`FlowControl::Florax`].
    pub agreements: Vec<Agreement>,
    /// The hosts.
    pub host: HostParameters,
    /// Who sends what.
    pub traffic: traffic::Plan,
    /// Delay of a notification from one host to another; `None` for the least link delay.
    pub notification_delay: Option<Time>,
    /// When the run ends.
    pub duration: Time,
    /// Whether it ends before, once all flows that have an end have ended.
    pub ends_with_flows: bool,
    /// What happens before this does not count in statistics.
    pub warm_up: Time,
    /// What happens from here on does not count either; at most `duration`.
    pub measure_end: Time,
    /// The run's seed.
    pub seed: u64,
    /// Threads, at least 1.
    pub threads: usize,
    /// How often a deadlock is looked for; `None` for never.
    pub deadlock_every: Option<Time>,
    /// What a bounce storm is; `None` looks for none.
    pub storm: Option<StormParameters>,
    /// What else to watch and write down.
    pub record: RecordParameters,
}
