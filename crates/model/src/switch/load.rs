//! How full the queues of a switch are over time, where it is measured.

use super::buffer::PacketBuffer;
use crate::network::Network;
use crate::parameters::{Buffer, Overload, QueueLimit};
use crate::queue::Queue;
use check::load::{QueueLoad, watched_length};
use fabric::NodeId;
use units::Time;

/// What a queue is measured against.
#[derive(Clone, Copy, Debug)]
struct Scale {
    limit: QueueLimit,
    /// The least length that counts as above the threshold.
    watched: u64,
}

impl Scale {
    fn new(limit: QueueLimit, threshold: f64) -> Scale {
        let mut scale = Scale { limit, watched: 0 };
        scale.watched = watched_length(threshold, scale.capacity());
        scale
    }

    /// In frames or bytes, as the limit.
    fn capacity(&self) -> u64 {
        match self.limit {
            QueueLimit::Packets(most) => u64::from(most),
            QueueLimit::Bytes(most) => most,
        }
        .max(1)
    }

    fn length(&self, queue: &Queue) -> u64 {
        match self.limit {
            QueueLimit::Packets(_) => queue.len() as u64,
            QueueLimit::Bytes(_) => u64::from(queue.bytes),
        }
    }
}

/// The watch over all queues of a switch.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// As [`PacketBuffer::queues`].
    queues: Vec<QueueLoad>,
    normal: Scale,
    bounce: Scale,
    /// Queues that are not for frames which were bounced before.
    normals: usize,
}

impl Loads {
    /// For `normals` queues and then `pairs` for bounced frames, where utilisation is measured and queues have a
    /// size of their own.
    pub fn new(network: &Network, node: NodeId, normals: usize, pairs: usize) -> Option<Box<Loads>> {
        let threshold = network.utilisation?;
        let Buffer::PerQueue { limit } = network.switch_of(node).buffer else { return None };
        let normal = Scale::new(limit, threshold);
        let bounce = match network.switch.overload {
            Overload::Bounce { queue, .. } => Scale::new(queue, threshold),
            Overload::Drop | Overload::Detour | Overload::Trim { .. } => normal,
        };
        let queues = vec![QueueLoad::starting(Time::ZERO, 0); normals + pairs];
        Some(Box::new(Loads { queues, normal, bounce, normals }))
    }

    fn scale(&self, index: usize) -> Scale {
        if index < self.normals { self.normal } else { self.bounce }
    }
}

impl PacketBuffer {
    /// The queue at `index` has changed its length.
    #[inline]
    pub fn note_load(&mut self, now: Time, index: usize) {
        if self.loads.is_some() {
            self.watch_load(now, index);
        }
    }

    #[cold]
    fn watch_load(&mut self, now: Time, index: usize) {
        let Some(loads) = &mut self.loads else { return };
        let scale = loads.scale(index);
        loads.queues[index].on_change(now, scale.length(&self.queues[index]), scale.watched);
    }

    /// A frame that was bounced before was routed to the bounce queue at `index`.
    #[inline]
    pub fn note_offer(&mut self, index: usize) {
        if let Some(loads) = &mut self.loads {
            loads.queues[index].offer();
        }
    }

    /// For tests of the checks: a queue is believed to be longer than it ever is.
    #[cfg(test)]
    pub(super) fn believe_longer(&mut self, now: Time, index: usize) -> bool {
        self.loads.as_mut().is_some_and(|loads| {
            loads.queues[index].on_change(now, 1 << 40, u64::MAX);
            true
        })
    }

    /// Whether the load of the queue at `index` is measured in frames.
    pub(crate) fn load_counts_frames(&self, index: usize) -> bool {
        self.loads.as_ref().is_some_and(|loads| matches!(loads.scale(index).limit, QueueLimit::Packets(_)))
    }

    /// Forgets what was measured before `now`.
    pub(super) fn reset_loads(&mut self, now: Time) {
        let Some(loads) = &mut self.loads else { return };
        for (index, queue) in self.queues.iter().enumerate() {
            loads.queues[index] = QueueLoad::starting(now, loads.scale(index).length(queue));
        }
    }

    /// Every queue's load with its capacity and watched length; `is_used` tells of which ports frames left.
    pub fn loads(&self, is_used: impl Fn(usize) -> bool) -> impl Iterator<Item = (QueueLoad, u64, u64)> {
        self.loads.iter().flat_map(|loads| loads.queues.iter().enumerate().map(move |at| (loads, at))).map(
            move |(loads, (index, load))| {
                let (mut load, scale) = (*load, loads.scale(index));
                // Through an idle port nothing is queued, but its queues were there to be considered.
                if is_used(index / self.slots) {
                    load.offer();
                }
                (load, scale.capacity(), scale.watched)
            },
        )
    }
}
