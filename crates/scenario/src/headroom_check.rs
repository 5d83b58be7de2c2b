//! Checks that the buffer of each switch holds its headroom, and that XOFF and XON thresholds can work.

use crate::partial_part::FlowControlScope;
use crate::section::Context;
use fabric::NodeId;
use model::parameters::{Buffer, FlowControl, QueueLimit, SwitchOverride, SwitchParameters, Threshold};
use protocols::pause::quanta_time;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate};

/// Buffer parameters of the switches that use flow control.
pub(crate) struct LosslessBuffers<'r> {
    pub reach: FlowControlScope<'r>,
    /// Parameters of all switches.
    pub switch: &'r SwitchParameters,
    /// Overrides of some switches.
    pub overrides: &'r [SwitchOverride],
}

impl LosslessBuffers<'_> {
    /// Returns the key that sets the value of `node`: the key in the last override of `node` for which `sets` holds, or
    /// else the key in `[switch]`.
    fn location(&self, node: NodeId, key: &str, sets: impl Fn(&SwitchOverride) -> bool) -> String {
        let mut entries = self.overrides.iter().enumerate().rev();
        let own = entries.find(|(_, it)| sets(it) && it.switches.binary_search(&node).is_ok());
        own.map_or_else(|| format!("switch.{key}"), |(at, _)| format!("switch.override.{at}.{key}"))
    }

    /// Warns if headroom is smaller than the links need and if a pause expires before it is renewed; checks XOFF,
    /// queues and buffers. `used` is a bit mask of the classes in use.
    pub fn check(&self, context: &Context<'_>, mtu_bytes: u16, used: u8, derived: &mut Vec<(String, String)>) {
        let LosslessBuffers { reach, switch, .. } = *self;
        let control = &switch.flow_control;
        let Some(pause) = control.pause() else { return };
        let own = SwitchOverride::resolve(self.overrides, switch);
        let of = |node: NodeId| own.get(&node).unwrap_or(switch);
        let fabric = reach.fabric;
        let needed = |link: &fabric::Link| {
            control.computed_headroom(link.rate, link.delay, mtu_bytes, used).map_or(0, |headroom| headroom.bytes)
        };
        let largest = reach.links().map(needed).max().unwrap_or(0);
        derived.push(("headroom of the longest link".to_owned(), Bytes(largest).to_string()));
        let given = |node: NodeId| of(node).flow_control.pause().and_then(|pause| pause.headroom_bytes);
        // Configured headroom and the largest headroom that a link of the switch needs, in bytes, by the key that
        // configures the headroom.
        let mut short: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for node in reach.switches() {
            let most = fabric.ports(node).iter().map(|port| needed(fabric.link(port.link))).max().unwrap_or(0);
            if let Some(given) = given(node).filter(|&given| given < most) {
                let key = self.location(node, "flow_control.headroom", |it| it.headroom_bytes.is_some());
                let worst = short.entry(key).or_insert((given, most));
                worst.1 = worst.1.max(most);
            }
        }
        for (key, (given, needed)) in short {
            let message =
                format!("{} is less than the {} that a link needs: frames may be lost", Bytes(given), Bytes(needed));
            context.warn(&key, message);
        }
        // A pause is renewed after half its duration. The renewal may wait for one frame that the port is transmitting,
        // and takes effect after the reaction time of the neighbour.
        let renewal = |rate: Rate| pause.reaction.on(rate).saturating_add(rate.serialise(u64::from(mtu_bytes) + 104));
        let ends_early = |rate: &Rate| quanta_time(pause.quanta, *rate) / 2 < renewal(*rate);
        if let Some(rate) = reach.links().map(|link| link.rate).filter(ends_early).max() {
            let least = (renewal(rate) * 2).as_ps().div_ceil(quanta_time(1, rate).as_ps().max(1));
            let message = format!(
                "{} quanta last {} at {rate}, and neighbours need {} to stop: a pause ends before it is renewed, and \
                 frames may be lost; write {least} or more",
                pause.quanta,
                quanta_time(pause.quanta, rate),
                pause.reaction.on(rate),
            );
            context.warn("switch.flow_control.quanta", message);
        }
        self.check_xoff(context, of);
        self.check_queues(context, mtu_bytes, needed, of);
        self.check_buffers(context, mtu_bytes, used, of, derived);
    }

    /// Warns of queues and buffers that are smaller than the largest frame: a frame that must wait is dropped.
    pub fn check_frame(&self, context: &Context<'_>, mtu_bytes: u16) {
        let own = SwitchOverride::resolve(self.overrides, self.switch);
        let mut reported = BTreeSet::new();
        for node in self.reach.fabric.switches() {
            let (key, bytes) = match own.get(&node).unwrap_or(self.switch).buffer {
                Buffer::Shared { bytes, .. } => (self.location(node, "buffer", |it| it.buffer_bytes.is_some()), bytes),
                Buffer::PerQueue { limit: QueueLimit::Bytes(bytes) } => {
                    (self.location(node, "queue", |it| it.queue.is_some()), bytes)
                }
                Buffer::PerQueue { limit: QueueLimit::Packets(_) } => continue,
            };
            if bytes < mtu_bytes.into() && reported.insert(key.clone()) {
                let name = key.rsplit('.').next().unwrap_or_default();
                let (room, frame) = (Bytes(bytes), Bytes(mtu_bytes.into()));
                let message = format!(
                    "{room} cannot hold a frame of {frame}: a frame that must wait is lost. Write {name} = \"{frame}\" \
                     or more"
                );
                context.warn(&key, message);
            }
        }
    }

    /// Checks that XOFF can be reached and that XON lies below it.
    fn check_xoff<'p>(&self, context: &Context<'_>, of: impl Fn(NodeId) -> &'p SwitchParameters) {
        let mut reported = BTreeSet::new();
        for node in self.reach.switches() {
            let SwitchParameters { buffer: Buffer::Shared { bytes, .. }, flow_control, .. } = *of(node) else {
                continue;
            };
            let Some(pause) = flow_control.pause() else { continue };
            let Threshold::Static { bytes: xoff } = pause.xoff else { continue };
            let key = self.location(node, "flow_control.xoff", |it| it.xoff.is_some());
            if xoff >= bytes && reported.insert(key.clone()) {
                let message = format!(
                    "XOFF {} is not below the buffer of {}: it can never be reached",
                    Bytes(xoff),
                    Bytes(bytes)
                );
                let help = "write a share of the free buffer, xoff = \"1/8\", or less than the buffer".to_owned();
                context.fail(&key, message, Some(help));
            }
            let key = self.location(node, "flow_control.xon", |it| it.xon_offset_bytes.is_some());
            let own = key.starts_with("switch.override");
            if own && pause.xon_offset_bytes > xoff && reported.insert(key.clone()) {
                let message = format!(
                    "XON is {} below XOFF, which is {}: no account can fall that far",
                    Bytes(pause.xon_offset_bytes),
                    Bytes(xoff)
                );
                context.fail(&key, message, Some(format!("write {} or less", Bytes(xoff))));
            }
        }
    }

    /// Checks that a queue has room for all bytes that other ports may add before their neighbours are paused. Without
    /// a shared buffer, losslessness depends on this, because an account counts the bytes of one ingress port, not the
    /// bytes of the queue.
    fn check_queues<'p>(
        &self,
        context: &Context<'_>,
        mtu_bytes: u16,
        needed: impl Fn(&fabric::Link) -> u64,
        of: impl Fn(NodeId) -> &'p SwitchParameters,
    ) {
        let fabric = self.reach.fabric;
        // Key: the queue limit that is too small. Value: this limit, number of other ports of the switch, and bytes
        // that these ports may add to the queue.
        let mut short: BTreeMap<String, (QueueLimit, usize, u64)> = BTreeMap::new();
        for node in self.reach.switches() {
            let SwitchParameters { buffer: Buffer::PerQueue { limit }, flow_control, .. } = *of(node) else { continue };
            let Some(pause) = flow_control.pause() else { continue };
            let Threshold::Static { bytes: xoff } = pause.xoff else { continue };
            let account = |port: &fabric::PortPeer| {
                let headroom = pause.headroom_bytes.unwrap_or_else(|| needed(fabric.link(port.link)));
                xoff.saturating_add(headroom)
            };
            let accounts: Vec<u64> = fabric.ports(node).iter().map(account).collect();
            // The switch never sends a frame back to its ingress port: leave out the port that adds least.
            let own = accounts.iter().min().copied().unwrap_or(0);
            let most = accounts.iter().copied().fold(0, u64::saturating_add).saturating_sub(own);
            let holds = match limit {
                QueueLimit::Bytes(bytes) => bytes,
                QueueLimit::Packets(packets) => u64::from(packets) * u64::from(mtu_bytes),
            };
            if holds < most {
                let key = self.location(node, "queue", |it| it.queue.is_some());
                let worst = short.entry(key).or_insert((limit, accounts.len() - 1, most));
                if most > worst.2 {
                    *worst = (limit, accounts.len() - 1, most);
                }
            }
        }
        for (key, (limit, ports, most)) in short {
            let limit = match limit {
                QueueLimit::Bytes(bytes) => Bytes(bytes).to_string(),
                QueueLimit::Packets(packets) => format!("{packets} packets"),
            };
            let message = format!(
                "a queue of {limit} is less than the {} that {ports} other ports may send before they stop, XOFF and \
                 headroom of each: frames of lossless classes may be lost",
                Bytes(most),
            );
            context.warn(&key, message);
        }
    }

    /// Checks that each shared buffer holds the headroom of all ports of its switch.
    fn check_buffers<'p>(
        &self,
        context: &Context<'_>,
        mtu_bytes: u16,
        used: u8,
        of: impl Fn(NodeId) -> &'p SwitchParameters,
        derived: &mut Vec<(String, String)>,
    ) {
        let LosslessBuffers { reach, switch, .. } = *self;
        let (fabric, control) = (reach.fabric, &switch.flow_control);
        // A switch has one account per port for each lossless class in use (PFC), or one per port (802.3x).
        let accounts = control.lossless_accounts(used);
        let headroom_of = |node: NodeId| {
            let given = of(node).flow_control.pause().and_then(|pause| pause.headroom_bytes);
            let port = |port: &fabric::PortPeer| {
                let link = fabric.link(port.link);
                let computed = || control.computed_headroom(link.rate, link.delay, mtu_bytes, used);
                given.unwrap_or_else(|| computed().map_or(0, |headroom| headroom.bytes))
            };
            fabric.ports(node).iter().map(port).fold(0, u64::saturating_add).saturating_mul(accounts)
        };
        let shared = |node: NodeId| if let Buffer::Shared { bytes, .. } = of(node).buffer { Some(bytes) } else { None };
        let all = reach.switches().filter_map(|node| Some((headroom_of(node), shared(node)?, node)));
        // The first switch with the largest headroom: overall, and for each key of a buffer that is too small.
        let mut neediest: Option<(u64, NodeId)> = None;
        let mut short: BTreeMap<String, (u64, u64, NodeId)> = BTreeMap::new();
        for (headroom, bytes, node) in all {
            if neediest.is_none_or(|most| headroom > most.0) {
                neediest = Some((headroom, node));
            }
            if headroom >= bytes {
                let key = self.location(node, "buffer", |it| it.buffer_bytes.is_some());
                let worst = short.entry(key).or_insert((headroom, bytes, node));
                if headroom > worst.0 {
                    *worst = (headroom, bytes, node);
                }
            }
        }
        if let Some((headroom, node)) = neediest {
            derived.push((format!("headroom of all ports of {}", fabric.name(node)), Bytes(headroom).to_string()));
        }
        for (key, (headroom, bytes, node)) in short {
            let ports = fabric.ports(node).len();
            let classes = match control {
                FlowControl::Pfc(_) if accounts > 1 => format!("{accounts} lossless classes"),
                FlowControl::Pfc(_) => "1 lossless class".to_owned(),
                _ => "802.3x pauses".to_owned(),
            };
            let message = format!(
                "the buffer of {} is smaller than its headroom: switch `{}` needs {} for {ports} ports and {classes}",
                Bytes(bytes),
                fabric.name(node),
                Bytes(headroom),
            );
            let more = Bytes(headroom.saturating_add(headroom / 4 + 1));
            let name = if key == "switch.buffer" { "switch.buffer" } else { "buffer" };
            context.fail(&key, message, Some(format!("write {name} = \"{more}\" or more")));
        }
    }
}
