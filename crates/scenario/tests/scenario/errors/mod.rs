//! Invalid inputs of every kind; complete error messages are compared.

mod flow_control;

use scenario::Scenario;
use std::io;
use std::path::Path;

const GOOD: &str = r#"name = "test"
duration = "1ms"

[fabric]
kind = "fat-tree"
k = 4
link = { rate = "100Gbps", delay = "500ns" }

[switch]
buffer = "16MB"
flow_control = { kind = "pfc", priorities = [3] }

[[traffic]]
kind = "incast"
fan_in = 8
size = "1MB"

[measure]
warm_up = "100us"
"#;

fn files(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("dir/short.txt") => Ok(b"4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n".to_vec()),
        Some("dir/apart.txt") => Ok(
            b"6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n0 1 1Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 1Gbps 1us 0\n"
                .to_vec(),
        ),
        Some("dir/still.txt") => Ok(b"3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 0ns 0\n".to_vec()),
        Some("dir/plain.json") => Ok(br#"{"nodes":[{"id":"h1"},{"id":"h2"},{"id":"s"}],
            "links":[{"source":"h1","target":"s"},{"source":"h2","target":"s"}]}"#
            .to_vec()),
        Some("dir/cut-flow.txt") => Ok(b"3\n0 1 3 100 5000 2.0\n1 2 3 100 5000 2.1\n".to_vec()),
        Some("dir/far-flow.txt") => Ok(b"1\n0 99 3 100 5000 2.0\n".to_vec()),
        Some("dir/late-flow.txt") => Ok(b"1\n0 1 3 100 5000 2.0\n".to_vec()),
        // A rule file for another fabric.
        Some("dir/other-rules.json") => Ok(rules("0123456789abcdef", 1).into_bytes()),

        Some("dir/sizes.txt") => Ok(b"0 0\n1000 50\n500 100\n".to_vec()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
    }
}

/// Makes a rule file with one lossless tag for the fabric of `GOOD`, with the fabric hash `hash`.
fn rules(hash: &str, tag: u8) -> String {
    format!(
        "{{ \"format\": \"tidegate-tagger-rules\", \"version\": 1, \"fabric\": {{ \"kind\": \"fat-tree\", \
         \"switches\": 20, \"hosts\": 16, \"links\": 48, \"hash\": \"{hash}\" }}, \"generated_by\": {{ \"algorithm\": \
         \"\", \"paths\": \"\" }}, \"lossless_tags\": [{tag}], \"lossy_tag\": 0, \"classes\": [], \"switches\": [] }}"
    )
}

fn lower(text: &str, overrides: &[(&str, &str)]) -> Result<scenario::Lowered, String> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::parse_with(text, "dir/test.toml", "dir".as_ref(), &overrides, None, Box::new(files))
        .and_then(|scenario| scenario.lower())
        .map_err(|errors| errors.to_string())
}

/// Returns the error message for `GOOD` after one replacement in its text.
fn wrong(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    lower(&GOOD.replace(from, to), &[]).expect_err("must be refused")
}

fn set(key: &str, value: &str) -> String {
    lower(GOOD, &[(key, value)]).expect_err("must be refused")
}

#[test]
fn the_scenario_itself_is_good() {
    let lowered = lower(GOOD, &[]).unwrap();
    assert_eq!(lowered.traffic_text, ["incast: 8 flows, 8MB"]);
    assert!(lowered.warnings.is_empty());
}

#[test]
fn a_misspelt_key() {
    assert_eq!(
        wrong("fan_in", "fan_inn"),
        "dir/test.toml:13:1: `traffic.0` needs `fan_in`\n  help: number of senders, drawn at random: write fan_in = \
         4\ndir/test.toml:15:1: unknown key `fan_inn` in `traffic.0`\n  help: did you mean `fan_in`?"
    );
    assert_eq!(
        wrong("[measure]", "[mesaure]"),
        "dir/test.toml:18:2: unknown key `mesaure` in a scenario\n  help: did you mean `measure`?"
    );
    assert_eq!(
        wrong("k = 4", "k = 4\nleaves = 3"),
        "dir/test.toml:7:1: `fabric` is of kind fat-tree and has no key `leaves`\n  help: `leaves` belongs to \
         leaf-spine"
    );
    assert_eq!(
        wrong("\"fat-tree\"", "\"fat_tree\""),
        "dir/test.toml:5:8: `fat_tree` is not a valid kind of fabric\n  help: did you mean `fat-tree`?"
    );
}

/// Names are printed to terminals: escape sequences are refused.
#[test]
fn a_text_that_would_paint_the_screen() {
    assert_eq!(
        wrong("name = \"test\"", "name = \"\\u001b[2J\""),
        "dir/test.toml:1:8: the text has the control character U+001B"
    );
}

#[test]
fn a_wrong_unit_and_a_negative_rate() {
    assert_eq!(
        wrong("\"500ns\"", "\"500nm\""),
        "dir/test.toml:7:36: `nm` is not a unit of a time: use one of ps, ns, us, ms, s"
    );
    assert_eq!(
        wrong("\"100Gbps\"", "\"-100Gbps\""),
        "dir/test.toml:7:17: `-100Gbps` is negative: a rate is zero or more, like \"100Gbps\""
    );
    assert_eq!(
        wrong("\"1MB\"", "1000000"),
        "dir/test.toml:16:8: `1000000` has no unit: write a size like \"64KiB\" (one of B, KB, kB, MB, GB, TB, KiB, \
         MiB, GiB, TiB)"
    );
}

#[test]
fn series_that_no_disk_holds() {
    assert_eq!(
        set("record.queues", "{ every = \"1ps\" }"),
        "--set record.queues={ every = \"1ps\" }: 1000000000 samples of 80 switch ports make up to 80000000000 rows\n  \
         help: the limit of a series is 10000000000 rows: sample every 8ps or less often"
    );
    assert!(lower(GOOD, &[("record.queues", "{ every = \"8ps\" }")]).is_ok());
    assert!(set("record.links", "{ every = \"8ps\" }").contains("125000000 samples of 96 ports make"));
    let long = [("duration", "100000s"), ("record.throughput", "{ every = \"1us\" }")];
    assert!(lower(GOOD, &long).unwrap_err().contains("100000000000 samples of 1 traffic entries"));
    let of_flows = [("duration", "2ms"), ("record.control", "{ every = \"1ps\" }")];
    let messages = lower(GOOD, &of_flows).unwrap_err();
    assert!(messages.contains("2000000000 samples of 8 flows make up to 16000000000 rows"), "{messages}");
}

#[test]
fn two_errors_are_reported_at_once() {
    let text = GOOD.replace("\"500ns\"", "\"0ns\"").replace("priorities = [3]", "priorities = [8]");
    assert_eq!(
        lower(&text, &[]).unwrap_err(),
        "dir/test.toml:7:36: every link needs a delay above zero\n  help: 1ns is a cable of 20 cm\n\
         dir/test.toml:11:45: `8` is out of range\n  help: write a whole number from 0 to 7"
    );
}

#[test]
fn a_missing_key() {
    assert_eq!(
        wrong("duration = \"1ms\"\n", ""),
        "dir/test.toml:1:1: `duration` is missing\n  help: end of the run, in simulated time, up to 20 days: write \
         duration = \"10us\""
    );
    assert_eq!(
        wrong("link = { rate = \"100Gbps\", delay = \"500ns\" }\n", ""),
        "dir/test.toml:4:1: `fabric` needs `link`\n  help: write link = { rate = \"100Gbps\", delay = \"500ns\" }"
    );
    assert_eq!(
        wrong("size = \"1MB\"\n", ""),
        "dir/test.toml:13:1: `traffic.0` has no size\n  help: write size = \"1MB\", sizes = \"web-search\", or process \
         = \"poisson\" for frames without a transport"
    );
}

#[test]
fn hosts_that_do_not_exist() {
    assert_eq!(
        set("traffic.0.receiver", "16"),
        "--set traffic.0.receiver=16: host 16 does not exist\n  help: there are 16 hosts, 0 to 15"
    );
    assert_eq!(
        wrong("fan_in = 8", "fan_in = 8\nreceiver = \"H99\""),
        "dir/test.toml:16:12: the fabric has no host `H99`\n  help: did you mean `H9`?"
    );
    assert_eq!(
        wrong("fan_in = 8", "fan_in = 2\nhosts = [\"H1\", \"S1\", 2]"),
        "dir/test.toml:16:16: `S1` is a switch, not a host\n  help: did you mean `H1`?"
    );
    assert_eq!(
        wrong("fan_in = 8", "fan_in = 16"),
        "dir/test.toml:15:10: incast needs at least 17 hosts, but there are 16"
    );
}

#[test]
fn an_unreachable_host() {
    let text = format!("{GOOD}\n[[fail]]\nlink = [\"H1\", \"S1\"]\n");
    assert_eq!(
        lower(&text, &[]).unwrap_err(),
        "dir/test.toml:21:1: without the links that never work, no route leads from host `H3` to host `H1`\n  help: \
         let it fail later, end the failure with `until`, or keep another path"
    );
    let text = format!("{GOOD}\n[[fail]]\nlink = [\"S1\", \"C1\"]\n");
    assert_eq!(
        lower(&text, &[]).unwrap_err(),
        "dir/test.toml:22:8: no link joins `S1` and `C1`\n  help: `S1` is linked to H1, H2, S3, S4"
    );
}

/// Returns the error message for `GOOD` with the fabric of the topology file `name`.
fn file(name: &str) -> String {
    let fabric = format!("[fabric]\nkind = \"file\"\nfile = \"{name}\"\n");
    let from = GOOD.find("[fabric]").unwrap();
    let to = GOOD.find("\n[switch]").unwrap();
    lower(&format!("{}{fabric}{}", &GOOD[..from], &GOOD[to..]), &[]).expect_err("must be refused")
}

#[test]
fn fabrics_from_files() {
    assert_eq!(file("short.txt"), "dir/short.txt:4: the file ends after 2 of 3 links (read as hpcc)");
    assert_eq!(
        file("apart.txt"),
        "dir/apart.txt: the file describes no usable fabric: the fabric is not connected: no path leads from `h0` to \
         `h2`"
    );
    assert_eq!(file("still.txt"), "dir/still.txt:4: the delay `0ns` must be above zero, like 1000ns (read as hpcc)");
    assert!(file("plain.json").contains("help: write fabric.link = { rate"), "{}", file("plain.json"));
    assert_eq!(
        file("none.txt"),
        "dir/test.toml:6:8: cannot read `dir/none.txt`: no such file\n  help: names are relative to the scenario's \
         folder"
    );
}

fn flows(name: &str) -> String {
    let traffic = format!("kind = \"replay\"\nfile = \"{name}\"\n");
    wrong("kind = \"incast\"\nfan_in = 8\nsize = \"1MB\"\n", &traffic)
}

#[test]
fn flows_and_sizes_from_files() {
    assert_eq!(
        flows("cut-flow.txt"),
        "dir/cut-flow.txt:3: the file ends after 2 flows, but its first line states 3 (hpcc flow file)"
    );
    assert_eq!(
        flows("far-flow.txt"),
        "dir/far-flow.txt:2: host 99 does not exist: there are 16 hosts, 0 to 15 (hpcc flow file)"
    );
    assert_eq!(
        flows("late-flow.txt"),
        "dir/test.toml:15:8: the first flow starts at 2s, but the run ends at 1ms\n  help: write time_origin = \"2s\" \
         to make that instant 0"
    );
    assert_eq!(
        wrong("size = \"1MB\"", "sizes = { file = \"sizes.txt\" }"),
        "dir/sizes.txt:3: sizes must not decrease (size distribution)"
    );
    assert_eq!(
        wrong("size = \"1MB\"", "sizes = \"websearch\""),
        "dir/test.toml:16:9: `websearch` is not a distribution of sizes\n  help: did you mean `web-search`?"
    );
}

#[test]
fn classes() {
    assert_eq!(
        wrong("size = \"1MB\"", "size = \"1MB\"\nclass = 8"),
        "dir/test.toml:17:9: `8` is out of range\n  help: write a whole number from 0 to 7"
    );
    let lowered = lower(&GOOD.replace("size = \"1MB\"", "size = \"1MB\"\nclass = 2"), &[]).unwrap();
    assert_eq!(
        lowered.warnings[0].to_string(),
        "switch.flow_control.priorities: no traffic uses a lossless class: frames of every class may be lost"
    );
}

#[test]
fn transports() {
    assert_eq!(
        set("host.transport", "tpc"),
        "--set host.transport=tpc: `tpc` is not a valid transport\n  help: did you mean `tcp`?"
    );
    let text = format!("{GOOD}\n[host]\ntransport = {{ kind = \"roce\", paylod = \"1KB\", rate = \"10\" }}\n");
    assert_eq!(
        lower(&text, &[]).unwrap_err(),
        "dir/test.toml:22:30: `roce` has no parameter `paylod`\n  help: did you mean `payload`?\n\
         dir/test.toml:22:53: `10` has no unit: write a rate like \"100Gbps\" (one of bps, Kbps, kbps, Mbps, Gbps, \
         Tbps)"
    );
}

#[test]
fn paths_that_lead_elsewhere() {
    let paths = "\n[[path]]\nname = \"a\"\nnodes = [\"H1\", \"S1\", \"H2\"]\n";
    let pairs = |more: &str| {
        let text = GOOD.replace("kind = \"incast\"\nfan_in = 8\n", &format!("kind = \"pairs\"\n{more}\n"));
        lower(&format!("{text}{paths}"), &[])
    };
    assert!(pairs("paths = [\"a\"]").is_ok());
    assert_eq!(
        pairs("pairs = [[\"H1\", \"H3\"]]\npath = \"a\"").unwrap_err(),
        "dir/test.toml:16:8: path `a` is from `H1` to `H2`, the flow from `H1` to `H3`"
    );
    assert_eq!(pairs("paths = [\"b\"]").unwrap_err(), "dir/test.toml:15:10: `b` is not a path\n  help: it is one of a");
}

/// Lowers `GOOD` with a request-reply client whose entry has the further keys `more`.
fn asking(more: &str) -> Result<scenario::Lowered, String> {
    let asks = "kind = \"request-reply\"\nclient = 3\nservers = [5]\nreply_size = \"8B\"\n".to_owned() + more;
    lower(&GOOD.replace("kind = \"incast\"\nfan_in = 8\nsize = \"1MB\"", &asks), &[])
}

#[test]
fn requests_and_replies() {
    let flows = asking("connections = 4\nrequests = 10").unwrap().setup.traffic.flows.len();
    assert_eq!(flows, 2 * 4 * 10);
    assert!(asking("service_time = { exponential = \"10us\" }").is_ok());
    let wrong = |more: &str| asking(more).expect_err("must be refused");
    assert_eq!(
        wrong("service_time = 10"),
        "dir/test.toml:18:16: `10` has no unit: write a time like \"1.5us\" (one of ps, ns, us, ms, s)"
    );
    assert_eq!(
        wrong("service_time = { uniform = \"10us\" }"),
        "dir/test.toml:18:16: a table of service times has one key: exponential\n  help: write a time like \"10us\", \
         or { exponential = \"10us\" } for a mean"
    );
    assert_eq!(
        wrong("service_time = { exponential = \"0s\" }"),
        "dir/test.toml:18:16: `0ps` must be above zero\n  help: write a time like \"10us\""
    );
    assert_eq!(wrong("connections = 0"), "dir/test.toml:18:15: connections: at least 1 must carry requests");
    assert_eq!(
        wrong("connections = 5000000\nrequests = 100"),
        "dir/test.toml:16:11: request and reply makes 1000000000 flows, more than the 67108864 a plan holds: use \
         arrivals, or fewer hosts"
    );
}

#[test]
fn collective_operations() {
    let of = |more: &str| {
        let text = "kind = \"collective\"\noperation = ".to_owned() + more;
        lower(&GOOD.replace("kind = \"incast\"\nfan_in = 8\nsize = \"1MB\"", &text), &[])
    };
    let lowered = of("\"all-reduce\"\nsize = \"1MB\"").unwrap();
    assert_eq!(lowered.traffic_text, ["all-reduce: 480 flows, 30MB"]);
    assert_eq!(of("\"all-to-all\"\nsize = \"1600B\"").unwrap().setup.traffic.flows[0].size_bytes, 100);
    let broadcast = of("\"broadcast\"\nsize = \"1MB\"\nroot = 5").unwrap().setup.traffic.flows;
    assert_eq!((broadcast.len(), broadcast[0].src), (15, 5));
    let wrong = |more: &str| of(more).expect_err("must be refused");
    assert_eq!(
        wrong("\"allreduce\"\nsize = \"1MB\""),
        "dir/test.toml:15:13: `operation` is \"allreduce\"; expected one of all-reduce, reduce-scatter, \
         all-gather, broadcast, reduce, all-to-all\n  help: did you mean `all-reduce`?"
    );
    assert_eq!(
        wrong("\"all-reduce\"\nsize = \"1MB\"\nalgorithm = \"rings\""),
        "dir/test.toml:17:13: `algorithm` is \"rings\"; expected one of ring, tree, halving-doubling, \
         hierarchical, direct\n  help: did you mean `ring`?"
    );
    assert_eq!(
        wrong("\"all-reduce\"\nsize = \"1MB\"\nalgorithm = \"hierarchical\""),
        "dir/test.toml:13:1: `traffic.0` needs `group`\n  help: consecutive `hosts` per group; a divisor of their \
         number: write group = 4"
    );
    assert_eq!(
        wrong("\"all-reduce\"\nsize = \"1MB\"\nalgorithm = \"hierarchical\"\ngroup = 5"),
        "dir/test.toml:18:9: group: 16 hosts cannot be cut into more than one group of 5, of two or more"
    );
    assert_eq!(
        wrong("\"broadcast\"\nsize = \"1MB\"\nalgorithm = \"direct\""),
        "dir/test.toml:17:13: algorithm: there is no broadcast by `direct`: use ring or tree"
    );
    assert_eq!(
        wrong("\"all-reduce\"\nsize = \"1MB\"\nroot = 5"),
        "dir/test.toml:17:1: `traffic.0` is of kind collective and has no key `root`\n  help: `root` \
         belongs to rooted"
    );
    assert_eq!(
        wrong("\"reduce\"\nsize = \"1MB\"\nhosts = [1, 2]\nroot = 5"),
        "dir/test.toml:18:8: root: the root is not one of the hosts"
    );
    assert_eq!(
        wrong("\"all-reduce\"\nsize = \"15B\""),
        "dir/test.toml:16:8: size: some of its messages would have no bytes: write a larger size, or fewer chunks"
    );
}

#[test]
fn tags_that_do_not_fit() {
    let clos = "[switch]\ntags = { kind = \"tagger\", algorithm = \"clos\" }\n\
        scheduler = { kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }\n[host]\nreply_class = 1\n";
    let good = GOOD.replace("[switch]\n", clos.split("[host]").next().unwrap_or_default());
    let good = good.replace("[3]", "[1, 2]").replace("fan_in = 8\n", "fan_in = 8\nclass = 1\n");
    let with =
        |key: &str, value: &str| lower(&good, &[("host.reply_class", "1"), (key, value)]).expect_err("must be refused");
    let lowered = lower(&good, &[("host.reply_class", "1")]).unwrap();
    assert!(lowered.warnings.is_empty(), "{:?}", lowered.warnings);
    assert_eq!(lowered.setup.tags.map(|tags| tags.lossless()), Some(0b110));
    assert_eq!(
        lower(&good, &[]).unwrap_err(),
        "dir/test.toml:1:1: an acknowledgement would start with the tag that its data arrived with\n  \
         help: write host.reply_class = 1"
    );
    assert_eq!(
        with("switch.flow_control.priorities", "[1]"),
        "--set switch.flow_control.priorities=[1]: tags [1, 2] are lossless, but PFC stops only [1]\n  \
         help: a frame's class is its tag: write priorities = [1, 2]"
    );
    assert_eq!(
        with("switch.flow_control", "none"),
        "dir/test.toml:10:8: tags select classes of PFC, but PFC is off\n  help: write switch.flow_control = { kind = \
         \"pfc\", priorities = [1, 2] }"
    );
    assert_eq!(
        with("switch.tags.bounces", "8"),
        "--set switch.tags.bounces=8: `8` is out of range\n  help: write a whole number from 0 to 6"
    );
    assert_eq!(
        lower(&good, &[("switch.tags.bounces", "6"), ("switch.tags.classes", "2")]).unwrap_err(),
        "--set switch.tags.classes=2: 6 bounces and 2 classes need 8 tags\n  \
         help: frames have classes 0 to 7, and 0 is the lossy one: bounces + classes is at most 7"
    );
    assert_eq!(
        with("switch.tags", "tagger"),
        "--set switch.tags=tagger: `switch.tags` has neither `rules` nor `algorithm`\n  \
         help: write rules = \"rules.json\", a file for this fabric, or algorithm = \"clos\""
    );
    assert!(with("switch.overload", "detour").starts_with(
        "--set switch.overload=detour: tags do not cover bounced, detoured or trimmed frames\n  help: write overload = \
         \"drop\", or no tags"
    ));
    let merged = [("host.reply_class", "1"), ("switch.tags.algorithm", "merge"), ("switch.tags.paths", "up-down")];
    let (merged, three) =
        (lower(&good, &merged).unwrap_err(), "tags [1, 2, 3] are lossless, but PFC stops only [1, 2]");
    assert!(merged.contains(three), "one-bounce paths merge to three tags, one more than needed: {merged}");
    let file = |name: &str| with("switch.tags", &format!("{{ kind = \"tagger\", rules = \"{name}\" }}"));
    assert!(file("none.json").contains("cannot read `dir/none.json`: no such file"), "{}", file("none.json"));
    let other = file("other-rules.json");
    assert!(other.contains("`dir/other-rules.json`: these rules are for another fabric"), "{other}");
    let loose = lower(&good, &[("host.reply_class", "1"), ("switch.flow_control.priorities", "[1, 2, 5]")]).unwrap();
    assert_eq!(loose.warnings[0].message, "classes [5] are lossless but no tags: they may deadlock");
    let second = lower(&good, &[("host.reply_class", "1"), ("traffic.0.class", "2")]).unwrap();
    assert_eq!(
        second.warnings[0].message,
        "frames of class 2 enter with a tag that no class starts with: those do with [1]"
    );
}

#[test]
fn routes_that_cannot_be_set() {
    let route = |node: &str, to: &str, via: &str| {
        let text = format!("{GOOD}\n[[route]]\nnode = \"{node}\"\nto = \"{to}\"\nvia = [\"{via}\"]\nat = \"5us\"\n");
        lower(&text, &[])
    };
    let lowered = route("S1", "H9", "S4").unwrap();
    let pin = &lowered.setup.static_routes[0];
    assert_eq!((pin.to, pin.from, &pin.ports[..], pin.until), (8, None, &[3][..], None));
    assert_eq!(
        route("S1", "H9", "C1").unwrap_err(),
        "dir/test.toml:24:7: no link joins `S1` and `C1`\n  help: `S1` is linked to H1, H2, S3, S4"
    );
    assert_eq!(route("T99", "H9", "S3").unwrap_err(), "dir/test.toml:22:8: the fabric has no node `T99`");
    assert_eq!(route("H1", "H9", "S1").unwrap_err(), "dir/test.toml:22:8: `H1` is a host: routes are set at switches");
    assert!(route("S1", "S2", "S3").unwrap_err().contains("`S2` is a switch, not a host"));
}

#[test]
fn overrides() {
    let lowered =
        lower(GOOD, &[("traffic.0.size", "2MB"), ("switch.flow_control", "none"), ("fabric.k", "6")]).unwrap();
    assert_eq!(lowered.traffic_text, ["incast: 8 flows, 16MB"]);
    assert_eq!(lowered.fabric_text, "fat-tree: 54 hosts, 45 switches, 162 links of 100Gbps");
    assert_eq!(lowered.setup.switch.flow_control, model::parameters::FlowControl::None);
    assert_eq!(
        set("switch.bufer", "1MB"),
        "--set switch.bufer=1MB: unknown key `bufer` in `switch`\n  help: did you mean `buffer`?"
    );
    assert_eq!(
        set("traffic.3.size", "1MB"),
        "--set traffic.3.size=1MB: `traffic` has no entry `3`\n  help: write a number from 0 to 0: traffic.0.size"
    );
    assert_eq!(
        set("fabric.k", "5"),
        "--set fabric.k=5: `k` = 5 does not work\n  help: it must be even, between 2 and 128"
    );
}

#[test]
fn what_is_no_toml() {
    let error = wrong("k = 4", "k = ");
    assert!(error.starts_with("dir/test.toml:6:"), "{error}");
    assert!(error.contains("not valid TOML"), "{error}");
    assert!(wrong("k = 4", "k = 4\nk = 6").contains("duplicate"), "{}", wrong("k = 4", "k = 4\nk = 6"));
}
