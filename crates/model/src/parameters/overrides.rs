//! What some switches do otherwise.

use super::{Buffer, FlowControl, Marking, QueueLimit, Scheduler, SwitchParameters, Threshold};
use fabric::{NodeId, PortIndex};
use std::collections::BTreeMap;

/// What some switches do otherwise than [`Setup::switch`](super::Setup::switch) says; `None`: as all. Their buffer and
/// their flow control stay of the same kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchOverride {
    /// Which, ascending.
    pub switches: Vec<NodeId>,
    /// Ports of switches, ascending: there marking by ECN and the scheduler are otherwise, and nothing else.
    pub ports: Vec<(NodeId, PortIndex)>,
    /// All the memory of a switch, where it is shared.
    pub buffer_bytes: Option<u64>,
    /// What of a shared buffer a lossy egress queue may hold.
    pub egress: Option<Threshold>,
    /// Room of each egress queue, where each has its own.
    pub queue: Option<QueueLimit>,
    /// Under PAUSE or PFC: above this an ingress account stops the neighbour.
    pub xoff: Option<Threshold>,
    /// Under PAUSE or PFC: how far below XOFF an account must fall.
    pub xon_offset_bytes: Option<u64>,
    /// Under PAUSE or PFC: room of each account beyond XOFF; `Some(None)` computes it.
    pub headroom_bytes: Option<Option<u64>>,
    /// How they mark.
    pub marking: Option<Marking>,
    /// How their ports choose among classes.
    pub scheduler: Option<Scheduler>,
}

impl SwitchOverride {
    /// `switch`, but for what is otherwise here. What does not go with the kind of its buffer or flow control changes
    /// nothing.
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

    /// What each switch that one of `overrides` names does after all of them, by switch.
    pub fn resolve(overrides: &[SwitchOverride], switch: &SwitchParameters) -> BTreeMap<NodeId, SwitchParameters> {
        let mut own = BTreeMap::new();
        for it in overrides {
            for &node in &it.switches {
                it.apply(own.entry(node).or_insert(*switch));
            }
        }
        own
    }

    /// The same of each port that one of `overrides` names: of what concerns its switch and itself, the last decides.
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
