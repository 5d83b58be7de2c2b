//! Writes trimming parameters as SONiC and Cumulus Linux configuration. The schemas are from public sources; the output
//! has not been tested on a switch.

use fabric::NodeId;
use model::parameters::{Buffer, QueueLimit, Threshold};
use serde_json::{Map, Value, json};

/// Trimming parameters of the switches.
#[derive(Clone)]
pub struct Trimming {
    /// Size of a trimmed packet, in bytes.
    pub size_bytes: u16,
    /// DSCP of a trimmed packet.
    pub dscp: u8,
    /// Class and queue of trimmed packets.
    pub header_class: u8,
    /// Classes whose packets are trimmed.
    pub classes: Vec<u8>,
    /// Switches with trimming, in the fabric's order.
    pub switches: Vec<NodeId>,
    /// Buffer admission parameters.
    pub buffer: Buffer,
    /// Size of the largest packet.
    pub mtu_bytes: u16,
}

const NOT_TRIED: &str = "the schema is that of public sources; no switch was configured with it";

/// Size of a trimmed packet in SONiC's own example, in bytes.
const SONIC_BYTES: u16 = 128;

/// Returns key and value of the queue threshold for a buffer profile, and a note if the value is not exact.
fn threshold(trimming: &Trimming) -> ((&'static str, String), Option<String>) {
    match trimming.buffer {
        Buffer::Shared { egress: Threshold::Dynamic { alpha: (one, of) }, .. } => {
            // Exponent of a power of two near alpha; exact if numerator and denominator of alpha are powers of two.
            let exponent = i64::from(one.ilog2()) - i64::from(of.ilog2());
            let exact = one.is_power_of_two() && of.is_power_of_two();
            let note = format!("alpha {one}/{of} is no power of two: dynamic_th is the one next to it, 2^{exponent}");
            (("dynamic_th", exponent.clamp(-8, 8).to_string()), (!exact).then_some(note))
        }
        Buffer::Shared { egress: Threshold::Static { bytes }, .. } => (("static_th", bytes.to_string()), None),
        Buffer::PerQueue { limit: QueueLimit::Bytes(bytes) } => (("static_th", bytes.to_string()), None),
        Buffer::PerQueue { limit: QueueLimit::Packets(packets) } => {
            let bytes = u64::from(packets) * u64::from(trimming.mtu_bytes);
            (("static_th", bytes.to_string()), Some(format!("{packets} packets are {bytes} bytes of the largest")))
        }
    }
}

/// Returns a fragment of `config_db.json` for a switch with these interfaces.
pub fn sonic(trimming: &Trimming, interfaces: &[String]) -> String {
    const PROFILE: &str = "egress_trim_profile";
    let (threshold, _) = threshold(trimming);
    let mut profile = Map::new();
    profile.insert("pool".to_owned(), "egress_lossy_pool".into());
    profile.insert("size".to_owned(), "0".into());
    profile.insert(threshold.0.to_owned(), threshold.1.into());
    profile.insert("packet_discard_action".to_owned(), "trim".into());
    let ports = interfaces.iter().flat_map(|name| {
        trimming.classes.iter().map(move |class| (format!("{name}|{class}"), json!({ "profile": PROFILE })))
    });
    let config = json!({
        "SWITCH_TRIMMING": { "GLOBAL": {
            "size": trimming.size_bytes.to_string(), "dscp_value": trimming.dscp.to_string(),
            "queue_index": trimming.header_class.to_string(),
        }},
        "BUFFER_PROFILE": { PROFILE: Value::from(profile) },
        "BUFFER_QUEUE": ports.collect::<Map<_, _>>(),
    });
    format!("{config:#}\n")
}

/// Returns notes on loading the fragments.
pub fn sonic_notes(trimming: &Trimming) -> Vec<String> {
    let mut notes = vec![
        NOT_TRIED.to_owned(),
        "the profile takes its room from a pool that the switch has already, here egress_lossy_pool".to_owned(),
    ];
    if trimming.size_bytes < SONIC_BYTES {
        notes.push(format!(
            "packets are trimmed to {} bytes, and the example of SONiC's schema has {SONIC_BYTES}: ask what the ASIC \
             can, and whether all headers of tunnels fit",
            trimming.size_bytes
        ));
    }
    notes.extend(threshold(trimming).1);
    notes
}

/// Returns the size of a trimmed packet for Cumulus Linux, in bytes: a multiple of 4 in the range that the reference of
/// release 5.14 permits.
fn nvue_bytes(trimming: &Trimming) -> u16 {
    trimming.size_bytes.clamp(256, 1024).next_multiple_of(4)
}

/// Returns notes on executing the NVUE commands.
pub fn nvue_notes(trimming: &Trimming) -> Vec<String> {
    let size = nvue_bytes(trimming);
    let mut notes = vec![NOT_TRIED.to_owned()];
    if size != trimming.size_bytes {
        notes.push(format!(
            "packets are trimmed to 256 to 1024 bytes there, a multiple of 4: {size} in place of {}",
            trimming.size_bytes
        ));
    }
    notes.push("packets below that length go on untrimmed with the trimmed ones; the scenario drops them".to_owned());
    notes.push(
        "when to admit a packet is the buffer profile of the switch, which these commands leave alone".to_owned(),
    );
    notes
}

/// Returns the NVUE commands for a switch with these interfaces.
pub fn nvue(trimming: &Trimming, interfaces: &[String]) -> String {
    let (size, dscp, class) = (nvue_bytes(trimming), trimming.dscp, trimming.header_class);
    let mut lines = vec![
        "nv set system forwarding packet-trim state enabled".to_owned(),
        format!("nv set system forwarding packet-trim size {size}"),
        format!("nv set system forwarding packet-trim remark dscp {dscp}"),
        format!("nv set system forwarding packet-trim switch-priority {class}"),
    ];
    for class in &trimming.classes {
        let ports = interfaces.join(",");
        lines.push(format!("nv set interface {ports} packet-trim egress-eligibility traffic-class {class}"));
    }
    lines.push("nv config apply".to_owned());
    lines.join("\n") + "\n"
}
