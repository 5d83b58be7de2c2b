//! Deprecated names of keys: accepted with a warning, in the file and in overrides; both names together are an error.

use scenario::Scenario;

const GOOD: &str = r#"name = "test"
duration = "1ms"

[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "1Gbps", delay = "50ns" }

[switch]
flow_control = { kind = "florax" }
queue = "100KB"

[host]
disobedient = ["H2"]

[[agreement]]
from = "H1"
to = "H3"
rate = "100Mbps"

[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H2", "H3"]]
size = "1MB"
"#;

fn lower(text: &str, overrides: &[(&str, &str)]) -> Result<scenario::Lowered, String> {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::parse(text, "test.toml", "".as_ref(), &overrides, None)
        .and_then(|scenario| scenario.lower())
        .map_err(|errors| errors.to_string())
}

fn present() -> String {
    GOOD.replace("disobedient", "ignore_pause").replace("[[agreement]]", "[[committed_rate]]")
}

fn warnings(lowered: &scenario::Lowered) -> Vec<String> {
    let former = lowered.warnings.iter().filter(|warning| warning.message.contains("former name"));
    former.map(|warning| format!("{}: {}", warning.key, warning.message)).collect()
}

#[test]
fn former_names_in_a_file_are_read_with_a_warning() {
    let (former, now) = (lower(GOOD, &[]).unwrap(), lower(&present(), &[]).unwrap());
    assert_eq!(format!("{:?}", former.setup.host), format!("{:?}", now.setup.host));
    assert_eq!(warnings(&now), Vec::<String>::new());
    let found = warnings(&former);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("host.ignore_pause: `disobedient` is the former name"), "{found:?}");
    assert!(found[1].starts_with("committed_rate: `agreement` is the former name"), "{found:?}");
}

#[test]
fn overrides_by_either_name_replace_the_value_of_either() {
    let expected = lower(&present().replace("[\"H2\"]", "[\"H1\"]").replace("100Mbps", "200Mbps"), &[]).unwrap();
    for text in [GOOD.to_owned(), present()] {
        for (host, rate) in [("host.disobedient", "agreement.0.rate"), ("host.ignore_pause", "committed_rate.0.rate")] {
            let lowered = lower(&text, &[(host, "[\"H1\"]"), (rate, "200Mbps")]).unwrap();
            let ours = (&lowered.setup.host, &lowered.setup.committed_rates);
            let theirs = (&expected.setup.host, &expected.setup.committed_rates);
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{host}");
        }
    }
}

#[test]
fn both_names_together_are_refused() {
    let both = GOOD.replace("disobedient = [\"H2\"]", "ignore_pause = []\ndisobedient = [\"H2\"]");
    let error = lower(&both, &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("`ignore_pause` and its former name `disobedient` are both given"), "{error}");
    assert!(error.contains("test.toml:15"), "{error}");
}

#[test]
fn both_names_in_overrides_are_refused() {
    let both = [("host.disobedient", "[\"H2\"]"), ("host.ignore_pause", "[\"H1\"]")];
    let error = lower(&present(), &both).map(|_| ()).unwrap_err();
    assert!(error.contains("`host.ignore_pause` and `host.disobedient` are names of one key"), "{error}");
}

#[test]
fn former_names_in_the_value_of_an_override_are_read() {
    let lowered = lower(&present(), &[("host", "{ disobedient = [\"H1\"] }")]).unwrap();
    assert_eq!(warnings(&lowered).len(), 1);
    let error = lower(&present(), &[("host", "{ disobedient = [], ignore_pause = [] }")]).map(|_| ()).unwrap_err();
    assert!(error.contains("are both given"), "{error}");
}

#[test]
fn the_reference_lists_every_former_name() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (former, present) in scenario::former_names() {
        let row = format!("| `{former}` | `{present}` |");
        assert!(page.contains(&row), "{row}");
    }
}
