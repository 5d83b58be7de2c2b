//! The sender's packet states: three bits per packet, for the range from the oldest unacknowledged to the newest
//! packet.

use super::bits::run;

/// States of 64 packets, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Acknowledged packets.
    settled: u64,
    /// Packets queued for retransmission.
    queued: u64,
    /// Packets in flight at the last timer tick and not retransmitted since.
    stale: u64,
}

/// States of packets by packet number: packets below `base` are acknowledged, packets from `next` on have not been
/// sent. Each packet in between is acknowledged, queued for retransmission, or in flight.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// Ring buffer of blocks of 64 packets: packet `n` is in block `n / 64` modulo the number of blocks.
    blocks: Box<[Block]>,
    base: u64,
    next: u64,
    /// Lower bound of the numbers of packets queued for retransmission.
    queued_from: u64,
    under_way: u32,
    queued: u32,
}

impl Flight {
    /// Creates the states for packets whose numbers differ by less than `span`, a power of two of at least 64.
    pub fn new(span: u64) -> Self {
        debug_assert!(span.is_power_of_two() && span >= 64);
        let blocks = vec![Block::default(); (span / 64) as usize].into_boxed_slice();
        Flight { blocks, base: 0, next: 0, queued_from: 0, under_way: 0, queued: 0 }
    }

    /// Returns the lowest unacknowledged packet.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the lowest packet that has not been sent yet.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of packets in flight.
    pub fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Returns the number of packets queued for retransmission.
    #[cfg(test)]
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Returns whether a new packet fits the bitmap.
    pub fn has_room(&self) -> bool {
        self.next - self.base < self.blocks.len() as u64 * 64
    }

    #[inline]
    fn block(&mut self, packet: u64) -> (&mut Block, u64) {
        let mask = self.blocks.len() as u64 - 1;
        (&mut self.blocks[((packet / 64) & mask) as usize], 1 << (packet % 64))
    }

    fn is_in_range(&self, packet: u64) -> bool {
        (self.base..self.next).contains(&packet)
    }

    /// Marks the next new packet as sent and returns its number. [`Flight::has_room`] must be true.
    pub fn send_fresh(&mut self) -> u64 {
        debug_assert!(self.has_room());
        self.next += 1;
        self.under_way += 1;
        self.next - 1
    }

    /// Marks the lowest packet queued for retransmission as sent again and returns its number, if there is one.
    pub fn send_queued(&mut self) -> Option<u64> {
        if self.queued == 0 {
            return None;
        }
        let mut from = self.queued_from.max(self.base);
        loop {
            let (block, bit) = self.block(from);
            let queued = block.queued & !(bit - 1);
            if queued != 0 {
                let packet = (from & !63) + u64::from(queued.trailing_zeros());
                block.queued &= !(queued & queued.wrapping_neg());
                self.queued_from = packet + 1;
                self.queued -= 1;
                self.under_way += 1;
                return Some(packet);
            }
            from = (from | 63) + 1;
            debug_assert!(from <= self.next);
        }
    }

    /// Records the acknowledgement of `packet`. Returns whether the packet was unacknowledged before.
    #[inline]
    pub fn settle(&mut self, packet: u64) -> bool {
        if !self.is_in_range(packet) {
            return false;
        }
        let (block, bit) = self.block(packet);
        if block.settled & bit != 0 {
            return false;
        }
        let queued = block.queued & bit != 0;
        block.settled |= bit;
        block.queued &= !bit;
        block.stale &= !bit;
        if queued {
            self.queued -= 1;
        } else {
            self.under_way -= 1;
        }
        if packet == self.base {
            self.advance();
        }
        true
    }

    /// Records the acknowledgement of all packets below `packet`. Returns the number of newly acknowledged packets.
    pub fn settle_below(&mut self, packet: u64) -> u64 {
        let (end, mut news) = (packet.min(self.next), 0);
        while self.base < end {
            news += u64::from(self.settle(self.base));
        }
        news
    }

    /// Advances `base` to the first unacknowledged packet.
    fn advance(&mut self) {
        loop {
            let from = self.base % 64;
            let (block, _) = self.block(self.base);
            let (count, bits) = run(block.settled, from);
            block.settled &= !bits;
            self.base += count;
            if count == 0 || !self.base.is_multiple_of(64) {
                return;
            }
        }
    }

    /// Queues `packet`, which did not arrive complete, for retransmission. Returns whether it was in flight before.
    #[inline]
    pub fn queue(&mut self, packet: u64) -> bool {
        if !self.is_in_range(packet) {
            return false;
        }
        let (block, bit) = self.block(packet);
        if (block.settled | block.queued) & bit != 0 {
            return false;
        }
        block.queued |= bit;
        block.stale &= !bit;
        self.under_way -= 1;
        self.queued += 1;
        self.queued_from = self.queued_from.min(packet);
        true
    }

    /// Handles a timer tick: queues for retransmission every packet that was also in flight at the previous tick.
    /// Returns their number.
    pub fn tick(&mut self) -> u32 {
        let before = self.queued;
        let mut at = self.base;
        while at < self.next {
            let end = ((at | 63) + 1).min(self.next);
            let from = at % 64;
            let sent = if end - at == 64 { u64::MAX } else { ((1 << (end - at)) - 1) << from };
            let (block, _) = self.block(at);
            let under_way = sent & !block.settled & !block.queued;
            let lost = under_way & block.stale;
            block.queued |= lost;
            block.stale = block.stale & !sent | under_way & !lost;
            self.queued += lost.count_ones();
            at = end;
        }
        let lost = self.queued - before;
        self.under_way -= lost;
        if lost > 0 {
            self.queued_from = self.base;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum State {
        InFlight { stale: bool },
        Queued,
        Settled,
    }

    /// Random calls yield the same results as a list of packet states.
    #[test]
    fn agrees_with_a_list() {
        let mut stream = Stream::new(5, 0, 0);
        for span in [64, 64, 128, 256] {
            let (mut flight, mut list): (Flight, Vec<State>) = (Flight::new(span), Vec::new());
            for _ in 0..60_000 {
                let sent = list.len() as u64;
                let base = list.iter().position(|state| *state != State::Settled).unwrap_or(list.len()) as u64;
                let any = base.saturating_sub(3) + stream.below(sent - base + 8);
                match stream.below(16) {
                    0..5 => {
                        assert_eq!(flight.has_room(), sent - base < span);
                        if flight.has_room() {
                            assert_eq!(flight.send_fresh(), sent);
                            list.push(State::InFlight { stale: false });
                        }
                    }
                    5..9 => {
                        let news = list.get(any as usize).is_some_and(|state| *state != State::Settled);
                        assert_eq!(flight.settle(any), news);
                        if news {
                            list[any as usize] = State::Settled;
                        }
                    }
                    9..12 => {
                        let news = matches!(list.get(any as usize), Some(State::InFlight { .. }));
                        assert_eq!(flight.queue(any), news);
                        if news {
                            list[any as usize] = State::Queued;
                        }
                    }
                    12..14 => {
                        let first = list.iter().position(|state| *state == State::Queued);
                        assert_eq!(flight.send_queued(), first.map(|first| first as u64));
                        if let Some(first) = first {
                            list[first] = State::InFlight { stale: false };
                        }
                    }
                    14 => {
                        let mut lost = 0;
                        for state in &mut list {
                            match state {
                                State::InFlight { stale: true } => (*state, lost) = (State::Queued, lost + 1),
                                State::InFlight { stale } => *stale = true,
                                _ => {}
                            }
                        }
                        assert_eq!(flight.tick(), lost);
                    }
                    _ if stream.below(8) == 0 => {
                        let below = any.min(sent) as usize;
                        let news = list[..below].iter().filter(|state| **state != State::Settled).count();
                        assert_eq!(flight.settle_below(any), news as u64);
                        list[..below].fill(State::Settled);
                    }
                    _ => {}
                }
                let count = |of: fn(&State) -> bool| list.iter().filter(|state| of(state)).count() as u32;
                assert_eq!(flight.under_way(), count(|state| matches!(state, State::InFlight { .. })));
                assert_eq!(flight.queued(), count(|state| *state == State::Queued));
                let base = list.iter().position(|state| *state != State::Settled).unwrap_or(list.len());
                assert_eq!((flight.base(), flight.next()), (base as u64, list.len() as u64));
                if list.len() > 3000 {
                    break;
                }
            }
            assert!(list.len() > 1000, "{}", list.len());
        }
    }
}
