//! Invalid values of rate control keys at hosts, key by key: exit code 2, the line, and what to write instead.

use crate::common::refused;

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
        (r#"segment = "16KB""#, r#"segment = "0B""#, "", &["`segment`", "at least a packet's payload, 1000B"]),
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

const HPCC: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "hpcc"
payload = "1000B"
base_rtt = "path"
target_utilisation = 0.95
max_stage = 5
additive_increase = "40Mbps"
fast_reaction = true
min_rate = "100Mbps"
telemetry = "42B"
"#;

#[test]
fn hpcc() {
    #[rustfmt::skip]
    refused("hpcc", &scenario(HPCC), &[
        (r#"base_rtt = "path""#,      r#"base_rtt = "0us""#,           "", &["`base_rtt`", "above 0"]),
        (r#"base_rtt = "path""#,      r#"base_rtt = "-1us""#,          "", &["negative"]),
        (r#"target_utilisation = 0.95"#, r#"target_utilisation = 0"#,  "", &["`target_utilisation`", "above 0"]),
        (r#"target_utilisation = 0.95"#, r#"target_utilisation = 1.5"#, "", &["a share from 0 to 1"]),
        (r#"max_stage = 5"#,          r#"max_stage = -1"#,             "", &["whole number"]),
        (r#"additive_increase = "40Mbps""#, r#"additive_increase = "0bps""#, "", &["a rate is positive"]),
        (r#"fast_reaction = true"#,   r#"fast_reaction = 1"#,          "", &["true or false"]),
        (r#"min_rate = "100Mbps""#,   r#"min_rate = 100"#,             "", &["has no unit"]),
        (r#"telemetry = "42B""#,      r#"telemetry = "70KB""#,         "", &["at most 65535 bytes"]),
        (r#"payload = "1000B""#,      r#"payload = "65450B""#,         "", &["`payload`", "65535B"]),
    ]);
}

const IRN: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "dcqcn"
ecn = true
loss_recovery = "selective"
flight_cap = "path"
rto_low = "100us"
rto_high = "320us"
rto_low_packets = 3

[switch.marking]
kind = "ecn"
k_min = "20KB"
k_max = "80KB"
"#;

#[test]
fn selective_repeat() {
    #[rustfmt::skip]
    refused("irn", &scenario(IRN), &[
        (r#"loss_recovery = "selective""#, r#"loss_recovery = "sack""#, "", &["go-back-n, selective"]),
        (r#"loss_recovery = "selective""#, r#"loss_recovery = true"#, "", &["go-back-n"]),
        (r#"flight_cap = "path""#,      r#"flight_cap = "0B""#,        "", &["`flight_cap`", "at least 1B"]),
        (r#"flight_cap = "path""#,      r#"flight_cap = 20"#,          "", &["has no unit"]),
        (r#"rto_low = "100us""#,        r#"rto_low = "0us""#,          "", &["`rto_low`", "round trip"]),
        (r#"rto_high = "320us""#,       r#"rto_high = "99us""#,        "", &["`rto_high`", "at least `rto_low`"]),
        (r#"rto_low_packets = 3"#,      r#"rto_low_packets = -3"#,     "", &["whole number"]),
    ]);
}

const SACK: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "tcp"
sack = true
congestion_control = "cubic"
out_of_order_takes_window = false
"#;

#[test]
fn selective_acknowledgements() {
    #[rustfmt::skip]
    refused("sack", &scenario(SACK), &[
        (r#"sack = true"#, r#"sack = 3"#, "", &["write true or false"]),
        (r#"congestion_control = "cubic""#, r#"congestion_control = "reno""#, "sack = true", &["`sack`", "newreno"]),
        (r#"congestion_control = "cubic""#, r#"congestion_control = "none""#, "sack = true", &["`sack`", "newreno"]),
        (r#"out_of_order_takes_window = false"#, r#"out_of_order_takes_window = true"#, "sack = true",
            &["`sack`", "not with `out_of_order_takes_window`"]),
    ]);
}

const PHANTOM: &str = r#"
[switch]
buffer = "1MB"
flow_control = { kind = "none" }

[switch.marking]
kind = "phantom"
drain = 0.95
threshold = "30KB"

[host.transport]
kind = "dctcp"
"#;

#[test]
fn phantom_queues() {
    let pipelines = r#"overload = { kind = "pipeline-trim" }"#;
    #[rustfmt::skip]
    refused("phantom", &scenario(PHANTOM), &[
        (r#"drain = 0.95"#,         r#"drain = 1"#,            "", &["`drain` = 1 is out of range", "below 1"]),
        (r#"drain = 0.95"#,         r#"drain = 0"#,            "", &["`drain` = 0 is out of range", "above 0"]),
        (r#"drain = 0.95"#,         r#"drain = -0.5"#,         "", &["is not a share"]),
        (r#"drain = 0.95"#,         r#"k_min = "30KB""#,       "", &["k_min"]),
        (r#"threshold = "30KB""#,   r#"threshold = "0B""#,     "", &["every frame would be marked"]),
        (r#"threshold = "30KB""#,   r#"threshold = 30"#,       "", &["has no unit"]),
        (r#"flow_control = { kind = "none" }"#, pipelines, "[switch.marking]",
            &["`phantom` and pipelines inside a switch are not supported together"]),
    ]);
}

const SWIFT: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "swift"
base_target = "20us"
flow_scaling_min = 0.1
flow_scaling_max = 100
additive_increase = 1
beta = 0.8
max_decrease = 0.5
reset_after = 5
initial_window = 10
min_window = 0.001
max_window = 1000
"#;

#[test]
fn swift() {
    #[rustfmt::skip]
    refused("swift", &scenario(SWIFT), &[
        (r#"base_target = "20us""#,   r#"base_target = "0us""#,        "", &["`base_target`", "above 0"]),
        (r#"flow_scaling_max = 100"#, r#"flow_scaling_max = 0.1"#, "", &["above flow_scaling_min"]),
        (r#"flow_scaling_min = 0.1"#, r#"flow_scaling_min = -0.1"#,    "", &["a number above 0"]),
        (r#"additive_increase = 1"#,  r#"additive_increase = 0"#,      "", &["a number above 0"]),
        (r#"beta = 0.8"#,             r#"beta = 0"#,                   "", &["`beta`", "above 0"]),
        (r#"max_decrease = 0.5"#,     r#"max_decrease = 1"#,           "", &["`max_decrease`", "below 1"]),
        (r#"reset_after = 5"#,        r#"reset_after = 0"#,            "", &["`reset_after`", "at least 1"]),
        (r#"initial_window = 10"#,    r#"initial_window = 2000"#,      "", &["`initial_window`", "at most max_window"]),
        (r#"min_window = 0.001"#,     r#"min_window = 0"#,             "", &["a number above 0"]),
        (r#"max_window = 1000"#,      r#"max_window = 0.5"#,           "", &["`max_window`", "at least 1 packet"]),
    ]);
}

const DCTCP_RATE: &str = r#"
[switch]
buffer = "1MB"
marking = { kind = "ecn", k_min = "30KB", k_max = "30KB", p_max = 1 }

[host.transport]
kind = "dctcp-rate"
window = "52KB"
variable_window = true
gain = 0.0625
initial_alpha = 1
additive_increase = "615Mbps"
min_rate = "100Mbps"
ecn = true
"#;

#[test]
fn dctcp_as_a_rate() {
    #[rustfmt::skip]
    refused("dctcp-rate", &scenario(DCTCP_RATE), &[
        (r#"window = "52KB""#,        r#"window = "unlimited""#, "variable_window = true", &["a limited `window`"]),
        (r#"window = "52KB""#,        r#"window = "0B""#,              "", &["`window`", "at least 1B"]),
        (r#"gain = 0.0625"#,          r#"gain = 2"#,                   "", &["a share from 0 to 1"]),
        (r#"initial_alpha = 1"#,      r#"initial_alpha = -1"#,         "", &["is not a share"]),
        (r#"additive_increase = "615Mbps""#, r#"additive_increase = "0bps""#, "", &["a rate is positive"]),
        (r#"min_rate = "100Mbps""#,   r#"min_rate = "fast""#,          "", &["is not a rate"]),
        (r#"ecn = true"#,             r#"ecn = false"#,                "", &["`ecn`", "the rate follows marks"]),
    ]);
}

const EXTERNAL: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "external"
initial_rate = "1Gbps"
min_rate = "100Mbps"
window = "52KB"
"#;

#[test]
fn external() {
    #[rustfmt::skip]
    refused("external", &scenario(EXTERNAL), &[
        (r#"initial_rate = "1Gbps""#, r#"initial_rate = "fast""#,      "", &["is not a rate"]),
        (r#"min_rate = "100Mbps""#,   r#"min_rate = "0bps""#,          "", &["a rate is positive"]),
        (r#"window = "52KB""#,        r#"window = "0B""#,              "", &["`window`", "at least 1B"]),
    ]);
}

const HETFLOW: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "hetflow"
timer = "3ms"
sampling_bytes = "100KB"
sample = 32
scaling = 1500
ewma = 1
gain = 0.0078125
recovery = "10ms"
update = "100us"
cnm = "64B"
min_rate = "10Mbps"
"#;

#[test]
fn hetflow() {
    #[rustfmt::skip]
    refused("hetflow", &scenario(HETFLOW), &[
        (r#"timer = "3ms""#,            r#"timer = "0s""#,              "", &["`timer`", "at least 1ps"]),
        (r#"sampling_bytes = "100KB""#, r#"sampling_bytes = "0B""#,     "", &["`sampling_bytes`", "at least 1B"]),
        (r#"sample = 32"#,              r#"sample = 0"#,                "", &["`sample`", "at least 1 frame"]),
        (r#"scaling = 1500"#,           r#"scaling = -1500"#,           "", &["a number above 0"]),
        (r#"scaling = 1500"#,           r#"scaling = 0"#,               "", &["a number above 0"]),
        (r#"scaling = 1500"#,           r#"scaling = inf"#,             "", &["a number above 0"]),
        (r#"ewma = 1"#,                 r#"ewma = 0"#,                  "", &["`ewma`", "above 0, up to 1"]),
        (r#"gain = 0.0078125"#,         r#"gain = -0.01"#,              "", &["is not a share"]),
        (r#"gain = 0.0078125"#,         r#"gain = 0.02"#,               "", &["`gain`", "up to 1/64"]),
        (r#"recovery = "10ms""#,        r#"recovery = "0s""#,           "", &["`recovery`", "at least 1ps"]),
        (r#"update = "100us""#,         r#"update = "0s""#,             "", &["`update`", "at least 1ps"]),
        (r#"cnm = "64B""#,              r#"cnm = "1MB""#,               "", &["at most 65535 bytes"]),
        (r#"min_rate = "10Mbps""#,      r#"min_rate = "0bps""#,         "", &["a rate is positive"]),
    ]);
}

const QCN: &str = r#"
[switch]
buffer = "1MB"

[switch.marking]
kind = "congestion-point"
set_point = "200KB"
weight = 2
sample = "150KB"
sample_min = "15KB"
jitter = 0.15
cnm = "64B"
cnm_class = 6
priorities = [3]

[host.transport]
kind = "qcn"
gain = 0.0078125
byte_counter = "150KB"
increase_timer = "15ms"
recovery_stages = 5
additive_increase = "5Mbps"
hyper_increase = "50Mbps"
min_rate = "5Mbps"
"#;

#[test]
fn qcn() {
    #[rustfmt::skip]
    refused("qcn", &scenario(QCN), &[
        (r#"set_point = "200KB""#, r#"set_point = "0B""#, "", &["`set_point` = 0B is out of range", "at least 1B"]),
        (r#"set_point = "200KB""#,    r#"set_point = "-1KB""#,     "", &["negative"]),
        (r#"weight = 2"#,             r#"weight = -2"#,            "", &["whole number from 0"]),
        (r#"weight = 2"#,             r#"weight = 65"#,            "", &["`65` is out of range", "from 0 to 64"]),
        (r#"sample = "150KB""#, r#"sample = "0B""#, r#"sample_min = "15KB""#, &["at most `sample`"]),
        (r#"sample_min = "15KB""#, r#"sample_min = "0B""#, "", &["`sample_min` = 0B is out of range", "at least 1B"]),
        (r#"sample_min = "15KB""#,    r#"sample_min = "151KB""#,   "", &["at most `sample` = 150KB"]),
        (r#"jitter = 0.15"#,          r#"jitter = 1"#,             "", &["write less than 1"]),
        (r#"jitter = 0.15"#,          r#"jitter = -0.1"#,          "", &["is not a share"]),
        (r#"cnm = "64B""#,            r#"cnm = "1MB""#,            "", &["at most 65535 bytes"]),
        (r#"cnm_class = 6"#,          r#"cnm_class = 8"#,          "", &["0 to 7"]),
        (r#"priorities = [3]"#,       r#"priorities = []"#,        "", &["empty"]),
        (r#"gain = 0.0078125"#,       r#"gain = 0"#,               "", &["`gain`", "above 0"]),
        (r#"gain = 0.0078125"#,       r#"gain = -0.1"#,            "", &["is not a share"]),
        (r#"min_rate = "5Mbps""#,     r#"min_rate = "0bps""#,      "", &["a rate is positive"]),
    ]);
}

const ECCP: &str = r#"
[switch]
buffer = "1MB"

[host.transport]
kind = "eccp"
availability = 0.1
equilibrium = 0.5
weight = 2
gain = 0.78125
estimate = "trains"
train_frames = 33
train_interval = "1ms"
probe = "1500B"
probe_class = 3
min_probe_rate = "50Mbps"
strain_threshold = 0.002
noise_slope = 0.00001
noise_offset = 0.01
initial_slope_variance = 1
initial_offset_variance = 100
increase_timer = "5ms"
initial_rate = "2Gbps"
rate = "5Gbps"
increase_before_cut = false
"#;

const BEFORE_CUT: &str = "increase_before_cut = false";

#[test]
fn eccp() {
    #[rustfmt::skip]
    refused("eccp", &scenario(ECCP), &[
        (r#"availability = 0.1"#,          r#"availability = 0"#,             "", &["`availability`", "above 0"]),
        (r#"availability = 0.1"#,          r#"availability = -0.1"#,          "", &["is not a share"]),
        (r#"equilibrium = 0.5"#,           r#"equilibrium = 1.5"#,            "", &["a share from 0 to 1"]),
        (r#"weight = 2"#,                  r#"weight = -2"#,                  "", &["a number above 0"]),
        (r#"gain = 0.78125"#,              r#"gain = -0.5"#,                  "", &["is not a share"]),
        (r#"gain = 0.78125"#,              r#"gain = 0"#,                     "", &["`gain`", "above 0"]),
        (r#"estimate = "trains""#,         r#"estimate = "oracle""#,          "", &["write one of trains, measured"]),
        (r#"train_frames = 33"#,           r#"train_frames = 1"#,             "", &["`train_frames`", "at least 2"]),
        (r#"train_interval = "1ms""#, r#"train_interval = "0s""#, "", &["`train_interval`", "at least 1ps"]),
        (r#"probe = "1500B""#,             r#"probe = "1MB""#,                "", &["at most 65535 bytes"]),
        (r#"probe_class = 3"#,             r#"probe_class = 8"#,              "", &["a class from 0 to 7"]),
        (r#"min_probe_rate = "50Mbps""#,   r#"min_probe_rate = "11Gbps""#,    "", &["11Gbps", "10Gbps"]),
        (r#"min_probe_rate = "50Mbps""#,   r#"min_probe_rate = "0bps""#,      "", &["a rate is positive"]),
        (r#"initial_rate = "2Gbps""#,      r#"initial_rate = "line""#,        BEFORE_CUT, &["an initial_rate below"]),
        (r#"initial_rate = "2Gbps""#,      r#"initial_rate = "5Gbps""#,       BEFORE_CUT, &["below rate"]),
        ("initial_rate = \"2Gbps\"\nrate = \"5Gbps\"", r#"initial_rate = "10Gbps""#, BEFORE_CUT, &["start at 10Gbps"]),
        (r#"noise_slope = 0.00001"#,       r#"noise_slope = 0"#,              "", &["a number above 0"]),
        (r#"noise_offset = 0.01"#,         r#"noise_offset = -0.01"#,         "", &["a number above 0"]),
        (r#"initial_slope_variance = 1"#,  r#"initial_slope_variance = -1"#,  "", &["a number above 0"]),
        (r#"initial_offset_variance = 100"#, r#"initial_offset_variance = 0"#, "", &["a number above 0"]),
    ]);
}

const TCP: &str = r#"
[host.transport]
kind = "tcp"
congestion_control = "cubic"
cubic_scale = 0.4
cubic_beta = 0.7
vegas_alpha = 2
vegas_beta = 4
vegas_gamma = 1
"#;

#[test]
fn tcp() {
    #[rustfmt::skip]
    refused("tcp", &scenario(TCP), &[
        (r#"congestion_control = "cubic""#, r#"congestion_control = "bbr""#, "", &["cubic, vegas, none"]),
        ("cubic_scale = 0.4",    "cubic_scale = 0",   "", &["a number above 0"]),
        ("cubic_scale = 0.4",    "cubic_scale = -1",  "", &["a number above 0"]),
        ("cubic_beta = 0.7",     "cubic_beta = 1",    "", &["`cubic_beta`", "below 1"]),
        ("cubic_beta = 0.7",     "cubic_beta = inf",  "", &["a number above 0"]),
        ("vegas_beta = 4",       "vegas_beta = 1",    "", &["at least `vegas_alpha`"]),
        ("vegas_alpha = 2",      r#"vegas_alpha = "few""#, "", &["a number above 0"]),
    ]);
    let dctcp = scenario("\n[host.transport]\nkind = \"dctcp\"\ncongestion_control = \"reno\"\n");
    refused(
        "dctcp",
        &dctcp,
        &[(
            "congestion_control = \"reno\"",
            "congestion_control = \"cubic\"",
            "",
            &["cubic and vegas are those of `tcp`"],
        )],
    );
}
