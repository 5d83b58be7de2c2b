//! TCP according to RFC 5681 (congestion control), 6582 (NewReno), 6298 (retransmission timer), 3168 (ECN), 2018 and
//! 6675 (selective acknowledgements). Flows are never application-limited: all bytes of a flow are available at its
//! start.
//!
//! Not modelled, because no modelled paper needs it: connection establishment and termination, limited transmit
//! without selective acknowledgements, window scaling (the window is a number of bytes), wrap-around of sequence
//! numbers (they are 64-bit offsets in the flow). DCTCP is a variant of [`EcnMode`], see [`crate::dctcp`].

pub(crate) mod blocks;
mod cubic;
mod flags;
pub(crate) mod parameters;
mod receiver;
mod scoreboard;
mod sender;
mod timeout;
mod vegas;
mod window;

pub use blocks::SackBlocks;
pub use flags::CWR;
pub use parameters::{CongestionControl, EcnMode, InitialWindow, MECHANISM, TcpParameters};
pub use receiver::TcpReceiver;
pub use sender::TcpSender;
