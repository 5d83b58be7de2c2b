//! Who finds room: the shared buffer, its thresholds, and the headroom of lossless accounts.

use super::Switch;
use crate::parameters::{QueueLimit, Threshold};

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

    /// The threshold in bytes while `free` bytes of the shared buffer are unused.
    #[inline]
    pub fn bytes(&self, free: u64) -> u64 {
        match self.fixed {
            Some(bytes) => bytes,
            None if self.shift < 64 => (free * self.factor) >> self.shift,
            None => free * self.factor / self.divisor,
        }
    }
}

impl Switch {
    #[inline]
    fn free_bytes(&self) -> u64 {
        self.shared_bytes - self.shared_used
    }

    /// Above this an account sends XOFF.
    #[inline]
    pub(super) fn xoff_bytes(&self) -> u64 {
        self.xoff_limit.bytes(self.free_bytes())
    }

    /// Takes room in `queue`, an index, for a frame from `in_port`; false if there is none.
    #[inline]
    pub(super) fn admit(&mut self, queue: usize, in_port: u16, class: u8, size_bytes: u16) -> bool {
        self.admit_as(queue, in_port, (class, class), size_bytes)
    }

    /// As [`Switch::admit`], for a frame that came in the first class and waits in the second. Whether it may be dropped depends on where it waits, whom it stops
    /// on how it came.
    #[inline(always)]
    pub(super) fn admit_as(
        &mut self,
        queue: usize,
        in_port: u16,
        (in_class, class): (u8, u8),
        size_bytes: u16,
    ) -> bool {
        let bytes = u64::from(size_bytes);
        let queue = &self.queues[queue];
        match self.queue_limit {
            None => {
                let free = self.shared_bytes - self.shared_used;
                if self.lossless & (1 << class) != 0 {
                    let index = self.account_index(in_port, in_class);
                    let account = &mut self.accounts[index];
                    // What exceeds XOFF, or the pool, is headroom's business.
                    if u64::from(account.bytes) + bytes > self.xoff_limit.bytes(free) || bytes > free {
                        if u64::from(account.headroom_bytes) + bytes > self.headroom[index] {
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

    /// Counts a frame that has found room.
    #[inline]
    pub(super) fn charge(&mut self, in_port: u16, class: u8, size_bytes: u16) {
        if self.lossless != 0 {
            let index = self.account_index(in_port, class);
            self.accounts[index].bytes += u32::from(size_bytes);
        }
        self.buffer_used += u64::from(size_bytes);
        self.buffer_max = self.buffer_max.max(self.buffer_used);
    }

    /// Gives back the room of a frame whose transmission starts, headroom first.
    #[inline]
    pub(super) fn release(&mut self, in_port: u16, in_class: u8, size_bytes: u16) {
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
        self.buffer_used -= u64::from(bytes);
        if self.shared_bytes != u64::MAX {
            self.shared_used -= u64::from(shared);
        }
    }
}
