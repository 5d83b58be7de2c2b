//! What a switch can do wrong, or believe that is not so: for the tests of the checks (`crate::faults`). Each returns
//! whether there was an occasion.

use super::admit::Limit;
use super::{Switch, alert};
use crate::parameters::{QueueLimit, Threshold};
use check::conservation::Cause;
use protocols::florax::{Guard, GuardParameters};
use protocols::frame::Frame;
use units::Time;

const ANY: Option<QueueLimit> = Some(QueueLimit::Packets(u32::MAX));

impl Switch {
    /// A queue in which several frames wait.
    fn crowded(&self) -> Option<usize> {
        self.queues.iter().position(|queue| queue.len() > 3)
    }

    fn take(&mut self, now: Time) -> Option<Frame> {
        let index = self.crowded()?;
        let frame = *self.queues[index].front()?;
        self.queues[index].drop_front(now);
        self.note_load(now, index);
        self.release(frame.in_port, frame.in_class, frame.size_bytes);
        Some(frame)
    }

    /// A frame is gone, and nobody counts it.
    pub(crate) fn lose_in_silence(&mut self, now: Time) -> bool {
        self.take(now).is_some()
    }

    /// A frame is there twice.
    pub(crate) fn double(&mut self, now: Time) -> bool {
        let Some((index, frame)) = self.crowded().and_then(|at| Some((at, *self.queues[at].front()?))) else {
            return false;
        };
        self.charge(frame.in_port, frame.in_class, frame.size_bytes);
        self.shared_used += u64::from(frame.size_bytes);
        self.queues[index].push(&Frame { at: now, ..frame }, |_| {});
        self.note_load(now, index);
        true
    }

    /// A frame is dropped as if it were of a class that may lose some.
    pub(crate) fn drop_as_lossy(&mut self, now: Time) -> bool {
        let Some(frame) = self.take(now) else { return false };
        self.ledger.lose(self.node.0, &frame, Cause::NoRoom);
        true
    }

    /// Lossless frames have no room.
    pub(crate) fn forget_headroom(&mut self, _: Time) -> bool {
        self.headroom.fill(0);
        self.xoff_limit = Limit::new(Threshold::Static { bytes: 0 });
        if let Some(guarded) = &mut self.guarded {
            guarded.limit = QueueLimit::Packets(0);
        }
        true
    }

    /// Neighbours may send whatever they have.
    pub(crate) fn forge_credits(&mut self, now: Time) -> bool {
        let class = self.credited.trailing_zeros() as u8;
        self.details.iter_mut().flat_map(|detail| &mut detail.credit).for_each(|credit| {
            credit.hear(now, class, 0, 1 << 40);
        });
        true
    }

    /// Queues take what comes, however much.
    pub(crate) fn forget_limits(&mut self, _: Time) -> bool {
        self.queue_limit = self.queue_limit.and(ANY);
        self.egress_limit = Limit::NONE;
        if let Some(guarded) = &mut self.guarded {
            guarded.limit = QueueLimit::Packets(u32::MAX);
        }
        if let Some(turner) = &mut self.turner {
            turner.forget_limits();
        }
        true
    }

    /// Outputs that decide stop nobody, and take what comes.
    pub(crate) fn forget_guards(&mut self, now: Time) -> bool {
        let Some(guarded) = &mut self.guarded else { return false };
        let never = GuardParameters { lower: 1 << 30, upper: 1 << 30, max_upper: 1 << 30, ..guarded.parameters };
        guarded.guards.iter_mut().for_each(|guard| *guard = Guard::new(&never));
        guarded.parameters = never;
        self.forget_limits(now)
    }

    /// Recirculation ports take what comes, however much.
    pub(crate) fn forget_deflect_limits(&mut self, _: Time) -> bool {
        self.inside.as_mut().is_some_and(|inside| {
            inside.forget_limits();
            true
        })
    }

    /// Neighbours are not told to stop, and there is room for all they send.
    pub(crate) fn forget_to_stop(&mut self, _: Time) -> bool {
        self.stopping = 0;
        self.headroom.iter_mut().for_each(|room| *room *= 100);
        true
    }

    /// Room of the buffer that was taken is never given back.
    pub(crate) fn leak_buffer(&mut self, _: Time) -> bool {
        self.buffer_used += 64;
        true
    }

    /// Room of the shared part is never given back.
    pub(crate) fn leak_shared(&mut self, _: Time) -> bool {
        self.shared_used += 64;
        true
    }

    /// Room of an account is never given back.
    pub(crate) fn leak_account(&mut self, _: Time) -> bool {
        self.accounts[0].bytes += 64;
        true
    }

    /// A frame is overtaken by one of its own flow.
    pub(crate) fn overtake(&mut self, now: Time) -> bool {
        let own_flow = |index: &usize| {
            let queue = &self.queues[*index];
            queue.front().is_some_and(|first| queue.frames().skip(1).any(|frame| frame.flow == first.flow))
        };
        let Some(index) = (0..self.queues.len()).find(own_flow) else { return false };
        let Some(&frame) = self.queues[index].front() else { return false };
        self.queues[index].drop_front(now);
        self.queues[index].push(&Frame { at: now, ..frame }, |_| {});
        true
    }

    /// A frame has come earlier than it did.
    pub(crate) fn misdate(&mut self, _: Time) -> bool {
        self.tamper(|frames| frames[1].at = frames[1].at.saturating_sub(Time::from_ps(1)))
    }

    /// A frame is gone from its queue, which does not know.
    pub(crate) fn tear(&mut self, _: Time) -> bool {
        self.tamper(|frames| {
            frames.remove(1);
        })
    }

    /// A frame was turned once more than anybody turned it.
    pub(crate) fn turn_in_silence(&mut self, _: Time) -> bool {
        self.tamper(|frames| frames[1].bounces += 1)
    }

    fn tamper(&mut self, change: impl FnOnce(&mut Vec<Frame>)) -> bool {
        let Some(index) = self.crowded() else { return false };
        self.queues[index].tamper(change);
        true
    }

    /// A frame that is held is gone.
    pub(crate) fn lose_held_in_silence(&mut self, _: Time) -> bool {
        self.guarded.as_mut().is_some_and(|guarded| guarded.held.lose_in_silence())
    }

    /// A frame before a recirculation port is gone.
    pub(crate) fn lose_inside(&mut self, _: Time) -> bool {
        self.inside.as_mut().is_some_and(|inside| inside.lose_in_silence())
    }

    /// Somebody is not told what was said that he is told.
    pub(crate) fn forget_to_tell(&mut self, now: Time) -> bool {
        if self.credited != 0 {
            return (0..self.ports.len() as u16).any(|port| self.next_credit(now, port).is_some());
        }
        let Some(port) = self.details.iter().position(|detail| !detail.control.is_empty()) else { return false };
        self.details[port].control.pop();
        if self.details[port].control.is_empty() {
            self.ports[port].alert &= !alert::CONTROL;
        }
        true
    }

    /// A neighbour is stopped, and will never be told to go on.
    pub(crate) fn forget_a_stop(&mut self, _: Time) -> bool {
        let Some(account) = self.accounts.iter_mut().find(|account| account.paused) else { return false };
        account.paused = false;
        true
    }

    /// A neighbour is stopped for nothing.
    pub(crate) fn stop_for_nothing(&mut self, _: Time) -> bool {
        // Of the last ports the hosts do not send: nothing that leaves makes them resume.
        let silent = |account: &&mut protocols::pause::IngressAccount| account.bytes == 0 && !account.paused;
        let Some(account) = self.accounts.iter_mut().rev().find(silent) else { return false };
        account.paused = true;
        self.ledger.pauses_sent += 1;
        true
    }

    /// A queue is taken for longer than it is.
    pub(crate) fn overrate_load(&mut self, now: Time) -> bool {
        self.believe_longer(now, 0)
    }
}
