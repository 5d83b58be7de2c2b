//! Datagrams: unacknowledged frames from a constant, Poisson or on-off source. They are the load of PABO's hop-by-hop
//! study and of comparisons with queueing theory.

mod parameters;

pub use parameters::{ArrivalProcess, DatagramParameters, HEADER_BYTES, MECHANISM};

use crate::endpoint::FlowStart;
use crate::endpoint::{Ctx, Offer, Receipt, Receiver, Segment, Sender, SenderStatistics};
use crate::frame::{Frame, Kind, MIN_FRAME_BYTES, flags};
use std::sync::Arc;
use units::random::Stream;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Sender of one flow of datagrams.
#[derive(Clone, Debug)]
pub struct DatagramSender {
    parameters: Arc<DatagramParameters>,
    /// Remaining bytes to send; `u64::MAX` for an endless flow.
    left_bytes: u64,
    sent_bytes: u64,
    /// Creation time of the next frame.
    due: Time,
    /// Rate on the wire, in bits per second; used for the gap between frames if the parameter `gap` is not set.
    bps: u64,
    /// Rounding remainder of `due`, in units of 1/bps picoseconds.
    remainder: u64,
    /// End of the current on period, for [`ArrivalProcess::OnOff`].
    on_end: Time,
    stop: Time,
}

/// Returns an exponentially distributed random time with the given mean, by inversion.
fn exponential(random: &mut Stream, mean_ps: f64) -> Time {
    // The conversion from float to integer saturates, so that no mean can overflow it.
    Time::from_ps((-libm::log(1.0 - random.unit()) * mean_ps) as u64)
}

impl DatagramSender {
    /// Creates the sender of `flow`.
    pub fn new(parameters: &Arc<DatagramParameters>, flow: &FlowStart) -> Self {
        DatagramSender {
            parameters: Arc::clone(parameters),
            left_bytes: flow.size_bytes.max(1),
            sent_bytes: 0,
            // For random arrivals, the first poll draws the time of the first frame.
            due: if parameters.arrival == ArrivalProcess::Constant { flow.start } else { Time::MAX },
            bps: parameters.rate.unwrap_or(flow.line_rate).as_bps(),
            remainder: 0,
            on_end: flow.start,
            stop: flow.stop,
        }
    }

    /// Draws the time of the first frame, for random arrivals.
    fn begin(&mut self, random: &mut Stream) {
        let start = self.on_end;
        match self.parameters.arrival {
            ArrivalProcess::Constant => {}
            ArrivalProcess::Poisson => self.due = start.saturating_add(self.draw_gap(random)),
            ArrivalProcess::OnOff => {
                self.due = start;
                self.on_end = start.saturating_add(self.draw(random, self.parameters.mean_on));
            }
        }
    }

    fn draw(&self, random: &mut Stream, mean: Time) -> Time {
        exponential(random, mean.as_ps() as f64)
    }

    fn draw_gap(&self, random: &mut Stream) -> Time {
        let wire = u64::from(self.parameters.frame_bytes) + WIRE_OVERHEAD_BYTES;
        let mean_ps = match self.parameters.gap {
            Some(gap) => gap.as_ps() as f64,
            None => wire as f64 * 8e12 / self.bps as f64,
        };
        exponential(random, mean_ps)
    }

    /// Returns the time between the creation of a frame of `wire` bytes and of the next frame. The rounding remainder
    /// is added to a later gap, so that the mean gap is exact even if the serialisation delay of a byte is no whole
    /// number of picoseconds.
    fn constant_gap(&mut self, wire: u64) -> Time {
        if let Some(gap) = self.parameters.gap {
            return gap;
        }
        let exact = wire * 8_000_000_000_000;
        let mut gap = exact / self.bps;
        let part = exact % self.bps;
        if part >= self.bps - self.remainder {
            self.remainder = part - (self.bps - self.remainder);
            gap += 1;
        } else {
            self.remainder += part;
        }
        Time::from_ps(gap)
    }

    /// Computes the creation time of the frame that follows a frame of `size_bytes`.
    fn advance(&mut self, random: &mut Stream, size_bytes: u16) {
        let wire = u64::from(size_bytes) + WIRE_OVERHEAD_BYTES;
        let gap = match self.parameters.arrival {
            ArrivalProcess::Poisson => self.draw_gap(random),
            ArrivalProcess::Constant | ArrivalProcess::OnOff => self.constant_gap(wire),
        };
        self.due = self.due.saturating_add(gap);
        if self.parameters.arrival == ArrivalProcess::OnOff && self.due >= self.on_end {
            let off = self.draw(random, self.parameters.mean_off);
            self.due = self.due.max(self.on_end.saturating_add(off));
            self.on_end = self.due.saturating_add(self.draw(random, self.parameters.mean_on));
        }
    }
}

impl Sender for DatagramSender {
    fn on_frame(&mut self, _ctx: &mut Ctx<'_>, _frame: &Frame) {}
    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_timer(&self) -> Time {
        Time::MAX
    }

    #[inline]
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if self.due == Time::MAX && self.sent_bytes == 0 {
            self.begin(ctx.random);
        }
        if self.left_bytes == 0 || self.due >= self.stop {
            return Offer::Done;
        }
        if ctx.now < self.due {
            return Offer::At(self.due);
        }
        let parameters = &*self.parameters;
        let payload_bytes = self.left_bytes.min(u64::from(parameters.payload_bytes())) as u16;
        let size_bytes = payload_bytes.saturating_add(parameters.header_bytes).max(MIN_FRAME_BYTES);
        let mut flags = if parameters.ecn { flags::ECT } else { 0 };
        let seq = self.sent_bytes;
        if self.left_bytes != u64::MAX {
            self.left_bytes -= u64::from(payload_bytes);
            if self.left_bytes == 0 {
                flags |= flags::LAST;
            }
        }
        self.sent_bytes += u64::from(payload_bytes);
        let stamp = self.due;
        self.advance(ctx.random, size_bytes);
        Offer::Send(Segment { seq, payload_bytes, size_bytes, flags, stamp, ..Segment::default() })
    }

    fn statistics(&self) -> SenderStatistics {
        SenderStatistics::default()
    }
}

/// Receiver of one flow of datagrams: it counts bytes and sends no replies. The network must deliver no frame twice.
#[derive(Clone, Debug, Default)]
pub struct DatagramReceiver {
    received_bytes: u64,
    /// The flow's size in bytes, once its last frame has arrived.
    size_bytes: Option<u64>,
    completed: bool,
}

impl DatagramReceiver {
    /// Creates the receiver of a complete flow of `size_bytes`.
    pub fn complete(size_bytes: u64) -> Self {
        DatagramReceiver { received_bytes: size_bytes, size_bytes: Some(size_bytes), completed: true }
    }
}

impl Receiver for DatagramReceiver {
    #[inline]
    fn on_frame(&mut self, _ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        if frame.kind == Kind::Trimmed {
            return Receipt::default(); // no effect: datagrams are never retransmitted
        }
        self.received_bytes += u64::from(frame.payload_bytes);
        if frame.has(flags::LAST) {
            self.size_bytes = Some(frame.seq.saturating_add(u64::from(frame.payload_bytes)));
        }
        // Frames that arrive after the last one (out of order) still count. If a frame is lost, the flow never
        // completes.
        let whole = !self.completed && self.size_bytes.is_some_and(|size| self.received_bytes >= size);
        self.completed |= whole;
        Receipt { new_bytes: u32::from(frame.payload_bytes), completed: whole }
    }
    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_timer(&self) -> Time {
        Time::MAX
    }
    fn next_expected(&self) -> u64 {
        self.size_bytes.unwrap_or(self.received_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn flow(size_bytes: u64) -> FlowStart {
        FlowStart {
            size_bytes,
            start: Time::from_us(5),
            stop: Time::MAX,
            line_rate: Rate::from_gbps(1),
            round_trip: Time::ZERO,
        }
    }

    #[test]
    fn the_constant_is_the_default() {
        assert_eq!(DatagramParameters::default().header_bytes, HEADER_BYTES);
    }

    /// Returns the creation times of the first `most` frames of a flow whose link is always idle.
    fn stamps(parameters: DatagramParameters, flow: &FlowStart, most: usize) -> Vec<Time> {
        let mut random = Stream::new(1, 2, 3);
        let mut sender = DatagramSender::new(&Arc::new(parameters), flow);
        let (mut now, mut stamps) = (flow.start, Vec::new());
        while stamps.len() < most {
            let mut replies = Vec::new();
            match sender.poll(&mut Ctx::new(now, &mut random, &mut replies)) {
                Offer::Send(segment) => stamps.push(segment.stamp),
                Offer::At(at) => {
                    assert!(at > now);
                    now = at;
                }
                Offer::Blocked => unreachable!("a datagram source waits for nobody"),
                Offer::Done => break,
            }
        }
        stamps
    }

    #[test]
    fn pabo_bursts_are_one_frame_each_10_us() {
        let parameters = DatagramParameters { gap: Some(Time::from_us(10)), ..DatagramParameters::default() };
        let burst = stamps(parameters, &flow(501 * 1472), 10_000);
        assert_eq!(burst.len(), 501);
        assert_eq!(burst[500], Time::from_us(5 + 5000));
    }

    #[test]
    fn the_mean_of_a_constant_rate_is_exact_where_a_gap_is_no_whole_picosecond() {
        let rate = Rate::from_bps(3_333_333_333).unwrap();
        let parameters = DatagramParameters { rate: Some(rate), ..DatagramParameters::default() };
        let stamps = stamps(parameters, &flow(u64::MAX), 100_001);
        let exact = u128::from(1538u64) * 100_000 * 8_000_000_000_000 / 3_333_333_333;
        assert_eq!(u128::from((stamps[100_000] - stamps[0]).as_ps()), exact);
        // At the line rate, the gap is the serialisation delay of a frame with preamble and inter-frame gap: 1538
        // bytes at 1 Gbps.
        let line = self::stamps(DatagramParameters::default(), &flow(u64::MAX), 2);
        assert_eq!(line[1] - line[0], Time::from_ns(12_304));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_variance_of_an_exponential() {
        let gap = Some(Time::from_us(10));
        let parameters = DatagramParameters { gap, arrival: ArrivalProcess::Poisson, ..DatagramParameters::default() };
        let stamps = stamps(parameters, &flow(u64::MAX), 200_001);
        let gaps: Vec<f64> = stamps.windows(2).map(|pair| (pair[1] - pair[0]).as_ps() as f64 * 1e-7).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn on_off_sends_at_its_rate_for_its_share_of_the_time() {
        let parameters = DatagramParameters {
            arrival: ArrivalProcess::OnOff,
            mean_on: Time::from_ms(1),
            mean_off: Time::from_ms(3),
            ..DatagramParameters::default()
        };
        let count = 200_000;
        let stamps = stamps(parameters, &flow(u64::MAX), count);
        let load = count as f64 * 12.304e-6 / (stamps[count - 1] - stamps[0]).as_secs_f64();
        // The load is mean_on / (mean_on + mean_off) = 0.25. It is slightly higher because the last frame of an on
        // period is complete: this adds half a gap to the mean on period.
        assert!((load - 0.25).abs() < 0.01, "{load}");
    }

    #[test]
    fn a_late_wire_does_not_move_the_stamps_and_stop_ends_them() {
        let parameters = Arc::new(DatagramParameters { gap: Some(Time::from_us(1)), ..DatagramParameters::default() });
        let mut sender = DatagramSender::new(&parameters, &FlowStart { stop: Time::from_us(8), ..flow(u64::MAX) });
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut ctx = Ctx::new(Time::from_ms(1), &mut random, &mut replies);
        for due in 5..8 {
            let Offer::Send(segment) = sender.poll(&mut ctx) else { panic!("three frames were due") };
            assert_eq!(segment.stamp, Time::from_us(due));
        }
        assert_eq!(sender.poll(&mut ctx), Offer::Done);
    }

    #[test]
    fn a_finite_flow_completes_in_any_order() {
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut ctx = Ctx::new(Time::ZERO, &mut random, &mut replies);
        let mut receiver = DatagramReceiver::default();
        let last = Frame { seq: 100, payload_bytes: 50, flags: flags::LAST, ..Frame::default() };
        let first = Frame { seq: 0, payload_bytes: 100, ..Frame::default() };
        assert!(!receiver.on_frame(&mut ctx, &last).completed);
        assert!(receiver.on_frame(&mut ctx, &first).completed);
    }
}
