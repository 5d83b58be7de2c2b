//! Selective repeat for RoCE (IRN; Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018). The receiver
//! keeps out-of-order packets and reports each one in a NAK. The sender retransmits missing packets only, and bounds
//! the bytes in flight by the bandwidth-delay product of the path. It works with every rate control and needs no
//! lossless network.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::SelectiveReceiver;
pub use sender::SelectiveSender;
