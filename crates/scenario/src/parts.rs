//! The parts of a scenario as read, before they are combined.

use crate::agreements::NamedAgreement;
use crate::clock_part::SwitchClocksPlan;
use crate::cyclic_part::CyclicPlan;
use crate::fabric_part::FabricPlan;
use crate::gates_part::GatesPlan;
use crate::override_plan::OverridePlan;
use crate::partial_part::PartialPlan;
use crate::run_part::{HostPart, MeasurementPlan, NamedFailure, NamedPath, Routing, Top};
use crate::shaping_part::ShapingPlan;
use crate::static_routes::NamedRoute;
use crate::tags::TagsPlan;
use crate::traffic_part::TrafficPlan;
use model::parameters::{Marking, SwitchParameters};
use protocols::preemption::PreemptionParameters;
use protocols::transport::TransportParameters;

/// A scenario, part by part.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub top: Top,
    pub seed: u64,
    pub fabric: FabricPlan,
    /// Probability that a link loses a MAC control frame.
    pub control_loss: f64,
    pub routing: Routing,
    pub paths: Vec<NamedPath>,
    pub failures: Vec<NamedFailure>,
    pub static_routes: Vec<NamedRoute>,
    pub agreements: Vec<NamedAgreement>,
    pub switch: SwitchParameters,
    pub overrides: Vec<OverridePlan>,
    pub partial: PartialPlan,
    pub tags: Option<TagsPlan>,
    pub switch_clocks: SwitchClocksPlan,
    pub preemption: Option<PreemptionParameters>,
    pub gates: Vec<GatesPlan>,
    pub cyclic: Vec<CyclicPlan>,
    pub shaping: Vec<ShapingPlan>,
    pub host: HostPart,
    pub traffic: Vec<TrafficPlan>,
    pub watch: MeasurementPlan,
}

impl Parts {
    /// Returns the transports in use, each with its key and its name in scenarios: the host transport if a traffic
    /// entry uses it, and the transports of entries.
    pub fn transports(&self) -> Vec<(String, &'static str, &TransportParameters)> {
        let usual = ("host.transport".to_owned(), self.host.transport_kind, &self.host.transport);
        let uses_it = |entry: &TrafficPlan| entry.transport.is_none() && !entry.makes_frames();
        let own = self.traffic.iter().enumerate().filter_map(|(at, entry)| {
            let (kind, transport) = entry.transport.as_ref()?;
            Some((format!("traffic.{at}.transport"), *kind, transport))
        });
        self.traffic.iter().any(uses_it).then_some(usual).into_iter().chain(own).collect()
    }

    /// Returns `true` if any switch marks ECN.
    pub fn marks(&self) -> bool {
        self.any_marking(|marking| marking.marks())
    }

    /// Returns `true` if any switch has QCN congestion points.
    pub fn has_congestion_points(&self) -> bool {
        self.any_marking(|marking| marking.notifies())
    }

    fn any_marking(&self, is: impl Fn(&Marking) -> bool) -> bool {
        self.markings().any(is)
    }

    /// Returns the marking in `[switch]`, followed by the marking of each override that sets it.
    pub fn markings(&self) -> impl Iterator<Item = &Marking> {
        std::iter::once(&self.switch.marking).chain(self.overrides.iter().flat_map(|it| &it.what.marking))
    }

    /// Returns `true` if any traffic entry uses a transport with acknowledgements.
    pub fn acknowledges(&self) -> bool {
        self.transports().iter().any(|(_, kind, _)| *kind != "datagram")
    }

    /// Returns the transport of a traffic entry's flows.
    pub fn transport_of(&self, entry: u8) -> &TransportParameters {
        let own = self.traffic.get(usize::from(entry)).and_then(|entry| entry.transport.as_ref());
        own.map_or(&self.host.transport, |own| &own.1)
    }
}
