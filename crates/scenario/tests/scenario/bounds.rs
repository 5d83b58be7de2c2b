//! Inputs that state large counts, such as 4 billion hosts: errors instead of hours of run time, exhausted memory or a
//! stack overflow.

use scenario::{Scenario, ScenarioErrors};
use std::path::Path;

const BASE: &str = r#"
duration = "10us"
fabric = { kind = "leaf-spine", leaves = 4, spines = 4, hosts_per_leaf = 2, link = {rate = "100Gbps", delay = "500ns"} }
switch.queue = "10 packets"
[[traffic]]
kind = "permutation"
size = "1KB"
"#;

fn lower(text: &str, set: &[(&str, &str)]) -> Result<usize, ScenarioErrors> {
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = Scenario::parse(text, "bound.toml", Path::new(""), &set, None)?;
    scenario.lower().map(|lowered| lowered.setup.failures.len())
}

fn failures(count: usize, spine: &str) -> String {
    let one = |at: usize| {
        let (leaf, from, until) = (1 + at % 4, at + 1, at + 2);
        format!("[[fail]]\nlink = [\"L{leaf}\", \"{spine}\"]\nat = \"{from}ps\"\nuntil = \"{until}ps\"\n")
    };
    format!("{BASE}{}", (0..count).map(one).collect::<String>())
}

/// 20,000 `[[fail]]` entries are read in linear time: the table of line starts is computed once, not per value.
#[test]
fn twenty_thousand_failures_are_read_in_linear_time() {
    assert_eq!(lower(&failures(20_000, "S1"), &[]).unwrap(), 20_000);
    // All entries on one line of the file.
    let one = |at: usize| format!("{{ link = [\"L1\", \"S1\"], at = \"{}ps\", until = \"{}ps\" }}", at + 1, at + 2);
    let list: Vec<String> = (0..20_000).map(one).collect();
    assert_eq!(lower(&format!("fail = [{}]\n{BASE}", list.join(", ")), &[]).unwrap(), 20_000);
}

/// Only the first 500 of 20,000 errors are reported.
#[test]
fn of_twenty_thousand_errors_the_first_hundreds_are_reported() {
    let errors = lower(&failures(20_000, "S11"), &[]).unwrap_err().errors;
    assert_eq!(errors.len(), 500);
    assert!(errors[0].help.as_ref().is_some_and(|help| help.contains("did you mean `S1`")), "{}", errors[0]);
    let keys: String = (0..20_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(lower(&format!("{keys}{BASE}"), &[]).unwrap_err().errors.len(), 500);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for text in [
        format!("x = {}", "[".repeat(deep)),
        format!("x = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}", "{a = ".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
    ] {
        assert!(lower(&format!("{text}\n{BASE}"), &[]).is_err(), "{}", &text[..20]);
    }
}

#[test]
fn set_takes_tables_and_lists_but_none_without_end() {
    let fail = "[{ link = [\"L1\", \"S1\"], at = \"1us\" }]";
    assert_eq!(lower(BASE, &[("fail", fail)]).unwrap(), 1);
    assert_eq!(lower(BASE, &[("fail", fail), ("fail.0", "{ link = [\"L2\", \"S1\"], at = \"2us\" }")]).unwrap(), 1);
    let deep_key = "a.".repeat(20_000) + "a";
    let (deep_list, deep_table) = ("[".repeat(50_000) + &"]".repeat(50_000), "{a=".repeat(50_000));
    for (key, value) in [
        (deep_key.as_str(), "1"),
        ("fabric", "7"),
        ("fabric", "{}"),
        ("traffic", "3"),
        ("traffic", "[]"),
        ("traffic", "[3]"),
        ("traffic.0", "x"),
        ("traffic.18446744073709551616", "{}"),
        ("fail", deep_list.as_str()),
        ("fabric.link", deep_table.as_str()),
        ("switch", "[]"),
    ] {
        let errors = lower(BASE, &[(key, value)]).err().unwrap_or_else(|| panic!("{key} = {value} was taken"));
        assert!(!errors.errors.is_empty(), "{key}");
    }
}

/// A count in a file is checked before memory is allocated for it.
#[test]
fn numbers_of_four_billion_are_errors() {
    let most = "4294967295";
    for fabric in [
        "kind = \"fat-tree\", k = N",
        "kind = \"fat-tree\", k = 4, hosts_per_edge = N",
        "kind = \"f10\", k = N",
        "kind = \"leaf-spine\", leaves = N, spines = 2, hosts_per_leaf = 2",
        "kind = \"leaf-spine\", leaves = 2, spines = N, hosts_per_leaf = 2",
        "kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = N",
        "kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 2, links_per_pair = N",
        "kind = \"leaf-spine\", leaves = 60000, spines = 60000, hosts_per_leaf = 60000",
        "kind = \"clos\", pods = N, tors_per_pod = N, leaves_per_pod = N, spines = N, hosts_per_tor = N",
        "kind = \"dumbbell\", left = N, right = N",
        "kind = \"tree\", arity = [60000, 60000, 60000], hosts_per_leaf = N",
        "kind = \"tree\", arity = [2], hosts_per_leaf = 1, root_hosts = N",
        "kind = \"star\", arms = N, hosts_per_arm = N, hub_hosts = N",
        "kind = \"jellyfish\", switches = N, degree = N, hosts_per_switch = N",
        "kind = \"jellyfish\", switches = 60000, degree = 59999, hosts_per_switch = 1",
        "kind = \"bcube\", n = N, levels = N",
        "kind = \"bcube\", n = 2, levels = N",
        "kind = \"single-switch\", hosts = N",
        "kind = \"line\", switches = N, hosts_per_switch = N",
        "kind = \"ring\", switches = 60000, hosts_per_switch = 60000",
    ] {
        let from = "kind = \"leaf-spine\", leaves = 4, spines = 4, hosts_per_leaf = 2";
        let text = BASE.replace(from, &fabric.replace('N', most));
        assert_ne!(text, BASE);
        assert!(lower(&text, &[]).is_err(), "{fabric}");
    }
}
