//! Utilisation of the queues of a switch over time, if enabled.

use super::buffer::PacketBuffer;
use crate::network::Network;
use crate::parameters::{Buffer, Overload, QueueLimit};
use crate::queue::Queue;
use check::load::{QueueLoad, watched_length};
use fabric::NodeId;
use units::Time;

/// The unit and threshold of the utilisation of a queue.
#[derive(Clone, Copy, Debug)]
struct LoadScale {
    limit: QueueLimit,
    /// The least length that counts as above the threshold, in the unit of `limit`.
    watched: u64,
}

impl LoadScale {
    fn new(limit: QueueLimit, threshold: f64) -> LoadScale {
        let mut scale = LoadScale { limit, watched: 0 };
        scale.watched = watched_length(threshold, scale.capacity());
        scale
    }

    /// Returns the capacity in the unit of the limit.
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

/// Utilisation and length measurements of all queues of a switch.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// Present if utilisation is measured and the buffer has per-queue limits.
    utilisation: Option<Utilisations>,
    /// Queue lengths of each port; empty if lengths are not measured.
    lengths: Vec<PortLength>,
}

/// The utilisation of each queue over time.
#[derive(Clone, Debug)]
struct Utilisations {
    /// Indexed like [`PacketBuffer::queues`].
    queues: Vec<QueueLoad>,
    normal: LoadScale,
    bounce: LoadScale,
    /// Number of normal queues.
    normals: usize,
}

/// Total length of the queues of a port, with its time integral.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortLength {
    bytes: u64,
    last_change: Time,
    /// Time integral of the length since the last reset.
    pub area_byte_ps: u128,
    /// Maximum length since the last reset.
    pub max_bytes: u64,
}

impl PortLength {
    /// Updates the time integral and the maximum of the length, which is `bytes` from `now` on.
    fn on_change(&mut self, now: Time, bytes: u64) {
        let span = now.saturating_sub(self.last_change);
        self.area_byte_ps += u128::from(span.as_ps()) * u128::from(self.bytes);
        (self.last_change, self.bytes) = (now, bytes);
        self.max_bytes = self.max_bytes.max(bytes);
    }
}

units::pack_fields!(PortLength { bytes, last_change, area_byte_ps, max_bytes });

impl Loads {
    /// Creates the measurements for `ports` ports with `normals` queues and `pairs` bounce queues; `None` if no
    /// measurement is enabled.
    pub fn new(network: &Network, node: NodeId, ports: usize, normals: usize, pairs: usize) -> Option<Box<Loads>> {
        let utilisation = Utilisations::new(network, node, normals, pairs);
        let lengths = vec![PortLength::default(); if network.measurement.queue_lengths { ports } else { 0 }];
        (utilisation.is_some() || !lengths.is_empty()).then(|| Box::new(Loads { utilisation, lengths }))
    }
}

impl Utilisations {
    fn new(network: &Network, node: NodeId, normals: usize, pairs: usize) -> Option<Utilisations> {
        let threshold = network.measurement.utilisation?;
        let Buffer::PerQueue { limit } = network.switch_of(node).buffer else { return None };
        let normal = LoadScale::new(limit, threshold);
        let bounce = match network.switch.overload {
            Overload::Bounce { queue, .. } => LoadScale::new(queue, threshold),
            Overload::Drop | Overload::Detour | Overload::Trim { .. } => normal,
        };
        let queues = vec![QueueLoad::starting(Time::ZERO, 0); normals + pairs];
        Some(Utilisations { queues, normal, bounce, normals })
    }

    fn scale(&self, index: usize) -> LoadScale {
        if index < self.normals { self.normal } else { self.bounce }
    }
}

impl PacketBuffer {
    /// Records a change of the length of the queue at `index`.
    #[inline]
    pub fn note_load(&mut self, now: Time, index: usize) {
        if self.loads.is_some() {
            self.watch_load(now, index);
        }
    }

    #[cold]
    fn watch_load(&mut self, now: Time, index: usize) {
        let waiting_bytes = |port: usize| self.waiting_bytes(port as u16);
        let Some(loads) = &self.loads else { return };
        // The normal queues of all ports precede the bounce queues of all ports, so the port is taken modulo the number
        // of ports.
        let port = index / self.layout.slots % loads.lengths.len().max(1);
        let bytes = if loads.lengths.is_empty() { 0 } else { waiting_bytes(port) };
        let Some(loads) = &mut self.loads else { return };
        if let Some(length) = loads.lengths.get_mut(port) {
            length.on_change(now, bytes);
        }
        if let Some(loads) = &mut loads.utilisation {
            let scale = loads.scale(index);
            loads.queues[index].on_change(now, scale.length(&self.queues[index]), scale.watched);
        }
    }

    /// Counts a bounced frame that was routed to the bounce queue at `index`.
    #[inline]
    pub fn note_offer(&mut self, index: usize) {
        if let Some(loads) = self.loads.as_mut().and_then(|loads| loads.utilisation.as_mut()) {
            loads.queues[index].offer();
        }
    }

    /// Corrupts the recorded length of a queue, for tests of the checks.
    #[cfg(test)]
    pub(super) fn believe_longer(&mut self, now: Time, index: usize) -> bool {
        self.loads.as_mut().and_then(|loads| loads.utilisation.as_mut()).is_some_and(|loads| {
            loads.queues[index].on_change(now, 1 << 40, u64::MAX);
            true
        })
    }

    fn utilisations(&self) -> Option<&Utilisations> {
        self.loads.as_ref()?.utilisation.as_ref()
    }

    /// Returns the length statistics of each port up to `now`, if measured.
    pub(crate) fn port_lengths(&self, now: Time) -> impl Iterator<Item = PortLength> {
        self.loads.iter().flat_map(|loads| &loads.lengths).map(move |length| {
            let mut length = *length;
            length.on_change(now, length.bytes);
            length
        })
    }

    /// Returns whether the utilisation of the queue at `index` is measured in frames.
    pub(crate) fn load_counts_frames(&self, index: usize) -> bool {
        self.utilisations().is_some_and(|loads| matches!(loads.scale(index).limit, QueueLimit::Packets(_)))
    }

    /// Restarts the utilisation and length measurements at `now`.
    pub(super) fn reset_loads(&mut self, now: Time) {
        let lengths = (0..self.loads.as_ref().map_or(0, |loads| loads.lengths.len())).map(|port| {
            let bytes = self.waiting_bytes(port as u16);
            PortLength { bytes, last_change: now, area_byte_ps: 0, max_bytes: bytes }
        });
        let lengths = lengths.collect();
        let Some(loads) = &mut self.loads else { return };
        loads.lengths = lengths;
        let Some(loads) = &mut loads.utilisation else { return };
        for (index, queue) in self.queues.iter().enumerate() {
            loads.queues[index] = QueueLoad::starting(now, loads.scale(index).length(queue));
        }
    }

    /// Returns utilisation statistics, capacity and threshold length of each queue. `is_used` returns whether a port
    /// has sent frames.
    pub fn loads(&self, is_used: impl Fn(usize) -> bool) -> impl Iterator<Item = (QueueLoad, u64, u64)> {
        self.utilisations()
            .into_iter()
            .flat_map(|loads| loads.queues.iter().enumerate().map(move |at| (loads, at)))
            .map(move |(loads, (index, load))| {
                let (mut load, scale) = (*load, loads.scale(index));
                // The statistics include all queues of a used port, even if no frame waited in them.
                if is_used(index / self.layout.slots) {
                    load.offer();
                }
                (load, scale.capacity(), scale.watched)
            })
    }
}
