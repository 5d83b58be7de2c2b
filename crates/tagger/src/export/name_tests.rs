//! Hostile names in every exporter: rejected, or in a configuration that the target's grammar parses as intended.

use super::sonic::{Settings, Watchdog};
use super::testing::port;
use super::*;
use proptest::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Line breaks, quotes, comments and separators of all targets, and valid name parts.
const PARTS: [&str; 36] = [
    "\n",
    "\r",
    "\u{1b}]0;x\u{7}",
    "\0",
    "\u{85}",
    "\u{2028}",
    "\t",
    "\"",
    "'",
    "\\",
    "`",
    "$",
    "|",
    ",",
    ":",
    ";",
    "#",
    "!",
    "{",
    "}",
    "*",
    "/",
    "../",
    " ",
    "flush ruleset",
    "reload now",
    "S1",
    "東",
    "Ethernet",
    "Et",
    "p",
    "swp",
    "0",
    "1/1",
    "-",
    "_",
];

fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..PARTS.len(), 0..4).prop_map(|parts| parts.into_iter().map(|at| PARTS[at]).collect())
}

/// Builds a switch with two ports and rules between them that every target can express.
fn view(switch: &str, ports: [&str; 2], peer: &str) -> Option<SwitchView> {
    let mut ports = ports.map(|name| port(name, false)).to_vec();
    ports[0].peer = peer.to_owned();
    let rules = [(1, 0, 0, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 1)];
    SwitchView::new(switch, ports, rules).ok()
}

fn settings() -> Settings {
    Settings {
        binding: QueueBinding::Egress,
        watchdog: Watchdog::All,
        first_tags: vec![1],
        detection_ms: 200,
        restoration_ms: 200,
        xon_bytes: 3_000,
        dynamic_th: 0,
    }
}

/// Accepts exactly the lines of an EOS configuration that this exporter may write.
fn is_eos(line: &str, ports: &[&str]) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mapped = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        matches!(words[..], [class, "to", "tx-queue" | "dscp", value] if number(class) && number(value))
    };
    let after = |start: &str| line.strip_prefix(start);
    line == "!"
        || line.starts_with("! ")
        || ["qos rewrite dscp", "   class class-default", "   qos trust dscp", "   priority-flow-control on"]
            .contains(&line)
        || after("qos map dscp ")
            .and_then(|rest| rest.rsplit_once(" to traffic-class "))
            .is_some_and(|(dscps, class)| dscps.split(' ').all(number) && number(class))
        || after("qos map traffic-class ").is_some_and(mapped)
        || after("class-map type qos match-any tagger-dscp-").is_some_and(number)
        || after("   match dscp ").is_some_and(number)
        || after("policy-map type quality-of-service tagger-in-").is_some_and(number)
        || after("   class tagger-dscp-").is_some_and(number)
        || after("      set traffic-class ").is_some_and(number)
        || after("   service-policy type qos input tagger-in-").is_some_and(number)
        || after("   priority-flow-control priority ")
            .and_then(|rest| rest.strip_suffix(" no-drop"))
            .is_some_and(number)
        || after("interface ").is_some_and(|name| ports.contains(&name))
}

/// Accepts exactly the lines of an nftables file that this exporter may write.
fn is_nft(line: &str, ports: &[&str]) -> bool {
    let known = |word: &str| ports.iter().any(|port| word == format!("\"{port}\""));
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let element = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        matches!(words[..], [from, ":", "goto", chain]
            if known(from) && chain.strip_prefix("group_").is_some_and(number))
    };
    let elements = line.strip_prefix("\t\telements = { ").or(line.strip_prefix("\t\t             "));
    let leaving = line.strip_prefix("\t\toifname { ").and_then(|rest| rest.split_once(" } goto to_tag_"));
    let fixed = [
        "table",
        "delete table",
        "\tchain ",
        "\tmap arrivals_",
        "\t\ttype ",
        "\t\tip",
        "\t\tmeta priority",
        "\t\tmeta protocol",
        "\t\tgoto to_lossy",
    ];
    line.starts_with("# ")
        || ["}", "\t}"].contains(&line)
        || fixed.iter().any(|start| line.starts_with(start)) && !line.contains('"')
        || elements.is_some_and(|rest| rest.trim_end_matches([',', '}', ' ']).split(", ").all(element))
        || leaving.is_some_and(|(names, tag)| names.split(", ").all(known) && number(tag))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_name_becomes_a_command(switch in name(), one in name(), other in name(), peer in name()) {
        let Some(view) = view(&switch, [&one, &other], &peer) else { return Ok(()) };
        let ports = [one.as_str(), other.as_str()];
        let marks = Marks::usual(&[1]).unwrap();
        if let Ok(text) = eos::config(&view, &marks) {
            for line in text.lines() {
                prop_assert!(is_eos(line, &ports), "{line:?}\n{text}");
            }
            let painted = text.contains(['\r', '\u{1b}']);
            prop_assert!(!painted);
        }
        if let Ok(text) = nftables::ruleset(&view, &marks, nftables::Family::Inet) {
            for line in text.lines() {
                prop_assert!(is_nft(line, &ports), "{line:?}\n{text}");
            }
            for line in nftables::queues(&view, &marks).unwrap().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                prop_assert!(["qdisc", "class"].contains(&words[0]) && words[1..3] == ["replace", "dev"], "{line}");
                prop_assert!(ports.contains(&words[3]) && !words[3].starts_with('-'), "{line}");
            }
        }
        if let Ok(config) = testing::sonic_fragment(&view, &marks, &settings()) {
            let mut expected = ports.to_vec();
            expected.sort_unstable();
            prop_assert_eq!(keys(&config["PORT_QOS_MAP"]), expected);
            for key in keys(&config["BUFFER_PG"]) {
                prop_assert!(key.split('|').count() == 2 && ports.contains(&key.split('|').next().unwrap()), "{key}");
            }
        }
        if let Ok(config) = acl::config_db(&view, &marks) {
            for rule in config["ACL_RULE"].as_object().unwrap().values().filter(|rule| rule["IN_PORTS"].is_string()) {
                prop_assert!(rule["IN_PORTS"].as_str().unwrap().split(',').all(|port| ports.contains(&port)));
            }
        }
    }

    /// A listing accepts all names of fabrics: each line is one rule, each field is unchanged.
    #[test]
    fn no_name_breaks_a_listing(switch in name(), one in name(), other in name()) {
        let names = [&switch, &one, &other];
        if names.iter().any(|name| fabric::check_name(name).is_err()) {
            return Ok(());
        }
        let Some(view) = view(&switch, [&one, &other], "h") else { return Ok(()) };
        let (mut text, mut table, mut json) = Default::default();
        listing::table(&mut table, &view, 0);
        prop_assert_eq!(table.lines().count(), 7);
        listing::json(&mut json, &view);
        let json: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&json["switch"], &Value::from(switch.as_str()));
        let out = json["rules"][1]["out"].as_u64().unwrap() as usize;
        prop_assert_eq!(&json["ports"][out]["interface"], &Value::from(other.as_str()));
        listing::csv(&mut text, &view);
        prop_assert_eq!(text.lines().count(), 4);
        for line in text.lines() {
            let fields = fields(line);
            prop_assert_eq!(fields.len(), 7, "{}", line);
            let plain = |field: &str| field.strip_prefix('\'').map_or(field.to_owned(), str::to_owned);
            let same = |field: &str, name: &str| field == name || plain(field) == name;
            prop_assert!(same(&fields[0], &switch) && (same(&fields[3], &one) || same(&fields[3], &other)), "{line}");
            prop_assert!(fields.iter().all(|field| !field.starts_with(['=', '+', '-', '@'])), "{line}");
        }
    }
}

/// Parses a line of CSV by RFC 4180.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("one");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

/// Returns the verdict of `nft --check` on a file, run in its own user and network namespace; `Err` if nft or
/// namespaces are unavailable.
fn nft(text: &str) -> Result<(), String> {
    let mut child = Command::new("unshare")
        .args(["--map-root-user", "--net", "nft", "--check", "--file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Checks with nft itself, if installed: all names at the limits of the grammar.
#[test]
fn nft_takes_what_is_written() {
    if let Err(missing) = nft("table inet probe {\n}\n") {
        println!("skipped, nft read nothing: {missing}");
        return;
    }
    let marks = Marks::usual(&[1]).unwrap();
    let mut written = 0;
    let ports = [
        "p0",
        "swp1s0",
        "Ethernet248",
        "eth0.100",
        "a-b_c.d",
        "_",
        "0",
        "fwd",
        "drop",
        "123456789012345",
        "p\"",
        "p*",
        "-x",
        "..",
        "a b",
        "$x",
        "p\\",
        "1234567890123456",
        "p;",
        "p\n",
        "@x",
    ];
    let switches = ["S1", "S1; flush ruleset", "\" }", "東 {", "\\", "include \"/etc/passwd\"", "S1\nflush ruleset\n#"];
    for (at, name) in ports.iter().enumerate() {
        let view = view(switches[at % switches.len()], [name, "other"], "h").unwrap();
        for family in [nftables::Family::Inet, nftables::Family::Bridge] {
            if let Ok(text) = nftables::ruleset(&view, &marks, family) {
                nft(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                written += 1;
            }
        }
    }
    assert!(written >= 16, "{written} files");
}
