//! What waits first in a class.

use protocols::frame::Frame;
use units::Time;

/// The first frame of a class that waits for a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub size_bytes: u16,
    /// Since when it waits for this port.
    pub since: Time,
}

impl Head {
    /// `frame`, which waits first in its queue.
    #[inline]
    pub fn of(frame: &Frame) -> Head {
        Head { size_bytes: frame.size_bytes, since: frame.at }
    }
}
