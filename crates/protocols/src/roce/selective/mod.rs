//! Selective repeat for RoCE (IRN; Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018): the receiver
//! keeps what comes out of order and names each such packet in a negative acknowledgement, the sender sends again what
//! is missing and nothing else, and holds what is on its way to the bandwidth-delay product of the path. It pairs with
//! every rate control, and needs no lossless network.

pub(super) mod parameters;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use parameters::{FlightCap, SelectiveParameters};
pub use receiver::SelectiveReceiver;
pub use sender::SelectiveSender;
