//! What some switches do otherwise, as it is written.

use model::parameters::SwitchOverride;

/// One entry, as it is written.
#[derive(Clone, Debug)]
pub(crate) struct OverridePlan {
    pub switches: Vec<String>,
    /// A bit each.
    pub tiers: u8,
    /// What they do, without the switches.
    pub what: SwitchOverride,
}
