//! What some switches do otherwise, as it is written.

use model::parameters::SwitchOverride;

/// One entry, as it is written.
#[derive(Clone, Debug)]
pub(crate) struct OverridePlan {
    pub switches: Vec<String>,
    /// A bit each.
    pub tiers: u8,
    /// Ports of switches, as they are named; then neither switches nor tiers are.
    pub ports: Vec<String>,
    /// What they do, without switches and ports.
    pub what: SwitchOverride,
}
