//! Settings that fool whoever reads their results are told of, and only they.

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

/// The keys that are warned of.
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
    assert!(error.contains("no flow of this run ends"), "{error}");
}

/// Where queues have room of their own, an account of PFC knows nothing of how full the queue is that others fill too.
#[test]
fn queues_that_are_smaller_than_what_other_ports_may_bring_to_them() {
    let with = |queue: &str, control: &str| {
        let own = format!("queue = \"{queue}\"\nflow_control = {control}");
        let text = GOOD.replace("buffer = \"1MB\"", &own);
        warned(&text).into_iter().filter(|warning| warning.0.ends_with("queue")).collect::<Vec<_>>()
    };
    // A leaf has six ports, so five others.
    let pfc = "{ kind = \"pfc\", priorities = [0], xoff = \"20KB\", headroom = \"10KB\" }";
    assert_eq!(with("150KB", pfc), []);
    let warnings = with("149KB", pfc);
    assert_eq!(warnings[0].0, "switch.queue");
    for said in ["149KB", "150KB", "5 other ports", "may be lost"] {
        assert!(warnings[0].1.contains(said), "{said}: {warnings:?}");
    }
    // Counted in frames of full length, which have 1,000 bytes of payload and headers, and with the headroom that links
    // need.
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

#[test]
fn go_back_n_with_packets_sprayed() {
    for transport in ["roce", "dcqcn"] {
        for spread in ["packet", "path"] {
            let text = format!("{GOOD}\n[routing]\nspread = \"{spread}\"\n[host]\ntransport = \"{transport}\"\n");
            let found = warned(&text);
            let told = found.iter().find(|warning| warning.0 == "routing.spread").expect("a warning");
            assert!(told.1.starts_with(transport) && told.1.contains("go-back-N"), "{told:?}");
        }
        let by_flow = format!("{GOOD}\n[host]\ntransport = \"{transport}\"\n");
        assert!(!keys(&by_flow).contains(&"routing.spread".to_owned()));
    }
    let bears = format!("{GOOD}\n[routing]\nspread = \"packet\"\n[host]\ntransport = \"ndp\"\n");
    assert!(!keys(&bears).contains(&"routing.spread".to_owned()));
    // One way only: nothing can come out of order.
    let one_way = format!("{}\n[routing]\nspread = \"packet\"\n", GOOD.replace("spines = 2", "spines = 1"));
    assert!(keys(&format!("{one_way}[host]\ntransport = \"roce\"\n")).is_empty());
}

/// Two constant sources to one host, the second so much later, at this share of the line each.
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
    // In step, with room for both, or with phases drawn: nothing to tell.
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
