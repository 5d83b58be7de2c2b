//! Every key of the key table is read in every variant that has the key.

use proptest::prelude::*;
use scenario::Scenario;
use scenario::keys::{self, Default, Key};
use std::path::Path;

const TOP: &str = "duration = \"1ms\"\n";
const LINK: &str = "link = { rate = \"100Gbps\", delay = \"500ns\" }\n";
const FABRIC: &str = "[fabric]\nkind = \"fat-tree\"\nk = 4\nlink = { rate = \"100Gbps\", delay = \"500ns\" }\n";
const TRAFFIC: &str = "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n";

/// Makes a scenario with required keys only in which the table of `key` has this variant and is valid. `key` itself is
/// absent. Also returns the path of the table, as in `--set`.
fn base(key: &Key, variant: Option<&str>) -> (String, String) {
    let plain = format!("{TOP}{FABRIC}{TRAFFIC}");
    match key.section {
        "fabric" => {
            let kind = variant.unwrap_or("fat-tree");
            (format!("{TOP}[fabric]\nkind = \"{kind}\"\n{LINK}{TRAFFIC}"), "fabric".into())
        }
        "fabric.link" => {
            let kind = variant.unwrap_or("fat-tree");
            (format!("{TOP}[fabric]\nkind = \"{kind}\"\n{TRAFFIC}"), "fabric.link".into())
        }
        "fabric.link.tier" => (plain, "fabric.link.core".into()),
        "path" => (format!("{plain}[[path]]\n"), "path.0".into()),
        "route" => (format!("{plain}[[route]]\n"), "route.0".into()),
        "committed_rate" => (format!("{plain}[[committed_rate]]\n"), "committed_rate.0".into()),
        "switch.override" if key.name == "ports" => {
            (format!("{plain}[[switch.override]]\nmarking = \"none\"\n"), "switch.override.0".into())
        }
        "switch.override" => (format!("{plain}[[switch.override]]\ntiers = [1]\n"), "switch.override.0".into()),
        "switch.override.flow_control" => {
            (format!("{plain}[[switch.override]]\ntiers = [1]\n"), "switch.override.0.flow_control".into())
        }
        "switch.clocks" => (format!("{plain}[[switch.clocks]]\n"), "switch.clocks.0".into()),
        "gates" => {
            let schedule = if variant == Some("from a schedule") { "schedule = \"a.json\"\n" } else { "" };
            (format!("{plain}[[gates]]\n{schedule}"), "gates.0".into())
        }
        "shaping" => (format!("{plain}[[shaping]]\nnode = \"C1\"\n"), "shaping.0".into()),
        "cyclic" => (format!("{plain}[[cyclic]]\nnode = \"C1\"\n"), "cyclic.0".into()),
        "host.clocks" => (format!("{plain}[[host.clocks]]\n"), "host.clocks.0".into()),
        "fail" => (format!("{plain}[[fail]]\n"), "fail.0".into()),
        "traffic" => {
            let lines = match variant {
                None => "kind = \"permutation\"\n".to_owned(),
                Some("transfer") => "kind = \"permutation\"\n".to_owned(),
                Some(frames) if frames.contains("frames") => {
                    let process = frames.trim_end_matches(" frames").trim_end_matches(" of");
                    format!("kind = \"permutation\"\nprocess = \"{process}\"\n")
                }
                Some(kind) => format!("kind = \"{kind}\"\n"),
            };
            (format!("{TOP}{FABRIC}[[traffic]]\n{lines}"), "traffic.0".into())
        }
        section if section.starts_with("switch.") || section == "host.on_bounce" => {
            let kind = variant.map(|kind| format!("[{section}]\nkind = \"{kind}\"\n")).unwrap_or_default();
            (format!("{plain}{kind}"), section.into())
        }
        "switch" if variant == Some("per queue") => (format!("{plain}[switch]\nqueue = \"1MB\"\n"), "switch".into()),
        section => (plain, section.into()),
    }
}

fn complaints(text: &str, path: &str, value: &str) -> Vec<String> {
    let overrides = [(path.to_owned(), value.to_owned())];
    match Scenario::parse(text, "keys.toml", Path::new(""), &overrides, None) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            errors.errors.iter().filter(|error| error.key.starts_with(path)).map(|e| e.to_string()).collect()
        }
    }
}

/// Each key is accepted in every variant that has it, with its example as value.
#[test]
fn every_key_of_the_table_is_accepted() {
    let mut tried = 0;
    for key in keys::keys() {
        let variants: Vec<Option<&str>> =
            if key.variants.is_empty() { vec![None] } else { key.variants.iter().copied().map(Some).collect() };
        for variant in variants {
            // Skip keys whose value is a table or a kind, because other keys depend on them.
            if key.example == "{}" || key.example == "[]" || key.name == "kind" {
                continue;
            }
            let (text, section) = base(key, variant);
            let path = if section.is_empty() { key.name.to_owned() } else { format!("{section}.{}", key.name) };
            // With its example value, the key may conflict with other keys, but must not be reported as unknown.
            let message = complaints(&text, &path, key.example);
            let allowed = |message: &String| {
                message.contains("exclude each other")
                    || ["only up-down", "only spread", "has no effect here", "`upper` = "]
                        .iter()
                        .any(|only| message.contains(only))
            };
            assert!(message.iter().all(allowed), "{} {variant:?}: {message:?}\n{text}", key.path());
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
    // A key that is not in the key table is an error.
    assert!(!complaints(&format!("{TOP}{FABRIC}{TRAFFIC}"), "switch.colour", "1").is_empty());
}

#[test]
fn parameters_of_transports_are_keys_too() {
    for mechanism in protocols::transport::MECHANISMS {
        for parameter in mechanism.parameters {
            let text = format!("{TOP}{FABRIC}{TRAFFIC}[host]\ntransport = {{ kind = \"{}\" }}\n", mechanism.kind);
            let path = format!("host.transport.{}", parameter.key);
            let Default::Value(value) = parameter.default else { continue };
            assert_eq!(complaints(&text, &path, value), [""; 0], "{}", mechanism.kind);
        }
    }
}

#[test]
fn everything_that_counts_is_explained_and_hashed() {
    let lower = |overrides: &[(&str, &str)], seed| {
        let overrides: Vec<(String, String)> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let text = format!("{TOP}{FABRIC}{TRAFFIC}");
        Scenario::parse(&text, "a.toml", Path::new(""), &overrides, seed).unwrap().lower().unwrap()
    };
    let plain = lower(&[], None);
    // The hash is equal for the same values in other units.
    assert_eq!(plain.hash, lower(&[("duration", "1000us"), ("switch.buffer", "16000KB"), ("threads", "2")], None).hash);
    assert_eq!(plain.hash, lower(&[("seed", "7"), ("name", "other")], None).hash);
    for (key, value) in [
        ("duration", "2ms"),
        ("switch.buffer", "15MB"),
        ("switch.flow_control.kind", "pause"),
        ("fabric.link.loss", "0.001"),
        ("host.transport.payload", "999B"),
        ("host.ttl", "63"),
        ("traffic.0.class", "2"),
        ("routing.spread", "packet"),
    ] {
        let other = lower(&[(key, value)], None);
        assert_ne!(plain.hash, other.hash, "{key}");
        let entry = other.explain.iter().find(|entry| entry.key == key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!((&entry.value[..], &entry.origin), (value, &scenario::Origin::Override));
    }
    assert_eq!(lower(&[], Some(9)).setup.seed, 9);
    let find = |key: &str| plain.explain.iter().find(|entry| entry.key == key).unwrap();
    assert_eq!(find("fabric.k").origin, scenario::Origin::File { line: 4 });
    assert!(
        matches!(find("switch.buffer").origin, scenario::Origin::Default { source } if source.contains("3.2 Tbps"))
    );
    assert_eq!(find("host.transport.payload").value, "1000B");
    let mut keys: Vec<&str> = plain.explain.iter().map(|entry| &entry.key[..]).collect();
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count, "no key is explained twice");
}

fn example(index: usize) -> String {
    let files = ["incast-pfc", "web-search-dcqcn", "deadlock-ring", "all-reduce", "tcp-dumbbell", "link-failure"];
    let path = format!("{}/../../examples/{}.toml", env!("CARGO_MANIFEST_DIR"), files[index % files.len()]);
    std::fs::read_to_string(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any key of an example scenario is overridden with any value: reading and lowering must not panic.
    #[test]
    fn no_override_panics(which in 0usize..6, at in 0usize..1000, value in prop_oneof![
        Just("-1".to_owned()), Just("0".to_owned()), Just("18446744073709551615".to_owned()), Just("nan".to_owned()),
        Just("1e300".to_owned()), Just("0ns".to_owned()), Just("213days".to_owned()), Just("18446744s".to_owned()),
        Just("{}".to_owned()), Just("[]".to_owned()), Just("[[]]".to_owned()), Just("false".to_owned()),
        Just("1/0".to_owned()), Just("é".to_owned()), Just("{ every = \"0s\" }".to_owned()), Just("H1".to_owned()),
        Just("18446744073709551615B".to_owned()), Just("1bps".to_owned()), Just("[{}]".to_owned()), ".{0,12}",
    ]) {
        let all: Vec<&Key> = keys::keys().collect();
        let key = all[at % all.len()];
        let path = key.path().replace("traffic.", "traffic.0.").replace("path.", "path.0.");
                let path = path.replace("link.tier", "link.core");
        scenario::fuzz::read_any(&example(which), Some((&path, &value)));
    }

    /// A substring of an example scenario is replaced by another text: reading and lowering must not panic.
    #[test]
    fn no_text_panics(
        which in 0usize..6, from in 0usize..3000, length in 0usize..40, piece in "[\\[\\]{}=\",.a-z0-9\n é-]{0,8}"
    ) {
        let text: Vec<char> = example(which).chars().collect();
        let from = from % text.len();
        let rest = (from + length).min(text.len());
        let (before, after) = (text[..from].iter().copied(), text[rest..].iter().copied());
        let changed: String = before.chain(piece.chars()).chain(after).collect();
        scenario::fuzz::read_any(&changed, None);
    }
}
