//! Numbers of flows.

use protocols::frame::Frame;

/// Bit in the numbers of flows that are drawn (generated at random) during the run. The plan numbers all other flows.
pub(crate) const DRAWN: u32 = 1 << 31;

/// Returns the UDP or TCP source port of a connection, in tables and captures: connections use the dynamic ports (RFC
/// 6335) cyclically.
pub(crate) fn source_port(connection: u64) -> u16 {
    49_152 + (connection % 16_384) as u16
}

/// Numbers of flows in results: planned flows first, then random flows, interleaved by host. The number of a flow does
/// not depend on the time at which the flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub planned: u64,
    pub hosts: u64,
}

impl Numbering {
    /// Returns the number of `flow` of host `src`.
    #[inline]
    pub fn of(&self, src: u32, flow: u32) -> u64 {
        if flow & DRAWN == 0 {
            u64::from(flow)
        } else {
            self.planned + u64::from(flow & !DRAWN) * self.hosts + u64::from(src)
        }
    }

    /// Returns the number of the flow that `frame` belongs to.
    pub fn of_frame(&self, frame: &Frame) -> u64 {
        // Replies travel to the flow's source.
        self.of(if frame.goes_forward() { frame.src } else { frame.dst }, frame.flow)
    }
}
