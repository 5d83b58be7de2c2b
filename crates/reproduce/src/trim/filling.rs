//! Goodput of hosts with NDP in a permutation, as a function of frame length and window.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::TRIM_FABRIC;
use crate::trial::Trial;
use text::{Layout, table};

const HOSTS: f64 = 128.0;
const LINE_GBPS: f64 = 100.0;
/// Overhead of a packet in bytes: header, FCS, preamble and gap.
const AROUND_BYTES: f64 = 84.0;
/// Size of an acknowledgement or a pull on the wire, in bytes.
const CONTROL_BYTES: f64 = 84.0;

/// Number of links between hosts of two pods, and the delay of each link.
const LINKS: f64 = 6.0;
const LINK_NS: f64 = 500.0;

/// Frames of one length, with closed-form delays in an idle network.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Payload bytes of a full frame.
    pub payload_bytes: u32,
}

impl Frames {
    fn length(self) -> u32 {
        self.payload_bytes + 64
    }
    fn wire_bytes(self) -> f64 {
        f64::from(self.payload_bytes) + AROUND_BYTES
    }
    /// Returns the goodput of a saturated link, in Gbps.
    fn payload_gbps(self) -> f64 {
        LINE_GBPS * f64::from(self.payload_bytes) / self.wire_bytes()
    }
    /// Returns the maximum share of the link rate for data frames, if each received packet causes an acknowledgement
    /// and a pull and each host sends at the rate at which it receives.
    fn ceiling(self) -> f64 {
        self.wire_bytes() / (self.wire_bytes() + 2.0 * CONTROL_BYTES)
    }
    /// Returns the one-way delay in ns between hosts of two pods: from the first bit at the sender to the last bit at
    /// the receiver, over six links of 500 ns with store-and-forward nodes.
    pub fn way_ns(self) -> f64 {
        LINKS * (wire_ns(self.wire_bytes()) + LINK_NS)
    }
    /// Returns the time in ns from the first bit of a frame at the sender to the arrival of the pull for it, which the
    /// receiver sends after the acknowledgement.
    pub fn round_trip_ns(self) -> f64 {
        self.way_ns() + LINKS * (wire_ns(CONTROL_BYTES) + LINK_NS) + wire_ns(CONTROL_BYTES)
    }
    /// Returns the bandwidth-delay product in packets: the value of `initial_window = "bdp"` between pods.
    fn bdp_packets(self) -> f64 {
        (self.round_trip_ns() / wire_ns(self.wire_bytes())).ceil()
    }
}

/// Returns the serialisation delay of `bytes` at line rate, in ns.
fn wire_ns(bytes: f64) -> f64 {
    bytes * 8.0 / LINE_GBPS
}

/// Returns the mean goodput per host in Gbps, with 128 hosts that all send flows of unlimited size; `window` is in
/// packets.
fn goodput_gbps(trial: &Trial, frames: Frames, window: f64, us: u64, spread: &str) -> Result<f64, Failure> {
    let transport = format!(
        "{{ kind = \"ndp\", payload = \"{}B\", initial_window = {} }}",
        frames.payload_bytes,
        window.round() as u32
    );
    let changes = [
        ("traffic", "[{ kind = \"permutation\", size = \"endless\", class = 3 }]".to_owned()),
        ("host.transport", transport),
        ("routing.spread", spread.to_owned()),
        // Warm-up and measurement interval have the same length.
        ("duration", format!("{}us", 2 * us)),
        ("measure.warm_up", format!("{us}us")),
        ("record.throughput.every", format!("{us}us")),
    ];
    let result = trial.run(&TRIM_FABRIC, &changes)?;
    Ok(result.total_goodput() * 1e-9 / HOSTS)
}

/// Runs the part of `trim/fabric` about permutations with flows of unlimited size.
pub fn filling(trial: &mut Trial) -> Result<(), Failure> {
    let payloads: &[u32] = if trial.quick { &[1436, 8936] } else { &[1436, 3936, 8936] };
    let windows: &[f64] = if trial.quick { &[1.6] } else { &[1.0, 1.25, 1.6, 2.0] };
    if trial.quick {
        trial
            .shortened
            .push("windows of 1.6 bandwidth-delay products instead of 1 to 2; frames of 1500 and 9000 B".into());
    }
    let us = trial.shorten("microseconds of a permutation without end that are measured", 1000, 200);
    let mut rows = Vec::new();
    for frames in payloads.iter().map(|&payload_bytes| Frames { payload_bytes }) {
        for &factor in windows {
            let window = factor * frames.bdp_packets();
            let goodput = goodput_gbps(trial, frames, window, us, "path")?;
            let share = goodput / frames.payload_gbps();
            let busy = share / frames.ceiling();
            rows.push(vec![
                frames.length().to_string(),
                format!("{factor}"),
                format!("{window:.0}"),
                format!("{goodput:.2}"),
                format!("{:.1}", 100.0 * share),
                format!("{:.1}", 100.0 * busy),
            ]);
            if factor == 1.6 {
                let of = format!("permutation without end, frames of {} B, queues of 10 packets", frames.length());
                let name = format!("{of}: payload, of what lines carry of it");
                let ceiling = 100.0 * frames.ceiling();
                let note = format!("acknowledgements and pulls leave {ceiling:.2} %; NDP's authors: frames of 9000 B");
                trial.check(Check::new(name, "%", 100.0 * share, Relation::AtLeast, 90.0, 0.0).note(note));
                let name = format!("{of}: the same, at most what acknowledgements and pulls leave");
                let check = Check::new(name, "%", 100.0 * share, Relation::AtMost, ceiling, 0.5).consistency();
                trial.check(
                    check.note("one-sided; 0.5 %: what arrives early in the time that is measured was answered before"),
                );
            }
        }
    }
    trial.show(
        "  permutation without end: payload of a host, Gbps; of what lines carry of it, %; lines with acknowledgements \
         and pulls, %\n",
    );
    let header = ["frame", "window in BDP", "packets", "payload", "of the line's", "line busy"];
    trial.show(&table(&header, &rows, 0, Layout::Fixed, 2));
    let frames = Frames { payload_bytes: 8936 };
    let share = goodput_gbps(trial, frames, 1.6 * frames.bdp_packets(), us, "flow")? / frames.payload_gbps();
    let name = "negative control: one path a flow, frames of 9000 B: payload, of what lines carry of it";
    trial.check(Check::new(name, "%", 100.0 * share, Relation::Below, 75.0, 0.0).consistency());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_add_up() {
        let frames = [1436, 3936, 8936].map(|payload_bytes| Frames { payload_bytes });
        assert_eq!(frames.map(Frames::length), [1500, 4000, 9000]);
        // Windows in packets that the simulator computes for `initial_window = "bdp"`.
        assert_eq!(frames.map(Frames::bdp_packets), [56.0, 25.0, 15.0]);
        assert!((frames[0].way_ns() - 6.0 * (121.6 + 500.0)).abs() < 1e-9);
        assert!((frames[0].round_trip_ns() - (3729.6 + 6.0 * 506.72 + 6.72)).abs() < 1e-9);
        assert!((frames[0].payload_gbps() - 94.474).abs() < 1e-3);
        assert!((frames[0].ceiling() - 0.9005).abs() < 1e-4);
    }
}
