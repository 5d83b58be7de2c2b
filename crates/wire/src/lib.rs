//! Encoding of frames as bytes: parsers and emitters.
//!
//! Each protocol is one file with a plain struct for the fields of its header (a *repr*). `parse` returns the repr
//! and the bytes after the header; `emit` appends the bytes of a repr to a `Vec`. [`Packet`] combines the layers into
//! complete frames, from the destination address to the frame check sequence:
//!
//! ```text
//! Ethernet [- 802.1Q] -+- MAC control: PAUSE | PFC | credit | XOFF, XON of a flow
//!                      +- congestion notification message (QCN)
//!                      +- IPv4 -+- UDP -+- RoCEv2: data | acknowledge | CNP
//!                      |        |       +- anything else, such as NDP ([`ndp`]) and [`probe`]s
//!                      |        +- TCP
//!                      |        +- anything else
//!                      +- reservation of time slots ([`reservation`])
//!                      +- anything else
//! ```
//!
//! ```
//! use wire::{Content, MacAddress, MacControl, Packet, Pause};
//!
//! let packet = Packet {
//!     destination: MacAddress::MAC_CONTROL,
//!     source: MacAddress::new([2, 0, 0, 0, 0, 1]),
//!     vlan: None,
//!     content: Content::MacControl(MacControl::Pause(Pause { quanta: 0xFFFF })),
//! };
//! let mut frame = Vec::new();
//! packet.emit(&mut frame)?;
//! assert_eq!(frame.len(), 64);
//! assert_eq!(Packet::parse(&frame)?, packet);
//! # Ok::<(), wire::Error>(())
//! ```
//!
//! Parsers never panic: they return an [`Error`] with the field and its byte offset. They ignore the fields that a
//! standard requires receivers to ignore (reserved bits, IPv4 and TCP options). Emitters write these fields with the
//! values that the standard requires of senders.

mod bits;
mod error;
mod reader;

pub mod checksum;
pub mod cnm;
pub mod crc;
pub mod credit;
pub mod ethernet;
pub mod flow_control;
pub mod ipv4;
pub mod mac_control;
pub mod ndp;
pub mod packet;
pub mod pause;
pub mod pfc;
pub mod probe;
pub mod reservation;
pub mod roce;
pub mod tcp;
pub mod udp;
pub mod vlan;

pub use cnm::Cnm;
pub use credit::Credit;
pub use error::Error;
pub use ethernet::{EtherType, Ethernet, MacAddress};
pub use flow_control::FlowControl;
pub use ipv4::{Dscp, Ecn, Ipv4, Protocol};
pub use mac_control::MacControl;
pub use ndp::{Ndp, NdpType};
pub use packet::{Content, Packet, Transport};
pub use pause::Pause;
pub use pfc::Pfc;
pub use probe::{Probe, ProbeKind};
pub use reservation::{OccupiedShifts, Reservation, ReservationKind};
pub use roce::{Aeth, Bth, Cnp, Roce};
pub use tcp::{Sack, Tcp, TcpFlags};
pub use udp::Udp;
pub use vlan::VlanTag;

#[cfg(test)]
mod testing;
