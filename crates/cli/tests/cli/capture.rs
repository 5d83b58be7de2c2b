//! Tests captured frames with tshark: no frame is malformed, no checksum is wrong, and counts equal those in
//! `summary.json`.

use crate::common::{Scratch, run};
use std::process::Command;

/// The Wireshark dissector that `tidegate dissector` prints.
const DISSECTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/assets/tidegate.lua");

/// Returns the number of frames of a capture that match the filter.
fn count(capture: &str, filter: &str) -> u64 {
    tshark(capture, filter, &["frame.number"]).expect("it was there just now").len() as u64
}

#[test]
fn the_dissector_is_a_command_away() {
    let printed = run(&["dissector"]);
    assert_eq!((printed.code, printed.out), (Some(0), std::fs::read_to_string(DISSECTOR).expect("a script")));
}

/// Returns tshark's output for a capture, one line per frame that matches `filter`. If tshark is not installed, returns
/// `None` and prints a note to standard error.
fn tshark(capture: &str, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-X", &format!("lua_script:{DISSECTOR}")]);
    for preference in ["eth.check_fcs", "ip.check_checksum", "udp.check_checksum", "tcp.check_checksum"] {
        command.args(["-o", &format!("{preference}:TRUE")]);
    }
    command.args(["-r", capture, "-Y", filter, "-T", "fields"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    match command.output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect())
        }
        Ok(output) => panic!("tshark: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            eprintln!("SKIPPED: there is no tshark (Debian: apt-get install tshark)");
            None
        }
    }
}

/// tshark filter for malformed frames and frames with a wrong checksum.
const FAULTS: &str = "_ws.malformed || eth.fcs.status == 0 || ip.checksum.status == 0 || tcp.checksum.status == 0 \
                      || udp.checksum.status == 0";

fn captured(scratch: &Scratch, scenario: &str) -> (String, serde_json::Value) {
    let (file, out) = (scratch.file("scenario.toml", scenario), scratch.path("out"));
    let ran = run(&["run", &file, "--out", &out, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    (format!("{out}/capture.pcapng"), serde_json::from_str(&ran.out).expect("JSON"))
}

fn bytes(lengths: &[String]) -> u64 {
    lengths.iter().map(|length| length.parse::<u64>().expect("a length")).sum()
}

/// One TCP flow over links with 3 % loss. The links are slow, so that tshark classifies retransmitted frames as
/// retransmissions: a frame that is late by less than 3 ms would be classified as out of order.
#[test]
fn tcp_frames_bytes_and_retransmissions_are_those_of_the_summary() {
    let scratch = Scratch::new("capture-tcp");
    let (capture, summary) = captured(
        &scratch,
        r#"
duration = "60s"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "2Mbps", delay = "3ms", loss = 0.03 }
[host]
transport = { kind = "tcp" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "500KB"
[record]
capture = [{ port = "H1", direction = "out" }, { port = "H2", direction = "out" }]
"#,
    );
    let Some(frames) = tshark(&capture, "frame", &["frame.len"]) else { return };
    assert_eq!(frames.len() as u64, summary["packets"]["injected"], "frames");
    assert_eq!(bytes(&frames), summary["bytes"]["injected"], "bytes");
    let again = tshark(&capture, "tcp.analysis.retransmission && frame.interface_name contains \"H1\"", &["tcp.len"]);
    let again = again.expect("it was there just now");
    assert!(again.len() > 3, "{again:?}");
    assert_eq!(again.len() as u64, summary["event_counts"]["retransmissions"], "retransmissions");
    assert_eq!(bytes(&again), summary["bytes"]["retransmitted"], "their payload");
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));
    let good =
        tshark(&capture, "eth.fcs.status == 1 && ip.checksum.status == 1 && tcp.checksum.status == 1", &["frame.len"]);
    assert_eq!(good.expect("tshark").len(), frames.len(), "every checksum is there and right");
}

#[test]
fn roce_pfc_and_notifications_are_read_without_a_fault() {
    let scratch = Scratch::new("capture-roce");
    let scenario = r#"
duration = "300us"
[fabric]
kind = "single-switch"
hosts = 5
link = { rate = "100Gbps", delay = "500ns" }
[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "20KB" }
marking = { kind = "ecn", k_min = "5KB", k_max = "20KB", p_max = 0.5 }
[host]
transport = { kind = "dcqcn" }
[[traffic]]
kind = "incast"
fan_in = 4
size = "99999B"
[record]
capture = [{ port = "H1" }, { port = "H2" }, { port = "H3" }, { port = "H4" }, { port = "H5" }]
"#;
    let (capture, summary) = captured(&scratch, scenario);
    let Some(out) = tshark(&capture, "frame.p2p_dir == 0", &["frame.len"]) else { return };
    assert_eq!(out.len() as u64, summary["packets"]["injected"], "hosts send no MAC control frames");
    assert_eq!(bytes(&out), summary["bytes"]["injected"]);
    let count = |filter: &str| tshark(&capture, filter, &["frame.number"]).expect("tshark").len() as u64;
    assert_eq!(count("macc.opcode == 0x0101 && macc.cbfc.pause_time.c3 > 0"), summary["pauses"]["count"]);
    assert_eq!(count("macc.opcode == 0x0101 && macc.cbfc.pause_time.c3 == 0"), summary["pauses"]["resumes"]);
    // ECN-marked frames (congestion experienced) arrived at hosts, and CNPs were sent.
    assert!(count("ip.dsfield.ecn == 3") > 0 && count("infiniband.bth.opcode == 0x81") > 0);
    assert_eq!(count("tidegate.kind == \"cnp\""), count("infiniband.bth.opcode == 0x81"), "CNPs have a name");
    let said = tshark(&capture, "tidegate.kind == \"cnp\"", &["_ws.col.Info"]).expect("tshark");
    assert!(said.iter().all(|info| info.contains("CNP")), "{said:?}");
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));
}

#[test]
fn pauses_tags_and_datagrams_are_read_without_a_fault() {
    let scratch = Scratch::new("capture-udp");
    let scenario = r#"
duration = "100us"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "500ns" }
[switch]
buffer = "1MB"
flow_control = { kind = "pause", xoff = "20KB" }
[host]
transport = { kind = "datagram", header = "50B" }
[[traffic]]
kind = "incast"
fan_in = 2
size = "50KB"
[record]
capture = [{ port = "S1:0", direction = "both" }, { port = "S1:1" }, { port = "S1:2", until = "50us" }]
"#;
    let (capture, _) = captured(&scratch, scenario);
    let Some(pauses) = tshark(&capture, "macc.opcode == 1", &["frame.len"]) else { return };
    assert!(!pauses.is_empty() && pauses.iter().all(|length| length == "64"), "{pauses:?}");
    let tagged = tshark(&capture, "udp && vlan.priority == 3 && vlan.id == 0 && ip.dsfield.dscp == 24", &["frame.len"]);
    let all = tshark(&capture, "udp", &["frame.len"]).expect("tshark");
    assert_eq!(tagged.expect("tshark").len(), all.len(), "room for a tag is used for one");
    assert!(!all.is_empty());
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));
    let late = tshark(&capture, "frame.interface_id == 2 && frame.time_epoch > 0.00005", &["frame.number"]);
    assert_eq!(late, Some(Vec::new()), "nothing after `until`");
}

/// A trimmed frame is a prefix of the original frame: tshark must show it as truncated to 64 bytes, not as malformed.
/// Headers returned to their source have source and destination swapped.
#[test]
fn trimmed_frames_are_cut_and_not_malformed() {
    for (transport, own, protocol) in [("roce", "", "infiniband"), ("tcp", ", initial_window = \"60KB\"", "tcp")] {
        let scratch = Scratch::new(&format!("capture-trim-{transport}"));
        let scenario = format!(
            r#"
duration = "40us"
[fabric]
kind = "single-switch"
hosts = 17
link = {{ rate = "100Gbps", delay = "500ns" }}
[switch]
queue = "4 packets"
overload = {{ kind = "trim", header_class = 6, header_queue = "20 packets" }}
[host]
transport = {{ kind = "{transport}"{own} }}
reply_class = 6
[[traffic]]
kind = "incast"
fan_in = 16
receiver = "H1"
size = "20KB"
class = 3
[record]
capture = [{{ port = "S1:0", direction = "out" }}, {{ port = "S1:1", direction = "out" }},
    {{ port = "S1:2", direction = "out" }}]
"#
        );
        let (capture, summary) = captured(&scratch, &scenario);
        let Some(headers) =
            tshark(&capture, "frame.cap_len == 64 && frame.len > 1000", &["ip.dsfield.dscp", "ip.len", "frame.len"])
        else {
            return;
        };
        assert!(
            headers.len() > 10 && summary["event_counts"]["trims"].as_u64() >= Some(headers.len() as u64),
            "{transport}"
        );
        for header in &headers {
            let fields: Vec<u64> = header.split('\t').map(|field| field.parse().expect("a number")).collect();
            assert_eq!((fields[0], fields[1]), (48, fields[2] - 18), "the class of headers, the length of the whole");
        }
        let faults = "_ws.malformed || ip.checksum.status == 0";
        assert_eq!(tshark(&capture, faults, &["frame.number"]), Some(Vec::new()), "{transport}");
        let layers =
            tshark(&capture, &format!("frame.cap_len == 64 && frame.len > 1000 && {protocol}"), &["frame.number"]);
        assert_eq!(layers.expect("tshark").len(), headers.len(), "all headers of {protocol} are there");
        assert!(summary["packets"]["returned_to_source"].as_u64() > Some(0), "{transport}");
    }
}

/// NDP with a trimming switch: after the UDP header follow 18 bytes of NDP header, of which byte 1 is the packet type.
/// Returned headers are counted on arrival, like all other packets.
#[test]
fn packets_headers_and_pulls_of_ndp_are_read_without_a_fault() {
    let scratch = Scratch::new("capture-ndp");
    let scenario = r#"
duration = "300us"
[fabric]
kind = "single-switch"
hosts = 17
link = { rate = "100Gbps", delay = "500ns" }
[switch]
queue = "8 packets"
overload = { kind = "trim", header_class = 7, header_queue = "2 packets" }
[host]
transport = { kind = "ndp" }
reply_class = 7
[[traffic]]
kind = "incast"
fan_in = 16
receiver = "H1"
size = "19999B"
[record]
"#;
    let ports: Vec<String> = (1..=17).map(|host| format!("{{ port = \"H{host}\" }}")).collect();
    let scenario = format!("{scenario}capture = [{}]\n", ports.join(", "));
    let (capture, summary) = captured(&scratch, &scenario);
    let Some(out) = tshark(&capture, "frame.p2p_dir == 0", &["frame.len"]) else { return };
    assert_eq!(out.len() as u64, summary["packets"]["injected"]);
    assert_eq!(bytes(&out), summary["bytes"]["injected"]);
    let kinds = ["data", "trimmed", "returned", "ack", "nack", "pull"];
    let came = kinds.map(|kind| count(&capture, &format!("tidegate.kind == \"{kind}\" && frame.p2p_dir == 1")));
    let [data, trimmed, returned, ack, nack, pull] = came;
    let packets = &summary["packets"];
    assert_eq!(data, packets["delivered_whole"], "data that came");
    assert_eq!(trimmed, packets["delivered_trimmed"], "headers that came");
    assert_eq!(returned, packets["returned_to_source"], "headers that came back");
    assert_eq!(ack + nack + pull, packets["consumed"], "answers and pulls");
    assert!(came.iter().all(|&count| count > 0), "one of each: {came:?}");
    let by_byte = (0..).zip(came).map(|(code, _)| {
        count(&capture, &format!("udp.dstport == 4799 && udp.payload[1] == {code} && frame.p2p_dir == 1"))
    });
    assert_eq!(by_byte.collect::<Vec<u64>>(), came, "kinds are those of the bytes");
    // The last packet of each of the 16 flows has the flag `last`, and trimmed frames state their original payload
    // size.
    assert!(count(&capture, "tidegate.kind == \"data\" && tidegate.ndp.last == 1 && frame.p2p_dir == 0") >= 16);
    let sizes = tshark(&capture, "tidegate.kind == \"trimmed\"", &["tidegate.ndp.payload_bytes", "frame.len"]);
    assert!(sizes.expect("tshark").iter().all(|size| size.ends_with("\t64") && !size.starts_with("0\t")));
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));
}

/// Frames of credit-based flow control, backpressure and congestion control protocols without a standard: the dissector
/// shows their names and fields, and their counts equal those in the summary.
#[test]
fn credits_backpressure_notifications_and_probes_are_named() {
    let scenario = |switch: &str, host: &str| {
        format!(
            r#"
duration = "1ms"
[fabric]
kind = "single-switch"
hosts = 5
link = {{ rate = "10Gbps", delay = "1us" }}
[switch]
{switch}
[host]
transport = {{ {host} }}
reply_class = 7
[[traffic]]
kind = "incast"
class = 3
fan_in = 4
receiver = "H1"
size = "200KB"
[record]
capture = [{{ port = "H1" }}, {{ port = "H2" }}, {{ port = "H3" }}, {{ port = "H4" }}, {{ port = "H5" }}]
"#
        )
    };
    let scratch = Scratch::new("capture-credits");
    let credits = "buffer = \"16MB\"\nflow_control = { kind = \"cbfc\", priorities = [3], credits = \"auto\" }";
    let (capture, _) = captured(&scratch, &scenario(credits, "kind = \"roce\""));
    let sent = "tidegate.kind == \"credit\" && frame.p2p_dir == 0 && frame.interface_id == 1";
    let Some(sent) = tshark(&capture, sent, &["tidegate.credit.class", "tidegate.credit.sent_bytes"]) else { return };
    assert!(!sent.is_empty() && sent.iter().all(|credit| credit.starts_with("3\t")), "{sent:?}");
    let data = tshark(&capture, "!tidegate && frame.p2p_dir == 0 && frame.interface_id == 1", &["frame.len"]);
    let answer = sent.iter().filter_map(|credit| credit.split('\t').nth(1)?.parse::<u64>().ok()).max();
    assert!(answer.is_some_and(|answer| answer > 0 && answer <= bytes(&data.expect("tshark"))), "{answer:?}");
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));

    let scratch = Scratch::new("capture-florax");
    let florax =
        "queue = \"40 packets\"\nflow_control = { kind = \"florax\", lower = 0.25, upper = 0.5, max_upper = 0.8 }";
    let (capture, summary) = captured(&scratch, &scenario(florax, "kind = \"roce\""));
    let answer = &summary["backpressure"];
    let [xoffs, xons] = ["xoff", "xon"].map(|kind| count(&capture, &format!("tidegate.kind == \"{kind}\"")));
    assert!(
        xoffs > 0 && xoffs + xons == answer["control_packets"].as_u64().expect("a count"),
        "{xoffs}, {xons}: {answer}"
    );
    assert!(xoffs >= answer["xoffs"].as_u64().expect("a count") && xons == answer["xons"].as_u64().expect("a count"));
    let to_the_receiver = "tidegate.flow.destination == 02:00:00:00:00:00";
    assert_eq!(count(&capture, to_the_receiver), xoffs + xons, "each names H1");
    assert!(count(&capture, "tidegate.kind == \"xoff\" && tidegate.flow.expiry_ns > 0") > 0);
    assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()));

    let points = "buffer = \"1MB\"\nmarking = { kind = \"congestion-point\", set_point = \"20KB\", priorities = [3] }";
    for (kind, filter) in [
        ("qcn", "tidegate.kind == \"cnm\" && tidegate.cnm.feedback > 0 && tidegate.cnm.priority == 3"),
        ("eccp", "tidegate.kind == \"probe\" && tidegate.probe.number > 0"),
    ] {
        let scratch = Scratch::new(&format!("capture-{kind}"));
        let (capture, _) = captured(&scratch, &scenario(points, &format!("kind = \"{kind}\"")));
        assert!(count(&capture, filter) > 0, "{kind}");
        assert_eq!(tshark(&capture, FAULTS, &["frame.number"]), Some(Vec::new()), "{kind}");
    }
}

/// A message of DTSCoE (`wire::reservation`), written here byte by byte.
#[test]
fn slot_reservations_are_dissected() {
    let scratch = Scratch::new("capture-slots");
    let path = scratch.0.join("slots.pcapng");
    let interface = record::pcapng::Interface { name: "H1 port 0".to_owned(), rate_bps: 1_000_000_000 };
    let mut writer = record::pcapng::CaptureWriter::create(&path, &[interface]).unwrap();
    let message = |kind: u8, divisors: u8| {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5, 2, kind];
        frame.extend(600u16.to_be_bytes());
        frame.extend(258u64.to_be_bytes());
        frame.extend([0, 0, 0, 3, 0, 0, 0, 2]);
        [1_920_000u64, 1_919_999, 48_000].iter().for_each(|value| frame.extend(value.to_be_bytes()));
        // Divisor 3 with two intervals: 200 ps from 1 ps on, and 5 ps from 301 ps on.
        frame.extend([0, divisors, 0, 3, 0, 2, 1, 0xC8, 1, 0xAC, 2, 5]);
        frame.extend([0; 4]);
        frame
    };
    writer.push(0, units::Time::ZERO, true, &message(1, 1)).unwrap();
    writer.push(0, units::Time::ZERO, true, &message(6, 0)).unwrap();
    writer.push(0, units::Time::ZERO, true, &message(4, 9)).unwrap();
    writer.close().unwrap();
    let fields = ["tidegate.kind", "tidegate.slot.stream", "tidegate.slot.start_ps", "tidegate.slot.occupied"];
    let path = path.to_str().unwrap();
    let Some(lines) = tshark(path, "tidegate.slot.stream == 258", &fields) else { return };
    let request = "request\t258\t1919999\tfrom 1 ps, 200 ps, modulo TW/3,from 301 ps, 5 ps, modulo TW/3";
    assert_eq!(lines[..2], [request, "release\t258\t1919999\t"]);
    assert_eq!(tshark(path, "tidegate.cut", &["tidegate.kind"]).unwrap(), ["fail"]);
}

/// Returns source and destination port of every TCP frame in a pcapng file. This parser does not use the dissector: it
/// reads enhanced packet blocks (type 6), Ethernet with an optional VLAN tag, IPv4 and TCP.
fn tcp_ports(path: &str) -> Vec<(u16, u16)> {
    let bytes = std::fs::read(path).expect("a capture");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let (mut at, mut ports) = (0, Vec::new());
    while at < bytes.len() {
        if word(at) == 6 {
            let frame = at + 28;
            let network = if short(frame + 12) == 0x8100 { frame + 18 } else { frame + 14 };
            if short(network - 2) == 0x0800 && bytes[network + 9] == 6 {
                let transport = network + 4 * usize::from(bytes[network] & 15);
                ports.push((short(transport), short(transport + 2)));
            }
        }
        at += word(at + 4);
    }
    ports
}

/// The ports in the flow table equal those of the captured frames.
#[test]
fn ports_of_the_flow_table_are_those_of_captured_frames() {
    let scratch = Scratch::new("capture-ports");
    let scenario = r#"
duration = "10ms"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "1us" }
[host]
transport = { kind = "tcp" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H1", "H3"], ["H2", "H3"]]
size = "20KB"
dst_port = 777
[record]
capture = [{ port = "H1", direction = "out" }, { port = "H2", direction = "out" }]
"#;
    let (capture, _) = captured(&scratch, scenario);
    let csv = run(&["table", &scratch.path("out"), "flows"]).out;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name: &str| header.iter().position(|it| *it == name).expect("a column");
    let (src, dst) = (column("src_port"), column("dst_port"));
    let listed: std::collections::BTreeSet<(u16, u16)> =
        lines.map(|row| (row[src].parse().expect("a port"), row[dst].parse().expect("a port"))).collect();
    let seen: std::collections::BTreeSet<(u16, u16)> = tcp_ports(&capture).into_iter().collect();
    assert_eq!((&seen, seen.len() >= 2), (&listed, true), "{csv}");
}
