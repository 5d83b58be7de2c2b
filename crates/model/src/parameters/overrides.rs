//! Parameters of individual switches.

use super::{Buffer, FlowControl, Marking, QueueLimit, Scheduler, SwitchParameters, Threshold};
use fabric::{NodeId, PortIndex};
use std::collections::BTreeMap;

/// Overrides of [`Setup::switch`](super::Setup::switch) for some switches; `None` keeps the common value. The kinds of
/// buffer and flow control cannot be overridden.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchOverride {
    /// The switches, ascending.
    pub switches: Vec<NodeId>,
    /// Switch ports, ascending. Only the marking and the scheduler can be overridden per port.
    pub ports: Vec<(NodeId, PortIndex)>,
    /// Size of a shared buffer in bytes.
    pub buffer_bytes: Option<u64>,
    /// Threshold of a lossy egress queue in a shared buffer.
    pub egress: Option<Threshold>,
    /// Limit of each egress queue, if the buffer has per-queue limits.
    pub queue: Option<QueueLimit>,
    /// XOFF threshold of an ingress account, under PAUSE or PFC.
    pub xoff: Option<Threshold>,
    /// Offset of the XON threshold below the XOFF threshold in bytes, under PAUSE or PFC.
    pub xon_offset_bytes: Option<u64>,
    /// Headroom of each account in bytes, under PAUSE or PFC; `Some(None)` computes it.
    pub headroom_bytes: Option<Option<u64>>,
    /// Marking of frames.
    pub marking: Option<Marking>,
    /// Class scheduler of the ports.
    pub scheduler: Option<Scheduler>,
}

impl SwitchOverride {
    /// Applies these overrides to `switch`. Values for another kind of buffer or flow control have no effect.
    pub fn apply(&self, switch: &mut SwitchParameters) {
        match &mut switch.buffer {
            Buffer::Shared { bytes, egress } => {
                *bytes = self.buffer_bytes.unwrap_or(*bytes);
                *egress = self.egress.unwrap_or(*egress);
            }
            Buffer::PerQueue { limit } => *limit = self.queue.unwrap_or(*limit),
        }
        if let FlowControl::Pause(pause) | FlowControl::Pfc(pause) = &mut switch.flow_control {
            pause.xoff = self.xoff.unwrap_or(pause.xoff);
            pause.xon_offset_bytes = self.xon_offset_bytes.unwrap_or(pause.xon_offset_bytes);
            pause.headroom_bytes = self.headroom_bytes.unwrap_or(pause.headroom_bytes);
        }
        switch.marking = self.marking.unwrap_or(switch.marking);
        switch.scheduler = self.scheduler.unwrap_or(switch.scheduler);
    }

    /// Returns the parameters of each switch that `overrides` name; later overrides replace earlier ones.
    pub fn resolve(overrides: &[SwitchOverride], switch: &SwitchParameters) -> BTreeMap<NodeId, SwitchParameters> {
        let mut own = BTreeMap::new();
        for it in overrides {
            for &node in &it.switches {
                it.apply(own.entry(node).or_insert(*switch));
            }
        }
        own
    }

    /// Like [`SwitchOverride::resolve`], for each named port. Overrides of the port and of its switch apply in list
    /// order.
    pub fn resolve_ports(
        overrides: &[SwitchOverride],
        switch: &SwitchParameters,
    ) -> BTreeMap<(NodeId, PortIndex), SwitchParameters> {
        let mut own = BTreeMap::new();
        for &(node, port) in overrides.iter().flat_map(|it| &it.ports) {
            own.entry((node, port)).or_insert_with(|| {
                let mut all = *switch;
                let concerns = |it: &&SwitchOverride| {
                    it.switches.binary_search(&node).is_ok() || it.ports.binary_search(&(node, port)).is_ok()
                };
                overrides.iter().filter(concerns).for_each(|it| it.apply(&mut all));
                all
            });
        }
        own
    }
}
