//! Combinations of settings with misleading results give a warning; other combinations give none.

use scenario::Scenario;

const GOOD: &str = r#"
duration = "1ms"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "10Gbps", delay = "500ns" }

[switch]
buffer = "1MB"

[[traffic]]
kind = "permutation"
size = "1MB"
"#;

/// Returns keys and messages of the warnings for a scenario.
fn warned(text: &str) -> Vec<(String, String)> {
    let scenario = Scenario::parse(text, "test.toml", "".as_ref(), &[], None);
    let lowered = scenario.and_then(|scenario| scenario.lower()).unwrap_or_else(|errors| panic!("{errors}"));
    lowered.warnings.into_iter().map(|warning| (warning.key, warning.message)).collect()
}

fn keys(text: &str) -> Vec<String> {
    warned(text).into_iter().map(|warning| warning.0).collect()
}

#[test]
fn a_run_that_ends_with_flows_of_which_some_never_end() {
    let drawn = "\n[[traffic]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.1\n";
    let until = format!("until = \"flows done\"\n{GOOD}");
    assert_eq!(keys(&until), [""; 0]);
    assert_eq!(keys(&format!("{until}{drawn}")), ["until"]);
    assert_eq!(keys(&format!("{GOOD}{drawn}")), [""; 0]);
    assert_eq!(keys(&format!("{until}{drawn}stop = \"500us\"\n")), [""; 0]);
    assert_eq!(keys(&format!("{until}{drawn}flows_per_host = 3\n")), [""; 0]);
    let endless = until.replace("size = \"1MB\"", "process = \"constant\"\nrate = \"1Gbps\"");
    let scenario = Scenario::parse(&endless, "test.toml", "".as_ref(), &[], None);
    let error = scenario.and_then(|scenario| scenario.lower()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("all flows of this run are endless"), "{error}");
}

/// At 10 Gbps, a flow of 1 MB takes 0.8 ms: a run of 790 us gives a warning. There is no warning if one of two flows
/// can complete, or if flows arrive at random, because their sizes are unknown before the run.
#[test]
fn runs_in_which_no_flow_can_complete() {
    let short = GOOD.replace("\"1ms\"", "\"790us\"");
    assert_eq!(keys(GOOD), [""; 0]);
    assert_eq!(keys(&short), ["duration"]);
    let small = "\n[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H2\"]]\nsize = \"1KB\"\n";
    assert_eq!(keys(&format!("{short}{small}")), [""; 0]);
    assert_eq!(keys(&format!("{short}{small}start = \"789500ns\"\n")), ["duration"]);
    let drawn = "\n[[traffic]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.1\n";
    assert_eq!(keys(&format!("{short}{drawn}")), [""; 0]);
}

/// Without a shared buffer, a PFC account counts the bytes of one ingress port. A queue limit below the sum of XOFF and
/// headroom over all other ports gives a warning.
#[test]
fn queues_that_are_smaller_than_what_other_ports_may_bring_to_them() {
    let with = |queue: &str, control: &str| {
        let own = format!("queue = \"{queue}\"\nflow_control = {control}");
        let text = GOOD.replace("buffer = \"1MB\"", &own);
        warned(&text).into_iter().filter(|warning| warning.0.ends_with("queue")).collect::<Vec<_>>()
    };
    // A leaf has six ports, so that five other ports feed each queue: 5 x (20 + 10) KB = 150 KB.
    let pfc = "{ kind = \"pfc\", priorities = [0], xoff = \"20KB\", headroom = \"10KB\" }";
    assert_eq!(with("150KB", pfc), []);
    let warnings = with("149KB", pfc);
    assert_eq!(warnings[0].0, "switch.queue");
    for said in ["149KB", "150KB", "5 other ports", "may be lost"] {
        assert!(warnings[0].1.contains(said), "{said}: {warnings:?}");
    }
    // Limits in packets count full frames (1000 B of payload plus headers). The last configuration has computed
    // headroom.
    assert_eq!(with("130 packets", pfc).len(), 1);
    assert_eq!(with("150 packets", pfc), []);
    assert_eq!(with("150 packets", "{ kind = \"pfc\", priorities = [0], xoff = \"28KB\" }").len(), 1);
    assert_eq!(with("20KB", "\"none\""), []);
}

#[test]
fn ndp_without_trimming() {
    let ndp = format!("{GOOD}\n[host]\ntransport = \"ndp\"\n");
    let warnings = warned(&ndp);
    assert_eq!(warnings[0].0, "host.transport");
    assert!(warnings[0].1.contains("no switch trims") && warnings[0].1.contains("overload"), "{warnings:?}");
    let with = ndp.replace("buffer = \"1MB\"", "queue = \"8 packets\"\noverload = \"trim\"");
    let with = with.replace("\n[host]", "\n[host]\nreply_class = 7");
    assert!(!keys(&with).contains(&"host.transport".to_owned()), "{:?}", keys(&with));
}

/// A key or table without effect in the rest of the scenario gives a warning.
#[test]
fn tables_and_keys_that_nothing_meets() {
    let with = |part: &str| keys(&format!("{GOOD}{part}"));
    assert_eq!(with("[host]\ntransport = { kind = \"roce\", ecn = true }\n"), ["host.transport.ecn"]);
    assert_eq!(with("[host]\ntransport = { kind = \"tcp\", ecn = true }\n"), ["host.transport.ecn"]);
    let marked = GOOD.replace("buffer = \"1MB\"", "buffer = \"1MB\"\nmarking = { kind = \"ecn\", k_min = \"10KB\" }");
    assert_eq!(keys(&format!("{marked}[host]\ntransport = {{ kind = \"roce\", ecn = true }}\n")), [""; 0]);
    let fails =
        |at: &str| with(&format!("[routing]\nreroute = \"local\"\n[[fail]]\nlink = [\"L1\", \"S1\"]\nat = \"{at}\"\n"));
    assert_eq!((fails("1ms"), fails("999us")), (vec!["fail.0".to_owned()], vec![]));
    let express = |classes: &str| with(&format!("[switch.preemption]\nexpress = {classes}\n"));
    assert_eq!(express("[7]"), ["switch.preemption"]);
    assert_eq!(express("[0, 1]"), ["switch.preemption"]);
    let of_two = "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\nclass = 7\n[switch.preemption]\nexpress = [7]\n";
    assert_eq!(with(of_two), [""; 0]);
}

#[test]
fn go_back_n_with_packets_sprayed() {
    for transport in ["roce", "dcqcn"] {
        for spread in ["packet", "path"] {
            let text = format!("{GOOD}\n[routing]\nspread = \"{spread}\"\n[host]\ntransport = \"{transport}\"\n");
            let found = warned(&text);
            let messages = found.iter().find(|warning| warning.0 == "routing.spread").expect("a warning");
            assert!(messages.1.starts_with(transport) && messages.1.contains("go-back-N"), "{messages:?}");
        }
        let by_flow = format!("{GOOD}\n[host]\ntransport = \"{transport}\"\n");
        assert!(!keys(&by_flow).contains(&"routing.spread".to_owned()));
    }
    let bears = format!("{GOOD}\n[routing]\nspread = \"packet\"\n[host]\ntransport = \"ndp\"\n");
    assert!(!keys(&bears).contains(&"routing.spread".to_owned()));
    // Selective repeat tolerates reordering; the rate control of HPCC does not.
    let hpcc = "transport = { kind = \"hpcc\", loss_recovery = \"selective\" }";
    let messages = warned(&format!("{GOOD}\n[routing]\nspread = \"packet\"\n[host]\n{hpcc}\n"));
    assert!(
        messages.iter().any(|(key, text)| key == "routing.spread" && text.starts_with("hpcc evaluates")),
        "{messages:?}"
    );
    // With one spine there is a single path, so that no packets are reordered.
    let one_way = format!("{}\n[routing]\nspread = \"packet\"\n", GOOD.replace("spines = 2", "spines = 1"));
    assert!(keys(&format!("{one_way}[host]\ntransport = \"roce\"\n")).is_empty());
}

/// Makes two constant-rate sources of rate `rate` that send to one host; the second starts at time `later`, the first
/// at 0.
fn sources(later: &str, rate: &str, more: &str) -> String {
    let entry = |from: &str, start: &str| {
        format!(
            "[[traffic]]\nkind = \"pairs\"\npairs = [[\"{from}\", \"H8\"]]\nstart = \"{start}\"\n{more}\n\
             process = \"constant\"\nrate = \"{rate}\"\n"
        )
    };
    let head = GOOD.split("[[traffic]]").next().unwrap();
    format!("{head}{}{}", entry("H1", "0s"), entry("H2", later))
}

#[test]
fn constant_sources_out_of_step_on_one_link() {
    let found = warned(&sources("100ns", "8Gbps", ""));
    assert_eq!(found.len(), 1, "{found:?}");
    let (key, message) = &found[0];
    assert_eq!(key, "traffic");
    assert!(message.starts_with("2 constant sources of one period overload the link to H8"), "{message}");
    assert!(message.contains("jitter") && message.contains("seeds"), "{message}");
    // No warning if the sources are in phase, if the link has sufficient capacity, or if the phases are random.
    for fine in [
        sources("0s", "8Gbps", ""),
        sources("100ns", "4Gbps", ""),
        sources("100ns", "8Gbps", "jitter = \"10us\""),
        sources("100ns", "8Gbps", "").replace("\"constant\"", "\"poisson\""),
    ] {
        assert_eq!(keys(&fine), [""; 0], "{fine}");
    }
    let lossless = "flow_control = { kind = \"pfc\", priorities = [0, 1, 2, 3, 4, 5, 6, 7] }\n\n[[traffic]]";
    let paused = sources("100ns", "8Gbps", "").replacen("\n[[traffic]]", lossless, 1);
    let paused = paused.replace("buffer = \"1MB\"", "buffer = \"16MB\"");
    assert_eq!(keys(&paused), [""; 0], "who is stopped loses nothing");
}

/// Warnings about switches that violate the assumptions of Tagger's proof: the egress queue is selected by the arriving
/// tag instead of the new tag, or class 0 has no share of the scheduler.
#[test]
fn tags_without_the_third_step_or_a_share_for_class_0() {
    let tags = |egress: &str, scheduler: &str| {
        let switch = format!(
            "buffer = \"16MB\"\nflow_control = {{ kind = \"pfc\", priorities = [1, 2] }}\n\
             tags = {{ kind = \"tagger\", algorithm = \"clos\", bounces = 1, egress = \"{egress}\" }}\n\
             scheduler = {scheduler}\n[host]\nreply_class = 1\n"
        );
        GOOD.replace("buffer = \"1MB\"\n", &switch).replace("size = \"1MB\"", "size = \"1MB\"\nclass = 1")
    };
    let share = "{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }";
    assert_eq!(keys(&tags("new-tag", share)), [""; 0]);
    let arriving = warned(&tags("arriving-tag", share));
    assert_eq!(arriving[0].0, "switch.tags.egress");
    assert!(arriving[0].1.contains("deadlock") && arriving[0].1.contains("egress = \"new-tag\""), "{arriving:?}");
    let strict = warned(&tags("new-tag", "\"strict\""));
    assert_eq!((strict.len(), &*strict[0].0), (1, "switch.scheduler"));
    assert!(strict[0].1.contains("starve class 0 at `L1`") && strict[0].1.contains("wrr"), "{strict:?}");
}

const SURVIVORS: &str = r#"
duration = "5ms"

[fabric]
kind = "leaf-spine"
leaves = 4
spines = 4
hosts_per_leaf = 16
link = { rate = "100Gbps", delay = "1us" }

[switch]
buffer = "32MB"

[[traffic]]
kind = "poisson"
sizes = "web-search"
load = 0.5
"#;

/// At load 0.5, 48 of 63 destinations are behind the uplinks, which have a quarter of the total rate of the hosts: 0.5
/// x 48/63 / 0.25 = 152 %.
#[test]
fn load_beyond_the_links_between_switches() {
    let found = warned(SURVIVORS);
    assert_eq!((found.len(), &*found[0].0), (1, "traffic.0.load"), "{found:?}");
    let message = &found[0].1;
    assert!(message.starts_with("the expected load is 152 % of the links from tier 1 to tier 2"), "{message}");
    assert!(message.contains("152 % of the busiest, `L1` to `S1`") && message.contains("Divide the load by 1.52"));
    assert_eq!(keys(&SURVIVORS.replace("0.5", "0.32")), [""; 0]);
    // The loads of two traffic entries add up. With a single leaf, traffic uses no uplink, so that there is no warning.
    let half = "\n[[traffic]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.2\n";
    assert_eq!(keys(&(SURVIVORS.replace("0.5", "0.2") + half)), ["traffic"]);
    assert_eq!(keys(&SURVIVORS.replace("leaves = 4", "leaves = 1")), [""; 0]);
}

const WINDOW: &str = r#"
duration = "100ms"

[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "100Gbps", delay = "50us" }

[switch]
buffer = "32MB"
marking = { kind = "ecn", k_min = "1MB" }

[host]
transport = "dctcp"

[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "endless"
"#;

#[test]
fn a_window_below_what_the_path_holds() {
    let found = warned(WINDOW);
    assert_eq!((found.len(), &*found[0].0), (1, "host.transport.advertised_window"), "{found:?}");
    for said in ["1.048576MB", "41.9 Gbps", "`H1` to `H2`", "100Gbps", "Write advertised_window = \"2.504MB\""] {
        assert!(found[0].1.contains(said), "{said}: {found:?}");
    }
    let wide = "transport = { kind = \"dctcp\", advertised_window = \"2.504MB\" }";
    assert_eq!(keys(&WINDOW.replace("transport = \"dctcp\"", wide)), [""; 0]);
    // The window does not limit a flow that is shorter than the window. It does not limit three flows to the same host
    // either, because each needs only a third of the bandwidth-delay product, 2.504 MB.
    assert_eq!(keys(&WINDOW.replace("endless", "1MB")), [""; 0]);
    assert_eq!(
        keys(&WINDOW.replace("[[\"H1\", \"H2\"]]", "[[\"H1\", \"H2\"], [\"H3\", \"H2\"], [\"H1\", \"H2\"]]")),
        [""; 0]
    );
}

const SMALL_QUEUE: &str = r#"
duration = "1ms"

[fabric]
kind = "single-switch"
hosts = 9
link = { rate = "100Gbps", delay = "1us" }

[switch]
queue = "20KB"
flow_control = "destination"

[[traffic]]
kind = "incast"
receiver = "H1"
fan_in = 8
size = "200KB"
"#;

#[test]
fn queues_below_what_neighbours_send_before_they_stop() {
    // Bytes that each of the other eight ports may add after XOFF: twice the propagation delay at the link rate, and
    // three frames.
    let each = 25_000 + 3 * (1062 + 20);
    let destination = warned(SMALL_QUEUE);
    assert_eq!((destination.len(), &*destination[0].0), (1, "switch.flow_control.upper"), "{destination:?}");
    for said in ["has 10KB left", "may send 225.968KB", "switch.queue"] {
        assert!(destination[0].1.contains(said), "{said}: {destination:?}");
    }
    assert_eq!(8 * each, 225_968);
    let florax = SMALL_QUEUE.replace("\"destination\"", "\"florax\"");
    let found = warned(&florax);
    assert_eq!((found.len(), &*found[0].0), (1, "switch.flow_control.upper"), "{found:?}");
    assert!(found[0].1.contains("has 10KB left"), "{found:?}");
    for text in [SMALL_QUEUE, &*florax] {
        let text = text.replace("20KB", "452KB");
        assert_eq!(keys(&text), [""; 0]);
        assert_eq!(keys(&text.replace("delay = \"1us\"", "delay = \"300us\"")).len(), 1, "long cables");
    }
}

#[test]
fn timers_below_the_idle_round_trip() {
    let with = |transport: &str| {
        let text = SMALL_QUEUE.replace("queue = \"20KB\"\nflow_control = \"destination\"", "buffer = \"16MB\"");
        warned(&format!("{text}\n[host]\ntransport = {{ kind = \"roce\", {transport} }}\n"))
    };
    let found = with("loss_recovery = \"selective\", rto_low = \"1ps\", rto_high = \"1ps\"");
    assert_eq!((found.len(), &*found[0].0), (1, "host.transport.rto_low"), "{found:?}");
    assert!(found[0].1.contains("1ps is less than the idle round trip of 4.1us"), "{found:?}");
    assert_eq!(with("loss_recovery = \"selective\", rto_low = \"5us\", rto_high = \"50us\""), []);
    assert_eq!(with("timeout = \"4us\"")[0].0, "host.transport.timeout");
    assert_eq!(with("timeout = \"1ms\""), []);
}

#[test]
fn buffers_smaller_than_one_frame() {
    for (room, key) in [("queue = \"500B\"", "switch.queue"), ("buffer = \"1000B\"", "switch.buffer")] {
        let found = warned(&GOOD.replace("buffer = \"1MB\"", room));
        assert_eq!((found.len(), &*found[0].0), (1, key), "{found:?}");
        assert!(
            found[0].1.contains("cannot hold a frame of 1062") || found[0].1.contains("cannot hold a frame of 1.062KB"),
            "{found:?}"
        );
    }
}
