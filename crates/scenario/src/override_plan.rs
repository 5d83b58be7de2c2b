//! Overrides of switch parameters as written.

use model::parameters::SwitchOverride;

/// One `[[switch.override]]` entry as written.
#[derive(Clone, Debug)]
pub(crate) struct OverridePlan {
    pub switches: Vec<String>,
    /// Bit mask of tiers.
    pub tiers: u8,
    /// Ports by name; mutually exclusive with `switches` and `tiers`.
    pub ports: Vec<String>,
    /// Overriding parameters; its `switches` and `ports` are empty until lowering.
    pub what: SwitchOverride,
}
