//! How flows are numbered.

use protocols::frame::Frame;

/// Flows drawn during the run have this bit in their number; the others are numbered by the plan.
pub(crate) const DRAWN: u32 = 1 << 31;

/// The UDP or TCP source port of the connection with this number, in tables and captures: the dynamic ports (RFC 6335)
/// in turn.
pub(crate) fn source_port(connection: u64) -> u16 {
    49_152 + (connection % 16_384) as u16
}

/// How flows are numbered in results: planned ones by the plan; those drawn during the run behind them, the n-th of
/// each host in turn. A number does not depend on when its flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub planned: u64,
    pub hosts: u64,
}

impl Numbering {
    /// The number of `flow` of host `src`.
    #[inline]
    pub fn of(&self, src: u32, flow: u32) -> u64 {
        if flow & DRAWN == 0 {
            u64::from(flow)
        } else {
            self.planned + u64::from(flow & !DRAWN) * self.hosts + u64::from(src)
        }
    }

    /// The flow that `frame` belongs to.
    pub fn of_frame(&self, frame: &Frame) -> u64 {
        // Replies go to the host whose flow it is.
        self.of(if frame.goes_forward() { frame.src } else { frame.dst }, frame.flow)
    }
}
