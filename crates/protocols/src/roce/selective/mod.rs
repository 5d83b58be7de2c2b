//! Selective repeat for RoCE (IRN; Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018). The receiver
//! keeps out-of-order packets and reports each of them in a NAK. The sender retransmits only missing packets, and
//! limits the bytes in flight to the bandwidth-delay product of the path. Selective repeat works with every rate
//! control, and without a lossless network.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::SelectiveReceiver;
pub use sender::SelectiveSender;
