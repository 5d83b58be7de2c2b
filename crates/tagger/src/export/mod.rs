//! Export of rules to switch configurations.
//!
//! ```text
//!   RuleTable + Fabric ──> SwitchView      ports by interface name, new tag = T[(tag, in), out]
//!                             │
//!                             ├─> listing              for readers and spreadsheets
//!                             ├─> factorise ──┬─> sonic    QoS maps: class by (tag, in), tag and queue by (class, out)
//!                             │               └─> eos      as far as EOS documents these maps
//!                             ├─> acl                  one entry per group of rules, if maps do not suffice
//!                             └─> nftables             Linux routers and bridges
//! ```
//!
//! Every exporter writes exactly the table, or an error: a table that does not fit is rejected with the switch and the
//! count. Names of switches and ports are untrusted input: each exporter checks them against its target's grammar
//! ([`Dialect`]) and writes no name that could act as a command.

pub mod acl;
mod dialect;
mod entries;
pub mod eos;
mod error;
mod factorise;
mod interfaces;
pub mod listing;
mod marks;
pub mod nftables;
pub mod sonic;
mod view;

#[cfg(test)]
mod name_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use dialect::Dialect;
pub use entries::{Entry, entries, gather};
pub use error::ExportError;
pub use factorise::{Factors, Group, QueueBinding, UnsupportedSwitch, factorise, groups};
pub use interfaces::{Interfaces, trailing_number};
pub use marks::{Kept, Lossy, Mark, Marks, USUAL_CLASSES};
pub use view::{Cable, PortView, SwitchView};
