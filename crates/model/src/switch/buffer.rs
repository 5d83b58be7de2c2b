//! The packet buffer: queues, admission, thresholds, and ingress accounts with their headroom.

use super::load::Loads;
use super::outcome::Crossing;
use crate::custom::{Account, CustomPause, PauseRule};
use crate::departures::Departures;
use crate::egress::{Head, PortState};
use crate::network::Network;
use crate::parameters::{self, FlowControl, Overload, QueueLimit, Threshold};
use crate::queue::Queues;
use fabric::{NodeId, PortIndex};
use protocols::frame::Frame;
use protocols::pause::IngressAccount;
use units::Time;

/// A [`Threshold`] prepared for the hot path: `(free * factor) >> shift`, with a division only if the denominator of
/// alpha is no power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    factor: u64,
    divisor: u64,
    shift: u32,
    /// A static threshold in bytes, independent of the free bytes.
    fixed: Option<u64>,
}

impl Limit {
    /// No limit.
    pub const NONE: Limit = Limit { factor: 1, divisor: 1, shift: 0, fixed: Some(u64::MAX) };

    pub fn new(threshold: Threshold) -> Limit {
        match threshold {
            Threshold::Static { bytes } => Limit { fixed: Some(bytes), ..Limit::NONE },
            Threshold::Dynamic { alpha: (numerator, denominator) } => {
                let divisor = u64::from(denominator);
                let shift = if divisor.is_power_of_two() { divisor.ilog2() } else { u32::MAX };
                Limit { factor: u64::from(numerator), divisor, shift, fixed: None }
            }
        }
    }

    /// Placeholder for a threshold from a custom rule: see [`Limit::bytes_or`].
    pub const RULE: Limit = Limit { factor: 0, divisor: 0, shift: u32::MAX, fixed: None };

    /// Returns the threshold in bytes while `free` bytes of the shared buffer are unused.
    #[inline]
    pub fn bytes(&self, free: u64) -> u64 {
        self.bytes_or(free, || u64::MAX)
    }

    /// Like [`Limit::bytes`], with `rule` for [`Limit::RULE`].
    #[inline]
    fn bytes_or(&self, free: u64, rule: impl FnOnce() -> u64) -> u64 {
        match self.fixed {
            Some(bytes) => bytes,
            None if self.shift < 64 => (free * self.factor) >> self.shift,
            None => (free * self.factor).checked_div(self.divisor).unwrap_or_else(rule),
        }
    }
}

/// A custom XOFF and XON rule of a library user, with the data that its calls need.
#[derive(Debug)]
pub(super) struct CustomPauseRule {
    node: NodeId,
    /// Class of each account slot.
    classes: Vec<u8>,
    rule: CustomPause,
}

/// Positions of queues and accounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Slot of each class.
    class_slot: [u8; 8],
    /// Number of normal queues of a port: one per class in use.
    pub slots: usize,
    /// Number of accounts of a port: one under 802.3x, otherwise one per class in use.
    pub account_slots: usize,
    /// Offset from a queue to its bounce queue; 0 without bounce queues.
    pub bounce_offset: usize,
}

/// Limits of queues and accounts.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Bitmask of the lossless classes.
    pub lossless: u8,
    /// Limit of each queue; `None` with a shared buffer.
    pub(super) queue: Option<QueueLimit>,
    /// Limit of a lossy queue in a shared buffer.
    pub(super) egress: Limit,
    /// XOFF threshold of an account.
    pub(super) xoff: Limit,
    /// Offset of the XON threshold below the XOFF threshold, in bytes.
    pub xon_offset_bytes: u64,
    /// Custom rule that replaces XOFF and XON, if a library user supplies one.
    pub(super) pause_rule: Option<Box<CustomPauseRule>>,
}

/// Occupancy of the buffer: size of the shared pool, current and maximum use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupancy {
    /// Size of the shared pool, which excludes headroom, in bytes. `shared_used` is its occupancy.
    shared_bytes: u64,
    pub shared_used: u64,
    pub used: u64,
    /// Maximum of `used`.
    pub max: u64,
}

/// The start of the transmission of a frame that leaves the buffer. A trait and not a closure, because a closure cannot
/// be declared `inline(always)`.
pub(super) trait Transmission {
    /// Puts `frame`, the head of its queue, onto the wire.
    fn start(self, frame: &Frame);
}

/// A frame that has left the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departed {
    pub in_port: u16,
    pub in_class: u8,
    /// Whether no other frame of its class waits for the port.
    pub is_last: bool,
}

/// All queued frames of a switch, and the limits for the admission of further frames.
#[derive(Debug)]
pub(crate) struct PacketBuffer {
    /// Queues by port, then slot of the class. The bounce queues follow in the same order.
    pub queues: Queues,
    pub layout: Layout,
    pub limits: Limits,
    pub occupancy: Occupancy,
    /// Ingress accounts by port, then slot of the class (one slot for 802.3x).
    pub accounts: Vec<IngressAccount>,
    /// Headroom of each account in bytes. Under credit-based flow control, the whole buffer space of the account.
    pub(super) headroom: Vec<u64>,
    /// Maximum length of each queue in frames, if a limit counts frames.
    pub max_frames: Option<Box<[u32]>>,
    /// Utilisation and queue length measurements, if enabled.
    pub(super) loads: Option<Box<Loads>>,
}

impl PacketBuffer {
    /// Creates the buffer of `node`, for ports with these `rules`.
    pub fn new(network: &Network, node: NodeId, rules: &[PortState]) -> PacketBuffer {
        let parameters = network.switch_of(node);
        let control = network.flow_control_of(node);
        let slots = network.classes.len();
        let account_slots = if matches!(control, FlowControl::Pause(_)) { 1 } else { slots };
        let mut headroom = vec![0; rules.len() * account_slots];
        for (port, rules) in rules.iter().enumerate() {
            for slot in 0..account_slots {
                headroom[port * account_slots + slot] = network.headroom(node, rules.link.rate, rules.link.delay, slot);
            }
        }
        let (shared_bytes, queue_limit, egress_limit) = match parameters.buffer {
            parameters::Buffer::Shared { bytes, egress } => {
                (bytes.saturating_sub(headroom.iter().sum()), None, Limit::new(egress))
            }
            parameters::Buffer::PerQueue { limit } => (u64::MAX, Some(limit), Limit::NONE),
        };
        let xoff_limit = match *control {
            FlowControl::None
            | FlowControl::Florax(_)
            | FlowControl::Destination(_)
            | FlowControl::PauseAtOutput(..) => Limit::NONE,
            FlowControl::Pause(_) | FlowControl::Pfc(_) if network.switches.pause_rule.is_some() => Limit::RULE,
            FlowControl::Pause(pause) | FlowControl::Pfc(pause) => Limit::new(pause.xoff),
            // Frames under credit-based flow control use reserved buffer space, so none of their bytes count against
            // the shared pool.
            FlowControl::Credit(_) => Limit::new(Threshold::Static { bytes: 0 }),
        };
        let normal = rules.len() * slots;
        let bounce_offset = if matches!(parameters.overload, Overload::Bounce { .. }) { normal } else { 0 };
        PacketBuffer {
            queues: Queues::new(normal + bounce_offset),
            layout: Layout { class_slot: network.class_slot, slots, account_slots, bounce_offset },
            limits: Limits {
                lossless: control.lossless(),
                queue: queue_limit,
                egress: egress_limit,
                xoff: xoff_limit,
                xon_offset_bytes: control.pause().map_or(0, |pause| pause.xon_offset_bytes),
                pause_rule: network.switches.pause_rule.clone().map(|rule| {
                    let classes = if account_slots == 1 { vec![0] } else { network.classes.clone() };
                    Box::new(CustomPauseRule { node, classes, rule })
                }),
            },
            occupancy: Occupancy { shared_bytes, shared_used: 0, used: 0, max: 0 },
            accounts: vec![IngressAccount::default(); rules.len() * account_slots],
            headroom,
            max_frames: parameters.counts_frames().then(|| vec![0; normal + bounce_offset].into()),
            loads: Loads::new(network, node, rules.len(), normal, bounce_offset),
        }
    }

    /// Returns the bytes that wait for `port`, over all classes.
    #[cold]
    pub fn waiting_bytes(&self, port: u16) -> u64 {
        let first = usize::from(port) * self.layout.slots;
        let of = |first: usize| {
            self.queues[first..first + self.layout.slots].iter().map(|queue| u64::from(queue.bytes)).sum()
        };
        let paired: u64 = if self.layout.bounce_offset == 0 { 0 } else { of(first + self.layout.bounce_offset) };
        of(first) + paired
    }

    #[inline]
    pub fn queue_index(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.layout.slots + usize::from(self.layout.class_slot[usize::from(class & 7)])
    }

    /// Returns the position of the queue at `index` among the queues of `port`; bounce queues last.
    pub fn queue_of_port(&self, port: u16, index: usize) -> usize {
        let first = usize::from(port) * self.layout.slots;
        if self.layout.bounce_offset != 0 && index >= self.layout.bounce_offset {
            index - self.layout.bounce_offset - first + self.layout.slots
        } else {
            index - first
        }
    }

    #[inline]
    pub fn account_index(&self, port: u16, class: u8) -> usize {
        let slot = if self.layout.account_slots == 1 {
            0
        } else {
            usize::from(self.layout.class_slot[usize::from(class & 7)])
        };
        usize::from(port) * self.layout.account_slots + slot
    }

    /// Returns the bytes of the account of (`port`, `class`).
    pub fn account_bytes(&self, port: u16, class: u8) -> u64 {
        self.accounts[self.account_index(port, class)].bytes.into()
    }

    /// Returns the index of the queue from which the next frame of `class` leaves by `port`. Bounced frames have
    /// priority.
    #[inline]
    pub fn next_queue(&self, port: u16, class: u8) -> usize {
        let index = self.queue_index(port, class);
        if self.layout.bounce_offset != 0 && !self.queues[index + self.layout.bounce_offset].is_empty() {
            index + self.layout.bounce_offset
        } else {
            index
        }
    }

    /// Returns the head (next frame) of `class` at `port`.
    #[inline]
    pub fn head(&self, port: u16, class: u8) -> Option<Head> {
        self.queues[self.next_queue(port, class)].front().map(Head::of)
    }

    /// Returns the queue indices of `port`; bounce queues last.
    pub fn queues_of(&self, port: u16) -> impl Iterator<Item = usize> + use<> {
        let first = usize::from(port) * self.layout.slots;
        // Bounce queues follow all other queues.
        let pair = if self.layout.bounce_offset == 0 {
            0..0
        } else {
            first + self.layout.bounce_offset..first + self.layout.bounce_offset + self.layout.slots
        };
        (first..first + self.layout.slots).chain(pair)
    }

    /// Returns whether no frame of this class waits at the port, after the queue at `index` became empty. With
    /// bounce queues, the other queue of the pair must be empty, too.
    #[inline]
    pub fn class_is_empty(&self, index: usize) -> bool {
        if self.layout.bounce_offset == 0 {
            return true;
        }
        let other = if index < self.layout.bounce_offset {
            index + self.layout.bounce_offset
        } else {
            index - self.layout.bounce_offset
        };
        self.queues[other].is_empty()
    }

    /// Appends a copy of `frame` to the queue at `index`, with TTL and hops of the next hop and with `mark` added to
    /// its flags.
    #[inline(always)] // hot: runs once per packet-hop, like Core::forward
    pub fn push(&mut self, index: usize, crossing: Crossing, frame: &Frame, mark: u8) {
        let mut queue = self.queues.at(index);
        queue.push(frame, |slot| {
            (slot.in_port, slot.in_class) = (crossing.in_port, crossing.in_class);
            (slot.ttl, slot.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
            slot.flags = frame.flags | mark;
        });
        if let Some(most) = &mut self.max_frames {
            most[index] = most[index].max(queue.len() as u32);
        }
        self.note_load(frame.at, index);
    }

    /// Removes the head of the queue at `index` and releases its buffer space.
    pub fn drop_front(&mut self, now: Time, index: usize) -> Option<Frame> {
        let mut queue = self.queues.at(index);
        let frame = *queue.front()?;
        queue.drop_front(now);
        self.note_load(now, index);
        self.release(frame.in_port, frame.in_class, frame.size_bytes);
        Some(frame)
    }

    #[inline]
    fn free_bytes(&self) -> u64 {
        self.occupancy.shared_bytes - self.occupancy.shared_used
    }

    /// Returns whether a frame of `size_bytes` does not fit into the lossy queue at `index`.
    pub fn is_full(&self, index: usize, size_bytes: u16) -> bool {
        let queue = &self.queues[index];
        match self.limits.queue {
            Some(limit) => !limit.fits(queue.len(), u64::from(queue.bytes), size_bytes),
            None => {
                let free = self.free_bytes();
                u64::from(size_bytes) > free
                    || u64::from(queue.bytes) + u64::from(size_bytes) > self.limits.egress.bytes(free)
            }
        }
    }

    /// Restarts all measurements at `now`.
    pub fn reset(&mut self, now: Time) {
        self.queues.reset(now);
        self.occupancy.max = self.occupancy.used;
        self.reset_loads(now);
    }

    /// Returns the bytes above which the account at `index` sends XOFF.
    #[inline]
    pub fn xoff_bytes(&self, index: usize) -> u64 {
        self.limits
            .xoff
            .bytes_or(self.free_bytes(), || self.custom_threshold(index, |rule, account| rule.xoff_bytes(account)))
    }

    /// Returns the bytes at or below which the paused account at `index` sends XON.
    pub fn xon_bytes(&self, index: usize) -> u64 {
        let offset = || self.xoff_bytes(index).saturating_sub(self.limits.xon_offset_bytes);
        match self.limits.pause_rule {
            Some(_) => {
                self.custom_threshold(index, |rule, account| rule.xon_bytes(account)).min(self.xoff_bytes(index))
            }
            None => offset(),
        }
    }

    /// Returns the result of the custom rule for an account.
    #[cold]
    #[inline(never)]
    fn custom_threshold(&self, index: usize, ask: impl Fn(&dyn PauseRule, &Account) -> u64) -> u64 {
        let Some(of) = &self.limits.pause_rule else { return u64::MAX };
        let account = Account {
            node: of.node,
            port: (index / self.layout.account_slots) as PortIndex,
            class: of.classes[index % self.layout.account_slots],
            bytes: self.accounts[index].bytes.into(),
            free_bytes: self.free_bytes(),
            pausing_accounts: self.accounts.iter().filter(|account| account.paused).count() as u32,
        };
        ask(&*of.rule.0, &account)
    }

    /// Reserves room for a frame in the queue at `index`. Returns false if the frame does not fit. The egress class
    /// selects the lossless or lossy limits; the bytes are charged to the ingress account.
    ///
    /// With [`Lazy`](crate::departures::Lazy) departures, also returns false if exact counters could admit the frame,
    /// or if an account would cross XOFF. If it returns true, exact counters admit the frame, too. The caller updates
    /// the maximum of the buffer occupancy.
    #[inline(always)] // hot: runs once per packet-hop
    pub(super) fn admit<D: Departures>(&mut self, index: usize, crossing: Crossing, size_bytes: u16) -> bool {
        let Crossing { in_port, in_class, class, .. } = crossing;
        let bytes = u64::from(size_bytes);
        let queue = &self.queues[index];
        match self.limits.queue {
            Some(limit) => {
                if !limit.fits(queue.len(), u64::from(queue.bytes), size_bytes) {
                    return false;
                }
            }
            None if self.limits.lossless & (1 << class) != 0 => {
                if !self.reserve_lossless::<D>(self.account_index(in_port, in_class), bytes) {
                    return false;
                }
            }
            None => {
                let free = self.free_bytes();
                if bytes > free || u64::from(queue.bytes) + bytes > self.limits.egress.bytes(free) {
                    return false;
                }
                self.occupancy.shared_used += bytes;
            }
        }
        self.charge(in_port, in_class, size_bytes);
        if !D::LAZY {
            self.update_peak();
        }
        true
    }

    /// Reserves `bytes` for a lossless frame of the account at `index`: in the shared pool up to XOFF, then in
    /// headroom.
    #[inline(always)] // hot: runs once per packet-hop, like admit
    fn reserve_lossless<D: Departures>(&mut self, index: usize, bytes: u64) -> bool {
        let free = self.free_bytes();
        // Lazy admission must not cross XOFF. XOFF is tested after admission, when a dynamic threshold is lower because
        // fewer bytes are free.
        let xoff = if !D::LAZY {
            self.xoff_bytes(index)
        } else if bytes <= free {
            self.limits.xoff.bytes(free - bytes)
        } else {
            return false;
        };
        let account = &mut self.accounts[index];
        if u64::from(account.bytes) + bytes <= xoff && bytes <= free {
            self.occupancy.shared_used += bytes;
            return true;
        }
        if D::LAZY || u64::from(account.headroom_bytes) + bytes > self.headroom[index] {
            return false;
        }
        account.headroom_bytes += bytes as u32;
        account.headroom_max_bytes = account.headroom_max_bytes.max(account.headroom_bytes);
        true
    }

    /// Returns whether a frame of `size_bytes` leaves the maximum occupancy unchanged. The counters may include
    /// frames that have already left, so the true result may be true although this function returns false.
    #[inline(always)]
    pub fn stays_below_peak(&self, size_bytes: u16) -> bool {
        self.occupancy.used + u64::from(size_bytes) <= self.occupancy.max
    }

    /// Updates the maximum occupancy. The counters must be exact.
    #[inline(always)] // hot: runs once per packet-hop, like admit
    pub fn update_peak(&mut self) {
        self.occupancy.max = self.occupancy.max.max(self.occupancy.used);
    }

    /// Charges a frame without checking limits, for callers that apply their own.
    pub fn admit_unlimited(&mut self, in_port: u16, class: u8, size_bytes: u16) {
        self.charge(in_port, class, size_bytes);
        self.update_peak();
    }

    /// Charges an admitted frame to its account and the buffer.
    #[inline(always)] // hot: runs once per packet-hop, like admit
    fn charge(&mut self, in_port: u16, class: u8, size_bytes: u16) {
        if self.limits.lossless != 0 {
            let index = self.account_index(in_port, class);
            self.accounts[index].bytes += u32::from(size_bytes);
        }
        self.occupancy.used += u64::from(size_bytes);
    }

    /// Removes the first frame of the queue at `index`, whose transmission starts at `now`, and releases its buffer
    /// space. `None` if the queue is empty.
    #[inline(always)] // hot: runs once per packet-hop
    pub(super) fn dequeue<D: Departures>(
        &mut self,
        now: Time,
        index: usize,
        transmission: impl Transmission,
    ) -> Option<Departed> {
        let mut queue = self.queues.at(index);
        let frame = queue.front()?;
        let (enqueued_at, in_port, in_class, size_bytes) = (frame.at, frame.in_port, frame.in_class, frame.size_bytes);
        transmission.start(frame);
        queue.pop_front_known(now, enqueued_at, size_bytes);
        let is_empty = queue.is_empty();
        if !D::LAZY {
            self.note_load(now, index);
        }
        self.release(in_port, in_class, size_bytes);
        Some(Departed { in_port, in_class, is_last: is_empty && (D::LAZY || self.class_is_empty(index)) })
    }

    /// Releases the buffer space of a frame whose transmission starts, headroom first.
    #[inline]
    pub fn release(&mut self, in_port: u16, in_class: u8, size_bytes: u16) {
        let bytes = u32::from(size_bytes);
        let mut shared = bytes;
        if self.limits.lossless != 0 {
            let index = self.account_index(in_port, in_class);
            let account = &mut self.accounts[index];
            account.bytes -= bytes;
            let headroom = account.headroom_bytes.min(bytes);
            account.headroom_bytes -= headroom;
            shared -= headroom;
        }
        self.occupancy.used -= u64::from(bytes);
        if self.occupancy.shared_bytes != u64::MAX {
            self.occupancy.shared_used -= u64::from(shared);
        }
    }
}
