//! The first waiting frame of a class.

use protocols::frame::Frame;
use units::Time;

/// Length and waiting time of the first frame of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub size_bytes: u16,
    /// Time at which the frame started to wait for this port.
    pub since: Time,
}

impl Head {
    /// Returns the head for `frame`, which is first in its queue.
    #[inline]
    pub fn of(frame: &Frame) -> Head {
        Head { size_bytes: frame.size_bytes, since: frame.at }
    }
}
