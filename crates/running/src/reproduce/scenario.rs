//! Text of a scenario.

use super::maps::{Flow, Lowered};
use super::{Counterexample, StarvedQueue, TOPOLOGY_FILE, end, rate_of};
use crate::device::Device;
use crate::paths::Wait;
use fabric::NodeId;
use std::collections::BTreeMap;
use units::Time;

/// XOFF threshold of accounts, in bytes. It is only a few frames, so that an account of a cycle is full soon.
const XOFF_BYTES: u64 = 4_000;
/// XOFF threshold of the accounts of a cycle, except the account that is paused first. Frames that wait for the next
/// account keep them full until the first account is full again, even if hosts send slowly.
const DEEP_XOFF_BYTES: u64 = 40_000;
/// XON threshold of accounts, in bytes: nearly empty.
const XON_BYTES: u64 = 1_000;
/// Approximate occupancy of an account after its neighbour has stopped sending, in bytes.
const FULL_BYTES: u64 = 80_000;
/// Buffer per account including headroom, in bytes, for 400 Gbps and 300 m.
const ACCOUNT_BYTES: u64 = 250_000;
const LEAST_BUFFER_BYTES: u64 = 4_000_000;
/// Bytes that a link could send during the longest pause: 65,535 quanta of 512 bits.
const LONGEST_PAUSE_BYTES: u64 = 65_535 * 64;
const FRAME_BYTES: u64 = 1_000;

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

fn quoted_time(ps: u64) -> String {
    quoted(&Time::from_ps(ps).to_string())
}

/// Returns the buffer of the largest switch, in bytes.
fn buffer_bytes(device: &Device<'_>, lowered: &Lowered) -> u64 {
    let fabric = device.fabric;
    let ports = fabric.switches().map(|node| fabric.ports(node).len() as u64).max().unwrap_or(1);
    (ports * u64::from(lowered.lossless) * ACCOUNT_BYTES).max(LEAST_BUFFER_BYTES)
}

/// Returns the time to send `bytes` at the rate of the slowest link of the flows, in picoseconds.
fn send_ps(device: &Device<'_>, flows: &[Flow], bytes: u64) -> u64 {
    let steps = flows.iter().flat_map(|flow| &flow.walk.0);
    let rates = steps.flat_map(|step| [step.state.ingress, step.wait.egress]).map(|port| rate_of(device, port));
    let slowest = rates.filter(|rate| *rate > 0).min().unwrap_or(1);
    u64::try_from(u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(slowest)).unwrap_or(u64::MAX / 64)
}

/// A host that sends PAUSE to its switch during an interval.
pub(super) struct Storm {
    /// Index of the flow whose receiver is this host.
    pub flow: usize,
    /// Switch with the account that the pause fills first.
    pub switch: NodeId,
}

/// Returns a scenario of the flows in which a host sends PAUSE to its switch during an interval. Without `storm`, the
/// host is the receiver of the first flow, and all accounts have the low XOFF threshold; with `storm`, the host is the
/// receiver of its flow, and only accounts of its switch have the low threshold. With `ports`, the egress ports of a
/// cycle, a deadlock is expected.
pub(super) fn pausing(
    device: &Device<'_>,
    flows: &[Flow],
    lowered: &Lowered,
    storm: Option<Storm>,
    ports: Vec<(String, u16)>,
) -> Counterexample {
    let paused = storm.as_ref().map_or(0, |storm| storm.flow);
    let slow = flows.get(paused).map(|flow| flow.walk.sink(device));
    let fill_ps = send_ps(device, flows, FULL_BYTES);
    // The host sends one PAUSE of the maximum duration at time `at`; it expires at `resumed_ps`.
    let (at, until) = (8 * fill_ps, 9 * fill_ps);
    let resumed_ps = at + send_ps(device, flows, LONGEST_PAUSE_BYTES);
    let storm_text = slow.map_or_else(String::new, |host| {
        format!(
            "# This host sends PAUSE from `at` to `until`, so that the accounts fill; the last one expires later.\n\
             pause_storm = {{ host = {}, at = {}, until = {} }}\n",
            quoted(device.fabric.name(host)),
            quoted_time(at),
            quoted_time(until)
        )
    });
    let kind = if ports.is_empty() { "load" } else { "deadlock" };
    let xoff_bytes = if storm.is_some() { DEEP_XOFF_BYTES } else { XOFF_BYTES };
    let mut text = head(device, flows, lowered, kind, resumed_ps + 60 * fill_ps, xoff_bytes);
    text += "scheduler = { kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }\n";
    if let Some(storm) = &storm {
        text += &format!(
            "\n# The accounts of this switch fill first, and again when it resumes.\n[[switch.override]]\nswitches = \
             [{}]\nflow_control = {{ xoff = \"{XOFF_BYTES}B\", xon = \"{}B\" }}\n",
            quoted(device.fabric.name(storm.switch)),
            XOFF_BYTES - XON_BYTES
        );
    }
    text += &format!("\n[host]\ntransport = \"datagram\"\n{storm_text}");
    text += &traffic(device, flows, lowered);
    text += &format!("\n[check]\ndeadlock = {{ every = {} }}\n", quoted_time(fill_ps));
    if kind == "deadlock" {
        text += "expect = \"deadlock\"\n";
    }
    let maps_file = if kind == "load" { "load.maps.json" } else { "deadlock.maps.json" };
    let (maps, notes) = (lowered.maps.write(), lowered.notes.clone());
    let flows = flows.len();
    Counterexample { scenario: text, alternative: None, maps_file, maps, notes, ports, starved: None, flows }
}

/// Returns a scenario in which strict-priority queues starve the queue of `wait`, in which the first flow waits.
pub(super) fn starvation(device: &Device<'_>, flows: &[Flow], lowered: &Lowered, wait: &Wait) -> Counterexample {
    let egress = wait.egress;
    // A queue counts as blocked if it sends nothing while its port sends a whole buffer. The factor 2 covers frames of
    // the minimum size, which occupy more bytes on the link.
    let wait_ps = send_ps(device, flows, 2 * buffer_bytes(device, lowered));
    let mut text = head(device, flows, lowered, "starvation", 2 * wait_ps, XOFF_BYTES);
    let (node, port) = end(device, egress);
    text += &format!(
        "scheduler = {{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }}\n\n[[switch.override]]\nports = \
         [{}]\nscheduler = {{ kind = \"strict\" }}\n\n[host]\ntransport = \"datagram\"\n",
        quoted(&format!("{node}:{port}"))
    );
    text += &traffic(device, flows, lowered);
    let maps_file = "starvation.maps.json";
    let class = lowered.queues.get(&egress).and_then(|queues| queues.get(&wait.queue)).copied().unwrap_or(0);
    let queue = format!("queue {} of {} {}", wait.queue, fabric::visible(&node), device.end(egress).1);
    Counterexample {
        scenario: text,
        alternative: None,
        maps_file,
        maps: lowered.maps.write(),
        notes: lowered.notes.clone(),
        ports: vec![(node, port)],
        starved: Some(StarvedQueue { class, queue }),
        flows: flows.len(),
    }
}

fn head(
    device: &Device<'_>,
    flows: &[Flow],
    lowered: &Lowered,
    kind: &str,
    duration_ps: u64,
    xoff_bytes: u64,
) -> String {
    let mut text = format!(
        "# {kind} of a running configuration, written by tidegate.\n\
         # Thresholds, buffers and schedulers are not those of the switches.\n\
         name = {}\nduration = {}\n\n[fabric]\nkind = \"file\"\nfile = {}\n\n[routing]\nmode = \"explicit\"\n",
        quoted(&format!("{kind} of a running configuration")),
        quoted_time(duration_ps),
        quoted(TOPOLOGY_FILE)
    );
    for (at, flow) in flows.iter().enumerate() {
        let nodes: Vec<String> =
            flow.walk.nodes(device).into_iter().map(|node| quoted(device.fabric.name(node))).collect();
        text += &format!("\n[[path]]\nname = \"flow {at}\"\nnodes = [{}]\n", nodes.join(", "));
    }
    let priorities: Vec<u8> = (1..=lowered.lossless).collect();
    text += &format!(
        "\n[switch]\nbuffer = \"{}B\"\nflow_control = {{ kind = \"pfc\", priorities = {priorities:?}, xoff = \
         \"{xoff_bytes}B\", xon = \"{}B\" }}\ntags = {{ kind = \"qos-maps\", maps = \"{kind}.maps.json\" }}\n",
        buffer_bytes(device, lowered),
        xoff_bytes - XON_BYTES
    );
    text
}

fn traffic(device: &Device<'_>, flows: &[Flow], lowered: &Lowered) -> String {
    let mut of_source: BTreeMap<NodeId, u32> = BTreeMap::new();
    flows.iter().for_each(|flow| *of_source.entry(flow.walk.source(device)).or_default() += 1);
    let mut text = String::new();
    for (at, (flow, class)) in flows.iter().zip(&lowered.classes).enumerate() {
        let load = match flow.rate {
            Some(rate) => rate as f64 / flow.walk.source_rate(device).max(1) as f64,
            None => 0.98 / f64::from(of_source[&flow.walk.source(device)]),
        };
        text += &format!(
            "\n[[traffic]]\nkind = \"pairs\"\npaths = [\"flow {at}\"]\nprocess = \"constant\"\nframe = \
             \"{FRAME_BYTES}B\"\nload = {load:.4}\nclass = {class}\n"
        );
    }
    text
}
