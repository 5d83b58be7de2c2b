//! Trimming as SONiC and Cumulus Linux write it. The schemas are those of public sources; no switch was configured with
//! them.

use model::parameters::{Buffer, QueueLimit, Threshold};
use serde_json::{Map, Value, json};

/// What a switch is to do.
pub struct Trimming {
    /// What is left of a packet.
    pub size_bytes: u16,
    /// DSCP of what is left.
    pub dscp: u8,
    /// The class, and queue, of what is left.
    pub header_class: u8,
    /// The classes whose packets are trimmed.
    pub classes: Vec<u8>,
    /// Ports of the switch that has the most.
    pub ports: usize,
    /// What the buffer admits.
    pub buffer: Buffer,
    /// The largest packet.
    pub mtu_bytes: u16,
}

const NOT_TRIED: &str = "the schema is that of public sources; no switch was configured with it";

/// A fragment of `config_db.json`, and what to know before it is loaded.
pub fn sonic(trimming: &Trimming, lanes: u16) -> (String, Vec<String>) {
    const PROFILE: &str = "egress_trim_profile";
    let (threshold, note) = match trimming.buffer {
        Buffer::Shared { egress: Threshold::Dynamic { alpha: (one, of) }, .. } => {
            // The exponent of the power of two next to alpha.
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
    };
    let mut profile = Map::new();
    profile.insert("pool".to_owned(), "egress_lossy_pool".into());
    profile.insert("size".to_owned(), "0".into());
    profile.insert(threshold.0.to_owned(), threshold.1.into());
    profile.insert("packet_discard_action".to_owned(), "trim".into());
    let ports = (0..trimming.ports).flat_map(|port| {
        let name = format!("Ethernet{}", port * usize::from(lanes));
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
    let mut notes = vec![
        NOT_TRIED.to_owned(),
        "the profile takes its room from a pool that the switch has already, here egress_lossy_pool".to_owned(),
        format!("every switch of up to {} ports is written; leave out the ports that a switch has not", trimming.ports),
    ];
    notes.extend(note);
    (format!("{config:#}\n"), notes)
}

/// NVUE commands, and what to know before they are given.
pub fn nvue(trimming: &Trimming) -> (String, Vec<String>) {
    /// What the reference of Cumulus Linux 5.14 allows: multiples of 4.
    const SIZES: std::ops::RangeInclusive<u16> = 256..=1024;
    let size = trimming.size_bytes.clamp(*SIZES.start(), *SIZES.end()).next_multiple_of(4);
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
    let (dscp, class) = (trimming.dscp, trimming.header_class);
    let mut lines = vec![
        "nv set system forwarding packet-trim state enabled".to_owned(),
        format!("nv set system forwarding packet-trim size {size}"),
        format!("nv set system forwarding packet-trim remark dscp {dscp}"),
        format!("nv set system forwarding packet-trim switch-priority {class}"),
    ];
    for class in &trimming.classes {
        let ports = trimming.ports;
        lines.push(format!("nv set interface swp1-{ports} packet-trim egress-eligibility traffic-class {class}"));
    }
    lines.push("nv config apply".to_owned());
    (lines.join("\n") + "\n", notes)
}
