//! Invalid values of flow control and related keys, key by key: exit code 2, the line, and what to write instead.

const FABRIC: &str = r#"duration = "1ms"

[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "1Gbps", delay = "1us" }

[[traffic]]
kind = "incast"
fan_in = 2
receiver = "H3"
size = "100KB"
"#;

const FLORAX: &str = r#"
[switch]
queue = "100 packets"

[switch.flow_control]
kind = "florax"
lower = 0.25
upper = 0.5
max_upper = 0.8
raise = 0.1
burst_gap = "10ms"
expiry = "20ms"
grace = "auto"
flows = 4096
except = []
tiers = "all"

[host]
transport = "tcp"
ignore_pause = ["H1"]
on_pause = "halve"

[[committed_rate]]
from = "H1"
to = "H3"
rate = "100Mbps"

[[committed_rate]]
from = "H2"
to = 2
rate = "200Mbps"
"#;

const SIMPLE: &str = r#"
[switch]
queue = "100 packets"

[switch.flow_control]
kind = "pause-at-output"
lower = 0.25
upper = 0.5
expiry = "20ms"
reaction = "3840 bit times"
"#;

const CREDITS: &str = r#"
[switch]
buffer = "1MB"

[switch.flow_control]
kind = "cbfc"
priorities = [3]
credits = "20KB"
update = "2KB"
regrant = "100us"
"#;

const PFC: &str = r#"
[switch]
buffer = "1MB"

[switch.flow_control]
kind = "pfc"
priorities = [3]
xoff = "50KB"
headroom = "auto"
quanta = 65535

[switch.watchdog]
detection_time = "100us"
restoration_time = "100us"
action = "drop"

[host]
obeys_pause = true

[host.pause_storm]
host = "H2"
at = "10us"
until = "20us"
"#;

fn refused(name: &str, rest: &str, rows: &[(&str, &str, &str, &[&str])]) {
    crate::common::refused(name, &format!("{FABRIC}{rest}"), rows);
}

#[test]
fn agreements() {
    #[rustfmt::skip]
    refused("agreements", FLORAX, &[
        (r#"rate = "100Mbps""#, r#"rate = "2Gbps""#,   "", &["exceeds the 1Gbps of a link", "write 1Gbps or less"]),
        (r#"rate = "100Mbps""#, r#"rate = "0bps""#,    "", &["a rate is positive"]),
        (r#"rate = "100Mbps""#, r#"rate = "-1Mbps""#,  "", &["negative"]),
        (r#"rate = "100Mbps""#, r#"rate = 100"#,       "", &["has no unit", "100Gbps"]),
        (r#"rate = "100Mbps""#, r#"rat = "100Mbps""#,  "", &["needs `rate`", "did you mean `rate`?"]),
        (r#"from = "H1""#,      r#"from = "H9""#,      "", &["no host `H9`", "did you mean `H1`?"]),
        (r#"from = "H1""#,      r#"from = "S1""#,      "", &["`S1` is a switch, not a host"]),
        (r#"from = "H1""#,      r#"from = 3"#,         "", &["host 3 does not exist", "3 hosts, 0 to 2"]),
        (r#"from = "H1""#,      r#"from = "0-1""#,     "", &["`0-1` is not one host"]),
        (r#"from = "H1""#,      r#"from = "H3""#,      r#"to = "H3""#, &["`H3` sends nothing to itself"]),
        // The same pair as in the other `committed_rate` entry, given by host indices instead of names.
        (r#"from = "H2""#,      r#"from = 0"#,         r#"to = 2"#, &["have an agreement already", "one for a pair"]),
    ]);
    let agreement = "reaction = \"3840 bit times\"\n\n[[committed_rate]]\nfrom = \"H1\"\nto = \"H3\"\nrate = \"1Mbps\"";
    let said = &["agreed rates require flow_control = florax", "\"florax\""];
    refused("only-florax", SIMPLE, &[("reaction = \"3840 bit times\"", agreement, "[[committed_rate]]", said)]);
}

#[test]
fn hosts_that_do_not_stop() {
    #[rustfmt::skip]
    refused("ignore_pause", FLORAX, &[
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = ["H9"]"#,  "", &["no host `H9`", "did you mean `H1`?"]),
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = ["S1"]"#,  "", &["`S1` is a switch, not a host"]),
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = "H1""#,    "", &["`H1` is not a list", r#"["H1", "H2"]"#]),
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = [3]"#,     "", &["host 3 does not exist", "3 hosts, 0 to 2"]),
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = ["0-9"]"#, "", &["`0-9` is not a range of hosts", "0 to 2"]),
        (r#"ignore_pause = ["H1"]"#, r#"ignore_pause = ["2-1"]"#, "", &["`2-1` is not a range of hosts"]),
        (r#"on_pause = "halve""#,    r#"on_pause = "half""#,      "",
         &["`on_pause` is \"half\"; expected one of none, halve"]),
        (r#"transport = "tcp""#,    r#"transport = "ndp""#,     r#"on_pause = "halve""#,
         &["nothing to halve", "use tcp, dctcp or dcqcn"]),
    ]);
    #[rustfmt::skip]
    refused("obeys", PFC, &[
        ("obeys_pause = true", r#"obeys_pause = "yes""#, "", &["neither true nor false"]),
        (r#"host = "H2""#,     r#"host = "H7""#,         "", &["no host `H7`", "did you mean `H1`?"]),
        (r#"host = "H2""#,     r#"host = "S1""#,         "", &["no host `S1`"]),
        (r#"at = "10us""#,     r#"at = "-1us""#,         "", &["negative"]),
        (r#"until = "20us""#,  r#"until = "10us""#,      "", &["ends before its start", "after `at`"]),
    ]);
}

#[test]
fn thresholds_of_outputs() {
    #[rustfmt::skip]
    refused("thresholds", FLORAX, &[
        ("lower = 0.25",      "lower = 0.5",     "",
         &["a share below `upper` = 0.5", "would resume immediately"]),
        ("lower = 0.25",      "lower = 0",       "",
         &["stopped senders would never resume", "at least one packet"]),
        ("lower = 0.25",      "lower = 0.001",   "",                &["is 0 packets", "at least one packet"]),
        ("lower = 0.25",      "lower = -0.1",    "",                &["from 0 to 1"]),
        ("upper = 0.5",       "upper = 0",       "lower = 0.25",    &["a share below `upper` = 0"]),
        ("upper = 0.5",       r#"upper = "150%""#, "",              &["`150%` is more than 1", "from 0 to 1"]),
        ("upper = 0.5",       "upper = 0.9",     "max_upper = 0.8",
         &["below `upper` = 0.9", "lower < upper <= max_upper"]),
        ("max_upper = 0.8",   "max_upper = 0.4", "",                &["below `upper` = 0.5", "0.25, 0.5 and 0.8"]),
        ("max_upper = 0.8",   "max_upper = 1.1", "",                &["more than 1"]),
        ("raise = 0.1",       "raise = -0.1",    "",                &["from 0 to 1"]),
        ("raise = 0.1",       "raise = 2",       "",                &["more than 1"]),
        ("flows = 4096",      "flows = 0",       "",                &["from 1 to"]),
        ("flows = 4096",      "flows = 1.5",     "",                &["not a whole number"]),
        (r#"queue = "100 packets""#, r#"buffer = "1MB""#, r#"kind = "florax""#,
         &["needs a buffer per output", "switch.queue"]),
        (r#"kind = "florax""#, r#"kind = "flora""#, "",             &["did you mean `florax`?"]),
        (r#"kind = "florax""#, r#"kind = "destination""#, "max_upper = 0.8",
         &["has no key `max_upper`", "belongs to florax"]),
    ]);
}

#[test]
fn thresholds_of_accounts() {
    #[rustfmt::skip]
    refused("thresholds-of-accounts", PFC, &[
        (r#"xoff = "50KB""#, "xoff = \"50KB\"\nxon = \"51KB\"", r#"xon = "51KB""#,
         &["the distance below XOFF", "write 50KB or less"]),
    ]);
}

#[test]
fn times_of_outputs() {
    #[rustfmt::skip]
    refused("expiry", FLORAX, &[
        (r#"expiry = "20ms""#,    r#"expiry = "0s""#,    "", &["above zero", "20ms"]),
        (r#"expiry = "20ms""#,    r#"expiry = "-1ms""#,  "", &["negative"]),
        (r#"expiry = "20ms""#,    r#"expiry = 20"#,      "", &["has no unit", "1.5us"]),
        (r#"burst_gap = "10ms""#, r#"burst_gap = "0s""#, "", &["above zero"]),
        (r#"grace = "auto""#,     r#"grace = "soon""#,   "", &["`soon` is not a time"]),
        (r#"grace = "auto""#,     r#"grace = "-1us""#,   "", &["negative"]),
    ]);
    #[rustfmt::skip]
    refused("pause-at-output", SIMPLE, &[
        // At 1 Gbps, the maximum pause time is 65535 quanta of 512 bits = 33.55 ms.
        (r#"expiry = "20ms""#, r#"expiry = "34ms""#, "", &["65535 quanta", "or 33.55392ms or less"]),
        (r#"expiry = "20ms""#, r#"expiry = "0s""#,   "", &["above zero"]),
        (r#"reaction = "3840 bit times""#, "reaction = 3840", "", &["has no unit", r#"write "standard""#]),
        (r#"reaction = "3840 bit times""#, r#"reaction = "-1ns""#, "", &["negative", r#"write "standard""#]),
        (r#"reaction = "3840 bit times""#, r#"reaction = "2s""#, "", &["more than a second"]),
        ("upper = 0.5",        "upper = 0.2",        "lower = 0.25", &["a share below `upper` = 0.2"]),
    ]);
}

#[test]
fn credits() {
    #[rustfmt::skip]
    refused("credits", CREDITS, &[
        (r#"credits = "20KB""#,  r#"credits = "0B""#,    "", &["no frame could be sent", "20KB"]),
        (r#"credits = "20KB""#,  r#"credits = "1000B""#, "",
         &["less than a frame of 1.062KB", "1.062KB\" or more"]),
        (r#"credits = "20KB""#,  r#"credits = "some""#,  "", &["`some` is not a size"]),
        (r#"credits = "20KB""#,  r#"credits = "400KB""#, r#"buffer = "1MB""#,
         &["not larger than its credits", "or more"]),
        (r#"update = "2KB""#,    r#"update = "0B""#,     "", &["at least a byte"]),
        (r#"regrant = "100us""#, r#"regrant = "0s""#,    "", &["without any time in between", "100us"]),
        ("priorities = [3]",     "priorities = []",      "", &["is empty", "such as [3]"]),
        ("priorities = [3]",     "priorities = [8]",     "", &["from 0 to 7"]),
        (r#"buffer = "1MB""#,    r#"queue = "100KB""#,   r#"kind = "cbfc""#, &["switch.buffer"]),
    ]);
}

#[test]
fn pauses_and_their_watchdog() {
    #[rustfmt::skip]
    refused("watchdog", PFC, &[
        (r#"detection_time = "100us""#,  r#"detection_time = "0s""#,    "", &["above zero"]),
        (r#"restoration_time = "100us""#, r#"restoration_time = "0s""#,   "", &["above zero"]),
        (r#"detection_time = "100us""#,  r#"detection_time = "-1us""#,  "", &["negative"]),
        (r#"action = "drop""#,   r#"action = "pray""#,  "", &["one of drop, forward"]),
        (r#"kind = "pfc""#,      r#"kind = "none""#,    "[switch.watchdog]", &["needs PAUSE or PFC", "or no watchdog"]),
        (r#"xoff = "50KB""#,     r#"xoff = "2MB""#,     "",
         &["not below the buffer of 1MB", "can never be reached"]),
        (r#"xoff = "50KB""#,     r#"xoff = "1MB""#,     "",
         &["not below the buffer of 1MB", "can never be reached"]),
        (r#"xoff = "50KB""#,     r#"xoff = "0/1""#,     "", &["not a share of the free buffer"]),
        ("quanta = 65535",       "quanta = 0",          "", &["from 1 to 65535"]),
        (r#"headroom = "auto""#, r#"headroom = "1MB""#, r#"buffer = "1MB""#, &["smaller than its headroom", "or more"]),
    ]);
}

#[test]
fn switches_that_take_no_part() {
    #[rustfmt::skip]
    refused("partial", FLORAX, &[
        ("except = []",     r#"except = ["S2"]"#, "", &["no switch `S2`", "did you mean `S1`?"]),
        ("except = []",     r#"except = ["H1"]"#, "", &["`H1` is a host", "host.ignore_pause"]),
        ("except = []",     r#"except = "S1""#,   "", &["is not a list"]),
        ("except = []",     r#"except = [1]"#,    "", &["not the name of a switch", "in quotes"]),
        ("except = []",     r#"except = ["S1"]"#, "",
         &["no switch with flow control is left", "flow_control = \"none\""]),
        (r#"tiers = "all""#, "tiers = [2]",       "", &["no switch is in a listed tier", "tiers [1]"]),
        (r#"tiers = "all""#, "tiers = []",        "", &["is empty"]),
        (r#"tiers = "all""#, "tiers = [9]",       "", &["from 1 to 7"]),
    ]);
}
