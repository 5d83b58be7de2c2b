//! Rules in the language of a switch.
//!
//! ```text
//!   RuleTable + Fabric ──> SwitchView      ports by interface name, new tag = T[(tag, in), out]
//!                             │
//!                             ├─> listing              what a person or a spreadsheet reads
//!                             ├─> factorise ──┬─> sonic    QoS maps: class by (tag, in), tag and queue by (class, out)
//!                             │               └─> eos      the same with what EOS documents
//!                             ├─> acl                  one entry for each group of rules, where maps do not do
//!                             └─> nftables             Linux routers and bridges
//! ```
//!
//! Every exporter writes what the table says, or nothing: a table that does not fit is refused with the
//! switch and the count. Names of switches and ports come from files of others: each exporter holds them against its
//! target's grammar ([`Dialect`]) and writes none that could act there.

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
pub use factorise::{Factors, Group, Misfit, QueueBinding, factorise, groups};
pub use interfaces::Interfaces;
pub use marks::{Kept, Lossy, Mark, Marks, USUAL_CLASSES};
pub use view::{Cable, PortView, SwitchView};
