//! Fault injection into a switch, for the tests of the checks (`crate::faults`). Each function returns whether the
//! fault could be applied.

use super::Switch;
use super::buffer::Limit;
use super::core::Core;
use super::overload::Overload;
use crate::parameters::{QueueLimit, Threshold};
use check::conservation::Cause;
use protocols::florax::{BackpressureParameters, OutputBackpressure};
use protocols::frame::Frame;
use units::Time;

const ANY: Option<QueueLimit> = Some(QueueLimit::Packets(u32::MAX));

impl Switch {
    /// Returns a queue with more than three frames.
    fn crowded(&self) -> Option<usize> {
        self.core.buffer.queues.iter().position(|queue| queue.len() > 3)
    }

    fn take(&mut self, now: Time) -> Option<Frame> {
        let index = self.crowded()?;
        self.core.buffer.drop_front(now, index)
    }

    /// Removes a frame without counting the loss.
    pub(crate) fn lose_uncounted(&mut self, now: Time) -> bool {
        self.take(now).is_some()
    }

    /// Duplicates a frame.
    pub(crate) fn double(&mut self, now: Time) -> bool {
        let Some((index, frame)) = self.crowded().and_then(|at| Some((at, *self.core.buffer.queues[at].front()?)))
        else {
            return false;
        };
        self.core.buffer.admit_unlimited(frame.in_port, frame.in_class, frame.size_bytes);
        self.core.buffer.occupancy.shared_used += u64::from(frame.size_bytes);
        self.core.buffer.queues.at(index).push(&Frame { at: now, ..frame }, |_| {});
        self.core.buffer.note_load(now, index);
        true
    }

    /// Drops a frame and counts the loss as `NoRoom`, the cause for lossy classes.
    pub(crate) fn drop_as_lossy(&mut self, now: Time) -> bool {
        let Some(frame) = self.take(now) else { return false };
        self.core.stats.count_loss(&frame, Cause::NoRoom);
        true
    }

    /// Removes the headroom and sets XOFF to zero, so that lossless frames are dropped.
    pub(crate) fn forget_headroom(&mut self, _: Time) -> bool {
        self.core.buffer.headroom.fill(0);
        self.core.buffer.limits.xoff = Limit::new(Threshold::Static { bytes: 0 });
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.limit = QueueLimit::Packets(0);
        }
        true
    }

    /// Grants neighbours unlimited credits.
    pub(crate) fn grant_unlimited(&mut self, now: Time) -> bool {
        let class = self.core.buffer.limits.lossless.trailing_zeros() as u8;
        self.core.egress.states.iter_mut().flat_map(|rules| &mut rules.credit).for_each(|credit| {
            credit.on_message(now, class, 0, 1 << 40);
        });
        true
    }

    /// Delivers credits without waking a port that waits for them.
    pub(crate) fn wake_no_port_for_credits(&mut self, now: Time) -> bool {
        let egress = &self.core.egress;
        let waits = |port: &u16| {
            let cell = egress.cell(*port);
            cell.waiting != 0 && cell.busy_until < now && egress.state(*port).lacks_credit()
        };
        let Some(port) = (0..egress.len() as u16).find(waits) else { return false };
        self.grant_unlimited(now);
        self.core.egress.due.set(port, Time::MAX);
        true
    }

    /// Removes all limits of queues.
    pub(crate) fn forget_limits(&mut self, _: Time) -> bool {
        self.core.buffer.limits.queue = self.core.buffer.limits.queue.and(ANY);
        self.core.buffer.limits.egress = Limit::NONE;
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.limit = QueueLimit::Packets(u32::MAX);
        }
        if let Overload::Bounce(bounce) = &mut self.overload {
            bounce.forget_limits();
        }
        true
    }

    /// Disables output backpressure and the queue limits.
    pub(crate) fn forget_guards(&mut self, now: Time) -> bool {
        let Some(backpressure) = &mut self.backpressure else { return false };
        let never =
            BackpressureParameters { lower: 1 << 30, upper: 1 << 30, max_upper: 1 << 30, ..backpressure.parameters };
        backpressure.outputs.iter_mut().for_each(|guard| *guard = OutputBackpressure::new(&never));
        backpressure.parameters = never;
        self.forget_limits(now)
    }

    /// Keeps all flows held for ever.
    pub(crate) fn keep_holds(&mut self, _: Time) -> bool {
        self.backpressure.as_mut().is_some_and(|backpressure| backpressure.held.keep_all())
    }

    /// Removes the limits of recirculation queues.
    pub(crate) fn forget_deflect_limits(&mut self, _: Time) -> bool {
        self.overload.trimming_mut().and_then(|trimming| trimming.pipelines.as_mut()).is_some_and(|inside| {
            inside.forget_limits();
            true
        })
    }

    /// Disables PAUSE and PFC, with headroom for all frames that neighbours then send.
    pub(crate) fn forget_to_stop(&mut self, _: Time) -> bool {
        self.core.steps.pausing_classes = 0;
        self.core.buffer.headroom.iter_mut().for_each(|room| *room *= 100);
        true
    }

    /// Leaks bytes of the buffer.
    pub(crate) fn leak_buffer(&mut self, _: Time) -> bool {
        self.core.buffer.occupancy.used += 64;
        true
    }

    /// Leaks bytes of the shared pool.
    pub(crate) fn leak_shared(&mut self, _: Time) -> bool {
        self.core.buffer.occupancy.shared_used += 64;
        true
    }

    /// Leaks bytes of an account.
    pub(crate) fn leak_account(&mut self, _: Time) -> bool {
        self.core.buffer.accounts[0].bytes += 64;
        true
    }

    /// Injects reordering: moves the first frame of a queue behind later frames of its flow.
    pub(crate) fn overtake(&mut self, now: Time) -> bool {
        let own_flow = |index: &usize| {
            let queues = &self.core.buffer.queues;
            queues[*index]
                .front()
                .is_some_and(|first| queues.frames(*index).skip(1).any(|frame| frame.flow == first.flow))
        };
        let Some(index) = (0..self.core.buffer.queues.len()).find(own_flow) else { return false };
        let Some(&frame) = self.core.buffer.queues[index].front() else { return false };
        self.core.buffer.queues.at(index).drop_front(now);
        self.core.buffer.queues.at(index).push(&Frame { at: now, ..frame }, |_| {});
        true
    }

    /// Sets the arrival time of a frame to an earlier one.
    pub(crate) fn misdate(&mut self, _: Time) -> bool {
        self.modify_frames(|frames| frames[1].at = frames[1].at.saturating_sub(Time::from_ps(1)))
    }

    /// Removes a frame from a queue without updating the counters of the queue.
    pub(crate) fn remove_uncounted(&mut self, _: Time) -> bool {
        self.modify_frames(|frames| {
            frames.remove(1);
        })
    }

    /// Increments the bounce count of a frame that did not bounce.
    pub(crate) fn bounce_uncounted(&mut self, _: Time) -> bool {
        self.modify_frames(|frames| frames[1].bounces += 1)
    }

    fn modify_frames(&mut self, change: impl FnOnce(&mut Vec<Frame>)) -> bool {
        let Some(index) = self.crowded() else { return false };
        self.core.buffer.queues.at(index).corrupt(change);
        true
    }

    /// Removes a frame of a held flow.
    pub(crate) fn lose_held_in_silence(&mut self, _: Time) -> bool {
        self.backpressure.as_mut().is_some_and(|backpressure| backpressure.held.lose_in_silence())
    }

    /// Removes a frame that waits for a recirculation port.
    pub(crate) fn lose_inside(&mut self, _: Time) -> bool {
        self.overload
            .trimming_mut()
            .and_then(|trimming| trimming.pipelines.as_mut())
            .is_some_and(|inside| inside.lose_in_silence())
    }

    /// Discards a control frame or credit grant that has been counted as sent.
    pub(crate) fn drop_pause_notification(&mut self, _: Time) -> bool {
        let credited = self.core.steps.has_credits;
        let Core { egress, stats, .. } = &mut self.core;
        if credited {
            return (0..egress.len() as u16).any(|port| egress.next_grant(port, |_| 0, stats).is_some());
        }
        egress.lose_control_in_silence()
    }

    /// Marks a paused account as not paused, so that its neighbour is never resumed.
    pub(crate) fn forget_a_stop(&mut self, _: Time) -> bool {
        let Some(account) = self.core.buffer.accounts.iter_mut().find(|account| account.paused) else { return false };
        account.paused = false;
        true
    }

    /// Marks an empty account as paused.
    pub(crate) fn stop_for_nothing(&mut self, _: Time) -> bool {
        // Use the last accounts: the hosts at these ports do not send, so no departure makes them resume.
        let silent = |account: &&mut protocols::pause::IngressAccount| account.bytes == 0 && !account.paused;
        let Some(account) = self.core.buffer.accounts.iter_mut().rev().find(silent) else { return false };
        account.paused = true;
        self.core.stats.counters.pauses_sent += 1;
        true
    }

    /// Postpones the wake-up of ports with waiting frames.
    pub(crate) fn forget_wake_ups(&mut self, _: Time) -> bool {
        let egress = &mut self.core.egress;
        if egress.lazy {
            return std::mem::take(&mut egress.backlogged_ports) != 0;
        }
        let mut made = false;
        for port in 0..egress.len() as u16 {
            let due = egress.due.at(port);
            if egress.cell(port).waiting != 0 && due < Time::MAX {
                egress.due.set(port, due + Time::from_us(3));
                made = true;
            }
        }
        made
    }

    /// Occupies the wire of a port with waiting frames for ever.
    pub(crate) fn seize_wire(&mut self, _: Time) -> bool {
        let Some(index) = self.crowded() else { return false };
        let port = (index / self.core.buffer.layout.slots % self.core.egress.len()) as u16;
        self.core.egress.cell_mut(port).busy_until = Time::from_s(1_000);
        self.core.egress.due.set(port, Time::from_s(1_000));
        true
    }

    /// Injects a fault: the recorded length of queue 0 exceeds its actual length. Returns whether lengths are recorded.
    pub(crate) fn overrate_load(&mut self, now: Time) -> bool {
        self.core.buffer.believe_longer(now, 0)
    }
}
