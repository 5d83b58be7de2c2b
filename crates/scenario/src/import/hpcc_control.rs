//! Translates the congestion control of an HPCC configuration to transport keys.

use super::hpcc::Value;
use super::hpcc_keys::CONTROLS;
use super::hpcc_scenario::Writer;
use super::hpcc_window;
use std::fmt::Write as _;
use units::{Bytes, Rate, Time};

/// Header bytes of a data frame in the HPCC simulator: 14 of PPP, 20 of IPv4, 8 of UDP, 6 of a sequence number.
const HEADER_BYTES: u64 = 48;

/// Bytes of a timestamp in data packets and acknowledgements of TIMELY in the HPCC simulator.
const STAMP_BYTES: u64 = 8;

impl Writer<'_> {
    /// Writes the keys of the transport.
    pub(super) fn transport_keys(&mut self, kind: &str) -> String {
        let payload = self.payload_bytes();
        if !CONTROLS.contains(&kind) && kind != "roce" {
            for key in ["PACKET_PAYLOAD_SIZE", "HAS_WIN", "L2_ACK_INTERVAL", "ENABLE_IRN"] {
                if self.entry(key).is_some() {
                    self.note(key, &format!("`{kind}` has its own: see docs/mechanisms/{kind}.md"));
                }
            }
            return String::new();
        }
        let header = HEADER_BYTES + if kind == "timely" { STAMP_BYTES } else { 0 };
        let mut text = format!("payload = \"{payload}B\"\nheader = \"{header}B\"\n");
        if self.switched("ENABLE_IRN", false) {
            self.note("ENABLE_IRN", "timers and the limit of bytes in flight are those of docs/mechanisms/roce.md");
            text.push_str("loss_recovery = \"selective\"\n");
        }
        match self.whole("L2_ACK_INTERVAL", 1) {
            0 => self.fail(
                "L2_ACK_INTERVAL",
                "without acknowledgements no flow would complete".to_owned(),
                Some("write 1"),
            ),
            1 => {}
            _ => self
                .note("L2_ACK_INTERVAL", "the released simulator always acknowledges every packet; so does Tidegate"),
        }
        if kind == "hpcc" {
            let window = hpcc_window::longest(self.inputs.fabric, payload);
            let _ = writeln!(text, "# The longest round trip without queues.\nbase_rtt = \"{}\"", window.trip);
            if !self.switched("GLOBAL_T", true) {
                self.note("GLOBAL_T", "round trips are per pair there; here all are the longest");
            }
            for (key, right) in [("HAS_WIN", true), ("VAR_WIN", true)] {
                if self.switched(key, right) != right {
                    self.note(key, "HPCC here has a window of the round trip times the rate in any case");
                }
            }
        } else if self.switched("HAS_WIN", true) {
            let window = Bytes(hpcc_window::longest(self.inputs.fabric, payload).bytes.max(payload));
            let _ = writeln!(text, "# Largest bandwidth-delay product.\nwindow = \"{}B\"", window.0);
            if !self.switched("GLOBAL_T", true) {
                self.note(
                    "GLOBAL_T",
                    "windows are for the round trip of each pair there; here all are for the longest",
                );
            }
            if self.switched("VAR_WIN", false) && kind != "roce" {
                text.push_str("variable_window = true\n");
            }
        }
        if kind == "roce" {
            // `roce` without congestion control ignores ECN marks.
            return text;
        }
        let needed: &[&str] = match kind {
            "hpcc" => &["RATE_AI"],
            "timely" => &["RATE_AI", "RATE_HAI"],
            "dctcp-rate" => &["EWMA_GAIN"],
            _ => &["RP_TIMER", "EWMA_GAIN", "RATE_AI", "RATE_HAI"],
        };
        for &key in needed {
            if self.entry(key).is_none() {
                self.fail(key, format!("{key} is missing, and the simulator has no default"), None);
            }
        }
        let gain = match self.entry("EWMA_GAIN").map(|entry| &entry.value) {
            Some(Value::Share(gain)) => *gain,
            _ => 0.0,
        };
        let min_rate = self.rate("MIN_RATE", Rate::from_mbps(100));
        match kind {
            "hpcc" => {
                for (key, what) in [
                    (
                        "MULTI_RATE",
                        "a rate per hop there, of which the lowest applies; here one rate, of the busiest hop",
                    ),
                    ("SAMPLE_FEEDBACK", "ports without a queue are skipped within a round trip there, not here"),
                ] {
                    if self.switched(key, key == "MULTI_RATE") {
                        self.note(key, what);
                    }
                }
                let target = match self.entry("U_TARGET").map(|entry| &entry.value) {
                    Some(Value::Share(share)) => *share,
                    _ => 0.95,
                };
                let _ = write!(
                    text,
                    "target_utilisation = {target:?}\nmax_stage = {}\nadditive_increase = \"{}\"\nfast_reaction = \
                     {}\nmin_rate = \"{min_rate}\"\n",
                    self.whole("MI_THRESH", 5),
                    self.rate("RATE_AI", Rate::MIN),
                    self.switched("FAST_REACT", true),
                );
                return text;
            }
            "timely" => {
                let step = self.rate("RATE_AI", Rate::MIN);
                let hyper = self.rate("RATE_HAI", Rate::MIN).as_bps() as f64 / step.as_bps() as f64;
                let factor = hyper.round().max(1.0);
                if factor != hyper {
                    self.note("RATE_HAI", "here it is a multiple of RATE_AI: the nearest");
                }
                let _ = write!(
                    text,
                    "measure = \"round-trip\"\nadditive_increase = \"{step}\"\nhyper_factor = {factor}\n\
                     hyper_after = 6\nmin_rate = \"{min_rate}\"\n",
                );
                return text;
            }
            "dctcp-rate" => {
                let _ = write!(
                    text,
                    "gain = {gain:?}\nadditive_increase = \"{}\"\nmin_rate = \"{min_rate}\"\n",
                    self.rate("DCTCP_RATE_AI", Rate::from_gbps(1)),
                );
                return text;
            }
            _ => {}
        }
        // The HPCC simulator counts completed increases; here the stage includes the current one.
        let stages = self.whole("FAST_RECOVERY_TIMES", 5).saturating_add(1);
        let _ = write!(
            text,
            "gain = {gain:?}\nalpha_timer = \"{}\"\nalpha_sample = \"timer\"\ndecrease_interval = \"{}\"\ncnp_interval \
             = \"0us\"\n\
             clamp_target = {}\nbyte_counter = \"0B\"\nincrease_timer = \"{}\"\nrecovery_stages = {stages}\n\
             additive_increase = \"{}\"\nhyper_increase = \"{}\"\nmin_rate = \"{}\"\n",
            self.time("ALPHA_RESUME_INTERVAL", Time::from_us(55)),
            self.time("RATE_DECREASE_INTERVAL", Time::from_us(4)),
            self.switched("CLAMP_TARGET_RATE", false),
            self.time("RP_TIMER", Time::ZERO),
            self.rate("RATE_AI", Rate::MIN),
            self.rate("RATE_HAI", Rate::MIN),
            min_rate,
        );
        text
    }
}
