//! Headroom that switches compute themselves (dynamic buffer model).

use crate::device::Device;
use crate::error::Fault;
use crate::options::Conditions;
use crate::read::SwitchConfig;
use fabric::sonic::{AsicTables, BufferModel, DynamicHeadroom, PortInputs};
use serde::Serialize;
use std::collections::BTreeMap;
use text::numbers::{counted, counted_as, grouped};

const BPS_PER_MBPS: u64 = 1_000_000;
/// Cable delay per metre.
const PS_PER_METRE: u64 = 5_000;

/// Headroom that switches compute themselves, for ports with equal properties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComputedHeadroom {
    /// The computed profile, with the terms of its headroom.
    pub headroom: DynamicHeadroom,
    /// Number of lossless priority groups with this headroom.
    pub groups: u64,
}

/// Dynamic buffer models of the switches whose ASIC is known, by name of the switch.
pub(super) struct Models<'a>(BTreeMap<&'a str, (&'a AsicTables, &'a BufferModel)>);

impl<'a> Models<'a> {
    /// Collects the models; `asic` belongs to the switches whose file has no `ASIC_TABLE`.
    ///
    /// # Errors
    /// Missing inputs of switches whose ASIC is known.
    pub fn new(
        device: &Device<'_>,
        configs: &'a [SwitchConfig],
        asic: Option<&'a AsicTables>,
    ) -> Result<Models<'a>, Vec<Fault>> {
        let (mut models, mut faults) = (BTreeMap::new(), Vec::new());
        for config in configs {
            let Some(inputs) = &config.dynamic else { continue };
            let Some(asic) = inputs.asic.as_ref().or(asic) else { continue };
            let fault = |key: String, message: &str, help: &str| Fault {
                file: config.file.clone(),
                key,
                message: message.to_owned(),
                help: help.to_owned(),
            };
            match &inputs.model {
                Ok(model) => _ = models.insert(config.name.as_str(), (asic, model)),
                Err(missing) => faults.push(fault(missing.key.clone(), &missing.message, &missing.help)),
            }
            for port in device.ports_of(config).filter(|port| config.ports[&port.name].lanes.is_none()) {
                let message = "is missing: the dynamic buffer model needs the number of lanes";
                faults.push(fault(format!("PORT|{}.lanes", port.name), message, "the lanes of the port, as 0,1,2,3"));
            }
        }
        if faults.is_empty() { Ok(Models(models)) } else { Err(faults) }
    }

    fn of(&self, config: &SwitchConfig, port: PortInputs) -> Option<DynamicHeadroom> {
        let (asic, model) = self.0.get(config.name.as_str())?;
        Some(DynamicHeadroom::of(asic, model, port))
    }

    /// Returns the headroom that a port needs under these conditions.
    pub fn needed(&self, config: &SwitchConfig, port: &str, conditions: &Conditions) -> Option<DynamicHeadroom> {
        let mbps = conditions.rate.as_bps() / BPS_PER_MBPS;
        let metres = conditions.delay.as_ps().div_ceil(PS_PER_METRE);
        self.of(config, PortInputs { mbps, metres, mtu: conditions.mtu, lanes: config.ports.get(port)?.lanes? })
    }

    /// Returns the headroom that the switch computes for a port from its own file; `None` without speed or length.
    pub fn computed(&self, config: &SwitchConfig, port: &str) -> Option<DynamicHeadroom> {
        let (row, cable) = (config.ports.get(port)?, config.cables.get(port)?);
        let inputs = PortInputs {
            mbps: row.rate?.as_bps() / BPS_PER_MBPS,
            metres: cable.metres,
            mtu: row.mtu,
            lanes: row.lanes?,
        };
        self.of(config, inputs)
    }

    /// Returns the assumptions about lossless traffic that the models make.
    pub fn assumptions(&self) -> Vec<String> {
        let mut traffic: BTreeMap<(u64, u64, &str), u64> = BTreeMap::new();
        for (_, model) in self.0.values() {
            *traffic.entry((model.lossless_mtu, model.small_packet_percent, &model.key)).or_default() += 1;
        }
        let line = |((mtu, percent, key), switches): (&(u64, u64, &str), &u64)| {
            format!(
                "lossless frames have at most {} bytes, and at most {percent} % of them are of 64 bytes: {key} of {}",
                grouped(*mtu),
                counted_as(*switches, "switch", "switches")
            )
        };
        traffic.iter().map(line).collect()
    }
}

/// Returns the assumption about priority groups whose headroom the switch computes and this check cannot.
pub(super) fn unjudged(device: &Device<'_>, models: &Models<'_>) -> Option<String> {
    // The traditional model computes nothing: such groups are findings.
    let is_unjudged = |config: &SwitchConfig| !config.traditional && !models.0.contains_key(config.name.as_str());
    let groups = device.ports().filter(|(_, port)| is_unjudged(device.config(port)));
    let groups = groups.map(|(_, port)| super::ports::computed(device, port)).sum::<u64>();
    (groups > 0).then(|| {
        let groups = counted(groups, "priority group");
        format!("the switch computes enough headroom for {groups}: it is not judged without ASIC_TABLE (--asic-table)")
    })
}
