//! The packet buffer: queues, who finds room in them, thresholds, and the accounts of ingress ports with their
//! headroom.

use super::load::Loads;
use super::outcome::Crossing;
use super::peak::Peaks;
use crate::custom::{Account, CustomStop, StopRule};
use crate::egress::{Head, Rules};
use crate::network::Network;
use crate::parameters::{self, FlowControl, Overload, QueueLimit, Threshold};
use crate::queue::Queues;
use fabric::{NodeId, PortIndex};
use protocols::frame::Frame;
use protocols::pause::IngressAccount;
use units::Time;

/// A [`Threshold`] made ready for use with every frame: `(free * factor) >> shift`, but no more than
/// `most`; a division only where alpha's denominator is no power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    factor: u64,
    divisor: u64,
    shift: u32,
    /// A static threshold, whatever is free.
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

    /// One that is no number, but a rule's: see [`Limit::bytes_or`].
    pub const RULE: Limit = Limit { factor: 0, divisor: 0, shift: u32::MAX, fixed: None };

    /// The threshold in bytes while `free` bytes of the shared buffer are unused.
    #[inline]
    pub fn bytes(&self, free: u64) -> u64 {
        self.bytes_or(free, || u64::MAX)
    }

    /// The same, where a rule may decide.
    #[inline]
    fn bytes_or(&self, free: u64, rule: impl FnOnce() -> u64) -> u64 {
        match self.fixed {
            Some(bytes) => bytes,
            None if self.shift < 64 => (free * self.factor) >> self.shift,
            None => (free * self.factor).checked_div(self.divisor).unwrap_or_else(rule),
        }
    }
}

/// A rule that a library user brought along, and whose accounts it is asked about.
#[derive(Debug)]
pub(super) struct RuleOfAccounts {
    node: NodeId,
    /// By slot of an account.
    classes: Vec<u8>,
    rule: CustomStop,
}

/// What waits in a switch, and what room there is for more.
#[derive(Debug)]
pub(crate) struct PacketBuffer {
    /// By port, then slot of the class; after all of them the bounce queues in the same order.
    pub queues: Queues,
    /// The most frames that each queue ever held, where a limit counts frames.
    pub most_frames: Option<Box<[u32]>>,
    /// From a queue to the bounce queue of its pair in `queues`; 0 where there are no pairs.
    pub pairs: usize,
    /// The slot of each class.
    class_slot: [u8; 8],
    pub(super) slots: usize,
    /// By ingress port, then slot of the class (one slot for 802.3x).
    pub accounts: Vec<IngressAccount>,
    pub(super) account_slots: usize,
    /// Room of each account beyond XOFF.
    pub(super) headroom: Vec<u64>,
    /// Lossless classes, a bit each.
    pub(super) lossless: u8,
    /// The limit of each queue, where there is no shared buffer.
    pub(super) queue_limit: Option<QueueLimit>,
    pub(super) egress_limit: Limit,
    pub(super) xoff_limit: Limit,
    /// How far below XOFF an account must fall to let its neighbour go on.
    pub(super) xon_offset_bytes: u64,
    /// Shared buffer without headroom, and what of it is used.
    shared_bytes: u64,
    pub shared_used: u64,
    pub used: u64,
    /// The most that was ever used; of a window in which `peaks` are noted, when it has ended.
    pub max: u64,
    pub(super) peaks: Peaks,
    /// When accounts stop their neighbours, where a library user says it.
    pub(super) stop_rule: Option<Box<RuleOfAccounts>>,
    /// Where utilisation or lengths are measured.
    pub(super) loads: Option<Box<Loads>>,
}

impl PacketBuffer {
    /// The buffer of `node`, with ports of these `rules`.
    pub fn new(network: &Network, node: NodeId, rules: &[Rules]) -> PacketBuffer {
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
            FlowControl::Pause(_) | FlowControl::Pfc(_) if network.stop_rule.is_some() => Limit::RULE,
            FlowControl::Pause(pause) | FlowControl::Pfc(pause) => Limit::new(pause.xoff),
            // What is under credits has its own room: nothing of it counts against the shared buffer.
            FlowControl::Credit(_) => Limit::new(Threshold::Static { bytes: 0 }),
        };
        let normal = rules.len() * slots;
        let pairs = if matches!(parameters.overload, Overload::Bounce { .. }) { normal } else { 0 };
        PacketBuffer {
            queues: Queues::new(normal + pairs),
            most_frames: parameters.counts_frames().then(|| vec![0; normal + pairs].into()),
            pairs,
            class_slot: network.class_slot,
            slots,
            accounts: vec![IngressAccount::default(); rules.len() * account_slots],
            account_slots,
            headroom,
            lossless: control.lossless(),
            queue_limit,
            egress_limit,
            xoff_limit,
            xon_offset_bytes: control.pause().map_or(0, |pause| pause.xon_offset_bytes),
            shared_bytes,
            shared_used: 0,
            used: 0,
            max: 0,
            peaks: Peaks::default(),
            stop_rule: network.stop_rule.clone().map(|rule| {
                let classes = if account_slots == 1 { vec![0] } else { network.classes.clone() };
                Box::new(RuleOfAccounts { node, classes, rule })
            }),
            loads: Loads::new(network, node, rules.len(), normal, pairs),
        }
    }

    /// Bytes of the frames that wait for `port`, of all classes.
    #[cold]
    pub fn waiting_bytes(&self, port: u16) -> u64 {
        let first = usize::from(port) * self.slots;
        let of = |first: usize| self.queues[first..first + self.slots].iter().map(|queue| u64::from(queue.bytes)).sum();
        let paired: u64 = if self.pairs == 0 { 0 } else { of(first + self.pairs) };
        of(first) + paired
    }

    #[inline]
    pub fn queue_index(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.slots + usize::from(self.class_slot[usize::from(class & 7)])
    }

    #[inline]
    pub fn account_index(&self, port: u16, class: u8) -> usize {
        let slot = if self.account_slots == 1 { 0 } else { usize::from(self.class_slot[usize::from(class & 7)]) };
        usize::from(port) * self.account_slots + slot
    }

    /// The bytes of the account of (`port`, `class`).
    pub fn account_bytes(&self, port: u16, class: u8) -> u64 {
        self.accounts[self.account_index(port, class)].bytes.into()
    }

    /// The queue of `class` at `port` from which the next frame of that class leaves: of a pair, that of bounced
    /// frames.
    #[inline]
    pub fn next_queue(&self, port: u16, class: u8) -> usize {
        let index = self.queue_index(port, class);
        if self.pairs != 0 && !self.queues[index + self.pairs].is_empty() { index + self.pairs } else { index }
    }

    /// The frame of `class` that leaves `port` next.
    #[inline]
    pub fn head(&self, port: u16, class: u8) -> Option<Head> {
        self.queues[self.next_queue(port, class)].front().map(Head::of)
    }

    /// The queues of `port`, those of bounced frames last.
    pub fn queues_of(&self, port: u16) -> impl Iterator<Item = usize> + use<> {
        let first = usize::from(port) * self.slots;
        // Bounce queues, where there are any, stand behind all others.
        let pair = if self.pairs == 0 { 0..0 } else { first + self.pairs..first + self.pairs + self.slots };
        (first..first + self.slots).chain(pair)
    }

    /// Whether nothing of its class waits any more at the port of the queue at `index`, which is empty: where queues
    /// are pairs, the other one is, too.
    #[inline]
    pub fn pair_has_drained(&self, index: usize) -> bool {
        if self.pairs == 0 {
            return true;
        }
        let other = if index < self.pairs { index + self.pairs } else { index - self.pairs };
        self.queues[other].is_empty()
    }

    /// Adds a copy of `frame`, which crosses the switch so, to the queue at `index`, as `change` leaves it.
    #[inline(always)] // as Core::forward
    pub fn push(&mut self, index: usize, crossing: Crossing, frame: &Frame, mark: u8) {
        let mut queue = self.queues.at(index);
        queue.push(frame, |slot| {
            (slot.in_port, slot.in_class) = (crossing.in_port, crossing.in_class);
            (slot.ttl, slot.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
            slot.flags = frame.flags | mark;
        });
        if let Some(most) = &mut self.most_frames {
            most[index] = most[index].max(queue.len() as u32);
        }
        self.note_load(frame.at, index);
    }

    /// Takes the first frame out of the queue at `index`, and gives its room back.
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
        self.shared_bytes - self.shared_used
    }

    /// Whether a frame of `size_bytes` finds no room in the queue at `index`, where queues are lossy.
    pub fn is_full(&self, index: usize, size_bytes: u16) -> bool {
        let queue = &self.queues[index];
        match self.queue_limit {
            Some(limit) => !limit.fits(queue.len(), u64::from(queue.bytes), size_bytes),
            None => {
                let free = self.free_bytes();
                u64::from(size_bytes) > free
                    || u64::from(queue.bytes) + u64::from(size_bytes) > self.egress_limit.bytes(free)
            }
        }
    }

    /// Forgets what was measured before `now`.
    pub fn reset(&mut self, now: Time) {
        self.queues.reset(now);
        self.max = self.used;
        self.reset_loads(now);
    }

    /// Above this the account at `index` sends XOFF.
    #[inline]
    pub fn xoff_bytes(&self, index: usize) -> u64 {
        self.xoff_limit.bytes_or(self.free_bytes(), || self.by_rule(index, |rule, account| rule.xoff_bytes(account)))
    }

    /// Down to this the account at `index`, which is paused, must fall.
    pub fn xon_bytes(&self, index: usize) -> u64 {
        let offset = || self.xoff_bytes(index).saturating_sub(self.xon_offset_bytes);
        match self.stop_rule {
            Some(_) => self.by_rule(index, |rule, account| rule.xon_bytes(account)).min(self.xoff_bytes(index)),
            None => offset(),
        }
    }

    /// What the rule of a library user says of an account.
    #[cold]
    #[inline(never)]
    fn by_rule(&self, index: usize, ask: impl Fn(&dyn StopRule, &Account) -> u64) -> u64 {
        let Some(of) = &self.stop_rule else { return u64::MAX };
        let account = Account {
            node: of.node,
            port: (index / self.account_slots) as PortIndex,
            class: of.classes[index % self.account_slots],
            bytes: self.accounts[index].bytes.into(),
            free_bytes: self.free_bytes(),
            stopping: self.accounts.iter().filter(|account| account.paused).count() as u32,
        };
        ask(&*of.rule.0, &account)
    }

    /// Takes room in the queue at `index` for a frame that crosses the switch so; false if there is none. Whether it
    /// may be dropped depends on where it waits, whom it stops on how it came.
    #[inline(always)]
    pub fn admit(&mut self, index: usize, crossing: Crossing, size_bytes: u16) -> bool {
        let Crossing { in_port, in_class, class, .. } = crossing;
        let bytes = u64::from(size_bytes);
        let queue = &self.queues[index];
        match self.queue_limit {
            None => {
                let free = self.shared_bytes - self.shared_used;
                if self.lossless & (1 << class) != 0 {
                    let account_index = self.account_index(in_port, in_class);
                    let xoff = self.xoff_bytes(account_index);
                    let account = &mut self.accounts[account_index];
                    // What exceeds XOFF, or the pool, is headroom's business.
                    if u64::from(account.bytes) + bytes > xoff || bytes > free {
                        if u64::from(account.headroom_bytes) + bytes > self.headroom[account_index] {
                            return false;
                        }
                        account.headroom_bytes += bytes as u32;
                        account.headroom_max_bytes = account.headroom_max_bytes.max(account.headroom_bytes);
                    } else {
                        self.shared_used += bytes;
                    }
                } else {
                    if bytes > free || u64::from(queue.bytes) + bytes > self.egress_limit.bytes(free) {
                        return false;
                    }
                    self.shared_used += bytes;
                }
            }
            Some(limit) => {
                let fits = match limit {
                    QueueLimit::Bytes(most) => u64::from(queue.bytes) + bytes <= most,
                    QueueLimit::Packets(most) => queue.len() < most as usize,
                };
                if !fits {
                    return false;
                }
            }
        }
        self.charge(in_port, in_class, size_bytes);
        true
    }

    /// As [`PacketBuffer::admit`] while departures are lazy, so that more is counted than waits: false where that
    /// could matter, and then nothing has changed. If true, no neighbour has to be stopped for it. What is the most
    /// that was ever used, the caller sees to.
    #[inline(always)]
    pub fn admit_surely(&mut self, index: usize, crossing: Crossing, size_bytes: u16) -> bool {
        let bytes = u64::from(size_bytes);
        let queue = &self.queues[index];
        match self.queue_limit {
            None => {
                let free = self.shared_bytes - self.shared_used;
                if bytes > free {
                    return false;
                }
                if self.lossless & (1 << crossing.class) != 0 {
                    let account = &self.accounts[self.account_index(crossing.in_port, crossing.in_class)];
                    if u64::from(account.bytes) + bytes > self.xoff_limit.bytes(free - bytes) {
                        return false;
                    }
                } else if u64::from(queue.bytes) + bytes > self.egress_limit.bytes(free) {
                    return false;
                }
                self.shared_used += bytes;
            }
            Some(limit) => {
                if !limit.fits(queue.len(), u64::from(queue.bytes), size_bytes) {
                    return false;
                }
            }
        }
        if self.lossless != 0 {
            let account = self.account_index(crossing.in_port, crossing.in_class);
            self.accounts[account].bytes += u32::from(size_bytes);
        }
        self.used += bytes;
        true
    }

    /// Whether no more than the most is used after a frame of `size_bytes` has joined, though more is counted than
    /// waits.
    #[inline(always)]
    pub fn stays_below_peak(&self, size_bytes: u16) -> bool {
        self.used + u64::from(size_bytes) <= self.max
    }

    /// As much is used as is counted.
    pub fn see_peak(&mut self) {
        self.peaks.seen += u32::from(self.used > self.max);
        self.max = self.max.max(self.used);
    }

    /// From now on, when as much is used as is counted, all that comes and leaves is noted.
    pub fn begin_peaks(&mut self) {
        self.peaks.begin(self.used);
    }

    /// As much is used as is counted: what was noted is put in order.
    pub fn settle_peaks(&mut self) {
        self.max = self.peaks.end(self.max);
    }

    /// Counts a frame that has found room.
    #[inline]
    pub fn charge(&mut self, in_port: u16, class: u8, size_bytes: u16) {
        if self.lossless != 0 {
            let index = self.account_index(in_port, class);
            self.accounts[index].bytes += u32::from(size_bytes);
        }
        self.used += u64::from(size_bytes);
        self.max = self.max.max(self.used);
    }

    /// Gives back the room of a frame whose transmission starts, headroom first.
    #[inline]
    pub fn release(&mut self, in_port: u16, in_class: u8, size_bytes: u16) {
        let bytes = u32::from(size_bytes);
        let mut shared = bytes;
        if self.lossless != 0 {
            let index = self.account_index(in_port, in_class);
            let account = &mut self.accounts[index];
            account.bytes -= bytes;
            let headroom = account.headroom_bytes.min(bytes);
            account.headroom_bytes -= headroom;
            shared -= headroom;
        }
        self.used -= u64::from(bytes);
        if self.shared_bytes != u64::MAX {
            self.shared_used -= u64::from(shared);
        }
    }
}
