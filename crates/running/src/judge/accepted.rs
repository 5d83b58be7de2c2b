//! Queues whose strict priority above lossless queues is accepted.

use crate::device::{Device, Port};
use crate::error::{Fault, OPTIONS};
use std::collections::BTreeMap;
use text::numbers::counted;

/// Returns the assumptions about accepted queues. `starving`: by egress port, the bitmask of the queues that can starve
/// queues of lossless accounts.
///
/// # Errors
/// An accepted queue that has no strict priority above a lossless queue.
pub(crate) fn assumptions(
    device: &Device<'_>,
    queues: u32,
    starving: &BTreeMap<u32, u32>,
) -> Result<Vec<String>, Fault> {
    let mut list = Vec::new();
    for queue in (0..32u8).filter(|queue| queues >> queue & 1 == 1) {
        let ports = starving.iter().filter(|(_, bits)| **bits >> queue & 1 == 1);
        let ports: Vec<&Port> = ports.filter_map(|(number, _)| device.port(*number)).collect();
        let Some(first) = ports.first() else {
            let message = "no such queue has strict priority above a lossless queue".to_owned();
            let help = "the queue in a finding about starvation, or leave the option out".to_owned();
            let (file, key) = (OPTIONS.to_owned(), format!("--accept-strict {queue}"));
            return Err(Fault { file, key, message, help });
        };
        list.push(format!(
            "accepted: queue {queue} has strict priority above lossless queues at {}, {} {}, and its frames leave them \
             enough of the rate",
            counted(ports.len() as u64, "port"),
            device.config(first).file,
            first.name
        ));
    }
    Ok(list)
}
