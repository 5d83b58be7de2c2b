//! Who finds room: the shared buffer, its thresholds, and the headroom of lossless accounts.

use super::Switch;
use crate::parameters::{Buffer, QueueLimit, Threshold};
use protocols::frame::Frame;

/// A threshold in bytes while `free` bytes of the shared buffer are unused.
#[inline]
pub(super) fn threshold_bytes(threshold: Threshold, free: u64) -> u64 {
    match threshold {
        Threshold::Static { bytes } => bytes,
        Threshold::Dynamic { alpha: (numerator, denominator) } => free * u64::from(numerator) / u64::from(denominator),
    }
}

impl Switch {
    #[inline]
    fn free_bytes(&self) -> u64 {
        self.shared_bytes - self.shared_used
    }

    /// The account that holds `frame`.
    #[inline]
    pub(super) fn account_of(&self, frame: &Frame) -> usize {
        self.account_index(frame.in_port, frame.in_class)
    }

    /// Above this an account sends XOFF.
    #[inline]
    pub(super) fn xoff_bytes(&self) -> u64 {
        match self.network.switch.flow_control.pause() {
            Some(pause) => threshold_bytes(pause.xoff, self.free_bytes()),
            None => u64::MAX,
        }
    }

    /// Takes room for a frame that goes into the queue at `egress`; false if there is none.
    #[inline]
    pub(super) fn admit(&mut self, egress: u16, frame: &Frame) -> bool {
        let bytes = u64::from(frame.size_bytes);
        let index = self.account_of(frame);
        let queue = self.queue_index(egress, frame.class);
        match self.network.switch.buffer {
            Buffer::Shared { egress: threshold, .. } => {
                let free = self.free_bytes();
                let lossless = self.network.switch.flow_control.lossless() & (1 << frame.in_class) != 0;
                if lossless {
                    // What exceeds XOFF, or the pool, is headroom's business.
                    if self.accounts[index].bytes + bytes > self.xoff_bytes() || bytes > free {
                        let account = &mut self.accounts[index];
                        if account.headroom_bytes + bytes > self.headroom[index] {
                            return false;
                        }
                        account.headroom_bytes += bytes;
                    } else {
                        self.shared_used += bytes;
                    }
                } else {
                    if bytes > free || self.queues[queue].bytes + bytes > threshold_bytes(threshold, free) {
                        return false;
                    }
                    self.shared_used += bytes;
                }
            }
            Buffer::PerQueue { limit } => {
                let queue = &self.queues[queue];
                let fits = match limit {
                    QueueLimit::Bytes(most) => queue.bytes + bytes <= most,
                    QueueLimit::Packets(most) => queue.len() < most as usize,
                };
                if !fits {
                    return false;
                }
            }
        }
        self.accounts[index].bytes += bytes;
        self.buffer_used += bytes;
        self.buffer_max = self.buffer_max.max(self.buffer_used);
        true
    }

    /// Gives back the room of a frame whose transmission starts, headroom first.
    #[inline]
    pub(super) fn release(&mut self, frame: &Frame) {
        let bytes = u64::from(frame.size_bytes);
        let index = self.account_of(frame);
        let account = &mut self.accounts[index];
        account.bytes -= bytes;
        self.buffer_used -= bytes;
        if matches!(self.network.switch.buffer, Buffer::Shared { .. }) {
            let headroom = account.headroom_bytes.min(bytes);
            account.headroom_bytes -= headroom;
            self.shared_used -= bytes - headroom;
        }
    }
}
