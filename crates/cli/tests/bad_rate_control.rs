//! Bad input of rate controls at hosts, key by key: exit code 2, the line, and what would be right.

mod common;

use common::refused;

fn scenario(rest: &str) -> String {
    format!(
        r#"duration = "1ms"

[fabric]
kind = "dumbbell"
left = 2
right = 2
link = {{ rate = "10Gbps", delay = "1us" }}

[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H2", "H4"]]
size = "100KB"
class = 3
{rest}"#
    )
}

const TIMELY: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "timely"
segment = "16KB"
initial_rate = "2Gbps"
ewma = 0.875
beta = 0.8
additive_increase = "10Mbps"
t_low = "50us"
t_high = "500us"
min_rtt = "20us"
hyper_after = 5
hyper_factor = 5
min_rate = "10Mbps"
"#;

#[test]
fn timely() {
    #[rustfmt::skip]
    refused("timely", &scenario(TIMELY), &[
        (r#"segment = "16KB""#,     r#"segment = "0B""#,          "", &["`segment`", "at least a packet's payload, 1000B"]),
        (r#"segment = "16KB""#,     r#"segment = "-1KB""#,        "", &["negative"]),
        (r#"ewma = 0.875"#,         r#"ewma = 0"#,                "", &["`ewma`", "above 0, up to 1"]),
        (r#"ewma = 0.875"#,         r#"ewma = -0.5"#,             "", &["is not a share"]),
        (r#"beta = 0.8"#,           r#"beta = -0.8"#,             "", &["is not a share"]),
        (r#"beta = 0.8"#,           r#"beta = 1"#,                "", &["`beta`", "above 0, below 1"]),
        (r#"beta = 0.8"#,           r#"beta = 1.5"#,              "", &["a share from 0 to 1"]),
        (r#"additive_increase = "10Mbps""#, r#"additive_increase = "0bps""#, "", &["a rate is positive"]),
        (r#"t_high = "500us""#,     r#"t_high = "49us""#,         "", &["`t_high`", "at least t_low"]),
        (r#"min_rtt = "20us""#,     r#"min_rtt = "0us""#,         "", &["`min_rtt`", "at least 1ps"]),
        (r#"hyper_after = 5"#,      r#"hyper_after = 0"#,         "", &["`hyper_after`", "at least 1"]),
        (r#"hyper_factor = 5"#,     r#"hyper_factor = -5"#,       "", &["whole number"]),
        (r#"hyper_factor = 5"#,     r#"ack_every = 5"#,           "", &["no parameter `ack_every`"]),
        (r#"min_rate = "10Mbps""#,  r#"min_rate = 10"#,           "", &["has no unit"]),
    ]);
}
