//! Tests with fabric files as operators write them: without tiers, rates or delays.

use crate::common::{Scratch, example, run};

/// Writes a topology file without tiers: two leaves with hosts, and two spines, one of which has a host, the fabric
/// manager.
fn host_on_a_spine(scratch: &Scratch) -> String {
    let mut links = Vec::new();
    let mut link = |a: &str, b: &str| {
        links.push(format!("{{\"source\":\"{a}\",\"target\":\"{b}\",\"rate\":\"400Gbps\",\"delay\":\"50ns\"}}"));
    };
    for (leaf, hosts) in [("p", ["h1", "h2"]), ("q", ["h3", "h4"])] {
        hosts.iter().for_each(|host| link(host, leaf));
        ["x", "y"].iter().for_each(|spine| link(leaf, spine));
    }
    link("h5", "x");
    let nodes: Vec<String> =
        ["h1", "h2", "h3", "h4", "h5", "p", "q", "x", "y"].map(|id| format!("{{\"id\":\"{id}\"}}")).to_vec();
    let path = scratch.path("spine.json");
    std::fs::write(&path, format!("{{\"nodes\":[{}],\"links\":[{}]}}", nodes.join(","), links.join(","))).unwrap();
    path
}

#[test]
fn an_ordinary_path_over_a_spine_with_a_host_stays_lossless() {
    let scratch = Scratch::new("spine");
    let (fabric, rules) = (host_on_a_spine(&scratch), scratch.path("r.json"));
    let made = run(&["tagger", "rules", &fabric, "--paths", "bounces=1", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}{}", made.out, made.err);
    assert!(made.err.contains("1 host on a switch above the first tier: h5 on x (--ignore)"), "{}", made.err);
    let quiet = run(&["tagger", "rules", &fabric, "--paths", "up-down", "--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
    let proved = run(&["tagger", "verify", &rules, "--fabric", &fabric, "--routing", "shortest"]);
    assert_eq!(proved.code, Some(0), "{}", proved.out);
    let explained = run(&["tagger", "explain", &rules, "--fabric", &fabric, "h1", "p", "x", "q", "h3"]);
    assert!(explained.out.contains("lossless all the way"), "{}", explained.out);
    let without = run(&["fabric", "show", &fabric, "--ignore", "h5", "--json"]);
    assert!(without.out.contains("\"hosts\": 4") && without.err.contains("1 node left out on request: h5"));
}

/// A wrong tier in the file makes an ordinary link a link within a tier, so that a hop over it is a bounce. Rules for a
/// limited number of bounces then make some shortest paths lossy.
#[test]
fn rules_that_lose_on_a_shortest_path_are_not_written() {
    let scratch = Scratch::new("wrong-tier");
    let (path, rules) = (host_on_a_spine(&scratch), scratch.path("r.json"));
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (name, tier) in [("p", 1), ("q", 1), ("x", 1), ("y", 2)] {
        text = text.replace(&format!("{{\"id\":\"{name}\"}}"), &format!("{{\"id\":\"{name}\",\"tier\":{tier}}}"));
    }
    std::fs::write(&path, text).unwrap();
    let made = |paths: &[&str]| run(&[&["tagger", "rules", &path], paths, &["--out", &rules]].concat());
    let refused = made(&["--paths", "bounces=1"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
    assert!(refused.err.contains("a shortest path turns lossy") && refused.err.contains("x:"), "{}", refused.err);
    assert!(!std::path::Path::new(&rules).exists());
    assert_eq!(made(&["--paths", "bounces=2"]).code, Some(0));
    assert_eq!(made(&["--paths", "bounces=1", "--paths", "shortest", "--force"]).code, Some(0));
}

#[test]
fn values_missing_in_a_lab_are_decided_and_reported() {
    let lab = example("operator/lab.clab.yml");
    let checked = run(&["fabric", "check", &lab, "--pfc"]);
    assert!(checked.code == Some(0) && checked.out.contains("cannot deadlock"), "{}{}", checked.out, checked.err);
    for said in
        ["1 node without a link left out: prometheus", "9 links without a rate: 100Gbps assumed (--rate, --delay)"]
    {
        assert!(checked.err.contains(said), "{}", checked.err);
    }
    // Commands whose results depend on link rates and delays reject a file that does not state them.
    for command in [&["fabric", "headroom", &lab][..], &["fabric", "convert", &lab, "/nowhere/x.json"]] {
        let refused = run(command);
        assert_eq!(refused.code, Some(2), "{}", refused.out);
        assert!(refused.err.contains("pass --rate and --delay"), "{}", refused.err);
    }
    let scratch = Scratch::new("lab");
    let rules = scratch.path("r.json");
    assert_eq!(run(&["tagger", "rules", &lab, "--paths", "bounces=1", "--out", &rules]).code, Some(0));
    let refused = run(&["tagger", "export", &rules, "--fabric", &lab, "--to", "sonic"]);
    assert!(refused.code == Some(2) && refused.err.contains("pass --rate and --delay"), "{}", refused.err);
    let wrong = run(&["fabric", "check", &lab, "--ignore", "monitro"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("`monitro` is the name of no node"), "{}", wrong.err);
    let hosts = run(&["fabric", "check", &lab, "--ignore", "server*", "--ignore", "monitor", "--hosts-on", "leaf1"]);
    assert!(hosts.code == Some(0) && hosts.out.contains("1 host, 4 switches"), "{}{}", hosts.out, hosts.err);
}

/// If a fabric file lacks rates and delays, the scenario must state them; decisions of the file reader become warnings.
#[test]
fn a_scenario_sets_values_missing_in_its_fabric_file() {
    let scratch = Scratch::new("scenario");
    let (lab, path) = (example("operator/lab.clab.yml"), scratch.path("s.toml"));
    let text = |rest: &str| {
        format!(
            "duration = \"100us\"\nfabric = {{ kind = \"file\", file = \"{lab}\"{rest} }}\n\
             [[traffic]]\nkind = \"pairs\"\npairs = [[\"server1\", \"server3\"]]\nsize = \"10KB\"\n"
        )
    };
    let ran = |rest: &str| {
        std::fs::write(&path, text(rest)).unwrap();
        let out = format!("out{}", rest.len());
        run(&["run", &path, "--out", &scratch.path(&out)])
    };
    let link = ", link = { rate = \"10Gbps\", delay = \"1us\" }";
    let done = ran(&format!("{link}, ignore = [\"monitor\"]"));
    assert_eq!(done.code, Some(0), "{}", done.err);
    for said in ["1 node left out on request: monitor", "1 node without a link left out: prometheus"] {
        assert!(done.err.contains(said), "{}", done.err);
    }
    let refused = ran("");
    assert!(refused.code == Some(2) && refused.err.contains("has no delay"), "{}", refused.err);
    let rest = format!("{link}, ignore = \"monitro\"");
    let refused = ran(&rest);
    let line = text(&rest);
    let column = line.lines().nth(1).and_then(|line| line.find("\"monitro\"")).expect("the second line names it") + 1;
    let said = format!("s.toml:2:{column}: `monitro` is the name of no node");
    assert!(refused.code == Some(2) && refused.err.contains(&said), "{said}: {}", refused.err);
}
